#!/usr/bin/env python3
"""Writes src/math/portable/coefficients.h: the polynomials and split constants of the portable functions.

Each polynomial interpolates its function at the Chebyshev nodes of the interval, in 80-digit arithmetic, and is
then rounded to the target format. Interpolation at Chebyshev nodes is within a factor of about two of the minimax
polynomial; the degree is the smallest whose error, relative to what the polynomial is a part of, is below `bound`.
Needs mpmath. Usage: portable_math.py | clang-format > src/math/portable/coefficients.h
"""
from mpmath import mp, mpf, mpc, cos, sin, exp, log, atanh, tanh, pi, sqrt, floor, ldexp, matrix, lu_solve, cbrt

mp.dps = 80
FORMATS = {"double": 53, "float": 24}


def rounded(x, bits):
    """x rounded to `bits` significant bits, ties to even."""
    x = mpf(x)
    if x == 0:
        return x
    mant, expo = mp.frexp(x)
    scaled = ldexp(mant, bits)
    return ldexp(mp.nint(scaled), expo - bits)


def literal(x, fmt):
    return repr(float(x)) if fmt == "double" else f"{mp.nstr(x, 9, min_fixed=-3, max_fixed=9)}F"


def interpolate(f, a, b, degree):
    """Monomial coefficients, in the variable itself, of the interpolant at the degree+1 Chebyshev nodes of [a,b]."""
    n = degree + 1
    nodes = [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    rows = matrix(n, n)
    for i, x in enumerate(nodes):
        for j in range(n):
            rows[i, j] = x**j
    return list(lu_solve(rows, matrix([f(x) for x in nodes])))


def fit(f, a, b, weight, bound):
    """The lowest degree with max |p − f|·weight ≤ bound on a fine grid."""
    a, b = mpf(a), mpf(b)
    grid = [a + (b - a) * (mpf(i) + mpf("0.37")) / 400 for i in range(400)]
    for degree in range(1, 24):
        c = interpolate(f, a, b, degree)
        error = max(abs(mp.polyval(c[::-1], x) - f(x)) * weight(x) for x in grid)
        if error <= bound:
            return c, error
    raise SystemExit("no degree is enough")


def series(f, order):
    """Removes the cancellation of quotients such as (sin x − x)/x³ at small arguments by working with more digits."""
    def g(z):
        with mp.workdps(160):
            return f(z) if z != 0 else f(mpf(10) ** -50)
    return g


LN2 = log(mpf(2))
R = LN2 / 2 * mpf("1.0001")
S2 = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.0001")  # largest s² of the logarithm, s = f/(2+f)
Q = (pi / 4) ** 2 * mpf("1.0001")
T = mpf("0.625") ** 2
atanh_series = lambda z: (lambda s: (2 * atanh(s) - 2 * s) / s**3)(sqrt(z))
POLYNOMIALS = [  # name, comment, function of z, interval, weight that makes the error relative, slack of the bound
    ("exp", "e^r = 1 + r + r² P(r), |r| ≤ ½ ln 2", series(lambda r: (exp(r) - 1 - r) / r**2, 3), -R, R,
     lambda r: r * r, 8),
    ("log", "ln((1+s)/(1−s)) = 2s + s z P(z), z = s² ≤ 0.0295", series(atanh_series, 2), mpf(0), S2,
     lambda z: z / 2, 8),
    ("log_tail", "the same as 2s (1 + z (1/3 + z (1/5 + z P(z)))), for pow",
     series(lambda z: (lambda s: ((atanh(s) / s - 1) / z - mpf(1) / 3) / z - mpf(1) / 5)(sqrt(z)) / z, 4), mpf(0), S2,
     lambda z: z**3, 4096),
    ("sin", "sin x = x + x z P(z), z = x² ≤ (π/4)²", series(lambda z: (lambda x: (sin(x) - x) / x**3)(sqrt(z)), 3),
     mpf(0), Q, lambda z: z, 8),
    ("cos", "cos x = 1 − z/2 + z² P(z), z = x² ≤ (π/4)²", series(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, 2),
     mpf(0), Q, lambda z: z * z, 8),
    ("tanh", "tanh x = x + x z P(z), z = x² ≤ 0.625²", series(lambda z: (lambda x: (tanh(x) - x) / x**3)(sqrt(z)), 3),
     mpf(0), T, lambda z: z, 8),
]


def polynomial(name, comment, f, a, b, weight, slack, fmt):
    bits = FORMATS[fmt]
    c, error = fit(f, a, b, weight, mpf(2) ** -bits / slack)
    args = ", ".join(literal(rounded(x, bits), fmt) for x in c)
    return (f"    /// {comment}; relative error 2^{mp.nstr(mp.log(error, 2), 4)}\n"
            f"    template <class V>\n    FF_HD static V {name}(V z) {{\n        return horner(z, {args});\n    }}\n")


def cbrt_start(fmt):
    c = interpolate(cbrt, mpf(1), mpf(8), 5)
    grid = [1 + mpf(7) * i / 500 for i in range(501)]
    error = max(abs(mp.polyval(c[::-1], x) / cbrt(x) - 1) for x in grid)
    args = ", ".join(literal(rounded(x, FORMATS[fmt]), fmt) for x in c)
    return (f"    /// first guess of the cube root on [1, 8); relative error 2^{mp.nstr(mp.log(error, 2), 3)}\n"
            f"    template <class V>\n    FF_HD static V cbrt_start(V z) {{\n        return horner(z, {args});\n    }}\n")


def split(name, value, widths, fmt):
    """value as a sum of parts of the given widths in bits; the last part takes what a number of the format holds."""
    out, rest = [], mpf(value)
    for i, width in enumerate(widths):
        if width is None:
            part = rounded(rest, FORMATS[fmt])
        else:
            mant, expo = mp.frexp(rest)
            part = ldexp(floor(ldexp(mant, width)), expo - width)
        out.append(f"    static constexpr {fmt} {name}_{i + 1} = {literal(part, fmt)};\n")
        rest -= part
    return "".join(out)


def main():
    print("// Made by tools/coefficients/portable_math.py; change that, not this.")
    print("// Polynomials at Chebyshev nodes and constants split into parts, for README.md of this folder.")
    print("#pragma once\n")
    print('#include "math/portable/lanes.h"\n\n#include <cstdint>\n\nnamespace farfield::portable {\n')
    print("template <class T>\nstruct Coefficients;\n")
    for fmt in FORMATS:
        print(f"template <>\nstruct Coefficients<{fmt}> {{")
        one = (lambda x: literal(rounded(x, FORMATS[fmt]), fmt))
        print(f"    static constexpr {fmt} log2_e = {one(1 / LN2)};")
        print(f"    static constexpr {fmt} two_over_pi = {one(2 / pi)};")
        print(split("ln2", LN2, [42, None] if fmt == "double" else [16, None], fmt), end="")
        print(split("third", mpf(1) / 3, [None, None], fmt), end="")
        print(split("fifth", mpf(1) / 5, [None, None], fmt), end="")
        print(split("half_pi", pi / 2, [33, 33, 33, None] if fmt == "double" else [13, 13, 13, None], fmt))
        for p in POLYNOMIALS:
            print(polynomial(*p, fmt))
        print(cbrt_start(fmt) + "};\n")
    with mp.workdps(500):
        bits = int(floor(ldexp(2 / pi, 38 * 32)))
    words = [(bits >> (32 * (37 - i))) & 0xFFFFFFFF for i in range(38)]
    print("/// Word i of 64 zero bits followed by the binary digits of 2/π.")
    print("FF_HD inline std::uint32_t two_over_pi_word(int i) {")
    print("    static constexpr std::uint32_t words[40] = {")
    rows = [0, 0] + words
    for i in range(0, 40, 8):
        print("        " + ", ".join(f"0x{w:08x}U" for w in rows[i:i + 8]) + ",")
    print("    };\n    return words[i];\n}\n\n} // namespace farfield::portable")


main()
