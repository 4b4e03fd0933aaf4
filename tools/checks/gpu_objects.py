#!/usr/bin/env python3
"""Names the objects of a build with CUDA that are of sources for GPUs and differ from a commit, or see a header that does.

usage: gpu_objects.py COMMIT BUILD_FOLDER
       gpu_objects.py --self-test

A source for GPUs is a .cu file, or one of the C++ sources of a folder `cuda`, which CMake compiles together.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from tidy import INCLUDE, ROOT, our_headers


def sources_of(entry):
    """Those of a source, or of a group of them."""
    path = pathlib.Path(entry["directory"], entry["file"])
    if path.suffix == ".cu" or "/cuda/" in str(path):
        return [path]
    if re.search(r"/Unity/unity_\w*cuda\w*\.cxx$", str(path)):
        return [pathlib.Path(name) for name in INCLUDE.findall(path.read_text(encoding="utf-8"))]
    return []


def objects(entries, changed):
    """(those that differ, how many there are)"""
    found, count = [], 0
    for entry in entries:
        sources = sources_of(entry)
        count += bool(sources)
        seen = set(sources).union(*(our_headers(source, set()) for source in sources))
        if seen & changed:
            found.append(re.search(r" -o (\S+)", entry["command"])[1])
    return found, count


def self_test():
    """A header that differs names the sources that see it, in one file or in a group, and no other."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "cuda"
        group = pathlib.Path(name) / "Unity" / "unity_src_cuda_0_cxx.cxx"
        folder.mkdir()
        group.parent.mkdir()
        (folder / "seen.h").write_text("")
        for file, text in {"a.cu": '#include "seen.h"\n', "b.cu": "", "c.cpp": '#include "seen.h"\n', "plain.cpp": '#include "seen.h"\n'}.items():
            (folder / file).write_text(text)
        group.write_text(f'#include "{folder}/c.cpp"\n')
        entries = [{"directory": name, "file": str(file), "command": f"c++ -o {file.stem}.o -c {file}"}
                   for file in (folder / "a.cu", folder / "b.cu", group, pathlib.Path(name) / "elsewhere.cpp")]
        (pathlib.Path(name) / "elsewhere.cpp").write_text('#include "cuda/seen.h"\n')
        assert objects(entries, {folder / "seen.h"}) == (["a.o", "unity_src_cuda_0_cxx.o"], 3)
        assert objects(entries, {folder / "b.cu"}) == (["b.o"], 3)
        assert objects(entries, set()) == ([], 3)


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    commit, build = sys.argv[1:]
    changed = set()
    for command in (["diff", "--name-only", commit], ["ls-files", "--others", "--exclude-standard"]):
        changed |= {ROOT / name for name in subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout.split()}
    found, count = objects(json.loads(pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8")), changed)
    print(f"sources for GPUs: {len(found)} of {count} objects differ from {commit[:12]}", file=sys.stderr)
    print("\n".join(found))


if __name__ == "__main__":
    main()
