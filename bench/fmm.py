#!/usr/bin/env python3
"""Times fast multipole sums of the program: `bench/fmm.py build/farfield --json FILE` (needs NumPy).

A million charges in [-1, 1], in a cube, a Plummer sphere and on a sphere, potential and field at the charges, one and two
threads: for each of some orders the median over --seeds and --repeats of the whole time (tree, lists and sum; reading,
writing and the comparison apart), and of the error of each output at sampled targets. The same for a softened Plummer sphere, and for a
tolerance in place of an order, where verify_seconds tells the time of the comparisons and of sums that were repeated.

With --growth instead 100,000 to ten million charges in a cube at 6 digits: times, the most memory that the program had at
once, reading and writing included, and the slope of the time's logarithm against that of the number of points.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

WAYS = {3: ["--order", "4", "--precision", "float"],
        6: ["--order", "13", "--precision", "mixed"],
        9: ["--order", "24"],
        12: ["--order", "38"]}
# Pairs on a surface come so near each other that floats have too few digits for their fields.
SPHERE = {3: ["--order", "4", "--precision", "mixed"]}
ORDERS = [" ".join(way) for way in (*WAYS.values(), *SPHERE.values())]
SOFTENED = ["--order", "16", "--grading", "0.5", "--precision", "mixed", "--softening", "0.01"]


def cases():
    """(kind of points, digits, threads, options)"""
    for digits, way in WAYS.items():
        yield "cube", digits, 2, way
        yield "cube", digits, 1, way
        yield "plummer", digits, 2, way
        yield "sphere", digits, 2, SPHERE.get(digits, way)
        yield "cube", digits, 2, ["--tolerance", f"1e-{digits}"]
    yield "plummer", 6, 2, SOFTENED


def points(kind, n, seed):
    random = np.random.default_rng(seed)
    if kind == "cube":
        place = random.random((n, 3))
    else:
        place = random.normal(size=(n, 3))
        place /= np.linalg.norm(place, axis=1)[:, None]
        if kind == "plummer":
            place *= (1 / np.sqrt((0.999 * random.random(n)) ** (-2 / 3) - 1))[:, None]
    return np.column_stack([place, random.uniform(-1, 1, n)])


def peak_bytes(command):
    """Runs it; the most memory that it had at once."""
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return 1024 * usage.ru_maxrss


def measure(program, folder, kind, way, threads):
    report = folder / "report.json"
    peak = peak_bytes([program, "sum", "--kernel", "coulomb", "--method", "fmm", "--sources", folder / f"{kind}.npy", "--out",
                       folder / "out.npy", "--json", report, "--threads", str(threads), "--quiet",
                       *([] if "--tolerance" in way else ["--tolerance", "0.5"]), *way])
    found = json.loads(report.read_text(encoding="utf-8"))
    stages = found["stages"]
    return {"seconds": stages["prepare_seconds"] + found["compute_seconds"] + stages["finish_seconds"],
            "errors": {error["output"]: error["relative"] for error in found["errors"]},
            "verify_seconds": stages["verify_seconds"], "peak_bytes": peak,
            "passes": {entry["name"]: entry["seconds"] for entry in found["passes"]},
            "leaves": found["fmm"]["leaves"]}


def growth_rows(task, folder):
    rows = []
    for n in (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000):
        np.save(folder / "cube.npy", points("cube", n, 1))
        os.sync()
        runs = [measure(task.program, folder, "cube", WAYS[6], 2) for _ in range(task.seeds)]
        row = {"points": "cube", "n": n, "options": " ".join(WAYS[6]), "threads": 2}
        row["seconds"] = statistics.median(run["seconds"] for run in runs)
        row |= {"error_field": runs[0]["errors"]["field"], "bytes_a_point": max(run["peak_bytes"] for run in runs) / n, "leaves": runs[0]["leaves"]}
        rows.append(row)
        print(row, flush=True)
    return rows


def slope_of(rows):
    """Least squares of log time over log n."""
    return float(np.polyfit([math.log(row["n"]) for row in rows], [math.log(row["seconds"]) for row in rows], 1)[0])


def rows_of(task, folder):
    rows = []
    runs = {}
    for seed in range(1, task.seeds + 1):
        for kind in ("cube", "plummer", "sphere"):
            np.save(folder / f"{kind}.npy", points(kind, task.n, seed))
        os.sync()  # the system would write the files while the first sum runs
        for _ in range(task.repeats):
            for kind, digits, threads, way in cases():
                key = (kind, digits, threads, " ".join(way))
                runs.setdefault(key, []).append(measure(task.program, folder, kind, way, threads))
    for (kind, digits, threads, options), found in runs.items():
        what = {"digits": digits} if options in ORDERS else {"tolerance_of_digits": digits} if "tolerance" in options else {"softened": True}
        row = {"points": kind, "n": task.n, **what, "threads": threads, "options": options}
        for key in ("seconds", "verify_seconds"):
            row[key] = statistics.median(run[key] for run in found)
        for output in ("potential", "field"):
            row[f"error_{output}"] = statistics.median(run["errors"][output] for run in found)
        row["passes"] = {key: statistics.median(run["passes"][key] for run in found) for key in found[0]["passes"]}
        row["leaves"] = found[0]["leaves"]
        rows.append(row)
        print(f"{kind:8} {options}, {threads} threads: {row['seconds']:.3f} s, potential {row['error_potential']:.1e}, "
              f"field {row['error_field']:.1e}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=5, help="with --growth: repeats")
    parser.add_argument("--repeats", type=int, default=3, help="of each case and seed, in turn")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about)
    about["command"] = "bench/fmm.py build/farfield " + (f"--growth --seeds {task.seeds}" if task.growth else f"--n {task.n} --seeds {task.seeds} --repeats {task.repeats}")
    about["repeats"] = task.seeds * (1 if task.growth else task.repeats)
    with tempfile.TemporaryDirectory() as name:
        rows = growth_rows(task, pathlib.Path(name)) if task.growth else rows_of(task, pathlib.Path(name))
    if task.growth:
        about["slope"] = slope_of(rows)
    pathlib.Path(task.json).write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
