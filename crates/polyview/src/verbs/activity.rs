//! Which factors act in which views, and how factors hang together.

use polyview_core::RowMoments;
use polyview_linalg::{Mat, gram};

use super::explain::Explained;
use crate::error::{ErrorKind, Result};
use crate::fit::Fit;

/// Share of a view's variance from which a factor counts as acting in it, where
/// nothing else is asked for.
pub const ACTIVE_SHARE: f64 = 0.01;

/// Where a factor acts (spec/thesis 5: common, shared by a subset, private,
/// irrelevant).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactorKind {
    /// In every view.
    Common,
    /// In several views but not in all: their places.
    Partial(Vec<usize>),
    /// In one view of several: its place.
    Private(usize),
    /// In none.
    Inactive,
}

/// What the shares of an [`Activity`] are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityBasis {
    /// The variance of the data: the shares of [`Explained`].
    Data,
    /// The variance that the model expects of such data, which are not at hand.
    Model,
}

/// Which factors act in which views: those that alone explain at least a certain
/// share of the view's variance, or without which at least that share is lost.
///
/// The shares are the marginal and the unique ones of [`Explained`], with their
/// denominator, so that the tables of variance explained and what is said of factors are
/// the same numbers. As in tables, they are rounded to a tenth of a percent before they
/// are compared ([`Activity::shown`]).
///
/// Either share alone would miss factors. Of two that say the same neither is missed
/// when it is left out, though each explains the view alone. And what takes out of others that
/// which does not belong to a view explains nothing alone, or less than nothing (a negative
/// marginal share), though the prediction of that view rests on it.
#[derive(Clone, Debug)]
pub struct Activity {
    /// Names of the views.
    pub views: Vec<String>,
    /// Share of each view's variance that each factor explains alone, views × K;
    /// `NaN` where a view does not vary.
    pub share: Mat<f64>,
    /// Share of each view's variance that is lost without each factor, views × K; `NaN`
    /// where a view does not vary.
    pub lost: Mat<f64>,
    /// Share from which a factor counts as active.
    pub threshold: f64,
    /// What the shares are of.
    pub basis: ActivityBasis,
}

impl Activity {
    /// A share as tables show it: to a tenth of a percent.
    pub fn shown(share: f64) -> f64 {
        (share * 1000.0).round() / 1000.0
    }
    /// Whether a factor acts in a view.
    pub fn is_active(&self, view: usize, factor: usize) -> bool {
        let at = (view, factor);
        Self::acts(self.share[at], Some(self.lost[at]), self.threshold)
    }
    /// Whether a factor acts in a view where it explains the share `alone` by itself, and the
    /// share `lost` is lost without it, if that is known.
    pub fn acts(alone: f64, lost: Option<f64>, threshold: f64) -> bool {
        let enough = |share: f64| Self::shown(share) >= threshold;
        enough(alone) || lost.is_some_and(enough)
    }
    /// Where a factor acts. With a single view an active factor is
    /// [`FactorKind::Common`].
    pub fn kind(&self, factor: usize) -> FactorKind {
        let active: Vec<usize> = (0..self.views.len())
            .filter(|&m| self.is_active(m, factor))
            .collect();
        match active.as_slice() {
            [] => FactorKind::Inactive,
            all if all.len() == self.views.len() => FactorKind::Common,
            [one] => FactorKind::Private(*one),
            _ => FactorKind::Partial(active),
        }
    }
    /// [`Activity::kind`] of every factor.
    pub fn kinds(&self) -> Vec<FactorKind> {
        (0..self.share.ncols()).map(|k| self.kind(k)).collect()
    }
    /// Factors that act in every one of these views, by place.
    pub fn acting_in(&self, views: &[usize]) -> Vec<usize> {
        (0..self.share.ncols())
            .filter(|&k| views.iter().all(|&m| self.is_active(m, k)))
            .collect()
    }
}

/// Refuses a threshold that nothing can be compared with.
fn check(threshold: f64) -> Result<()> {
    if threshold >= 0.0 {
        return Ok(());
    }
    Err(ErrorKind::Option {
        option: "threshold",
        value: threshold.to_string(),
    }
    .into())
}

impl Explained {
    /// Which factors act in which views: those that alone explain at least the
    /// share `threshold` ([`ACTIVE_SHARE`], say), or without which that share is lost.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] when the threshold is negative or not a number.
    pub fn activity(&self, threshold: f64) -> Result<Activity> {
        check(threshold)?;
        Ok(Activity {
            views: self.views.clone(),
            share: self.marginal.clone(),
            lost: self.unique.clone(),
            threshold,
            basis: ActivityBasis::Data,
        })
    }
}

impl Fit {
    /// Which factors act in which views: those that alone explain at least the
    /// share `threshold` ([`ACTIVE_SHARE`], say) of the view's variance, or without which
    /// that share is lost, as [`Fit::explain`] has it.
    ///
    /// Where the training data are not at hand (forgotten, or read block by
    /// block), the model's expectation takes their place: with $C$ the
    /// covariance of the factors over the training samples and $G = C \circ
    /// \langle W\rangle^\top\langle W\rangle$, factor k's share is $2\sum\_l
    /// G\_{kl} - G\_{kk}$ over $\sum\_{kl} G\_{kl} + \sum\_d \mathrm{E}[1/\tau\_d]$, in
    /// working units, and the share lost without it $G\_{kk}$ over the same; for labels and counts the variance of the link takes the place of
    /// $1/\tau$, and features count alike. [`Activity::basis`] says which it was.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] when the threshold is negative or not a number;
    /// when a component's state is damaged.
    pub fn active(&self, threshold: f64) -> Result<Activity> {
        check(threshold)?;
        if self.data().is_ok() {
            return self.explain()?.activity(threshold);
        }
        let (views, k) = (self.views.len(), self.k());
        let mut signal: Mat<f64> = Mat::zeros(views, k);
        let mut lost: Mat<f64> = Mat::zeros(views, k);
        let mut total = vec![0.0; views];
        for i in 0..self.n_components() {
            let component = self.component(i)?;
            let spread = factor_covariance(component.factors());
            for m in 0..views {
                let mut w = component.linear_weights(m);
                let part = &component.views[m];
                let mut link: Vec<f64> = (0..part.term.shape().predicted_columns())
                    .map(|d| part.link_variance(d))
                    .collect();
                let domain = part.term.domain();
                if domain.counts_features_alike() {
                    count_alike(&mut w, &mut link, &spread);
                }
                let w = gram(w.as_ref());
                total[m] += link.iter().sum::<f64>();
                for a in 0..k {
                    let with_all: f64 = (0..k).map(|b| spread[(a, b)] * w.get(a, b)).sum();
                    let own = spread[(a, a)] * w.get(a, a);
                    signal[(m, a)] += 2.0 * with_all - own;
                    lost[(m, a)] += own;
                    total[m] += with_all;
                }
            }
        }
        Ok(Activity {
            views: self.views.iter().map(|v| v.name.clone()).collect(),
            share: Mat::from_fn(views, k, |m, j| signal[(m, j)] / total[m]),
            lost: Mat::from_fn(views, k, |m, j| lost[(m, j)] / total[m]),
            threshold,
            basis: ActivityBasis::Model,
        })
    }

    /// Correlations of the factors' posterior means over the training
    /// samples, K × K. The prior makes factors independent; strong
    /// correlations say that they were turned, or that samples form groups.
    /// `NaN` for a factor that does not vary.
    ///
    /// # Errors
    /// When a component's state is damaged.
    pub fn factor_correlations(&self) -> Result<Mat<f64>> {
        let c = factor_covariance(&RowMoments::point(self.factors()?.mean));
        Ok(Mat::from_fn(c.nrows(), c.ncols(), |a, b| {
            let scale = (c[(a, a)] * c[(b, b)]).sqrt();
            if scale > 0.0 {
                if a == b { 1.0 } else { c[(a, b)] / scale }
            } else {
                f64::NAN
            }
        }))
    }
}

/// Brings the weights of each column to the unit in which its predictor and its link
/// together have the variance 1, as [`Fit::explain`] does.
fn count_alike(weights: &mut Mat<f64>, link: &mut [f64], spread: &Mat<f64>) {
    let k = weights.ncols();
    for (d, link) in link.iter_mut().enumerate() {
        let pairs = (0..k).flat_map(|a| (0..k).map(move |b| (a, b)));
        let own: f64 = pairs
            .map(|(a, b)| weights[(d, a)] * spread[(a, b)] * weights[(d, b)])
            .sum();
        let squared = 1.0 / (own + *link);
        let squared = if squared.is_finite() { squared } else { 0.0 };
        *link = if squared > 0.0 { squared * *link } else { 1.0 };
        for j in 0..k {
            weights[(d, j)] *= squared.sqrt();
        }
    }
}

/// Covariance of the rows about their mean, posterior covariances included.
fn factor_covariance(factors: &RowMoments) -> Mat<f64> {
    let n = factors.rows().max(1) as f64;
    let second = factors.second_moment(None);
    let mean: Vec<f64> = polyview_linalg::column_sums(factors.mean())
        .into_iter()
        .map(|s| s / n)
        .collect();
    Mat::from_fn(mean.len(), mean.len(), |a, b| {
        second.get(a, b) / n - mean[a] * mean[b]
    })
}
