//! What means alone say of a view.

use polyview_baselines::{class_frequencies, frequencies, level_frequencies, means};
use polyview_core::{Domain, View};
use polyview_linalg::Mat;

use crate::error::Result;
use crate::fit::Fit;
use crate::verbs::cross_validate::columns;
use crate::verbs::regressed::{Parameters, Scores};

impl Fit {
    /// Log densities of the cells of view `at`, one that has a regression ([`Fit::never_regressed`]), by its own law about what is
    /// known of them without a feature: of each cell its feature's mean over the samples of the other folds, of labels and
    /// classes their shares. `NaN` where that is nothing.
    pub(in crate::verbs) fn ln_densities_by_means(
        &self,
        at: usize,
        fold_of: &[usize],
    ) -> Result<Mat<f64>> {
        let (view, domain) = (&self.data()?[at], self.domain(at));
        if domain.is_ordered() {
            return self.ln_shares_of_levels(at, fold_of);
        }
        let folds = fold_of.iter().max().map_or(0, |last| last + 1);
        let of_fold: Vec<Vec<f64>> = (0..folds)
            .map(|fold| levels(&view.hiding(|n, _| fold_of[n] == fold), domain))
            .collect::<Result<_>>()?;
        let predictors = of_fold.first().map_or(0, Vec::len);
        let level = |n: usize, c: usize| of_fold[fold_of[n]][c];
        let known = |n: usize, c: usize| level(n, c).is_finite();
        let scores = Scores {
            mean: Mat::from_fn(fold_of.len(), predictors, |n, c| {
                if known(n, c) { level(n, c) } else { 0.0 }
            }),
            variance: None,
        };
        let noise = if domain.is_censored() {
            let spread = |d: usize| view.most_likely_normal(d).map_or(1.0, |own| own.1.powi(2));
            (0..predictors).map(spread).collect()
        } else if domain == Domain::Reals {
            self.noise_about(at, &scores, None)?
        } else {
            Vec::new()
        };
        let parameters = Parameters {
            noise,
            ..Parameters::default()
        };
        let mut out = self.ln_densities_by(at, &scores, &parameters)?;
        if !domain.has_classes() {
            for d in 0..out.ncols() {
                for n in (0..out.nrows()).filter(|n| !known(*n, d)) {
                    out[(n, d)] = f64::NAN;
                }
            }
        }
        Ok(out)
    }

    /// Log shares of the levels of the cells of view `at`, one of ordered levels, in the other folds.
    fn ln_shares_of_levels(&self, at: usize, fold_of: &[usize]) -> Result<Mat<f64>> {
        let (view, levels) = (&self.data()?[at], self.ordered_levels(at)?);
        let folds = fold_of.iter().max().map_or(0, |last| last + 1);
        let others = |fold: usize| view.hiding(|n, _| fold_of[n] == fold);
        let of_fold: Vec<Vec<Vec<f64>>> = (0..folds)
            .map(|fold| level_frequencies(others(fold).to_values_with_nan().as_ref(), levels))
            .collect();
        let ln_share = |n: usize, d: usize| {
            let level = view.value(n, d)? as usize;
            let share = of_fold[fold_of[n]].get(d)?.get(level.checked_sub(1)?)?;
            Some(share.ln())
        };
        Ok(Mat::from_fn(fold_of.len(), view.n_features(), |n, d| {
            ln_share(n, d).unwrap_or(f64::NAN)
        }))
    }
}

/// The linear predictors of a view that are the same for all samples: means, of labels and classes by their shares, half a datum
/// added to each, and of numbers of which limits may be all that is known those of the law under which they are most likely.
fn levels(view: &View, domain: Domain) -> Result<Vec<f64>> {
    Ok(if domain.has_classes() {
        let shares = class_frequencies(&view.classes(), view.levels().len())?;
        shares.into_iter().map(f64::ln).collect()
    } else if domain.is_censored() {
        let mean = |d: usize| view.most_likely_normal(d).map_or(f64::NAN, |own| own.0);
        (0..view.n_features()).map(mean).collect()
    } else {
        let values = columns(view, domain);
        if domain.is_label() {
            let shares = frequencies(values.as_ref());
            shares.into_iter().map(|p| (p / (1.0 - p)).ln()).collect()
        } else {
            means(values.as_ref())
        }
    })
}
