//! Symmetric positive definite systems, one or thousands.

use crate::error::same_len;
use crate::{LinalgError, PackedRows, packed_index};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{MatMut, MatRef};

mod single;

pub use single::SpdFactor;

/// Row, pivot and amount of a jitter that was added to the diagonal of a matrix to make it positive definite.
pub type Jitter = (usize, usize, f64);

/// What a batch of factorisations had to repair.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpdReport {
    /// Rows that needed jitter: (row, first failed pivot, amount added to every diagonal entry).
    pub jittered: Vec<Jitter>,
}

/// Jitter tried in turn, relative to the mean diagonal.
pub(crate) const JITTER: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// Factors and solves one $K \times K$ system per row.
///
/// `precision` in: precisions, out: covariances. `rhs` ($R \times K$) in: right-hand sides, out: means.
/// `log_det` out: log determinants of the precisions.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`], [`LinalgError::NotPositiveDefinite`] with row and pivot.
pub fn solve_rows(
    precision: &mut PackedRows,
    rhs: MatMut<'_, f64>,
    log_det: &mut [f64],
) -> Result<SpdReport, LinalgError> {
    let mut rhs = rhs;
    check(precision, rhs.nrows(), rhs.ncols(), log_det.len())?;
    let mut report = SpdReport::default();
    for r in 0..precision.rows() {
        let (factor, jitter) = SpdFactor::factor(&precision.sym(r)).map_err(|e| at_row(e, r))?;
        report.jittered.extend(jitter.map(|j| (r, j.1, j.2)));
        let mean = factor.solve_mat_right(rhs.rb().subrows(r, 1));
        rhs.rb_mut().subrows_mut(r, 1).copy_from(&mean);
        log_det[r] = factor.log_det();
        precision
            .row_mut(r)
            .copy_from_slice(factor.inverse().as_slice());
    }
    Ok(report)
}

/// As [`solve_rows`], but `precision` out: packed Cholesky factors $L$, $LL' = P$.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`], [`LinalgError::NotPositiveDefinite`] with row and pivot.
pub fn factor_rows(
    precision: &mut PackedRows,
    rhs: MatMut<'_, f64>,
    log_det: &mut [f64],
) -> Result<SpdReport, LinalgError> {
    let mut rhs = rhs;
    check(precision, rhs.nrows(), rhs.ncols(), log_det.len())?;
    let mut report = SpdReport::default();
    for r in 0..precision.rows() {
        let (factor, jitter) = SpdFactor::factor(&precision.sym(r)).map_err(|e| at_row(e, r))?;
        report.jittered.extend(jitter.map(|j| (r, j.1, j.2)));
        let mean = factor.solve_mat_right(rhs.rb().subrows(r, 1));
        rhs.rb_mut().subrows_mut(r, 1).copy_from(&mean);
        log_det[r] = factor.log_det();
        let lower = factor.lower();
        let row = precision.row_mut(r);
        for i in 0..lower.nrows() {
            for j in 0..=i {
                row[packed_index(i, j)] = lower[(i, j)];
            }
        }
    }
    Ok(report)
}

/// Adds a draw from $N(0, P_r^{-1})$ to every row of `mean`: $m_r \leftarrow m_r + L_r^{-T} \epsilon_r$ with the factors
/// of [`factor_rows`] and standard normal `noise`, both $R \times K$.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`].
pub fn draw_rows(
    factor: &PackedRows,
    mean: MatMut<'_, f64>,
    noise: MatRef<'_, f64>,
) -> Result<(), LinalgError> {
    let mut mean = mean;
    check(factor, mean.nrows(), mean.ncols(), noise.nrows())?;
    same_len("draw_rows: columns of the noise", factor.k(), noise.ncols())?;
    let k = factor.k();
    let mut x = vec![0.0; k];
    for r in 0..factor.rows() {
        let lower = factor.row(r);
        for i in (0..k).rev() {
            let mut value = noise[(r, i)];
            for j in i + 1..k {
                value -= lower[packed_index(j, i)] * x[j];
            }
            x[i] = value / lower[packed_index(i, i)];
            mean[(r, i)] += x[i];
        }
    }
    Ok(())
}

fn check(
    precision: &PackedRows,
    rows: usize,
    cols: usize,
    log_det: usize,
) -> Result<(), LinalgError> {
    same_len("rows of the right-hand side", precision.rows(), rows)?;
    same_len("columns of the right-hand side", precision.k(), cols)?;
    same_len("log determinants", precision.rows(), log_det)
}

fn at_row(error: LinalgError, row: usize) -> LinalgError {
    match error {
        LinalgError::NotPositiveDefinite { pivot, .. } => {
            LinalgError::NotPositiveDefinite { row, pivot }
        }
        other => other,
    }
}
