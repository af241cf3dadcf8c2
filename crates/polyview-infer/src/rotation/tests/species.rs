//! The terms of spec/mlfs 4.7, written out for the tests.

use crate::rotation::RotationTerm;
use polyview_linalg::faer::linalg::matmul::matmul;
use polyview_linalg::faer::{Accum, Par};
use polyview_linalg::{Mat, MatMut, MatRef};

/// Standard normal factors with a full covariance per row (spec/mlfs 4.7, errata E8, E9):
///
/// $$-N\log|\det Q| - \tfrac12\mathrm{tr}(Q^{-\top}\Lambda\_V Q^{-1}), \qquad
///   \nabla = -N Q^{-\top} + Q^{-\top}\Lambda\_V Q^{-1}Q^{-\top}.$$
///
/// The first part is the entropy of $q(Z)$, so the term is exact only where the posterior of a row may take any
/// covariance. `evaluate` allocates two $K \times K$ matrices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NormalFactorsRotation {
    /// Number of rows of $Z$, $N$.
    pub(super) samples: f64,
    /// $\Lambda\_V = \sum\_n \langle z\_n z\_n^\top\rangle$, $K \times K$, symmetric.
    pub(super) second_moment: Mat<f64>,
}

impl RotationTerm for NormalFactorsRotation {
    fn evaluate(
        &self,
        _q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        let right = product(self.second_moment.as_ref(), q_inverse);
        let moment = product(q_inverse.transpose(), right.as_ref());
        add_transposed(gradient.as_mut(), -self.samples, q_inverse);
        matmul(
            gradient,
            Accum::Add,
            moment.as_ref(),
            q_inverse.transpose(),
            1.0,
            Par::Seq,
        );
        let trace: f64 = (0..moment.nrows()).map(|r| moment[(r, r)]).sum();
        -self.samples * log_abs_det - 0.5 * trace
    }

    fn curvature(
        &self,
        _q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        mut own: MatMut<'_, f64>,
        mut exchange: MatMut<'_, f64>,
    ) {
        let k = q_inverse.nrows();
        let right = product(self.second_moment.as_ref(), q_inverse);
        let moment: Vec<f64> = (0..k)
            .map(|r| column_dot(q_inverse.col(r), right.col(r)))
            .collect();
        for s in 0..k {
            for r in 0..k {
                own[(r, s)] += moment[r];
                exchange[(r, s)] += moment[r] + moment[s] - self.samples;
            }
        }
    }
}

/// ARD weights of one view, with $q(\alpha)$ re-optimised for every $Q$ (spec/mlfs 4.7, errata E7, E10):
///
/// $$D\log|\det Q| - \big(a + \tfrac D2\big)\sum\_r\log\big(b + \tfrac12 Q\_{r:}\Lambda Q\_{r:}^\top\big), \qquad
///   \nabla = D Q^{-\top} - \mathrm{diag}\_r\Big(\frac{a + D/2}{b + \frac12 Q\_{r:}\Lambda Q\_{r:}^\top}\Big) Q\Lambda.$$
///
/// The predicted gain is the gain of the bound only if $q(\alpha)$ was current before and is refreshed after. Each row
/// of $W$ needs a covariance of its own shape, as for [`NormalFactorsRotation`]. `evaluate` allocates one $K \times K$
/// matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArdRotation {
    /// Prior shape $a$ of each precision.
    pub(super) shape: f64,
    /// Prior rate $b$ of each precision.
    pub(super) rate: f64,
    /// Number of rows of $W$ (features), $D$; the spec's $K\_m$.
    pub(super) rows: f64,
    /// $\Lambda = \sum\_d \langle w\_d w\_d^\top\rangle$, $K \times K$, symmetric.
    pub(super) second_moment: Mat<f64>,
}

impl ArdRotation {
    fn posterior_shape(&self) -> f64 {
        self.shape + 0.5 * self.rows
    }
}

impl RotationTerm for ArdRotation {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        let shape = self.posterior_shape();
        let left = product(q, self.second_moment.as_ref());
        let mut rates = row_products(q, left.as_ref());
        let mut logs = 0.0;
        for rate in &mut rates {
            *rate = self.rate + 0.5 * *rate;
            logs += rate.ln();
            *rate = shape / *rate;
        }
        add_transposed(gradient.as_mut(), self.rows, q_inverse);
        for s in 0..left.ncols() {
            let column = gradient.as_mut().col_mut(s);
            for ((g, precision), x) in column.iter_mut().zip(&rates).zip(left.col(s).iter()) {
                *g -= precision * x;
            }
        }
        self.rows * log_abs_det - shape * logs
    }

    fn curvature(
        &self,
        q: MatRef<'_, f64>,
        _q_inverse: MatRef<'_, f64>,
        mut own: MatMut<'_, f64>,
        mut exchange: MatMut<'_, f64>,
    ) {
        let k = q.nrows();
        let left = product(q, self.second_moment.as_ref());
        let moment = row_products(q, left.as_ref());
        for s in 0..k {
            for r in 0..k {
                let precision = self.posterior_shape() / (self.rate + 0.5 * moment[r]);
                own[(r, s)] += precision * moment[s];
                exchange[(r, s)] += self.rows;
            }
            let precision = self.posterior_shape() / (self.rate + 0.5 * moment[s]);
            own[(s, s)] -= (precision * moment[s]).powi(2) / self.posterior_shape();
        }
    }
}

/// Weights with a fixed prior precision, such as the label weights of spec/mlfs (4.7; erratum E11):
///
/// $$C\log|\det Q| - \tfrac\rho2\mathrm{tr}(QBQ^\top), \qquad \nabla = C Q^{-\top} - \rho QB.$$
///
/// `evaluate` allocates one $K \times K$ matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RidgeRotation {
    /// Prior precision $\rho$.
    pub(super) precision: f64,
    /// Number of rows of the weights, $C$.
    pub(super) rows: f64,
    /// $B = \sum\_c \langle \beta\_c \beta\_c^\top\rangle$, $K \times K$, symmetric.
    pub(super) second_moment: Mat<f64>,
}

impl RotationTerm for RidgeRotation {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        let left = product(q, self.second_moment.as_ref());
        let trace: f64 = row_products(q, left.as_ref()).iter().sum();
        add_transposed(gradient.as_mut(), self.rows, q_inverse);
        for s in 0..left.ncols() {
            let column = gradient.as_mut().col_mut(s);
            for (g, x) in column.iter_mut().zip(left.col(s).iter()) {
                *g -= self.precision * x;
            }
        }
        self.rows * log_abs_det - 0.5 * self.precision * trace
    }

    fn curvature(
        &self,
        q: MatRef<'_, f64>,
        _q_inverse: MatRef<'_, f64>,
        mut own: MatMut<'_, f64>,
        mut exchange: MatMut<'_, f64>,
    ) {
        let left = product(q, self.second_moment.as_ref());
        let moment = row_products(q, left.as_ref());
        for s in 0..q.nrows() {
            for r in 0..q.nrows() {
                own[(r, s)] += self.precision * moment[s];
                exchange[(r, s)] += self.rows;
            }
        }
    }
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

fn column_dot(
    a: polyview_linalg::faer::ColRef<'_, f64>,
    b: polyview_linalg::faer::ColRef<'_, f64>,
) -> f64 {
    a.iter().zip(b.iter()).map(|(x, y)| x * y).sum()
}

/// Inner product of every row of `a` with the same row of `b`.
fn row_products(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Vec<f64> {
    let mut out = vec![0.0; a.nrows()];
    for s in 0..a.ncols() {
        for ((sum, x), y) in out.iter_mut().zip(a.col(s).iter()).zip(b.col(s).iter()) {
            *sum += x * y;
        }
    }
    out
}

/// `out += factor a'`.
fn add_transposed(mut out: MatMut<'_, f64>, factor: f64, a: MatRef<'_, f64>) {
    for s in 0..out.ncols() {
        let column = out.as_mut().col_mut(s);
        for (x, y) in column.iter_mut().zip(a.row(s).iter()) {
            *x += factor * y;
        }
    }
}
