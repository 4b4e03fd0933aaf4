#!/usr/bin/env python3
"""Names the objects of a build with CUDA that are of sources for GPUs and differ from a commit, or see a header that does.

usage: gpu_objects.py COMMIT BUILD_FOLDER
       gpu_objects.py --self-test

A source for GPUs is a .cu file, a C++ source whose path names CUDA, or one of tests/gpu; or a group with one, as CMake
compiles several together. Those of bench/ are left out.
"""
import json
import pathlib
import re
import sys
import tempfile

from sources import INCLUDE, ROOT, differing, our_headers

FOR_GPUS = re.compile(r"^(?!bench/)(.*\.cu$|.*cuda|tests/gpu/)")


def sources_of(entry):
    """A source, or those of a group."""
    path = pathlib.Path(entry["directory"], entry["file"]).resolve()
    if path.parent.name != "Unity":
        return [path]
    return [pathlib.Path(name).resolve() for name in INCLUDE.findall(path.read_text(encoding="utf-8"))]


def objects(entries, changed, root=ROOT):
    """(those that differ, how many there are)"""
    found, count = [], 0
    for entry in entries:
        sources = sources_of(entry)
        if not any(root in source.parents and FOR_GPUS.search(str(source.relative_to(root))) for source in sources):
            continue
        count += 1
        seen = set(sources).union(*(our_headers(source, set()) for source in sources))
        if {file.resolve() for file in seen} & changed:
            found.append(re.search(r" -o (\S+)", entry["command"])[1])
    return found, count


def self_test():
    """A header that differs names the sources that see it, in one file or in a group, and no other."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        texts = {"cuda/seen.h": "", "cuda/a.cu": '#include "seen.h"\n', "cuda/b.cu": "", "cuda/c.cpp": '#include "seen.h"\n',
                 "tests/gpu/d.cpp": '#include "../../cuda/seen.h"\n', "plain.cpp": '#include "cuda/seen.h"\n',
                 "Unity/group.cxx": f'#include "{root}/plain.cpp"\n#include "{root}/cuda/c.cpp"\n',
                 "bench/e.cu": '#include "../cuda/seen.h"\n', "Unity/plain.cxx": f'#include "{root}/plain.cpp"\n'}
        for file, text in texts.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text)
        entries = [{"directory": name, "file": file, "command": f"c++ -o {pathlib.Path(file).stem}.o -c {file}"}
                   for file in ("cuda/a.cu", "cuda/b.cu", "tests/gpu/d.cpp", "plain.cpp", "bench/e.cu", "Unity/group.cxx", "Unity/plain.cxx")]
        assert objects(entries, {(root / "cuda/seen.h").resolve()}, root) == (["a.o", "d.o", "group.o"], 4)
        assert objects(entries, {root / "cuda/b.cu"}, root) == (["b.o"], 4)
        assert objects(entries, set(), root) == ([], 4)


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    commit, build = sys.argv[1:]
    found, count = objects(json.loads(pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8")), differing(commit))
    print(f"sources for GPUs: {len(found)} of {count} objects differ from {commit[:12]}", file=sys.stderr)
    print("\n".join(found))


if __name__ == "__main__":
    main()
