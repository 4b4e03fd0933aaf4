"""Several processes that mpirun starts together: the files of one process, one message, and no job that hangs."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from support import FEWER, PLUMMER, PROGRAM, CommandTest, farfield, write

MPIRUN = shutil.which("mpirun")
# Open MPI: as root, and more ranks than cores, as on the machines of tests
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}

WAVES = """grid g[x: 40, y: 36]
field u, v on g : double, double-buffered = 0.1*x - 0.01*y*y
boundary u: periodic
boundary v: mirror
update one: u = 0.5*u[x-1] + 0.2*v[y+2] - 0.1*u[y-1]
update two on (x - 20)^2 + (y - 18)^2 < 150: v = 0.4*v[y+1] + 0.3*u[x+2]
record total = sum of u*v
record top = max of v every 3
step: one, two every 2
output u every 40
time steps = 80
"""


def has_mpi():
    return MPIRUN is not None and '"mpi": true' in farfield("info", "--json").out.replace('"mpi":true', '"mpi": true')


def on_ranks(ranks, *arguments, environment=None):
    """What a job of so many ranks prints, and its exit code."""
    return subprocess.run([MPIRUN, "-n", str(ranks), PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, env={**ENVIRONMENT, **(environment or {})}, check=False)


def own_lines(text):
    """Without those of mpirun."""
    return [line for line in text.splitlines() if line.startswith(("farfield", "rank "))]


def contents(folder):
    """Of the files that a run has to reproduce."""
    out = {}
    for name in sorted(os.listdir(folder)):
        if name != "summary.json":
            with open(os.path.join(folder, name), "rb") as file:
                out[name] = file.read()
    return out


@unittest.skipIf(FEWER, "sanitizers watch ranks in one process; MPI's own leaks are not ours")
@unittest.skipUnless(has_mpi(), "Farfield was built without MPI, or there is no mpirun")
class Ranks(CommandTest):
    def write_points(self, count):
        draw = random.Random(7)
        rows = "".join(f"{draw.gauss(0, 1)},{draw.gauss(0, 1)},{draw.gauss(0, 1)},{draw.uniform(.5, 1)}\n" for _ in range(count))
        write("stars.csv", "x,y,z,q\n" + rows)

    def refused(self, done, *words):
        """Exit code 2 and one line of Farfield's, whatever mpirun adds."""
        lines = own_lines(done.stderr)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(len(lines), 1, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(done.stdout.strip(), "")

    def test_a_sum_has_the_bits_of_one_process(self):
        self.write_points(3000)
        options = ("--kernel", "gravity", "--sources", "stars.csv")
        self.expect_bits_of_one((2, 3, 8), *options)
        self.expect_bits_of_one((3,), *options, "--method", "fmm", "--order", "4", "--leaf", "40")
        in_box = ("--kernel", "coulomb", "--sources", "stars.csv", "--period", "4", "--background", "uniform", "--tolerance", "1e-4")
        self.expect_bits_of_one((2, 3), *in_box, "--method", "pme")
        self.expect_bits_of_one((3,), *in_box, "--method", "ewald")
        self.expect_bits_of_one((3,), *in_box, "--method", "direct")
        gaussians = ("--kernel", "gauss", "--sources", "stars.csv", "--sigma", "0.2", "--tolerance", "1e-6")
        self.expect_bits_of_one((2, 3), *gaussians, "--method", "fgt", "--strategy", "pairs")
        self.expect_bits_of_one((3,), *gaussians, "--method", "direct")
        self.expect_bits_of_one((3,), "--kernel", "gauss", "--sources", "stars.csv", "--density", "scott", "--unweighted")
        draw = random.Random(8)
        write("plane.csv", "x,y,q\n" + "".join(f"{draw.gauss(0, 1)},{draw.gauss(0, 1)},{draw.uniform(-1, 1)}\n" for _ in range(4000)))
        self.expect_bits_of_one((2, 5), "--kernel", "laplace2d", "--sources", "plane.csv", "--method", "fmm", "--tolerance", "1e-6")

    def expect_bits_of_one(self, numbers_of_ranks, *options):
        self.succeed("sum", *options, "--out", "one.npy")
        for ranks in numbers_of_ranks:
            done = on_ranks(ranks, "sum", *options, "--out", f"{ranks}.npy", "--json", "report.json")
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(done.stdout.count("Files made"), 1)
            self.assertIn(f"{ranks} ranks of ", done.stdout)
            with open("one.npy", "rb") as one, open(f"{ranks}.npy", "rb") as other:
                self.assertEqual(one.read(), other.read())
            with open("report.json", encoding="utf-8") as report:
                self.assertIn(f'"ranks": {ranks}', report.read())

    def test_a_run_leaves_the_files_of_one_process(self):
        case = PLUMMER.replace("n = 64", "n = 1100").replace("end = 0.5", "end = 0.0625")
        write("direct.toml", case)
        write("fmm.toml", case.replace("softening", 'method = "fmm"\norder = 4\nleaf = 10\nsoftening'))  # bodies of their own
        for name in ("direct", "fmm"):
            self.succeed("run", f"{name}.toml", "--out", f"{name}_one", "--quiet")
            for ranks in (2, 3):
                out = f"{name}_on_{ranks}"
                done = on_ranks(ranks, "run", f"{name}.toml", "--out", out)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(done.stderr.count("step 8/8"), 1, done.stderr)  # one line of progress
                self.assertEqual(contents(f"{name}_one"), contents(out))

    def test_a_stencil_run_leaves_the_files_of_one_process(self):
        write("waves.ff", WAVES)
        plots = ("--plot", "u:{0}/u.png", "--animate", "v:{0}/v.png:every=20")
        self.succeed("stencil", "run", "waves.ff", "--out", "one", "--quiet", *(word.format("one") for word in plots))
        for ranks in (2, 3, 8):
            out = f"on_{ranks}"
            done = on_ranks(ranks, "stencil", "run", "waves.ff", "--out", out, *(word.format(out) for word in plots))
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(done.stderr.count("step 80/80"), 1, done.stderr)
            self.assertEqual(done.stdout.count("Files made"), 1)
            self.assertEqual(contents("one"), contents(out))
        self.refused(on_ranks(2, "stencil", "run", "waves.ff", "--out", "one"), "earlier run")
        self.refused(on_ranks(2, "stencil", "run", "waves.ff", "--out", "elsewhere", "--target", "abacus"), "abacus")
        self.refused(on_ranks(2, "stencil", "check", "waves.ff"), "stencil check", "mpirun")
        self.assertFalse(os.path.exists("elsewhere"))
        # half of the way on three ranks, the rest on two
        self.assertEqual(on_ranks(3, "stencil", "run", "waves.ff", "--out", "split", "--steps", "40").returncode, 0)
        done = on_ranks(2, "stencil", "run", "waves.ff", "--out", "split", "--restart", *(word.format("split") for word in plots[:2]))
        self.assertEqual(done.returncode, 0, done)
        for name in ("series.csv", "u_00000080.vtkhdf", "u.png"):  # the checkpoint tells of the animation, too
            self.assertEqual(contents("one")[name], contents("split")[name], name)

    def test_scaling_is_measured_on_more_and_more_ranks(self):
        done = on_ranks(3, "bench", "scaling", "--work", "direct,fmm,grid", "--n", "900", "--cells", "128", "--repeat", "1",
                        "--json", "r.json", "--picture", "curves.png")
        self.assertEqual(done.returncode, 0, done)
        with open("r.json", encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["ranks"], 3)
        self.assertGreater(report["latency"], 0)
        self.assertGreater(report["bandwidth"], 0)
        rows = report["rows"]
        self.assertEqual([(row["work"], row["scaling"], row["ranks"]) for row in rows],
                         [(work, kind, ranks) for work in ("direct", "fmm", "grid") for kind in ("strong", "weak") for ranks in (1, 2, 3)])
        for row in rows:
            self.assertAlmostEqual(row["efficiency"], row["speed_up"] / row["ranks"])
            self.assertEqual(row["ranks"] > 1, row["bytes"] > 0)
            if row["work"] == "grid":
                self.assertIn(row["same_bits"], (True,) if row["scaling"] == "strong" else (None,))
            else:
                self.assertLess(row["error"], 1e-3 if row["work"] == "fmm" else 1e-13)
        weak = {(row["work"], row["ranks"]): row["size"] for row in rows if row["scaling"] == "weak"}
        self.assertEqual((weak["fmm", 3], weak["direct", 3], weak["grid", 2]), (2700, 1558, 182))
        self.assertEqual(done.stdout.count("Files made:"), 1)

    def test_the_microdisk_is_measured_on_ranks_and_over_slow_links(self):
        done = on_ranks(2, "reproduce", "fdtd-multi", "--device", "cpu", "--n", "256", "--repeat", "1", "--json", "r.json",
                        "--picture", "curves.png")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("35.9"), 2)
        self.assertTrue(os.path.exists("curves.png"))
        with open("r.json", encoding="utf-8") as file:
            rates = {row["what"]: row["values"][0] for row in json.load(file)["tables"][0]["rows"]}
        self.assertEqual(len(rates), 5)
        slow = rates["2 ranks, a process on CPUs each, over Ethernet, every step"]
        self.assertLess(slow, 1e-9 * 256 * 256 / 5e-5, "a message a step is 50 us late")
        self.refused(on_ranks(2, "reproduce", "fdtd-sizes"), "one process", "mpirun")
        self.refused(on_ranks(2, "reproduce", "fdtd-multi", "--picture", "absent/a.png"), "--picture absent/a.png")

    def test_mistakes_are_told_once(self):
        self.refused(on_ranks(3, "sum", "--kernel", "gravity", "--sources", "nothing.csv", "--out", "o.npy"), "nothing.csv")
        write("bad.csv", "x,y,z,q\n1,2,3,nan\n")
        self.refused(on_ranks(2, "sum", "--kernel", "gravity", "--sources", "bad.csv", "--out", "o.npy"), "nan")
        self.write_points(300)
        self.refused(on_ranks(2, "sum", "--kernel", "coulomb", "--sources", "stars.csv", "--method", "reference",
                              "--out", "o.npy"), "reference", "ranks", "direct")
        self.refused(on_ranks(2, "bench", "direct"), "one process", "mpirun")
        write("c.toml", PLUMMER)
        self.succeed("run", "c.toml", "--out", "used", "--quiet")
        self.refused(on_ranks(2, "run", "c.toml", "--out", "used"), "earlier run")
        self.assertFalse(os.path.exists("o.npy"))

    def test_without_its_library_nothing_is_computed(self):
        self.write_points(300)
        done = on_ranks(2, "sum", "--kernel", "gravity", "--sources", "stars.csv", "--out", "o.npy",
                        environment={"FARFIELD_MPI_LIBRARY": "/nowhere/libfarfield_mpi.so"})
        self.refused(done, "MPI is not available", "/nowhere/libfarfield_mpi.so")
        self.assertFalse(os.path.exists("o.npy"))

    def begin_long_run(self, ranks):
        write("c.toml", PLUMMER.replace("n = 64", "n = 1100").replace("end = 0.5", "end = 100.0"))
        job = subprocess.Popen([MPIRUN, "-n", str(ranks), PROGRAM, "run", "c.toml", "--out", "long", "--quiet"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(job.kill)
        until = time.monotonic() + 40.0
        while not os.path.exists("long/checkpoint.previous.h5") and time.monotonic() < until:
            self.assertIsNone(job.poll())
            time.sleep(0.02)
        return job

    def test_a_killed_rank_ends_the_job(self):
        job = self.begin_long_run(3)
        # the processes of this job are those whose parent is its mpirun
        own = [int(line.split()[0]) for line in subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True,
                                                               check=True).stdout.splitlines()[1:]
               if int(line.split()[1]) == job.pid]
        self.assertEqual(len(own), 3)
        os.kill(own[-1], signal.SIGKILL)
        job.communicate(timeout=30.0)
        self.assertNotEqual(job.returncode, 0)
        self.goes_on()

    def test_an_interrupted_job_can_be_continued(self):
        job = self.begin_long_run(2)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=30.0)
        self.assertNotEqual(job.returncode, 0)
        self.goes_on()

    def goes_on(self):
        """From the last whole checkpoint, on another number of ranks."""
        write("c.toml", PLUMMER.replace("n = 64", "n = 1100").replace("end = 0.5", "end = 100.0"))
        done = on_ranks(2, "run", "c.toml", "--out", "long", "--restart", "--set", "time.end=0.001")
        self.assertIn("only goes forward", done.stderr)  # there is a checkpoint, of a later time, that is whole
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
