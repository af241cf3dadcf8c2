//! Penalties, and how many features are kept, by the balanced accuracy of a linear support vector machine on inner folds
//! (spec/thesis 4.2, 4.5).

use crate::centre::{Standard, class_indicators, class_sizes, same};
use crate::rb_cca::{Relevance, columns};
use crate::{Balance, Metric, MvaError, RbCca, RbCcaOptions, Selection, Supervised, dual, opls};
use polyview_baselines::{LinearSvm, SvmOptions, linear_svm, parts, stratified};
use polyview_linalg::{Mat, MatRef};
use rayon::prelude::*;

/// Cost of an error of the classifier on summary components (spec/thesis 4.5).
pub const COST: f64 = 0.035;

/// The penalties that are tried: 17 from $10^{-4}$ to $10^3$, equal steps of their logarithms (spec/thesis 4.5).
pub fn penalties() -> Vec<f64> {
    (0..17)
        .map(|i| 10f64.powf(-4.0 + 7.0 * f64::from(i) / 16.0))
        .collect()
}

/// Numbers of features that are tried: 1, 2, 5, 10, 20, 50 ... below `features`, and all.
pub fn counts(features: usize) -> Vec<usize> {
    let mut out = Vec::new();
    let mut decade = 1;
    while decade < features {
        let steps = [1, 2, 5].map(|s| s * decade);
        out.extend(steps.into_iter().filter(|c| *c < features));
        decade *= 10;
    }
    out.push(features);
    out
}

/// Choices of [`RbCca::tuned`] and [`tuned_supervised`].
#[derive(Debug, Clone, PartialEq)]
pub struct TuningOptions {
    /// Penalties to try, above 0.
    pub penalties: Vec<f64>,
    /// Numbers of most relevant features to try (BagCCA-CV); none for the selection of the options.
    pub counts: Vec<usize>,
    /// Number of folds; no more than the smallest class has samples are made.
    pub folds: usize,
    /// Cost of an error of the classifier.
    pub cost: f64,
    /// Seed of the folds.
    pub seed: u64,
}

impl Default for TuningOptions {
    /// Ten folds, [`penalties`], the cost of the thesis, no counts.
    fn default() -> Self {
        Self {
            penalties: penalties(),
            counts: Vec::new(),
            folds: 10,
            cost: COST,
            seed: 0,
        }
    }
}

/// Balanced accuracies of all that was tried, and what was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The penalties.
    pub penalties: Vec<f64>,
    /// The numbers of features; none where their number was not tried.
    pub counts: Vec<usize>,
    /// Number of folds that were made.
    pub folds: usize,
    /// Mean balanced accuracy over folds: a row per number of features (one where none was tried), a column per penalty.
    pub accuracy: Mat<f64>,
    /// Its standard error over folds.
    pub error: Mat<f64>,
    /// Row and column of what was chosen: for each number of features the penalty of largest accuracy, of equal ones the
    /// largest; the smallest number whose accuracy is within one standard error of the best one's (the stability point,
    /// spec/thesis 13).
    pub chosen: (usize, usize),
}

impl Tuned {
    fn new(options: &TuningOptions, folds: &[Mat<f64>]) -> Self {
        let (rows, cols) = (folds[0].nrows(), folds[0].ncols());
        let n = folds.len() as f64;
        let accuracy = Mat::from_fn(rows, cols, |i, j| {
            folds.iter().map(|f| f[(i, j)]).sum::<f64>() / n
        });
        let error = Mat::from_fn(rows, cols, |i, j| {
            let squares = folds.iter().map(|f| (f[(i, j)] - accuracy[(i, j)]).powi(2));
            (squares.sum::<f64>() / (n * (n - 1.0).max(1.0))).sqrt()
        });
        let better = |a: (usize, usize), b: (usize, usize)| {
            let (pa, pb) = (options.penalties[a.1], options.penalties[b.1]);
            let (a, b) = (accuracy[a], accuracy[b]);
            a > b || (a == b && pa > pb)
        };
        let best_of = |row: usize| {
            (1..cols).fold((row, 0), |best, j| {
                if better((row, j), best) {
                    (row, j)
                } else {
                    best
                }
            })
        };
        let each: Vec<(usize, usize)> = (0..rows).map(best_of).collect();
        let top = each.iter().fold(each[0], |best, at| {
            if accuracy[*at] > accuracy[best] {
                *at
            } else {
                best
            }
        });
        let least = accuracy[top] - error[top];
        let count = |at: &(usize, usize)| options.counts.get(at.0).copied().unwrap_or(0);
        let within = each.iter().filter(|at| accuracy[**at] >= least);
        let chosen = within.min_by_key(|at| count(at)).copied().unwrap_or(top);
        Self {
            penalties: options.penalties.clone(),
            counts: options.counts.clone(),
            folds: folds.len(),
            accuracy,
            error,
            chosen,
        }
    }

    /// The penalty that was chosen.
    pub fn penalty(&self) -> f64 {
        self.penalties[self.chosen.1]
    }

    /// The number of features that was chosen, if it was tried.
    pub fn count(&self) -> Option<usize> {
        self.counts.get(self.chosen.0).copied()
    }
}

impl RbCca {
    /// As [`RbCca::fit`] with the penalty, and with `counts` the number of features (BagCCA-CV), of best balanced accuracy on
    /// folds of the samples. All stages are made anew without the samples of a fold; a fold in which no feature passes the test tells no
    /// class from another, whatever the penalty.
    ///
    /// # Errors
    /// As [`RbCca::fit`]; [`MvaError::Class`] of a class with fewer than three samples; [`MvaError::Empty`] without
    /// penalties, [`MvaError::OutOfRange`] of one that is not above 0, [`MvaError::Classifier`].
    pub fn tuned(
        x: MatRef<'_, f64>,
        labels: &[usize],
        options: &RbCcaOptions,
        tuning: &TuningOptions,
    ) -> Result<(Self, Tuned), MvaError> {
        let balanced = options.balance != Balance::Samples;
        let selections: Vec<Selection> = if tuning.counts.is_empty() {
            vec![options.selection]
        } else {
            tuning.counts.iter().map(|c| Selection::Most(*c)).collect()
        };
        let tuned = on_folds(x, labels, tuning, balanced, |split| {
            let stage = Relevance::of(split.seen, split.labels, options)?;
            let components = stage.components(options)?;
            let new = stage.standard.apply(split.new)?;
            let mut out = Vec::with_capacity(selections.len());
            for selection in &selections {
                let selected = match stage.selected(*selection) {
                    Err(MvaError::NothingSelected { .. }) => {
                        out.push(None);
                        continue;
                    }
                    other => other?,
                };
                let path = stage.path(split.labels, &selected, options)?;
                let seen = stage.columns(&selected);
                let new = columns(new.as_ref(), &selected);
                let scores = tuning.penalties.iter().map(|penalty| {
                    let guided = path.at(components, *penalty)?;
                    let project = |x: &Mat<f64>| guided.projection.project(x.as_ref());
                    Ok((project(&seen)?, project(&new)?))
                });
                out.push(Some(scores.collect::<Result<Vec<_>, MvaError>>()?));
            }
            Ok(out)
        })?;
        let chosen = RbCcaOptions {
            penalty: tuned.penalty(),
            selection: tuned.count().map_or(options.selection, Selection::Most),
            ..*options
        };
        Ok((Self::fit(x, labels, &chosen)?, tuned))
    }
}

/// How a supervised projection of classes is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In features, with the ridge on their covariance ([`opls`]).
    Primal,
    /// In samples, with the ridge on their weights ([`dual`](fn@dual)), for more features than samples.
    Dual,
}

impl Form {
    /// The leading directions of `x` that predict `y` in this form: [`opls`], or [`dual`](fn@dual), whose targets are turned
    /// into those of [`opls`].
    ///
    /// # Errors
    /// As the two.
    pub fn solve(
        self,
        x: MatRef<'_, f64>,
        y: MatRef<'_, f64>,
        components: usize,
        metric: Metric,
        ridge: f64,
    ) -> Result<Supervised, MvaError> {
        match self {
            Self::Primal => opls(x, y, components, metric, ridge),
            Self::Dual => {
                let fit = dual(x, y, components, metric, ridge)?;
                let root = metric.power(y, 0.5)?;
                Ok(Supervised {
                    eigenvalues: fit.eigenvalues,
                    projection: fit.projection,
                    targets: polyview_linalg::times_small(root.as_ref(), fit.targets.as_ref()),
                })
            }
        }
    }
}

/// The ridge of best balanced accuracy for a supervised projection on classes (spec/thesis 3.3, 3.4), on folds of the samples;
/// `standardise` gives features the standard deviation 1 in each.
///
/// # Errors
/// As [`RbCca::tuned`], of these options.
pub fn tuned_supervised(
    x: MatRef<'_, f64>,
    labels: &[usize],
    (form, metric, components): (Form, Metric, usize),
    standardise: bool,
    balanced: bool,
    tuning: &TuningOptions,
) -> Result<Tuned, MvaError> {
    let tuning = TuningOptions {
        counts: Vec::new(),
        ..tuning.clone()
    };
    on_folds(x, labels, &tuning, balanced, |split| {
        let standard = if standardise {
            Standard::learn(split.seen)?
        } else {
            Standard::centre(split.seen)?
        };
        let (seen, new) = (standard.apply(split.seen)?, standard.apply(split.new)?);
        let classes = class_sizes(split.labels, 1)?.len();
        let y = class_indicators(split.labels, classes)?;
        let scores = tuning.penalties.iter().map(|ridge| {
            let fit = form.solve(seen.as_ref(), y.as_ref(), components, metric, *ridge)?;
            let project = |x: &Mat<f64>| fit.projection.project(x.as_ref());
            Ok((project(&seen)?, project(&new)?))
        });
        Ok(vec![Some(scores.collect::<Result<Vec<_>, MvaError>>()?)])
    })
}

/// The classifier of the thesis on summary components: linear machines, each class against the others.
///
/// # Errors
/// [`MvaError::Classifier`], [`MvaError::Class`] of a class without samples.
pub fn classifier(
    components: MatRef<'_, f64>,
    labels: &[usize],
    cost: f64,
    balanced: bool,
) -> Result<LinearSvm, MvaError> {
    let classes = class_sizes(labels, 1)?.len();
    let options = SvmOptions { cost, balanced };
    Ok(linear_svm(components, labels, classes, &options)?)
}

/// Mean over the classes that occur of the share of their samples that are predicted right.
///
/// # Errors
/// [`MvaError::Shape`] without a prediction for each sample.
pub fn balanced_accuracy(truth: &[usize], predicted: &[usize]) -> Result<f64, MvaError> {
    same("predictions of the samples", truth.len(), predicted.len())?;
    let classes = truth.iter().max().map_or(0, |c| c + 1);
    let (mut all, mut right) = (vec![0.0; classes], vec![0.0; classes]);
    for (t, p) in truth.iter().zip(predicted) {
        all[*t] += 1.0;
        right[*t] += f64::from(u8::from(t == p));
    }
    let shares = all.iter().zip(&right).filter(|(a, _)| **a > 0.0);
    let shares: Vec<f64> = shares.map(|(a, r)| r / a).collect();
    Ok(shares.iter().sum::<f64>() / shares.len().max(1) as f64)
}

/// The training samples of a fold, and those that it leaves out.
struct Split<'a> {
    seen: MatRef<'a, f64>,
    labels: &'a [usize],
    new: MatRef<'a, f64>,
}

/// Of each row of candidates the components of training and left-out samples at each penalty; none where there are none.
type Candidates = Vec<Option<Vec<(Mat<f64>, Mat<f64>)>>>;

fn on_folds(
    x: MatRef<'_, f64>,
    labels: &[usize],
    tuning: &TuningOptions,
    balanced: bool,
    fit: impl Fn(&Split<'_>) -> Result<Candidates, MvaError> + Sync,
) -> Result<Tuned, MvaError> {
    same("labels", x.nrows(), labels.len())?;
    if tuning.penalties.is_empty() {
        return Err(MvaError::Empty {
            what: "the list of penalties",
        });
    }
    if tuning.folds < 2 {
        return Err(MvaError::OutOfRange {
            what: "the number of folds",
            value: tuning.folds as f64,
            range: "2 or larger",
        });
    }
    let sizes = class_sizes(labels, 3)?;
    let smallest = sizes.iter().copied().min().unwrap_or(0);
    let folds = tuning.folds.min(smallest);
    let y = class_indicators(labels, sizes.len())?;
    let fold = stratified(y.as_ref(), folds, tuning.seed)?;
    let chance = 1.0 / sizes.len() as f64;
    let of_fold = |f: usize| -> Result<Mat<f64>, MvaError> {
        let (inside, outside) = parts(&fold, f);
        let rows = |of: &[usize]| Mat::from_fn(of.len(), x.ncols(), |i, d| x[(of[i], d)]);
        let (seen, new) = (rows(&outside), rows(&inside));
        let known: Vec<usize> = outside.iter().map(|n| labels[*n]).collect();
        let truth: Vec<usize> = inside.iter().map(|n| labels[*n]).collect();
        let candidates = fit(&Split {
            seen: seen.as_ref(),
            labels: &known,
            new: new.as_ref(),
        })?;
        let mut out = Mat::full(candidates.len(), tuning.penalties.len(), chance);
        for (i, row) in candidates.iter().enumerate() {
            for (j, (seen, new)) in row.iter().flatten().enumerate() {
                let svm = classifier(seen.as_ref(), &known, tuning.cost, balanced)?;
                out[(i, j)] = balanced_accuracy(&truth, &svm.predict(new.as_ref())?)?;
            }
        }
        Ok(out)
    };
    let all: Vec<Mat<f64>> = (0..folds)
        .into_par_iter()
        .map(of_fold)
        .collect::<Result<_, _>>()?;
    Ok(Tuned::new(tuning, &all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_features_within_an_error_of_the_best() {
        let options = TuningOptions {
            penalties: vec![0.1, 10.0],
            counts: vec![5, 50, 20],
            ..TuningOptions::default()
        };
        // rows 5, 50, 20 features; two folds, of which the error is half the difference
        let fold = |shift: f64| {
            Mat::from_fn(3, 2, |i, j| {
                let mean = [[0.5, 0.6], [0.9, 0.8], [0.85, 0.85]][i][j];
                mean + shift * 0.06
            })
        };
        let tuned = Tuned::new(&options, &[fold(1.0), fold(-1.0)]);
        assert!((tuned.error[(0, 0)] - 0.06).abs() < 1e-12);
        // of 20 features both penalties are as good: the stronger
        assert_eq!(tuned.chosen, (2, 1));
        assert_eq!((tuned.count(), tuned.penalty()), (Some(20), 10.0));
        // smaller errors: the best itself
        let tuned = Tuned::new(&options, &[fold(0.1), fold(-0.1)]);
        assert_eq!(tuned.chosen, (1, 0));
    }
}
