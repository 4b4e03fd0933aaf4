"""`farfield sum --kernel gauss` around sums: densities of points, and a width for each source."""

import json
import math
import os
import random
import signal
import unittest

from support import CommandTest, handles, random_rows, read, read_npy, start, write, write_npy


def factor(points, weights):
    """The lower factor L of the covariance, and the effective number of points."""
    d, total = len(points[0]), sum(weights)
    shares = [w / total for w in weights]
    mean = [math.fsum(s * p[k] for s, p in zip(shares, points)) for k in range(d)]
    squares = math.fsum(s * s for s in shares)
    covariance = [[math.fsum(s * (p[a] - mean[a]) * (p[b] - mean[b]) for s, p in zip(shares, points)) / (1 - squares)
                   for b in range(d)] for a in range(d)]
    lower = [[0.0] * d for _ in range(d)]
    for a in range(d):
        for b in range(a + 1):
            rest = covariance[a][b] - sum(lower[a][k] * lower[b][k] for k in range(b))
            lower[a][b] = math.sqrt(rest) if a == b else rest / lower[b][b]
    return lower, 1 / squares


def density(points, weights, targets, lower, width, without_own=False):
    """Densities and gradients by Gaussians of covariance width^2 L L^T."""
    d, out = len(points[0]), []
    volume = (2 * math.pi) ** (d / 2) * width**d * math.prod(lower[k][k] for k in range(d))
    for i, target in enumerate(targets):
        value, slope = 0.0, [0.0] * d
        for j, (point, weight) in enumerate(zip(points, weights)):
            if without_own and i == j:
                continue
            u = []
            for k in range(d):  # L u = x - x_j
                u.append((target[k] - point[k] - sum(lower[k][b] * u[b] for b in range(k))) / lower[k][k])
            term = weight * math.exp(-sum(x * x for x in u) / (2 * width**2))
            value += term
            pull = [0.0] * d
            for k in reversed(range(d)):  # L^T pull = u
                pull[k] = (u[k] - sum(lower[b][k] * pull[b] for b in range(k + 1, d))) / lower[k][k]
                slope[k] -= term * pull[k] / width**2
        divisor = volume * (sum(weights) - (weights[i] if without_own else 0.0))
        out.append([value / divisor] + [x / divisor for x in slope])
    return out


def some_points(n, d, seed):
    generator = random.Random(seed)
    rows = [[generator.gauss(0, 1) for _ in range(d)] for _ in range(n)]
    return [[3.0 * row[0]] + [2.0 + row[0] + (k + 1) * row[k] for k in range(1, d)] for row in rows]


def table(rows):
    return "".join(",".join(map(repr, row)) + "\n" for row in rows)


class Densities(CommandTest):
    def check(self, options, expected, columns):
        self.succeed("sum", "--kernel", "gauss", *options, "--out", "o.npy", "--json", "r.json")
        _, values = read_npy("o.npy")
        flat = [row[k] for row in expected for k in range(columns)]
        self.assert_close(values, flat, 1e-12)
        return json.loads(read("r.json"))

    def test_rules_weights_targets_and_leave_one_out(self):
        for d in (1, 2, 4):
            points, targets = some_points(40, d, seed=d), some_points(9, d, seed=30 + d)
            weights = [0.5 + abs(row[0]) for row in random_rows(40, 1, seed=50 + d)]
            write_npy("s.npy", [p + [w] for p, w in zip(points, weights)])
            write_npy("t.npy", targets)
            lower, n = factor(points, weights)
            scott, silverman = n ** (-1 / (d + 4)), (n * (d + 2) / 4) ** (-1 / (d + 4))
            base = ["--sources", "s.npy", "--output", "potential,gradient"]
            report = self.check([*base, "--density", "scott"], density(points, weights, points, lower, scott), 1 + d)
            self.assertEqual(report["density"]["rule"], "scott")
            self.assertAlmostEqual(report["density"]["factor"], scott, places=12)
            self.assertAlmostEqual(report["density"]["n_eff"], n, places=9)
            self.assertAlmostEqual(report["density"]["weight"], math.fsum(weights), places=9)
            self.assert_close([x for row in report["density"]["cholesky"] for x in row], [x for row in lower for x in row], 1e-12)
            self.assert_close(report["density"]["widths"], [scott * math.hypot(*row) for row in lower], 1e-12)
            self.check([*base, "--density", "silverman", "--targets", "t.npy"],
                       density(points, weights, targets, lower, silverman), 1 + d)
            self.check([*base, "--density", "scott", "--self-term", "exclude", "--tolerance", "1e-9"],
                       density(points, weights, points, lower, scott, without_own=True), 1 + d)
            one = [[float(a == b) for b in range(d)] for a in range(d)]
            report = self.check([*base, "--density", "sigma", "--sigma", "0.7"],
                                density(points, weights, points, one, 0.7), 1 + d)
            self.assertEqual((report["density"]["cholesky"], report["density"]["widths"]), ([], [0.7] * d))

    def test_points_without_weights(self):
        points = some_points(30, 2, seed=7)
        lower, n = factor(points, [1.0] * 30)
        expected = [row[0] for row in density(points, [1.0] * 30, points, lower, n ** (-1 / 6))]
        write("s.csv", "x,y\n" + table(points))
        write("q.csv", "x,y,q\n" + table([p + [5.0 if i == 3 else 1.0] for i, p in enumerate(points)]))
        write_npy("s.npy", points)
        write_npy("ones.npy", [[1.0]] * 30)
        for options in (["s.csv"], ["s.npy", "--unweighted"], ["q.csv", "--unweighted"], ["s.csv", "--strengths", "ones.npy"]):
            out = self.succeed("sum", "--kernel", "gauss", "--density", "scott", "--sources", *options, "--out", "o.csv")
            self.assertIn("Scott's rule: n_eff 30", out.out)
            lines = read("o.csv").decode().splitlines()
            self.assertIn(lines[0], ("density", "density_0"))
            self.assert_close([float(line) for line in lines[1:]], expected, 1e-12)
        write_npy("line.npy", [[x] for x, _ in points])  # one column has room for no weights
        lower, n = factor([[x] for x, _ in points], [1.0] * 30)
        self.check(["--density", "silverman", "--sources", "line.npy"],
                   density([[x] for x, _ in points], [1.0] * 30, [[x] for x, _ in points], lower, (n * 3 / 4) ** -0.2), 1)

    def test_the_fast_gauss_transform_keeps_the_tolerance(self):
        points = some_points(3000, 2, seed=11)
        write("s.csv", "x,y\n" + table(points))
        base = ["sum", "--kernel", "gauss", "--density", "scott", "--sources", "s.csv"]
        self.succeed(*base, "--out", "exact.npy")
        out = self.succeed(*base, "--method", "fgt", "--tolerance", "1e-6", "--out", "o.npy", "--json", "r.json")
        self.assertRegex(out.out, "relative error of the density: .*largest difference")
        self.assertEqual(json.loads(read("r.json"))["method"], "fgt")
        (_, exact), (_, fast) = read_npy("exact.npy"), read_npy("o.npy")
        self.assert_close(fast, exact, 1e-6)

    def test_mistakes(self):
        write("s.csv", "x,y\n" + table(some_points(30, 2, seed=7)))
        write("line.csv", "x,y\n0,0\n1,1\n2,2\n3,3\n")
        write("two.csv", "x,y\n0,0\n1,2\n")
        write("minus.csv", "x,y,q\n0,0,1\n1,2,-3\n2,0,1\n1,1,1\n")
        write("none.csv", "x,y,q\n0,0,0\n1,2,0\n2,0,0\n1,1,0\n")
        write_npy("k.npy", [[1.0, 2.0]] * 30)
        gauss = ["sum", "--kernel", "gauss", "--out", "x.npy", "--sources"]
        self.fail_clearly([*gauss, "s.csv", "--density", "scot"], 2, "--density scot", "'scott'")
        self.fail_clearly([*gauss, "s.csv", "--density", "scott", "--sigma", "0.1"], 2, "--sigma 0.1", "'scott'")
        self.fail_clearly([*gauss, "s.csv", "--density", "sigma"], 2, "--sigma", "'scott'")
        self.fail_clearly([*gauss, "line.csv", "--density", "scott"], 2, "line.csv", "on a line", "leave y out", "--sigma")
        self.fail_clearly([*gauss, "two.csv", "--density", "silverman"], 2, "two.csv", "2 points", "at least 3", "--sigma")
        self.fail_clearly([*gauss, "minus.csv", "--density", "scott"], 2, "minus.csv", "row 1", "-3", "negative")
        self.fail_clearly([*gauss, "none.csv", "--density", "scott"], 2, "none.csv", "all weights are 0")
        self.fail_clearly([*gauss, "s.csv", "--density", "scott", "--strengths", "k.npy"], 2, "k.npy", "2 columns", "one weight")
        self.fail_clearly([*gauss, "s.csv", "--density", "scott", "--strengths", "k.npy", "--unweighted"], 2, "k.npy", "--unweighted")
        self.fail_clearly([*gauss, "s.csv", "--sigma", "1", "--unweighted"], 2, "--unweighted", "--density scott")
        self.fail_clearly([*gauss, "s.csv", "--density", "scott", "--self-term", "exclude", "--targets", "s.csv"], 2,
                          "--self-term exclude", "targets")
        self.fail_clearly(["sum", "--kernel", "coulomb", "--density", "scott", "--sources", "s.csv", "--out", "x.npy"], 2, "--kernel gauss")
        self.fail_clearly([*gauss, "s.csv", "--sigma", "1"], 2, "s.csv", "q")  # a sum needs weights
        self.assertFalse(os.path.exists("x.npy"))

    def test_ctrl_c(self):
        write_npy("s.npy", [row[:3] + [abs(row[3])] for row in random_rows(150000, 4, seed=1)])
        for options in (["--density", "scott"], ["--sigmas", "w.npy"]):
            write_npy("w.npy", [[0.1 + 0.1 * (i % 2)] for i in range(150000)])
            process = start("sum", "--kernel", "gauss", "--sources", "s.npy", "--out", "o.npy", "--json", "r.json", *options)
            self.assertTrue(handles(process.pid, signal.SIGINT))
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, error)
            self.assertIn(b"nothing was written", error)
            self.assertEqual(sorted(os.listdir(".")), ["s.npy", "w.npy"])


class Sigmas(CommandTest):
    def values(self, rows, sigmas, targets, d, without_own=False):
        out = []
        for i, target in enumerate(targets):
            potential, slope = 0.0, [0.0] * d
            for j, (row, sigma) in enumerate(zip(rows, sigmas)):
                if without_own and i == j:
                    continue
                term = row[d] * math.exp(-sum((a - b) ** 2 for a, b in zip(target, row)) / (2 * sigma**2))
                potential += term
                for k in range(d):
                    slope[k] -= term * (target[k] - row[k]) / sigma**2
            out += [potential, *slope]
        return out

    def test_a_width_for_each_source(self):
        for d in (1, 3, 5):
            rows, targets = random_rows(40, d + 1, seed=d), random_rows(9, d, seed=20 + d)
            sigmas = [(0.3, 0.05, 1.0)[i % 3] for i in range(40)]
            write_npy("s.npy", rows)
            write_npy("t.npy", targets)
            write("w.csv", "sigma\n" + table([[s] for s in sigmas]))
            write_npy("w.npy", [[s] for s in sigmas])
            base = ["sum", "--kernel", "gauss", "--sources", "s.npy", "--out", "o.npy", "--json", "r.json"]
            for options, at, without_own in ((["--sigmas", "w.csv"], rows, False), (["--sigmas", "w.npy", "--targets", "t.npy"], targets, False),
                                             (["--sigmas", "w.npy", "--self-term", "exclude"], rows, True)):
                out = self.succeed(*base, *options, "--tolerance", "1e-10")
                self.assertIn("3 widths from 0.05 to 1", out.out)
                self.assert_close(read_npy("o.npy")[1], self.values(rows, sigmas, [row[:d] for row in at], d, without_own), 1e-12)
                report = json.loads(read("r.json"))
                self.assertEqual([(group["sigma"], group["sources"]) for group in report["sigmas"]["groups"]],
                                 [(0.05, 13), (0.3, 14), (1.0, 13)])
                self.assertEqual([error["output"] for error in report["errors"]], ["potential", "gradient"])
                self.assertTrue(all(error["relative"] < 1e-10 for error in report["errors"]))

    def test_a_density_of_a_width_for_each_point(self):
        points, sigmas = random_rows(30, 2, seed=4), [(0.2, 0.5)[i % 2] for i in range(30)]
        write("s.csv", "x,y\n" + table(points))
        write("w.csv", "sigma\n" + table([[s] for s in sigmas]))
        self.succeed("sum", "--kernel", "gauss", "--density", "sigma", "--sigmas", "w.csv", "--sources", "s.csv", "--out", "o.npy")
        lowered = [p + [1 / (30 * 2 * math.pi * s**2)] for p, s in zip(points, sigmas)]
        self.assert_close(read_npy("o.npy")[1], self.values(lowered, sigmas, points, 2)[::3], 1e-12)

    def test_mistakes(self):
        write_npy("s.npy", random_rows(70, 3, seed=1))
        write_npy("w.npy", [[0.1]] * 70)
        write_npy("few.npy", [[0.1]] * 69)
        write_npy("two.npy", [[0.1, 0.2]] * 70)
        write_npy("zero.npy", [[0.1]] * 69 + [[0.0]])
        write_npy("nan.npy", [[0.1]] * 69 + [[math.nan]])
        write_npy("many.npy", [[1.0 + i] for i in range(70)])
        write("w.h5", "no HDF5")
        gauss = ["sum", "--kernel", "gauss", "--sources", "s.npy", "--out", "x.npy"]
        self.fail_clearly([*gauss, "--sigmas", "few.npy"], 2, "few.npy", "69", "s.npy", "70")
        self.fail_clearly([*gauss, "--sigmas", "two.npy"], 2, "two.npy", "2 columns")
        self.fail_clearly([*gauss, "--sigmas", "zero.npy"], 2, "zero.npy", "row 69", "> 0")
        self.fail_clearly([*gauss, "--sigmas", "nan.npy"], 2, "nan.npy", "row 69", "nan")
        self.fail_clearly([*gauss, "--sigmas", "many.npy"], 2, "many.npy", "64")
        self.fail_clearly([*gauss, "--sigmas", "w.h5"], 2, "w.h5", ".npy or .csv")
        self.fail_clearly([*gauss, "--sigmas", "nowhere.npy"], 2, "nowhere.npy", "no such file")
        self.fail_clearly([*gauss, "--sigmas", "w.npy", "--sigma", "0.1"], 2, "--sigma 0.1")
        self.fail_clearly([*gauss, "--sigmas", "w.npy", "--density", "scott"], 2, "'scott'", "width")
        self.fail_clearly(["sum", "--kernel", "vortex2d", "--sources", "s.npy", "--out", "x.npy", "--sigmas", "w.npy"], 2,
                          "w.npy", "'vortex2d'", "--kernel gauss")
        before = read("w.npy")
        self.fail_clearly(["sum", "--kernel", "gauss", "--sources", "s.npy", "--sigmas", "w.npy", "--out", "w.npy"], 2, "--sigmas")
        self.assertEqual(read("w.npy"), before)
        self.assertFalse(os.path.exists("x.npy"))

    def test_groups_that_cancel_too_far_write_nothing(self):
        rows = [row[:2] + [abs(row[2])] for row in random_rows(200, 3, seed=5)]
        write_npy("s.npy", rows + [row[:2] + [-row[2]] for row in rows])
        write_npy("w.npy", [[0.3]] * 200 + [[0.3 * (1 + 1e-9)]] * 200)
        self.fail_clearly(["sum", "--kernel", "gauss", "--sources", "s.npy", "--sigmas", "w.npy", "--out", "x.npy",
                           "--tolerance", "1e-4", "--precision", "float"], 1, "2 widths", "cancel", "--relative-to sum")
        self.assertFalse(os.path.exists("x.npy"))


if __name__ == "__main__":
    unittest.main()
