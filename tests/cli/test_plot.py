"""farfield plot, and the pictures a run makes."""

import struct
import unittest
import zlib

from support import PLUMMER, CommandTest, random_bodies, read, write, write_npy


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

    def test_of_bodies(self):
        write_npy("b.npy", random_bodies(30, seed=1))
        self.succeed("plot", "b.npy", "-o", "b.png")
        self.assert_picture("b.png")

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
        write("d.csv", "time,relative_energy_error\n0,0\n")
        self.fail_clearly(["plot", "d.csv", "-o", "old.png"], 2, "d.csv", "r10")
        write("d.csv", "a,b\n0,0\n")
        self.fail_clearly(["plot", "d.csv", "-o", "old.png"], 2, "d.csv", "x")
        self.assertEqual(read("old.png"), b"earlier output")


if __name__ == "__main__":
    unittest.main()
