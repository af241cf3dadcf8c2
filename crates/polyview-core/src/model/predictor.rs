//! Moments of the linear predictor of a view.

use std::ops::Range;

use polyview_linalg::{
    Accum, Mat, MatRef, PackedRows, packed_dot, packed_index, packed_len, packed_quad,
};

use super::bias::Bias;
use super::moments::{RowCov, RowMoments};

/// The linear predictor $\eta\_{nd} = z\_n w\_d^\top + b\_d$ of one view, seen
/// through the moments of its three parts. The only window that a likelihood
/// has on the rest of the model.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    /// Factors, samples × K.
    pub factors: &'a RowMoments,
    /// Weights, predictor columns × K.
    pub weights: &'a RowMoments,
    /// Intercepts, one a predictor column, or one a group of samples and column.
    pub bias: &'a Bias,
}

impl Predictor<'_> {
    /// Whether all weights have the mean zero, as before their first update: what
    /// is latent is then best left where it starts (spec/sshiba 2.7).
    pub fn has_no_weights(&self) -> bool {
        let w = self.weights.mean();
        (0..w.ncols()).all(|k| w.col(k).iter().all(|x| *x == 0.0))
    }
    /// $\langle\eta\rangle$ for a block, samples × columns (spec/sshiba M4).
    pub fn mean(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let z = self.factors.mean().subrows(samples.start, samples.len());
        let w = self.weights.mean().subrows(columns.start, columns.len());
        let mut out = polyview_linalg::times_small(z, w.transpose().to_owned().as_ref());
        for (j, d) in columns.enumerate() {
            self.add_intercepts(d, samples.start, out.col_as_slice_mut(j));
        }
        out
    }
    /// Adds each sample's intercept.
    fn add_intercepts(&self, column: usize, first: usize, to: &mut [f64]) {
        let b = self.bias.mean();
        match self.bias.groups() {
            None => {
                for x in to {
                    *x += b[column];
                }
            }
            Some(groups) => {
                for (x, &g) in to.iter_mut().zip(&groups.of_row()[first..]) {
                    *x += b[self.bias.place(g as usize, column)];
                }
            }
        }
    }

    /// $\langle\eta\_{nd}\rangle$ of one cell.
    pub fn mean_cell(&self, sample: usize, column: usize) -> f64 {
        let (z, w) = (self.factors.mean(), self.weights.mean());
        (0..z.ncols())
            .map(|k| z[(sample, k)] * w[(column, k)])
            .sum::<f64>()
            + self.bias.mean()[self.bias.place_of(sample, column)]
    }

    /// $\langle\eta^2\rangle$ for a block, samples × columns: one product of
    /// packed second moments,
    /// $\langle(z w^\top)^2\rangle + 2\langle b\rangle\langle z\rangle\langle w\rangle^\top +
    /// \langle b^2\rangle$ (spec/sshiba M5, mofa A.2).
    pub fn square(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        if self.bias.groups().is_some() {
            return self.square_by_group(samples, columns);
        }
        let (k, w) = (self.weights.k(), self.weights.mean());
        let len = packed_len(k);
        let second = self.weights.second_moment_rows(columns.clone());
        let mut right: Mat<f64> = Mat::zeros(len + k, columns.len());
        for (j, d) in columns.clone().enumerate() {
            let b = self.bias.mean()[d];
            let column = right.col_as_slice_mut(j);
            column[..len].copy_from_slice(second.row(j));
            for a in 0..k {
                for c in 0..a {
                    column[packed_index(a, c)] *= 2.0;
                }
                column[len + a] = 2.0 * b * w[(d, a)];
            }
        }
        let table = self.factors.moment_table().as_ref();
        let left = table.subcols(samples.start, samples.len());
        let mut out = polyview_linalg::cross(left, right.as_ref());
        for (j, d) in columns.enumerate() {
            let square = self.bias.mean()[d].powi(2) + self.bias.variance()[d];
            for x in out.col_as_slice_mut(j) {
                *x += square;
            }
        }
        out
    }

    /// $\langle\eta\rangle^2 + \mathrm{Var}\\,\eta$.
    fn square_by_group(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let mean = self.mean(samples.clone(), columns.clone());
        let mut out = self.variance(samples, columns);
        for j in 0..out.ncols() {
            for (x, m) in out.col_as_slice_mut(j).iter_mut().zip(mean.col_as_slice(j)) {
                *x += m * m;
            }
        }
        out
    }

    /// The variance that uncertain factors alone leave the predictor, weights and intercepts
    /// being known, for a block, samples × columns, in squared units of the predictor:
    /// $w S\_n w^\top$.
    pub fn spread(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let weights = outer_products(self.weights.mean(), columns);
        traces(self.factors, samples, &weights)
    }

    /// $\mathrm{tr}\\,S\_nM$ of symmetric matrices, samples × matrices: for
    /// $M = \tfrac12(w\_c^\top w\_d + w\_d^\top w\_c)$ the covariance that uncertain factors
    /// give the predictors of two columns, in squared units of the predictor.
    pub fn spread_along(&self, samples: Range<usize>, matrices: &PackedRows) -> Mat<f64> {
        traces(self.factors, samples, matrices)
    }

    /// $\mathrm{Var}\\,\eta$ for a block, samples × columns (spec/sshiba M5):
    /// $w S\_n w^\top + z S\_d z^\top + \mathrm{tr}(S\_n S\_d) + s\_b$.
    pub fn variance(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let mut out = self.variance_of_products(samples.clone(), columns.clone());
        for (j, d) in columns.enumerate() {
            for (i, n) in samples.clone().enumerate() {
                out[(i, j)] += self.bias.variance()[self.bias.place_of(n, d)];
            }
        }
        out
    }

    /// Mean and variance of $z\_nw\_d^\top$, that is of the predictor without its intercepts, for a
    /// block, samples × columns: while intercepts alone are moved they stay. The variance may be below
    /// zero by rounding.
    ///
    /// Where rows of both have covariances of their own the variance is
    /// $\mathrm{tr}(\langle z\_n^\top z\_n\rangle\langle w\_d^\top w\_d\rangle)$ less the squared mean: one
    /// product in place of two, off by rounding of the square.
    pub fn products(&self, samples: Range<usize>, columns: Range<usize>) -> (Mat<f64>, Mat<f64>) {
        let nothing = || Mat::zeros(0, 0);
        self.products_in((nothing(), nothing()), samples, columns)
    }

    /// [`Predictor::products`] in the memory of those of another block, samples × columns as well, where it is as large; what is
    /// in it does not matter.
    pub fn products_in(
        &self,
        (mean, variance): (Mat<f64>, Mat<f64>),
        samples: Range<usize>,
        columns: Range<usize>,
    ) -> (Mat<f64>, Mat<f64>) {
        let z = self.factors.mean().subrows(samples.start, samples.len());
        let w = self.weights.mean().subrows(columns.start, columns.len());
        let shape = (samples.len(), columns.len());
        // what is of another size goes before anything new is made
        let [mean, variance] = [mean, variance].map(|old| (old.shape() == shape).then_some(old));
        let as_large = |old: Option<Mat<f64>>| old.unwrap_or_else(|| Mat::zeros(shape.0, shape.1));
        let mut mean = as_large(mean);
        let right = w.transpose().to_owned();
        polyview_linalg::times(z, right.as_ref(), mean.as_mut(), Accum::Replace);
        let own = |rows: &RowMoments| matches!(rows.cov(), RowCov::PerRow(_));
        if !(own(self.factors) && own(self.weights)) {
            drop(variance);
            return (mean, self.variance_of_products(samples, columns));
        }
        let k = self.weights.k();
        let mut right = self.weights.second_moment_rows(columns.clone());
        for j in 0..columns.len() {
            // entries off the diagonal count twice
            let row = right.row_mut(j);
            for a in 0..k {
                for x in &mut row[packed_index(a, 0)..packed_index(a, a)] {
                    *x *= 2.0;
                }
            }
        }
        let mut variance = as_large(variance);
        let mut trace = |left: MatRef<'_, f64>| {
            polyview_linalg::cross_into(variance.as_mut(), left, right.as_mat(), Accum::Replace);
        };
        if samples.len() == self.factors.explicit_rows() {
            let table = self.factors.moment_table().as_ref();
            trace(table.subrows(0, packed_len(k)));
        } else {
            trace(self.factors.second_moment_rows(samples).as_mat());
        }
        for j in 0..columns.len() {
            let squares = variance.col_as_slice_mut(j).iter_mut();
            for (v, m) in squares.zip(mean.col_as_slice(j)) {
                *v -= m * m;
            }
        }
        (mean, variance)
    }

    /// $\langle\eta\rangle$ and $\mathrm{Var}\\,\eta$, not below zero, for a block, samples × columns, by
    /// [`Predictor::products`].
    pub fn moments(&self, samples: Range<usize>, columns: Range<usize>) -> (Mat<f64>, Mat<f64>) {
        let (mut mean, mut variance) = self.products(samples.clone(), columns.clone());
        for (j, d) in columns.enumerate() {
            self.add_intercepts(d, samples.start, mean.col_as_slice_mut(j));
            for (v, n) in variance.col_as_slice_mut(j).iter_mut().zip(samples.clone()) {
                *v = (*v + self.bias.variance()[self.bias.place_of(n, d)]).max(0.0);
            }
        }
        (mean, variance)
    }

    fn variance_of_products(&self, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let weights = self.weights.second_moment_rows(columns.clone());
        let mut out = traces(self.factors, samples.clone(), &weights);
        let factors = outer_products(self.factors.mean(), samples.clone());
        let own = traces(self.weights, columns.clone(), &factors);
        for j in 0..columns.len() {
            for (i, v) in out.col_as_slice_mut(j).iter_mut().enumerate() {
                *v += own[(j, i)];
            }
        }
        out
    }
}

/// $r^\top r$ of each row, packed.
fn outer_products(mean: MatRef<'_, f64>, rows: Range<usize>) -> PackedRows {
    let mut out = PackedRows::zeros(rows.len(), mean.ncols());
    for (i, r) in rows.enumerate() {
        let mut cells = out.row_mut(i).iter_mut();
        for a in 0..mean.ncols() {
            for (b, cell) in (0..=a).zip(&mut cells) {
                *cell = mean[(r, a)] * mean[(r, b)];
            }
        }
    }
    out
}

/// $\mathrm{tr}(S\_r M\_o)$ for the covariances of some rows and symmetric
/// matrices, rows × matrices. What rows have in common is worked out once.
fn traces(block: &RowMoments, rows: Range<usize>, matrices: &PackedRows) -> Mat<f64> {
    let (k, others) = (block.k(), matrices.rows());
    let one = |cov: &[f64]| -> Vec<f64> {
        (0..others)
            .map(|o| packed_dot(cov, matrices.row(o), k))
            .collect()
    };
    match block.cov() {
        RowCov::Zero => Mat::zeros(rows.len(), others),
        RowCov::Shared(s) => {
            let line = one(s.as_slice());
            Mat::from_fn(rows.len(), others, |_, o| line[o])
        }
        RowCov::Patterns { cov, of_row } => {
            let lines: Vec<Vec<f64>> = (0..cov.rows()).map(|p| one(cov.row(p))).collect();
            Mat::from_fn(rows.len(), others, |i, o| {
                lines[of_row[rows.start + i] as usize][o]
            })
        }
        RowCov::Basis { vectors, scales } => {
            let turned = Mat::from_fn(vectors.ncols(), others, |j, o| {
                let v: Vec<f64> = (0..k).map(|i| vectors[(i, j)]).collect();
                packed_quad(matrices.row(o), &v)
            });
            let scales = scales.as_ref().subrows(rows.start, rows.len());
            polyview_linalg::times_small(scales, turned.as_ref())
        }
        RowCov::Diagonal(variances) => {
            let diagonals = Mat::from_fn(k, others, |j, o| matrices.row(o)[packed_index(j, j)]);
            let variances = variances.as_ref().subrows(rows.start, rows.len());
            polyview_linalg::times_small(variances, diagonals.as_ref())
        }
        RowCov::PerRow(cov) => {
            // entries off the diagonal count twice
            let mut left = Mat::zeros(packed_len(k), rows.len());
            for (i, r) in rows.enumerate() {
                let column = left.col_as_slice_mut(i);
                column.copy_from_slice(cov.row(r));
                for x in column.iter_mut() {
                    *x *= 2.0;
                }
                for j in 0..k {
                    column[packed_index(j, j)] *= 0.5;
                }
            }
            polyview_linalg::cross(left.as_ref(), matrices.as_mat())
        }
    }
}

#[cfg(test)]
mod tests {
    use polyview_linalg::SymPacked;

    use super::*;

    const K: usize = 3;

    fn number(i: usize) -> f64 {
        ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0
    }

    fn spd(seed: usize) -> SymPacked {
        let mut s = SymPacked::identity(K);
        for i in 0..2 {
            let v: Vec<f64> = (0..K).map(|j| number(seed * 17 + i * 5 + j)).collect();
            s.add_outer(0.5, &v);
        }
        s
    }

    fn packed(rows: usize, seed: usize) -> PackedRows {
        let mut out = PackedRows::zeros(rows, K);
        for r in 0..rows {
            out.row_mut(r).copy_from_slice(spd(seed + r).as_slice());
        }
        out
    }

    fn kinds(rows: usize, seed: usize) -> Vec<RowMoments> {
        let positive = |r: usize, j: usize| 0.1 + number(seed + 3 * r + j).abs();
        [
            RowCov::Zero,
            RowCov::Shared(spd(seed)),
            RowCov::Patterns {
                cov: packed(2, seed),
                of_row: (0..rows).map(|r| (r % 2) as u32).collect(),
            },
            RowCov::Basis {
                vectors: Mat::from_fn(K, K, |i, j| number(seed + 5 * i + j)),
                scales: Mat::from_fn(rows, K, positive),
            },
            RowCov::PerRow(packed(rows, seed)),
            RowCov::Diagonal(Mat::from_fn(rows, K, positive)),
        ]
        .into_iter()
        .map(|cov| {
            let mean = Mat::from_fn(rows, K, |r, j| number(seed + 11 * r + j));
            RowMoments::new(mean, cov, 0.0, 0)
        })
        .collect()
    }

    #[test]
    fn variances_are_those_of_each_cell_for_all_kinds_of_covariances() {
        let (n, d) = (5, 4);
        let mut bias = Bias::gaussian(d, 0, 1.0);
        bias.set(vec![0.3; d], vec![0.1, 0.2, 0.3, 0.4]);
        for factors in &kinds(n, 1) {
            for weights in &kinds(d, 40) {
                let p = Predictor {
                    factors,
                    weights,
                    bias: &bias,
                };
                let found = p.variance(1..n, 1..d);
                for (samples, columns) in [(1..n, 1..d), (0..n, 0..d)] {
                    let (mean, own) = p.products(samples.clone(), columns.clone());
                    let whole = p.variance(samples.clone(), columns.clone());
                    for (j, c) in columns.enumerate() {
                        for (i, r) in samples.clone().enumerate() {
                            let gap = own[(i, j)] + bias.variance()[c] - whole[(i, j)];
                            let level = mean[(i, j)] + bias.mean()[c] - p.mean_cell(r, c);
                            assert!(gap.abs() < 1e-12 && level.abs() < 1e-14);
                        }
                    }
                }
                for r in 1..n {
                    for c in 1..d {
                        let (s, t) = (factors.row_cov(r), weights.row_cov(c));
                        let z: Vec<f64> = (0..K).map(|j| factors.mean()[(r, j)]).collect();
                        let w: Vec<f64> = (0..K).map(|j| weights.mean()[(c, j)]).collect();
                        let expected = s.quad(&w) + t.quad(&z) + s.dot(&t) + bias.variance()[c];
                        let gap = (found[(r - 1, c - 1)] - expected).abs();
                        assert!(gap < 1e-12, "{gap:e}");
                    }
                }
            }
        }
    }
}
