//! Rows under a mixture prior.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Context, KeptRows, MixtureComponents, NormalEquations, NumericError, Of, PrecisionView,
    RotationSide, RotationTerm, RowBlock, RowContext, RowCov, RowMoments, Rule, State, StateReader,
    Stateful, Terms,
};
use polyview_linalg::{Mat, MatRef, gram, times_small};
use polyview_random::{StreamKey, uniform_open01};

use super::{Mixture, MixtureOptions, start};
use crate::rotation::{ColumnPenalty, ColumnRotation};
use crate::rows::{Prepared, normals, solve_draw, solve_update};

/// Rows whose random numbers come from one stream.
const CHUNK: usize = 256;

/// A block of Gaussian rows with full covariances under a [`Mixture`] prior
/// (spec/maxmargin-rank 2.5): rows belong to components with probabilities
/// $\varphi\_{nt}$, the *shares*,
///
/// $$ S\_n^{-1} = \Big(\sum\_t\varphi\_{nt}\langle\psi\_t\rangle\Big) I + P\_n,\qquad
/// m\_n = S\_n\Big(b\_n + \sum\_t\varphi\_{nt}\langle\psi\_t\rangle
/// m\_{\mu\_t}\Big) $$
///
/// with data precision $P\_n$ and right-hand side $b\_n$ (5.5; E16 corrected).
/// Shares take the evidence of local experts into account ([`RowBlock::assign`];
/// E15 corrected). They start from k-means on the starting means.
///
/// There are no implicit rows: each would have to know its component, so data
/// cannot be compressed.
///
/// ```
/// use polyview_core::{RowBlock, RowMoments};
/// use polyview_linalg::Mat;
/// use polyview_priors::{MixtureOptions, MixtureRows};
/// use polyview_random::StreamKey;
///
/// // two groups of rows, far apart
/// let at = |n: usize| if n < 30 { 2.0 } else { -2.0 };
/// let start = Mat::from_fn(50, 2, |n, k| at(n) + ((7 * n + 3 * k) % 5) as f64 / 10.0);
/// let options = MixtureOptions { components: 2, ..MixtureOptions::default() };
/// let rows = MixtureRows::new("factors", options, RowMoments::isotropic(start, 0.1, 0), StreamKey::new(1));
/// let sizes = rows.sizes();
/// assert!(sizes[0] > 28.0 && sizes[1] < 22.0);
/// ```
#[derive(Clone, Debug)]
pub struct MixtureRows {
    name: String,
    mixture: Mixture,
    moments: RowMoments,
    shares: Arc<Mat<f64>>,
    /// Whether shares stay what they are.
    held: bool,
    /// $\sum\_t\varphi\_{nt}\langle\psi\_t\rangle$ of each row, and 1 a column.
    precision: (Vec<f64>, Vec<f64>),
    prepared: Prepared,
    key: StreamKey,
}

impl MixtureRows {
    /// A block called `name` with starting moments, clustered with the random
    /// numbers of `key`.
    pub fn new(
        name: impl Into<String>,
        options: MixtureOptions,
        moments: RowMoments,
        key: StreamKey,
    ) -> Self {
        let mixture = Mixture::new(options, moments.k());
        let shares = Mat::zeros(0, mixture.components());
        let mut out = Self::with(name.into(), mixture, moments, shares, key);
        out.start();
        out
    }
    /// A block of other rows under components that are known, each row
    /// belonging to them with their weights.
    pub fn under(name: impl Into<String>, mixture: Mixture, moments: RowMoments) -> Self {
        let weights = mixture.weights();
        let (n, t) = (moments.explicit_rows(), mixture.components());
        let shares = Mat::from_fn(n, t, |_, t| weights[t]);
        Self::with(name.into(), mixture, moments, shares, StreamKey::new(0))
    }
    fn with(
        name: String,
        mixture: Mixture,
        moments: RowMoments,
        shares: Mat<f64>,
        key: StreamKey,
    ) -> Self {
        let mut out = Self {
            name,
            precision: (Vec::new(), vec![1.0; moments.k()]),
            mixture,
            moments,
            shares: Arc::new(shares),
            held: false,
            prepared: Prepared::Nothing,
            key,
        };
        out.refresh_precision();
        out
    }
    /// Clusters the rows and fits the components to the clusters.
    fn start(&mut self) {
        let t = self.mixture.components();
        self.shares = Arc::new(start::shares(self.moments.mean(), t, self.key));
        self.mixture.update(&self.moments, &self.shares);
        self.refresh_precision();
    }
    /// The components.
    pub fn mixture(&self) -> &Mixture {
        &self.mixture
    }
    /// Expected number of rows of each component, $N\_t$.
    pub fn sizes(&self) -> Vec<f64> {
        super::sizes(&self.shares)
    }
    fn refresh_precision(&mut self) {
        let mut out = vec![0.0; self.shares.nrows()];
        for (t, psi) in self.mixture.precisions().iter().enumerate() {
            for (x, share) in out.iter_mut().zip(self.shares.col_as_slice(t)) {
                *x += share * psi;
            }
        }
        self.precision = (out, vec![1.0; self.mixture.k()]);
    }
    fn view(&self) -> PrecisionView<'_> {
        PrecisionView::Outer {
            rows: &self.precision.0,
            columns: &self.precision.1,
        }
    }
    /// Adds $\sum\_t\varphi\_{nt}\langle\psi\_t\rangle m\_{\mu\_t}$ to the
    /// right-hand sides.
    fn add_centres(&self, eq: &mut NormalEquations) {
        let psi = self.mixture.precisions();
        let scaled = Mat::from_fn(psi.len(), self.mixture.k(), |t, j| {
            psi[t] * self.mixture.means()[(t, j)]
        });
        let range = eq.rows();
        let shares = (*self.shares).as_ref().subrows(range.start, range.len());
        eq.rhs += times_small(shares, scaled.as_ref());
    }
    fn checked(&self, evidence: MatRef<'_, f64>) -> Result<Mat<f64>, NumericError> {
        if evidence.shape() != self.shares.shape() {
            return Err(NumericError::Mismatch {
                block: self.name.clone(),
                what: "evidence and components differ in number",
            });
        }
        let mut logs = self.mixture.log_joint(&self.moments);
        logs += evidence;
        if logs.as_ref().is_all_finite() {
            Ok(logs)
        } else {
            Err(NumericError::NotFinite {
                block: self.name.clone(),
                what: "the probability of a component",
            })
        }
    }
}

/// Replaces logarithms of weights, rows × components, by probabilities.
fn normalise(logs: &mut Mat<f64>) {
    for n in 0..logs.nrows() {
        let top = (0..logs.ncols()).fold(f64::NEG_INFINITY, |m, t| m.max(logs[(n, t)]));
        let mut total = 0.0;
        for t in 0..logs.ncols() {
            logs[(n, t)] = (logs[(n, t)] - top).exp();
            total += logs[(n, t)];
        }
        for t in 0..logs.ncols() {
            logs[(n, t)] /= total;
        }
    }
}

/// Draws a component for each row from these probabilities.
pub(super) fn draw_components(probabilities: &Mat<f64>, key: StreamKey) -> Mat<f64> {
    let (rows, t) = probabilities.shape();
    let mut out = Mat::zeros(rows, t);
    for start in (0..rows).step_by(CHUNK) {
        let mut rng = key.chunk((start / CHUNK) as u32).rng();
        for n in start..(start + CHUNK).min(rows) {
            let mut left = uniform_open01(&mut rng);
            // rounding may leave a little after the last one
            let mut own = (0..t).rev().find(|&t| probabilities[(n, t)] > 0.0);
            for t in 0..t {
                left -= probabilities[(n, t)];
                if left <= 0.0 && probabilities[(n, t)] > 0.0 {
                    own = Some(t);
                    break;
                }
            }
            out[(n, own.unwrap_or(0))] = 1.0;
        }
    }
    out
}

impl RowBlock for MixtureRows {
    fn moments(&self) -> &RowMoments {
        &self.moments
    }
    /// Clusters the rows anew.
    fn set_moments(&mut self, moments: RowMoments) {
        if moments.k() != self.mixture.k() {
            self.mixture = Mixture::new(self.mixture.options(), moments.k());
        }
        self.moments = moments;
        self.start();
    }
    fn move_to(&mut self, moments: RowMoments) {
        self.moments = moments;
    }
    fn prepare(&mut self, eq: &NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.moments.forget_moment_table();
        if self.moments.implicit_rows() > 0 || !self.view().fits(self.moments.rows(), eq.k()) {
            return Err(NumericError::Mismatch {
                block: self.name.clone(),
                what: "rows and shares of components differ in number",
            });
        }
        self.prepared = Prepared::new(&self.name, self.view(), &self.moments, eq, cx)?;
        Ok(())
    }
    fn update(
        &mut self,
        eq: &mut NormalEquations,
        rule: Rule,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.add_centres(eq);
        let prior = PrecisionView::Outer {
            rows: &self.precision.0,
            columns: &self.precision.1,
        };
        let (eq, moments) = ((eq, rule), &mut self.moments);
        solve_update(&self.name, &self.prepared, prior, moments, eq, cx)
    }
    fn draw(&mut self, eq: &mut NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.add_centres(eq);
        let prior = PrecisionView::Outer {
            rows: &self.precision.0,
            columns: &self.precision.1,
        };
        solve_draw(&self.name, &self.prepared, prior, &mut self.moments, eq, cx)
    }
    fn retreat(&mut self, kept: &KeptRows, row: usize, share: f64) -> Result<(), NumericError> {
        self.moments.retreat(&self.name, kept, row, share)
    }
    fn row_bounds(&self, rows: Range<usize>) -> Vec<f64> {
        let psi = self.mixture.precisions();
        let centre = |n: usize, j: usize| -> f64 {
            (psi.iter().enumerate())
                .map(|(t, psi)| self.shares[(n, t)] * psi * self.mixture.means()[(t, j)])
                .sum()
        };
        let entry = |n: usize, j: usize| {
            let m = self.moments.mean()[(n, j)];
            m * centre(n, j) - 0.5 * self.precision.0[n] * (m * m + self.moments.variance(n, j))
        };
        let k = self.moments.k();
        rows.clone()
            .zip(self.moments.row_log_dets(rows))
            .map(|(n, log_det)| (0..k).map(|j| entry(n, j)).sum::<f64>() + 0.5 * log_det)
            .collect()
    }
    /// Draws components, the components that rows belong to, and rows.
    fn draw_prior(&mut self, key: StreamKey) {
        self.mixture.draw_prior(key.block(0));
        let (rows, k) = (self.moments.explicit_rows(), self.moments.k());
        let weights = self.mixture.weights();
        let probabilities = Mat::from_fn(rows, weights.len(), |_, t| weights[t]);
        self.shares = Arc::new(draw_components(&probabilities, key.block(2)));
        self.refresh_precision();
        let noise = normals(0..rows, k, key.block(1));
        let centres = times_small((*self.shares).as_ref(), self.mixture.means().as_ref());
        self.moments = RowMoments::point(Mat::from_fn(rows, k, |n, j| {
            centres[(n, j)] + noise[(n, j)] / self.precision.0[n].sqrt()
        }));
    }
    fn draw_rows(&mut self, key: StreamKey) {
        let rows = self.moments.explicit_rows();
        let (z, shares) = self.mixture.draw_rows(rows, key.chain(1));
        self.shares = Arc::new(shares);
        self.refresh_precision();
        self.moments = RowMoments::point(z);
    }
    fn for_rows(
        &self,
        _cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Box<dyn RowBlock>, NumericError> {
        let (name, mixture) = (self.name.clone(), self.mixture.clone());
        Ok(Box::new(Self::under(name, mixture, start)))
    }
    fn prior_variance(&self, _row: usize, k: usize) -> f64 {
        self.mixture.prior_variance(k)
    }
    fn mixture(&self) -> Option<MixtureComponents> {
        Some(MixtureComponents {
            means: self.mixture.means().clone(),
            precisions: self.mixture.precisions().to_vec(),
            weights: self.mixture.weights(),
            concentration: self.mixture.concentration(),
        })
    }
    fn learn(&mut self, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.mixture.update(&self.moments, &self.shares);
        self.refresh_precision();
        Ok(())
    }
    fn draw_scales(&mut self, cx: &mut Context<'_>) {
        self.mixture.draw(&self.moments, &self.shares, cx.key);
        self.refresh_precision();
    }
    fn shares(&self) -> Option<&Arc<Mat<f64>>> {
        Some(&self.shares)
    }
    fn hold_shares(&mut self, shares: Mat<f64>) {
        (self.shares, self.held) = (Arc::new(shares), true);
        self.refresh_precision();
    }
    /// $\ln\varphi\_{nt} = \langle\ln q\_t\rangle + \tfrac
    /// K2\langle\ln\psi\_t\rangle - \tfrac12\langle\psi\_t\rangle D\_{nt}$ and the
    /// evidence, up to a constant a row (spec/maxmargin-rank 5.5).
    fn assign(
        &mut self,
        evidence: MatRef<'_, f64>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        if self.held {
            return Ok(());
        }
        let mut logs = self.checked(evidence)?;
        normalise(&mut logs);
        self.shares = Arc::new(logs);
        self.refresh_precision();
        Ok(())
    }
    /// spec/maxmargin-rank 4.5 (E15 corrected).
    fn draw_assignment(
        &mut self,
        evidence: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let mut logs = self.checked(evidence)?;
        normalise(&mut logs);
        self.shares = Arc::new(draw_components(&logs, cx.key));
        self.refresh_precision();
        Ok(())
    }
    /// `rows`: $\langle\ln p(z\mid t, \mu, \psi)\rangle$ and the entropy of rows;
    /// `assignments`: $\sum\_{nt}\varphi\_{nt}(\langle\ln q\_t\rangle -
    /// \ln\varphi\_{nt})$; `scales`: the components (spec/maxmargin-rank 5.6).
    fn bound(&self) -> Terms {
        let entries = (self.moments.rows() * self.moments.k()) as f64;
        let own = match self.moments.cov() {
            RowCov::Zero => -0.5 * entries * (2.0 * std::f64::consts::PI).ln(),
            _ => 0.5 * self.moments.log_det() + 0.5 * entries,
        };
        let logs = self.mixture.log_joint(&self.moments);
        let weights = self.mixture.log_weights();
        let (mut rows, mut assignments) = (0.0, 0.0);
        for (t, weight) in weights.iter().enumerate() {
            for (share, log) in self.shares.col_as_slice(t).iter().zip(logs.col_as_slice(t)) {
                if *share > 0.0 {
                    rows += share * (log - weight);
                    assignments += share * (weight - share.ln());
                }
            }
        }
        Terms::of_samples("rows", rows + own)
            .with("assignments", Of::Samples, assignments)
            .with("scales", Of::Parameters, self.mixture.bound())
    }
    /// Rows and centres turn together while $q$ of the precisions and the
    /// variances $\varsigma\_t$ stay: what is left is quadratic, with the moment
    /// $\sum\_{nt}\varphi\_{nt}\langle\psi\_t\rangle[(m\_n -
    /// m\_{\mu\_t})(m\_n - m\_{\mu\_t})^\top + S\_n] + \sum\_t
    /// m\_{\mu\_t}m\_{\mu\_t}^\top$.
    fn rotation_term(&self, side: RotationSide) -> Option<Box<dyn RotationTerm>> {
        let mut moment = self.moments.cov_sum(Some(&self.precision.0));
        moment.add_scaled(1.0, &gram(self.mixture.means().as_ref()));
        let z = self.moments.mean();
        for (t, psi) in self.mixture.precisions().iter().enumerate() {
            let (share, centre) = (self.shares.col_as_slice(t), self.mixture.means());
            let apart = Mat::from_fn(z.nrows(), z.ncols(), |n, j| {
                (share[n] * psi).sqrt() * (z[(n, j)] - centre[(t, j)])
            });
            moment.add_scaled(1.0, &gram(apart.as_ref()));
        }
        let ones = ColumnPenalty::Fixed(self.precision.1.clone());
        let rows = self.moments.rows();
        Some(Box::new(ColumnRotation::new(rows, &moment, side, ones)))
    }
    /// Turns the centres with the rows; the components stay spherical.
    fn transform(&mut self, a: MatRef<'_, f64>, log_abs_det: f64) {
        self.moments.transform(a, log_abs_det);
        self.mixture.transform(a);
    }
    fn select(&mut self, keep: &[usize], signs: &[f64]) -> Result<(), NumericError> {
        self.mixture.select(keep, signs);
        self.moments.select(keep, signs);
        self.refresh_precision();
        self.moments.refresh_log_det(&self.name)
    }
    fn precision(&self) -> PrecisionView<'_> {
        self.view()
    }
}

impl Stateful for MixtureRows {
    fn save(&self, prefix: &str, state: &mut State) {
        self.moments.save(prefix, state);
        self.mixture.save(&format!("{prefix}/prior"), state);
        state.put_mat(&format!("{prefix}/shares"), (*self.shares).as_ref());
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let moments = RowMoments::load(prefix, state)?;
        let mut mixture = self.mixture.clone();
        mixture.load(&format!("{prefix}/prior"), state)?;
        let shares = load_shares(prefix, mixture.components(), state)?;
        let bad = |name: &str| NumericError::BadState {
            name: format!("{prefix}/{name}"),
        };
        if mixture.k() != moments.k() {
            return Err(bad("prior/mean"));
        }
        if shares.nrows() != moments.rows() {
            return Err(bad("shares"));
        }
        (self.mixture, self.moments) = (mixture, moments);
        self.shares = Arc::new(shares);
        self.refresh_precision();
        Ok(())
    }
}

/// Reads the shares of a saved block: probabilities that add up to 1.
///
/// # Errors
/// [`NumericError::BadState`] when they are absent, misshapen or something else.
pub(super) fn load_shares(
    prefix: &str,
    components: usize,
    state: &StateReader<'_>,
) -> Result<Mat<f64>, NumericError> {
    let name = format!("{prefix}/shares");
    let shares = state.mat(&name)?;
    let sums = |n: usize| {
        let row = || (0..components).map(|t| shares[(n, t)]);
        row().all(|s| (0.0..=1.0).contains(&s)) && (row().sum::<f64>() - 1.0).abs() < 1e-6
    };
    if shares.ncols() == components && (0..shares.nrows()).all(sums) {
        Ok(shares)
    } else {
        Err(NumericError::BadState { name })
    }
}
