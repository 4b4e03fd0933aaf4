"""Densities against SciPy's gaussian_kde and against sums written out, and sums with a width for each source."""

import copy
import importlib.util
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import farfield


def whitened_density(points, weights, targets, lower, factor, without_own=False):
    """Density and gradient of Gaussians of covariance factor² L Lᵀ, from the definition, in extended precision."""
    x, y = np.asarray(points, np.longdouble), np.asarray(targets, np.longdouble)
    w = np.asarray(weights, np.longdouble)
    inverse = np.linalg.inv(factor**2 * lower @ lower.T).astype(np.longdouble)
    d = y[:, None, :] - x[None, :, :]
    pull = d @ inverse
    terms = w * np.exp(-(pull * d).sum(axis=2) / 2)
    if without_own:
        np.fill_diagonal(terms, 0.0)
    total = np.full(len(y), w.sum()) - (w if without_own else 0)
    volume = (2 * np.pi) ** (x.shape[1] / 2) * np.longdouble(factor) ** x.shape[1] * np.prod(np.diag(lower))
    gradient = -(terms[:, :, None] * pull).sum(axis=1)
    return (terms.sum(axis=1) / total / volume).astype(float), (gradient / total[:, None] / volume).astype(float)


def worst(values, expected):
    """The largest difference over the largest value."""
    return np.abs(values - expected).max() / np.abs(expected).max()


@pytest.fixture
def sample(rng):
    def make(d, n=150):
        mixing = rng.normal(size=(d, d)) + 2 * np.eye(d)
        return rng.normal(size=(n, d)) @ mixing + 3.0, rng.uniform(0.1, 2.0, size=n), rng.normal(size=(40, d)) @ mixing + 3.0

    return make


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_is_that_of_scipy(sample, dimension, rule):
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    points, weights, targets = sample(dimension)
    for w in (None, weights):
        expected = stats.gaussian_kde(points.T, bw_method=rule, weights=w)
        result = farfield.density(points, w, targets=targets, bandwidth=rule)
        assert worst(result.density, expected(targets.T)) < 1e-12
        report = result.report
        assert report.bandwidth == rule
        assert report.factor == pytest.approx(expected.factor, rel=1e-13)
        assert report.n_eff == pytest.approx(expected.neff, rel=1e-13)
        assert report.cholesky @ report.cholesky.T == pytest.approx(np.atleast_2d(expected._data_covariance), rel=1e-10)
        at_points = farfield.density(points, w, bandwidth=rule, method="fgt", tolerance=1e-7)
        assert worst(at_points.density, expected(points.T)) < 1e-7
        assert at_points.report.sum.method == "fgt" and at_points.report.sum.errors[0].relative < 1e-7


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 6])
def test_leave_one_out_and_gradients(sample, dimension):
    points, weights, targets = sample(dimension)
    for options in ({}, {"bandwidth": "silverman"}, {"bandwidth": 0.8}):
        result = farfield.density(points, weights, gradient=True, self_term="exclude", **options)
        report = result.report
        lower = np.eye(dimension) if report.cholesky is None else report.cholesky
        factor = options["bandwidth"] if report.cholesky is None else report.factor
        density, gradient = whitened_density(points, weights, points, lower, factor, without_own=True)
        assert worst(result.density, density) < 1e-12 and worst(result.gradient, gradient) < 1e-11
        result = farfield.density(points, weights, targets=targets, gradient=True, **options)
        density, gradient = whitened_density(points, weights, targets, lower, factor)
        assert worst(result.density, density) < 1e-12 and worst(result.gradient, gradient) < 1e-11
        assert farfield.density(points, weights, targets=targets, **options).gradient is None


def test_points_on_a_line_may_have_one_axis(rng):
    points = rng.normal(size=80)
    one, two = farfield.density(points, gradient=True), farfield.density(points[:, None], gradient=True)
    assert one.density.shape == one.gradient.shape == (80,) and two.gradient.shape == (80, 1)
    assert (one.density == two.density).all() and (one.gradient == two.gradient[:, 0]).all()
    at = np.linspace(-8, 8, 2001)
    assert farfield.density(points, targets=at).density.sum() * 0.008 == pytest.approx(1.0, abs=1e-9)


def test_lists_floats_strides_and_out(rng):
    points = rng.normal(size=(60, 2)).astype(np.float32)
    expected = farfield.density(points.astype(float)).density
    assert (farfield.density(points.tolist()).density == expected).all()
    table = np.zeros((60, 5), np.float32)
    table[:, 1:5:2] = points
    out = np.empty((60, 2))
    result = farfield.density(table[:, 1:5:2], out={"density": out[:, 1]})
    assert (out[:, 1] == expected).all() and (result.density == expected).all()


def test_a_width_for_each_point(rng):
    points, weights = rng.normal(size=(90, 3)), rng.uniform(0.5, 1.5, size=90)
    widths = np.array([0.2, 0.5, 1.0])[np.arange(90) % 3]
    result = farfield.density(points, weights, bandwidth=widths)
    parts = [np.exp(-((points[:, None] - points[None, s]) ** 2).sum(axis=2) / (2 * w**2)) @ weights[s] / w**3
             for w in (0.2, 0.5, 1.0) for s in [widths == w]]  # fmt: skip
    assert worst(result.density, sum(parts) / weights.sum() / (2 * np.pi) ** 1.5) < 1e-12
    assert result.report.widths == [] and result.report.bandwidth == "sigma"
    assert (farfield.density(points, weights, bandwidth=list(widths)).density == result.density).all()


@pytest.mark.parametrize("self_term", ["include", "exclude"])
def test_sum_with_a_width_for_each_source(rng, self_term):
    points, strengths = rng.normal(size=(90, 2)), rng.normal(size=90)
    widths = np.array([0.2, 0.5, 1.0])[np.arange(90) % 3]
    result = farfield.sum(points, strengths, kernel="gauss", sigma=widths, self_term=self_term, tolerance=1e-8)
    d = points[:, None] - points[None, :]
    terms = strengths * np.exp(-(d**2).sum(axis=2) / (2 * widths**2))
    if self_term == "exclude":
        np.fill_diagonal(terms, 0.0)
    assert worst(result.potential, terms.sum(axis=1)) < 1e-12
    assert worst(result.gradient, -(terms[:, :, None] * d / widths[None, :, None] ** 2).sum(axis=1)) < 1e-12
    assert [error.output for error in result.report.errors] == ["potential", "gradient"]
    only = farfield.sum(points, strengths, targets=points[:5], kernel="gauss", sigma=list(widths), output="potential")
    assert only.gradient is None and only.potential.shape == (5,)
    assert (farfield.sum(points, strengths, kernel="gauss", sigma=np.float64(0.3)).potential
            == farfield.sum(points, strengths, kernel="gauss", sigma=0.3).potential).all()  # fmt: skip


def test_mistakes(rng):
    points = rng.normal(size=(20, 2))
    for call, error, words in [
        (lambda: farfield.density(points, bandwidth="scot"), ValueError, "'scott'"),
        (lambda: farfield.density(points, bandwidth=0.0), ValueError, "> 0"),
        (lambda: farfield.density(points, bandwidth=np.nan), ValueError, "> 0"),
        (lambda: farfield.density(points, bandwidth=True), TypeError, "bandwidth"),
        (lambda: farfield.density(points, bandwidth=None), TypeError, "bandwidth"),
        (lambda: farfield.density(points, bandwidth=np.ones(19)), ValueError, "sigmas"),
        (lambda: farfield.density(points, bandwidth=-np.ones(20)), ValueError, "row 0"),
        (lambda: farfield.density(points, sigma=0.3), TypeError, "sigma"),
        (lambda: farfield.density(points, kernel="gauss"), TypeError, "kernel"),
        (lambda: farfield.density(points, -np.ones(20)), ValueError, "row 0 is -1"),
        (lambda: farfield.density(points, np.zeros(20)), ValueError, "all weights are 0"),
        (lambda: farfield.density(points, np.ones(19)), ValueError, "weights"),
        (lambda: farfield.density(points[:2]), ValueError, "at least 3"),
        (lambda: farfield.density(points[:, [0, 0]]), ValueError, "on a line"),
        (lambda: farfield.density(np.where(points == points[4, 1], np.nan, points)), ValueError, "row 4"),
        (lambda: farfield.density(np.zeros((9, 7))), ValueError, "points"),
        (lambda: farfield.density(points, targets=points, self_term="exclude"), ValueError, "self_term='exclude'"),
        (lambda: farfield.density(points, out={"field": np.empty(20)}), ValueError, "'field'"),
        (lambda: farfield.density(points, out={"gradient": np.empty((20, 2))}), ValueError, "gradient"),
        (lambda: farfield.density(points, out={"density": np.empty(19)}), ValueError, "shape"),
        (lambda: farfield.sum(points, np.ones(20), kernel="gauss", sigma=np.arange(1, 21.0).repeat(4)[:20] - 1), ValueError, "row 0"),
        (lambda: farfield.sum(points, np.ones(20), kernel="gauss", sigma=np.ones(3)), ValueError, "sigmas"),
        (lambda: farfield.sum(points, np.ones(20), kernel="vortex2d", sigma=np.ones(20)), ValueError, "kernel='gauss'"),
        (lambda: farfield.sum(points, None, kernel="gauss", sigma=np.ones(20)), TypeError, "strengths"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_records(rng):
    result = farfield.density(rng.normal(size=(30, 2)), gradient=True)
    for other in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert (other.density == result.density).all() and (other.gradient == result.gradient).all()
        assert other.report.n_eff == 30 and (other.report.cholesky == result.report.cholesky).all()
        assert other.report.sum.targets == 30
    assert "DensityReport(bandwidth='scott'" in repr(result.report)
    assert set(result.asdict()) == {"density", "gradient", "report"}


def test_ctrl_c(rng):
    points = rng.normal(size=(150_000, 3))
    for call in (lambda: farfield.density(points), lambda: farfield.sum(
            points, np.ones(150_000), kernel="gauss", sigma=np.array([1.0, 2.0])[np.arange(150_000) % 2])):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            call()


def test_points_on_a_gpu_stay_there(rng):
    if not farfield.gpus():
        pytest.skip(farfield.why_no_gpu())
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    points = rng.normal(size=(4000, 2))
    result = farfield.density(cupy.asarray(points), gradient=True, method="fgt", tolerance=1e-6)
    assert isinstance(result.density, cupy.ndarray) and isinstance(result.gradient, cupy.ndarray)
    assert result.report.sum.device.startswith("cuda")
    assert worst(cupy.asnumpy(result.density), farfield.density(points).density) < 1e-6


def test_example_of_airports(tmp_path):
    for package in ("vega_datasets", "matplotlib"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    example = Path(__file__).parents[2] / "examples" / "16_density.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    count, counted = (int(re.search(words, done.stdout)[1]) for words in (r"(\d+) airports; widths", r"on the grid: (\d+)"))
    assert 3000 < count < 3376 and abs(counted - count) < 0.02 * count
    assert "summed by method 'fgt'" in done.stdout
    assert (tmp_path / "airports.png").read_bytes().startswith(b"\x89PNG")
