//! What cells say of rows.

use std::ops::Range;

use polyview_core::{Equations, NormalEquations, NumericError, Predictor};
use polyview_linalg::packed_len;

use super::{CellLikelihood, Cells};

impl<L: CellLikelihood> Equations for Cells<L> {
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (k, columns) = (eq.k(), eq.rows());
        self.ensure_weight_sums(columns.end, p);
        self.check_sites()?;
        let Some(side) = &self.cache.weights else {
            return Ok(());
        };
        let len = packed_len(k);
        let packed = eq.packed_mut();
        for (i, d) in columns.clone().enumerate() {
            for (g, s) in packed.row_mut(i).iter_mut().zip(side.sums.col_as_slice(d)) {
                *g += s;
            }
        }
        for (i, d) in columns.enumerate() {
            let (b, sums) = (p.bias.mean()[d], side.sums.col_as_slice(d));
            for j in 0..k {
                eq.rhs[(i, j)] += side.linear[(j, d)] - b * sums[len + j];
            }
        }
        Ok(())
    }
    fn bias_equations(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        self.ensure_weight_sums(columns.end, p);
        let (k, w) = (p.weights.k(), p.weights.mean());
        let len = packed_len(k);
        if let Some(side) = &self.cache.weights {
            for (i, d) in columns.enumerate() {
                let (omega, h, _) = self.cache.columns[d];
                let sums = side.sums.col_as_slice(d);
                precision[i] = omega;
                rhs[i] = h - (0..k).map(|j| w[(d, j)] * sums[len + j]).sum::<f64>();
            }
        }
        0.0
    }
    fn absorb(&mut self, columns: Range<usize>, p: &Predictor<'_>) {
        self.add_factor_sums(columns, p);
    }
    fn seal(&mut self, p: &Predictor<'_>) {
        self.finish_factor_sums(p);
    }
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        self.ensure_factor_sums(p);
        self.check_sites()?;
        let Some(side) = &self.cache.factors else {
            return Ok(());
        };
        let (k, rows) = (eq.k(), eq.rows());
        let len = packed_len(k);
        let packed = eq.packed_mut();
        for (i, n) in rows.clone().enumerate() {
            for (g, s) in packed.row_mut(i).iter_mut().zip(side.sums.col_as_slice(n)) {
                *g += s;
            }
        }
        for (i, n) in rows.enumerate() {
            let sums = &side.sums.col_as_slice(n)[len..];
            for (j, sum) in sums.iter().enumerate() {
                eq.rhs[(i, j)] += side.linear[(n, j)] - sum;
            }
        }
        Ok(())
    }
}
