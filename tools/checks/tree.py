#!/usr/bin/env python3
"""Checks the tree as a whole: the licence is there, nothing names a path of one machine, sources say what they are.

Notes about long files are printed, but fail nothing.
"""
import pathlib
import re
import subprocess
import sys

MACHINE_PATH = re.compile(r"(?<![\w.$}])/(work|home|root|Users|mnt|scratch)/\w")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
CODE = re.compile(r"\.(h|hpp|cpp|cu|cuh|py|pyi|sh)$")
TEXT = re.compile(r"(\.(h|hpp|cpp|cu|cuh|py|pyi|sh|md|toml|cmake|txt|json|yml|in|cfg|1)|/run|^dev|^\.[\w-]+)$")
COMMENT = re.compile(r'(//|/\*|#|"""|r""")')
LONG, TOO_BIG = 500, 1 << 20


def problems_of(path):
    data = pathlib.Path(path).read_bytes()
    if len(data) > TOO_BIG:
        yield f"{path}: {len(data) >> 10} KiB; files of the tree stay under {TOO_BIG >> 10} KiB"
    if not TEXT.search(path) or path.startswith("tests/fuzz/corpus/"):  # broken on purpose
        return
    text = data.decode("utf-8")
    if text and not text.endswith("\n"):
        yield f"{path}: no newline at the end"
    for number, line in enumerate(text.split("\n"), 1):
        if path != "tools/checks/tree.py" and MACHINE_PATH.search(line):
            yield f"{path}:{number}: names a path of one machine: {line.strip()[:80]}"
        if CODE.search(path) and path != "tools/checks/tree.py" and UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.strip()[:80]}"
        if line.rstrip() != line and not path.endswith(".md"):
            yield f"{path}:{number}: blanks at the end of the line"
    if CODE.search(path) and text.strip():
        lines = text.split("\n")
        first = lines[1] if lines[0].startswith("#!") else lines[0]
        if not COMMENT.match(first):
            yield f"{path}: does not open with a comment that says what it is"


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    files = [f for f in listed if f and pathlib.Path(f).is_file()]
    problems = [] if "Apache License" in pathlib.Path("LICENSE").read_text() else ["LICENSE is not the Apache License"]
    for path in files:
        problems += problems_of(path)
        if CODE.search(path) and len(pathlib.Path(path).read_text(encoding="utf-8").split("\n")) > LONG:
            print(f"note: {path} has more than {LONG} lines")
    print("\n".join(problems) if problems else f"{len(files)} files are in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
