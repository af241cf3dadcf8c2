//! The means of the entries of a row, all at once.

use std::cmp::Ordering;
use std::ops::Range;

use polyview_core::{NormalEquations, RowCov};
use polyview_linalg::{Mat, PackedRows, factor_rows, packed_index, packed_quad};
use rayon::prelude::*;

use super::SpikeSlabRows;

/// Rows whose equations are held at once.
const CHUNK: usize = 512;

/// Least probability of inclusion that the equations of the means know.
const LEAST: f64 = 1e-12;

impl SpikeSlabRows {
    /// Takes the means $\mu$ of the entries of each row to their joint optimum, given inclusions $\gamma$ and variances: entry by entry
    /// they come there slowly where factors look alike to the row, as where its cells count very differently. With
    /// $w\_k = \gamma\_k\mu\_k$ the row's part of the bound is highest where
    ///
    /// $$\frac{P\_{kk} + \langle\alpha\_k\rangle}{\gamma\_k}w\_k + \sum\_{j \ne k}P\_{kj}w\_j = b\_k .$$
    ///
    /// Rows whose equations are singular to rounding stay where they are.
    pub(super) fn settle_means(&mut self, eq: &NormalEquations) {
        let rows = eq.rows();
        if eq.k() < 2 {
            return;
        }
        for first in rows.clone().step_by(CHUNK) {
            self.settle_some(eq, first..rows.end.min(first + CHUNK));
        }
    }
    /// The same of some of the rows.
    fn settle_some(&mut self, eq: &NormalEquations, rows: Range<usize>) {
        let k = eq.k();
        let start = rows.start - eq.rows().start;
        let (groups, alpha) = (self.prior.groups(), self.prior.precisions());
        let inclusion = &self.inclusion;
        let least = |r: usize, j: usize| inclusion[(r, j)].max(LEAST);
        let of_row = |r: usize| {
            let mut precision = eq.row_precision(r);
            let group = groups.of_row()[r] as usize;
            for j in 0..k {
                let own = &mut precision.as_mut_slice()[packed_index(j, j)];
                *own = (*own + alpha[(group, j)]) / least(r, j);
            }
            precision
        };
        let all: Vec<_> = rows.clone().into_par_iter().map(of_row).collect();
        let mut precision = PackedRows::zeros(rows.len(), k);
        for (i, own) in all.iter().enumerate() {
            precision.row_mut(i).copy_from_slice(own.as_slice());
        }
        let rhs = eq.rhs.as_ref().subrows(start, rows.len());
        let mut means: Mat<f64> = rhs.to_owned();
        let mut log_det = vec![0.0; rows.len()];
        let Ok(report) = factor_rows(&mut precision, means.as_mut(), &mut log_det) else {
            return;
        };
        let mut stays = vec![false; rows.len()];
        for (row, _, _) in report.jittered {
            stays[row] = true;
        }
        let (mean, cov, _) = self.moments.parts_mut();
        let RowCov::Diagonal(variance) = cov else {
            return;
        };
        for (i, r) in rows.enumerate() {
            let before: Vec<f64> = (0..k).map(|j| mean[(r, j)]).collect();
            let after: Vec<f64> = (0..k).map(|j| means[(i, j)]).collect();
            let part = |w: &[f64]| {
                let linear: f64 = (0..k).map(|j| rhs[(i, j)] * w[j]).sum();
                linear - 0.5 * packed_quad(all[i].as_slice(), w)
            };
            // what rounding makes lower is no optimum
            if stays[i] || part(&after).partial_cmp(&part(&before)) != Some(Ordering::Greater) {
                continue;
            }
            for (j, w) in after.into_iter().enumerate() {
                let (gamma, slab) = (self.inclusion[(r, j)], self.slab_variance[(r, j)]);
                let mu = w / gamma.max(LEAST);
                self.slab_mean[(r, j)] = mu;
                mean[(r, j)] = gamma * mu;
                variance[(r, j)] = gamma * (slab + (1.0 - gamma) * mu * mu);
            }
        }
    }
}
