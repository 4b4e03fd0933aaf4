#!/usr/bin/env python3
"""Times sums over a periodic cube by `fmm` and `pme`, and by `fmm` over the same points in open space: `bench/boxes.py build/farfield --json FILE`; needs
NumPy.

Random charges ±1 in turn, potential and field, on CPUs, or with --device cuda on a GPU. Methods take turns, --rounds times, a process for each sum. Before each a process fills memory and
gives it back: a virtual machine that has to ask its host for memory waits for it. Rows have medians of the sum with its tree or mesh and what is made once
(`seconds`), of the sum alone (`again`: the fastest of three over the same points), and the errors that each sum tells of itself.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

FILL = "import numpy; numpy.ones(200_000_000)"
BOX = ["--period", "1", "--background", "uniform"]
WAYS = {"fmm": ["--method", "fmm", *BOX], "pme": ["--method", "pme", *BOX], "open": ["--method", "fmm"]}
TOLERANCES, SOFTENINGS = ("1e-3", "1e-4", "1e-5", "1e-6"), ("0", "0.001", "0.03")


def once(task, folder, way, options, repeat):
    subprocess.run([sys.executable, "-c", FILL], check=True)
    command = [task.program, "sum", "--kernel", "coulomb", "--sources", folder / "s.npy", "--out", folder / "o.npy", "--json", folder / "r.json", "--device", task.device,
               "--threads", task.threads, "--repeat", repeat, "--quiet", *WAYS[way], *options]
    subprocess.run([str(word) for word in command], check=True)
    return json.loads((folder / "r.json").read_text(encoding="utf-8"))


def row(task, folder, tolerance, softening):
    options = ["--tolerance", tolerance, *(["--softening", softening] if softening != "0" else [])]
    found = {way: [] for way in WAYS}
    for _ in range(task.rounds):
        for way, runs in found.items():
            again = min(once(task, folder, way, options, 3)["compute_seconds_of_each"])
            report = once(task, folder, way, options, 1)
            stages = report["stages"]
            seconds = stages["prepare_seconds"] + report["compute_seconds"] + stages["finish_seconds"]
            runs.append({"seconds": seconds, "again": again, "errors": [error["relative"] for error in report["errors"]]})
    out = {"tolerance": float(tolerance), "softening": float(softening)}
    for way, runs in found.items():
        out[way] = {key: statistics.median(run[key] for run in runs) for key in ("seconds", "again")} | {"errors": runs[0]["errors"]}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--points", type=int, default=1000000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--softenings", default=",".join(SOFTENINGS))
    parser.add_argument("--tolerances", default=",".join(TOLERANCES))
    parser.add_argument("--commit", default="")
    parser.add_argument("--machine", default="")
    task = parser.parse_args()
    task.program = task.program.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        points = np.random.default_rng(1).random((task.points, 3))
        np.save(folder / "s.npy", np.column_stack([points, np.where(np.arange(task.points) % 2 == 0, 1.0, -1.0)]))
        rows = [row(task, folder, tolerance, softening) for softening in task.softenings.split(",") for tolerance in task.tolerances.split(",")]
    program, device = ("build/farfield", []) if task.device == "cpu" else ("build-cuda/farfield", ["--device", task.device])
    result = {"commit": task.commit, "machine": task.machine, "command": " ".join([f"bench/boxes.py {program} --softenings {task.softenings} --tolerances {task.tolerances}", *device, "--json FILE"]), "repeats": task.rounds,
              "points": task.points, "threads": task.threads, "rows": rows}
    task.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
