#!/usr/bin/env python3
"""Checks what the cost table decides: `bench/choices.py build/farfield --json FILE [--table TUNED.toml]`.

Charges in a cube, potential and field at the charges. For each number of points, tolerance and precision the sums of `direct` and
`fmm` are timed in turn, --repeat times over, and `auto` is asked what it takes: `behind` is the time of its choice over that of the
better one. With --table, `fmm` is timed with the shipped table and with that one, as `farfield tune --out` wrote it: `untuned` is
the ratio of the two. Times are medians of the whole sum (tree, translations and all; reading, writing and the comparison apart) in a
fresh process. Exits with 1 if `behind` is above 1.15, `untuned` above 1.2, or `fmm` the slower at 3 digits from 10,000 points on.
"""
import argparse
import array
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

OUT_OF_REACH = 1  # exit status of a sum that misses its tolerance
MOST_DIRECT = 150_000  # points: beyond, the direct sum is taken for proportional to their square


def write_charges(path, n):
    source = random.Random(1)
    values = array.array("d")
    for _ in range(n):
        values.extend((source.random(), source.random(), source.random(), source.uniform(-1, 1)))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, 4), }}".encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes())


class OutOfReach(Exception):
    """A tolerance that a precision has too few digits for."""


class Bench:
    def __init__(self, task, folder):
        self.task, self.folder = task, folder
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "none")}
        self.environment.pop("FARFIELD_COST_TABLE", None)

    def report(self, n, tolerance, precision, method, table=None):
        points = self.folder / f"{n}.npy"
        if not points.exists():
            write_charges(points, n)
        path = self.folder / "report.json"
        threads = ["--threads", str(self.task.threads)] if self.task.threads else []
        done = subprocess.run([self.task.program, "sum", "--kernel", "coulomb", "--method", method, "--device", "cpu", "--sources", points, "--out",
                               self.folder / "out.npy", "--json", path, "--tolerance", tolerance, "--precision", precision, "--quiet", *threads],
                              check=False, env={**self.environment, **({"FARFIELD_COST_TABLE": table} if table else {})})
        if done.returncode == OUT_OF_REACH:
            raise OutOfReach
        done.check_returncode()
        return json.loads(path.read_text(encoding="utf-8"))

    def seconds(self, *what, **where):
        found = self.report(*what, **where)
        stages = found["stages"]
        return stages["prepare_seconds"] + found["compute_seconds"] + stages["finish_seconds"]

    def row(self, n, tolerance, precision):
        small = min(n, MOST_DIRECT)
        times = {"direct": [], "fmm": [], "tuned": []}
        ways = {"direct": lambda: self.seconds(small, "0.9", precision, "direct") * (n / small) ** 2,
                "fmm": lambda: self.seconds(n, tolerance, precision, "fmm")}
        if self.task.table:
            ways["tuned"] = lambda: self.seconds(n, tolerance, precision, "fmm", table=self.task.table)
        names = list(ways)
        for k in range(self.task.repeat):
            for name in names[k % len(names):] + names[:k % len(names)]:
                times[name].append(ways[name]())
                if name == "direct":
                    ways["fmm"]()  # a sum can take longer right after a long one: this one does not count
        direct, fmm = (statistics.median(times[name]) for name in ("direct", "fmm"))
        chosen = self.report(n, tolerance, precision, "auto")
        row = {"n": n, "tolerance": float(tolerance), "precision": precision, "direct_seconds": direct, "fmm_seconds": fmm,
               "order": self.report(n, tolerance, precision, "fmm")["fmm"]["order"], "auto": chosen["method"],
               "reason": chosen["method_reason"], "behind": (fmm if chosen["method"] == "fmm" else direct) / min(direct, fmm)}
        if self.task.table:
            row["tuned_seconds"] = statistics.median(times["tuned"])
            row["untuned"] = statistics.median(a / b for a, b in zip(times["fmm"], times["tuned"]))
        return row


def faults(row):
    if row["behind"] > 1.15:
        yield f"auto takes {row['auto']}, {row['behind']:.2f} times the better one"
    if row.get("untuned", 0) > 1.2:
        yield f"the shipped table costs {row['untuned']:.2f} times the tuned one"
    if row["tolerance"] == 1e-3 and row["n"] >= 10_000 and row["fmm_seconds"] > row["direct_seconds"]:
        yield "fmm is slower than direct"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--table", help="a tuned table, to compare with the shipped one")
    parser.add_argument("--n", default="3000,5000,10000,20000,100000,1000000")
    parser.add_argument("--tolerance", default="1e-3,1e-6,1e-9", help="float stops at 1e-3, mixed at 1e-6")
    parser.add_argument("--precision", default="float,mixed,double")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    least = {"float": 1e-3, "mixed": 1e-6, "double": 0.0}
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(task, pathlib.Path(name))
        for n in map(int, task.n.split(",")):
            for precision in task.precision.split(","):
                for tolerance in task.tolerance.split(","):
                    if float(tolerance) < least[precision]:
                        continue
                    try:
                        row = bench.row(n, tolerance, precision)
                    except OutOfReach:
                        print(f"{n:8} {precision:6} {tolerance:5}  out of reach", flush=True)
                        continue
                    rows.append(row)
                    print(f"{n:8} {precision:6} {tolerance:5}  direct {row['direct_seconds']:.4g} s  fmm {row['fmm_seconds']:.4g} s  p = {row['order']:2}  "
                          f"auto {row['auto']:6} {row['behind']:.2f}  untuned {row.get('untuned', float('nan')):.2f}  {row['reason']}", flush=True)
                    for fault in faults(row):
                        wrong += 1
                        print(f"         {fault}", flush=True)
    about = dict(entry.split("=", 1) for entry in task.about)
    about["command"] = f"bench/choices.py build/farfield --repeat {task.repeat}" + (" --table tuned.toml" if task.table else "")
    about["repeats"] = task.repeat
    pathlib.Path(task.json).write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} choices, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
