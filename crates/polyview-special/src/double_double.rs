//! Unevaluated sums of two `f64` (about 32 digits), for the few places that need them:
//! the exponent of $e^{-x^2/2}$ and the roots of Hermite polynomials.
//!
//! Knuth's exact sum and Dekker's exact product; the latter splits by $2^{27}+1$ instead of using
//! a fused multiply-add, which is a slow call on targets compiled without that instruction.

/// $s + e = a + b$ exactly, $s$ the rounded sum.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// The same for $|a| \ge |b|$.
#[inline]
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, b - (s - a))
}

#[inline]
fn split(a: f64) -> (f64, f64) {
    let c = 134_217_729.0 * a;
    let high = c - (c - a);
    (high, a - high)
}

/// $p + e = a b$ exactly, $p$ the rounded product, for $10^{-140} < |a|, |b| < 10^{150}$.
#[inline]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let (ah, al) = split(a);
    let (bh, bl) = split(b);
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

/// A number carried as `high + low`, `|low|` at most half a unit in the last place of `high`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// An ordinary number.
    pub(crate) fn new(value: f64) -> Self {
        Self {
            high: value,
            low: 0.0,
        }
    }

    /// Rounded to an ordinary number.
    pub(crate) fn value(self) -> f64 {
        self.high
    }

    pub(crate) fn add(self, other: Self) -> Self {
        let (s, e) = two_sum(self.high, other.high);
        let (high, low) = quick_two_sum(s, e + (self.low + other.low));
        Self { high, low }
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        self.add(Self {
            high: -other.high,
            low: -other.low,
        })
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        let (p, e) = two_product(self.high, other.high);
        let (high, low) = quick_two_sum(p, e + (self.high * other.low + self.low * other.high));
        Self { high, low }
    }

    pub(crate) fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self.sub(other.mul(Self::new(first)));
        let second = rest.high / other.high;
        let rest = rest.sub(other.mul(Self::new(second)));
        let (high, low) = quick_two_sum(first, second);
        Self { high, low }.add(Self::new(rest.high / other.high))
    }

    /// Multiplied by a power of two (exact).
    pub(crate) fn scale(self, power_of_two: f64) -> Self {
        Self {
            high: self.high * power_of_two,
            low: self.low * power_of_two,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_error_is_exact() {
        // (2^30 + 1)(2^30 - 1) = 2^60 - 1 needs 60 bits.
        let (p, e) = two_product(1_073_741_825.0, 1_073_741_823.0);
        assert_eq!((p, e), (2f64.powi(60), -1.0));
    }

    #[test]
    fn third_times_three_is_one_to_thirty_digits() {
        let three = DoubleDouble::new(3.0);
        let gap = DoubleDouble::new(1.0)
            .div(three)
            .mul(three)
            .sub(DoubleDouble::new(1.0));
        assert!(gap.value().abs() < 1e-31, "{}", gap.value());
    }
}
