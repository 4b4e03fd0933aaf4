#!/usr/bin/env python3
"""Runs clang-tidy over the sources of the library, the program and the bindings, several at a time.

usage: tidy.py [--jobs N] [--tool clang-tidy-14] [--since COMMIT] BUILD_FOLDER [FILE…]

With --since only files that differ from COMMIT, or see a header of ours that does, are linted; all of them where
.clang-tidy or the flags of compilers differ. In a build folder with FARFIELD_UNITY sources of a folder are linted
together, in half of the time; declarations that nothing uses are then found in headers alone.
A file whose text, headers of ours, command and .clang-tidy are those of an earlier clean run is skipped
(BUILD_FOLDER/tidy-clean.json remembers).
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path.cwd()
LINTED = re.compile(r"(src|apps|python)/.*\.cpp$")
TOGETHER = re.compile(r"/Unity/unity_(src|apps|python)_.*\.cxx$")  # sources that CMake compiles together
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def our_headers(path, seen):
    """Every header of ours that a file sees, found by name: enough to notice a change."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for candidate in (path.parent / name, ROOT / "src" / name, ROOT / "include" / name):
            if candidate.is_file() and candidate not in seen:
                seen.add(candidate)
                our_headers(candidate, seen)
                break
    return seen


def fingerprint(path, command):
    digest = hashlib.sha256(command.encode())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    for file in sorted({path} | our_headers(path, set())):
        digest.update(str(file).encode() + file.read_bytes())
    return digest.hexdigest()


def differs_from(commit):
    """The files that differ from a commit, or None where what they are linted with differs as well."""
    names = []
    for command in (["diff", "--name-only", commit], ["ls-files", "--others", "--exclude-standard"]):
        names += subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout.split()
    if any(name.startswith((".clang-tidy", "cmake/", "tools/checks/tidy.py", "CMakeLists.txt", "CMakePresets")) for name in names):
        return None
    return {ROOT / name for name in names}


def lint(tool, build, path):
    result = subprocess.run([tool, "-p", str(build), "--quiet", "--config-file=.clang-tidy", "--extra-arg=-Wno-unknown-warning-option",
                             "--extra-arg=-Wno-ignored-optimization-argument", "--extra-arg=-Wno-unused-command-line-argument",
                             *(["--checks=-bugprone-suspicious-include"] if TOGETHER.search(str(path)) else []), str(path)],
                            capture_output=True, text=True)
    noise = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed \d+|^Use -header-filter", re.MULTILINE)
    errors = "\n".join(line for line in result.stderr.splitlines() if line and not noise.match(line))
    return result.returncode == 0, (result.stdout + errors).strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tool", default="clang-tidy")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    commands = {}
    for entry in json.loads((options.build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if ROOT in path.parents and (LINTED.match(str(path.relative_to(ROOT))) or TOGETHER.search(str(path))):
            commands[path] = entry["command"]  # one command a file: a per-ISA source is linted once
    if options.files:
        commands = {p: c for p, c in commands.items() if str(p.relative_to(ROOT)) in options.files}
    changed = differs_from(options.since) if options.since else None
    if changed is not None:
        everything = len(commands)
        commands = {p: c for p, c in commands.items() if ({p} | our_headers(p, set())) & changed}
        print(f"clang-tidy: {len(commands)} of {everything} files differ from {options.since[:12]} or see a header that does")
    memory_file = options.build / "tidy-clean.json"
    memory = json.loads(memory_file.read_text()) if memory_file.exists() else {}
    prints = {path: fingerprint(path, command) for path, command in commands.items()}
    todo = [p for p in sorted(commands) if memory.get(str(p)) != prints[p]]
    # what reads most first, so that the last one running is a short one
    todo.sort(key=lambda p: (not TOGETHER.search(str(p)), -p.stat().st_size))
    failed, started = 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, (clean, text) in zip(todo, pool.map(lambda p: lint(options.tool, options.build, p), todo)):
            if clean:
                memory[str(path)] = prints[path]
            else:
                failed += 1
                print(text.replace(str(ROOT) + "/", ""))
    memory_file.write_text(json.dumps(memory, indent=0))
    print(f"clang-tidy: {len(todo)} files in {time.monotonic() - started:.0f} s, {len(commands) - len(todo)} unchanged"
          f" since they were clean, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
