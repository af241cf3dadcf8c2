//! Eight systems that lie side by side already.

use super::Keep;
use super::lanes::{Batch, LANES, Work};
use crate::packed::packed_len;
use crate::simd::dispatch;

/// Solves symmetric positive definite systems, eight at a time, that lie side by side: what [`factor_rows`](super::factor_rows) does of systems that lie
/// one after the other.
///
/// ```
/// use polyview_linalg::SideBySide;
///
/// // [[4, 2], [2, 3 + i]] x = [8, 7 + i], i = 0..8, and one that is not positive definite
/// let mut precision = [[4.0; 8], [2.0; 8], [0.0; 8]];
/// let mut x = [[8.0; 8], [0.0; 8]];
/// for i in 0..8 {
///     (precision[2][i], x[1][i]) = (3.0 + i as f64, 7.0 + i as f64);
/// }
/// precision[2][7] = 1.0;
/// let solved = SideBySide::new(2).solve(&precision, &mut x);
/// assert_eq!(solved, [true, true, true, true, true, true, true, false]);
/// assert!((x[0][0] - 1.25).abs() < 1e-15 && (x[1][0] - 1.5).abs() < 1e-15);
/// ```
pub struct SideBySide {
    k: usize,
    batch: Batch,
}

impl SideBySide {
    /// For systems of order `k`.
    pub fn new(k: usize) -> Self {
        Self {
            k,
            batch: Batch::new(k, Keep::Factor),
        }
    }
    /// Writes solutions over the right-hand sides `x`, K lines of which line j has the j-th entries of the eight; `precision` has the packed lower triangles
    /// likewise. Whether each is positive definite beyond rounding: the solutions of others mean nothing, and have no influence on these.
    ///
    /// # Panics
    /// If the lengths disagree.
    pub fn solve(&mut self, precision: &[[f64; LANES]], x: &mut [[f64; LANES]]) -> [bool; LANES] {
        assert_eq!(
            precision.len(),
            packed_len(self.k),
            "lines of the triangles"
        );
        assert_eq!(x.len(), self.k, "lines of the right-hand sides");
        self.batch.take(precision, x);
        dispatch(Work {
            batch: &mut self.batch,
            keep: Keep::Factor,
        });
        for (to, lane) in x.iter_mut().zip(&self.batch.vector) {
            *to = lane.0;
        }
        self.batch.failed.0.map(f64::is_infinite)
    }
}
