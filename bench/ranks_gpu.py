#!/usr/bin/env python3
"""Times sums and simulations on two ranks with a GPU each beside one process on one GPU: `bench/ranks_gpu.py build-cuda/farfield --json FILE`; needs
NumPy, mpirun and two GPUs.

Rows of sums have the fastest of --repeat executions, points already on the GPU's host. Rows of simulations have steps a second of a Plummer cluster, or of a
plasma in a periodic box, ε = 0.01, of the GPU's own clock over the longer of two runs (`steps`), and by the clock on the wall from the difference of the two, where that is more than a second
(`steps_by_wall`), so that the start of a run does not count; `both` is one process with both GPUs. `same` says whether ranks left the bits of one GPU.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
WAYS = {"one": ([], "cuda:0"), "both": ([], "cuda:0,1"), "ranks": (["mpirun", "--bind-to", "none", "-n", "2"], "cuda")}
COULOMB = ["--kernel", "coulomb"]
GAUSS = ["--kernel", "gauss"]
VORTICES = ["--kernel", "vortex2d"]
BOX = ["--period", "1", "--background", "uniform"]
# name, points, separate targets, options
SUMS = [
    ("direct-targets", 1000000, True, [*COULOMB, "--precision", "float", "--method", "direct"]),
    ("treecode-targets", 1000000, True, [*COULOMB, "--method", "treecode", "--tolerance", "1e-3"]),
    ("treecode", 1000000, False, [*COULOMB, "--method", "treecode", "--tolerance", "1e-3"]),
    ("treecode-large", 10000000, False, [*COULOMB, "--method", "treecode", "--tolerance", "1e-3"]),
    ("fmm-large", 10000000, False, [*COULOMB, "--method", "fmm", "--order", "12", "--precision", "mixed"]),
    ("fmm-targets", 1000000, True, [*COULOMB, "--method", "fmm", "--order", "12", "--precision", "mixed"]),
    ("gauss-direct", 1000000, False, [*GAUSS, "--sigma", "0.1", "--method", "direct", "--precision", "float"]),
    ("gauss-pairs", 10000000, False, [*GAUSS, "--sigma", "0.01", "--method", "fgt", "--strategy", "pairs", "--tolerance", "1e-4"]),
    ("pme", 1000000, False, [*COULOMB, "--method", "pme", "--tolerance", "1e-4", *BOX]),
    ("ewald", 100000, False, [*COULOMB, "--method", "ewald", "--tolerance", "1e-4", *BOX]),
    ("pme-targets", 1000000, True, [*COULOMB, "--method", "pme", "--tolerance", "1e-4", *BOX]),
    ("box-fmm", 1000000, False, [*COULOMB, "--method", "fmm", "--tolerance", "1e-4", *BOX]),
    ("box-fmm-large", 4000000, False, [*COULOMB, "--method", "fmm", "--tolerance", "1e-4", *BOX]),
    ("box-direct", 100000, False, [*COULOMB, "--method", "direct", "--tolerance", "1e-4", *BOX]),
    ("plane-fmm", 1000000, False, [*VORTICES, "--method", "fmm", "--tolerance", "1e-4"]),
    ("plane-fmm-large", 10000000, False, [*VORTICES, "--method", "fmm", "--tolerance", "1e-4"]),
]
PLASMA = 'kernel = "coulomb"\nperiod = [4.0, 4.0, 4.0]\n'  # in Debye lengths, of the strengths that `run` gives
# name, bodies, keys of [force], steps of the two runs
RUNS = [
    ("direct-small", 65536, 'method = "direct"\nprecision = "float"', (200, 2000)),
    ("direct", 262144, 'method = "direct"\nprecision = "float"', (40, 300)),
    ("direct-double", 262144, 'method = "direct"\nprecision = "double"', (10, 60)),
    ("treecode", 1000000, 'method = "treecode"\norder = 3\nprecision = "float"', (20, 120)),
    ("fmm-3", 1000000, 'method = "fmm"\norder = 3\nprecision = "float"', (100, 1100)),
    ("fmm-6", 1000000, 'method = "fmm"\norder = 6\nprecision = "mixed"', (100, 700)),
    ("pme", 1000000, PLASMA + 'method = "pme"\ntolerance = 1e-3', (20, 220)),
    ("box-fmm", 1000000, PLASMA + 'method = "fmm"\ntolerance = 1e-3', (10, 60)),
    ("box-fmm-large", 4000000, PLASMA + 'method = "fmm"\ntolerance = 1e-3', (5, 35)),
    ("pme-large", 4000000, PLASMA + 'method = "pme"\ntolerance = 1e-3', (5, 55)),
]
STEP = 2.0**-10


class Bench:
    def __init__(self, task, folder):
        self.task, self.folder = task, folder

    def farfield(self, way, words):
        launcher, device = WAYS[way]
        command = [*launcher, self.task.program, *words, "--device", device, "--quiet"]
        subprocess.run([str(word) for word in command], check=True, env=os.environ | MPI, timeout=300)

    def sum_row(self, name, n, separate, options):
        generator = np.random.default_rng(1)
        dimension = 2 if options[:2] == VORTICES else 3
        np.save(self.folder / "s.npy", np.column_stack([generator.random((n, dimension)), generator.standard_normal(n)]))
        np.save(self.folder / "t.npy", generator.random((n, dimension)))
        targets = ["--targets", self.folder / "t.npy"] if separate else []
        row, sums = {"sum": name, "n": n, "options": " ".join(options)}, {}
        for way in ("one", "ranks"):
            out = self.folder / f"{way}.npy"
            self.farfield(way, ["sum", "--sources", self.folder / "s.npy", *targets, *options, "--out", out, "--json", self.folder / "r.json",
                                "--repeat", self.task.repeat])
            row[way] = min(json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["compute_seconds_of_each"])
            sums[way] = np.load(out)
        apart = np.abs(sums["ranks"] - sums["one"]).max() / np.abs(sums["one"]).max()
        return row | {"speedup": row["one"] / row["ranks"], "same": bool((sums["one"] == sums["ranks"]).all()), "apart": float(apart)}

    def run(self, way, n, force, steps):
        case = self.folder / "case.toml"
        kind = f'kind = "plasma"\nparticle_charge = {math.sqrt(64.0 / (4.0 * math.pi * n))}' if PLASMA in force else 'kind = "plummer"'
        case.write_text(f'name = "bench"\n[initial]\n{kind}\nn = {n}\nseed = 1\n[force]\n{force}\nsoftening = 0.01\n[time]\nstep = {STEP}\n'
                        f"end = {steps * STEP}\n[output]\npictures = false\n", encoding="utf-8")
        out = self.folder / way
        shutil.rmtree(out, ignore_errors=True)
        self.farfield(way, ["run", case, "--out", out])
        return json.loads((out / "summary.json").read_text(encoding="utf-8"))

    def run_row(self, name, n, force, steps):
        row, last = {"run": name, "bodies": n, "force": force.replace("\n", ", ")}, {}
        for way in WAYS:
            if way == "both" and ("treecode" in force or PLASMA in force):
                continue
            short, long = (self.run(way, n, force, count) for count in steps)
            here, before = long["this_process"], short["this_process"]
            row[way] = {"steps": steps[1] / here["force_seconds"], "energy_error": long["energy_error"]}
            if (longer := here["seconds"] - before["seconds"]) > 1.0:
                row[way]["steps_by_wall"] = (steps[1] - steps[0]) / longer
            last[way] = sorted((self.folder / way).glob("snapshot_*"))[-1].read_bytes()
        return row | {"speedup": row["ranks"]["steps"] / row["one"]["steps"], "same": last["one"] == last["ranks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="names of rows, separated by commas")
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    names = task.only.split(",") if task.only else []
    command = "bench/ranks_gpu.py build-cuda/farfield" + (f" --only {task.only}" if task.only else "")
    found = dict(entry.split("=", 1) for entry in task.about) | {"command": command, "repeats": task.repeat, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(task, pathlib.Path(folder))
        for row_of, cases in ((bench.run_row, RUNS), (bench.sum_row, SUMS)):
            for case in cases:
                if names and case[0] not in names:
                    continue
                found["rows"].append(row_of(*case))
                print(json.dumps(found["rows"][-1]), flush=True)
                pathlib.Path(task.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
