"""Shared by the tests of the Python package: random particles, and a brute-force sum that shares no code."""

import signal

import numpy as np
import pytest

# Started in the background by a shell, a process ignores Ctrl-C, and tests that send it would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng():
    """Random numbers; the seed is fixed, so that a failure repeats."""
    return np.random.default_rng(20240229)


def brute_force(points, strengths, targets=None, kernel="gravity", softening=0.0):
    """Potential and field −∇φ from the definition, in extended precision."""
    x = np.asarray(points, np.longdouble)
    q = np.asarray(strengths, np.longdouble)
    y = x if targets is None else np.asarray(targets, np.longdouble)
    sign = {"gravity": -1, "coulomb": 1}[kernel]
    d = y[:, None, :] - x[None, :, :]
    r2 = (d**2).sum(axis=2) + np.longdouble(softening) ** 2
    if targets is None:
        np.fill_diagonal(r2, np.inf)
    potential = sign * (q / np.sqrt(r2)).sum(axis=1)
    field = sign * (q[None, :, None] * d / r2[:, :, None] ** 1.5).sum(axis=1)
    return potential.astype(float), field.astype(float)


def relative_error(value, expected):
    """Relative L2 distance."""
    return np.linalg.norm(np.asarray(value, float) - expected) / np.linalg.norm(expected)
