"""examples/19_screening.py: the structure factor of a small plasma, against linear response within what chance allows."""

import runpy
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import farfield

EXAMPLES = Path(__file__).parents[2] / "examples"
BEGIN, END, WAVES = 10.0, 110.0, 6


@pytest.fixture(scope="module")
def plasma(tmp_path_factory):
    """The example with 1,000 charges in place of 4,096, as dense as there: a box of 6.25 Debye lengths."""
    folder = tmp_path_factory.mktemp("screening") / "plasma"
    changes = ["initial.n=1000", "force.period=6.25", f"time.end={END}", "output.pictures=false"]
    farfield.run_case(farfield.read_case(EXAMPLES / "19_plasma.toml", changes), folder)
    return folder


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(EXAMPLES / "19_screening.py"))


def test_bessel_function_and_transform(script):
    # Abramowitz & Stegun, table 9.8: x K_1(x) at 0.5, 1 and 2 follow from K_1 = 1.65644112, 0.60190723, 0.13986588
    np.testing.assert_allclose(script["bessel_k1"](np.array([0.5, 1.0, 2.0])), [1.65644112, 0.60190723, 0.13986588], rtol=1e-7)
    k = np.array([0.5, 2.0])
    np.testing.assert_allclose(script["transform"](k, 0.01), 4 * np.pi / k**2, rtol=2e-3)  # K_1(x) = 1/x + x ln(x/2)/2 + …


def test_shells_hold_each_wave_once(script):
    waves, squares = script["wave_shells"](2)
    both = {tuple(wave) for wave in np.vstack([waves, -waves])}
    assert len(both) == 2 * len(waves) == 32 and (0, 0, 0) not in both  # 6 + 12 + 8 + 6 of lengths 1, √2, √3, 2
    assert sorted(set(squares)) == [1, 2, 3, 4]


def test_screening_is_that_of_linear_response(plasma, script):
    """Each k and the fitted Debye number are as far from theory as chance allows.

    A wave's |rho_k|^2 is exponentially distributed about S(k), as rho_k is the sum of very many charges. So the mean over
    M waves of a shell at I independent times has the standard error S/sqrt(M I). Waves forget within two time units or
    less: the longest, k = 1.005, is damped at more than half of the plasma frequency (Landau), the others by more, so that
    I is (110 - 10)/2 at least. Corrections to linear response are of the order of the coupling, 1/(4 pi n) = 0.02 of
    1 - S, and add to it. Thirty shells within 5 standard errors fail once in 10^4 seeds; this seed stays.
    """
    rows, temperature, strength, facts = script["measure"](plasma, BEGIN, WAVES)
    _, squares = script["wave_shells"](WAVES)
    shells, members = np.unique(squares, return_counts=True)
    k, measured, error, theory = rows.T
    np.testing.assert_allclose(k, 2 * np.pi / 6.25 * np.sqrt(shells), rtol=1e-14)
    independent = (END - BEGIN) / 2
    chance = theory / np.sqrt(members * independent)
    assert (np.abs(measured - theory) < 5 * chance + 0.02 * (1 - theory)).all(), rows
    assert (error < 3 * chance).all(), "errors of blocks tell the same spread"
    # 1/S - 1 = k_D^2 shape(k): each shell knows k_D^2 within chance/(theory^2 shape)
    shape = script["transform"](k, facts["softening"]) / (4 * np.pi)
    of_square = 1 / np.sqrt(((theory**2 * shape / chance) ** 2).sum())
    debye, uncertainty = script["debye_number"](rows, facts["softening"])
    expected = 4 * np.pi * strength
    assert abs(debye**2 - expected) < 5 * of_square + 0.02 * expected, (debye**2, expected, of_square)
    assert 5 * of_square < 0.5 * expected and 0 < uncertainty < of_square, "half the screening would be seen"
    assert abs(temperature - 1) < 5 * np.sqrt(2 / 3000) + 0.02  # a draw of 3,000 normal numbers; screening warms it a little


def test_charges_that_know_nothing_of_each_other_are_told_apart(plasma, script, tmp_path):
    """The same snapshots with charges exchanged at random: S = 1, far from what screening makes of it."""
    rng = np.random.default_rng(7)
    for path in sorted(plasma.glob("snapshot_*.h5")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
        with h5py.File(tmp_path / path.name, "r+") as file:
            charges = file["PartType1/Charge"]
            charges[:] = rng.permutation(charges[:])
    rows, *_ = script["measure"](tmp_path, BEGIN, WAVES)
    assert np.abs(rows[:, 1] - 1).max() < 5 / np.sqrt(3 * (END - BEGIN)), rows  # the smallest shell has 3 waves
    assert rows[0, 1] - rows[0, 3] > 0.3


def test_it_prints_a_table_and_draws(plasma, tmp_path):
    pytest.importorskip("matplotlib")
    command = [sys.executable, EXAMPLES / "19_screening.py", plasma, "--waves", "3", "--picture", tmp_path / "s.png"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["k", "S", "measured", "error", "S", "theory", "deviations"]
    assert len(lines) == 8 + 4 and "wave number of Debye" in lines[9]
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    late = subprocess.run([*command[:3], "--from", "109"], capture_output=True, text=True, check=False)
    assert late.returncode == 1 and "let the run go on" in late.stderr
