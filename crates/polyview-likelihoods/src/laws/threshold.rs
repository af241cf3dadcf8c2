//! Counts as thresholds of the predictor (spec/sites 4.2).

use std::f64::consts::PI;

use polyview_core::Counting;
use polyview_special::ln_gamma;

/// The law of T, where $X \le x$ is $\eta \le T$: its log density is, up to a constant,
/// $At - e^t$, or $At - (A + B)\ln(1 + e^t)$ of $t = T$ less a shift (spec/sites 4.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    a: f64,
    /// Infinite for Poisson counts.
    b: f64,
    /// Where the density is largest.
    mode: f64,
    /// A/(A + B): the logistic function at the mode.
    share: f64,
    /// Log density at the mode.
    top: f64,
    /// Length of a step: a quarter of the width of the density.
    step: f64,
}

/// The density of T at a point, and its derivatives of odd orders there.
#[derive(Clone, Copy, Debug)]
struct Density {
    value: f64,
    odd: [f64; 3],
}

/// Densities below this share of the largest do not count, in logarithms.
const NEGLIGIBLE: f64 = -32.0;
/// Most steps to one side.
const MOST: usize = 100_000;
/// Sizes from which T is nearly normal, and widths beyond which it has nothing.
const NORMAL: f64 = 100.0;
const BEYOND: f64 = 10.0;

/// $\ln\Gamma(a)$ less $(a - \frac12)\ln a - a + \frac12\ln 2\pi$.
fn rest(a: f64) -> f64 {
    if a < 16.0 {
        return ln_gamma(a) - (a - 0.5) * a.ln() + a - 0.5 * (2.0 * PI).ln();
    }
    let r = a.recip();
    let r2 = r * r;
    r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 / 1680.0)))
}

impl Threshold {
    /// That of a count x of at least 0, and less than the number of trials.
    pub(super) fn new(counting: Counting, x: f64) -> Self {
        let a = x + 1.0;
        let (b, shift) = match counting {
            Counting::Poisson => (f64::INFINITY, 0.0),
            Counting::Size(r) => (r, r.ln()),
            Counting::Trials(n) => (n - x, 0.0),
        };
        let (mode, top, share) = if b == f64::INFINITY {
            (a.ln(), 0.5 * (a / (2.0 * PI)).ln() - rest(a), 0.0)
        } else {
            let sum = a + b;
            let top = 0.5 * (a / sum * b / (2.0 * PI)).ln() + rest(sum) - rest(a) - rest(b);
            ((a / b).ln(), top, a / sum)
        };
        let width = (a.recip() + b.recip()).sqrt();
        Self {
            a,
            b,
            mode: mode + shift,
            share,
            top,
            // logarithms of gamma variables have a scale of one on the side where they end
            step: 0.25 * width.min(1.0),
        }
    }
    /// The log density at a point so far from the mode, less that there; the logistic function
    /// there (the rate of Poisson counts), and the first derivative of the log density.
    fn ln(&self, s: f64) -> (f64, f64, f64) {
        let (a, b) = (self.a, self.b);
        if b == f64::INFINITY {
            let e = s.exp_m1();
            return (a * (s - e), a * (1.0 + e), -a * e);
        }
        if s > 60.0 {
            // the logistic function is one
            let ln = a * s - (a + b) * (s + self.share.ln());
            return (ln, 1.0, -b);
        }
        let e = s.exp_m1();
        let q = self.share * e;
        let ln = a * s - (a + b) * q.ln_1p();
        let other = b / (a + b);
        (
            ln,
            self.share * (1.0 + e) / (1.0 + q),
            -a * e * other / (1.0 + q),
        )
    }
    /// The density so far from the mode; `None` where it is negligible.
    fn density(&self, s: f64) -> Option<Density> {
        let (ln, p, first) = self.ln(s);
        if ln.is_nan() || ln <= NEGLIGIBLE {
            return None;
        }
        let value = (self.top + ln).exp();
        let l = if self.b == f64::INFINITY {
            [first, -p, -p, -p, -p]
        } else {
            let c = (self.a + self.b) * p * (1.0 - p);
            let (u, w) = (1.0 - 2.0 * p, p * (1.0 - p));
            [
                first,
                -c,
                -c * u,
                -c * (1.0 - 6.0 * w),
                -c * u * (1.0 - 12.0 * w),
            ]
        };
        let [l1, l2, l3, l4, l5] = l;
        let square = l1 * l1;
        let third = l1 * (square + 3.0 * l2) + l3;
        let fifth = l1 * (square * (square + 10.0 * l2) + 10.0 * l1 * l3 + 15.0 * l2 * l2)
            + 5.0 * l1 * l4
            + 10.0 * l2 * l3
            + l5;
        Some(Density {
            value,
            odd: [value * l1, value * third, value * fifth],
        })
    }
    /// Whether T is nearly normal and so far from η that it is sure to lie on one side.
    fn sure(&self, eta: f64) -> Option<f64> {
        let far = 4.0 * self.step * BEYOND;
        let normal = self.a.min(self.b) >= NORMAL;
        (normal && (eta - self.mode).abs() > far).then(|| f64::from(u8::from(eta < self.mode)))
    }
    /// $P(T \ge \eta)$: the probability of a count of at most x. By the rule of Euler and Maclaurin with
    /// three corrections at the end.
    pub(super) fn above(&self, eta: f64) -> f64 {
        if let Some(sure) = self.sure(eta) {
            return sure;
        }
        let start = eta - self.mode;
        let towards = if start >= 0.0 { self.step } else { -self.step };
        let Some(end) = self.density(start) else {
            return f64::from(u8::from(start < 0.0));
        };
        let mut sum = 0.5 * end.value;
        for i in 1..MOST {
            let ln = self.ln(start + i as f64 * towards).0;
            if ln.is_nan() || ln <= NEGLIGIBLE {
                break;
            }
            sum += (self.top + ln).exp();
        }
        let tail = sum * towards.abs() + correction(&end, towards);
        if start >= 0.0 { tail } else { 1.0 - tail }
    }
    /// The sum of $w_k P(T \ge \eta_k)$ at η in equal steps, no longer than those of the density.
    pub(super) fn above_grid(&self, grid: &Grid) -> f64 {
        let (first, step) = (grid.first, grid.step);
        let Some(last) = grid.weights.len().checked_sub(1) else {
            return 0.0;
        };
        let place = |k: usize| first + k as f64 * step - self.mode;
        // T has nothing beyond the highest of these
        let far = if self.a.min(self.b) >= NORMAL {
            4.0 * self.step * BEYOND
        } else {
            f64::INFINITY
        };
        let highest = ((far + self.mode - first) / step).floor();
        if highest < 0.0 {
            return 0.0;
        }
        let start = (highest as usize).min(last);
        let mut reached = self.above(place(start) + self.mode);
        let mut sum = grid.weights[start] * reached;
        let mut right = self.density(place(start));
        for k in (0..start).rev() {
            let left = self.density(place(k));
            if left.is_none() && place(k) < 0.0 {
                // all that is left is sure
                return sum + grid.below[k];
            }
            let part = |d: &Option<Density>, sign: f64| {
                d.as_ref()
                    .map_or(0.0, |d| 0.5 * d.value * step + correction(d, sign * step))
            };
            reached += part(&left, 1.0) + part(&right, -1.0);
            sum += grid.weights[k] * reached;
            right = left;
        }
        sum
    }
    /// $P(T \ge \eta)$ for η of a smooth law: `below` has the probability of an η that is not larger,
    /// and is no steeper than a normal distribution function of this standard deviation.
    pub(super) fn above_law(&self, deviation: f64, below: impl Fn(f64) -> f64) -> f64 {
        let step = self.step.min(0.5 * deviation);
        let below = |s: f64| below(s + self.mode);
        let mut sum = self.top.exp() * below(0.0);
        for towards in [-step, step] {
            for i in 1..MOST {
                let s = i as f64 * towards;
                let own = below(s);
                // η is nowhere so low, nor lower
                if own == 0.0 && towards < 0.0 {
                    break;
                }
                let ln = self.ln(s).0;
                if ln.is_nan() || ln <= NEGLIGIBLE {
                    break;
                }
                sum += (self.top + ln).exp() * own;
            }
        }
        sum * step
    }
}

/// What the end of a sum by equal steps h adds to an integral from there on (Euler and Maclaurin);
/// negative steps go down.
fn correction(end: &Density, h: f64) -> f64 {
    let square = h * h;
    square.copysign(h)
        * (end.odd[0] / 12.0 - square * (end.odd[1] / 720.0 - square * end.odd[2] / 30_240.0))
}

/// Predictors in equal steps, with their weights.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    first: f64,
    step: f64,
    weights: Vec<f64>,
    /// Sums of the weights up to each, itself included.
    below: Vec<f64>,
}

impl Grid {
    /// Those from `first` on.
    pub(super) fn new(first: f64, step: f64, weights: &[f64]) -> Self {
        let mut sum = 0.0;
        let below = |w: &f64| {
            sum += w;
            sum
        };
        Self {
            first,
            step,
            weights: weights.to_vec(),
            below: weights.iter().map(below).collect(),
        }
    }
    /// Their number.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use polyview_special::normal_cdf;

    use super::*;

    /// Where no predictor is, nothing is summed: thresholds of small counts reach far down.
    #[test]
    fn sums_end_where_predictors_do() {
        let threshold = Threshold::new(Counting::Poisson, 0.0);
        let asked = Cell::new(0);
        let law = |least: f64| {
            asked.set(0);
            threshold.above_law(0.5, |t| {
                asked.set(asked.get() + 1);
                if t < least {
                    0.0
                } else {
                    normal_cdf((t - 3.0) / 0.5)
                }
            })
        };
        let whole = law(f64::NEG_INFINITY);
        assert!(asked.get() > 60, "{}", asked.get());
        let cut = law(3.0 - 8.5 * 0.5);
        assert!(asked.get() < 40, "{}", asked.get());
        assert!((whole - cut).abs() < 1e-15, "{whole} {cut}");
    }
}
