//! How a prior that sees only the energy of each column changes with a
//! rotation (spec/mlfs 4.7, errata E7-E11).

use polyview_core::{RotationSide, RotationTerm};
use polyview_linalg::{Mat, MatMut, MatRef, SymPacked};

/// What a column of energy $e\_k = \sum\_r\langle r\_k^2\rangle$ costs.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnPenalty {
    /// $\tfrac12 p\_k e\_k$: known precisions, one a column.
    Fixed(Vec<f64>),
    /// $a \ln(b + \tfrac12 e\_k)$: a Gamma precision at its optimum, with
    /// $a = a\_0 + R/2$, $b = b\_0$.
    Gamma {
        /// $a$.
        shape: f64,
        /// $b$.
        rate: f64,
    },
}

/// The rotation objective of a block of R rows with second moment Λ.
///
/// For weights ($W \to WQ^\top$): $R\ln|\det Q| - \sum\_k c\_k(q\_k\Lambda
/// q\_k^\top)$; for factors ($Z \to ZQ^{-1}$): $-R\ln|\det Q| - \sum\_k
/// c\_k\big((Q^{-\top}\Lambda Q^{-1})\_{kk}\big)$.
#[derive(Clone, Debug)]
pub struct ColumnRotation {
    rows: f64,
    second_moment: Mat<f64>,
    side: RotationSide,
    penalty: ColumnPenalty,
}

impl ColumnRotation {
    /// A block of `rows` rows with $\Lambda = \sum\_r\langle r^\top r\rangle$.
    pub fn new(
        rows: usize,
        second_moment: &SymPacked,
        side: RotationSide,
        penalty: ColumnPenalty,
    ) -> Self {
        Self {
            rows: rows as f64,
            second_moment: second_moment.to_mat(),
            side,
            penalty,
        }
    }

    /// Value and derivative of the penalty of column `k` at energy `e`.
    fn penalty(&self, k: usize, e: f64) -> (f64, f64) {
        match &self.penalty {
            ColumnPenalty::Fixed(p) => (0.5 * p[k] * e, 0.5 * p[k]),
            ColumnPenalty::Gamma { shape, rate } => {
                let b = rate + 0.5 * e;
                (shape * b.ln(), 0.5 * shape / b)
            }
        }
    }
}

impl RotationTerm for ColumnRotation {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        let k = q.nrows();
        let sign = match self.side {
            RotationSide::Weights => 1.0,
            RotationSide::Factors => -1.0,
        };
        let mut value = sign * self.rows * log_abs_det;
        for i in 0..k {
            for j in 0..k {
                gradient[(i, j)] += sign * self.rows * q_inverse[(j, i)];
            }
        }
        match self.side {
            RotationSide::Weights => {
                // d e_k / d Q_kj = 2 (Q Λ)_kj
                let turned = q * &self.second_moment;
                for r in 0..k {
                    let e: f64 = (0..k).map(|j| turned[(r, j)] * q[(r, j)]).sum();
                    let (cost, slope) = self.penalty(r, e);
                    value -= cost;
                    for j in 0..k {
                        gradient[(r, j)] -= 2.0 * slope * turned[(r, j)];
                    }
                }
            }
            RotationSide::Factors => {
                // M = Q^-T Λ Q^-1; d(-Σ c(M_kk)) = 2 M diag(c') Q^-T
                let right = &self.second_moment * q_inverse;
                let mut m = q_inverse.transpose() * &right;
                for c in 0..k {
                    let (cost, slope) = self.penalty(c, m[(c, c)]);
                    value -= cost;
                    for i in 0..k {
                        m[(i, c)] *= 2.0 * slope;
                    }
                }
                let add = &m * q_inverse.transpose();
                for i in 0..k {
                    for j in 0..k {
                        gradient[(i, j)] += add[(i, j)];
                    }
                }
            }
        }
        value
    }

    fn curvature(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        mut own: MatMut<'_, f64>,
        mut exchange: MatMut<'_, f64>,
    ) {
        let k = q.nrows();
        let energies: Vec<f64> = match self.side {
            RotationSide::Weights => {
                let turned = q * &self.second_moment;
                (0..k)
                    .map(|r| (0..k).map(|j| turned[(r, j)] * q[(r, j)]).sum())
                    .collect()
            }
            RotationSide::Factors => {
                let turned = &self.second_moment * q_inverse;
                (0..k)
                    .map(|c| (0..k).map(|i| turned[(i, c)] * q_inverse[(i, c)]).sum())
                    .collect()
            }
        };
        let precision: Vec<f64> = (0..k)
            .map(|c| 2.0 * self.penalty(c, energies[c]).1)
            .collect();
        for s in 0..k {
            for r in 0..k {
                match self.side {
                    RotationSide::Weights => {
                        own[(r, s)] += precision[r] * energies[s];
                        exchange[(r, s)] += self.rows;
                    }
                    RotationSide::Factors => {
                        own[(r, s)] += precision[s] * energies[r];
                        exchange[(r, s)] +=
                            0.5 * (precision[r] + precision[s]) * (energies[r] + energies[s])
                                - self.rows;
                    }
                }
            }
            if let (RotationSide::Weights, ColumnPenalty::Gamma { shape, .. }) =
                (self.side, &self.penalty)
            {
                own[(s, s)] -= (precision[s] * energies[s]).powi(2) / shape;
            }
        }
    }
}

/// The sum of several terms: rows of different groups, and slopes beside rows, turn together.
pub(crate) struct RotationSum(pub(crate) Vec<Box<dyn RotationTerm>>);

impl RotationTerm for RotationSum {
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        mut gradient: MatMut<'_, f64>,
    ) -> f64 {
        self.0
            .iter()
            .map(|t| t.evaluate(q, q_inverse, log_abs_det, gradient.as_mut()))
            .sum()
    }
    fn curvature(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        mut own: MatMut<'_, f64>,
        mut exchange: MatMut<'_, f64>,
    ) {
        for t in &self.0 {
            t.curvature(q, q_inverse, own.as_mut(), exchange.as_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(t: &ColumnRotation, q: &Mat<f64>) -> (f64, Mat<f64>) {
        let inv = polyview_linalg::inverse(q.as_ref()).expect("invertible");
        let det = polyview_linalg::log_abs_det(q.as_ref()).expect("invertible");
        let mut g = Mat::zeros(q.nrows(), q.ncols());
        let v = t.evaluate(q.as_ref(), inv.as_ref(), det, g.as_mut());
        (v, g)
    }

    #[test]
    fn gradients_equal_finite_differences() {
        let k = 4;
        let base = Mat::from_fn(9, k, |i, j| {
            ((i * 7 + j * 3) % 5) as f64 - 1.5 + 0.1 * j as f64
        });
        let lambda = polyview_linalg::gram(base.as_ref());
        let q = Mat::from_fn(k, k, |i, j| {
            f64::from(u8::from(i == j)) + 0.1 * ((i + 2 * j) % 3) as f64
        });
        for side in [RotationSide::Factors, RotationSide::Weights] {
            for penalty in [
                ColumnPenalty::Fixed(vec![1.0, 0.5, 2.0, 1.0]),
                ColumnPenalty::Gamma {
                    shape: 6.5,
                    rate: 0.3,
                },
            ] {
                let t = ColumnRotation::new(11, &lambda, side, penalty);
                let (_, g) = eval(&t, &q);
                for i in 0..k {
                    for j in 0..k {
                        let h = 1e-5;
                        let (mut up, mut down) = (q.clone(), q.clone());
                        up[(i, j)] += h;
                        down[(i, j)] -= h;
                        let fd = (eval(&t, &up).0 - eval(&t, &down).0) / (2.0 * h);
                        assert!(
                            (fd - g[(i, j)]).abs() < 1e-6 * (1.0 + fd.abs()),
                            "{side:?} {i} {j}: {fd} {}",
                            g[(i, j)]
                        );
                    }
                }
            }
        }
    }
}
