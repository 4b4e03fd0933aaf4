#!/usr/bin/env python3
"""Checks that the documentation speaks of things that exist.

 - relative links and pictures of every *.md lead somewhere, headings of links included
 - paths in backticks (`src/…`, `tests/…`, …) exist
 - a code block after `<!-- from: FILE -->` is a run of lines of that file, in order
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:src|include|tests|tools|apps|docs|examples|bench|python|cmake)/[\w./-]+)`")
QUOTE = re.compile(r"<!-- from: (\S+) -->\s*\n```\w*\n(.*?)\n```", re.DOTALL)


def anchors(text):
    heads = re.findall(r"^#+\s+(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def problems_of(path):
    file = pathlib.Path(path)
    text = file.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for target in LINK.findall(prose):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = file.parent / name if name else file
        if not place.exists():
            yield f"{path}: link to {target}, which does not exist"
        elif anchor and place.suffix == ".md" and anchor not in anchors(place.read_text(encoding="utf-8")):
            yield f"{path}: link to {target}, but there is no such heading"
    for name in PATH.findall(prose):
        if not pathlib.Path(name.rstrip(".")).exists():
            yield f"{path}: names `{name}`, which does not exist"
    for name, quoted in QUOTE.findall(text):
        source = pathlib.Path(name)
        if not source.exists():
            yield f"{path}: quotes {name}, which does not exist"
        elif quoted.strip("\n") not in source.read_text(encoding="utf-8"):
            yield f"{path}: its quote of {name} differs from the file"


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    pages = [f for f in listed if f and pathlib.Path(f).is_file()]
    problems = [problem for page in pages for problem in problems_of(page)]
    print("\n".join(problems) if problems else f"{len(pages)} pages are consistent")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
