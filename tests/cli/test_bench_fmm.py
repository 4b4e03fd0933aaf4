"""farfield bench fmm: a table, JSON and a picture of fast multipole sums."""

import json
import unittest

from support import CommandTest, read

QUICK = ["--n", "300,10000", "--order", "3,9", "--repeat", "1", "--threads", "1"]
PASSES = {"P2P", "P2M", "M2M", "M2L", "L2L", "L2P"}


class BenchFmm(CommandTest):
    def test_table_json_and_picture(self):
        text = self.succeed("bench", "fmm", *QUICK, "--json", "r.json", "--picture", "times.png").out
        report = json.loads(read("r.json"))
        self.assertEqual({key: report[key] for key in ("benchmark", "points", "precision", "threads", "repeats")},
                         {"benchmark": "fmm", "points": "charges in a cube", "precision": "double", "threads": 1, "repeats": 1})
        self.assertIsNone(report["gpu"])
        self.assertGreater(report["peak_gflops"], 0)
        rows = report["rows"]
        self.assertEqual([(row["n"], row["order"]) for row in rows], [(n, p) for n in (300, 10000) for p in (None, 3, 9)])
        for row in rows:
            self.assertEqual(row["method"], "direct" if row["order"] is None else "fmm")
            self.assertGreater(row["seconds"], row["set_up_seconds"])
            self.assertGreater(row["gflops"], 0)
            self.assertAlmostEqual(row["share_of_peak"], row["gflops"] / report["peak_gflops"])
            self.assertLess(sum(row["passes"].values()), row["seconds"])
            if row["order"] is None:
                self.assertEqual(row["near_pairs"], row["n"] * (row["n"] - 1))
                self.assertLess(row["error_field"], 1e-13)
        low, high = rows[4:]
        self.assertLessEqual(PASSES, set(high["passes"]))
        self.assertLess(high["near_pairs"], rows[3]["near_pairs"])
        for output in ("error_potential", "error_field"):
            self.assertLess(high[output], 0.1 * low[output])
        for part in (*PASSES, "N = 10000", "direct", "Gflop/s", "Files made:\n  r.json\n  times.png\n"):
            self.assertIn(part, text)
        self.assertEqual(read("times.png")[:8], b"\x89PNG\r\n\x1a\n")

    def test_quiet_and_precision(self):
        result = self.succeed("bench", "fmm", *QUICK, "--quiet", "--precision", "float", "--json", "r.json")
        self.assertEqual((result.out, result.err), ("", ""))
        rows = json.loads(read("r.json"))["rows"]
        self.assertGreater(rows[0]["error_field"], 1e-10)

    def test_mistakes(self):
        self.fail_clearly(["bench", "fmm", "--order", "0"], 2, "--order 0", "≥ 1")
        self.fail_clearly(["bench", "fmm", "--order", "4,x"], 2, "--order x", "commas between")
        self.fail_clearly(["bench", "fmm", "--order", "21", "--precision", "float"], 2, "--order 21", "from 1 to 20")
        self.fail_clearly(["bench", "fmm", "--n", "1"], 2, "--n 1")
        self.fail_clearly(["bench", "fmm", "--device", "cuda:0,1"], 2, "--device cuda:0,1", "one device is measured")
        self.fail_clearly(["bench", "fmm", "--precision", "half"], 2, "half")
        self.fail_clearly(["bench", "fmm", "--picture", "absent/a.png"], 2, "--picture absent/a.png")
        self.fail_clearly(["bench", "fmm", "--json", "absent/a.json"], 2, "--json absent/a.json")

    def test_ctrl_c_leaves_no_file(self):
        self.expect_nothing_after_ctrl_c("bench", "fmm", "--n", "20000", "--repeat", 100, "--json", "r.json", "--picture", "p.png")


if __name__ == "__main__":
    unittest.main()
