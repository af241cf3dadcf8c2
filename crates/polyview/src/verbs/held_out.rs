//! What ways of predicting targets say of samples from which these were hidden.

use polyview_core::{Domain, ParameterUncertainty, View};
use polyview_infer::Outcome;
use polyview_linalg::Mat;

use super::align::Aligned;
use super::cross_validate::{columns, in_parallel, side_by_side};
use super::folds::{folds_by_name, kept_together};
use super::placing::Placing;
use super::settle::{SettleProgress, Watch};
use crate::error::{ErrorKind, Result};
use crate::fit::Fit;
use crate::spec::Settle;

/// With fewer samples that have the view there is nothing to tell ways apart by.
const FEWEST: usize = 15;

/// The folds that samples are parted into, and of how many, the first ones, the targets are hidden.
#[derive(Clone, Copy)]
pub(super) struct Folds {
    pub(super) all: usize,
    pub(super) taken: usize,
}

impl Folds {
    /// All of so many.
    pub(super) fn whole(all: usize) -> Self {
        Self { all, taken: all }
    }
}

/// What ways say of hidden cells.
pub(super) struct Held {
    /// The fold of each sample.
    pub(super) fold_of: Vec<usize>,
    /// Of each target and each way the log densities of the cells, samples × features, nats in working units; `NaN`
    /// where nothing was hidden. Nothing of a way that a fold cannot go.
    pub(super) densities: Vec<Vec<Option<Mat<f64>>>>,
}

/// Those of one fold; nothing once it was interrupted.
type OfFold = Option<Vec<Vec<Option<Mat<f64>>>>>;

/// Whether targets of a fold could be settled.
enum Going {
    Goes,
    Cannot,
    Interrupted,
}

impl Fit {
    /// What each way says of the targets of samples from which these were hidden (spec/sites 5): the joint fit
    /// over again from its own start for each fold, so that nothing of the hidden cells is left in it, and
    /// settled on each, until little is left that could move what is said of a sample ([`Fit::again`]). Folds run side by side on the threads that there are. `Ok(None)` where `watch` ended it, and why
    /// not where it cannot be told of the views `open`, some of all `targets`.
    pub(super) fn ways_held_out(
        &self,
        (open, targets): (&[usize], &[usize]),
        (ways, folds): (&[Settle], Folds),
        watch: Watch<'_>,
    ) -> Result<std::result::Result<Option<Held>, String>> {
        let data = self.data()?;
        for &v in open {
            let view = &data[v];
            let cells = |n: &usize| view.mask().count_sample(*n, view.n_features()) > 0;
            let has = (0..view.n_samples()).filter(cells).count();
            if has < FEWEST {
                let why = format!("{has} samples have it, too few to hold some out");
                return Ok(Err(why));
            }
        }
        if let (Some(groups), Some(column)) = (self.together()?, &self.run_options().keep_together)
        {
            let different = groups.iter().max().map_or(0, |g| g + 1);
            if different < folds.all {
                return Ok(Err(format!(
                    "samples with one '{column}' stay together, and {different} values of it are too few to hold some out"
                )));
            }
        }
        // the fit itself is none the worse for it
        Ok(self
            .in_folds(targets, (ways, folds), watch)
            .map_err(|e| e.to_string()))
    }

    /// The training data of all views but these.
    pub(super) fn data_without(&self, hidden: &[usize]) -> Result<Vec<Option<View>>> {
        let data = self.data()?.iter().enumerate();
        Ok(data
            .map(|(v, view)| (!hidden.contains(&v)).then(|| view.clone()))
            .collect())
    }

    /// Values of the column of which samples with the same one stay together, if there is one.
    fn together(&self) -> Result<Option<Vec<usize>>> {
        let column = self.run_options().keep_together.as_ref();
        let groups = column.map(|column| kept_together(&self.samples, &self.metadata, column));
        groups.transpose()
    }

    /// The fold of each sample, of so many, with the labels of these targets in each.
    pub(super) fn parted(&self, targets: &[usize], folds: usize) -> Result<Vec<usize>> {
        let data = self.data()?;
        let of_label = |v: &&usize| self.domain(**v).is_label();
        let labels: Vec<Mat<f64>> = (targets.iter().filter(of_label))
            .map(|&v| columns(&data[v], self.domain(v)))
            .collect();
        let labels = side_by_side(&labels, self.samples.len());
        let parting = (folds, self.run_options().seed);
        folds_by_name(&self.samples, self.together()?.as_deref(), &labels, parting)
    }

    fn in_folds(
        &self,
        targets: &[usize],
        (ways, folds): (&[Settle], Folds),
        watch: Watch<'_>,
    ) -> Result<Option<Held>> {
        let data = self.data()?;
        let rows = self.samples.len();
        let fold_of = self.parted(targets, folds.all)?;
        let found = in_parallel(folds.taken, &|fold| {
            self.of_fold((fold, folds.taken, &fold_of), targets, ways, watch)
        })?;
        let mut densities: Vec<Vec<Option<Mat<f64>>>> = (targets.iter())
            .map(|v| {
                let none = Mat::full(rows, data[*v].n_features(), f64::NAN);
                vec![Some(none); ways.len()]
            })
            .collect();
        for (fold, found) in found.into_iter().enumerate() {
            let Some(found) = found else {
                return Ok(None);
            };
            for (all, own) in densities.iter_mut().zip(found) {
                for (all, own) in all.iter_mut().zip(own) {
                    match (&mut *all, own) {
                        (Some(all), Some(own)) => {
                            for d in 0..all.ncols() {
                                for n in (0..rows).filter(|n| fold_of[*n] == fold) {
                                    all[(n, d)] = own[(n, d)];
                                }
                            }
                        }
                        _ => *all = None,
                    }
                }
            }
        }
        Ok(Some(Held { fold_of, densities }))
    }

    fn of_fold(
        &self,
        (fold, folds, fold_of): (usize, usize, &[usize]),
        targets: &[usize],
        ways: &[Settle],
        watch: Watch<'_>,
    ) -> Result<OfFold> {
        let data = self.data()?;
        let hidden = |n: usize| fold_of[n] == fold;
        let mut views = data.to_vec();
        for &v in targets {
            views[v] = data[v].hiding(|n, _| hidden(n));
        }
        let name = &self.views[targets[0]].name;
        let go_on = |sweep: usize| {
            watch(&SettleProgress {
                view: name.clone(),
                sweep,
                fold: Some((fold + 1, folds)),
            })
        };
        let of_fold = |p: &SettleProgress| {
            watch(&SettleProgress {
                fold: Some((fold + 1, folds)),
                ..p.clone()
            })
        };
        let Some(mut fit) = self.again(views, &go_on)? else {
            return Ok(None);
        };
        let mut out: Vec<Vec<Option<Mat<f64>>>> = vec![Vec::new(); targets.len()];
        for &way in ways {
            match fit.goes(targets, way, &of_fold)? {
                Going::Goes => {}
                Going::Interrupted => return Ok(None),
                Going::Cannot => {
                    for held in &mut out {
                        held.push(None);
                    }
                    continue;
                }
            }
            for (held, &v) in out.iter_mut().zip(targets) {
                let truth = data[v].hiding(|n, _| !hidden(n));
                held.push(Some(fit.ln_densities(v, targets, &truth)?));
            }
        }
        Ok(Some(out))
    }

    pub(super) fn domain(&self, v: usize) -> Domain {
        let domain = self.views[v].choices.likelihood.domain();
        domain.unwrap_or_default()
    }

    /// Settles the targets this way.
    fn goes(&mut self, targets: &[usize], way: Settle, watch: Watch<'_>) -> Result<Going> {
        if !way.settles() {
            return Ok(Going::Goes);
        }
        let names: Vec<String> = targets
            .iter()
            .map(|&v| self.views[v].name.clone())
            .collect();
        for &v in targets {
            self.views[v].choices.settle = Some(way);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match self.settled(&names, watch) {
            Ok(settled) if settled.outcome == Outcome::Interrupted => Ok(Going::Interrupted),
            Ok(_) => Ok(Going::Goes),
            Err(e) => match e.kind() {
                ErrorKind::NotSettled { .. } | ErrorKind::Incompatible { .. } => Ok(Going::Cannot),
                _ => Err(e),
            },
        }
    }

    /// Log densities of the cells `truth` of view `at`, predicted from the views that are no targets.
    fn ln_densities(&self, at: usize, targets: &[usize], truth: &View) -> Result<Mat<f64>> {
        let aligned = Aligned {
            samples: self.samples.clone(),
            views: self.data_without(targets)?,
            placing: Placing::as_fitted(),
            notes: Vec::new(),
            warnings: Vec::new(),
        };
        let found = self.predict_aligned(at, aligned, ParameterUncertainty::Posterior)?;
        Ok(found.laws.ln_densities(truth))
    }
}
