//! Symmetric positive definite systems, one or thousands.
//!
//! Thousands of small systems are solved eight at a time, interleaved ([`solve_rows`], [`factor_rows`]); one system is
//! a [`SpdFactor`]. Both treat a pivot as failed when it is not positive beyond rounding, $p \le K \epsilon a\_{jj}$,
//! retry with a little jitter on the diagonal and report it.

use crate::error::{all_finite, same_len};
use crate::packed::packed_len;
use crate::simd::{Lane, dispatch};
use crate::{LinalgError, PackedRows, SymPacked, packed_index};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{MatMut, MatRef};
use lanes::{Batch, LANES, Work};
use rayon::prelude::*;

mod beside;
mod lanes;
mod single;

#[cfg(test)]
mod tests;

pub use beside::SideBySide;
pub use single::SpdFactor;

/// Row, pivot and amount of a jitter: the first failed pivot of that row's matrix, and what was added to every entry of
/// its diagonal to make it positive definite.
pub type Jitter = (usize, usize, f64);

/// What a batch of factorisations had to repair.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpdReport {
    /// Rows that needed jitter, ascending: (row, first failed pivot, amount added to every diagonal entry).
    pub jittered: Vec<Jitter>,
}

/// Jitter tried in turn, relative to the mean diagonal.
pub(crate) const JITTER: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// What is written over the precisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Covariance,
    Factor,
}

/// Factors and solves one $K \times K$ system per row: what a Gaussian update of variational Bayes needs.
///
/// | argument | shape | in | out |
/// |---|---|---|---|
/// | `precision` | $R$ triangles of order $K$ | precisions $P\_r$ | covariances $P\_r^{-1}$ |
/// | `rhs` | $R \times K$ | right-hand sides $b\_r$ | means $P\_r^{-1} b\_r$ |
/// | `log_det` | $R$ | | $\log \det P\_r$ |
///
/// Rows that needed jitter are listed in the report; their three results belong to the matrix with the jitter.
/// Parallel over fixed blocks of rows: on one machine the bits are equal for any number of threads.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`]; [`LinalgError::NotFinite`]; [`LinalgError::NotPositiveDefinite`] with the first
/// such row and its pivot. After one of the last two the arguments hold a mixture of inputs and outputs.
///
/// ```
/// use polyview_linalg::{Mat, PackedRows, solve_rows};
///
/// let mut precision = PackedRows::zeros(1, 2);
/// precision.row_mut(0).copy_from_slice(&[4.0, 2.0, 3.0]); // [[4, 2], [2, 3]]
/// let mut rhs = Mat::from_fn(1, 2, |_, j| [8.0, 7.0][j]);
/// let mut log_det = [0.0];
/// let report = solve_rows(&mut precision, rhs.as_mut(), &mut log_det)?;
/// assert!(report.jittered.is_empty());
/// assert!((rhs[(0, 0)] - 1.25).abs() < 1e-15 && (rhs[(0, 1)] - 1.5).abs() < 1e-15);
/// assert!((precision.row(0)[0] - 3.0 / 8.0).abs() < 1e-15);
/// assert!((log_det[0] - 8.0_f64.ln()).abs() < 1e-15);
/// # Ok::<(), polyview_linalg::LinalgError>(())
/// ```
pub fn solve_rows(
    precision: &mut PackedRows,
    rhs: MatMut<'_, f64>,
    log_det: &mut [f64],
) -> Result<SpdReport, LinalgError> {
    process(precision, rhs, log_det, Keep::Covariance)
}

/// As [`solve_rows`], but `precision` out: packed Cholesky factors $L\_r$, $L\_r L\_r' = P\_r$. What a Gibbs draw needs, at
/// a third of the cost; the means have the same bits.
///
/// # Errors
/// As [`solve_rows`].
pub fn factor_rows(
    precision: &mut PackedRows,
    rhs: MatMut<'_, f64>,
    log_det: &mut [f64],
) -> Result<SpdReport, LinalgError> {
    process(precision, rhs, log_det, Keep::Factor)
}

/// $\log \det$ of every matrix, as it is or with the jitter that makes it positive definite; minus infinity where none
/// does, or an entry is not finite. The bits of a row do not depend on the others.
///
/// ```
/// use polyview_linalg::{PackedRows, log_dets};
///
/// let mut matrices = PackedRows::zeros(2, 2);
/// matrices.row_mut(0).copy_from_slice(&[4.0, 2.0, 3.0]); // [[4, 2], [2, 3]]
/// matrices.row_mut(1).copy_from_slice(&[1.0, 2.0, 1.0]);
/// let found = log_dets(&matrices);
/// assert!((found[0] - 8.0_f64.ln()).abs() < 1e-15);
/// assert_eq!(found[1], f64::NEG_INFINITY);
/// ```
pub fn log_dets(matrices: &PackedRows) -> Vec<f64> {
    let k = matrices.k();
    let mut out = vec![0.0; matrices.rows()];
    if k == 0 {
        return out;
    }
    let block = block_rows(k);
    let of_block = |batch: &mut Batch, (rows, out): (&[f64], &mut [f64])| {
        let batches = rows.chunks(LANES * packed_len(k));
        for (rows, out) in batches.zip(out.chunks_mut(LANES)) {
            batch.load(rows);
            dispatch(Work {
                batch,
                keep: Keep::Factor,
            });
            let found = batch.log_det.0.iter().zip(&batch.failed.0);
            for ((r, x), (log_det, failed)) in out.iter_mut().enumerate().zip(found) {
                *x = if failed.is_finite() {
                    alone(&rows[r * packed_len(k)..(r + 1) * packed_len(k)], k)
                } else {
                    *log_det
                };
            }
        }
    };
    matrices
        .as_slice()
        .par_chunks(block * packed_len(k))
        .zip(out.par_chunks_mut(block))
        .for_each_init(|| Batch::new(k, Keep::Factor), of_block);
    out
}

/// The log determinant of one that failed without jitter.
fn alone(packed: &[f64], k: usize) -> f64 {
    let matrix = SymPacked::from_packed(k, packed.to_vec());
    matrix
        .and_then(|m| SpdFactor::factor(&m).ok())
        .map_or(f64::NEG_INFINITY, |(factor, _)| factor.log_det())
}

/// Adds a draw from $N(0, P\_r^{-1})$ to every row of `mean`: $m\_r \leftarrow m\_r + L\_r^{-T} \epsilon\_r$, with the
/// factors of [`factor_rows`] and standard normal `noise`, both matrices $R \times K$.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`].
pub fn draw_rows(
    factor: &PackedRows,
    mean: MatMut<'_, f64>,
    noise: MatRef<'_, f64>,
) -> Result<(), LinalgError> {
    let k = factor.k();
    same_len("draw_rows: rows of the mean", factor.rows(), mean.nrows())?;
    same_len("draw_rows: columns of the mean", k, mean.ncols())?;
    same_len("draw_rows: rows of the noise", factor.rows(), noise.nrows())?;
    same_len("draw_rows: columns of the noise", k, noise.ncols())?;
    if k == 0 {
        return Ok(());
    }
    factor
        .as_slice()
        .par_chunks(block_rows(k) * packed_len(k))
        .zip(mean.par_row_chunks_mut(block_rows(k)))
        .zip(noise.par_row_chunks(block_rows(k)))
        .for_each_init(
            || vec![0.0; k],
            |x, ((factors, mut mean), noise)| {
                for (r, lower) in factors.chunks_exact(packed_len(k)).enumerate() {
                    for (j, x) in x.iter_mut().enumerate() {
                        *x = noise[(r, j)];
                    }
                    solve_transposed(lower, x);
                    for (j, x) in x.iter().enumerate() {
                        mean[(r, j)] += x;
                    }
                }
            },
        );
    Ok(())
}

/// $x \leftarrow L^{-T} x$ of one packed factor.
fn solve_transposed(lower: &[f64], x: &mut [f64]) {
    for i in (0..x.len()).rev() {
        let row = &lower[packed_index(i, 0)..=packed_index(i, i)];
        let value = x[i] / row[i];
        x[i] = value;
        for (x, a) in x[..i].iter_mut().zip(row) {
            *x -= a * value;
        }
    }
}

/// Rows of one parallel task: a multiple of the batch, so that batches do not depend on the tasks.
fn block_rows(k: usize) -> usize {
    if k < 64 { 8 * LANES } else { LANES }
}

fn process(
    precision: &mut PackedRows,
    rhs: MatMut<'_, f64>,
    log_det: &mut [f64],
    keep: Keep,
) -> Result<SpdReport, LinalgError> {
    let k = precision.k();
    same_len(
        "rows of the right-hand sides",
        precision.rows(),
        rhs.nrows(),
    )?;
    same_len("columns of the right-hand sides", k, rhs.ncols())?;
    same_len("log determinants", precision.rows(), log_det.len())?;
    all_finite("right-hand sides", rhs.rb())?;
    if k == 0 {
        log_det.fill(0.0);
        return Ok(SpdReport::default());
    }
    let block = block_rows(k);
    let outcomes: Vec<Result<Vec<Jitter>, LinalgError>> = precision
        .as_mut_slice()
        .par_chunks_mut(block * packed_len(k))
        .zip(rhs.par_row_chunks_mut(block))
        .zip(log_det.par_chunks_mut(block))
        .enumerate()
        .map_init(
            || Batch::new(k, keep),
            |batch, (b, ((precision, rhs), log_det))| {
                let mut rhs = rhs;
                let mut jittered = Vec::new();
                for first in (0..log_det.len()).step_by(LANES) {
                    let rows = first..(first + LANES).min(log_det.len());
                    one_batch(
                        batch,
                        keep,
                        &mut precision[rows.start * packed_len(k)..rows.end * packed_len(k)],
                        rhs.rb_mut().subrows_mut(rows.start, rows.len()),
                        &mut log_det[rows.clone()],
                        b * block + rows.start,
                        &mut jittered,
                    )?;
                }
                Ok(jittered)
            },
        )
        .collect();
    let mut report = SpdReport::default();
    for outcome in outcomes {
        report.jittered.extend(outcome?);
    }
    Ok(report)
}

/// Up to eight rows, the first of which is row `first` of the whole.
fn one_batch(
    batch: &mut Batch,
    keep: Keep,
    precision: &mut [f64],
    rhs: MatMut<'_, f64>,
    log_det: &mut [f64],
    first: usize,
    jittered: &mut Vec<Jitter>,
) -> Result<(), LinalgError> {
    let mut rhs = rhs;
    let k = rhs.ncols();
    let length = packed_len(k);
    batch.load(precision);
    for (j, lane) in batch.vector.iter_mut().enumerate() {
        *lane = Lane::ZERO;
        for r in 0..if j < k { log_det.len() } else { 0 } {
            lane.0[r] = rhs[(r, j)];
        }
    }
    dispatch(Work { batch, keep });

    // the inputs are still in `precision` and `rhs`: failed rows start again from them
    let mut repaired = Vec::new();
    for r in (0..log_det.len()).filter(|&r| batch.failed.0[r].is_finite()) {
        let row = &precision[r * length..(r + 1) * length];
        let matrix = SymPacked::from_packed(k, row.to_vec())
            .expect("a row has the length of a packed triangle");
        let (factor, jitter) = SpdFactor::factor(&matrix).map_err(|e| at_row(e, first + r))?;
        if let Some((_, pivot, amount)) = jitter {
            jittered.push((first + r, pivot, amount));
        }
        let mean = factor.solve_mat_right(rhs.rb().subrows(r, 1));
        repaired.push((r, factor, mean));
    }
    batch.store(precision);
    for (j, lane) in batch.vector[..k].iter().enumerate() {
        for r in 0..log_det.len() {
            rhs[(r, j)] = lane.0[r];
        }
    }
    log_det.copy_from_slice(&batch.log_det.0[..log_det.len()]);
    for (r, factor, mean) in repaired {
        let kept = match keep {
            Keep::Covariance => factor.inverse(),
            Keep::Factor => SymPacked::from_mat(factor.lower().as_ref()),
        };
        precision[r * length..(r + 1) * length].copy_from_slice(kept.as_slice());
        rhs.rb_mut().subrows_mut(r, 1).copy_from(&mean);
        log_det[r] = factor.log_det();
    }
    Ok(())
}

fn at_row(error: LinalgError, row: usize) -> LinalgError {
    match error {
        LinalgError::NotPositiveDefinite { pivot, .. } => {
            LinalgError::NotPositiveDefinite { row, pivot }
        }
        other => other,
    }
}

/// Whether a pivot is positive beyond rounding, and finite. `tolerance` is $K \epsilon$.
#[inline(always)]
pub(crate) fn pivot_is_good(pivot: f64, diagonal: f64, tolerance: f64) -> bool {
    pivot > (tolerance * diagonal.abs()).max(f64::MIN_POSITIVE) && pivot < f64::INFINITY
}
