//! What a likelihood of single cells has to say.

use std::fmt;

use polyview_core::{Objective, PredictedKind};
use polyview_random::ChaCha8Rng;

/// A quadratic in the predictor in natural form, $h\eta - \omega\eta^2/2$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Site {
    /// $\omega \ge 0$, per squared unit of the predictor.
    pub precision: f64,
    /// $h$, per unit of the predictor.
    pub linear: f64,
}

/// A likelihood of single cells: how datum and local number make a site.
///
/// Features may have parameters of their own: `column` says whose cell it is.
pub trait CellLikelihood: Clone + fmt::Debug + Send + Sync + 'static {
    /// What its data are, for errors ("0 or 1").
    fn needs(&self) -> &'static str;
    /// Whether it knows that datum.
    fn admits(&self, column: usize, datum: f64) -> bool;
    /// What kind of objective its sites have.
    fn objective(&self) -> Objective {
        Objective::Bound
    }
    /// The local number to start from.
    fn start(&self, column: usize, datum: f64) -> f64;
    /// The local number that raises the bound most, given
    /// $\langle\eta\rangle$ and $\langle\eta^2\rangle$.
    fn optimise(&self, column: usize, datum: f64, mean: f64, square: f64) -> f64;
    /// h and ω.
    fn site(&self, column: usize, datum: f64, local: f64) -> Site;
    /// The constant c, so that $h\eta - \omega\eta^2/2 + c$ bounds the log
    /// likelihood.
    fn offset(&self, column: usize, datum: f64, local: f64) -> f64;
    /// The intercept to start from, given the mean of `count` observed data.
    fn start_intercept(&self, column: usize, mean: f64, count: usize) -> f64 {
        let _ = (column, mean, count);
        0.0
    }
    /// Prior precision of the intercepts, as a multiple of the model's.
    fn intercept_precision(&self) -> f64 {
        1.0
    }
    /// What is remarkable about a feature with this mean of `count` observed
    /// data, in words for the journal.
    fn remark(&self, mean: f64, count: usize) -> Option<&'static str> {
        let _ = (mean, count);
        None
    }
    /// What predicted columns are.
    fn predicted_kind(&self) -> PredictedKind;
    /// Variance that the link adds to the predictor of a column, in its squared
    /// units.
    fn link_variance(&self, column: usize) -> f64;
    /// Draws a datum given the predictor.
    fn draw_datum(&self, column: usize, eta: f64, rng: &mut ChaCha8Rng) -> f64;
    /// Predictive mean and variance of a datum whose predictor has this mean
    /// and variance.
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64);
    /// The exact augmentation for Gibbs, where there is one.
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        None
    }
}

/// A scale mixture that makes a cell's likelihood exactly Gaussian in the
/// predictor, given a drawn local number.
pub trait CellAugmentation: Send + Sync {
    /// Draws the local number given datum and predictor; NaN where the
    /// predictor is not finite.
    fn draw_local(&self, column: usize, datum: f64, eta: f64, rng: &mut ChaCha8Rng) -> f64;
    /// h and ω given a drawn local number.
    fn site(&self, column: usize, datum: f64, local: f64) -> Site;
    /// $\log p(x\mid\eta)$ with the local number summed out.
    fn log_density(&self, column: usize, datum: f64, eta: f64) -> f64;
}
