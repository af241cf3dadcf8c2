//! Rows kept aside, and the way back to them.

use std::ops::Range;

use polyview_linalg::{Mat, PackedRows, SpdFactor, SymPacked, log_dets, packed_index, packed_len};

use super::{RowCov, RowMoments};
use crate::error::NumericError;

/// Some rows of a block as they were ([`RowMoments::keep`]).
#[derive(Clone, Debug)]
pub struct KeptRows {
    rows: Range<usize>,
    mean: Mat<f64>,
    /// Covariances; `None` for rows known exactly.
    cov: Option<PackedRows>,
    /// What else a block keeps of each row: tables of rows × anything.
    pub entries: Vec<Mat<f64>>,
    /// What stood beside these rows, where a block keeps more of them.
    pub beside: Option<Box<Self>>,
}

impl KeptRows {
    /// Rows known to be zero, without anything else.
    pub fn zero(rows: Range<usize>, k: usize) -> Self {
        Self {
            mean: Mat::zeros(rows.len(), k),
            rows,
            cov: None,
            entries: Vec::new(),
            beside: None,
        }
    }
    /// The same rows, known to be at their means.
    #[must_use]
    pub fn as_known(self) -> Self {
        Self {
            cov: None,
            beside: self.beside.map(|b| Box::new(b.as_known())),
            ..self
        }
    }
    /// The same rows $r$, known to be at $r + \\sum\_i t\_i(r\_i - r)$: `towards` has other rows
    /// $r\_i$ kept of the same block, and for each of the rows its $t\_i$.
    ///
    /// # Panics
    /// If the numbers of rows differ.
    #[must_use]
    pub fn moved(&self, towards: &[(&Self, &[f64])]) -> Self {
        let mut mean = self.mean.clone();
        for (other, shares) in towards {
            assert_eq!(shares.len(), mean.nrows(), "one share for each row");
            for j in 0..mean.ncols() {
                for (i, share) in shares.iter().enumerate() {
                    mean[(i, j)] += share * (other.mean[(i, j)] - self.mean[(i, j)]);
                }
            }
        }
        let beside = self.beside.as_ref().map(|own| {
            let others: Vec<(&Self, &[f64])> = (towards.iter())
                .filter_map(|(other, shares)| Some((other.beside.as_deref()?, *shares)))
                .collect();
            Box::new(own.moved(&others))
        });
        Self {
            rows: self.rows.clone(),
            mean,
            cov: None,
            entries: self.entries.clone(),
            beside,
        }
    }
    /// The rows.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }
    /// Whether they are known exactly, as draws and first starts are.
    pub fn is_known(&self) -> bool {
        self.cov.is_none()
    }
}

impl RowMoments {
    /// $\ln|S\_r|$ of some explicit rows; 0 for those that are known exactly, minus infinity
    /// where a covariance is not positive definite.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn row_log_dets(&self, rows: Range<usize>) -> Vec<f64> {
        if matches!(self.cov(), RowCov::Zero) {
            return vec![0.0; rows.len()];
        }
        if let RowCov::Diagonal(v) = self.cov() {
            let of = |r: usize| {
                if (0..self.k()).all(|j| v[(r, j)] == 0.0) {
                    0.0
                } else {
                    (0..self.k()).map(|j| v[(r, j)].ln()).sum()
                }
            };
            return rows.map(of).collect();
        }
        let own = self.row_covs(rows);
        let mut out = log_dets(&own);
        for (r, x) in out.iter_mut().enumerate() {
            if own.row(r).iter().all(|x| *x == 0.0) {
                *x = 0.0;
            }
        }
        out
    }
    /// Covariances of some explicit rows, each its own.
    fn row_covs(&self, rows: Range<usize>) -> PackedRows {
        let mut out = PackedRows::zeros(rows.len(), self.k());
        let mut spare = vec![0.0; packed_len(self.k())];
        for (i, r) in rows.enumerate() {
            out.row_mut(i)
                .copy_from_slice(self.packed_cov(r, &mut spare));
        }
        out
    }
    /// Keeps some rows aside.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn keep(&self, rows: Range<usize>) -> KeptRows {
        let cov = self.row_covs(rows.clone());
        // points may be said in several ways
        let known = cov.as_slice().iter().all(|x| *x == 0.0);
        let cov = (!known).then_some(cov);
        KeptRows {
            mean: self.mean().subrows(rows.start, rows.len()).to_owned(),
            rows,
            cov,
            entries: Vec::new(),
            beside: None,
        }
    }
    /// Puts a row where natural parameters are `share` of the way from what was kept to what
    /// is there: 0 is what was kept, 1 changes nothing (spec/sites 1.6). Where it was known
    /// exactly only its mean goes back, and at 0 it is known again.
    ///
    /// # Errors
    /// [`NumericError`] where some rows are implicit, or a covariance is not positive
    /// definite.
    ///
    /// # Panics
    /// If the row was not kept.
    pub fn retreat(
        &mut self,
        block: &str,
        kept: &KeptRows,
        row: usize,
        share: f64,
    ) -> Result<(), NumericError> {
        let (k, at) = (self.k(), row - kept.rows.start);
        let apart = matches!(
            self.cov(),
            RowCov::Zero | RowCov::Diagonal(_) | RowCov::PerRow(_)
        );
        let said_in_common = !apart && (kept.cov.is_some() || share == 0.0);
        // rows that became draws beside it lose nothing
        let back_from_a_draw =
            matches!(self.cov(), RowCov::Zero) && kept.cov.is_some() && share == 0.0;
        if said_in_common || back_from_a_draw {
            self.set_apart(block)?;
        }
        let factored = |s: &SymPacked| {
            (SpdFactor::factor(s).map(|f| f.0)).map_err(|source| NumericError::Linalg {
                block: block.to_owned(),
                source,
            })
        };
        let (mean, cov, log_det) = self.parts_mut();
        let before: Vec<f64> = (0..k).map(|j| kept.mean[(at, j)]).collect();
        let now: Vec<f64> = (0..k).map(|j| mean[(row, j)]).collect();
        let put = |mean: &mut Mat<f64>, of: &[f64]| {
            for (j, x) in of.iter().enumerate() {
                mean[(row, j)] = *x;
            }
        };
        let between = |share: f64| -> Vec<f64> {
            (before.iter().zip(&now))
                .map(|(a, b)| a + share * (b - a))
                .collect()
        };
        let Some(old) = &kept.cov else {
            put(mean, &between(share));
            if share == 0.0 {
                match cov {
                    RowCov::PerRow(all) => all.row_mut(row).fill(0.0),
                    RowCov::Diagonal(v) => (0..k).for_each(|j| v[(row, j)] = 0.0),
                    _ => {}
                }
            }
            return Ok(());
        };
        match cov {
            RowCov::Diagonal(v) => {
                for j in 0..k {
                    let (a, b) = (old.row(at)[packed_index(j, j)], v[(row, j)]);
                    let (pa, pb) = ((1.0 - share) / a, share / b);
                    let variance = if share == 0.0 { a } else { 1.0 / (pa + pb) };
                    mean[(row, j)] = if share == 0.0 {
                        before[j]
                    } else {
                        variance * (pa * before[j] + pb * now[j])
                    };
                    *log_det += variance.ln() - if b == 0.0 { 0.0 } else { b.ln() };
                    v[(row, j)] = variance;
                }
            }
            RowCov::PerRow(all) => {
                let new = all.sym(row);
                let a = factored(&old.sym(at))?;
                if share == 0.0 {
                    let known = new.as_slice().iter().all(|x| *x == 0.0);
                    let was = if known {
                        0.0
                    } else {
                        factored(&new)?.log_det()
                    };
                    all.row_mut(row).copy_from_slice(old.row(at));
                    put(mean, &before);
                    *log_det += a.log_det() - was;
                    return Ok(());
                }
                let b = factored(&new)?;
                let mut precision = SymPacked::zeros(k);
                let (pa, pb) = (a.inverse(), b.inverse());
                precision.add_scaled(1.0 - share, &pa);
                precision.add_scaled(share, &pb);
                let linear = Mat::from_fn(1, k, |_, j| {
                    (0..k)
                        .map(|i| {
                            (1.0 - share) * pa.get(j, i) * before[i] + share * pb.get(j, i) * now[i]
                        })
                        .sum()
                });
                let factor = factored(&precision)?;
                let means = factor.solve_mat_right(linear.as_ref());
                for j in 0..k {
                    mean[(row, j)] = means[(0, j)];
                }
                all.row_mut(row)
                    .copy_from_slice(factor.inverse().as_slice());
                *log_det -= factor.log_det() + b.log_det();
            }
            _ => {
                return Err(NumericError::Mismatch {
                    block: block.to_owned(),
                    what: "a row that is known exactly cannot go part of the way",
                });
            }
        }
        Ok(())
    }
    /// Gives each row the covariance that it shares with others for its own.
    fn set_apart(&mut self, block: &str) -> Result<(), NumericError> {
        if self.implicit_rows() > 0 {
            return Err(NumericError::Mismatch {
                block: block.to_owned(),
                what: "rows that data compressed away cannot go back one by one",
            });
        }
        let cov = self.cov.set_apart(self.explicit_rows(), self.k());
        *self.parts_mut().1 = RowCov::PerRow(cov);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(seed: f64, diagonal: bool) -> RowMoments {
        let k = 2;
        let mean = Mat::from_fn(3, k, |r, j| seed * (1.0 + r as f64) - j as f64);
        let cov = if diagonal {
            RowCov::Diagonal(Mat::from_fn(3, k, |r, j| seed + (r + j) as f64))
        } else {
            let mut all = PackedRows::zeros(3, k);
            for r in 0..3 {
                let mut s = SymPacked::identity(k);
                s.add_outer(seed, &[1.0, 0.3 + r as f64]);
                all.row_mut(r).copy_from_slice(s.as_slice());
            }
            RowCov::PerRow(all)
        };
        let mut out = RowMoments::new(mean, cov, 0.0, 0);
        out.refresh_log_det("test").expect("positive");
        out
    }

    #[test]
    fn rows_move_towards_others() {
        let of = |seed: f64| {
            let mut kept = moments(seed, false).keep(1..3);
            kept.beside = Some(Box::new(moments(2.0 * seed, true).keep(1..3)));
            kept
        };
        let (a, b, c) = (of(1.0), of(2.0), of(4.0));
        let at = a.moved(&[(&b, &[1.0, 0.5]), (&c, &[-1.0, 2.0])]);
        assert!(at.is_known());
        let beside = |k: &KeptRows| k.beside.as_ref().map(|b| b.mean.clone()).expect("rows");
        for (at, a, b, c) in [
            (&at.mean, &a.mean, &b.mean, &c.mean),
            (&beside(&at), &beside(&a), &beside(&b), &beside(&c)),
        ] {
            for j in 0..2 {
                assert_eq!(
                    at[(0, j)],
                    a[(0, j)] + (b[(0, j)] - a[(0, j)]) - (c[(0, j)] - a[(0, j)])
                );
                let right =
                    a[(1, j)] + 0.5 * (b[(1, j)] - a[(1, j)]) + 2.0 * (c[(1, j)] - a[(1, j)]);
                assert_eq!(at[(1, j)], right);
            }
        }
    }

    #[test]
    fn rows_go_back_and_half_way() {
        for diagonal in [false, true] {
            let (old, new) = (moments(0.7, diagonal), moments(2.5, diagonal));
            let kept = old.keep(1..3);
            let mut half = new.clone();
            half.retreat("test", &kept, 2, 0.5).expect("positive");
            let log_det = half.log_det();
            half.refresh_log_det("test").expect("positive");
            assert!((log_det - half.log_det()).abs() < 1e-12);
            // natural parameters are the mean of both
            let precision = |m: &RowMoments| {
                SpdFactor::factor(&m.row_cov(2))
                    .expect("positive")
                    .0
                    .inverse()
            };
            let (a, b, c) = (precision(&old), precision(&new), precision(&half));
            for i in 0..2 {
                for j in 0..2 {
                    let mid = 0.5 * (a.get(i, j) + b.get(i, j));
                    assert!((c.get(i, j) - mid).abs() < 1e-12);
                }
            }
            // rows that share a covariance have their own from then on
            let mut alike = RowMoments::isotropic(new.mean().to_owned(), 0.5, 0);
            alike.retreat("test", &kept, 1, 0.0).expect("positive");
            assert_eq!(alike.variance(2, 1), 0.5);
            assert_eq!(alike.row_cov(1), old.row_cov(1));
            let log_det = alike.log_det();
            alike.refresh_log_det("test").expect("positive");
            assert!((log_det - alike.log_det()).abs() < 1e-12);
            let mut back = new.clone();
            for r in 1..3 {
                back.retreat("test", &kept, r, 0.0).expect("positive");
            }
            for r in 0..3 {
                let from = if r == 0 { &new } else { &old };
                assert_eq!(back.row_cov(r), from.row_cov(r));
                assert_eq!(back.mean()[(r, 1)], from.mean()[(r, 1)]);
            }
        }
    }
}
