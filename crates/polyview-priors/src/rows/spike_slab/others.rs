//! Rows out of the prior, and other rows under it.

use polyview_core::{GammaPrior, NumericError, RowCov, RowGroups, RowMoments};
use polyview_linalg::{Mat, SymPacked, packed_index};
use polyview_random::{StreamKey, fill_standard_normal, uniform_open01};

use super::{LEAST_INCLUSION, SpikeSlabRows};
use crate::group_ard::GroupArd;
use crate::rows::diagonal::finite;
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
    /// Means and variances of rows that were taken together: means are those of the entries apart, as of
    /// rows that were fitted, $\gamma\mu$. Variances are theirs too, times what covariances add:
    /// $F C F$ with the joint covariance C and $f\_k^2 = v\_k(P\_{kk} + \langle\alpha\rangle/\gamma\_k)$, by which
    /// an entry that nothing else is like has the variance v that it has apart. `own` are the
    /// precisions of the data, for each row that was updated.
    pub(super) fn spread_together(
        &mut self,
        first: usize,
        precisions: &Mat<f64>,
        own: &[SymPacked],
    ) -> Result<(), NumericError> {
        let k = precisions.ncols();
        let (mean, cov, log_det) = self.moments.parts_mut();
        for (i, data) in own.iter().enumerate() {
            let r = first + i;
            let mut factor = vec![0.0; k];
            for j in 0..k {
                let (p, m) = (self.inclusion[(r, j)], self.slab_mean[(r, j)]);
                // an entry that is surely zero keeps a variance, by which the row has a precision
                let least = p.max(LEAST_INCLUSION);
                let apart = least * (self.slab_variance[(r, j)] + (1.0 - p) * m * m);
                let precision = data.as_slice()[packed_index(j, j)] + precisions[(r, j)];
                mean[(r, j)] = p * m;
                factor[j] = (apart * precision).sqrt();
            }
            let RowCov::PerRow(cov) = &mut *cov else {
                continue;
            };
            *log_det += 2.0 * factor.iter().map(|f| f.ln()).sum::<f64>();
            let of_row = cov.row_mut(r);
            for a in 0..k {
                for b in 0..=a {
                    of_row[packed_index(a, b)] *= factor[a] * factor[b];
                }
            }
        }
        finite(
            &self.name,
            mean.as_ref().subrows(first, own.len()),
            "a mean",
        )
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
