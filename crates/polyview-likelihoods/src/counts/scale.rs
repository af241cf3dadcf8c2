//! Positive parameters of a feature on the log scale: steps uphill and slices.

use polyview_random::{ChaCha8Rng, uniform_open01};

/// Half width of a first slice, in units of the logarithm.
const SLICE: f64 = 0.5;

/// A step in the logarithm of `old` along the slope of `profile` (value and
/// derivative in the logarithm), halved until the value does not fall.
pub(super) fn ascend(old: f64, range: (f64, f64), profile: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (value, slope) = profile(old);
    // curvature by a difference: one more visit, and steps near Newton's
    let (_, beside) = profile(old * 1.01);
    let curvature = (beside - slope) / 1.01_f64.ln();
    let newton = if curvature < 0.0 {
        -slope / curvature
    } else {
        slope.signum()
    };
    let mut step = newton.clamp(-1.0, 1.0);
    for _ in 0..20 {
        let new = (old * step.exp()).clamp(range.0, range.1);
        if profile(new).0 >= value {
            return new;
        }
        step *= 0.5;
    }
    old
}

/// A draw that leaves the law with this log density of the logarithm as it is:
/// slice sampling from `old`, stepping out (Neal 2003). NaN where the density
/// is not finite there.
pub(super) fn slice(
    old: f64,
    range: (f64, f64),
    log_density: impl Fn(f64) -> f64,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let (low, high) = (range.0.ln(), range.1.ln());
    let at = |x: f64| log_density(x.exp());
    let old = old.ln();
    let level = at(old) + uniform_open01(rng).ln();
    let mut left = (old - 2.0 * SLICE * uniform_open01(rng)).max(low);
    let mut right = (left + 2.0 * SLICE).min(high);
    while left > low && at(left) > level {
        left = (left - 2.0 * SLICE).max(low);
    }
    while right < high && at(right) > level {
        right = (right + 2.0 * SLICE).min(high);
    }
    loop {
        let new = left + (right - left) * uniform_open01(rng);
        // not finite, or shrunk to the old value
        if at(new) > level || !level.is_finite() || right - left < 1e-12 {
            return if level.is_finite() {
                new.exp()
            } else {
                f64::NAN
            };
        }
        if new < old {
            left = new;
        } else {
            right = new;
        }
    }
}
