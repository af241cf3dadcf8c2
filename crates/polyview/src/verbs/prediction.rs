//! What was predicted: moments, intervals and probabilities in data units.

use polyview_core::{Domain, NormalScores, OrderStatistics};
use polyview_linalg::{Mat, MatRef};

use super::laws::Laws;
use crate::error::{ErrorKind, Result};
use crate::metrics::quantile_level;

/// Predicted values of one view, in data units.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The view.
    pub view: String,
    /// Sample IDs, one a row.
    pub samples: Vec<String>,
    /// What the columns are. Successes are those of a single trial: zeros and ones.
    pub kind: Domain,
    /// Feature names, one a column; the class names of a categorical view.
    pub features: Vec<String>,
    /// Predictive means, samples × features: of labels the probabilities, which
    /// for classes add up to 1. `NaN`, like all that is predicted, in features
    /// that were never observed in training ([`crate::ViewInfo::unobserved`]).
    pub mean: Mat<f64>,
    /// Predictive standard deviations of a new measurement, samples ×
    /// features: noise $\mathrm{E}[1/\tau]$ and the uncertainty of weights,
    /// intercepts and factors (spec/sshiba P4). Of successes out of trials those
    /// of a single trial.
    pub sd: Mat<f64>,
    /// Of successes out of trials the standard deviation of the probability
    /// itself, samples × features: how uncertain weights, intercepts and factors
    /// leave it. `None` for all other data.
    pub probability_sd: Option<Mat<f64>>,
    /// Of labels 0 and 1 their scores, samples × features: the mean of the linear
    /// predictor, of a mixture of ways the logarithm of the odds; positive where a 1 is the more probable. `None` for all other
    /// data.
    pub score: Option<Mat<f64>>,
    /// The predictions in normal scores, of a view that is scaled by them
    /// ([`FeatureScaling::NormalScores`](polyview_core::FeatureScaling)); nothing for every other.
    pub normal_scores: Option<PredictedScores>,
    /// Where the predictions of a rank view stand among the training values;
    /// nothing for every other.
    pub ranks: Option<PredictedRanks>,
    /// Of ordered levels the probability of each; nothing for all other data.
    pub levels: Option<PredictedLevels>,
    /// What was ignored, taken as missing or numerically delicate.
    pub notes: Vec<String>,
    /// What is likely to make the predictions wrong, such as data that are far
    /// off those of training.
    pub warnings: Vec<String>,
    /// The predictive laws themselves.
    pub(super) laws: Laws,
}

/// Predictions of a Gaussian view whose working units are normal scores.
#[derive(Clone, Debug)]
pub struct PredictedScores {
    /// Predictive means of the normal scores, samples × features.
    pub mean: Mat<f64>,
    /// Their predictive standard deviations, samples × features.
    pub sd: Mat<f64>,
    /// What normal scores mean in data units.
    pub scale: NormalScores,
}

/// Probabilities of ordered levels.
#[derive(Clone, Debug)]
pub struct PredictedLevels {
    /// Of each level from the lowest on, samples × features; they add up to 1.
    pub probability: Vec<Mat<f64>>,
}

impl PredictedLevels {
    /// The probabilities of the levels of a cell.
    pub fn of_cell(&self, sample: usize, feature: usize) -> Vec<f64> {
        let of = |p: &Mat<f64>| p[(sample, feature)];
        self.probability.iter().map(of).collect()
    }
    /// The lowest level, from 1 on, at which the probabilities of a cell add up to `p`; `NaN`
    /// where nothing is known.
    pub fn quantile(&self, sample: usize, feature: usize, p: f64) -> f64 {
        let all = self.of_cell(sample, feature);
        if all.iter().any(|x| x.is_nan()) {
            f64::NAN
        } else {
            quantile_level(&all, p) as f64
        }
    }
    /// The median levels, samples × features.
    pub fn median(&self) -> Mat<f64> {
        let (rows, columns) = self.probability.first().map_or((0, 0), Mat::shape);
        Mat::from_fn(rows, columns, |n, d| self.quantile(n, d, 0.5))
    }
}

/// Predictions of a rank view on the scale of normal scores.
#[derive(Clone, Debug)]
pub struct PredictedRanks {
    /// Predictive means of the normal scores, samples × features.
    pub mean: Mat<f64>,
    /// Their predictive standard deviations, samples × features.
    pub sd: Mat<f64>,
    /// What normal scores mean in data units, one a feature.
    pub scale: Vec<OrderStatistics>,
}

impl Prediction {
    /// Central intervals of probability `level`, lower and upper ends: quantiles of the
    /// predictive laws themselves (spec/sites 4.2), which of several draws, or of groups that nobody knows,
    /// are mixtures. Those of counts and ordered levels are whole numbers, those of a rank view
    /// training values.
    ///
    /// **The median is in every interval, the mean need not be.** Of a law that is lopsided (ranks and
    /// counts of few levels, bent scales) a tail that the interval leaves out can move the mean across its end: a
    /// value that is 0 with probability .97 and else 1 has the mean .03, and [0, 0] holds it nine times in
    /// ten. That says no more than that less than half of `1 - level` lies beyond the mean.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] unless 0 < `level` < 1;
    /// [`ErrorKind::Incompatible`] for labels, whose probabilities say all.
    pub fn interval(&self, level: f64) -> Result<(Mat<f64>, Mat<f64>)> {
        self.interval_where(level, |_, _| true)
    }
    /// Medians of the predictive laws themselves, samples × features, in the units of [`Prediction::mean`]: of times to an
    /// event those of the logarithms, whose exponentials are the median times.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for labels, whose probabilities say all.
    pub fn median(&self) -> Result<Mat<f64>> {
        self.has_quantiles("a median")?;
        let [median] = self.laws.quantiles([0.5], |_, _| true);
        Ok(median)
    }
    /// As [`Prediction::interval`], of the cells that are wanted; `NaN` elsewhere.
    pub(super) fn interval_where(
        &self,
        level: f64,
        wanted: impl Fn(usize, usize) -> bool + Sync,
    ) -> Result<(Mat<f64>, Mat<f64>)> {
        let ends = ends(level)?;
        self.has_quantiles("an interval")?;
        let [lower, upper] = self.laws.quantiles(ends, wanted);
        Ok((lower, upper))
    }
    /// Refuses `what` of labels.
    fn has_quantiles(&self, what: &str) -> Result<()> {
        if self.kind.is_label() {
            return Err(ErrorKind::Incompatible {
                view: self.view.clone(),
                what: what.to_owned(),
                with: "labels: their probabilities say all".to_owned(),
            }
            .into());
        }
        Ok(())
    }
    /// The predicted probabilities of values that are not larger than `values`, samples ×
    /// features in data units; `NaN` where these are, and where nothing is known. Where
    /// predictions are right, those of new numbers are spread evenly over 0 to 1; counts,
    /// levels and labels have steps.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for classes, which have no order, and for values of other
    /// samples or features.
    pub fn cdf(&self, values: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let with = if self.kind.has_classes() {
            "classes, which have no order"
        } else if (values.nrows(), values.ncols()) != self.mean.shape() {
            "values of other samples or features"
        } else {
            return Ok(self.laws.cdf(values));
        };
        Err(ErrorKind::Incompatible {
            view: self.view.clone(),
            what: "a distribution function".to_owned(),
            with: with.to_owned(),
        }
        .into())
    }
    /// The most probable class of each sample, as a place among
    /// [`Prediction::features`]; of equal ones the first. Empty unless the view
    /// is categorical.
    pub fn classes(&self) -> Vec<usize> {
        if !self.kind.has_classes() {
            return Vec::new();
        }
        (0..self.mean.nrows())
            .map(|n| {
                (1..self.mean.ncols()).fold(0, |best, c| {
                    if self.mean[(n, c)] > self.mean[(n, best)] {
                        c
                    } else {
                        best
                    }
                })
            })
            .collect()
    }
}

/// The probabilities below the two ends of a central interval.
///
/// # Errors
/// [`ErrorKind::Option`] unless 0 < `level` < 1.
pub(super) fn ends(level: f64) -> Result<[f64; 2]> {
    if level > 0.0 && level < 1.0 {
        let p = 0.5 * (1.0 - level);
        Ok([p, 1.0 - p])
    } else {
        Err(ErrorKind::Option {
            option: "level",
            value: level.to_string(),
        }
        .into())
    }
}
