//! Inputs shared by the tests.

use crate::{PackedRows, SymPacked, Threads};
use faer::Mat;

/// Reproducible numbers in $[-1, 1)$.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn next(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

pub(crate) fn noise(rows: usize, cols: usize, seed: u64) -> Mat<f64> {
    let mut numbers = Numbers::new(seed);
    Mat::from_fn(rows, cols, |_, _| numbers.next())
}

/// Positive definite matrices, well conditioned, of different scales.
pub(crate) fn spd_rows(rows: usize, k: usize, seed: u64) -> PackedRows {
    let mut numbers = Numbers::new(seed);
    let mut out = PackedRows::zeros(rows, k);
    for r in 0..rows {
        let mut matrix = SymPacked::zeros(k);
        for _ in 0..k + 2 {
            let x: Vec<f64> = (0..k).map(|_| numbers.next()).collect();
            matrix.add_outer(1.0, &x);
        }
        matrix.add_diag(&vec![0.5; k]);
        matrix.scale(1.0 + r as f64 / 7.0);
        out.row_mut(r).copy_from_slice(matrix.as_slice());
    }
    out
}

/// The result with one, two and three threads.
pub(crate) fn with_threads<T: Send>(run: &(impl Fn() -> T + Sync)) -> Vec<T> {
    [1, 2, 3]
        .into_iter()
        .map(|count| Threads::new(count).unwrap().install(run))
        .collect()
}
