//! Dense kernels of factor models.

// A kernel is compiled for an instruction set only where it is inlined into the function that selects the set.
#![allow(clippy::inline_always)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub use faer;
pub use faer::{Accum, Mat, MatMut, MatRef};

mod blocks;
mod columns;
mod decompose;
mod error;
mod khatri_rao;
mod mask;
mod masked;
mod packed;
mod product;
mod simd;
mod spd;
#[cfg(test)]
mod test_support;
mod threads;
mod truncated_svd;
mod varimax;

pub use decompose::{ThinSvd, inverse, log_abs_det, solve_spd, sym_eigen, thin_qr, thin_svd};
pub use error::LinalgError;
pub use khatri_rao::{
    RowCov, khatri_rao, weighted_gram, weighted_gram_into, weighted_gram_moments,
    weighted_gram_moments_into,
};
pub use mask::BitMask;
pub use masked::{masked_gram, masked_sums};
pub use packed::{PackedRows, SymPacked, packed_dot, packed_index, packed_len, packed_quad};
pub use product::{
    column_square_sums, column_sums, cross, cross_into, frobenius_dot, gram, row_dots, times,
    times_small,
};
pub use spd::{Jitter, SpdFactor, SpdReport, draw_rows, factor_rows, solve_rows};
pub use threads::Threads;
pub use truncated_svd::{
    FilledBlock, FilledColumns, LinearOperator, TruncatedSvd, TruncatedSvdOptions, truncated_svd,
};
pub use varimax::{KaiserNormalisation, Varimax, VarimaxOptions, varimax};
