"""Stencil programs emitted for CUDA: nvcc builds the projects without a warning; without a GPU they say so in one line."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

FARFIELD = os.environ["FARFIELD"]
SOURCE = Path(os.environ["FARFIELD_SOURCE"])
NVCC = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
MPICXX = shutil.which("mpicxx")
# as their CMakeLists.txt have it, without waiting for CMake to look at the compiler
FLAGS = ["-std=c++17", "-arch=sm_90", "--fmad=false", "-diag-suppress=177", "-Xcompiler=-ffp-contract=off"]


class EmitCuda(unittest.TestCase):
    def setUp(self):
        if NVCC is None:
            self.skipTest("no nvcc on this machine")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, target, flags=()):
        """Emits, builds and runs three steps of microdisk.ff in self.folder."""
        project, program = self.folder / "project", self.folder / "run"
        subprocess.run(
            [FARFIELD, "stencil", "emit", SOURCE / "examples/stencil/microdisk.ff", "--target", target, "--out", project],
            check=True, capture_output=True)
        built = subprocess.run(
            [NVCC, *FLAGS, f'-DDATA_FOLDER="{project}"', project / "main.cu", project / "kernels.cu", "-o", program, *flags],
            capture_output=True, text=True)
        if built.returncode != 0 and "unsupported" in built.stderr:
            self.skipTest("nvcc does not work with this compiler")
        self.assertEqual((built.returncode, built.stderr), (0, ""))
        ran = subprocess.run([program, "3"], cwd=self.folder, capture_output=True, text=True)
        if ran.returncode == 0:
            self.assertTrue((self.folder / "energy.npy").exists())
        else:
            self.assertRegex(ran.stderr, r"^CUDA: [^\n]*\n$")

    def test_project_builds(self):
        self.build("cuda")

    def test_project_for_ranks_builds(self):
        if MPICXX is None:
            self.skipTest("no MPI on this machine")
        shown = [subprocess.run([MPICXX, f"--showme:{what}"], capture_output=True, text=True).stdout.split()
                 for what in ("incdirs", "libdirs", "libs")]
        flags = [f"-{letter}{one}" for letter, ones in zip("ILl", shown) for one in ones]
        self.build("mpi-cuda", ["-DOMPI_SKIP_MPICXX", *flags])


if __name__ == "__main__":
    unittest.main()
