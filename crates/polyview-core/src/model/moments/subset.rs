//! Some of the rows of a block.

use std::ops::Range;

use polyview_linalg::{Mat, PackedRows};

use super::{RowCov, RowMoments};

fn gathered(m: &Mat<f64>, rows: &[u32]) -> Mat<f64> {
    let mut out = Mat::zeros(rows.len(), m.ncols());
    for j in 0..m.ncols() {
        let from = m.col_as_slice(j);
        for (x, &r) in out.col_as_slice_mut(j).iter_mut().zip(rows) {
            *x = from[r as usize];
        }
    }
    out
}

impl RowMoments {
    /// The moments of some explicit rows, in ascending order, without implicit
    /// rows. The sum of log-determinants is not known of a part and is 0. All
    /// rows are the block itself, its stamp included.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn subset(&self, rows: &[u32]) -> Self {
        if rows.len() == self.explicit_rows() {
            return self.clone();
        }
        let mean = Mat::from_fn(rows.len(), self.k(), |i, j| {
            self.mean()[(rows[i] as usize, j)]
        });
        let cov = match self.cov() {
            RowCov::Zero => RowCov::Zero,
            RowCov::Shared(s) => RowCov::Shared(s.clone()),
            RowCov::Basis { vectors, scales } => RowCov::Basis {
                vectors: vectors.clone(),
                scales: gathered(scales, rows),
            },
            RowCov::Patterns { cov, of_row } => RowCov::Patterns {
                cov: cov.clone(),
                of_row: rows.iter().map(|&r| of_row[r as usize]).collect(),
            },
            RowCov::PerRow(cov) => {
                let mut out = PackedRows::zeros(rows.len(), self.k());
                for (i, &r) in rows.iter().enumerate() {
                    out.row_mut(i).copy_from_slice(cov.row(r as usize));
                }
                RowCov::PerRow(out)
            }
            RowCov::Diagonal(v) => RowCov::Diagonal(gathered(v, rows)),
        };
        Self::new(mean, cov, 0.0, 0)
    }

    /// Takes the rows `rows` of another block in place of its own rows `at`.
    /// Returns whether it could: both must keep one covariance, or one variance
    /// an entry, or none, for each row.
    ///
    /// # Panics
    /// If there is no such row, or the ranges differ in length.
    pub fn take_rows(&mut self, at: Range<usize>, from: &Self, rows: &[u32]) -> bool {
        assert_eq!(at.len(), rows.len());
        if self.k() != from.k() {
            return false;
        }
        let (k, start) = (from.k(), at.start);
        let (mean, cov, _) = self.parts_mut();
        match (cov, from.cov()) {
            (RowCov::Zero, RowCov::Zero) => {}
            (RowCov::PerRow(own), RowCov::PerRow(other)) => {
                for (i, &r) in rows.iter().enumerate() {
                    own.row_mut(start + i)
                        .copy_from_slice(other.row(r as usize));
                }
            }
            (RowCov::Diagonal(own), RowCov::Diagonal(other)) => {
                for j in 0..k {
                    for (i, &r) in rows.iter().enumerate() {
                        own[(start + i, j)] = other[(r as usize, j)];
                    }
                }
            }
            _ => return false,
        }
        for j in 0..k {
            for (i, &r) in rows.iter().enumerate() {
                mean[(start + i, j)] = from.mean()[(r as usize, j)];
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use polyview_linalg::SymPacked;

    use super::*;

    const K: usize = 2;

    fn mean(rows: usize) -> Mat<f64> {
        Mat::from_fn(rows, K, |r, j| (r * 3 + j) as f64)
    }

    fn kinds(rows: usize) -> Vec<RowMoments> {
        let mut packed = PackedRows::zeros(rows, K);
        for r in 0..rows {
            packed
                .row_mut(r)
                .copy_from_slice(&[1.0 + r as f64, 0.1, 2.0 + r as f64]);
        }
        let mut two = PackedRows::zeros(2, K);
        two.row_mut(0).copy_from_slice(&[1.0, 0.2, 1.0]);
        two.row_mut(1).copy_from_slice(&[3.0, 0.3, 2.0]);
        [
            RowCov::Zero,
            RowCov::Shared(SymPacked::identity(K)),
            RowCov::Basis {
                vectors: Mat::from_fn(K, K, |i, j| (i + 2 * j) as f64 + 0.5),
                scales: Mat::from_fn(rows, K, |r, j| 1.0 + (r + j) as f64),
            },
            RowCov::Patterns {
                cov: two,
                of_row: (0..rows).map(|r| (r % 2) as u32).collect(),
            },
            RowCov::PerRow(packed),
            RowCov::Diagonal(Mat::from_fn(rows, K, |r, j| 1.0 + (r * 2 + j) as f64)),
        ]
        .into_iter()
        .map(|cov| RowMoments::new(mean(rows), cov, 0.0, 0))
        .collect()
    }

    #[test]
    fn a_subset_has_the_moments_of_its_rows() {
        let rows = [1, 2, 4];
        for m in kinds(5) {
            let part = m.subset(&rows);
            assert_ne!(part.stamp(), m.stamp());
            for (i, &r) in rows.iter().enumerate() {
                let r = r as usize;
                assert_eq!(part.row_cov(i).as_slice(), m.row_cov(r).as_slice());
                assert_eq!(part.mean()[(i, 1)], m.mean()[(r, 1)]);
            }
            assert_eq!(m.subset(&[0, 1, 2, 3, 4]).stamp(), m.stamp());
        }
    }

    #[test]
    fn rows_are_taken_where_each_has_its_own_covariance() {
        for (i, m) in kinds(5).into_iter().enumerate() {
            let mut part = m.subset(&[0, 1, 3]);
            let stamp = part.stamp();
            let taken = part.take_rows(1..3, &m, &[2, 4]);
            assert_eq!(taken, matches!(i, 0 | 4 | 5));
            if taken {
                assert_ne!(part.stamp(), stamp);
                let want = m.subset(&[0, 2, 4]);
                assert_eq!((part.mean(), part.cov()), (want.mean(), want.cov()));
            }
        }
    }
}
