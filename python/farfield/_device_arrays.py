"""New arrays of the library that an array on a GPU comes from, for results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def maker(like: Any) -> Callable[[tuple[int, ...]], Any]:
    """A function from a shape to an uninitialised float64 array of the kind and on the device of `like`."""
    library = type(like).__module__.partition(".")[0]
    if library == "torch":
        import torch  # type: ignore[import-not-found, unused-ignore]

        where = like.device
        return lambda shape: torch.empty(shape, dtype=torch.float64, device=where)
    if library == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]

        device = like.device

        def make(shape: tuple[int, ...]) -> Any:
            with device:
                return cupy.empty(shape)

        return make
    if hasattr(like, "__array_namespace__"):
        space, where = like.__array_namespace__(), like.device
        return lambda shape: space.empty(shape, dtype=space.float64, device=where)

    def refuse(shape: tuple[int, ...]) -> Any:
        raise TypeError(f"results cannot be made as {type(like).__qualname__} arrays; pass out={{\"field\": array, …}}")

    return refuse


def from_host(like: Any, values: Any) -> Any:
    """A copy of the NumPy array `values` of the kind and on the device of `like`."""
    library = type(like).__module__.partition(".")[0]
    if library == "torch":
        import torch  # type: ignore[import-not-found, unused-ignore]

        return torch.as_tensor(values, device=like.device)
    if library == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]

        with like.device:
            return cupy.asarray(values)
    if hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().asarray(values, device=like.device)
    return values
