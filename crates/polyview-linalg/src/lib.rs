//! Dense kernels of factor models, in `f64`, on `faer` and `rayon`.
//!
//! Thousands of small positive definite systems, weighted and masked Gram matrices, block-parallel products of tall
//! matrices, truncated singular value decompositions, varimax. Every result has the same bits for any number of threads.
//!
//! The example is one exact update of 300 weight rows $w\_d$ from scores $z\_n$ with precision that varies by cell:
//! $P\_d = I + \sum\_n \omega\_{nd} z\_n z\_n'$ and $P\_d \langle w\_d \rangle = \sum\_n h\_{nd} z\_n$.
//!
//! ```
//! use polyview_linalg::{Mat, RowCov, Threads, cross, solve_rows, weighted_gram_moments};
//!
//! let (n, d, k) = (200, 300, 4);
//! let z = Mat::from_fn(n, k, |i, j| ((i * (j + 3)) % 17) as f64 / 8.0 - 1.0);
//! let omega = Mat::from_fn(n, d, |i, j| ((i + j) % 3) as f64);
//! let h = Mat::from_fn(n, d, |i, j| ((i * j) % 5) as f64 - 2.0);
//!
//! let (mean, covariance, log_det) = Threads::new(2)?.install(|| {
//!     let mut precision = weighted_gram_moments(omega.as_ref(), z.as_ref(), RowCov::Zero);
//!     for row in 0..d {
//!         for i in 0..k {
//!             precision.row_mut(row)[polyview_linalg::packed_index(i, i)] += 1.0;
//!         }
//!     }
//!     let mut mean = cross(z.as_ref(), h.as_ref()).transpose().to_owned(); // D x K
//!     let mut log_det = vec![0.0; d];
//!     let report = solve_rows(&mut precision, mean.as_mut(), &mut log_det)?;
//!     assert!(report.jittered.is_empty());
//!     Ok::<_, polyview_linalg::LinalgError>((mean, precision, log_det))
//! })?;
//! assert_eq!((mean.nrows(), covariance.rows(), log_det.len()), (d, d, d));
//! assert!(covariance.row(7)[0] < 1.0); // below the prior variance
//! # Ok::<(), polyview_linalg::LinalgError>(())
//! ```
//!
//! | what | here |
//! |---|---|
//! | symmetric matrices as packed triangles | [`SymPacked`], [`PackedRows`] |
//! | observed cells | [`BitMask`] |
//! | thousands of $K \times K$ systems | [`solve_rows`], [`factor_rows`], [`draw_rows`] |
//! | one system | [`SpdFactor`], [`solve_spd`] |
//! | second moments and their weighted sums | [`khatri_rao()`], [`RowCov`], [`weighted_gram`], [`weighted_gram_moments`] |
//! | the same for 0/1 weights | [`masked_sums`] |
//! | products with data of few observed cells | [`ObservedCells`] |
//! | products and sums | [`cross`], [`times`], [`gram`], [`frobenius_dot`], [`column_sums`] |
//! | matrices of few entries, and products with them | [`SparseColumns`], [`sparse_cross`], [`sparse_times_into`] |
//! | decompositions | [`sym_eigen`], [`thin_svd`], [`thin_qr`], [`inverse`], [`log_abs_det`] |
//! | leading singular vectors | [`truncated_svd()`], [`LinearOperator`], [`FilledColumns`] |
//! | rotation to simple structure | [`varimax()`] |
//! | vector kernels, exponentials and logarithms | [`simd`] |
//! | threads | [`Threads`], [`each`], [`each_of`] |
//!
//! **Layout.** Data ($N \times D$), scores ($N \times K$) and weights ($D \times K$) are column-major; triangles are
//! stored row after row. Any strides are accepted, unit row stride is fast.
//!
//! **Errors and panics.** Functions that meet data return [`LinalgError`]; the plain products have no failure but a
//! shape that disagrees, which is a mistake of the caller and panics, as in `faer`.
//!
//! **Determinism.** Work is cut into blocks whose size depends on the shape only, partial sums are added in block
//! order, and every product inside a block is sequential. Another processor may use other instructions (AVX-512 or
//! AVX2 with fused multiply-adds, or neither) and round differently in the last place.
//!
//! Instruction sets are chosen at run time (AVX-512, AVX2 with fused multiply-adds, or portable); no build flags are needed.

// A kernel is compiled for an instruction set only where it is inlined into the function that selects the set.
#![allow(clippy::inline_always)]

pub use faer;
pub use faer::{Accum, Mat, MatMut, MatRef};

mod blocks;
mod columns;
mod combine;
mod decompose;
mod error;
mod khatri_rao;
mod mask;
mod masked;
mod memory;
mod packed;
mod product;
pub mod simd;
mod sparse;
mod spd;
mod tasks;
#[cfg(test)]
mod test_support;
mod threads;
mod truncated_svd;
mod varimax;

pub use columns::write_column;
pub use combine::combine_columns;
pub use decompose::{ThinSvd, inverse, log_abs_det, solve_spd, sym_eigen, thin_qr, thin_svd};
pub use error::LinalgError;
pub use khatri_rao::{
    RowCov, khatri_rao, weighted_gram, weighted_gram_into, weighted_gram_moments,
};
pub use mask::BitMask;
pub use masked::{ObservedCells, add_masked_sums, masked_sums, masked_sums_of};
pub use memory::{Scratch, ScratchMat};
pub use packed::{
    Gather, PackedLanes, PackedRows, SymPacked, packed_dot, packed_index, packed_len, packed_quad,
};
pub use product::{
    column_square_sums, column_sums, cross, cross_into, frobenius_dot, gram, sum, times,
    times_small, weighted_column_sums,
};
pub use sparse::{Repeats, SparseColumns, SparseError, sparse_cross, sparse_times_into};
pub use spd::{
    Jitter, SideBySide, SpdFactor, SpdReport, draw_rows, factor_rows, log_dets, solve_rows,
};
pub use tasks::{column_chunks, each, each_of};
pub use threads::{Threads, on_pool};
pub use truncated_svd::{
    BlockValues, Completed, FilledBlock, FilledColumns, Holes, LinearOperator, TruncatedSvd,
    TruncatedSvdOptions, truncated_svd,
};
pub use varimax::{KaiserNormalisation, Varimax, VarimaxOptions, varimax};
