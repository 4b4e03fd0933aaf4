"""Numbers that cannot be viewed as they are (whole numbers, other byte orders, tables) as new arrays of float64."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt


def as_float64(given: Any, parameter: str) -> npt.NDArray[np.float64]:
    """The numbers of an array, a table (anything with `__array__`, such as a DataFrame), or nested lists.

    Raises a TypeError that names `parameter` for what holds no real numbers.
    """
    values = np.asarray(given)
    kind = type(given).__name__
    if values.dtype.kind == "O":  # such as columns of pandas that may lack values
        for value in values.flat:
            if not isinstance(value, Real):
                raise TypeError(f"{parameter} is a {kind} that holds {value!r}, which is no number; {_REMEDY}")
    elif values.dtype.kind not in "iuf":
        raise TypeError(f"{parameter} is a {kind} of {_element(values)}; {_REMEDY}")
    return np.ascontiguousarray(values, dtype=np.float64).reshape(values.shape)


_REMEDY = "an array of real numbers is needed, or a table or lists of them"


def _element(values: npt.NDArray[Any]) -> str:
    if values.dtype.kind == "c":
        return f"{values.dtype} (real and imaginary parts go into two columns)"
    if values.dtype.kind == "b":
        return "truth values"
    return "text" if values.dtype.kind in "SU" else f"dtype {values.dtype}"
