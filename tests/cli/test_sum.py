"""farfield sum against a sum written out in Python: formats, outputs, targets, options, the report."""

import json
import math
import os
import struct
import subprocess
import unittest

from support import PROGRAM, SOURCE, CommandTest, farfield, random_rows, read, read_npy, write, write_npy


def reference(sources, targets, kernel, softening=0.0):
    """Rows of potential and field at the targets; `targets` None: at the sources. Sums by math.fsum.

    Gravity: phi = -sum m/s, coulomb: phi = sum q/s with s = sqrt(r^2 + eps^2); field = -grad phi.
    """
    sign = -1.0 if kernel == "gravity" else 1.0
    rows = []
    for i, target in enumerate(sources if targets is None else targets):
        terms = [[], [], [], []]
        for j, source in enumerate(sources):
            if targets is None and i == j:
                continue
            d = [target[k] - source[k] for k in range(3)]
            s2 = d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + softening**2
            strength = sign * source[3]
            terms[0].append(strength / math.sqrt(s2))
            for k in range(3):
                terms[k + 1].append(strength * d[k] / (s2 * math.sqrt(s2)))
        rows.append([math.fsum(t) for t in terms])
    return rows


class Sum(CommandTest):
    def test_kernels_softening_and_self(self):
        rows = random_rows(60, 4, seed=1)
        write_npy("s.npy", rows)
        for kernel in ("gravity", "coulomb"):
            for softening in (0.0, 0.3):
                self.succeed("sum", "--kernel", kernel, "--sources", "s.npy", "--softening", softening, "--out", "o.npy")
                shape, values = read_npy("o.npy")
                self.assertEqual(shape, (60, 4))
                expected = [v for row in reference(rows, None, kernel, softening) for v in row]
                self.assert_close(values, expected, 1e-13)

    def test_targets_and_each_output(self):
        rows, targets = random_rows(40, 4, seed=2), random_rows(25, 3, seed=3)
        write_npy("s.npy", rows)
        write_npy("t.npy", targets)
        expected = reference(rows, targets, "coulomb")
        shapes = {"potential": (25,), "field": (25, 3), "field,potential": (25, 4)}
        columns = {"potential": [0], "field": [1, 2, 3], "field,potential": [0, 1, 2, 3]}
        for output, shape in shapes.items():
            self.succeed("sum", "--kernel", "coulomb", "--sources", "s.npy", "--targets", "t.npy", "--output", output,
                         "--out", "o.npy")
            actual_shape, values = read_npy("o.npy")
            self.assertIn(actual_shape, (shape, shape + (1,)))
            self.assert_close(values, [row[c] for row in expected for c in columns[output]], 1e-13)

    def test_second_derivatives(self):
        rows, targets = random_rows(30, 4, seed=21), random_rows(8, 3, seed=22)
        write_npy("s.npy", rows)
        write_npy("t.npy", targets)
        command = ["sum", "--kernel", "gravity", "--sources", "s.npy", "--targets", "t.npy"]
        self.succeed(*command, "--output", "hessian,potential", "--tolerance", "1e-12", "--out", "o.csv", "--json", "r.json")
        lines = read("o.csv").decode().splitlines()
        self.assertEqual(lines[0], "potential,hessian_xx,hessian_xy,hessian_xz,hessian_yy,hessian_yz,hessian_zz")
        pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
        expected = []
        for target in targets:
            terms = [[] for _ in pairs]
            for *place, mass in rows:
                d = [target[k] - place[k] for k in range(3)]
                r = math.sqrt(sum(x * x for x in d))
                for term, (i, j) in zip(terms, pairs):
                    term.append(-mass * (3 * d[i] * d[j] / r**5 - (i == j) / r**3))
            expected += [math.fsum(term) for term in terms]
        self.assert_close([float(v) for line in lines[1:] for v in line.split(",")[1:]], expected, 1e-12)
        report = json.loads(read("r.json"))
        self.assertEqual(report["output"], ["potential", "hessian"])
        self.assertEqual([error["output"] for error in report["errors"]], ["potential", "hessian"])
        self.succeed(*command, "--output", "hessian", "--out", "o.npy")
        self.assertEqual(read_npy("o.npy")[0], (8, 6))
        self.fail_clearly([*command, "--output", "hessian", "--device", "cuda", "--out", "o.npy"], 2, "GPU", "hessian",
                          "--device cpu")

    def test_dipoles(self):
        rows, dipoles = random_rows(25, 4, seed=23), random_rows(25, 3, seed=24)
        expected, energy = [], []
        for i, (*x, charge) in enumerate(rows):
            terms = [[], [], [], []]
            for j, (*y, q) in enumerate(rows):
                if i == j:
                    continue
                d = [x[k] - y[k] for k in range(3)]
                r = math.sqrt(sum(a * a for a in d))
                along = sum(p * a for p, a in zip(dipoles[j], d))
                terms[0].append(q / r + along / r**3)
                for k in range(3):
                    terms[k + 1].append((q + 3 * along / r**2) * d[k] / r**3 - dipoles[j][k] / r**3)
            values = [math.fsum(term) for term in terms]
            expected += values
            energy += [charge * values[0] / 2] + [-p * e / 2 for p, e in zip(dipoles[i], values[1:])]
        write_npy("s.npy", rows)
        write_npy("x.npy", [row[:3] for row in rows])
        write("x.csv", "x,y,z\n" + "".join(f"{x!r},{y!r},{z!r}\n" for x, y, z, _ in rows))
        write_npy("p.npy", dipoles)
        write("p.csv", "pz,px,py\n" + "".join(f"{z!r},{x!r},{y!r}\n" for x, y, z in dipoles))
        command = ["sum", "--kernel", "coulomb", "--json", "r.json", "--out", "o.npy"]
        for file in ("p.npy", "p.csv"):
            for method in ("direct", "fmm", "reference"):
                out = self.succeed(*command, "--sources", "s.npy", "--dipoles", file, "--method", method, "--tolerance", 1e-12)
                self.assert_close(read_npy("o.npy")[1], expected, 1e-11)
                report = json.loads(read("r.json"))
                self.assertTrue(report["dipoles"])
                self.assertAlmostEqual(report["energy"] / math.fsum(energy), 1.0, places=9)
                self.assertIn("total energy: ", out.out)
        alone = []
        for file in ("x.npy", "x.csv"):  # no charges
            self.succeed(*command, "--sources", file, "--dipoles", "p.npy", "--output", "potential")
            alone.append(read_npy("o.npy")[1])
        self.assertEqual(alone[0], alone[1])
        charges = [row[0] for row in reference(rows, None, "coulomb")]
        self.assert_close([a + b for a, b in zip(alone[0], charges)], expected[::4], 1e-12)
        self.fail_clearly([*command, "--sources", "x.npy"], 2, "x.npy", "charge")
        self.fail_clearly(["sum", "--kernel", "gravity", "--sources", "s.npy", "--dipoles", "p.npy", "--out", "o.npy"], 2,
                          "gravity", "p.npy", "--kernel coulomb")
        self.fail_clearly([*command, "--sources", "s.npy", "--dipoles", "p.npy", "--device", "cuda"], 2, "GPU", "dipoles",
                          "--device cpu")
        write_npy("few.npy", dipoles[:-1])
        self.fail_clearly([*command, "--sources", "s.npy", "--dipoles", "few.npy"], 2, "few.npy", "24", "s.npy", "25")
        write_npy("nan.npy", [*dipoles[:-1], [1.0, math.nan, 0.0]])
        self.fail_clearly([*command, "--sources", "s.npy", "--dipoles", "nan.npy"], 2, "nan.npy", "row 24", "nan")
        write_npy("two.npy", [row[:2] for row in dipoles])
        self.fail_clearly([*command, "--sources", "s.npy", "--dipoles", "two.npy"], 2, "two.npy", "px py pz")
        self.fail_clearly([*command, "--sources", "s.npy", "--dipoles", "none.npy"], 2, "none.npy")

    def test_several_vectors_of_strengths(self):
        points, q, targets = random_rows(30, 3, seed=21), random_rows(30, 3, seed=22), random_rows(12, 3, seed=23)
        columns = [[row[v] for row in q] for v in range(3)]
        one = [reference([p + [s] for p, s in zip(points, c)], targets, "coulomb") for c in columns]
        expected = [one[v][i][k] for i in range(12) for v in range(3) for k in range(4)]
        header = "a,b,c\n" + "".join(",".join(map(repr, row)) + "\n" for row in q)
        write("q.csv", header)
        write("p.csv", "x,y,z\n" + "".join(",".join(map(repr, row)) + "\n" for row in points))
        write_npy("q.npy", q)
        write_npy("p.npy", points)
        write_npy("t.npy", targets)
        base = ("sum", "--kernel", "coulomb", "--targets", "t.npy")
        for ending in ("npy", "csv"):
            self.succeed(*base, "--sources", f"p.{ending}", "--strengths", f"q.{ending}", "--out", "o.npy")
            shape, values = read_npy("o.npy")
            self.assertEqual(shape, (12, 3, 4))
            self.assert_close(values, expected, 1e-13)
        files = ("--sources", "p.npy", "--strengths", "q.npy")
        self.succeed(*base, *files, "--output", "potential", "--out", "v.npy")
        shape, values = read_npy("v.npy")
        self.assertEqual((shape, values), ((12, 3), read_npy("o.npy")[1][::4]))
        self.succeed(*base, *files, "--output", "field", "--out", "f.npy")
        self.assertEqual(read_npy("f.npy")[0], (12, 3, 3))
        out = self.succeed(*base, *files, "--out", "o.csv", "--json", "r.json").out
        self.assertIn("30 sources, 12 targets, 3 vectors of strengths", out)
        lines = read("o.csv").decode().splitlines()
        names = lines[0].split(",")
        self.assertEqual(names[:4], ["potential_0", "potential_1", "potential_2", "field_0_x"])
        row = dict(zip(names, map(float, lines[5].split(","))))
        for v in range(3):
            self.assertEqual(row[f"potential_{v}"], read_npy("o.npy")[1][(4 * 3 + v) * 4])
            self.assertEqual(row[f"field_{v}_z"], read_npy("o.npy")[1][(4 * 3 + v) * 4 + 3])
        report = json.loads(read("r.json"))
        self.assertEqual((report["vectors"], report["direct"]["pairs"]), (3, 3 * 30 * 12))
        # one vector, with and without an axis of its own
        write_npy("one.npy", [[s] for s in columns[0]])
        write("one.csv", "s\n" + "".join(f"{s!r}\n" for s in columns[0]))
        for name in ("one.npy", "one.csv"):
            self.succeed(*base, "--sources", "p.npy", "--strengths", name, "--out", "w.npy")
            shape, values = read_npy("w.npy")
            self.assertEqual((shape, values), ((12, 1, 4), [read_npy("o.npy")[1][12 * i + k] for i in range(12) for k in range(4)]))

    def test_csv_in_any_column_order(self):
        rows = random_rows(20, 4, seed=4)
        write("s.csv", "q,z,x,y\n" + "".join(f"{q!r},{z!r},{x!r},{y!r}\n" for x, y, z, q in rows))
        write("t.csv", "x,y,z\n0.5,0.25,2\n-3,1,1e1\n")
        self.succeed("sum", "--kernel", "gravity", "--sources", "s.csv", "--targets", "t.csv", "--out", "o.csv")
        lines = read("o.csv").decode().splitlines()
        self.assertEqual(lines[0], "potential,field_x,field_y,field_z")
        values = [float(v) for line in lines[1:] for v in line.split(",")]
        expected = reference(rows, [[0.5, 0.25, 2.0], [-3.0, 1.0, 10.0]], "gravity")
        self.assert_close(values, [v for row in expected for v in row], 1e-13)

    def test_hdf5_holds_the_same_numbers_as_npy(self):
        write_npy("s.npy", random_rows(30, 4, seed=5))
        for out in ("o.npy", "o.h5"):
            self.succeed("sum", "--kernel", "gravity", "--sources", "s.npy", "--output", "field", "--out", out)
        _, values = read_npy("o.npy")
        # The dataset is stored in one piece, so its bytes are somewhere in the file.
        self.assertIn(struct.pack(f"<{len(values)}d", *values), read("o.h5"))

    def test_float32_input(self):
        rows = [[struct.unpack("f", struct.pack("f", v))[0] for v in row] for row in random_rows(30, 4, seed=6)]
        write_npy("s4.npy", rows, "<f4")
        write_npy("s8.npy", rows)
        for name in ("s4", "s8"):
            self.succeed("sum", "--kernel", "gravity", "--sources", name + ".npy", "--out", name + "_o.npy")
        self.assertEqual(read("s4_o.npy"), read("s8_o.npy"))

    def test_precision_follows_the_tolerance(self):
        write_npy("s.npy", random_rows(300, 4, seed=12))
        for tolerance, precision in ((1e-4, "mixed"), (1e-9, "double")):
            self.succeed("sum", "--kernel", "coulomb", "--sources", "s.npy", "--tolerance", tolerance, "--out", "o.npy",
                         "--json", "r.json")
            report = json.loads(read("r.json"))
            self.assertEqual(report["precision"], precision)
            self.assertEqual(report["options"]["precision"], "auto")
            self.assertLessEqual(max(error["relative"] for error in report["errors"]), tolerance)

    def test_precisions(self):
        rows = random_rows(50, 4, seed=7)
        write_npy("s.npy", rows)
        expected = [v for row in reference(rows, None, "coulomb", 0.1) for v in row]
        # Softening 0.1 bounds how much a rounded coordinate (1e-7) can move a term.
        for precision, tolerance in (("double", 1e-13), ("mixed", 2e-6), ("float", 1e-5)):
            self.succeed("sum", "--kernel", "coulomb", "--sources", "s.npy", "--softening", 0.1, "--precision",
                         precision, "--out", "o.npy")
            _, values = read_npy("o.npy")
            self.assert_close(values, expected, tolerance)

    def test_any_number_of_threads_gives_the_same_bits(self):
        write_npy("s.npy", random_rows(2000, 4, seed=8))
        for precision in ("double", "float", "mixed"):
            outputs = []
            for threads in (1, 2, 7):
                self.succeed("sum", "--kernel", "gravity", "--sources", "s.npy", "--threads", threads, "--precision",
                             precision, "--out", "o.npy")
                outputs.append(read("o.npy"))
            self.assertEqual(outputs[0], outputs[1])
            self.assertEqual(outputs[0], outputs[2])

    def test_every_isa_agrees(self):
        rows = random_rows(100, 4, seed=9)
        write_npy("s.npy", rows)
        expected = [v for row in reference(rows, None, "gravity") for v in row]
        found = json.loads(self.succeed("info", "--json").out)["isas_found"]
        self.assertIn("scalar", found)
        for isa in found:
            self.succeed("sum", "--kernel", "gravity", "--sources", "s.npy", "--isa", isa, "--out", "o.npy", "--json",
                         "r.json")
            self.assert_close(read_npy("o.npy")[1], expected, 1e-13)
            self.assertEqual(json.loads(read("r.json"))["options"]["isa"], isa)

    def test_coincident_points(self):
        rows = random_rows(10, 4, seed=10)
        rows[8][:3] = rows[3][:3]
        write_npy("s.npy", rows)
        command = ["sum", "--kernel", "coulomb", "--sources", "s.npy", "--out", "o.npy"]
        self.fail_clearly(command, 2, "s.npy", "rows 3 and 8", "softening", "skip")
        self.succeed(*command, "--softening", "0.1")
        self.succeed(*command, "--coincident", "skip", "--json", "r.json")
        self.assertEqual(json.loads(read("r.json"))["direct"]["coincident_pairs_skipped"], 2)
        expected = []
        for i, row in enumerate(rows):
            others = [r for j, r in enumerate(rows) if j != i and {i, j} != {3, 8}]
            expected += reference(others, [row[:3]], "coulomb")[0]
        self.assert_close(read_npy("o.npy")[1], expected, 1e-13)

    def test_target_on_a_source(self):
        write_npy("s.npy", [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 2.0]])
        write_npy("t.npy", [[5.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
        command = ["sum", "--kernel", "coulomb", "--sources", "s.npy", "--targets", "t.npy", "--out", "o.npy"]
        self.fail_clearly(command, 2, "s.npy", "t.npy", "1")
        self.succeed(*command, "--coincident", "skip", "--output", "potential")
        self.assert_close(read_npy("o.npy")[1], [1.0 / 5 + 2.0 / 4, 1.0], 1e-15)

    def test_report(self):
        write_npy("s.npy", random_rows(50, 4, seed=11))
        self.succeed("sum", "--kernel", "gravity", "--sources", "s.npy", "--out", "o.npy", "--json", "r.json",
                     "--repeat", 3, "--threads", 2, "--precision", "mixed", "--softening", "0.5")
        report = json.loads(read("r.json"))
        self.assertEqual(report["kernel"], "gravity")
        self.assertEqual(report["method"], "direct")
        self.assertEqual(report["precision"], "mixed")
        self.assertEqual((report["options"]["softening"], report["options"]["threads"]), (0.5, 2))
        self.assertEqual(report["options"]["device"], "auto")
        self.assertEqual((report["sources"], report["targets"], report["direct"]["pairs"]), (50, 50, 50 * 49))
        self.assertEqual(report["output"], ["potential", "field"])
        self.assertEqual(len(report["compute_seconds_of_each"]), 3)
        self.assertEqual(report["compute_seconds"], min(report["compute_seconds_of_each"]))
        self.assertAlmostEqual(report["direct"]["pairs_per_second"] * report["compute_seconds"] / report["direct"]["pairs"], 1.0, 6)
        self.assertIn(report["isa"], ("scalar", "sse4.2", "avx2", "avx512"))
        self.assertGreaterEqual(report["threads"], 1)
        for stage in ("read", "plan", "prepare", "compute", "finish", "write", "total"):
            self.assertGreaterEqual(report["stages"][stage + "_seconds"], 0.0)

    def test_quiet_prints_nothing(self):
        write_npy("s.npy", random_rows(5, 4, seed=12))
        result = self.succeed("sum", "--kernel", "gravity", "--sources", "s.npy", "--out", "o.npy", "--quiet")
        self.assertEqual((result.out, result.err), ("", ""))

    def test_one_source(self):
        write_npy("s.npy", [[1.0, 2.0, 3.0, 4.0]])
        self.succeed("sum", "--kernel", "gravity", "--sources", "s.npy", "--out", "o.npy")
        self.assertEqual([abs(v) for v in read_npy("o.npy")[1]], [0.0] * 4)


class BadSumInput(CommandTest):
    """Each mistake: exit code 2, one line that names file, place, value and remedy, the old output intact."""

    def setUp(self):
        super().setUp()
        write("o.npy", "earlier output")
        self.addCleanup(self.check_output)

    def check_output(self):
        self.assertEqual(read(self.folder + "/o.npy"), b"earlier output")
        self.assertFalse([n for n in __import__("os").listdir(self.folder) if n.endswith(".part")])

    def refuse(self, *parts, sources="s.npy", options=()):
        return self.fail_clearly(["sum", "--kernel", "gravity", "--sources", sources, "--out", "o.npy", *options], 2,
                                 *parts)

    def with_rows(self, n=4, columns=4, **options):
        rows = random_rows(n, columns, seed=20)
        write_npy("s.npy", rows, **options)
        return rows

    def test_nan_and_infinity(self):
        for value, shown in ((float("nan"), "nan"), (float("inf"), "inf"), (float("-inf"), "-inf")):
            rows = random_rows(6, 4, seed=21)
            rows[4][1] = value
            write_npy("s.npy", rows)
            self.refuse("s.npy", "row 4", "column 1", shown, "finite")
            write("s.csv", "x,y,z,q\n1,2,3,4\n5,6,%r,8\n" % value)
            self.refuse("s.csv", "3", "'z'", "finite", sources="s.csv")

    def test_strengths(self):
        write_npy("p.npy", random_rows(5, 3, seed=1))
        write_npy("rows.npy", random_rows(5, 4, seed=1))
        write_npy("q.npy", random_rows(5, 2, seed=2))
        write_npy("short.npy", random_rows(4, 2, seed=2))
        write_npy("nan.npy", [[1.0, 2.0]] * 3 + [[1.0, math.nan]] + [[0.0, 0.0]])
        write("p.csv", "x,y,z,q\n1,2,3,4\n")
        write("p3.csv", "x,y,z\n1,2,3\n")
        write("q.csv", "a\n1\n")
        write("bad.csv", "a,b\n1,inf\n")
        write_npy("none.npy", [], shape=(5, 0))
        cases = [
            ("p.npy", "short.npy", "short.npy has 4 rows and p.npy has 5"),
            ("p.npy", "nan.npy", "nan.npy: row 3"),
            ("p.npy", "none.npy", "none.npy: its shape is (5, 0)"),
            ("rows.npy", "q.npy", "strengths are in a file of their own"),
            ("p.csv", "q.csv", "a column 'q' of strengths"),
            ("p3.csv", "bad.csv", "bad.csv"),
            ("p.npy", "missing.npy", "--strengths"),
        ]
        for sources, strengths, words in cases:
            self.refuse(words, sources=sources, options=["--strengths", strengths])

    def test_empty(self):
        write("s.npy", "")
        self.refuse("s.npy", "empty")
        write("s.csv", "")
        self.refuse("s.csv", "empty", sources="s.csv")
        write("s.h5", "")
        self.refuse("s.h5", sources="s.h5")
        write("s.csv", "x,y,z,q\n")
        self.refuse("s.csv", "row", sources="s.csv")
        write_npy("s.npy", [], shape=(0, 4))
        self.refuse("s.npy", "(0, 4)")

    def test_shape_and_type(self):
        self.with_rows(columns=3)
        self.refuse("s.npy", "(4, 3)", "(N, 4)")
        write_npy("s.npy", [[1.0, 2.0]], descr="<c16", shape=(1,))
        self.refuse("s.npy", "<c16", "float")
        self.with_rows()
        self.refuse("s.npy", "(4, 4)", "(N, 3)", options=["--targets", "s.npy"])
        write("s.csv", "x,y,z\n1,2,3\n")
        self.refuse("s.csv", "q", sources="s.csv")
        write("s.csv", "x,y,z,q\n1,2,3\n")
        self.refuse("s.csv", "line 2", sources="s.csv")
        write("s.csv", "x,y,z,q\n1,2,three,4\n")
        self.refuse("s.csv", "line 2", "three", sources="s.csv")

    def test_truncated(self):
        self.with_rows()
        data = read("s.npy")
        for size in (4, 9, 40, len(data) - 1):
            with open("s.npy", "wb") as file:
                file.write(data[:size])
            self.refuse("s.npy")

    def test_wrong_kind_of_file(self):
        write("s.txt", "1 2 3 4\n")
        self.refuse("s.txt", ".npy, .csv", sources="s.txt")
        write("s.h5", "this is no HDF5 file")
        self.refuse("s.h5", "HDF5", sources="s.h5")
        write("s.npy", "this is no npy file")
        self.refuse("s.npy", ".npy")
        self.refuse("missing.npy", "no such file", sources="missing.npy")
        self.refuse("folder", sources=self.folder)

    def test_options(self):
        self.with_rows()
        self.refuse("--softening -1", "≥ 0", options=["--softening", "-1"])
        self.refuse("--softening nan", "finite", options=["--softening", "nan"])
        self.refuse("--threads 0", "≥ 1", options=["--threads", "0"])
        self.refuse("--threads 5000", "≤ 4096", options=["--threads", "5000"])
        self.refuse("--threads two", "whole number", options=["--threads", "two"])
        self.refuse("--repeat 0", "≥ 1", options=["--repeat", "0"])
        self.refuse("--precision duoble", "did you mean 'double'", options=["--precision", "duoble"])
        self.refuse("--coincident ignore", "error or skip", options=["--coincident", "ignore"])
        self.refuse("--output", "'fields'", options=["--output", "potential,fields"])
        self.refuse("--sofening", "did you mean '--softening'", options=["--sofening", "1"])
        self.refuse("--variant naive is scalar code and cannot use --isa sse4.2", "leave --isa at 'auto'",
                    options=["--variant", "naive", "--isa", "sse4.2"])
        self.refuse("kernel 'gravity' has no sigma; leave --sigma 0.5 out", options=["--sigma", "0.5"])
        self.refuse("--sigma 0", "> 0", options=["--sigma", "0"])
        self.fail_clearly(["sum", "--kernel", "grvity", "--sources", "s.npy", "--out", "x.npy"], 2, "grvity",
                          "did you mean 'gravity'")
        self.fail_clearly(["sum", "--kernel", "gravity", "--out", "x.npy"], 2, "--sources is required")

    def test_where_the_output_goes(self):
        self.with_rows()
        before = read("s.npy")
        command = ["sum", "--kernel", "gravity", "--sources", "s.npy", "--out"]
        self.fail_clearly([*command, "s.npy"], 2, "--sources", "choose another name")
        self.fail_clearly([*command, "./s.npy"], 2, "--sources", "choose another name")
        self.fail_clearly([*command, "nowhere/x.npy"], 2, "nowhere", "no folder")
        self.fail_clearly([*command, "s.npy/x.npy"], 2, "s.npy", "not a folder")
        self.fail_clearly([*command, "."], 2, "folder")
        self.fail_clearly([*command, "x.txt"], 2, "x.txt", ".npy, .csv")
        self.fail_clearly([*command, "x.npy", "--json", "x.npy"], 2, "--json", "choose another name")
        self.assertEqual(read("s.npy"), before)

    def test_isa_this_machine_lacks(self):
        self.with_rows()
        found = json.loads(farfield("info", "--json").out)["isas_found"]
        missing = [isa for isa in ("sse4.2", "avx2", "avx512") if isa not in found]
        if not missing:
            self.skipTest("this machine has every instruction set")
        self.refuse(f"--isa {missing[0]} is not available", options=["--isa", missing[0]])


class Guide(CommandTest):
    def test_commands_of_the_guide_run(self):
        text = read(os.path.join(SOURCE, "docs/guide/sums.md")).decode()
        commands = [line.split() for line in text.splitlines() if line.startswith("    build/farfield sum ")]
        self.assertGreaterEqual(len(commands), 3)
        for words in commands:
            words = [os.path.join(SOURCE, word) if word.startswith("examples/") else word for word in words[1:]]
            with self.subTest(command=" ".join(words)):
                self.succeed(*words)
        report = json.loads(read("report.json"))
        self.assertEqual([error["output"] for error in report["errors"]], ["potential", "field"])
        for error in report["errors"]:
            self.assertLess(error["relative"], 1e-14)
            self.assertEqual(error["samples"], 60)
        self.assertEqual(read("density.csv").decode().splitlines()[0], "potential,gradient_x,gradient_y,gradient_z")

    def test_a_tolerance_that_is_missed_writes_nothing(self):
        charges = os.path.join(SOURCE, "examples/10_charges.csv")
        self.fail_clearly(["sum", "--kernel", "coulomb", "--sources", charges, "--precision", "float",
                           "--tolerance", "1e-12", "--out", "out.npy"], 1, "tolerance 1e-12", "potential")
        self.assertFalse(os.path.exists("out.npy"))


class Threads(CommandTest):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core")
    def test_threads_bound_by_openmp_do_not_share_a_core(self):
        write_npy("bodies.npy", random_rows(30000, 4, seed=5))
        command = [PROGRAM, "sum", "--kernel", "coulomb", "--device", "cpu", "--threads", "2", "--sources", "bodies.npy", "--out", "out.npy", "--quiet"]
        with subprocess.Popen(command, env={**os.environ, "OMP_PROC_BIND": "true"}) as process:
            cores = set()
            while process.poll() is None and len(cores) < 2:
                if len(os.listdir(f"/proc/{process.pid}/task")) >= 2:
                    cores = set().union(*(os.sched_getaffinity(int(task)) for task in os.listdir(f"/proc/{process.pid}/task")))
            process.kill()
        self.assertGreaterEqual(len(cores), 2, cores)


if __name__ == "__main__":
    unittest.main()
