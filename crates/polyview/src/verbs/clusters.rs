//! The components of a mixture prior, and which samples belong to them.

use polyview_core::{Finding, Journal, NumericError};
use polyview_linalg::Mat;

use super::latent;
use super::project::WeightUncertainty;
use crate::error::{ErrorKind, Result};
use crate::fit::{Fit, ViewInfo};
use crate::spec::ModelSpec;

/// Components of the factors' prior and the samples that belong to them.
///
/// Draws of a sampler may number the components differently; they are put in
/// the order of those of the first draw by the samples that they share before
/// anything is averaged.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// Sample IDs, in the order of the rows of [`Clusters::shares`].
    pub samples: Vec<String>,
    /// Probability that a sample belongs to a component, samples × components.
    pub shares: Mat<f64>,
    /// Expected number of samples of each component.
    pub sizes: Vec<f64>,
    /// Means of the components, components × factors.
    pub means: Mat<f64>,
    /// Precisions of the components, per squared unit of a factor.
    pub precisions: Vec<f64>,
    /// Expected weights of the components for a new sample.
    pub weights: Vec<f64>,
    /// Concentration of the Dirichlet process.
    pub concentration: f64,
}

impl Clusters {
    /// The most probable component of each sample, from 0; of equal ones the
    /// first.
    pub fn labels(&self) -> Vec<usize> {
        most_probable(&self.shares)
    }
}

/// The most probable component of each sample; of equal ones the first.
fn most_probable(shares: &Mat<f64>) -> Vec<usize> {
    let best = |n: usize| {
        (1..shares.ncols()).fold(0, |best, t| {
            if shares[(n, t)] > shares[(n, best)] {
                t
            } else {
                best
            }
        })
    };
    (0..shares.nrows()).map(best).collect()
}

/// A view of labels that the clusters of the training samples tell apart, though data without
/// these labels do not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RepeatedLabels {
    /// Place of the view.
    pub(crate) view: usize,
    /// Share of the training labels that the most frequent label of their cluster gets right.
    pub(crate) with: f64,
    /// The same where the clusters are those that the other views alone say.
    pub(crate) without: f64,
    /// The same of a single cluster.
    pub(crate) at_all: f64,
}

/// Part of what clusters say of labels that is to be left where these are hidden.
const FORESEEN: f64 = 0.5;
/// Least gain of clusters over none that is looked at.
const GAIN: f64 = 0.1;

/// Right guesses of labels, given by sample, from the cluster of each: `guess` are those of
/// the samples that learn what is frequent where, `of` those of the samples that are guessed.
fn right(labels: &[Option<usize>], learnt: &[usize], of: &[usize]) -> f64 {
    let clusters = 1 + learnt.iter().chain(of).copied().max().unwrap_or(0);
    let classes = 1 + labels.iter().flatten().copied().max().unwrap_or(0);
    let mut counts = vec![vec![0usize; classes]; clusters];
    for (label, cluster) in labels.iter().zip(learnt) {
        if let Some(label) = label {
            counts[*cluster][*label] += 1;
        }
    }
    let most = |of: &Vec<usize>| (0..classes).rev().max_by_key(|c| of[*c]).unwrap_or(0);
    let guess: Vec<usize> = counts.iter().map(most).collect();
    let known = labels.iter().zip(of).filter_map(|(l, c)| Some(((*l)?, *c)));
    let (hits, all) = known.fold((0usize, 0usize), |(hits, all), (label, cluster)| {
        (hits + usize::from(guess[cluster] == label), all + 1)
    });
    hits as f64 / all.max(1) as f64
}

impl Fit {
    /// Views of labels that the clusters of the training samples repeat: clusters tell
    /// them apart, but where the labels are hidden from the samples their clusters no longer do.
    /// A cluster pays for each label that its classifier knows for certain, and with enough
    /// clusters any labels can be told apart; that is no finding.
    ///
    /// # Errors
    /// When a component's state is damaged, or the factors of the samples do not settle.
    pub(crate) fn repeated_labels(&self) -> Result<Vec<RepeatedLabels>> {
        let mut out = Vec::new();
        let is_label = |v: &ViewInfo| v.choices.likelihood.is_label();
        let of = |spec: &ModelSpec| spec.factor_prior.finding() == Some(Finding::Components);
        let mixture = self.spec().is_some_and(of);
        if !mixture || self.views.len() < 2 || !self.views.iter().any(is_label) {
            return Ok(out);
        }
        let (data, with) = (self.data()?, self.clusters()?.labels());
        for (at, _) in self.views.iter().enumerate().filter(|(_, v)| is_label(v)) {
            let view = &data[at];
            // of several columns the one that clusters say most of
            let columns: Vec<Vec<Option<usize>>> = (0..view.n_features())
                .map(|d| {
                    let cell = |n| view.value(n, d).map(|x| x as usize);
                    (0..view.n_samples()).map(cell).collect()
                })
                .collect();
            let none = vec![0; with.len()];
            let gain = |labels: &Vec<Option<usize>>| {
                right(labels, &with, &with) - right(labels, &none, &none)
            };
            let Some(labels) = columns.iter().max_by(|a, b| gain(a).total_cmp(&gain(b))) else {
                continue;
            };
            if gain(labels) < GAIN {
                continue;
            }
            let others: Vec<_> = (data.iter().enumerate())
                .map(|(v, view)| (v != at).then(|| view.clone()))
                .collect();
            let component = self.component(0)?;
            let how = latent::usual(WeightUncertainty::Variational);
            let mut journal = Journal::default();
            let found =
                latent::factors(self, &component, &others, &self.samples, how, &mut journal)?;
            let Some(shares) = found.shares else {
                continue;
            };
            let without = most_probable(&shares);
            let found = RepeatedLabels {
                view: at,
                with: right(labels, &with, &with),
                without: right(labels, &with, &without),
                at_all: right(labels, &none, &none),
            };
            if found.without - found.at_all < FORESEEN * (found.with - found.at_all) {
                out.push(found);
            }
        }
        Ok(out)
    }

    /// The components of a mixture prior of the factors
    /// (`mixture`, [`FactorPrior`](crate::FactorPrior)).
    ///
    /// # Errors
    /// [`ErrorKind::NoClusters`] when the factors have another prior; when a
    /// component's state is damaged.
    pub fn clusters(&self) -> Result<Clusters> {
        let mut out: Option<Clusters> = None;
        let parts = self.n_components();
        for i in 0..parts {
            let component = self.component(i)?;
            let factors = &component.factors;
            let (Some(mixture), Some(shares)) = (factors.mixture(), factors.shares()) else {
                return Err(ErrorKind::NoClusters.into());
            };
            let (t, k) = mixture.means.shape();
            let sum = out.get_or_insert_with(|| Clusters {
                samples: self.samples.clone(),
                shares: Mat::zeros(shares.nrows(), t),
                sizes: vec![0.0; t],
                means: Mat::zeros(t, k),
                precisions: vec![0.0; t],
                weights: vec![0.0; t],
                concentration: 0.0,
            });
            let place = matched(&sum.shares, shares);
            let step = 1.0 / parts as f64;
            for (from, &to) in place.iter().enumerate() {
                for (x, s) in
                    (sum.shares.col_as_slice_mut(to).iter_mut()).zip(shares.col_as_slice(from))
                {
                    *x += step * s;
                    sum.sizes[to] += step * s;
                }
                for j in 0..k {
                    sum.means[(to, j)] += step * mixture.means[(from, j)];
                }
                sum.precisions[to] += step * mixture.precisions[from];
                sum.weights[to] += step * mixture.weights[from];
            }
            sum.concentration += step * mixture.concentration;
        }
        out.ok_or_else(|| {
            NumericError::BadState {
                name: "component 0".to_owned(),
            }
            .into()
        })
    }
}

/// Which of the components so far each of the new ones is: pairs by the most
/// samples in common, greedily; without any the same.
fn matched(so_far: &Mat<f64>, new: &Mat<f64>) -> Vec<usize> {
    let t = new.ncols();
    let mut pairs = Vec::with_capacity(t * t);
    for from in 0..t {
        for to in 0..t {
            let common: f64 = (so_far.col_as_slice(to).iter())
                .zip(new.col_as_slice(from))
                .map(|(a, b)| a * b)
                .sum();
            pairs.push((common, from, to));
        }
    }
    // equal ones: the same place first
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1 != a.2).cmp(&(b.1 != b.2))));
    let (mut place, mut taken) = (vec![usize::MAX; t], vec![false; t]);
    for (_, from, to) in pairs {
        if place[from] == usize::MAX && !taken[to] {
            place[from] = to;
            taken[to] = true;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_matched_by_their_samples() {
        let of =
            |labels: [usize; 5]| Mat::from_fn(5, 3, |n, t| f64::from(u8::from(labels[n] == t)));
        let none = Mat::zeros(5, 3);
        assert_eq!(matched(&none, &of([0, 0, 1, 1, 2])), [0, 1, 2]);
        assert_eq!(
            matched(&of([0, 0, 1, 1, 2]), &of([2, 2, 0, 0, 1])),
            [1, 2, 0]
        );
    }
}
