//! Exponentials and logarithms of many numbers at once.
//!
//! A library function takes one number at a time; these take eight, at a fraction of the cost a number. The results are
//! within a few units in the last place, and the same bits whatever the length of the slice.

use crate::simd::{Kernel, Lane, dispatch, mul_add};

/// Writes $e^{-|x|}$ and $\ln(1 + e^{-|x|})$, of which the logistic function and its logarithms are made:
/// $\ln(1 + e^x) = \max(x, 0) + \ln(1 + e^{-|x|})$.
///
/// Exponentials below $10^{-307}$ become zero; NaN stays NaN. Slices of different lengths are treated as far as the
/// shortest goes.
///
/// ```
/// use polyview_linalg::logistic_tails;
///
/// let (mut e, mut l) = ([0.0; 3], [0.0; 3]);
/// logistic_tails(&[0.0, -2.0, 40.0], &mut e, &mut l);
/// assert!((e[1] - (-2f64).exp()).abs() < 1e-16);
/// assert!((l[0] - std::f64::consts::LN_2).abs() < 1e-15);
/// assert!((l[2] / (-40f64).exp() - 1.0).abs() < 1e-15);
/// ```
pub fn logistic_tails(x: &[f64], exponential: &mut [f64], ln_1p: &mut [f64]) {
    dispatch(Tails {
        x,
        exponential,
        ln_1p,
    });
}

/// Replaces numbers by their natural logarithms. Numbers must be positive and normal ($\ge 2.3\times10^{-308}$): of
/// others the result means nothing, but NaN stays NaN.
///
/// ```
/// use polyview_linalg::ln_in_place;
///
/// let mut x = [1.0, 2.0, 1e-300];
/// ln_in_place(&mut x);
/// assert!(x[0] == 0.0 && (x[1] - std::f64::consts::LN_2).abs() < 1e-15);
/// assert!((x[2] / 1e-300f64.ln() - 1.0).abs() < 1e-15);
/// ```
pub fn ln_in_place(x: &mut [f64]) {
    dispatch(Logarithms(x));
}

struct Tails<'a> {
    x: &'a [f64],
    exponential: &'a mut [f64],
    ln_1p: &'a mut [f64],
}

impl Kernel for Tails<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let ends = self.exponential.chunks_mut(8).zip(self.ln_1p.chunks_mut(8));
        for (x, (e, l)) in self.x.chunks(8).zip(ends) {
            let n = x.len().min(e.len()).min(l.len());
            let mut lane = Lane::ZERO;
            lane.0[..n].copy_from_slice(&x[..n]);
            for v in &mut lane.0 {
                *v = -v.abs();
            }
            let t = exp_negative::<FUSED>(lane);
            let s = ln_1p::<FUSED>(t);
            e[..n].copy_from_slice(&t.0[..n]);
            l[..n].copy_from_slice(&s.0[..n]);
        }
    }
}

struct Logarithms<'a>(&'a mut [f64]);

impl Kernel for Logarithms<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for x in self.0.chunks_mut(8) {
            let n = x.len();
            let mut lane = Lane::ONE;
            lane.0[..n].copy_from_slice(x);
            let l = ln::<FUSED>(lane);
            x.copy_from_slice(&l.0[..n]);
        }
    }
}

/// $1/j!$ from $j = 13$ down to 0: on $|r| \le \tfrac12\ln 2$ the rest of the series is below $10^{-17}$.
const EXPONENTIAL: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];
/// $\ln 2$ in two parts; the first has zeros at its end, so that a small whole multiple of it is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding it rounds to a whole number, which stands in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Below it the result counts as zero.
const SMALLEST: f64 = -707.0;

/// $e^x$ for $x \le 0$.
#[inline(always)]
fn exp_negative<const FUSED: bool>(x: Lane) -> Lane {
    let mut out = Lane::ZERO;
    for (out, &x) in out.0.iter_mut().zip(&x.0) {
        // NaN passes the comparison and stays
        let kept = if x < SMALLEST { SMALLEST } else { x };
        let shifted = mul_add::<FUSED>(kept, std::f64::consts::LOG2_E, ROUND);
        let whole = shifted - ROUND;
        let r = mul_add::<FUSED>(whole, -LN_2_HIGH, kept);
        let r = mul_add::<FUSED>(whole, -LN_2_LOW, r);
        let mut sum = EXPONENTIAL[0];
        for &c in &EXPONENTIAL[1..] {
            sum = mul_add::<FUSED>(sum, r, c);
        }
        // 2^whole: the whole number goes where the exponent is
        let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
        *out = if x < SMALLEST { 0.0 } else { sum * power };
    }
    out
}

/// $1/(2j + 1)$ from $j = 17$ down to 0.
const ARTANH: [f64; 18] = [
    1.0 / 35.0,
    1.0 / 33.0,
    1.0 / 31.0,
    1.0 / 29.0,
    1.0 / 27.0,
    1.0 / 25.0,
    1.0 / 23.0,
    1.0 / 21.0,
    1.0 / 19.0,
    1.0 / 17.0,
    1.0 / 15.0,
    1.0 / 13.0,
    1.0 / 11.0,
    1.0 / 9.0,
    1.0 / 7.0,
    1.0 / 5.0,
    1.0 / 3.0,
    1.0,
];

/// $\ln(1 + t) = 2\,\mathrm{artanh}(t/(2 + t))$ for $0 \le t \le 1$: no digit is lost where t is small.
#[inline(always)]
fn ln_1p<const FUSED: bool>(t: Lane) -> Lane {
    let mut out = Lane::ZERO;
    for (out, &t) in out.0.iter_mut().zip(&t.0) {
        let s = t / (2.0 + t);
        let z = s * s;
        let mut sum = ARTANH[0];
        for &c in &ARTANH[1..] {
            sum = mul_add::<FUSED>(sum, z, c);
        }
        *out = 2.0 * s * sum;
    }
    out
}

/// $\ln x$ of positive normal numbers: $x = 2^e m$ with $\sqrt{1/2} < m \le \sqrt 2$.
#[inline(always)]
fn ln<const FUSED: bool>(x: Lane) -> Lane {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let mut out = Lane::ZERO;
    for (out, &x) in out.0.iter_mut().zip(&x.0) {
        let bits = x.to_bits();
        let m = f64::from_bits((bits & MANTISSA) | ONE);
        // a whole number as a float: its bits under those of 2^52
        let exponent = f64::from_bits((bits >> 52) | (1075 << 52)) - 4_503_599_627_370_496.0;
        let above = m > std::f64::consts::SQRT_2;
        let m = if above { 0.5 * m } else { m };
        let e = exponent - if above { 1022.0 } else { 1023.0 };
        let f = m - 1.0;
        let s = f / (2.0 + f);
        let z = s * s;
        let mut sum = ARTANH[5];
        for &c in &ARTANH[6..] {
            sum = mul_add::<FUSED>(sum, z, c);
        }
        let small = mul_add::<FUSED>(e, LN_2_LOW, 2.0 * s * sum);
        let value = mul_add::<FUSED>(e, LN_2_HIGH, small);
        *out = if x.is_nan() { x } else { value };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::portable;

    /// Numbers of every size from 0 to 800, either sign, in an awkward count.
    fn arguments() -> Vec<f64> {
        let mut out: Vec<f64> = (0..4001)
            .map(|i| {
                let size = 10f64.powf(f64::from(i % 500) / 60.0 - 5.4);
                if i % 2 == 0 { size } else { -size }
            })
            .collect();
        out.extend([0.0, -0.0, 1e-320, 707.0, 707.1, 745.2, 1e9, f64::INFINITY]);
        out.extend((0..3000).map(|i| f64::from(i) * 0.25));
        out
    }

    fn close(found: f64, expected: f64, ulps: f64) -> bool {
        (found - expected).abs() <= ulps * f64::EPSILON * expected.abs()
    }

    fn check(tails: impl Fn(&[f64], &mut [f64], &mut [f64])) {
        let x = arguments();
        let (mut e, mut l) = (vec![9.0; x.len()], vec![9.0; x.len()]);
        tails(&x, &mut e, &mut l);
        for ((x, e), l) in x.iter().zip(e).zip(l) {
            let exact = (-x.abs()).exp();
            if x.abs() > 707.0 {
                assert!(e == 0.0 && l == 0.0, "{x}");
            } else {
                assert!(close(e, exact, 2.0), "{x}: {e:e} {exact:e}");
                assert!(close(l, exact.ln_1p(), 3.0), "{x}: {l:e}");
            }
        }
    }

    #[test]
    fn tails_are_those_of_the_library() {
        check(logistic_tails);
        check(|x, exponential, ln_1p| {
            portable(Tails {
                x,
                exponential,
                ln_1p,
            });
        });
        let (mut e, mut l) = ([0.0], [0.0]);
        logistic_tails(&[f64::NAN], &mut e, &mut l);
        assert!(e[0].is_nan() && l[0].is_nan());
    }

    #[test]
    fn logarithms_are_those_of_the_library() {
        let x: Vec<f64> = arguments()
            .into_iter()
            .flat_map(|x| {
                [
                    x.abs(),
                    (-x.abs()).exp(),
                    1.0 + x.abs() * 1e-6,
                    x.abs().exp(),
                ]
            })
            .filter(|x| x.is_normal())
            .collect();
        for how in [ln_in_place, |x: &mut [f64]| portable(Logarithms(x))] {
            let mut found = x.clone();
            how(&mut found);
            for (x, found) in x.iter().zip(found) {
                assert!(close(found, x.ln(), 3.0), "{x:e}: {found:e} {:e}", x.ln());
            }
        }
        let mut nan = [f64::NAN];
        ln_in_place(&mut nan);
        assert!(nan[0].is_nan());
    }

    #[test]
    fn the_length_of_a_slice_does_not_matter() {
        let x = arguments();
        let (mut e, mut l) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        logistic_tails(&x, &mut e, &mut l);
        for i in 0..50 {
            let (mut a, mut b) = ([0.0], [0.0]);
            logistic_tails(&x[i..=i], &mut a, &mut b);
            assert_eq!(
                (a[0].to_bits(), b[0].to_bits()),
                (e[i].to_bits(), l[i].to_bits())
            );
        }
    }
}
