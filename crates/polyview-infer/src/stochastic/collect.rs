//! The factors of all samples, put together from those of batches.

use std::ops::Range;

use polyview_core::{RowCov, RowMoments};
use polyview_linalg::{Mat, PackedRows, SymPacked};

/// Covariances so far, in the smallest form that holds them all.
enum Covariances {
    None,
    /// All rows so far share one.
    Shared(SymPacked),
    /// Entries are independent.
    Diagonal(Mat<f64>),
    /// One a row.
    PerRow(PackedRows),
}

/// Gathers the factors of all samples.
pub(super) struct Collector {
    mean: Mat<f64>,
    cov: Covariances,
    filled: Vec<Range<usize>>,
    log_det: f64,
}

impl Collector {
    pub(super) fn new(samples: usize, k: usize) -> Self {
        Self {
            mean: Mat::zeros(samples, k),
            cov: Covariances::None,
            filled: Vec::new(),
            log_det: 0.0,
        }
    }

    /// Takes over the factors of some samples, one range after the other.
    pub(super) fn put(&mut self, ranges: &[Range<usize>], factors: &RowMoments) {
        let k = factors.k();
        let mut from = 0;
        for range in ranges {
            let part = factors.mean().subrows(from, range.len());
            self.mean
                .as_mut()
                .subrows_mut(range.start, range.len())
                .copy_from(part);
            from += range.len();
        }
        self.log_det += factors.log_det();
        let samples = self.mean.nrows();
        let old = std::mem::replace(&mut self.cov, Covariances::None);
        self.cov = match (old, factors.cov()) {
            (Covariances::None, RowCov::Shared(s)) => Covariances::Shared(s.clone()),
            (Covariances::Shared(old), RowCov::Shared(s)) if old == *s => Covariances::Shared(old),
            (old @ (Covariances::None | Covariances::Diagonal(_)), RowCov::Diagonal(_)) => {
                let mut all = match old {
                    Covariances::Diagonal(all) => all,
                    _ => Mat::zeros(samples, k),
                };
                let mut from = 0;
                for range in ranges {
                    for (i, n) in range.clone().enumerate() {
                        for j in 0..k {
                            all[(n, j)] = factors.variance(from + i, j);
                        }
                    }
                    from += range.len();
                }
                Covariances::Diagonal(all)
            }
            (old, _) => {
                let mut all = match old {
                    Covariances::PerRow(all) => all,
                    other => self.spread(&other, samples, k),
                };
                let mut from = 0;
                for range in ranges {
                    for (i, n) in range.clone().enumerate() {
                        let cov = factors.row_cov(from + i);
                        all.row_mut(n).copy_from_slice(cov.as_slice());
                    }
                    from += range.len();
                }
                Covariances::PerRow(all)
            }
        };
        self.filled.extend_from_slice(ranges);
    }

    /// One covariance for each row that is there already.
    fn spread(&self, old: &Covariances, samples: usize, k: usize) -> PackedRows {
        let mut all = PackedRows::zeros(samples, k);
        for n in self.filled.iter().flat_map(Clone::clone) {
            match old {
                Covariances::Shared(s) => all.row_mut(n).copy_from_slice(s.as_slice()),
                Covariances::Diagonal(v) => {
                    let mut s = SymPacked::zeros(k);
                    let diagonal: Vec<f64> = (0..k).map(|j| v[(n, j)]).collect();
                    s.add_diag(&diagonal);
                    all.row_mut(n).copy_from_slice(s.as_slice());
                }
                Covariances::None | Covariances::PerRow(_) => {}
            }
        }
        all
    }

    pub(super) fn finish(self) -> RowMoments {
        let cov = match self.cov {
            Covariances::None => RowCov::Zero,
            Covariances::Shared(s) => RowCov::Shared(s),
            Covariances::Diagonal(v) => RowCov::Diagonal(v),
            Covariances::PerRow(p) => RowCov::PerRow(p),
        };
        RowMoments::new(self.mean, cov, self.log_det, 0)
    }
}
