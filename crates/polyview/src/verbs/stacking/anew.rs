//! Regressions of samples that have other views than those that the one of the fit is made on.

use std::collections::BTreeMap;

use polyview_core::View;

use super::{FOLDS, Fit, Regressed};
use crate::error::Result;
use crate::verbs::cross_validate::in_parallel;
use crate::verbs::regressed::knows;

/// A regression and the samples that it predicts.
pub(super) struct Anew {
    pub(super) regressed: Regressed,
    pub(super) samples: Vec<usize>,
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
        let Some(data) = self.data.as_deref() else {
            return Ok(Vec::new());
        };
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
        let sets: Vec<(Vec<usize>, Vec<usize>)> = sets.into_iter().collect();
        let found = in_parallel(sets.len(), &|set| {
            let (known, samples) = &sets[set];
            let hidden: Vec<usize> = (0..self.views.len())
                .filter(|v| !known.contains(v))
                .collect();
            if self.never_regressed(at, &hidden)?.is_some() {
                return Ok(None);
            }
            let views: Vec<Option<View>> = (data.iter().enumerate())
                .map(|(v, view)| known.contains(&v).then(|| view.clone()))
                .collect();
            let (regressed, _) = self.regress((&hidden, &views), at, &fold_of)?;
            Ok(Some(Anew {
                regressed,
                samples: samples.clone(),
            }))
        })?;
        Ok(found.into_iter().flatten().collect())
    }
}
