//! The parts of the rotation objective.

use polyview_linalg::{MatMut, MatRef};

/// On which side of $z Q^{-1} Q w^\top$ a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationSide {
    /// Factors: $Z \to Z Q^{-1}$.
    Factors,
    /// Weights: $W \to W Q^\top$ (rows).
    Weights,
}

/// One part of the bound as a function of the rotation $Z \to Z Q^{-1}$, $W
/// \to Q W$ (spec/mlfs 4.7). All matrices are K × K.
pub trait RotationTerm {
    /// Returns the part's value at `q` (up to a constant) and **adds** its
    /// gradient with respect to `q` to `gradient`.
    ///
    /// `q_inverse` and `log_abs_det` belong to `q`, whose determinant is
    /// positive.
    fn evaluate(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        log_abs_det: f64,
        gradient: MatMut<'_, f64>,
    ) -> f64;
    /// **Adds** the part's curvature under $Q \to (I + E) Q$: the second-order
    /// part of its value is taken to be $-\tfrac12\sum\_{rs}(\mathtt{own}\_{rs}
    /// E\_{rs}^2 + \mathtt{exchange}\_{rs} E\_{rs}E\_{sr})$, with `own`
    /// non-negative off its diagonal and `exchange` symmetric.
    ///
    /// It only shapes the search: an approximation is as good as its steps
    /// are, and the default, which reports nothing, is legal but some ten times
    /// slower.
    fn curvature(
        &self,
        q: MatRef<'_, f64>,
        q_inverse: MatRef<'_, f64>,
        own: MatMut<'_, f64>,
        exchange: MatMut<'_, f64>,
    ) {
        let _ = (q, q_inverse, own, exchange);
    }
}
