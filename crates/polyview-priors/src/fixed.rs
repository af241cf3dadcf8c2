//! Known precisions.

mod species;

pub use species::StandardNormalSpecies;

use polyview_core::{
    NumericError, PrecisionView, RotationSide, RotationTerm, RowContext, RowMoments, ScalePrior,
    State, StateReader, Stateful,
};
use polyview_random::StreamKey;

use crate::rotation::{ColumnPenalty, ColumnRotation};

/// $r\_k \sim N(0, p\_k^{-1})$ with known $p\_k$. With all $p\_k = 1$ the
/// standard normal prior of the factors (spec/sshiba G1, L1).
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    precision: Vec<f64>,
}

impl Fixed {
    /// The standard normal prior on K columns.
    pub fn standard_normal(k: usize) -> Self {
        Self {
            precision: vec![1.0; k],
        }
    }
    /// Given precisions, one a column, positive.
    pub fn new(precision: Vec<f64>) -> Self {
        Self { precision }
    }
}

impl ScalePrior for Fixed {
    fn precision(&self) -> PrecisionView<'_> {
        PrecisionView::Columns(&self.precision)
    }
    fn update(&mut self, _rows: &RowMoments) {}
    fn draw(&mut self, _rows: &RowMoments, _key: StreamKey) {}
    fn draw_prior(&mut self, _key: StreamKey) {}
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let n = rows.rows() as f64;
        let squares = rows.column_squares(None);
        self.precision
            .iter()
            .zip(squares)
            .map(|(p, e)| 0.5 * n * p.ln() - 0.5 * p * e)
            .sum()
    }
    fn bound(&self) -> f64 {
        0.0
    }
    fn for_rows(&self, _cx: &RowContext<'_>) -> Option<Self> {
        Some(self.clone())
    }
    fn learns(&self) -> bool {
        false
    }
    fn turns(&self) -> bool {
        true
    }
    fn rotation_term(
        &self,
        rows: &RowMoments,
        side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        Some(Box::new(ColumnRotation::new(
            rows.rows(),
            &rows.second_moment(None),
            side,
            ColumnPenalty::Fixed(self.precision.clone()),
        )))
    }
    fn select(&mut self, keep: &[usize]) {
        self.precision = keep.iter().map(|&k| self.precision[k]).collect();
    }
}

impl Stateful for Fixed {
    fn save(&self, prefix: &str, state: &mut State) {
        state.put_vec(&format!("{prefix}/precision"), &self.precision);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.precision = state.vec(&format!("{prefix}/precision"))?;
        Ok(())
    }
}
