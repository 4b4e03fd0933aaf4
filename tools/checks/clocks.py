#!/usr/bin/env python3
"""Checks that nothing that chooses how or where a sum is computed reads a clock (docs/decisions/0014).

The sums and the choice of a simulation's place are searched for everything that tells time. A few files tell it to
those who read reports; each is listed with what it does with it. `--self-test` proves that the rule catches what it
should.
"""
import pathlib
import re
import subprocess
import sys

WATCHED = re.compile(r"^(src/sums/|src/dynamics/([\w/]+/)?device_choice)")
CLOCK = re.compile(r"<(chrono|ctime|time\.h|sys/times?\.h|sys/resource\.h)>|\"base/stopwatch\.h\"|\bchrono::|\bglobaltimer\b|"
                   r"\b(clock|clock64|clock_gettime|gettimeofday|getrusage|times|_*rdtscp?|omp_get_wtime|"
                   r"cudaEventElapsedTime|seconds_of)\s*\(")
REPORTS = {
    "src/sums/plan.cpp": "prepare_seconds and finish_seconds of the report",
    "src/sums/direct/cpu/direct.h": "laps for the seconds of the report",
    "src/sums/direct/method.cpp": "prepare_seconds and finish_seconds of the report",
    "src/sums/direct/plane/plane_sum.cpp": "prepare_seconds and finish_seconds of the report",
    "src/sums/direct/periodic/image_sum.h": "seconds of the passes",
    "src/sums/fmm/box_fmm.cpp": "seconds of the passes",
    "src/sums/lattice/lattice_sum.cpp": "seconds of the passes",
    "src/sums/lattice/lattice_on_cpu.cpp": "seconds of the stages",
    "src/sums/lattice/cuda/lattice_on_gpu.cu": "seconds of the stages",
    "src/sums/fmm/fmm_sum.cpp": "seconds of the passes",
    "src/sums/fmm/plane/plane_fmm.cpp": "seconds of the passes",
    "src/sums/fmm/guarantee.cpp": "seconds of the bounds",
    "src/sums/direct/gauss/gauss_sum.cpp": "seconds of the report",
    "src/sums/gauss/fgt_sum.cpp": "seconds of the passes and of the report",
    "src/sums/gauss/cells.cpp": "seconds of the pass",
    "src/sums/gauss/clusters/clusters.cpp": "seconds of the passes",
    "src/sums/gauss/grid/grid.cpp": "seconds of the passes",
    "src/sums/gauss/boxes/boxes.cpp": "seconds of the passes",
    "src/sums/direct/cpu/host_sum.h": "prepare_seconds and finish_seconds of the report",
    "src/sums/treecode/descent.cpp": "seconds of the steps of a descent",
    "src/sums/treecode/tree_sum.cpp": "seconds of the passes",
    "src/sums/reference/method.cpp": "seconds of the report",
    "src/sums/around/density.cpp": "prepare_seconds and finish_seconds of the report",
    "src/sums/around/left_out.cpp": "verify_seconds of the report",
    "src/sums/around/sum_sigmas.cpp": "seconds of the report",
    "src/sums/run/sum_files.cpp": "stages of the report",
    "src/sums/direct/cuda/one_gpu.cuh": "seconds of the report",
    "src/sums/direct/cuda/several/own_rows.cu": "prepare_seconds of the report",
    "src/sums/direct/cuda/several/shared_targets.cu": "seconds of the report",
    "src/sums/direct/cuda/several/several_gpus.cu": "seconds of the report",
}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL))


def problems_of(path, text):
    if not WATCHED.match(path) or path in REPORTS:
        return
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        if CLOCK.search(line):
            yield f"{path}:{number}: reads a clock: {line.strip()[:80]}"


def self_test():
    bad = {
        "src/sums/select/a.cpp": "#include <chrono>",
        "src/sums/fmm/b.cpp": "const auto now = std::chrono::steady_clock::now();",
        "src/sums/direct/cuda/c.cu": "cudaEventElapsedTime(&ms, a, b);",
        "src/dynamics/propagators/device_choice.cpp": "clock_gettime(CLOCK_MONOTONIC, &now);",
        "src/sums/tree/d.cpp": "const double start = omp_get_wtime();",
        "src/sums/tree/e.h": '#include "base/stopwatch.h"',
    }
    good = {
        "src/sums/select/e.cpp": "// no clock: chrono\ndouble seconds_on(const CpuRates& rates); /* clock() */",
        "src/studies/tune_measure.cpp": "#include <chrono>",
        "src/sums/plan.cpp": "#include <chrono>",
        "src/sums/tree/f.cpp": "int count = times_seen(node);",
    }
    missed = [path for path, text in bad.items() if not list(problems_of(path, text))]
    wrong = [path for path, text in good.items() if list(problems_of(path, text))]
    if missed or wrong:
        sys.exit(f"self-test failed: not reported {missed}, wrongly reported {wrong}")
    print(f"self-test: all {len(bad)} planted clocks reported, nothing else")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    files = [f for f in listed if re.search(r"\.(h|hpp|cpp|cu|cuh)$", f) and pathlib.Path(f).exists()]
    problems = [f"{path}: is listed as telling time to reports, but is not there" for path in REPORTS if path not in files]
    for path in files:
        problems += problems_of(path, pathlib.Path(path).read_text(encoding="utf-8"))
    watched = sum(1 for f in files if WATCHED.match(f))
    print("\n".join(problems) if problems else f"{watched} files choose without a clock")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
