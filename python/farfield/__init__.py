"""Farfield: sums over particles, simulations of particles, and stencil programs (farfield.stencil), on NumPy arrays.

>>> import farfield
>>> result = farfield.sum([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1.0, 1.0])
>>> result.potential
array([-1., -1.])

The guide is docs/guide/python.md in the repository.
"""

from . import stencil
from ._core import (
    BackendUnavailable,
    Bodies,
    Case,
    CompileError,
    DeviceError,
    Diagnostics,
    Error,
    ForceOptions,
    Gpu,
    InitialOptions,
    InitialState,
    InternalError,
    InvalidArgument,
    IoError,
    OutputOptions,
    RunProgress,
    RunResult,
    Simulation,
    StencilProgram,
    StencilRun,
    SumPlan,
    SumReport,
    SumResult,
    TimeOptions,
    __version__,
    gpus,
    make_bodies,
    make_initial_state,
    read_case,
    run_case,
    sum,
    why_no_gpu,
)

__all__ = [
    "BackendUnavailable",
    "Bodies",
    "Case",
    "CompileError",
    "DeviceError",
    "Diagnostics",
    "Error",
    "ForceOptions",
    "Gpu",
    "InitialOptions",
    "InitialState",
    "InternalError",
    "InvalidArgument",
    "IoError",
    "OutputOptions",
    "RunProgress",
    "RunResult",
    "Simulation",
    "StencilProgram",
    "StencilRun",
    "SumPlan",
    "SumReport",
    "SumResult",
    "TimeOptions",
    "__version__",
    "gpus",
    "make_bodies",
    "make_initial_state",
    "read_case",
    "run_case",
    "stencil",
    "sum",
    "why_no_gpu",
]
