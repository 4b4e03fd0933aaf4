#!/usr/bin/env python3
"""Writes src/sums/gauss/grid/rules.cpp: windows and rows of numbers that put Gaussians together on a grid (rules.h has the equations).

For a width w and a ratio σ/h, a row T is the least-squares solution over distances from 0 to 8.6 σ, at 9 places of a source between grid
points, for the value and for 0.3 σ times the derivative. β is the best of steps of 0.05 w. The row ends where that costs no more than a tenth
of the error. Errors are the largest of other distances and places, and 15 % more. Rows are in double: their last digits depend on the
linear algebra beneath NumPy. Takes minutes; needs numpy.
Usage: gauss_rules.py [--only W RATIO] | clang-format > src/sums/gauss/grid/rules.cpp
"""
import argparse

import numpy as np

# width and σ/h: coarse grids from the least accurate to the most, and finer ones, whose windows are narrower
COARSE = ((3, 1.5), (4, 1.8), (5, 1.9), (6, 2.0), (7, 2.1), (8, 2.2), (9, 2.4), (10, 2.5), (11, 2.7), (12, 2.8), (13, 3.0), (14, 3.0), (15, 3.1), (16, 3.2))
BETWEEN = ((4, 2.2), (5, 1.5), (7, 2.6), (10, 2.6))
FINE = ((4, 2.8), (5, 3.0), (7, 3.2), (8, 3.2), (9, 3.4), (10, 3.4), (11, 3.6), (12, 3.6))
GRADIENT = 0.3  # what σ times the derivative counts beside the value
REACH = 8.6  # of distances, in σ


def window(z, w, beta):
    a = 1 - (2 * z / w) ** 2
    return np.where(a > 0, np.exp(beta * (np.sqrt(np.maximum(a, 0)) - 1)), 0.0)


def window_derivative(z, w, beta):
    a = 1 - (2 * z / w) ** 2
    root = np.sqrt(np.maximum(a, 1e-300))
    return np.where(a > 1e-14, np.exp(beta * (root - 1)) * beta * (-4 * z / w**2) / root, 0.0)


def touched(x, w):
    return np.arange(np.ceil(x - w / 2), np.floor(x + w / 2) + 1)


def system(w, beta, ratio, reach, places=9, step=0.23):
    """Rows of the equations for values and for σ times derivatives, and their right sides."""
    values, gaussians, slopes, derivatives = [], [], [], []
    for x in (np.arange(places) + 0.5) / places:
        from_points = touched(x, w)
        spread = window(x - from_points, w, beta)
        for r in np.arange(0, ratio * REACH, step):
            for sign in (1, -1):
                y = x + sign * r
                to_points = touched(y, w)
                apart = np.abs(from_points[:, None] - to_points[None, :]).astype(int)
                near = apart <= reach
                for rows, taken in ((values, window(y - to_points, w, beta)), (slopes, ratio * window_derivative(y - to_points, w, beta))):
                    row = np.zeros(reach + 1)
                    np.add.at(row, apart[near], (spread[:, None] * taken[None, :])[near])
                    rows.append(row)
                gaussians.append(np.exp(-r * r / (2 * ratio * ratio)))
                derivatives.append(-sign * r / ratio * gaussians[-1])
    return np.array(values), np.array(gaussians), np.array(slopes), np.array(derivatives)


def errors(equations, row):
    values, gaussians, slopes, derivatives = equations
    return np.abs(values @ row - gaussians).max(), np.abs(slopes @ row - derivatives).max()


def solve(w, beta, ratio, reach):
    """The row, and the larger of its errors, of which that of the derivative counts GRADIENT."""
    equations = system(w, beta, ratio, reach)
    left = np.vstack([equations[0], GRADIENT * equations[2]])
    right = np.concatenate([equations[1], GRADIENT * equations[3]])
    row = np.linalg.lstsq(left, right, rcond=1e-16)[0]
    rest = (right.astype(np.longdouble) - left.astype(np.longdouble) @ row.astype(np.longdouble)).astype(float)
    row = row + np.linalg.lstsq(left, rest, rcond=1e-16)[0]
    value, slope = errors(equations, row)
    return row, max(value, GRADIENT * slope)


def rule(w, ratio, last_step):
    steps = np.arange(1.6, last_step + 0.01, 0.05)
    least, beta = min((solve(w, step * w, ratio, int(np.ceil(8 * ratio)))[1], step * w) for step in steps)
    for reach in range(int(2 * ratio), int(8 * ratio) + 2):
        row, error = solve(w, beta, ratio, reach)
        if error <= 1.1 * least:
            break
    value, slope = errors(system(w, beta, ratio, reach, places=31, step=0.057), row)
    taps = ", ".join(float(tap).hex() for tap in row)
    return (f"    GridRule{{.width = {w},\n .ratio = {ratio},\n .beta = {round(beta, 6)},\n .error = {1.15 * value:.1e},\n"
            f" .gradient_error = {1.15 * slope:.1e},\n .reach = {reach},\n .taps = {{{taps}}}}},")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs=2, metavar=("W", "RATIO"), help="print that rule alone")
    only = parser.parse_args().only
    wanted = [(w, ratio, 2.7) for w, ratio in COARSE] + [(w, ratio, 2.9) for w, ratio in BETWEEN + FINE]
    if only:
        print("\n".join(rule(*of) for of in wanted if of[:2] == (int(only[0]), float(only[1]))))
        return
    print('#include "sums/gauss/grid/rules.h"\n\n#include <array>\n\nnamespace farfield {\nnamespace {\n\nconstexpr std::array rules{')
    print("\n".join(rule(*of) for of in wanted))
    print("};\n\n} // namespace\n\nstd::span<const GridRule> grid_rules() { return rules; }\n\n} // namespace farfield")


if __name__ == "__main__":
    main()
