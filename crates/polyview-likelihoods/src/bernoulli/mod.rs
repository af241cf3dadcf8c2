//! Binary views.
//!
//! [`Bernoulli`] bounds the logistic likelihood of the predictor itself
//! (spec/mofa part A); [`LatentBernoulli`] puts a noisy score between the two
//! (SSHIBA's multi-label view, spec/sshiba 1.4, 2.2).

mod latent;
mod moderate;
mod sites;
mod species;

pub use latent::{LatentBernoulli, LatentBernoulliOptions, ScoreStart};

use polyview_core::{DataError, Domain, View, ViewTerm};
use polyview_linalg::Mat;
use polyview_linalg::simd::dispatch;
use polyview_random::{ChaCha8Rng, PolyaGamma, uniform_open01};
use polyview_special::{jaakkola_lambda, log_sigmoid, sigmoid};
pub use species::{BernoulliSpecies, LatentBernoulliSpecies};

use crate::Expected;
use crate::ParameterUncertainty;
use crate::cells::{
    Cell, CellAugmentation, CellLikelihood, ColumnData, ColumnSites, LocalMoments, Site,
    jaakkola_slack,
};

/// Variance of the logistic distribution, $\pi^2/3$, in squared log-odds.
pub(crate) const LOGISTIC_VARIANCE: f64 = std::f64::consts::PI * std::f64::consts::PI / 3.0;

/// Probability of a one and variance of the datum, p(1 − p), where the
/// predictor has this mean and variance: the mean of $\sigma(\eta)$ over its
/// uncertainty (spec/sshiba P6, by quadrature), or
/// $\sigma(\langle\eta\rangle)$ (P5).
pub(crate) fn moments(parameters: ParameterUncertainty, mean: f64, variance: f64) -> (f64, f64) {
    // the smaller of the two probabilities, which keeps its digits
    let lower = match parameters {
        ParameterUncertainty::Posterior => moderate::lower_mean_sigmoid(-mean.abs(), variance),
        ParameterUncertainty::PlugIn => sigmoid(-mean.abs()),
    };
    let one = if mean > 0.0 { 1.0 - lower } else { lower };
    (one, lower * (1.0 - lower))
}

pub(crate) const NEEDS: &str = "0 or 1";

pub(crate) fn is_binary(datum: f64) -> bool {
    datum == 0.0 || datum == 1.0
}

/// The log-odds of a column's share of ones, half a cell added to each side so
/// that they are finite.
fn log_odds(mean: f64, count: usize) -> f64 {
    let n = count as f64;
    ((mean * n + 0.5) / ((1.0 - mean) * n + 0.5)).ln()
}

/// What is remarkable about the labels of a column.
pub(crate) fn remark(mean: f64, count: usize) -> Option<&'static str> {
    match count {
        0 => Some("has no observed label"),
        _ if mean == 0.0 => Some("has no one among its labels: it says nothing on the factors"),
        _ if mean == 1.0 => Some("has no zero among its labels: it says nothing on the factors"),
        _ => None,
    }
}

pub(crate) fn mean_of_cells(cells: &[Cell]) -> (f64, usize) {
    let sum: f64 = cells.iter().map(|c| c.value).sum();
    (sum / cells.len().max(1) as f64, cells.len())
}

/// The share of ones, half a cell added to each side.
pub(crate) fn smoothed_share(cells: &[Cell]) -> f64 {
    let ones: f64 = cells.iter().map(|c| c.value).sum();
    (ones + 0.5) / (cells.len() as f64 + 1.0)
}

/// Zeros and ones with $p(x = 1) = \sigma(\eta)$.
///
/// Variational Bayes uses the bound of Jaakkola and Jordan (spec/mofa A.2):
/// local number ξ, $\omega = 2\lambda(\xi)$, $h = x - \tfrac12$. The Gibbs
/// sampler is exact by $\omega \sim \mathrm{PG}(1, \eta)$ (A.6b).
///
/// Intercepts start at the log-odds of each column. Their prior should be wide
/// in units of log-odds: [`Bernoulli::INTERCEPT_PRECISION`].
///
/// ```
/// use polyview_core::{Bias, Predictor, RowMoments, View, ViewTerm};
/// use polyview_likelihoods::{Bernoulli, Cells};
/// use polyview_linalg::Mat;
///
/// # fn main() -> Result<(), polyview_core::DataError> {
/// let labels = Mat::from_fn(4, 1, |n, _| if n < 3 { 1.0 } else { 0.0 });
/// let view = View::from_values("smoker", vec!["ever".into()], labels)?;
/// let term = Cells::new(view, Bernoulli::default())?;
/// // three ones, one zero
/// let start = term.intercepts().start.unwrap_or_default();
/// assert!((start[0] - (3.5f64 / 1.5).ln()).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bernoulli {
    /// How probabilities are predicted.
    pub prediction: ParameterUncertainty,
}

impl Bernoulli {
    /// Prior precision of intercepts, per squared unit of log-odds: a standard
    /// deviation of ten. Under the unit precision of real views (spec/sshiba
    /// G7) the intercept of one positive in a hundred samples would be −3.1
    /// instead of −4.6, four times too many positives.
    pub const INTERCEPT_PRECISION: f64 = 0.01;
}

impl CellLikelihood for Bernoulli {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        is_binary(cell.value)
    }
    fn start(&self, _cell: Cell) -> f64 {
        1.0
    }
    /// $\xi^2 = \langle\eta^2\rangle$ (spec/mofa A.2).
    fn optimise(&self, _cell: Cell, _mean: f64, square: f64) -> f64 {
        square.sqrt()
    }
    fn optimise_from(&self) -> LocalMoments {
        LocalMoments::Square
    }
    fn optimise_column(&self, _data: ColumnData<'_>, _: &[f64], square: &[f64], out: &mut [f64]) {
        dispatch(sites::Roots { square, out });
    }
    fn site(&self, cell: Cell, xi: f64) -> Site {
        Site {
            precision: 2.0 * lambda(xi),
            linear: cell.value - 0.5,
        }
    }
    /// $\ln\sigma(\xi) - \xi/2 + \lambda(\xi)\xi^2$ (spec/mofa A.4).
    fn offset(&self, _cell: Cell, xi: f64) -> f64 {
        log_sigmoid(xi) - 0.5 * xi + lambda(xi) * xi * xi
    }
    fn slack(&self, _cell: Cell, xi: f64, mean: f64) -> f64 {
        jaakkola_slack(xi) * mean * mean
    }
    fn evaluate_column(&self, data: ColumnData<'_>, local: &[f64], out: ColumnSites<'_>) {
        dispatch(sites::Sites {
            labels: data.values,
            local,
            out,
        });
    }
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let (mean, count) = mean_of_cells(cells);
        log_odds(mean, count)
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        let (mean, count) = mean_of_cells(cells);
        remark(mean, count)
    }
    fn intercept_precision(&self) -> f64 {
        Self::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn link_variance(&self, _column: usize, _level: f64) -> f64 {
        LOGISTIC_VARIANCE
    }
    fn draw_datum(&self, _cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        draw_label(eta, rng)
    }
    fn predict(&self, _column: usize, mean: f64, variance: f64) -> (f64, f64) {
        moments(self.prediction, mean, variance)
    }
    fn widened(
        &self,
        view: &View,
        spread: Mat<f64>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        Some(Expected::behind(view, *self, Vec::new(), spread))
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

impl CellAugmentation for Bernoulli {
    fn draw_local(&self, _cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        polya_gamma(eta, rng)
    }
    fn site(&self, cell: Cell, omega: f64) -> Site {
        Site {
            precision: omega,
            linear: cell.value - 0.5,
        }
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        log_likelihood(cell.value, eta)
    }
}

/// $\lambda(\xi)$ for $\xi \ge 0$. Away from zero by one exponential, which costs a
/// fraction of a hyperbolic tangent.
fn lambda(xi: f64) -> f64 {
    if xi < 0.5 {
        return jaakkola_lambda(xi);
    }
    let t = (-xi).exp();
    (1.0 - t) / (4.0 * xi * (1.0 + t))
}

/// A draw of $\mathrm{PG}(1, \eta)$; NaN where η is not finite.
fn polya_gamma(eta: f64, rng: &mut ChaCha8Rng) -> f64 {
    PolyaGamma::new(1.0, eta).map_or(f64::NAN, |pg| pg.sample(rng))
}

/// $x\eta - \ln(1 + e^\eta)$.
fn log_likelihood(datum: f64, eta: f64) -> f64 {
    datum * eta + log_sigmoid(-eta)
}

fn draw_label(eta: f64, rng: &mut ChaCha8Rng) -> f64 {
    f64::from(u8::from(uniform_open01(rng) < sigmoid(eta)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_lambda_agree() {
        for i in 0..4000 {
            let xi = f64::from(i) * 0.01;
            assert!(
                (lambda(xi) / jaakkola_lambda(xi) - 1.0).abs() < 1e-14,
                "{xi}"
            );
        }
        assert!(lambda(1e6) > 0.0 && lambda(f64::NAN).is_nan());
    }
}
