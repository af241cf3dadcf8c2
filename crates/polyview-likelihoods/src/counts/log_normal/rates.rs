//! One count: its log rate's variational posterior, its law with the log rate
//! summed out, draws of the log rate.

use polyview_random::{ChaCha8Rng, uniform_open01};
use polyview_special::Real;

const LN_2PI: f64 = 1.837_877_066_409_345_3;

/// What the variational posterior of a log rate is, given its local number.
pub(super) struct Rate {
    /// $e^{m + v/2}$.
    expected: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Rate {
    pub(super) fn new(local: f64, tau: f64) -> Self {
        Self::of(local.exp(), local, tau)
    }
    /// With $e^t$ of the local number t.
    #[inline]
    pub(super) fn of(expected: f64, local: f64, tau: f64) -> Self {
        let variance = (expected + tau).recip();
        Self {
            expected,
            mean: local - 0.5 * variance,
            variance,
        }
    }
    /// $\tau\,\partial m/\partial\eta$ where t is the [`best`] number.
    pub(super) fn slack(&self, tau: f64) -> f64 {
        let half = 0.5 * self.variance * self.variance * self.expected;
        // by the derivative of the equation that t solves
        tau * (1.0 + half) / (1.0 + self.expected / tau + half)
    }
    /// The bound without what depends on η, and without $\ln y!$.
    pub(super) fn offset(&self, y: f64, tau: f64) -> f64 {
        self.offset_with(y, tau, (self.variance * tau).ln())
    }
    /// With $\ln\tau v$.
    #[inline]
    pub(super) fn offset_with(&self, y: f64, tau: f64, ln_share: f64) -> f64 {
        let Self {
            expected,
            mean: m,
            variance: v,
        } = *self;
        y * m - expected - 0.5 * tau * (m * m + v) + 0.5 * ln_share + 0.5
    }
}

/// The root t of $t + (e^t - y)/\tau - \eta - c(t)$, which increases: of
/// $y - e^x - \tau(x - \eta)$ without c, whose root is the mode of a log rate,
/// with $c = 1/2(e^t + \tau)$ the best local number. Newton from the right, where
/// the function is convex.
fn root(y: f64, eta: f64, tau: f64, half: f64) -> f64 {
    // s + e^s = c without the correction, t = s + ln tau
    let ln_tau = tau.ln();
    let c = eta + y / tau - ln_tau;
    let start = if c > 1.0 {
        (c - c.ln()).ln()
    } else {
        c - c.exp().ln_1p()
    };
    let mut t = start + ln_tau;
    for _ in 0..50 {
        let rate = t.exp();
        let v = (rate + tau).recip();
        let value = t - eta - (y - rate) / tau - half * v;
        let step = value / (1.0 + rate / tau + half * rate * v * v);
        t -= step.clamp(-3.0, 3.0);
        // quadratic convergence: what is left is the square of this
        if step.abs() < 1e-8 || !step.is_finite() {
            break;
        }
    }
    t
}

/// The local number that raises the bound most: what a column at a time is held against.
#[cfg(test)]
pub(super) fn best(y: f64, mean: f64, tau: f64) -> f64 {
    root(y, mean, tau, 0.5)
}

/// $yx - e^x - \tfrac\tau2(x-\eta)^2$ and its derivative.
fn log_rate_density(x: f64, y: f64, eta: f64, tau: f64) -> (f64, f64) {
    let (rate, far) = (x.exp(), x - eta);
    let value = y * x - rate - 0.5 * tau * far * far;
    (value, y - rate - tau * far)
}

/// $\ln p(y\mid\eta) + \ln y!$: the trapezoid rule over the log rate, whose
/// density is smooth and log-concave, so that it converges faster than any power
/// of the step.
pub(super) fn ln_mass<R: Real>(y: f64, eta: R, tau: R) -> R {
    let mode = root(y, eta.value(), tau.value(), 0.0);
    let at = |x: f64| (eta - x).square() * tau * -0.5 + (y * x - x.exp());
    let top = at(mode).value();
    let step = 0.5 / (mode.exp() + tau.value()).sqrt();
    if !top.is_finite() {
        return R::constant(f64::NAN);
    }
    let mut sum = (at(mode) - top).exp();
    for side in [-step, step] {
        let mut x = mode;
        loop {
            x += side;
            let share = (at(x) - top).exp();
            sum = sum + share;
            // the rest falls at least as fast
            if share.value() < 1e-17 {
                break;
            }
        }
    }
    (sum * step).ln() + (tau.ln() - LN_2PI) * 0.5 + top
}

/// A draw of the log rate given its count, by rejection: the log density lies
/// below its tangents at the mode and on either side.
pub(super) fn draw_log_rate(y: f64, eta: f64, tau: f64, rng: &mut ChaCha8Rng) -> f64 {
    let mode = root(y, eta, tau, 0.0);
    let at = |x: f64| log_rate_density(x, y, eta, tau);
    let sd = (mode.exp() + tau).sqrt().recip();
    let top = at(mode).0;
    if !(top.is_finite() && sd > 0.0) {
        return f64::NAN;
    }
    // where the tangents meet the height of the mode, and their slopes
    let [left, right] = [-1.2, 1.2].map(|u| {
        let x = mode + u * sd;
        let (value, slope) = at(x);
        (x + (top - value) / slope, slope)
    });
    let middle = right.0 - left.0;
    let areas = [left.1.recip(), middle, -right.1.recip()];
    let total: f64 = areas.iter().sum();
    loop {
        let u = total * uniform_open01(rng);
        let (x, hull) = if u < areas[0] {
            let far = uniform_open01(rng).ln();
            (left.0 + far / left.1, top + far)
        } else if u < areas[0] + areas[1] {
            (left.0 + middle * uniform_open01(rng), top)
        } else {
            let far = uniform_open01(rng).ln();
            (right.0 + far / right.1, top + far)
        };
        let accept = at(x).0 - hull;
        if accept.is_nan() || uniform_open01(rng).ln() <= accept {
            return x;
        }
    }
}
