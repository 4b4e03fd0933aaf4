#!/usr/bin/env python3
"""Times fast multipole sums beside exafmm-t, FMM3D and PVFMM: `bench/fmm_peers.py build/farfield build/bench/bench_steps FOLDER --json FILE`; needs NumPy.

FOLDER holds exafmm_float, exafmm_double, fmm3d, pvfmm_float and pvfmm_double, made from bench/peers/*.cpp, which say how. The points are those of
bench/fmm.py: charges in [-1, 1] in a cube, potential and field at the charges. A time counts everything from the points to the results in their order, but for
tables that depend on the order alone; each program repeats the sum in one process, and its first time, in which it makes its buffers, is left out where there
are several. Errors are relative ones of all targets in the L2 norm, from those at --sampled
targets against exact sums. For each number of digits and each seed the programs follow each other; a row has the medians over the seeds. Of the peers the
fastest counts whose field has the digits.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import fmm
import numpy as np

# Settings that reach the digits in the least time, as found by trying orders and leaves: program, its name, accuracy, leaf, repeats.
PEERS = {3: [("exafmm_float", "exafmm-t", "3", "400", 4), ("exafmm_float", "exafmm-t", "4", "400", 4), ("pvfmm_float", "PVFMM", "4", "200", 4), ("fmm3d", "FMM3D", "1e-3", "400", 1)],
         6: [("exafmm_double", "exafmm-t", "6", "400", 4), ("exafmm_double", "exafmm-t", "7", "400", 4), ("pvfmm_double", "PVFMM", "7", "800", 4),
             ("pvfmm_double", "PVFMM", "8", "800", 4), ("fmm3d", "FMM3D", "1e-6", "0", 1)],
         9: [("pvfmm_double", "PVFMM", "10", "800", 4), ("pvfmm_double", "PVFMM", "11", "800", 4), ("fmm3d", "FMM3D", "1e-9", "0", 1)],
         12: [("pvfmm_double", "PVFMM", "16", "800", 4), ("fmm3d", "FMM3D", "1e-12", "3000", 1)]}


class Points:
    """Those of a seed, and exact sums at some of them."""

    def __init__(self, task, folder, seed):
        self.folder = folder
        charges = fmm.points("cube", task.n, seed)
        np.save(folder / "cube.npy", charges)
        charges.tofile(folder / "points.bin")
        self.rows = np.random.default_rng(seed).choice(task.n, task.sampled, replace=False)
        np.save(folder / "targets.npy", charges[self.rows, :3])
        subprocess.run([task.program, "sum", "--kernel", "coulomb", "--method", "direct", "--precision", "double", "--coincident", "skip", "--sources",
                        folder / "cube.npy", "--targets", folder / "targets.npy", "--out", folder / "exact.npy", "--quiet"], check=True)
        self.exact = np.load(folder / "exact.npy")

    def errors(self, results):
        """Of all targets: few of them have much of the field's norm, which is taken from the results, and not more of the errors than others."""
        off = results[self.rows] - self.exact

        def relative(columns):
            scale = np.sqrt(len(self.rows) / len(results))
            return float(np.linalg.norm(off[:, columns]) / (scale * np.linalg.norm(results[:, columns])))

        return {"error_potential": relative(slice(0, 1)), "error_field": relative(slice(1, 4))}


def run_peer(task, points, program, accuracy, leaf, repeats):
    command = [task.peers / program, points.folder / "points.bin", points.folder / "out.bin", accuracy, leaf, str(repeats)]
    threads = str(task.threads)
    # OpenBLAS has one thread in each of theirs; 0.3.21 takes processors that it does not know for ones without AVX-512
    environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": "1"} | dict(entry.split("=", 1) for entry in task.environment)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=task.peers)
    seconds = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))["seconds"]
    return {"seconds": statistics.median(seconds[1:] or seconds)} | points.errors(np.fromfile(points.folder / "out.bin").reshape(-1, 4))


def run_farfield(task, points, way):
    options = {"method": "fmm", "kernel": "coulomb", "precision": "double", "threads": task.threads}
    options |= {key.removeprefix("--"): int(value) if value.isdigit() else value for key, value in zip(way[::2], way[1::2])}
    command = [task.steps, points.folder / "points.bin", points.folder / "out.bin", json.dumps(options), str(task.repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {"seconds": statistics.median(json.loads(done.stdout)["seconds"])} | points.errors(np.fromfile(points.folder / "out.bin").reshape(-1, 4))


def measure_seed(task, points, add):
    for digits in task.digits:
        for program, name, accuracy, leaf, repeats in PEERS[digits]:
            add((digits, name, f"{program}, accuracy {accuracy}, leaf {leaf}"), run_peer(task, points, program, accuracy, leaf, repeats))
        way = fmm.WAYS[digits]
        add((digits, "Farfield", " ".join(way)), run_farfield(task, points, way))


def rows_of(found):
    rows = []
    for (digits, code, options), runs in found.items():
        row = {"digits": digits, "code": code, "options": options}
        rows.append(row | {key: statistics.median(run[key] for run in runs) for key in runs[0]})
    for row in rows:
        if row["code"] == "Farfield":
            peers = [other for other in rows if other["digits"] == row["digits"] and other["code"] != "Farfield" and other["error_field"] <= 10.0**-row["digits"]]
            fastest = min(peers, key=lambda other: other["seconds"])
            row |= {"fastest_peer": fastest["code"], "of_fastest_peer": row["seconds"] / fastest["seconds"]}
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("steps")
    parser.add_argument("peers", type=pathlib.Path)
    parser.add_argument("--json", required=True)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--digits", type=int, nargs="+", default=list(PEERS))
    parser.add_argument("--repeats", type=int, default=5, help="of Farfield")
    parser.add_argument("--sampled", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--environment", action="append", default=[], metavar="KEY=VALUE", help="of the peers")
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine, versions of the peers")
    task = parser.parse_args()
    task.peers = task.peers.resolve()
    about = dict(entry.split("=", 1) for entry in task.about)
    about |= {"command": f"bench/fmm_peers.py build/farfield build/bench/bench_steps PEERS --n {task.n} --seeds {task.seeds}", "n": task.n, "threads": task.threads, "repeats": task.repeats}
    found = {}

    def add(key, run):
        found.setdefault(key, []).append(run)
        print(key, run, flush=True)

    with tempfile.TemporaryDirectory() as name:
        for seed in range(1, task.seeds + 1):
            measure_seed(task, Points(task, pathlib.Path(name), seed), add)
            pathlib.Path(task.json).write_text(json.dumps(about | {"rows": rows_of(found)}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
