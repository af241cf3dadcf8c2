//! From predictors to data: where a predictor stands among the training
//! values.

use std::ops::Range;

use polyview_core::{Ask, Block, Law, OrderStatistics, Predictor, RankedLaw, RowMoments};
use polyview_linalg::{LinalgError, Mat, SymPacked};
use polyview_random::{StreamKey, standard_normal};
use polyview_special::{normal_cdf, normal_quantile};
use rayon::prelude::*;

use super::anchors::Anchors;
use super::leverage::{Known, Told, mean_covariance};
use crate::laws::each;

/// Least variance of a normal score about its regression.
const LEAST_SPREAD: f64 = 1e-6;

/// The posterior of the training samples, as far as new ones are compared with
/// it.
#[derive(Clone, Debug)]
pub(super) struct Training {
    /// Means of the factors, those of one sample side by side.
    means: Vec<f64>,
    k: usize,
    /// Mean covariance of the factors.
    pub(super) spread: SymPacked,
    /// One a feature.
    links: Vec<Link>,
}

/// Normal score of a value given its predictor: $N(c + bw, v)$.
#[derive(Clone, Copy, Debug)]
struct Link {
    centre: f64,
    slope: f64,
    /// Variance of the normal scores.
    total: f64,
    /// About the predictors of the training samples.
    spread: f64,
    /// About the true predictor.
    apart: f64,
}

impl Training {
    /// `None` where the anchors are not of these samples.
    pub(super) fn new(p: &Predictor<'_>, anchors: &Anchors, told: Option<Told>) -> Option<Self> {
        let (n, k) = (p.factors.explicit_rows(), p.factors.k());
        let fits = anchors.samples.iter().all(|s| (*s as usize) < n)
            && p.weights.explicit_rows() == anchors.features();
        if !fits {
            return None;
        }
        let mut means = vec![0.0; n * k];
        for j in 0..k {
            for (r, x) in p.factors.mean().col(j).iter().enumerate() {
                means[r * k + j] = *x;
            }
        }
        let mut out = Self {
            means,
            k,
            spread: mean_covariance(p.factors),
            links: Vec::new(),
        };
        let predictors: Vec<Vec<f64>> = (0..anchors.features())
            .into_par_iter()
            .map(|i| out.predictors(i, p.weights, anchors))
            .collect();
        out.links = (predictors.iter().enumerate())
            .map(|(i, w)| Self::link(i, w, anchors))
            .collect();
        let spread = out.spread.clone();
        let known = Known {
            anchors,
            p,
            spread: &spread,
            told,
        };
        // it fails for numbers alone that are not finite, as nothing to compare with is
        out.set_apart(&known, &predictors).ok()?;
        Some(out)
    }
    /// The variance of a normal score about its true predictor: $v/(1-h)$, as the fit
    /// takes the share $h$ of the noise for signal, through factors and weights
    /// ([`Known::leverages`]) and through the two numbers of the regression on the $n$ anchors of
    /// the feature, $2/n$. How little is known of the predictor itself comes on top where data
    /// are predicted.
    ///
    /// A leverage above that of nine
    /// data in ten, of a feature that hardly anybody has, is taken for that. And no predictor
    /// leaves more of a feature open than the feature's own variance does.
    fn set_apart(&mut self, known: &Known<'_>, predictors: &[Vec<f64>]) -> Result<(), LinalgError> {
        const MOST: f64 = 0.9;
        let precision = |i: usize| self.links[i].slope.powi(2) / self.links[i].spread;
        let leverages = known.leverages(&precision, &|i| &predictors[i])?;
        for (i, (link, h)) in self.links.iter_mut().zip(leverages).enumerate() {
            let of_link = 2.0 / (known.anchors.of(i).len() as f64).max(2.0);
            let apart = link.spread / (1.0 - (h + of_link).min(MOST));
            link.apart = apart.min(link.total.max(link.spread));
        }
        Ok(())
    }
    /// Mean factors of an anchor.
    #[inline]
    pub(super) fn row(&self, sample: u32) -> &[f64] {
        let at = sample as usize * self.k;
        &self.means[at..at + self.k]
    }
    /// Mean predictors of the anchors of a feature.
    fn predictors(&self, feature: usize, weights: &RowMoments, anchors: &Anchors) -> Vec<f64> {
        let a: Vec<f64> = (0..self.k).map(|j| weights.mean()[(feature, j)]).collect();
        let of = |at: usize| {
            let row = self.row(anchors.samples[at]);
            row.iter().zip(&a).map(|(z, a)| z * a).sum()
        };
        anchors.of(feature).map(of).collect()
    }
    /// Regression of the normal scores of the anchors on their predictors.
    fn link(feature: usize, predictors: &[f64], anchors: &Anchors) -> Link {
        let first = anchors.of(feature).start;
        let total: f64 = anchors.observed(feature);
        let (mut below, mut points) = (0.0, Vec::new());
        for run in anchors.runs(feature) {
            let size: f64 = anchors.counts[run.clone()].iter().sum();
            let score = normal_quantile((below + 0.5 * (size + 1.0)) / (total + 1.0));
            below += size;
            for at in run {
                points.push((anchors.counts[at], predictors[at - first], score));
            }
        }
        let mean = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
            points.iter().map(|p| p.0 * of(p)).sum::<f64>() / total.max(1.0)
        };
        let (w, g) = (mean(&|p| p.1), mean(&|p| p.2));
        let ww = mean(&|p| (p.1 - w).powi(2));
        let wg = mean(&|p| (p.1 - w) * (p.2 - g));
        let gg = mean(&|p| (p.2 - g).powi(2));
        let slope = if ww > 0.0 { (wg / ww).max(0.0) } else { 0.0 };
        let spread = (gg - slope * wg).max(LEAST_SPREAD);
        Link {
            centre: g - slope * w,
            slope,
            total: gg,
            spread,
            apart: spread,
        }
    }
    /// What is between predictor and normal scores, as the bound's users ask for it.
    pub(super) fn link_of(training: Option<&Self>, feature: usize) -> polyview_core::Link {
        match training {
            None => polyview_core::Link {
                variance: 1.0,
                scale: 0.0,
            },
            Some(t) => polyview_core::Link {
                variance: t.link_variance(feature),
                scale: t.link_scale(feature),
            },
        }
    }
    /// Share of the variance of the normal scores that is left; 0 where they do not
    /// vary.
    fn link_variance(&self, feature: usize) -> f64 {
        let link = self.links[feature];
        if link.total > 0.0 {
            (link.spread / link.total).min(1.0)
        } else {
            0.0
        }
    }
    /// What brings a predictor to normal scores of unit variance; 0 where they do
    /// not vary, and where the predictor says nothing of them.
    fn link_scale(&self, feature: usize) -> f64 {
        let link = self.links[feature];
        if link.total > 0.0 {
            link.slope / link.total.sqrt()
        } else {
            0.0
        }
    }
}

/// What normal scores of a feature mean.
pub(super) fn order_statistics(feature: usize, anchors: &Anchors) -> OrderStatistics {
    let runs = anchors.runs(feature);
    let total: f64 = anchors.observed(feature);
    let mut out = OrderStatistics::default();
    let (last, mut below) = (runs.len().saturating_sub(1), 0.0);
    for (i, run) in runs.into_iter().enumerate() {
        below += anchors.counts[run.clone()].iter().sum::<f64>();
        out.values.push(anchors.values[run.start]);
        if i < last {
            out.ends.push(normal_quantile(below / total));
        }
    }
    out
}

/// Moments of normal scores; standard ones where nothing is known of the
/// training samples.
fn scores(
    training: Option<&Training>,
    p: &Predictor<'_>,
    samples: Range<usize>,
    columns: Range<usize>,
) -> (Mat<f64>, Mat<f64>) {
    let mut mean = p.mean(samples.clone(), columns.clone());
    let mut variance = p.variance(samples, columns.clone());
    for (j, i) in columns.enumerate() {
        let link = training.map_or(
            Link {
                centre: 0.0,
                slope: 0.0,
                total: 1.0,
                spread: 1.0,
                apart: 1.0,
            },
            |t| t.links[i],
        );
        for x in mean.col_as_slice_mut(j) {
            *x = link.centre + link.slope * *x;
        }
        for v in variance.col_as_slice_mut(j) {
            *v = link.slope * link.slope * v.max(0.0) + link.apart;
        }
    }
    (mean, variance)
}

/// The laws of a block of ranks: normal scores, and the training values that these lead to;
/// all training values where nothing is known of the training samples.
pub(super) struct RankLaw {
    scores: (Mat<f64>, Mat<f64>),
    values: (Mat<f64>, Mat<f64>),
    scales: Vec<OrderStatistics>,
}

impl RankLaw {
    pub(super) fn new(
        anchors: &Anchors,
        training: Option<&Training>,
        p: &Predictor<'_>,
        block: &Block<'_>,
    ) -> Self {
        let (samples, columns) = (block.samples.clone(), block.columns.clone());
        let rows = samples.len();
        let scales: Vec<OrderStatistics> = (columns.clone().into_par_iter())
            .map(|i| order_statistics(i, anchors))
            .collect();
        let scores = scores(training, p, samples, columns);
        let (mut mean, mut variance) = scores.clone();
        mean.as_mut()
            .par_col_chunks_mut(1)
            .zip(variance.as_mut().par_col_chunks_mut(1))
            .zip(&scales)
            .for_each(|((mut mean, mut variance), scale)| {
                for n in 0..rows {
                    (mean[(n, 0)], variance[(n, 0)]) =
                        scale.moments(mean[(n, 0)], variance[(n, 0)]);
                }
            });
        Self {
            scores,
            values: (mean, variance),
            scales,
        }
    }
}

impl Law for RankLaw {
    fn shape(&self) -> (usize, usize) {
        self.values.0.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        let (mean, variance) = (
            self.scores.0.col_as_slice(column),
            self.scores.1.col_as_slice(column),
        );
        match ask {
            Ask::Mean => out.copy_from_slice(self.values.0.col_as_slice(column)),
            Ask::Variance => out.copy_from_slice(self.values.1.col_as_slice(column)),
            // the normal score at which the next larger value begins
            Ask::Cdf => {
                let scale = &self.scales[column];
                for (n, o) in out.iter_mut().enumerate() {
                    let below = scale.values.partition_point(|v| *v <= x[n]);
                    *o = match below.checked_sub(1).map(|at| scale.ends.get(at)) {
                        _ if x[n].is_nan() => f64::NAN,
                        None => 0.0,
                        Some(None) => 1.0,
                        Some(Some(end)) => normal_cdf((end - mean[n]) / variance[n].sqrt()),
                    };
                }
            }
            Ask::LnDensity | Ask::Level(_) => out.fill(f64::NAN),
        }
    }
    /// Training values have shares.
    fn has_density(&self) -> bool {
        false
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        each(p, out, |n, p| {
            let sd = self.scores.1[(n, column)].sqrt();
            self.scales[column].at(self.scores.0[(n, column)] + normal_quantile(p) * sd)
        });
    }
    fn as_ranked(&self) -> Option<&dyn RankedLaw> {
        Some(self)
    }
}

impl RankedLaw for RankLaw {
    fn scores(&self, column: usize, mean: &mut [f64], variance: &mut [f64]) {
        mean.copy_from_slice(self.scores.0.col_as_slice(column));
        variance.copy_from_slice(self.scores.1.col_as_slice(column));
    }
    fn order_statistics(&self, column: usize) -> OrderStatistics {
        self.scales[column].clone()
    }
}

/// Draws of data; one stream of random numbers a column.
pub(super) fn simulate(
    anchors: &Anchors,
    training: Option<&Training>,
    p: &Predictor<'_>,
    key: StreamKey,
) -> Mat<f64> {
    let (rows, features) = (p.factors.explicit_rows(), anchors.features());
    let mut out = Mat::zeros(rows, features);
    for i in 0..features {
        let scale = order_statistics(i, anchors);
        let eta = p.mean(0..rows, i..i + 1);
        let mut rng = key.chunk(i as u32).rng();
        for n in 0..rows {
            let noise = standard_normal(&mut rng);
            let score = training.map_or(noise, |t| {
                let l = t.links[i];
                l.centre + l.slope * eta[(n, 0)] + l.spread.sqrt() * noise
            });
            out[(n, i)] = scale.at(score);
        }
    }
    out
}
