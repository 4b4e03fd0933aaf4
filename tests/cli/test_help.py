"""Help, version, manual page, completions and the table of keys: they know every command and option."""

import functools
import json
import os
import re
import shutil
import subprocess
import unittest

from support import FEWER, SOURCE, CommandTest, farfield, read, write

UNWATCHED = "sanitizers do not watch studies"
COMMANDS = ["run", "sum", "plot", "info", "bench", "reproduce", "stencil", "tune"]


@functools.lru_cache(maxsize=None)
def options_of(*command):
    """The options that a command's --help lists."""
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", farfield(*command, "--help").out.split("Examples:")[0])))


class Help(CommandTest):
    def test_every_command_has_help_with_an_example(self):
        listed = self.succeed("--help").out
        for command in COMMANDS:
            self.assertRegex(listed, rf"\n  {command} +\w")
            text = self.succeed(command, "--help").out
            self.assertIn(f"farfield {command}", text.split("Examples:")[1])
            self.assertIn("--help", text)
        self.assertEqual(self.succeed().out, listed)
        self.assertEqual(self.succeed("help").out, listed)
        self.assertEqual(self.succeed("help", "sum").out, self.succeed("sum", "--help").out)

    def test_help_fits_a_terminal(self):
        for command in COMMANDS:
            for line in self.succeed(command, "--help").out.splitlines():
                self.assertLessEqual(len(line), 130, line)

    def test_the_examples_of_help_parse(self):
        """Each example is accepted up to its input file, which is not there."""
        for command in ("run", "sum", "plot"):
            text = self.succeed(command, "--help").out.split("Examples:\n")[1].replace("\\\n", " ")
            examples = [line.split() for line in text.splitlines() if line.strip().startswith("farfield")]
            self.assertGreater(len(examples), 0)
            for example in examples:
                self.fail_clearly(example[1:], 2, "no such file")

    def test_options_of_the_commands(self):
        expected = {
            "run": ["--set", "--threads", "--isa", "--out", "--restart", "--quiet", "--list-keys"],
            "sum": ["--kernel", "--sources", "--targets", "--method", "--softening", "--precision", "--coincident",
                    "--threads", "--isa", "--variant", "--repeat", "--output", "--dipoles", "--out", "--json"],
            "plot": ["--out", "--plane", "--width"],
            "info": ["--json"],
            "tune": ["--device", "--threads", "--points", "--repeat", "--out", "--dry-run", "--json", "--quiet"],
        }
        for command, options in expected.items():
            self.assertLessEqual(set(options), set(options_of(command)), command)

    def test_version(self):
        version = self.succeed("--version").out
        self.assertRegex(version, r"^farfield \d+\.\d+\.\d+\n$")
        self.assertEqual(self.succeed("info").out.splitlines()[0], version.strip())

    def test_info(self):
        report = json.loads(self.succeed("info", "--json").out)
        self.assertLessEqual({"version", "compiler", "system", "cpu", "logical_cpus", "threads", "isas_found", "isa_used",
                              "cuda", "cuda_driver", "cuda_runtime", "mpi", "mpi_library", "devices", "why_no_gpu", "cost_table"}, set(report))
        self.assertIn(report["isa_used"], report["isas_found"])
        text = self.succeed("info").out
        for part in (report["cpu"], report["compiler"], "CUDA", "MPI", "devices", "threads", report["isa_used"]):
            self.assertIn(part, text)
        three = self.succeed("info", "--json", environment={"OMP_NUM_THREADS": "3"}).out
        self.assertEqual(json.loads(three)["threads"], 3)

    def test_bench(self):
        text = self.succeed("bench", "direct", "--n", "64", "--repeat", "1", "--json", "r.json").out
        self.assertIn("naive", text)
        rungs = {row["rung"] for row in json.loads(read("r.json"))["rows"]}
        self.assertLessEqual({"naive", "soa", "simd", "threads"}, rungs)

    def test_bench_on_a_gpu(self):
        """Without a GPU one line says why; with one the table has every rung."""
        if json.loads(self.succeed("info", "--json").out)["devices"]:
            self.succeed("bench", "direct", "--device", "cuda", "--n", "1000", "--repeat", "1", "--json", "gpu.json")
            rungs = {row["rung"] for row in json.loads(read("gpu.json"))["rows"]}
            self.assertLessEqual({"one-thread", "naive", "flush", "atomics", "register-tile", "symmetric"}, rungs)
        else:
            self.fail_clearly(["bench", "direct", "--device", "cuda"], 2, "CUDA")
            self.succeed("bench", "direct", "--device", "auto", "--n", "64", "--repeat", "1", "--quiet")
        self.fail_clearly(["bench", "direct", "--device", "cuda:0,1"], 2, "one device is measured at a time")
        self.fail_clearly(["bench", "direct", "--device", "gpu"], 2, "gpu")

    def test_reproduce(self):
        """The CPU's lines are measured on any machine; without a GPU its lines say so and the exit code is 0."""
        gpu = json.loads(self.succeed("info", "--json").out)["devices"]
        for study, source in (("handbook-timings", "Xeon 5570"), ("ladder", "GeForce GTX 680")):
            text = self.succeed("reproduce", study, "--n", "256", "--repeat", "1", "--json", "study.json").out
            self.assertIn(source, text)
            self.assertEqual("no GPU" in text, not gpu)
            report = json.loads(read("study.json"))
            self.assertEqual(report["study"], study)
            values = [v for t in report["tables"] for r in t["rows"] if r["source"] is None for v in r["values"]]
            self.assertTrue(any(v is not None for v in values), "nothing was measured")
            self.assertEqual(self.succeed("reproduce", study, "--n", "256", "--repeat", "1", "--quiet").out, "")
            if not gpu:
                self.fail_clearly(["reproduce", study, "--device", "cuda"], 2, "CUDA" if "CUDA" in text else "GPU")

    @unittest.skipIf(FEWER, UNWATCHED)
    def test_reproduce_several_gpus(self):
        gpus = sum(d["kind"] == "cuda" for d in json.loads(self.succeed("info", "--json").out)["devices"])
        text = self.succeed("reproduce", "handbook-multi-gpu", "--n", "4096", "--repeat", "1", "--json", "study.json").out
        table = json.loads(read("study.json"))["tables"][0]
        self.assertEqual(table["columns"], ["N=4096"])
        self.assertIn("nothing to divide" if gpus == 1 else "Nothing was measured on a GPU" if not gpus else "Times as fast", text)
        self.assertEqual([row["values"][0] is None for row in table["rows"]][:1], [not gpus])

    @unittest.skipIf(FEWER, UNWATCHED)
    def test_reproduce_fmm_strategies(self):
        gpu = json.loads(self.succeed("info", "--json").out)["devices"]
        text = self.succeed("reproduce", "fmm-strategies", "--quick", "--n", "500", "--device", "cpu", "--json", "study.json").out
        self.assertIn("sequential inner loop", text)
        self.assertNotIn("Plummer", text)
        tables = json.loads(read("study.json"))["tables"]
        for table in tables:
            for row in table["rows"]:
                self.assertEqual(len(row["values"]), len(table["columns"]), row["what"])
        host = tables[0]["rows"][-1]  # the only row of the first table that needs no GPU
        self.assertEqual((host["measured"], [v > 0 for v in host["values"]]), ([True] * 3, [True] * 3))
        if not gpu:
            self.fail_clearly(["reproduce", "fmm-strategies", "--device", "cuda"], 2, "CUDA" if "CUDA" in text else "GPU")

    @unittest.skipIf(FEWER, UNWATCHED)
    def test_reproduce_m2l_2d(self):
        gpu = json.loads(self.succeed("info", "--json").out)["devices"]
        self.succeed("reproduce", "m2l-2d", "--device", "cpu", "--n", "2000", "--repeat", "1", "--json", "study.json")
        text = self.succeed("reproduce", "m2l-2d", "--n", "3000").out
        self.assertIn("2359152, Tesla C2050", text)
        tables = json.loads(read("study.json"))["tables"]
        for table in tables:
            for row in table["rows"]:
                self.assertEqual(len(row["values"]), len(table["columns"]), row["what"])
        passes, leaves = tables[-2:]
        self.assertEqual([passes["rows"][k]["values"][6] for k in (0, 1)], [95, 99])
        self.assertEqual(passes["rows"][2]["what"], "2000, p = 8")
        self.assertEqual(leaves["columns"], ["8", "16", "32", "64", "128", "256", "best"])
        if not gpu:
            self.fail_clearly(["reproduce", "m2l-2d", "--device", "cuda"], 2, "no CUDA" if "no CUDA" in text else "no NVIDIA")

    @unittest.skipIf(FEWER, UNWATCHED)
    def test_reproduce_hermite(self):
        gpu = json.loads(self.succeed("info", "--json").out)["devices"]
        self.succeed("reproduce", "hermite", "--quick", "--device", "cpu", "--n", "1000", "--threads", "1", "--repeat", "1",
                     "--json", "study.json")
        text = self.succeed("reproduce", "hermite", "--n", "500", "--repeat", "1").out
        self.assertIn("6553600, Nehalem and Tesla C2050", text)
        self.assertIn("17 clusters", text)
        self.assertNotIn("Plummer", text)
        tables = json.loads(read("study.json"))["tables"]
        for table in tables:
            for row in table["rows"]:
                self.assertEqual(len(row["values"]), len(table["columns"]), row["what"])
        for number in (0, 3, 6):  # p = 5, 9, 12: the plain loop and ours, on one core
            for row, what in zip(tables[number]["rows"], ("1000, here, as the paper's", "1000, here, ours")):
                self.assertEqual((row["what"], row["measured"][:2]), (what, [True, False]))
                self.assertLess(row["errors"][0], 2e-6)
        self.assertEqual(tables[-1]["rows"][0]["values"][4], 90)
        self.assertEqual(tables[-1]["rows"][1]["what"], "1000, p = 5")
        if not gpu:
            self.fail_clearly(["reproduce", "hermite", "--device", "cuda"], 2, "no CUDA" if "no CUDA" in text else "no NVIDIA")

    @unittest.skipIf(FEWER, UNWATCHED)
    def test_reproduce_stencils(self):
        gpu = json.loads(self.succeed("info", "--json").out)["devices"]
        studies = (("fdtd-blocks", "0.84e9"), ("fdtd-sizes", "2060e6"), ("fdtd-multi", "35.9"), ("microdisk", "zeros of J_m'"))
        for study, text in studies:
            options = ["--n", "128" if study == "fdtd-blocks" else "40", "--threads", "1", "--device", "cpu",
                       "--repeat", "5" if study == "fdtd-blocks" else "1"]
            result = self.succeed("reproduce", study, *options, "--json", "study.json")
            self.assertIn(text, result.out)
            self.assertNotIn("Plummer", result.out)
            report = json.loads(read("study.json"))
            self.assertNotIn("softening", report)
            for table in report["tables"]:
                for row in table["rows"]:
                    self.assertEqual(len(row["values"]), len(table["columns"]))
                    self.assertNotIn(None, row["values"], f"{study}: {table['title']}, {row['what']}")
                    self.assertEqual(row["measured"][-1], not row["what"].startswith("the paper"), row["what"])
            if study.startswith("fdtd"):
                self.assertIn("hand-written OpenMP loop, 1 thread", result.out)
            if study == "microdisk":  # theory, k·R, error in percent; at 40 cells a radius within 1.4 %
                self.assertEqual([len(t["rows"]) for t in report["tables"]], [6, 6, 6, 1])
                errors = [abs(row["values"][2]) for t in report["tables"] for row in t["rows"]]
                self.assertLess(max(errors), 1.4)
                self.assertLess(max(errors[12:18]), 0.1)
            if not gpu:
                self.assertEqual(farfield("reproduce", study, "--device", "cuda").code, 2)
        self.fail_clearly(["reproduce", "fdtd-blocks", "--repeat", "4"], 2, "--repeat 4")
        for sides in ("0", "16,,32", "2048"):
            self.fail_clearly(["reproduce", "fdtd-blocks", "--block-x", sides], 2, "--block-x")
        self.fail_clearly(["reproduce", "fdtd-blocks", "--device", "cpu", "--block-x", "16,32"], 2, "blocks of threads")
        self.fail_clearly(["reproduce", "microdisk", "--picture", "absent/energy.png"], 2, "--picture")

    def test_bench_split(self):
        self.fail_clearly(["bench", "split", "--device", "cpu"], 2, "divided between the CPU and a GPU")
        if not json.loads(self.succeed("info", "--json").out)["devices"]:
            self.fail_clearly(["bench", "split"], 2, "cpu" if "NVIDIA" in farfield("bench", "split").err else "CUDA")

    def test_mistakes(self):
        self.fail_clearly(["rnu", "x.toml"], 2, "'rnu'", "did you mean 'run'")
        self.fail_clearly(["polt", "--out", "x.png"], 2, "'polt'", "did you mean 'plot'")
        self.fail_clearly(["bench", "drect"], 2, "'drect'", "did you mean 'direct'")
        self.fail_clearly(["bench", "direct", "--n", "16,many"], 2, "--n 16,many", "whole numbers")
        self.fail_clearly(["bench", "direct", "--repeat", "0"], 2, "--repeat 0", "≥ 1")
        self.fail_clearly(["reproduce", "laddr"], 2, "did you mean 'ladder'")
        self.fail_clearly(["elephant"], 2, "'elephant'", "run, sum, plot")
        self.fail_clearly(["--verzion"], 2, "--verzion", "did you mean '--version'")
        self.fail_clearly(["run", "--thraeds", "2"], 2, "--thraeds", "did you mean '--threads'")
        self.fail_clearly(["run"], 2, "CASE is missing")
        self.fail_clearly(["run", "a.toml", "b.toml"], 2, "'b.toml'", "--help")
        self.fail_clearly(["run", "--set"], 2, "--set")
        self.fail_clearly(["info", "--jsno"], 2, "did you mean '--json'")
        self.fail_clearly(["completion", "tcsh"], 2, "tcsh", "bash")

    def test_standard_output_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for command in (["info"], ["run", "--list-keys"], ["man"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([os.environ["FARFIELD"] if "FARFIELD" in os.environ else SOURCE + "/build/farfield",
                                       *command], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1, command)
            self.assert_one_error(done.stderr.decode())


class Manual(CommandTest):
    def test_it_lists_every_option_of_every_command(self):
        page = self.succeed("man").out.replace("\\-", "-")
        for command in COMMANDS:
            start = page.index(f"\n.SS farfield {command}\n")
            end = min(page.find(mark, start + 5) % (len(page) + 1) for mark in ("\n.SH ",))
            for option in options_of(command):
                self.assertIn(f"\\fB{option}\\fR", page[start:end], f"{option} of {command}")
        for code in ("0", "1", "2", "129, 130, 143"):
            self.assertIn(f".B {code}\n", page)

    def test_it_formats_without_warnings(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        page = self.succeed("man").out
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page.encode(), capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        self.assertIn("farfield run plummer.toml", re.sub(r"\x1b\[[\d;]*m", "", done.stdout.decode()))


class Completion(CommandTest):
    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = self.succeed("completion", "bash").out
        array = " ".join(f"'{word}'" for word in words)
        script += f"\nCOMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _farfield; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "--norc", "-u"], input=script.encode(), capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode().split()

    def test_bash(self):
        if shutil.which("bash") is None:
            self.skipTest("bash is not installed")
        self.assertLessEqual(set(COMMANDS), set(self.complete("farfield", "")))
        self.assertEqual(self.complete("farfield", "pl"), ["plot"])
        for command in COMMANDS:
            self.assertEqual(sorted(self.complete("farfield", command, "--")), options_of(command))
        self.assertEqual(self.complete("farfield", "sum", "--kernel", ""), ["gravity", "coulomb", "laplace2d", "gauss", "vortex2d"])
        self.assertEqual(self.complete("farfield", "sum", "--kernel", "gravity", "--precision", "mi"), ["mixed"])
        keys = self.complete("farfield", "run", "--set", "")
        table = self.succeed("run", "--list-keys").out
        self.assertEqual(sorted(key.rpartition(".")[2] for key in keys),
                         sorted(name + "=" for name in re.findall(r"^\| `(\w+)`", table, re.MULTILINE)))
        self.assertEqual(self.complete("farfield", "run", "--set", "output.checkpoint_"),
                         ["output.checkpoint_every=", "output.checkpoint_clock="])
        self.assertEqual(self.complete("farfield", "run", "--out", ""), [])  # left to the names of files
        self.assertEqual(self.complete("farfield", "run", ""), [])
        self.assertLessEqual({"handbook-timings", "handbook-multi-gpu", "ladder", "fdtd-blocks", "fdtd-sizes", "fdtd-multi", "microdisk", "fmm-strategies", "m2l-2d", "hermite"}, set(self.complete("farfield", "reproduce", "")))
        self.assertEqual(self.complete("farfield", "reproduce", "ladder", "--device", "c"), ["cpu", "cuda"])

    def test_zsh_and_fish(self):
        for shell in ("zsh", "fish"):
            script = self.succeed("completion", shell).out
            for command in COMMANDS:
                self.assertIn(command, script)
                for option in options_of(command):
                    self.assertIn(option.lstrip("-"), script)
            if shutil.which(shell) is not None:
                write("script", script)
                done = subprocess.run([shell, "-n", "script"], capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))


class Tables(CommandTest):
    """Tables of the guides that the program prints."""

    def check(self, guide, name, *command):
        text = read(os.path.join(SOURCE, "docs", "guide", guide)).decode()
        line = f"farfield {' '.join(command)}"
        begin, end = f"<!-- {name}: begin; printed by `{line}` -->\n", f"<!-- {name}: end -->"
        in_guide = text[text.index(begin) + len(begin) : text.index(end)]
        self.assertEqual(in_guide.strip(), self.succeed(*command).out.strip(),
                         f"paste the output of `{line}` into docs/guide/{guide}")

    def test_the_guides_have_the_tables_as_they_are(self):
        self.check("case-file.md", "keys", "run", "--list-keys")
        self.check("options.md", "options", "sum", "--list-options")
        self.check("conventions.md", "kernels", "sum", "--list-kernels")
        self.check("conventions.md", "methods", "sum", "--list-methods")

    def test_every_option_of_the_table_is_an_option_of_sum(self):
        rows = re.findall(r"^\| `(\w+)` \| `(--[\w-]+)` \|", self.succeed("sum", "--list-options").out, re.MULTILINE)
        self.assertGreater(len(rows), 10)
        self.assertLessEqual({flag for _, flag in rows}, set(options_of("sum")))

    def test_help_tells_what_kernels_and_methods_are(self):
        text = self.succeed("sum", "--help").out
        for part in ("gravity: Newton", "gauss: Gaussians", "direct: every pair", "reference: every pair"):
            self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main()
