"""The stub: it says what the module has, and type checkers accept the way the guide uses it."""

import ast
import inspect
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import farfield
from farfield import _core

PACKAGE = Path(farfield.__file__).parent
USE = """
import numpy as np
import farfield

result = farfield.sum(np.eye(3), [1.0, 1.0, 1.0], kernel="coulomb", output=["potential", "field"],
                      out={"potential": np.empty(3, np.float32), "field": None}, multi_gpu="single", tolerance=1e-3)
reveal_type(result.field)
simulation = farfield.Simulation(farfield.make_bodies(n=3), step=0.1, integrator="hermite4")
reveal_type(simulation.positions)
reveal_type(simulation.diagnostics().momentum)
farfield.run_case("a.toml", "out", progress=lambda p: print(p.time))
farfield.sum(np.eye(3), [1.0], kernel="gravty")
farfield.sum(np.eye(3), [1.0], softning=0.1)
simulation.step(len(result.report.errors) + int(result.report.direct.pairs))
plots = {"u": "u.png"}
simulation.positions = -simulation.positions
simulation.step_length, simulation.end = 0.5, None
farfield.Simulation.load("a.h5").save("b.h5")
simulation.plot(plane="xz", color="red").set_title(farfield.stencil.Run.__name__)
farfield.density(np.eye(3), None, bandwidth=np.ones(3), gradient=True).density.sum()
farfield.sum(np.eye(3), [1.0, 1.0, 1.0], kernel="gauss", sigma=np.ones(3))
farfield.run_stencil("a.ff", "out", steps=3, plots=plots, animations={"u": ("v.png", 2)}, progress=lambda p: print(p.time))
"""


def test_stub_lists_what_the_module_has():
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    stubbed = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} | {"__version__"}
    assert set(farfield.__all__) == stubbed | {"stencil"}  # a module written in Python
    assert (PACKAGE / "py.typed").exists()


def test_stub_knows_every_option_name():
    text = (PACKAGE / "_core.pyi").read_text()
    for option, names in _core._names().items():
        assert f"_{option}: TypeAlias = Literal[{', '.join(map(repr, names))}]" in text


def test_everything_public_has_a_docstring():
    for name in farfield.__all__:
        if name == "__version__":
            continue
        thing = getattr(farfield, name)
        assert thing.__doc__ and len(thing.__doc__) > 20, name
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            assert thing.__repr__ is not object.__repr__, name


def test_type_checker_accepts_the_package_and_finds_a_misspelled_kernel(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "use.py").write_text(USE)
    # mypy finds an installed package by itself and refuses to be told; one in a build folder it must be told of.
    path = {} if PACKAGE.parent == Path(sysconfig.get_path("platlib")) else {"MYPYPATH": str(PACKAGE.parent)}
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "use.py"],
        cwd=tmp_path, capture_output=True, text=True, env=os.environ | path, check=False)
    lines = run.stdout.splitlines()
    errors = [line for line in lines if ": error:" in line]
    assert len(errors) == 2 and "use.py:12" in errors[0] and "gravty" in errors[0], run.stdout + run.stderr
    assert "use.py:13" in errors[1] and "softning" in errors[1]
    notes = "\n".join(line for line in lines if "Revealed type" in line)
    assert notes.count("float64") == 2 and "None" in notes and "tuple[" in notes.lower()
