"""Which files of ours differ from a commit, and which headers of ours a file sees."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path.cwd()
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def our_headers(path, seen, deep=True):
    """Every header of ours that a file sees, found by name: enough to notice a change. Not `deep`: that it includes itself."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for candidate in (path.parent / name, ROOT / "src" / name, ROOT / "include" / name):
            if candidate.is_file() and candidate not in seen:
                seen.add(candidate)
                if deep:
                    our_headers(candidate, seen)
                break
    return seen


def differing(commit):
    """The files that differ from a commit, new ones too."""
    names = []
    for command in (["diff", "--name-only", commit], ["ls-files", "--others", "--exclude-standard"]):
        names += subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout.split()
    return {ROOT / name for name in names}
