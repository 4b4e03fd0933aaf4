"""What the tests of the command line share: running the program, small files, comparing outputs.

Only the standard library is used, so that the tests run wherever Python does. The environment variable
FARFIELD names the program, FARFIELD_SOURCE the checkout; by default these are the checkout of this file and its
folder build.
"""

import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

SOURCE = os.environ.get("FARFIELD_SOURCE", os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))
PROGRAM = os.environ.get("FARFIELD", os.path.join(SOURCE, "build", "farfield"))
TIMEOUT = 120
FEWER = os.environ.get("FARFIELD_FEWER_TESTS") == "1"  # where sanitizers watch, repetitions are left out: tests/effort.h
# what the user of this machine has tuned means nothing to the tests
os.environ.pop("FARFIELD_COST_TABLE", None)
os.environ["XDG_CONFIG_HOME"] = os.path.join(tempfile.gettempdir(), "farfield_tests_have_no_config")

PLUMMER = """
[initial]
kind = "plummer"
n = 64
seed = 3

[force]
softening = 0.05

[time]
step = 0.0078125
end = 0.5

[output]
snapshot_every = 0.25
diagnostics_every = 0.0625
checkpoint_every = 0.03125
pictures = false
"""


class Result:
    """Exit code and texts of a finished run."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}\nstdout: {self.out}\nstderr: {self.err}"


def farfield(*arguments, cwd=None, stdin=None, timeout=TIMEOUT, environment=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, input=stdin, capture_output=True,
                          timeout=timeout, env={**os.environ, **(environment or {})}, check=False)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(*arguments, cwd=None):
    """Starts the program and does not wait."""
    return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=cwd, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def is_summing(process):
    """Waits for the first line of progress: the work itself is under way by then."""
    return b"%" in process.stderr.readline()


def handles(pid, number):
    """Waits until the process has a handler for the signal."""
    for _ in range(3000):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            caught = int(re.search(r"SigCgt:\s*(\w+)", status.read())[1], 16)
        if caught >> (number - 1) & 1:
            return True
        time.sleep(0.01)
    return False


def write_npy(path, rows, descr="<f8", fortran=False, shape=None):
    """A .npy file written from its specification (version 1.0)."""
    columns = len(rows[0]) if rows else 0
    flat = [row[c] for c in range(columns) for row in rows] if fortran else [v for row in rows for v in row]
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape or (len(rows), columns)}, }}"
    padding = -(10 + len(header) + 1) % 64
    header = (header + " " * padding + "\n").encode()
    code = {"<f8": "d", "<f4": "f", "<i8": "q", "<c16": "d", ">f8": "d"}[descr]
    order = ">" if descr[0] == ">" else "<"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"{order}{len(flat)}{code}", *flat))


def read_npy(path):
    """Shape and flat values of a little-endian .npy file."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:6] == b"\x93NUMPY", data[:6]
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10 : 10 + length].decode(), {"__builtins__": {}})  # a literal written by the program
    code, size = {"<f8": ("d", 8), "<f4": ("f", 4)}[header["descr"]]
    assert not header["fortran_order"]
    body = data[10 + length :]
    return header["shape"], list(struct.unpack(f"<{len(body) // size}{code}", body))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def random_rows(n, columns, seed):
    generator = random.Random(seed)
    return [[generator.uniform(-1, 1) for _ in range(columns)] for _ in range(n)]


def random_bodies(n, seed):
    """Rows x y z vx vy vz m with masses above 0."""
    return [row[:6] + [1.0 + row[6]] for row in random_rows(n, 7, seed)]


class CommandTest(unittest.TestCase):
    """Each test in an empty folder of its own, the current one."""

    def assert_close(self, actual, expected, tolerance):
        """Relative to the largest value: rounding errors of a sum scale with its terms, not with its result."""
        scale = max(abs(v) for v in expected)
        self.assertEqual(len(actual), len(expected))
        for a, e in zip(actual, expected):
            self.assertLessEqual(abs(a - e), tolerance * scale)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="farfield_cli_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def succeed(self, *arguments, **options):
        result = farfield(*arguments, **options)
        self.assertEqual(result.code, 0, result)
        return result

    def expect_nothing_after_ctrl_c(self, *arguments):
        """A command that measures, stopped by Ctrl-C: exit code 130, one line, no file."""
        process = start(*arguments)
        self.assertTrue(handles(process.pid, signal.SIGINT), "no handler after 30 s")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
        self.assertEqual((process.returncode, out), (130, b""), err)
        self.assertEqual(err, b"farfield: stopped; nothing was written\n")
        self.assertEqual(os.listdir("."), [])

    def fail_clearly(self, arguments, code, *parts):
        """The command fails with this code and one line on stderr that holds all parts; returns the line."""
        result = farfield(*arguments)
        self.assertEqual(result.code, code, result)
        self.assert_one_error(result.err, *parts)
        return result.err

    def assert_one_error(self, text, *parts):
        errors = [line for line in text.splitlines() if line.startswith("farfield: error: ")]
        self.assertEqual(len(errors), 1, text)
        self.assertTrue(text.endswith("\n"), text)
        self.assertLess(len(errors[0]), 600, "an error should be one clear line")
        for part in parts:
            self.assertIn(part, errors[0])

    def assert_same_run(self, expected, actual):
        """The trajectory of two runs is the same, byte for byte, and no file is missing or left over."""
        names = sorted(name for name in os.listdir(expected) if name.startswith(("snapshot", "diagnostics")))
        self.assertIn("diagnostics.csv", names)
        self.assertEqual(names, sorted(n for n in os.listdir(actual) if n.startswith(("snapshot", "diagnostics"))))
        for name in names:
            self.assertTrue(read(os.path.join(expected, name)) == read(os.path.join(actual, name)),
                            f"{name} differs between {expected} and {actual}")


def describe_signal(code):
    return signal.Signals(-code).name if code < 0 else str(code)
