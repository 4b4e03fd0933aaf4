"""Simulations in periodic boxes and by the tree code, from Python: against Ewald's sum written here, wrapping, restart."""

import json
import math
from pathlib import Path

import h5py
import numpy as np
import pytest

import farfield
from conftest import brute_force, relative_error

PLASMA = """
[initial]
kind = "plasma"
n = 64
seed = 5
particle_charge = 0.2
temperature = 4.0

[force]
kernel = "coulomb"
method = "auto"
tolerance = 1e-4
softening = 0.1
period = [2.0, 2.0, 3.0]

[time]
step = 0.015625
end = 0.5

[output]
snapshot_every = 0.25
diagnostics_every = 0.125
checkpoint_every = 0.125
pictures = false
"""


def ewald_field(x, q, lengths):
    """E of charges that sum to 0 and all of their images, by Ewald's sum (1921): erfc of near images, waves of the rest.

    Images next to the nearest one and waves up to 12 along each axis: with a = 4/L both leave out less than e^-35.
    """
    lengths = np.asarray(lengths)
    volume, a = lengths.prod(), 4.0 / lengths.min()
    erfc = np.vectorize(math.erfc)
    field = np.zeros_like(x)
    nearest = x[:, None, :] - x[None, :, :]
    nearest -= lengths * np.round(nearest / lengths)
    for image in np.ndindex(3, 3, 3):
        d = nearest - (np.array(image) - 1) * lengths
        r = np.sqrt((d**2).sum(axis=2))
        own = r == 0.0
        r[own] = 1.0
        shape = (erfc(a * r) + 2 * a * r / np.sqrt(np.pi) * np.exp(-((a * r) ** 2))) / r**3
        shape[own] = 0.0
        field += np.einsum("ij,ijk->ik", q * shape, d)
    k = 2 * np.pi * (np.stack(np.meshgrid(*[np.arange(-12, 13)] * 3), axis=-1).reshape(-1, 3)) / lengths
    k = k[(k != 0).any(axis=1)]
    k2 = (k**2).sum(axis=1)
    phases = np.exp(1j * x @ k.T)
    amplitudes = (q @ phases.conj()) * 4 * np.pi / volume * np.exp(-k2 / (4 * a**2)) / k2
    return field + ((-1j * amplitudes * phases) @ k).real


def neutral(rng, n, lengths):
    """Charges near the sites of a lattice, so that none come close: n³ of them, of both signs."""
    sites = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    charges = np.where(sites.sum(axis=1) % 2, 0.3, -0.3)  # too weak to bring two together in the time of a test
    places = (sites + 0.5 + rng.uniform(-0.2, 0.2, sites.shape)) * np.asarray(lengths) / n
    return farfield.Bodies(places, rng.normal(size=sites.shape), np.full(n**3, 0.5), charges=charges)


@pytest.mark.parametrize(("period", "method"), [(2.0, "ewald"), ((2.0, 2.0, 3.0), "pme"), (2.0, "direct"), ((2, 3, 2), "auto")])
def test_follows_a_leapfrog_in_a_box_written_in_numpy(rng, period, method):
    lengths = np.broadcast_to(np.asarray(period, float), 3)
    bodies = neutral(rng, 2, lengths)
    options = dict(step=1 / 64, kernel="coulomb", method=method, tolerance=1e-9, period=period)
    if method == "auto":
        with pytest.warns(UserWarning, match="takes 'ewald': by the cost table"):
            simulation = farfield.Simulation(bodies, **options)
    else:
        simulation = farfield.Simulation(bodies, **options)
    x, v, m, q = bodies.positions.copy(), bodies.velocities.copy(), bodies.masses, bodies.charges
    per_mass = (q / m)[:, None]
    simulation.step(40)
    for _ in range(40):
        v += per_mass * ewald_field(x, q, lengths) / 128
        x += v / 64
        v += per_mass * ewald_field(x, q, lengths) / 128
    assert ((x < 0) | (x >= lengths)).any(), "some have left the box"
    assert (simulation.positions >= 0).all() and (simulation.positions < lengths).all()
    apart = simulation.positions - x
    apart -= lengths * np.round(apart / lengths)
    # forces of at most 1 with errors of 1e-9, for a time of 0.6; what grows in between is left a factor of 10
    assert np.abs(apart).max() < 1e-8 and np.abs(simulation.velocities - v).max() < 1e-7


def test_what_a_box_keeps_and_what_it_has_not(rng):
    bodies = neutral(rng, 4, (2, 2, 2))
    simulation = farfield.Simulation(
        bodies, step=1 / 512, end=0.25, kernel="coulomb", method="ewald", tolerance=1e-6, period=2, softening=0.05
    )
    assert (simulation.force.period, simulation.force.boundary) == (2.0, "tin-foil")
    first = simulation.diagnostics()
    simulation.advance_to(0.25)
    last = simulation.diagnostics()
    assert 0 < last.acceleration_error <= 1e-6 and 0 < last.potential_error <= 1e-6
    assert 0 < abs(last.total - first.total) < 1e-4 * first.kinetic
    np.testing.assert_allclose(last.momentum, first.momentum, atol=1e-6 * np.abs(bodies.masses).sum())
    assert np.isnan(last.angular_momentum).all() and np.isnan(last.lagrangian_radii).all() and math.isnan(last.virial_ratio)


def test_a_slab_is_open_along_an_axis(rng):
    cube = neutral(rng, 2, (2, 2, 2))
    bodies = farfield.Bodies(cube.positions + [1.5, 0, 1.5], cube.velocities, cube.masses, charges=cube.charges)
    ends, changes = [], []
    for method, steps in (("direct", 20), ("direct", 40), ("fmm", 40)):
        simulation = farfield.Simulation(bodies, step=0.25 / steps, kernel="coulomb", method=method, tolerance=1e-5, period=(2, 2, 0))
        first = simulation.diagnostics()
        simulation.step(steps)
        last = simulation.diagnostics()
        changes.append(last.total - first.total)
        x = simulation.positions
        assert (x[:, :2] >= 0).all() and (x[:, :2] < 2).all() and (x[:, 2] >= 2).any()
        np.testing.assert_allclose(last.momentum, first.momentum, atol=1e-4)
        ends.append(x.copy())
    assert 3 < changes[0] / changes[1] < 5 and abs(changes[1]) < 1e-2 * first.kinetic, "leapfrog's second order"
    np.testing.assert_allclose(ends[1], ends[2], atol=1e-4)


def test_a_background_lets_gravity_into_a_box(rng):
    """Equal masses on a cubic lattice stay where they are: the field of each other's images vanishes by symmetry."""
    sites = np.stack(np.meshgrid(*[[0.5, 1.5]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    bodies = farfield.Bodies(sites, np.zeros_like(sites), np.ones(8))
    with pytest.raises(farfield.InvalidArgument, match="background"):
        farfield.Simulation(bodies, step=0.1, method="ewald", period=2)
    options = dict(step=1 / 16, method="ewald", period=2, background="uniform", softening=0.1)
    simulation = farfield.Simulation(bodies, **options)
    simulation.step(4)
    np.testing.assert_allclose(simulation.positions, sites, atol=1e-9)
    assert simulation.force.background == "uniform"
    pulled = sites.copy()
    pulled[0, 0] += 0.2
    nearer = farfield.Simulation(farfield.Bodies(pulled, np.zeros_like(sites), np.ones(8)), **options)
    nearer.step(1)
    assert nearer.velocities[0, 0] > 1e-3, "a mass is drawn to the neighbour that it is closer to"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(period=(2, 2, 0)), "three axes"),
        (dict(period=-1), "period"),
        (dict(period=2, boundary="vacuum"), "vacuum"),
        (dict(period=2, boundary="wall"), "boundary.*tin-foil"),
        (dict(period=2, background="even"), "background.*uniform"),
        (dict(period=2, integrator="hermite4"), "hermite4"),
        (dict(period=2, method="treecode"), "treecode"),
        (dict(background="uniform"), "background"),
    ],
)
def test_what_runs_in_boxes_refuse(rng, changes, message):
    with pytest.raises(farfield.InvalidArgument, match=message):
        farfield.Simulation(neutral(rng, 2, (2, 2, 2)), **{"step": 0.1, "kernel": "coulomb", "method": "ewald", **changes})


def outputs(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.suffix in (".h5", ".csv")
            and not path.name.startswith("checkpoint")}  # fmt: skip


def stopped_and_continued(case, folder):
    """Outputs of a run that was stopped at step 13 and continued, and of one that was not."""

    def stop(progress):
        if progress.step == 13:
            raise RuntimeError("enough")

    farfield.run_case(case, folder / "undisturbed")
    with pytest.raises(RuntimeError, match="enough"):
        farfield.run_case(case, folder / "out", progress=stop)
    messages = []
    result = farfield.run_case(case, folder / "out", restart=True, message=messages.append)
    assert result.finished and any("continuing from step" in text for text in messages)
    return outputs(folder / "out"), outputs(folder / "undisturbed")


def test_a_case_in_a_box(tmp_path):
    (tmp_path / "box.toml").write_text(PLASMA)
    case = farfield.read_case(tmp_path / "box.toml")
    assert (case.force.period, case.force.boundary, case.force.background) == ((2.0, 2.0, 3.0), "tin-foil", "none")
    assert case.initial.box == (2.0, 2.0, 3.0)
    continued, undisturbed = stopped_and_continued(case, tmp_path)
    assert continued == undisturbed
    with h5py.File(tmp_path / "out" / "snapshot_0002.h5") as file:
        assert file["Header"].attrs["BoxSize"].tolist() == [2.0, 2.0, 3.0]
        x, charges = file["PartType1/Coordinates"][:], file["PartType1/Charge"][:]
    assert (x >= 0).all() and (x < [2, 2, 3]).all() and charges.sum() == 0
    with h5py.File(tmp_path / "out" / "snapshot_0000.h5") as file:
        v0 = file["PartType1/Velocities"][:]
        free = file["PartType1/Coordinates"][:] + 0.5 * v0
    assert ((free < 0) | (free >= [2, 2, 3])).any(), "some went around"
    table = np.genfromtxt(tmp_path / "out" / "diagnostics.csv", delimiter=",", names=True)
    assert table.dtype.names == ("time", "kinetic", "potential", "total", "relative_energy_error", "px", "py", "pz",
                                 "acceleration_error", "potential_error")  # fmt: skip
    assert (table["acceleration_error"] <= 1e-4).all() and (table["potential_error"] <= 1e-4).all()
    last = json.loads((tmp_path / "out" / "summary.json").read_text())["last_diagnostics"]
    assert set(last) == {"kinetic", "potential", "total", "momentum"}


def test_a_case_by_the_tree_code(tmp_path):
    text = """
[initial]
kind = "plummer"
n = 2000
seed = 5
[force]
method = "treecode"
tolerance = 1e-3
softening = 0.05
[time]
step = 0.015625
end = 0.25
[output]
diagnostics_every = 0.125
checkpoint_every = 0.0625
pictures = false
"""
    (tmp_path / "tree.toml").write_text(text)
    case = farfield.read_case(tmp_path / "tree.toml")
    assert case.force.method == "treecode"
    continued, undisturbed = stopped_and_continued(case, tmp_path)
    assert continued == undisturbed
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["force"]["method"] == "treecode" and summary["force"]["order"] >= 1
    errors = summary["force"]["largest_relative_errors"]
    assert 0 < errors["acceleration"] <= 1e-3 and 0 < errors["potential"] <= 1e-3
    assert abs(summary["relative_energy_error"]) < 1e-3


@pytest.mark.parametrize("options", [dict(tolerance=1e-4), dict(theta=0.3, order=4)])
@pytest.mark.parametrize("softening", [0.0, 0.3])
def test_simulations_by_the_tree_code(rng, options, softening):
    n = 1500
    bodies = farfield.Bodies(rng.normal(size=(n, 3)), np.zeros((n, 3)), rng.uniform(0.5, 1.5, n) / n)
    step = 2.0**-10
    simulation = farfield.Simulation(bodies, step=step, method="treecode", softening=softening, **options)
    simulation.step(1)
    potential, field = brute_force(bodies.positions, bodies.masses, softening=softening)
    # of the first half step and the second, which differ by what the bodies moved
    assert relative_error(simulation.velocities / step, field) < (2e-4 if "tolerance" in options else 2e-3)
    row = farfield.Simulation(bodies, step=step, method="treecode", softening=softening, **options).diagnostics()
    assert row.potential == pytest.approx(0.5 * bodies.masses @ potential, rel=1e-4)
    same = farfield.Simulation(bodies, step=step, method="treecode", softening=softening, threads=1, **options)
    same.step(1)
    np.testing.assert_array_equal(same.velocities, simulation.velocities)


@pytest.mark.parametrize(
    ("options", "message"),
    [(dict(theta=0.5, method="fmm"), "theta"), (dict(method="treecode", order=13), "order"), (dict(method="treecode", theta=-1.0), "theta"),
     (dict(method="treecode", integrator="hermite4"), "hermite4")],
)  # fmt: skip
def test_what_the_tree_code_refuses(rng, options, message):
    bodies = farfield.Bodies(rng.normal(size=(8, 3)), np.zeros((8, 3)), np.ones(8))
    with pytest.raises(farfield.InvalidArgument, match=message):
        farfield.Simulation(bodies, step=0.1, **options)
