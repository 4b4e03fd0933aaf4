"""`farfield sum` in the plane: logarithms with real and complex strengths, vortices and blobs."""

import json
import math
import os
import unittest

from support import SOURCE, CommandTest, random_rows, read, read_npy, write, write_npy


class SumInThePlane(CommandTest):
    def test_sums_in_the_plane(self):
        points = os.path.join(SOURCE, "examples/10_plane.csv")
        base = ["sum", "--kernel", "laplace2d", "--sources", points, "--json", "report.json"]
        self.succeed(*base, "--out", "exact.csv", "--method", "reference")
        self.succeed(*base, "--out", "fmm.csv", "--method", "fmm", "--tolerance", "1e-9", "--leaf", "1")
        report = json.loads(read("report.json"))
        self.assertGreater(report["fmm"]["levels"], 2)
        self.assertEqual([entry["name"] for entry in report["passes"]], ["P2M", "M2M", "P2P", "M2L", "L2L", "L2P"])
        self.assertEqual([entry["output"] for entry in report["errors"]], ["potential", "field"])
        exact, fast = ([[float(x) for x in line.split(",")] for line in read(name).decode().splitlines()[1:]] for name in ("exact.csv", "fmm.csv"))
        self.assertEqual(len(exact), 60)
        for column in range(4):
            size = max(abs(row[column]) for row in exact)
            self.assertLess(max(abs(a[column] - b[column]) for a, b in zip(exact, fast)), 1e-8 * size)
        self.succeed(*base, "--out", "direct.csv")
        self.assertEqual(json.loads(read("report.json"))["method"], "direct")
        self.fail_clearly([*base, "--out", "x.csv", "--method", "direct", "--device", "cuda"], 2, "in the plane", "--method fmm", "--device cpu")
        self.fail_clearly([*base, "--out", "x.csv", "--method", "fmm", "--device", "cuda:0,1"], 2, "one GPU", "--device cuda:0")
        self.fail_clearly([*base, "--out", "x.csv", "--method", "fmm", "--m2l", "rotation"], 2, "--m2l rotation")
        self.fail_clearly([*base, "--out", "x.csv", "--method", "fmm", "--tolerance", "1e-6", "--guaranteed"], 2, "--guaranteed")
        space = os.path.join(SOURCE, "examples/10_charges.csv")
        self.fail_clearly(["sum", "--kernel", "laplace2d", "--sources", space, "--out", "x.csv"], 2, "column 'z'", "plane")

    def test_sums_by_expansions_on_a_gpu(self):
        points = os.path.join(SOURCE, "examples/10_plane.csv")
        base = ["sum", "--kernel", "laplace2d", "--sources", points, "--method", "fmm", "--tolerance", "1e-9", "--leaf", "2"]
        devices = json.loads(self.succeed("info", "--json").out)["devices"]
        if not devices:
            self.fail_clearly([*base, "--out", "gpu.csv", "--device", "cuda"], 2, json.loads(self.succeed("info", "--json").out)["why_no_gpu"])
            return
        self.succeed(*base, "--out", "cpu.npy", "--device", "cpu")
        self.succeed(*base, "--out", "gpu.npy", "--device", "cuda", "--json", "report.json")
        report = json.loads(read("report.json"))
        self.assertEqual(report["device"], "cuda:0")
        self.assertLessEqual({"P2P", "P2M", "M2L", "coarse levels", "L2L", "L2P"}, {entry["name"] for entry in report["passes"]})
        self.assertEqual([entry["output"] for entry in report["errors"]], ["potential", "field"])
        self.assert_close(read_npy("gpu.npy")[1], read_npy("cpu.npy")[1], 1e-7)

    def test_vortices(self):
        rows, sigma = random_rows(30, 3, seed=31), 0.4
        write("s.csv", "y,x,gamma\n" + "".join(f"{y!r},{x!r},{g!r}\n" for x, y, g in rows))
        for method in ("direct", "reference"):
            for options, blob in (([], False), (["--sigma", sigma], True)):
                self.succeed("sum", "--kernel", "vortex2d", "--sources", "s.csv", "--out", "o.npy", "--method", method,
                             "--output", "field", *options)
                shape, values = read_npy("o.npy")
                self.assertEqual(shape, (30, 2))
                expected = []
                for i, (x, y, _) in enumerate(rows):
                    w = 0.0
                    for j, (a, b, gamma) in enumerate(rows):
                        if i == j:
                            continue
                        d = complex(x - a, y - b)
                        w += gamma / (2j * math.pi * d) * (-math.expm1(-abs(d) ** 2 / (2 * sigma**2)) if blob else 1.0)
                    expected += [w.real, -w.imag]
                self.assert_close(values, expected, 1e-13)

    def test_imaginary_parts_may_be_left_out(self):
        write("real.csv", "x,y,q\n0,0,1\n1,0,-1\n0,2,0.5\n")
        write("complex.csv", "x,y,q,q_imaginary\n0,0,1,0\n1,0,-1,0\n0,2,0.5,0\n")
        for name in ("real", "complex"):
            self.succeed("sum", "--kernel", "laplace2d", "--sources", name + ".csv", "--out", name + ".npy")
        self.assertEqual(read("real.npy"), read("complex.npy"))

    def test_mistakes(self):
        write("s.csv", "x,y,gamma\n0,0,1\n1,0,-1\n")
        base = ["sum", "--kernel", "vortex2d", "--sources", "s.csv", "--out", "x.npy"]
        self.fail_clearly([*base, "--variant", "naive"], 2, "--variant naive", "'symmetric'")
        self.fail_clearly([*base, "--sigma", "0"], 2, "--sigma 0", "> 0")
        self.fail_clearly([*base, "--device", "cuda"], 2, "in the plane", "--device cpu")
        self.fail_clearly([*base, "--targets", "s.csv"], 2, "row 0", "--sigma > 0", "--coincident skip")
        write_npy("s.npy", [[0.0, 0.0, 0.0, 1.0]])
        self.fail_clearly(["sum", "--kernel", "vortex2d", "--sources", "s.npy", "--out", "x.npy"], 2, "s.npy", "columns x y and gamma")
        write("i.csv", "x,y,q,q_im\n0,0,1,0\n")
        self.fail_clearly(["sum", "--kernel", "laplace2d", "--sources", "i.csv", "--out", "x.npy"], 2, "q_im", "'q_imaginary'")


if __name__ == "__main__":
    unittest.main()
