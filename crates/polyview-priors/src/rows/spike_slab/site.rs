//! One entry of spike-and-slab rows: its optimum and its draw (spec/mofa A.3,
//! A.6b).

use polyview_linalg::{Mat, MatRef};

use super::prior::SpikeSlab;
use crate::rows::sweep::{Column, Site};

/// What an entry needs to know of its group and column.
#[derive(Clone, Copy, Debug)]
struct Scale {
    alpha: f64,
    half_ln_alpha: f64,
    log_odds: f64,
}

/// The scales of all groups and columns, fixed during a sweep.
pub(super) struct Scales<'a> {
    of_row: &'a [u32],
    groups: usize,
    of: Vec<Scale>,
}

impl<'a> Scales<'a> {
    pub(super) fn new(prior: &'a SpikeSlab) -> Self {
        let (alpha, theta) = (prior.gammas().mean(), prior.betas());
        Self {
            of_row: prior.groups().of_row(),
            groups: prior.groups().count(),
            of: alpha
                .iter()
                .enumerate()
                .map(|(i, &alpha)| Scale {
                    alpha,
                    half_ln_alpha: 0.5 * alpha.ln(),
                    log_odds: theta.log_odds(i),
                })
                .collect(),
        }
    }
    #[inline]
    fn at(&self, row: usize, k: usize) -> &Scale {
        let g = if self.groups == 1 {
            0
        } else {
            self.of_row[row] as usize
        };
        &self.of[g + self.groups * k]
    }
}

/// Slab posterior and log-odds of inclusion of one entry.
struct Entry {
    mean: f64,
    variance: f64,
    half_ln_variance: f64,
    logit: f64,
}

/// The half logarithm of a precision; that of the one before where they are
/// equal, as they are in a column of rows with one precision.
struct HalfLn {
    of: f64,
    value: f64,
}

impl HalfLn {
    fn new() -> Self {
        Self {
            of: 1.0,
            value: 0.0,
        }
    }
    #[inline]
    fn get(&mut self, x: f64) -> f64 {
        if x != self.of {
            *self = Self {
                of: x,
                value: 0.5 * x.ln(),
            };
        }
        self.value
    }
}

/// spec/mofa A.3: $\sigma^2 = (P + \alpha)^{-1}$, $\mu = \sigma^2\ell$, and the
/// logit of $\gamma$.
#[inline]
fn entry(precision: f64, linear: f64, s: &Scale, half_ln: &mut HalfLn) -> Entry {
    let total = precision + s.alpha;
    let variance = 1.0 / total;
    let mean = variance * linear;
    let half_ln_variance = -half_ln.get(total);
    Entry {
        mean,
        variance,
        half_ln_variance,
        logit: s.log_odds + (s.half_ln_alpha + half_ln_variance + 0.5 * mean * linear),
    }
}

/// $\gamma = \sigma(x)$, $1 - \gamma$ and the entropy of $s$, each to full
/// relative accuracy.
#[inline]
fn inclusion(logit: f64) -> (f64, f64, f64) {
    let e = (-logit.abs()).exp();
    let likely = 1.0 / (1.0 + e);
    let unlikely = e * likely;
    let entropy = if e > f64::EPSILON {
        e.ln_1p() + logit.abs() * unlikely
    } else if e > 0.0 {
        e + logit.abs() * unlikely
    } else {
        0.0
    };
    if logit >= 0.0 {
        (likely, unlikely, entropy)
    } else {
        (unlikely, likely, entropy)
    }
}

/// The optimum of each entry. Outputs: $\langle w\rangle$, its variance,
/// $\gamma$, $\mu$, $\sigma^2$; the sum is that of the entropies without
/// $\tfrac12\ln 2\pi e$.
pub(super) struct Optimum<'a>(pub(super) Scales<'a>);

impl Site<5> for Optimum<'_> {
    fn visit(
        &self,
        column: &Column<'_>,
        [mean, variance, gamma, slab_mean, slab_variance]: [&mut [f64]; 5],
    ) -> f64 {
        let mut half_ln = HalfLn::new();
        let mut sum = 0.0;
        for (i, &r) in column.rows.iter().enumerate() {
            let s = self.0.at(r, column.k);
            let e = entry(column.precision[i], column.linear[i], s, &mut half_ln);
            let (included, spike, entropy) = inclusion(e.logit);
            mean[i] = included * e.mean;
            variance[i] = included * (e.variance + spike * e.mean * e.mean);
            gamma[i] = included;
            slab_mean[i] = e.mean;
            slab_variance[i] = e.variance;
            sum += entropy + included * e.half_ln_variance - spike * s.half_ln_alpha;
        }
        sum
    }
}

/// A draw of each entry: $s$ with $\hat w$ integrated out, then $\hat w$.
/// Outputs: $w$, $s$, $\hat w$.
pub(super) struct Draw<'a> {
    pub(super) scales: Scales<'a>,
    /// First row of `noise`.
    pub(super) first: usize,
    /// Standard normal numbers in the first K columns, uniform ones in the
    /// others.
    pub(super) noise: MatRef<'a, f64>,
}

impl Site<3> for Draw<'_> {
    fn visit(&self, column: &Column<'_>, [w, s, w_hat]: [&mut [f64]; 3]) -> f64 {
        let (k, columns) = (column.k, self.noise.ncols() / 2);
        let mut half_ln = HalfLn::new();
        for (i, &r) in column.rows.iter().enumerate() {
            let scale = self.scales.at(r, k);
            let e = entry(column.precision[i], column.linear[i], scale, &mut half_ln);
            let (normal, uniform) = (
                self.noise[(r - self.first, k)],
                self.noise[(r - self.first, columns + k)],
            );
            let (included, _, _) = inclusion(e.logit);
            if uniform < included {
                w_hat[i] = e.mean + e.variance.sqrt() * normal;
                (s[i], w[i]) = (1.0, w_hat[i]);
            } else {
                w_hat[i] = normal / scale.alpha.sqrt();
                (s[i], w[i]) = (0.0, 0.0);
            }
        }
        0.0
    }
}

/// Sum of the entropies of all entries, as [`Optimum`] has it, from what is
/// stored.
pub(super) fn entropy(
    gamma: &Mat<f64>,
    slab_variance: &Mat<f64>,
    half_ln_spike: impl Fn(usize, usize) -> f64,
) -> f64 {
    let mut sum = 0.0;
    for k in 0..gamma.ncols() {
        for r in 0..gamma.nrows() {
            let (p, q) = (gamma[(r, k)], 1.0 - gamma[(r, k)]);
            let plogp = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
            sum += 0.5 * p * slab_variance[(r, k)].ln() - plogp(p) - plogp(q);
            if q > 0.0 {
                sum += q * half_ln_spike(r, k);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::inclusion;

    #[test]
    fn inclusion_is_a_sigmoid_with_its_entropy_in_both_tails() {
        for x in [-800.0, -40.0, -1.5, 0.0, 0.3, 36.0, 40.0, 800.0] {
            let (p, q, h) = inclusion(x);
            assert_eq!(p, polyview_special::sigmoid(x));
            assert!((q / polyview_special::sigmoid(-x) - 1.0).abs() < 1e-15 || q == 0.0);
            let direct =
                -p * polyview_special::log_sigmoid(x) - q * polyview_special::log_sigmoid(-x);
            assert!((h - direct).abs() <= 1e-14 * direct, "{x}: {h} {direct}");
        }
        assert_eq!(inclusion(f64::INFINITY), (1.0, 0.0, 0.0));
        assert_eq!(inclusion(f64::NEG_INFINITY), (0.0, 1.0, 0.0));
    }
}
