#!/usr/bin/env python3
"""Times fast multipole sums of the program: `bench/fmm.py build/farfield --json FILE` (needs NumPy).

A million charges in [-1, 1], in a cube, a Plummer sphere and on a sphere, potential and field at the charges, one and two
threads: for each of some orders the median over --seeds of the whole time (tree, lists and sum; reading, writing and the
comparison apart), and of the error of each output at sampled targets.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

WAYS = {3: ["--order", "4", "--precision", "float"],
        6: ["--order", "13", "--precision", "mixed"],
        9: ["--order", "24"],
        12: ["--order", "37"]}


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


def measure(program, folder, kind, way, threads):
    report = folder / "report.json"
    subprocess.run([program, "sum", "--kernel", "coulomb", "--method", "fmm", "--sources", folder / f"{kind}.npy", "--out",
                    folder / "out.npy", "--json", report, "--tolerance", "0.5", "--threads", str(threads), "--quiet", *way], check=True)
    found = json.loads(report.read_text(encoding="utf-8"))
    stages = found["stages"]
    return {"seconds": stages["prepare_seconds"] + found["compute_seconds"] + stages["finish_seconds"],
            "errors": {error["output"]: error["relative"] for error in found["errors"]},
            "passes": {entry["name"]: entry["seconds"] for entry in found["passes"]},
            "leaves": found["fmm"]["leaves"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runs = {}
        for seed in range(1, task.seeds + 1):
            for kind in ("cube", "plummer", "sphere"):
                np.save(folder / f"{kind}.npy", points(kind, task.n, seed))
                for digits, way in WAYS.items():
                    for threads in (2, 1) if kind == "cube" else (2,):
                        runs.setdefault((kind, digits, threads), []).append(measure(task.program, folder, kind, way, threads))
        for (kind, digits, threads), found in runs.items():
            row = {"points": kind, "n": task.n, "digits": digits, "threads": threads, "options": " ".join(WAYS[digits]),
                   "seconds": statistics.median(run["seconds"] for run in found)}
            for output in ("potential", "field"):
                row[f"error_{output}"] = statistics.median(run["errors"][output] for run in found)
            row["passes"] = {key: statistics.median(run["passes"][key] for run in found) for key in found[0]["passes"]}
            row["leaves"] = found[0]["leaves"]
            rows.append(row)
            print(f"{kind:8} {digits:2} digits, {threads} threads: {row['seconds']:.3f} s, potential {row['error_potential']:.1e}, "
                  f"field {row['error_field']:.1e}")
    about = dict(entry.split("=", 1) for entry in task.about)
    about["command"] = f"bench/fmm.py build/farfield --n {task.n} --seeds {task.seeds}"
    about["repeats"] = task.seeds
    pathlib.Path(task.json).write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
