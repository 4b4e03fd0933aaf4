#!/usr/bin/env python3
"""Times sums on two ranks of one thread beside one process of two threads, and tells the memory that ranks take:
`bench/ranks.py build/farfield --json FILE` of fast multipole sums, with `--what others` of other methods; needs NumPy and mpirun.

Random charges in a cube or a Plummer sphere, potential and field. Rows of the file are dealt out to ranks in order: `scattered` ones are those of points
anywhere, `regions` those along a Morton curve, so that ranks have most of their points already. One process and two ranks take turns, --rounds times, each
with a run of three sums over the same points and then one of a single sum. Before each a process fills memory and gives it back: a virtual machine that has
to ask its host for memory waits for it. Rows have medians of the single sum with its tree (`seconds`), of its parts, and of the fastest of the three without
the tree (`again`). Memory is the largest resident set of any rank but 0, which reads and writes the files of all. Other methods sum over
points in a cube in any order, to 6 digits but for Ewald's, which takes 4.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
FILL = "import numpy; numpy.ones(200_000_000)"  # more than sums over a million points take, all ranks together
WATCH = "import os,resource,subprocess,sys; code=subprocess.run(sys.argv[2:]).returncode; open(sys.argv[1]+os.environ.get('OMPI_COMM_WORLD_RANK','0'),'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(code)"


def charges(shape, n):
    generator = np.random.default_rng(1)
    if shape == "cube":
        points = generator.random((n, 3))
    else:
        radius = np.minimum(20.0, 1.0 / np.sqrt(generator.random(n) ** (-2 / 3) - 1.0))
        directions = generator.normal(size=(n, 3))
        points = directions * (radius / np.linalg.norm(directions, axis=1))[:, None]
    return np.column_stack([points, generator.uniform(-1.0, 1.0, n)])


def spread(x):
    for shift, mask in ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F), (4, 0x10C30C30C30C30C3), (2, 0x1249249249249249)):
        x = (x | (x << np.uint64(shift))) & np.uint64(mask)
    return x


def along_curve(rows):
    points = rows[:, :3]
    low = points.min(axis=0)
    cells = np.minimum((points - low) / (points - low).max() * 2**21, 2**21 - 1).astype(np.uint64)
    keys = spread(cells[:, 0]) | spread(cells[:, 1]) << np.uint64(1) | spread(cells[:, 2]) << np.uint64(2)
    return rows[np.argsort(keys, kind="stable")]


class Bench:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, ranks, threads, repeat, options):
        subprocess.run([sys.executable, "-c", FILL], check=True)
        before = ["mpirun", "-n", str(ranks), sys.executable, "-c", WATCH, str(self.folder / "rss")] if ranks > 1 else [sys.executable, "-c", WATCH, str(self.folder / "rss")]
        command = [*before, self.program, "sum", "--sources", self.folder / "s.npy", "--out", self.folder / "o.npy",
                   "--json", self.folder / "r.json", "--threads", threads, "--device", "cpu", "--repeat", repeat, "--quiet", *options]
        subprocess.run([str(word) for word in command], check=True, env=os.environ | MPI)
        return json.loads((self.folder / "r.json").read_text(encoding="utf-8"))

    def memory(self, rank):
        return 1024 * int((self.folder / f"rss{rank}").read_text(encoding="utf-8"))


FMM = ["--kernel", "coulomb", "--method", "fmm"]
GAUSS = ["--kernel", "gauss", "--tolerance", "1e-6", "--method"]
PLANE = ["--kernel", "laplace2d", "--method", "fmm", "--tolerance", "1e-6"]
BOX = ["--kernel", "coulomb", "--period", "1", "--background", "uniform", "--method"]
# name, points, dimensions, options
OTHERS = [
    ("gauss-small-grid", 1000000, 3, [*GAUSS, "fgt", "--strategy", "grid", "--sigma", "0.05"]),
    ("gauss-large-grid", 1000000, 3, [*GAUSS, "fgt", "--strategy", "grid", "--sigma", "0.01"]),
    ("gauss-pairs", 1000000, 3, [*GAUSS, "fgt", "--strategy", "pairs", "--sigma", "0.005"]),
    ("gauss-clusters", 100000, 4, [*GAUSS, "fgt", "--strategy", "clusters", "--sigma", "0.2"]),
    ("gauss-direct", 50000, 3, [*GAUSS, "direct", "--sigma", "0.05"]),
    ("plane-fmm", 1000000, 2, PLANE),
    ("treecode", 300000, 3, ["--kernel", "coulomb", "--method", "treecode", "--tolerance", "1e-3"]),
    ("box-pme", 1000000, 3, [*BOX, "pme", "--tolerance", "1e-6"]),
    ("box-ewald", 100000, 3, [*BOX, "ewald", "--tolerance", "1e-4"]),
    ("box-fmm", 1000000, 3, [*BOX, "fmm", "--tolerance", "1e-6"]),
    ("box-direct", 30000, 3, [*BOX, "direct", "--tolerance", "1e-6"]),
]


def timed(report, again):
    stages = report["stages"]
    parts = {"tree": stages["prepare_seconds"], "sum": report["compute_seconds"], "results": stages["finish_seconds"]}
    return {"seconds": sum(parts.values()), "parts": parts, "again": min(again["compute_seconds_of_each"])}


def median_of(runs):
    middle = {key: statistics.median(run[key] for run in runs) for key in ("seconds", "again")}
    return middle | {"parts": {part: statistics.median(run["parts"][part] for run in runs) for part in runs[0]["parts"]}}


def compared(bench, task, options):
    one, two = [], []
    for _ in range(task.rounds):
        for found, ranks, threads in ((one, 1, 2), (two, 2, 1)):
            again = bench.run(ranks, threads, 3, options)
            found.append(timed(bench.run(ranks, threads, 1, options), again))
    one, two = median_of(one), median_of(two)
    return {"one": one, "two": two, "ratio": two["seconds"] / one["seconds"], "ratio_again": two["again"] / one["again"]}


def other_rows(bench, task):
    wanted = task.only.split(",") if task.only else [case[0] for case in OTHERS]
    for name, n, dimensions, options in OTHERS:
        if name not in wanted:
            continue
        generator = np.random.default_rng(1)
        np.save(bench.folder / "s.npy", np.column_stack([generator.random((n, dimensions)), generator.uniform(-1.0, 1.0, n)]))
        yield {"sum": name, "n": n, "options": " ".join(options)} | compared(bench, task, options)


def time_rows(bench, task):
    for shape in task.points.split(","):
        for place in ("scattered", "regions"):
            rows = charges(shape, task.n)
            np.save(bench.folder / "s.npy", rows if place == "scattered" else along_curve(rows))
            for name, options in (("3", ["--order", "4", "--precision", "float"]), ("6", ["--order", "13", "--precision", "mixed"])):
                yield {"points": shape, "place": place, "n": task.n, "digits": name} | compared(bench, task, [*FMM, *options])


def memory_rows(bench, task):
    np.save(bench.folder / "s.npy", charges("cube", task.most))
    for ranks in (1, 2, 4, 8):
        bench.run(ranks, 1, 1, [*FMM, "--order", "6", "--precision", "mixed"])
        yield {"n": task.most, "ranks": ranks, "bytes": bench.memory(0) if ranks == 1 else max(bench.memory(rank) for rank in range(1, ranks))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--what", choices=("fmm", "others"), default="fmm")
    parser.add_argument("--only", default="", help="of the other methods, names of sums separated by commas")
    parser.add_argument("--points", default="cube,plummer")
    parser.add_argument("--n", type=int, default=1000000)
    parser.add_argument("--most", type=int, default=8000000, help="points where memory is looked at")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(task.program, pathlib.Path(folder))
        rows = list(time_rows(bench, task) if task.what == "fmm" else other_rows(bench, task))
        memory = list(memory_rows(bench, task)) if task.what == "fmm" else []
    of_fmm = f"--n {task.n} --most {task.most}" if task.what == "fmm" else f"--what {task.what}" + (f" --only {task.only}" if task.only else "")
    command = f"bench/ranks.py build/farfield {of_fmm} --rounds {task.rounds}"
    found = about | {"command": command, "repeats": task.rounds, "rows": rows} | ({"memory": memory} if memory else {})
    pathlib.Path(task.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        name = row["sum"] if "sum" in row else f'{row["points"]} {row["place"]} {row["digits"]} digits'
        print(f'{name:44}: one process {row["one"]["seconds"]:.4f} s, two ranks {row["two"]["seconds"]:.4f} s: {row["ratio"]:.3f}; '
              f'again {row["one"]["again"]:.4f}, {row["two"]["again"]:.4f} s: {row["ratio_again"]:.3f}')
    for row in memory:
        print(f'{row["n"]} points on {row["ranks"]} ranks: {row["bytes"] / 1e6:.0f} MB')


if __name__ == "__main__":
    main()
