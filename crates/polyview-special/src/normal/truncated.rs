//! Moments of the truncated normal distribution.

use super::half_line::half_line;
use super::narrow::{Sums, sums};
use super::{central_mass, normal_pdf, upper_tail};
use crate::error::SpecialError;
use crate::stirling::HALF_LN_2PI;

/// Mean, variance and log normaliser of a truncated normal variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedMoments {
    /// $E\[x\]$, inside the interval.
    pub mean: f64,
    /// $\operatorname{Var}\[x\]$, not above the variance before truncation.
    pub variance: f64,
    /// $\ln\\{\Phi(\beta) - \Phi(\alpha)\\}$, the log-probability of the interval before truncation.
    pub ln_mass: f64,
}

/// Moments of $\mathcal N(x; m, s^2)$ truncated to $\[a, b\]$; either end may be infinite.
///
/// With $\alpha = (a-m)/s$, $\beta = (b-m)/s$ and $Z = \Phi(\beta)-\Phi(\alpha)$ these are
/// $$E\[x\] = m + s\frac{\phi(\alpha)-\phi(\beta)}{Z},\qquad
///   \operatorname{Var}\[x\] = s^2\Bigl\[1 + \frac{\alpha\phi(\alpha)-\beta\phi(\beta)}{Z} -
///     \Bigl(\frac{\phi(\alpha)-\phi(\beta)}{Z}\Bigr)^2\Bigr\],$$
/// formulas that lose everything in a tail (the variance is $1/\alpha^2$, computed as a
/// difference of numbers of size $\alpha^2$) and in narrow intervals. They are used where they
/// are safe (a wide interval that starts within one standard deviation of the mean). Elsewhere:
/// * short intervals, over which the density changes by less than $e^4$: its Taylor series (in
///   Hermite polynomials) about the midpoint;
/// * half lines in the tail: rational approximations of $E\[x\]-\alpha$ and of the variance
///   themselves;
/// * long intervals in the tail: the half line without the half line beyond the far end, which
///   carries at most $e^{-4}$ of the mass.
///
/// Accuracy for $m = 0$, $s = 1$: mean 1e-14, variance 1e-13, `ln_mass` 1e-14, all relative,
/// for any ends. In general the rounding of $\alpha$ and $\beta$ comes on top; the width is
/// taken from $b - a$, not from $\beta - \alpha$.
///
/// # Errors
/// [`SpecialError::EmptyInterval`] unless $a < b$; [`SpecialError::IllegalNormal`] unless $m$ is
/// finite and $s$ is finite and positive.
///
/// ```
/// use polyview_special::truncated_normal_moments;
/// // A half normal.
/// let half = truncated_normal_moments(0.0, 1.0, 0.0, f64::INFINITY)?;
/// assert!((half.mean - (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-15);
/// // A hundred standard deviations out: nearly exponential with rate 100.
/// let tail = truncated_normal_moments(0.0, 1.0, 100.0, f64::INFINITY)?;
/// assert!((tail.variance * 1e4 - 0.9994).abs() < 1e-5);
/// # Ok::<(), polyview_special::SpecialError>(())
/// ```
pub fn truncated_normal_moments(
    mean: f64,
    sd: f64,
    lower: f64,
    upper: f64,
) -> Result<TruncatedMoments, SpecialError> {
    if !(mean.is_finite() && sd > 0.0 && sd.is_finite()) {
        return Err(SpecialError::IllegalNormal { mean, sd });
    }
    if lower.is_nan() || upper.is_nan() || lower >= upper {
        return Err(SpecialError::EmptyInterval { lower, upper });
    }
    let (alpha, beta) = ((lower - mean) / sd, (upper - mean) / sd);
    if alpha == f64::NEG_INFINITY && beta == f64::INFINITY {
        return Ok(TruncatedMoments {
            mean,
            variance: sd * sd,
            ln_mass: 0.0,
        });
    }
    let extent = upper - lower;
    let width = if extent.is_finite() {
        extent / sd
    } else {
        2.0 * ((0.5 * upper - 0.5 * lower) / sd) // infinite, or too long for one subtraction
    };
    let mirrored = alpha + beta < 0.0;
    let standard = if mirrored {
        standard(-beta, -alpha, width)
    } else {
        standard(alpha, beta, width)
    };
    let (edge, sign, from_mean) = if mirrored {
        (upper, -1.0, beta > 0.0)
    } else {
        (lower, 1.0, alpha < 0.0)
    };
    // In a tail the distance from the edge is the accurate number, around the mean the mean is.
    let shifted = if from_mean {
        mean + sign * sd * standard.mean
    } else {
        edge + sign * sd * standard.offset
    };
    Ok(TruncatedMoments {
        mean: shifted.clamp(lower, upper),
        variance: sd * (sd * standard.variance),
        ln_mass: standard.ln_mass,
    })
}

/// Moments of the standard normal on $\[\alpha,\beta\]$; `offset` is mean $-\ \alpha$.
struct Standard {
    mean: f64,
    offset: f64,
    variance: f64,
    ln_mass: f64,
}

/// $|\alpha| \le \beta$, $\alpha$ finite.
fn standard(alpha: f64, beta: f64, width: f64) -> Standard {
    let half = 0.5 * width;
    let centre = alpha + half;
    if alpha < 1.0 && width >= 2.0 {
        wide(alpha, beta, width)
    } else if half <= 1.0 && centre * half <= 2.0 {
        short(centre, half)
    } else {
        // Here alpha >= 1 and width * centre > 4.
        tail(alpha, beta, width)
    }
}

/// The textbook formulas, $\alpha < 1$ and $\beta - \alpha \ge 2$.
fn wide(alpha: f64, beta: f64, width: f64) -> Standard {
    let (mass, ln_mass) = if alpha < 0.0 {
        let mass = 0.5 * (central_mass(beta) + central_mass(-alpha));
        let outside = upper_tail(-alpha) + upper_tail(beta);
        (
            mass,
            if mass < 0.5 {
                mass.ln()
            } else {
                (-outside).ln_1p()
            },
        )
    } else {
        let mass = upper_tail(alpha) - upper_tail(beta);
        (mass, mass.ln())
    };
    let density = normal_pdf(alpha) / mass;
    // phi(alpha) - phi(beta) = phi(alpha) (1 - exp(-(beta^2 - alpha^2)/2))
    let mean = density * -(-0.5 * width * (alpha + beta)).exp_m1();
    let upper = if beta > 40.0 {
        0.0
    } else {
        beta * normal_pdf(beta) / mass
    };
    let variance = 1.0 + alpha * density - upper - mean * mean;
    Standard {
        mean,
        offset: mean - alpha,
        variance,
        ln_mass,
    }
}

/// Half width at most 1, density falling by at most $e^4$.
fn short(centre: f64, half: f64) -> Standard {
    let Sums {
        zeroth,
        first,
        second,
    } = sums(centre, half);
    let shift = first / zeroth; // centre minus mean, in half widths
    Standard {
        mean: centre - half * shift,
        offset: half * (1.0 - shift),
        variance: half * half * (second / zeroth - shift * shift),
        ln_mass: (2.0 * half * zeroth).ln() - (0.5 * centre) * centre - HALF_LN_2PI,
    }
}

/// $\alpha \ge 1$, density falling by at least $e^4$: the half line $\[\alpha,\infty)$ is a mixture
/// of $\[\alpha,\beta\]$ and, with weight $\Phi(-\beta)/\Phi(-\alpha)$, of $\[\beta,\infty)$.
fn tail(alpha: f64, beta: f64, width: f64) -> Standard {
    let (offset, variance) = half_line(alpha);
    let mean = alpha + offset;
    // The Mills ratio of a half line is one over its mean.
    let ln_half_line = -mean.ln() - (0.5 * alpha) * alpha - HALF_LN_2PI;
    let fall = width * (alpha + 0.5 * width);
    if fall > 50.0 {
        return Standard {
            mean,
            offset,
            variance,
            ln_mass: ln_half_line,
        };
    }
    let (beyond_offset, beyond_variance) = half_line(beta);
    let beyond = (-fall).exp() * (mean / (beta + beyond_offset));
    let inside = 1.0 - beyond;
    // Distance of the excluded part's mean from the half line's.
    let distance = width + beyond_offset - offset;
    let shift = beyond * distance / inside;
    let second = beyond * (beyond_variance + distance * distance);
    Standard {
        mean: mean - shift,
        offset: offset - shift,
        variance: (variance - second) / inside - shift * shift,
        ln_mass: ln_half_line + (-beyond).ln_1p(),
    }
}
