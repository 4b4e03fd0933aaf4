"""farfield run: what it leaves behind, and what it says about cases it cannot run."""

import json
import os
import unittest

from support import PLUMMER, CommandTest, farfield, random_bodies, random_rows, read, write, write_npy

FILE_CASE = """[initial]
kind = "file"
path = "{}"

[force]
softening = 0.1

[time]
step = 0.125
end = 0.25
"""


class Run(CommandTest):
    def test_files_and_the_default_folder(self):
        write("my-cluster.toml", PLUMMER)
        result = self.succeed("run", "my-cluster.toml")
        made = set(os.listdir("my-cluster"))
        self.assertLessEqual({"case.toml", "checkpoint.h5", "diagnostics.csv", "summary.json", "snapshot_0000.h5",
                              "snapshot_0001.h5", "snapshot_0002.h5"}, made)
        for name in made:
            if name != "checkpoint.previous.h5":
                self.assertIn(f"my-cluster/{name}\n", result.out)
        self.assertEqual(read("my-cluster/snapshot_0000.h5")[:4], b"\x89HDF")
        summary = json.loads(read("my-cluster/summary.json"))
        self.assertTrue(summary["finished"])
        self.assertEqual(summary["steps"], 64)

    def test_diagnostics(self):
        write("c.toml", PLUMMER)
        self.succeed("run", "c.toml")
        lines = read("c/diagnostics.csv").decode().splitlines()
        names = lines[0].split(",")
        for name in ("time", "kinetic", "potential", "total", "relative_energy_error", "px", "lz", "virial_ratio", "r10",
                     "r50", "r90"):
            self.assertIn(name, names)
        rows = [dict(zip(names, map(float, line.split(",")))) for line in lines[1:]]
        self.assertEqual([row["time"] for row in rows], [i / 16 for i in range(9)])
        for row in rows:
            self.assertAlmostEqual(row["total"], row["kinetic"] + row["potential"], 14)
            self.assertLess(row["r10"], row["r50"])
            self.assertLess(row["r50"], row["r90"])
        self.assertEqual(rows[0]["relative_energy_error"], 0.0)

    def test_any_number_of_threads_gives_the_same_bits(self):
        write("c.toml", PLUMMER.replace("n = 64", "n = 300"))
        for precision in ("double", "float", "mixed"):
            for integrator in ("leapfrog", "hermite4"):
                for threads in (1, 2, 7):
                    self.succeed("run", "c.toml", "--threads", threads, "--set", f"force.precision={precision}", "--set",
                                 f"time.integrator={integrator}", "--set", "time.end=0.0625", "--out",
                                 f"{precision}{integrator}{threads}", "--quiet")
                for threads in (2, 7):
                    self.assert_same_run(f"{precision}{integrator}1", f"{precision}{integrator}{threads}")

    def test_a_tolerance_is_compared_at_every_row(self):
        write("c.toml", PLUMMER)
        fmm = ["run", "c.toml", "--set", "force.softening=0", "--set", "force.method=fmm", "--set", "force.leaf=4"]
        result = self.succeed(*fmm, "--set", "force.tolerance=1e-4")
        self.assertRegex(result.out, r"Largest relative error of the accelerations \d\.\de-\d\d, of the potentials \d\.\de-\d\d")
        lines = read("c/diagnostics.csv").decode().splitlines()
        self.assertTrue(lines[0].endswith(",r90,acceleration_error,potential_error"))
        for line in lines[1:]:
            for error in line.split(",")[-2:]:
                self.assertTrue(0.0 < float(error) <= 1e-4, line)
        hopeless = [*fmm, "--set", "force.order=2", "--set", "force.tolerance=1e-9", "--out", "out"]
        self.fail_clearly(hopeless, 1, "accelerations", "above force.tolerance = 1e-09", "order 2",
                          "leave force.order out or use a larger tolerance")
        self.assertFalse(os.path.exists("out/summary.json"))
        self.fail_clearly([*fmm, "--set", "force.tolerance=-1"], 2, "force.tolerance", "> 0")
        self.fail_clearly(["run", "c.toml", "--set", "time.integrator=hermite4", "--set", "force.tolerance=1e-4", "--out", "h"], 2, "hermite4",
                          "leave force.tolerance = 0.0001 out")

    def test_used_folder_is_refused_and_left_alone(self):
        write("c.toml", PLUMMER)
        self.succeed("run", "c.toml", "--quiet")
        before = {name: read("c/" + name) for name in os.listdir("c")}
        self.fail_clearly(["run", "c.toml"], 2, "'c'", "earlier run", "restart")
        self.assertEqual(before, {name: read("c/" + name) for name in os.listdir("c")})

    def test_set_replaces_values_and_paths_start_where_they_are_written(self):
        os.makedirs("cases")
        rows = random_bodies(5, seed=1)
        write_npy("cases/b.npy", rows)
        write("cases/c.toml", FILE_CASE.format("b.npy"))
        self.succeed("run", "cases/c.toml", "--quiet", "--out", "one")
        self.succeed("run", "cases/c.toml", "--quiet", "--out", "two", "--set", "initial.path=cases/b.npy", "--set",
                     "time.end=0.125")
        self.assertEqual(json.loads(read("one/summary.json"))["steps"], 2)
        self.assertEqual(json.loads(read("two/summary.json"))["steps"], 1)
        self.assertEqual(read("one/snapshot_0000.h5"), read("two/snapshot_0000.h5"))

    def test_a_snapshot_and_a_csv_start_the_same_run_as_an_npy(self):
        rows = random_bodies(5, seed=2)
        write_npy("b.npy", rows)
        columns = ["m", "vz", "vy", "vx", "z", "y", "x"]
        write("b.csv", ",".join(columns) + "\n" + "".join(",".join(map(repr, row[::-1])) + "\n" for row in rows))
        write("c.toml", FILE_CASE.format("b.npy"))
        self.succeed("run", "c.toml", "--quiet", "--out", "npy")
        for path, out in (("b.csv", "csv"), ("npy/snapshot_0000.h5", "h5")):
            self.succeed("run", "c.toml", "--quiet", "--out", out, "--set", f"initial.path={path}")
            self.assertEqual(read("npy/snapshot_0001.h5"), read(out + "/snapshot_0001.h5"))

    def test_quiet_prints_nothing(self):
        write("c.toml", PLUMMER)
        result = self.succeed("run", "c.toml", "--quiet")
        self.assertEqual((result.out, result.err), ("", ""))

    def test_an_energy_that_is_off_is_the_last_line_even_when_quiet(self):
        write("c.toml", PLUMMER)
        hasty = ["run", "c.toml", "--quiet", "--set", "force.softening=0", "--set", "time.step=0.25", "--set", "time.end=5"]
        codes = {}
        for seed in range(1, 7):
            result = farfield(*hasty, "--set", f"initial.seed={seed}", "--out", f"o{seed}")
            error = json.loads(read(f"o{seed}/summary.json"))["energy_error"]
            self.assertEqual(result.code, 1 if error > 1 else 0, (error, result.err))
            if error > 0.01:
                self.assertIn("farfield: warning: the energy is off by", result.err.splitlines()[-1])
            codes[result.code] = True
        self.assertIn(1, codes)
        result = farfield(*hasty, "--set", "output.energy_warning=0", "--out", "unasked")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_energies_that_are_no_numbers_end_the_run(self):
        write("b.csv", "x,y,z,vx,vy,vz,m\n0,0,0,1e200,0,0,1\n1,0,0,-1e200,1e200,0,1\n")
        write("c.toml", FILE_CASE.format("b.csv"))
        result = farfield("run", "c.toml", "--out", "o")
        self.assertEqual(result.code, 2)
        self.assertIn("kinetic energy at t = 0 is infinite", result.err)
        self.assertNotIn("nan", read("o/diagnostics.csv").decode())

    def test_case_on_which_the_end_is_not_a_multiple_of_the_step(self):
        write("c.toml", PLUMMER)
        result = self.succeed("run", "c.toml", "--set", "time.step=0.03", "--set", "output.snapshot_every=0", "--set",
                              "output.diagnostics_every=0", "--set", "output.checkpoint_every=0")
        self.assertIn("last step is shortened", result.err)
        self.assertEqual(json.loads(read("c/summary.json"))["time"], 0.5)


class BadCases(CommandTest):
    """Exit code 2, one line with file, line and column, key, value and remedy; nothing is made."""

    def refuse(self, *parts, case=PLUMMER, options=()):
        write("c.toml", case)
        before = sorted(os.listdir("."))
        self.fail_clearly(["run", "c.toml", *options], 2, *parts)
        self.assertEqual(before, sorted(os.listdir(".")))

    def replaced(self, before, after):
        self.assertIn(before, PLUMMER)
        return PLUMMER.replace(before, after)

    def test_unknown_keys(self):
        self.refuse("c.toml:8:1", "'softning'", "[force]", "did you mean 'softening'",
                    case=self.replaced("softening", "softning"))
        self.refuse("c.toml:7:2", "[forse]", "did you mean 'force'", case=self.replaced("[force]", "[forse]"))
        self.refuse("'threads'", "--threads", case=self.replaced("softening = 0.05", "threads = 2"))
        self.refuse("--set time.stpe=1", "did you mean 'step'", options=["--set", "time.stpe=1"])
        self.refuse("initial.w0", "not used", "plummer", options=["--set", "initial.w0=3"])

    def test_step(self):
        for value in ("0", "0.0", "-0.5", "nan", "inf", "-inf"):
            self.refuse("c.toml:11:8", "time.step", value.replace("0.0", "0"), "> 0",
                        case=self.replaced("step = 0.0078125", f"step = {value}"))
            self.refuse("--set time.step=", "> 0", options=["--set", f"time.step={value}"])
        self.refuse("time.step", '"fast"', "a number", case=self.replaced("step = 0.0078125", 'step = "fast"'))
        self.refuse("time.step is missing", case=self.replaced("step = 0.0078125", ""))

    def test_other_values(self):
        self.refuse("c.toml:8:13", "force.softening = -0.05", "≥ 0",
                    case=self.replaced("softening = 0.05", "softening = -0.05"))
        self.refuse("force.softening", "finite", case=self.replaced("softening = 0.05", "softening = nan"))
        self.refuse("time.end = -1", "before the start", case=self.replaced("end = 0.5", "end = -1"))
        self.refuse("initial.n = 0", "≥ 1", case=self.replaced("n = 64", "n = 0"))
        self.refuse("initial.n", "whole number", case=self.replaced("n = 64", "n = 64.0"))
        self.refuse("initial.kind", "did you mean 'plummer'", case=self.replaced('"plummer"', '"plumer"'))
        self.refuse("time.adaptive", "hermite4", options=["--set", "time.adaptive=true"])
        self.refuse("initial.w0 = 0.005", "≥ 0.01 and ≤ 16",
                    options=["--set", "initial.kind=king", "--set", "initial.w0=0.005"])
        self.refuse("--threads 0", "≥ 1", options=["--threads", "0"])
        # Keys as the case has them, and the flags that are no keys.
        self.refuse('force.variant = "naive" is scalar code and cannot use --isa sse4.2',
                    options=["--set", "force.variant=naive", "--isa", "sse4.2"])
        self.refuse('force.variant = "soa" is a rung of force.method = "direct"',
                    options=["--set", "force.variant=soa", "--set", "force.method=reference"])
        self.refuse("--isa avx3", "did you mean", options=["--isa", "avx3"])

    def test_bad_toml(self):
        self.refuse("c.toml:2:", "TOML", case="[initial]\nkind = plummer\n")
        self.refuse("c.toml", "initial.kind is missing", case="")
        self.refuse("c.toml", "TOML", case="\0\1\2")
        self.refuse("c.toml:12:", "TOML", case=self.replaced("end = 0.5", "step = 1"))

    def test_files_that_are_not_there(self):
        self.fail_clearly(["run", "nowhere.toml"], 2, "nowhere.toml", "no such file")
        self.fail_clearly(["run", "."], 2, "folder")
        self.refuse("c.toml:3:8", "b.npy", "no file", case=FILE_CASE.format("b.npy"))

    def test_bodies_that_cannot_be_used(self):
        rows = random_bodies(6, seed=3)
        rows[2][4] = float("nan")
        write_npy("b.npy", rows)
        self.refuse("b.npy", "row 2", "column 4", "nan", case=FILE_CASE.format("b.npy"))
        write_npy("b.npy", random_rows(6, 6, seed=3))
        self.refuse("b.npy", "(6, 6)", "(N, 7)", case=FILE_CASE.format("b.npy"))
        write("b.csv", "x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7\n1,2,3,4,5,inf,7\n")
        self.refuse("b.csv", "line 3", "vz", "inf", case=FILE_CASE.format("b.csv"))
        write("b.csv", "x,y,z,vx,vy,vz\n1,2,3,4,5,6\n")
        self.refuse("b.csv", "m", case=FILE_CASE.format("b.csv"))
        write("b.csv", "")
        self.refuse("b.csv", "empty", case=FILE_CASE.format("b.csv"))

    def test_truncated_snapshot(self):
        write("c.toml", PLUMMER)
        self.succeed("run", "c.toml", "--quiet", "--out", "good")
        whole = read("good/snapshot_0002.h5")
        for size in (0, 100, len(whole) // 2, len(whole) - 8):
            with open("b.h5", "wb") as file:
                file.write(whole[:size])
            self.refuse("b.h5", case=FILE_CASE.format("b.h5"))
            self.refuse("b.h5", case=FILE_CASE.format("b.h5"), options=["--set", "force.G=1"])

    def test_bodies_at_one_place(self):
        rows = random_bodies(4, seed=4)
        rows[3][:3] = rows[1][:3]
        write_npy("b.npy", rows)
        case = FILE_CASE.format("b.npy").replace("softening = 0.1", "softening = 0")
        write("c.toml", case)
        self.fail_clearly(["run", "c.toml"], 2, "softening")

    def test_vortices_from_a_file_and_what_they_refuse(self):
        write("v.csv", "x,y,gamma\n0,0,1\n1,0,-1\n")
        write("v.toml", FILE_CASE.replace("softening = 0.1", 'kernel = "vortex2d"').format("v.csv"))
        self.succeed("run", "v.toml", "--quiet")
        rows = read("v/diagnostics.csv").decode().splitlines()
        self.assertEqual(rows[0], "time,step,circulation,impulse_x,impulse_y,angular_impulse,hamiltonian,hamiltonian_error,sigma")
        self.assertEqual(json.loads(read("v/summary.json"))["last_diagnostics"]["circulation"], 0.0)
        self.succeed("plot", "v/diagnostics.csv", "-o", "v.png")
        for assignment, *parts in (("time.integrator=leapfrog", "rk4"), ("force.viscosity=1", "force.sigma > 0"),
                                   ("force.sigma=0", "> 0"), ("force.device=cuda", "CPU only"), ("force.G=2", "not used")):
            self.fail_clearly(["run", "v.toml", "--set", assignment, "--out", "no"], 2, *parts)
        write("space.csv", "x,y,z,gamma\n0,0,1,1\n")
        self.fail_clearly(["run", "v.toml", "--set", "initial.path=space.csv", "--out", "no"], 2, "column z")

    def test_coulomb_without_charges(self):
        write("c.toml", PLUMMER)
        self.fail_clearly(["run", "c.toml", "--set", "force.kernel=coulomb"], 2, "charge", "gravity")

    def test_output_folders_that_cannot_be_written(self):
        write("file", "earlier output")
        for out in ("file", "file/below", "file/far/below"):
            self.refuse("--out " + out, "file", "not a folder", options=["--out", out])
        self.assertEqual(read("file"), b"earlier output")
        if os.path.isdir("/proc/1"):
            self.refuse("/proc/farfield", "you may write to", options=["--out", "/proc/farfield"])
        if os.geteuid() != 0:
            os.makedirs("locked", mode=0o555)
            self.refuse("--out locked/x", "Permission denied", options=["--out", "locked/x"])


if __name__ == "__main__":
    unittest.main()
