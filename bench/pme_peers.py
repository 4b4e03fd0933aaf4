#!/usr/bin/env python3
"""Times particle-mesh Ewald beside OpenMM's CPU platform: `bench/pme_peers.py build/farfield --json FILE`; needs NumPy and OpenMM.

N random charges ±1 in a cube, in turn. Both give forces; Farfield gives potentials too, in double, OpenMM in single precision. Errors are the
relative L2 error of the forces, against Farfield's Ewald sums to 1e-8 at all charges. Of each program the fastest settings count whose error is no more
than --error: of Farfield tolerances, of OpenMM cut-offs, its own error tolerances, and meshes
coarser than it takes for these; a row has Farfield at the tolerance --error as well. Then runs of
all alternate, --rounds times, and a row has the medians. Sorting points and neighbour lists are not counted in either program: charges stay where they
are.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

UNIT = 138.935457644  # of OpenMM's forces: kJ/mol nm for charges of 1
CUTOFFS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)  # nm, with 100 charges a cubic nm
COARSER = (1.0, 0.8, 0.65, 0.5)  # shares of OpenMM's own mesh along an axis
PEER_TOLERANCES = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)


class Farfield:
    def __init__(self, task, folder, points, charges):
        self.task, self.folder = task, folder
        np.save(folder / "s.npy", np.column_stack([points, charges]))

    def forces(self, tolerance, method="pme", repeat=1):
        """The seconds of each sum, the report, and the fields."""
        report, out = self.folder / "r.json", self.folder / "o.npy"
        command = [self.task.program, "sum", "--kernel", "coulomb", "--method", method, "--period", repr(self.task.side), "--sources", self.folder / "s.npy",
                   "--out", out, "--json", report, "--threads", self.task.threads, "--tolerance", tolerance, "--repeat", repeat]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        facts = json.loads(report.read_text(encoding="utf-8"))
        return facts["compute_seconds_of_each"], facts, np.load(out)[:, 1:4]


class OpenMM:
    def __init__(self, task, points, charges):
        self.task, self.points, self.charges = task, points, charges

    def context(self, cutoff, tolerance, pme=None):
        import openmm

        system = openmm.System()
        side = self.task.side
        system.setDefaultPeriodicBoxVectors((side, 0, 0), (0, side, 0), (0, 0, side))
        force = openmm.NonbondedForce()
        force.setNonbondedMethod(openmm.NonbondedForce.PME)
        force.setCutoffDistance(cutoff)
        force.setEwaldErrorTolerance(tolerance)
        if pme:
            force.setPMEParameters(*pme)
        force.setUseDispersionCorrection(False)
        for charge in self.charges:
            system.addParticle(1.0)
            force.addParticle(float(charge), 0.1, 0.0)
        system.addForce(force)
        platform = openmm.Platform.getPlatformByName("CPU")
        context = openmm.Context(system, openmm.VerletIntegrator(0.001), platform, {"Threads": str(self.task.threads)})
        context.setPositions(self.points)
        self.seconds(context)  # plans its transforms, makes neighbour lists
        alpha, *mesh = force.getPMEParametersInContext(context)
        return context, {"cutoff": cutoff, "tolerance": tolerance, "pme": [alpha, *mesh]}

    def seconds(self, context):
        start = time.perf_counter()
        state = context.getState(getForces=True)
        seconds = time.perf_counter() - start
        self.last = state
        return seconds

    def fields(self):
        forces = self.last.getForces(asNumpy=True)._value
        return forces / UNIT / self.charges[:, None]


def error_of(fields, exact):
    return float(np.linalg.norm(fields - exact) / np.linalg.norm(exact))


def fastest(candidates, most_error):
    within = [candidate for candidate in candidates if candidate["error"] <= most_error]
    return min(within, key=lambda candidate: candidate["seconds"]) if within else None


def row(task, folder, n):
    generator = np.random.default_rng(1)
    task.side = float(round((n / 100.0) ** (1 / 3), 6))
    points, charges = generator.random((n, 3)) * task.side, np.where(np.arange(n) % 2, 1.0, -1.0)
    ours, theirs = Farfield(task, folder, points, charges), OpenMM(task, points, charges)
    _, _, exact = ours.forces(1e-8, method="ewald")
    tried = []
    for factor in (1, 2, 3, 4, 6, 8):
        seconds, facts, fields = ours.forces(factor * task.error, repeat=3)
        tried.append({"tolerance": factor * task.error, "seconds": statistics.median(seconds), "error": error_of(fields, exact), "lattice": facts["lattice"]})
    of_peer = []
    for cutoff in CUTOFFS:
        if 2 * cutoff > task.side:
            continue
        for tolerance in PEER_TOLERANCES:
            kept = False
            pme = None
            for share in COARSER:
                context, settings = theirs.context(cutoff, tolerance, [pme[0], *(round(share * points) for points in pme[1:])] if pme else None)
                pme = pme or settings["pme"]
                seconds = min(theirs.seconds(context) for _ in range(3))
                of_peer.append(settings | {"seconds": seconds, "error": error_of(theirs.fields(), exact)})
                del context
                if of_peer[-1]["error"] > task.error:
                    break
                kept = True
            if kept:
                break
    peer, best = fastest(of_peer, task.error), fastest(tried, task.error)
    context, _ = theirs.context(peer["cutoff"], peer["tolerance"], peer["pme"])
    times = {"openmm": [], "farfield": [], "farfield_at_tolerance": []}
    passes = []
    for _ in range(task.rounds):
        times["openmm"] += [theirs.seconds(context) for _ in range(3)]
        times["farfield"] += ours.forces(best["tolerance"], repeat=3)[0]
        seconds, facts, _ = ours.forces(task.error, repeat=3)
        times["farfield_at_tolerance"] += seconds
        passes.append({entry["name"]: entry["seconds"] for entry in facts["passes"]})
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    return {
        "n": n,
        "openmm": peer | {"seconds": medians["openmm"]},
        "farfield": best | {"seconds": medians["farfield"]},
        "farfield_at_tolerance": tried[0] | {"seconds": medians["farfield_at_tolerance"],
                                             "passes": {name: statistics.median(of[name] for of in passes) for name in passes[0]}},
        "farfield_over_openmm": medians["farfield"] / medians["openmm"],
    }


def main():
    import openmm

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--error", type=float, default=1e-4)
    parser.add_argument("--n", default="100000", metavar="N,N,…")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about)
    about |= {"command": "bench/pme_peers.py build/farfield", "openmm": openmm.version.version, "threads": task.threads, "error": task.error,
              "repeats": 3 * task.rounds, "rows": []}
    with tempfile.TemporaryDirectory() as name:
        for n in map(int, task.n.split(",")):
            about["rows"].append(row(task, pathlib.Path(name), n))
            print(json.dumps(about["rows"][-1]), flush=True)
            pathlib.Path(task.json).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
