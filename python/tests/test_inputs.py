"""Numbers of every kind and layout: the results are those of contiguous float64 arrays, bit for bit."""

from fractions import Fraction

import numpy as np
import pytest

import farfield

packed = np.dtype([("tag", "i1"), ("x", "f8", 3)])


class Table:
    """A table as other libraries have it: it says how to become an array, and nothing else."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def in_records(values):
    """Beside a column of bytes, so that the strides are no whole elements."""
    records = np.zeros(len(values), packed)
    records["x"] = values
    return records["x"]


LAYOUTS = {
    "int64": lambda p: p.astype(np.int64),
    "int8": lambda p: p.astype(np.int8),
    "uint16": lambda p: p.astype(np.uint16),
    "half": lambda p: p.astype(np.float16),
    "long double": lambda p: p.astype(np.longdouble),
    "big endian": lambda p: p.astype(">f8"),
    "big endian float32": lambda p: p.astype(">f4"),
    "big endian integers": lambda p: p.astype(">i4"),
    "integers backwards": lambda p: p.astype(int)[::-1].copy()[::-1],
    "strides of no whole elements": in_records,
    "objects": lambda p: p.astype(object),
    "fractions": lambda p: [[Fraction(int(v)) for v in row] for row in p],
    "a list of integers": lambda p: p.astype(int).tolist(),
    "a tuple of arrays": tuple,
    "a table": Table,
}


def numbers(rng, n=50):
    """Distinct points with whole coordinates: every type of LAYOUTS holds them."""
    return np.stack([rng.permutation(n), rng.permutation(n), rng.permutation(n)], axis=1).astype(float)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_argument_takes_it(rng, layout):
    points, targets, strengths = numbers(rng), numbers(rng, 30), rng.integers(1, 9, 50).astype(float)
    make = LAYOUTS[layout]
    vector = (lambda v: make(np.repeat(v[:, None], 3, axis=1))[:, 1]) if make is in_records else make
    if layout == "fractions":
        vector = lambda v: [Fraction(int(x)) for x in v]  # noqa: E731
    given = farfield.sum(make(points), vector(strengths), targets=make(targets), coincident="skip")
    expected = farfield.sum(points, strengths, targets=targets, coincident="skip")
    np.testing.assert_array_equal(given.potential, expected.potential)
    np.testing.assert_array_equal(given.field, expected.field)
    bodies = farfield.Bodies(make(points), make(points + 1), vector(strengths), charges=vector(strengths))
    np.testing.assert_array_equal(bodies.positions, points)
    np.testing.assert_array_equal(bodies.velocities, points + 1)
    np.testing.assert_array_equal(bodies.masses, strengths)
    np.testing.assert_array_equal(bodies.charges, strengths)


def test_frames_and_series_of_pandas(rng):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    points, masses = numbers(rng), rng.uniform(1.0, 2.0, 50)
    frame = pandas.DataFrame(points, columns=["x", "y", "z"]).assign(mass=masses, name="star")
    mixed = frame.astype({"x": int, "y": "float32", "z": "Int64"})
    expected = farfield.sum(points, masses)
    for table in (frame, mixed, frame.iloc[::2].reindex(range(50), method=None).fillna(frame)):
        result = farfield.sum(table[["x", "y", "z"]], table["mass"])
        np.testing.assert_array_equal(result.field, expected.field)
    bodies = farfield.Bodies(frame[["x", "y", "z"]], 0 * frame[["x", "y", "z"]], frame["mass"], ids=frame.index + 1)
    np.testing.assert_array_equal(bodies.positions, points)
    np.testing.assert_array_equal(bodies.ids, np.arange(1, 51))
    with pytest.raises(TypeError, match="points is a DataFrame that holds 'star'"):
        farfield.sum(frame[["x", "y", "name"]], masses)
    mixed.loc[3, "z"] = pandas.NA
    with pytest.raises((TypeError, ValueError), match="points is a DataFrame that holds <NA>|row 3"):
        farfield.sum(mixed[["x", "y", "z"]], masses)
