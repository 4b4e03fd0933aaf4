"""comm=: several processes with points of their own get, each, its rows of the sum of one."""

import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import farfield

SCRIPT = '''
import sys
import numpy as np
import farfield
import farfield.stencil

world = farfield.Communicator.world()
assert world.size == int(sys.argv[1])
points = np.random.default_rng(1).normal(size=(2500, 3))
charges = np.random.default_rng(2).normal(size=2500)
own = np.array_split(np.arange(2500), world.size)[world.rank]
result = farfield.sum(points[own], charges[own], kernel="coulomb", comm=world)
plan = farfield.SumPlan(points[own], kernel="coulomb", comm=world)
assert (plan.execute(charges[own]).field == result.field).all()
whole = farfield.sum(points, charges, kernel="coulomb")
assert (result.potential == whole.potential[own]).all() and (result.field == whole.field[own]).all()
bodies = farfield.make_bodies("plummer", n=1100)
simulation = farfield.Simulation(bodies, step=0.01, softening=0.1, comm=world)
alone = farfield.Simulation(bodies, step=0.01, softening=0.1)
for one in (simulation, alone):
    one.step(3)
assert (simulation.positions == alone.positions).all()
program = farfield.stencil.parse("""program heat
grid plate[x: 0.2, y: 0.1] sampling 200
time dt = 0.2*dx^2/1.1e-4, steps = 60
field u on plate : double, double-buffered = 20.0 + X
boundary u: clamp in x, mirror in y
update conduct:
    u += 0.1*(u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
step: conduct
""")
runs = [farfield.stencil.Run(program, comm=world), farfield.stencil.Run(program)]
for one in runs:
    one.advance(7)
    one.run()
assert runs[0].step == 60 and (runs[0].field("u") == runs[1].field("u")).all()
try:
    farfield.sum(points[own], charges[own], kernel="coulomb", method="reference", comm=world)
except farfield.InvalidArgument as error:
    assert "ranks" in str(error), error
else:
    raise AssertionError("the reference was divided")
options = {"kernel": "coulomb", "method": "fmm", "order": 4, "leaf": 40}
assert (farfield.sum(points[own], charges[own], comm=world, **options).field
        == farfield.sum(points, charges, **options).field[own]).all()
print("rank", world.rank, "has seen it all")
'''


def test_alone():
    alone = farfield.Communicator()
    assert (alone.rank, alone.size, repr(alone)) == (0, 1, "Communicator(rank=0, size=1)")
    assert farfield.Communicator.world().size == 1
    points, charges = np.eye(3), np.ones(3)
    expected = farfield.sum(points, charges).potential
    for comm in (None, alone):
        assert (farfield.sum(points, charges, comm=comm).potential == expected).all()
    case = farfield.Case()
    case.force.comm = alone
    assert case.force.comm.size == 1 and "comm" not in case.force.asdict()


def test_refuses_what_names_no_ranks():
    with pytest.raises(TypeError, match="comm must be a communicator of mpi4py or a farfield.Communicator, not int"):
        farfield.sum(np.eye(3), np.ones(3), comm=3)


@pytest.mark.parametrize("ranks", [2, 3])
def test_on_ranks(ranks):
    mpirun = shutil.which("mpirun")
    if mpirun is None or not list(pathlib.Path(farfield.__file__).parent.glob("libfarfield_mpi.so")):
        pytest.skip("this package was built without MPI, or there is no mpirun")
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PATH": "/usr/bin:/bin",
                "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run([mpirun, "-n", str(ranks), sys.executable, "-c", SCRIPT, str(ranks)], capture_output=True,
                          text=True, timeout=120, env=settings, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("has seen it all") == ranks
