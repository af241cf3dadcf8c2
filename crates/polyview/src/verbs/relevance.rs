//! Which features matter: relevances, selection, and the fit of what is left.

use polyview_core::{Dataset, Finding, NumericError};
use polyview_linalg::faer::Scale;
use polyview_linalg::{Mat, MatRef};

use crate::error::{Error, ErrorKind, Result};
use crate::fit::{Fit, Fitting};
use crate::verbs::ACTIVE_SHARE;

/// Which features of a view to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Selection {
    /// So many of the most relevant, at least one.
    Top(usize),
    /// This share of the features, above 0 and at most 1, rounded up.
    Share(f64),
    /// Those whose relevance, relative to the view's median, is above this.
    Above(f64),
}

/// Weights of a view that has other features.
fn misshapen(view: &str) -> Error {
    NumericError::BadState {
        name: format!("views/{view}/weights"),
    }
    .into()
}

/// Share of each factor in the squares of all weights, features × factors; 0 where all are zero.
pub(crate) fn shares_of_squares(weights: MatRef<'_, f64>) -> Vec<f64> {
    let squares = |k: usize| weights.col(k).iter().map(|w| w * w).sum::<f64>();
    let of: Vec<f64> = (0..weights.ncols()).map(squares).collect();
    let all: f64 = of.iter().sum();
    let share = |squares: f64| if all > 0.0 { squares / all } else { 0.0 };
    of.into_iter().map(share).collect()
}

/// Share of the squares of all weights of a view below which a factor does nothing there.
const IDLE: f64 = 1e-4;
/// Posterior standard deviations from zero from which on a weight is known to be there. A factor without such a weight does nothing where it explains next to
/// nothing: its slab is so narrow that data cannot tell its weights from zero, and what is said of being in it is the prior's.
const KNOWN: f64 = 3.0;

impl Fit {
    /// Relevance of each feature of a view, in the order of its features:
    /// $1/\langle\gamma\_d\rangle$ divided by the median over the view
    /// (spec/thesis 6.2, spec/sshiba G8). 1 is an ordinary feature.
    ///
    /// Only ratios within a view mean something: the common scale of all
    /// features is also one of the factors' precisions. Over Gibbs draws it is
    /// the geometric mean, which that scale leaves alone.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; [`ErrorKind::NoRelevance`] when the view was
    /// fitted without the prior `relevance` ([`WeightPrior`](crate::WeightPrior)); when a component's state
    /// is damaged.
    pub fn relevance(&self, view: &str) -> Result<Vec<f64>> {
        let (at, info) = self.view(view)?;
        let features = info.features.len();
        let mut logs = vec![0.0; features];
        self.each_part(at, |part| {
            let Some(precisions) = part.weights.relevance() else {
                return Err(ErrorKind::NoRelevance {
                    view: view.to_owned(),
                }
                .into());
            };
            if precisions.len() != features {
                return Err(misshapen(view));
            }
            for (sum, p) in logs.iter_mut().zip(precisions) {
                *sum -= p.ln() / self.components.len() as f64;
            }
            Ok(())
        })?;
        if features == 0 {
            return Ok(Vec::new());
        }
        let level = logs.iter().sum::<f64>() / features as f64;
        let raw: Vec<f64> = logs.iter().map(|l| (l - level).exp()).collect();
        let mut sorted = raw.clone();
        sorted.sort_by(f64::total_cmp);
        let median = f64::midpoint(sorted[(features - 1) / 2], sorted[features / 2]);
        Ok(raw.into_iter().map(|r| r / median).collect())
    }

    /// Posterior probabilities that the weights of a view are not zero,
    /// features (or classes) × factors; over Gibbs draws the share of draws. Those of a factor that does nothing in the view
    /// ([`Fit::idle`]) are 0.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; [`ErrorKind::NoInclusion`] when the view was
    /// fitted without the prior `spike-and-slab` ([`WeightPrior`](crate::WeightPrior)); when a component's
    /// state is damaged.
    pub fn inclusion(&self, view: &str) -> Result<Mat<f64>> {
        let (at, info) = self.view(view)?;
        let mut mean: Mat<f64> = Mat::zeros(info.weight_rows().len(), self.k());
        self.each_part(at, |part| {
            let Some(own) = part.weights.inclusion() else {
                return Err(ErrorKind::NoInclusion {
                    view: view.to_owned(),
                }
                .into());
            };
            if own.shape() != mean.shape() {
                return Err(misshapen(view));
            }
            mean += own * Scale(1.0 / self.components.len() as f64);
            Ok(())
        })?;
        for (k, idle) in self.idle(view)?.into_iter().enumerate() {
            if idle {
                mean.col_as_slice_mut(k).fill(0.0);
            }
        }
        Ok(mean)
    }

    /// Which factors do nothing in a view, one answer for each of the K: the squares of their weights (posterior means, working units) are less than a ten-thousandth of
    /// those of all factors, a hundredth of the share from which a factor acts ([`ACTIVE_SHARE`](crate::ACTIVE_SHARE)), or less than that share
    /// while none of its weights is three standard deviations from zero, where these have spikes and slabs.
    /// A slab as narrow as that is as good as zero, and what is said of being in it is the prior's.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged.
    pub fn idle(&self, view: &str) -> Result<Vec<bool>> {
        let weights = self.weights(view)?;
        let shares = shares_of_squares(weights.mean.as_ref());
        let (_, info) = self.view(view)?;
        let has_slab = info.choices.selection.finding() == Some(Finding::Inclusion);
        let is_known = |k: usize| {
            let mut both = weights.mean.col(k).iter().zip(weights.sd.col(k).iter());
            !has_slab || both.any(|(w, sd)| w.abs() > KNOWN * sd)
        };
        let is_idle =
            |(k, share): (usize, f64)| share <= IDLE || share < ACTIVE_SHARE && !is_known(k);
        Ok(shares.into_iter().enumerate().map(is_idle).collect())
    }

    /// How many features each factor has in a view, were they of one size:
    /// $(\sum\_d w\_{dk}^2)^2/\sum\_d w\_{dk}^4$ of the posterior means, between
    /// 1 and the number of features, or classes; 0 where all are zero. It
    /// says how sparse weights are that are never exactly zero, and depends on
    /// the scales of features.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; when a component's state is damaged.
    pub fn effective_features(&self, view: &str) -> Result<Vec<f64>> {
        let w = self.weights(view)?.mean;
        Ok((0..w.ncols())
            .map(|k| {
                // powers of shares neither overflow nor vanish
                let largest = w.col(k).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                if largest == 0.0 {
                    return 0.0;
                }
                let power = |p: i32| w.col(k).iter().map(|x| (x / largest).powi(p)).sum::<f64>();
                power(2).powi(2) / power(4)
            })
            .collect())
    }

    /// The features of a view that `selection` keeps, as places among its
    /// features, most relevant first; equals in the order of the features.
    ///
    /// # Errors
    /// Those of [`Fit::relevance`]; [`ErrorKind::Option`] when the selection is
    /// out of its range or keeps nothing.
    pub fn select_features(&self, view: &str, selection: Selection) -> Result<Vec<usize>> {
        let relevance = self.relevance(view)?;
        let all = relevance.len();
        let mut order: Vec<usize> = (0..all).collect();
        order.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]).then(a.cmp(&b)));
        let (option, value, keep) = match selection {
            Selection::Top(n) => ("top", n.to_string(), (n <= all).then_some(n)),
            Selection::Share(f) => {
                // a share that is meant to give a whole number gives it
                let n = (f * all as f64 - 1e-9).ceil().max(1.0) as usize;
                let legal = f > 0.0 && f <= 1.0;
                ("share", f.to_string(), legal.then_some(n.min(all)))
            }
            Selection::Above(t) => {
                let n = relevance.iter().filter(|r| **r > t).count();
                ("above", t.to_string(), Some(n))
            }
        };
        match keep {
            None | Some(0) => Err(ErrorKind::Option { option, value }.into()),
            Some(n) => {
                order.truncate(n);
                Ok(order)
            }
        }
    }

    /// `data` with only the selected features of the named views, matched by
    /// name, in the order in which they stand in `data`. Everything else
    /// stays.
    ///
    /// # Errors
    /// Those of [`Fit::select_features`]; [`ErrorKind::UnknownView`] and
    /// [`ErrorKind::MissingFeatures`] when `data` lack what was selected;
    /// [`polyview_core::DataError::EmptySample`] when a sample has nothing
    /// left.
    pub fn reduce(&self, data: &Dataset, selections: &[(&str, Selection)]) -> Result<Dataset> {
        let mut out = data.clone();
        for &(view, selection) in selections {
            let (_, info) = self.view(view)?;
            info.tells_features("which of them matter")?;
            let chosen = self.select_features(view, selection)?;
            let Some(table) = out.view(view) else {
                return Err(ErrorKind::UnknownView {
                    view: view.to_owned(),
                    known: data.views().iter().map(|v| v.name().to_owned()).collect(),
                }
                .into());
            };
            let places: std::collections::HashMap<&str, usize> = table
                .features()
                .iter()
                .enumerate()
                .map(|(d, name)| (name.as_str(), d))
                .collect();
            let (mut keep, mut absent) = (Vec::new(), Vec::new());
            for d in chosen {
                let name = info.features[d].as_str();
                match places.get(name) {
                    Some(&at) => keep.push(at),
                    None => absent.push(name.to_owned()),
                }
            }
            if !absent.is_empty() {
                return Err(ErrorKind::MissingFeatures {
                    view: view.to_owned(),
                    expected: keep.len() + absent.len(),
                    absent,
                }
                .into());
            }
            keep.sort_unstable();
            out = out.with_features(view, &keep)?;
        }
        Ok(out)
    }

    /// Fits the same choices to `data` with only the selected features: their
    /// weights without the shadow of the others (spec/thesis 6.2).
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use polyview::{Selection, models};
    ///
    /// let data = polyview_datasets::nutrimouse();
    /// let mut spec = models::bibfa(3);
    /// # spec.vb.max_sweeps = 20;
    /// let mut choices = spec.view("gene");
    /// choices.selection = "relevance".into();
    /// let fit = polyview::fit(data.clone(), spec.with_view("gene", choices))?;
    /// let small = fit.refit(&data, &[("gene", Selection::Top(20))])?;
    /// assert_eq!(small.weights("gene")?.mean.nrows(), 20);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Fit::reduce`] and of a fit.
    pub fn refit(&self, data: &Dataset, selections: &[(&str, Selection)]) -> Result<Fit> {
        let data = self.reduce(data, selections)?;
        let Some(mut spec) = self.spec().cloned() else {
            return Fitting::of(data, self.composed.clone())?.to_the_end();
        };
        for (view, _) in selections {
            // some of the pixels are no image
            let mut choices = spec.view(view);
            if choices.shape.take().is_some() {
                spec = spec.with_view(view, choices);
            }
        }
        Fitting::new(data, spec)?.to_the_end()
    }
}
