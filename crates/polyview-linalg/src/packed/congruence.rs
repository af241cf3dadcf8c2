//! The same change of coordinates for many symmetric matrices, eight at a time.

use super::{PackedRows, packed_index, packed_len};
use crate::simd::{Kernel, Lane, dispatch, mul_add};
use faer::MatRef;
use rayon::prelude::*;

/// Matrices side by side.
const LANES: usize = 8;
/// Matrices of one parallel task.
const TASK: usize = 8 * LANES;
/// Columns of a product made together.
const WIDTH: usize = 4;

impl PackedRows {
    /// $S\_r \leftarrow A' S\_r A$ for every row, `a` $K \times K$.
    ///
    /// Parallel over fixed blocks of rows: on one machine the bits are equal for any number of threads.
    ///
    /// # Panics
    /// If `a` is not of the order of the matrices.
    ///
    /// ```
    /// use polyview_linalg::{Mat, PackedRows};
    ///
    /// let mut rows = PackedRows::zeros(1, 2);
    /// rows.row_mut(0).copy_from_slice(&[1.0, 0.0, 1.0]); // the identity
    /// rows.congruence(Mat::from_fn(2, 2, |i, j| [[1.0, 2.0], [0.0, 1.0]][i][j]).as_ref());
    /// assert_eq!(rows.row(0), [1.0, 2.0, 5.0]);
    /// ```
    pub fn congruence(&mut self, a: MatRef<'_, f64>) {
        let k = self.k();
        assert_eq!((a.nrows(), a.ncols()), (k, k), "order of the matrices");
        if k == 0 {
            return;
        }
        // row by row, padded to whole groups of columns
        let stride = k.next_multiple_of(WIDTH);
        let mut by_row = vec![0.0; k * stride];
        for i in 0..k {
            for j in 0..k {
                by_row[i * stride + j] = a[(i, j)];
            }
        }
        let length = packed_len(k);
        self.as_mut_slice()
            .par_chunks_mut(TASK * length)
            .for_each_init(
                || [vec![Lane::ZERO; k * k], vec![Lane::ZERO; k * stride]],
                |[full, half], rows| {
                    for rows in rows.chunks_mut(LANES * length) {
                        dispatch(Congruence {
                            k,
                            stride,
                            a: &by_row,
                            rows,
                            full,
                            half,
                        });
                    }
                },
            );
    }
}

/// Up to eight matrices.
struct Congruence<'a> {
    k: usize,
    stride: usize,
    a: &'a [f64],
    rows: &'a mut [f64],
    /// $S$, all of it, entry by entry.
    full: &'a mut [Lane],
    /// $SA$.
    half: &'a mut [Lane],
}

impl Kernel for Congruence<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (k, stride, length) = (self.k, self.stride, packed_len(self.k));
        for i in 0..k {
            for j in 0..=i {
                let mut lane = Lane::ZERO;
                for (x, row) in lane.0.iter_mut().zip(self.rows.chunks_exact(length)) {
                    *x = row[packed_index(i, j)];
                }
                self.full[i * k + j] = lane;
                self.full[j * k + i] = lane;
            }
        }
        for l in 0..k {
            let s = &self.full[l * k..(l + 1) * k];
            for j in (0..stride).step_by(WIDTH) {
                let mut sums = [Lane::ZERO; WIDTH];
                for (x, a) in s.iter().zip(self.a.chunks_exact(stride)) {
                    for (sum, a) in sums.iter_mut().zip(&a[j..j + WIDTH]) {
                        plus::<FUSED>(sum, *a, x);
                    }
                }
                self.half[l * stride + j..l * stride + j + WIDTH].copy_from_slice(&sums);
            }
        }
        for i in 0..k {
            for j in (0..=i).step_by(WIDTH) {
                let mut sums = [Lane::ZERO; WIDTH];
                for (half, a) in self
                    .half
                    .chunks_exact(stride)
                    .zip(self.a.chunks_exact(stride))
                {
                    let a = a[i];
                    for (sum, x) in sums.iter_mut().zip(&half[j..j + WIDTH]) {
                        plus::<FUSED>(sum, a, x);
                    }
                }
                for (offset, sum) in sums.iter().enumerate().take(i + 1 - j) {
                    let at = packed_index(i, j + offset);
                    for (x, row) in sum.0.iter().zip(self.rows.chunks_exact_mut(length)) {
                        row[at] = *x;
                    }
                }
            }
        }
    }
}

/// `sum + a * x`.
#[inline(always)]
fn plus<const FUSED: bool>(sum: &mut Lane, a: f64, x: &Lane) {
    for r in 0..LANES {
        sum.0[r] = mul_add::<FUSED>(a, x.0[r], sum.0[r]);
    }
}

#[cfg(test)]
mod tests {
    use crate::test_support::{noise, spd_rows, with_threads};

    #[test]
    fn equals_two_dense_products_for_awkward_numbers_of_rows_and_orders() {
        for k in [1, 2, 3, 4, 5, 8, 9, 17] {
            for rows in [1, 7, 8, 9, 64, 65, 131] {
                let mut turned = spd_rows(rows, k, 3);
                let before = turned.clone();
                let a = noise(k, k, 5);
                turned.congruence(a.as_ref());
                for r in 0..rows {
                    let slow = a.transpose() * before.sym(r).to_mat() * &a;
                    let fast = turned.sym(r).to_mat();
                    for j in 0..k {
                        for i in 0..k {
                            let gap = (slow[(i, j)] - fast[(i, j)]).abs();
                            assert!(gap <= 1e-13 * (1.0 + slow.norm_max()), "{gap:e} at K = {k}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let a = noise(11, 11, 5);
        let results = with_threads(&|| {
            let mut rows = spd_rows(300, 11, 3);
            rows.congruence(a.as_ref());
            rows
        });
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
