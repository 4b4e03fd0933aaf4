#!/usr/bin/env python3
"""Times the ways of the fast Gauss transform beside each other: `bench/gauss_ways.py build/farfield --json FILE`; needs numpy.

Points in the unit cube, evenly spread or in five normal clouds of width 0.02, positive weights, potentials at the points themselves, one
thread. A row has the seconds of each way (prepared points, the fastest of --repeat sums, results written; files and comparisons apart), 0
where it ended with an error or a run took longer than --limit for each repeat and one more, the way that `auto` took, and errors over the
largest value. Clusters are left out below four dimensions.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy as np

WAYS = ("grid", "pairs", "clusters", "boxes")


def points_of(layout, d, n):
    source = np.random.default_rng(d)
    x = source.random((n, d))
    if layout == "clustered":
        x = source.random((5, d))[source.integers(5, size=n)] + 0.02 * source.standard_normal((n, d))
    return np.column_stack([x, source.uniform(0.5, 1.5, n)])


class Runs:
    def __init__(self, task, folder):
        self.task, self.folder = task, folder

    def one(self, sigma, eps, strategy):
        report = self.folder / "report.json"
        command = [self.task.program, "sum", "--kernel", "gauss", "--sigma", sigma, "--sources", self.folder / "points.npy", "--output", "potential", "--out",
                   self.folder / "out.npy", "--json", report, "--quiet", "--method", "fgt", "--tolerance", eps, "--strategy", strategy, "--threads", 1,
                   "--precision", "double", "--repeat", self.task.repeat]
        try:
            done = subprocess.run(list(map(str, command)), capture_output=True, timeout=self.task.limit * (self.task.repeat + 1), check=False)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            return None
        found = json.loads(report.read_text(encoding="utf-8"))
        stages = found["stages"]
        found["seconds"] = stages["prepare_seconds"] + found["compute_seconds"] + stages["finish_seconds"]
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
    command = f"bench/gauss_ways.py build/farfield --n {task.n} --d {','.join(map(str, task.d))} --repeat {task.repeat} --limit {task.limit:g}"
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
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a sum")
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for d, layout in itertools.product(task.d, task.layouts):
            np.save(folder / "points.npy", points_of(layout, d, task.n))
            for sigma, eps in itertools.product(task.sigmas, task.eps):
                rows.append(Runs(task, folder).row(layout, d, sigma, eps))
                print(" ".join(f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}" for key, value in rows[-1].items() if key != "about_boxes"),
                      flush=True)
                write(task, rows)


if __name__ == "__main__":
    main()
