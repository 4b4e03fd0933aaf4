"""`farfield sum --method fmm`: what it tells of itself, its ways through M2L, its bounds."""

import json
import os
import unittest

from support import SOURCE, CommandTest, read


class FastMultipole(CommandTest):
    def test_every_m2l_gives_the_same_sums(self):
        charges = os.path.join(SOURCE, "examples/10_charges.csv")
        base = ["sum", "--kernel", "coulomb", "--sources", charges, "--json", "report.json", "--method", "fmm", "--leaf", "2"]
        potentials = []
        for way in ("mirrored", "rotation", "matrix"):
            self.succeed(*base, "--order", "6", "--m2l", way, "--out", way + ".csv")
            report = json.loads(read("report.json"))
            self.assertEqual((report["fmm"]["m2l"], report["options"]["m2l"]), (way, way))
            rows = read(way + ".csv").decode().splitlines()[1:]
            potentials.append([float(row.split(",")[0]) for row in rows])
        self.assertEqual(len(potentials[0]), 60)
        size = max(abs(value) for value in potentials[2])
        for row in zip(*potentials):
            self.assertLess(max(row) - min(row), 1e-13 * size)
        for order, way in (("4", "mirrored"), ("40", "rotation")):
            self.succeed(*base, "--order", order, "--out", order + ".npy")
            self.assertEqual(json.loads(read("report.json"))["fmm"]["m2l"], way)
        self.fail_clearly([*base, "--out", "x.npy", "--m2l", "rotated"], 2, "--m2l rotated", "'rotation'")

    def test_the_fast_multipole_method_tells_what_it_used(self):
        charges = os.path.join(SOURCE, "examples/10_charges.csv")
        base = ["sum", "--kernel", "coulomb", "--sources", charges, "--out", "out.npy", "--json", "report.json"]
        self.succeed(*base, "--method", "fmm", "--tolerance", "1e-6", "--leaf", "4")
        report = json.loads(read("report.json"))
        self.assertEqual(report["method"], "fmm")
        self.assertGreaterEqual(report["fmm"]["order"], 10)
        self.assertGreater(report["fmm"]["leaves"], 1)
        self.assertLessEqual(max(error["relative"] for error in report["errors"]), 1e-6)
        self.assertEqual([entry["name"] for entry in report["passes"]], ["P2M", "M2M", "P2P", "M2L", "L2L", "L2P"])
        self.succeed(*base, "--method", "auto", "--tolerance", "1e-6")
        report = json.loads(read("report.json"))
        self.assertEqual((report["method"], report["options"]["method"]), ("direct", "auto"))
        self.assertIn("cost table", report["method_reason"])
        os.remove("out.npy")
        self.succeed(*base, "--method", "fmm", "--softening", "0.1", "--leaf", "2", "--tolerance", "1e-5")
        report = json.loads(read("report.json"))
        self.assertLessEqual(max(error["relative"] for error in report["errors"]), 1e-5)
        self.assertIn("softening", [entry["name"] for entry in report["passes"]])
        os.remove("out.npy")
        self.fail_clearly([*base, "--method", "fmm", "--order", "3", "--tolerance", "1e-9", "--leaf", "2"], 1, "tolerance 1e-09")
        self.fail_clearly([*base, "--method", "fmm", "--order", "41"], 2, "--order", "40")
        self.fail_clearly([*base, "--method", "fmm", "--order", "30", "--precision", "float"], 2, "--order 30", "20")
        self.assertIn("order 5, ", self.succeed(*base, "--method", "fmm", "--order", "5").out)
        os.remove("out.npy")
        self.fail_clearly([*base, "--method", "fmm", "--m2l", "rotation", "--device", "cuda"], 2, "rotation", "--device cpu")
        self.assertFalse(os.path.exists("out.npy"))

    def test_guaranteed_bounds_are_told_or_nothing_is_written(self):
        charges = os.path.join(SOURCE, "examples/10_charges.csv")
        base = ["sum", "--kernel", "coulomb", "--sources", charges, "--out", "out.npy", "--json", "report.json", "--guaranteed"]
        fmm = [*base, "--method", "fmm", "--depth", "3"]
        out = self.succeed(*fmm, "--tolerance", "1e-4", "--output", "potential,field,hessian").out
        self.assertIn("relative error of the hessian: at most", out)
        report = json.loads(read("report.json"))
        self.assertLess(report["fmm"]["near_pairs"], report["direct"]["pairs"])
        self.assertEqual([bound["output"] for bound in report["bounds"]], ["potential", "field", "hessian"])
        for bound, error in zip(report["bounds"], report["errors"]):
            self.assertLessEqual(error["relative"], bound["relative"])
            self.assertLessEqual(bound["relative"], 1e-4)
        self.assertIs(report["options"]["guaranteed"], True)
        self.succeed(*base, "--method", "auto", "--tolerance", "1e-4")
        self.assertEqual(json.loads(read("report.json"))["method"], "fmm")
        os.remove("out.npy")
        self.fail_clearly([*fmm, "--tolerance", "1e-15"], 1, "bound", "tolerance 1e-15", "rounding", "--guaranteed")
        self.fail_clearly([*fmm, "--tolerance", "1e-5", "--order", "3", "--separation", "1"], 1, "--order", "--separation 2")
        self.fail_clearly(fmm, 2, "--guaranteed", "--tolerance")
        self.fail_clearly([*fmm, "--tolerance", "1e-3", "--softening", "0.1"], 2, "--guaranteed", "softening")
        self.fail_clearly([*base, "--tolerance", "1e-3"], 2, "direct", "--method fmm")
        self.fail_clearly([*fmm, "--tolerance", "1e-3", "--device", "cuda"], 2, "bounds", "--device cpu")
        self.assertFalse(os.path.exists("out.npy"))


if __name__ == "__main__":
    unittest.main()
