#!/usr/bin/env python3
"""Runs the long examples whole and writes down what they reached: `bench/examples.py build/farfield --json FILE`; needs h5py and NumPy.

17_galaxies.toml and 19_plasma.toml with 19_screening.py. A finished run in --folder is taken as it is: `farfield run` leaves it there otherwise.
"""
import argparse
import json
import pathlib
import runpy
import subprocess

import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def run(task, example):
    name = next(line for line in (EXAMPLES / example).read_text(encoding="utf-8").splitlines() if line.startswith("name")).split('"')[1]
    folder = task.folder / name
    if not (folder / "summary.json").exists():
        subprocess.run([task.program, "run", EXAMPLES / example, "--out", folder, "--quiet"], check=True)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    if not summary["finished"]:
        raise SystemExit(f"{folder} holds a run that is not finished: farfield run … --restart")
    process = summary["this_process"]
    rows = np.genfromtxt(folder / "diagnostics.csv", delimiter=",", names=True)
    errors = summary["force"]["largest_relative_errors"]
    return folder, {"example": example, "bodies": summary["bodies"], "steps": summary["steps"], "method": summary["force"]["method"],
                    "order": summary["force"].get("order", 0), "threads": summary["backend"]["threads"], "precision": summary["backend"]["precision"],
                    "steps_of_this_process": process["steps"], "seconds": process["seconds"], "force_seconds": process["force_seconds"],
                    "output_seconds": process["output_seconds"], "largest_acceleration_error": errors["acceleration"],
                    "largest_potential_error": errors["potential"], "largest_energy_error": float(np.abs(rows["relative_energy_error"]).max())}


def screening(folder):
    script = runpy.run_path(str(EXAMPLES / "19_screening.py"))
    rows, temperature, strength, facts = script["measure"](folder, 10.0, 6)
    debye, uncertainty = script["debye_number"](rows, facts["softening"])
    return {"temperature": temperature, "debye_number": debye, "uncertainty": uncertainty, "of_theory": float(np.sqrt(4 * np.pi * strength)),
            "largest_deviation": float(np.abs((rows[:, 1] - rows[:, 3]) / rows[:, 2]).max()),
            "rows": [dict(zip(("k", "measured", "error", "theory"), map(float, row))) for row in rows]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."), help="where the runs are or will be")
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about) | {"command": "bench/examples.py build/farfield", "repeats": 1, "runs": []}
    _, found = run(task, "17_galaxies.toml")
    about["runs"].append(found)
    plasma, found = run(task, "19_plasma.toml")
    about["runs"].append(found)
    about["screening"] = screening(plasma)
    pathlib.Path(task.json).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
