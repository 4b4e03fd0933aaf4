"""Runs that are killed, interrupted and continued end as if nothing had happened."""

import os
import random
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import PLUMMER, PROGRAM, CommandTest, describe_signal, farfield, start, write

# Many checkpoints: most of the time goes into writing files, which is where a kill could hurt.
LONG = (PLUMMER.replace("end = 0.5", "end = 1.0")
        .replace("checkpoint_every = 0.03125", "checkpoint_every = 0.015625")
        .replace("diagnostics_every = 0.0625", "diagnostics_every = 0.03125"))


def wait_for(condition, process, limit=60.0):
    """Until the condition holds; False if the process ends first."""
    until = time.monotonic() + limit
    while not condition():
        if process.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


class Restart(CommandTest):
    earlier = None  # a folder of undisturbed runs, one a set of options, and how long each took
    durations = {}

    @classmethod
    def setUpClass(cls):
        cls.earlier = tempfile.mkdtemp(prefix="farfield_cli_whole_")
        cls.addClassCleanup(shutil.rmtree, cls.earlier, ignore_errors=True)

    def setUp(self):
        super().setUp()
        write("c.toml", LONG)

    def undisturbed(self, *options):
        """Makes the run `whole` and returns the seconds it took."""
        kept = os.path.join(self.earlier, "_".join(options) or "plain")
        if options not in self.durations:
            began = time.monotonic()
            self.succeed("run", "c.toml", "--out", kept, "--quiet", *options)
            self.durations[options] = time.monotonic() - began
        shutil.copytree(kept, "whole")
        return self.durations[options]

    def kill_and_restart(self, seed, *options):
        duration = self.undisturbed(*options)
        generator = random.Random(seed)
        kills = 0
        for _ in range(40):
            process = start("run", "c.toml", "--out", "killed", "--restart", "--quiet", *options)
            try:
                _, errors = process.communicate(timeout=generator.uniform(0.0, 0.4) * duration)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
                continue
            self.assertEqual(process.returncode, 0, errors.decode() + describe_signal(process.returncode))
            if kills > 0:
                break
            duration /= 2  # the undisturbed run met a busier machine: begin again, with earlier kills
            shutil.rmtree("killed")
        else:
            self.succeed("run", "c.toml", "--out", "killed", "--restart", "--quiet", *options)
        self.assertGreater(kills, 0, "no run was killed: the case is too short")
        self.assert_same_run("whole", "killed")
        self.assertFalse([name for name in os.listdir("killed") if name.endswith(".part")])

    def test_killed_at_random_moments(self):
        seed = random.randrange(2**32)
        with self.subTest(seed=seed):
            self.kill_and_restart(seed)

    def test_killed_at_random_moments_hermite_adaptive(self):
        seed = random.randrange(2**32)
        with self.subTest(seed=seed):
            self.kill_and_restart(seed, "--set", "time.integrator=hermite4", "--set", "time.adaptive=true")

    def test_killed_with_other_threads_each_time(self):
        self.undisturbed("--threads", "1")
        for threads in (2, 7, 1, 2):
            process = start("run", "c.toml", "--out", "killed", "--restart", "--quiet", "--threads", threads)
            wait_for(lambda: os.path.exists("killed/checkpoint.h5"), process)
            time.sleep(0.1)
            process.kill()
            process.communicate()
        self.succeed("run", "c.toml", "--out", "killed", "--restart", "--quiet", "--threads", "7")
        self.assert_same_run("whole", "killed")

    def interrupt(self, number, exit_code):
        self.undisturbed()
        process = start("run", "c.toml", "--out", "stopped")
        wait_for(lambda: os.path.exists("stopped/snapshot_0001.h5"), process)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        text = errors.decode()
        self.assertEqual(process.returncode, exit_code, text)
        self.assertTrue(os.path.exists("stopped/checkpoint.h5"))
        self.assertIn("stopped at t = ", text)
        self.assertNotIn("error:", text)
        command = shlex.split(text.splitlines()[-1])
        self.assertEqual(command[0], "farfield")
        self.assertEqual(command[-1], "--restart")
        done = subprocess.run([PROGRAM, *command[1:], "--quiet"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same_run("whole", "stopped")

    def test_ctrl_c(self):
        self.interrupt(signal.SIGINT, 130)

    def test_sigterm(self):
        self.interrupt(signal.SIGTERM, 143)

    def test_a_lost_connection(self):
        self.interrupt(signal.SIGHUP, 129)

    def test_nohup_outlives_the_terminal(self):
        process = subprocess.Popen([PROGRAM, "run", "c.toml", "--out", "alone", "--quiet"], stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for(lambda: os.path.exists("alone/snapshot_0001.h5"), process)
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)

    def test_a_second_ctrl_c_ends_at_once_and_loses_nothing(self):
        self.undisturbed()
        process = start("run", "c.toml", "--out", "stopped", "--quiet")
        wait_for(lambda: os.path.exists("stopped/snapshot_0001.h5"), process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.succeed("run", "c.toml", "--out", "stopped", "--restart", "--quiet")
        self.assert_same_run("whole", "stopped")

    def test_without_a_checkpoint_it_begins_and_says_so(self):
        result = self.succeed("run", "c.toml", "--out", "fresh", "--restart")
        self.assertIn("no checkpoint", result.err)
        self.assertIn("beginning", result.err)
        self.undisturbed()
        self.assert_same_run("whole", "fresh")

    def test_of_a_finished_run_changes_nothing(self):
        self.undisturbed()
        shutil.copytree("whole", "again")
        self.succeed("run", "c.toml", "--out", "again", "--restart")
        self.assert_same_run("whole", "again")

    def test_with_another_case_is_refused(self):
        self.undisturbed()
        shutil.copytree("whole", "kept")
        for assignment, parts in (("force.softening=0.1", ("force.softening", "0.05", "0.1")),
                                  ("initial.seed=4", ("initial.seed", "3", "4"))):
            self.fail_clearly(["run", "c.toml", "--out", "whole", "--restart", "--set", assignment], 2, "whole",
                              "another case", *parts)
            self.assert_same_run("kept", "whole")

    def test_damaged_checkpoint(self):
        """The older generation is taken, and it says so."""
        self.undisturbed()
        both = ("cut/checkpoint.h5", "cut/checkpoint.previous.h5")
        for _ in range(20):
            process = start("run", "c.toml", "--out", "cut", "--quiet", "--restart")
            wait_for(lambda: all(map(os.path.exists, both)), process)
            process.kill()
            process.communicate()
            if all(map(os.path.exists, both)):  # not killed between the two renames
                break
        with open(both[0], "r+b") as file:
            file.truncate(os.path.getsize(both[0]) // 2)
        result = self.succeed("run", "c.toml", "--out", "cut", "--restart")
        self.assertIn("checkpoint", result.err)
        self.assert_same_run("whole", "cut")

    def test_all_checkpoints_damaged(self):
        self.undisturbed()
        for name in ("whole/checkpoint.h5", "whole/checkpoint.previous.h5"):
            if os.path.exists(name):
                with open(name, "r+b") as file:
                    file.truncate(100)
        shutil.copytree("whole", "kept")
        result = farfield("run", "c.toml", "--out", "whole", "--restart")
        self.assertIn(result.code, (1, 2))
        self.assert_one_error(result.err, "checkpoint.h5")
        self.assert_same_run("kept", "whole")


if __name__ == "__main__":
    unittest.main()
