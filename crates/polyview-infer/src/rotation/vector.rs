//! Square matrices as flat column-major slices, and the few vector operations of the search.

use polyview_linalg::faer::linalg::matmul::matmul;
use polyview_linalg::faer::{Accum, Par};
use polyview_linalg::{MatMut, MatRef};

pub(super) fn view(flat: &[f64], k: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(flat, k, k)
}

pub(super) fn view_mut(flat: &mut [f64], k: usize) -> MatMut<'_, f64> {
    MatMut::from_column_major_slice_mut(flat, k, k)
}

/// `out = AB`, one thread.
pub(super) fn multiply(out: &mut [f64], a: &[f64], b: &[f64], k: usize) {
    matmul(
        view_mut(out, k),
        Accum::Replace,
        view(a, k),
        view(b, k),
        1.0,
        Par::Seq,
    );
}

/// `out = AB'`, one thread.
pub(super) fn multiply_transposed(out: &mut [f64], a: &[f64], b: &[f64], k: usize) {
    matmul(
        view_mut(out, k),
        Accum::Replace,
        view(a, k),
        view(b, k).transpose(),
        1.0,
        Par::Seq,
    );
}

pub(super) fn set_identity(out: &mut [f64], k: usize) {
    out.fill(0.0);
    for r in 0..k {
        out[r * k + r] = 1.0;
    }
}

/// Inner product; four sums, so that it vectorises, in an order that depends on the length only.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4
        .remainder()
        .iter()
        .zip(b4.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in a4.zip(b4) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `y += factor x`.
pub(super) fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

pub(super) fn trace(a: &[f64], k: usize) -> f64 {
    (0..k).map(|r| a[r * k + r]).sum()
}

/// $\sqrt{\lVert A\rVert\_1 \lVert A\rVert\_\infty} \ge \lVert A\rVert\_2$; `row_sums` is scratch of length `k`.
pub(super) fn norm_bound(a: &[f64], k: usize, row_sums: &mut [f64]) -> f64 {
    let mut columns = 0.0_f64;
    row_sums.fill(0.0);
    for column in a.chunks_exact(k.max(1)) {
        let mut sum = 0.0;
        for (row, x) in row_sums.iter_mut().zip(column) {
            *row += x.abs();
            sum += x.abs();
        }
        columns = columns.max(sum);
    }
    let rows = row_sums.iter().copied().fold(0.0, f64::max);
    (columns * rows).sqrt()
}
