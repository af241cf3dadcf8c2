//! Predicted data: one view from others, or the fit of the training samples.

use std::borrow::Cow;
use std::sync::Arc;

use polyview_core::{Dataset, Domain, Journal, NumericError, RowMoments, UnknownClass, View};
use polyview_likelihoods::ParameterUncertainty;
use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use super::align::Aligned;
use super::latent;
use super::laws::{Laws, Part};
use super::placing::{Placing, shares as shares_of_ways};
use super::prediction::{PredictedLevels, PredictedRanks, PredictedScores, Prediction};
use super::project::WeightUncertainty;
use super::regressed::known;
use super::settle::without_covariances;
use super::stacking::{Told, Way};
use crate::error::{ErrorKind, Result};
use crate::fit::{Component, Fit};

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

/// What is known of samples under one way to place them.
#[derive(Clone)]
struct Placed<'a> {
    factors: Cow<'a, RowMoments>,
    /// The components that the samples belong to, where these are others than the fit's.
    shares: Option<Arc<Mat<f64>>>,
    /// What factors leave of the samples' features, where the view is predicted from that as well.
    beside: Option<Mat<f64>>,
    /// What the bound says of each sample, where there are several ways ([`Placing::bounds`]).
    bounds: Vec<f64>,
}

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
    /// posterior, at every cell, observed or not. Where a view counts more or less than once, that is their
    /// posterior under one observation of each view, as of new samples, and not that of [`Fit::factors`].
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged; [`ErrorKind::NoData`] and what
    /// [`Fit::project`] says where views count more or less than once.
    pub fn fitted(&self, view: &str) -> Result<Prediction> {
        self.fitted_with(view, ParameterUncertainty::Posterior)
    }

    /// As [`Fit::fitted`], with parameters as sure as that. The factors are
    /// the same ones.
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
        let mut notes = self.record().assumptions();
        let of_one = self.as_of_one(&mut notes)?;
        self.predict_from(of, (samples, &placing), notes, parameters, |c, _| {
            let (factors, shares) = match &of_one {
                Some(z) => (Cow::Owned(z.moments.clone()), z.shares.clone()),
                None => (Cow::Borrowed(c.factors()), None),
            };
            Ok(Placed {
                factors,
                shares,
                beside: None,
                bounds: Vec::new(),
            })
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
        let mut journal = Journal::default();
        let own = views[at].as_ref();
        let ways = if seen {
            vec![(Way::Joint, vec![1.0; samples.len()])]
        } else {
            self.ways_of(at, &views, samples.len(), &mut notes)?
        };
        let of = Wanted {
            at,
            seen,
            own,
            ways,
        };
        let features = if seen { None } else { self.on_features(at)? };
        let mut out =
            self.predict_from(of, (samples, &placing), notes, parameters, |c, (i, way)| {
                let weights = WeightUncertainty::Variational;
                let how = latent::usual(weights);
                let z = latent::factors(self, c, &views, &ids, how, &mut journal)?;
                let alone = || self.component_for(i, parameters, None);
                let bounds = placing.bounds((self, way), alone, (&views, &z), weights)?;
                let beside = features
                    .as_ref()
                    .map(|f| f.directions.of(c, &views, &z.moments));
                let moments = if self.predicts_from_means(at, seen) {
                    without_covariances(&z.moments)
                } else {
                    z.moments
                };
                Ok(Placed {
                    factors: Cow::Owned(moments),
                    shares: z.shares,
                    beside,
                    bounds,
                })
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
        mut factors: impl for<'a> FnMut(&'a Component, (usize, usize)) -> Result<Placed<'a>>,
    ) -> Result<Prediction> {
        let info = &self.views[at];
        let mut parts = Vec::new();
        let (draws, places) = (self.n_components(), placing.count());
        for i in 0..draws {
            // parts of this draw, one for each place and way, and what the bound says there
            let (first, mut bounds) = (parts.len(), Vec::new());
            for place in 0..places {
                let mut found: Option<Placed<'static>> = None;
                let mut bound = vec![0.0; samples.len()];
                for (way, shares) in &ways {
                    let settled = !seen && matches!(way, Way::Settled);
                    let target = settled.then_some(at);
                    let mut component = self.component_for(i, parameters, target)?;
                    placing.place(place, &mut component)?;
                    let share = |s: &f64| s / draws as f64;
                    let shares: Vec<f64> = shares.iter().map(share).collect();
                    if let Way::Regressed(scores, parameters) = way {
                        let view = component.views.swap_remove(at);
                        parts.push((known(view, scores, parameters), shares));
                        continue;
                    }
                    // factors come from other views, the same for each way
                    let placed = if let Some(found) = &found {
                        found.clone()
                    } else {
                        let placed = factors(&component, (i, place))?;
                        bound.clone_from(&placed.bounds);
                        if ways.len() > 1 {
                            found = Some(Placed {
                                factors: Cow::Owned(placed.factors.as_ref().clone()),
                                shares: placed.shares.clone(),
                                beside: placed.beside.clone(),
                                bounds: Vec::new(),
                            });
                        }
                        placed
                    };
                    let Placed {
                        factors: z,
                        shares: of_components,
                        beside,
                        ..
                    } = placed;
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
                bounds.push(bound);
            }
            let likely = shares_of_ways(&bounds, samples.len());
            for (of_place, likely) in parts[first..].chunks_mut(ways.len().max(1)).zip(&likely) {
                for (_, shares) in of_place {
                    for (share, likely) in shares.iter_mut().zip(likely) {
                        *share *= likely;
                    }
                }
            }
        }
        let Some(kind) = parts.first().map(|(part, _)| part.term().domain()) else {
            return Err(NumericError::BadState {
                name: "component 0".to_owned(),
            }
            .into());
        };
        let laws = Laws::new(parts, info);
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
        let score = (kind.is_probability()).then(|| match ways.len() {
            0 | 1 => laws.scores(),
            _ => log_odds(&mean),
        });
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

/// The predictors of a logistic function that has these probabilities, none beyond what rounding tells from 0 and 1.
fn log_odds(probabilities: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(probabilities.nrows(), probabilities.ncols(), |n, d| {
        let p = probabilities[(n, d)];
        let p = p.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        (p / (1.0 - p)).ln()
    })
}
