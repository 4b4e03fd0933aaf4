"""farfield.stencil: programs, runs, and programs built with operators."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import farfield
from farfield import stencil
from farfield.stencil import X, cos, dx, exp, interior, let, maximum, pi, sin, t, where, x, y, z

EXAMPLES = Path(os.environ.get("FARFIELD_SOURCE", Path(__file__).parents[2])) / "examples"

COUNT = """program count
param n = 4, rate = 1.5
grid g[x: n, y: 3]
field u on g = x + 10*y
field v on g : float
update add: u += step + 1
update copy: v = rate*u
step: add, copy
record corner = u at (0, 0) every 2
time dt = 0.25, steps = 6
"""

WAVE_TO_SAVE = """program wave
param n = 8
grid g[x: n]
field u on g = if x == 4 then 1.0 else 0.0
field v on g = 0.0
field c on g = 0.25
update a on x > 0 and x < n - 1: v += c*(u[x-1] - 2*u + u[x+1])
update b: u += v
step: a, b
record energy = sum of v*v every 2
time dt = 0.5, steps = 30
"""


def built_microdisk():
    p = stencil.Builder("microdisk")
    (cells, radius, courant) = p.param(cells=512, radius=200, courant=0.5)
    p.grid("g", x=cells, y=cells)
    p.time(steps=2000)
    Ex, Ey, Hz, energy = p.fields("Ex", "Ey", "Hz", "energy", grid="g")
    disk = p.subdomain("disk", (x, y), (x - cells / 2) ** 2 + (y - cells / 2) ** 2 < radius**2)
    electric = p.update("electric", interior, [Ex.add(courant * (Hz - Hz[y - 1])), Ey.add(courant * (Hz[x - 1] - Hz))])
    magnetic = p.update("magnetic", disk, Hz.add(courant * (Ex[y + 1] - Ex + Ey - Ey[x + 1])))
    dipole = p.source("dipole", Hz.add(exp(-(((t - 60) / 20) ** 2)) * sin(0.15 * t)), at=(cells / 2 + 60, cells / 2))
    accumulate = p.update("accumulate", disk, energy.add(Hz**2))
    p.step(electric, magnetic, dipole, accumulate)
    p.output(energy, at_end=True)
    return p.program()


def test_the_built_microdisk_is_the_file():
    file = stencil.load(EXAMPLES / "stencil" / "microdisk.ff")
    assert built_microdisk().text == file.text
    assert file.name == "microdisk"
    assert file.fields == ["Ex", "Ey", "Hz", "energy"]


def test_every_statement():
    p = stencil.Builder()
    (n,) = p.param(n=16)
    (k,) = p.constant(k=2 * pi / 20)
    p.grid("g", x=10, z=(-4, 4), sampling=n)
    p.time(dt=0.5 * dx, end=100)
    shade = p.field("shade", at=(x + 0.5, z), read_only=True, initial=where(x < 3, -1, 2.5))
    u = p.field("u", grid="g", single=True, double_buffered=True)
    damping = p.array("damping", x, exp(-X), at=x + 0.5)
    left = p.subdomain("left", (x, z), (x < 3) & ~((z >= 1) | (z == 2)))
    right = p.subdomain("right", (), ~left)
    eps = p.coefficient("eps", [(left, 12.1), (None, -1)], grid="g")
    p.boundary(u, x="periodic", z="mirror")
    lap = let("lap", u[x - 1] - 2 * u + u[x + 1, z - 2])
    spread = p.update("spread", None, [lap, u.set(maximum(lap / eps, damping) + shade * (1 - (1 - u)) / (2 / (k * 3)))])
    glow = p.source("glow", u.multiply(cos(k * t)), on=right)
    bar = p.source("bar", u.subtract((-u) ** 2 - (-(u**2)) + 2 ** -u), at=((1, 3), z))
    p.record("mean_u", u, reduce="mean", on=left, every=10)
    p.step(spread, (glow, 2), bar)
    p.output(u, every=100, at_start=True)
    text = """param n = 16
let k = 2 * pi / 20
grid g[x: 10, z: -4 to 4] sampling n
time dt = 0.5 * dx, end = 100
field shade at (x + 0.5, z) : double, read-only = where(x < 3, -1, 2.5)
field u on g : float, double-buffered
array damping[x] at (x + 0.5) : double = exp(-X)
subdomain left(x, z) = x < 3 and not (z >= 1 or z == 2)
subdomain right = not left
coefficient eps on g : double:
    left: 12.1
    elsewhere: -1
boundary u: periodic in x, mirror in z
update spread:
    let lap = u[x-1] - 2*u + u[x+1, z-2]
    u = max(lap/eps, damping) + shade*(1 - (1 - u))/(2/(k*3))
source glow on right: u *= cos(k*t)
source bar at (1 to 3, z): u -= (-u)^2 - (-(u^2)) + 2^-u
record mean_u = mean of u on left every 10
step: spread, glow every 2, bar
output u at start, every 100
"""
    assert p.program().text == stencil.parse(text).text


def test_fields_series_and_time():
    run = stencil.Run(stencil.parse(COUNT, n=5), target="interpreter")
    u = run.field("u")
    assert u.shape == (3, 5) and u.dtype == np.float64
    np.testing.assert_array_equal(u, np.arange(5) + 10 * np.arange(3)[:, None])
    run.advance(2)
    assert (run.step, run.time) == (2, 0.5)
    run.run()
    times, values = run.series("corner")
    np.testing.assert_array_equal(times, [0.5, 1.0, 1.5])
    np.testing.assert_array_equal(values, [3, 10, 21])
    np.testing.assert_array_equal(run.field("v"), 1.5 * run.field("u"))
    u[:] = 7  # a copy: the run does not see it
    assert run.field("u")[0, 0] == 21


def test_setting_a_field():
    run = stencil.Run(stencil.parse(COUNT), target="interpreter")
    run.set_field("u", np.asfortranarray(np.arange(12.0).reshape(3, 4)))
    np.testing.assert_array_equal(run.field("u"), np.arange(12.0).reshape(3, 4))
    run.set_field("v", [[0.1] * 4] * 3)
    assert run.field("v")[0, 0] == np.float32(0.1)
    with pytest.raises(farfield.InvalidArgument, match=r"\(3, 4\)"):
        run.set_field("u", np.zeros((4, 3)))


def test_parameters():
    program = stencil.parse(COUNT, n=np.int64(6), rate=2)
    assert program.parameters == {"n": 6, "rate": 2.0}
    assert program.replace({"n": 7}).parameters == {"n": 7, "rate": 2.0}
    with pytest.raises(farfield.CompileError, match="m"):
        stencil.parse(COUNT, m=1)


def test_mistakes():
    with pytest.raises(farfield.CompileError, match=r"program:2:11: error: there is no 'w'"):
        stencil.parse("grid g[x: 4]\nfield u = w\n")
    outside = stencil.parse("grid g[x: 4]\nfield u, v on g\nupdate a: u = v[x-1]\nstep: a\n")
    with pytest.raises(farfield.CompileError, match="outside-grid"):
        stencil.Run(outside)
    run = stencil.Run(stencil.parse(COUNT), target="interpreter")
    with pytest.raises(farfield.InvalidArgument, match="no field 'w'"):
        run.field("w")
    with pytest.raises(farfield.InvalidArgument, match="-1"):
        run.advance(-1)
    with pytest.raises(farfield.InvalidArgument, match="abacus"):
        stencil.Run(stencil.parse(COUNT), target="abacus")
    with pytest.raises(TypeError, match="in pairs"):
        bool(0 < x < 3)
    with pytest.raises(ValueError, match="finite"):
        x + float("nan")
    with pytest.raises(TypeError):
        x + "1"


GROWS = "grid g[x: 4]\nfield u on g = 1\nupdate a: u *= k\nstep: a\ntime steps = 100000\n"


@pytest.mark.parametrize("name", ["advance", "run"])
def test_a_field_that_is_no_longer_finite_stops_the_run(name):
    run = stencil.Run(stencil.parse("param k = 1.5\n" + GROWS), target="interpreter")
    with pytest.raises(farfield.Error, match=r"'u' became inf in the cell \(x = 0\) between step"):
        run.run() if name == "run" else run.advance(5000)
    assert run.step < 3000  # 1.5^1751 is beyond the doubles
    assert np.isinf(run.field("u")).all()  # it may be looked at


def test_values_that_are_not_finite_are_refused():
    run = stencil.Run(stencil.parse(COUNT), target="interpreter")
    for bad in (np.nan, -np.inf):
        values = np.zeros((3, 4))
        values[1, 2] = bad
        with pytest.raises(farfield.InvalidArgument, match=r"(nan|-inf) in the cell \(x = 2, y = 1\)"):
            run.set_field("u", values)
        with pytest.raises(farfield.InvalidArgument, match="rate"):
            stencil.parse(COUNT, rate=float(bad))
    with pytest.raises(TypeError, match="complex"):
        run.set_field("u", np.ones((3, 4)) * 1j)
    assert run.field("u")[1, 2] == 12  # as it was


@pytest.mark.parametrize("option", [{"threads": -4}, {"time_tile": -1}, {"block": (8, -8, 0)}, {"device": -1}])
def test_options_below_zero_are_refused(option):
    with pytest.raises(farfield.InvalidArgument, match="must be ≥ 0"):
        stencil.Run(stencil.parse(COUNT), **option)


def test_functions_of_numpy_are_those_of_the_language():
    assert str(abs(x - 2)) == "abs(x - 2)"
    assert str(np.exp(-x)) == str(exp(-x))
    assert str(np.sqrt(np.maximum(x, 1)) + np.tanh(x)) == "sqrt(max(x, 1)) + tanh(x)"
    assert str(np.float64(2) * x) == "2.0 * x"
    assert str(np.abs(x)) == "abs(x)"
    with pytest.raises(TypeError, match="numpy.arctan is no function of the language"):
        np.arctan(x)
    with pytest.raises(TypeError, match="data"):
        np.ones(4) * x


def test_interpreter_and_cpu_agree():
    fields = []
    for target in ("interpreter", "cpu"):
        run = stencil.Run(built_microdisk().replace({"cells": 150, "radius": 70}), target=target)
        run.advance(120)
        fields.append(run.field("energy"))
    assert fields[0].max() > 0
    np.testing.assert_array_equal(*fields)


def test_the_example():
    done = subprocess.run([sys.executable, EXAMPLES / "09_heat.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "hottest" in done.stdout
    plate = runpy.run_path(str(EXAMPLES / "09_heat.py"))["p"]
    run = stencil.Run(plate.program(n=40))
    run.advance(200)
    u = run.field("u")
    assert 0 <= u.min() and u.max() <= 100  # heat only spreads


def test_docs_of_runs_in_memory_name_the_run_that_writes_files():
    for text in (stencil.__doc__, stencil.Run.__doc__):
        assert "farfield.run_stencil" in text
    assert "Ctrl-C" in farfield.run_stencil.__doc__ and "restart=True" in farfield.run_stencil.__doc__


def test_a_run_is_saved_and_goes_on_to_the_same_bits(tmp_path):
    program = stencil.parse(WAVE_TO_SAVE, n=20)
    whole = stencil.Run(program, target="interpreter")
    whole.set_field("c", np.full((20,), 0.125))
    whole.advance(7)
    whole.save(tmp_path / "run.h5")
    loaded = stencil.Run.load(tmp_path / "run.h5", target="interpreter", threads=1)
    assert (loaded.step, loaded.time, loaded.program.parameters) == (7, 3.5, {"n": 20})
    for run in (whole, loaded):
        run.run()
    assert whole.step == loaded.step == 30
    for name in ("u", "v", "c"):
        np.testing.assert_array_equal(loaded.field(name), whole.field(name))
    for mine, theirs in zip(loaded.series("energy"), whole.series("energy"), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    farfield.run_stencil(program, tmp_path / "out", target="interpreter")
    with pytest.raises(ValueError, match="checkpoint of a run with files"):
        stencil.Run.load(tmp_path / "out" / "checkpoint.h5")
    with pytest.raises(OSError, match="absent.h5"):
        stencil.Run.load(tmp_path / "absent.h5")
