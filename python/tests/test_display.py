"""What things say of themselves, tables in notebooks, and pictures by matplotlib."""

import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import farfield
from farfield import stencil


class Rows(HTMLParser):
    """The cells of a table, after a check that tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)


def orbit(**options):
    bodies = farfield.Bodies([[1, 0, 0.25], [-1, 0, 0]], [[0, 0.5, 0], [0, -0.5, 0]], [1, 2])
    return farfield.Simulation(bodies, step=0.25, **options)


def test_a_simulation_says_where_it_is():
    simulation = orbit(integrator="hermite4", end=2.0)
    simulation.step(3)
    assert repr(simulation) == "<Simulation of 2 bodies at t = 0.75 of 2: 3 steps of 0.25 by hermite4, gravity>"
    assert repr(orbit()) == "<Simulation of 2 bodies at t = 0: 0 steps of 0.25 by leapfrog, gravity>"


def test_tables():
    cells = Rows(orbit(softening=0.125)._repr_html_()).cells
    assert cells[0] == "Simulation" and cells[cells.index("total mass") + 1] == "3"
    assert cells[cells.index("x") + 1] == "-1 to 1" and cells[cells.index("end") + 1] == "none"
    assert cells[cells.index("softening") + 1] == "0.125" and "precision" not in cells
    assert Rows(farfield.make_bodies(n=3)._repr_html_()).cells[:3] == ["Bodies", "bodies", "3"]
    result = farfield.sum(np.eye(3), np.ones(3))
    cells = Rows(result._repr_html_()).cells
    assert cells[cells.index("field") + 1] == "array of float64, shape (3, 3)"
    case = farfield.Case()
    case.name = "<b>&"
    cells = Rows(case._repr_html_()).cells
    assert "".join(cells[cells.index("name") + 1 : cells.index("initial")]) == "<b>&"
    assert Rows(farfield.Bodies(np.empty((0, 3)), np.empty((0, 3)), [])._repr_html_()).cells[2] == "0"


def test_plans_say_what_they_sum():
    assert repr(farfield.SumPlan(np.eye(3))) == "<SumPlan of 3 points: gravity by method 'direct' in precision 'double'>"
    assert "of 3 points at 2 targets: coulomb" in repr(farfield.SumPlan(np.eye(3), np.eye(3)[:2] + 1, kernel="coulomb"))


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_bodies_are_dots(pyplot):
    simulation = orbit()
    simulation.step()
    axes = simulation.plot(plane="xz", color="red")
    np.testing.assert_array_equal(axes.collections[0].get_offsets(), simulation.positions[:, [0, 2]])
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("x", "z", "t = 0.25")
    assert simulation.bodies.plot(axes) is axes and len(axes.collections) == 2
    with pytest.raises(ValueError, match="plane is 'zz'; allowed are xy, xz and yz"):
        simulation.plot(plane="zz")


def test_fields_are_lines_and_pictures(pyplot):
    grids = {"x: 5": (5,), "x: 5, y: 3": (3, 5), "x: 5, y: 3, z: 4": (4, 3, 5)}
    for grid, shape in grids.items():
        text = f"program p\ngrid g[{grid}]\nfield u on g = x\nupdate add: u += 1\nstep: add\ntime dt = 0.5\n"
        run = stencil.Run(stencil.parse(text), target="interpreter")
        run.advance(2)
        axes = run.plot("u")
        drawn = axes.lines[0].get_ydata() if len(shape) == 1 else axes.images[0].get_array()
        np.testing.assert_array_equal(drawn, run.field("u") if len(shape) < 3 else run.field("u")[2])
        assert axes.get_title() == "u, t = 1" + (", z = 2" if len(shape) == 3 else "")
    with pytest.raises(ValueError, match="'v'"):
        run.plot("v")


def test_without_matplotlib_only_plots_fail(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    simulation = orbit()
    assert repr(simulation) and simulation._repr_html_()
    with pytest.raises(ImportError, match="pip install matplotlib"):
        simulation.plot()
