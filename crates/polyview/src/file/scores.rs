//! Maps of normal scores, in a model file.
//!
//! Three arrays a view: where each feature starts among the values (and where the
//! last ends), the distinct training values of each feature in ascending order,
//! and their scores; in files that say so also how many training values each of them is.

use polyview_core::NormalScores;

use super::container::{Container, Tensor, Values};
use super::fault::Fault;
use super::header::ViewHeader;

const COUNTS: &str = "score-counts";
const PARTS: [&str; 3] = ["score-starts", "score-values", "score-scores"];

/// Adds the arrays of a view.
pub(super) fn push_scores<'a>(tensors: &mut Vec<Tensor<'a>>, view: &str, of: &'a NormalScores) {
    let (starts, values, scores) = of.parts();
    let starts: Vec<f64> = starts.iter().map(|&s| s as f64).collect();
    let parts = [starts.into(), values.into(), scores.into()];
    for (name, values) in PARTS.iter().zip(parts) {
        tensors.push(Tensor::new(
            format!("{name}/{view}"),
            Values::Vector(values),
        ));
    }
    if !of.counts().is_empty() {
        let counts: Vec<f64> = of.counts().iter().map(|c| f64::from(*c)).collect();
        let values = Values::Vector(counts.into());
        tensors.push(Tensor::new(format!("{COUNTS}/{view}"), values));
    }
}

/// That of a view.
pub(super) fn take_scores(
    view: &ViewHeader,
    file: &mut Container<'_>,
) -> Result<NormalScores, Fault> {
    let [starts_at, values_at, scores_at] = PARTS.map(|p| format!("{p}/{}", view.name));
    let starts = file
        .take(&starts_at)?
        .numbers(&starts_at, &[view.features.len() + 1])?;
    let whole = |x: &f64| *x >= 0.0 && *x < 1e15 && x.fract() == 0.0;
    if !starts.iter().all(whole) {
        return Err(Fault::values(&starts_at, "holds a value that is no place"));
    }
    let starts = starts.into_iter().map(|x| x as usize).collect();
    let values = file.take(&values_at)?.to_array(&values_at)?.values;
    let scores = file.take(&scores_at)?.to_array(&scores_at)?.values;
    let counts = if view.score_counts {
        let name = format!("{COUNTS}/{}", view.name);
        let counts = file.take(&name)?.numbers(&name, &[values.len()])?;
        let number = |x: &f64| *x >= 1.0 && *x < 4e9 && x.fract() == 0.0;
        if !counts.iter().all(number) {
            return Err(Fault::values(
                &name,
                "holds a value that is no number of values",
            ));
        }
        Some(counts.into_iter().map(|x| x as u32).collect())
    } else {
        None
    };
    NormalScores::from_parts(starts, values, scores, counts)
        .ok_or_else(|| Fault::values(&values_at, "does not make a map to normal scores"))
}
