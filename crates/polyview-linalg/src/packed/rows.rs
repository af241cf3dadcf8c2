//! Many packed symmetric matrices, one per row.

use super::{SymPacked, packed_index, packed_len};
use crate::{Scratch, blocks};
use faer::{MatMut, MatRef};

/// One packed symmetric $K \times K$ matrix per row, contiguous in memory.
///
/// Row $r$ is the second moment, covariance or precision that belongs to row $r$ of a factor or weight matrix.
/// Seen as a matrix ([`as_mat`](Self::as_mat)) it is $P \times R$ column-major with $P = K(K+1)/2$.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedRows {
    k: usize,
    rows: usize,
    data: Scratch,
}

/// Rows added in one partial sum.
const SUM_BLOCK: usize = 256;

impl PackedRows {
    /// `rows` zero matrices of order `k`.
    pub fn zeros(rows: usize, k: usize) -> Self {
        Self {
            k,
            rows,
            data: Scratch::zeros(rows * packed_len(k)),
        }
    }

    /// `rows` copies of one matrix.
    pub fn repeat(rows: usize, matrix: &SymPacked) -> Self {
        Self {
            k: matrix.k(),
            rows,
            data: matrix.as_slice().repeat(rows).into(),
        }
    }

    /// Order $K$ of the matrices.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of matrices.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Packed triangle of row `r`.
    ///
    /// # Panics
    /// If `r` is out of range.
    pub fn row(&self, r: usize) -> &[f64] {
        let length = packed_len(self.k);
        &self.data[r * length..(r + 1) * length]
    }

    /// Packed triangle of row `r`, to be written.
    ///
    /// # Panics
    /// If `r` is out of range.
    pub fn row_mut(&mut self, r: usize) -> &mut [f64] {
        let length = packed_len(self.k);
        &mut self.data[r * length..(r + 1) * length]
    }

    /// Row `r` as an owned matrix.
    ///
    /// # Panics
    /// If `r` is out of range.
    pub fn sym(&self, r: usize) -> SymPacked {
        SymPacked::from_packed(self.k, self.row(r).to_vec())
            .expect("a row has the length of a packed triangle")
    }

    /// All triangles, one after the other.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All triangles, one after the other, without a copy.
    pub fn into_vec(self) -> Vec<f64> {
        self.data.into_vec()
    }

    /// All triangles, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The triangles as the columns of a $P \times R$ matrix.
    pub fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.data, packed_len(self.k), self.rows)
    }

    /// The triangles as the columns of a $P \times R$ matrix, to be written.
    pub fn as_mat_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.data, packed_len(self.k), self.rows)
    }

    /// Keeps the rows and columns `keep` of every matrix, in that order, times
    /// their signs (±1), in place.
    ///
    /// # Panics
    /// If `keep` names a column twice or one that is not there, or differs in
    /// length from `signs`.
    pub fn select(&mut self, keep: &[usize], signs: &[f64]) {
        assert_eq!(keep.len(), signs.len(), "signs of the columns");
        assert!(
            keep.len() <= self.k && keep.iter().all(|&a| a < self.k),
            "columns"
        );
        let (old, new) = (packed_len(self.k), packed_len(keep.len()));
        // where each entry comes from, and its sign
        let mut moves = Vec::with_capacity(new);
        for (i, &a) in keep.iter().enumerate() {
            for (j, &b) in keep.iter().enumerate().take(i + 1) {
                moves.push((packed_index(a.max(b), a.min(b)), signs[i] * signs[j]));
            }
        }
        let mut row = vec![0.0; old];
        for r in 0..self.rows {
            // a row never moves beyond its own old place
            row.copy_from_slice(&self.data[r * old..(r + 1) * old]);
            for (x, (from, sign)) in self.data[r * new..(r + 1) * new].iter_mut().zip(&moves) {
                *x = sign * row[*from];
            }
        }
        self.data.shorten(self.rows * new);
        self.k = keep.len();
    }

    /// Sum over the rows, in fixed blocks added in order.
    pub fn sum(&self) -> SymPacked {
        let length = packed_len(self.k);
        blocks::ordered_sum(
            self.rows,
            blocks::size(self.rows, SUM_BLOCK),
            SymPacked::zeros(self.k),
            |range, out| {
                for r in range {
                    for (x, y) in out.as_mut_slice().iter_mut().zip(self.row(r)) {
                        *x += y;
                    }
                }
                debug_assert_eq!(out.as_slice().len(), length);
            },
            |total, part| total.add_scaled(1.0, part),
        )
    }
}
