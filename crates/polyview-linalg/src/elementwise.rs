//! Exponentials and logarithms of many numbers at once.
//!
//! A library function takes one number at a time; these take eight, at a fraction of the cost a number. The results are
//! within a few units in the last place, and the same bits whatever the length of the slice.

use crate::simd::{Kernel, decay, dispatch, ln, ln_1p};

/// Writes $e^{-|x|}$ and $\ln(1 + e^{-|x|})$, of which the logistic function and its logarithms are made:
/// $\ln(1 + e^x) = \max(x, 0) + \ln(1 + e^{-|x|})$.
///
/// Beyond $|x| = 709$ both are zero; NaN stays NaN. Slices of different lengths are treated as far as the
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
}
