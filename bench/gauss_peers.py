#!/usr/bin/env python3
"""Times the fast Gauss transform beside FIGTree and the plane-wave code `fgt`:
`bench/gauss_peers.py build/farfield --figtree libfigtree.so --planewaves libpfgt.so --json FILE`; needs numpy.

The libraries are built from github.com/vmorariu/figtree (with its ANN) and github.com/flatironinstitute/fgt (src/common, src/pfgt and
src/bfgt/bfgt_pwrouts.f, -fopenmp, with FINUFFT, whose finufft.fh must give the three pointers at the end of finufft_opts eight bytes each),
both with -O3 -march=native; leave either out. Weights of both signs; potentials at the points themselves; --threads beside the plane-wave
code, one beside FIGTree, which has no others. Peers are told the tolerance, and ten times less, until the error keeps it: FIGTree's
is relative to Σ|q|. Errors are the largest over the largest value, at 2,000 targets from direct
sums. Runs of all alternate; a row has the medians of --repeat. Peers run in processes of their own: one that fails or takes longer than
--limit seconds has no time.
"""
import argparse
import ctypes
import json
import math
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

SAMPLES = 2000
CLOUDS = 20  # of width 0.03


def pointer(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def figtree(library, points, strengths, sigma, epsilon, threads):
    assert threads == 1
    n, d = points.shape
    out = np.zeros(n)
    call = ctypes.CDLL(library).figtree
    x, q = np.ascontiguousarray(points), np.ascontiguousarray(strengths)
    start = time.perf_counter()
    failed = call(d, n, n, 1, pointer(x), ctypes.c_double(math.sqrt(2) * sigma), pointer(q), pointer(x), ctypes.c_double(epsilon), pointer(out), 4, 1, 2, 0)
    seconds = time.perf_counter() - start
    if failed < 0:
        raise RuntimeError("FIGTree failed")
    return seconds, out


def planewaves(library, points, strengths, sigma, epsilon, threads):
    """Potentials at the sources: where only separate targets are asked for, that code writes the sources' over the end of an array."""
    n, d = points.shape
    out, unused = np.zeros(n), np.zeros(n * d * (d + 1) // 2)
    centre = np.full(d, 0.5)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when the library is loaded
    call = ctypes.CDLL(library).pfgt_
    x, q = np.ascontiguousarray(points), np.ascontiguousarray(strengths)

    def whole(value):
        return ctypes.byref(ctypes.c_int(value))

    def real(value):
        return ctypes.byref(ctypes.c_double(value))

    start = time.perf_counter()
    call(whole(1), whole(d), real(2 * sigma**2), real(epsilon), whole(0), real(1.0), pointer(centre), whole(n), pointer(x), whole(1), pointer(q), whole(0),
         pointer(unused), pointer(unused), whole(1), pointer(out), pointer(unused), pointer(unused), whole(0), pointer(x), whole(0), pointer(unused),
         pointer(unused), pointer(unused))
    return time.perf_counter() - start, out


PEERS = {"figtree": figtree, "planewaves": planewaves}


def child(connection, peer, arguments):
    connection.send(PEERS[peer](*arguments))


def limited(limit, peer, *arguments):
    """Seconds and values, or nothing if it takes too long or fails."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=child, args=(there, peer, arguments))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def points_of(distribution, d, n):
    source = np.random.default_rng(d)
    if distribution == "clouds":
        centres = source.uniform(0.2, 0.8, (CLOUDS, d))
        return np.clip(centres[source.integers(CLOUDS, size=n)] + 0.03 * source.normal(size=(n, d)), 0, 1), source.uniform(-1, 1, n)
    return source.random((n, d)), source.uniform(-1, 1, n)


def ours(task, folder, sigma, threads, *options):
    report = folder / "report.json"
    subprocess.run([task.program, "sum", "--kernel", "gauss", "--sigma", str(sigma), "--sources", folder / "points.npy", "--output", "potential", "--threads", str(threads),
                    "--out", folder / "out.npy", "--json", report, "--quiet", *map(str, options)], check=True)
    found = json.loads(report.read_text(encoding="utf-8"))
    stages = found["stages"]
    seconds = stages["prepare_seconds"] + stages["compute_seconds"] + stages["finish_seconds"]
    return seconds, np.load(folder / "out.npy").ravel(), found.get("fgt", {}).get("way")


def row(task, folder, d, n, sigma, eps, distribution, libraries):
    threads = 1 if "figtree" in libraries else task.threads
    points, strengths = points_of(distribution, d, n)
    np.save(folder / "points.npy", np.column_stack([points, strengths]))
    np.save(folder / "samples.npy", points[:SAMPLES])
    exact = ours(task, folder, sigma, threads, "--method", "direct", "--precision", "double", "--targets", folder / "samples.npy")[1]

    def error(values):
        return float(np.max(np.abs(values[:SAMPLES] - exact)) / np.max(np.abs(values)))

    _, values, way = ours(task, folder, sigma, threads, "--method", "fgt", "--tolerance", eps)
    out = {"d": d, "n": n, "sigma": sigma, "eps": eps, "points": distribution, "threads": threads, "way": way, "error": error(values)}
    assert out["error"] <= eps, out
    told = {}
    for peer, library in libraries.items():
        epsilon = eps
        while (found := limited(task.limit, peer, library, points, strengths, sigma, epsilon, threads)) and error(found[1]) > eps and epsilon > 1e-15:
            epsilon /= 10
        if found and error(found[1]) <= eps:
            told[peer] = epsilon
            out[peer + "_told"], out[peer + "_error"] = epsilon, error(found[1])
    seconds = {name: [] for name in ("ours", *told)}
    for _ in range(task.repeat):
        seconds["ours"].append(ours(task, folder, sigma, threads, "--method", "fgt", "--tolerance", eps, "--repeat", 2)[0])
        for peer, epsilon in told.items():
            seconds[peer].append(limited(10 * task.limit, peer, libraries[peer], points, strengths, sigma, epsilon, threads)[0])
    return out | {name + "_seconds": statistics.median(each) for name, each in seconds.items()}


def cases():
    for sigma in (0.01, 0.05, 0.2):
        yield 2, 100_000, sigma, "uniform", ("figtree",)
        for d in (2, 3):
            yield d, 1_000_000, sigma, "uniform", ("planewaves",)
    yield 5, 100_000, 0.2, "clouds", ("figtree",)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--figtree", metavar="LIBRARY")
    parser.add_argument("--planewaves", metavar="LIBRARY")
    parser.add_argument("--json", required=True)
    parser.add_argument("--eps", default="1e-3,1e-6,1e-9")
    parser.add_argument("--limit", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--most", type=int, default=1_000_000, metavar="N", help="leave out larger numbers of points")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--about", action="append", default=[], metavar="KEY=VALUE", help="put first in the file: commit, machine")
    task = parser.parse_args()
    about = dict(entry.split("=", 1) for entry in task.about) | {"command": "bench/gauss_peers.py build/farfield", "repeats": task.repeat, "rows": []}
    given = {name: library for name in PEERS if (library := getattr(task, name))}
    with tempfile.TemporaryDirectory() as name:
        for d, n, sigma, distribution, peers in cases():
            libraries = {peer: given[peer] for peer in peers if peer in given}
            if n > task.most or not libraries:
                continue
            for eps in map(float, task.eps.split(",")):
                about["rows"].append(row(task, pathlib.Path(name), d, n, sigma, eps, distribution, libraries))
                print(json.dumps(about["rows"][-1]), flush=True)
                pathlib.Path(task.json).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
