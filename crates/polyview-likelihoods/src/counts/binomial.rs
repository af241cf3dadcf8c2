//! Successes out of known numbers of trials.

use polyview_core::{DataError, Domain, Law, View, ViewTerm};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, PolyaGamma, binomial};
use polyview_special::{jaakkola_lambda, ln_gamma, log_sigmoid, sigmoid};

use super::{LARGEST, normal_moments};
use crate::bernoulli::{Bernoulli, LOGISTIC_VARIANCE, moments};
use crate::cells::{Cell, CellAugmentation, CellLikelihood, Site, jaakkola_slack, predict_cells};
use crate::laws::{Successes, predicted};
use crate::{Expected, ParameterUncertainty};

/// Counts of successes $y \sim \mathrm{Bin}(n, \sigma(\eta))$ with known numbers
/// of trials ([`View::trials`](polyview_core::View::trials); one where the view
/// has none).
///
/// The bound of Jaakkola and Jordan for each trial (spec/mofa A.2): local number
/// ξ, $\omega = 2n\lambda(\xi)$, $h = y - n/2$. The Gibbs sampler is exact by
/// $\omega\sim\mathrm{PG}(n, \eta)$ (A.6b). Predicted are the probability of a
/// success and the variance of a single trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binomial {
    /// How probabilities are predicted.
    pub prediction: ParameterUncertainty,
}

fn site(cell: Cell, precision: f64) -> Site {
    Site {
        precision,
        linear: cell.value - 0.5 * cell.trials,
    }
}

/// $\ln\binom ny$.
fn ln_choose(cell: Cell) -> f64 {
    let (y, n) = (cell.value, cell.trials);
    ln_gamma(n + 1.0) - ln_gamma(y + 1.0) - ln_gamma(n - y + 1.0)
}

impl CellLikelihood for Binomial {
    fn needs(&self) -> &'static str {
        "whole numbers of successes, from 0 to the number of trials (1 where none are given)"
    }
    fn admits(&self, cell: Cell) -> bool {
        (0.0..=cell.trials).contains(&cell.value)
            && cell.trials <= LARGEST
            && cell.value.fract() == 0.0
    }
    fn start(&self, _cell: Cell) -> f64 {
        1.0
    }
    fn optimise(&self, _cell: Cell, _mean: f64, square: f64) -> f64 {
        square.sqrt()
    }
    fn site(&self, cell: Cell, xi: f64) -> Site {
        site(cell, 2.0 * cell.trials * jaakkola_lambda(xi))
    }
    fn offset(&self, cell: Cell, xi: f64) -> f64 {
        let one = log_sigmoid(xi) - 0.5 * xi + jaakkola_lambda(xi) * xi * xi;
        cell.trials * one
    }
    fn slack(&self, cell: Cell, xi: f64, mean: f64) -> f64 {
        cell.trials * jaakkola_slack(xi) * mean * mean
    }
    /// $\ln\binom ny$.
    fn datum_offset(&self, cell: Cell) -> f64 {
        ln_choose(cell)
    }
    /// The log-odds of all successes, half a trial added to each side.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let ones: f64 = cells.iter().map(|c| c.value).sum();
        let zeros: f64 = cells.iter().map(|c| c.trials - c.value).sum();
        ((ones + 0.5) / (zeros + 0.5)).ln()
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::SUCCESSES
    }
    fn link_variance(&self, _column: usize, _level: f64) -> f64 {
        LOGISTIC_VARIANCE
    }
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        binomial(rng, cell.trials as u64, sigmoid(eta)).map_or(f64::NAN, |y| y as f64)
    }
    fn predict(&self, _column: usize, mean: f64, variance: f64) -> (f64, f64) {
        moments(self.prediction, mean, variance)
    }
    /// Of single trials, or out of as many as are known, with a probability as uncertain as
    /// the predictor leaves it.
    fn law(
        &self,
        _first: usize,
        mean: Mat<f64>,
        variance: Mat<f64>,
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        let single = predict_cells(mean.clone(), variance.clone(), |_, mean, variance| {
            self.predict(0, mean, variance)
        });
        let variance = predicted(self.prediction, variance, |_| 0.0);
        let chance = |mean, variance| normal_moments(mean, variance, sigmoid);
        Box::new(Successes::new(single, (mean, variance), exposure, chance))
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

impl CellAugmentation for Binomial {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        PolyaGamma::new(cell.trials, eta).map_or(f64::NAN, |pg| pg.sample(rng))
    }
    fn site(&self, cell: Cell, omega: f64) -> Site {
        site(cell, omega)
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        ln_choose(cell) + cell.value * eta + cell.trials * log_sigmoid(-eta)
    }
}
