#!/usr/bin/env python3
"""Installs a wheel where its libraries are not, and uses it there.

usage: PYTHON wheel_elsewhere.py WHEEL FOLDER, PYTHON one that has NumPy

The environment in FOLDER is new; only NumPy is copied into it. If the kernel permits it, the machine's own copies of
the wheel's libraries are hidden, so that a use of one fails. The list of mapped files tells which were loaded.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import time
import venv
import zipfile

LIBRARIES = ("libfmt", "libgomp", "libhdf5_serial", "libpng16", "libtomlplusplus")
LIMIT = 30  # seconds for pip

USE = r"""
import hashlib, pathlib, sys
import numpy as np

def mapped():
    return {line[line.index("/"):] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/" in line}

before = mapped()                                 # Python's own hashlib has the machine's libcrypto
import farfield

points = np.random.default_rng(1).normal(size=(200, 3))
masses = np.full(200, 1 / 200)
result = farfield.sum(points, masses, softening=0.1)
apart = points[None, :, :] - points[:, None, :]
weights = masses[None, :] / ((apart**2).sum(2) + 0.1**2) ** 1.5
field = (weights[:, :, None] * apart).sum(1)
assert np.abs(result.field - field).max() < 1e-13 * np.abs(field).max() * len(points)

case = farfield.read_case(sys.argv[1])            # toml++
run = farfield.run_case(case, sys.argv[2])        # HDF5 and libpng
assert {"snapshot_0001.h5", "snapshot_0001.png"} <= {path.name for path in pathlib.Path(sys.argv[2]).iterdir()}
again = farfield.make_initial_state("file", path=pathlib.Path(sys.argv[2], "snapshot_0001.h5"))
assert len(again.bodies) == 64

print("\n".join(mapped() - before))
"""
CASE = """initial = {kind = "plummer", n = 64}
force.softening = 0.1
time = {step = 0.015625, end = 0.0625}
output.snapshot_every = 0.0625
"""


def plain_name(path):
    """libfmt-1f2e3d4c.so.9.1.0 is libfmt.so.9.1.0."""
    return re.sub(r"-[0-9a-f]{8}(?=\.)", "", pathlib.Path(path).name)


def libraries_of(wheel):
    """The names of the wheel's libraries; its licences name each."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        notice = next(name for name in names if name.endswith("/licenses/BUNDLED_LIBRARIES.txt"))
        listed = archive.read(notice).decode()
        if not any(name.endswith("/licenses/LICENSE") for name in names):
            sys.exit("the wheel lacks Farfield's licence")
    libraries = {plain_name(name) for name in names if "farfield.libs/" in name and ".so" in name}
    unnamed = [library for library in libraries if library not in listed]
    lacking = [stem for stem in LIBRARIES if not any(name.startswith(stem + ".so") for name in libraries)]
    if unnamed or lacking:
        sys.exit(f"the wheel lacks {lacking}; without a licence are {unnamed}")
    return libraries


def new_environment(folder, wheel):
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    here = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                          capture_output=True, text=True).stdout.strip()
    import numpy

    for part in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):
        shutil.copytree(part, pathlib.Path(here, part.name))
    start = time.monotonic()
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", wheel],
                   check=True)
    seconds = time.monotonic() - start
    if seconds > LIMIT:
        sys.exit(f"installing the wheel took {seconds:.0f} s")
    print(f"installed in {seconds:.1f} s")
    return python


def command_without(libraries):
    """What runs a command on a machine that lacks `libraries`; empty where no mount of our own is permitted."""
    cache = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True,
                           env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}).stdout
    paths = [pathlib.Path(line.split(" => ")[1]).resolve() for line in cache.splitlines() if " => " in line]
    stems = {library.split(".so")[0] for library in libraries}
    hidden = sorted({str(path) for path in paths if path.name.split(".so")[0] in stems})
    script = 'while [ "$1" != -- ]; do mount --bind /dev/null "$1"; shift; done; shift; exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-ec", script, "sh", *hidden, "--"]
    if subprocess.run([*command, "true"], capture_output=True).returncode:
        print("no mounts of our own here: the machine's libraries stay visible")
        return []
    print(f"hidden: {len(hidden)} libraries of this machine")
    return command


def main():
    wheel, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    libraries = libraries_of(wheel)
    python = new_environment(folder, wheel)
    (folder / "case.toml").write_text(CASE)
    used = subprocess.run([*command_without(libraries), python, "-c", USE, "case.toml", "run"], cwd=folder, text=True,
                          stdout=subprocess.PIPE)
    if used.returncode:
        sys.exit("the installed wheel does not work")
    mapped = set(used.stdout.splitlines())
    own = {plain_name(path) for path in mapped if "/farfield.libs/" in path}
    foreign = [path for path in mapped if plain_name(path) in libraries and not path.startswith(str(folder))]
    unused = [stem for stem in LIBRARIES if not any(name.startswith(stem + ".so") for name in own)]
    if foreign or unused:
        sys.exit(f"loaded from the machine: {foreign}; not loaded from the wheel: {unused}")
    print(f"{len(own)} libraries loaded from the wheel, none of them from the machine")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
