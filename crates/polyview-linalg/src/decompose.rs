//! Decompositions: faer's, run on one thread, with the errors of this crate.

use crate::error::{all_finite, same_len};
use crate::{LinalgError, gram, times_small};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{cholesky::llt, evd, householder, lu, qr, svd};
use faer::perm::PermRef;
use faer::{Auto, Conj, Mat, MatRef, Par};

#[cfg(test)]
mod tests;

/// Eigenvalues in ascending order and orthonormal eigenvectors (columns) of a symmetric matrix.
///
/// Reads the lower triangle only. Matrices of very small or very large numbers are brought
/// near one by a power of two first, which changes no digit of others.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`] where the matrix is not square, [`LinalgError::NotFinite`],
/// [`LinalgError::NoConvergence`].
pub fn sym_eigen(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), LinalgError> {
    let n = square("sym_eigen: columns", matrix)?;
    all_finite("sym_eigen", matrix)?;
    if n == 0 {
        return Ok((Vec::new(), Mat::zeros(0, 0)));
    }
    let unit = unit_of(matrix);
    if unit != 1.0 {
        let (values, vectors) =
            sym_eigen(Mat::from_fn(n, n, |i, j| matrix[(i, j)] / unit).as_ref())?;
        return Ok((values.into_iter().map(|x| x * unit).collect(), vectors));
    }
    let mut values = Diag::zeros(n);
    let mut vectors = Mat::zeros(n, n);
    let mut memory = MemBuffer::new(evd::self_adjoint_evd_scratch::<f64>(
        n,
        evd::ComputeEigenvectors::Yes,
        Par::Seq,
        faer::prelude::default(),
    ));
    evd::self_adjoint_evd(
        matrix,
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        faer::prelude::default(),
    )
    .map_err(|_| LinalgError::NoConvergence {
        what: "sym_eigen",
        iterations: 0,
    })?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// The power of two next below the largest number of a matrix in size, where the squares of
/// its numbers might leave the range of numbers with all their digits; 1 otherwise.
fn unit_of(matrix: MatRef<'_, f64>) -> f64 {
    const FAR: i32 = 480;
    let columns = (0..matrix.ncols()).flat_map(|j| matrix.col(j).iter());
    let largest = columns.fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    let power = largest.log2().floor() as i32;
    // of the smallest numbers the unit still has a reciprocal
    let unit = 2f64.powi(power.clamp(-1000, 1000));
    if power.abs() > FAR { unit } else { 1.0 }
}

/// A thin singular value decomposition $A = U S V'$.
#[derive(Debug, Clone)]
pub struct ThinSvd {
    /// Left singular vectors, $m \times \min(m, n)$.
    pub u: Mat<f64>,
    /// Singular values, descending.
    pub singular_values: Vec<f64>,
    /// Right singular vectors, $n \times \min(m, n)$.
    pub v: Mat<f64>,
}

/// Thin singular value decomposition.
///
/// Where faer's steps stall it is made by the products of the shorter side: vectors are orthonormal then as well, and singular
/// values below $10^{-8}$ of the largest are rounding.
///
/// # Errors
/// [`LinalgError::NotFinite`], [`LinalgError::NoConvergence`].
pub fn thin_svd(matrix: MatRef<'_, f64>) -> Result<ThinSvd, LinalgError> {
    all_finite("thin_svd", matrix)?;
    let usual = <svd::SvdParams as Auto<f64>>::auto();
    // steps of shifted QR may stall, or end in numbers that are none, on matrices of few directions; those of the smallest blocks,
    // and of the transpose, are others
    let small = svd::SvdParams {
        recursion_threshold: SMALLEST_BLOCK,
        ..usual
    };
    if let Some(found) = [usual, small].into_iter().find_map(|p| svd_by(matrix, p)) {
        return Ok(found);
    }
    let turned = [usual, small]
        .into_iter()
        .find_map(|p| svd_by(matrix.transpose(), p));
    turned.map_or_else(|| svd_of_products(matrix), |own| Ok(own.transposed()))
}

impl ThinSvd {
    fn transposed(self) -> Self {
        Self {
            u: self.v,
            singular_values: self.singular_values,
            v: self.u,
        }
    }
    fn is_finite(&self) -> bool {
        let known = |m: &Mat<f64>| m.col_iter().all(|c| c.iter().all(|x| x.is_finite()));
        known(&self.u) && known(&self.v) && self.singular_values.iter().all(|s| s.is_finite())
    }
}

/// By the eigenvectors of the products of the shorter side.
fn svd_of_products(matrix: MatRef<'_, f64>) -> Result<ThinSvd, LinalgError> {
    if matrix.nrows() < matrix.ncols() {
        return svd_of_products(matrix.transpose()).map(ThinSvd::transposed);
    }
    let (_, ascending) = sym_eigen(gram(matrix).to_mat().as_ref())?;
    let n = ascending.ncols();
    let v = Mat::from_fn(n, n, |d, j| ascending[(d, n - 1 - j)]);
    let (q, r) = thin_qr(times_small(matrix, v.as_ref()).as_ref())?;
    let u = Mat::from_fn(q.nrows(), n, |i, j| q[(i, j)] * r[(j, j)].signum());
    let singular_values = (0..n).map(|j| r[(j, j)].abs()).collect();
    Ok(ThinSvd {
        u,
        singular_values,
        v,
    })
}

/// The smallest blocks that a bidiagonal matrix can be parted into.
const SMALLEST_BLOCK: usize = 4;

/// One with these parameters, where it converges.
fn svd_by(matrix: MatRef<'_, f64>, params: svd::SvdParams) -> Option<ThinSvd> {
    let (m, n) = matrix.shape();
    let size = m.min(n);
    let mut u = Mat::zeros(m, size);
    let mut v = Mat::zeros(n, size);
    let mut s = Diag::zeros(size);
    let mut memory = MemBuffer::new(svd::svd_scratch::<f64>(
        m,
        n,
        svd::ComputeSvdVectors::Thin,
        svd::ComputeSvdVectors::Thin,
        Par::Seq,
        params.into(),
    ));
    svd::svd(
        matrix,
        s.as_mut(),
        Some(u.as_mut()),
        Some(v.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        params.into(),
    )
    .ok()?;
    let found = ThinSvd {
        u,
        singular_values: s.column_vector().iter().copied().collect(),
        v,
    };
    Some(found).filter(ThinSvd::is_finite)
}

/// Thin QR decomposition $A = QR$: `q` is $m \times s$ with orthonormal columns, `r` is $s \times n$ upper
/// triangular, $s = \min(m, n)$.
///
/// # Errors
/// [`LinalgError::NotFinite`].
pub fn thin_qr(matrix: MatRef<'_, f64>) -> Result<(Mat<f64>, Mat<f64>), LinalgError> {
    all_finite("thin_qr", matrix)?;
    let (m, n) = matrix.shape();
    let size = m.min(n);
    let mut packed = matrix.to_owned();
    let block = qr::no_pivoting::factor::recommended_block_size::<f64>(m, n);
    let mut coefficients = Mat::zeros(block, size);
    let mut memory = MemBuffer::new(qr::no_pivoting::factor::qr_in_place_scratch::<f64>(
        m,
        n,
        block,
        Par::Seq,
        faer::prelude::default(),
    ));
    qr::no_pivoting::factor::qr_in_place(
        packed.as_mut(),
        coefficients.as_mut(),
        Par::Seq,
        MemStack::new(&mut memory),
        faer::prelude::default(),
    );
    let r = Mat::from_fn(size, n, |i, j| if i <= j { packed[(i, j)] } else { 0.0 });
    let basis = Mat::from_fn(m, size, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => packed[(i, j)],
    });
    let mut q = Mat::identity(m, size);
    let mut memory = MemBuffer::new(
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
            m, block, size,
        ),
    );
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        basis.as_ref(),
        coefficients.as_ref(),
        Conj::No,
        q.as_mut(),
        Par::Seq,
        MemStack::new(&mut memory),
    );
    Ok((q, r))
}

/// Inverse of a general square matrix, by LU with partial pivoting.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`] where the matrix is not square, [`LinalgError::NotFinite`],
/// [`LinalgError::Singular`] where a pivot is exactly zero.
pub fn inverse(matrix: MatRef<'_, f64>) -> Result<Mat<f64>, LinalgError> {
    let factor = Lu::new("inverse: columns", matrix)?;
    if let Some(pivot) = factor.zero_pivot()? {
        return Err(LinalgError::Singular { pivot });
    }
    let n = matrix.nrows();
    let mut out = Mat::zeros(n, n);
    let mut memory =
        MemBuffer::new(lu::partial_pivoting::inverse::inverse_scratch::<usize, f64>(n, Par::Seq));
    lu::partial_pivoting::inverse::inverse(
        out.as_mut(),
        factor.packed.as_ref(),
        factor.packed.as_ref(),
        PermRef::new_checked(&factor.forward, &factor.backward, n),
        Par::Seq,
        MemStack::new(&mut memory),
    );
    Ok(out)
}

/// $\log |\det A|$ of a general square matrix; $-\infty$ where it is singular.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`] where the matrix is not square, [`LinalgError::NotFinite`].
pub fn log_abs_det(matrix: MatRef<'_, f64>) -> Result<f64, LinalgError> {
    let factor = Lu::new("log_abs_det: columns", matrix)?;
    if factor.zero_pivot()?.is_some() {
        return Ok(f64::NEG_INFINITY);
    }
    Ok((0..matrix.nrows())
        .map(|i| factor.packed[(i, i)].abs().ln())
        .sum())
}

/// Solution $X$ of $AX = B$ for a symmetric positive definite $A$ (lower triangle read) and `rhs` $B$.
///
/// No jitter is added; [`SpdFactor`](crate::SpdFactor) does that.
///
/// # Errors
/// [`LinalgError::ShapeMismatch`], [`LinalgError::NotFinite`], [`LinalgError::NotPositiveDefinite`].
pub fn solve_spd(matrix: MatRef<'_, f64>, rhs: MatRef<'_, f64>) -> Result<Mat<f64>, LinalgError> {
    let n = square("solve_spd: columns", matrix)?;
    same_len("solve_spd: rows of the right-hand side", n, rhs.nrows())?;
    all_finite("solve_spd: matrix", matrix)?;
    all_finite("solve_spd: right-hand side", rhs)?;
    let lower =
        cholesky(matrix).map_err(|pivot| LinalgError::NotPositiveDefinite { row: 0, pivot })?;
    let mut out = rhs.to_owned();
    llt::solve::solve_in_place(
        lower.as_ref(),
        out.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(
            llt::solve::solve_in_place_scratch::<f64>(n, rhs.ncols(), Par::Seq),
        )),
    );
    Ok(out)
}

/// Lower Cholesky factor, upper triangle zero; the failed pivot where there is none.
pub(crate) fn cholesky(matrix: MatRef<'_, f64>) -> Result<Mat<f64>, usize> {
    let n = matrix.nrows();
    let mut lower = Mat::from_fn(n, n, |i, j| if j <= i { matrix[(i, j)] } else { 0.0 });
    let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
        n,
        Par::Seq,
        faer::prelude::default(),
    ));
    llt::factor::cholesky_in_place(
        lower.as_mut(),
        llt::factor::LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        faer::prelude::default(),
    )
    .map_err(|llt::factor::LltError::NonPositivePivot { index }| index)?;
    // the factorisation uses the upper triangle as scratch
    for j in 1..n {
        lower.col_as_slice_mut(j)[..j].fill(0.0);
    }
    Ok(lower)
}

fn square(what: &'static str, matrix: MatRef<'_, f64>) -> Result<usize, LinalgError> {
    same_len(what, matrix.nrows(), matrix.ncols())?;
    Ok(matrix.nrows())
}

/// $PA = LU$, both factors in one array.
struct Lu {
    packed: Mat<f64>,
    forward: Vec<usize>,
    backward: Vec<usize>,
}

impl Lu {
    fn new(what: &'static str, matrix: MatRef<'_, f64>) -> Result<Self, LinalgError> {
        let n = square(what, matrix)?;
        all_finite(what, matrix)?;
        let mut packed = matrix.to_owned();
        let mut forward = vec![0; n];
        let mut backward = vec![0; n];
        let mut memory = MemBuffer::new(lu::partial_pivoting::factor::lu_in_place_scratch::<
            usize,
            f64,
        >(n, n, Par::Seq, faer::prelude::default()));
        lu::partial_pivoting::factor::lu_in_place(
            packed.as_mut(),
            &mut forward,
            &mut backward,
            Par::Seq,
            MemStack::new(&mut memory),
            faer::prelude::default(),
        );
        Ok(Self {
            packed,
            forward,
            backward,
        })
    }

    /// The first pivot that is zero. What follows it is not defined.
    fn zero_pivot(&self) -> Result<Option<usize>, LinalgError> {
        let pivot = |i: &usize| self.packed[(*i, *i)];
        let size = self.packed.nrows();
        let unusable = |i: &usize| pivot(i) == 0.0 || !pivot(i).is_finite();
        match (0..size).find(unusable) {
            Some(i) if pivot(&i) != 0.0 => Err(LinalgError::NotFinite {
                what: "an LU factor",
            }),
            other => Ok(other),
        }
    }
}
