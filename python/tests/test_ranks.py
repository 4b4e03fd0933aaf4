"""comm=: several processes with points of their own get, each, its rows of the sum of one."""

import os
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
simulation = farfield.Simulation(bodies, step=0.01, softening=0.1, device="cpu", comm=world)
alone = farfield.Simulation(bodies, step=0.01, softening=0.1, device="cpu")
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


GPU_SCRIPT = '''
import sys
import numpy as np
import farfield

if sys.argv[1] == "mpi4py":
    from mpi4py import MPI
    comm, rank, size = MPI.COMM_WORLD, MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
else:
    comm = farfield.Communicator.world()
    rank, size = comm.rank, comm.size
assert size == 2
number = rank % len(farfield.gpus())
if sys.argv[2] == "torch":
    import torch
    torch.cuda.set_device(number)
    to_gpu, to_host, kind = lambda a: torch.as_tensor(a).cuda(), lambda a: a.cpu().numpy(), torch.Tensor
else:
    import cupy
    cupy.cuda.Device(number).use()
    to_gpu, to_host, kind = cupy.asarray, cupy.asnumpy, cupy.ndarray
points = np.random.default_rng(1).normal(size=(3000, 3))
charges = np.random.default_rng(2).normal(size=3000)
own = slice(0, 2000) if rank == 0 else slice(2000, 3000)
box = {"period": [4.0, 4.0, 4.0], "background": "uniform", "tolerance": 1e-5}
for options in ({"method": "direct"}, {"method": "fmm", "tolerance": 1e-4}, {"method": "treecode", "tolerance": 1e-3},
                *({"method": method, **box} for method in ("pme", "ewald", "fmm", "direct")),
                {"method": "fmm", "tolerance": 1e-4, "kernel": "vortex2d"}):
    options = {"kernel": "coulomb", "precision": "double"} | options
    given = points[:, :2] if options["kernel"] == "vortex2d" else points
    x, q = to_gpu(given[own].copy()), to_gpu(charges[own])
    result = farfield.sum(x, q, comm=comm, **options)
    assert result.report.device.startswith("cuda"), result.report.device
    assert isinstance(result.field, kind) and result.field.device == x.device
    alone = farfield.sum(given, charges, device=f"cuda:{number}", **options)
    assert (to_host(result.potential) == alone.potential[own]).all(), options
    assert (to_host(result.field) == alone.field[own]).all(), options
    plan = farfield.SumPlan(x, comm=comm, **options)
    assert (to_host(plan.execute(q).field) == alone.field[own]).all(), options
print("rank", rank, "has seen it all")
'''


def run_on_ranks(ranks, script, *words):
    mpirun = shutil.which("mpirun")
    if mpirun is None or not list(pathlib.Path(farfield.__file__).parent.glob("libfarfield_mpi.so")):
        pytest.skip("this package was built without MPI, or there is no mpirun")
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run([mpirun, "-n", str(ranks), sys.executable, "-c", script, *words], capture_output=True,
                          text=True, timeout=120, env=os.environ | settings, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("has seen it all") == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_on_ranks(ranks):
    run_on_ranks(ranks, SCRIPT, str(ranks))


@pytest.mark.skipif(not farfield.gpus(), reason=farfield.why_no_gpu() or "there is a GPU")
@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("comm", ["world", "mpi4py"])
def test_arrays_on_gpus_of_ranks(comm, library):
    if comm == "mpi4py":
        pytest.importorskip("mpi4py")
    pytest.importorskip(library)
    run_on_ranks(2, GPU_SCRIPT, comm, library)
