//! Integrals of the normal density over a short interval, about its midpoint.

/// Longest series: half width 1.
const TERMS: usize = 40;

/// Reciprocals $1/k$.
const INVERSE: [f64; TERMS + 4] = {
    let mut table = [0.0; TERMS + 4];
    let mut k = 1;
    while k < table.len() {
        table[k] = 1.0 / k as f64;
        k += 1;
    }
    table
};

/// $\frac12\int\_{-1}^{1} (-s)^j e^{-chs-h^2s^2/2}\\,ds$ for $j = 0, 1, 2$.
pub(super) struct Sums {
    pub(super) zeroth: f64,
    pub(super) first: f64,
    pub(super) second: f64,
}

/// Taylor coefficients of the integrand are $(-1)^k a\_k$, $a\_k = \mathrm{He}\_k(c)h^k/k!$, with a
/// three-term recurrence. Needs $0 \le h \le 1$, $|ch| \le 2$, where neither the recurrence nor
/// the sums lose digits; $|a\_k| \le 2h^ke^{c^2/4}/\sqrt{k!}$ and
/// $|a\_k| \le (|ch| + h\sqrt k)^k/k!$ say how many terms are needed.
pub(super) fn sums(centre: f64, half: f64) -> Sums {
    let shift = centre * half;
    let square = half * half;
    let pairs = match shift.abs().max(half) {
        size if size <= 0.02 => 4,
        size if size <= 0.2 => 8,
        size if size <= 0.6 => 12,
        _ => TERMS / 2,
    };
    let (mut even, mut odd) = (1.0, shift);
    let (mut zeroth, mut first, mut second) = (1.0, shift * INVERSE[3], INVERSE[3]);
    for j in 1..=pairs {
        let k = 2 * j;
        even = (shift * odd - square * even) * INVERSE[k];
        odd = (shift * even - square * odd) * INVERSE[k + 1];
        zeroth += even * INVERSE[k + 1];
        first += odd * INVERSE[k + 3];
        second += even * INVERSE[k + 3];
    }
    Sums {
        zeroth,
        first,
        second,
    }
}
