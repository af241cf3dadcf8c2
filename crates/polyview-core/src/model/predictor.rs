//! Moments of the linear predictor of a view.

use std::ops::Range;

use polyview_linalg::{Mat, packed_index};

use super::bias::Bias;
use super::moments::RowMoments;

/// The linear predictor $\eta\_{nd} = z\_n w\_d^\top + b\_d$ of one view, seen
/// through the moments of its three parts. The only window that a likelihood
/// has on the rest of the model.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    /// Factors, samples × K.
    pub factors: &'a RowMoments,
    /// Weights, predictor columns × K.
    pub weights: &'a RowMoments,
    /// Intercepts, one a predictor column.
    pub bias: &'a Bias,
}

impl Predictor<'_> {
    /// $\langle\eta\rangle$ for a block, samples × columns (spec/sshiba M4).
    pub fn mean(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let z = self.factors.mean().subrows(samples.start, samples.len());
        let w = self.weights.mean().subrows(columns.start, columns.len());
        let mut out = polyview_linalg::times_small(z, w.transpose().to_owned().as_ref());
        for (j, d) in columns.enumerate() {
            let b = self.bias.mean()[d];
            for n in 0..out.nrows() {
                out[(n, j)] += b;
            }
        }
        out
    }

    /// $\langle\eta\_{nd}\rangle$ of one cell.
    pub fn mean_cell(&self, sample: usize, column: usize) -> f64 {
        let (z, w) = (self.factors.mean(), self.weights.mean());
        (0..z.ncols())
            .map(|k| z[(sample, k)] * w[(column, k)])
            .sum::<f64>()
            + self.bias.mean()[column]
    }

    /// $\mathrm{Var}\,\eta$ for a block, samples × columns (spec/sshiba M5):
    /// $w S\_n w^\top + z S\_d z^\top + \mathrm{tr}(S\_n S\_d) + s\_b$.
    pub fn variance(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let k = self.factors.k();
        let doubled = |packed: &[f64]| -> Vec<f64> {
            let mut v = packed.to_vec();
            for i in 0..k {
                for j in 0..i {
                    v[packed_index(i, j)] *= 2.0;
                }
            }
            v
        };
        let outer = |m: polyview_linalg::MatRef<'_, f64>, r: usize| -> Vec<f64> {
            let mut v = Vec::with_capacity(k * (k + 1) / 2);
            for i in 0..k {
                for j in 0..=i {
                    v.push(m[(r, i)] * m[(r, j)]);
                }
            }
            v
        };
        // <S_n, ww' + S_d> + <zz', S_d> as one product over packed triangles
        let p = k * (k + 1) / 2;
        let mut left: Mat<f64> = Mat::zeros(2 * p, samples.len());
        for (i, n) in samples.clone().enumerate() {
            let s = doubled(self.factors.row_cov(n).as_slice());
            let zz = doubled(&outer(self.factors.mean(), n));
            for q in 0..p {
                left[(q, i)] = s[q];
                left[(p + q, i)] = zz[q];
            }
        }
        let mut right: Mat<f64> = Mat::zeros(2 * p, columns.len());
        for (j, d) in columns.clone().enumerate() {
            let s = self.weights.row_cov(d);
            let ww = outer(self.weights.mean(), d);
            for q in 0..p {
                right[(q, j)] = ww[q] + s.as_slice()[q];
                right[(p + q, j)] = s.as_slice()[q];
            }
        }
        let mut out = polyview_linalg::cross(left.as_ref(), right.as_ref());
        for (j, d) in columns.enumerate() {
            for i in 0..out.nrows() {
                out[(i, j)] += self.bias.variance()[d];
            }
        }
        out
    }
}
