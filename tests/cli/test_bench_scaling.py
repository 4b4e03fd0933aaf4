"""farfield bench scaling in one process; test_ranks.py has it on several."""

import json
import unittest

from support import CommandTest, read

QUICK = ["--n", "1000", "--cells", "64", "--repeat", "1"]


class BenchScaling(CommandTest):
    def test_one_rank(self):
        text = self.succeed("bench", "scaling", *QUICK, "--json", "r.json", "--picture", "curves.png").out
        report = json.loads(read("r.json"))
        self.assertEqual((report["benchmark"], report["ranks"], report["latency"]), ("scaling", 1, 0))
        self.assertIsNone(report["gpu"])
        self.assertEqual([(row["work"], row["scaling"], row["ranks"]) for row in report["rows"]],
                         [(work, "strong", 1) for work in ("direct", "treecode", "fmm", "grid")])
        for row in report["rows"]:
            self.assertGreater(row["seconds"], 0)
            self.assertEqual((row["speed_up"], row["efficiency"], row["messages"]), (1, 1, 0))
            self.assertEqual(row["predicted_seconds"], row["seconds"])
        for part in ("mpirun -n P", "Files made:\n  r.json\n  curves.png\n"):
            self.assertIn(part, text)
        self.assertEqual(read("curves.png")[:8], b"\x89PNG\r\n\x1a\n")

    def test_mistakes(self):
        self.fail_clearly(["bench", "scaling", "--work", "direct,gauss"], 2, "gauss", "direct, treecode, fmm or grid")
        self.fail_clearly(["bench", "scaling", "--n", "2"], 2, "--n 2")
        self.fail_clearly(["bench", "scaling", "--cells", "65"], 2, "65", "even")
        self.fail_clearly(["bench", "scaling", "--device", "cuda", "--work", "treecode"], 2, "treecode", "direct, fmm and grid")
        self.fail_clearly(["bench", "scaling", "--picture", "absent/a.png"], 2, "--picture absent/a.png")

    def test_ctrl_c_leaves_no_file(self):
        self.expect_nothing_after_ctrl_c("bench", "scaling", "--work", "direct", "--n", "40000", "--repeat", 100, "--json", "r.json")


if __name__ == "__main__":
    unittest.main()
