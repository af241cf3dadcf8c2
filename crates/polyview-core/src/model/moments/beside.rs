//! Rows with further columns beside theirs.

use std::ops::Range;

use polyview_linalg::{Mat, MatRef, PackedRows, SymPacked, packed_index};

use super::{RowCov, RowMoments};

/// A symmetric matrix with another below it on the diagonal.
fn on_the_diagonal(a: &SymPacked, b: Option<&SymPacked>, more: usize) -> SymPacked {
    let k = a.k();
    SymPacked::from_lower(k + more, |i, j| match (i < k, j < k) {
        (true, true) => a.get(i, j),
        (false, false) => b.map_or(0.0, |b| b.get(i - k, j - k)),
        _ => 0.0,
    })
}

/// Copies a packed matrix into the diagonal of a larger one, from column `at` on.
fn put(cov: &SymPacked, at: usize, into: &mut [f64]) {
    for i in 0..cov.k() {
        for j in 0..=i {
            into[packed_index(at + i, at + j)] = cov.get(i, j);
        }
    }
}

impl RowMoments {
    /// These rows with the columns of `others` behind theirs, independent of them. The sum of
    /// log-determinants is that of these rows.
    ///
    /// # Panics
    /// If the numbers of rows differ, or rows of either are implicit.
    #[must_use]
    pub fn beside(&self, others: &Self) -> Self {
        let rows = self.explicit_rows();
        assert_eq!(rows, others.explicit_rows());
        assert_eq!((self.implicit_rows(), others.implicit_rows()), (0, 0));
        let (k, more) = (self.k(), others.k());
        let mut mean = Mat::zeros(rows, k + more);
        mean.as_mut().subcols_mut(0, k).copy_from(self.mean());
        mean.as_mut().subcols_mut(k, more).copy_from(others.mean());
        Self::new(mean, self.cov_beside(others), self.log_det(), 0)
    }
    /// The same rows with so much added to their means, rows × columns.
    #[must_use]
    pub fn shifted(&self, by: MatRef<'_, f64>) -> Self {
        let mut out = self.clone();
        let (mean, _, _) = out.parts_mut();
        *mean += by;
        out
    }
    /// As [`RowMoments::beside`], of columns that are known: rows × columns.
    ///
    /// # Panics
    /// As [`RowMoments::beside`].
    #[must_use]
    pub fn beside_known(&self, known: MatRef<'_, f64>) -> Self {
        self.beside(&Self::point(known.to_owned()))
    }
    fn cov_beside(&self, others: &Self) -> RowCov {
        let (k, more) = (self.k(), others.k());
        let variances = |of: &Self, columns: usize, at: usize, out: &mut Mat<f64>| {
            if let RowCov::Diagonal(v) = of.cov() {
                out.as_mut().subcols_mut(at, columns).copy_from(v);
            }
        };
        match (self.cov(), others.cov()) {
            (RowCov::Zero, RowCov::Zero) => RowCov::Zero,
            (RowCov::Shared(s), RowCov::Zero) => RowCov::Shared(on_the_diagonal(s, None, more)),
            (RowCov::Shared(s), RowCov::Shared(t)) => {
                RowCov::Shared(on_the_diagonal(s, Some(t), more))
            }
            (RowCov::Patterns { cov, of_row }, RowCov::Zero) => {
                let mut out = PackedRows::zeros(cov.rows(), k + more);
                for p in 0..cov.rows() {
                    put(&cov.sym(p), 0, out.row_mut(p));
                }
                RowCov::Patterns {
                    cov: out,
                    of_row: of_row.clone(),
                }
            }
            (RowCov::Basis { vectors, scales }, RowCov::Zero) => RowCov::Basis {
                vectors: stacked(vectors, None, more),
                scales: scales.clone(),
            },
            (
                RowCov::Basis { vectors, scales },
                RowCov::Basis {
                    vectors: below,
                    scales: own,
                },
            ) => {
                let mut all = Mat::zeros(scales.nrows(), scales.ncols() + own.ncols());
                all.as_mut()
                    .subcols_mut(0, scales.ncols())
                    .copy_from(scales);
                all.as_mut()
                    .subcols_mut(scales.ncols(), own.ncols())
                    .copy_from(own);
                RowCov::Basis {
                    vectors: stacked(vectors, Some(below), more),
                    scales: all,
                }
            }
            (RowCov::Diagonal(_) | RowCov::Zero, RowCov::Diagonal(_) | RowCov::Zero) => {
                let mut out = Mat::zeros(self.explicit_rows(), k + more);
                variances(self, k, 0, &mut out);
                variances(others, more, k, &mut out);
                RowCov::Diagonal(out)
            }
            _ => {
                let mut out = PackedRows::zeros(self.explicit_rows(), k + more);
                for r in 0..self.explicit_rows() {
                    put(&self.row_cov(r), 0, out.row_mut(r));
                    put(&others.row_cov(r), k, out.row_mut(r));
                }
                RowCov::PerRow(out)
            }
        }
    }
    /// Brings rows of [`RowMoments::beside`] up to date, which these are, after rows of its
    /// parts have changed.
    ///
    /// # Panics
    /// As [`RowMoments::beside`].
    pub fn update_beside(&mut self, rows: Range<usize>, first: &Self, others: &Self) {
        let k = first.k();
        let rank = |of: &Self| match of.cov() {
            RowCov::Zero => Some(0),
            RowCov::Diagonal(_) => Some(1),
            RowCov::PerRow(_) => Some(2),
            RowCov::Shared(_) | RowCov::Basis { .. } | RowCov::Patterns { .. } => None,
        };
        // rows whose covariances are their own, kept as those of both
        let kind = rank(first).zip(rank(others)).map(|(a, b)| a.max(b));
        let fits = self.k() == k + others.k() && self.explicit_rows() == first.explicit_rows();
        if !fits || kind.is_none() || kind != rank(self) {
            *self = first.beside(others);
            return;
        }
        let (mean, cov, log_det) = self.parts_mut();
        *log_det = first.log_det();
        for (of, at) in [(first, 0), (others, k)] {
            for j in 0..of.k() {
                for r in rows.clone() {
                    mean[(r, at + j)] = of.mean()[(r, j)];
                }
            }
            match cov {
                RowCov::PerRow(cov) => {
                    for r in rows.clone() {
                        put(&of.row_cov(r), at, cov.row_mut(r));
                    }
                }
                RowCov::Diagonal(variances) => {
                    for j in 0..of.k() {
                        for r in rows.clone() {
                            variances[(r, at + j)] = of.variance(r, j);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Vectors of some columns, and of others below them and to their right; zeros elsewhere.
fn stacked(vectors: &Mat<f64>, below: Option<&Mat<f64>>, more: usize) -> Mat<f64> {
    let (k, j) = vectors.shape();
    let mut out = Mat::zeros(k + more, j + below.map_or(0, Mat::ncols));
    out.as_mut().submatrix_mut(0, 0, k, j).copy_from(vectors);
    if let Some(below) = below {
        out.as_mut()
            .submatrix_mut(k, j, more, below.ncols())
            .copy_from(below);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(rows: usize, k: usize, seed: usize) -> Vec<RowMoments> {
        let number = |i: usize| ((i * 7919 + 13 * seed) % 101) as f64 / 50.0 - 1.0;
        let spd = |at: usize| {
            let mut s = SymPacked::identity(k);
            let v: Vec<f64> = (0..k).map(|j| number(at * 17 + j)).collect();
            s.add_outer(0.5, &v);
            s
        };
        let packed = |count: usize| {
            let mut out = PackedRows::zeros(count, k);
            for r in 0..count {
                out.row_mut(r).copy_from_slice(spd(r).as_slice());
            }
            out
        };
        let positive = |r: usize, j: usize| 0.1 + number(3 * r + j).abs();
        [
            RowCov::Zero,
            RowCov::Shared(spd(1)),
            RowCov::Patterns {
                cov: packed(2),
                of_row: (0..rows).map(|r| (r % 2) as u32).collect(),
            },
            RowCov::Basis {
                vectors: Mat::from_fn(k, k, |i, j| number(5 * i + j)),
                scales: Mat::from_fn(rows, k, positive),
            },
            RowCov::PerRow(packed(rows)),
            RowCov::Diagonal(Mat::from_fn(rows, k, positive)),
        ]
        .into_iter()
        .map(|cov| {
            let mean = Mat::from_fn(rows, k, |r, j| number(11 * r + j));
            RowMoments::new(mean, cov, 0.0, 0)
        })
        .collect()
    }

    fn check(found: &RowMoments, a: &RowMoments, b: &RowMoments) {
        let k = a.k();
        for r in 0..a.explicit_rows() {
            let (cov, x, y) = (found.row_cov(r), a.row_cov(r), b.row_cov(r));
            for i in 0..k + b.k() {
                let mean = if i < k {
                    a.mean()[(r, i)]
                } else {
                    b.mean()[(r, i - k)]
                };
                assert_eq!(found.mean()[(r, i)], mean);
                for j in 0..=i {
                    let want = match (i < k, j < k) {
                        (true, true) => x.get(i, j),
                        (false, false) => y.get(i - k, j - k),
                        _ => 0.0,
                    };
                    assert!((cov.get(i, j) - want).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn all_kinds_of_covariances_stand_beside_one_another() {
        for a in kinds(5, 3, 1) {
            for b in kinds(5, 2, 2) {
                let all = a.beside(&b);
                check(&all, &a, &b);
                // after some rows of either have changed
                for (c, d) in kinds(5, 3, 3).into_iter().zip(kinds(5, 2, 4)) {
                    let mut again = all.clone();
                    again.update_beside(0..5, &c, &d);
                    assert_ne!(again.stamp(), all.stamp());
                    check(&again, &c, &d);
                }
            }
        }
    }
}
