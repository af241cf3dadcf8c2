//! Positive parameters of features on the log scale, each with a gamma prior:
//! steps uphill and slices.

use polyview_core::GammaPrior;
use polyview_random::{ChaCha8Rng, gamma, uniform_open01};
use polyview_special::ln_gamma;

use crate::cells::Cell;

/// What data say of a positive parameter at one place: derivatives are in its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rise {
    /// A function of it that is to rise, nats.
    pub value: f64,
    /// Its derivative.
    pub slope: f64,
    /// Its second derivative, where it is known in closed form.
    pub curvature: Option<f64>,
}

impl From<(f64, f64)> for Rise {
    /// Value and derivative.
    fn from((value, slope): (f64, f64)) -> Self {
        Self {
            value,
            slope,
            curvature: None,
        }
    }
}

/// What is common to the parameters of all features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) prior: GammaPrior,
    /// They are kept within it.
    pub(crate) range: (f64, f64),
}

impl Scale {
    /// Log prior density of the logarithm, without its constant.
    fn log_density(&self, x: f64) -> f64 {
        self.prior.shape * x.ln() - self.prior.rate * x
    }
    /// Log prior density of the logarithm.
    pub(crate) fn log_prior(&self, x: f64) -> f64 {
        let GammaPrior { shape, rate } = self.prior;
        shape * rate.ln() - ln_gamma(shape) + self.log_density(x)
    }
    /// A draw from the prior.
    pub(crate) fn draw_prior(&self, rng: &mut ChaCha8Rng) -> f64 {
        gamma(rng, self.prior.shape, self.prior.rate)
            .map_or(f64::NAN, |x| x.clamp(self.range.0, self.range.1))
    }
    /// Value and derivative in the logarithm of what the data say, with the prior.
    pub(crate) fn with_prior(&self, data: Rise, x: f64) -> Rise {
        Rise {
            value: data.value + self.log_density(x),
            slope: data.slope + self.prior.shape - self.prior.rate * x,
            curvature: data.curvature.map(|c| c - self.prior.rate * x),
        }
    }
    /// A step along the slope of what the data say (`profile`) and the prior, which never fall.
    pub(crate) fn ascend<R: Into<Rise>>(&self, old: f64, mut profile: impl FnMut(f64) -> R) -> f64 {
        ascend(old, self.range, |x| self.with_prior(profile(x).into(), x))
    }
    /// A draw given what the data say (`log_density`), by a slice.
    pub(crate) fn slice(
        &self,
        old: f64,
        log_density: impl Fn(f64) -> f64,
        rng: &mut ChaCha8Rng,
    ) -> f64 {
        let all = |x: f64| log_density(x) + self.log_density(x);
        slice(old, self.range, all, rng)
    }
}

/// Mean and variance of counts, for starts; zeros where there are none.
pub(crate) fn moments(data: &[Cell]) -> (f64, f64) {
    let n = data.len().max(1) as f64;
    let mean = data.iter().map(|c| c.value).sum::<f64>() / n;
    let spread = data.iter().map(|c| (c.value - mean).powi(2)).sum::<f64>() / n;
    (mean, spread)
}

/// Half width of a first slice, in units of the logarithm.
const SLICE: f64 = 0.5;

/// A step in the logarithm of `old` along the slope of `profile`, halved until the value does not
/// fall.
fn ascend(old: f64, range: (f64, f64), mut profile: impl FnMut(f64) -> Rise) -> f64 {
    let here = profile(old);
    let (value, slope) = (here.value, here.slope);
    let curvature = here.curvature.unwrap_or_else(|| {
        // by a difference: one more visit, and steps near Newton's
        (profile(old * 1.01).slope - slope) / 1.01_f64.ln()
    });
    let newton = if curvature < 0.0 {
        -slope / curvature
    } else {
        slope.signum()
    };
    let mut step = newton.clamp(-1.0, 1.0);
    for _ in 0..20 {
        let new = (old * step.exp()).clamp(range.0, range.1);
        if profile(new).value >= value {
            return new;
        }
        step *= 0.5;
    }
    old
}

/// A draw that leaves the law with this log density of the logarithm as it is:
/// slice sampling from `old`, stepping out (Neal 2003). NaN where the density
/// is not finite there.
fn slice(
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
