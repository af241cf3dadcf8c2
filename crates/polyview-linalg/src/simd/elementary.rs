//! Exponentials and logarithms as straight lines of arithmetic: no branch, no call, so that loops over them become
//! vector instructions. Within two units in the last place.

use super::mul_add;

/// $e^{-x}$ with $1 - e^{-x}$ beside it, which keeps its digits near zero.
#[derive(Debug, Clone, Copy)]
pub struct Decay {
    /// $e^{-x}$.
    pub value: f64,
    /// Numerator of $(1 - e^{-x})/x$.
    pub lost: f64,
    /// Its denominator: x, or 1 where x is small.
    pub over: f64,
}

/// Coefficients of $(e^r - 1)/r$ on $|r| \le \tfrac12\ln 2$, the highest power first: Chebyshev's expansion, cut where the
/// rest is below $2\times10^{-17}$.
const EXPONENTIAL: [f64; 11] = [
    2.5105217004720745e-08,
    2.7626371065696354e-07,
    2.7557255400206422e-06,
    2.480150431378554e-05,
    0.00019841269874820627,
    0.001388888893251478,
    0.008333333333326136,
    0.041666666666573066,
    0.1666666666666667,
    0.5000000000000006,
    1.0,
];
/// $\ln 2$ in two parts; the first has zeros at its end, so that a small whole multiple of it is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding it rounds to a whole number, which stands in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Beyond it $e^{-x}$ counts as zero: $2^{-1023}$ has no normal number.
const LARGEST: f64 = 709.0;

/// $e^{-x}$ of $x \ge 0$; zero beyond 709, NaN of NaN.
#[inline(always)]
pub fn decay<const FUSED: bool>(x: f64) -> Decay {
    // NaN passes the comparison and stays
    let kept = if x > LARGEST { LARGEST } else { x };
    let shifted = mul_add::<FUSED>(kept, -std::f64::consts::LOG2_E, ROUND);
    let whole = shifted - ROUND;
    let r = mul_add::<FUSED>(whole, -LN_2_HIGH, -kept);
    let r = mul_add::<FUSED>(whole, -LN_2_LOW, r);
    let mut q = EXPONENTIAL[0];
    for &c in &EXPONENTIAL[1..] {
        q = mul_add::<FUSED>(q, r, c);
    }
    // 2^whole: the whole number goes where the exponent is; -1023 gives zero
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let value = mul_add::<FUSED>(r, q, 1.0) * power;
    let small = whole == 0.0;
    let rest = 1.0 - value;
    Decay {
        value,
        lost: if small { q } else { rest },
        over: if small { 1.0 } else { x },
    }
}

/// Coefficients of $\mathrm{artanh}(s)/s$ in $s^2$ for $|s| \le 3 - 2\sqrt2$, made as [`EXPONENTIAL`].
const ARTANH: [f64; 8] = [
    0.07404933786156531,
    0.0765625655736915,
    0.09091816120808513,
    0.11111098523202137,
    0.1428571438036914,
    0.19999999999650955,
    0.33333333333333826,
    1.0,
];

/// $\ln(1 + f) = 2\,\mathrm{artanh}(f/(2 + f))$ for $1 + f$ between $\sqrt{1/2}$ and $\sqrt 2$.
#[inline(always)]
fn ln_1p_small<const FUSED: bool>(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let mut sum = ARTANH[0];
    for &c in &ARTANH[1..] {
        sum = mul_add::<FUSED>(sum, z, c);
    }
    2.0 * s * sum
}

/// $\ln(1 + t)$ for $0 \le t \le 1$: no digit is lost where t is small.
#[inline(always)]
pub fn ln_1p<const FUSED: bool>(t: f64) -> f64 {
    let above = t > std::f64::consts::SQRT_2 - 1.0;
    // (1 + t)/2 - 1 without a rounding of 1 + t
    let half = 0.5 * (t - 1.0);
    let f = if above { half } else { t };
    let base = if above { std::f64::consts::LN_2 } else { 0.0 };
    base + ln_1p_small::<FUSED>(f)
}

/// $\ln x$ of positive normal numbers, $x = 2^e m$ with $\sqrt{1/2} < m \le \sqrt 2$; NaN of NaN, of others whatever.
#[inline(always)]
pub fn ln<const FUSED: bool>(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let bits = x.to_bits();
    let m = f64::from_bits((bits & MANTISSA) | ONE);
    // a whole number as a float: its bits under those of 2^52
    let exponent = f64::from_bits((bits >> 52) | (1075 << 52)) - 4_503_599_627_370_496.0;
    let above = m > std::f64::consts::SQRT_2;
    let half = 0.5 * m;
    let m = if above { half } else { m };
    let e = exponent - if above { 1022.0 } else { 1023.0 };
    let small = mul_add::<FUSED>(e, LN_2_LOW, ln_1p_small::<FUSED>(m - 1.0));
    let value = mul_add::<FUSED>(e, LN_2_HIGH, small);
    if x.is_nan() { x } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, dispatch, portable};

    fn logistic_tails(x: &[f64], exponential: &mut [f64], ln_1p: &mut [f64]) {
        dispatch(Tails {
            x,
            exponential,
            ln_1p,
        });
    }

    fn ln_in_place(x: &mut [f64]) {
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
            tails::<FUSED>(self.x, self.exponential, self.ln_1p);
        }
    }

    /// A function of its own, so that the compiler knows the slices to be apart.
    #[inline(always)]
    fn tails<const FUSED: bool>(x: &[f64], exponential: &mut [f64], logarithm: &mut [f64]) {
        for ((x, e), l) in x.iter().zip(exponential).zip(logarithm) {
            let t = decay::<FUSED>(x.abs()).value;
            *e = t;
            *l = ln_1p::<FUSED>(t);
        }
    }

    struct Logarithms<'a>(&'a mut [f64]);

    impl Kernel for Logarithms<'_> {
        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            for x in self.0 {
                *x = ln::<FUSED>(*x);
            }
        }
    }

    /// Numbers of every size from 0 to 800, either sign, in an awkward count.
    fn arguments() -> Vec<f64> {
        let mut out: Vec<f64> = (0..4001)
            .map(|i| {
                let size = 10f64.powf(f64::from(i % 500) / 60.0 - 5.4);
                if i % 2 == 0 { size } else { -size }
            })
            .collect();
        out.extend([
            0.0,
            -0.0,
            1e-320,
            707.9,
            708.3,
            708.6,
            709.1,
            745.2,
            1e9,
            f64::INFINITY,
        ]);
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
            if x.abs() > 709.0 {
                assert!(e == 0.0 && l == 0.0, "{x}");
            } else if x.abs() > 708.0 {
                // no normal numbers
                assert!(e <= 1.1 * exact && l <= 1.1 * exact, "{x}");
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

    #[test]
    fn what_is_lost_keeps_its_digits() {
        for i in 0..4000 {
            let x = 10f64.powf(f64::from(i) / 200.0 - 17.0);
            for (d, what) in [
                (decay::<true>(x), "fused"),
                (decay::<false>(x), "not fused"),
            ] {
                let (found, exact) = (d.lost / d.over, -(-x).exp_m1() / x);
                let gap = (found / exact - 1.0).abs();
                assert!(gap < 5.0 * f64::EPSILON, "{what} {x:e}: {gap:e}");
            }
        }
        let zero = decay::<true>(0.0);
        assert_eq!((zero.value, zero.lost, zero.over), (1.0, 1.0, 1.0));
        assert!(decay::<true>(f64::NAN).value.is_nan());
    }
}
