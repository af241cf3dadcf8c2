//! Cells hidden at random, predicted from those that are left.

use polyview_baselines::{
    SoftImputeOptions, class_frequencies, frequencies, level_frequencies, means, soft_impute,
};
use polyview_core::{Dataset, Domain, View};
use polyview_linalg::Mat;
use polyview_special::{gamma, ln_gamma};

use super::CrossValidateScore as Score;
use super::inputs::{columns, groups, side_by_side};
use super::plan::{Job, Plan, What};
use super::scored::{largest, level_scores};
use super::workers::{Done, Scored, Teller};
use super::{baselines, limited};
use crate::error::Result;
use crate::metrics::{CountLaw, LevelScore, explained};
use crate::verbs::hold_out::hold_out_in;
use crate::verbs::score::HeldOut;
use crate::verbs::score_counts::{rate, unit_deviance};

/// Does a job.
pub(super) fn run(plan: &Plan<'_>, job: &Job, teller: &Teller<'_>) -> Result<Done> {
    let options = plan.options;
    let number = job.repeat * options.folds + job.fold;
    let seed = options.seed.wrapping_add(number as u64);
    let left = hold_out_in(plan.data, options.share, seed, |v| plan.hides(v.name()))?.data;
    let mut done = Done::default();
    match job.what {
        What::Model(m) => {
            let model = &plan.models[m];
            let fit = teller.fit(
                plan,
                job,
                (left, model.composed.clone().with_data(plan.data.views())),
                &mut done,
            )?;
            for found in fit.held_out_score(plan.data)? {
                done.add(&found.view, &model.name, of_model(&found));
            }
        }
        What::TwoSteps(_) => {}
        What::Baselines => {
            teller.tell(plan, job, 0);
            let completed = completed(plan, &left)?;
            for (at, completed) in completed.iter().enumerate() {
                let (truth, left) = (&plan.data.views()[at], &left.views()[at]);
                let cells = Cells::new(truth, left, plan.kinds[at]);
                if cells.places.is_empty() && cells.between.is_empty() {
                    continue;
                }
                done.add(truth.name(), baselines::MEAN, cells.by_means()?);
                done.add(truth.name(), baselines::SVD, cells.by_svd(completed));
            }
        }
    }
    Ok(done)
}

/// The scores of a model on one view.
fn of_model(found: &HeldOut) -> Vec<Scored> {
    let cells = found.cells;
    let mut out = vec![(Score::R2, found.r2, cells)];
    if found.kind.is_ordered() {
        out.push((Score::LogLoss, -found.log_density, cells));
        let of = found.levels;
        let of = |score: fn(LevelScore) -> f64| of.map_or(f64::NAN, score);
        out.push((Score::AbsoluteError, of(|s| s.absolute_error), cells));
        out.push((
            Score::RankedProbability,
            of(|s| s.ranked_probability),
            cells,
        ));
    } else if found.kind.is_label() {
        out.push((Score::LogLoss, -found.log_density, cells));
        out.push((Score::Error, 1.0 - found.accuracy, cells));
    } else {
        out.push((Score::LogDensity, found.log_density, cells + found.limits));
    }
    if found.kind.has_deviance() {
        out.push((Score::DevianceExplained, found.deviance_explained, cells));
    }
    out
}

/// The columns of each view as the softly thresholded decomposition of all of them completes them.
fn completed(plan: &Plan<'_>, left: &Dataset) -> Result<Vec<Mat<f64>>> {
    let parts: Vec<Mat<f64>> = (left.views().iter().zip(&plan.kinds))
        .map(|(view, kind)| columns(view, *kind))
        .collect();
    // groups are known to models of groups, so here they are columns that nothing is hidden of
    let known = groups(left, &(0..left.n_samples() as u32).collect::<Vec<_>>());
    let mut with_groups: Vec<Mat<f64>> = parts.clone();
    with_groups.push(known);
    let all = side_by_side(&with_groups, left.n_samples());
    let found = soft_impute(all.as_ref(), &SoftImputeOptions::default())?.completed;
    let mut first = 0;
    Ok(parts
        .iter()
        .map(|part| {
            let own = found.subcols(first, part.ncols()).to_owned();
            first += part.ncols();
            own
        })
        .collect())
}

/// The hidden cells of a view.
struct Cells<'a> {
    truth: &'a View,
    left: &'a View,
    kind: Domain,
    /// Samples and features; features of which nothing is left are not among them.
    places: Vec<(usize, usize)>,
    /// Those of cells of which limits are all that is known: nobody knows how far off a prediction is, laws say how
    /// probable they are.
    between: Vec<(usize, usize)>,
}

impl<'a> Cells<'a> {
    fn new(truth: &'a View, left: &'a View, kind: Domain) -> Self {
        let samples = truth.n_samples();
        let known = |d: &usize| (0..samples).any(|n| left.is_observed(n, *d));
        let hidden = |n: usize, d: usize| truth.is_observed(n, d) && !left.is_observed(n, d);
        let places = (0..truth.n_features()).filter(known).flat_map(|d| {
            let rows = (0..samples).filter(move |&n| hidden(n, d));
            rows.map(move |n| (n, d))
        });
        let (between, places) = places.partition(|&(n, d)| truth.is_censored(n, d));
        Self {
            truth,
            left,
            kind,
            places,
            between,
        }
    }
    fn value(&self, (n, d): (usize, usize)) -> f64 {
        self.truth.value(n, d).unwrap_or(f64::NAN)
    }
    /// Means of the features, or shares of classes, of what is left: of successes shares of the trials, of numbers of
    /// which limits may be all that is known the means of the exact ones, where there are any.
    fn centres(&self) -> Vec<f64> {
        let all = means(self.shares().as_ref());
        if !self.kind.is_censored() {
            return all;
        }
        let exact = means(self.left.exact().to_values_with_nan().as_ref());
        let known = |(exact, all): (f64, f64)| if exact.is_nan() { all } else { exact };
        exact.into_iter().zip(all).map(known).collect()
    }
    /// What is left, classes one column each, successes as shares, counts and numbers above 0 as they
    /// are.
    fn shares(&self) -> Mat<f64> {
        if self.kind.has_deviance() && !self.kind.has_trials() {
            return self.left.to_values_with_nan();
        }
        columns(self.left, self.kind)
    }
    /// The truth of a cell, column by column: the value, or zeros and a one.
    fn truth_of(&self, place: (usize, usize)) -> Vec<f64> {
        let value = self.value(place);
        if self.kind.has_classes() {
            let levels = self.truth.levels().len();
            return (0..levels)
                .map(|c| f64::from(u8::from(value == c as f64)))
                .collect();
        }
        vec![value]
    }
    /// $R^2$ of what is said of each cell, column by column, as [`HeldOut::r2`] has it.
    fn r2(&self, said: &dyn Fn((usize, usize)) -> Vec<f64>) -> f64 {
        let centres = self.centres();
        let (mut errors, mut scatter) = (0.0, 0.0);
        for &(n, d) in &self.places {
            let truth = self.truth_of((n, d));
            for (c, (x, predicted)) in truth.iter().zip(said((n, d))).enumerate() {
                let centre = if self.kind.has_classes() {
                    centres[c]
                } else {
                    self.unit(n, d) * centres[d]
                };
                errors += (x - predicted).powi(2);
                scatter += (x - centre).powi(2);
            }
        }
        explained(errors, scatter).unwrap_or(f64::NAN)
    }
    /// Trials of a cell of successes; 1 of all others.
    fn unit(&self, n: usize, d: usize) -> f64 {
        if self.kind.has_trials() {
            self.truth.trials_of(n, d)
        } else {
            1.0
        }
    }
    /// Each cell at the mean of its feature.
    fn by_means(&self) -> Result<Vec<Scored>> {
        if self.kind.is_censored() {
            return Ok(self.by_likely_laws());
        }
        let count = self.places.len();
        let centres = self.centres();
        let r2 = self.r2(&|(n, d)| {
            if self.kind.has_classes() {
                centres.clone()
            } else {
                vec![self.unit(n, d) * centres[d]]
            }
        });
        let mut out = vec![(Score::R2, r2, count)];
        if self.kind.is_ordered() {
            out.extend(self.by_shares());
            return Ok(out);
        }
        let shares = self.shares();
        let ln: f64 = if self.kind.has_classes() {
            let of = class_frequencies(&self.left.classes(), self.truth.levels().len())?;
            let ln = |place: &(usize, usize)| of[self.value(*place) as usize].ln();
            self.places.iter().map(ln).sum()
        } else if self.kind.is_label() {
            let of = frequencies(shares.as_ref());
            let p = |place: &(usize, usize)| {
                let p = of[place.1];
                if self.value(*place) == 1.0 {
                    p
                } else {
                    1.0 - p
                }
            };
            self.places.iter().map(|place| p(place).ln()).sum()
        } else if self.kind.has_trials() {
            f64::NAN
        } else if self.kind.is_positive() {
            self.by_gamma_laws(&columns(self.left, self.kind), &centres)
        } else if !self.kind.is_count() {
            self.by_normal_laws(&shares)
        } else {
            let squares = Mat::from_fn(shares.nrows(), shares.ncols(), |n, d| {
                (shares[(n, d)] - centres[d]).powi(2)
            });
            let variances = means(squares.as_ref());
            let floor = 0.5 / shares.nrows() as f64;
            let ln = |&(n, d): &(usize, usize)| {
                CountLaw::new(centres[d].max(floor), variances[d]).ln_density(self.value((n, d)))
            };
            self.places.iter().map(ln).sum()
        };
        let ln = ln / count as f64;
        if self.kind.is_label() {
            out.push((Score::LogLoss, -ln, count));
            out.push((
                Score::Error,
                self.error(&|(_, d)| {
                    if self.kind.has_classes() {
                        centres.clone()
                    } else {
                        vec![centres[d]]
                    }
                }),
                count,
            ));
        } else {
            out.push((Score::LogDensity, ln, count));
        }
        Ok(out)
    }
    /// Each cell by the normal law under which what is left of its feature is most likely.
    fn by_likely_laws(&self) -> Vec<Scored> {
        let (mean, sd) = limited::most_likely(self.left);
        let all = || self.places.iter().chain(&self.between);
        let ln = |&(n, d): &(usize, usize)| {
            let cell = self.truth.interval(n, d);
            cell.map_or(f64::NAN, |cell| limited::ln_normal(cell, mean[d], sd[d]))
        };
        let (sum, count) = (all().map(ln).sum::<f64>(), all().count());
        vec![
            (
                Score::R2,
                self.r2(&|(_, d)| vec![mean[d]]),
                self.places.len(),
            ),
            (Score::LogDensity, sum / count as f64, count),
        ]
    }
    /// Log densities of the hidden cells by a normal law of each feature, summed.
    fn by_normal_laws(&self, known: &Mat<f64>) -> f64 {
        let centres = means(known.as_ref());
        let squares = Mat::from_fn(known.nrows(), known.ncols(), |n, d| {
            (known[(n, d)] - centres[d]).powi(2)
        });
        let variances = means(squares.as_ref());
        let ln = |&(n, d): &(usize, usize)| {
            let (x, v) = (self.value((n, d)), variances[d]);
            -0.5 * ((x - centres[d]).powi(2) / v + (std::f64::consts::TAU * v).ln())
        };
        self.places.iter().map(ln).sum()
    }
    /// The same by the gamma law of each feature under which what is left of it is most likely, from its logarithms and means.
    fn by_gamma_laws(&self, logs: &Mat<f64>, centres: &[f64]) -> f64 {
        let of_logs = means(logs.as_ref());
        let shape = |(centre, log): (&f64, f64)| gamma::most_likely_shape(centre.ln() - log);
        let shapes: Vec<f64> = centres.iter().zip(of_logs).map(shape).collect();
        let ln = |&(n, d): &(usize, usize)| {
            let (a, rate, x) = (shapes[d], shapes[d] / centres[d], self.value((n, d)));
            a * rate.ln() - ln_gamma(a) + (a - 1.0) * x.ln() - rate * x
        };
        self.places.iter().map(ln).sum()
    }
    /// Each cell of ordered levels by the shares of its feature.
    fn by_shares(&self) -> Vec<Scored> {
        let shares =
            level_frequencies(self.left.to_values_with_nan().as_ref(), largest(self.truth));
        let truth: Vec<f64> = self.places.iter().map(|p| self.value(*p)).collect();
        let said: Vec<Vec<f64>> = self.places.iter().map(|p| shares[p.1].clone()).collect();
        level_scores(&truth, &said).unwrap_or_default()
    }
    /// Each cell as the decomposition completes it: nothing is said of how sure it is.
    fn by_svd(&self, completed: &Mat<f64>) -> Vec<Scored> {
        let count = self.places.len();
        let said = |(n, d): (usize, usize)| -> Vec<f64> {
            if self.kind.has_classes() {
                return (0..completed.ncols())
                    .map(|c| completed[(n, c)].clamp(0.0, 1.0))
                    .collect();
            }
            let x = completed[(n, d)];
            vec![match self.kind {
                kind if kind.is_label() => x.clamp(0.0, 1.0),
                kind if kind.has_trials() => self.unit(n, d) * x.clamp(0.0, 1.0),
                kind if kind.is_count() => x.exp_m1().max(0.0),
                kind if kind.is_positive() => x.exp(),
                kind if kind.is_ordered() => x.clamp(1.0, largest(self.truth) as f64),
                _ => x,
            }]
        };
        let mut out = vec![(Score::R2, self.r2(&said), count)];
        if self.kind.is_label() {
            out.push((Score::Error, self.error(&said), count));
        }
        if self.kind.has_deviance() {
            let explained = self.deviance_explained(&|place| said(place)[0]);
            out.push((Score::DevianceExplained, explained, count));
        }
        if self.kind.is_ordered() {
            // squares are judged by what it says, distances by the level next to that: so are those of a model, by mean and median
            let off = |place: &(usize, usize)| (said(*place)[0].round() - self.value(*place)).abs();
            let sum: f64 = self.places.iter().map(off).sum();
            out.push((Score::AbsoluteError, sum / count as f64, count));
        }
        out
    }
    /// Share of the deviance from the means of what is left that is explained, as [`HeldOut::deviance_explained`] has it; nothing is
    /// taken to be rarer than half a count in as many samples as there are.
    fn deviance_explained(&self, said: &dyn Fn((usize, usize)) -> f64) -> f64 {
        let floor = 0.5 / self.truth.n_samples() as f64;
        let (mut own, mut null) = (0.0, 0.0);
        for &(n, d) in &self.places {
            let (value, trials) = (self.value((n, d)), self.unit(n, d));
            let of = self.kind.has_trials().then_some(trials);
            let unit = |mean: f64| unit_deviance((value, of), self.kind.is_positive(), mean);
            let mean = said((n, d));
            own += unit(match of {
                Some(trials) => mean.clamp(floor * trials, (1.0 - floor) * trials),
                None if self.kind.is_positive() => mean,
                None => mean.max(floor),
            });
            null += unit(rate(self.left, d) * trials);
        }
        explained(own, null).unwrap_or(f64::NAN)
    }
    /// Share of labels that one half, or of classes that the largest, gets wrong.
    fn error(&self, said: &dyn Fn((usize, usize)) -> Vec<f64>) -> f64 {
        let wrong = self.places.iter().filter(|place| {
            let (said, truth) = (said(**place), self.value(**place));
            if self.kind.has_classes() {
                let best = (1..said.len()).fold(0, |b, c| if said[c] > said[b] { c } else { b });
                best as f64 != truth
            } else {
                (said[0] > 0.5) != (truth == 1.0)
            }
        });
        wrong.count() as f64 / self.places.len() as f64
    }
}
