#!/usr/bin/env python3
"""Times the tree code beside fast multipoles and direct sums, to a tolerance: `bench/treecode_sums.py build/farfield --json FILE`; needs NumPy.

Equal masses in a Plummer sphere or a cube, potential and field at the masses, each method with what it chooses for the tolerance. Sums alternate, each in
a fresh process, --rounds times; a row has the medians of the whole sum (tree, lists and passes of the sum that met the tolerance; reading, writing and the
comparison apart) and the errors that it reached.
`median_error` is that of single fields, at --sampled of them. The time of `direct` beyond --most-direct points is that of --most-direct times the square.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

METHODS = ("treecode", "fmm", "direct")


def points_of(shape, n):
    generator = np.random.default_rng(1)
    if shape == "cube":
        return generator.random((n, 3))
    radius = np.minimum(20.0, 1.0 / np.sqrt(generator.random(n) ** (-2 / 3) - 1.0))
    directions = generator.normal(size=(n, 3))
    return directions * (radius / np.linalg.norm(directions, axis=1))[:, None]


class Bench:
    def __init__(self, task, folder):
        self.task, self.folder = task, folder

    def prepare(self, shape, n):
        points = points_of(shape, n)
        self.sampled = np.random.default_rng(2).choice(n, min(self.task.sampled, n), replace=False)
        np.save(self.folder / "s.npy", np.column_stack([points, np.full(n, 1.0 / n)]))
        np.save(self.folder / "t.npy", points[self.sampled])

    def run(self, *options):
        command = [self.task.program, "sum", "--kernel", "gravity", "--sources", self.folder / "s.npy", "--out", self.folder / "o.npy", "--json", self.folder / "r.json",
                   "--threads", self.task.threads, "--device", "cpu", "--quiet", *options]
        subprocess.run([str(word) for word in command], check=True)
        return json.loads((self.folder / "r.json").read_text(encoding="utf-8"))

    def exact(self, softening):
        self.run("--method", "direct", "--precision", "double", "--coincident", "skip", "--output", "field", "--softening", softening, "--targets", self.folder / "t.npy")
        return np.load(self.folder / "o.npy")

    def sum(self, method, tolerance, softening, exact):
        report = self.run("--method", method, "--tolerance", tolerance, "--softening", softening)
        field = np.load(self.folder / "o.npy", mmap_mode="r")[self.sampled, 1:4]
        each = np.linalg.norm(field - exact, axis=1) / np.linalg.norm(exact, axis=1)
        stages = report["stages"]
        found = {"seconds": stages["prepare_seconds"] + report["compute_seconds"] + stages["finish_seconds"], "precision": report["precision"],
                 "order": report.get(method, {}).get("order", 0), "median_error": float(np.median(each))}
        return found | {"error_" + error["output"]: error["relative"] for error in report["errors"]}


def rows_of(bench, task, shape, n):
    bench.prepare(shape, n)
    for softening in map(float, task.softenings.split(",")):
        exact = bench.exact(softening)
        for tolerance in task.tolerances.split(","):
            methods = [method for method in METHODS if method != "direct" or n <= task.most_direct]
            found = {method: [] for method in methods}
            for _ in range(task.rounds):
                for method in methods:
                    found[method].append(bench.sum(method, tolerance, softening, exact))
            row = {"points": shape, "n": n, "softening": softening, "tolerance": float(tolerance)}
            for method, runs in found.items():
                row[method] = runs[0] | {"seconds": statistics.median(run["seconds"] for run in runs)}
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--points", default="plummer,cube")
    parser.add_argument("--n", default="100000,1000000")
    parser.add_argument("--softenings", default="0,0.01")
    parser.add_argument("--tolerances", default="1e-2,1e-3,1e-4")
    parser.add_argument("--most-direct", type=int, default=200000)
    parser.add_argument("--sampled", type=int, default=4000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about)
    about |= {"command": f"bench/treecode_sums.py build/farfield --n {task.n} --rounds {task.rounds}", "threads": task.threads, "repeats": task.rounds, "rows": []}
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(task, pathlib.Path(name))
        for shape in task.points.split(","):
            for n in map(int, task.n.split(",")):
                for row in rows_of(bench, task, shape, n):
                    estimate(about["rows"], row)
                    about["rows"].append(row)
                    print(json.dumps(row), flush=True)
                    pathlib.Path(task.json).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def estimate(rows, row):
    """The time of a direct sum that nobody waits for, from the largest of the same settings that was timed."""
    if "direct" in row:
        return
    same = [other for other in rows if all(other[key] == row[key] for key in ("points", "softening", "tolerance")) and "estimated" not in other["direct"]]
    if same:
        row["direct"] = {"seconds": same[-1]["direct"]["seconds"] * (row["n"] / same[-1]["n"]) ** 2, "precision": same[-1]["direct"]["precision"], "estimated": True}


if __name__ == "__main__":
    main()
