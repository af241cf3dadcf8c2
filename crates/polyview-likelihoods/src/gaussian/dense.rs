//! Views whose rows all have the same precision: complete ones, ones with
//! whole samples missing, and imputed ones (spec/sshiba 2.1).

use std::ops::Range;

use polyview_core::{Mask, NormalEquations, Predictor};
use polyview_linalg::{SymPacked, column_sums, weighted_column_sums};
use rayon::prelude::*;

use super::{Gaussian, MissingData};

impl Gaussian {
    /// $C = \sum\_n\langle z\_n^\top z\_n\rangle$ over the samples with data
    /// (M2), and $\sum\_n s\_n\langle z\_n\rangle$. Asked for block by block,
    /// made once.
    pub(super) fn factor_sums(&mut self, p: &Predictor<'_>) -> (SymPacked, Vec<f64>) {
        let stamp = p.factors.stamp();
        if let Some((s, gram, sum)) = &self.cache.factor_sums
            && *s == stamp
        {
            return (gram.clone(), sum.clone());
        }
        let gram = match (&self.ones, &self.mask) {
            (Some(s), Mask::Rows(_)) => p.factors.second_moment(Some(s)),
            _ => p.factors.second_moment(None),
        };
        let z = p.factors.mean();
        let sum: Vec<f64> = match &self.ones {
            None => column_sums(z),
            Some(s) => weighted_column_sums(z, s),
        };
        self.cache.factor_sums = Some((stamp, gram.clone(), sum.clone()));
        (gram, sum)
    }
    /// Right-hand sides of U2: $\tau(Z^\top x\_d - b\_d\sum z)$.
    pub(super) fn dense_weights(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        let (_, sum) = self.factor_sums(p);
        let (zx, first) = (self.zx(), eq.rows().start);
        eq.rhs
            .as_mut()
            .par_col_chunks_mut(1)
            .enumerate()
            .for_each(|(k, mut column)| {
                for i in 0..column.nrows() {
                    let d = first + i;
                    column[(i, 0)] += self.tau(d) * (zx[(k, d)] - self.level(p, d) * sum[k]);
                }
            });
    }
    /// Expected squared residual of each column (U6, E1).
    pub(super) fn dense_residuals(&mut self, columns: Range<usize>, p: &Predictor<'_>) -> Vec<f64> {
        self.ensure_zx_of(&columns, p);
        let (gram, sum) = self.factor_sums(p);
        let (zx, w) = (self.zx(), p.weights.mean());
        let energies = p.weights.row_energies(columns.clone(), &gram);
        columns
            .into_par_iter()
            .zip(energies)
            .with_min_len(128)
            .map(|(d, energy)| {
                let b = p.bias.mean()[d];
                let (mut with_x, mut with_b) = (0.0, 0.0);
                for k in 0..sum.len() {
                    with_x += w[(d, k)] * zx[(k, d)];
                    with_b += w[(d, k)] * sum[k];
                }
                self.squares[d] + self.hidden_variance(d) - 2.0 * with_x - 2.0 * b * self.sums[d]
                    + energy
                    + 2.0 * self.level(p, d) * with_b
                    + self.counts[d] * (b * b + p.bias.variance()[d])
            })
            .collect()
    }
    /// $\sum\_d \tau\_d b\_d w\_d$, with the intercepts beside the entries.
    fn weighted_bias(&self, p: &Predictor<'_>) -> Vec<f64> {
        let w = p.weights.mean();
        let b: Vec<f64> = (0..w.nrows())
            .map(|d| self.tau(d) * self.level(p, d))
            .collect();
        weighted_column_sums(w, &b)
    }
    /// $\sum\_d \tau\_d\langle w\_d^\top w\_d\rangle$ (M1).
    fn weight_moment(&self, p: &Predictor<'_>) -> SymPacked {
        let mut b = p.weights.second_moment(self.column_weights());
        b.scale(self.common_tau());
        b
    }
    /// U1: adds $\tau B$ to what samples have in common.
    pub(super) fn dense_factor_gram(
        &self,
        view: usize,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) {
        match (&self.mask, &mut eq.patterns, self.missing) {
            (Mask::Rows(_), Some(patterns), MissingData::Marginal) => {
                let moment = self.weight_moment(p);
                let table = patterns.table.clone();
                for (i, present) in table.present.iter().enumerate() {
                    if present[view] {
                        for (g, m) in patterns.grams.row_mut(i).iter_mut().zip(moment.as_slice()) {
                            *g += m;
                        }
                    }
                }
            }
            // sample by sample, with the equations
            (Mask::Rows(_), None, MissingData::Marginal) => {}
            _ => eq.gram.add_scaled(1.0, &self.weight_moment(p)),
        }
    }
    /// U1: adds $\tau(X - 1b)W$.
    pub(super) fn dense_factors(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        self.ensure_xw(p);
        if let (Mask::Rows(rows), None, MissingData::Marginal) =
            (&self.mask, &eq.patterns, self.missing)
        {
            let moment = self.weight_moment(p);
            let range = eq.rows();
            let packed = eq.packed_mut();
            for (i, n) in range.enumerate() {
                if rows[n] {
                    for (g, m) in packed.row_mut(i).iter_mut().zip(moment.as_slice()) {
                        *g += m;
                    }
                }
            }
        }
        let bias = self.weighted_bias(p);
        let tau = self.common_tau();
        let Some((_, xw)) = &self.cache.xw else {
            return;
        };
        let rows = eq.rows();
        let ones = self.ones.as_ref().map(|s| &s[rows.clone()]);
        for k in 0..eq.k() {
            let (xw, b) = (&xw.col_as_slice(k)[rows.clone()], bias[k]);
            let rhs = eq.rhs.col_as_slice_mut(k).iter_mut().zip(xw);
            match ones {
                None => rhs.for_each(|(r, x)| *r += tau * x - b),
                Some(ones) => rhs
                    .zip(ones)
                    .for_each(|((r, x), one)| *r += tau * x - one * b),
            }
        }
    }
    /// $\sum\_d\tau\_d R\_d$ at the current factors and weights, from whichever
    /// product with the data is still valid.
    pub(super) fn dense_energy(&mut self, p: &Predictor<'_>) -> f64 {
        let key = self.xw_key(p);
        let fits = matches!(&self.cache.xw, Some((k, _)) if *k == key);
        if !fits {
            let residuals = self.dense_residuals(0..self.counts.len(), p);
            let explicit: f64 = residuals
                .iter()
                .enumerate()
                .map(|(d, r)| self.tau(d) * r)
                .sum();
            return explicit
                + if self.implicit_columns > 0 {
                    self.tau(0) * self.implicit_residual(p)
                } else {
                    0.0
                };
        }
        let cross = match &self.cache.xw {
            Some((_, xw)) => {
                self.common_tau() * polyview_linalg::frobenius_dot(p.factors.mean(), xw.as_ref())
            }
            None => 0.0,
        };
        let (gram, sum) = self.factor_sums(p);
        let with_b: f64 = self
            .weighted_bias(p)
            .iter()
            .zip(&sum)
            .map(|(b, z)| b * z)
            .sum();
        let mut own = 0.0;
        for d in 0..self.counts.len() {
            let b = p.bias.mean()[d];
            own += self.tau(d)
                * (self.squares[d] + self.hidden_variance(d) - 2.0 * b * self.sums[d]
                    + self.counts[d] * (b * b + p.bias.variance()[d]));
        }
        let (count, variance) = p.bias.implicit();
        own += self.tau(0) * self.samples * count as f64 * variance;
        own - 2.0 * cross + self.weight_moment(p).dot(&gram) + 2.0 * with_b
    }
}
