//! One entry of spike-and-slab rows: its optimum and its draw (spec/mofa A.3,
//! A.6b).

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, decay, dispatch, ln, ln_1p};
use polyview_linalg::{Mat, MatRef, sum};

use super::jointly;
use super::prior::SpikeSlab;
use crate::rows::sweep::{Column, Site, Swept};

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

/// Log-odds of what is certain: finite, so that times a probability of zero they are nothing.
const CERTAIN: f64 = 1e6;

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
    /// The same of entries that are all in the slab.
    pub(super) fn in_the_slab(mut self) -> Self {
        for scale in &mut self.of {
            scale.log_odds = CERTAIN;
        }
        self
    }
    #[inline]
    fn group(&self, row: usize) -> u32 {
        if self.groups == 1 {
            0
        } else {
            self.of_row[row]
        }
    }
    /// $\langle\ln p(\hat w, s)\rangle$ of an entry, up to a constant, of which q holds the
    /// inclusion and mean `(γ, μ)`, the variance of the slab and that of the spike.
    pub(super) fn log_density(
        &self,
        row: usize,
        k: usize,
        (gamma, mean): (f64, f64),
        variance: f64,
        spike: f64,
    ) -> f64 {
        let scale = self.at(row, k);
        let square = gamma * (mean * mean + variance) + (1.0 - gamma) * spike;
        gamma * scale.log_odds - 0.5 * scale.alpha * square
    }
    #[inline]
    fn at(&self, row: usize, k: usize) -> &Scale {
        &self.of[self.group(row) as usize + self.groups * k]
    }
}

/// Slab posterior and log-odds of inclusion of one entry.
struct Entry {
    mean: f64,
    variance: f64,
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
pub(super) struct Optimum<'a> {
    pub(super) scales: Scales<'a>,
    /// Whether the means of the entries of a row with a precision of its own go to their optimum together after the sweep.
    pub(super) jointly: bool,
}

impl Site<5> for Optimum<'_> {
    fn visit(&self, column: &Column<'_>, out: [&mut [f64]; 5]) -> f64 {
        let scales = &self.scales;
        let (mut total, mut from, mut out) = (0.0, 0, out);
        // rows of one group have one scale
        let same = |a: &usize, b: &usize| scales.group(*a) == scales.group(*b);
        for rows in column.rows.chunk_by(same) {
            let part = from..from + rows.len();
            dispatch(Optima {
                precision: &column.precision[part.clone()],
                linear: &column.linear[part.clone()],
                scale: scales.at(rows[0], column.k),
                out: out.each_mut().map(|x| &mut x[part.clone()]),
                sum: &mut total,
            });
            from = part.end;
        }
        total
    }
    fn settle(&self, rows: &mut Swept<'_, 5>) {
        if self.jointly {
            jointly::settle(rows, |row, k| self.scales.at(row, k).alpha);
        }
    }
}

/// Entries with one scale, in vector instructions.
struct Optima<'a> {
    precision: &'a [f64],
    linear: &'a [f64],
    scale: &'a Scale,
    out: [&'a mut [f64]; 5],
    /// What the entries add to the entropy is added here.
    sum: &'a mut f64,
}

impl Kernel for Optima<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let [mean, variance, gamma, slab_mean, slab_variance] = self.out;
        let (precision, linear, scale) = (self.precision, self.linear, self.scale);
        slab::<FUSED>(precision, linear, scale, slab_mean, slab_variance, mean);
        for ((logit, half_ln), (mu, l)) in gamma
            .iter_mut()
            .zip(&*mean)
            .zip(slab_mean.iter().zip(linear))
        {
            *logit = scale.log_odds + (scale.half_ln_alpha + half_ln + 0.5 * mu * l);
        }
        tails::<FUSED>(gamma, variance);
        entries::<FUSED>(slab_mean, slab_variance, scale, mean, variance, gamma);
        *self.sum += sum(mean);
        for ((mean, gamma), mu) in mean.iter_mut().zip(gamma).zip(slab_mean) {
            *mean = *gamma * *mu;
        }
    }
}

/// $\mu$, $\sigma^2$ and $\tfrac12\ln\sigma^2$. This and what follows are functions of their own, so that the compiler knows the slices
/// to be apart.
#[inline(always)]
fn slab<const FUSED: bool>(
    precision: &[f64],
    linear: &[f64],
    scale: &Scale,
    mean: &mut [f64],
    variance: &mut [f64],
    half_ln: &mut [f64],
) {
    let out = mean.iter_mut().zip(variance).zip(half_ln);
    for ((p, l), ((mean, variance), half_ln)) in precision.iter().zip(linear).zip(out) {
        let total = p + scale.alpha;
        *variance = 1.0 / total;
        *mean = *variance * l;
        *half_ln = -0.5 * ln::<FUSED>(total);
    }
}

/// $e^{-|x|}$.
#[inline(always)]
fn tails<const FUSED: bool>(x: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = decay::<FUSED>(x.abs()).value;
    }
}

/// Makes of $\tfrac12\ln\sigma^2$ the part of the entropy, of $e^{-|x|}$ the variance of $w$, and of the logit x $\gamma$; as [`inclusion`].
#[inline(always)]
fn entries<const FUSED: bool>(
    slab_mean: &[f64],
    slab_variance: &[f64],
    scale: &Scale,
    half_ln: &mut [f64],
    tail: &mut [f64],
    logit: &mut [f64],
) {
    let slab = slab_mean.iter().zip(slab_variance);
    let out = half_ln.iter_mut().zip(tail).zip(logit);
    for ((mu, v), ((half_ln, tail), logit)) in slab.zip(out) {
        let (e, x) = (*tail, *logit);
        let likely = 1.0 / (1.0 + e);
        let unlikely = e * likely;
        let both = ln_1p::<FUSED>(e) + x.abs() * unlikely;
        // an infinite logit has no entropy
        let entropy = if e > 0.0 { both } else { e };
        let above = x >= 0.0;
        let (included, spike) = (
            if above { likely } else { unlikely },
            if above { unlikely } else { likely },
        );
        *half_ln = entropy + included * *half_ln - spike * scale.half_ln_alpha;
        *tail = included * (v + spike * mu * mu);
        *logit = included;
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
            sum += entry_entropy((gamma[(r, k)], slab_variance[(r, k)]), || {
                half_ln_spike(r, k)
            });
        }
    }
    sum
}

/// That of one entry with inclusion and slab's variance `(γ, σ²)`.
pub(super) fn entry_entropy((gamma, variance): (f64, f64), half_ln_spike: impl Fn() -> f64) -> f64 {
    let (p, q) = (gamma, 1.0 - gamma);
    let plogp = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
    let mut sum = 0.5 * p * variance.ln() - plogp(p) - plogp(q);
    if q > 0.0 {
        sum += q * half_ln_spike();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{HalfLn, Optimum, Scale, Scales, entry, inclusion};
    use crate::rows::sweep::{Column, Site};

    #[test]
    fn a_column_of_optima_is_its_entries() {
        let scale = |alpha: f64, log_odds: f64| Scale {
            alpha,
            half_ln_alpha: 0.5 * alpha.ln(),
            log_odds,
        };
        // groups that follow one another and that take turns
        let of_row: Vec<u32> = (0..90).map(|r| u32::from(r >= 40 && r % 3 != 0)).collect();
        let of = vec![
            scale(1.0, 0.0),
            scale(9.0, 1.0),
            scale(2.5, -3.0),
            scale(1e-3, 20.0),
        ];
        let optimum = Optimum {
            scales: Scales {
                of_row: &of_row,
                groups: 2,
                of,
            },
            jointly: false,
        };
        let rows: Vec<usize> = (3..90).collect();
        let precision: Vec<f64> = (0..87).map(|i| 10f64.powi(i % 9 - 4)).collect();
        // logits from far below zero to some thousands
        let linear: Vec<f64> = (0..87).map(|i| f64::from(i * i - 40) * 0.07).collect();
        let column = Column {
            k: 1,
            rows: &rows,
            precision: &precision,
            linear: &linear,
        };
        let mut out = [(); 5].map(|()| vec![f64::NAN; 87]);
        let sum = optimum.visit(&column, out.each_mut().map(|x| &mut x[..]));
        let mut expected_sum = 0.0;
        let close =
            |found: f64, expected: f64| (found - expected).abs() <= 2e-14 * expected.abs() + 1e-300;
        for (i, &r) in rows.iter().enumerate() {
            let s = optimum.scales.at(r, 1);
            let e = entry(precision[i], linear[i], s, &mut HalfLn::new());
            let (p, q, entropy) = inclusion(e.logit);
            expected_sum += entropy + p * 0.5 * e.variance.ln() - q * s.half_ln_alpha;
            let expected = [
                p * e.mean,
                p * (e.variance + q * e.mean * e.mean),
                p,
                e.mean,
                e.variance,
            ];
            for (out, expected) in out.iter().zip(expected) {
                // the logit's own rounding is multiplied by its size
                let tolerance = 1e-15 * e.logit.abs() * expected.abs();
                assert!(
                    close(out[i], expected) || (out[i] - expected).abs() <= tolerance,
                    "{r}: {} {expected}",
                    out[i]
                );
            }
        }
        assert!(close(sum, expected_sum), "{sum} {expected_sum}");
    }

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
