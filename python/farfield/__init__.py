"""Farfield: sums over particles and simulations of particles, on NumPy arrays.

>>> import farfield
>>> result = farfield.sum([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1.0, 1.0])
>>> result.potential
array([-1., -1.])

The guide is docs/guide/python.md in the repository.
"""

from ._core import (
    BackendUnavailable,
    Bodies,
    CompileError,
    DeviceError,
    Diagnostics,
    Error,
    InternalError,
    InvalidArgument,
    IoError,
    Simulation,
    SumPlan,
    SumReport,
    SumResult,
    __version__,
    sum,
)

__all__ = [
    "BackendUnavailable",
    "Bodies",
    "CompileError",
    "DeviceError",
    "Diagnostics",
    "Error",
    "InternalError",
    "InvalidArgument",
    "IoError",
    "Simulation",
    "SumPlan",
    "SumReport",
    "SumResult",
    "__version__",
    "sum",
]
