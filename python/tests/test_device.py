"""device=, stream= and arrays on a GPU: with CuPy and PyTorch where there is a GPU, with imitations elsewhere."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import farfield

needs_gpu = pytest.mark.skipif(not farfield.gpus(), reason=farfield.why_no_gpu() or "there is a GPU")
no_gpu = pytest.mark.skipif(bool(farfield.gpus()), reason="there is a GPU")

random = np.random.default_rng(5)
POINTS, STRENGTHS, TARGETS = random.normal(size=(400, 3)), random.uniform(1, 2, 400), random.normal(size=(31, 3))


def libraries():
    """What makes GPU arrays here: name, NumPy to GPU, GPU to NumPy."""
    found = []
    try:
        import cupy

        found.append(pytest.param(cupy.asarray, cupy.asnumpy, id="cupy"))
    except ImportError:
        pass
    try:
        import torch

        if torch.cuda.is_available():
            found.append(pytest.param(lambda a: torch.as_tensor(a).cuda(), lambda t: t.cpu().numpy(), id="torch"))
    except ImportError:
        pass
    skip = pytest.mark.skip(reason="neither CuPy nor PyTorch with a GPU")
    return found or [pytest.param(None, None, marks=skip, id="no library")]


class _Tensor(ctypes.Structure):  # DLManagedTensor of dlpack.h
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class ImitationOfAGpuArray:
    """Host memory that says it lies on cuda:0; to be looked at by nobody."""

    def __init__(self, array):
        self.array, self.streams, self.keep = array, [], []

    def __len__(self):
        return len(self.array)

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        shape = (ctypes.c_int64 * self.array.ndim)(*self.array.shape)
        tensor = _Tensor(self.array.ctypes.data, 2, 0, self.array.ndim, 2, 64, 1, ctypes.addressof(shape), None, 0, None,
                         None)
        self.keep += [shape, tensor]
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(tensor), b"dltensor", None)


class Stream:
    cuda_stream = 77


def test_the_cpu_is_named():
    result = farfield.sum(POINTS, STRENGTHS, device="cpu")
    assert result.report.device == "cpu"
    assert result.report.cost_table == ""  # nothing was left to choose
    chosen = farfield.sum(POINTS, STRENGTHS).report
    assert chosen.device == "cpu"  # auto: too small to be worth a GPU
    assert len(chosen.cost_table) == 16


def test_gpus_or_a_reason():
    assert bool(farfield.gpus()) != bool(farfield.why_no_gpu())


def test_options_of_a_case_and_a_simulation():
    force = farfield.ForceOptions()
    assert (force.device, force.multi_gpu, force.exchange) == ("auto", "threads", "auto")
    force.device, force.multi_gpu, force.exchange = "cuda:0,1", "single", "write-combined"
    assert force.asdict()["device"] == "cuda:0,1"
    with pytest.raises(farfield.InvalidArgument, match="did you mean 'cuda'"):
        force.device = "cudda"
    simulation = farfield.Simulation(farfield.make_bodies("plummer", n=8), step=0.1, device="cpu")
    simulation.step()


def test_a_simulation_takes_a_rung():
    force = farfield.ForceOptions()
    assert force.variant == "auto"
    force.variant = "naive"
    assert force.asdict()["variant"] == "naive"
    bodies = farfield.make_bodies("plummer", n=8)
    farfield.Simulation(bodies, step=0.1, device="cpu", variant="naive").step()
    with pytest.raises(farfield.InvalidArgument, match="variant='[a-z]+' is a rung for GPUs; use device='cuda', or"):
        farfield.Simulation(bodies, step=0.1, device="cpu", variant="flush")


def test_a_simulation_by_tree_code_takes_one_gpu():
    bodies = farfield.make_bodies("plummer", n=64)
    with pytest.raises(farfield.InvalidArgument, match="method 'treecode' takes one GPU as yet; use device='cuda:0'"):
        farfield.Simulation(bodies, step=0.01, method="treecode", device="cuda:0,1")


def test_a_simulation_by_expansions_takes_several_gpus():
    bodies = farfield.make_bodies("plummer", n=64)

    def simulation_on(device):
        return farfield.Simulation(bodies, step=0.01, end=0.1, method="fmm", tolerance=1e-3, leaf=8, device=device)

    if not farfield.gpus():
        for device in ("cuda", "cuda:0,1"):
            with pytest.raises(farfield.BackendUnavailable) as caught:
                simulation_on(device)
            assert str(caught.value) == farfield.why_no_gpu()
        return
    one, several = simulation_on("cuda"), simulation_on("cuda:0,0")
    for simulation in (one, several):
        simulation.step()
        row = simulation.diagnostics()
        assert 0 < row.acceleration_error <= 1e-3 and 0 < row.potential_error <= 1e-3
    assert (one.bodies.position == several.bodies.position).all()


@no_gpu
def test_without_a_gpu_the_reason_is_told():
    for arguments in (dict(device="cuda"), dict(device="cuda:1"), dict(variant="register-tile")):
        with pytest.raises(farfield.BackendUnavailable) as caught:
            farfield.sum(POINTS, STRENGTHS, **arguments)
        assert str(caught.value) == farfield.why_no_gpu()
    with pytest.raises(farfield.BackendUnavailable) as caught:
        farfield.sum(ImitationOfAGpuArray(POINTS), STRENGTHS)
    assert str(caught.value) == farfield.why_no_gpu()


def test_producers_are_told_the_stream():
    """DLPack numbers CUDA's default stream 1; on a machine with a GPU the imitations are refused for device="cpu"."""
    for stream, number in ((None, 1), (77, 77), (Stream(), 77)):
        points = ImitationOfAGpuArray(POINTS)
        with pytest.raises(farfield.InvalidArgument, match="the points are on cuda:0, but device='cpu'"):
            farfield.sum(points, STRENGTHS, device="cpu", stream=stream)
        assert points.streams == [number]


def test_a_sum_on_the_cpu_refuses_strengths_and_outputs_on_a_gpu():
    plan = farfield.SumPlan(POINTS, device="cpu")
    with pytest.raises(farfield.InvalidArgument, match="strengths: the array is on device cuda:0.*CPU"):
        plan.execute(ImitationOfAGpuArray(STRENGTHS), out={"potential": np.empty(400), "field": np.empty((400, 3))})
    with pytest.raises(farfield.InvalidArgument, match="potential: the array is on device cuda:0.*CPU"):
        plan.execute(STRENGTHS, out={"potential": ImitationOfAGpuArray(np.empty(400))})
    with pytest.raises(TypeError, match="results cannot be made as ImitationOfAGpuArray arrays; pass out="):
        plan.execute(ImitationOfAGpuArray(STRENGTHS))


def test_bodies_stay_on_the_host():
    with pytest.raises(farfield.InvalidArgument, match="positions lives on a CUDA device"):
        farfield.Bodies(positions=ImitationOfAGpuArray(POINTS), velocities=POINTS, masses=STRENGTHS)


@needs_gpu
def test_host_arrays_on_the_gpu_agree_with_the_cpu():
    expected = farfield.sum(POINTS, STRENGTHS, targets=TARGETS, softening=0.1, device="cpu")
    got = farfield.sum(POINTS, STRENGTHS, targets=TARGETS, softening=0.1, device="cuda")
    assert isinstance(got.field, np.ndarray) and got.report.device == "cuda:0"
    np.testing.assert_allclose(got.potential, expected.potential, rtol=1e-14)
    np.testing.assert_allclose(got.field, expected.field, rtol=0, atol=1e-14 * np.abs(expected.field).max())


@needs_gpu
@pytest.mark.parametrize("to_gpu, to_host", libraries())
def test_gpu_arrays_are_used_in_place(to_gpu, to_host):
    points, strengths = to_gpu(POINTS), to_gpu(STRENGTHS)
    expected = farfield.sum(POINTS, STRENGTHS, softening=0.1, device="cuda")
    got = farfield.sum(points, strengths, softening=0.1)
    assert type(got.potential) is type(points) and type(got.field) is type(points)
    assert got.report.device == "cuda:0"
    assert np.array_equal(to_host(got.potential), expected.potential)  # the same kernels on the same numbers
    assert np.array_equal(to_host(got.field), expected.field)
    # out=, float32, transposed: written in place, and the very object comes back
    out = to_gpu(np.zeros((3, 400), np.float32)).T
    again = farfield.sum(points, strengths, softening=0.1, output="field", out={"field": out})
    assert again.field is out
    np.testing.assert_allclose(to_host(out), expected.field, rtol=1e-6)
    # mixed: strengths and one output of NumPy
    potential = np.empty(400)
    mixed = farfield.SumPlan(points, softening=0.1).execute(STRENGTHS, out={"potential": potential})
    assert np.array_equal(potential, expected.potential) and type(mixed.field) is type(points)


@needs_gpu
@pytest.mark.parametrize("to_gpu, to_host", libraries())
def test_sums_in_the_plane_use_gpu_arrays(to_gpu, to_host):
    plane, charges = POINTS[:, :2].copy(), np.column_stack([STRENGTHS, 0.5 - STRENGTHS])
    options = dict(kernel="laplace2d", method="fmm", order=20, leaf=8)
    expected = farfield.sum(plane, charges, device="cpu", **options)
    got = farfield.sum(to_gpu(plane), to_gpu(charges), **options)
    assert got.report.device == "cuda:0" and type(got.field) is type(to_gpu(plane))
    np.testing.assert_allclose(to_host(got.field), expected.field, rtol=0, atol=1e-6 * np.abs(expected.field).max())
    np.testing.assert_allclose(to_host(got.potential), expected.potential, rtol=0, atol=1e-6 * np.abs(expected.potential).max())


@needs_gpu
@pytest.mark.parametrize("to_gpu, to_host", libraries())
def test_mistakes_in_gpu_arrays_are_named(to_gpu, to_host):
    broken = POINTS.copy()
    broken[17, 1] = np.nan
    with pytest.raises(farfield.InvalidArgument, match="row 17 has y = nan"):
        farfield.sum(to_gpu(broken), to_gpu(STRENGTHS))
    with pytest.raises(TypeError, match="elements of type .*int64"):
        farfield.sum(to_gpu(np.eye(3, dtype=np.int64)), np.ones(3))


@needs_gpu
def test_work_follows_the_callers_stream():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    expected = farfield.sum(POINTS, STRENGTHS, device="cuda").potential
    source, strengths = torch.as_tensor(POINTS).cuda(), torch.as_tensor(STRENGTHS).cuda()
    large = torch.empty(1 << 28, dtype=torch.float64, device="cuda")
    for pass_it in (True, False):  # DLPack orders the work also where the stream is not told
        points = torch.zeros_like(source)
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            large.fill_(1.0)  # a millisecond, behind which the points are filled
            points.copy_(source, non_blocking=True)
            got = farfield.sum(points, strengths, stream=stream if pass_it else None)
        assert np.array_equal(got.potential.cpu().numpy(), expected)


def test_example_of_all_gpus():
    example = Path(__file__).parents[2] / "examples" / "20_all_gpus.py"

    def run(*arguments):
        return subprocess.run([sys.executable, example, *arguments], capture_output=True, text=True, check=False)

    done = run("--n", "20000", "--tolerance", "1e-4")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("cpu", "cuda"))]
    assert len(rows) == max(1, len(farfield.gpus()))
    for device, seconds, speed_up, error, same in rows:
        assert device.startswith("cuda:0" if farfield.gpus() else "cpu")
        assert float(seconds) > 0 and float(speed_up) > 0 and float(error) <= 1e-4 and same == "yes"
    for wrong in (["--n", "0"], ["--tolerance", "-1"], ["--tolerance", "1e-30"]):
        refused = run(*wrong)
        assert refused.returncode == 2 and "Traceback" not in refused.stderr
