"""`farfield sum` over periodic boxes."""

import json
import os
import signal
import unittest

from support import SOURCE, CommandTest, handles, random_rows, read, start, write, write_npy

SALT = os.path.join(SOURCE, "examples/18_rock_salt.csv")


class PeriodicSum(CommandTest):
    base = ["sum", "--kernel", "coulomb", "--sources", SALT, "--output", "potential"]

    def test_commands_of_the_guide_run(self):
        text = read(os.path.join(SOURCE, "docs/guide/periodic.md")).decode()
        commands = [line.split() for line in text.splitlines() if line.startswith("    build/farfield sum ")]
        self.assertEqual(len(commands), 7)
        for words in commands:
            words = [os.path.join(SOURCE, word) if word.startswith("examples/") else word for word in words[1:]]
            with self.subTest(command=" ".join(words)):
                self.succeed(*words)
        for file, off in (("salt.csv", 1e-9), ("mesh.csv", 2e-8)):
            potentials = [float(line) for line in read(file).decode().splitlines()[1:]]
            self.assertEqual(len(potentials), 8)
            for row, potential in enumerate(potentials):
                x, y, z = row >> 2, row >> 1 & 1, row & 1
                self.assertAlmostEqual(potential, -1.747564594633182 * (-1) ** (x + y + z), delta=off)
        for name, constant in (("pairs.csv", 1.747564594633182), ("slab.csv", None), ("wire.csv", None)):
            columns = [line.split(",") for line in read(name).decode().splitlines()[1:]]
            self.assertEqual(len(columns), 8)
            if constant:
                self.assertAlmostEqual(float(columns[0][0]), -constant, delta=1e-9)

    def test_the_report(self):
        self.succeed(*self.base, "--method", "auto", "--period", "2,2,2", "--tolerance", "1e-8", "--out", "o.csv", "--json", "r.json")
        report = json.loads(read("r.json"))
        self.assertEqual(report["method"], "ewald")
        self.assertEqual((report["options"]["period"], report["options"]["boundary"], report["options"]["background"]), ("2", "tin-foil", "none"))
        self.assertEqual([entry["name"] for entry in report["passes"]], ["near images", "structure factors", "waves", "other terms"])
        self.assertAlmostEqual(report["energy"], -4 * 1.747564594633182, delta=1e-6)
        for key in ("splitting", "cutoff", "wave_cutoff", "near_pairs", "waves"):
            self.assertGreater(report["lattice"][key], 0)
        self.assertLessEqual(report["errors"][0]["relative"], 1e-8)

    def test_the_report_of_images(self):
        for method, period, constant in (("direct", "2", 1.747564594633182), ("fmm", "2", 1.747564594633182), ("direct", "2,0,0", None), ("fmm", "2,2,3", None)):
            self.succeed(*self.base, "--method", method, "--period", period, "--tolerance", "1e-6", "--out", "o.csv", "--json", "r.json")
            report = json.loads(read("r.json"))
            self.assertEqual((report["method"], report["options"]["period"]), (method, period))
            names = [entry["name"] for entry in report["passes"]]
            if (method, period) == ("fmm", "2"): # by one tree
                self.assertEqual(set(names), {"P2M", "M2M", "P2P", "M2L", "L2L", "L2P", "other terms"})
                self.assertEqual(report["lattice"]["near_pairs"], 0)  # no leaf of eight charges has a neighbour
            else:
                self.assertEqual(names[-2:], ["near images", "far images"])
            for key in ("cells", "order") if (method, period) == ("fmm", "2") else ("near_pairs", "rim_images", "cells", "order"):
                self.assertGreater(report["lattice"][key], 0)
            self.assertLessEqual(report["errors"][0]["relative"], 1e-6)
            if constant:
                self.assertAlmostEqual(report["energy"], -4 * constant, delta=1e-5)

    def test_ctrl_c_of_images(self):
        write_npy("s.npy", [row[:3] + [(-1.0) ** i] for i, row in enumerate(random_rows(100000, 4, seed=1))])
        for number, options in enumerate((["--method", "direct"], ["--method", "fmm", "--order", "38"])):
            process = start("sum", "--kernel", "coulomb", "--sources", "s.npy", "--out", "o.npy", "--json", "r.json", "--period", "20", *options)
            self.assertTrue(handles(process.pid, signal.SIGINT), number)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, error)
            self.assertIn(b"nothing was written", error)
            self.assertEqual(os.listdir("."), ["s.npy"])

    def test_the_report_of_a_mesh(self):
        self.succeed(*self.base, "--method", "pme", "--period", "2,2,2", "--tolerance", "1e-8", "--out", "o.csv", "--json", "r.json")
        report = json.loads(read("r.json"))
        self.assertEqual(report["method"], "pme")
        self.assertEqual([entry["name"] for entry in report["passes"]], ["near images", "spreading", "transforms", "gathering", "other terms"])
        self.assertEqual(len(report["lattice"]["mesh"]), 3)
        self.assertIn(report["lattice"]["order"], range(4, 15))
        self.assertNotIn("waves", report["lattice"])
        self.assertLessEqual(report["errors"][0]["relative"], 1e-8)
        self.succeed(*self.base, "--method", "pme", "--order", "5", "--period", "2", "--tolerance", "1e-4", "--out", "o.csv", "--json", "r.json")
        self.assertEqual(json.loads(read("r.json"))["lattice"]["order"], 5)

    def test_auto_takes_waves_for_few_points_and_a_mesh_for_many(self):
        for count, method in ((8, "ewald"), (20000, "pme")):
            write("points.csv", "x,y,z,q\n" + "".join(f"{i * 0.618034 % 1},{i * 0.754878 % 1},{i * 0.569840 % 1},{(-1) ** i}\n" for i in range(count)))
            self.succeed("sum", "--kernel", "coulomb", "--method", "auto", "--sources", "points.csv", "--period", "1", "--out", "o.csv", "--json", "r.json")
            report = json.loads(read("r.json"))
            self.assertEqual(report["method"], method)

    def test_ctrl_c(self):
        write_npy("s.npy", [row[:3] + [(-1.0) ** i] for i, row in enumerate(random_rows(100000, 4, seed=1))])
        for method in ("ewald", "pme"):
            with self.subTest(method=method):
                process = start("sum", "--kernel", "coulomb", "--method", method, "--period", "3", "--sources", "s.npy", "--out", "o.npy", "--json", "r.json",
                                "--tolerance", "1e-12")
                self.assertTrue(handles(process.pid, signal.SIGINT))
                process.send_signal(signal.SIGINT)
                _, error = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, error)
                self.assertIn(b"nothing was written", error)
                self.assertEqual(sorted(os.listdir(".")), ["s.npy"])

    def test_bad_input_is_refused(self):
        def refuse(options, *words):
            self.fail_clearly([*self.base, "--out", "x.csv", *options], 2, *words)
            self.assertFalse(os.path.exists("x.csv"))

        ewald = ["--method", "ewald"]
        refuse([*ewald, "--period", "-1"], "--period", "-1")
        refuse([*ewald, "--period", "nan"], "--period", "nan")
        refuse([*ewald, "--period", "inf"], "--period", "inf")
        refuse([*ewald, "--period", "1,2"], "--period", "2 lengths")
        refuse([*ewald, "--period", "1,2,3,4"], "--period", "4 lengths")
        refuse([*ewald, "--period", "1,,3"], "--period")
        refuse([*ewald, "--period", "ten"], "--period", "ten")
        refuse([*ewald], "--period")
        refuse([*ewald, "--period", "2,2,0"], "three axes", "--method direct", "--method fmm")
        refuse(["--period", "2", "--method", "treecode"], "'treecode'", "--method direct", "--method fmm", "--method ewald")
        for method in ("direct", "fmm"):
            refuse(["--method", method, "--period", "2", "--softening", "20"], "--softening 20", "--method ewald")
            refuse(["--method", method, "--period", "2,2,0", "--boundary", "vacuum"], "--boundary vacuum", "three lengths")
            refuse(["--method", method, "--period", "2,2,0", "--background", "uniform"], "--background uniform", "three lengths")
            self.fail_clearly([*self.base[:-2], "--output", "hessian", "--out", "x.csv", "--method", method, "--period", "2"], 2, "hessian")
            refuse(["--method", method, "--period", "2", "--tolerance", "1e-13"], "--tolerance 1e-13", "1e-12")
            refuse(["--method", method, "--period", "2", "--guaranteed", "--tolerance", "1e-6"], "--guaranteed")
        refuse(["--boundary", "vacuum"], "--boundary vacuum", "--period")
        refuse(["--background", "uniform"], "--background uniform", "--period")
        refuse([*ewald, "--period", "2", "--boundary", "vacuum", "--background", "uniform"], "origin")
        refuse([*ewald, "--period", "2", "--tolerance", "1e-14"], "--tolerance", "1e-12")
        for method in ("ewald", "pme", "fmm", "direct"):
            refuse(["--method", method, "--period", "2", "--device", "cuda:0,1"], f"'{method}'", "one GPU", "--device cuda:0")
        refuse([*ewald, "--period", "2", "--precision", "float"], "double")
        refuse([*ewald, "--period", "2", "--guaranteed", "--tolerance", "1e-6"])
        refuse(["--method", "pme", "--period", "2", "--order", "3"], "order", "4 to 14")
        refuse(["--method", "pme", "--period", "2", "--order", "4", "--tolerance", "1e-12"], "--order 4", "--method ewald")
        refuse(["--method", "pme"], "'pme'", "--period")
        self.fail_clearly(["sum", "--kernel", "gravity", "--sources", SALT, "--out", "x.csv", *ewald, "--period", "2"], 2, "--background uniform")
        self.fail_clearly(["sum", "--kernel", "gauss", "--sigma", "1", "--sources", SALT, "--out", "x.csv", "--period", "2"], 2, "'gauss'", "--kernel coulomb")
        write("one.csv", "x,y,z,q\n0,0,0,1\n1,1,1,1\n")
        self.fail_clearly(["sum", "--kernel", "coulomb", "--sources", "one.csv", "--out", "x.csv", *ewald, "--period", "2"], 2,
                          "sum to 2", "--background uniform")

    def test_runs_say_that_they_have_no_periods(self):
        self.fail_clearly(["run", os.path.join(SOURCE, "examples/03_figure_eight.toml"), "--out", "run", "--set", "force.method=ewald"], 2,
                          "periodic", "force.method")


if __name__ == "__main__":
    unittest.main()
