//! Posterior blocks of rows: Gaussian with full or with no covariances, and
//! spike-and-slab.

mod beside;
mod diagonal;
mod noise;
mod patterns;
mod solve;
mod spike_slab;
mod sweep;

pub use beside::RowsBeside;
pub use diagonal::DiagonalRows;
pub(crate) use noise::normals;
pub(crate) use solve::{Prepared, draw as solve_draw, update as solve_update};
pub use spike_slab::{SpikeSlab, SpikeSlabOptions, SpikeSlabRows, SpikeSlabSpecies};

use polyview_core::{
    Context, KeptRows, NormalEquations, NumericError, Of, PrecisionView, RotationSide,
    RotationTerm, RowBlock, RowContext, RowCov, RowMoments, Rule, ScalePrior, State, StateReader,
    Stateful, Terms,
};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{StreamKey, fill_standard_normal};

/// A block of Gaussian rows with full K × K covariances,
/// $q(r) = N(m\_r, S\_r)$ with $S\_r^{-1} = \mathrm{E}[\text{prior
/// precision}] + P\_r$ and $m\_r = S\_r\\,\mathrm{rhs}\_r$ (spec/sshiba U1, U2,
/// U1m, U2m).
///
/// Rows whose precision is the same share one covariance; rows whose
/// precisions are $g\_r A + t\_r C$ share eigenvectors (spec/sshiba 2.6); rows
/// of one missingness pattern share a covariance; only rows with own parts
/// have one each.
#[derive(Clone, Debug)]
pub struct FullRows<P> {
    name: String,
    prior: P,
    moments: RowMoments,
    prepared: Prepared,
}

impl<P: ScalePrior> FullRows<P> {
    /// A block called `name` (for the journal and the ledger) with a prior and
    /// starting moments.
    pub fn new(name: impl Into<String>, prior: P, moments: RowMoments) -> Self {
        Self {
            name: name.into(),
            prior,
            moments,
            prepared: Prepared::Nothing,
        }
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

impl<P: ScalePrior> RowBlock for FullRows<P> {
    fn moments(&self) -> &RowMoments {
        &self.moments
    }
    fn set_moments(&mut self, moments: RowMoments) {
        self.moments = moments;
    }
    fn prepare(&mut self, eq: &NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        // the rows are about to change
        self.moments.forget_moment_table();
        self.prepared = Prepared::new(&self.name, self.prior.precision(), &self.moments, eq, cx)?;
        Ok(())
    }
    fn update(
        &mut self,
        eq: &mut NormalEquations,
        rule: Rule,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        solve::update(
            &self.name,
            &self.prepared,
            self.prior.precision(),
            &mut self.moments,
            (eq, rule),
            cx,
        )
    }
    fn draw(&mut self, eq: &mut NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        solve::draw(
            &self.name,
            &self.prepared,
            self.prior.precision(),
            &mut self.moments,
            eq,
            cx,
        )
    }
    fn retreat(&mut self, kept: &KeptRows, row: usize, share: f64) -> Result<(), NumericError> {
        self.moments.retreat(&self.name, kept, row, share)
    }
    fn draw_prior(&mut self, key: StreamKey) {
        self.moments = draw_prior(&mut self.prior, &self.moments, key);
    }
    fn draw_rows(&mut self, key: StreamKey) {
        self.moments = draw_rows(self.prior.precision(), &self.moments, key);
    }
    fn for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Box<dyn RowBlock>, NumericError> {
        for_rows(&self.name, &self.prior, cx, start)
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
    fn learn_turned(&mut self, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.prior.update_turned(&self.moments);
        Ok(())
    }
    fn draw_scales(&mut self, cx: &mut Context<'_>) {
        self.prior.draw(&self.moments, cx.key);
    }
    fn bound(&self) -> Terms {
        gaussian_bound(&self.prior, &self.moments)
    }
    fn idle_column(&self) -> f64 {
        self.prior.idle_column(&self.moments)
    }
    fn rotation_term(&self, side: RotationSide) -> Option<Box<dyn RotationTerm>> {
        self.prior.rotation_term(&self.moments, side)
    }
    fn transform(&mut self, a: MatRef<'_, f64>, log_abs_det: f64) {
        self.moments.transform(a, log_abs_det);
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
    fn give_up(self: Box<Self>, prefix: &str, state: &mut State) {
        let Self { prior, moments, .. } = *self;
        prior.save(&format!("{prefix}/prior"), state);
        moments.give_up(prefix, state);
    }
}

impl<P: ScalePrior> Stateful for FullRows<P> {
    fn save(&self, prefix: &str, state: &mut State) {
        save_gaussian(&self.prior, &self.moments, prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.moments = load_gaussian(&mut self.prior, prefix, state)?;
        Ok(())
    }
}

/// Draws scales, then rows, from the prior.
fn draw_prior<P: ScalePrior>(prior: &mut P, moments: &RowMoments, key: StreamKey) -> RowMoments {
    prior.draw_prior(key.block(0));
    let (rows, k) = (moments.explicit_rows(), moments.k());
    let mut noise = noise::normals(0..rows, k, key.block(1));
    let precision = prior.precision();
    for j in 0..k {
        for r in 0..rows {
            noise[(r, j)] /= precision.at(r, j).sqrt();
        }
    }
    RowMoments::point(noise)
}

/// Draws rows from a Gaussian prior, one stream of random numbers a column.
fn draw_rows(prior: PrecisionView<'_>, moments: &RowMoments, key: StreamKey) -> RowMoments {
    let mut z = Mat::zeros(moments.explicit_rows(), moments.k());
    for j in 0..z.ncols() {
        let column = z.col_as_slice_mut(j);
        fill_standard_normal(&mut key.chunk(j as u32).rng(), column);
        for (r, x) in column.iter_mut().enumerate() {
            *x /= prior.at(r, j).sqrt();
        }
    }
    RowMoments::point(z)
}

/// Other rows under a Gaussian prior, with full covariances.
fn for_rows<P: ScalePrior>(
    name: &str,
    prior: &P,
    cx: &RowContext<'_>,
    start: RowMoments,
) -> Result<Box<dyn RowBlock>, NumericError> {
    let prior = prior.for_rows(cx).ok_or_else(|| other_rows(name))?;
    Ok(Box::new(FullRows::new(name, prior, start)))
}

/// Scales that other rows cannot have.
fn other_rows(block: &str) -> NumericError {
    NumericError::Mismatch {
        block: block.to_owned(),
        what: "the scales of its prior are not those of other rows, or of other groups",
    }
}

/// `rows` and `scales` of Gaussian rows.
fn gaussian_bound<P: ScalePrior>(prior: &P, moments: &RowMoments) -> Terms {
    let entries = (moments.rows() * moments.k()) as f64;
    let own = match moments.cov() {
        // a draw: the normalising constant of the prior density
        RowCov::Zero => -0.5 * entries * (2.0 * std::f64::consts::PI).ln(),
        // entropy; its constant cancels that of the prior
        _ => 0.5 * moments.log_det() + 0.5 * entries,
    };
    let rows = prior.expected_log_density(moments) + own;
    Terms::of_samples("rows", rows).with("scales", Of::Parameters, prior.bound())
}

fn save_gaussian<P: ScalePrior>(prior: &P, moments: &RowMoments, prefix: &str, state: &mut State) {
    moments.save(prefix, state);
    prior.save(&format!("{prefix}/prior"), state);
}

fn load_gaussian<P: ScalePrior>(
    prior: &mut P,
    prefix: &str,
    state: &StateReader<'_>,
) -> Result<RowMoments, NumericError> {
    let moments = RowMoments::load(prefix, state)?;
    prior.load(&format!("{prefix}/prior"), state)?;
    if prior.precision().fits(moments.explicit_rows(), moments.k()) {
        Ok(moments)
    } else {
        Err(NumericError::BadState {
            name: format!("{prefix}/prior"),
        })
    }
}

/// Copies a block of rows into a matrix.
fn put_rows(into: &mut Mat<f64>, at: usize, rows: MatRef<'_, f64>) {
    into.as_mut().subrows_mut(at, rows.nrows()).copy_from(rows);
}
