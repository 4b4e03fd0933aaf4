"""Stencil programs: read them, build them with operators, run them, look at fields as NumPy arrays.

>>> from farfield import stencil
>>> program = stencil.load("microdisk.ff", cells=256, radius=100)
>>> run = stencil.Run(program)
>>> run.advance(500)
>>> run.field("energy").shape
(256, 256)

A `Run` keeps its fields in memory; `save` writes it to a file, and `Run.load` goes on from there. For a run that leaves fields, pictures, animations, checkpoints and
a summary in a folder, and that can be continued from there, use `farfield.run_stencil(program, out)`.

A program that is built is text in the end, and is checked as any other; `Builder.text` shows it. The language is
described in docs/guide/stencil-language.md of the repository.
"""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, Union

from ._core import StencilProgram as Program
from ._core import StencilRun as Run

__all__ = ["Builder", "Equation", "Expr", "Field", "Program", "Run", "X", "Y", "Z", "call", "cos", "data", "dt", "dx", "dy", "dz",
           "everywhere", "exp", "image", "interior", "let", "load", "log", "maximum", "minimum", "parse", "pi", "sin", "sqrt",
           "step", "t", "tanh", "where", "x", "y", "z"]  # fmt: skip


def load(path: str | os.PathLike[str], **parameters: bool | int | float) -> Program:
    """The program of a file (.ff), with other values for some of its parameters."""
    return Program.from_file(path, {**parameters})


def parse(text: str, **parameters: bool | int | float) -> Program:
    """The program of a text."""
    return Program.from_text(text, {**parameters})


# How tightly operators bind, loosest first.
_SELECT, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(10)

Value: TypeAlias = Union["Expr", bool, int, float]


class Expr:
    """An expression: its text, and how tightly its outermost operator binds.

    Python's operators stand for those of the language: ** for ^, & for and, | for or, ~ for not. Whole numbers are
    divided with a real result, as in the language; // and % are those of whole numbers.
    """

    __slots__ = ("_binding", "_text")
    __hash__ = None  # type: ignore[assignment]  # == makes an expression

    def __init__(self, text: str, binding: int = _ATOM) -> None:
        self._text = text
        self._binding = binding

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<{self._text}>"

    def __bool__(self) -> bool:
        raise TypeError(f"'{self._text}' has no value here; join conditions with &, | and ~, and compare in pairs: (0 < x) & (x < n)")

    def __add__(self, other: Value) -> Expr:
        return _binary(self, "+", other, _SUM)

    def __radd__(self, other: Value) -> Expr:
        return _binary(other, "+", self, _SUM)

    def __sub__(self, other: Value) -> Expr:
        return _binary(self, "-", other, _SUM)

    def __rsub__(self, other: Value) -> Expr:
        return _binary(other, "-", self, _SUM)

    def __mul__(self, other: Value) -> Expr:
        return _binary(self, "*", other, _PRODUCT)

    def __rmul__(self, other: Value) -> Expr:
        return _binary(other, "*", self, _PRODUCT)

    def __truediv__(self, other: Value) -> Expr:
        return _binary(self, "/", other, _PRODUCT)

    def __rtruediv__(self, other: Value) -> Expr:
        return _binary(other, "/", self, _PRODUCT)

    def __floordiv__(self, other: Value) -> Expr:
        return _binary(self, "//", other, _PRODUCT)

    def __rfloordiv__(self, other: Value) -> Expr:
        return _binary(other, "//", self, _PRODUCT)

    def __mod__(self, other: Value) -> Expr:
        return _binary(self, "%", other, _PRODUCT)

    def __rmod__(self, other: Value) -> Expr:
        return _binary(other, "%", self, _PRODUCT)

    def __pow__(self, other: Value) -> Expr:
        return Expr(f"{_operand(self, _ATOM)}^{_operand(other, _UNARY)}", _POWER)

    def __rpow__(self, other: Value) -> Expr:
        return Expr(f"{_operand(other, _ATOM)}^{_operand(self, _UNARY)}", _POWER)

    def __neg__(self) -> Expr:
        return Expr(f"-{_operand(self, _UNARY)}", _UNARY)

    def __lt__(self, other: Value) -> Expr:
        return _compare(self, "<", other)

    def __le__(self, other: Value) -> Expr:
        return _compare(self, "<=", other)

    def __gt__(self, other: Value) -> Expr:
        return _compare(self, ">", other)

    def __ge__(self, other: Value) -> Expr:
        return _compare(self, ">=", other)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return _compare(self, "==", other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return _compare(self, "!=", other)

    def __and__(self, other: Value) -> Expr:
        return _binary(self, "and", other, _AND)

    def __or__(self, other: Value) -> Expr:
        return _binary(self, "or", other, _OR)

    def __abs__(self) -> Expr:
        return call("abs", self)

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **options: object) -> Expr:
        """Functions and operators of NumPy: np.exp(x) and np.float64(2)*x are expressions, too."""
        name = getattr(ufunc, "__name__", str(ufunc))
        known = _UFUNCS.get(name)
        if known is None or method != "__call__" or options:
            raise TypeError(f"numpy.{name} is no function of the language; there are {', '.join(sorted(_UFUNCS))}")
        for value in inputs:
            if getattr(value, "shape", ()) != ():
                raise TypeError("an array has no place in an expression; save it with numpy.save and read it with data(\"file.npy\")")
        return known(*map(_expr, inputs))

    def __invert__(self) -> Expr:
        return Expr(f"not {_operand(self, _NOT)}", _NOT)


def _expr(value: object) -> Expr:
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool):
        return Expr("true" if value else "false")
    if hasattr(value, "__index__"):
        text = str(value.__index__())
    elif hasattr(value, "__float__"):
        text = repr(float(value))
        if not any(mark in text for mark in ".e"):
            raise ValueError(f"the number {text} in an expression; numbers must be finite")
    else:
        raise TypeError(f"{value!r} is no expression and no number")
    return Expr(text, _UNARY if text.startswith("-") else _ATOM)


def _operand(value: object, least: int) -> str:
    expr = _expr(value)
    return str(expr) if expr._binding >= least else f"({expr})"


def _binary(left: object, operator: str, right: object, binding: int) -> Expr:
    return Expr(f"{_operand(left, binding)} {operator} {_operand(right, binding + 1)}", binding)


def _compare(left: object, operator: str, right: object) -> Expr:
    return Expr(f"{_operand(left, _SUM)} {operator} {_operand(right, _SUM)}", _COMPARE)


x, y, z = Expr("x"), Expr("y"), Expr("z")
X, Y, Z = Expr("X"), Expr("Y"), Expr("Z")
dx, dy, dz, dt = Expr("dx"), Expr("dy"), Expr("dz"), Expr("dt")
t, step, pi = Expr("t"), Expr("step"), Expr("pi")
interior, everywhere = Expr("interior"), Expr("everywhere")


def call(function: str, *arguments: Value) -> Expr:
    """A function of the language by its name: call("cbrt", x)."""
    return Expr(f"{function}({', '.join(str(_expr(a)) for a in arguments)})")


def exp(a: Value) -> Expr:
    return call("exp", a)


def log(a: Value) -> Expr:
    return call("log", a)


def sin(a: Value) -> Expr:
    return call("sin", a)


def cos(a: Value) -> Expr:
    return call("cos", a)


def sqrt(a: Value) -> Expr:
    return call("sqrt", a)


def tanh(a: Value) -> Expr:
    return call("tanh", a)


def minimum(*arguments: Value) -> Expr:
    return call("min", *arguments)


def maximum(*arguments: Value) -> Expr:
    return call("max", *arguments)


def where(condition: Value, yes: Value, no: Value) -> Expr:
    return call("where", condition, yes, no)


_UFUNCS: dict[str, Callable[..., Expr]] = {
    **{name: functools.partial(call, name) for name in ("cbrt", "ceil", "cos", "exp", "floor", "log", "sin", "sqrt", "tanh")},
    **{"absolute": functools.partial(call, "abs"), "fabs": functools.partial(call, "abs"), "minimum": minimum, "maximum": maximum},
    **{"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv, "true_divide": operator.truediv},
    **{"floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "float_power": operator.pow},
    **{"negative": operator.neg, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge},
    **{"equal": operator.eq, "not_equal": operator.ne},
}


def image(file: str) -> Expr:
    """A PNG as values of cells: 0 black, 1 white."""
    return Expr(f'image("{file}")')


def data(file: str) -> Expr:
    """The values of a .npy file."""
    return Expr(f'data("{file}")')


class Equation:
    """A line of an update: `Hz += …` or a temporary."""

    def __init__(self, text: str) -> None:
        self.text = text


class let(Expr):  # noqa: N801  (it reads as in the language)
    """A temporary of an update: an equation where it is listed, and a name in the equations below."""

    __slots__ = ("equation",)

    def __init__(self, name: str, value: Value) -> None:
        super().__init__(name)
        self.equation = Equation(f"let {name} = {_expr(value)}")


class Field(Expr):
    """A field, array or coefficient: u is its value in the cell, u[x - 1] or u[x + 1, y - 2] that of a neighbour.

    `u.set(…)`, `u.add(…)`, `u.subtract(…)` and `u.multiply(…)` are equations.
    """

    __slots__ = ()

    def __getitem__(self, index: Value | tuple[Value, ...]) -> Expr:
        indices = index if isinstance(index, tuple) else (index,)
        return Expr(f"{self}[{', '.join(str(_expr(i)) for i in indices)}]")

    def set(self, value: Value) -> Equation:
        return Equation(f"{self} = {_expr(value)}")

    def add(self, value: Value) -> Equation:
        return Equation(f"{self} += {_expr(value)}")

    def subtract(self, value: Value) -> Equation:
        return Equation(f"{self} -= {_expr(value)}")

    def multiply(self, value: Value) -> Equation:
        return Equation(f"{self} *= {_expr(value)}")


Lines: TypeAlias = Union[Equation, let, Sequence[Union[Equation, let]]]
Place: TypeAlias = Sequence[Union[Value, tuple[Value, Value]]]


class Builder:
    """Collects the statements of a program, in the order of the calls."""

    def __init__(self, name: str = "") -> None:
        self._lines: list[str] = [f"program {name}"] if name else []
        self._name = name or "program"

    @property
    def text(self) -> str:
        """The program so far."""
        return "\n".join(self._lines) + "\n"

    def program(self, **parameters: bool | int | float) -> Program:
        """Checks it. Raises CompileError with all messages, which show lines of `text`."""
        return Program.from_text(self.text, {**parameters}, self._name)

    def _constants(self, word: str, values: Mapping[str, Value]) -> list[Expr]:
        self._lines.append(f"{word} " + ", ".join(f"{name} = {_expr(value)}" for name, value in values.items()))
        return [Expr(name) for name in values]

    def param(self, **values: Value) -> list[Expr]:
        """Parameters: n, r = p.param(n=64, r=20)."""
        return self._constants("param", values)

    def constant(self, **values: Value) -> list[Expr]:
        """Constants, `let` in the language."""
        return self._constants("let", values)

    def time(self, **settings: Value) -> None:
        """dt=, steps= or end=."""
        self._constants("time", settings)

    def grid(self, name: str, *, sampling: Value | None = None, **axes: Value | tuple[Value, Value]) -> str:
        """grid("g", x=512, y=256) in cells, or grid("g", x=10, y=(-4, 4), sampling=32) in lengths."""
        sizes = ", ".join(f"{axis}: {_range(size)}" for axis, size in axes.items())
        self._lines.append(f"grid {name}[{sizes}]" + ("" if sampling is None else f" sampling {_expr(sampling)}"))
        return name

    def field(self, name: str, *, grid: str = "", at: Sequence[Value] = (), single: bool = False, double_buffered: bool = False,
              read_only: bool = False, initial: Value | None = None) -> Field:  # fmt: skip
        """A field; `at` is its place in the cell, as (x + 1/2, y)."""
        return self.fields(name, grid=grid, at=at, single=single, double_buffered=double_buffered, read_only=read_only,
                           initial=initial)[0]  # fmt: skip

    def fields(self, *names: str, grid: str = "", at: Sequence[Value] = (), single: bool = False, double_buffered: bool = False,
               read_only: bool = False, initial: Value | None = None) -> list[Field]:  # fmt: skip
        """Several fields of one kind: Ex, Ey = p.fields("Ex", "Ey")."""
        line = f"field {', '.join(names)}{_on(grid)}{_at(at)} : {_type(single)}"
        line += ", double-buffered" if double_buffered else ""
        line += ", read-only" if read_only else ""
        self._lines.append(line + ("" if initial is None else f" = {_expr(initial)}"))
        return [Field(name) for name in names]

    def array(self, name: str, axis: Expr, value: Value, *, grid: str = "", at: Value | None = None, single: bool = False) -> Field:
        """Read-only values along one axis."""
        place = () if at is None else (at,)
        self._lines.append(f"array {name}[{axis}]{_on(grid)}{_at(place)} : {_type(single)} = {_expr(value)}")
        return Field(name)

    def subdomain(self, name: str, coordinates: Sequence[Expr], condition: Value, *, grid: str = "", at: Sequence[Value] = ()) -> Expr:
        """The cells where a condition holds; `coordinates` are those it uses."""
        listed = f"({', '.join(map(str, coordinates))})" if coordinates else ""
        self._lines.append(f"subdomain {name}{listed}{_on(grid)}{_at(at)} = {_expr(condition)}")
        return Expr(name)

    def coefficient(self, name: str, cases: Iterable[tuple[Value | None, Value]], *, grid: str = "", single: bool = False) -> Field:
        """Read-only values chosen by subdomains; a region None stands for elsewhere and comes last."""
        self._lines.append(f"coefficient {name}{_on(grid)} : {_type(single)}:")
        for region, value in cases:
            self._lines.append(f"    {'elsewhere' if region is None else _expr(region)}: {_expr(value)}")
        return Field(name)

    def boundary(self, *fields: Field, **rules: str) -> None:
        """boundary(u, x="periodic", y="mirror"), or rule="zero" for all axes; no fields: all declared above."""
        listed = [rule if axis == "rule" else f"{rule} in {axis}" for axis, rule in rules.items()]
        self._lines.append(f"boundary{' ' if fields else ''}{', '.join(map(str, fields))}: {', '.join(listed)}")

    def update(self, name: str, on: Value | None, equations: Lines) -> str:
        """An update on a region; None: everywhere."""
        self._block(f"update {name}" + ("" if on is None else f" on {_expr(on)}"), equations)
        return name

    def source(self, name: str, equations: Lines, *, at: Place = (), on: Value | None = None) -> str:
        """A source at a cell, line or box, or on a region."""
        self._block(f"source {name}{_place(at)}" + ("" if on is None else f" on {_expr(on)}"), equations)
        return name

    def record(self, name: str, value: Value, *, reduce: str = "", on: Value | None = None, at: Place = (), every: Value | None = None) -> str:
        """A series: the value at a cell, or its sum, mean, max or min over a region."""
        line = f"record {name} = " + (f"{reduce} of " if reduce else "") + str(_expr(value))
        line += "" if on is None else f" on {_expr(on)}"
        self._lines.append(line + _place(at) + _every(every))
        return name

    def step(self, *actions: str | tuple[str, Value]) -> None:
        """The sequence of a time step: names, or (name, every)."""
        entries = [action if isinstance(action, str) else action[0] + _every(action[1]) for action in actions]
        self._lines.append("step: " + ", ".join(entries))

    def output(self, *fields: Field, every: Value | None = None, at_start: bool = False, at_end: bool = False) -> None:
        """When fields are written by `farfield stencil run`."""
        times = (["at start"] if at_start else []) + ([_every(every).strip()] if every is not None else [])
        times += ["at end"] if at_end else []
        self._lines.append(f"output {', '.join(map(str, fields))} {', '.join(times)}")

    def _block(self, head: str, equations: Lines) -> None:
        listed = [equations] if isinstance(equations, (Equation, let)) else equations
        self._lines.append(head + ":")
        for one in listed:
            self._lines.append("    " + (one.equation.text if isinstance(one, let) else one.text))


def _range(size: Value | tuple[Value, Value]) -> str:
    return f"{_expr(size[0])} to {_expr(size[1])}" if isinstance(size, tuple) else str(_expr(size))


def _place(at: Place) -> str:
    return f" at ({', '.join(map(_range, at))})" if at else ""


def _on(grid: str) -> str:
    return f" on {grid}" if grid else ""


def _at(place: Sequence[Value]) -> str:
    return f" at ({', '.join(str(_expr(one)) for one in place)})" if place else ""


def _type(single: bool) -> str:
    return "float" if single else "double"


def _every(every: Value | None) -> str:
    return "" if every is None else f" every {_expr(every)}"
