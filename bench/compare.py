#!/usr/bin/env python3
"""Compares the rates of two builds of Farfield, alternating runs of one and the other.

    bench/compare.py OLD/farfield NEW/farfield [--pairs 31] [--json FILE] -- bench direct --n 16384 --repeat 3

Everything behind `--` is the command that both run; it must be one that writes its rows with --json (bench direct, on a
CPU or a GPU), or a program of its own that takes the file's name (bench_step_cuda): then give --program. For every row it
prints the median of the ratios new/old and its 95 % interval, from the ranks of the sorted ratios (binomial): runs that another
program disturbed do not widen it.
Exit code 1 where a lower end is below --least (0.97).
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

KEYS = ("rung", "variant", "isa", "precision", "n", "targets", "threads", "bodies", "path", "points_a_block", "grid", "way")
RATES = ("pairs_per_second", "steps_per_second")
TIMES = ("microseconds_a_step", "seconds")


def rows_of(report):
    """The rows of a report, wherever they stand, as {names and sizes: rate}."""
    found = {}

    def visit(node):
        if isinstance(node, dict):
            rate = next((node[k] for k in RATES if isinstance(node.get(k), (int, float))), None)
            if rate is None:
                time = next((node[k] for k in TIMES if isinstance(node.get(k), (int, float))), None)
                rate = 1.0 / time if time else None
            if rate:
                found[" ".join(str(node[k]) for k in KEYS if k in node)] = rate
            for value in node.values():
                visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)

    visit(report)
    return found


def run(program, command, own_program):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        words = [program, str(path), *command] if own_program else [program, *command, "--quiet", "--json", str(path)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)} failed with {done.returncode}:\n{done.stderr}")
        return rows_of(json.loads(path.read_text(encoding="utf-8")))


def interval_of_median(values):
    """The pair of ranks, as far in as may be, between which the median lies in 95 of 100 samples."""
    values, n, left = sorted(values), len(values), 0.0
    rank = 0
    while left + math.comb(n, rank) / 2**n <= 0.025:
        left += math.comb(n, rank) / 2**n
        rank += 1
    return values[rank - 1], values[n - rank]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--least", type=float, default=0.97)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--about", action="append", default=[], metavar="NAME=TEXT",
                        help="goes into the file of --json: commit=…, old_commit=…, machine=…")
    parser.add_argument("--program", action="store_true", help="old and new are benches of their own")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if options.pairs < 11:
        sys.exit("--pairs must be at least 11: the interval needs them")
    ratios, old_rates = {}, {}
    for number in range(options.pairs):
        first_old = number % 2 == 0  # whoever goes first changes, for machines that warm up
        pair = {}
        for old in (first_old, not first_old):
            pair[old] = run(options.old if old else options.new, options.command, options.program)
        for name in pair[True].keys() & pair[False].keys():
            ratios.setdefault(name, []).append(pair[False][name] / pair[True][name])
            old_rates.setdefault(name, []).append(pair[True][name])
    table = []
    for name, values in sorted(ratios.items()):
        low, high = interval_of_median(values)
        table.append({"row": name, "pairs": len(values), "old_rate": statistics.median(old_rates[name]),
                      "median_ratio": statistics.median(values), "low": low, "high": high})
    for row in table:
        flag = "" if row["low"] >= options.least else "   below"
        print(f"{row['row']:<52} {row['old_rate']:9.3g}  x{row['median_ratio']:.3f}  [{row['low']:.3f}, {row['high']:.3f}]{flag}")
    if options.json:
        about = dict(text.split("=", 1) for text in options.about)
        report = {**about, "command": "bench/compare.py OLD NEW -- " + " ".join(options.command),
                  "pairs": options.pairs, "least": options.least, "interval": "95 %, of the median, by ranks", "rows": table}
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row["low"] >= options.least for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
