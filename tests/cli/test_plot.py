"""farfield plot, and the pictures a run makes."""

import math
import os
import random
import re
import struct
import unittest
import zlib

from support import PLUMMER, SOURCE, CommandTest, random_bodies, read, write, write_npy


def pixels(path):
    """Width, height and the decompressed bytes of a PNG; fails where a chunk's checksum is wrong."""
    data = read(path)
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, packed = 8, b""
    while at < len(data):
        length = struct.unpack(">I", data[at : at + 4])[0]
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + content)
        if kind == b"IHDR":
            width, height = struct.unpack(">II", content[:8])
        if kind == b"IDAT":
            packed += content
        at += 12 + length
    return width, height, zlib.decompress(packed)


def decoded(path):
    """Width and the lines of a PNG of 8-bit RGB, its filters undone as the format describes them."""
    width, height, content = pixels(path)
    stride, lines = 3 * width, [bytes(3 * width)]
    for row in range(height):
        kind, line = content[row * (stride + 1)], bytearray(content[row * (stride + 1) + 1 : (row + 1) * (stride + 1)])
        above = lines[-1]
        if kind == 1:
            for i in range(3, stride):
                line[i] = (line[i] + line[i - 3]) & 255
        elif kind == 2:
            line = bytearray((value + up) & 255 for value, up in zip(line, above))
        elif kind == 3:
            for i in range(stride):
                line[i] = (line[i] + ((line[i - 3] if i > 2 else 0) + above[i]) // 2) & 255
        elif kind == 4:
            for i in range(stride):
                left, up, corner = line[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
                to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                nearest = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
                line[i] = (line[i] + nearest) & 255
        lines.append(bytes(line))
    return width, lines[1:]


class Plot(CommandTest):
    def assert_picture(self, path):
        width, height, content = pixels(path)
        self.assertGreater(width, 300)
        self.assertGreater(height, 300)
        self.assertGreater(len(set(content)), 10, "the picture is blank")
        return content

    def test_of_a_run(self):
        write("c.toml", PLUMMER.replace("pictures = false", "pictures = true").replace("n = 64", "n = 400"))
        self.succeed("run", "c.toml", "--quiet")
        self.assert_picture("c/snapshot_0002.png")
        self.succeed("plot", "c/snapshot_0002.h5", "-o", "a.png")
        first = self.assert_picture("a.png")
        self.succeed("plot", "c/snapshot_0002.h5", "--out", "b.png", "--plane", "xz")
        self.assertNotEqual(first, self.assert_picture("b.png"))
        self.succeed("plot", "c/snapshot_0002.h5", "--out", "b.png", "--width", "1.5")
        self.assertNotEqual(first, self.assert_picture("b.png"))
        result = self.succeed("plot", "c/diagnostics.csv", "-o", "d.png")
        self.assert_picture("d.png")
        self.assertIn("d.png", result.out)

    def test_the_figure_eight_is_seen(self):
        example = os.path.join(SOURCE, "examples", "03_figure_eight.toml")
        self.succeed("run", example, "--out", "eight", "--set", "output.animation=true", "--quiet")
        last = sorted(name for name in os.listdir("eight") if name.startswith("snapshot_") and name.endswith(".png"))[-1]
        frames = read("eight/animation.png").count(b"fcTL")
        snapshots = [name for name in os.listdir("eight") if name.startswith("snapshot_") and name.endswith(".h5")]
        self.assertEqual(frames, len(snapshots))
        result = self.succeed("plot", "eight", "-o", "trails.png")
        self.assertIn(f"trails through {frames} snapshots", result.out)
        self.succeed("plot", "eight/" + last.replace(".png", ".h5"), "-o", "alone.png")
        # The highest and lowest points of the curve (Simo's, in units of the frame of width 2.5) are where no body is.
        scale = 900 / 2.5
        for name, seen in (("eight/" + last, True), ("trails.png", True), ("alone.png", False)):
            _, lines = decoded(name)
            for x, y in ((0.659, 0.359), (-0.659, 0.359), (0.659, -0.359), (-0.659, -0.359)):
                column, row = round(570 + scale * x), round(520 - scale * y)
                near = max(max(lines[row + i][3 * (column - 3) : 3 * (column + 4)]) for i in range(-5, 6))
                self.assertEqual(near > 100, seen, f"{name} at {x}, {y}")

    def test_animation(self):
        write("c.toml", PLUMMER.replace("n = 64", "n = 400"))
        self.succeed("run", "c.toml", "--quiet")
        result = self.succeed("plot", "c", "--animate", "-o", "film.png", "--plane", "yz", "--width", "3")
        self.assertIn("3 frames, seen in the yz plane", result.out)
        self.assertEqual(read("film.png").count(b"fcTL"), 3)
        result = self.succeed("plot", "c", "-o", "last.png")
        self.assertIn("t = 0.5, seen in the xy plane, the last of 3 snapshots", result.out)

    def test_charges(self):
        rows = [[*row[:7], (-1) ** number] for number, row in enumerate(random_bodies(300, seed=2))]
        write_npy("q.npy", rows)
        self.succeed("plot", "q.npy", "-o", "charge.png")
        self.succeed("plot", "q.npy", "-o", "same.png", "--show", "charge")
        self.succeed("plot", "q.npy", "-o", "mass.png", "--show", "mass")
        self.assertEqual(read("charge.png"), read("same.png"))
        self.assertNotEqual(read("charge.png"), read("mass.png"))

    def test_of_bodies(self):
        write_npy("b.npy", random_bodies(30, seed=1))
        self.succeed("plot", "b.npy", "-o", "b.png")
        self.assert_picture("b.png")

    def test_density_of_points(self):
        generator = random.Random(4)
        points = [[generator.gauss(2, 0.5), generator.gauss(-1, 0.25)] for _ in range(2000)]
        points += [[generator.gauss(-1, 0.25), generator.gauss(1, 0.25)] for _ in range(1000)]
        write("p.csv", "y,x\n" + "".join(f"{y!r},{x!r}\n" for x, y in points))
        write_npy("p.npy", points)
        result = self.succeed("plot", "p.csv", "-o", "a.png")
        self.assertIn("3000 points", result.out)
        self.assertIn("Scott's rule", result.out)
        self.assert_picture("a.png")
        largest = re.search(r"largest is [\d.]+, at \((\S+), (\S+)\)", result.out)
        self.assertLess(math.dist((float(largest[1]), float(largest[2])), (2, -1)), 0.5)
        # The brightest pixel of the map lies where the text says, by the ranges that it tells.
        ranges = [float(value) for value in re.findall(r"from (\S+) to ([^\s,]+)", result.out)[0]]
        _, lines = decoded("a.png")
        width, height = (int(cells) for cells in re.search(r"(\d+)×(\d+) cells", result.out).groups())
        inside = lines[90 : 50 + height]  # of the frame and its ticks
        brightest = max(range(140, 100 + width), key=lambda column: max(sum(line[3 * column : 3 * column + 3]) for line in inside))
        at = ranges[0] + (brightest - 120) / width * (ranges[1] - ranges[0])
        self.assertLess(abs(at - float(largest[1])), 0.1)
        self.succeed("plot", "p.npy", "-o", "p.png")
        self.assertEqual(pixels("p.png")[2], pixels("a.png")[2], "the same points in another file")
        self.succeed("plot", "p.npy", "-o", "narrow.png", "--sigma", "0.05")
        self.assertNotEqual(read("narrow.png"), read("p.png"))
        # Without the weight of the larger heap the other one is the densest.
        write_npy("w.npy", [[x, y, 0.0 if i < 2000 else 1.0] for i, (x, y) in enumerate(points)])
        result = self.succeed("plot", "w.npy", "-o", "w.png")
        largest = re.search(r"at \((\S+), (\S+)\)", result.out)
        self.assertLess(math.dist((float(largest[1]), float(largest[2])), (-1, 1)), 0.3)

    def test_mistakes_with_points(self):
        write("line.csv", "x,y\n0,0\n1,1\n2,2\n")
        write_npy("p.npy", [[0, 0, 1], [1, 2, -1], [2, 0, 1]])
        write_npy("b.npy", random_bodies(3, seed=1))
        self.fail_clearly(["plot", "line.csv", "-o", "x.png"], 2, "line.csv", "on a line", "--sigma")
        self.fail_clearly(["plot", "p.npy", "-o", "x.png"], 2, "p.npy", "row 1", "negative")
        self.fail_clearly(["plot", "line.csv", "-o", "x.png", "--animate"], 2, "line.csv", "--animate")
        self.fail_clearly(["plot", "line.csv", "-o", "x.jpg", "--sigma", "1"], 2, "x.jpg", ".png")
        self.fail_clearly(["plot", "line.csv", "-o", "x.png", "--sigma", "0"], 2, "--sigma 0", "> 0")
        self.fail_clearly(["plot", "b.npy", "-o", "x.png", "--sigma", "1"], 2, "--sigma", "points in the plane")
        write("broken.csv", "x,y\n0,0\n1,nan\n2,2\n")
        self.fail_clearly(["plot", "broken.csv", "-o", "x.png"], 2, "broken.csv", "line 3")
        self.assertFalse(os.path.exists("x.png"))

    def test_mistakes(self):
        write_npy("b.npy", random_bodies(3, seed=1))
        write("d.csv", "time,relative_energy_error,r10,r50,r90\n0,0,1,2,3\n1,0.1,1,2,3\n")
        write("old.png", "earlier output")
        self.fail_clearly(["plot", "b.npy"], 2, "--out is required")
        self.fail_clearly(["plot", "-o", "x.png"], 2, "FILE is required")
        self.fail_clearly(["plot", "none.h5", "-o", "x.png"], 2, "none.h5", "no such file")
        self.fail_clearly(["plot", "b.npy", "-o", "x.jpg"], 2, "x.jpg", ".png")
        self.fail_clearly(["plot", "b.npy", "-o", "no/x.png"], 2, "no/x.png", "no folder")
        self.fail_clearly(["plot", "b.npy", "-o", "x.png", "--plane", "yzx"], 2, "--plane yzx", "yz")
        self.fail_clearly(["plot", "b.npy", "-o", "x.png", "--width", "0"], 2, "--width 0", "> 0")
        self.fail_clearly(["plot", "d.csv", "-o", "x.png", "--width", "2"], 2, "d.csv", "diagnostics")
        self.fail_clearly(["plot", "d.csv", "-o", "x.png", "--animate"], 2, "d.csv", "no animation")
        self.fail_clearly(["plot", "b.npy", "-o", "x.png", "--show", "velocity"], 2, "--show velocity", "charge")
        self.fail_clearly(["plot", "b.npy", "-o", "x.png", "--show", "charge"], 2, "charges of bodies that have none")
        os.mkdir("empty")
        self.fail_clearly(["plot", "empty", "-o", "x.png"], 2, "empty", "no snapshots")
        write_npy("other.npy", random_bodies(4, seed=1))
        self.fail_clearly(["plot", "b.npy", "other.npy", "-o", "x.png"], 2, "other.npy", "4 bodies")
        write("d.csv", "time,relative_energy_error\n0,0\n")
        self.fail_clearly(["plot", "d.csv", "-o", "old.png"], 2, "d.csv", "r10")
        write("d.csv", "a,b\n0,0\n")
        self.fail_clearly(["plot", "d.csv", "-o", "old.png"], 2, "d.csv", "x")
        self.assertEqual(read("old.png"), b"earlier output")


if __name__ == "__main__":
    unittest.main()
