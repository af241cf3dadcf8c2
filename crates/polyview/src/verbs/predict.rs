//! Predicted data: one view from others, or the fit of the training samples.

use std::borrow::Cow;
use std::sync::Arc;

use polyview_core::{
    Dataset, Domain, Journal, NormalScores, NumericError, OrderStatistics, RowMoments,
    UnknownClass, View,
};
use polyview_likelihoods::ParameterUncertainty;
use polyview_linalg::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::align::Aligned;
use super::latent;
use super::laws::{Laws, Part};
use super::placing::Placing;
use super::project::WeightUncertainty;
use super::regressed::known;
use super::settle::without_covariances;
use super::stacking::{Told, Way};
use crate::error::{ErrorKind, Result};
use crate::fit::{Component, Fit};
use crate::metrics::quantile_level;

/// Choices of [`Fit::predict_with`] and its kin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PredictOptions {
    /// How sure weights, intercepts and noise are taken to be. The plug-in
    /// forms use their means for the factors too (spec/sshiba P1, P3, P5, P7):
    /// they are printed in the papers, and too sure of themselves of the parameters. **They are
    /// not narrower everywhere**: known weights (P1) leave the factors of a sample the covariance
    /// $(I + \langle W\rangle^\top T\langle W\rangle)^{-1}$, which is never smaller than that of
    /// uncertain ones (P2), $(I + \langle W^\top TW\rangle)^{-1}$: under the posterior the variance of
    /// the weights holds factors back. Where many features with weak weights say where a sample
    /// is, that outweighs the variance of the target's weights, which P1 leaves out. With the same factors
    /// ([`Fit::fitted_with`], [`Fit::impute_with`]) what is known is never less certain.
    pub parameters: ParameterUncertainty,
    /// What becomes of a class that the model has not seen.
    pub unknown_classes: UnknownClass,
}

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
    /// predictor, positive where a 1 is the more probable. `None` for all other
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
    /// As [`Prediction::interval`], of the cells that are wanted; `NaN` elsewhere.
    pub(super) fn interval_where(
        &self,
        level: f64,
        wanted: impl Fn(usize, usize) -> bool + Sync,
    ) -> Result<(Mat<f64>, Mat<f64>)> {
        let ends = ends(level)?;
        if self.kind.is_label() {
            return Err(ErrorKind::Incompatible {
                view: self.view.clone(),
                what: "an interval".to_owned(),
                with: "labels: their probabilities say all".to_owned(),
            }
            .into());
        }
        let [lower, upper] = self.laws.quantiles(ends, wanted);
        Ok((lower, upper))
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

/// Factors, the components that their samples belong to where these are others than the fit's,
/// and what factors leave of the samples' features where the view is predicted from that as well.
type Placed<'a> = (Cow<'a, RowMoments>, Option<Arc<Mat<f64>>>, Option<Mat<f64>>);

/// A view that is predicted.
struct Wanted<'a> {
    at: usize,
    /// Whether the factors have seen it.
    seen: bool,
    /// Its data, in working units, where these are at hand.
    own: Option<&'a View>,
    /// How it is predicted.
    ways: Vec<Told>,
}

impl Fit {
    /// Predicts the view `target` from the other views of `data` (any subset
    /// of the model's). The target's own data, where given, are left out.
    /// Views, features and missing cells are treated as by [`Fit::project`].
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let data = polyview_datasets::nutrimouse();
    /// let fit = polyview::fit(data.clone(), polyview::models::bibfa(4))?;
    /// let lipids = fit.predict(&data, "lipid")?; // from the genes alone
    /// let (lower, upper) = lipids.interval(0.9)?;
    /// assert_eq!(lipids.mean.ncols(), 21);
    /// assert!(lower[(0, 0)] < lipids.mean[(0, 0)] && lipids.mean[(0, 0)] < upper[(0, 0)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`], [`ErrorKind::NoKnownFeature`];
    /// [`ErrorKind::Incompatible`] when the data hold no view but the target;
    /// numerical errors.
    pub fn predict(&self, data: &Dataset, target: &str) -> Result<Prediction> {
        self.predict_with(data, target, &PredictOptions::default())
    }

    /// As [`Fit::predict`], with choices.
    ///
    /// # Errors
    /// As [`Fit::predict`].
    pub fn predict_with(
        &self,
        data: &Dataset,
        target: &str,
        options: &PredictOptions,
    ) -> Result<Prediction> {
        let (at, info) = self.view(target)?;
        info.tells_features("a prediction")?;
        let aligned = Aligned::new(self, data, Some(at), options.unknown_classes)?;
        if aligned.views.iter().all(Option::is_none) {
            return Err(ErrorKind::Incompatible {
                view: info.name.clone(),
                what: "its prediction".to_owned(),
                with: "data that hold no other view".to_owned(),
            }
            .into());
        }
        self.predict_aligned(at, aligned, options.parameters)
    }

    /// The fit of a view: predictions for the training samples from their own
    /// posterior, at every cell, observed or not.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged.
    pub fn fitted(&self, view: &str) -> Result<Prediction> {
        self.fitted_with(view, ParameterUncertainty::Posterior)
    }

    /// As [`Fit::fitted`], with parameters as sure as that. The factors are
    /// those of the fit all the same.
    ///
    /// # Errors
    /// As [`Fit::fitted`].
    pub fn fitted_with(&self, view: &str, parameters: ParameterUncertainty) -> Result<Prediction> {
        let (at, info) = self.view(view)?;
        info.tells_features("a prediction")?;
        let (samples, placing) = (self.samples.clone(), Placing::as_fitted());
        let own = self.data.as_ref().map(|data| &data[at]);
        let of = Wanted {
            at,
            seen: true,
            own,
            ways: vec![(Way::Joint, vec![1.0; samples.len()])],
        };
        self.predict_from(of, (samples, &placing), Vec::new(), parameters, |c| {
            Ok((Cow::Borrowed(c.factors()), None, None))
        })
    }

    /// Predictions of view `at` from matched data.
    pub(super) fn predict_aligned(
        &self,
        at: usize,
        aligned: Aligned,
        parameters: ParameterUncertainty,
    ) -> Result<Prediction> {
        let Aligned {
            samples,
            views,
            placing,
            mut notes,
            warnings,
        } = aligned;
        let ids = samples.clone();
        let seen = views[at].is_some();
        if !seen {
            notes.extend(self.without_regression(at, &views, samples.len())?);
        }
        let mut journal = Journal::default();
        let own = views[at].as_ref();
        let ways = if seen {
            vec![(Way::Joint, vec![1.0; samples.len()])]
        } else {
            self.ways_of(at, &views, samples.len())?
        };
        let of = Wanted {
            at,
            seen,
            own,
            ways,
        };
        let features = if seen { None } else { self.on_features(at)? };
        let mut out = self.predict_from(of, (samples, &placing), notes, parameters, |c| {
            let how = latent::usual(WeightUncertainty::Variational);
            let z = latent::factors(self, c, &views, &ids, how, &mut journal)?;
            let beside = features
                .as_ref()
                .map(|f| f.directions.of(c, &views, &z.moments));
            let moments = if self.predicts_from_means(at, seen) {
                without_covariances(&z.moments)
            } else {
                z.moments
            };
            Ok((Cow::Owned(moments), z.shares, beside))
        })?;
        latent::notes_of(&journal, &mut out.notes);
        out.warnings.extend(warnings);
        Ok(out)
    }

    /// Predictions of view `at` from the factors that `factors` gives for each
    /// component: by what the view was settled on where these have not `seen` it, if it
    /// was, and else by the joint fit; a mixture of several ways, where it is one.
    fn predict_from(
        &self,
        Wanted {
            at,
            seen,
            own,
            ways,
        }: Wanted<'_>,
        (samples, placing): (Vec<String>, &Placing),
        mut notes: Vec<String>,
        parameters: ParameterUncertainty,
        mut factors: impl for<'a> FnMut(&'a Component) -> Result<Placed<'a>>,
    ) -> Result<Prediction> {
        let info = &self.views[at];
        let mut parts = Vec::new();
        let count = self.n_components() * placing.count();
        for i in 0..count {
            let mut found: Option<Placed<'static>> = None;
            for (way, shares) in &ways {
                let settled = !seen && matches!(way, Way::Settled);
                let target = settled.then_some(at);
                let mut component = self.component_for(i / placing.count(), parameters, target)?;
                placing.place(i % placing.count(), &mut component)?;
                let share = |s: &f64| s / count as f64;
                let shares: Vec<f64> = shares.iter().map(share).collect();
                if let Way::Regressed(scores, noise) = way {
                    let view = component.views.swap_remove(at);
                    parts.push((known(view, scores, noise), shares));
                    continue;
                }
                // factors come from other views, the same for each way
                let (z, of_components, beside) = if let Some((z, s, beside)) = &found {
                    (Cow::Owned(z.as_ref().clone()), s.clone(), beside.clone())
                } else {
                    let (z, s, beside) = factors(&component)?;
                    if ways.len() > 1 {
                        let z = Cow::Owned(z.as_ref().clone());
                        found = Some((z, s.clone(), beside.clone()));
                    }
                    (z, s, beside)
                };
                let z = match of_components {
                    None => z,
                    Some(of_components) => {
                        let z = z.into_owned();
                        if let Some(own) = component.views[at].term.as_by_component() {
                            own.take_shares(&of_components);
                        }
                        Cow::Owned(z)
                    }
                };
                let z_seen = Arc::new(component.seen(&z).into_owned());
                drop(z);
                let mut view = component.views.swap_remove(at);
                if let Some(known) = beside
                    && let Some(features) = self.on_features(at)?
                {
                    view.bias = features.added(&view.bias, known.as_ref(), parameters)?;
                }
                if view.term.laws_need_data() {
                    match own {
                        Some(own) => view.term = view.term.rebind(own)?,
                        // its own data are what it takes
                        None if seen => {
                            self.data()?;
                        }
                        None => {}
                    }
                }
                parts.push((Part::new(z_seen, view), shares));
            }
        }
        let Some(kind) = parts.first().map(|(part, _)| part.term().domain()) else {
            return Err(NumericError::BadState {
                name: "component 0".to_owned(),
            }
            .into());
        };
        let laws = Laws::new(parts, info);
        let score = kind.is_probability().then(|| laws.scores());
        let probability_sd = kind.has_trials().then(|| laws.chances());
        let normal_scores = info.scaling.scores.as_ref().map(|scale| {
            let [mean, sd] = laws.working_moments();
            let scale = scale.clone();
            PredictedScores { mean, sd, scale }
        });
        let ranks = kind.is_ranked().then(|| {
            let (mean, sd, scale) = laws.ranks();
            PredictedRanks { mean, sd, scale }
        });
        let levels = if kind.is_ordered() {
            laws.levels()
        } else {
            Vec::new()
        };
        let [mean, sd] = if kind.has_classes() {
            laws.classes(info.levels.len())
        } else {
            laws.moments()
        };
        notes.extend(
            info.unobserved_note()
                .map(|n| format!("view '{}': {n}", info.name)),
        );
        Ok(Prediction {
            view: info.name.clone(),
            samples,
            kind: if kind.has_trials() {
                Domain::Binary
            } else {
                kind
            },
            features: info.columns().to_vec(),
            mean,
            sd,
            probability_sd,
            score,
            normal_scores,
            ranks,
            levels: (!levels.is_empty()).then_some(PredictedLevels {
                probability: levels,
            }),
            notes,
            warnings: (self.without_levels(at).into_iter())
                .map(|w| format!("view '{}': {w}", info.name))
                .collect(),
            laws,
        })
    }
}
