//! Regressions of a view on the features of others, as a way to predict it.

mod blended;
mod means;
mod one;

use polyview_core::{Domain, View};
use polyview_linalg::Mat;

use self::blended::blended;
use self::one::One;
pub(super) use self::one::root_mean_square;
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
        let columns: usize = (self.sources(targets).into_iter())
            .map(|v| width(&data[v]))
            .sum();
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
        } else if self.are_too_many(columns, at)? {
            Some("the other views have too many features for so many samples")
        } else {
            None
        })
    }

    /// Whether so many columns are more than a view can be regressed on.
    fn are_too_many(&self, columns: usize, at: usize) -> Result<bool> {
        let cells = columns.saturating_mul(self.samples.len());
        Ok(cells.saturating_mul(width(&self.data()?[at])) > CELLS)
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
    /// Where some of these views have a kernel and others none, one penalty for both is seldom right for either: a
    /// feature is predicted from all of them and from those of one kind. Of the features themselves, those behind kernels in place of the columns of
    /// these, it is predicted in proportion to all of them, to few, and by one kernel of all. What is said is a sum of these in the
    /// shares in which its cells are most likely without their fold.
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
        let plain = self.plain(&sources, &x);
        let mut tried: Vec<One> = (self.kinds(sources).iter())
            .map(|sources| self.regress_on((sources, &x), at, fold_of))
            .collect::<Result<_>>()?;
        if let Some(plain) = plain {
            let columns = plain.iter().filter_map(|v| x.of(*v)).map(Mat::ncols);
            if has_kernel && !self.are_too_many(columns.sum(), at)? {
                tried.push(self.regress_on((&plain, &x), at, fold_of)?);
            }
            tried.extend(self.regress_on_few((&plain, &x), at, fold_of)?);
        }
        tried.extend(curved);
        let shares = self.shares_of_regressions(at, &tried)?;
        let mut best = blended(tried, &shares);
        if self.domain(at) == Domain::Reals {
            best.found.parameters.noise = self.noise_about(at, &best.held, best.doubt.as_ref())?;
            best.doubts();
        }
        let densities = self.ln_densities_by(at, &best.held, &best.found.parameters)?;
        Ok((best.found, densities))
    }

    /// The places of the features of these views, those behind kernels in place of the columns of these; `None` where these are not all known.
    fn plain(&self, sources: &[usize], x: &Filled<'_>) -> Option<Vec<usize>> {
        let place = |v: &usize| {
            let behind = self.views[*v].kernel.is_some();
            let place = v + if behind { self.views.len() } else { 0 };
            x.of(place).map(|_| place)
        };
        sources.iter().map(place).collect()
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

/// How many columns a view has at most, as a source or as a target.
fn width(view: &View) -> usize {
    view.n_features().max(view.levels().len())
}
