#!/usr/bin/env python3
"""Times a simulation by fast multipole sums, or with --method treecode by the tree code, on 1, 2, 4, … ranks of one thread, and tells the memory that ranks
take: `bench/ranks_runs.py build/farfield --most 16 --json FILE`; needs mpirun.

A Plummer cluster, whose bodies stand in no order at first. `evaluation` is the time that the program reports for forces, with all that ranks send for
them, over the evaluations; `run` that of the whole run, with the bodies that are made on each rank and what is written. `first` and `other` are the largest
resident sets of rank 0, which has all bodies for the files, and of any other, in bytes. --before PATH: the same by another build of the program, in turns.
Rows have the medians of --rounds executions.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from ranks import MPI, WATCH

CASE = """
[initial]
kind = "plummer"
n = {n}
[force]
method = "{method}"
softening = 0.01
order = {order}
[time]
step = 0.001
end = {end}
[output]
diagnostics_every = 100.0
snapshot_every = 100.0
pictures = false
"""


def measured(program, case, ranks, folder):
    for old in folder.glob("rss*"):
        old.unlink()
    command = ["mpirun", "-n", str(ranks), "--bind-to", "none", sys.executable, "-c", WATCH, str(folder / "rss"), program, "run", str(case), "--out",
               str(folder / "out"), "--threads", "1", "--quiet"]
    subprocess.run(command, check=True, env=os.environ | MPI, stdout=subprocess.DEVNULL)
    told = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["this_process"]
    subprocess.run(["rm", "-r", str(folder / "out")], check=True)
    memory = [1024 * int((folder / f"rss{rank}").read_text()) for rank in range(ranks)]
    return {"evaluation": told["force_seconds"] / (told["steps"] + 1), "run": told["seconds"], "first": memory[0], "other": max(memory[1:], default=0)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--before", help="another build, measured in turns")
    parser.add_argument("--n", type=int, default=4_000_000)
    parser.add_argument("--method", choices=("fmm", "treecode"), default="fmm")
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--most", type=int, default=2, help="ranks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    programs = {"now": options.program} | ({"before": options.before} if options.before else {})
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        case = folder / "case.toml"
        case.write_text(CASE.format(n=options.n, method=options.method, order=options.order, end=0.001 * options.steps), encoding="utf-8")
        ranks = 1
        while ranks <= options.most:
            found = {key: [] for key in programs}
            for _ in range(options.rounds):
                for key, program in programs.items():
                    found[key].append(measured(program, case, ranks, folder))
            row = {"ranks": ranks}
            for key, values in found.items():
                row[key] = {what: statistics.median(one[what] for one in values) for what in values[0]}
            for key in programs:
                row[key]["speed_up"] = (rows or [row])[0][key]["evaluation"] / row[key]["evaluation"]
            rows.append(row)
            print(row, flush=True)
            if options.json:  # after each row: what is there stays if a later one is given up
                method = "" if options.method == "fmm" else f" --method {options.method}"
                command = f"bench/ranks_runs.py build/farfield{method} --n {options.n} --order {options.order} --steps {options.steps} --most {options.most} --rounds {options.rounds}"
                options.json.write_text(json.dumps({"command": command, "repeats": options.rounds, "rows": rows}, indent=1) + "\n", encoding="utf-8")
            ranks *= 2


if __name__ == "__main__":
    main()
