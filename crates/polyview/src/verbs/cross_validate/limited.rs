//! Numbers of which limits may be all that is known, scored by the laws that are said of them: exact cells by
//! their log densities, limits by the log probabilities of what lies between them.

use polyview_core::View;
use polyview_linalg::Mat;
use polyview_special::{ln_interval_probability, ln_normal_pdf};

use super::CrossValidateScore as Score;
use super::inputs::limits;
use super::scored::{Predicted, Target};
use super::workers::Scored;
use crate::error::Result;
use crate::verbs::prediction::Prediction;

/// Log density of a cell by a normal law, nats; where limits are all that is known of it, the log probability of
/// what lies between them.
pub(super) fn ln_normal((least, most): (f64, f64), mean: f64, sd: f64) -> f64 {
    let of = |x: f64| (x - mean) / sd;
    if least < most {
        ln_interval_probability(of(least), of(most))
    } else {
        ln_normal_pdf(of(least)) - sd.ln()
    }
}

/// Normal laws about what is predicted of the cells of the fold, with a standard deviation for each feature.
pub(super) fn normal(target: &Target, mean: Mat<f64>, sd: &[f64]) -> Predicted {
    let own = Mat::from_fn(mean.nrows(), mean.ncols(), |n, d| {
        let cell = target.test.interval(n, d);
        cell.map_or(f64::NAN, |cell| ln_normal(cell, mean[(n, d)], sd[d]))
    });
    // of logarithms of times, whose curves are scored; where no law is, neither is a curve
    let curves = target.kind.is_survival() && sd.iter().all(|sd| sd.is_finite());
    let spread = Mat::from_fn(mean.nrows(), mean.ncols(), |_, d| sd[d]);
    Predicted {
        ln_densities: target.has_limits().then_some(own),
        sd: curves.then_some(spread),
        ..Predicted::means(mean)
    }
}

/// The normal law of each feature under which its cells in a view are most likely, mean and standard deviation. Where no law
/// is, for want of two exact values that differ, limits count as values in the mean, and there is no standard deviation.
pub(super) fn most_likely(view: &View) -> (Vec<f64>, Vec<f64>) {
    let plain = polyview_baselines::means(view.to_values_with_nan().as_ref());
    let of = |(d, plain): (usize, &f64)| view.most_likely_normal(d).unwrap_or((*plain, f64::NAN));
    plain.iter().enumerate().map(of).unzip()
}

/// The normal laws of the features over the training samples; `offset` is what is known to be added to the predictors of the
/// samples of training and of the fold.
pub(super) fn mean(target: &Target, offset: Option<&[Vec<f64>; 2]>) -> Result<Predicted> {
    let view = &target.training;
    let own = |n: usize| offset.map_or(0.0, |[own, _]| own[n]);
    let less = |of: Mat<f64>| Mat::from_fn(of.nrows(), of.ncols(), |n, d| of[(n, d)] - own(n));
    let [lower, upper] = limits(view).map(less);
    // a cell has a value: the end of it that is finite
    let value = |n: usize, d: usize| match lower[(n, d)] {
        x if x.is_infinite() => upper[(n, d)],
        x => x,
    };
    let end = |n: usize, d: usize| match lower[(n, d)] {
        x if x.is_infinite() => x,
        _ => upper[(n, d)],
    };
    let shape = lower.shape();
    let shifted = View::from_values(
        view.name(),
        view.features().to_vec(),
        Mat::from_fn(shape.0, shape.1, value),
    )?;
    let shifted = shifted.with_ends(Mat::from_fn(shape.0, shape.1, end))?;
    let (means, sd) = most_likely(&shifted);
    let of_new = |n: usize| offset.map_or(0.0, |[_, new]| new[n]);
    let said = Mat::from_fn(target.test.n_samples(), means.len(), |n, d| {
        means[d] + of_new(n)
    });
    Ok(normal(target, said, &sd))
}

/// Log densities of the cells of the fold by what a fit says of them, in the order of its features.
pub(super) fn of_fit(target: &Target, found: &Prediction) -> Result<Option<Mat<f64>>> {
    if !target.has_limits() {
        return Ok(None);
    }
    let source: Vec<Option<usize>> = (found.features.iter())
        .map(|name| target.columns().iter().position(|f| f == name))
        .collect();
    let test = (target.test).matched(&target.name, found.features.clone(), &source)?;
    Ok(Some(found.laws.ln_densities_in_data_units(&test)))
}

/// Mean log density of all cells of which something is predicted.
pub(super) fn ln_density(target: &Target, predicted: &Predicted) -> Option<Scored> {
    let own = predicted.ln_densities.as_ref()?;
    let (mut sum, mut count) = (0.0, 0usize);
    for d in 0..own.ncols() {
        for n in 0..own.nrows() {
            if target.test.is_observed(n, d) && predicted.mean[(n, d)].is_finite() {
                sum += own[(n, d)];
                count += 1;
            }
        }
    }
    Some((Score::LogDensity, sum / count as f64, count))
}
