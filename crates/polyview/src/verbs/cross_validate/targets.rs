//! Targets of the samples of a fold, predicted from their other views.

use std::collections::HashSet;
use std::sync::Arc;

use polyview_baselines::{
    Design, Tuning, class_frequencies, frequencies, level_frequencies, limited_ridge, logistic,
    means, multinomial, ordered_probit, ridge,
};
use polyview_core::{Dataset, Domain, View};
use polyview_linalg::Mat;

use super::inputs::{columns, groups, limits, side_by_side};
use super::plan::{Job, Plan, What, two_steps};
use super::scored::{Predicted, Target, scores};
use super::workers::{Done, Teller};
use super::{baselines, kernels, limited};
use crate::adjust::known_beside;
use crate::assemble;
use crate::compose::Composed;
use crate::error::Result;
use crate::fit::Fit;
use crate::verbs::project::ProjectOptions;

/// Probability of the intervals that are scored.
const LEVEL: f64 = 0.9;

/// The halves of a fold.
struct Halves<'a> {
    plan: &'a Plan<'a>,
    training: Vec<u32>,
    test: Vec<u32>,
}

impl<'a> Halves<'a> {
    fn new(plan: &'a Plan<'a>, job: &Job) -> Self {
        let (test, training) = plan.samples(job);
        Self {
            plan,
            training,
            test,
        }
    }
    /// All that is known of the training samples.
    fn seen(&self) -> Dataset {
        self.part(&self.training)
    }
    /// Some samples; in tables of similarities they are compared with those of training alone.
    fn part(&self, samples: &[u32]) -> Dataset {
        let all = self.plan.data;
        let mut out = all.subset(samples);
        let similarities = |v: &&View| self.plan.kind(v.name()).is_similarity();
        for view in all.views().iter().filter(similarities) {
            let seen = self.training.iter().map(|&n| &all.samples()[n as usize]);
            let seen: HashSet<&String> = seen.collect();
            let known = |d: &usize| seen.contains(&view.features()[*d]);
            let keep: Vec<usize> = (0..view.n_features()).filter(known).collect();
            let names = keep.iter().map(|&d| view.features()[d].clone()).collect();
            let source: Vec<Option<usize>> = keep.into_iter().map(Some).collect();
            let less = (out.view(view.name()))
                .and_then(|v| v.matched(view.name(), names, &source).ok())
                .and_then(|v| out.with_view(v).ok());
            out = less.unwrap_or(out);
        }
        out
    }
    /// Some samples without the targets.
    fn inputs(&self, samples: &[u32]) -> Result<Dataset> {
        Ok(self.part(samples).with_views(&self.plan.others)?)
    }
    fn targets(&self) -> Vec<Target> {
        let wanted = self.plan.options.targets.iter();
        let views = wanted.filter_map(|name| self.plan.data.view(name));
        views
            .map(|v| Target::new(v, self.plan.kind(v.name()), &self.training, &self.test))
            .collect()
    }
    /// The targets with their offsets in a model, and its covariates of the samples of training and
    /// of the fold: what the model knows, plain predictors know too.
    fn known_to(
        &self,
        composed: &Composed,
        targets: &[Target],
    ) -> Result<(Vec<Target>, [Mat<f64>; 2])> {
        let mut out = targets.to_vec();
        let rows = [&self.training, &self.test].map(Vec::len);
        let mut covariates = rows.map(|rows| Mat::zeros(rows, 0));
        let Some(spec) = composed.spec().filter(|spec| spec.adjusts()) else {
            return Ok((out, covariates));
        };
        let (seen, new) = (self.seen(), self.inputs(&self.test)?);
        for target in &mut out {
            let [own, of_new] = known_beside(spec, &target.name, [&seen, &new])?;
            covariates = [own.covariates, of_new.covariates];
            target.offset = own.offset.zip(of_new.offset).map(<[_; 2]>::from);
        }
        Ok((out, covariates))
    }
    /// The means of the training samples; where there are groups those of each, and of all where a group has no
    /// training sample.
    fn mean(&self, target: &Target) -> Result<Predicted> {
        let mut out = mean(target)?;
        let data = self.plan.data;
        let (Some(groups), Some(view)) =
            (assemble::several(data.groups()), data.view(&target.name))
        else {
            return Ok(out);
        };
        for g in 0..groups.names.len() as u32 {
            let own = |samples: &[u32]| -> Vec<u32> {
                let in_group = |n: &&u32| groups.of_sample[**n as usize] == g;
                samples.iter().filter(in_group).copied().collect()
            };
            let (training, test) = (own(&self.training), own(&self.test));
            if training.is_empty() || test.is_empty() {
                continue;
            }
            let mut own = Target::new(view, target.kind, &training, &test);
            own.offset = target.offset.as_ref().map(|[a, b]| {
                let of_group = |all: &[u32], x: &[f64]| -> Vec<f64> {
                    let inside = |n: &u32| groups.of_sample[*n as usize] == g;
                    let both = all.iter().zip(x).filter(|(n, _)| inside(n));
                    both.map(|(_, x)| *x).collect()
                };
                [of_group(&self.training, a), of_group(&self.test, b)]
            });
            let found = mean(&own)?;
            let places = (self.test.iter().enumerate())
                .filter(|(_, n)| test.contains(n))
                .map(|(place, _)| place);
            for (from, to) in places.enumerate() {
                out.take_row(to, &found, from);
            }
        }
        Ok(out)
    }
    /// What a regression says of a target from these features of both halves, and its name.
    fn regression(
        &self,
        target: &Target,
        [x, new]: [&Mat<f64>; 2],
    ) -> Result<(&'static str, Predicted)> {
        // of labels and levels an offset is one feature more
        let (offset, feature) = match &target.offset {
            Some(offset) if target.takes_offset() => (Some(offset), None),
            other => (None, other.as_ref()),
        };
        let with = |x: &Mat<f64>, of: &[f64]| {
            let column = Mat::from_fn(of.len(), 1, |n, _| of[n]);
            side_by_side(&[x.clone(), column], of.len())
        };
        let wider = feature.map(|[a, b]| [with(x, a), with(new, b)]);
        let [x, new] = wider.as_ref().map_or([x, new], |[a, b]| [a, b]);
        let design = Design::learn(x.as_ref())?;
        let (x, new) = (design.apply(x.as_ref())?, design.apply(new.as_ref())?);
        let labels = if target.kind.is_label() {
            columns(&target.training, target.kind)
        } else {
            Mat::zeros(self.training.len(), 0)
        };
        let tuning = Tuning::new(self.plan.inner(&self.training, &labels)?);
        let y = columns(&target.training, target.kind);
        if target.kind.has_classes() {
            let classes = target.training.classes();
            let count = target.training.levels().len();
            let fit = multinomial(x.as_ref(), &classes, count, &tuning)?;
            let mean = fit.predict(new.as_ref())?;
            return Ok((baselines::MULTINOMIAL, Predicted::means(mean)));
        }
        if target.kind.is_label() {
            let fit = logistic(x.as_ref(), y.as_ref(), &tuning)?;
            let mean = fit.predict(new.as_ref())?;
            return Ok((baselines::LOGISTIC, Predicted::means(mean)));
        }
        if target.kind.is_ordered() {
            let fit = ordered_probit(x.as_ref(), y.as_ref(), target.levels, &tuning)?;
            return Ok((baselines::ORDERED, by_levels(fit.predict(new.as_ref())?)));
        }
        let (own, of_new) = match offset {
            Some([own, of_new]) => (&own[..], &of_new[..]),
            None => (&[][..], &[][..]),
        };
        let minus: Vec<f64> = of_new.iter().map(|x| -x).collect();
        if target.kind.is_censored() {
            let [lower, upper] = limits(&target.training).map(|ends| less(ends, own));
            let fit = limited_ridge(x.as_ref(), (lower.as_ref(), upper.as_ref()), &tuning)?;
            let mean = less(fit.regression.predict(new.as_ref())?, &minus);
            let sd: Vec<f64> = fit.noise.iter().map(|v| v.sqrt()).collect();
            return Ok((baselines::LIMITS, limited::normal(target, mean, &sd)));
        }
        let y = less(y, own);
        let fit = ridge(x.as_ref(), y.as_ref(), &tuning)?;
        let mut mean = less(fit.predict(new.as_ref())?, &minus);
        if target.kind.is_count() {
            let fitted = fit.predict(x.as_ref())?;
            for d in 0..mean.ncols() {
                let floor = 0.5 / self.training.len() as f64;
                let factor = smearing(y.col_as_slice(d), fitted.col_as_slice(d));
                for value in mean.col_as_slice_mut(d) {
                    *value = (value.exp() * factor - 1.0).max(floor);
                }
            }
        } else if target.kind.is_positive() {
            let fitted = fit.predict(x.as_ref())?;
            for d in 0..mean.ncols() {
                let factor = smearing(y.col_as_slice(d), fitted.col_as_slice(d));
                for value in mean.col_as_slice_mut(d) {
                    *value = value.exp() * factor;
                }
            }
        }
        Ok((baselines::RIDGE, Predicted::means(mean)))
    }
}

/// Levels with these probabilities, and their means.
fn by_levels(probabilities: Vec<Mat<f64>>) -> Predicted {
    let (rows, columns) = probabilities.first().map_or((0, 0), Mat::shape);
    let mean = Mat::from_fn(rows, columns, |n, d| {
        let levels = (1..).zip(&probabilities);
        levels.map(|(level, p)| f64::from(level) * p[(n, d)]).sum()
    });
    Predicted {
        levels: Some(probabilities),
        ..Predicted::means(mean)
    }
}

/// A number for each sample taken from all columns.
fn less(mut of: Mat<f64>, each: &[f64]) -> Mat<f64> {
    for d in 0..of.ncols() {
        for (value, x) in of.col_as_slice_mut(d).iter_mut().zip(each) {
            *value -= x;
        }
    }
    of
}

/// Mean of the exponentials of residuals, by which means of logarithms become means of the numbers
/// themselves (Duan 1983).
fn smearing(truth: &[f64], fitted: &[f64]) -> f64 {
    let residuals = truth.iter().zip(fitted).map(|(t, f)| t - f);
    let known: Vec<f64> = residuals.filter(|r| !r.is_nan()).map(f64::exp).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

/// Does a job.
pub(super) fn run(plan: &Plan<'_>, job: &Job, teller: &Teller<'_>) -> Result<Done> {
    let halves = Halves::new(plan, job);
    let mut done = Done::default();
    let targets = halves.targets();
    for (at, method, predicted) in predictions(&halves, &targets, job, (teller, &mut done))? {
        let found = scores(&targets[at], &predicted)?;
        done.add(&targets[at].name, &method, found);
    }
    Ok(done)
}

/// What the methods of a job say of the targets: the place of the target, the method, and that.
fn predictions(
    halves: &Halves<'_>,
    targets: &[Target],
    job: &Job,
    (teller, done): (&Teller<'_>, &mut Done),
) -> Result<Vec<(usize, String, Predicted)>> {
    let plan = halves.plan;
    let mut out = Vec::new();
    match job.what {
        What::Model(m) => {
            let model = &plan.models[m];
            let composed = model.composed.clone().with_data(plan.data.views());
            let fit = teller.fit(plan, job, (halves.seen(), composed), done)?;
            let new = halves.inputs(&halves.test)?;
            for (at, target) in targets.iter().enumerate() {
                out.push((at, model.name.clone(), predicted(&fit, &new, target)?));
            }
        }
        What::TwoSteps(m) => {
            let model = &plan.models[m];
            let seen = halves.inputs(&halves.training)?;
            let new = halves.inputs(&halves.test)?;
            let composed = model.composed.clone().with_data(plan.data.views());
            let composed = without(&composed, &plan.others);
            let fit = teller.fit(plan, job, (seen.clone(), composed), done)?;
            let (targets, known) = halves.known_to(&model.composed, targets)?;
            let factors = |data: &Dataset, samples: &[u32], known: &Mat<f64>| -> Result<Mat<f64>> {
                let own = fit.project(data, &ProjectOptions::default())?.mean;
                Ok(side_by_side(
                    &[own, groups(plan.data, samples), known.clone()],
                    samples.len(),
                ))
            };
            let (x, new) = (
                factors(&seen, &halves.training, &known[0])?,
                factors(&new, &halves.test, &known[1])?,
            );
            for (at, target) in targets.iter().enumerate() {
                let (_, predicted) = halves.regression(target, [&x, &new])?;
                out.push((at, two_steps(&model.name), predicted));
            }
        }
        What::Baselines => {
            teller.tell(plan, job, 0);
            // of several models the first, from which differences are
            let (targets, known) = halves.known_to(&plan.models[0].composed, targets)?;
            let both = [(&halves.training, &known[0]), (&halves.test, &known[1])];
            let [x, new] = both.map(|(samples, known)| {
                let data = halves.part(samples);
                let views = data.views().iter();
                let others = views.filter(|v| plan.others.contains(&v.name()));
                let mut parts: Vec<Mat<f64>> =
                    others.map(|v| columns(v, plan.kind(v.name()))).collect();
                parts.push(groups(plan.data, samples));
                parts.push(known.clone());
                side_by_side(&parts, samples.len())
            });
            let kernels = kernels::of_models(plan)?;
            for (at, target) in targets.iter().enumerate() {
                out.push((at, baselines::MEAN.to_owned(), halves.mean(target)?));
                let (name, predicted) = halves.regression(target, [&x, &new])?;
                out.push((at, name.to_owned(), predicted));
                if let Some(kernels) = kernels.as_ref().filter(|_| target.kind.is_real()) {
                    let y = columns(&target.training, target.kind);
                    let none = Mat::zeros(halves.training.len(), 0);
                    let fold = plan.inner(&halves.training, &none)?;
                    let data = [
                        halves.inputs(&halves.training)?,
                        halves.inputs(&halves.test)?,
                    ];
                    let [seen, new] = [&data[0], &data[1]];
                    let found = kernels::predicted(plan, kernels, [seen, new], (&y, &fold))?;
                    let name = baselines::KERNEL_RIDGE.to_owned();
                    out.push((at, name, Predicted::means(found)));
                }
            }
        }
    }
    Ok(out)
}

/// The same model without the choices of views that it does not see.
fn without(composed: &Composed, keep: &[&str]) -> Composed {
    let Some(spec) = composed.spec() else {
        return Composed::new(Arc::clone(&composed.composer), composed.options.clone());
    };
    let mut spec = spec.clone();
    spec.views.retain(|v| keep.contains(&v.name.as_str()));
    spec.offsets.retain(|v, _| keep.contains(&v.as_str()));
    spec.into()
}

/// What a fit says of a target, in the order of its features; `NaN` of those that it left out.
fn predicted(fit: &Fit, new: &Dataset, target: &Target) -> Result<Predicted> {
    let found = fit.predict(new, &target.name)?;
    let place: Vec<Option<usize>> = (target.columns().iter())
        .map(|name| found.features.iter().position(|f| f == name))
        .collect();
    let ordered = |of: &Mat<f64>| {
        Mat::from_fn(of.nrows(), place.len(), |n, d| {
            place[d].map_or(f64::NAN, |at| of[(n, at)])
        })
    };
    let interval = if target.kind.is_label() {
        None
    } else {
        let (lower, upper) = found.interval(LEVEL)?;
        Some((ordered(&lower), ordered(&upper)))
    };
    let ln_densities = limited::of_fit(target, &found)?;
    Ok(Predicted {
        mean: ordered(&found.mean),
        sd: Some(ordered(&found.sd)),
        interval,
        levels: (found.levels.as_ref()).map(|of| of.probability.iter().map(ordered).collect()),
        ln_densities: ln_densities.as_ref().map(ordered),
    })
}

/// The means of the training samples, or their shares; with an offset those of counts over sizes, or of
/// numbers less what is added to them.
fn mean(target: &Target) -> Result<Predicted> {
    let view = &target.training;
    let rows = target.test.n_samples();
    let offset = target.offset.as_ref().filter(|_| target.takes_offset());
    if target.kind.is_censored() {
        return limited::mean(target, offset);
    }
    if let Some(offset) = offset {
        return Ok(mean_beside(target, offset));
    }
    let known = view.to_values_with_nan();
    let all = |of: Vec<f64>| Mat::from_fn(rows, of.len(), |_, d| of[d]);
    Ok(match target.kind {
        kind if kind.has_classes() => {
            let of = class_frequencies(&view.classes(), view.levels().len())?;
            Predicted::means(all(of))
        }
        kind if kind.is_label() => Predicted::means(all(frequencies(known.as_ref()))),
        kind if kind.is_ordered() => {
            let levels = target.levels;
            let shares = level_frequencies(known.as_ref(), levels);
            let of = |k: usize| all(shares.iter().map(|s| s[k]).collect());
            Predicted {
                levels: Some((0..levels).map(of).collect()),
                ..Predicted::means(all(means(known.as_ref())))
            }
        }
        Domain::Counts { .. } => {
            let means = target.count_means();
            let squares = Mat::from_fn(known.nrows(), known.ncols(), |n, d| {
                (known[(n, d)] - means[d]).powi(2)
            });
            let of = polyview_baselines::means(squares.as_ref());
            Predicted {
                sd: Some(all(of.into_iter().map(f64::sqrt).collect())),
                ..Predicted::means(all(means))
            }
        }
        _ => Predicted::means(all(means(known.as_ref()))),
    })
}

/// As [`mean`], of counts and real numbers beside an offset.
fn mean_beside(target: &Target, [own, of_new]: &[Vec<f64>; 2]) -> Predicted {
    let rows = target.test.n_samples();
    let counts = target.kind.is_count();
    let known = if counts {
        target.training.to_values_with_nan()
    } else {
        target.training.exact().to_values_with_nan()
    };
    if !counts {
        let means = means(less(known, own).as_ref());
        return Predicted::means(Mat::from_fn(rows, means.len(), |n, d| means[d] + of_new[n]));
    }
    let floor = 0.5 / known.nrows().max(1) as f64;
    let (mut mean, mut sd) = (Vec::new(), Vec::new());
    for d in 0..known.ncols() {
        let seen = || (known.col_as_slice(d).iter().zip(own)).filter(|(x, _)| !x.is_nan());
        let sum = seen().fold((0.0, 0.0), |(y, s), (x, o)| (y + x, s + o.exp()));
        let rate = (sum.0 / sum.1).max(floor);
        let squares: f64 = seen().map(|(x, o)| (x / o.exp() - rate).powi(2)).sum();
        mean.push(rate);
        sd.push((squares / seen().count() as f64).sqrt());
    }
    let by_size = |of: &[f64]| Mat::from_fn(rows, of.len(), |n, d| of[d] * of_new[n].exp());
    Predicted {
        sd: Some(by_size(&sd)),
        ..Predicted::means(by_size(&mean))
    }
}

/// A view of some of its samples.
pub(super) fn rows(view: &View, samples: &[u32]) -> View {
    view.subset(view.name().to_owned(), samples)
}

#[cfg(test)]
mod tests;
