"""A disk that fills and a file system that cannot be written, on small ones mounted for the test.

Mounting needs a namespace of mounts (root, or a kernel that lets users have one); else the tests are skipped.
"""

import os
import subprocess
import sys
import unittest

from support import PLUMMER, CommandTest, farfield, random_rows, read, write, write_npy

INSIDE = "FARFIELD_TEST_NAMESPACE"


def namespace_command():
    """The command that gives a namespace of mounts, or None."""
    for command in (["unshare", "-m"], ["unshare", "-Urm"]):
        try:
            probe = subprocess.run([*command, "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"], capture_output=True,
                                   timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if probe.returncode == 0:
            return command
    return None


class Outside(unittest.TestCase):
    @unittest.skipIf(os.environ.get(INSIDE), "already inside")
    def test_in_a_namespace_of_mounts(self):
        command = namespace_command()
        if command is None:
            self.skipTest("this machine does not let us mount a small file system")
        done = subprocess.run([*command, sys.executable, "-B", "-m", "unittest", "-v", "test_full_disk.SmallDisk"],
                              env={**os.environ, INSIDE: "1"}, capture_output=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertNotIn("skipped", done.stderr.decode())


@unittest.skipUnless(os.environ.get(INSIDE), "run by Outside, in a namespace of mounts")
class SmallDisk(CommandTest):
    def mount(self, *options):
        os.makedirs("disk", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "none", "disk"], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.folder + "/disk"], check=False)

    def remount(self, *options):
        subprocess.run(["mount", "-o", ",".join(("remount", *options)), "disk"], check=True)

    def test_sum(self):
        self.mount("size=64k")
        write_npy("s.npy", random_rows(4000, 4, seed=1))
        for name in ("o.npy", "o.csv", "o.h5"):
            write("disk/" + name, "earlier output")
            command = ["sum", "--kernel", "gravity", "--softening", "0.1", "--sources", "s.npy", "--out", "disk/" + name]
            self.fail_clearly(command, 1, "disk/" + name, "No space left")
            self.assertEqual(read("disk/" + name), b"earlier output")
            self.assertEqual(os.listdir("disk"), [name])
            os.remove("disk/" + name)

    def test_run_fails_clearly_and_continues_when_there_is_room(self):
        write("c.toml", PLUMMER)
        self.succeed("run", "c.toml", "--out", "whole", "--quiet")
        for size in ("4k", "16k", "32k", "48k", "64k", "96k"):
            self.mount("size=" + size)
            result = farfield("run", "c.toml", "--out", "disk/run")
            if result.code != 0:
                self.assertEqual(result.code, 1, result)
                self.assert_one_error(result.err, "disk/run", "No space left")
                self.remount("size=8m")
                self.succeed("run", "c.toml", "--out", "disk/run", "--restart", "--quiet")
            self.assert_same_run("whole", "disk/run")
            subprocess.run(["umount", "disk"], check=True)

    def test_stencil_run_fails_clearly_and_continues_when_there_is_room(self):
        write("p.ff", "grid g[x: 40, y: 40]\nfield u on g = x\nupdate a: u += 1\nstep: a\nrecord r = u at (3, 3)\n"
                      "output u every 10, at end\ntime steps = 200\n")
        command = ["stencil", "run", "p.ff", "--target", "interpreter", "--checkpoint-every", "20", "--quiet"]
        self.succeed(*command, "--out", "whole")
        names = sorted(n for n in os.listdir("whole") if n.endswith((".vtkhdf", ".csv")))
        self.assertEqual(len(names), 21)
        for size in ("4k", "32k", "128k", "256k"):
            self.mount("size=" + size)
            self.fail_clearly([*command, "--out", "disk/run"], 1, "disk/run", "No space left")
            self.remount("size=8m")
            self.succeed(*command, "--out", "disk/run", "--restart")
            self.assertEqual(names, sorted(n for n in os.listdir("disk/run") if n.endswith((".vtkhdf", ".csv"))))
            for name in names:
                self.assertEqual(read("whole/" + name), read("disk/run/" + name), name)
            subprocess.run(["umount", "disk"], check=True)

    def test_read_only(self):
        self.mount("size=1m")
        write("disk/o.npy", "earlier output")
        self.remount("ro")
        write("c.toml", PLUMMER)
        self.fail_clearly(["run", "c.toml", "--out", "disk/run"], 2, "disk", "Read-only file system", "choose")
        write_npy("s.npy", random_rows(4, 4, seed=1))
        self.fail_clearly(["sum", "--kernel", "gravity", "--sources", "s.npy", "--out", "disk/o.npy"], 2, "disk/o.npy",
                          "Read-only file system", "choose")
        self.assertEqual(read("disk/o.npy"), b"earlier output")


if __name__ == "__main__":
    unittest.main()
