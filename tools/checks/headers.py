#!/usr/bin/env python3
"""Compiles every header of ours alone: public ones with nothing but the public include folders.

usage: headers.py [--jobs N] [--since COMMIT] BUILD_FOLDER

With --since only headers that differ from COMMIT, or include one of ours that does, are compiled.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

from sources import ROOT, differing, our_headers

PUBLIC_FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-pragma-once-outside-header"]
# headers that are included only where an instruction set is chosen
ISA_HEADERS = re.compile(r"src/(backend/simd/|sums/(direct/cpu/blocks/block_(loop|stream)|gauss/boxes/basis|gauss/grid/point_taps|select/exact_numbers)\.h)")
ISA_FLAGS = ["-mavx2", "-mfma", "-DFF_ISA=avx2", "-DFF_ISA_AVX2"]
# headers that include those of CUDA; nvcc compiles them in the build with FARFIELD_CUDA
CUDA_HEADERS = re.compile(r"src/backend/cuda/(check|device_scope|memory|messages|stream)\.h")


def internal_flags(build):
    """The flags of one source of the library, from the compilation database, without those of its output."""
    import json
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "/src/" in entry["file"] and entry["file"].endswith("base/text.cpp"):
            words = shlex.split(entry["command"])
            words = [w for w in words if re.match(r"-(I|isystem|std|f|W|D|O)", w) or w.startswith("/")]
            flags, take = [], False
            for word in shlex.split(entry["command"]):
                if take:
                    flags.append(word)
                    take = False
                elif word in ("-isystem", "-I"):
                    flags.append(word)
                    take = True
                elif re.match(r"-(I|isystem|std=|f|D)", word):
                    flags.append(word)
            return flags
    sys.exit("the compilation database lacks src/base/text.cpp; run cmake --preset test")


def compile_alone(job):
    header, flags = job
    name = re.sub(r"^(include|src)/", "", header)
    source = f'#include "{name}"\n#include "{name}"\n'  # twice: the guard is there
    result = subprocess.run([os.environ.get("CXX", "g++"), *flags, "-fsyntax-only", "-x", "c++", "-"], input=source,
                            capture_output=True, text=True)
    return header, result.returncode == 0, result.stderr


def that_differ(headers, commit):
    changed = differing(commit)
    return [h for h in headers if ({ROOT / h} | our_headers(ROOT / h, set(), deep=False)) & changed]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    headers = sorted(f for f in listed if re.match(r"(include|src)/.*\.(h|hpp)$", f) and pathlib.Path(f).exists())
    if options.since:
        everything = len(headers)
        headers = that_differ(headers, options.since)
        print(f"headers: {len(headers)} of {everything} differ from {options.since[:12]} or include one that does")
    public = PUBLIC_FLAGS + ["-Iinclude", f"-I{options.build}/include"]
    internal = internal_flags(options.build)
    jobs = []
    for header in headers:
        flags = public if header.startswith("include/") else internal
        if not CUDA_HEADERS.match(header):
            jobs.append((header, flags + (ISA_FLAGS if ISA_HEADERS.match(header) else [])))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for header, good, text in pool.map(compile_alone, jobs):
            if not good:
                failed += 1
                print(f"{header} does not compile alone:\n{text}")
    print(f"{len(jobs)} headers compiled alone, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
