"""Cases from Python: read_case, make_bodies, run_case with its files, callbacks, Ctrl-C and restart."""

import json
import logging
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import farfield

CASE = """
[initial]
kind = "plummer"
n = 64
seed = 5

[force]
softening = 0.05

[time]
step = 0.015625
end = 0.5

[output]
snapshot_every = 0.25
diagnostics_every = 0.125
pictures = false
"""


@pytest.fixture
def case_file(tmp_path):
    path = tmp_path / "little.toml"
    path.write_text(CASE)
    return path


def outputs(folder):
    """What must not depend on how often a run was interrupted."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.suffix in (".h5", ".csv")
            and not path.name.startswith("checkpoint")}


def test_read_case_and_overrides(case_file):
    case = farfield.read_case(case_file)
    assert (case.name, case.initial.kind, case.initial.n, case.initial.seed) == ("little", "plummer", 64, 5)
    assert (case.force.softening, case.force.G, case.time.integrator, case.time.end) == (0.05, 1.0, "leapfrog", 0.5)
    changed = farfield.read_case(str(case_file), ["time.end=2", "time.integrator=hermite4"])
    assert (changed.time.end, changed.time.integrator) == (2.0, "hermite4")
    assert "TimeOptions(integrator='hermite4'" in repr(changed) and changed.time.asdict()["end"] == 2.0


def test_a_case_may_be_changed_or_made(case_file):
    case = farfield.read_case(case_file)
    case.time.integrator = "yoshida4"
    case.initial.n = 8
    assert (case.time.integrator, case.initial.n) == ("yoshida4", 8)
    with pytest.raises(ValueError, match="integrator = 'leapfroog' is not known"):
        case.time.integrator = "leapfroog"
    assert farfield.Case().time.integrator == "leapfrog"


def test_errors_of_case_files(case_file, tmp_path):
    case_file.write_text(CASE.replace("softening", "softning"))
    with pytest.raises(farfield.InvalidArgument, match=r"little\.toml:8.*softning.*softening"):
        farfield.read_case(case_file)
    with pytest.raises(OSError, match="absent.toml"):
        farfield.read_case(tmp_path / "absent.toml")
    with pytest.raises(farfield.IoError, match="absent.toml"):
        farfield.run_case(tmp_path / "absent.toml", tmp_path / "out")


def test_make_bodies():
    bodies = farfield.make_bodies("plummer", n=500, seed=3)
    np.testing.assert_array_equal(bodies.positions, farfield.make_bodies(n=500, seed=3).positions)
    assert not np.array_equal(bodies.positions, farfield.make_bodies(n=500, seed=4).positions)
    assert len(bodies) == 500 and bodies.masses.sum() == pytest.approx(1.0)
    # The energy scatters by about 1/√n between samples: 1.6 % here; four times that is allowed.
    energy = farfield.Simulation(farfield.make_bodies(n=4000), step=1.0).diagnostics().total
    assert energy == pytest.approx(-0.25, rel=0.065)
    with pytest.raises(ValueError, match="n"):
        farfield.make_bodies("plummer", n=-1)
    with pytest.raises(ValueError, match="kind = 'plumer'.*'king'"):
        farfield.make_bodies("plumer", n=10)
    with pytest.raises(OSError, match="absent.h5"):
        farfield.make_bodies("file", path="absent.h5")


def test_solar_system_brings_its_constant():
    state = farfield.make_initial_state("solar-system")
    simulation = farfield.Simulation(state.bodies, step=1.0, G=state.G)
    distance = np.linalg.norm(simulation.positions[3] - simulation.positions[0])
    assert state.G == pytest.approx(0.01720209895**2) and distance == pytest.approx(1.0, abs=0.02)  # au


def test_run_leaves_its_files(case_file, tmp_path):
    seen = []
    result = farfield.run_case(case_file, tmp_path / "out", progress=seen.append)
    assert result.finished and result.steps == 32 and result.time == 0.5
    names = {path.name for path in result.files}
    assert {"diagnostics.csv", "summary.json", "checkpoint.h5", "snapshot_0000.h5", "snapshot_0002.h5"} <= names
    assert all(path.exists() for path in result.files)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [p.step for p in seen] == list(range(33)) and seen[-1].time == seen[-1].end == 0.5
    table = np.genfromtxt(tmp_path / "out" / "diagnostics.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["time"], np.arange(5) / 8)


def test_run_agrees_with_simulation(case_file, tmp_path):
    farfield.run_case(case_file, tmp_path / "out")
    simulation = farfield.Simulation(farfield.make_bodies(n=64, seed=5), step=0.015625, end=0.5, softening=0.05)
    simulation.advance_to(0.5)
    written = farfield.make_initial_state("file", path=tmp_path / "out" / "snapshot_0002.h5")
    assert written.time == 0.5
    np.testing.assert_array_equal(written.bodies.positions, simulation.positions)
    np.testing.assert_array_equal(written.bodies.velocities, simulation.velocities)


def test_a_used_folder_is_refused(case_file, tmp_path):
    farfield.run_case(case_file, tmp_path / "out")
    with pytest.raises(farfield.InvalidArgument, match="earlier run"):
        farfield.run_case(case_file, tmp_path / "out")


def test_callback_that_raises_stops_the_run_and_restart_completes_it(case_file, tmp_path, caplog):
    farfield.run_case(case_file, tmp_path / "undisturbed")

    def stop_at_13(progress):
        if progress.step == 13:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        farfield.run_case(case_file, tmp_path / "out", progress=stop_at_13)
    assert (tmp_path / "out" / "checkpoint.h5").exists()
    with caplog.at_level(logging.WARNING, logger="farfield"):
        result = farfield.run_case(case_file, tmp_path / "out", restart=True)
    assert result.finished and "continuing from step 1" in caplog.text
    assert outputs(tmp_path / "out") == outputs(tmp_path / "undisturbed")


def test_ctrl_c_writes_a_checkpoint_and_restart_completes_the_run(case_file, tmp_path):
    case = farfield.read_case(case_file, ["initial.n=300"])
    farfield.run_case(case, tmp_path / "undisturbed")
    first_step = threading.Event()

    def interrupt():
        first_step.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        # Waiting for the signal here, with the GIL released by join, keeps the run from finishing before it.
        farfield.run_case(case, tmp_path / "out", progress=lambda p: p.step == 3 and (first_step.set(), sender.join()))
    messages = []
    result = farfield.run_case(case, tmp_path / "out", restart=True, message=messages.append)
    assert result.finished and "continuing from step" in messages[0]
    assert outputs(tmp_path / "out") == outputs(tmp_path / "undisturbed")


def test_restart_without_a_checkpoint_begins_and_says_so(case_file, tmp_path):
    messages = []
    farfield.run_case(case_file, tmp_path / "out", restart=True, message=messages.append)
    assert any("starting from the beginning" in text for text in messages)


def test_output_that_cannot_be_written(case_file, tmp_path):
    (tmp_path / "out").write_text("a file where the folder should be")
    with pytest.raises(farfield.Error, match="out"):
        farfield.run_case(case_file, tmp_path / "out")
