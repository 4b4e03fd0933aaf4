#!/usr/bin/env python3
"""Checks who includes whom.

The layers are those of the house (docs/guide/source-tree.md has the picture): an inner layer never sees an outer
one, third-party headers stay where they are named below, and public headers need nothing but the standard library.
Folders of the trees named in NO_CIRCLES never include each other in a circle.
`--self-test` proves that the rules catch what they should.
"""
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

INNER = ["base", "math", "backend", "backend/comm"]
SHARED_SUMS = ["sums/kernels", "sums/points", "sums/tree", "sums/expansions"]
LANGUAGE = ["base", "math", "lang", "stencil/front_end/syntax"]  # what the rooms of stencil programs start from
MODEL = LANGUAGE + ["stencil/front_end/model", "stencil/ir"]
METHOD = INNER + SHARED_SUMS + ["sums/costs", "sums/method", "sums/direct"]  # what a method of summing may see: no other but direct
# layer: the layers of src/ it may include, besides itself; the public headers are open to all. `sums*` stands for all layers
# of sums but sums/run: what runs with files is the outermost room of a tree, and only named rules let others see it
ALLOWED = {
    "base": [],
    "math": ["base"],
    "backend": ["base", "math"],
    "backend/comm": ["base", "math", "backend"],
    "lang": ["base", "math"],
    "stencil/front_end/syntax": LANGUAGE,
    "stencil/front_end/model": LANGUAGE,
    "stencil/front_end/check": LANGUAGE + ["stencil/front_end/model"],
    "stencil/front_end": LANGUAGE + ["stencil/front_end*"],
    "stencil/ir": LANGUAGE,
    "stencil/reads": MODEL + ["io"],
    "stencil/lowering": MODEL + ["stencil/reads"],
    "stencil/analysis": MODEL + ["backend", "stencil/reads", "stencil/lowering"],
    "stencil/passes": LANGUAGE + ["stencil/ir"],
    "stencil/codegen": LANGUAGE + ["stencil/ir"],
    "stencil/runtime": LANGUAGE + ["backend", "backend/comm", "stencil/ir", "stencil/passes", "stencil/codegen"],
    "stencil/tuning": INNER + ["stencil/runtime", "stencil/codegen"],
    "stencil": INNER + ["lang", "io", "stencil*"],  # the compiler, the table of targets, and rooms not named above
    "stencil/run": INNER + ["lang", "io", "io/picture", "run", "stencil*"],
    "sums/kernels": INNER + SHARED_SUMS,
    "sums/points": INNER + SHARED_SUMS,
    "sums/tree": INNER + SHARED_SUMS,
    "sums/expansions": INNER + SHARED_SUMS,
    "sums/costs": INNER,
    "sums/method": INNER + SHARED_SUMS + ["sums/costs"],
    "sums/direct": METHOD + ["sums/lattice"],  # images of periodic boxes, in direct/periodic
    "sums/fmm": METHOD + ["sums/lattice"],  # images of periodic trees
    "sums/treecode": METHOD,
    "sums/gauss": METHOD,
    "sums/lattice": METHOD,
    "sums/ewald": METHOD + ["sums/lattice"],
    "sums/pme": METHOD + ["sums/lattice"],
    "sums/reference": METHOD,
    "sums/around": INNER + ["sums*"],  # sums around sums
    "sums": INNER + ["sums*"],  # the plan and the choice of a method
    "sums/run": INNER + ["sums*", "io", "io/picture"],
    "io": ["base", "math"],
    "io/picture": ["base", "math", "backend", "io"],
    "run": ["base", "math", "io"],  # what all runs do
    "dynamics": INNER + ["sums*", "io"],
    "dynamics/run": INNER + ["sums*", "io", "io/picture", "run", "dynamics"],
    "studies": ["*"],
    "apps": ["base", "backend/comm", "io/picture", "stencil/run", "sums/run", "studies"],
    "python": ["base"],
    "tests": ["*"],
    "bench": ["*"],
    "examples": [],
}

# third-party headers: where each may be named
THIRD_PARTY = {
    r"xsimd/.*": r"src/backend/simd/|tests/|bench/",
    r"[a-z]*intrin\.h|cpuid\.h": r"src/backend/simd/|tests/|bench/",
    r"omp\.h": r"src/backend/threads/|tests/|bench/",
    r"hdf5.*|H5.*": r"src/io/|tests/",
    r"(unsupported/)?Eigen/.*": r"src/studies/resonances/matrix_pencil\.cpp$|src/sums/pme/line_transform\.cpp$|examples/14_aerofoil\.cpp$|tests/",
    r"png\.h": r"src/io/|tests/",
    r"toml\+\+/.*": r"src/dynamics/case_file|tests/",
    r"nlohmann/.*": r"(src|apps|tests|bench)/.*\.cpp$",
    r"CLI/.*": r"apps/farfield/parser\.cpp$|bench/",
    r"gtest/.*|gmock/.*": r"tests/",
    r"benchmark/.*": r"bench/",
    r"nanobind/.*": r"python/",
    r"cuda.*|cu[a-z]+\.h|cub/.*|thrust/.*|nvrtc\.h|nvToolsExt\.h": r".*\.cuh?$|src/backend/(cuda|jit)/|src/stencil/runtime/",
    r"mpi\.h|nccl\.h": r"src/backend/comm/",
    r"fmt/.*": r"(src|apps|tests|bench|python)/",
}
PUBLIC_ONLY_STD = re.compile(r"[a-z_0-9]+")  # <vector>, <cstdint>: standard headers have neither dot nor slash

# an oracle shares no formula with what it judges
ORACLE_FORBIDDEN = ("math/", "sums/kernels/", "sums/tree/", "sums/expansions/", "backend/simd/")

ORACLE_JUDGES = ("math/portable/", "studies/resonances/harmonic_inversion.h")  # the second measures what they judge

# trees in which folders include each other in one direction only; a folder holds its own files, not its subfolders'
NO_CIRCLES = ("src/sums/", "src/dynamics/", "src/stencil/")
# includes (folder, folder it includes) that still close a circle; the list may only become shorter
TOLERATED = []


def layer_of(path):
    """The layer of a file of ours, or None where no rule applies."""
    parts = path.split("/")
    if parts[0] == "src":
        if parts[1] == "sums" and len(parts) > 3:
            return "sums" if parts[2] == "select" else "/".join(parts[1:3])
        rooms = ["/".join(parts[1:n]) for n in range(len(parts) - 1, 1, -1)]  # the innermost that has a rule
        for room in rooms:
            if room in ALLOWED:
                return room
        return parts[1] if len(parts) > 2 else None
    return parts[0]


def may_include(layer, target):
    if layer == target or layer not in ALLOWED:
        return layer == target
    for rule in ALLOWED[layer]:
        if rule == "*" or rule == target:
            return True
        if rule.endswith("*") and target.startswith(rule[:-1]) and not target.endswith("/run"):
            return True
    return False


def target_of(path, header, exists):
    """The file of ours that `path` includes as "header", or None."""
    for target in (f"src/{header}", f"{path.rsplit('/', 1)[0]}/{header}"):
        if exists(target):
            return target
    return None


def problem_with(path, quote, header, exists):
    """What is wrong with one include, or None."""
    if header.startswith("farfield/"):
        return None
    if path.startswith("include/"):
        if quote == '"' or not PUBLIC_ONLY_STD.fullmatch(header):
            return f"a public header includes {header}; only farfield/… and the standard library are allowed"
        return None
    for pattern, where in THIRD_PARTY.items():
        if quote == "<" and re.fullmatch(pattern, header):
            return None if re.match(where, path) else f"{header} is allowed only in {where.replace('|', ' or ')}"
    if quote == "<":
        return None
    target = target_of(path, header, exists)
    if path.startswith("tests/oracle/") and header.startswith(ORACLE_FORBIDDEN) and not header.startswith(ORACLE_JUDGES):
        return f"an oracle includes {header}: it must not share formulas with what it judges"
    if target is None or not target.startswith("src/"):
        return None
    layer, target_layer = layer_of(path), layer_of(target)
    if layer is None or target_layer is None or may_include(layer, target_layer):
        return None
    allowed = ", ".join(ALLOWED.get(layer, [])) or "nothing else"
    return f"{layer} includes {header} of {target_layer}; {layer} may see itself and {allowed}"


def shortest_path(edges, start, end):
    """The folders on a shortest way from start to end along edges, both included; empty where there is none."""
    came_from = {start: None}
    for folder in (waiting := [start]):
        for following in sorted(edges.get(folder, ())):
            if following not in came_from:
                came_from[following] = folder
                waiting.append(following)
    way = [end] if end in came_from else []
    while way and way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


def circles(edges):
    """A shortest circle through each set of folders that include each other. edges: folder -> folders it includes"""
    found, told = [], set()
    for folder in sorted(edges):
        if folder in told:
            continue
        ways = [shortest_path(edges, following, folder) for following in sorted(edges[folder])]
        ways = [[folder] + way for way in ways if way]
        if ways:
            found.append(min(ways, key=len))
            told.update(other for other in edges
                        if shortest_path(edges, folder, other) and shortest_path(edges, other, folder))
    return found


def circle_problems(includes, tolerated):
    """includes: (path, line, target) of files in the trees without circles"""
    where = {}  # (folder, folder it includes): the first include
    for path, line, target in includes:
        pair = (path.rsplit("/", 1)[0], target.rsplit("/", 1)[0])
        if pair[0] != pair[1]:
            where.setdefault(pair, f"{path}:{line}")
    edges = {}
    for folder, other in where:
        edges.setdefault(folder, set()).add(other)
    for folder, other in tolerated:
        if (folder, other) not in where or not shortest_path(edges, other, folder):
            yield f"tools/checks/includes.py: {folder} and {other} are in no circle: take them out of TOLERATED"
    for folder, other in tolerated:
        edges.get(folder, set()).discard(other)
    for way in circles(edges):
        steps = ", which includes ".join(f"{b} ({where[a, b]})" for a, b in zip(way, way[1:]))
        yield f"{where[way[0], way[1]]}: folders include each other in a circle: {way[0]} includes {steps}"


def check(files, read, exists, tolerated=()):
    problems, includes = [], []
    for path in sorted(files):
        text = read(path)
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            problem = problem_with(path, match[1], match[2], exists)
            if problem:
                problems.append(f"{path}:{line}: {problem}")
            target = target_of(path, match[2], exists)
            if target and path.startswith(NO_CIRCLES) and target.startswith(NO_CIRCLES):
                includes.append((path, line, target))
    return problems + list(circle_problems(includes, tolerated))


def self_test():
    tree = {
        "src/base/a.h": "", "src/math/a.h": "", "src/sums/kernels/a.h": "", "src/io/a.h": "", "src/studies/a.h": "",
        "src/base/b.cpp": '#include "math/a.h"', "src/io/b.cpp": '#include "sums/kernels/a.h"',
        "src/sums/direct/b.cpp": '#include "io/a.h"', "src/sums/reference/b.cpp": '#include "sums/select/a.h"',
        "src/sums/direct/c.cpp": '#include "sums/reference/a.h"', "src/sums/reference/a.h": "", "src/sums/select/a.h": "",
        "src/sums/method/b.h": '#include "sums/direct/a.h"', "src/sums/direct/a.h": "", "src/dynamics/b.cpp": "#include <xsimd/xsimd.hpp>",
        "include/farfield/b.h": "#include <hdf5.h>", "apps/farfield/b.cpp": '#include "io/a.h"', "apps/farfield/d.cpp": "#include <CLI/CLI.hpp>",
        "tests/oracle/b.cpp": '#include "math/a.h"', "src/io/c.h": "#include <nlohmann/json.hpp>",
        "src/backend/threads/b.cpp": "#include <cuda_runtime.h>", "src/base/c.cpp": "#include <mpi.h>",
        "src/stencil/lowering/b.cpp": '#include "stencil/analysis/a.h"', "src/stencil/analysis/a.h": "",
        "src/stencil/codegen/cuda/b.h": '#include "stencil/runtime/a.h"', "src/stencil/runtime/a.h": "",
        "src/stencil/front_end/syntax/b.cpp": '#include "stencil/front_end/model/a.h"', "src/stencil/front_end/model/a.h": "",
        "src/stencil/reads/b.cpp": '#include "stencil/b.h"', "src/stencil/b.h": '#include "sums/direct/a.h"',
        "src/stencil/analysis/d.h": '#include "stencil/analysis/stability/d.h"',  # with stability/c.cpp below a circle
        "src/stencil/analysis/stability/d.h": "",
        "src/sums/run/a.h": "", "src/stencil/run/a.h": "", "src/dynamics/run/a.h": "", "src/io/picture/a.h": "", "src/stencil/a.h": "",
        "src/sums/b.cpp": '#include "sums/run/a.h"', "src/stencil/f.cpp": '#include "stencil/run/a.h"',
        "src/dynamics/simulation/b.cpp": '#include "dynamics/run/a.h"', "src/dynamics/d.cpp": '#include "sums/run/a.h"',
        "src/stencil/run/b.cpp": '#include "studies/a.h"', "src/sums/run/b.cpp": '#include "stencil/a.h"',
        "src/run/a.h": "", "src/run/b.cpp": '#include "dynamics/run/a.h"', "src/stencil/e.cpp": '#include "run/a.h"',
        "src/io/d.cpp": '#include "io/picture/a.h"', "apps/farfield/e.cpp": '#include "stencil/a.h"',
    }
    good = {
        "src/sums/reference/c.cpp": '#include "sums/direct/a.h"',
        "src/stencil/analysis/stability/c.cpp": '#include "stencil/analysis/a.h"\n#include "stencil/front_end/model/a.h"',
        "src/stencil/runtime/cpu/c.cpp": '#include "stencil/codegen/cuda/c.h"', "src/stencil/codegen/cuda/c.h": "",
        "src/stencil/c.cpp": '#include "stencil/runtime/a.h"', "src/stencil/api/c.cpp": '#include "stencil/b.h"',
        "src/math/b.cpp": '#include "base/a.h"\n#include <vector>', "src/dynamics/c.cpp": '#include "io/a.h"',
        "apps/farfield/parser.cpp": '#include "studies/a.h"\n#include <CLI/CLI.hpp>', "apps/farfield/c.cpp": '#include "studies/a.h"\n#include "stencil/run/a.h"',
        "src/sums/run/c.cpp": '#include "sums/direct/a.h"\n#include "io/a.h"', "src/dynamics/run/c.cpp": '#include "dynamics/simulation/a.h"\n#include "run/a.h"\n#include "io/picture/a.h"',
        "src/stencil/run/c.cpp": '#include "stencil/a.h"\n#include "io/picture/a.h"', "src/io/picture/c.cpp": '#include "io/a.h"',
        "include/farfield/c.h": "#include <farfield/b.h>\n#include <vector>", "src/backend/cuda/b.cu": "#include <cub/cub.cuh>",
    }
    tree.update(good)
    found = check(tree, tree.get, tree.__contains__)
    bad = [path for path, text in tree.items() if text and path not in good]
    missed = [path for path in bad if not any(problem.startswith(path + ":") for problem in found)]
    wrong = [problem for problem in found if problem.split(":")[0] in good]
    if missed or wrong:
        sys.exit(f"self-test failed: not reported {missed}, wrongly reported {wrong}")
    planted = self_test_of_circles()
    print(f"self-test: all {len(bad) + planted} planted violations reported, nothing else")


# folders below src/sums (a, a/b, …), each with those it includes: the circles that are to be found
CIRCLES = [
    ("a>b b>a", ["a b a"]),
    ("a>b b>c c>a", ["a b c a"]),
    ("a>a/b a/b>a", ["a a/b a"]),  # a folder and one inside it
    ("a>b b>c c>b c>d d>e e>d", ["b c b", "d e d"]),
    ("a>b b>c c>d d>a c>a", ["a b c a"]),  # one of two that share folders, the shorter
    ("a>a b>b", []),
    ("a>a/b a/b>c a>c d>a d>a/b", []),  # a folder may be reached in two ways
]


def self_test_of_circles():
    """Checks what is said of each of CIRCLES; returns the number of circles."""
    for text, expected in CIRCLES:
        pairs = [tuple(f"src/sums/{folder}" for folder in pair.split(">")) for pair in text.split()]
        tree = {f"{folder}/{k}.h": f'#include "{other[4:]}/x.h"' for k, (folder, other) in enumerate(pairs)}
        tree.update({f"{folder}/x.h": "" for pair in pairs for folder in pair})

        def told(tolerated, tree=tree):
            return [p for p in check(tree, tree.get, tree.__contains__, tolerated) if "circle" in p]

        ways = [" ".join(re.findall(r"includes? src/sums/(\S+)", problem)) for problem in told([])]
        if ways != [way.split(" ", 1)[1] for way in expected]:
            sys.exit(f"self-test failed: in {text}, expected {expected}, found {told([])}")
        if len(pairs) == 2 and expected and told(pairs[:1]):
            sys.exit(f"self-test failed: in {text}, a tolerated circle is reported")
        if not any("TOLERATED" in problem for problem in told([("src/sums/x", "src/sums/y")])):
            sys.exit(f"self-test failed: in {text}, a needless entry of TOLERATED is not reported")
    return sum(len(expected) for _, expected in CIRCLES)


def main():
    if "--self-test" in sys.argv:
        return self_test()
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    files = [f for f in listed if re.search(r"\.(h|hpp|cpp|cu|cuh|c)$", f) and pathlib.Path(f).exists()]
    problems = check(files, lambda f: pathlib.Path(f).read_text(encoding="utf-8"), lambda f: pathlib.Path(f).exists(),
                     TOLERATED)
    print("\n".join(problems) if problems else f"{len(files)} files keep to the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
