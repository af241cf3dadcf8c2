//! Regressions of samples that have other views than those that the one of the fit is made on.

use std::collections::BTreeMap;

use polyview_core::View;
use polyview_linalg::Mat;

use super::shares::shares_of;
use super::{FOLDS, Fit, Regressed, lack};
use crate::error::Result;
use crate::verbs::cross_validate::in_parallel;
use crate::verbs::regressed::{Scores, knows, place};

/// A regression and the samples that it predicts.
pub(super) struct Anew {
    pub(super) regressed: Regressed,
    pub(super) samples: Vec<usize>,
    /// The views that these have, the target apart.
    pub(super) known: Vec<usize>,
    /// Its share beside the regression of the fit, which is told by factors what these samples lack.
    pub(super) share: f64,
}

impl Fit {
    /// The regressions of view `at` of those samples that lack a view which the regression of the fit, `own`, is made on, or have one
    /// that was hidden with the target when the fit was made: one for each set of views, made on the training samples
    /// by the penalties and folds of the fit's. None where a model has no training data.
    ///
    /// So what predicts a sample follows from the views that it has, whatever other samples have.
    pub(super) fn regressed_anew(
        &self,
        at: usize,
        own: &Regressed,
        (views, samples): (&[Option<View>], usize),
    ) -> Result<Vec<Anew>> {
        if self.data.is_none() {
            return Ok(Vec::new());
        }
        let all = self.sources(&[at]);
        // a view that was there and that no predictor went by makes no difference
        let differs = |v: &usize| own.is_of(*v) || self.views[*v].choices.settle.is_some();
        let usual: Vec<usize> = (all.iter().copied()).filter(|v| own.is_of(*v)).collect();
        let mut sets: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for n in 0..samples {
            let has = |v: &usize| knows(views[*v].as_ref(), n);
            let known: Vec<usize> = all.iter().copied().filter(has).collect();
            let telling = known.iter().copied().filter(differs);
            if !known.is_empty() && !telling.eq(usual.iter().copied()) {
                sets.entry(known).or_default().push(n);
            }
        }
        if sets.is_empty() {
            return Ok(Vec::new());
        }
        let fold_of = self.parted(&[at], FOLDS)?;
        let folds = in_parallel(FOLDS, &|fold| {
            let mut fit = self.clone();
            if let Some(data) = &mut fit.data {
                data[at] = data[at].hiding(|n, _| fold_of[n] == fold);
            }
            Ok(fit.regressed_on(at, &usual, &fold_of)?.0)
        })?;
        let sets: Vec<(Vec<usize>, Vec<usize>)> = sets.into_iter().collect();
        let found = in_parallel(sets.len(), &|set| {
            let (known, samples) = &sets[set];
            if self.never_regressed(at, &self.all_but(known))?.is_some() {
                return Ok(None);
            }
            let (regressed, held) = self.regressed_on(at, known, &fold_of)?;
            let filled = self.filled_without_folds(at, (own, &folds), known, &fold_of)?;
            let share = filled.map_or(1.0, |filled| {
                let cells = (0..held.ncols()).flat_map(|d| (0..held.nrows()).map(move |n| (n, d)));
                let both = cells.map(|cell| [filled[cell], held[cell]]);
                let told: Vec<[f64; 2]> = both
                    .filter(|[a, b]| (a.is_finite() || b.is_finite()) && !a.is_nan() && !b.is_nan())
                    .collect();
                shares_of(&told)[1]
            });
            Ok(Some(Anew {
                regressed,
                samples: samples.clone(),
                known: known.clone(),
                share,
            }))
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Makes the regression of view `at` again, on the views that it is made on, from all training samples that there are by now; false
    /// where it has none, or no sample is kept.
    pub(in crate::verbs) fn regress_again(&mut self, at: usize) -> Result<bool> {
        let own = self.regressed(at)?.filter(|_| self.data.is_some());
        let Some(own) = own else {
            return Ok(false);
        };
        let usual: Vec<usize> = (0..self.views.len()).filter(|v| own.is_of(*v)).collect();
        let fold_of = self.parted(&[at], FOLDS)?;
        let (regressed, _) = self.regressed_on(at, &usual, &fold_of)?;
        let name = self.views[at].name.clone();
        let mut state = std::mem::take(&mut self.settled);
        let before = place(&name);
        state.retain(|name, _| !name.starts_with(&before));
        regressed.save(self, &name, &mut state);
        self.settled = state;
        Ok(true)
    }

    /// What is to be said of so many samples of which some go by other regressions of view `at` than `own`.
    pub(super) fn says_of_anew(
        &self,
        at: usize,
        (own, anew): (&Regressed, &[Anew]),
        samples: usize,
    ) -> Option<String> {
        let count: usize = anew.iter().map(|own| own.samples.len()).sum();
        let named = |of: &dyn Fn(usize) -> bool| -> Vec<&str> {
            let which = (0..self.views.len()).filter(|v| of(*v));
            which.map(|v| self.views[v].name.as_str()).collect()
        };
        let known = |v: usize| move |set: &Anew| set.known.contains(&v);
        let lacking = named(&|v| own.is_of(v) && !anew.iter().all(known(v)));
        let besides = named(&|v| {
            let hidden = self.views[v].choices.settle.is_some() && !own.is_of(v);
            hidden && anew.iter().any(known(v))
        });
        let mut what = Vec::new();
        if !lacking.is_empty() {
            what.push(lack(&lacking));
        }
        if !besides.is_empty() {
            let all = besides.join("', '");
            what.push(format!(
                "come with '{all}', hidden with the target when the fit was made"
            ));
        }
        (count > 0).then(|| {
            format!(
                "view '{}': {count} of {samples} sample(s) {}; a regression on what they have is made from the training samples, for \
                 each set of views, and stands beside that of the fit or in its place",
                self.views[at].name,
                what.join(", or ")
            )
        })
    }

    /// All views but these.
    fn all_but(&self, known: &[usize]) -> Vec<usize> {
        let all = 0..self.views.len();
        all.filter(|v| !known.contains(v)).collect()
    }

    /// The regression of view `at` on these views.
    fn regressed_on(
        &self,
        at: usize,
        known: &[usize],
        fold_of: &[usize],
    ) -> Result<(Regressed, Mat<f64>)> {
        let hidden = self.all_but(known);
        let views = self.data_without(&hidden)?;
        self.regress((&hidden, &views), at, fold_of)
    }

    /// Log densities of the training cells of view `at` by the fit's regression `own`, made without the fold of each (`folds`) and told
    /// by factors what a sample that has these views alone lacks; none where factors do not tell that. Cells of samples that have none of them
    /// are `NaN`.
    fn filled_without_folds(
        &self,
        at: usize,
        (own, folds): (&Regressed, &[Regressed]),
        known: &[usize],
        fold_of: &[usize],
    ) -> Result<Option<Mat<f64>>> {
        let rows = self.samples.len();
        let views = self.data_without(&self.all_but(known))?;
        let serves = own.serves(self, &views, rows);
        if !serves.contains(&true) {
            return Ok(None);
        }
        let mut mean = Mat::full(rows, own.predictors(), f64::NAN);
        let mut variance = Mat::zeros(rows, own.predictors());
        for (fold, regressed) in folds.iter().enumerate() {
            let said = regressed.scores(self, &views, rows)?;
            for n in (0..rows).filter(|n| fold_of[*n] == fold && serves[*n]) {
                for c in 0..mean.ncols() {
                    mean[(n, c)] = said.mean[(n, c)];
                    variance[(n, c)] = said.variance.as_ref().map_or(0.0, |v| v[(n, c)]);
                }
            }
        }
        let variance = Some(variance);
        let said = Scores { mean, variance };
        self.ln_densities_by(at, &said, &own.parameters).map(Some)
    }
}
