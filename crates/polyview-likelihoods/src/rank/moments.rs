//! First and second moments of every term (spec/maxmargin-rank 5.1).
//!
//! $$\langle u\_t^2\rangle = \langle u\_t\rangle^2 + \delta^\top S\_i\delta +
//! r\_{il} + r\_{ih},\qquad r\_{in} = \mathrm{tr}(\langle a\_ia\_i^\top\rangle S\_n)$$
//!
//! with $\delta = m\_l - m\_h$. The K² work is done by sample and feature in
//! products of matrices; a term costs K, as $\delta^\top S\delta = q\_l + q\_h -
//! 2m\_h^\top Sm\_l$ with $q\_n = m\_n^\top Sm\_n$.

use std::borrow::Cow;
use std::ops::Range;

use polyview_core::{Predictor, RowCov, RowMoments, Stamp};
use polyview_linalg::{
    Mat, MatRef, PackedRows, SymPacked, cross, packed_dot, packed_index, times_small,
};
use rayon::prelude::*;

use super::kernels::{Strip, differences};
use super::pairs::Pairs;

/// Features whose terms are measured together, and those whose products are
/// made at once. Fixed, so that the order of sums is.
const CHUNK: usize = 32;
const STACK: usize = 8;

/// Means of rows, those of one row side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct RowMajor {
    stamp: Option<Stamp>,
    k: usize,
    values: Vec<f64>,
}

impl RowMajor {
    /// Copies the means, unless they are those that are there.
    pub(super) fn sync(&mut self, m: &RowMoments) {
        if self.stamp == Some(m.stamp()) {
            return;
        }
        self.k = m.k();
        self.values.resize(m.explicit_rows() * self.k, 0.0);
        for j in 0..self.k {
            for (r, x) in m.mean().col(j).iter().enumerate() {
                self.values[r * self.k + j] = *x;
            }
        }
        self.stamp = Some(m.stamp());
    }
    /// Copies one row, the only one that has changed.
    pub(super) fn sync_row(&mut self, row: usize, m: &RowMoments) {
        for j in 0..self.k {
            self.values[row * self.k + j] = m.mean()[(row, j)];
        }
        self.stamp = Some(m.stamp());
    }
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[f64] {
        let at = row as usize * self.k;
        &self.values[at..at + self.k]
    }
    /// All of them.
    pub(super) fn all(&self) -> &[f64] {
        &self.values
    }
    /// K × some rows.
    pub(super) fn columns(&self, rows: Range<usize>) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(
            &self.values[rows.start * self.k..rows.end * self.k],
            self.k,
            rows.len(),
        )
    }
    pub(super) fn rows(&self) -> usize {
        self.values.len().checked_div(self.k).unwrap_or(0)
    }
}

/// Covariances of rows, by what is cheap to do with them.
pub(super) enum Spread<'a> {
    None,
    Shared(&'a SymPacked),
    Diagonal(&'a Mat<f64>),
    Rows(Cow<'a, PackedRows>),
}

impl<'a> Spread<'a> {
    pub(super) fn of(m: &'a RowMoments) -> Self {
        match m.cov() {
            RowCov::Zero => Self::None,
            RowCov::Shared(s) => Self::Shared(s),
            RowCov::Diagonal(v) => Self::Diagonal(v),
            RowCov::PerRow(rows) => Self::Rows(Cow::Borrowed(rows)),
            RowCov::Basis { .. } | RowCov::Patterns { .. } => {
                let mut rows = PackedRows::zeros(m.explicit_rows(), m.k());
                for r in 0..m.explicit_rows() {
                    rows.row_mut(r).copy_from_slice(m.row_cov(r).as_slice());
                }
                Self::Rows(Cow::Owned(rows))
            }
        }
    }
    /// $\mathrm{tr}(S\_r M\_j)$ of some rows, rows × matrices; `None` where it is
    /// zero.
    pub(super) fn traces(&self, rows: Range<usize>, matrices: &PackedRows) -> Option<Mat<f64>> {
        let (k, count) = (matrices.k(), matrices.rows());
        match self {
            Self::None => None,
            Self::Shared(s) => {
                let line: Vec<f64> = (0..count)
                    .map(|j| packed_dot(s.as_slice(), matrices.row(j), k))
                    .collect();
                Some(Mat::from_fn(rows.len(), count, |_, j| line[j]))
            }
            Self::Diagonal(v) => {
                let diagonals = Mat::from_fn(k, count, |i, j| matrices.row(j)[packed_index(i, i)]);
                let own = v.as_ref().subrows(rows.start, rows.len());
                Some(times_small(own, diagonals.as_ref()))
            }
            Self::Rows(s) => {
                let right = doubled(matrices.clone());
                let own = s.as_mat().subcols(rows.start, rows.len());
                Some(cross(own, right.as_mat()))
            }
        }
    }
    /// Covariance of one row, K × K.
    pub(super) fn put_full(&self, row: usize, out: &mut [f64], stride: usize, k: usize) {
        let mut put = |i: usize, j: usize, x: f64| {
            out[j * stride + i] = x;
            out[i * stride + j] = x;
        };
        match self {
            Self::None => {}
            Self::Shared(s) => {
                for i in 0..k {
                    for j in 0..=i {
                        put(i, j, s.as_slice()[packed_index(i, j)]);
                    }
                }
            }
            Self::Diagonal(v) => {
                for i in 0..k {
                    put(i, i, v[(row, i)]);
                }
            }
            Self::Rows(s) => {
                for i in 0..k {
                    for j in 0..=i {
                        put(i, j, s.row(row)[packed_index(i, j)]);
                    }
                }
            }
        }
    }
}

/// The matrices with entries off the diagonal twice as large, so that products
/// with others are traces.
pub(super) fn doubled(mut matrices: PackedRows) -> PackedRows {
    let (k, count) = (matrices.k(), matrices.rows());
    for j in 0..count {
        let cell = matrices.row_mut(j);
        for x in cell.iter_mut() {
            *x *= 2.0;
        }
        for i in 0..k {
            cell[packed_index(i, i)] *= 0.5;
        }
    }
    matrices
}

/// What the moments of the terms are made from.
pub(super) struct Sides<'a> {
    pub(super) pairs: &'a Pairs,
    pub(super) epsilon: f64,
    pub(super) factors: &'a RowMajor,
    pub(super) weights: &'a RowMajor,
    pub(super) factor_cov: Spread<'a>,
    pub(super) weight_cov: Spread<'a>,
    pub(super) p: &'a Predictor<'a>,
}

impl Sides<'_> {
    /// Hands the first two moments of $u\_t$ of each term to `keep(feature,
    /// term, mean, square)`, which says what to store; returns
    /// $\sum\langle u\_t\rangle$ of each feature.
    pub(super) fn measure(
        &self,
        out: &mut [f64],
        keep: impl Fn(usize, usize, f64, f64) -> f64 + Sync,
    ) -> Vec<f64> {
        let features = self.pairs.features();
        let mut pieces = Vec::with_capacity(features.div_ceil(CHUNK));
        let mut rest = out;
        for start in (0..features).step_by(CHUNK) {
            let range = start..(start + CHUNK).min(features);
            let (piece, tail) = rest.split_at_mut(self.pairs.of_all(&range).len());
            pieces.push((range, piece));
            rest = tail;
        }
        let sums: Vec<Vec<f64>> = pieces
            .into_par_iter()
            .map(|(range, piece)| self.chunk(&range, piece, &keep))
            .collect();
        sums.concat()
    }
    fn chunk(
        &self,
        features: &Range<usize>,
        out: &mut [f64],
        keep: &(impl Fn(usize, usize, f64, f64) -> f64 + Sync),
    ) -> Vec<f64> {
        let (n, k) = (self.factors.rows(), self.weights.k);
        let eta = times_small(
            self.p.factors.mean(),
            self.weights.columns(features.clone()),
        );
        let traces = if matches!(self.factor_cov, Spread::None) {
            None
        } else {
            let moments = self.p.weights.second_moment_rows(features.clone());
            self.factor_cov.traces(0..n, &moments)
        };
        let mut sums = Vec::with_capacity(features.len());
        let mut squares = vec![0.0; n];
        let first = self.pairs.start[features.start];
        for start in features.clone().step_by(STACK) {
            let stack = start..(start + STACK).min(features.end);
            let turned = self.turned(&stack);
            for i in stack.clone() {
                let at = i - features.start;
                let w = eta.col_as_slice(at);
                let r = traces.as_ref().map(|t| t.col_as_slice(at));
                let terms = self.pairs.of(i);
                let (low, high) = (
                    &self.pairs.low[terms.clone()],
                    &self.pairs.high[terms.clone()],
                );
                let mut spread = vec![0.0; terms.len()];
                if let Some(of) = &turned {
                    let shift = (i - start) * k;
                    let strip = Strip { of, shift };
                    differences(
                        self.factors.all(),
                        strip,
                        (low, high),
                        &mut squares,
                        &mut spread,
                    );
                }
                let mut sum = 0.0;
                for (((t, l), h), spread) in terms.zip(low).zip(high).zip(spread) {
                    let mean = w[*l as usize] - w[*h as usize] + self.epsilon;
                    let mut square = mean * mean + spread;
                    if let Some(r) = r {
                        square += r[*l as usize] + r[*h as usize];
                    }
                    sum += mean;
                    out[t - first] = keep(i, t, mean, square);
                }
                sums.push(sum);
            }
        }
        sums
    }
    /// $S\_i m\_n$ of some features one below the other, for all samples.
    fn turned(&self, features: &Range<usize>) -> Option<Mat<f64>> {
        if matches!(self.weight_cov, Spread::None) {
            return None;
        }
        let (n, k) = (self.factors.rows(), self.weights.k);
        let height = features.len() * k;
        let mut stack = Mat::zeros(k, height);
        // symmetric: rows and columns may change places
        for (f, i) in features.clone().enumerate() {
            let mut block = stack.as_mut().subcols_mut(f * k, k);
            let mut full = vec![0.0; k * k];
            self.weight_cov.put_full(i, &mut full, k, k);
            for j in 0..k {
                for l in 0..k {
                    block[(l, j)] = full[j * k + l];
                }
            }
        }
        Some(cross(stack.as_ref(), self.factors.columns(0..n)))
    }
}
