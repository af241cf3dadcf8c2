//! Generalised inverse Gaussian distribution.

use std::f64::consts::LN_2;

use crate::bessel;
use crate::error::SpecialError;
use crate::gamma_functions::ln_gamma;
use crate::stirling::ln_ratio;

/// Moments and log normaliser of a generalised inverse Gaussian variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GigMoments {
    /// $E\[x\]$.
    pub mean: f64,
    /// $E\[1/x\]$.
    pub mean_inverse: f64,
    /// $\ln\int\_0^\infty x^{p-1}e^{-(ax+b/x)/2}\\,dx$.
    pub ln_normaliser: f64,
}

/// Moments of $\mathrm{GIG}(x; a, b, p) \propto x^{p-1}\exp\\{-(ax+b/x)/2\\}$, $x > 0$: the posterior
/// of a variance under a gamma prior, hence of every local scale of a horseshoe.
///
/// With $\omega = \sqrt{ab}$ (section 1 of the max-margin rank specification)
/// $$E\[x\]=\sqrt{\tfrac ba}\\,\frac{K\_{p+1}(\omega)}{K\_p(\omega)},\quad
///   E\[1/x\]=\sqrt{\tfrac ab}\\,\frac{K\_{p-1}(\omega)}{K\_p(\omega)},\quad
///   \ln Z=\ln 2K\_p(\omega)+\tfrac p2\ln\tfrac ba .$$
/// Relative accuracy 1e-14; that of `ln_normaliser` is relative to the larger of its two terms
/// (they cancel beside its zero, and for large $|p|$ both are large).
///
/// The limits are included: $b = 0$ with $p > 0$ is $\mathrm{Ga}(p, a/2)$, where $E\[1/x\]$ is
/// $+\infty$ for $p \le 1$; $a = 0$ with $p < 0$ is the inverse gamma with shape $-p$ and scale
/// $b/2$, where $E\[x\]$ is $+\infty$ for $p \ge -1$.
///
/// # Errors
/// [`SpecialError::ImproperGig`] for negative, infinite or NaN parameters, and where the integral
/// diverges ($b = 0$, $p \le 0$ or $a = 0$, $p \ge 0$).
///
/// ```
/// use polyview_special::gig_moments;
/// // p = -1/2 is the inverse Gaussian with mean sqrt(b/a).
/// let g = gig_moments(2.0, 8.0, -0.5)?;
/// assert!((g.mean - 2.0).abs() < 1e-14);
/// # Ok::<(), polyview_special::SpecialError>(())
/// ```
pub fn gig_moments(a: f64, b: f64, p: f64) -> Result<GigMoments, SpecialError> {
    let legal = a >= 0.0 && b >= 0.0 && a.is_finite() && b.is_finite() && p.is_finite();
    if !legal || (b == 0.0 && p <= 0.0) || (a == 0.0 && p >= 0.0) {
        return Err(SpecialError::ImproperGig { a, b, p });
    }
    if b == 0.0 {
        return Ok(gamma_limit(a, p));
    }
    if a == 0.0 {
        // 1/x is gamma distributed.
        let inverse = gamma_limit(b, -p);
        let GigMoments {
            mean,
            mean_inverse,
            ln_normaliser,
        } = inverse;
        return Ok(GigMoments {
            mean: mean_inverse,
            mean_inverse: mean,
            ln_normaliser,
        });
    }
    let (root_a, root_b) = (a.sqrt(), b.sqrt());
    let omega = root_a * root_b;
    let k = bessel::evaluate(p.abs(), omega);
    let (above, below) = if p < 0.0 {
        (k.ratio_below, k.ratio)
    } else {
        (k.ratio, k.ratio_below)
    };
    Ok(GigMoments {
        mean: root_b / root_a * above,
        mean_inverse: root_a / root_b * below,
        ln_normaliser: LN_2 + (k.ln_scaled - omega) + 0.5 * p * ln_ratio(b, a),
    })
}

/// $\mathrm{Ga}(p, a/2)$.
fn gamma_limit(a: f64, p: f64) -> GigMoments {
    GigMoments {
        mean: 2.0 * p / a,
        mean_inverse: if p > 1.0 {
            0.5 * a / (p - 1.0)
        } else {
            f64::INFINITY
        },
        ln_normaliser: ln_gamma(p) + p * ln_ratio(2.0, a),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn improper_parameters_are_named() {
        let bad = [
            (-1.0, 1.0, 1.0),
            (1.0, -1.0, 1.0),
            (f64::NAN, 1.0, 1.0),
            (1.0, f64::INFINITY, 1.0),
            (1.0, 1.0, f64::NAN),
            (1.0, 0.0, 0.0),
            (1.0, 0.0, -2.0),
            (0.0, 1.0, 0.0),
            (0.0, 0.0, 1.0),
            (0.0, 0.0, -1.0),
        ];
        for (a, b, p) in bad {
            let error = gig_moments(a, b, p).unwrap_err();
            assert!(
                matches!(error, SpecialError::ImproperGig { .. }),
                "{a} {b} {p}"
            );
        }
    }

    #[test]
    fn limits_are_approached() {
        for p in [0.7, 1.5, 4.0] {
            let limit = gig_moments(3.0, 0.0, p).unwrap();
            let near = gig_moments(3.0, 1e-200, p).unwrap();
            assert!((near.mean / limit.mean - 1.0).abs() < 1e-13);
            assert!((near.ln_normaliser - limit.ln_normaliser).abs() < 1e-13);
            if p > 1.0 {
                assert!((near.mean_inverse / limit.mean_inverse - 1.0).abs() < 1e-13);
            } else {
                assert_eq!(limit.mean_inverse, f64::INFINITY);
            }
        }
    }

    #[test]
    fn inverting_the_variable_swaps_the_moments() {
        for (a, b, p) in [
            (1.3, 0.2, 0.5),
            (1e-3, 40.0, -2.2),
            (7.0, 7.0, 60.0),
            (0.0, 2.0, -3.0),
        ] {
            let (g, h) = (
                gig_moments(a, b, p).unwrap(),
                gig_moments(b, a, -p).unwrap(),
            );
            assert_eq!((g.mean, g.mean_inverse), (h.mean_inverse, h.mean));
            assert!((g.ln_normaliser - h.ln_normaliser).abs() < 1e-12);
        }
    }
}
