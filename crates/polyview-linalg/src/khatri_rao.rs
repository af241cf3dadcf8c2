//! Weighted Gram matrices by row-wise Khatri-Rao products.

use crate::packed::packed_len;
use crate::{BitMask, PackedRows, SymPacked};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Covariance of the rows of a factor or weight matrix with $K$ columns.
#[derive(Debug, Clone, Copy)]
pub enum RowCov<'a> {
    /// None: the rows are known, as in a draw.
    Zero,
    /// One $K \times K$ covariance for all rows.
    Shared(&'a SymPacked),
    /// One covariance per row.
    PerRow(&'a PackedRows),
    /// Independent entries: variances, in the shape of the mean.
    Diagonal(MatRef<'a, f64>),
}

/// Second moments $\langle z_n z_n' \rangle = m_n m_n' + S_n$ of all rows, packed.
///
/// # Panics
/// If the covariance has not the shape of the mean.
pub fn khatri_rao(mean: MatRef<'_, f64>, cov: RowCov<'_>) -> PackedRows {
    let (n, k) = mean.shape();
    let mut out = PackedRows::zeros(n, k);
    for r in 0..n {
        let row = out.row_mut(r);
        let mut at = 0;
        for i in 0..k {
            for j in 0..=i {
                row[at] = mean[(r, i)] * mean[(r, j)]
                    + match cov {
                        RowCov::Zero => 0.0,
                        RowCov::Shared(s) => s.as_slice()[at],
                        RowCov::PerRow(s) => s.row(r)[at],
                        RowCov::Diagonal(v) => {
                            if i == j {
                                v[(r, i)]
                            } else {
                                0.0
                            }
                        }
                    };
                at += 1;
            }
        }
    }
    out
}

/// Weighted Grams $G_d = \sum_n \omega_{nd} T_n$ of stored second moments $T_n$ (`kr`), one packed matrix per column
/// of `omega` ($N \times D$).
///
/// # Panics
/// If `omega` and `kr` differ in rows.
pub fn weighted_gram(omega: MatRef<'_, f64>, kr: &PackedRows) -> PackedRows {
    let mut out = PackedRows::zeros(omega.ncols(), kr.k());
    weighted_gram_into(&mut out, omega, kr, Accum::Replace);
    out
}

/// As [`weighted_gram`], into (or added to) an existing `out`.
///
/// # Panics
/// If the shapes disagree.
pub fn weighted_gram_into(
    out: &mut PackedRows,
    omega: MatRef<'_, f64>,
    kr: &PackedRows,
    accum: Accum,
) {
    assert_eq!(omega.nrows(), kr.rows(), "rows of the weights");
    assert_eq!(out.rows(), omega.ncols(), "rows of the Grams");
    assert_eq!(out.k(), kr.k(), "order of the Grams");
    matmul(out.as_mat_mut(), accum, kr.as_mat(), omega, 1.0, Par::Seq);
}

/// Weighted Grams $G_d = \sum_n \omega_{nd} (m_n m_n' + S_n)$ that never hold all second moments at one time.
///
/// # Panics
/// If the shapes disagree.
pub fn weighted_gram_moments(
    omega: MatRef<'_, f64>,
    mean: MatRef<'_, f64>,
    cov: RowCov<'_>,
) -> PackedRows {
    weighted_gram(omega, &khatri_rao(mean, cov))
}

/// Masked Grams $G_d = \sum_{n \in \mathrm{mask}\_d} T_n$ of stored second moments.
///
/// # Panics
/// If `mask` and `kr` differ in rows.
pub fn masked_gram(mask: &BitMask, kr: &PackedRows) -> PackedRows {
    let mut out = PackedRows::zeros(mask.cols(), kr.k());
    masked_sums(mask, kr.as_mat(), out.as_mat_mut());
    out
}

/// `out[., d]` = sum of the columns $n$ of `table` ($P \times N$) whose bit $(n, d)$ is set; `out` is $P \times D$.
///
/// # Panics
/// If the shapes disagree.
pub fn masked_sums(mask: &BitMask, table: MatRef<'_, f64>, out: MatMut<'_, f64>) {
    assert_eq!(mask.rows(), table.ncols(), "rows of the mask");
    assert_eq!(out.nrows(), table.nrows(), "length of the summed vectors");
    assert_eq!(out.ncols(), mask.cols(), "columns of the mask");
    out.par_col_chunks_mut(1).enumerate().for_each(|(d, out)| {
        let mut out = out.col_mut(0);
        out.fill(0.0);
        for n in mask.ones_in_col(d) {
            out += table.col(n);
        }
    });
    let _ = packed_len(1);
}
