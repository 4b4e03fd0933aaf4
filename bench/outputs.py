#!/usr/bin/env python3
"""Times what a simulation writes: `bench/outputs.py build/farfield --device cuda --json FILE`.

A Plummer cluster of --n bodies by fast multipole sums of order 5 takes --steps steps: without a row of diagnostics but the first and the last, with a row
every ten steps, and with a snapshot and its picture every fifty. `run` is the time of the whole run, `steps` that of its steps with the forces, `outputs`
that of the files alone; on a GPU steps go on while files are written. --before PATH: the same by another build of the program, in turns. Rows have the
medians of --rounds executions.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

CASE = """
[initial]
kind = "plummer"
n = {n}
[force]
method = "fmm"
softening = 0.01
order = 5
[time]
step = 0.001
end = {end}
[output]
diagnostics_every = {row}
snapshot_every = {snapshot}
pictures = {pictures}
"""
NEVER = 100.0
KINDS = {"nothing": (NEVER, NEVER), "rows": (0.01, NEVER), "pictures": (NEVER, 0.05)}


def measured(program, device, case, folder):
    subprocess.run([program, "run", str(case), "--out", str(folder / "out"), "--device", device, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    told = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["this_process"]
    shutil.rmtree(folder / "out")
    return {"run": told["seconds"], "steps": told["force_seconds"], "outputs": told["output_seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--before", help="another build, measured in turns")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", required=True)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    programs = {"now": task.program} | ({"before": task.before} if task.before else {})
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        case = folder / "case.toml"
        for kind, (row, snapshot) in KINDS.items():
            case.write_text(CASE.format(n=task.n, end=0.001 * task.steps, row=row, snapshot=snapshot, pictures=str(kind == "pictures").lower()), encoding="utf-8")
            found = {which: [] for which in programs}
            for _ in range(task.rounds):
                for which, program in programs.items():
                    found[which].append(measured(program, task.device, case, folder))
            medians = {which: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for which, runs in found.items()}
            rows.append({"outputs": kind, "n": task.n, "steps": task.steps} | medians)
            print(kind, medians, flush=True)
    about = dict(entry.split("=", 1) for entry in task.about)
    command = f"bench/outputs.py build/farfield --device {task.device} --n {task.n} --steps {task.steps} --rounds {task.rounds}"
    found = about | {"command": command, "repeats": task.rounds, "rows": rows}
    pathlib.Path(task.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
