//! What the term inside can do, as often as it counts.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    ByComponent, Context, CoupledRows, NumericError, Predictor, Rounds, Side, Tangents,
};
use polyview_linalg::{Mat, PackedRows};

use super::Weighted;

impl Rounds for Weighted {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        match self.inner.as_rounds() {
            Some(inner) => inner.refresh_locals(p, cx),
            None => Ok(()),
        }
    }
    fn extrapolates(&mut self) -> bool {
        self.inner.as_rounds().is_none_or(Rounds::extrapolates)
    }
    fn rest(&mut self, resting: &[bool]) {
        if let Some(inner) = self.inner.as_rounds() {
            inner.rest(resting);
        }
    }
    fn slack(&mut self, p: &Predictor<'_>, slack: &mut PackedRows) {
        if let Some(inner) = self.inner.as_rounds() {
            let mut own = PackedRows::zeros(slack.rows(), slack.k());
            inner.slack(p, &mut own);
            for i in 0..own.rows() {
                add(self.weight, slack.row_mut(i), own.row(i));
            }
        }
    }
}

impl CoupledRows for Weighted {
    fn couple(
        &mut self,
        sample: usize,
        p: &Predictor<'_>,
        rhs: &mut [f64],
    ) -> Result<(), NumericError> {
        if let Some(inner) = self.inner.as_coupled() {
            let mut own = vec![0.0; rhs.len()];
            inner.couple(sample, p, &mut own)?;
            add(self.weight, rhs, &own);
        }
        Ok(())
    }
    fn updated(&mut self, sample: usize, p: &Predictor<'_>) {
        if let Some(inner) = self.inner.as_coupled() {
            inner.updated(sample, p);
        }
    }
}

impl Tangents for Weighted {
    fn values(&mut self, side: Side, rows: Range<usize>, p: &Predictor<'_>, out: &mut [f64]) {
        if let Some(inner) = self.inner.as_tangents() {
            let mut own = vec![0.0; out.len()];
            inner.values(side, rows, p, &mut own);
            add(self.weight, out, &own);
        }
    }
    fn couples_columns(&self) -> bool {
        self.couples
    }
    fn be_positive(&mut self, positive: bool) {
        if let Some(inner) = self.inner.as_tangents() {
            inner.be_positive(positive);
        }
    }
    fn hold(&mut self, held: bool) {
        if let Some(inner) = self.inner.as_tangents() {
            inner.hold(held);
            self.held = inner.is_held();
        }
    }
    fn is_held(&self) -> bool {
        self.held
    }
    fn starts_at_data(&mut self) -> bool {
        (self.inner.as_tangents()).is_some_and(Tangents::starts_at_data)
    }
}

impl ByComponent for Weighted {
    fn evidence(&mut self, p: &Predictor<'_>, evidence: &mut Mat<f64>) -> Result<(), NumericError> {
        if let Some(inner) = self.inner.as_by_component() {
            let mut own = Mat::zeros(evidence.nrows(), evidence.ncols());
            inner.evidence(p, &mut own)?;
            for j in 0..own.ncols() {
                add(
                    self.weight,
                    evidence.col_as_slice_mut(j),
                    own.col_as_slice(j),
                );
            }
        }
        Ok(())
    }
    fn take_shares(&mut self, shares: &Arc<Mat<f64>>) {
        if let Some(inner) = self.inner.as_by_component() {
            inner.take_shares(shares);
        }
    }
}

fn add(weight: f64, to: &mut [f64], from: &[f64]) {
    for (x, y) in to.iter_mut().zip(from) {
        *x += weight * y;
    }
}
