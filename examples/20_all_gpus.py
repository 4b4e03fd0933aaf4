"""Fast multipole sums on one GPU, two, ... and all: seconds of new points each time, speed-up, error, and whether the
bits are those of one GPU. With CuPy the arrays are in the memory of the first GPU, otherwise on the host, and their way
there and back counts. Without a GPU the CPU does one sum.

    python3 examples/20_all_gpus.py --n 4000000 --tolerance 1e-5
"""

import argparse
import time

import farfield
import numpy as np


def on_first_gpu(*arrays):
    """The arrays in the memory of the first GPU, if there are a GPU and CuPy."""
    try:
        import cupy
    except ImportError:
        return arrays
    return [cupy.asarray(array) for array in arrays] if farfield.gpus() else arrays


def best_of(plan, points, charges, repeats):
    """Seconds of the fastest of some sums over new points, and the last result."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        plan.update(points)
        result = plan.execute(charges)
        seconds.append(time.perf_counter() - begin)
    return min(seconds), result


def measure(n, tolerance, repeats=3):
    """Rows of device, seconds, speed-up, relative error of the field, and whether the bits are those of the first row."""
    random = np.random.default_rng(1)
    points, charges = on_first_gpu(random.random((n, 3)), random.uniform(-1.0, 1.0, n))
    count = len(farfield.gpus())
    devices = ["cuda:" + ",".join(map(str, range(k + 1))) for k in range(count)] or ["cpu"]
    rows, first = [], None
    for device in devices:
        plan = farfield.SumPlan(points, kernel="coulomb", method="fmm", tolerance=tolerance, device=device)
        plan.execute(charges)  # raises the order where it falls short of the tolerance
        errors = {error.output: error.relative for error in plan.report.errors}
        seconds, result = best_of(plan, points, charges, repeats)
        if first is None:
            first = (seconds, result)
        same = bool((result.field == first[1].field).all() and (result.potential == first[1].potential).all())
        rows.append((device, seconds, first[0] / seconds, errors["field"], same))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000000, help="points in a cube, at least 1")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="of the relative error, more than 0")
    options = parser.parse_args()
    if options.n < 1 or not options.tolerance > 0:
        parser.error("--n must be at least 1, --tolerance more than 0")
    try:
        table = measure(options.n, options.tolerance)
    except farfield.Error as error:
        parser.error(str(error))
    if not farfield.gpus():
        print(f"no GPU: {farfield.why_no_gpu()}")
    print("device        seconds  speed-up  error of the field  same bits")
    for device, seconds, speed_up, error, same in table:
        print(f"{device:12} {seconds:8.4f} {speed_up:9.2f} {error:19.1e}  {'yes' if same else 'no'}")
