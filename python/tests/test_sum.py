"""farfield.sum and SumPlan: values against brute force, arrays of every layout, no copies, errors, threads."""

import os
import pickle
import signal
import threading
import time
import tracemalloc

import numpy as np
import pytest

import farfield
from conftest import brute_force, relative_error

# Double: an error of a few ulp a pair, in sums of a few hundred terms of both signs.
DOUBLE = 1e-14
# Float: eps/2 = 6e-8 of each rounded coordinate, grown by the closest pairs of these points.
FLOAT = 2e-5


def cloud(rng, n=257):
    return rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, size=n)


@pytest.mark.parametrize("kernel", ["gravity", "coulomb"])
@pytest.mark.parametrize("softening", [0.0, 0.1])
def test_matches_brute_force(rng, kernel, softening):
    points, strengths = cloud(rng)
    result = farfield.sum(points, strengths, kernel=kernel, softening=softening)
    potential, field = brute_force(points, strengths, kernel=kernel, softening=softening)
    assert result.potential.shape == (257,) and result.field.shape == (257, 3)
    assert relative_error(result.potential, potential) < DOUBLE
    assert relative_error(result.field, field) < DOUBLE


def test_second_derivatives(rng):
    points, charges = cloud(rng, 64)
    targets = rng.normal(size=(9, 3))
    result = farfield.sum(points, charges, targets=targets, kernel="coulomb", output=["hessian"])
    d = targets[:, None] - points
    r = np.linalg.norm(d, axis=2)[:, :, None, None]
    outer = d[:, :, :, None] * d[:, :, None, :]
    matrices = (charges[:, None, None] * (3 * outer / r**5 - np.eye(3) / r**3)).sum(axis=1)
    expected = matrices[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    assert result.potential is None and result.hessian.shape == (9, 6)
    assert relative_error(result.hessian, expected) < 10 * DOUBLE
    here = np.empty((9, 6), dtype=np.float32)
    farfield.sum(points, charges, targets=targets, kernel="coulomb", output="hessian", out={"hessian": here})
    np.testing.assert_array_equal(here, result.hessian.astype(np.float32))
    assert farfield.sum(points, charges).hessian is None


@pytest.mark.parametrize("method", ["direct", "fmm", "reference"])
def test_dipoles_and_energy(rng, method):
    points, charges = cloud(rng, 64)
    dipoles = rng.normal(size=(64, 3))
    d = points[:, None] - points
    r = np.linalg.norm(d, axis=2)
    np.fill_diagonal(r, np.inf)
    along = (dipoles * d).sum(axis=2)
    alone = (along / r**3).sum(axis=1)
    field = ((charges + 3 * along / r**2) / r**3)[:, :, None] * d - dipoles / r[:, :, None] ** 3
    options = dict(kernel="coulomb", method=method)
    both = farfield.sum(points, charges, dipoles=dipoles, **options)
    assert relative_error(both.field, field.sum(axis=1)) < 1e-6
    energy = (charges * both.potential).sum() / 2 - (dipoles * both.field).sum() / 2
    assert both.report.energy == pytest.approx(energy, rel=1e-12)
    plan = farfield.SumPlan(points, **options)
    only = plan.execute(None, dipoles=dipoles, output="potential")
    assert relative_error(only.potential, alone) < 1e-6
    assert only.report.energy is None and pickle.loads(pickle.dumps(both.report)).energy == both.report.energy
    with pytest.raises(TypeError, match="strengths or dipoles"):
        plan.execute(None)
    with pytest.raises(farfield.InvalidArgument, match="dipoles"):
        plan.execute(charges, dipoles=dipoles[:, :2])
    with pytest.raises(farfield.InvalidArgument, match="gravity.*kernel='coulomb'"):
        farfield.sum(points, charges, dipoles=dipoles)


def test_separate_targets(rng):
    points, strengths = cloud(rng)
    targets = rng.normal(size=(31, 3))
    result = farfield.sum(points, strengths, targets=targets, kernel="coulomb")
    potential, field = brute_force(points, strengths, targets, kernel="coulomb")
    assert relative_error(result.potential, potential) < DOUBLE
    assert relative_error(result.field, field) < DOUBLE
    assert (result.report.sources, result.report.targets, result.report.direct.pairs) == (257, 31, 257 * 31)


@pytest.mark.parametrize("precision", ["float", "mixed"])
def test_other_precisions(rng, precision):
    points, strengths = cloud(rng)
    result = farfield.sum(points, strengths, softening=0.1, precision=precision)
    error = relative_error(result.field, brute_force(points, strengths, softening=0.1)[1])
    assert 1e-12 < error < FLOAT  # the lower bound: it really was computed in that precision
    assert result.report.precision == precision


def test_conventions():
    two = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    masses = farfield.sum(two, [1.0, 1.0])
    np.testing.assert_allclose([masses.potential[0], masses.field[0, 0]], [-0.5, 0.25], rtol=2e-15)  # pulled closer
    charges = farfield.sum(two, [1.0, 1.0], kernel="coulomb")
    np.testing.assert_allclose([charges.potential[0], charges.field[0, 0]], [0.5, -0.25], rtol=2e-15)  # pushed away


LAYOUTS = {
    "float32": lambda p: p.astype(np.float32),
    "fortran": np.asfortranarray,
    "every second row": lambda p: np.repeat(p, 2, axis=0)[::2],
    "reversed": lambda p: p[::-1].copy()[::-1],
    "columns of a wider array": lambda p: np.hstack([np.ones_like(p), p])[:, 3:],
    "columns backwards": lambda p: p[:, ::-1].copy()[:, ::-1],
    "broadcast row": lambda p: np.broadcast_to(p, p.shape),
    "read-only": lambda p: (c := p.copy(), c.setflags(write=False))[0],
    "list": lambda p: p.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_give_the_same_bits(rng, layout):
    points, strengths = cloud(rng, 64)
    points = points.astype(np.float32).astype(float)  # so that the float32 layout holds the same numbers
    expected = farfield.sum(points, strengths)
    result = farfield.sum(LAYOUTS[layout](points), strengths)
    np.testing.assert_array_equal(result.potential, expected.potential)
    np.testing.assert_array_equal(result.field, expected.field)


def test_strided_strengths_and_targets(rng):
    points, strengths = cloud(rng, 64)
    table = np.hstack([points, strengths[:, None]])  # as in an N×4 file
    expected = farfield.sum(points, strengths, targets=points + 0.25)
    result = farfield.sum(table[:, :3], table[:, 3], targets=(table + 0.25)[:, :3])
    np.testing.assert_array_equal(result.field, expected.field)


def test_writes_in_place(rng):
    points, strengths = cloud(rng)
    expected = farfield.sum(points, strengths)
    wide = np.full((257, 8), 7.0)
    potential, field = wide[:, 1], wide[::-1, 2:5]
    result = farfield.sum(points, strengths, out={"potential": potential, "field": field})
    assert result.potential is potential and result.field is field
    np.testing.assert_array_equal(wide[:, 1], expected.potential)
    np.testing.assert_array_equal(wide[::-1, 2:5], expected.field)
    assert (wide[:, [0, 5, 6, 7]] == 7.0).all()
    half = np.empty(257, np.float32)
    farfield.sum(points, strengths, output="potential", out={"potential": half})
    np.testing.assert_array_equal(half, expected.potential.astype(np.float32))


def test_no_copy_at_the_boundary(rng):
    """tracemalloc sees every array that NumPy allocates: a copy of an argument would show."""
    targets = rng.normal(size=(200_000, 6)).astype(np.float32)[::2, ::2]
    points, strengths = cloud(rng, 4)
    out = {"potential": np.empty(100_000), "field": np.empty((3, 100_000)).T}
    farfield.sum(points, strengths, targets=targets, out=out)
    tracemalloc.start()
    try:
        farfield.sum(points, strengths, targets=targets, out=out)
        _, peak = tracemalloc.get_traced_memory()
        np.ascontiguousarray(targets)
        _, peak_of_a_copy = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000 < targets.nbytes <= peak_of_a_copy


def test_outputs_not_wanted_are_none(rng):
    points, strengths = cloud(rng, 8)
    both = farfield.sum(points, strengths)
    assert both.gradient is None
    only = farfield.sum(points, strengths, output="potential")
    assert only.field is None
    np.testing.assert_array_equal(only.potential, both.potential)
    assert farfield.sum(points, strengths, output=["field"]).potential is None
    assert farfield.sum(points, strengths, output="field,potential", out={"field": None}).field.shape == (8, 3)
    with pytest.raises(ValueError, match="nothing to compute"):
        farfield.sum(points, strengths, output=[])


def test_the_fast_multipole_method(rng):
    points, charges, targets = rng.normal(size=(3000, 3)), rng.normal(size=3000), rng.normal(size=(200, 3))
    for where in ({}, {"targets": targets}):
        exact = farfield.sum(points, charges, kernel="coulomb", **where)
        result = farfield.sum(points, charges, kernel="coulomb", method="fmm", tolerance=1e-6, leaf=40, **where)
        assert relative_error(result.field, exact.field) < 1e-6
        assert relative_error(result.potential, exact.potential) < 1e-6
        assert result.report.method == "fmm" and result.report.fmm.order >= 10 and result.report.fmm.leaves > 1
    with pytest.raises(farfield.ToleranceNotReached):
        farfield.sum(points, charges, kernel="coulomb", method="fmm", order=3, leaf=40, tolerance=1e-9)
    assert farfield.sum(points, charges, kernel="coulomb", method="auto").report.method == "direct"


@pytest.mark.parametrize("method", ["direct", "fmm", "reference"])
def test_the_logarithm_of_complex_strengths(rng, method):
    """φ = −Σ q ln r and, with w = Σ q/(z − z_j), the field (Re w, −Im w)."""
    z, q = (rng.normal(size=(2, 40)).T @ [1, 1j] for _ in range(2))
    result = farfield.sum(z.view(float).reshape(-1, 2), q.view(float).reshape(-1, 2), kernel="laplace2d",
                          method=method, **({"order": 40, "leaf": 3} if method == "fmm" else {}))
    d = z[:, None] - z[None, :]
    np.fill_diagonal(d, 1.0)
    potential = -(q * np.log(np.abs(d))).sum(axis=1)
    np.fill_diagonal(d, np.inf)
    w = (q / d).sum(axis=1)
    assert result.potential.shape == (40, 2) and result.report.method == method
    assert relative_error(result.potential, np.stack([potential.real, potential.imag], axis=1)) < DOUBLE
    assert relative_error(result.field, np.stack([w.real, -w.imag], axis=1)) < DOUBLE


@pytest.mark.parametrize("method", ["direct", "reference"])
def test_vortices_and_blobs(rng, method):
    """u − iv = Σ Γ/(2πi (z − z_j)), of blobs times 1 − exp(−r²/2σ²)."""
    points, circulations = rng.normal(size=(40, 2)), rng.normal(size=40)
    z = points @ [1, 1j]
    d = z[:, None] - z[None, :]
    np.fill_diagonal(d, 1.0)
    w = circulations / (2j * np.pi * d)
    np.fill_diagonal(w, 0.0)
    for options, factor in [({}, 1.0), ({"sigma": 0.3}, -np.expm1(-np.abs(d)**2 / (2 * 0.3**2)))]:
        result = farfield.sum(points, circulations, kernel="vortex2d", method=method, **options)
        velocity = (w * factor).sum(axis=1)
        assert result.potential.shape == (40,)
        assert relative_error(result.field, np.stack([velocity.real, -velocity.imag], axis=1)) < DOUBLE


@pytest.mark.parametrize("method", ["direct", "reference", "fgt"])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_gaussians_and_their_gradient(rng, dimension, method):
    points, weights, targets = rng.normal(size=(50, dimension)), rng.normal(size=50), rng.normal(size=(9, dimension))
    result = farfield.sum(points, weights, targets=targets, kernel="gauss", method=method, sigma=0.7,
                          tolerance=1e-12)
    d = targets[:, None] - points
    terms = weights * np.exp(-(d**2).sum(axis=2) / (2 * 0.7**2))
    assert result.field is None and result.gradient.shape == (9, dimension)
    np.testing.assert_allclose(result.potential, terms.sum(axis=1), rtol=0, atol=1e-11)
    np.testing.assert_allclose(result.gradient, -(terms[:, :, None] * d).sum(axis=1) / 0.7**2, rtol=0, atol=1e-11)
    with_own, others = (farfield.sum(points, weights, kernel="gauss", method=method, sigma=0.7, self_term=own, tolerance=1e-12).potential
                        for own in ("include", "exclude"))
    np.testing.assert_allclose(with_own - weights, others, rtol=0, atol=1e-11)


def test_boxes_of_the_fast_gauss_transform(rng):
    points, weights = rng.random(size=(3000, 2)), rng.normal(size=3000)
    exact = farfield.sum(points, weights, kernel="gauss", sigma=0.1)
    result = farfield.sum(points, weights, kernel="gauss", sigma=0.1, method="fgt", strategy="boxes", tolerance=1e-7)
    fgt = result.report.fgt
    assert fgt.strategy == "boxes" and fgt.order > 1 and fgt.boxes > 1 and 0.1 < fgt.side < 10.0
    assert fgt.hermite_boxes + fgt.taylor_boxes + fgt.translated_boxes > 0
    assert pickle.loads(pickle.dumps(result.report)).fgt.translated_boxes == fgt.translated_boxes
    assert np.max(np.abs(result.potential - exact.potential)) < 1e-7 * np.max(np.abs(exact.potential))
    assert exact.report.fgt.strategy == "auto"


def test_a_tolerance_is_kept_or_an_error(rng):
    points, strengths = cloud(rng)
    report = farfield.sum(points, strengths, tolerance=1e-12).report
    assert [error.output for error in report.errors] == ["potential", "field"] and report.verify_seconds > 0.0
    for error in report.errors:
        assert 0.0 < error.relative < 1e-12 and not error.largest and error.samples == 257
        assert error.median <= error.percent_99 <= error.maximum
    assert farfield.sum(points, strengths).report.errors == []
    with pytest.raises(farfield.ToleranceNotReached, match="above the tolerance 1e-12.*'double'"):
        farfield.sum(points, strengths, tolerance=1e-12, precision="float")


def test_guaranteed_bounds_are_above_errors_and_within_the_tolerance(rng):
    points, strengths = cloud(rng)
    report = farfield.sum(points, strengths, method="fmm", tolerance=1e-4, guaranteed=True, leaf=4).report
    assert [bound.output for bound in report.bounds] == ["potential", "field"]
    for bound, error in zip(report.bounds, report.errors):
        assert error.relative <= bound.relative <= 1e-4
    assert farfield.sum(points, strengths, method="fmm", tolerance=1e-4).report.bounds == []
    with pytest.raises(farfield.InvalidArgument, match="guaranteed needs tolerance"):
        farfield.sum(points, strengths, method="fmm", guaranteed=True)
    with pytest.raises(TypeError, match="guaranteed must be True or False, not int"):
        farfield.sum(points, strengths, guaranteed=1)


def test_ctrl_c_stops_a_sum(rng):
    """One sum of many seconds ends well before its time."""
    points, strengths = cloud(rng, 300_000)
    plan = farfield.SumPlan(points, device="cpu")
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        plan.execute(strengths)
    assert time.monotonic() - start < 2.0


def test_result_and_report_print_themselves(rng):
    result = farfield.sum(*cloud(rng, 3))
    assert "SumReport(sources=3, targets=3, method='direct'" in repr(result)
    assert "direct=DirectReport(pairs=6" in repr(result)
    assert result.report.asdict()["threads"] == result.report.threads
    assert set(result.asdict()) == {"potential", "field", "gradient", "hessian", "report"}


def test_same_bits_for_any_number_of_threads(rng):
    points, strengths = cloud(rng, 3001)
    one = farfield.sum(points, strengths, threads=1)
    for threads in (2, 7):
        many = farfield.sum(points, strengths, threads=threads)
        assert many.report.threads == threads
        np.testing.assert_array_equal(one.field, many.field)
        np.testing.assert_array_equal(one.potential, many.potential)


def test_coincident_points():
    points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    with pytest.raises(farfield.InvalidArgument, match="1.*2"):
        farfield.sum(points, np.ones(3))
    skipped = farfield.sum(points, np.ones(3), coincident="skip")
    np.testing.assert_allclose(skipped.potential, [-2, -1, -1], rtol=2e-15)
    assert skipped.report.direct.coincident_pairs_skipped > 0


class OnAnotherDevice:
    """Looks like an array in the memory of an AMD GPU."""

    def __dlpack_device__(self):
        return (10, 0)

    def __dlpack__(self, **_):
        raise AssertionError("must not be asked for")


points3, ones3 = np.eye(3), np.ones(3)
MISTAKES = {
    "complex": (TypeError, "points .*complex128.*two columns", dict(points=np.eye(3, dtype=complex))),
    "truth values": (TypeError, "strengths is a ndarray of truth values", dict(strengths=ones3 > 0)),
    "a list of texts": (TypeError, "strengths is a list of text", dict(strengths=["1", "2", "3"])),
    "objects": (TypeError, "points is a ndarray that holds 'x'", dict(points=np.full((3, 3), "x", object))),
    "no array": (TypeError, "points is a str of text", dict(points="points.npy")),
    "a lone whole number": (ValueError, "points has 0 dimensions", dict(points=3)),
    "ragged list": (ValueError, "inhomogeneous", dict(points=[[1.0, 2.0, 3.0], [1.0]])),
    "device": (ValueError, "targets lives on device type 10.*host copy", dict(targets=OnAnotherDevice())),
    "device name": (ValueError, "device 'cud' is not known; use .* did you mean 'cuda'", dict(device="cud")),
    "exchange": (ValueError, "exchange = 'pear' is not known, did you mean 'peer'", dict(exchange="pear")),
    "stream": (TypeError, "stream is a str", dict(stream="fast")),
    "scalar": (ValueError, "points has 0 dimensions", dict(points=np.float64(3))),
    "3-D": (ValueError, "points has 3 dimensions", dict(points=points3[None])),
    "two columns": (ValueError, "2", dict(points=np.eye(3)[:, :2])),
    "wrong count": (ValueError, "4", dict(strengths=np.ones(4))),
    "NaN": (ValueError, "row 1", dict(points=np.array([[0, 0, 0], [0, np.nan, 0], [1, 1, 1]]))),
    "infinite strength": (ValueError, "row 2", dict(strengths=np.array([1, 1, np.inf]))),
    "negative softening": (ValueError, "softening", dict(softening=-1.0)),
    "kernel": (ValueError, "kernel = 'gravty' is not known, did you mean 'gravity'", dict(kernel="gravty")),
    "isa": (ValueError, "isa = 'mmx' is not known; known: auto, scalar,", dict(isa="mmx")),
    "kernel of another type": (TypeError, "kernel must be a str, not int", dict(kernel=1)),
    "softening of another type": (TypeError, "softening must be a number, not str", dict(softening="0.1")),
    "threads of another type": (TypeError, "threads must be a whole number, not float", dict(threads=1.5)),
    "negative tolerance": (ValueError, "tolerance is -1", dict(tolerance=-1)),
    "sigma of gravity": (ValueError, "kernel 'gravity' has no sigma; leave sigma=1 out", dict(sigma=1.0)),
    "isa of scalar code": (ValueError, "variant='naive' is scalar code and cannot use isa='sse4.2'; .* leave isa at",
                           dict(variant="naive", isa="sse4.2")),
    "method": (ValueError, "use method='direct'", dict(method="fmm", variant="naive")),
    "threads": (ValueError, "threads", dict(threads=-1)),
    "keyword": (TypeError, r"sum\(\) has no keyword 'softning', did you mean 'softening'", dict(softning=1)),
    "an earlier keyword": (TypeError, "no keyword 'field'; known: targets, dipoles, output,", dict(field=False)),
    "output": (ValueError, "output 'feild' is not known, did you mean 'field'", dict(output="potential,feild")),
    "output of another kernel": (ValueError, "kernel 'gravity' has no output 'gradient'", dict(output="gradient")),
    "output is a number": (TypeError, "output must be names", dict(output=1)),
    "out is no dict": (TypeError, "out must be a dict", dict(out=np.empty(3))),
    "out key": (ValueError, "out has the key 'feild', did you mean 'field'", dict(out={"feild": np.empty((3, 3))})),
    "out shape": (ValueError, r"out\['field'\] has shape \(3, 2\); it must be \(3, 3\)",
                  dict(out={"field": np.empty((3, 2))})),
    "out dtype": (TypeError, r"out\['potential'\] .*int64", dict(out={"potential": np.empty(3, int)})),
    "out read-only": (TypeError, r"out\['potential'\] .*writable", dict(out={"potential": np.broadcast_to(1.0, 3)})),
    "out of an output off": (ValueError, r"out\['potential'\] is given, but it is not an output",
                             dict(out={"potential": np.empty(3)}, output="field")),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    kind, message, changes = MISTAKES[mistake]
    arguments = dict(points=points3, strengths=ones3) | changes
    with pytest.raises(kind, match=message) as caught:
        farfield.sum(**arguments)
    assert isinstance(caught.value, TypeError) or mistake == "ragged list" or isinstance(caught.value, farfield.Error)


def test_errors_are_also_builtin_ones():
    assert issubclass(farfield.InvalidArgument, ValueError)
    assert issubclass(farfield.IoError, OSError)
    for name in ("BackendUnavailable", "DeviceError", "InternalError", "ToleranceNotReached"):
        assert issubclass(getattr(farfield, name), RuntimeError)
    for name in ("InvalidArgument", "IoError", "BackendUnavailable", "DeviceError", "CompileError", "InternalError",
                 "ToleranceNotReached"):
        assert issubclass(getattr(farfield, name), farfield.Error)
        assert getattr(farfield, name).__module__ == "farfield"


def test_plan_is_reused(rng):
    points, strengths = cloud(rng)
    plan = farfield.SumPlan(points, kernel="coulomb", softening=0.05)
    first = plan.execute(strengths)
    np.testing.assert_array_equal(first.field, farfield.sum(points, strengths, kernel="coulomb", softening=0.05).field)
    twice = plan.execute(2.0 * strengths, output="potential")
    np.testing.assert_array_equal(twice.potential, 2.0 * first.potential)
    plan.update(points[::-1])
    moved = plan.execute(strengths[::-1])
    np.testing.assert_allclose(moved.field, first.field[::-1], rtol=1e-12)
    assert plan.report.direct.pairs == 257 * 256
    with pytest.raises(ValueError, match="without targets"):
        plan.update(points, points)


def test_plan_with_targets_is_updated(rng):
    points, strengths = cloud(rng)
    plan = farfield.SumPlan(points, points[:9] + 0.5)
    with pytest.raises(ValueError, match="pass them too"):
        plan.update(points)
    plan.update(points, points[:9] - 0.5)
    expected = farfield.sum(points, strengths, targets=points[:9] - 0.5)
    np.testing.assert_array_equal(plan.execute(strengths).field, expected.field)


def test_plan_keeps_no_reference_to_the_arrays(rng):
    points, strengths = cloud(rng)
    plan = farfield.SumPlan(points)
    before = plan.execute(strengths).field
    points[:] = 0.0
    np.testing.assert_array_equal(plan.execute(strengths).field, before)


def test_other_threads_run_during_a_sum(rng):
    """The main thread wakes up every few milliseconds only if the GIL is released."""
    points, strengths = cloud(rng, 4000)
    plan = farfield.SumPlan(points, threads=1, variant="naive")

    def work():
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            plan.execute(strengths)

    worker = threading.Thread(target=work)
    wakes = []
    worker.start()
    while worker.is_alive():
        time.sleep(0.002)
        wakes.append(time.monotonic())
    one_sum = plan.report.compute_seconds
    longest = max(np.diff(wakes)) if len(wakes) > 1 else np.inf
    assert longest < max(0.5 * one_sum, 0.1), f"{len(wakes)} wakes, longest pause {longest} s, one sum {one_sum} s"


def test_one_plan_in_several_threads(rng):
    points, strengths = cloud(rng, 500)
    plan = farfield.SumPlan(points)
    expected = plan.execute(strengths).potential
    failures = []

    def work(factor):
        for _ in range(20):
            if not np.array_equal(plan.execute(factor * strengths).potential, factor * expected):
                failures.append(factor)

    workers = [threading.Thread(target=work, args=(2.0**k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_periodic_boxes():
    points = np.array([(x, y, z) for x in range(2) for y in range(2) for z in range(2)], float)
    charges = (-1.0) ** points.sum(axis=1)  # rock salt
    for period in (2, 2.0, (2, 2, 2), [2.0, 2.0, 2.0], "2", "2,2,2"):
        options = {"kernel": "coulomb", "method": "ewald", "period": period}
        result = farfield.sum(points, charges, output="potential", tolerance=1e-10, **options)
        np.testing.assert_allclose(result.potential, -1.747564594633182 * charges, rtol=1e-9)
        assert result.report.lattice.waves > 0
        assert result.report.energy == pytest.approx(-4 * 1.747564594633182, rel=1e-9)
    for method, tolerance in (("direct", 1e-9), ("fmm", 1e-6)):  # a crystal is the worst case of expansions
        result = farfield.sum(points, charges, output="potential", tolerance=tolerance, kernel="coulomb", method=method, period=2)
        np.testing.assert_allclose(result.potential, -1.747564594633182 * charges, rtol=10 * tolerance)
        assert (result.report.lattice.rim_images > 0) == (method == "direct")  # leaves of eight charges have no neighbours
        assert result.report.lattice.cells > 0
        assert result.report.lattice.order > 0
    line = farfield.sum([[0, 0, 0], [1, 0, 0]], [1.0, -1.0], output="potential", kernel="coulomb", tolerance=1e-10, period=(2, 0, 0))
    np.testing.assert_allclose(line.potential, [-2 * np.log(2), 2 * np.log(2)], rtol=1e-10)
    mesh = farfield.sum(points, charges, output="potential", tolerance=1e-8, kernel="coulomb", method="pme", period=2)
    np.testing.assert_allclose(mesh.potential, -1.747564594633182 * charges, rtol=1e-7)
    lattice = mesh.report.lattice
    assert (lattice.waves, len(lattice.mesh), min(lattice.mesh) > 0, 4 <= lattice.order <= 14) == (0, 3, True, True)
    assert list(pickle.loads(pickle.dumps(lattice)).mesh) == list(lattice.mesh)
    one = farfield.sum([[0.1, 0.2, 0.3]], [1.0], kernel="coulomb", method="ewald", period=1, background="uniform", tolerance=1e-10)
    assert one.potential[0] == pytest.approx(-2.837297479480620, rel=1e-9)


@pytest.mark.parametrize("period", [-1, (1, 2), "x", float("nan"), (1, 2, float("inf"))])
def test_lengths_that_are_none(period):
    with pytest.raises(farfield.InvalidArgument, match="period"):
        farfield.sum([[0.0, 0.0, 0.0]], [1.0], kernel="coulomb", method="ewald", period=period)
