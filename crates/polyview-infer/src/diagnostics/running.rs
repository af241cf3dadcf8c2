//! Moments of streamed draws.

use super::DiagnosticsError;
use super::rhat::rhat_of;

/// Means and variances of a vector of quantities over draws that come one at a time and need not be kept (Welford 1962;
/// merging: Chan, Golub, LeVeque 1979).
///
/// ```
/// use polyview_infer::diagnostics::RunningMoments;
///
/// let mut moments = RunningMoments::new(2);
/// for draw in [[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]] {
///     moments.push(&draw)?;
/// }
/// assert_eq!((moments.mean(), moments.variance()), (&[2.0, 10.0][..], vec![1.0, 0.0]));
/// # Ok::<(), polyview_infer::diagnostics::DiagnosticsError>(())
/// ```
///
/// A value that is not finite makes its quantity's moments NaN from then on, and no other's.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningMoments {
    count: usize,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl RunningMoments {
    /// No draw yet, of `quantities` quantities.
    pub fn new(quantities: usize) -> Self {
        Self {
            count: 0,
            mean: vec![0.0; quantities],
            squares: vec![0.0; quantities],
        }
    }

    /// What [`draws`](Self::draws), [`mean`](Self::mean) and [`sums_of_squares`](Self::sums_of_squares) returned, to
    /// resume.
    ///
    /// # Errors
    /// [`DiagnosticsError::Quantities`] where the lengths differ.
    pub fn from_parts(
        count: usize,
        mean: Vec<f64>,
        squares: Vec<f64>,
    ) -> Result<Self, DiagnosticsError> {
        same(mean.len(), squares.len())?;
        Ok(Self {
            count,
            mean,
            squares,
        })
    }

    /// Takes in one draw of all quantities.
    ///
    /// # Errors
    /// [`DiagnosticsError::Quantities`] where the length is another; nothing is taken in then.
    pub fn push(&mut self, draw: &[f64]) -> Result<(), DiagnosticsError> {
        same(self.mean.len(), draw.len())?;
        self.count += 1;
        let n = self.count as f64;
        for ((mean, squares), x) in self.mean.iter_mut().zip(&mut self.squares).zip(draw) {
            let before = x - *mean;
            *mean += before / n;
            *squares += before * (x - *mean);
        }
        Ok(())
    }

    /// Takes in all draws of `other`, such as another chain's.
    ///
    /// # Errors
    /// [`DiagnosticsError::Quantities`] where the numbers of quantities differ.
    pub fn merge(&mut self, other: &Self) -> Result<(), DiagnosticsError> {
        same(self.mean.len(), other.mean.len())?;
        let (a, b) = (self.count as f64, other.count as f64);
        if other.count == 0 {
            return Ok(());
        }
        self.count += other.count;
        let ours = self.mean.iter_mut().zip(&mut self.squares);
        for ((mean, squares), (m, s)) in ours.zip(other.mean.iter().zip(&other.squares)) {
            let difference = m - *mean;
            *mean += difference * (b / (a + b));
            *squares += s + difference * difference * (a * b / (a + b));
        }
        Ok(())
    }

    /// Number of draws taken in.
    pub fn draws(&self) -> usize {
        self.count
    }

    /// Mean of every quantity; zeros before the first draw.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Variance of every quantity (divisor $n - 1$); NaN before the second draw.
    pub fn variance(&self) -> Vec<f64> {
        let divisor = match self.count {
            0 | 1 => f64::NAN,
            n => n as f64 - 1.0,
        };
        self.squares.iter().map(|s| s / divisor).collect()
    }

    /// Sum of squared deviations from the mean of every quantity.
    pub fn sums_of_squares(&self) -> &[f64] {
        &self.squares
    }
}

/// $\widehat R$ of every quantity from the moments of several chains, without their draws.
///
/// To see drift inside a chain as [`split_rhat`](super::split_rhat) does, keep one accumulator for each half and pass the
/// halves. Nothing is rank-normalised. NaN for a quantity that never changes, or that met a value that is not finite.
///
/// # Errors
/// [`DiagnosticsError::NoChains`], [`DiagnosticsError::UnequalLengths`], [`DiagnosticsError::Quantities`],
/// [`DiagnosticsError::TooFewDraws`] and [`DiagnosticsError::TooFewChains`] below two.
pub fn rhat_of_moments(chains: &[&RunningMoments]) -> Result<Vec<f64>, DiagnosticsError> {
    let first = chains.first().ok_or(DiagnosticsError::NoChains)?;
    for (chain, moments) in chains.iter().enumerate() {
        same(first.mean.len(), moments.mean.len())?;
        if moments.count != first.count {
            return Err(DiagnosticsError::UnequalLengths {
                chain,
                expected: first.count,
                found: moments.count,
            });
        }
    }
    if first.count < 2 {
        return Err(DiagnosticsError::TooFewDraws {
            needed: 2,
            found: first.count,
        });
    }
    if chains.len() < 2 {
        return Err(DiagnosticsError::TooFewChains {
            needed: 2,
            found: chains.len(),
        });
    }
    let n = first.count as f64;
    let mut means = vec![0.0; chains.len()];
    let mut variances = vec![0.0; chains.len()];
    Ok((0..first.mean.len())
        .map(|i| {
            for ((mean, variance), moments) in means.iter_mut().zip(&mut variances).zip(chains) {
                *mean = moments.mean[i];
                *variance = moments.squares[i] / (n - 1.0);
            }
            rhat_of(n, &means, &variances)
        })
        .collect())
}

fn same(expected: usize, found: usize) -> Result<(), DiagnosticsError> {
    if expected == found {
        Ok(())
    } else {
        Err(DiagnosticsError::Quantities { expected, found })
    }
}
