//! Counts that vary more than their likelihood says, and fits without the level of their data.

use std::borrow::Cow;

use polyview_core::{Block, Event, Law, Predictor, RowMoments};
use polyview_linalg::{Mat, SpdFactor};

use super::Fit;
use crate::error::{ErrorKind, Result};
use crate::faithful;
use crate::verbs::shares_of_squares;

/// How many times as much as Poisson counts the counts of a view vary before it is said.
const OVER: f64 = 1.15;

/// The same without factors, which may be true ones.
const FAR_OVER: f64 = 2.0;

/// Standard errors by which that is to be more than 1, lest it be chance.
const ERRORS: f64 = 4.0;

/// Most of what a cell says that its fitted mean may have taken from it.
const MOST_TAKEN: f64 = 0.95;

/// A feature varies by itself where more than that share of its weights lies along directions that are its own.
const BY_ITSELF: f64 = 0.7;

/// Of fewer features one may be alone along a factor that several have.
const FEWEST_FEATURES: usize = 20;

/// Most features that are named.
const NAMED: usize = 3;

/// How much more the counts of a view vary than Poisson counts.
struct Found {
    /// How many times as much as those of the fitted means, if that is no chance.
    times: Option<f64>,
    /// The features that vary by themselves, by place, and how many times as much as Poisson counts of what all other cells say of
    /// them, on average; of so many that were looked at.
    alone: Vec<usize>,
    times_alone: f64,
    looked_at: usize,
}

/// A factor acts in a view if it has this share of the squares of all weights of the view.
const ACTS: f64 = 0.001;

/// Most factors that covariances of so many features tell from variances of their own, by the number of unknowns: of p
/// features $p + \tfrac12 - \sqrt{2p + \tfrac14}$ (Ledermann 1937).
fn told_apart(features: usize) -> usize {
    let p = features as f64;
    (p + 0.5 - (2.0 * p + 0.25).sqrt()).max(0.0) as usize
}

/// Which share of the weights of each feature lies along directions of factors that are its own: their leverages
/// $w\_d^\top \langle W^\top W\rangle^{-1} w\_d$, from 0 to 1, whatever the rotation of the factors and their scales. A factor that no other feature
/// has gives 1, factors that all features share about the number of factors over that of features each. Nothing is told of so many factors
/// that they cannot be told from variances of single features ([`told_apart`]), nor of less than twenty features, nor of weights that are all
/// zero.
fn own_directions(weights: &RowMoments) -> Vec<f64> {
    let (features, factors) = (weights.rows(), weights.k());
    let nothing = vec![0.0; features];
    if features < FEWEST_FEATURES || factors == 0 || factors > told_apart(features) {
        return nothing;
    }
    let Ok((squares, _)) = SpdFactor::factor(&weights.second_moment(None)) else {
        return nothing;
    };
    let solved = squares.solve_mat_right(weights.mean());
    let leverage = |d: usize| {
        (0..weights.k())
            .map(|k| solved[(d, k)] * weights.mean()[(d, k)])
            .sum()
    };
    (0..features).map(leverage).collect()
}

/// Most cells that are looked at, times draws: of more, those of evenly spaced features.
const CELLS: usize = 1_000_000;

impl Fit {
    /// Warns of views of counts whose variance follows from their mean and whose training counts
    /// vary more than such counts of their fitted means do, and of views whose predictions have
    /// not the level of the data ([`Fit::without_levels`]): about a mean that is not theirs counts
    /// vary as nobody knows.
    pub(super) fn note_dispersion(&mut self) -> Result<()> {
        for at in 0..self.views.len() {
            let block = format!("likelihood/{}", self.views[at].name);
            if let Some(note) = self.without_levels(at) {
                self.note_before_the_end(&block, Event::Warning { note });
                continue;
            }
            let Some(instead) = self.views[at].choices.likelihood.for_more_variance() else {
                continue;
            };
            let Some(found) = self.overdispersed(at)? else {
                continue;
            };
            let note = format!("{found}; take the likelihood {instead}");
            self.note_before_the_end(&block, Event::Warning { note });
        }
        Ok(())
    }

    /// What is to be said of counts that vary more than Poisson counts do.
    fn overdispersed(&self, at: usize) -> Result<Option<String>> {
        let Some(found) = self.dispersion(at, &[])? else {
            return Ok(None);
        };
        let over = found.times.filter(|times| *times > OVER).map(|times| {
            format!(
                "the counts vary {times:.1} times as much as Poisson counts of these means would: \
                 intervals are too narrow, and factors may be of what single features vary"
            )
        });
        let alone = (!found.alone.is_empty()).then(|| {
            let view = &self.views[at];
            let names = found.alone.iter().take(NAMED);
            let names: Vec<String> = names.map(|d| format!("'{}'", view.features[*d])).collect();
            let more = if found.alone.len() > NAMED { ", …" } else { "" };
            let (varies, them) = match found.alone.len() {
                1 => ("varies by itself", "it"),
                _ => ("vary by themselves", "them"),
            };
            format!(
                "{} of {} features {varies}, {:.1} times as much as Poisson counts of what all else says of {them} would \
                 ({}{more}): that takes factors of single features",
                found.alone.len(),
                found.looked_at,
                found.times_alone,
                names.join(", ")
            )
        });
        Ok(match (over, alone) {
            (Some(over), Some(alone)) => Some(format!("{over}; {alone}")),
            (None, None) => self.taken_in(at)?,
            (one, other) => one.or(other),
        })
    }

    /// What is to be said of counts whose factors are so many that they take in what each feature varies by itself, as
    /// counts do that vary more than their likelihood lets them: more than the covariances of the features tell from variances
    /// of their own ([`told_apart`]), and without those that no other view has the counts vary far more than Poisson counts.
    fn taken_in(&self, at: usize) -> Result<Option<String>> {
        let component = self.component(0)?;
        let views = component.views.iter();
        let shares: Vec<Vec<f64>> = views.map(|v| shares_of_squares(v.weights.mean())).collect();
        let acts = |m: usize, j: &usize| shares[m][*j] > ACTS;
        let acting: Vec<usize> = (0..self.k()).filter(|j| acts(at, j)).collect();
        let features = self.views[at].features.len();
        if acting.len() <= told_apart(features) {
            return Ok(None);
        }
        let others = || (0..self.views.len()).filter(|m| *m != at);
        let own = acting.iter().filter(|j| !others().any(|m| acts(m, j)));
        let own: Vec<usize> = own.copied().collect();
        if own.is_empty() {
            return Ok(None);
        }
        let count = acting.len();
        let times = self.dispersion(at, &own)?.and_then(|found| found.times);
        Ok(times.filter(|times| *times > FAR_OVER).map(|times| {
            format!(
                "{count} factors act in its {features} features, more than can be told from what each feature varies by itself: \
                 without the {} of no other view the counts vary {times:.1} times as much as Poisson counts would",
                own.len()
            )
        }))
    }

    /// What to know of predictions of a view that have not the level of its data.
    pub(crate) fn without_levels(&self, at: usize) -> Option<String> {
        faithful::without_levels(self.spec()?, &self.views[at].name)
    }

    /// How many times as much the training counts of a view vary as Poisson counts of the fitted
    /// means do, if that is no chance: $\sum w(x - \mu)^2/\mu$ over $\sum w(1 - h)$ of the
    /// observed cells, of the rate $\mu$ at the mean of the predictor and the share h that the fit
    /// has taken of what a cell says, $h = \mu v$ with the variance v of the predictor: residuals are smaller by that, the more so
    /// the more factors there are (leverages of a regression: Pregibon 1981). The weight of a cell is $w = \mu/(1 + 2\mu)$, the
    /// inverse of the variance that its term has under the law. Without factors that are `left_out` the means of each feature
    /// are brought to its level, which is what means of exponentials lack then. Nothing where the data are not at hand.
    ///
    /// Without its own count a predictor has the variance $v/(1 - h)$, and a count varies $1/(1 - h)$ times as much about what all
    /// else says as Poisson counts do. Where that is twice as much on average, and where factors are that no other feature has
    /// ([`own_directions`]), a feature varies by itself: the likelihood has no noise of its own for it, and factors take its place.
    fn dispersion(&self, at: usize, left_out: &[usize]) -> Result<Option<Found>> {
        let Some(view) = self.data.as_ref().map(|data| &data[at]) else {
            return Ok(None);
        };
        let (samples, draws) = (view.n_samples(), self.n_components());
        let step = (samples * view.n_features() * draws).div_ceil(CELLS);
        let columns: Vec<usize> = (0..view.n_features()).step_by(step.max(1)).collect();
        let mut means: Mat<f64> = Mat::zeros(samples, columns.len());
        let mut squares: Mat<f64> = Mat::zeros(samples, columns.len());
        let (mut mean, mut sd) = (vec![0.0; samples], vec![0.0; samples]);
        let of_one = match self.as_of_one(&mut Vec::new()) {
            // nothing is told of samples whose factors do not come to rest
            Err(e) if matches!(e.kind(), ErrorKind::NotSettled { .. }) => return Ok(None),
            found => found?,
        };
        for i in 0..draws {
            let mut component = self.component(i)?;
            if let Some(shares) = of_one.as_ref().and_then(|z| z.shares.as_ref()) {
                component.share(shares);
            }
            let part = &component.views[at];
            let own = of_one.as_ref().map(|z| &z.moments);
            let mut factors = component.seen(own.unwrap_or_else(|| component.factors()));
            let mut weights = Cow::Borrowed(part.seen());
            if !left_out.is_empty() {
                let keep = (0..weights.k()).filter(|j| !left_out.contains(j));
                let keep: Vec<usize> = keep.collect();
                let signs = vec![1.0; keep.len()];
                factors.to_mut().select(&keep, &signs);
                weights.to_mut().select(&keep, &signs);
            }
            let p = Predictor {
                factors: &factors,
                weights: &weights,
                bias: &part.bias,
            };
            for (j, &d) in columns.iter().enumerate() {
                let law = part.term.law(&p, &Block::new(0..samples, d..d + 1));
                law.moments(0, &mut mean, &mut sd);
                for n in 0..samples {
                    means[(n, j)] += mean[n] / draws as f64;
                    squares[(n, j)] += (mean[n].powi(2) + sd[n].powi(2)) / draws as f64;
                }
            }
        }
        let (mut sum, mut all) = (0.0, 0.0);
        let own = own_directions(self.component(0)?.views[at].seen());
        let (mut alone, mut sum_alone) = (Vec::new(), 0.0);
        let mut counts = vec![0.0; samples];
        for (j, &d) in columns.iter().enumerate() {
            view.write_column(d, &mut counts);
            let seen = || (0..samples).filter(|n| view.is_observed(*n, d));
            let level = if left_out.is_empty() {
                1.0
            } else {
                let sum = |of: &dyn Fn(usize) -> f64| seen().map(of).sum::<f64>();
                sum(&|n| counts[n]) / sum(&|n| means[(n, j)])
            };
            // how much more a count varies about what all else says
            let (mut more, mut weights) = (0.0, 0.0);
            for n in seen() {
                // a rate that is uncertain, as a log-normal number is
                let expected = means[(n, j)];
                let of_rate = squares[(n, j)] - expected.powi(2) - expected;
                let variance = (of_rate.max(0.0) / expected.powi(2)).ln_1p();
                let mean = level * expected * (-0.5 * variance).exp();
                let weight = mean / (1.0 + 2.0 * mean);
                let square = (counts[n] - mean).powi(2) / mean;
                if weight > 0.0 && square.is_finite() {
                    let left = 1.0 - (mean * variance).min(MOST_TAKEN);
                    sum += weight * square;
                    all += weight * left;
                    weights += weight;
                    more += weight / left;
                }
            }
            let times = more / weights;
            if times > FAR_OVER && own[d] > BY_ITSELF {
                alone.push(d);
                sum_alone += times;
            }
        }
        let times = sum / all;
        Ok(Some(Found {
            times: (times > 1.0 + ERRORS / all.sqrt()).then_some(times),
            times_alone: sum_alone / alone.len() as f64,
            looked_at: columns.len(),
            alone,
        }))
    }
}
