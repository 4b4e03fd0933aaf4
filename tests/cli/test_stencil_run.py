"""farfield stencil run: outputs, checkpoints, restarts, pictures and messages."""

import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

from support import FEWER, PROGRAM, SOURCE, CommandTest, farfield, read, start, write, write_npy

import unittest

WAVES = """program waves
param cells = 40, courant = 0.5
grid  g[x: cells, y: cells]
field Ex, Ey, Hz on g
field energy on g : float
subdomain disk(x, y) = (x - cells/2)^2 + (y - cells/2)^2 < (cells/2 - 3)^2
update electric on interior:
    Ex += courant * (Hz - Hz[y-1])
    Ey += courant * (Hz[x-1] - Hz)
update magnetic on disk:
    Hz += courant * (Ex[y+1] - Ex + Ey - Ey[x+1])
source dipole at (cells//2 + 4, cells//2):
    Hz += exp(-((t - 20)/8)^2) * sin(0.3*t)
update accumulate on disk: energy += Hz^2
step: electric, magnetic, dipole, accumulate every 2
record total = sum of Hz^2 on disk every 3
record probe = Hz at (cells//2, cells//2)
output Hz at start, every 100, at end
output energy at end
time steps = 600
"""
# 1 + … + n: every value is known
COUNT = """program count
param n = 8
grid g[x: n, y: 4]
field u on g at (x+1/2, y) = x
field v on g : float
update add: u += step + 1
update copy: v = 2*u
step: add, copy
record first = u at (0, 0) every 5
record both = sum of v every 2
output u, v at start, every 4, at end
time dt = 0.25, steps = 10
"""
DOUBLES = """program doubles
grid g[x: 6, y: 5]
field u on g = 1
update grow on x == 4 and y == 2: u = 1e100 * u
step: grow
output u at end
time steps = 9
"""


def png_chunks(path):
    """Types and contents of the chunks of a PNG file, checksums verified."""
    data = read(path)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, []
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        (crc,) = struct.unpack(">I", data[place + 8 + length : place + 12 + length])
        assert crc == zlib.crc32(kind + content), kind
        chunks.append((kind.decode(), content))
        place += 12 + length
    return chunks


def rows_of(path):
    lines = read(path).decode().splitlines()
    return lines[0], [[float(word) for word in line.split(",")] for line in lines[1:]]


class StencilRunTest(CommandTest):
    def setUp(self):
        super().setUp()
        write("waves.ff", WAVES)
        write("count.ff", COUNT)
        write("doubles.ff", DOUBLES)

    def results_of(self, folder):
        return sorted(n for n in os.listdir(folder) if n.endswith((".vtkhdf", ".csv", ".frames", ".ff", ".png")))

    def assert_same_results(self, expected, actual):
        names = self.results_of(expected)
        self.assertEqual(names, self.results_of(actual))
        self.assertGreater(len(names), 2)
        for name in names:
            self.assertTrue(read(f"{expected}/{name}") == read(f"{actual}/{name}"), f"{name} of {actual} differs from {expected}")


class Outputs(StencilRunTest):
    def test_files_and_values(self):
        result = self.succeed("stencil", "run", "count.ff", "--target", "interpreter")
        fields = [f"{f}_{n:08}.vtkhdf" for f in "uv" for n in (0, 4, 8, 10)]
        self.assertEqual(sorted(os.listdir("count")), sorted(["checkpoint.h5", "program.ff", "series.csv", "summary.json", *fields]))
        self.assertIn("Reached t = 2.5 after 10 steps", result.out)
        for name in fields:
            self.assertIn(f"  count/{name}\n", result.out)
        header, rows = rows_of("count/series.csv")
        self.assertEqual(header, "time,first,both")
        # after n steps u(0, 0) is n (n + 1)/2, v twice u; the sum over x of u at the start is 28 a row
        expected = []
        for n in range(1, 11):
            first = n * (n + 1) / 2 if n % 5 == 0 else math.nan
            both = 2 * 4 * (28 + 8 * n * (n + 1) / 2) if n % 2 == 0 else math.nan
            if n % 5 == 0 or n % 2 == 0:
                expected.append([n * 0.25, first, both])
        self.assertEqual(repr(rows), repr(expected))

    def test_summary(self):
        self.succeed("stencil", "run", "waves.ff", "--target", "interpreter", "--steps", "20", "--quiet")
        summary = json.loads(read("waves/summary.json"))
        self.assertTrue(summary["finished"])
        self.assertEqual((summary["step"], summary["time"]), (20, 20.0))
        self.assertEqual(summary["parameters"], {"cells": 40, "courant": 0.5})
        self.assertEqual(summary["target"]["name"], "interpreter")
        self.assertEqual(summary["a_step"]["cell_steps"], 1600)
        disk = sum((x - 20) ** 2 + (y - 20) ** 2 < 17**2 for x in range(40) for y in range(40))
        # two equations on the 39×39 cells with neighbours below, the disk, the dipole, and the sum every other step
        self.assertEqual(summary["a_step"]["stencils"], 2 * 39 * 39 + disk + 1 + disk / 2)
        self.assertGreater(summary["this_process"]["cell_steps_per_second"], 0)

    def test_end_in_place_of_the_programs(self):
        self.succeed("stencil", "run", "count.ff", "--end", "1.1", "--out", "a", "--quiet", "--target", "interpreter")
        self.assertEqual(json.loads(read("a/summary.json"))["step"], 5)  # the first step that ends at or after 1.1
        self.succeed("stencil", "run", "count.ff", "--steps", "0", "--out", "b", "--quiet", "--target", "interpreter")
        self.assertEqual(read("b/series.csv"), b"time,first,both\n")
        self.assertTrue(os.path.exists("b/u_00000000.vtkhdf"))

    def test_parameters_and_the_kept_program(self):
        self.succeed("stencil", "run", "count.ff", "--set", "n=5", "--out", "a", "--quiet", "--target", "interpreter")
        self.assertIn("param n = 5\n", read("a/program.ff").decode())
        self.succeed("stencil", "run", "a/program.ff", "--steps", "10", "--out", "b", "--quiet", "--target", "interpreter")
        self.assert_same_results("a", "b")

    def test_masks_and_threads_give_the_same_bytes(self):
        self.succeed("stencil", "run", "waves.ff", "--steps", "60", "--out", "a", "--quiet", "--target", "interpreter")
        for i, more in enumerate((["--mask", "none"], ["--mask", "spans"], ["--threads", "2"])):
            self.succeed("stencil", "run", "waves.ff", "--steps", "60", "--out", f"b{i}", "--quiet", "--target", "interpreter", *more)
            self.assert_same_results("a", f"b{i}")

    def test_targets_give_the_same_bytes(self):
        if shutil.which("c++") is None:
            self.skipTest("there is no C++ compiler")
        self.succeed("stencil", "run", "waves.ff", "--steps", "60", "--out", "a", "--quiet", "--target", "interpreter")
        for i, more in enumerate(([], ["--mask", "multiply"], ["--time-tile", "4"])):
            self.succeed("stencil", "run", "waves.ff", "--steps", "60", "--out", f"b{i}", "--quiet", "--target", "cpu", *more)
            self.assertEqual(json.loads(read(f"b{i}/summary.json"))["target"]["name"], "cpu")
            self.assert_same_results("a", f"b{i}")

    def test_without_a_compiler_the_interpreter_takes_over_and_says_so(self):
        os.mkdir("empty")
        environment = {"PATH": os.path.abspath("empty"), "XDG_CACHE_HOME": os.path.abspath("cache"), "CXX": ""}
        result = farfield("stencil", "run", "waves.ff", "--steps", "6", environment=environment)
        self.assertEqual(result.code, 0, result)
        self.assertIn("interpreter", result.err)
        self.assertEqual(json.loads(read("waves/summary.json"))["target"]["name"], "interpreter")

    def test_a_target_that_was_asked_for_is_not_replaced(self):
        os.mkdir("empty")
        environment = {"PATH": os.path.abspath("empty"), "XDG_CACHE_HOME": os.path.abspath("cache"), "CXX": ""}
        result = farfield("stencil", "run", "waves.ff", "--steps", "6", "--target", "cpu", environment=environment)
        self.assertNotEqual(result.code, 0, result)
        self.assertIn("compiler", result.err)
        self.assertFalse(os.path.exists("waves"))

    def test_an_earlier_run_is_replaced_where_that_is_asked_for(self):
        base = ["stencil", "run", "count.ff", "--quiet", "--target", "interpreter", "--out", "out"]
        self.succeed(*base, "--steps", "20")
        write("out/mine.txt", "kept")
        self.fail_clearly([*base, "--steps", "4"], 2, "'out'", "--restart", "--overwrite")
        self.fail_clearly([*base, "--restart", "--overwrite"], 2, "--overwrite", "--restart")
        write("broken.ff", "grid g[x: 4]\n")
        self.fail_clearly(["stencil", "run", "broken.ff", "--steps", "2", "--out", "out", "--overwrite"], 2)
        self.assertEqual(json.loads(read("out/summary.json"))["step"], 20)  # a program that cannot run replaces nothing
        self.succeed(*base, "--steps", "4", "--overwrite")
        self.succeed(*base[:-1], "fresh", "--steps", "4")
        self.assertEqual(json.loads(read("out/summary.json"))["step"], 4)
        self.assertEqual(sorted(os.listdir("out")), sorted(os.listdir("fresh") + ["mine.txt"]))
        self.assert_same_results("fresh", "out")

    def test_parameters_may_be_quotients(self):
        write("quotient.ff", "param k = 1.0\ngrid g[x: 4]\nfield u on g = 0\nupdate a: u += k\nstep: a\ntime steps = 2\n")
        self.succeed("stencil", "run", "quotient.ff", "--set", "k=1/8", "--quiet", "--target", "interpreter")
        self.assertEqual(json.loads(read("quotient/summary.json"))["parameters"]["k"], 0.125)

    def test_progress_when_piped(self):
        result = self.succeed("stencil", "run", "waves.ff", "--steps", "50", "--target", "interpreter")
        last = result.err.splitlines()[-1]
        self.assertRegex(last, r"^100%  step 50/50  t = 50/50  \S+ cell-steps/s  \S+ stencils/s")
        self.assertNotIn("\r", result.err)


class Pictures(StencilRunTest):
    def test_range_slice_and_colours(self):
        base = ["stencil", "run", "waves.ff", "--steps", "40", "--quiet", "--target", "interpreter", "--overwrite"]
        looks = ["", ":range=-1e-2,1e-2", ":colours=grey", ":slice=x=9", ":slice=y=9", ":slice=y=9:range=-1,1:colours=ocean"]
        pictures, films = set(), set()
        for look in looks:
            self.succeed(*base, "--plot", f"Hz:one.png{look}", "--animate", f"Hz:film.png{look}:every=10")
            pictures.add(read("one.png"))
            films.add(read("film.png"))
        self.assertEqual((len(pictures), len(films)), (len(looks), len(looks)))
        self.succeed(*base, "--plot", "Hz:one.png:colours=auto")
        self.assertIn(read("one.png"), pictures)

    def test_plot_and_animation(self):
        self.succeed("stencil", "run", "waves.ff", "--steps", "100", "--quiet", "--target", "interpreter", "--plot", "Hz:hz.png",
                     "--plot", "energy:energy.png", "--animate", "Hz:waves.png:every=20")
        for name in ("hz.png", "energy.png"):
            kinds = [kind for kind, _ in png_chunks(name)]
            self.assertEqual((kinds[0], kinds[-1]), ("IHDR", "IEND"))
        chunks = png_chunks("waves.png")
        frames, repeats = struct.unpack(">II", dict(chunks)["acTL"])
        self.assertEqual((frames, repeats), (6, 0))  # steps 0, 20, …, 100
        controls = [content for kind, content in chunks if kind == "fcTL"]
        self.assertEqual(len(controls), 6)
        width, height = struct.unpack(">II", chunks[0][1][:8])
        numbers = []
        for kind, content in chunks:
            if kind in ("fcTL", "fdAT"):
                numbers.append(struct.unpack(">I", content[:4])[0])
        self.assertEqual(numbers, list(range(len(numbers))))
        inside = None
        for kind, content in chunks:  # the pixels of each frame unpack to its size, within the picture
            if kind == "fcTL":
                w, h, left, top = struct.unpack(">IIII", content[4:20])
                self.assertTrue(left + w <= width and top + h <= height)
                inside = (3 * w + 1) * h
            elif kind in ("IDAT", "fdAT"):
                pixels = zlib.decompress(content[4:] if kind == "fdAT" else content)
                self.assertEqual(len(pixels), inside)

    def test_lines_and_slices(self):
        write("line.ff", "grid g[x: 50]\nfield u on g = sin(0.3*x)\nupdate a: u = 0.9*u\nstep: a\ntime steps = 3\n")
        write("space.ff", "grid g[x: 12, y: 10, z: 8]\nfield u on g = x*y + z\nupdate a: u = 0.9*u\nstep: a\ntime steps = 3\n")
        for name in ("line", "space"):
            self.succeed("stencil", "run", f"{name}.ff", "--quiet", "--target", "interpreter", "--plot", f"u:{name}.png",
                         "--animate", f"u:{name}_film.png:every=1")
            self.assertGreater(len(read(f"{name}.png")), 2000)
            self.assertEqual(struct.unpack(">I", dict(png_chunks(f"{name}_film.png"))["acTL"][:4])[0], 4)

    def test_mistakes(self):
        base = ["stencil", "run", "waves.ff", "--steps", "5", "--target", "interpreter"]
        self.fail_clearly([*base, "--plot", "Hx:out.png"], 2, "no field 'Hx'", "Hz")
        self.fail_clearly([*base, "--plot", "Hz"], 2, "--plot", "Hz:out.png")
        self.fail_clearly([*base, "--plot", "Hz:out.jpg"], 2, "--plot Hz:out.jpg", "must end in .png")
        self.fail_clearly([*base, "--plot", "Hz:a.png", "--plot", "Ex:./a.png"], 2, "two pictures", "/a.png")
        self.fail_clearly([*base, "--plot", "Hz:a.png", "--animate", "Hz:a.png"], 2, "two pictures", "/a.png")
        self.fail_clearly([*base, "--plot", "Hz:absent/out.png"], 2, "--plot", "absent")
        self.fail_clearly([*base, "--animate", "Hz:out.png:every=0"], 2, "every=")
        self.fail_clearly([*base, "--plot", "Hz:out.png:every=2"], 2, "must end in .png", ":slice=AXIS=CELL")
        for wrong in ("range=1,-1", "range=1", "range=a,b", "range=", "range=,"):
            self.fail_clearly([*base, "--plot", f"Hz:out.png:{wrong}"], 2, wrong, "range=-1,1")
        for wrong in ("slice=5", "slice=z", "slice=w=5", "slice=x=-1"):
            self.fail_clearly([*base, "--plot", f"Hz:out.png:{wrong}"], 2, wrong, "slice=z=12")
        self.fail_clearly([*base, "--plot", "Hz:out.png:slice=z=1"], 2, "the axes of the field are x, y")
        self.fail_clearly([*base, "--animate", "Hz:out.png:slice=x=100000"], 2, "numbered from 0 to")
        self.fail_clearly([*base, "--plot", "Hz:out.png:colours=rainbow"], 2, "rainbow", "ocean")
        self.fail_clearly([*base, "--animate", "Hz:a.png", "--animate", "Hz:b.png"], 2, "animation already")
        self.assertFalse(os.path.exists("waves"), "a mistake leaves no folder behind")


class Restart(StencilRunTest):
    OPTIONS = ["--target", "interpreter", "--checkpoint-every", "60", "--quiet"]
    earlier = None  # the folder of an undisturbed run, and how long it took
    duration = 0.0

    @classmethod
    def setUpClass(cls):
        cls.earlier = tempfile.mkdtemp(prefix="farfield_cli_whole_")
        cls.addClassCleanup(shutil.rmtree, cls.earlier, ignore_errors=True)

    def run_of(self, folder, *more):
        return ["stencil", "run", "waves.ff", "--out", folder, *self.OPTIONS, "--animate", f"Hz:{folder}/film.png:every=50", *more]

    def undisturbed(self):
        kept = os.path.join(self.earlier, "whole")
        if not os.path.exists(kept):
            began = time.monotonic()
            self.succeed(*self.run_of("whole"))
            type(self).duration = time.monotonic() - began
            shutil.copytree("whole", kept)
        elif not os.path.exists("whole"):
            shutil.copytree(kept, "whole")
        return self.duration

    def test_killed_at_random_moments(self):
        duration = self.undisturbed()
        seed = random.randrange(2**32)
        generator = random.Random(seed)
        with self.subTest(seed=seed):
            kills = 0
            for _ in range(8 if FEWER else 40):
                process = start(*self.run_of("killed", "--restart"))
                try:
                    _, errors = process.communicate(timeout=generator.uniform(0.05, 0.5) * duration)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    kills += 1
                    continue
                self.assertEqual(process.returncode, 0, errors.decode())
                break
            else:
                self.succeed(*self.run_of("killed", "--restart"))
            self.assertGreater(kills, 0)
            self.assert_same_results("whole", "killed")

    def interrupt(self, number, code):
        self.undisturbed()
        process = start("stencil", "run", "waves.ff", "--out", "stopped", "--target", "interpreter")
        until = time.monotonic() + 60
        while not os.path.exists("stopped/Hz_00000100.vtkhdf") and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        text = errors.decode()
        self.assertEqual(process.returncode, code, text)
        self.assertIn("the checkpoint is written", text)
        command = shlex.split(text.splitlines()[-1])
        self.assertEqual(command[:4], ["farfield", "stencil", "run", "waves.ff"])
        done = subprocess.run([PROGRAM, *command[1:], "--quiet"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in self.results_of("stopped"):
            self.assertTrue(read(f"whole/{name}") == read(f"stopped/{name}"), name)

    def test_ctrl_c(self):
        self.interrupt(signal.SIGINT, 130)

    def test_ctrl_c_before_the_first_step(self):
        # half a minute of finding cells, after which nothing is there to be saved yet
        shapes = "".join(f"subdomain s{i}(x, y) = sin(x*{i}) + exp(cos(y*0.1)*tanh(x/{i})) > cbrt(x*y)\n" for i in range(1, 31))
        write("large.ff", "grid g[x: 6000, y: 6000]\nfield u on g : float\n" + shapes + "update go on s1: u = 1\nstep: go\n")
        process = start("stencil", "run", "large.ff", "--out", "stopped", "--steps", "1", "--target", "interpreter")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=5)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_sigterm(self):
        self.interrupt(signal.SIGTERM, 143)

    def test_a_longer_run_goes_on(self):
        self.undisturbed()
        self.succeed(*self.run_of("part", "--steps", "330"))
        os.remove("part/Hz_00000330.vtkhdf")  # written `at end`, of a run that ended there
        os.remove("part/energy_00000330.vtkhdf")
        result = farfield(*[w for w in self.run_of("part", "--restart") if w != "--quiet"])
        self.assertIn("continuing from step 330", result.err)
        self.assert_same_results("whole", "part")
        self.assertEqual(json.loads(read("part/summary.json"))["restarted_from_step"], 330)
        self.fail_clearly(self.run_of("part", "--restart", "--steps", "500"), 2, "step 500", "600", "forward")

    def test_without_a_checkpoint_it_begins_and_says_so(self):
        self.undisturbed()
        result = farfield(*[w for w in self.run_of("fresh", "--restart") if w != "--quiet"])
        self.assertEqual(result.code, 0, result)
        self.assertIn("no checkpoint in 'fresh': starting from the beginning", result.err)
        self.assert_same_results("whole", "fresh")

    def test_of_a_finished_run_changes_nothing(self):
        self.undisturbed()
        shutil.copytree("whole", "kept")
        result = farfield(*[w for w in self.run_of("whole", "--restart") if w != "--quiet"])
        self.assertEqual(result.code, 0, result)
        self.assertIn("already reached step 600", result.err)
        self.assert_same_results("kept", "whole")
        self.assertEqual(read("kept/summary.json"), read("whole/summary.json"))

    def test_a_used_folder_is_refused(self):
        self.succeed(*self.run_of("a", "--steps", "10"))
        self.fail_clearly(self.run_of("a"), 2, "'a'", "earlier run", "--restart")

    def test_another_program_is_refused(self):
        self.succeed("stencil", "run", "waves.ff", "--out", "a", "--steps", "10", *self.OPTIONS)
        base = ["stencil", "run", "waves.ff", "--out", "a", "--steps", "10", "--restart", *self.OPTIONS]
        self.fail_clearly([*base, "--set", "courant=0.25"], 2, "another program", "courant was 0.5 and is now 0.25")
        write("waves.ff", WAVES.replace("sin(0.3*t)", "cos(0.3*t)"))
        self.fail_clearly(base, 2, "another program", "sin(0.3", "cos(0.3")
        write("waves.ff", "# a remark changes nothing\n" + WAVES)
        self.succeed(*base)

    def test_a_changed_input_file_is_refused(self):
        write_npy("start.npy", [[1.0, 0.5]] * 40)
        write("warm.ff", "grid g[x: 2, y: 40]\nfield u on g = data(\"start.npy\")\nupdate cool: u = 0.5*u\n"
                         "step: cool\n")
        base = ["stencil", "run", "warm.ff", "--out", "a", *self.OPTIONS]
        self.succeed(*base, "--steps", "10")
        kept = read("start.npy")
        write_npy("start.npy", [[1.0, 0.25]] * 40)
        self.fail_clearly([*base, "--steps", "20", "--restart"], 2, "'start.npy'", "has changed", "'a'")
        os.remove("start.npy")
        result = farfield(*base, "--steps", "20", "--restart")
        self.assertIn("warm.ff:2", result.err)
        self.assertNotIn("changed", result.err)
        with open("start.npy", "wb") as file:
            file.write(kept)
        self.succeed(*base, "--steps", "20", "--restart")

    def test_another_program_is_refused_before_the_first_checkpoint(self):
        self.succeed("stencil", "run", "waves.ff", "--out", "a", "--steps", "10", *self.OPTIONS)
        for name in os.listdir("a"):
            if name.startswith("checkpoint"):
                os.remove(f"a/{name}")
        self.fail_clearly(["stencil", "run", "waves.ff", "--out", "a", "--restart", "--set", "cells=50", *self.OPTIONS], 2, "cells was 40 and is now 50")

    def test_damaged_checkpoints(self):
        self.undisturbed()
        self.succeed(*self.run_of("cut", "--steps", "400"))
        os.remove("cut/Hz_00000400.vtkhdf")
        os.remove("cut/energy_00000400.vtkhdf")
        with open("cut/checkpoint.h5", "r+b") as file:
            file.truncate(os.path.getsize("cut/checkpoint.h5") // 2)
        result = farfield(*[w for w in self.run_of("cut", "--restart") if w != "--quiet"])
        self.assertEqual(result.code, 0, result)
        self.assertIn("continuing from the one before it", result.err)
        self.assert_same_results("whole", "cut")
        for name in ("cut/checkpoint.h5", "cut/checkpoint.previous.h5"):
            with open(name, "r+b") as file:
                file.truncate(100)
        self.fail_clearly(self.run_of("cut", "--restart"), 1, "checkpoint.h5", "damaged")


class Mistakes(StencilRunTest):
    def test_a_value_that_is_not_finite_is_found(self):
        # 1e100 to the power of steps overflows a double in the fourth step, which is step 3
        error = self.fail_clearly(["stencil", "run", "doubles.ff", "--target", "interpreter"], 1, "'u'", "inf", "(x = 4, y = 2)", "in step 3")
        self.assertNotIn("nan", error)
        self.assertFalse(os.path.exists("doubles/u_00000009.vtkhdf"))
        self.fail_clearly(["stencil", "run", "doubles.ff", "--target", "interpreter", "--restart", "--checkpoint-every", "1"], 1, "in step 3")
        # the last good state is that before the step: three steps are done
        result = farfield("stencil", "run", "doubles.ff", "--target", "interpreter", "--restart", "--steps", "3")
        self.assertEqual(result.code, 0, result)
        self.assertIn("already reached step 3", result.err)

    def test_messages(self):
        self.fail_clearly(["stencil", "run", "absent.ff"], 2, "absent.ff")
        write("endless.ff", COUNT.replace(", steps = 10", ""))
        self.fail_clearly(["stencil", "run", "endless.ff"], 2, "names no end", "--steps N")
        base = ["stencil", "run", "count.ff"]
        self.fail_clearly([*base, "--steps", "-3"], 2, "--steps")
        self.fail_clearly([*base, "--steps", "3", "--end", "1"], 2, "--end", "--steps")
        self.fail_clearly([*base, "--end", "1e300"], 2, "1e+300", "make the end earlier")
        self.fail_clearly([*base, "--set", "m"], 2, "--set m: there is no '='")
        self.fail_clearly([*base, "--target", "cpus"], 2, "did you mean 'cpu'")
        self.fail_clearly([*base, "--mask", "span"], 2, "did you mean 'spans'")
        self.fail_clearly([*base, "--block", "8by8"], 2, "--block 8by8", "32x8")
        self.fail_clearly([*base, "--time-tile", "many"], 2, "--time-tile many")
        self.fail_clearly([*base, "--checkpoint-every", "5 days"], 2, "--checkpoint-every", "10min")
        self.fail_clearly([*base, "--set", "m=3"], 2, "1 error")
        self.assertEqual(sorted(os.listdir(".")), ["count.ff", "doubles.ff", "endless.ff", "waves.ff"])

    def test_mistakes_of_the_program_show_their_line(self):
        write("broken.ff", COUNT.replace("u += step + 1", "u += w"))
        result = farfield("stencil", "run", "broken.ff")
        self.assertEqual(result.code, 2)
        self.assertIn("broken.ff:6:18: error: there is no 'w'", result.err)
        self.assert_one_error(result.err, "broken.ff: 1 error")
        write("outside.ff", COUNT.replace("u += step + 1", "v = u[x-1]"))
        result = farfield("stencil", "run", "outside.ff")
        self.assertEqual(result.code, 2)
        self.assertIn("[outside-grid]", result.err)
        self.assertFalse(os.path.exists("count"))


if __name__ == "__main__":
    unittest.main()
