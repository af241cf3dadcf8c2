//! Gaussian rows with independent entries.

use polyview_core::{
    Context, KeptRows, NormalEquations, NumericError, PrecisionView, RotationSide, RotationTerm,
    RowBlock, RowContext, RowCov, RowMoments, Rule, ScalePrior, State, StateReader, Stateful,
    Terms,
};
use polyview_linalg::{Mat, MatRef, SymPacked};
use polyview_random::StreamKey;

use super::solve::{self, Prepared};
use super::sweep::{self, Column, Site};

/// A block of Gaussian rows with **factorised** posterior, $q(r) = \prod\_k
/// N(r\_k; m\_{rk}, v\_{rk})$, as MOFA has them (spec/mofa A.3):
///
/// $$v\_{rk} = (P\_{r,kk} + \alpha\_{rk})^{-1},\qquad m\_{rk} = v\_{rk}\Big(
/// b\_{rk} - \sum\_{j\ne k} P\_{r,kj} m\_{rj}\Big)$$
///
/// column after column from the present means (beyond or short of it under
/// [`Rule::Relaxed`], where rows have precisions of their own), with the data precision
/// $P\_r$, right-hand side $b\_r$ and expected prior precision $\alpha$. Each
/// step is the optimum of its entry, so the bound never falls; the data are
/// not read again. The fixed point has the means of
/// [`FullRows`](crate::FullRows) but smaller variances, and the way there is
/// longer: it is for comparison with MOFA, and for K so large that covariances
/// cost too much.
///
/// Rows whose precision is the same share their variances, and only then can
/// there be implicit rows. The family is not closed under rotations:
/// [`RowBlock::rotation_term`] is `None`, and [`RowBlock::transform`] is exact
/// for signs, scales and orders of columns and else loses the covariances of
/// entries.
///
/// Draws are those of the exact conditional: the model is that of
/// [`FullRows`](crate::FullRows), only the approximation differs.
///
/// ```
/// use polyview_core::{RowBlock, RowCov, RowMoments};
/// use polyview_linalg::Mat;
/// use polyview_priors::{DiagonalRows, Fixed};
///
/// let start = Mat::from_fn(50, 3, |n, k| ((n + k) % 5) as f64 - 2.0);
/// let factors = DiagonalRows::new("factors", Fixed::standard_normal(3),
///     RowMoments::isotropic(start, 1.0, 0)).with_passes(3);
/// assert!(factors.rotation_term(polyview_core::RotationSide::Factors).is_none());
/// ```
#[derive(Clone, Debug)]
pub struct DiagonalRows<P> {
    name: String,
    prior: P,
    moments: RowMoments,
    passes: usize,
    prepared: Prepared,
}

impl<P: ScalePrior> DiagonalRows<P> {
    /// A block called `name` (for the journal and the ledger) with a prior and
    /// starting moments, whose covariances between entries are dropped.
    pub fn new(name: impl Into<String>, prior: P, moments: RowMoments) -> Self {
        Self {
            name: name.into(),
            prior,
            moments: without_covariances(moments),
            passes: 1,
            prepared: Prepared::Nothing,
        }
    }
    /// Goes over the columns `passes` times an update (at least once). More
    /// passes cost K² a row each and bring the means nearer to the solution
    /// of the present equations. Factors of new samples under fixed weights
    /// should take some twenty: a projection updates them once.
    pub fn with_passes(mut self, passes: usize) -> Self {
        self.passes = passes.max(1);
        self
    }
    /// The prior.
    pub fn prior(&self) -> &P {
        &self.prior
    }
    /// Write access to the prior, for starts.
    pub fn prior_mut(&mut self) -> &mut P {
        &mut self.prior
    }
}

/// Whether all rows have the same precision.
fn alike(prior: PrecisionView<'_>, eq: &NormalEquations) -> bool {
    let prior = match prior {
        PrecisionView::Columns(_) => true,
        PrecisionView::Groups { groups, .. } => groups.nrows() == 1,
        PrecisionView::Outer { .. } | PrecisionView::Cells(_) => false,
    };
    prior && !eq.own && eq.packed.is_none() && eq.scale.is_none() && eq.patterns.is_none()
}

/// The same means and variances, entries independent.
pub(super) fn without_covariances(mut moments: RowMoments) -> RowMoments {
    let (rows, explicit, k) = (moments.rows() as f64, moments.explicit_rows(), moments.k());
    let (cov, log_det) = match moments.cov() {
        RowCov::Zero => return moments,
        RowCov::Shared(s) => {
            let variances = s.diag();
            let logs: f64 = variances.iter().map(|v| v.ln()).sum();
            (diagonal(&variances), rows * logs)
        }
        _ => {
            let v = Mat::from_fn(explicit, k, |r, j| moments.variance(r, j));
            let logs = (0..k).map(|j| solve::sum_of_logs(v.col_as_slice(j))).sum();
            (RowCov::Diagonal(v), logs)
        }
    };
    let (_, to, logs) = moments.parts_mut();
    (*to, *logs) = (cov, log_det);
    moments
}

fn diagonal(variances: &[f64]) -> RowCov {
    let mut s = SymPacked::zeros(variances.len());
    s.add_diag(variances);
    RowCov::Shared(s)
}

/// Means and variances; the sum is that of $\ln v$.
struct Gaussian<'a> {
    prior: PrecisionView<'a>,
    /// How far means go ([`Rule::Relaxed`]).
    rate: f64,
}

impl Site<2> for Gaussian<'_> {
    fn visit(&self, column: &Column<'_>, [mean, variance]: [&mut [f64]; 2]) -> f64 {
        for (i, &r) in column.rows.iter().enumerate() {
            variance[i] = 1.0 / (column.precision[i] + self.prior.at(r, column.k));
            let best = variance[i] * column.linear[i];
            mean[i] = if self.rate == 1.0 {
                best
            } else {
                mean[i] + self.rate * (best - mean[i])
            };
        }
        solve::sum_of_logs(variance)
    }
}

impl<P: ScalePrior> RowBlock for DiagonalRows<P> {
    fn moments(&self) -> &RowMoments {
        &self.moments
    }
    fn set_moments(&mut self, moments: RowMoments) {
        self.moments = without_covariances(moments);
    }
    fn prepare(&mut self, eq: &NormalEquations, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        // draws factor what they share when the first of them comes
        self.prepared = Prepared::Nothing;
        let (m, prior) = (&self.moments, self.prior.precision());
        if !prior.fits(m.explicit_rows(), m.k()) {
            return Err(NumericError::Mismatch {
                block: self.name.clone(),
                what: "rows and prior precisions differ in number",
            });
        }
        if m.implicit_rows() > 0 && !alike(prior, eq) {
            return Err(NumericError::Mismatch {
                block: self.name.clone(),
                what: "implicit rows need one precision for all rows",
            });
        }
        Ok(())
    }
    fn update(
        &mut self,
        eq: &mut NormalEquations,
        rule: Rule,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let (start, len, k) = (eq.rows().start, eq.rows().len(), eq.k());
        let prior = self.prior.precision();
        let (explicit, all) = (self.moments.explicit_rows(), self.moments.rows() as f64);
        let rate = if eq.packed.is_some() {
            rule.rate()
        } else {
            1.0
        };
        let site = Gaussian { prior, rate };
        let tiles = sweep::sweep(eq, self.moments.mean(), self.passes, &site);
        let (mean, cov, log_det) = self.moments.parts_mut();
        sweep::scatter(&tiles, 0, mean);
        if alike(prior, eq) {
            let variances: Vec<f64> = (0..k)
                .map(|j| 1.0 / (eq.gram.get(j, j) + prior.at(0, j)))
                .collect();
            *log_det = all * variances.iter().map(|v| v.ln()).sum::<f64>();
            *cov = diagonal(&variances);
        } else {
            if start == 0 {
                *log_det = 0.0;
            }
            if !matches!(cov, RowCov::Diagonal(v) if v.nrows() == explicit && v.ncols() == k) {
                *cov = RowCov::Diagonal(Mat::zeros(explicit, k));
            }
            if let RowCov::Diagonal(v) = cov {
                sweep::scatter(&tiles, 1, v);
            }
            *log_det += sweep::total(&tiles);
        }
        finite(&self.name, mean.as_ref().subrows(start, len), "a mean")
    }
    fn draw(&mut self, eq: &mut NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let prior = self.prior.precision();
        if matches!(self.prepared, Prepared::Nothing) {
            self.prepared = Prepared::new(&self.name, prior, &self.moments, eq, cx)?;
        }
        let prepared = &self.prepared;
        solve::draw(&self.name, prepared, prior, &mut self.moments, eq, cx)
    }
    fn retreat(&mut self, kept: &KeptRows, row: usize, share: f64) -> Result<(), NumericError> {
        self.moments.retreat(&self.name, kept, row, share)
    }
    fn draw_prior(&mut self, key: StreamKey) {
        self.moments = super::draw_prior(&mut self.prior, &self.moments, key);
    }
    fn draw_rows(&mut self, key: StreamKey) {
        self.moments = super::draw_rows(self.prior.precision(), &self.moments, key);
    }
    /// They have covariances.
    fn for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Box<dyn RowBlock>, NumericError> {
        super::for_rows(&self.name, &self.prior, cx, start)
    }
    fn prior_variance(&self, row: usize, k: usize) -> f64 {
        self.prior.precision().at(row, k).recip()
    }
    fn learns(&self) -> bool {
        self.prior.learns()
    }
    fn scales_at(&self) -> Vec<f64> {
        self.prior.free()
    }
    fn set_scales(&mut self, scales: &[f64]) {
        self.prior.set_free(scales);
    }
    fn has_one_optimum(&self) -> bool {
        true
    }
    fn turns(&self) -> bool {
        self.prior.turns()
    }
    fn follows(&self) -> bool {
        self.prior.follows()
    }
    fn follow(&mut self, sizes: &[f64]) -> f64 {
        self.prior.follow(sizes)
    }
    fn learn(&mut self, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.prior.update(&self.moments);
        Ok(())
    }
    fn draw_scales(&mut self, cx: &mut Context<'_>) {
        self.prior.draw(&self.moments, cx.key);
    }
    fn bound(&self) -> Terms {
        super::gaussian_bound(&self.prior, &self.moments)
    }
    fn idle_column(&self) -> f64 {
        self.prior.idle_column(&self.moments)
    }
    fn rotation_term(&self, _side: RotationSide) -> Option<Box<dyn RotationTerm>> {
        None
    }
    fn transform(&mut self, a: MatRef<'_, f64>, log_abs_det: f64) {
        self.moments.transform(a, log_abs_det);
        self.set_moments(self.moments.clone());
    }
    fn select(&mut self, keep: &[usize], signs: &[f64]) -> Result<(), NumericError> {
        self.prior.select(keep);
        self.moments.select(keep, signs);
        self.moments.refresh_log_det(&self.name)
    }
    fn precision(&self) -> PrecisionView<'_> {
        self.prior.precision()
    }
    fn relevance(&self) -> Option<&[f64]> {
        self.prior.relevance()
    }
}

/// Refuses numbers that are not finite.
pub(super) fn finite(
    block: &str,
    rows: MatRef<'_, f64>,
    what: &'static str,
) -> Result<(), NumericError> {
    if rows.is_all_finite() {
        Ok(())
    } else {
        Err(NumericError::NotFinite {
            block: block.to_owned(),
            what,
        })
    }
}

impl<P: ScalePrior> Stateful for DiagonalRows<P> {
    fn save(&self, prefix: &str, state: &mut State) {
        super::save_gaussian(&self.prior, &self.moments, prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.moments = super::load_gaussian(&mut self.prior, prefix, state)?;
        let independent = match self.moments.cov() {
            RowCov::Zero | RowCov::Diagonal(_) => true,
            RowCov::Shared(s) => (0..s.k()).all(|i| (0..i).all(|j| s.get(i, j) == 0.0)),
            RowCov::Basis { .. } | RowCov::Patterns { .. } | RowCov::PerRow(_) => false,
        };
        if independent {
            Ok(())
        } else {
            Err(NumericError::BadState {
                name: format!("{prefix}/variances"),
            })
        }
    }
}
