#!/usr/bin/env python3
"""A long trial of the program as a new user would make it, with random sums, kills, damaged files and programs.

usage: trial.py FARFIELD [PROPERTY_STENCIL] [--seed N] [--part NAME…] [--share X]

FARFIELD is the program, PROPERTY_STENCIL the test program of random stencil programs. Each part prints what it tried and
the seed that repeats it; --share 0.1 tries a tenth. Bounds: double 2e-15, float and mixed 7e-7, relative L2 of an output
whose inputs are exact in float; a run that was killed, or whose checkpoint was damaged, ends with the bytes of one that
was not (where both generations are damaged, once they are removed as the message says); whatever the input, no crash, no hang and no word of an internal error.
Sums over periodic boxes and by the tree code are within the tolerance asked; with an opening angle, potentials of masses within the bound of their series.
"""
import argparse
import array
import cmath
import itertools
import math
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

BOUNDS = {"double": 2e-15, "float": 7e-7, "mixed": 7e-7}
CASE = """[initial]
kind = "plummer"
n = 96
seed = 5
[force]
softening = 0.02
[time]
step = 0.0009765625
end = 2.0
[output]
snapshot_every = 0.5
diagnostics_every = 0.0625
checkpoint_every = 0.125
"""


def exact_in_float(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def write_npy(path, rows, columns):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {columns}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    body = array.array("d", [value for row in rows for value in row]).tobytes()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body)


def write_csv(path, rows, names):
    path.write_text(",".join(names) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))


def read_csv(path):
    names, *lines = path.read_text().split("\n")[:-1]
    return names.split(","), [[float(word) for word in line.split(",")] for line in lines]


def reference(kernel, sources, targets, own, scale):
    """Potential and field (gradient for gauss) in double, added without rounding."""
    rows = []
    for i, x in enumerate(targets):
        terms = [[], [], [], []]
        for j, (*y, q) in enumerate(sources):
            if own and i == j and kernel != "gauss":
                continue
            d = [a - b for a, b in zip(x, y)]
            r2 = math.fsum(c * c for c in d)
            if kernel == "gauss":
                value = q * math.exp(-r2 / (2 * scale * scale))
                factor = -value / (scale * scale)
            else:
                sign = -1.0 if kernel == "gravity" else 1.0
                r2 += scale * scale
                value = sign * q / math.sqrt(r2)
                factor = value / r2
            terms[0].append(value)
            for k in range(3):
                terms[k + 1].append(factor * d[k])
        rows.append([math.fsum(part) for part in terms])
    return rows


def ewald(points, strengths, lengths, sign):
    """Potential and field of points in a box with all images, by Ewald's sum (1921), own images included; what strengths
    do not cancel, a uniform background does. Near images as far as erfc is above 1e-13, waves as far as their Gaussian is."""
    digits, volume = 5.3, math.prod(lengths)
    a = digits / (1.5 * min(lengths))
    excess = math.fsum(strengths)
    rows = [[q * -2 * a / math.sqrt(math.pi) - math.pi * excess / (volume * a * a), 0.0, 0.0, 0.0] for q in strengths]
    for i, x in enumerate(points):
        for y, q in zip(points, strengths):
            nearest = [c - d - side * round((c - d) / side) for c, d, side in zip(x, y, lengths)]
            for image in itertools.product((-1, 0, 1), repeat=3):
                d = [c + side * n for c, side, n in zip(nearest, lengths, image)]
                r2 = math.fsum(c * c for c in d)
                if r2 == 0.0 or r2 * a * a > 36:
                    continue
                r = math.sqrt(r2)
                value = q * math.erfc(a * r) / r
                factor = (value + q * 2 * a / math.sqrt(math.pi) * math.exp(-a * a * r2)) / r2
                for c, term in enumerate([value] + [factor * c for c in d]):
                    rows[i][c] += term
    most = [math.ceil(2 * a * digits * side / (2 * math.pi)) for side in lengths]
    phases = [[[cmath.exp(2j * math.pi * n * c / side) for n in range(-m, m + 1)] for c, side, m in zip(x, lengths, most)] for x in points]
    for wave in itertools.product(range(most[0] + 1), range(-most[1], most[1] + 1), range(-most[2], most[2] + 1)):
        k = [2 * math.pi * n / side for n, side in zip(wave, lengths)]
        k2 = sum(c * c for c in k)
        if k2 == 0.0 or k2 > (2 * a * digits) ** 2:
            continue
        at = [p[0][wave[0] + most[0]] * p[1][wave[1] + most[1]] * p[2][wave[2] + most[2]] for p in phases]
        weight = (1 if wave[0] == 0 else 2) * 4 * math.pi / volume * math.exp(-k2 / (4 * a * a)) / k2
        total = weight * sum(q * phase.conjugate() for q, phase in zip(strengths, at))
        for row, phase in zip(rows, at):
            value = total * phase
            row[0] += value.real
            for c in range(3):
                row[c + 1] += k[c] * value.imag
    return [[sign * value for value in row] for row in rows]


def relative_error(found, expected, columns):
    above = math.fsum((f[c] - e[c]) ** 2 for f, e in zip(found, expected) for c in columns)
    below = math.fsum(e[c] ** 2 for e in expected for c in columns)
    return math.sqrt(above / below) if below else math.sqrt(above)


class Trial:
    def __init__(self, options):
        self.program, self.stencil, self.share = options.program.resolve(), options.property_stencil, options.share
        self.seed, self.failures = options.seed, []

    def times(self, number):
        return max(1, round(number * self.share))

    def fail(self, what):
        print(f"  FAILED: {what}", flush=True)
        self.failures.append(what)

    def run(self, *arguments, folder, patience=120):
        process = subprocess.run([self.program, *map(str, arguments)], cwd=folder, capture_output=True, text=True,
                                 errors="replace", timeout=patience, stdin=subprocess.DEVNULL)
        return process.returncode, process.stdout + process.stderr

    def sums(self, rng, folder):
        worst = dict.fromkeys(BOUNDS, 0.0)
        for number in range(self.times(300)):
            kernel = rng.choice(["gravity", "coulomb", "coulomb", "gauss"])
            precision = rng.choice(list(BOUNDS))
            n, separate = rng.randint(1, 150), rng.random() < 0.4
            size = 10.0 ** rng.randint(-3, 3)
            place = [exact_in_float(rng.uniform(-1, 1) * size) for _ in range(3)] if rng.random() < 0.3 else [0.0] * 3
            point = lambda: [exact_in_float(c + rng.gauss(0, size)) for c in place]
            sources = [point() + [exact_in_float(rng.uniform(0.1, 1) * (rng.choice([-1, 1]) if kernel != "gravity" else 1))]
                       for _ in range(n)]
            targets = [point() for _ in range(rng.randint(1, 40))] if separate else [row[:3] for row in sources]
            scale = exact_in_float(size * rng.choice([0.05, 0.5]) if kernel == "gauss" else rng.choice([0.0, 0.01, 0.3]) * size)
            method = "reference" if kernel == "gauss" else rng.choice(["direct", "direct", "reference"])
            if method == "reference":
                precision = "double"  # it knows no other
            kind = rng.choice(["npy", "csv"])
            name = folder / f"sources.{kind}"
            names = ["x", "y", "z", "m" if kernel == "gravity" else "q"]
            write_npy(name, sources, 4) if kind == "npy" else write_csv(name, sources, names)
            arguments = ["sum", "--kernel", kernel, "--method", method, "--sources", name, "--out", folder / "out.csv", "--quiet",
                         "--precision", precision, "--threads", rng.choice([1, 2])]
            arguments += ["--sigma", repr(scale)] if kernel == "gauss" else ["--softening", repr(scale)]
            if separate:
                write_npy(folder / "targets.npy", targets, 3)
                arguments += ["--targets", folder / "targets.npy"]
            code, said = self.run(*arguments, folder=folder)
            if code:
                self.fail(f"sum {number}: exit code {code}: {said.strip()}")
                continue
            _, found = read_csv(folder / "out.csv")
            expected = reference(kernel, sources, targets, not separate, scale)
            for columns in ([0], [1, 2, 3]):
                error = relative_error(found, expected, columns)
                worst[precision] = max(worst[precision], error)
                if not error <= BOUNDS[precision]:
                    self.fail(f"sum {number}: {kernel} {method} {precision} n={n}: error {error:.2e} of columns {columns}")
        print("  worst errors: " + ", ".join(f"{name} {value:.1e}" for name, value in worst.items()))

    def boxes(self, rng, folder):
        """Random points in random boxes: along three axes beside Ewald's sum above, along fewer `fmm` beside `direct`."""
        worst = {}
        for number in range(self.times(40)):
            axes = rng.choice([3, 3, 2, 1])
            size = 10.0 ** rng.randint(-2, 2)
            lengths = [size * rng.uniform(1, 2) for _ in range(3)]
            kernel, background = rng.choice([("coulomb", "none"), ("coulomb", "uniform"), ("gravity", "uniform")]) if axes == 3 else ("coulomb", "none")
            n = 2 * rng.randint(1, 10 if axes == 3 else 60)
            strengths = [rng.uniform(0.1, 1) for _ in range(n)] if background == "uniform" else [(-1.0) ** i for i in range(n)]
            points = [[rng.uniform(-side, 2 * side) for side in lengths] for _ in range(n)]  # any image may stand for a point
            period = [side if axis < axes else 0.0 for axis, side in enumerate(lengths)]
            tolerance = 10.0 ** -rng.randint(2, 9)
            write_npy(folder / "sources.npy", [x + [q] for x, q in zip(points, strengths)], 4)
            found = {}
            for method in ([rng.choice(["ewald", "pme", "auto", "direct", "fmm"])] if axes == 3 else ["direct", "fmm"]):
                if method == "fmm":
                    tolerance = max(tolerance, 1e-6)
                code, said = self.run("sum", "--kernel", kernel, "--method", method, "--sources", folder / "sources.npy", "--out", folder / "out.csv",
                                      "--period", ",".join(map(repr, period)), "--background", background, "--tolerance", tolerance, "--quiet",
                                      "--threads", rng.choice([1, 2]), folder=folder)
                if code:
                    self.fail(f"box {number}: {kernel} {method} period={period} n={n} tolerance={tolerance}: exit code {code}: {said.strip()}")
                    break
                found[method] = read_csv(folder / "out.csv")[1]
            else:
                expected = ewald(points, strengths, lengths, -1.0 if kernel == "gravity" else 1.0) if axes == 3 else found["direct"]
                for method, rows in found.items():
                    for columns in ([0], [1, 2, 3]):
                        error = relative_error(rows, expected, columns) / tolerance
                        worst[method] = max(worst.get(method, 0.0), error)
                        # all targets are compared, as there are no more than samples; ewald above and `direct` beside err, too
                        if not error <= (1.01 if axes == 3 else 2.01) + 1e-9 / tolerance:
                            self.fail(f"box {number}: {kernel} {method} period={period} n={n}: {error:.2g} times the tolerance of {tolerance} in columns {columns}")
        print("  worst errors beside the tolerance: " + ", ".join(f"{name} {value:.2g}" for name, value in sorted(worst.items())))

    def trees(self, rng, folder):
        """The tree code with tolerances and with opening angles, at separate targets and at the sources."""
        worst = {"tolerance": 0.0, "theta": 0.0}
        for number in range(self.times(60)):
            kernel, by_angle, separate = rng.choice(["gravity", "coulomb"]), rng.random() < 0.4, rng.random() < 0.7
            n = rng.randint(1, 3000 if separate else 250)
            lumps = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(rng.randint(1, 5))]
            point = lambda: [c + rng.gauss(0, 10.0 ** rng.uniform(-3, 0)) for c in rng.choice(lumps)]
            sources = [point() + [rng.uniform(0.1, 1) * (rng.choice([-1, 1]) if kernel == "coulomb" else 1)] for _ in range(n)]
            targets = [point() for _ in range(rng.randint(1, 40))] if separate else [row[:3] for row in sources]
            softening = rng.choice([0.0, 0.001, 0.3, 10.0])
            order, theta, tolerance = rng.randint(1, 12), rng.uniform(0.1, 1), 10.0 ** -rng.randint(1, 9)
            write_npy(folder / "sources.npy", sources, 4)
            arguments = ["sum", "--kernel", kernel, "--method", "treecode", "--sources", folder / "sources.npy", "--out", folder / "out.csv", "--quiet",
                         "--softening", repr(softening), "--threads", rng.choice([1, 2]), "--leaf", rng.choice([0, 1, 8])]
            arguments += ["--theta", repr(theta), "--order", order] if by_angle else ["--tolerance", tolerance]
            if separate:
                write_npy(folder / "targets.npy", targets, 3)
                arguments += ["--targets", folder / "targets.npy"]
            code, said = self.run(*arguments, folder=folder)
            if code:
                self.fail(f"tree {number}: {' '.join(map(str, arguments))}: exit code {code}: {said.strip()}")
                continue
            expected = reference(kernel, sources, targets, not separate, softening)
            rows = read_csv(folder / "out.csv")[1]
            if by_angle:
                if kernel == "coulomb":
                    continue  # potentials that cancel have no such bound
                # radius over distance is below x: a geometric series; and below y for monopoles on nodes of targets, of degree 5
                x, y = theta * math.sqrt(3) / 2, theta**0.4 / 2
                bound = (1 + x) / (1 - x) * x ** (order + 1) + (2 * (1 + y) / (1 - y) * y**6 if order == 1 else 0.0) + BOUNDS["double"]
                errors = [abs(f[0] - e[0]) / abs(e[0]) / bound for f, e in zip(rows, expected) if e[0]]
            else:
                errors = [relative_error(rows, expected, columns) / tolerance for columns in ([0], [1, 2, 3])]
            name = "theta" if by_angle else "tolerance"
            worst[name] = max([worst[name], *errors])
            if not all(error <= 1.01 for error in errors):
                self.fail(f"tree {number}: {' '.join(map(str, arguments))}: n={n}, {max(errors):.2g} times what is allowed")
        print("  worst errors beside what is allowed: " + ", ".join(f"{name} {value:.2g}" for name, value in worst.items()))

    def truth(self, folder):
        (folder / "case.toml").write_text(CASE)
        code, said = self.run("run", folder / "case.toml", "--out", "truth", "--quiet", folder=folder)
        if code:
            raise SystemExit(f"the undisturbed run ends with {code}: {said}")
        return self.files(folder / "truth")

    @staticmethod
    def files(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())
                if path.name == "diagnostics.csv" or path.suffix == ".h5" and path.name.startswith("snapshot")}

    def kills(self, rng, folder):
        started = time.monotonic()
        truth = self.truth(folder)
        length = time.monotonic() - started
        kills = 0
        while kills < self.times(40):
            shutil.rmtree(folder / "out", ignore_errors=True)
            arguments = [self.program, "run", folder / "case.toml", "--out", folder / "out", "--quiet"]
            for attempt in range(20):
                process = subprocess.Popen(arguments + (["--restart"] if (folder / "out").exists() else []), cwd=folder,
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if attempt < 3:
                    time.sleep(rng.uniform(0, length))
                    process.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
                    kills += 1
                said, _ = process.communicate(timeout=120)
                if process.returncode == 0:
                    break
                if process.returncode not in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 130, 143):
                    self.fail(f"after {kills} kills: exit code {process.returncode}: {said.strip()}")
                    break
            if self.files(folder / "out") != truth:
                self.fail(f"after {kills} kills the files differ from those of an undisturbed run")
        print(f"  {kills} kills")

    def checkpoints(self, rng, folder):
        truth = self.truth(folder)
        process = subprocess.Popen([self.program, "run", folder / "case.toml", "--out", folder / "half", "--quiet"], cwd=folder,
                                   stderr=subprocess.DEVNULL)
        while not (folder / "half/checkpoint.previous.h5").exists() and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        if process.wait(timeout=60) != 143:
            raise SystemExit("the run that was to be stopped half way was not")
        for number in range(self.times(300)):
            shutil.rmtree(folder / "out", ignore_errors=True)
            shutil.copytree(folder / "half", folder / "out")
            hurt = ["checkpoint.h5"] + (["checkpoint.previous.h5"] if rng.random() < 0.3 else [])
            for path in (folder / "out" / name for name in hurt):
                path.write_bytes(damaged(rng, path.read_bytes()))
            again = ["run", folder / "case.toml", "--out", "out", "--restart", "--quiet"]
            code, said = self.run(*again, folder=folder)
            if code == 1 and len(hurt) == 2 and "remove the damaged checkpoints" in said:
                for name in hurt:
                    (folder / "out" / name).unlink()
                code, said = self.run(*again, folder=folder)
            if code:
                self.fail(f"damage {number}: exit code {code}: {said.strip()}")
            elif self.files(folder / "out") != truth:
                self.fail(f"damage {number}: the files differ from those of an undisturbed run")

    def inputs(self, rng, folder):
        stars = [[rng.gauss(0, 1) for _ in range(6)] + [0.1] for _ in range(12)]
        case = CASE.replace('"plummer"\nn = 96\nseed = 5', '"file"\npath = "stars.csv"').replace("end = 2.0", "end = 0.0625")
        write_csv(folder / "stars.csv", stars, ["x", "y", "z", "vx", "vy", "vz", "m"])
        write_npy(folder / "points.npy", [row[:4] for row in stars], 4)
        program = "grid g[x: 32]\nfield u on g\ninitial u = x\nupdate d on interior: u = 0.5*(u[x-1] + u[x+1])\nstep: d\noutput u at end\n"
        good = {"case.toml": case.encode(), "stars.csv": (folder / "stars.csv").read_bytes(),
                "points.npy": (folder / "points.npy").read_bytes(), "heat.ff": program.encode()}
        codes = {}
        for number in range(self.times(200)):
            for name, content in good.items():
                (folder / name).write_bytes(content)
            chosen = rng.choice(list(good))
            (folder / chosen).write_bytes(damaged(rng, good[chosen]))
            shutil.rmtree(folder / "out", ignore_errors=True)
            arguments = {"points.npy": ["sum", "--kernel", "coulomb", "--sources", "points.npy", "--out", "out.npy"],
                         "heat.ff": ["stencil", "run", "heat.ff", "--steps", "10", "--out", "out"]}.get(
                             chosen, ["run", "case.toml", "--out", "out"])
            process = subprocess.Popen([self.program, *arguments, "--quiet"], cwd=folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            try:
                said, _ = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:  # a mutation may ask for a long run: then Ctrl-C ends it
                process.send_signal(signal.SIGINT)
                try:
                    said, _ = process.communicate(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    said = "it hangs and Ctrl-C does not end it"
            codes[process.returncode] = codes.get(process.returncode, 0) + 1
            if process.returncode not in (0, 1, 2, 130) or "nternal error" in said or "terminate called" in said:
                keep = pathlib.Path(tempfile.mkdtemp(prefix="farfield_trial_"))
                shutil.copy(folder / chosen, keep)
                self.fail(f"input {number}: {chosen} (kept in {keep}): exit code {process.returncode}: {said.strip()[-300:]}")
        print(f"  exit codes: {dict(sorted(codes.items()))}")

    def programs(self, rng, _folder):
        if self.stencil is None:
            print("  left out: the test program of random stencil programs was not named")
            return
        variables = dict(os.environ, FARFIELD_RANDOM_PROGRAMS=str(self.times(80)), FARFIELD_RANDOM_SEED=str(rng.randrange(10**9)),
                         FARFIELD_RANDOM_MASKS="all")
        process = subprocess.run([self.stencil.resolve(), "--gtest_filter=Parts/RandomPrograms.*", "--gtest_brief=1"], env=variables,
                                 capture_output=True, text=True)
        print("  " + "\n  ".join(line for line in process.stdout.splitlines() if line.startswith("seeds")))
        if process.returncode:
            self.fail(process.stdout[-2000:])


def damaged(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        kind = rng.randrange(6)
        at = rng.randrange(len(content)) if content else 0
        if kind == 0 and content:
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and content:
            content[at] = rng.randrange(256)
        elif kind == 2:
            del content[at:]
        elif kind == 3:
            content[at:at + 64] = bytes(len(content[at:at + 64]))
        elif kind == 4:
            content[at:at] = rng.randbytes(rng.randint(1, 16))
        else:
            del content[at:at + rng.randint(1, 16)]
    return bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = ["sums", "boxes", "trees", "kills", "checkpoints", "inputs", "programs"]
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("property_stencil", type=pathlib.Path, nargs="?")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--part", action="append", choices=parts)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    trial, passed, failed = Trial(options), 0, 0
    for name in options.part or parts:
        print(f"trial of {name}, --seed {options.seed}", flush=True)
        before, started = len(trial.failures), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            getattr(trial, name)(random.Random(f"{options.seed} {name}"), pathlib.Path(folder))
        good = len(trial.failures) == before
        passed, failed = passed + good, failed + (not good)
        print(f"  {'passed' if good else 'FAILED'} in {time.monotonic() - started:.0f} s", flush=True)
    print(f"trial: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
