"""Pickles and copies of everything that a user may hold, and simulations that are saved and loaded."""

import copy
import pickle

import numpy as np
import pytest

import farfield
from farfield import stencil

ROD = """program rod
param n = 8, k = 0.25
grid g[x: n]
field u on g = x
update spread: u += k
step: spread
record first = u at (0) every 2
time dt = 0.5, steps = 4
"""


def through_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


def through_old_pickle(thing):
    return pickle.loads(pickle.dumps(thing, protocol=2))


WAYS = [through_pickle, through_old_pickle, copy.copy, copy.deepcopy]


def cluster(n=30):
    rng = np.random.default_rng(7)
    return farfield.Bodies(rng.normal(size=(n, 3)), 0.3 * rng.normal(size=(n, 3)), np.full(n, 1 / n), ids=np.arange(n) + 5)


def simulation(**options):
    bodies = cluster()
    settings = dict(step=1 / 64, softening=0.05, G=1.5) | options
    return farfield.Simulation(bodies, **settings)


def full_case():
    case = farfield.Case()
    case.name = "büchse"
    case.initial.kind, case.initial.n, case.initial.model = "two-clusters", 77, "hernquist"
    case.force.kernel, case.force.softening, case.force.device = "coulomb", 0.125, "cuda:0,1"
    case.force.exchange, case.force.isa, case.force.threads = "peer", "avx2", 3
    case.time.integrator, case.time.step, case.time.adaptive = "hermite4", 0.1, True
    case.output.plane, case.output.pictures = "yz", False
    return case


def same(first, second):
    """Fields, and fields of fields, to the bit."""
    assert type(first) is type(second)
    if hasattr(first, "asdict"):
        return all(same(value, second.asdict()[name]) for name, value in first.asdict().items())
    if isinstance(first, farfield.Bodies):
        return all(same(getattr(first, n), getattr(second, n)) for n in ("positions", "velocities", "masses", "charges", "ids"))
    if isinstance(first, list):
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()
    return first == second


def things(tmp_path):
    points = np.random.default_rng(3).normal(size=(20, 3))
    result = farfield.sum(points, np.ones(20), tolerance=1e-9)
    yield from (result, result.report, result.report.direct, result.report.errors[0])
    charged = cluster()
    yield charged
    yield farfield.Bodies(charged.positions, charged.velocities, charged.masses, charges=np.linspace(-1, 1, 30))
    yield farfield.make_initial_state("solar-system")
    yield simulation().diagnostics()
    case = full_case()
    yield from (case, case.initial, case.force, case.time, case.output)
    seen = []
    run = farfield.Case()
    run.initial.n, run.time.step, run.time.end, run.force.softening = 10, 0.25, 0.5, 0.1
    run.output.pictures = False
    yield farfield.run_case(run, tmp_path / "run", progress=seen.append)
    yield seen[-1]
    program = stencil.parse(ROD)
    yield farfield.run_stencil(program, tmp_path / "rod", target="interpreter", progress=seen.append)
    yield seen[-1]
    yield from farfield.gpus()


@pytest.mark.parametrize("way", WAYS)
def test_records_come_back_whole(tmp_path, way):
    kinds = set()
    for thing in things(tmp_path):
        kinds.add(type(thing).__name__)
        again = way(thing)
        assert again is not thing and same(thing, again), thing
    assert len(kinds - {"Gpu"}) == 16


def test_deep_copies_share_nothing():
    case = full_case()
    other = copy.deepcopy(case)
    other.force.softening, other.initial.n = 9.0, 3
    assert case.force.softening == 0.125 and case.initial.n == 77
    bodies = cluster()
    moved = copy.deepcopy(bodies)
    moved.positions[:] = 0.0
    assert (bodies.positions != 0.0).all()


def test_every_error_comes_back():
    for name in ("Error", "InvalidArgument", "BackendUnavailable", "DeviceError", "CompileError", "IoError",
                 "ToleranceNotReached", "InternalError"):  # fmt: skip
        error = getattr(farfield, name)("what went wrong")
        for way in WAYS:
            again = way(error)
            assert type(again) is type(error) and str(again) == "what went wrong"
    with pytest.raises(farfield.InvalidArgument) as caught:
        farfield.sum(np.zeros((2, 3)), np.ones(2))
    assert str(through_pickle(caught.value)) == str(caught.value)


def test_programs_come_back_with_their_parameters(tmp_path):
    path = tmp_path / "rod.ff"
    path.write_text(ROD.replace("program rod\n", ""))
    program = stencil.load(path, n=5, k=0.1)
    for way in WAYS:
        again = way(program)
        assert (again.name, again.text, again.parameters) == ("rod", program.text, {"n": 5, "k": 0.1})
        assert again.steps == 4 and again.replace({"n": 9}).parameters == {"n": 9, "k": 0.1}


KINDS = {
    "leapfrog": {},
    "yoshida4": dict(integrator="yoshida4", precision="mixed"),
    "hermite4": dict(integrator="hermite4", end=0.7),
    "adaptive": dict(integrator="hermite4", adaptive=True, eta=0.01, end=3.0),
}


@pytest.mark.filterwarnings("ignore:.*last step is shortened")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["file", *WAYS[::3]])
def test_a_simulation_goes_on_to_the_same_bits(tmp_path, kind, way):
    first = simulation(**KINDS[kind])
    first.diagnostics()
    first.advance_to(0.3)  # off the grid
    if way == "file":
        first.save(tmp_path / "saved.h5")
        assert [path.name for path in tmp_path.iterdir()] == ["saved.h5"]
        second = farfield.Simulation.load(tmp_path / "saved.h5")
    else:
        second = way(first)
    assert (second.time, second.step_count, second.end) == (0.3, first.step_count, first.end)
    assert second.force.G == 1.5 and second.integrator == first.integrator and second.step_length == first.step_length
    for s in (first, second):
        s.step(5)
        s.advance_to(0.6)
    assert first.step_count == second.step_count
    assert same(first.bodies, second.bodies) and same(first.diagnostics(), second.diagnostics())


def test_saving_replaces_a_file_as_a_whole(tmp_path):
    saved = simulation()
    path = tmp_path / "saved.h5"
    saved.save(path)
    saved.step(3)
    saved.save(str(path))
    assert farfield.Simulation.load(path).step_count == 3
    content = path.read_bytes()
    path.write_bytes(content[:-100] + b"x" + content[-99:])
    with pytest.raises(farfield.IoError, match="checksum"):
        farfield.Simulation.load(path)
    with pytest.raises(OSError, match="absent.h5"):
        farfield.Simulation.load(tmp_path / "absent.h5")
    with pytest.raises(OSError, match="no_folder"):
        saved.save(tmp_path / "no_folder" / "saved.h5")


def test_the_checkpoint_of_a_run_is_loaded(tmp_path):
    case = farfield.Case()
    case.initial.n, case.time.step, case.time.end, case.force.softening = 20, 0.25, 1.0, 0.1
    case.output.pictures = False
    farfield.run_case(case, tmp_path / "run")
    ended = farfield.Simulation.load(tmp_path / "run" / "checkpoint.h5")
    assert ended.finished and ended.time == 1.0 and ended.step_count == 4
    ended.end = None
    ended.step(4)
    case.time.end = 2.0
    farfield.run_case(case, tmp_path / "longer")
    longer = farfield.Simulation.load(tmp_path / "longer" / "checkpoint.h5")
    assert longer.time == ended.time == 2.0 and same(longer.bodies, ended.bodies)


def test_plans_and_broken_pickles_are_refused():
    with pytest.raises(TypeError, match="SumPlan"):
        pickle.dumps(farfield.SumPlan(np.eye(3)))
    with pytest.raises(farfield.InvalidArgument, match="another version"):
        farfield.Bodies.__new__(farfield.Bodies).__setstate__((b"", b""))
