"""What a run shows while it goes: a live line on a terminal, plain lines in a pipe."""

import fcntl
import os
import pty
import signal
import struct
import termios
import unittest

from support import PLUMMER, PROGRAM, CommandTest, farfield, is_summing, random_rows, start, write, write_npy

CLEAR = "\r\x1b[2K"


def on_a_terminal(arguments, columns, environment=None):
    """Runs the program on a pseudo-terminal; exit code and everything it printed."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(environment or {"TERM": "xterm"})
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(PROGRAM, [PROGRAM, *arguments])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


class Progress(CommandTest):
    def setUp(self):
        super().setUp()
        write("c.toml", PLUMMER)

    def test_live_line(self):
        code, shown = on_a_terminal(["run", "c.toml"], 100)
        self.assertEqual(code, 0, shown)
        lines = shown.split(CLEAR)
        self.assertGreater(len(lines), 2)
        last = lines[-2]
        for part in ("100%", "step 64/64", "t = 0.5/0.5", "dE/E = ", "pairs/s", "left", "[####"):
            self.assertIn(part, last)
        self.assertTrue(lines[-1].startswith("Reached t = 0.5"), lines[-1])  # the line was cleared
        self.assertNotIn("\n", "".join(lines[1:-1]))

    def test_fits_the_width(self):
        for columns in (20, 40, 60, 80, 200):
            code, shown = on_a_terminal(["run", "c.toml", "--out", f"c{columns}"], columns)
            self.assertEqual(code, 0, shown)
            for line in shown.split(CLEAR)[:-1]:
                self.assertLess(len(line), columns)

    def test_quiet_and_dumb_terminals(self):
        code, shown = on_a_terminal(["run", "c.toml", "--quiet"], 80)
        self.assertEqual((code, shown), (0, ""))
        code, shown = on_a_terminal(["run", "c.toml", "--out", "d"], 80, {"TERM": "dumb"})
        self.assertEqual(code, 0)
        self.assertNotIn("\x1b", shown)

    def test_plain_lines_in_a_pipe(self):
        result = farfield("run", "c.toml")
        self.assertEqual(result.code, 0, result)
        self.assertNotIn("\r", result.err)
        self.assertNotIn("\x1b", result.err)
        lines = result.err.splitlines()
        self.assertEqual(lines[0].split("dE/E")[0].split(), "0% step 0/64 t = 0/0.5".split())
        self.assertNotIn("pairs/s", lines[0])  # of nothing measured
        self.assertNotIn("left", lines[0])
        self.assertIn("100%", lines[-1])
        self.assertIn("step 64/64", lines[-1])
        self.assertLessEqual(len(lines), 15)
        self.assertNotIn("%", result.out)

    def test_a_reader_that_leaves_does_not_stop_the_run(self):
        reading, writing = os.pipe()
        os.close(reading)
        child = os.fork()
        if child == 0:
            os.dup2(writing, 2)
            os.execv(PROGRAM, [PROGRAM, "run", "c.toml"])
        os.close(writing)
        os.waitpid(child, 0)
        self.assertTrue(os.path.exists("c/summary.json"))


class OneLongSum(CommandTest):
    """Ctrl-C after a sum told its progress, which it does once it has taken a second."""

    def stop(self, count, *options):
        write_npy("s.npy", [row[:3] + [(-1.0) ** i] for i, row in enumerate(random_rows(count, 4, seed=1))])
        process = start("sum", "--kernel", "coulomb", "--sources", "s.npy", "--out", "o.npy", "--json", "r.json", "--threads", "1", *options)
        self.assertTrue(is_summing(process))
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, error)
        self.assertIn(b"nothing was written", error)
        self.assertEqual(os.listdir("."), ["s.npy"])

    def test_of_pairs_in_a_box(self):
        self.stop(200000, "--method", "direct", "--period", "20")

    def test_of_multipoles_in_a_box(self):
        self.stop(200000, "--method", "fmm", "--order", "38", "--period", "20")

    def test_of_waves(self):
        self.stop(100000, "--method", "ewald", "--period", "3", "--tolerance", "1e-12")

    def test_of_a_mesh(self):
        self.stop(400000, "--method", "pme", "--period", "3", "--tolerance", "1e-12")

    def test_of_a_tree(self):
        self.stop(200000, "--method", "treecode", "--theta", "0.2", "--order", "12")


if __name__ == "__main__":
    unittest.main()
