//! The intercepts of one view: $b\_d \sim N(0, 1/\beta)$, spec/sshiba G7, U3.

use std::ops::Range;

use polyview_random::StreamKey;

use super::moments::Stamp;
use super::state::{State, StateReader, Stateful};
use crate::error::NumericError;

/// Posterior of the intercepts of one view, one a predictor column.
///
/// Like [`RowMoments`](super::RowMoments) it may stand for implicit columns of
/// mean zero, which share one variance.
#[derive(Clone, Debug)]
pub struct Bias {
    mean: Vec<f64>,
    variance: Vec<f64>,
    implicit: usize,
    implicit_variance: f64,
    prior_precision: Option<f64>,
    drawn: bool,
    stamp: Stamp,
}

impl Bias {
    /// No intercepts: fixed at zero.
    pub fn absent(columns: usize) -> Self {
        Self::with(columns, 0, None)
    }
    /// Intercepts with prior precision `prior_precision` (per squared working
    /// unit), started at mean 0 and variance 0.
    pub fn gaussian(columns: usize, implicit: usize, prior_precision: f64) -> Self {
        Self::with(columns, implicit, Some(prior_precision))
    }
    fn with(columns: usize, implicit: usize, prior_precision: Option<f64>) -> Self {
        Self {
            mean: vec![0.0; columns],
            variance: vec![0.0; columns],
            implicit,
            implicit_variance: 0.0,
            prior_precision,
            drawn: prior_precision.is_none(),
            stamp: Stamp::fresh(),
        }
    }
    /// Whether there are intercepts to learn.
    pub fn is_present(&self) -> bool {
        self.prior_precision.is_some()
    }
    /// Means, one a column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }
    /// Variances, one a column.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }
    /// Number of implicit columns and their variance.
    pub fn implicit(&self) -> (usize, f64) {
        (self.implicit, self.implicit_variance)
    }
    /// The stamp of this state.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }
    /// Sets the posterior of the columns `columns` from the data's precision
    /// and right-hand side (without the prior).
    pub fn update(&mut self, columns: Range<usize>, precision: &[f64], rhs: &[f64]) {
        let Some(prior) = self.prior_precision else {
            return;
        };
        for (i, d) in columns.enumerate() {
            self.variance[d] = 1.0 / (prior + precision[i]);
            self.mean[d] = self.variance[d] * rhs[i];
        }
        self.drawn = false;
        self.stamp = Stamp::fresh();
    }
    /// Sets the variance of the implicit columns from their data precision.
    pub fn update_implicit(&mut self, precision: f64) {
        if let (Some(prior), true) = (self.prior_precision, self.implicit > 0) {
            self.implicit_variance = 1.0 / (prior + precision);
            self.stamp = Stamp::fresh();
        }
    }
    /// Draws the columns `columns` from their conditional.
    pub fn draw(&mut self, columns: Range<usize>, precision: &[f64], rhs: &[f64], key: StreamKey) {
        let Some(prior) = self.prior_precision else {
            return;
        };
        for (i, d) in columns.enumerate() {
            let variance = 1.0 / (prior + precision[i]);
            let noise = polyview_random::standard_normal(&mut key.chunk(d as u32).rng());
            self.mean[d] = variance * rhs[i] + variance.sqrt() * noise;
            self.variance[d] = 0.0;
        }
        self.drawn = true;
        self.stamp = Stamp::fresh();
    }
    /// Draws all columns from the prior.
    pub fn draw_prior(&mut self, key: StreamKey) {
        let n = self.mean.len();
        self.draw(0..n, &vec![0.0; n], &vec![0.0; n], key);
    }
    /// Sets means and variances.
    pub fn set(&mut self, mean: Vec<f64>, variance: Vec<f64>) {
        debug_assert_eq!(mean.len(), variance.len());
        self.mean = mean;
        self.variance = variance;
        self.drawn = false;
        self.stamp = Stamp::fresh();
    }
    /// $\sum\_d t\_d\langle b\_d^2\rangle$ over the explicit columns, plus the
    /// implicit ones at weight `implicit_weight`.
    pub fn second_moment(&self, weights: Option<&[f64]>, implicit_weight: f64) -> f64 {
        let explicit: f64 = (0..self.mean.len())
            .map(|d| weights.map_or(1.0, |t| t[d]) * (self.mean[d].powi(2) + self.variance[d]))
            .sum();
        explicit + implicit_weight * self.implicit as f64 * self.implicit_variance
    }
    /// Contribution to the bound (spec/sshiba L3); for draws the log prior
    /// density.
    pub fn bound(&self) -> f64 {
        let Some(prior) = self.prior_precision else {
            return 0.0;
        };
        let n = self.mean.len() as f64;
        let quadratic = -0.5 * prior * self.second_moment(None, 1.0);
        if self.drawn {
            return quadratic + 0.5 * n * (prior.ln() - (2.0 * std::f64::consts::PI).ln());
        }
        let all = n + self.implicit as f64;
        let mut logs: f64 = self.variance.iter().map(|v| v.ln()).sum();
        if self.implicit > 0 {
            logs += self.implicit as f64 * self.implicit_variance.ln();
        }
        quadratic + 0.5 * all * prior.ln() + 0.5 * logs + 0.5 * all
    }
}

impl Stateful for Bias {
    fn save(&self, prefix: &str, state: &mut State) {
        state.put_vec(&format!("{prefix}/mean"), &self.mean);
        state.put_vec(&format!("{prefix}/variance"), &self.variance);
        state.put_vec(
            &format!("{prefix}/rest"),
            &[
                self.implicit as f64,
                self.implicit_variance,
                self.prior_precision.unwrap_or(0.0),
                f64::from(u8::from(self.drawn)),
            ],
        );
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.mean = state.vec(&format!("{prefix}/mean"))?;
        self.variance = state.vec_of(&format!("{prefix}/variance"), self.mean.len())?;
        let rest = state.vec_of(&format!("{prefix}/rest"), 4)?;
        self.implicit = rest[0] as usize;
        self.implicit_variance = rest[1];
        self.prior_precision = (rest[2] > 0.0).then_some(rest[2]);
        self.drawn = rest[3] != 0.0;
        self.stamp = Stamp::fresh();
        Ok(())
    }
}
