"""--device on the command line: what happens with and without a GPU, in builds with and without CUDA."""

import json
import os
import random
import unittest

from support import CommandTest, farfield, write

POINTS = "x,y,z,q\n" + "".join(f"{x},{x * x},{1 / x},{x}\n" for x in range(1, 9))


def info():
    return json.loads(farfield("info", "--json").out)


class Device(CommandTest):
    def sum(self, *options):
        write("points.csv", POINTS)
        return farfield("sum", "--kernel", "gravity", "--sources", "points.csv", "--out", "out.npy",
                        "--json", "report.json", *options)

    def report(self):
        with open("report.json", encoding="utf-8") as file:
            return json.load(file)

    def test_info_lists_gpus_or_says_why_there_are_none(self):
        report = info()
        self.assertEqual(bool(report["devices"]), not report["why_no_gpu"])
        text = farfield("info").out
        if report["devices"]:
            self.assertIn(report["devices"][0]["name"], text)
            self.assertIn("compute capability " + report["devices"][0]["compute_capability"], text)
        else:
            self.assertIn("none besides the CPU: " + report["why_no_gpu"], text)
            self.assertNotIn("\n", report["why_no_gpu"])

    def test_cpu_and_auto_compute_a_small_sum_on_the_cpu(self):
        for options in ([], ["--device", "auto"], ["--device", "cpu"]):
            result = self.sum(*options)
            self.assertEqual(result.code, 0, result)
            self.assertEqual(self.report()["device"], "cpu")
            self.assertEqual(self.report()["options"]["device"], options[-1] if options else "auto")

    def test_cuda_computes_there_or_is_refused(self):
        for options in (["--device", "cuda"], ["--device", "cuda:0"], ["--variant", "register-tile"]):
            result = self.sum(*options)
            if info()["devices"]:
                self.assertEqual(result.code, 0, result)
                self.assertEqual(self.report()["device"], "cuda:0")
                self.assertEqual(self.report()["gpus"], [info()["devices"][0]["name"]])
                self.assertIn("cuda:0", result.out)
            else:
                self.assertEqual(result.code, 2, result)
                self.assert_one_error(result.err, info()["why_no_gpu"])
                self.assertFalse(os.path.exists("out.npy"))

    def test_bench_fmm_measures_a_gpu_or_is_refused(self):
        result = farfield("bench", "fmm", "--device", "cuda", "--n", "20000", "--order", "4,8", "--precision", "mixed",
                          "--json", "bench.json")
        if not info()["devices"]:
            self.assertEqual(result.code, 2, result)
            self.assert_one_error(result.err, info()["why_no_gpu"])
            return
        self.assertEqual(result.code, 0, result)
        with open("bench.json", encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual((report["gpu"], report["isa"]), (info()["devices"][0]["name"], None))
        direct, low, high = report["rows"]
        self.assertLess(direct["error_field"], 1e-5)
        self.assertLess(high["error_field"], 0.2 * low["error_field"])
        self.assertGreater(high["passes"]["M2L"], 0)
        self.assertIn(report["gpu"], result.out)

    def test_a_gpu_that_is_not_there_is_refused(self):
        result = self.sum("--device", "cuda:77")
        self.assertEqual(result.code, 2, result)
        self.assertIn("there is no cuda:77" if info()["devices"] else info()["why_no_gpu"], result.err)

    def test_unknown_values_name_the_nearest(self):
        for option, value, near in (("--device", "cud", "cuda"), ("--multi-gpu", "thread", "threads"),
                                    ("--exchange", "pear", "peer"), ("--variant", "register-tyle", "register-tile")):
            result = self.sum(option, value)
            self.assertEqual(result.code, 2, result)
            self.assertIn(f"did you mean '{near}'?", result.err)
        self.assertIn("'cuda:0,1'", self.sum("--device", "cuda:x").err)

    def test_a_variant_of_gpus_is_refused_on_the_cpu(self):
        result = self.sum("--device", "cpu", "--variant", "flush")
        self.assertEqual(result.code, 2, result)
        self.assertIn("--variant flush is a rung for GPUs; use --device cuda, or", result.err)

    def test_a_case_names_its_device(self):
        write("case.toml", '[initial]\nkind = "plummer"\nn = 16\n[time]\nstep = 0.1\nend = 0.2\n'
                           '[force]\ndevice = "cpu"\nmulti_gpu = "single"\nexchange = "host"\n')
        result = farfield("run", "case.toml", "--out", "out", "--quiet")
        self.assertEqual(result.code, 0, result)
        with open("out/case.toml", encoding="utf-8") as file:
            text = file.read()
        for line in ('device = "cpu"', 'multi_gpu = "single"', 'exchange = "host"'):
            self.assertIn(line + "\n", text)
        wrong = farfield("run", "case.toml", "--out", "other", "--set", "force.device=cudda")
        self.assertEqual(wrong.code, 2, wrong)
        self.assertIn("did you mean 'cuda'?", wrong.err)

    def test_a_case_names_the_rung_of_its_forces(self):
        write("case.toml", '[initial]\nkind = "plummer"\nn = 16\n[time]\nstep = 0.1\nend = 0.2\n'
                           '[force]\ndevice = "cpu"\nvariant = "naive"\n')
        result = farfield("run", "case.toml", "--out", "out", "--quiet")
        self.assertEqual(result.code, 0, result)
        with open("out/summary.json", encoding="utf-8") as file:
            self.assertIn('"variant": "naive"', file.read())
        for wrong, words in (("flush", 'force.variant = "flush" is a rung for GPUs; use force.device = "cuda"'), ("nave", "did you mean 'naive'?")):
            result = farfield("run", "case.toml", "--out", "other", "--set", f"force.variant={wrong}")
            self.assertEqual(result.code, 2, result)
            self.assertIn(words, result.err)

    def test_a_run_on_a_gpu_ends_there_or_is_refused(self):
        write("case.toml", '[initial]\nkind = "plummer"\nn = 16\n[time]\nstep = 0.1\nend = 0.2\n'
                           '[force]\ndevice = "cpu"\nsoftening = 0.1\n')
        result = farfield("run", "case.toml", "--out", "out", "--quiet", "--device", "cuda", "--multi-gpu", "single",
                          "--exchange", "host")
        if not info()["devices"]:
            self.assertEqual(result.code, 2, result)
            self.assert_one_error(result.err, info()["why_no_gpu"])
            return
        self.assertEqual(result.code, 0, result)
        with open("out/case.toml", encoding="utf-8") as file:  # the option replaces the key
            self.assertIn('device = "cuda"\n', file.read())

    def test_a_run_by_expansions_ends_on_a_gpu_or_is_refused(self):
        write("case.toml", '[initial]\nkind = "plummer"\nn = 64\n[time]\nstep = 0.01\nend = 0.02\n'
                           '[force]\nmethod = "fmm"\ntolerance = 1e-3\nleaf = 8\ndevice = "cuda"\n')
        result = farfield("run", "case.toml", "--out", "out", "--quiet")
        if info()["devices"]:
            self.assertEqual(result.code, 0, result)
            with open("out/summary.json", encoding="utf-8") as file:
                summary = json.load(file)
            self.assertEqual((summary["backend"]["device"], summary["force"]["method"]), ("cuda", "fmm"))
            self.assertLessEqual(summary["force"]["largest_relative_errors"]["potential"], 1e-3)
            self.assertEqual(farfield("run", "case.toml", "--out", "out", "--restart", "--quiet").code, 0)
        else:
            self.assertEqual(result.code, 2, result)
            self.assert_one_error(result.err, info()["why_no_gpu"])
        for wrong, words in ((["--set", 'force.method="treecode"', "--device", "cuda:0,1"], 'takes one GPU as yet; use force.device = "cuda:0"'),
                             (["--set", 'force.m2l="rotation"'], "no translations 'rotation' yet; use force.device = \"cpu\""),
                             (["--set", 'time.integrator="hermite4"'], "time derivatives")):
            self.fail_clearly(["run", "case.toml", "--out", "other", *wrong], 2, words)

    def test_both_devices_agree(self):
        if not info()["devices"]:
            self.skipTest(info()["why_no_gpu"])
        numbers = random.Random(1)
        write("cloud.csv", "x,y,z,q\n" + "".join(
            ",".join(repr(numbers.gauss(0, 1)) for _ in range(4)) + "\n" for _ in range(3000)))
        fields = {}
        for device in ("cpu", "cuda"):
            result = farfield("sum", "--kernel", "coulomb", "--sources", "cloud.csv", "--softening", "0.01", "--device", device,
                              "--out", device + ".csv")
            self.assertEqual(result.code, 0, result)
            with open(device + ".csv", encoding="utf-8") as file:
                fields[device] = [[float(x) for x in line.split(",")] for line in file.readlines()[1:]]
        size = max(abs(x) for row in fields["cpu"] for x in row)
        for a, b in zip(fields["cpu"], fields["cuda"]):
            for x, y in zip(a, b):
                self.assertLessEqual(abs(x - y), 1e-12 * size)


if __name__ == "__main__":
    unittest.main()
