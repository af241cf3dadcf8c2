#!/usr/bin/env python3
"""Write the reference tables of the crate's tests with mpmath (gmpy2 makes it much faster).

    python3 make_tables.py            # writes *.csv beside this file

Arguments are `f64` values, written with `repr`, and every function is evaluated at exactly the
`f64` that the text denotes, with 50 digits (more where a difference cancels). Results carry 19
significant digits. Grids are deterministic; the "random" points come from a fixed linear
congruential generator, so that a second run writes the same bytes.
"""

import csv
import pathlib

import mpmath as mp
from mpmath import mpf

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = 50
mp.mp.dps = DIGITS


class Points:
    """A small fixed generator (numbers of Knuth's MMIX)."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self, lo=0.0, hi=1.0):
        self.state = (6364136223846793005 * self.state + 1442695040888963407) % 2**64
        return lo + (hi - lo) * ((self.state >> 11) / 2.0**53)

    def log_uniform(self, lo, hi):
        return short(10.0 ** self.uniform(float(mp.log10(lo)), float(mp.log10(hi))))

    def choose(self, items):
        return items[int(self.uniform() * len(items))]


def short(x, digits=6):
    """A float whose text is short; its 53 bits are as irregular as any."""
    return float(f"{x:.{digits}g}")


def linear(lo, hi, n):
    return [short(lo + (hi - lo) * k / (n - 1)) for k in range(n)]


def logarithmic(lo, hi, n):
    lo, hi = mp.log10(lo), mp.log10(hi)
    return [short(float(mpf(10) ** (lo + (hi - lo) * k / (n - 1)))) for k in range(n)]


def signed(values):
    return [-v for v in values] + list(values)


def unique(values):
    return sorted(set(values))


def text(x):
    if isinstance(x, (int, float)):
        return "inf" if x == float("inf") else "-inf" if x == float("-inf") else repr(x)
    if abs(x) > mpf("1.8e308"):
        return "inf" if x > 0 else "-inf"
    if abs(x) < mpf("1e-330"):
        return "0.0"
    return mp.nstr(x, 19, min_fixed=-3, max_fixed=6)


def write(name, header, rows):
    with open(HERE / f"{name}.csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        for row in rows:
            out.writerow([text(v) for v in row])


# ---------------------------------------------------------------- one argument


def gamma_functions():
    grid = logarithmic(1e-12, 1e12, 130) + linear(0.05, 12, 110)
    grid += [1e-300, 1e-100, 1e100, 1e300, 1.0, 2.0, 0.5, 1.5, 10.0, 8.0]
    grid += [1 + 1e-9, 1 - 1e-9, 2 + 1e-9, 2 - 1e-9, 1.4616321449683622, 1.4616, 1.47]
    for x in unique(grid):
        v = mpf(x)
        yield x, mp.digamma(v), mp.psi(1, v), mp.loggamma(v)


def error_functions():
    grid = signed(logarithmic(1e-12, 26.0, 60)) + linear(-26, 26.4, 150) + logarithmic(26.5, 1e12, 40)
    grid += [0.0, 4.0, 3.999999, 1e100, 1e300]
    for x in unique(grid):
        v = mpf(x)
        yield x, mp.erf(v), mp.erfc(v), erfcx(v)


def erfcx(v):
    if v < 30:
        return mp.exp(v * v) * mp.erfc(v)
    # asymptotic series, far more than 50 digits here when x >= 30
    total, term, k = mpf(0), mpf(1), 0
    while abs(term) > mpf(10) ** -60:
        total += term
        k += 1
        term *= -(2 * k - 1) / (2 * v * v)
    return total / (v * mp.sqrt(mp.pi))


def logistic():
    grid = signed(logarithmic(1e-12, 740.0, 70)) + linear(-40, 40, 120) + [0.0, 1e4, -1e4]
    for x in unique(grid):
        v = mpf(x)
        with mp.workdps(400):
            e = mp.exp(-abs(v))
            small, large = e / (1 + e), 1 / (1 + e)
            sigmoid = small if v < 0 else large
            soft = (v if v > 0 else 0) + mp.log1p(e)
            soft_negative = (-v if v < 0 else 0) + mp.log1p(e)
            complement = mp.log(-mp.expm1(-abs(v))) if v else mpf("-inf")
            curvature = mp.tanh(v / 2) / (4 * v) if v else mpf(1) / 8
        yield x, sigmoid, -soft_negative, soft, complement, curvature


def upper_tail(v):
    """1 - Phi(v) without cancellation."""
    return mp.erfc(v / mp.sqrt(2)) / 2


def ln_upper_tail(v):
    if v < 40:
        return mp.log(upper_tail(v))
    return mp.log(erfcx(v / mp.sqrt(2)) / 2) - v * v / 2


def normal():
    grid = linear(-38, 8, 231) + linear(8.2, 37.4, 74) + [-v for v in logarithmic(38.5, 1e12, 35)]
    grid += signed(logarithmic(1e-12, 0.1, 12)) + [0.0, -1e100]
    for x in unique(grid):
        v = mpf(x)
        density = mp.exp(-v * v / 2) / mp.sqrt(2 * mp.pi)
        if v > -37:
            with mp.workdps(400):
                ln_cdf = mp.log1p(-upper_tail(v)) if v > 0 else ln_upper_tail(-v)
            cdf = 1 - upper_tail(v) if v > 0 else upper_tail(-v)
            mills = upper_tail(v) / density
        else:
            ln_cdf = ln_upper_tail(-v)
            cdf = mp.exp(ln_cdf)
            mills = upper_tail(v) / density if v > -1e4 else mpf("inf")
        if v < 0:
            inverse = mp.sqrt(2 / mp.pi) / erfcx(-v / mp.sqrt(2))
        else:
            inverse = density / cdf
        yield x, density, cdf, ln_cdf, mills, inverse


def quantile_of(p):
    """Phi^{-1} by Newton on the log of the lower tail, or on the centre."""
    q = p - mpf(1) / 2
    if abs(q) < mpf("0.2"):
        with mp.workdps(80):
            return mp.sqrt(2) * mp.erfinv(2 * q)
    if q > 0:
        return -quantile_of(1 - p)
    with mp.workdps(80):
        target = mp.log(p)
        x = -mp.sqrt(-2 * target) if p < mpf("1e-3") else mpf(-1)
        for _ in range(60):
            value = ln_upper_tail(-x)
            slope = mp.exp(-x * x / 2 - value) / mp.sqrt(2 * mp.pi)
            step = (value - target) / slope
            x -= step
            if abs(step) < mpf(10) ** -40 * abs(x):
                break
        return x


def quantile():
    grid = [short(v) for v in logarithmic(1e-300, 1e-3, 110)] + linear(0.001, 0.999, 160)
    grid += [1 - v for v in logarithmic(1e-16, 1e-3, 30)] + [0.5 + s for s in signed(logarithmic(1e-15, 0.01, 20))]
    grid += [5e-324, 1e-310, 0.25, 0.75, 0.24999999, 0.7500001]
    for p in unique(grid):
        if p != 0.5:
            yield p, quantile_of(mpf(p))


# ---------------------------------------------------------------- normal on an interval


def phi(v):
    return mpf(0) if mp.isinf(v) else mp.exp(-v * v / 2) / mp.sqrt(2 * mp.pi)


def extended(a, b):
    """Digits that survive the cancellations of the textbook formulas."""
    width = b - a
    edge = min((abs(v) for v in (a, b) if v not in (float("inf"), float("-inf"))), default=0)
    digits = 60 + int(edge**2 / 4)  # tails
    if width < 1:
        digits += int(-4 * mp.log10(width))
    return digits + 4 * int(mp.log10(1 + edge))


def mass(a, b):
    a, b = mpf(a), mpf(b)
    if a > 0:
        return upper_tail(a) - (mpf(0) if mp.isinf(b) else upper_tail(b))
    if b < 0:
        return mass(-b, -a)
    return 1 - (0 if mp.isinf(b) else upper_tail(b)) - (0 if mp.isinf(a) else upper_tail(-a))


def interval_ends():
    inf = float("inf")
    points = Points(20150706)
    ends = []
    for width in [1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 2.5, 4.0, 8.0, 20.0]:
        for start in [-37.5, -20.0, -9.3, -5.1, -3.0, -2.2, -1.4, -0.7, -0.25, -1e-9, 0.0]:
            start = short(start * (1 + points.uniform(-0.02, 0.02)))
            ends += [(start, start + width), (-(start + width), -start)]
        ends.append((-width / 2, width / 2))
    for a in [-37.0, -12.0, -6.0, -2.6, -2.4, -1.1, -0.9, -0.3, 0.0, 0.4, 0.97, 1.01, 1.9, 2.45, 2.55, 3.0, 4.0, 6.0, 9.0, 15.0, 30.0]:
        ends += [(a, inf), (-inf, a)]
    for _ in range(160):
        centre, width = points.uniform(-12, 12), points.log_uniform(1e-10, 20)
        ends.append((short(centre - width / 2, 12), short(centre + width / 2, 12)))
    return [(a, b) for a, b in dict.fromkeys(ends) if a < b]


def truncated():
    """Mean, variance and log mass together; also the table of interval probabilities."""
    for a, b in interval_ends():
        with mp.workdps(extended(a, b)):
            lo, hi = mpf(a), mpf(b)
            z = mass(a, b)
            mean = (phi(lo) - phi(hi)) / z
            left = mpf(0) if mp.isinf(lo) else lo * phi(lo)
            right = mpf(0) if mp.isinf(hi) else hi * phi(hi)
            variance = 1 + (left - right) / z - mean**2
            ln_mass = mp.log(z) if z < mpf("0.5") else mp.log1p(z - 1)
        yield a, b, mean, variance, ln_mass
    # Far tails, where z would need thousands of digits: the integral from the edge.
    for a in [50.0, 133.7, 1e3, 2.5e5, 1e8]:
        for scaled in [1e-4, 0.1, 1.0, 5.0, 20.0, 60.0, float("inf")]:
            b = a + scaled / a
            if b == a:
                continue
            with mp.workdps(60):
                lo = mpf(a)
                end = min(mpf(b) - lo, 140 / lo)
                f = lambda t: mp.exp(-t * (lo + t / 2))
                cuts = mp.linspace(0, end, 9)
                zeroth = mp.quad(f, cuts)
                first = mp.quad(lambda t: t * f(t), cuts) / zeroth
                second = mp.quad(lambda t: (t - first) ** 2 * f(t), cuts) / zeroth
                ln_mass = mp.log(zeroth) - lo**2 / 2 - mp.log(2 * mp.pi) / 2
            yield a, b, lo + first, second, ln_mass


# ---------------------------------------------------------------- Bessel and its distribution


def ln_k_scaled(nu, x):
    return mp.log(mp.besselk(nu, x)) + x


def bessel():
    orders = [0.0, 0.5, 1.0, 1.5, 2.0, 5.5, 0.25, 0.499, 0.501, 1e-6, 3.3, 12.75, 49.7, 50.3, 333.25]
    grid = logarithmic(1e-12, 1e4, 33) + [1.9, 2.0, 2.1, 2.7, 30.0]
    points = Points(1975)
    pairs = [(nu, x) for nu in orders for x in unique(grid)]
    pairs += [(short(points.uniform(0, 60)), points.log_uniform(1e-12, 1e4)) for _ in range(60)]
    pairs += [(-nu, x) for nu in (0.25, 0.5, 0.7, 1.0, 4.3) for x in (1e-9, 0.03, 1.1, 7.0, 4e3)]
    for nu, x in pairs:
        # The series behind K has removable poles at integers and cancels for large order and
        # moderate argument, which mpmath does not always notice: extra digits.
        with mp.workdps(500 if nu > 40 else 90):
            k = mp.besselk(mpf(nu), mpf(x))
            above = mp.besselk(mpf(nu) + 1, mpf(x))
            yield nu, x, mp.log(k) + mpf(x), above / k


def gig():
    points = Points(92)
    cases = []
    for p in [0.0, -0.5, 0.5, 1.0, -1.0, 1.5, 2.0, -3.2, 5.5, 20.0, 80.0, -80.0, 0.2, -0.3, 0.47]:
        for _ in range(13):
            cases.append((points.log_uniform(1e-8, 1e6), points.log_uniform(1e-12, 1e3), p))
    for a, b, p in cases:
        with mp.workdps(500 if abs(p) > 40 else 90):
            va, vb, vp = mpf(a), mpf(b), mpf(p)
            w = mp.sqrt(va * vb)
            k, up, down = (mp.besselk(vp + d, w) for d in (0, 1, -1))
            yield (
                a,
                b,
                p,
                mp.sqrt(vb / va) * up / k,
                mp.sqrt(va / vb) * down / k,
                mp.log(2 * k) + vp / 2 * mp.log(vb / va),
            )


# ---------------------------------------------------------------- gamma distribution, beta


def ln_beta():
    points = Points(2)
    cases = [(points.log_uniform(1e-10, 1e10), points.log_uniform(1e-10, 1e10)) for _ in range(170)]
    cases += [(points.log_uniform(0.05, 200), points.log_uniform(0.05, 200)) for _ in range(110)]
    cases += [(1.0, 1.0), (0.5, 0.5), (10.0, 10.0), (9.99, 10.01), (1e-14, 1e-14), (1e-14, 1e14)]
    for a, b in cases:
        with mp.workdps(90):
            yield a, b, mp.loggamma(mpf(a)) + mp.loggamma(mpf(b)) - mp.loggamma(mpf(a) + mpf(b))


def gamma_moments():
    points = Points(3)
    cases = [(points.log_uniform(1e-14, 1e12), points.log_uniform(1e-14, 1e12)) for _ in range(100)]
    cases += [(points.log_uniform(0.1, 100), points.log_uniform(0.01, 100)) for _ in range(60)]
    cases += [(a, short(a * (1 + points.uniform(-1e-3, 1e-3)))) for a in (11.0, 300.0, 2e4, 1e7)]
    for a, b in cases:
        with mp.workdps(90):
            va, vb = mpf(a), mpf(b)
            psi = mp.digamma(va)
            entropy = va - mp.log(vb) + mp.loggamma(va) + (1 - va) * psi
            yield a, b, psi - mp.log(vb), entropy


def gamma_kl():
    points = Points(4)
    cases = []
    for _ in range(100):
        cases.append(tuple(points.log_uniform(1e-14, 1e8) for _ in range(4)))
    for _ in range(70):  # vague prior
        prior = points.choose([1e-14, 1e-10, 1e-6, 1e-3])
        cases.append((points.log_uniform(0.5, 1e6), points.log_uniform(1e-3, 1e8), prior, prior))
    for _ in range(100):  # close to the prior
        a0, b0 = points.log_uniform(1e-14, 1e8), points.log_uniform(1e-8, 1e8)
        gap = points.log_uniform(1e-12, 0.5)
        a = a0 * (1 + gap * points.uniform(-1, 1))
        b = b0 * (1 + gap * points.uniform(-1, 1))
        cases.append((a, b, a0, b0))
    for _ in range(60):
        cases.append(tuple(points.log_uniform(0.1, 40) for _ in range(4)))
    cases += [(1e-14, 1e-14, 2e-14, 1e-14), (1e-14, 1e-14, 1e-14, 3e-14), (1e-14, 1.0, 1.0, 1.0)]
    for a, b, a0, b0 in cases:
        with mp.workdps(120):
            va, vb, wa, wb = mpf(a), mpf(b), mpf(a0), mpf(b0)
            kl = (va - wa) * mp.digamma(va) - mp.loggamma(va) + mp.loggamma(wa)
            kl += wa * mp.log(vb / wb) + va * (wb - vb) / vb
            yield a, b, a0, b0, kl


# ---------------------------------------------------------------- quadrature


def gauss_hermite():
    """Positive half of the rules for exp(-x^2); zero included for odd n."""
    for n in [1, 2, 3, 5, 8, 20, 31, 50, 64, 100, 151]:
        for i in range((n + 1) // 2):
            with mp.workdps(80):
                x = hermite_zero(n, i)
                _, below = hermite(n, x)
                # w = sqrt(pi) 2^(n-1) (n-1)! / (n H_{n-1}^2) with H monic in 2x
                weight = mp.sqrt(mp.pi) * mpf(2) ** (n - 1) * mp.factorial(n - 1) / (n * below**2)
            yield n, x, weight


def hermite(n, x):
    below, current = mpf(1), 2 * x
    for k in range(1, n):
        below, current = current, 2 * x * current - 2 * k * below
    return current, below


def hermite_zero(n, i):
    """The i-th largest zero by bisection on sign changes, then Newton."""
    if 2 * i + 1 == n:
        return mpf(0)
    lo, hi = mpf(0), mp.sqrt(2 * n + 2)
    for _ in range(30):
        mid = (lo + hi) / 2
        values, below, current = 0, mpf(1), 2 * mid
        values += current < 0
        for k in range(1, n):
            nxt = 2 * mid * current - 2 * k * below
            values += (nxt < 0) != (current < 0)
            below, current = current, nxt
        lo, hi = (mid, hi) if values > i else (lo, mid)
    x = (lo + hi) / 2
    for _ in range(8):
        value, below = hermite(n, x)
        x -= value / (2 * n * below)
    return x


TABLES = {
    "gamma_functions": (gamma_functions, "x digamma trigamma ln_gamma"),
    "error_functions": (error_functions, "x erf erfc erfcx"),
    "logistic": (logistic, "x sigmoid log_sigmoid softplus log1mexp_minus_abs jaakkola_lambda"),
    "normal": (normal, "x pdf cdf ln_cdf mills inverse_mills"),
    "quantile": (quantile, "p quantile"),
    "truncated": (truncated, "a b mean variance ln_mass"),
    "bessel": (bessel, "order x ln_scaled ratio"),
    "gig": (gig, "a b p mean mean_inverse ln_normaliser"),
    "ln_beta": (ln_beta, "a b ln_beta"),
    "gamma_moments": (gamma_moments, "shape rate mean_log entropy"),
    "gamma_kl": (gamma_kl, "shape rate prior_shape prior_rate kl"),
    "gauss_hermite": (gauss_hermite, "n node weight"),
}


def main():
    for name, (rows, header) in TABLES.items():
        write(name, header.split(), rows())
        print(name, (HERE / f"{name}.csv").stat().st_size)


if __name__ == "__main__":
    main()
