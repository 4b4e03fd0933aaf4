"""farfield.Bodies and Simulation: against a leapfrog written here, energy, views and their lifetime, Ctrl-C."""

import gc
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import farfield
from conftest import brute_force


def pair(separation=2.0):
    """Two unit masses on a circular orbit about their centre, G = 1."""
    speed = np.sqrt(1.0 / (2.0 * separation))
    half = 0.5 * separation
    return farfield.Bodies([[half, 0, 0], [-half, 0, 0]], [[0, speed, 0], [0, -speed, 0]], [1.0, 1.0])


def cluster(rng, n=40):
    return farfield.Bodies(rng.normal(size=(n, 3)), 0.2 * rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, n) / n)


def test_follows_a_leapfrog_written_in_numpy(rng):
    bodies = cluster(rng)
    simulation = farfield.Simulation(bodies, step=1 / 64, softening=0.1)
    x, v, m = bodies.positions.copy(), bodies.velocities.copy(), bodies.masses
    simulation.step(20)
    for _ in range(20):
        v += brute_force(x, m, softening=0.1)[1] / 128
        x += v / 64
        v += brute_force(x, m, softening=0.1)[1] / 128
    assert simulation.step_count == 20 and simulation.time == 20 / 64
    np.testing.assert_allclose(simulation.positions, x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(simulation.velocities, v, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("integrator", "order"), [("leapfrog", 2), ("yoshida4", 4), ("hermite4", 4)])
def test_circular_orbit_converges_with_its_order(integrator, order):
    period = 2 * np.pi * 2  # r = 1 about the centre, v = 1/2

    def error(steps):
        simulation = farfield.Simulation(pair(), step=period / steps, end=period, integrator=integrator)
        simulation.advance_to(period)
        assert simulation.finished and simulation.step_count == steps
        return np.abs(simulation.positions - pair().positions).max()

    slope = np.log2(error(100) / error(200))
    assert order - 0.3 < slope < order + 0.3


def test_forces_to_a_tolerance(rng):
    bodies = cluster(rng, 400)
    simulation = farfield.Simulation(bodies, step=1 / 256, end=1.0, method="fmm", leaf=4, tolerance=1e-4)
    row = simulation.diagnostics()
    assert 0.0 < row.acceleration_error <= 1e-4 and 0.0 < row.potential_error <= 1e-4
    assert simulation.force.tolerance == 1e-4
    with pytest.raises(farfield.ToleranceNotReached, match="tolerance"):
        farfield.Simulation(bodies, step=1 / 256, end=1.0, method="fmm", leaf=4, order=2, tolerance=1e-9)


def test_energy_and_momentum(rng):
    simulation = farfield.Simulation(cluster(rng), step=1 / 256, end=1.0, softening=0.1)
    first = simulation.diagnostics()
    m, v = simulation.masses, simulation.velocities
    assert first.kinetic == pytest.approx(0.5 * (m @ (v**2).sum(axis=1)), rel=1e-14)
    potential = brute_force(simulation.positions, m, softening=0.1)[0]
    assert first.potential == pytest.approx(0.5 * m @ potential, rel=1e-13)
    assert first.total == first.kinetic + first.potential and first.relative_energy_error == 0.0
    simulation.advance_to(1.0)
    last = simulation.diagnostics()
    assert last.time == 1.0 and 0.0 < abs(last.relative_energy_error) < 1e-4
    np.testing.assert_allclose(last.momentum, m @ v, atol=1e-15)
    np.testing.assert_allclose(last.angular_momentum, first.angular_momentum, atol=1e-14)
    assert last.asdict()["virial_ratio"] == -last.kinetic / last.potential
    assert repr(last).startswith("Diagnostics(time=1.0, kinetic=")


def test_charges_move_in_their_field():
    """Two like charges part: ½mv² gained = the Coulomb energy lost."""
    bodies = farfield.Bodies([[0, 0, 0], [1, 0, 0]], np.zeros((2, 3)), [1.0, 3.0], charges=[0.5, 0.5])
    simulation = farfield.Simulation(bodies, step=1e-3, kernel="coulomb")
    simulation.advance_to(1.0)
    (x1, x2), (v1, v2) = simulation.positions[:, 0], simulation.velocities[:, 0]
    assert x1 < 0 < 1 < x2 and 0.5 * v1**2 + 1.5 * v2**2 == pytest.approx(0.25 * (1 - 1 / (x2 - x1)), rel=1e-6)
    np.testing.assert_array_equal(simulation.charges, [0.5, 0.5])


def test_vortices_move_with_their_flow():
    """Two vortices of one sign, d apart, turn once in 4π²d²/(Γ₁ + Γ₂); cores spread as σ² = σ₀² + 2νt."""
    bodies = farfield.Bodies([[0, 0, 0], [0.5, 0, 0]], np.zeros((2, 3)), np.zeros(2), charges=[1.0, 2.0])
    period = 4 * np.pi**2 * 0.25 / 3
    simulation = farfield.Simulation(bodies, step=period / 1000, end=period, kernel="vortex2d", integrator="rk4")
    first = simulation.diagnostics()
    assert first.vortices.circulation == 3.0 and first.vortices.impulse == (1.0, 0.0)
    assert first.total == pytest.approx(-2 * np.log(0.5) / (2 * np.pi), rel=1e-14)
    simulation.advance_to(period)
    np.testing.assert_allclose(simulation.positions, [[0, 0, 0], [0.5, 0, 0]], atol=1e-6)
    assert pickle.loads(pickle.dumps(first)).vortices.angular_impulse == 0.5
    spreading = farfield.Simulation(bodies, step=0.5, end=2.0, kernel="vortex2d", integrator="rk4", sigma=0.3, viscosity=0.01)
    spreading.advance_to(2.0)
    assert spreading.diagnostics().vortices.sigma == pytest.approx(np.sqrt(0.09 + 0.04))
    decaying = farfield.Simulation(bodies, step=0.5, end=6.0, kernel="vortex2d", integrator="rk4", sigma=0.3, viscosity=0.03, reinitialise="rbf")
    positions = decaying.positions
    decaying.advance_to(6.0)
    last = decaying.diagnostics().vortices
    assert last.reinitialisations == 4 and 0 < last.residual <= 1e-6 and last.sigma == 0.3
    assert len(positions) == 2 and len(decaying.positions) == len(decaying.charges) == len(decaying.ids) == last.count > 100
    np.testing.assert_array_equal(positions, [[0, 0, 0], [0.5, 0, 0]])
    assert decaying.charges.sum() == pytest.approx(3.0) and not decaying.masses.flags.writeable
    assert pickle.loads(pickle.dumps(decaying)).positions.tolist() == decaying.positions.tolist()
    with pytest.raises(farfield.InvalidArgument, match="overlap"):
        farfield.Simulation(bodies, step=0.5, kernel="vortex2d", integrator="rk4", sigma=0.3, overlap=0.5)
    with pytest.raises(farfield.InvalidArgument, match="rk4"):
        farfield.Simulation(bodies, step=0.1, kernel="vortex2d", integrator="leapfrog")
    assert len(farfield.make_bodies("vortex-sheet", n=10, waves=2).charges) == 10


def test_same_bits_for_any_number_of_threads(rng):
    bodies = cluster(rng, 600)
    ends = []
    for threads in (1, 2, 7):
        simulation = farfield.Simulation(bodies, step=1 / 64, softening=0.01, threads=threads)
        simulation.step(5)
        ends.append(np.hstack([simulation.positions, simulation.velocities]))
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


@pytest.mark.parametrize("integrator", ["leapfrog", "yoshida4", "hermite4"])
def test_views_show_later_steps_and_are_read_only(integrator):
    simulation = farfield.Simulation(pair(), step=0.01, integrator=integrator)
    positions, velocities, start = simulation.positions, simulation.velocities, simulation.positions.copy()
    simulation.step(3)
    assert not np.array_equal(positions, start)
    assert np.shares_memory(positions, simulation.positions)
    assert np.shares_memory(velocities, simulation.velocities)
    for view in (positions, velocities, simulation.masses, simulation.ids):
        assert not view.flags.writeable and not view.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0


def test_views_outlive_the_simulation():
    simulation = farfield.Simulation(pair(), step=0.01)
    simulation.step(5)
    positions, expected = simulation.positions, simulation.positions.copy()
    del simulation
    gc.collect()
    filler = [np.full((2, 3), np.nan) for _ in range(1000)]  # would land in memory that was given back
    np.testing.assert_array_equal(positions, expected)
    assert len(filler) == 1000


def test_bodies_own_copies_and_show_them(rng):
    given = rng.normal(size=(5, 3)).astype(np.float32)[::-1]
    bodies = farfield.Bodies(given, np.zeros((5, 3)), np.ones(5))
    np.testing.assert_array_equal(bodies.positions, given)
    assert len(bodies) == 5 and bodies.charges is None
    np.testing.assert_array_equal(bodies.ids, [1, 2, 3, 4, 5])
    bodies.positions[2] = 9.0
    assert (bodies.positions[2] == 9.0).all() and not (given[2] == 9.0).any()
    simulation = farfield.Simulation(bodies, step=0.1, softening=0.1)
    bodies.positions[2] = 0.0
    assert (simulation.positions[2] == 9.0).all()
    positions = bodies.positions
    del bodies
    gc.collect()
    assert (positions[2] == 0.0).all()


def test_bodies_of_a_simulation_start_another():
    first = farfield.Simulation(pair(), step=0.01)
    first.step(10)
    second = farfield.Simulation(first.bodies, step=0.01, start_time=first.time)
    first.step(10)
    second.step(10)
    np.testing.assert_allclose(second.positions, first.positions, rtol=1e-13)
    assert second.time == pytest.approx(0.2)


def test_a_shortened_last_step_is_announced():
    with pytest.warns(UserWarning, match="last step is shortened"):
        simulation = farfield.Simulation(pair(), step=0.3, end=1.0)
    assert simulation.steps_remaining == 4 and len(simulation.notes) == 1
    simulation.advance_to(1.0)
    assert simulation.time == 1.0 and simulation.finished


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(step=0.0), "step"),
        (dict(step=np.nan), "step"),
        (dict(step=0.1, end=-1.0), "end"),
        (dict(step=0.1, integrator="euler"), "integrator = 'euler'.*'leapfrog', 'yoshida4', 'hermite4'"),
        (dict(step=0.1, adaptive=True), "adaptive.*hermite4"),
        (dict(step=0.1, softening=-1.0), "softening"),
        (dict(step=0.1, kernel="coulomb"), "charge"),
        (dict(step=0.1, G=0.0), "G"),
    ],
)
def test_options_that_are_not_allowed(changes, message):
    with pytest.raises(farfield.InvalidArgument, match=message):
        farfield.Simulation(pair(), **changes)


def test_bodies_that_are_not_allowed():
    zeros, ones = np.zeros((3, 3)), np.ones(3)
    with pytest.raises(ValueError, match=r"velocities has shape \(2, 3\); it must be \(3, 3\)"):
        farfield.Bodies(zeros, zeros[:2], ones)
    with pytest.raises(ValueError, match=r"charges has shape \(3, 3\); it must be \(3,\)"):
        farfield.Bodies(zeros, zeros, ones, zeros)
    with pytest.raises(ValueError, match="1"):
        farfield.Bodies(zeros, zeros, np.array([1, np.nan, 1]))
    with pytest.raises(ValueError, match="7"):
        farfield.Bodies(zeros, zeros, ones, ids=[7, 8, 7])
    with pytest.raises(ValueError, match="negative"):
        farfield.Bodies(zeros, zeros, ones, ids=[1, 2, -3])
    with pytest.raises(TypeError, match="whole numbers"):
        farfield.Bodies(zeros, zeros, ones, ids=[1.0, 2.0, 3.5])
    with pytest.raises(TypeError, match="masses .*complex128"):
        farfield.Bodies(zeros, zeros, np.ones(3, complex))


def test_advance_to_ends_at_the_time_asked(rng):
    simulation = farfield.Simulation(cluster(rng), step=0.25, softening=0.1)
    simulation.advance_to(0.6)
    assert simulation.time == 0.6 and simulation.step_count == 3
    simulation.step()
    assert simulation.time == 0.85
    for time in (np.inf, -np.inf, np.nan):
        with pytest.raises(ValueError, match="must be a finite number"):
            simulation.advance_to(time)
    with pytest.raises(ValueError, match="0.5 has passed"):
        simulation.advance_to(0.5)
    assert simulation.time == 0.85


@pytest.mark.parametrize("integrator", ["yoshida4", "hermite4"])
@pytest.mark.parametrize("advance", [lambda s: s.advance_to(1e9), lambda s: s.step(10)])
def test_ctrl_c_gives_up_a_long_step(rng, integrator, advance):
    """The signal comes in the first step, which takes three evaluations (hermite4: one that is as long)."""
    n = {"yoshida4": 30_000, "hermite4": 20_000}[integrator]
    bodies = farfield.Bodies(rng.normal(size=(n, 3)), np.zeros((n, 3)), np.ones(n))
    start = time.monotonic()
    simulation = farfield.Simulation(bodies, step=0.01, softening=0.1, device="cpu", integrator=integrator)
    evaluation = time.monotonic() - start
    threading.Timer(0.2 * evaluation, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        advance(simulation)
    assert simulation.step_count == 0 and simulation.time == 0.0
    np.testing.assert_array_equal(simulation.positions, bodies.positions)
    np.testing.assert_array_equal(simulation.velocities, bodies.velocities)


def test_ctrl_c_gives_up_the_first_accelerations(rng):
    n = 300_000
    bodies = farfield.Bodies(rng.normal(size=(n, 3)), np.zeros((n, 3)), np.ones(n))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        farfield.Simulation(bodies, step=0.01, softening=0.1, device="cpu")
    assert time.monotonic() - start < 4.0  # on a busy machine; the whole takes several times as long


@pytest.mark.parametrize("advance", [lambda s: s.advance_to(1e9), lambda s: s.step(10**12)])
def test_ctrl_c_stops_between_two_steps(advance):
    simulation = farfield.Simulation(pair(), step=0.01)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        advance(simulation)
    steps = simulation.step_count
    assert steps > 0 and simulation.time == pytest.approx(0.01 * steps)
    simulation.step()
    assert simulation.step_count == steps + 1


@pytest.mark.parametrize("integrator", ["leapfrog", "yoshida4", "hermite4"])
def test_what_is_set_between_steps_counts(rng, integrator):
    """As a simulation that starts from there, to the bit."""
    simulation = farfield.Simulation(cluster(rng), step=1 / 64, softening=0.1, integrator=integrator)
    simulation.step(3)
    first = simulation.diagnostics()
    view, pairs = simulation.positions, simulation.pairs_evaluated
    shifted = (simulation.positions[::-1] + 1.0).astype(np.float32)
    turned = -simulation.velocities
    simulation.positions = shifted
    simulation.velocities = turned.tolist()
    simulation.step_length = 1 / 32
    assert np.shares_memory(view, simulation.positions) and simulation.pairs_evaluated > pairs
    np.testing.assert_array_equal(view, shifted)
    np.testing.assert_array_equal(simulation.velocities, turned)
    other = farfield.Simulation(simulation.bodies, step=1 / 32, softening=0.1, integrator=integrator, start_time=3 / 64)
    assert simulation.diagnostics().relative_energy_error == 0.0 and simulation.diagnostics().total != first.total
    simulation.step(4)
    other.step(4)
    assert simulation.time == other.time == 3 / 64 + 4 / 32 and simulation.step_count == 7
    np.testing.assert_array_equal(simulation.positions, other.positions)
    np.testing.assert_array_equal(simulation.velocities, other.velocities)


def test_what_may_not_be_set_changes_nothing(rng):
    simulation = farfield.Simulation(cluster(rng), step=0.25)
    undisturbed = farfield.Simulation(simulation.bodies, step=0.25)
    with pytest.raises(ValueError, match=r"positions has shape \(2, 3\); it must be \(40, 3\)"):
        simulation.positions = np.zeros((2, 3))
    with pytest.raises(ValueError, match="row 7"):
        simulation.velocities = np.where(np.arange(40)[:, None] == 7, np.nan, 1.0) * np.ones(3)
    with pytest.raises(ValueError, match="0.*1|coincide|same"):
        simulation.positions = np.zeros((40, 3))
    for step in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="step"):
            simulation.step_length = step
    simulation.step()
    undisturbed.step()
    with pytest.raises(ValueError, match="end is 0.1"):
        simulation.end = 0.1
    np.testing.assert_array_equal(simulation.positions, undisturbed.positions)
    assert simulation.time == undisturbed.time == 0.25


def test_step_and_end_are_set_and_shown():
    simulation = farfield.Simulation(pair(), step=0.25)
    assert (simulation.step_length, simulation.end, simulation.integrator) == (0.25, None, "leapfrog")
    assert simulation.force.softening == 0.0
    simulation.step()
    for length in (1e-9, 0.5):  # without an end, steps may be as short as one likes
        simulation.step_length = length
        assert simulation.end is None and simulation.step_length == length
    simulation.end = 1.25
    assert simulation.end == 1.25 and simulation.steps_remaining == 2
    simulation.advance_to(10.0)
    assert simulation.finished and simulation.time == 1.25 and simulation.step_count == 3
    simulation.end = None
    simulation.step()
    assert simulation.time == 1.75


def test_adaptive_steps_follow_what_is_set(rng):
    simulation = farfield.Simulation(cluster(rng), step=1.0, softening=0.05, integrator="hermite4", adaptive=True)
    simulation.step(5)
    simulation.step_length = 1e-4
    before = simulation.time
    simulation.step()
    assert simulation.time - before == pytest.approx(1e-4)
    simulation.step_length = 1.0
    simulation.positions = 100.0 * simulation.positions  # where accelerations change 10,000 times more slowly
    before = simulation.time
    simulation.step()
    assert simulation.time - before > 0.01
