//! Regression on a centred kernel, by its eigenvalues.

use polyview_linalg::{Mat, sym_eigen};

use crate::error::KernelError;

/// Penalties that are tried, as shares of the mean similarity of a sample to itself.
pub(crate) const PENALTIES: [f64; 11] =
    [1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0];
/// Shares of noise between which the evidence is sought, by their logarithms, and in how many places.
const SHARES: [f64; 2] = [-9.0, 4.0];
const PLACES: usize = 26;
/// Rounds of the search between two of them, each of which leaves .618 of the rest.
const ROUNDS: usize = 40;

/// Similarities of samples about their centre, decomposed.
pub(crate) struct Decomposed {
    /// Eigenvalues, none below zero.
    pub(crate) values: Vec<f64>,
    /// Eigenvectors, in columns.
    pub(crate) vectors: Mat<f64>,
    /// Mean similarity of a sample to itself.
    pub(crate) unit: f64,
}

impl Decomposed {
    /// # Errors
    /// [`KernelError::Overflow`] where they are too large to be decomposed.
    pub(crate) fn of(similarities: &Mat<f64>) -> Result<Self, KernelError> {
        let decomposed = sym_eigen(similarities.as_ref());
        let (mut values, vectors) = decomposed.map_err(|_| KernelError::Overflow)?;
        for x in &mut values {
            *x = x.max(0.0);
        }
        let unit = values.iter().sum::<f64>() / values.len().max(1) as f64;
        Ok(Self {
            values,
            vectors,
            unit: unit.max(f64::MIN_POSITIVE),
        })
    }
    /// A column in the coordinates of the eigenvectors.
    pub(crate) fn along(&self, y: &[f64]) -> Vec<f64> {
        let of = |j: usize| self.vectors.col_as_slice(j).iter().zip(y);
        (0..y.len())
            .map(|j| of(j).map(|(v, y)| v * y).sum())
            .collect()
    }
    /// $(\tilde K + \lambda I)^{-1} y$.
    pub(crate) fn solved(&self, along: &[f64], noise: f64) -> Vec<f64> {
        let mut out = vec![0.0; along.len()];
        for (j, (a, s)) in along.iter().zip(&self.values).enumerate() {
            let size = a / (s + noise);
            for (x, v) in out.iter_mut().zip(self.vectors.col_as_slice(j)) {
                *x += size * v;
            }
        }
        out
    }
    /// $\hat q$, mean square of a column in units of its covariance.
    pub(crate) fn size(&self, along: &[f64], noise: f64) -> f64 {
        let terms = along
            .iter()
            .zip(&self.values)
            .map(|(a, s)| a * a / (s + noise));
        (terms.sum::<f64>() / along.len() as f64).max(f64::MIN_POSITIVE)
    }
    /// The evidence of a column.
    pub(crate) fn ln_evidence(&self, along: &[f64], noise: f64) -> f64 {
        let logs: f64 = self.values.iter().map(|s| (s + noise).ln()).sum();
        -0.5 * (along.len() as f64 * self.size(along, noise).ln() + logs)
    }
    /// The noise of most evidence, as a share of the mean similarity of a sample to itself.
    pub(crate) fn best_share(&self, along: &[f64]) -> f64 {
        let at = |log: f64| self.ln_evidence(along, log.exp() * self.unit);
        let step = (SHARES[1] - SHARES[0]) / (PLACES - 1) as f64;
        let place = |i: usize| SHARES[0] + step * i as f64;
        let (mut best, mut most) = (0, f64::NEG_INFINITY);
        for i in 0..PLACES {
            let value = at(place(i));
            if value > most {
                (best, most) = (i, value);
            }
        }
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let (mut low, mut high) = (
            place(best.saturating_sub(1)),
            place((best + 1).min(PLACES - 1)),
        );
        for _ in 0..ROUNDS {
            let part = golden * (high - low);
            if at(high - part) > at(low + part) {
                high = low + part;
            } else {
                low += (1.0 - golden) * (high - low);
            }
        }
        (0.5 * (low + high)).exp()
    }
}
