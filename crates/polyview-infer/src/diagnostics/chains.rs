//! Checked input, and chains cut into halves.

use super::DiagnosticsError;

/// Number of draws in each chain, all finite.
pub(super) fn check(chains: &[&[f64]], needed: usize) -> Result<usize, DiagnosticsError> {
    let first = chains.first().ok_or(DiagnosticsError::NoChains)?;
    for (chain, draws) in chains.iter().enumerate() {
        if draws.len() != first.len() {
            return Err(DiagnosticsError::UnequalLengths {
                chain,
                expected: first.len(),
                found: draws.len(),
            });
        }
    }
    if first.len() < needed {
        return Err(DiagnosticsError::TooFewDraws {
            needed,
            found: first.len(),
        });
    }
    for (chain, draws) in chains.iter().enumerate() {
        if let Some(draw) = draws.iter().position(|x| !x.is_finite()) {
            return Err(DiagnosticsError::NotFinite { chain, draw });
        }
    }
    Ok(first.len())
}

/// The halves of all chains, one after the other; the middle draw of an odd number is left out.
#[derive(Clone, Debug)]
pub(super) struct Halves {
    pub(super) values: Vec<f64>,
    pub(super) length: usize,
}

impl Halves {
    /// Halves of checked chains of at least two draws.
    pub(super) fn of(chains: &[&[f64]]) -> Self {
        Self::map(chains, |x| x)
    }

    /// As [`of`](Self::of), of a function of the draws.
    pub(super) fn map(chains: &[&[f64]], function: impl Fn(f64) -> f64) -> Self {
        let draws = chains[0].len();
        let length = draws / 2;
        let mut values = Vec::with_capacity(2 * length * chains.len());
        for chain in chains {
            values.extend(chain[..length].iter().map(|&x| function(x)));
            values.extend(chain[draws - length..].iter().map(|&x| function(x)));
        }
        Self { values, length }
    }

    pub(super) fn parts(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.length)
    }

    pub(super) fn is_constant(&self) -> bool {
        self.values.iter().all(|&x| x == self.values[0])
    }
}

/// Mean and variance (divisor $n - 1$) of one part; both exact for constants.
pub(super) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let origin = values[0];
    let mean = values.iter().map(|x| x - origin).sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - origin - mean).powi(2)).sum();
    (origin + mean, squares / (n - 1.0))
}
