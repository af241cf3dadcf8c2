//! Regressions of a view on the features of others, as a way to predict it.

mod means;
mod one;

use polyview_core::{Domain, View};
use polyview_linalg::Mat;

use self::one::One;
use super::filled::Filled;
use super::laws::Laws;
use super::regressed::{Parameters, Regressed, Scores, known};
use crate::error::Result;
use crate::fit::Fit;
use crate::spec::Settle;

/// Most cells of the columns that a view is regressed on, once for each of its predictors: a penalty costs tens to hundreds of
/// passes over them.
const CELLS: usize = 1 << 26;

impl Fit {
    /// Why a view is not predicted by a regression on features of the views that are no `targets`; nothing where
    /// it can be.
    pub(super) fn never_regressed(
        &self,
        at: usize,
        targets: &[usize],
    ) -> Result<Option<&'static str>> {
        let component = self.component(0)?;
        let (info, part) = (&self.views[at], &component.views[at]);
        let likelihood = &info.choices.likelihood;
        let noise = part.term.as_noise().map(|n| n.precisions().is_some());
        let data = self.data()?;
        let width = |v: usize| data[v].n_features().max(data[v].levels().len());
        let columns: usize = self.sources(targets).into_iter().map(width).sum();
        Ok(if !likelihood.has_plain_regression() {
            Some("its likelihood is not that of one")
        } else if component.known().is_some() {
            Some("the fit is adjusted")
        } else if component.groups.is_some() && self.looks_at_groups() {
            Some("groups have parameters of their own")
        } else if part.weights.implicit_rows() > 0 || noise == Some(false) {
            Some("it has parameters for parts of the samples")
        } else if columns == 0 {
            Some("the other views have no features")
        } else if columns
            .saturating_mul(self.samples.len())
            .saturating_mul(width(at))
            > CELLS
        {
            Some("the other views have too many features for so many samples")
        } else {
            None
        })
    }

    /// The views whose features targets are regressed on.
    pub(super) fn sources(&self, targets: &[usize]) -> Vec<usize> {
        let is_source = |v: &usize| {
            let own = !targets.contains(v) && !self.views[*v].choices.local;
            own && !self.domain(*v).is_similarity()
        };
        (0..self.views.len()).filter(is_source).collect()
    }

    /// The regression of view `at` on the features of all views but `targets`, and the log densities of its cells by the
    /// regression without their fold. Samples are known by `views`, which lack the targets.
    ///
    /// Where some of these views have a kernel and others none, one penalty for both is seldom right for either: each
    /// feature is predicted from all of them or from those of one kind, as its cells are most likely without their fold. In the same way
    /// it is predicted by one kernel of all features, those behind kernels among them, and where no view has a kernel in proportion to few of
    /// them.
    pub(super) fn regress(
        &self,
        (targets, views): (&[usize], &[Option<View>]),
        at: usize,
        fold_of: &[usize],
    ) -> Result<(Regressed, Mat<f64>)> {
        let sources = self.sources(targets);
        let x = Filled::new(self, &sources, views, self.samples.len())?.at_means();
        let has_kernel = sources.iter().any(|&v| self.views[v].kernel.is_some());
        let is_linear = self.views[at].choices.settle == Some(Settle::LinearMixture);
        let curved = if is_linear {
            None
        } else {
            self.regress_on_similar(&x, at, fold_of)?
        };
        let few = if has_kernel {
            None
        } else {
            self.regress_on_few((&sources, &x), at, fold_of)?
        };
        let mut tried: Vec<One> = (self.kinds(sources).iter())
            .map(|sources| self.regress_on((sources, &x), at, fold_of))
            .collect::<Result<_>>()?;
        tried.extend(few);
        tried.extend(curved);
        // by one noise, so that numbers are compared by their squares
        let noise = tried[0].found.parameters.noise.clone();
        let densities: Vec<Mat<f64>> = (tried.iter())
            .map(|own| {
                let parameters = Parameters {
                    noise: noise.clone(),
                    cuts: own.found.parameters.cuts.clone(),
                };
                self.ln_densities_by(at, &own.held, &parameters)
            })
            .collect::<Result<_>>()?;
        let of = most_likely(&densities, tried[0].held.mean.ncols());
        let mut best = merged(tried, &of);
        if self.domain(at) == Domain::Reals {
            best.found.parameters.noise = self.noise_about(at, &best.held, best.doubt.as_ref())?;
            best.doubts();
        }
        let densities = self.ln_densities_by(at, &best.held, &best.found.parameters)?;
        Ok((best.found, densities))
    }

    /// These views, and where some of them have a kernel and others none those that have one and those that have none.
    fn kinds(&self, sources: Vec<usize>) -> Vec<Vec<usize>> {
        let (with, without): (Vec<usize>, Vec<usize>) =
            (sources.iter()).partition(|&&v| self.views[v].kernel.is_some());
        if with.is_empty() || without.is_empty() {
            vec![sources]
        } else {
            vec![sources, with, without]
        }
    }

    /// Log densities of a view's cells where its linear predictors are these.
    pub(super) fn ln_densities_by(
        &self,
        at: usize,
        scores: &Scores,
        parameters: &Parameters,
    ) -> Result<Mat<f64>> {
        let mut component = self.component(0)?;
        let part = known(component.views.swap_remove(at), scores, parameters);
        let laws = Laws::new(
            vec![(part, vec![1.0; scores.mean.nrows()])],
            &self.views[at],
        );
        Ok(laws.ln_densities(&self.data()?[at]))
    }
}

/// For each predictor the place of the densities (samples × features) with the largest sum over the cells that all know, of equal ones
/// the first; one for all predictors of classes, of which there is one feature.
fn most_likely(densities: &[Mat<f64>], predictors: usize) -> Vec<usize> {
    let first = &densities[0];
    let best = |d: usize| {
        let known = |n: &usize| densities.iter().all(|own| !own[(*n, d)].is_nan());
        let cells: Vec<usize> = (0..first.nrows()).filter(known).collect();
        let sum = |own: &Mat<f64>| cells.iter().map(|&n| own[(n, d)]).sum::<f64>();
        let sums: Vec<f64> = densities.iter().map(sum).collect();
        (1..sums.len()).fold(0, |best, i| if sums[i] > sums[best] { i } else { best })
    };
    let of_feature: Vec<usize> = (0..first.ncols()).map(best).collect();
    let feature = |c: usize| if first.ncols() == predictors { c } else { 0 };
    (0..predictors).map(|c| of_feature[feature(c)]).collect()
}

/// Each predictor by the regression at its place; all are of the views of the first, those of a view that its own does not see
/// zero.
fn merged(mut tried: Vec<One>, of: &[usize]) -> One {
    let others = tried.split_off(1);
    let mut out = tried.swap_remove(0);
    out.found.curved = (others.iter().enumerate()).find_map(|(i, own)| {
        let mut curved = own.found.curved.clone()?;
        curved.keep(|c| of[c] == i + 1).then_some(curved)
    });
    for (c, &i) in of.iter().enumerate().filter(|(_, i)| **i > 0) {
        let own = &others[i - 1];
        for (to, from) in out.found.of_view.iter_mut().zip(&own.found.of_view) {
            let Some(to) = to else { continue };
            for d in 0..to.coefficients.nrows() {
                let value = from.as_ref().map_or(0.0, |from| from.coefficients[(d, c)]);
                to.coefficients[(d, c)] = value;
            }
        }
        out.found.intercept[c] = own.found.intercept[c];
        out.found.parameters.take(c, &own.found.parameters);
        (out.held.mean.col_as_slice_mut(c)).copy_from_slice(own.held.mean.col_as_slice(c));
        if let Some(from) = &own.doubt {
            let to = (out.doubt).get_or_insert_with(|| Mat::zeros(from.nrows(), from.ncols()));
            to.col_as_slice_mut(c).copy_from_slice(from.col_as_slice(c));
        }
        if let (Some(to), Some(from)) = (&mut out.held.variance, &own.held.variance) {
            to.col_as_slice_mut(c).copy_from_slice(from.col_as_slice(c));
        }
    }
    // what no predictor is of is not asked of new samples
    for (v, own) in out.found.of_view.iter_mut().enumerate() {
        if !(of.iter()).any(|&i| i == 0 || others[i - 1].found.of_view[v].is_some()) {
            *own = None;
        }
    }
    out
}
