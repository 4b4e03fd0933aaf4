#!/usr/bin/env python3
"""Times fast multipole sums in the plane: `bench/plane.py build/farfield --json FILE`.

Charges of both signs in a square, potential and field at the charges, complex and real strengths. Each row is the median of --repeat
sums, each in a fresh process: tree, lists and all passes, reading and writing files apart. The errors are those that a sum of the same
order shows with a tolerance, for numbers of points up to --compare; `orders` has those of single orders. The slope is that of log time against log N over the whole range.
"""
import argparse
import array
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

ORDERS = {3: 5, 6: 13, 9: 21, 12: 30}  # digits: order


def write_charges(path, n, complex_strengths):
    source = random.Random(1)
    values = array.array("d")
    for _ in range(n):
        values.extend((source.random(), source.random(), source.uniform(-1, 1), source.uniform(-1, 1) if complex_strengths else 0.0))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, 4), }}".encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes())


def report(task, folder, points, order, *options):
    path = folder / "report.json"
    subprocess.run([task.program, "sum", "--kernel", "laplace2d", "--method", "fmm", "--precision", "double", "--sources", points, "--out", folder / "out.npy", "--json", path,
                    "--order", str(order), "--quiet", "--threads", str(task.threads), *options], check=True)
    return json.loads(path.read_text(encoding="utf-8"))


def orders(task, folder):
    """Errors of single orders, 20,000 points."""
    points = folder / "orders.npy"
    write_charges(points, 20_000, True)
    for order in range(4, 33, 4):
        found = report(task, folder, points, order, "--tolerance", "0.5", "--leaf", "20")
        yield {"order": order, **{error["output"]: error["relative"] for error in found["errors"]}}


def row(task, folder, points, n, strengths, digits):
    seconds, passes = [], []
    for _ in range(task.repeat):
        found = report(task, folder, points, ORDERS[digits])
        stages = found["stages"]
        seconds.append(stages["prepare_seconds"] + found["compute_seconds"] + stages["finish_seconds"])
        passes.append({entry["name"]: entry["seconds"] for entry in found["passes"]})
    out = {"n": n, "strengths": strengths, "digits": digits, "order": ORDERS[digits], "threads": task.threads, "seconds": statistics.median(seconds),
           "passes": {name: statistics.median(one[name] for one in passes) for name in passes[0]}, "leaves": found["fmm"]["leaves"]}
    if n <= task.compare:
        for error in report(task, folder, points, ORDERS[digits], "--tolerance", "0.5")["errors"]:
            out["error_" + error["output"]] = error["relative"]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--n", default="100000,1000000,10000000")
    parser.add_argument("--digits", default="3,6,9,12")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--compare", type=int, default=1_000_000)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    rows, slopes = [], []
    sizes = [int(n) for n in task.n.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        of_orders = list(orders(task, folder))
        for strengths in ("complex", "real"):
            for n in sizes:
                points = folder / "points.npy"
                write_charges(points, n, strengths == "complex")
                for digits in map(int, task.digits.split(",")):
                    rows.append(row(task, folder, points, n, strengths, digits))
                    print(json.dumps(rows[-1]), flush=True)
            for digits in map(int, task.digits.split(",")):
                of = {r["n"]: r["seconds"] for r in rows if r["strengths"] == strengths and r["digits"] == digits}
                if len(sizes) > 1:
                    slope = math.log(of[sizes[-1]] / of[sizes[0]]) / math.log(sizes[-1] / sizes[0])
                    slopes.append({"strengths": strengths, "digits": digits, "slope": slope})
                    print(json.dumps(slopes[-1]), flush=True)
    about = dict(entry.split("=", 1) for entry in task.about)
    about["command"] = f"bench/plane.py build/farfield --n {task.n} --repeat {task.repeat}"
    about["repeats"] = task.repeat
    pathlib.Path(task.json).write_text(json.dumps({**about, "orders": of_orders, "slopes": slopes, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
