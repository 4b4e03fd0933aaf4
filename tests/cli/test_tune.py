"""farfield tune and the cost table: measured into a file, read by whatever chooses, told in every report."""

import json
import os
import re
import signal
import unittest

from support import FEWER, PLUMMER, CommandTest, farfield, handles, read, start, write

QUICK = ["--points", "64", "--repeat", "1", "--threads", "1"]
POINTS = "x,y,z,q\n" + "".join(f"{x},{x * x},{1 / x},{x}\n" for x in range(1, 9))
REMEDY = "run `farfield tune` to write the file anew, or delete it"


class Costs(CommandTest):
    def setUp(self):
        super().setUp()
        self.config = {"XDG_CONFIG_HOME": os.path.abspath("config")}
        self.file = os.path.abspath("config/farfield/cost_table.toml")

    def info(self, environment=None):
        return json.loads(self.succeed("info", "--json", environment=environment or self.config).out)["cost_table"]

    def sum(self, *options, environment=None):
        write("points.csv", POINTS)
        return farfield("sum", "--kernel", "gravity", "--sources", "points.csv", "--out", "out.npy", "--json",
                        "report.json", *options, environment=environment or self.config)

    def write_table(self, *lines, path=None):
        os.makedirs(os.path.dirname(self.file), exist_ok=True)
        write(path or self.file, "format = 1\n" + "".join(line + "\n" for line in lines))


class Tune(Costs):
    def test_a_dry_run_measures_and_writes_nothing(self):
        shipped = self.info()
        self.assertEqual((shipped["file"], shipped["problem"]), ("", ""))
        self.assertRegex(shipped["hash"], "^[0-9a-f]{16}$")
        result = self.succeed("tune", "direct", *QUICK, "--device", "cpu", "--dry-run", "--json", "r.json", environment=self.config)
        self.assertFalse(os.path.exists("config"))
        report = json.loads(read("r.json"))
        self.assertEqual((report["written"], report["gpu"], report["threads"]), (False, "left out", 1))
        self.assertEqual(report["hash_before"], shipped["hash"])
        self.assertNotEqual(report["hash_after"], shipped["hash"])
        names = [row["name"] for row in report["costs"]]
        self.assertIn("direct.cpu.fixed_seconds", names)
        isas = json.loads(farfield("info", "--json").out)["isas_found"]
        self.assertEqual(len(names), 1 + 6 * len(isas), names)
        for row in report["costs"]:
            self.assertEqual(row["shipped"], row["before"])
            self.assertGreater(row["measured"], 0)
            self.assertIn(row["name"], result.out)
        for part in ("shipped", "measured", report["hash_before"], report["hash_after"], "Nothing was written", "r.json"):
            self.assertIn(part, result.out)
        self.assertEqual(self.info(), shipped)

    def test_fmm_alone_leaves_the_direct_sum_as_it_was(self):
        self.write_table("direct.cpu.fixed_seconds = 7", "fmm.cpu.cell_seconds = 7")
        self.succeed("tune", "fmm", *QUICK, "--json", "r.json", environment=self.config)
        report = json.loads(read("r.json"))
        self.assertEqual(report["gpu"], "left out")
        names = [row["name"] for row in report["costs"]]
        isas = json.loads(farfield("info", "--json").out)["isas_found"]
        self.assertEqual(len(names), 6 + 8 * len(isas), names)
        for row in report["costs"]:
            self.assertTrue(row["name"].startswith("fmm.cpu."), row)
            self.assertGreater(row["measured"], 0)
        text = read(self.file).decode()
        self.assertIn("direct.cpu.fixed_seconds = 7e+00\n", text)
        self.assertNotIn("fmm.cpu.cell_seconds = 7e+00\n", text)
        for name in names:
            self.assertIn(f"\n{name} = ", text)

    @unittest.skipIf(FEWER, "sanitizers make times of their own, and minutes of them")
    def test_the_order_of_magnitude_of_fmm_is_right(self):
        """No machine of today is off by these factors, whatever else it does; a coefficient of another unit is."""
        self.succeed("tune", "fmm", "--points", "4096", "--repeat", "1", "--threads", "1", "--dry-run", "--json", "r.json",
                     environment=self.config)
        measured = {row["name"]: row["measured"] for row in json.loads(read("r.json"))["costs"]}
        for name, low, high in (("fmm.cpu.point_seconds", 1e-9, 1e-5), ("fmm.cpu.operator_seconds", 1e-10, 1e-5),
                                ("fmm.cpu.cell_seconds", 1e-9, 1e-2), ("fmm.cpu.fixed_seconds", 1e-6, 1.0),
                                ("fmm.cpu.scalar.double.functions_per_second", 1e6, 1e11),
                                ("fmm.cpu.scalar.double.multiply_adds_per_second", 1e7, 1e11)):
            self.assertGreater(measured[name], low, name)
            self.assertLess(measured[name], high, name)

    def test_without_a_method_it_measures_all(self):
        self.succeed("tune", *QUICK, "--device", "cpu", "--dry-run", "--json", "r.json", environment=self.config)
        names = {row["name"].split(".")[0] for row in json.loads(read("r.json"))["costs"]}
        self.assertEqual(names, {"direct", "fmm"})

    def test_with_two_threads_it_measures_what_the_second_takes(self):
        self.succeed("tune", "direct", *QUICK[:-1], "2", "--device", "cpu", "--dry-run", "--json", "r.json", environment=self.config)
        rows = {row["name"]: row for row in json.loads(read("r.json"))["costs"]}
        self.assertEqual(rows["cpu.thread_seconds"]["shipped"], 6e-5)
        self.assertGreater(rows["cpu.thread_seconds"]["measured"], 0)

    def test_the_written_table_counts_until_it_is_deleted(self):
        shipped = self.info()["hash"]
        result = self.succeed("tune", *QUICK, "--device", "cpu", "--json", "r.json", environment=self.config)
        report = json.loads(read("r.json"))
        self.assertIn("delete the file to go back", result.out)
        self.assertTrue(result.out.endswith(f"Files made:\n  {self.file}\n  r.json\n"), result.out)
        self.assertEqual(os.listdir("config/farfield"), ["cost_table.toml"])
        for row in report["costs"]:
            self.assertRegex(read(self.file).decode(), rf"(?m)^{re.escape(row['name'])} = \S+$")
        self.assertEqual(self.info(), {"hash": report["hash_after"], "file": self.file, "problem": ""})
        self.assertIn(f"{report['hash_after']}, {self.file}", self.succeed("info", environment=self.config).out)
        self.sum()
        self.assertEqual(json.loads(read("report.json"))["cost_table"], report["hash_after"])
        again = self.succeed("tune", *QUICK, "--device", "cpu", "--dry-run", "--json", "r.json", environment=self.config)
        self.assertIn(f"{report['hash_after']} before", again.out)
        os.remove(self.file)
        self.assertEqual(self.info()["hash"], shipped)

    def test_what_is_not_measured_stays(self):
        self.write_table("gpu.my_card.start_seconds = 0.125", "direct.cpu.fixed_seconds = 7")
        self.succeed("tune", "direct", *QUICK, "--device", "cpu", "--quiet", environment=self.config)
        text = read(self.file).decode()
        self.assertIn("gpu.my_card.start_seconds = 1.25e-01\n", text)
        self.assertNotIn("direct.cpu.fixed_seconds = 7", text)

    def test_quiet_and_another_file(self):
        result = self.succeed("tune", "direct", *QUICK, "--quiet", "--out", "mine.toml", environment=self.config)
        self.assertEqual((result.out, result.err), ("", ""))
        self.assertFalse(os.path.exists("config"))
        self.assertEqual(self.info({"FARFIELD_COST_TABLE": "mine.toml"})["file"], "mine.toml")
        text = self.succeed("tune", "direct", *QUICK, "--device", "cpu", "--out", "mine.toml", environment=self.config).out
        self.assertIn("set FARFIELD_COST_TABLE=mine.toml", text)

    def test_it_writes_where_the_variable_says(self):
        environment = {**self.config, "FARFIELD_COST_TABLE": os.path.abspath("new.toml")}
        self.succeed("tune", "direct", *QUICK, "--device", "cpu", "--quiet", environment=environment)
        self.assertEqual(self.info(environment)["file"], os.path.abspath("new.toml"))

    def test_auto_measures_a_gpu_where_there_is_one(self):
        gpus = json.loads(farfield("info", "--json").out)["devices"]
        self.succeed("tune", *QUICK, "--dry-run", "--json", "r.json", environment=self.config)
        report = json.loads(read("r.json"))
        of_gpus = [row["name"] for row in report["costs"] if "gpu." in row["name"]]
        self.assertEqual(len(of_gpus), 11 if gpus else 0, of_gpus)
        if not gpus:
            self.assertIn("none: ", report["gpu"])
            self.fail_clearly(["tune", "--device", "cuda"], 2, "cuda" if "cuda" in report["gpu"] else "CUDA")

    def test_mistakes(self):
        self.fail_clearly(["tune", "--device", "cuda:0,1"], 2, "one device is measured at a time")
        self.fail_clearly(["tune", "--points", "63"], 2, "--points 63", "≥ 64")
        self.fail_clearly(["tune", "--out", "absent/table.toml"], 2, "--out absent/table.toml")
        self.fail_clearly(["tune", "drect"], 2, "did you mean 'direct'?")
        self.fail_clearly(["tune", "reference"], 2, "method 'reference' has no costs to measure")
        self.fail_clearly(["tune", "fmm", "--device", "cuda"], 2, "method 'fmm' runs on the CPU only", "--device cpu")
        nowhere = farfield("tune", *QUICK, environment={"XDG_CONFIG_HOME": "", "HOME": ""})
        self.assertEqual(nowhere.code, 2, nowhere)
        self.assert_one_error(nowhere.err, "XDG_CONFIG_HOME and HOME", "--out")

    def test_a_file_that_cannot_be_written_stays_as_it_was(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        self.fail_clearly(["tune", "direct", *QUICK, "--device", "cpu", "--out", "/dev/full"], 1, "/dev/full")

    def test_ctrl_c_leaves_no_file(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            method = "fmm" if number == signal.SIGINT else "direct"
            process = start("tune", method, "--repeat", 1000, "--device", "cpu", "--out", "table.toml")
            self.assertTrue(handles(process.pid, number), "no handler after 30 s")
            process.send_signal(number)
            out, err = process.communicate(timeout=100)
            self.assertEqual(process.returncode, code, err)
            self.assertEqual(out, b"")
            self.assertEqual(err, b"farfield: stopped; nothing was written\n")
            self.assertEqual(os.listdir("."), [])


class Table(Costs):
    def test_reports_name_the_table_only_where_it_chose(self):
        self.sum()
        self.assertEqual(json.loads(read("report.json"))["cost_table"], self.info()["hash"])
        for named in (["--device", "cpu"], ["--isa", "scalar"], ["--variant", "simd"]):
            self.sum(*named)
            self.assertIsNone(json.loads(read("report.json"))["cost_table"])

    def test_a_broken_table_is_told_with_file_line_and_remedy(self):
        self.write_table("", "direct.cpu.fixed_seconds = soon")
        result = self.sum()
        self.assertEqual(result.code, 2, result)
        self.assert_one_error(result.err, f"{self.file}:3: ", "direct.cpu.fixed_seconds = soon", REMEDY)
        self.assertFalse(os.path.exists("out.npy"))
        self.assertEqual(self.sum("--device", "cpu").code, 0)  # nothing to choose
        self.assertIn(f"{self.file}:3: ", self.info()["problem"])
        self.assertIn(f"none: {self.file}:3: ", self.succeed("info", environment=self.config).out)
        text = self.succeed("tune", "direct", *QUICK, "--device", "cpu", environment=self.config).out
        self.assertIn(f"the earlier file counts for nothing: {self.file}:3: ", text)
        self.assertEqual(self.sum().code, 0)

    def test_a_table_of_another_format_is_refused(self):
        os.makedirs(os.path.dirname(self.file))
        write(self.file, "format = 2\n")
        result = self.sum()
        self.assertEqual(result.code, 2, result)
        self.assert_one_error(result.err, f"{self.file}:1: its format is 2, this version of Farfield reads 1", REMEDY)

    def test_a_table_that_cannot_be_read_is_told(self):
        os.makedirs(self.file)  # a folder
        result = self.sum()
        self.assertEqual(result.code, 1, result)
        self.assert_one_error(result.err, self.file, "it is no file")

    def test_the_variable_names_the_table(self):
        self.write_table("direct.cpu.fixed_seconds = 1", path="a.toml")
        self.write_table("direct.cpu.fixed_seconds = 2", path="b.toml")
        a, b = (self.info({"FARFIELD_COST_TABLE": name}) for name in ("a.toml", "b.toml"))
        self.assertNotEqual(a["hash"], b["hash"])
        self.sum(environment={"FARFIELD_COST_TABLE": "b.toml"})
        self.assertEqual(json.loads(read("report.json"))["cost_table"], b["hash"])
        result = self.sum(environment={"FARFIELD_COST_TABLE": "absent.toml"})
        self.assertEqual(result.code, 2, result)
        self.assert_one_error(result.err, "FARFIELD_COST_TABLE names 'absent.toml'", "does not exist", "unset the variable")

    def test_a_restart_keeps_the_choice_and_tells_of_another_table(self):
        write("case.toml", PLUMMER)
        before = self.info()["hash"]
        half = ["run", "case.toml", "--out", "out", "--set", "time.end=0.25"]
        self.succeed(*half, environment=self.config)
        self.write_table("direct.cpu.fixed_seconds = 1")
        after = self.info()["hash"]
        result = self.succeed("run", "case.toml", "--out", "out", "--restart", environment=self.config)
        self.assertIn(f"the cost table was {before} when the run began and is {after} now; the run stays on", result.err)
        self.assertEqual(json.loads(read("out/summary.json"))["backend"]["cost_table"], before)
        self.succeed("run", "case.toml", "--out", "whole", environment={"XDG_CONFIG_HOME": os.path.abspath("none")})
        self.assert_same_run("whole", "out")
        write(self.file, "broken")
        result = self.succeed("run", "case.toml", "--out", "out", "--restart", environment=self.config)
        self.assertIn(f"not readable: {self.file}:1: ", result.err)

    def test_a_restart_keeps_the_method_and_its_tree(self):
        write("case.toml", PLUMMER)
        case = ["run", "case.toml", "--set", "force.softening=0", "--set", "force.method=auto", "--set", "force.tolerance=1e-3"]
        method = lambda folder: json.loads(read(folder + "/summary.json"))["force"]
        shipped = {"XDG_CONFIG_HOME": os.path.abspath("none")}
        self.write_table("direct.cpu.fixed_seconds = 1")  # by every pair an evaluation takes a second
        result = self.succeed(*case, "--out", "whole", environment=self.config)
        self.assertIn('force.method = "auto" takes \'fmm\': by the cost table', result.err)
        self.assertEqual(method("whole")["method"], "fmm")
        self.assertIn("by the cost table", method("whole")["method_reason"])
        self.succeed(*case, "--out", "out", "--set", "time.end=0.25", environment=self.config)
        result = self.succeed(*case, "--out", "out", "--restart", environment=shipped)
        self.assertIn("with method 'fmm'", result.err)
        for key in ("method", "method_reason", "order", "leaf"):
            self.assertEqual(method("out")[key], method("whole")[key])
        self.assert_same_run("whole", "out")
        self.succeed(*case, "--out", "other", environment=shipped)
        self.assertEqual(method("other")["method"], "direct")

    def test_a_run_that_names_its_device_needs_no_table(self):
        write("case.toml", PLUMMER)
        write("broken.toml", "broken")
        broken = {"FARFIELD_COST_TABLE": "broken.toml"}
        result = farfield("run", "case.toml", "--out", "out", environment=broken)
        self.assertEqual(result.code, 2, result)
        self.assertFalse(os.path.exists("out"))
        self.succeed("run", "case.toml", "--out", "out", "--device", "cpu", environment=broken)
        self.assertIsNone(json.loads(read("out/summary.json"))["backend"]["cost_table"])
        self.succeed("run", "case.toml", "--out", "out", "--device", "cpu", "--restart", environment=broken)


if __name__ == "__main__":
    unittest.main()
