#!/usr/bin/env python3
"""Times the tree code beside fast multipoles, from tolerances: `bench/treecode_methods.py build/farfield build/bench/bench_steps --json FILE`; needs NumPy.

Equal masses in a cube and in a Plummer sphere, softened. As a simulation does, each method gets points anew, makes its tree and computes all fields. Runs alternate; a row has
the medians and the errors of --sampled fields against exact sums.
"""
import argparse
import json
import pathlib
import statistics
import tempfile

import numpy as np
from treecode_peers import Bench, plummer

CLOUDS = {"cube": lambda n: np.random.default_rng(1).random((n, 3)), "plummer": plummer}
METHODS = ("treecode", "fmm")


def row(bench, cloud, n, tolerance, rounds):
    times, out = {method: [] for method in METHODS}, {"cloud": cloud, "n": n, "tolerance": tolerance}
    for _ in range(rounds):
        for method in METHODS:
            seconds, facts = bench.run({"program": "steps", "method": method, "tolerance": tolerance}, 3)
            times[method] += seconds
            out[method] = {"order": facts["order"], "errors": bench.errors()}
    for method in METHODS:
        out[method]["seconds"] = statistics.median(times[method])
    return out | {"treecode_over_fmm": out["treecode"]["seconds"] / out["fmm"]["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("steps")
    parser.add_argument("--json", required=True)
    parser.add_argument("--softening", type=float, default=0.01)
    parser.add_argument("--n", default="100000,1000000", metavar="N,N,…")
    parser.add_argument("--tolerances", default="1e-2,1e-3,1e-4", metavar="T,T,…")
    parser.add_argument("--sampled", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about)
    about |= {"command": "bench/treecode_methods.py build/farfield build/bench/bench_steps", "threads": task.threads, "softening": task.softening,
              "repeats": 3 * task.rounds, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        for n in map(int, task.n.split(",")):
            for cloud, points in CLOUDS.items():
                bench = Bench(task, pathlib.Path(folder), points(n))
                for tolerance in map(float, task.tolerances.split(",")):
                    about["rows"].append(row(bench, cloud, n, tolerance, task.rounds))
                    print(json.dumps(about["rows"][-1]), flush=True)
                    pathlib.Path(task.json).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
