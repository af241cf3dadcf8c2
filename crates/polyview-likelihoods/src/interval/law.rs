//! Predictive laws of levels.

use polyview_core::{Ask, Law};
use polyview_linalg::Mat;
use polyview_special::{ln_interval_probability, normal_cdf};

use crate::ParameterUncertainty;
use crate::laws::{check, each};

/// The laws of a block of cells: probabilities are
/// $\Phi\bigl(\tfrac{\theta_k - m}{\sqrt{1 + v}}\bigr) - \Phi\bigl(\tfrac{\theta_{k-1} - m}{\sqrt{1 + v}}\bigr)$,
/// exactly (spec/sites 4.1).
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// Cut points of each column.
    points: Vec<Vec<f64>>,
    /// Ends below the first level and above the last.
    outer: (f64, f64),
    mean: Mat<f64>,
    /// $\sqrt{s + v}$ with the variance s of the noise.
    scale: Mat<f64>,
}

impl Levels {
    pub(super) fn new(
        points: Vec<Vec<f64>>,
        mean: Mat<f64>,
        variance: &Mat<f64>,
        prediction: ParameterUncertainty,
    ) -> Self {
        let outer = (f64::NEG_INFINITY, f64::INFINITY);
        Self::between(points, (outer, 1.0), mean, variance, prediction)
    }
    /// Of noise of that variance, between two outer ends: what lies beyond these is left out, and
    /// probabilities add up to one nevertheless.
    pub(super) fn between(
        points: Vec<Vec<f64>>,
        (outer, noise): ((f64, f64), f64),
        mean: Mat<f64>,
        variance: &Mat<f64>,
        prediction: ParameterUncertainty,
    ) -> Self {
        let scale = |n: usize, d: usize| {
            (noise + prediction.of_predictor(variance[(n, d)].max(0.0))).sqrt()
        };
        Self {
            points,
            outer,
            scale: Mat::from_fn(mean.nrows(), mean.ncols(), scale),
            mean,
        }
    }
    /// The ends of a level (from 1), in standard deviations from the predictor.
    fn ends(&self, n: usize, column: usize, level: usize) -> (f64, f64) {
        let at = |k: Option<usize>, none: f64| {
            let point = k.and_then(|k| self.points[column].get(k));
            (point.copied().unwrap_or(none) - self.mean[(n, column)]) / self.scale[(n, column)]
        };
        (
            at(level.checked_sub(2), self.outer.0),
            at(level.checked_sub(1), self.outer.1),
        )
    }
    /// The outer ends, and the logarithm of what lies between them; `None` where that is all.
    fn inside(&self, n: usize, column: usize) -> Option<(f64, f64)> {
        if self.outer.0.is_infinite() && self.outer.1.is_infinite() {
            return None;
        }
        let (lowest, _) = self.ends(n, column, 1);
        let (_, highest) = self.ends(n, column, self.points[column].len() + 1);
        Some((lowest, ln_interval_probability(lowest, highest)))
    }
    fn ln_probability(&self, n: usize, column: usize, level: f64) -> f64 {
        if level.is_nan() || self.mean[(n, column)].is_nan() {
            return f64::NAN;
        }
        let last = self.points[column].len() as f64 + 1.0;
        if level.fract() != 0.0 || level < 1.0 || level > last {
            return f64::NEG_INFINITY;
        }
        let (lower, upper) = self.ends(n, column, level as usize);
        let all = self.inside(n, column).map_or(0.0, |(_, all)| all);
        ln_interval_probability(lower, upper) - all
    }
    /// The probability of this level and those below it.
    fn up_to(&self, n: usize, column: usize, level: usize) -> f64 {
        let upper = self.ends(n, column, level).1;
        match self.inside(n, column) {
            None => normal_cdf(upper),
            Some((lowest, all)) => (ln_interval_probability(lowest, upper) - all).exp(),
        }
    }
    /// The probability of a level that is not higher.
    fn cdf(&self, n: usize, column: usize, x: f64) -> f64 {
        if x.is_nan() || self.mean[(n, column)].is_nan() {
            f64::NAN
        } else if x < 1.0 {
            0.0
        } else {
            self.up_to(n, column, x.min(1e9) as usize)
        }
    }
    /// The lowest level at which the probabilities of a cell add up to `p`.
    pub(super) fn level_at(&self, n: usize, column: usize, p: f64) -> f64 {
        if self.mean[(n, column)].is_nan() {
            return f64::NAN;
        }
        let levels = self.points[column].len() + 1;
        let reached = |k: &usize| self.cdf(n, column, *k as f64) >= p;
        (1..levels).find(reached).unwrap_or(levels) as f64
    }
    /// Mean and variance: sums of the probabilities of what lies above each cut point.
    pub(super) fn moments_of(&self, n: usize, column: usize) -> (f64, f64) {
        let levels = self.points[column].len() + 1;
        let above = |k: usize| match self.inside(n, column) {
            None => normal_cdf(-self.ends(n, column, k).1),
            Some(_) => 1.0 - self.up_to(n, column, k),
        };
        let mean: f64 = 1.0 + (1..levels).map(above).sum::<f64>();
        let variance = (1..=levels)
            .map(|k| (k as f64 - mean).powi(2) * self.ln_probability(n, column, k as f64).exp());
        (mean, variance.sum())
    }
}

impl Law for Levels {
    fn shape(&self) -> (usize, usize) {
        self.mean.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        check(self, out);
        for (n, o) in out.iter_mut().enumerate() {
            *o = match ask {
                Ask::Mean => self.moments_of(n, column).0,
                Ask::Variance => self.moments_of(n, column).1,
                Ask::Cdf => self.cdf(n, column, x[n]),
                Ask::LnDensity => self.ln_probability(n, column, x[n]),
                Ask::Level(k) if k <= self.points[column].len() => {
                    self.ln_probability(n, column, (k + 1) as f64).exp()
                }
                Ask::Level(_) => f64::NAN,
            };
        }
    }
    fn ordered(&self) -> usize {
        self.points.first().map_or(0, |p| p.len() + 1)
    }
    fn is_whole(&self) -> bool {
        true
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        each(p, out, |n, p| self.level_at(n, column, p));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// spec/sites 11: ordinal cuts -1, .2, 1.5 at m = .3, v = .5.
    #[test]
    fn probabilities_are_those_of_the_vectors() {
        let one = |x: f64| Mat::full(1, 1, x);
        let points = vec![vec![-1.0, 0.2, 1.5]];
        let law = Levels::new(points, one(0.3), &one(0.5), ParameterUncertainty::Posterior);
        let expected = [0.14424373, 0.32321892, 0.36894391, 0.16359344];
        let ask = |ask, x: f64| {
            let mut out = [0.0];
            law.fill(ask, 0, &[x], &mut out);
            out[0]
        };
        let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (k, p) in expected.iter().enumerate() {
            let level = (k + 1) as f64;
            assert!((ask(Ask::Level(k), 0.0) - p).abs() < 6e-9);
            assert!((ask(Ask::LnDensity, level) - p.ln()).abs() < 6e-8);
            (sum, mean, square) = (sum + p, mean + p * level, square + p * level * level);
            assert!((ask(Ask::Cdf, level + 0.3) - sum).abs() < 2e-8);
        }
        assert!((ask(Ask::Mean, 0.0) - mean).abs() < 1e-7);
        assert!((ask(Ask::Variance, 0.0) - (square - mean * mean)).abs() < 1e-7);
        assert_eq!(ask(Ask::LnDensity, 5.0), f64::NEG_INFINITY);
        assert!(ask(Ask::Level(4), 0.0).is_nan() && ask(Ask::Cdf, f64::NAN).is_nan());
        let mut out = [0.0];
        for (p, level) in [(0.1, 1.0), (0.2, 2.0), (0.5, 3.0), (0.9, 4.0), (1.0, 4.0)] {
            law.quantile(0, &[p], &mut out);
            assert_eq!(out, [level], "{p}");
        }
    }
}
