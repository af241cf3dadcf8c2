//! Means of the training values within groups of samples.

use std::collections::HashMap;

use polyview_linalg::Mat;

use super::join::{Cells, Read};
use crate::args::{Cli, ScoreArgs};
use crate::failure::{Failure, Outcome};
use crate::inputs::{about_samples, group_names};
use crate::remarks::say;

/// The mean of each column over the training samples of each sample's group, samples × columns;
/// `NaN` where the group has no training value, so that the cell is left out.
///
/// # Errors
/// When the metadata lack the column, or a sample that is scored.
pub(super) fn levels(
    cli: &Cli,
    args: &ScoreArgs,
    column: &str,
    training: &Read,
    c: &Cells,
) -> Outcome<Mat<f64>> {
    let Some(path) = &args.metadata else {
        return Err(Failure::Usage("--groups needs --metadata".into()));
    };
    let columns = about_samples(cli, path, &args.format.options())?;
    let Some((ids, names)) = columns.iter().find(|(_, c)| c.name == column) else {
        let known: Vec<&str> = columns.iter().map(|c| c.1.name.as_str()).collect();
        return Err(Failure::Usage(format!(
            "--groups {column}: '{}' has no such column; it has {}",
            path.display(),
            known.join(", ")
        )));
    };
    let of: HashMap<&String, String> = (ids.iter().zip(group_names(names)))
        .filter_map(|(id, group)| Some((id, group?)))
        .collect();
    let features = training.table.features.iter().enumerate();
    let place: HashMap<&String, usize> = features.map(|(d, f)| (f, d)).collect();
    let mut sums: HashMap<(&str, usize), (f64, f64)> = HashMap::new();
    let mut unknown: Vec<&String> = Vec::new();
    for (n, sample) in training.table.samples.iter().enumerate() {
        let Some(group) = of.get(sample) else {
            unknown.push(sample);
            continue;
        };
        for (j, name) in c.columns.iter().enumerate() {
            let x = place
                .get(name)
                .map_or(f64::NAN, |&d| training.table.values[(n, d)]);
            if !x.is_nan() {
                let sum = sums.entry((group.as_str(), j)).or_default();
                *sum = (sum.0 + 1.0, sum.1 + x);
            }
        }
    }
    if let Some(first) = unknown.first() {
        say(
            cli,
            format!(
                "note: {} of {} training sample(s), first '{first}', have no group in {}, and count in no mean: \
                 give one table with the groups of all samples",
                unknown.len(),
                training.table.samples.len(),
                path.display()
            ),
        );
    }
    let mut out = Mat::zeros(c.samples.len(), c.columns.len());
    let mut left_out = 0;
    for (n, sample) in c.samples.iter().enumerate() {
        let Some(group) = of.get(sample) else {
            return Err(Failure::Usage(format!(
                "--groups {column}: sample '{sample}' has no group in {}; give it one, or leave it out",
                path.display()
            )));
        };
        for j in 0..c.columns.len() {
            let mean = sums
                .get(&(group.as_str(), j))
                .map(|(count, sum)| sum / count);
            left_out += usize::from(mean.is_none() && !c.truth[(n, j)].is_nan());
            out[(n, j)] = mean.unwrap_or(f64::NAN);
        }
    }
    if left_out > 0 {
        say(
            cli,
            format!(
                "note: {left_out} value(s) were not scored: their group has no training value of the column"
            ),
        );
    }
    Ok(out)
}
