//! Counts with an exponential rate.

use polyview_core::{Counting, Domain, Law};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, poisson};
use polyview_special::{Expectation, Real};

use super::{NEEDS, is_count, ln_factorial};
use crate::ParameterUncertainty;
use crate::bernoulli::Bernoulli;
use crate::cells::Cell;
use crate::laws::{MixedCounts, predicted};
use crate::scalar::ScalarLikelihood;

/// Beyond it an exponential is no number: such a step is refused.
const LARGEST_EXPONENT: f64 = 700.0;

/// Counts $y \sim \mathrm{Pois}(e^\eta)$, by the expectation of the log density, a closed form:
/// $F = ym - e^{m + v/2} - \ln y!$ (spec/sites 1.5).
///
/// The mean of such a count is its variance: where counts vary more,
/// [`NegativeBinomial`](super::NegativeBinomial) or [`PoissonLogNormal`](super::PoissonLogNormal)
/// leave room for it, and factors do not have to.
///
/// ```
/// use polyview_likelihoods::{Cell, LogPoisson, ScalarLikelihood};
///
/// let cell = Cell { column: 0, value: 3.0, trials: 1.0, end: f64::NAN };
/// let e = LogPoisson::default().expectation(cell, 1.0, 0.3, 0.5);
/// assert!((e.value + 2.62501248709545).abs() < 1e-13);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogPoisson {
    /// How sure predictions take the predictor to be.
    pub prediction: ParameterUncertainty,
}

impl ScalarLikelihood for LogPoisson {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn admits(&self, cell: Cell) -> bool {
        is_count(cell.value)
    }
    /// As McCullagh and Nelder (1989, 2.5) start theirs: near the count itself.
    fn start_predictor(&self, cell: Cell) -> Option<f64> {
        Some((cell.value + 0.5).ln())
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
        eta * cell.value - eta.exp() - ln_factorial(cell.value)
    }
    fn expectation(&self, cell: Cell, _parameter: f64, mean: f64, variance: f64) -> Expectation {
        let exponent = mean + 0.5 * variance;
        let rate = exponent.min(LARGEST_EXPONENT).exp();
        let value = cell.value * mean - rate - ln_factorial(cell.value);
        Expectation {
            value: if exponent > LARGEST_EXPONENT {
                f64::NEG_INFINITY
            } else {
                value
            },
            slope: cell.value - rate,
            curvature: rate,
        }
    }
    /// Mean and variance are the rate, whose mean is another exponential.
    fn moments(&self, _cell: Cell, eta: f64, _parameter: f64) -> (f64, f64) {
        (eta.exp(), eta.exp())
    }
    /// The mean of the logarithms, or the logarithm of the mean where that is lower, as it is of small counts; half a count is added, so that
    /// both are finite. The logarithm of the mean is that of the largest rates where these differ by factors of hundreds: factors would
    /// begin as what is wrong with the intercepts (decision 0104).
    fn start_intercept(&self, cells: &[Cell], _parameter: f64) -> f64 {
        let count = cells.len().max(1) as f64;
        let sum: f64 = cells.iter().map(|c| c.value).sum();
        let logs: f64 = cells.iter().filter_map(|c| self.start_predictor(*c)).sum();
        ((sum + 0.5) / count).ln().min(logs / count)
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    /// $e^{-\eta}$.
    fn link_variance(&self, _column: usize, level: f64, _parameter: f64) -> f64 {
        (-level).exp()
    }
    fn draw_datum(&self, _cell: Cell, eta: f64, _parameter: f64, rng: &mut ChaCha8Rng) -> f64 {
        poisson(rng, eta.exp()).unwrap_or(f64::NAN)
    }
    /// Mixed over the predictor's law (spec/sites 4).
    fn law(
        &self,
        _first: usize,
        _parameters: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        _exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        let variance = predicted(self.prediction, variance, |_| 0.0);
        let counting = vec![Counting::Poisson; mean.ncols()];
        Box::new(MixedCounts::new(counting, (mean, variance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// spec/sites 11.
    #[test]
    fn vectors() {
        let vectors = [
            (
                3.0,
                0.3,
                0.5,
                -2.62501248709545,
                1.26674698213260,
                1.73325301786740,
            ),
            (
                100.0,
                4.0,
                0.25,
                -25.6071848059314,
                38.1321907496321,
                61.8678092503679,
            ),
            (
                20.0,
                3.0,
                1e-8,
                -2.42115348436884,
                -0.0855370236153519,
                20.0855370236153,
            ),
            (
                0.0,
                -30.0,
                1.0,
                -1.54281120319189e-13,
                -1.54281120319189e-13,
                1.54281120319189e-13,
            ),
        ];
        for (value, m, v, f, g, h) in vectors {
            let cell = Cell {
                column: 0,
                value,
                trials: 1.0,
                end: f64::NAN,
            };
            let e = LogPoisson::default().expectation(cell, 1.0, m, v);
            for (a, b) in [(e.value, f), (e.slope, g), (e.curvature, h)] {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
            }
        }
    }

    /// Of counts far apart the mean logarithm, of small ones the logarithm of the mean.
    #[test]
    fn intercepts_start_at_the_lower_of_two_logarithms() {
        let start = |values: &[f64]| {
            let cell = |value: &f64| Cell {
                column: 0,
                value: *value,
                trials: 1.0,
                end: f64::NAN,
            };
            let cells: Vec<Cell> = values.iter().map(cell).collect();
            LogPoisson::default().start_intercept(&cells, 1.0)
        };
        let apart = (1.5_f64.ln() + 20.5_f64.ln() + 9000.5_f64.ln()) / 3.0;
        assert!((start(&[1.0, 20.0, 9000.0]) - apart).abs() < 1e-12);
        let small = (1.5_f64 / 4.0).ln();
        assert!((start(&[0.0, 0.0, 1.0, 0.0]) - small).abs() < 1e-12);
    }
}
