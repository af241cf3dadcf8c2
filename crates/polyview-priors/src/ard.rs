//! Automatic relevance determination.

mod species;

pub use species::ArdSpecies;

use polyview_core::{
    GammaPrior, Gammas, NumericError, PrecisionView, RotationSide, RotationTerm, RowContext,
    RowMoments, ScalePrior, State, StateReader, Stateful,
};
use polyview_random::StreamKey;

use crate::rotation::{ColumnPenalty, ColumnRotation};

/// Automatic relevance determination: $w\_{dk} \sim N(0, \alpha\_k^{-1})$ with
/// $\alpha\_k \sim \mathrm{Ga}(a\_0, b\_0)$ (shape, rate), one a factor.
///
/// A factor that a view does not need gets a large $\alpha\_k$ and weights
/// near zero (spec/sshiba G2, G4, U4, L2, L4).
#[derive(Clone, Debug, PartialEq)]
pub struct Ard {
    alpha: Gammas,
}

impl Ard {
    /// K columns, started at precision 1.
    pub fn new(prior: GammaPrior, k: usize) -> Self {
        Self {
            alpha: Gammas::new(prior, k, 1.0),
        }
    }
    /// Expected precisions, one a factor, per squared working unit.
    pub fn precisions(&self) -> &[f64] {
        self.alpha.mean()
    }
    /// The Gamma variables.
    pub fn gammas(&self) -> &Gammas {
        &self.alpha
    }
    /// Write access to the Gamma variables, for starts.
    pub fn gammas_mut(&mut self) -> &mut Gammas {
        &mut self.alpha
    }
    fn posterior(&self, rows: &RowMoments) -> Vec<(f64, f64)> {
        let half = 0.5 * rows.rows() as f64;
        rows.column_squares(None)
            .iter()
            .map(|e| self.alpha.posterior(half, 0.5 * e))
            .collect()
    }
}

impl ScalePrior for Ard {
    fn precision(&self) -> PrecisionView<'_> {
        PrecisionView::Columns(self.alpha.mean())
    }
    fn update(&mut self, rows: &RowMoments) {
        for (k, (a, b)) in self.posterior(rows).into_iter().enumerate() {
            self.alpha.set(k, a, b);
        }
    }
    fn draw(&mut self, rows: &RowMoments, key: StreamKey) {
        for (k, (a, b)) in self.posterior(rows).into_iter().enumerate() {
            self.alpha.draw(k, a, b, key.chunk(k as u32));
        }
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let p = self.alpha.prior();
        for k in 0..self.alpha.len() {
            self.alpha.draw(k, p.shape, p.rate, key.chunk(k as u32));
        }
    }
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let n = rows.rows() as f64;
        let squares = rows.column_squares(None);
        (0..self.alpha.len())
            .map(|k| 0.5 * n * self.alpha.mean_ln()[k] - 0.5 * self.alpha.mean()[k] * squares[k])
            .sum()
    }
    fn bound(&self) -> f64 {
        self.alpha.bound()
    }
    fn idle_column(&self, rows: &RowMoments) -> f64 {
        self.alpha.idle(rows.rows() as f64)
    }
    fn for_rows(&self, _cx: &RowContext<'_>) -> Option<Self> {
        Some(self.clone())
    }
    fn free(&self) -> Vec<f64> {
        self.alpha.free()
    }
    fn set_free(&mut self, values: &[f64]) {
        self.alpha.set_free(values);
    }
    fn turns(&self) -> bool {
        true
    }
    fn rotation_term(
        &self,
        rows: &RowMoments,
        side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        let prior = self.alpha.prior();
        Some(Box::new(ColumnRotation::new(
            rows.rows(),
            &rows.second_moment(None),
            side,
            ColumnPenalty::Gamma {
                shape: prior.shape + 0.5 * rows.rows() as f64,
                rate: prior.rate,
            },
        )))
    }
    fn select(&mut self, keep: &[usize]) {
        self.alpha.select(keep);
    }
}

impl Stateful for Ard {
    fn save(&self, prefix: &str, state: &mut State) {
        self.alpha.save(&format!("{prefix}/alpha"), state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.alpha.load(&format!("{prefix}/alpha"), state)
    }
}
