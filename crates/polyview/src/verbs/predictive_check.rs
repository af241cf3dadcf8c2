//! Posterior predictive checks: data that the model makes for the samples at hand,
//! against those that it was fitted to (Gelman, Meng, Stern 1996, "Posterior
//! predictive assessment of model fitness via realized discrepancies").

mod observed;

use std::sync::Arc;

use polyview_core::{Domain, Predictor, RowGroups, RowMoments, View};
use polyview_infer::diagnostics::quantiles;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};

use observed::{Observed, Pair};

use super::compare::{evenly, thinned};
use super::discrepancies::spread_out;
use super::latent::Located;
use super::simulate::{draw_bias, draw_rows};
use crate::assemble::several;
use crate::error::{ErrorKind, Result};
use crate::fit::{Component, Fit};

/// Blocks of random numbers of one replicate; each view has eight.
const FACTORS: u32 = 1;
const GROUP: u32 = 2;
const VIEW: u32 = 8;
/// Most columns of a view whose statistics are kept.
const COLUMNS: usize = 1000;

/// Choices of [`Fit::predictive_checks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Replicated data sets.
    pub replicates: usize,
    /// Most samples that are looked at, evenly spread.
    pub samples: usize,
    /// Seed of the replicates.
    pub seed: u64,
}

impl Default for CheckOptions {
    /// 100 replicates of 500 samples, seed 1.
    fn default() -> Self {
        Self {
            replicates: 100,
            samples: 500,
            seed: 1,
        }
    }
}

/// One statistic of the data of a view and of its replicates.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedStatistic {
    /// What it is, such as `skewness`.
    pub name: String,
    /// Names of the columns that it was taken of, one thousand at most, or of the
    /// one thing that it says about the view.
    pub columns: Vec<String>,
    /// Of the data, one a column. A discrepancy depends on the parameters as well
    /// (the order agreement of ranks, the separation of labels): its mean over
    /// the replicates.
    pub observed: Vec<f64>,
    /// Mean over the replicates, one a column.
    pub replicated: Vec<f64>,
    /// 5 % quantile of the replicates, one a column.
    pub lower: Vec<f64>,
    /// 95 % quantile of the replicates, one a column.
    pub upper: Vec<f64>,
    /// Posterior predictive p-values: the share of replicates in which it is
    /// larger than that of the data, ties counting half. Near 0 or 1 the model
    /// does not make such data. `NaN` where the statistic is not defined.
    pub p: Vec<f64>,
    /// The column that stands for all: of the shares of classes, whose mean is the same whatever the
    /// data, the class that is the most frequent in these; none where their mean does.
    pub instead_of_mean: Option<String>,
    /// Mean of [`CheckedStatistic::observed`] over the columns, or that of the column that stands for all.
    pub mean_observed: f64,
    /// The same of each replicate.
    pub mean_replicated: Vec<f64>,
    /// Posterior predictive p-value of that.
    pub mean_p: f64,
}

impl CheckedStatistic {
    /// A p-value nearer to 0 or 1 than this is extreme.
    pub const EXTREME: f64 = 0.025;

    /// Whether a p-value is defined and extreme.
    pub fn is_extreme(p: f64) -> bool {
        !p.is_nan() && !(Self::EXTREME..=1.0 - Self::EXTREME).contains(&p)
    }

    /// Mean of [`CheckedStatistic::mean_replicated`] over the replicates.
    pub fn replicated_mean(&self) -> f64 {
        mean(&self.mean_replicated)
    }

    /// Number of columns that have a p-value, and of those whose p-value is
    /// extreme.
    pub fn columns_and_extremes(&self) -> (usize, usize) {
        let defined = self.p.iter().filter(|p| !p.is_nan());
        let extreme = self.p.iter().filter(|p| Self::is_extreme(**p));
        (defined.count(), extreme.count())
    }
}

/// Posterior predictive checks of one view.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictiveCheck {
    /// The view.
    pub view: String,
    /// What it predicts.
    pub kind: Domain,
    /// Samples that were looked at.
    pub samples: usize,
    /// Replicates.
    pub replicates: usize,
    /// Which part of the data was looked at, in words, where it was not all of them.
    pub part: Option<String>,
    /// The statistics.
    pub statistics: Vec<CheckedStatistic>,
}

impl Fit {
    /// Replicates the training data under draws of the posterior, factors of the
    /// samples included, and compares statistics of the two:
    ///
    /// | data | statistics of each feature |
    /// |---|---|
    /// | real numbers | standard deviation, skewness, largest distance from the mean in standard deviations |
    /// | counts, successes out of trials | share of zeros, variance over mean, largest count |
    /// | ranks | share of pairs whose order the replicate keeps; expected is what two replicates keep of one another |
    /// | labels | share of ones; separation: mean probability of ones less that of zeros |
    /// | classes | share of each, of which that of the most frequent stands for all; mean probability of a sample's own class |
    ///
    /// Only observed cells count, and only features that have some. Features with censored cells are left
    /// out: which cells of a replicate would have been censored the data do not say, and comparing the
    /// exact ones alone would call good models wrong. The draws of a Gibbs fit are taken in turn; those
    /// of variational Bayes are drawn from the approximate posterior. Statistics
    /// that a model learns one by one (such as the standard deviation of each
    /// feature) fit nearly always; the others say more. The max-margin ranks are no
    /// law of data: their replicates are those of [`Fit::simulate`].
    ///
    /// The same seed gives the same bits.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] without replicates or samples;
    /// [`ErrorKind::NoData`] when the model was saved without data; when a
    /// component's state is damaged.
    pub fn predictive_checks(&self, options: &CheckOptions) -> Result<Vec<PredictiveCheck>> {
        let data = self.data()?;
        for (option, value) in [
            ("replicates", options.replicates),
            ("samples", options.samples),
        ] {
            if value == 0 {
                return Err(ErrorKind::Option {
                    option,
                    value: "0".to_owned(),
                }
                .into());
            }
        }
        let rows = evenly(self.samples.len(), options.samples);
        let rows: Vec<u32> = rows.map(|n| n as u32).collect();
        let key = StreamKey::new(options.seed);
        let mut observed: Vec<Observed<'_>> = data
            .iter()
            .zip(&self.views)
            .map(|(view, info)| {
                let known: Vec<usize> = (0..view.n_features()).filter(|&d| info.knows(d)).collect();
                let whole: Vec<usize> = (known.iter().copied())
                    .filter(|&d| is_exact(view, d))
                    .collect();
                Observed {
                    view,
                    cut: known.len() - whole.len(),
                    rows: &rows,
                    out_of_trials: view.trials().map(|_| view.subset(view.name(), &rows)),
                    columns: thinned(&whole, COLUMNS),
                    pairs: Vec::new(),
                }
            })
            .collect();
        let mut pairs: Vec<Vec<Vec<Pair>>> = data.iter().map(|_| Vec::new()).collect();
        let mut kinds = vec![Domain::default(); data.len()];
        let parts = self.n_components();
        let of_one = self.as_of_one(&mut Vec::new())?;
        for r in 0..options.replicates {
            // evenly spread over the draws, each several times where they are few
            let mut component = self.component(r * parts / options.replicates)?;
            let key = key.sweep(r as u64);
            let z = self.place_rows(&mut component, of_one.as_ref(), &rows, key)?;
            for (v, part) in component.views.iter().enumerate() {
                let rebound = observed[v].out_of_trials.as_ref();
                let rebound = rebound.map(|own| part.term.rebind(own)).transpose()?;
                let term = rebound.as_deref().unwrap_or(part.term.as_ref());
                kinds[v] = term.domain();
                if kinds[v].is_ranked() && observed[v].pairs.is_empty() {
                    observed[v].draw_pairs(StreamKey::new(options.seed).block(v as u32));
                }
                let key = |block: u32| key.block(VIEW * (v as u32 + 1) + block);
                let weights = part.drawn(|w| draw_rows(w, key(0)))?;
                let bias = draw_bias(part, key(1));
                let p = Predictor {
                    factors: &z,
                    weights: &weights,
                    bias: &bias,
                };
                let replicate = term.simulate(&p, key(2), key(3));
                let found = match kinds[v] {
                    _ if rebound.is_some() => observed[v].counts(&replicate),
                    domain if domain.is_ranked() => {
                        let second = term.simulate(&p, key(4), key(5));
                        observed[v].ranks(&replicate, &second)
                    }
                    domain if domain.is_probability() => observed[v].labels(term, &p, &replicate),
                    domain if domain.has_classes() => observed[v].classes(term, &p, &replicate),
                    domain if domain.is_count() => observed[v].counts(&replicate),
                    _ => observed[v].numbers(&replicate),
                };
                pairs[v].push(found);
            }
        }
        let views = self.views.iter().zip(pairs).zip(kinds).zip(&observed);
        Ok(views
            // what a kernel may be is no matter of single columns
            .filter(|(((info, _), _), _)| info.kernel.is_none())
            .map(|(((info, pairs), kind), observed)| {
                let names = |count: usize| -> Vec<String> {
                    if kind.has_classes() {
                        return if count == info.levels.len() {
                            info.levels.clone()
                        } else {
                            info.features.clone()
                        };
                    }
                    let names = observed.columns.iter().map(|&d| info.features[d].clone());
                    names.collect()
                };
                PredictiveCheck {
                    view: info.name.clone(),
                    kind,
                    samples: rows.len(),
                    replicates: options.replicates,
                    part: observed.part(info.features.len(), self.samples.len()),
                    statistics: if observed.columns.is_empty() && observed.cut > 0 {
                        Vec::new()
                    } else {
                        summed_up(&pairs, names)
                    },
                }
            })
            .collect())
    }

    /// A draw of the factors of these training samples; the component is told whose
    /// they are.
    fn place_rows(
        &self,
        component: &mut Component,
        of_one: Option<&Located>,
        rows: &[u32],
        key: StreamKey,
    ) -> Result<RowMoments> {
        let groups = several(self.groups()).filter(|_| self.composed.knows_groups());
        if let Some(groups) = groups {
            let own = rows.iter().map(|&n| groups.of_sample[n as usize]);
            component.place(&RowGroups::new(own.collect(), groups.names.len())?);
        }
        let fitted = component.factors.shares();
        let shares = of_one.map_or(fitted, |z| z.shares.as_ref());
        if let Some(shares) = shares {
            let own = Mat::from_fn(rows.len(), shares.ncols(), |i, t| {
                shares[(rows[i] as usize, t)]
            });
            // the component that each belongs to is drawn as well
            let mut rng = key.block(GROUP).rng();
            let mut drawn: Mat<f64> = Mat::zeros(own.nrows(), own.ncols());
            for n in 0..own.nrows() {
                let mut u = uniform_open01(&mut rng);
                let last = own.ncols() - 1;
                let t = (0..last).find(|&t| {
                    u -= own[(n, t)];
                    u < 0.0
                });
                drawn[(n, t.unwrap_or(last))] = 1.0;
            }
            component.share(&Arc::new(drawn));
        }
        if let Some(known) = component.known() {
            let own = Mat::from_fn(rows.len(), known.ncols(), |i, j| {
                known[(rows[i] as usize, j)]
            });
            component.known = Some(own);
        }
        let factors = of_one.map_or_else(|| component.factors(), |z| &z.moments);
        let drawn = draw_rows(&factors.subset(rows), key.block(FACTORS))?;
        Ok(component.seen(&drawn).into_owned())
    }
}

/// Whether all observed cells of a feature are exact.
fn is_exact(view: &View, feature: usize) -> bool {
    (0..view.n_samples()).all(|n| !view.is_censored(n, feature))
}

/// Sums the replicates up.
fn summed_up(
    replicates: &[Vec<Pair>],
    names: impl Fn(usize) -> Vec<String>,
) -> Vec<CheckedStatistic> {
    let Some(first) = replicates.first() else {
        return Vec::new();
    };
    let of = |s: usize, pair: &Pair| {
        let count = pair.values.len();
        let columns = names(count);
        let mut out = CheckedStatistic {
            name: pair.name.to_owned(),
            instead_of_mean: pair.instead_of_mean.map(|column| columns[column].clone()),
            columns,
            observed: Vec::with_capacity(count),
            replicated: Vec::with_capacity(count),
            lower: Vec::with_capacity(count),
            upper: Vec::with_capacity(count),
            p: Vec::with_capacity(count),
            mean_observed: f64::NAN,
            mean_replicated: Vec::new(),
            mean_p: f64::NAN,
        };
        for column in 0..count {
            let both: Vec<(f64, f64)> = replicates.iter().map(|r| r[s].values[column]).collect();
            let (observed, replicated, p) = larger(&both);
            let (lower, upper) = match quantiles(&replicated, &[0.05, 0.95]) {
                Ok(q) => (q[0], q[1]),
                Err(_) => (f64::NAN, f64::NAN),
            };
            out.observed.push(mean(&observed));
            out.replicated.push(mean(&replicated));
            out.lower.push(lower);
            out.upper.push(upper);
            out.p.push(p);
        }
        let means: Vec<(f64, f64)> = replicates.iter().map(|r| r[s].of_all()).collect();
        let (observed, replicated, p) = larger(&means);
        out.mean_observed = mean(&observed);
        out.mean_replicated = replicated;
        out.mean_p = p;
        out
    };
    first.iter().enumerate().map(|(s, p)| of(s, p)).collect()
}

/// Where both are defined: the two, and the share of replicates that are larger.
fn larger(both: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>, f64) {
    let defined = both.iter().filter(|(x, y)| spread_out(*x, *y));
    let (x, y): (Vec<f64>, Vec<f64>) = defined.copied().unzip();
    let score = |(x, y): (&f64, &f64)| {
        if y > x {
            1.0
        } else if x == y {
            0.5
        } else {
            0.0
        }
    };
    let p = x.iter().zip(&y).map(score).sum::<f64>() / x.len() as f64;
    (x, y, p)
}

/// The mean; `NaN` of nothing.
fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}
