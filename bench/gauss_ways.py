#!/usr/bin/env python3
"""Times the ways of the fast Gauss transform beside each other: `bench/gauss_ways.py build/farfield --json FILE`.

Points in the unit cube, evenly spread or in five normal clouds of width 0.02, positive weights, potentials at the points themselves, one
thread. A row has the seconds of each way for prepared points, of the fastest of --repeat sums, and those to prepare them; files and comparisons apart; 0
where it ended with an error or the process took more than --limit of a core, with files and comparisons, the way that `auto` took, and errors
over the largest value. Clusters are left out below four dimensions.
"""
import argparse
import itertools
import json
import pathlib
import random
import resource
import struct
import subprocess
import tempfile

WAYS = ("grid", "pairs", "clusters", "boxes")


def write_points(path, layout, d, n):
    source = random.Random(d)
    centres = [[source.random() for _ in range(d)] for _ in range(5)]
    numbers = []
    for _ in range(n):
        centre = source.choice(centres)
        numbers += [x + source.gauss(0, 0.02) for x in centre] if layout == "clustered" else [source.random() for _ in range(d)]
        numbers.append(source.uniform(0.5, 1.5))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {d + 1}), }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}d", *numbers))


class Runs:
    def __init__(self, task, folder):
        self.task, self.folder = task, folder

    def one(self, sigma, eps, strategy):
        report = self.folder / "report.json"
        command = [*self.task.before, self.task.program.resolve(), "sum", "--kernel", "gauss", "--sigma", sigma, "--sources", self.folder / "points.npy", "--output", "potential", "--out",
                   self.folder / "out.npy", "--json", report, "--quiet", "--method", "fgt", "--tolerance", eps, "--strategy", strategy, "--threads", 1,
                   "--precision", "double", "--repeat", self.task.repeat]
        seconds = self.task.limit
        done = subprocess.run(list(map(str, command)), capture_output=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
        if done.returncode != 0:
            return None
        found = json.loads(report.read_text(encoding="utf-8"))
        found["seconds"] = found["compute_seconds"]
        return found

    def row(self, layout, d, sigma, eps):
        row = {"layout": layout, "d": d, "sigma": sigma, "eps": eps, "n": self.task.n}
        for way in self.task.ways:
            if way == "clusters" and d < 4:
                continue
            found = self.one(sigma, eps, way)
            row[way] = found["seconds"] if found else 0
            if found and way == "boxes":
                row["about_boxes"] = found["fgt"]
            if found:
                row[f"{way}_error"] = found["errors"][0]["relative"]
                row[f"{way}_prepares"] = found["stages"]["prepare_seconds"]
        found = self.one(sigma, eps, "auto")
        row["auto"] = found["seconds"] if found else 0
        row["taken"] = found["fgt"]["way"] if found else ""
        ended = [way for way in self.task.ways if row.get(way, 0) > 0]
        row["fastest"] = min(ended, key=row.get) if ended else ""
        return row


def write(task, rows):
    if not task.json:
        return
    about = dict(pair.split("=", 1) for pair in task.about)
    lists = " ".join(f"--{name} {','.join(map(str, getattr(task, name)))}" for name in ("d", "sigmas", "eps", "layouts"))
    command = f"bench/gauss_ways.py build/farfield --n {task.n} {lists} --repeat {task.repeat} --limit {task.limit}"
    task.json.write_text(json.dumps({**about, "command": command, "repeats": task.repeat, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--d", type=lambda text: list(map(int, text.split(","))), default=[1, 2, 3, 4, 5])
    parser.add_argument("--sigmas", type=lambda text: list(map(float, text.split(","))), default=[0.01, 0.05, 0.2, 1.0])
    parser.add_argument("--eps", type=lambda text: list(map(float, text.split(","))), default=[1e-3, 1e-6, 1e-9])
    parser.add_argument("--layouts", type=lambda text: text.split(","), default=["uniform", "clustered"])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--limit", type=int, default=60, help="seconds of a process")
    parser.add_argument("--before", type=str.split, default=[], help="what the program is started with")
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for d, layout in itertools.product(task.d, task.layouts):
            write_points(folder / "points.npy", layout, d, task.n)
            for sigma, eps in itertools.product(task.sigmas, task.eps):
                rows.append(Runs(task, folder).row(layout, d, sigma, eps))
                print(" ".join(f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}" for key, value in rows[-1].items() if key != "about_boxes"),
                      flush=True)
                write(task, rows)


if __name__ == "__main__":
    main()
