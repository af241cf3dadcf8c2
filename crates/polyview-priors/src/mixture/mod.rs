//! Components of a mixture prior: a Dirichlet process with truncated sticks.

mod rows;
mod species;
mod start;

pub use rows::MixtureRows;
pub use species::MixtureSpecies;

use polyview_core::{GammaPrior, Gammas, NumericError, RowCov, RowMoments};
use polyview_core::{State, StateReader, Stateful};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, fill_standard_normal};
use polyview_special::ln_beta;
use serde::{Deserialize, Serialize};

use crate::beta::{BetaPrior, Betas, times_log};

/// Choices of a [`Mixture`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MixtureOptions {
    /// Number of components T at which the sticks are truncated.
    pub components: usize,
    /// Prior of the components' precisions, $\mathrm{Ga}(\psi\_s, \psi\_r)$.
    pub precision: GammaPrior,
    /// Prior of the concentration, $\mathrm{Ga}(\alpha\_s, \alpha\_r)$.
    pub concentration: GammaPrior,
}

impl Default for MixtureOptions {
    /// spec/maxmargin-rank 7.
    fn default() -> Self {
        Self {
            components: 5,
            precision: GammaPrior::new(1.1, 1e-3),
            concentration: GammaPrior::new(1.0, 1.0),
        }
    }
}

/// The components of a truncated Dirichlet-process mixture of spherical normal
/// distributions (spec/maxmargin-rank 2.5),
///
/// $$ \nu\_t \sim \mathrm{Beta}(1, \alpha)\\ (t < T),\quad \nu\_T = 1,\quad
/// q\_t = \nu\_t\prod\_{s<t}(1 - \nu\_s),\quad \alpha \sim
/// \mathrm{Ga}(\alpha\_s, \alpha\_r) $$
/// $$ \mu\_t \sim N(0, I\_K),\quad \psi\_t \sim \mathrm{Ga}(\psi\_s,
/// \psi\_r),\quad z\_n \mid t(n) = t \sim N(\mu\_t, \psi\_t^{-1} I\_K) $$
///
/// as distributions $q$ (5.5) or as draws (4.5). Which rows belong to which
/// component is kept by [`MixtureRows`].
///
/// | symbol | here |
/// |---|---|
/// | $m\_{\mu\_t}$, $\varsigma\_t$ | [`Mixture::means`], [`Mixture::variances`] |
/// | $\psi\_t$ | [`Mixture::precisions`] |
/// | $q\_t$ | [`Mixture::weights`] |
/// | $\alpha$ | [`Mixture::concentration`] |
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    options: MixtureOptions,
    mean: Mat<f64>,
    variance: Vec<f64>,
    precision: Gammas,
    sticks: Betas,
    concentration: Gammas,
    drawn: bool,
}

impl Mixture {
    /// Components of `k`-dimensional rows, before they have seen any: means at
    /// zero, precisions 1. There is at least one.
    pub fn new(options: MixtureOptions, k: usize) -> Self {
        let t = options.components.max(1);
        Self {
            options: MixtureOptions {
                components: t,
                ..options
            },
            mean: Mat::zeros(t, k),
            variance: vec![1.0; t],
            precision: Gammas::new(options.precision, t, 1.0),
            sticks: Betas::new(BetaPrior::uniform(), t - 1),
            concentration: Gammas::new(options.concentration, 1, 1.0),
            drawn: false,
        }
    }
    /// The choices.
    pub fn options(&self) -> MixtureOptions {
        self.options
    }
    /// Number of components T.
    pub fn components(&self) -> usize {
        self.mean.nrows()
    }
    /// Dimension K of the rows.
    pub fn k(&self) -> usize {
        self.mean.ncols()
    }
    /// $\langle\mu\_t\rangle$, T × K.
    pub fn means(&self) -> &Mat<f64> {
        &self.mean
    }
    /// $\varsigma\_t$, the variance of each entry of $\mu\_t$; 0 for draws.
    pub fn variances(&self) -> &[f64] {
        &self.variance
    }
    /// $\langle\psi\_t\rangle$.
    pub fn precisions(&self) -> &[f64] {
        self.precision.mean()
    }
    /// $\langle\alpha\rangle$.
    pub fn concentration(&self) -> f64 {
        self.concentration.mean()[0]
    }
    /// $\langle q\_t\rangle$: they add up to 1.
    pub fn weights(&self) -> Vec<f64> {
        let mut rest = 1.0;
        (0..self.components())
            .map(|t| {
                let stick = if t < self.sticks.len() {
                    self.sticks.mean(t)
                } else {
                    1.0
                };
                let own = rest * stick;
                rest -= own;
                own
            })
            .collect()
    }
    /// $\langle\ln q\_t\rangle$.
    pub(crate) fn log_weights(&self) -> Vec<f64> {
        let (ln, not) = (self.sticks.mean_ln(), self.sticks.mean_ln_not());
        let mut before = 0.0;
        (0..self.components())
            .map(|t| match (ln.get(t), not.get(t)) {
                (Some(ln), Some(not)) => {
                    let own = before + ln;
                    before += not;
                    own
                }
                _ => before,
            })
            .collect()
    }
    /// $D\_{nt} = \langle\lVert z\_n - \mu\_t\rVert^2\rangle$, rows × T (spec/maxmargin-rank
    /// 5.5).
    pub(crate) fn distances(&self, rows: &RowMoments) -> Mat<f64> {
        let (z, k) = (rows.mean(), rows.k());
        let mut out = Mat::zeros(rows.explicit_rows(), self.components());
        let spread: Vec<f64> = match rows.cov() {
            RowCov::Zero => vec![0.0; z.nrows()],
            RowCov::Shared(s) => vec![s.trace(); z.nrows()],
            _ => (0..z.nrows())
                .map(|n| (0..k).map(|j| rows.variance(n, j)).sum())
                .collect(),
        };
        for t in 0..out.ncols() {
            let own = k as f64 * self.variance[t];
            let column = out.col_as_slice_mut(t);
            for (x, s) in column.iter_mut().zip(&spread) {
                *x = s + own;
            }
            for j in 0..k {
                for (x, z) in column.iter_mut().zip(z.col(j).iter()) {
                    *x += (z - self.mean[(t, j)]).powi(2);
                }
            }
        }
        out
    }
    /// $\langle\ln q\_t\rangle + \tfrac K2\langle\ln\psi\_t\rangle -
    /// \tfrac12\langle\psi\_t\rangle D\_{nt}$, rows × T.
    pub(crate) fn log_joint(&self, rows: &RowMoments) -> Mat<f64> {
        let mut out = self.distances(rows);
        let half = 0.5 * self.k() as f64;
        for (t, log) in self.log_weights().into_iter().enumerate() {
            let constant = log + half * self.precision.mean_ln()[t];
            let precision = self.precision.mean()[t];
            for x in out.col_as_slice_mut(t) {
                *x = constant - 0.5 * precision * *x;
            }
        }
        out
    }
    /// Mean and variance of each $\mu\_t$ and the sums that they come from.
    fn centre(&self, t: usize, share: &[f64], rows: &RowMoments) -> (Vec<f64>, f64) {
        let (psi, count) = (self.precision.mean()[t], share.iter().sum::<f64>());
        let variance = 1.0 / (1.0 + count * psi);
        let mean = (0..self.k())
            .map(|j| {
                let column = rows.mean().col(j);
                let sum: f64 = column.iter().zip(share).map(|(z, s)| s * z).sum();
                variance * psi * sum
            })
            .collect();
        (mean, variance)
    }
    fn put_centre(&mut self, t: usize, mean: &[f64], variance: f64) {
        for (j, m) in mean.iter().enumerate() {
            self.mean[(t, j)] = *m;
        }
        self.variance[t] = variance;
    }
    /// Shape and rate of each $\psi\_t$: $\psi\_s + \tfrac12 K N\_t$ and
    /// $\psi\_r + \tfrac12\sum\_n\varphi\_{nt} D\_{nt}$ (E14 corrected).
    fn precision_posteriors(&self, rows: &RowMoments, shares: &Mat<f64>) -> Vec<(f64, f64)> {
        let distances = self.distances(rows);
        let half = 0.5 * self.k() as f64;
        (0..self.components())
            .map(|t| {
                let (share, d) = (shares.col_as_slice(t), distances.col_as_slice(t));
                let sum: f64 = share.iter().zip(d).map(|(s, d)| s * d).sum();
                let count: f64 = share.iter().sum();
                self.precision.posterior(half * count, 0.5 * sum)
            })
            .collect()
    }
    /// Shapes of each $\nu\_t$: $1 + N\_t$ and $\langle\alpha\rangle +
    /// \sum\_{s>t}N\_s$.
    fn stick_posteriors(&self, shares: &Mat<f64>) -> Vec<(f64, f64)> {
        let sizes = sizes(shares);
        let alpha = self.concentration();
        (0..self.sticks.len())
            .map(|t| {
                let after: f64 = sizes[t + 1..].iter().sum();
                (1.0 + sizes[t], alpha + after)
            })
            .collect()
    }
    /// Shape and rate of $\alpha$: $\alpha\_s + T - 1$ and $\alpha\_r -
    /// \sum\_{t<T}\langle\ln(1 - \nu\_t)\rangle$.
    fn concentration_posterior(&self) -> (f64, f64) {
        let not: f64 = self.sticks.mean_ln_not().iter().sum();
        self.concentration.posterior(self.sticks.len() as f64, -not)
    }
    /// Updates all components from rows that belong to them with these
    /// probabilities, rows × T (spec/maxmargin-rank 5.5).
    pub(crate) fn update(&mut self, rows: &RowMoments, shares: &Mat<f64>) {
        self.drawn = false;
        for t in 0..self.components() {
            let (mean, variance) = self.centre(t, shares.col_as_slice(t), rows);
            self.put_centre(t, &mean, variance);
        }
        let posteriors = self.precision_posteriors(rows, shares);
        for (t, (shape, rate)) in posteriors.into_iter().enumerate() {
            self.precision.set(t, shape, rate);
        }
        for (t, (a, b)) in self.stick_posteriors(shares).into_iter().enumerate() {
            self.sticks.set(t, a, b);
        }
        let (shape, rate) = self.concentration_posterior();
        self.concentration.set(0, shape, rate);
    }
    /// Draws all components given rows and the components that they belong to
    /// (spec/maxmargin-rank 4.5), one stream of random numbers a variable.
    pub(crate) fn draw(&mut self, rows: &RowMoments, shares: &Mat<f64>, key: StreamKey) {
        let count = self.components() as u32;
        self.drawn = true;
        let mut noise = vec![0.0; self.k()];
        for t in 0..self.components() {
            let (mut mean, variance) = self.centre(t, shares.col_as_slice(t), rows);
            fill_standard_normal(&mut key.chunk(t as u32).rng(), &mut noise);
            for (m, e) in mean.iter_mut().zip(&noise) {
                *m += variance.sqrt() * e;
            }
            self.put_centre(t, &mean, 0.0);
        }
        let posteriors = self.precision_posteriors(rows, shares);
        for (t, (shape, rate)) in posteriors.into_iter().enumerate() {
            let key = key.chunk(count + t as u32);
            self.precision.draw(t, shape, rate, key);
        }
        for (t, (a, b)) in self.stick_posteriors(shares).into_iter().enumerate() {
            self.sticks.draw(t, a, b, key.chunk(2 * count + t as u32));
        }
        let (shape, rate) = self.concentration_posterior();
        self.concentration
            .draw(0, shape, rate, key.chunk(3 * count));
    }
    /// Draws all components from the prior.
    pub(crate) fn draw_prior(&mut self, key: StreamKey) {
        let (t, k) = (self.components(), self.k());
        let GammaPrior { shape, rate } = self.options.concentration;
        let chunk = 3 * t as u32;
        self.concentration.draw(0, shape, rate, key.chunk(chunk));
        // without rows all else is the prior
        let none = RowMoments::point(Mat::zeros(0, k));
        let concentration = self.concentration.clone();
        self.draw(&none, &Mat::zeros(0, t), key);
        self.concentration = concentration;
    }
    /// Contribution of the components to the bound (spec/maxmargin-rank 5.6), or
    /// their log density where they are draws.
    pub(crate) fn bound(&self) -> f64 {
        let k = self.k() as f64;
        let constant = -0.5 * k * (2.0 * std::f64::consts::PI).ln();
        let centres: f64 = (0..self.components())
            .map(|t| {
                let square: f64 = (0..self.k()).map(|j| self.mean[(t, j)].powi(2)).sum();
                let v = self.variance[t];
                if self.drawn {
                    constant - 0.5 * square
                } else {
                    0.5 * (k * (1.0 + v.ln() - v) - square)
                }
            })
            .sum();
        let (alpha, ln_alpha) = (self.concentration(), self.concentration.mean_ln()[0]);
        let sticks: f64 = (0..self.sticks.len())
            .map(|t| {
                let (ln, not) = (self.sticks.mean_ln()[t], self.sticks.mean_ln_not()[t]);
                let entropy = if self.sticks.is_draw() {
                    0.0
                } else {
                    let (a, b) = self.sticks.shapes(t);
                    ln_beta(a, b) - times_log(a - 1.0, ln) - times_log(b - 1.0, not)
                };
                ln_alpha + times_log(alpha - 1.0, not) + entropy
            })
            .sum();
        centres + self.precision.bound() + sticks + self.concentration.bound()
    }
    /// Expected prior variance of dimension `k` of a row, $\sum\_t q\_t(1/\psi\_t +
    /// \varsigma\_t + \mu\_{tk}^2) - (\sum\_t q\_t\mu\_{tk})^2$ at expected
    /// $q\_t$ and $\psi\_t$.
    pub fn prior_variance(&self, k: usize) -> f64 {
        let (mut mean, mut square) = (0.0, 0.0);
        for (t, q) in self.weights().into_iter().enumerate() {
            let m = self.mean[(t, k)];
            mean += q * m;
            square += q * (1.0 / self.precision.mean()[t] + self.variance[t] + m * m);
        }
        square - mean * mean
    }
    /// Draws `count` rows and the components that they belong to (zeros and
    /// ones, rows × T), given expected weights, means and precisions.
    pub fn draw_rows(&self, count: usize, key: StreamKey) -> (Mat<f64>, Mat<f64>) {
        let weights = self.weights();
        let probabilities = Mat::from_fn(count, weights.len(), |_, t| weights[t]);
        // the streams of the rows come after those of the components
        let shares = rows::draw_components(&probabilities, key);
        let noise = crate::rows::normals(0..count, self.k(), key.block(key.block + 1));
        let centres = polyview_linalg::times_small(shares.as_ref(), self.mean.as_ref());
        let z = Mat::from_fn(count, self.k(), |n, j| {
            let psi: f64 = (0..weights.len())
                .map(|t| shares[(n, t)] * self.precision.mean()[t])
                .sum();
            centres[(n, j)] + noise[(n, j)] / psi.sqrt()
        });
        (z, shares)
    }
    /// Keeps the dimensions `keep`, in that order, times their signs.
    pub(crate) fn select(&mut self, keep: &[usize], signs: &[f64]) {
        self.mean = Mat::from_fn(self.components(), keep.len(), |t, j| {
            signs[j] * self.mean[(t, keep[j])]
        });
    }
    /// Multiplies the centres by `a` from the right.
    pub(crate) fn transform(&mut self, a: polyview_linalg::MatRef<'_, f64>) {
        self.mean = polyview_linalg::times_small(self.mean.as_ref(), a);
    }
}

/// $N\_t = \sum\_n\varphi\_{nt}$.
pub(crate) fn sizes(shares: &Mat<f64>) -> Vec<f64> {
    (0..shares.ncols())
        .map(|t| shares.col_as_slice(t).iter().sum())
        .collect()
}

impl Stateful for Mixture {
    fn save(&self, prefix: &str, state: &mut State) {
        state.put_mat(&format!("{prefix}/mean"), self.mean.as_ref());
        state.put_vec(&format!("{prefix}/variance"), &self.variance);
        self.precision.save(&format!("{prefix}/precision"), state);
        self.sticks.save(&format!("{prefix}/sticks"), state);
        let at = format!("{prefix}/concentration");
        self.concentration.save(&at, state);
        let drawn = f64::from(u8::from(self.drawn));
        state.put_vec(&format!("{prefix}/drawn"), &[drawn]);
    }
    /// The number of components is that of the choices; the dimension is the
    /// state's.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let t = self.components();
        let bad = |name: &str| NumericError::BadState {
            name: format!("{prefix}/{name}"),
        };
        let mean = state.mat(&format!("{prefix}/mean"))?;
        if mean.nrows() != t || !mean.as_ref().is_all_finite() {
            return Err(bad("mean"));
        }
        let variance = state.vec_of(&format!("{prefix}/variance"), t)?;
        if variance.iter().any(|v| !(*v >= 0.0 && v.is_finite())) {
            return Err(bad("variance"));
        }
        let loaded = |gammas: &mut Gammas, name: &str, n: usize| {
            gammas.load(&format!("{prefix}/{name}"), state)?;
            let positive = |v: &f64| *v > 0.0 && v.is_finite();
            if gammas.len() == n && gammas.mean().iter().all(positive) {
                Ok(())
            } else {
                Err(bad(name))
            }
        };
        loaded(&mut self.precision, "precision", t)?;
        loaded(&mut self.concentration, "concentration", 1)?;
        self.sticks.load(&format!("{prefix}/sticks"), state)?;
        if self.sticks.len() != t - 1 {
            return Err(bad("sticks"));
        }
        self.drawn = state.scalar(&format!("{prefix}/drawn"))? != 0.0;
        (self.mean, self.variance) = (mean, variance);
        Ok(())
    }
}
