#!/usr/bin/env python3
"""Runs clang-tidy over the sources of the library, the program and the bindings, several at a time.

usage: tidy.py [--jobs N] [--tool clang-tidy-14] [--since COMMIT] BUILD_FOLDER [FILE…]

With --since only files that differ from COMMIT, or see a header of ours that does, are linted; all of them where
.clang-tidy or the flags of compilers differ. In a build folder with FARFIELD_UNITY sources of neighbouring folders are
linted together, in a fifth of the time, most of which goes into headers of other libraries; declarations that nothing
uses are then found in headers alone. Folders whose names collide are told apart by the compiler and linted on their own.
A file whose text, headers of ours, command and .clang-tidy are those of an earlier clean run is skipped
(BUILD_FOLDER/tidy-clean.json remembers).
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path.cwd()
LINTED = re.compile(r"(src|apps|python)/.*\.cpp$")
TOGETHER = re.compile(r"/Unity/unity_(src|apps|python)_.*\.cxx$")  # sources that CMake compiles together
BUNDLE = 16  # groups of sources at most that are linted together: memory, and work for every job
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


def flags_of(command):
    """What a compile command says beside the compiler, the source and the object."""
    words = shlex.split(command)
    words = words[next(k for k, word in enumerate(words) if word.startswith("-")):]
    kept, skip = [], False
    for word in words:
        if skip or word in ("-o", "-c"):
            skip = not skip
            continue
        kept.append(word)
    return kept


def bundles_of(paths, commands):
    """The sources to be linted at a time: groups of one part of the tree that are compiled alike, and others alone."""
    together, alone = {}, []
    for path in paths:
        if TOGETHER.search(str(path)):
            part = re.search(r"unity_(?:build_lint_together_)?([a-z]+_[a-z]+)", path.name)[1]
            together.setdefault((part, *flags_of(commands[path])), []).append(path)
        else:
            alone.append([path])
    return [group[k : k + BUNDLE] for group in together.values() for k in range(0, len(group), BUNDLE)] + alone


def quiet(command):
    return [*command, "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-unused-command-line-argument"]


def bundle_file(build, paths):
    """A source that includes all of them."""
    name = hashlib.sha256("".join(map(str, paths)).encode()).hexdigest()[:16]
    file = build / "tidy" / f"{paths[0].stem}_{name}.cpp"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f'#include "{path}"\n' for path in paths))
    return file.resolve()


def compilable(tool, build, paths, commands):
    """Splits a bundle until names of its folders do not collide: what cannot be split is linted as it is."""
    if len(paths) < 2:
        return [paths]
    compiler = tool.replace("clang-tidy", "clang++")
    done = subprocess.run(quiet([compiler, *flags_of(commands[paths[0]]), "-w", "-fsyntax-only", str(bundle_file(build, paths))]),
                          capture_output=True, check=False)
    if done.returncode == 0:
        return [paths]
    middle = len(paths) // 2
    return compilable(tool, build, paths[:middle], commands) + compilable(tool, build, paths[middle:], commands)


def lint(tool, build, paths, commands):
    file, unity = paths[0], TOGETHER.search(str(paths[0]))
    database, flags = ["-p", str(build)], []
    if len(paths) > 1:
        file, database, flags = bundle_file(build, paths), [], ["--", *flags_of(commands[paths[0]])]
    result = subprocess.run([tool, *database, "--quiet", "--config-file=.clang-tidy",
                             *(f"--extra-arg={word}" for word in quiet([])),
                             *(["--checks=-bugprone-suspicious-include"] if unity else []), str(file), *flags],
                            capture_output=True, text=True, check=False)
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
    failed, started = 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        parts = pool.map(lambda paths: compilable(options.tool, options.build, paths, commands), bundles_of(todo, commands))
        work = [paths for part in parts for paths in part]
        # what reads most first, so that the last one running is a short one
        work.sort(key=lambda paths: (not TOGETHER.search(str(paths[0])), -sum(p.stat().st_size for p in paths)))
        for paths, (clean, text) in zip(work, pool.map(lambda paths: lint(options.tool, options.build, paths, commands), work)):
            if clean:
                memory.update((str(path), prints[path]) for path in paths)
            else:
                failed += 1
                print(text.replace(str(ROOT) + "/", ""))
    memory_file.write_text(json.dumps(memory, indent=0))
    print(f"clang-tidy: {len(todo)} files, in {len(work)} parts, {time.monotonic() - started:.0f} s, {len(commands) - len(todo)} unchanged"
          f" since they were clean, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
