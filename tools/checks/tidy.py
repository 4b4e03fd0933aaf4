#!/usr/bin/env python3
"""Runs clang-tidy over the sources of the library, the program and the bindings, several at a time.

usage: tidy.py [--jobs N] [--tool clang-tidy-14] [--since COMMIT] [--count] BUILD_FOLDER [FILE…]
       tidy.py --self-test [--tool clang-tidy-14]

With --since only sources that differ from COMMIT are linted, and as few others as see every header of ours that differs;
all of them where .clang-tidy differs. --count only tells how many. In a build folder with FARFIELD_UNITY
sources of neighbouring folders are linted together, in a fifth of the time, most of which goes into headers of other
libraries; declarations that nothing uses are then found in headers alone. Sources whose names collide with those of
others are linted once more, without them.
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
import tempfile
import time

from sources import INCLUDE, ROOT, differing, our_headers

LINTED = re.compile(r"(src|apps|python)/.*\.cpp$")
TOGETHER = re.compile(r"/Unity/unity_(src|apps|python)_.*\.cxx$")  # sources that CMake compiles together
BUNDLE = 6  # groups of sources at most that are linted together: memory, and work for every job


def fingerprint(path, command):
    digest = hashlib.sha256(command.encode())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    for file in sorted({path} | our_headers(path, set())):
        digest.update(str(file).encode() + file.read_bytes())
    return digest.hexdigest()


def fewest_that_see(paths, changed):
    """The sources that differ, and as few of the others as see every other file that differs."""
    seen = {path: ({path} | our_headers(path, set())) & changed for path in paths}
    chosen = [path for path in paths if path in changed]
    missing = set().union(*seen.values()).difference(*(seen[path] for path in chosen))
    while missing:
        best = max(paths, key=lambda path: (len(seen[path] & missing), -path.stat().st_size))
        chosen.append(best)
        missing -= seen[best]
    return chosen


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
    """The sources to be linted at a time: those of one part of the tree that are compiled alike, where CMake groups any."""
    if not any(TOGETHER.search(str(path)) for path in paths):
        return [[path] for path in paths]
    bundles = {}
    for path in paths:
        name = path.name if TOGETHER.search(str(path)) else "unity_" + "_".join(path.relative_to(ROOT).parts[:2])
        part = re.search(r"unity_(?:build_lint_together_)?([a-z]+_[a-z]+)", name)[1]
        bundles.setdefault((part, *flags_of(commands[path])), []).append(path)
    return [bundle[k : k + BUNDLE] for bundle in bundles.values() for k in range(0, len(bundle), BUNDLE)]


def quiet(command):
    return [*command, "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-unused-command-line-argument"]


def bundle_file(build, paths):
    """A source that includes all of them."""
    name = hashlib.sha256("".join(map(str, paths)).encode()).hexdigest()[:16]
    file = build / "tidy" / f"{paths[0].stem}_{name}.cpp"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f'#include "{path}"\n' for path in paths))
    return file.resolve()


def messages_of(text):
    """What clang-tidy says, message by message: (file, whether it is the compiler's error, all lines of it)."""
    found = []
    for line in text.splitlines():
        start = re.match(r"(\S+?):\d+:\d+: (?:error|warning): .*\[(\S+)\]$", line)
        if start:
            found.append((pathlib.Path(start[1]), "clang-diagnostic-error" in start[2], [line]))
        elif found:
            found[-1][2].append(line)
    return found


def colliding(paths, messages):
    """Those of `paths` that the compiler refuses beside the ones before them; None where it cannot be told which."""
    home = {}
    for path in paths:
        home[path] = path
        if TOGETHER.search(str(path)):
            home.update((pathlib.Path(name).resolve(), path) for name in INCLUDE.findall(path.read_text(encoding="utf-8")))
    files = {file for file, refused, _ in messages if refused}
    if not files <= home.keys():
        return None
    refused = {home[file] for file in files}
    return [path for path in paths if path in refused]


def lint(tool, build, paths, commands):
    """(sources that are clean, what was found in others, lists of sources to be linted again without the rest)"""
    file, together = paths[0], len(paths) > 1 or TOGETHER.search(str(paths[0]))
    database, flags = ["-p", str(build)], []
    if len(paths) > 1:
        file, database, flags = bundle_file(build, paths), [], ["--", *flags_of(commands[paths[0]])]
    result = subprocess.run([tool, *database, "--quiet", "--config-file=.clang-tidy",
                             *(f"--extra-arg={word}" for word in quiet(["-ferror-limit=0"] if len(paths) > 1 else [])),
                             *(["--checks=-bugprone-suspicious-include"] if together else []), str(file), *flags],
                            capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return paths, "", []
    messages = messages_of(result.stdout)
    if len(paths) > 1 and any(refused for _, refused, _ in messages):
        again = colliding(paths, messages)
        if again is None or len(again) == len(paths):
            middle = len(paths) // 2
            return [], "", [paths[:middle], paths[middle:]]
        theirs = {name for path in again for name in (path, *map(pathlib.Path, INCLUDE.findall(path.read_text(encoding="utf-8"))))}
        found = [line for file, _, lines in messages if file not in theirs for line in lines]
        return ([] if found else [path for path in paths if path not in again]), "\n".join(found), [again]
    noise = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed \d+|^Use -header-filter", re.MULTILINE)
    errors = "\n".join(line for line in result.stderr.splitlines() if line and not noise.match(line))
    return [], (result.stdout + errors).strip(), []


def self_test(tool):
    """Of sources that are linted together, one collides with another and is linted again: no finding is lost or told twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve() / "src"
        folder.mkdir()
        texts = {"first.cpp": "namespace { int same() { return 1; } }\nint first() { return same(); }\n",
                 "second.cpp": "namespace { int same() { return 2; } }\nint second(int* p) { return p == 0 ? same() : 3; }\n",
                 "third.cpp": "int third(int* p) { return p == 0 ? 1 : 2; }\n"}
        for file, text in texts.items():
            (folder / file).write_text(text)
        paths = [folder / file for file in texts]
        commands = {path: f"c++ -std=c++20 -o {path.stem}.o -c {path}" for path in paths}
        (folder / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(folder), "file": str(path), "command": commands[path]} for path in paths]))
        clean, text, again = lint(tool, folder, paths, commands)
        assert again == [[paths[1]]] and not clean, (clean, text, again)
        assert "third.cpp:1" in text and "second.cpp" not in text and "first.cpp" not in text, text
        clean, text, again = lint(tool, folder, again[0], commands)
        assert "second.cpp:2" in text and not clean and not again, (clean, text, again)
        assert lint(tool, folder, paths[:1], commands) == (paths[:1], "", [])
        (folder / "a.h").write_text("")
        (folder / "b.h").write_text('#include "a.h"\n')
        (folder / "first.cpp").write_text('#include "a.h"\n')
        (folder / "second.cpp").write_text('#include "b.h"\n')
        a, b = folder / "a.h", folder / "b.h"
        assert fewest_that_see(paths, {a, b}) == [paths[1]] and fewest_that_see(paths, {b, paths[2]}) == [paths[2], paths[1]]
        assert fewest_that_see(paths, {a, paths[0]}) == [paths[0]] and not fewest_that_see(paths, set())


def main():
    if "--self-test" in sys.argv:
        self_test(sys.argv[sys.argv.index("--tool") + 1] if "--tool" in sys.argv else "clang-tidy")
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tool", default="clang-tidy")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--count", action="store_true")
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
    changed = differing(options.since) if options.since else None
    if changed is not None and ROOT / ".clang-tidy" not in changed:
        everything = len(commands)
        commands = {path: commands[path] for path in fewest_that_see(list(commands), changed)}
        if not options.count:
            print(f"clang-tidy: {len(commands)} of {everything} files are what differs from {options.since[:12]}, or show headers that do")
    if options.count:
        print(len(commands))
        return 0
    memory_file = options.build / "tidy-clean.json"
    memory = json.loads(memory_file.read_text()) if memory_file.exists() else {}
    prints = {path: fingerprint(path, command) for path, command in commands.items()}
    todo = [p for p in sorted(commands) if memory.get(str(p)) != prints[p]]
    failed, parts, started = 0, 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # what reads most first, so that the last one running is a short one
        work = sorted(bundles_of(todo, commands), key=lambda paths: -sum(p.stat().st_size for p in paths) - 10**6 * (len(paths) > 1))
        running = {pool.submit(lint, options.tool, options.build, paths, commands) for paths in work}
        while running:
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for clean, text, again in (future.result() for future in done):
                parts += 1
                memory.update((str(path), prints[path]) for path in clean)
                running |= {pool.submit(lint, options.tool, options.build, paths, commands) for paths in again}
                if text:
                    failed += 1
                    print(text.replace(str(ROOT) + "/", ""))
    memory_file.write_text(json.dumps(memory, indent=0))
    print(f"clang-tidy: {len(todo)} files, in {parts} parts, {time.monotonic() - started:.0f} s, {len(commands) - len(todo)} unchanged"
          f" since they were clean, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
