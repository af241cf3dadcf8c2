#!/usr/bin/env python3
"""Recompute the constants that the crate carries (needs mpmath; gmpy2 makes it faster).

Prints Rust arrays for
* erfcx: two rational approximations (src/erf.rs),
* mean and variance of the normal distribution on a half line (src/normal/half_line.rs),
* K_0 and K_1/K_0 for x > 2: rational approximations (src/bessel/miller.rs),
* 1/Gamma(1+mu): Taylor coefficients (src/bessel/temme.rs).

The rational functions are near-minimax: a weighted linear least-squares problem on Chebyshev
points, re-weighted by the previous denominator and by the error (Loeb, Lawson).
"""

import sys

import mpmath as mp

mp.mp.dps = 70


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def scaled_tail(t):
    """sqrt(pi) x erfcx(x) at x = 1/sqrt(t)."""
    return erfcx(1 / mp.sqrt(t)) * mp.sqrt(mp.pi / t)


def half_line_offset(a):
    """Mean minus a of the standard normal truncated to [a, inf): 1/M(a) - a."""
    return mp.sqrt(2 / mp.pi) / erfcx(a / mp.sqrt(2)) - a


def half_line_variance(a):
    offset = half_line_offset(a)
    return 1 - (a + offset) * offset


def chebyshev_points(lo, hi, n):
    return [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]


def fit_rational(f, lo, hi, p, q, rounds=25):
    """P of degree p over Q of degree q (Q(0) = 1), small relative error on [lo, hi]."""
    points = chebyshev_points(mp.mpf(lo), mp.mpf(hi), 12 * (p + q + 2))
    values = [f(x) for x in points]
    lawson = [mp.mpf(1)] * len(points)
    den = [mp.mpf(1)] * len(points)
    best = None
    for _ in range(rounds):
        rows, rhs = mp.matrix(len(points), p + q + 1), mp.matrix(len(points), 1)
        for i, (x, y) in enumerate(zip(points, values)):
            s = mp.sqrt(lawson[i]) / (den[i] * y)
            for j in range(p + 1):
                rows[i, j] = s * x**j
            for j in range(1, q + 1):
                rows[i, p + j] = -s * y * x**j
            rhs[i] = s * y
        c = mp.lu_solve(rows.T * rows, rows.T * rhs)
        num = [c[j] for j in range(p + 1)]
        dnm = [mp.mpf(1)] + [c[p + j] for j in range(1, q + 1)]
        den = [mp.polyval(dnm[::-1], x) for x in points]
        err = [abs(mp.polyval(num[::-1], x) / d / y - 1) for x, y, d in zip(points, values, den)]
        worst = max(err)
        if best is None or worst < best[0]:
            best = (worst, num, dnm)
        mean = sum(w * e for w, e in zip(lawson, err))
        lawson = [w * e / mean for w, e in zip(lawson, err)]
    return best


def show(name, values):
    print(f"const {name}: [f64; {len(values)}] = [")
    for v in values:
        print(f"    {float(v)!r},")
    print("];")


def show_fit(name, f, lo, hi, p, q):
    worst, num, den = fit_rational(f, lo, hi, p, q)
    print(f"// {name}: relative error {mp.nstr(worst, 3)}")
    show(name + "_NUM", num)
    show(name + "_DEN", den)


def main(what):
    if what in ("erfcx", "all"):
        show_fit("NEAR", erfcx, 0, 4, 8, 9)
        show_fit("FAR", scaled_tail, mp.mpf("1e-12"), mp.mpf(1) / 16, 5, 5)
    if what in ("half_line", "all"):
        show_fit("NEAR_OFFSET", half_line_offset, 1, 5, 7, 8)
        show_fit("NEAR_VARIANCE", half_line_variance, 1, 5, 6, 8)
        end = mp.mpf(1) / 25  # t = 1/a^2
        far_offset = lambda t: half_line_offset(1 / mp.sqrt(t)) / mp.sqrt(t)
        far_variance = lambda t: half_line_variance(1 / mp.sqrt(t)) / t
        show_fit("FAR_OFFSET", far_offset, mp.mpf("1e-6"), end, 6, 6)
        show_fit("FAR_VARIANCE", far_variance, mp.mpf("1e-6"), end, 6, 6)
    if what in ("bessel", "all"):
        start, end = mp.mpf("1e-8"), mp.mpf(1) / 2  # t = 1/x
        share = lambda t: mp.sqrt(2 / (mp.pi * t)) * mp.exp(1 / t) * mp.besselk(0, 1 / t)
        ratio = lambda t: mp.besselk(1, 1 / t) / mp.besselk(0, 1 / t)
        show_fit("ZERO", share, start, end, 7, 7)
        show_fit("RATIO", ratio, start, end, 7, 7)
    if what in ("gamma", "all"):
        show("RECIPROCAL_GAMMA", mp.taylor(mp.rgamma, 1, 19))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
