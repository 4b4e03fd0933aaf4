"""How things show themselves: one line, a table in notebooks, and pictures by matplotlib, which only plots import."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def bodies_rows(bodies: Any) -> list[tuple[str, object]]:
    """What there is to say of Bodies, or of the bodies of a simulation."""
    rows: list[tuple[str, object]] = [("bodies", len(bodies.masses)), ("total mass", _number(bodies.masses.sum()))]
    if bodies.charges is not None:
        rows.append(("total charge", _number(bodies.charges.sum())))
    for axis, name in enumerate("xyz"):
        if len(bodies.masses):
            values = bodies.positions[:, axis]
            rows.append((name, f"{_number(values.min())} to {_number(values.max())}"))
    return rows


def simulation_text(simulation: Any) -> str:
    """The `repr` of a simulation."""
    n = len(simulation.masses)
    end = "" if simulation.end is None else f" of {_number(simulation.end)}"
    return (
        f"<Simulation of {n} {'body' if n == 1 else 'bodies'} at t = {_number(simulation.time)}{end}: "
        f"{simulation.step_count} steps of {_number(simulation.step_length)} by {simulation.integrator}, "
        f"{simulation.force.kernel}>"
    )


def simulation_html(simulation: Any) -> str:
    """A table of the clock, the bodies and the options that differ from the defaults."""
    rows: list[tuple[str, object]] = [
        ("time", _number(simulation.time)),
        ("end", "none" if simulation.end is None else _number(simulation.end)),
        ("steps", f"{simulation.step_count} of {_number(simulation.step_length)} by {simulation.integrator}"),
    ]
    by_default = type(simulation.force)().asdict()
    force = [(name, value) for name, value in simulation.force.asdict().items() if value != by_default[name]]
    return _table("Simulation", rows + bodies_rows(simulation) + force)


def bodies_html(bodies: Any) -> str:
    """A table of how many there are and where."""
    return _table("Bodies", bodies_rows(bodies))


def record_html(record: Any) -> str:
    """A table of the fields of a record; of arrays their shapes."""
    return _table(type(record).__name__, ((name, _short(value)) for name, value in record.asdict().items()))


def plot_bodies(bodies: Any, axes: Any, plane: str, title: str, style: dict[str, Any]) -> Any:
    """A dot for each body, projected on a plane; the axes."""
    if plane not in PLANES:
        raise ValueError(f"plane is '{plane}'; allowed are xy, xz and yz")
    across, up = PLANES[plane]
    axes = _new_axes() if axes is None else axes
    axes.scatter(bodies.positions[:, across], bodies.positions[:, up], **({"s": 4} | style))
    axes.set(xlabel=plane[0], ylabel=plane[1], title=title, aspect="equal")
    return axes


def plot_field(values: Any, name: str, time: float, axes: Any, style: dict[str, Any]) -> Any:
    """A field as a line (1D) or a picture with its scale (2D; of 3D the middle plane); the axes."""
    axes = _new_axes() if axes is None else axes
    title = f"{name}, t = {_number(time)}"
    if values.ndim == 1:
        axes.plot(values, **style)
        axes.set(xlabel="x", ylabel=name, title=title)
        return axes
    if values.ndim == 3:
        middle = len(values) // 2
        values, title = values[middle], f"{title}, z = {middle}"
    picture = axes.imshow(values, **({"origin": "lower", "interpolation": "nearest"} | style))
    axes.figure.colorbar(picture, ax=axes)
    axes.set(xlabel="x", ylabel="y", title=title)
    return axes


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot() draws with matplotlib, which is not installed: pip install matplotlib") from error
    return pyplot.subplots()[1]


def _number(value: Any) -> str:
    return f"{float(value):.6g}"


def _short(value: Any) -> object:
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype}, shape {value.shape}"
    return value


def _table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"
