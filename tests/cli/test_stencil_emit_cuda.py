"""A stencil program emitted for CUDA: nvcc builds the project without a warning; without a GPU it says so in one line."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

FARFIELD = os.environ["FARFIELD"]
SOURCE = Path(os.environ["FARFIELD_SOURCE"])
NVCC = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")


class EmitCuda(unittest.TestCase):
    def test_project_builds(self):
        if NVCC is None:
            self.skipTest("no nvcc on this machine")
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder) / "project"
            subprocess.run(
                [FARFIELD, "stencil", "emit", SOURCE / "examples/stencil/microdisk.ff", "--target", "cuda", "--out", project],
                check=True, capture_output=True)
            # as its CMakeLists.txt has it, without waiting for CMake to look at the compiler
            program = Path(folder) / "run"
            built = subprocess.run(
                [NVCC, "-std=c++17", "-arch=sm_90", "--fmad=false", "-diag-suppress=177", "-Xcompiler=-ffp-contract=off",
                 f'-DDATA_FOLDER="{project}"', project / "main.cu", project / "kernels.cu", "-o", program],
                capture_output=True, text=True)
            if built.returncode != 0 and "unsupported" in built.stderr:
                self.skipTest("nvcc does not work with this compiler")
            self.assertEqual((built.returncode, built.stderr), (0, ""))
            ran = subprocess.run([program, "3"], cwd=folder, capture_output=True, text=True)
            if ran.returncode == 0:
                self.assertTrue((Path(folder) / "energy.npy").exists())
            else:
                self.assertRegex(ran.stderr, r"^CUDA: [^\n]*\n$")


if __name__ == "__main__":
    unittest.main()
