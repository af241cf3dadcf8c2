//! Rows out of the prior, and other rows under it.

use polyview_core::{GammaPrior, NumericError, RowGroups, RowMoments};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, fill_standard_normal, uniform_open01};

use super::SpikeSlabRows;
use crate::group_ard::GroupArd;
use crate::rows::{FullRows, other_rows};

/// Times that rows of new samples are gone over: a projection updates them once.
const PASSES: usize = 20;

impl SpikeSlabRows {
    /// Draws rows from the prior, given the expectations of its scales; one stream of
    /// random numbers a column.
    pub(super) fn draw_given_scales(&mut self, key: StreamKey) {
        self.spike_variance = self.spikes();
        let groups = self.prior.groups();
        for j in 0..self.inclusion.ncols() {
            let mut rng = key.chunk(j as u32).rng();
            fill_standard_normal(&mut rng, self.slab_mean.col_as_slice_mut(j));
            for (r, &g) in groups.of_row().iter().enumerate() {
                let at = g as usize + groups.count() * j;
                let included = uniform_open01(&mut rng) < self.prior.betas().mean(at);
                self.inclusion[(r, j)] = f64::from(u8::from(included));
                self.slab_mean[(r, j)] *= self.prior.gammas().mean()[at].sqrt().recip();
            }
        }
        self.drawn();
    }
    /// Moments of drawn zeros and slabs.
    pub(super) fn drawn(&mut self) {
        let (rows, k) = (self.inclusion.nrows(), self.inclusion.ncols());
        let w = Mat::from_fn(rows, k, |r, j| {
            self.inclusion[(r, j)] * self.slab_mean[(r, j)]
        });
        self.slab_variance = Mat::zeros(rows, k);
        self.entropy = 0.0;
        self.moments = RowMoments::point(w);
    }
    /// Rows of these groups under the same scales.
    pub(super) fn under(
        &self,
        groups: &RowGroups,
        start: RowMoments,
    ) -> Result<Self, NumericError> {
        let prior = self.prior.for_rows(groups.clone());
        let prior = prior.ok_or_else(|| other_rows(&self.name))?;
        let rows = Self::new(self.name.clone(), prior, start);
        Ok(rows.with_passes(PASSES).taken_together())
    }
    /// Rows of these groups under the Gaussian prior of the same variances.
    pub(super) fn gaussian(
        &self,
        groups: &RowGroups,
        start: RowMoments,
    ) -> Result<FullRows<GroupArd>, NumericError> {
        if groups.count() != self.prior.groups().count() {
            return Err(other_rows(&self.name));
        }
        let unit = GammaPrior::new(1.0, 1.0);
        let mut ard = GroupArd::new(unit, groups.clone(), self.prior.k());
        for at in 0..groups.count() * self.prior.k() {
            let variance = self.prior.variance(at).max(f64::MIN_POSITIVE);
            ard.gammas_mut().set_value(at, variance.recip());
        }
        Ok(FullRows::new(self.name.clone(), ard, start))
    }
}
