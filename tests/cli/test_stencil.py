"""farfield stencil check and explain."""

import json
import math
import os
import shutil
import subprocess
import unittest

from support import PROGRAM, SOURCE, CommandTest, farfield, write

EXAMPLES = os.path.join(SOURCE, "examples", "stencil")
MICRODISK = os.path.join(EXAMPLES, "microdisk.ff")
BROKEN = "grid g[x: 8]\nfield u, v on g : double\nupdate move on interior:\n    u = u + w[x-1]\nstep: move\n"


class Check(CommandTest):
    def test_every_example_is_sound(self):
        names = sorted(os.listdir(EXAMPLES))
        self.assertGreaterEqual(len(names), 5)
        for name in names:
            with self.subTest(example=name):
                path = os.path.join(EXAMPLES, name)
                result = self.succeed("stencil", "check", path)
                self.assertEqual(result.err, "")
                self.assertIn(f"{path}: no errors: ", result.out)
                # it runs without --steps or --end
                self.assertRegex(self.succeed("stencil", "explain", path, "--after", "names").out, r"\ntime dt = .*(steps|until)")

    def test_a_mistake_is_shown_with_its_line(self):
        write("broken.ff", BROKEN)
        result = farfield("stencil", "check", "broken.ff")
        self.assertEqual(result.code, 2)
        self.assertEqual(result.out, "")
        self.assertIn("broken.ff:4:13: error: there is no 'w'", result.err)
        self.assertIn("    4 |     u = u + w[x-1]\n      |             ^\n", result.err)
        self.assert_one_error(result.err, "broken.ff: 1 error")

    def test_what_is_no_text_gets_one_message(self):
        for content, message, remedy in ((BROKEN.encode("utf-16"), "the text is in UTF-16", "save it as UTF-8"),
                                         (b"\x7fELF\2\1\1\0\0\0\3", "the file is no text", "saved as UTF-8"),
                                         (BROKEN.replace("\n", "\r").encode(), "carriage returns alone", "LF")):
            with open("odd.ff", "wb") as file:
                file.write(content)
            result = farfield("stencil", "check", "odd.ff")
            self.assertEqual(result.code, 2)
            self.assertEqual(result.err.count("[bad-character]"), 1, result.err)
            self.assertIn(message, result.err)
            self.assertIn(remedy, result.err)
            self.assert_one_error(result.err, "odd.ff: 1 error")

    @unittest.skipUnless(os.path.exists("/dev/zero"), "there is no /dev/zero")
    def test_a_file_without_an_end_is_given_up(self):
        result = farfield("stencil", "check", "/dev/zero")
        self.assertEqual(result.code, 2)
        self.assertIn("longer than 1048576 bytes", result.err)

    def test_warnings_do_not_fail(self):
        write("warned.ff", BROKEN.replace("w[x-1]", "v[x-1]"))
        result = self.succeed("stencil", "check", "warned.ff")
        self.assertIn("[never-written]", result.err)
        self.assertIn("no errors, 1 warning", result.out)

    def test_json(self):
        write("broken.ff", BROKEN)
        result = farfield("stencil", "check", "broken.ff", "--json")
        self.assertEqual(result.code, 2)
        (report,) = json.loads(result.out)
        self.assertEqual((report["file"], report["errors"], report["warnings"]), ("broken.ff", 1, 0))
        first = report["diagnostics"][0]
        self.assertEqual((first["kind"], first["severity"]), ("unknown-name", "error"))
        self.assertEqual((first["line"], first["column"], first["end_line"], first["end_column"]), (4, 13, 4, 14))
        two = json.loads(farfield("stencil", "check", MICRODISK, "broken.ff", "--json").out)
        self.assertEqual([(one["file"], one["errors"]) for one in two], [(MICRODISK, 0), ("broken.ff", 1)])

    def test_several_programs(self):
        paths = [os.path.join(EXAMPLES, name) for name in sorted(os.listdir(EXAMPLES))]
        self.assertEqual(self.succeed("stencil", "check", *paths).out.count(": no errors: "), len(paths))
        write("broken.ff", BROKEN)
        result = farfield("stencil", "check", "broken.ff", MICRODISK)
        self.assertEqual(result.code, 2)
        self.assertIn(f"{MICRODISK}: no errors", result.out)
        self.assert_one_error(result.err, "2 programs: 1 error")

    def test_bytes_that_are_no_text(self):
        with open("noise.ff", "wb") as file:
            file.write(bytes(range(1, 256)) * 4)
        result = subprocess.run([PROGRAM, "stencil", "check", "noise.ff", "--json"], capture_output=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(json.loads(result.stdout.decode())[0]["errors"], 20)

    def test_parameters(self):
        self.succeed("stencil", "check", MICRODISK, "--set", "cells=256", "--set", "radius=20.5")
        result = farfield("stencil", "check", MICRODISK, "--set", "raduis=3")
        self.assertEqual(result.code, 2)
        self.assertIn("did you mean 'radius'", result.err)
        self.fail_clearly(["stencil", "check", MICRODISK, "--set", "cells=many"], 2, "'many' is not a value")
        self.fail_clearly(["stencil", "check", MICRODISK, "--set", "cells"], 2, "name=value")
        # the last one counts: 8 cells would have no room for the dipole
        self.succeed("stencil", "check", MICRODISK, "--set", "cells=8", "--set", "cells=512")
        self.assertEqual(farfield("stencil", "check", MICRODISK, "--set", "cells=8").code, 2)

    def test_mistakes_of_the_command(self):
        self.fail_clearly(["stencil", "check", "absent.ff"], 2, "absent.ff", "no such file")
        self.fail_clearly(["stencil", "chekc", "a.ff"], 2, "did you mean 'check'")
        self.fail_clearly(["stencil", "check"], 2, "FILE")
        self.fail_clearly(["stencil", "explain", MICRODISK, "--after", "namse"], 2, "did you mean 'names'")
        self.fail_clearly(["stencil", "explain", MICRODISK], 2, "--after")


class Explain(CommandTest):
    def test_tokens(self):
        text = self.succeed("stencil", "explain", MICRODISK, "--after", "lex").out
        self.assertRegex(text, r"\n +\d+:9 +operator +\^\n|\n +\d+:\d+ +operator +\^\n")
        self.assertTrue(text.rstrip().endswith("end"))

    def test_the_parsed_program_is_a_program(self):
        for name in sorted(os.listdir(EXAMPLES)):
            text = self.succeed("stencil", "explain", os.path.join(EXAMPLES, name), "--after", "parse").out
            write("again.ff", text)
            again = self.succeed("stencil", "explain", "again.ff", "--after", "parse")
            self.assertEqual((again.out, again.err), (text, ""))
        self.assertIn("Ex += courant * (Hz - Hz[y - 1])",
                      self.succeed("stencil", "explain", MICRODISK, "--after", "parse").out)

    def test_names(self):
        text = self.succeed("stencil", "explain", MICRODISK, "--after", "names", "--set", "cells=640").out
        self.assertIn("param cells = 640  (set)\n", text)
        self.assertIn("grid g[x: 640 cells, y: 640 cells]\n", text)
        self.assertIn("reads Ex(0, 1) Ex(0, 0) Ey(0, 0) Ey(1, 0)\n", text)
        self.assertIn("source dipole on g at (380, 320)\n", text)

    def test_passes(self):
        def explained(stage):
            return self.succeed("stencil", "explain", MICRODISK, "--after", stage).out
        self.assertIn("kernel magnetic on g: 125609 cells in [57..455, 57..455]\n", explained("domains"))
        lowered = explained("lower")
        self.assertRegex(lowered, r"fma\.float64 %\d+ %\d+ %\d+\n")
        self.assertIn("load.float64 Hz[y-1]\n", lowered)
        self.assertIn("constant.int64 20\n", lowered)
        self.assertNotIn("uniform", explained("cse"))
        self.assertIn("Hz = ", explained("hoist"))
        self.assertIn("uniform.float64 0\n", explained("hoist"))
        self.assertLess(len(explained("fuse")), len(lowered))

    def test_code(self):
        code = self.succeed("stencil", "explain", MICRODISK, "--after", "code").out
        self.assertIn('extern "C" void kernel_magnetic(const RowCall* call)', code)
        self.assertNotIn("mask[", code)
        code = self.succeed("stencil", "explain", MICRODISK, "--after", "code", "--mask", "multiply").out
        self.assertIn("Hz[x] = here * (Hz_new) + (1 - here) * Hz[x];", code)
        gpu = ["stencil", "explain", MICRODISK, "--after", "code", "--target", "cuda"]
        self.assertIn("chosen * (Hz_computed) + (1 - chosen) * Hz_now[at]", self.succeed(*gpu, "--mask", "multiply").out)
        self.assertIn("blockIdx.x * 2 + threadIdx.y", self.succeed(*gpu, "--time-tile", "1", "--block", "64x2").out)
        self.fail_clearly([*gpu, "--block", "64y2"], 2, "--block 64y2")

    def test_a_broken_program_is_shown_as_far_as_it_was_read(self):
        write("broken.ff", BROKEN)
        for stage, shown in (("lex", True), ("parse", True), ("names", False), ("fuse", False), ("code", False)):
            result = farfield("stencil", "explain", "broken.ff", "--after", stage)
            self.assertEqual(result.code, 2)
            self.assertEqual(bool(result.out), shown, stage)
            self.assert_one_error(result.err, "1 error")


class Resonances(CommandTest):
    def test_two_waves(self):
        rows = ["t,left,right"]
        for n in range(400):
            t = 0.5 * n
            left = math.cos(0.6 * t) if n % 2 == 0 else math.nan  # recorded every second step
            rows.append(f"{t},{left!r},{math.exp(-0.003 * t) * math.sin(0.8 * t) + 1e-3 * math.cos(0.6 * t)!r}")
        write("series.csv", "\n".join(rows) + "\n")
        band = ["--from", "0.05", "--to", "0.2"]
        report = json.loads(self.succeed("stencil", "resonances", "series.csv", "--column", "right", *band, "--json").out)
        first, second = report["resonances"]
        self.assertAlmostEqual(first["angular_frequency"], 0.6, delta=1e-8)
        self.assertAlmostEqual(first["amplitude"], 1e-3, delta=1e-8)
        self.assertIsNone(first["Q"])
        self.assertAlmostEqual(second["Q"], 0.8 / 0.006, delta=1e-4)
        text = self.succeed("stencil", "resonances", "series.csv", "--column", "left", *band, "--after", "20").out
        self.assertIn("left: 180 samples, t = 20 to 199", text)
        self.assertEqual(len(text.splitlines()), 3)

    @unittest.skipUnless(shutil.which("harminv"), "harminv is not installed")
    def test_agrees_with_harminv(self):
        """Three damped waves, found by filter diagonalisation (GPL, hence only here) and by the matrix pencil."""
        waves = ((0.06, 2e-4, 1.0), (0.083, 1e-3, 0.3), (0.11, 5e-4, 2.0))
        values = [sum(a * math.exp(-d * n) * math.sin(2 * math.pi * f * n) for f, d, a in waves) for n in range(3000)]
        write("series.csv", "t,a\n" + "".join(f"{n},{v!r}\n" for n, v in enumerate(values)))
        band = ["--from", "0.05", "--to", "0.12"]
        ours = json.loads(self.succeed("stencil", "resonances", "series.csv", *band, "--json").out)["resonances"]
        # -E: what harminv itself is not sure of to a thousandth
        done = subprocess.run(["harminv", "-F", "-E", "1e-3", "0.05-0.12"], input="\n".join(map(repr, values)),
                              text=True, capture_output=True, check=True)
        theirs = [[float(v) for v in line.split(",")] for line in done.stdout.splitlines()[1:]]
        self.assertEqual((len(ours), len(theirs)), (3, 3))
        for mine, (frequency, decay, _, amplitude, _, error), wave in zip(ours, theirs, waves):
            self.assertAlmostEqual(mine["frequency"], frequency, delta=5 * error * frequency)
            self.assertAlmostEqual(mine["decay"], decay, delta=30 * error * frequency)
            self.assertAlmostEqual(mine["amplitude"], 2 * amplitude, delta=0.1 * amplitude)  # theirs: of exp(-iwt)
            self.assertAlmostEqual(mine["frequency"], wave[0], delta=1e-10)

    def test_mistakes(self):
        write("series.csv", "t,a,b\n" + "".join(f"{n},{n},1\n" for n in range(20)))
        band = ["--from", "0.05", "--to", "0.2"]
        base = ["stencil", "resonances"]
        self.fail_clearly([*base, "series.csv", *band], 2, "--column", "a, b")
        self.fail_clearly([*base, "series.csv", "--column", "c", *band], 2, "no column 'c'")
        self.fail_clearly([*base, "series.csv", "--column", "a", "--from", "0.1", "--to", "0.7"], 2, "half the sampling rate")
        self.fail_clearly([*base, "series.csv", "--column", "a", "--after", "15", *band], 2, "5 samples")
        self.fail_clearly([*base, "absent.csv", *band], 2, "absent.csv")
        write("uneven.csv", "t,a\n" + "".join(f"{n * n},1\n" for n in range(20)))
        self.fail_clearly([*base, "uneven.csv", *band], 2, "not evenly spaced")


class Emit(CommandTest):
    def test_a_project_is_replaced_and_other_files_are_not(self):
        first = self.succeed("stencil", "emit", MICRODISK, "--out", "project").out
        self.assertIn("project/main.cpp", first)
        self.succeed("stencil", "emit", MICRODISK, "--out", "project", "--steps", "7")
        with open("project/README.md", encoding="utf-8") as file:
            self.assertIn("build/run 7", file.read())
        for name in ("README.md", "main.cpp"):
            os.mkdir(name[0])
            path = os.path.join(name[0], name)
            write(path, "mine\n")
            self.fail_clearly(["stencil", "emit", MICRODISK, "--out", name[0]], 2, path, "choose another folder")
            self.assertEqual(os.listdir(name[0]), [name])
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "mine\n")

    def test_an_unstable_program_is_written_where_that_is_allowed(self):
        write("unstable.ff", "grid g[x: 64]\nfield u, v on g = x\nboundary: periodic\n"
                             "update a: u += 2*(v[x+1] - v)\nupdate b: v += 2*(u - u[x-1])\nstep: a, b\n")
        command = ["stencil", "emit", "unstable.ff", "--out", "project"]
        result = farfield(*command)
        self.assertEqual(result.code, 2)
        self.assertIn("--allow-unstable runs it", result.err)
        self.succeed(*command, "--allow-unstable")
        self.assertTrue(os.path.exists("project/CMakeLists.txt"))

    def test_mask_and_block_choose_the_code(self):
        self.succeed("stencil", "emit", MICRODISK, "--target", "cuda", "--mask", "multiply", "--block", "32x8", "--out", "gpu")
        with open("gpu/kernels.cu", encoding="utf-8") as file:
            self.assertIn("const double chosen = mask[", file.read())
        self.succeed("stencil", "emit", MICRODISK, "--mask", "branch", "--out", "cpu")
        with open("cpu/kernels.cpp", encoding="utf-8") as file:
            self.assertIn("if (here) {", file.read())
        self.fail_clearly(["stencil", "emit", MICRODISK, "--time-tile", "4", "--out", "cpu"], 2, "--time-tile", "target cuda")

    def test_a_broken_program_leaves_nothing_and_claims_nothing(self):
        write("broken.ff", BROKEN)
        result = farfield("stencil", "emit", "broken.ff", "--out", "project")
        self.assertEqual((result.code, result.out), (2, ""))
        self.assertIn("broken.ff:4:13: error: there is no 'w'", result.err)
        self.assert_one_error(result.err, "broken.ff: 1 error")
        self.assertEqual(os.listdir("."), ["broken.ff"])


class Tune(CommandTest):
    def test_the_fastest_way_is_kept(self):
        os.environ["FARFIELD_CACHE"] = os.path.join(os.getcwd(), "cache")
        self.addCleanup(os.environ.pop, "FARFIELD_CACHE")
        program = ["stencil", "tune", MICRODISK, "--set", "cells=160", "--set", "radius=60"]
        text = self.succeed(*program, "--target", "cpu", "--repeat", "1", "--json", "tuned.json").out
        with open("tuned.json", encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual({row["mask"] for row in report["rows"]}, {"none", "select", "branch", "spans"})
        self.assertGreaterEqual(len(report["rows"]), 9)
        best = [row for row in report["rows"] if row["best"]]
        self.assertEqual(len(best), 1)
        self.assertEqual(best[0]["cell_steps_per_second"], max(row["cell_steps_per_second"] for row in report["rows"]))
        self.assertEqual(text.count("  <\n"), 1)
        self.assertEqual(len([name for name in os.listdir("cache") if name.endswith(".choice")]), 1)

    def test_mistakes(self):
        self.fail_clearly(["stencil", "tune", MICRODISK, "--target", "interpreter"], 2, "nothing to tune")
        self.fail_clearly(["stencil", "tune", "absent.ff"], 2, "absent.ff")
        write("broken.ff", BROKEN)
        self.assertEqual(farfield("stencil", "tune", "broken.ff").code, 2)


class Completion(CommandTest):
    def test_stages_and_commands_are_offered(self):
        if shutil.which("bash") is None:
            self.skipTest("bash is not installed")
        script = self.succeed("completion", "bash").out
        for words, offered in (("farfield stencil ''", ["check", "explain"]),
                               ("farfield stencil explain --after ''", ["lex", "parse", "names", "fuse"])):
            count = len(words.split())
            text = script + f"\nCOMP_WORDS=({words}); COMP_CWORD={count - 1}; _farfield; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
            done = subprocess.run(["bash", "--norc", "-u"], input=text.encode(), capture_output=True, check=False)
            self.assertLessEqual(set(offered), set(done.stdout.decode().split()), done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
