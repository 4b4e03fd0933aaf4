#!/usr/bin/env python3
"""Times the tree code and fast multipoles beside FDPS: `bench/treecode_peers.py build/farfield build/bench/bench_steps FDPS --json FILE`; needs NumPy.

FDPS is the program of bench/peers/fdps.cpp, which says how it is built. N equal masses of a Plummer sphere, softened; each program gets its points anew, makes
its tree and computes all fields, many times in one process, and the first time is left out. Errors are those of --sampled fields against exact sums. Of each
program the fastest settings count whose median error is no more than --error. Then runs of all alternate, --rounds times, and a row has the medians.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np


def plummer(n):
    generator = np.random.default_rng(1)
    radius = np.minimum(20.0, 1.0 / np.sqrt(generator.random(n) ** (-2 / 3) - 1.0))
    directions = generator.normal(size=(n, 3))
    return directions * (radius / np.linalg.norm(directions, axis=1))[:, None]


class Bench:
    """Equal masses at N×3 points, their exact fields at some of them, and the programs that sum them."""

    def __init__(self, task, folder, points):
        self.task, self.folder = task, folder
        n = len(points)
        self.rows = np.random.default_rng(2).choice(n, min(task.sampled, n), replace=False)
        np.column_stack([points, np.full(n, 1.0 / n)]).tofile(folder / "points.bin")
        self.exact = self.exact_fields(points, n)

    def exact_fields(self, points, n):
        np.save(self.folder / "s.npy", np.column_stack([points, np.full(n, 1.0 / n)]))
        np.save(self.folder / "t.npy", points[self.rows])
        command = [self.task.program, "sum", "--kernel", "gravity", "--method", "direct", "--precision", "double", "--coincident", "skip", "--output", "field", "--softening",
                   self.task.softening, "--sources", self.folder / "s.npy", "--targets", self.folder / "t.npy", "--out", self.folder / "e.npy"]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        return np.load(self.folder / "e.npy")

    def run(self, settings, repeats):
        """The seconds of each repetition, and what the program says."""
        points, out = self.folder / "points.bin", self.folder / "out.bin"
        if settings["program"] == "fdps":
            command = [self.task.fdps, points, out, self.task.softening, settings["theta"], settings["leaf"], settings["group"], repeats]
        else:
            options = {key: value for key, value in settings.items() if key != "program"} | {"softening": self.task.softening, "threads": self.task.threads}
            command = [self.task.steps, points, out, json.dumps(options), repeats]
        done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": str(self.task.threads)})
        facts = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
        return facts.pop("seconds"), facts

    def errors(self):
        got = np.fromfile(self.folder / "out.bin").reshape(-1, 3)[self.rows]
        each = np.linalg.norm(got - self.exact, axis=1) / np.linalg.norm(self.exact, axis=1)
        return {"median": float(np.median(each)), "percentile_99": float(np.quantile(each, 0.99)),
                "l2": float(np.linalg.norm(got - self.exact) / np.linalg.norm(self.exact))}

    def fastest(self, candidates):
        best = None
        for settings in candidates:
            seconds, _ = self.run(settings, 3)
            tried = settings | {"errors": self.errors(), "seconds": min(seconds)}
            if tried["errors"]["median"] <= self.task.error and (best is None or tried["seconds"] < best["seconds"]):
                best = tried
        return best


CANDIDATES = {
    "fdps": [{"program": "fdps", "theta": theta, "leaf": leaf, "group": group} for theta in (0.6, 0.65, 0.7, 0.75) for leaf in (8, 16) for group in (256, 512, 1024)],
    "treecode": [{"program": "steps", "method": "treecode", "order": 1, "theta": theta, "precision": "float"} for theta in (0.8, 0.85, 0.9, 0.95, 1.0)],
    "fmm": [{"program": "steps", "method": "fmm", "order": order, "precision": "float"} for order in (3, 4, 5)],
}


def row(task, folder, n):
    bench = Bench(task, folder, plummer(n))
    best = {name: bench.fastest(candidates) for name, candidates in CANDIDATES.items()}
    times, facts = {name: [] for name in best}, {}
    for _ in range(task.rounds):
        for name, settings in best.items():
            if settings is None:
                continue
            seconds, facts[name] = bench.run({key: value for key, value in settings.items() if key not in ("errors", "seconds")}, 5)
            times[name] += seconds
    out = {"n": n}
    for name, settings in best.items():
        if settings is not None:
            out[name] = settings | {"seconds": statistics.median(times[name]), "least": min(times[name])} | facts[name]
    return out | {"treecode_over_fdps": out["treecode"]["seconds"] / out["fdps"]["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("steps")
    parser.add_argument("fdps")
    parser.add_argument("--json", required=True)
    parser.add_argument("--error", type=float, default=1e-3)
    parser.add_argument("--softening", type=float, default=0.01)
    parser.add_argument("--n", default="1000000", metavar="N,N,…")
    parser.add_argument("--sampled", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine, version of FDPS")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about)
    about |= {"command": "bench/treecode_peers.py build/farfield build/bench/bench_steps FDPS", "threads": task.threads, "error": task.error, "softening": task.softening,
              "repeats": 5 * task.rounds, "rows": []}
    with tempfile.TemporaryDirectory() as name:
        for n in map(int, task.n.split(",")):
            about["rows"].append(row(task, pathlib.Path(name), n))
            print(json.dumps(about["rows"][-1]), flush=True)
            pathlib.Path(task.json).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
