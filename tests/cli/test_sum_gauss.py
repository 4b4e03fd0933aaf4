"""`farfield sum --kernel gauss`: sums of Gaussians in several dimensions."""

import json
import math
import unittest

from support import CommandTest, random_rows, read, read_npy, write_npy


class SumOfGaussians(CommandTest):
    def gaussians(self, sources, targets, sigma, weights=None, without_own=False):
        """Potentials and gradients, a row a target; weights: a list a source."""
        out = []
        for i, x in enumerate(targets):
            vectors = len(weights[0])
            potential, gradient = [0.0] * vectors, [[0.0] * len(x) for _ in range(vectors)]
            for j, (y, q) in enumerate(zip(sources, weights)):
                if without_own and i == j:
                    continue
                value = math.exp(-sum((a - b) ** 2 for a, b in zip(x, y)) / (2 * sigma**2))
                for v in range(vectors):
                    potential[v] += q[v] * value
                    for k in range(len(x)):
                        gradient[v][k] -= q[v] * value * (x[k] - y[k]) / sigma**2
            out.append((potential, gradient))
        return out

    def test_dimensions_targets_and_leave_one_out(self):
        for d in (1, 2, 4):
            rows, targets, sigma = random_rows(30, d + 1, seed=d), random_rows(7, d, seed=40 + d), 0.6
            points, weights = [row[:d] for row in rows], [row[d:] for row in rows]
            write_npy("s.npy", rows)
            write_npy("t.npy", targets)
            base = ["sum", "--kernel", "gauss", "--sigma", sigma, "--sources", "s.npy", "--out", "o.npy", "--json", "r.json"]
            for options, at, without_own in (([], points, False), (["--targets", "t.npy"], targets, False),
                                             (["--self-term", "exclude"], points, True)):
                self.succeed(*base, *options, "--tolerance", "1e-12")
                shape, values = read_npy("o.npy")
                self.assertEqual(shape, (len(at), 1 + d))
                expected = self.gaussians(points, at, sigma, weights, without_own)
                self.assert_close(values, [number for potential, gradient in expected for number in potential + gradient[0]], 1e-13)
                report = json.loads(read("r.json"))
                self.assertEqual(report["method"], "direct")
                self.assertEqual([error["norm"] for error in report["errors"]], ["largest difference at the samples"] * 2)

    def test_several_vectors_of_weights(self):
        points, weights, sigma = random_rows(25, 2, seed=8), random_rows(25, 5, seed=9), 0.5
        write_npy("s.npy", points)
        write_npy("q.npy", weights)
        self.succeed("sum", "--kernel", "gauss", "--sigma", sigma, "--sources", "s.npy", "--strengths", "q.npy", "--out", "o.npy",
                     "--output", "potential")
        shape, values = read_npy("o.npy")
        self.assertEqual(shape, (25, 5))
        expected = self.gaussians(points, points, sigma, weights)
        self.assert_close(values, [number for potential, _ in expected for number in potential], 1e-13)

    def test_the_fast_gauss_transform(self):
        for d, sigma, way in ((1, 0.3, "grid"), (2, 0.3, "grid"), (3, 0.01, "pairs")):
            rows = random_rows(4000, d + 1, seed=d)
            write_npy("s.npy", rows)
            base = ["sum", "--kernel", "gauss", "--sigma", sigma, "--sources", "s.npy", "--json", "r.json"]
            self.succeed(*base, "--out", "exact.npy")
            for options in ([], ["--self-term", "exclude"]):
                done = self.succeed(*base, "--out", "o.npy", "--method", "fgt", "--tolerance", "1e-9", *options)
                self.assertIn("a grid of" if way == "grid" else "pairs up to", done.out)
                report = json.loads(read("r.json"))
                self.assertEqual((report["method"], report["fgt"]["way"]), ("fgt", way))
                self.assertLess(max(error["relative"] for error in report["errors"]), 1e-9)
                (_, exact), (shape, fast) = read_npy("exact.npy"), read_npy("o.npy")
                self.assertEqual(shape, (4000, 1 + d))
                own = [row[d] for row in rows] if options else [0.0] * 4000
                largest = max(abs(value) for value in exact[::1 + d])
                worst = max(abs(a - b - q) for a, b, q in zip(exact[::1 + d], fast[::1 + d], own))
                self.assertLess(worst, 1e-9 * largest)
            self.succeed(*base, "--out", "o.npy", "--method", "auto", "--tolerance", "1e-6")
            self.assertIn(json.loads(read("r.json"))["method"], ("fgt", "direct"))
        self.fail_clearly([*base, "--out", "x.npy", "--method", "fgt", "--device", "cuda:0,1"], 2, "'fgt'", "--device cuda:0")
        self.fail_clearly([*base, "--out", "x.npy", "--method", "fgt", "--variant", "simd"], 2, "--variant simd")
        self.fail_clearly(["sum", "--kernel", "coulomb", "--sources", "s.npy", "--out", "x.npy", "--method", "fgt"], 2, "'coulomb'", "'fgt'")

    def test_boxes_of_the_fast_gauss_transform(self):
        write_npy("s.npy", random_rows(6000, 3, seed=2))
        base = ["sum", "--kernel", "gauss", "--sigma", "0.1", "--sources", "s.npy", "--json", "r.json"]
        self.succeed(*base, "--out", "exact.npy")
        done = self.succeed(*base, "--out", "o.npy", "--method", "fgt", "--tolerance", "1e-8", "--strategy", "boxes")
        self.assertIn("boxes of order", done.out)
        report = json.loads(read("r.json"))
        self.assertEqual(report["fgt"]["way"], "boxes")
        self.assertEqual(report["options"]["strategy"], "boxes")
        self.assertGreater(report["fgt"]["order"], 1)
        self.assertGreater(report["fgt"]["side"], 0.1)
        acting = [report["fgt"][which + "_boxes"] for which in ("pair", "hermite", "taylor", "translated")]
        self.assertGreater(sum(acting[1:]), 0)
        self.assertGreaterEqual(sum(acting), report["fgt"]["boxes"])
        self.assertEqual([entry["name"] for entry in report["passes"]], ["hermite", "translations", "taylor", "values"])
        (_, exact), (shape, fast) = read_npy("exact.npy"), read_npy("o.npy")
        self.assertEqual(shape, (6000, 3))
        largest = max(abs(value) for value in exact[::3])
        self.assertLess(max(abs(a - b) for a, b in zip(exact[::3], fast[::3])), 1e-8 * largest)
        self.fail_clearly(["sum", "--kernel", "gauss", "--sigma", "0.1", "--sources", "s.npy", "--out", "x.npy", "--method", "direct", "--strategy",
                           "boxes"], 2, "--strategy", "'fgt'")

    def test_the_fast_gauss_transform_on_a_gpu(self):
        info = json.loads(self.succeed("info", "--json").out)
        write_npy("four.npy", random_rows(50, 5, seed=6))
        self.fail_clearly(["sum", "--kernel", "gauss", "--sigma", "0.3", "--sources", "four.npy", "--out", "x.npy", "--method", "fgt",
                           "--strategy", "grid", "--device", "cuda"], 2, "grid", "not 4", "--strategy pairs")
        for d in (1, 2, 3):
            write_npy("s.npy", random_rows(4000, d + 1, seed=d))
            base = ["sum", "--kernel", "gauss", "--sigma", "0.3", "--sources", "s.npy", "--method", "fgt", "--tolerance", "1e-6"]
            if not info["devices"]:
                self.fail_clearly([*base, "--out", "gpu.npy", "--device", "cuda"], 2, info["why_no_gpu"])
                continue
            self.succeed(*base, "--out", "cpu.npy", "--device", "cpu")
            self.succeed(*base, "--out", "gpu.npy", "--device", "cuda", "--json", "report.json")
            report = json.loads(read("report.json"))
            self.assertEqual((report["device"], report["fgt"]["way"]), ("cuda:0", "grid"))
            self.assertEqual([entry["name"] for entry in report["passes"]], ["spread", "fold", "values"])
            self.assert_close(read_npy("gpu.npy")[1], read_npy("cpu.npy")[1], 3e-6)

    def test_errors_relative_to_the_sum(self):
        write_npy("s.npy", random_rows(300, 4, seed=3))
        base = ["sum", "--kernel", "gauss", "--sigma", "1e-4", "--sources", "s.npy", "--out", "o.npy", "--json", "r.json",
                "--precision", "float", "--tolerance", "1e-6"]
        errors = []
        for relative_to in ("max", "sum"):
            self.succeed(*base, "--relative-to", relative_to)
            errors.append(json.loads(read("r.json"))["errors"][0]["relative"])
        self.assertGreater(errors[0], 50 * errors[1])

    def test_mistakes(self):
        write_npy("s.npy", random_rows(10, 4, seed=1))
        base = ["sum", "--kernel", "gauss", "--sources", "s.npy", "--out", "x.npy"]
        self.fail_clearly(base, 2, "--sigma")
        for sigma in ("0", "-1", "nan"):
            self.fail_clearly([*base, "--sigma", sigma], 2, "--sigma", "> 0")
        base += ["--sigma", "0.1"]
        self.fail_clearly([*base, "--variant", "symmetric"], 2, "--variant symmetric", "'simd'")
        self.fail_clearly([*base, "--device", "cuda:0,1"], 2, "Gaussians", "--device cuda:0")
        self.fail_clearly([*base, "--device", "cuda", "--variant", "naive"], 2, "Gaussians", "--variant naive")
        info = json.loads(self.succeed("info", "--json").out)
        if not info["devices"]:
            self.fail_clearly([*base, "--device", "cuda"], 2, info["why_no_gpu"])
        self.fail_clearly([*base, "--targets", "s.npy"], 2, "s.npy")
        write_npy("t.npy", random_rows(5, 3, seed=2))
        self.fail_clearly([*base, "--targets", "t.npy", "--self-term", "exclude"], 2, "--self-term exclude", "targets")
        self.fail_clearly([*base, "--self-term", "other"], 2, "--self-term", "exclude")
        self.fail_clearly(["sum", "--kernel", "gravity", "--sources", "s.npy", "--out", "x.npy", "--self-term", "exclude"], 2, "gravity", "--self-term exclude")
        self.fail_clearly(["sum", "--kernel", "gravity", "--sources", "s.npy", "--out", "x.npy", "--relative-to", "sum"], 2, "gravity", "--relative-to sum")


if __name__ == "__main__":
    unittest.main()
