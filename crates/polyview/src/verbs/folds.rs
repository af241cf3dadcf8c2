//! Folds that follow the names of samples, not their places: the same for tables in any order.

use std::collections::HashMap;

use polyview_baselines::{grouped, stratified};
use polyview_core::{DataError, Metadata, MetadataValues, by_name};
use polyview_linalg::Mat;

use crate::error::{ErrorKind, Result};

/// The fold of each sample, by [`stratified`], or where samples are in groups by [`grouped`], which
/// both look at the samples in the order of their names. `labels` are samples × labels.
///
/// # Errors
/// As they.
pub(super) fn folds_by_name(
    samples: &[String],
    groups: Option<&[usize]>,
    labels: &Mat<f64>,
    (folds, seed): (usize, u64),
) -> Result<Vec<usize>> {
    let order = by_name(samples);
    let labels = Mat::from_fn(order.len(), labels.ncols(), |i, d| labels[(order[i], d)]);
    let found = match groups {
        None => stratified(labels.as_ref(), folds, seed)?,
        Some(groups) => {
            let groups: Vec<usize> = order.iter().map(|n| groups[*n]).collect();
            grouped(&groups, labels.as_ref(), folds, seed)?
        }
    };
    let mut out = vec![0; order.len()];
    for (n, fold) in order.into_iter().zip(found) {
        out[n] = fold;
    }
    Ok(out)
}

/// Numbers of the groups of samples that are kept together: those with one value of this column, in the order in which samples meet
/// them.
///
/// # Errors
/// [`ErrorKind::UnknownMetadata`] for no such column, [`DataError::NoGroup`] for a sample without a value there.
pub(crate) fn kept_together(
    samples: &[String],
    metadata: &[Metadata],
    column: &str,
) -> Result<Vec<usize>> {
    let Some(found) = metadata.iter().find(|m| m.name == column) else {
        return Err(ErrorKind::UnknownMetadata {
            column: column.to_owned(),
            known: metadata.iter().map(|m| m.name.clone()).collect(),
        }
        .into());
    };
    let words: Vec<Option<String>> = match &found.values {
        MetadataValues::Categories(v) => v.clone(),
        MetadataValues::Numbers(v) => (v.iter())
            .map(|x| x.is_finite().then(|| x.to_string()))
            .collect(),
    };
    let mut number: HashMap<String, usize> = HashMap::new();
    (words.into_iter().zip(samples))
        .map(|(word, sample)| {
            let Some(word) = word else {
                let sample = sample.clone();
                return Err(DataError::NoGroup { sample }.into());
            };
            let next = number.len();
            Ok(*number.entry(word).or_insert(next))
        })
        .collect()
}

/// Folds by the order in which samples meet them: equal where the samples are parted in the same way.
pub(super) fn numbered_anew(folds: &[usize]) -> Vec<usize> {
    let mut number: Vec<Option<usize>> = vec![None; folds.iter().max().map_or(0, |f| f + 1)];
    let mut next = 0;
    let mut of = |fold: usize| {
        *number[fold].get_or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    folds.iter().map(|f| of(*f)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_the_same_whatever_the_order_of_the_rows() {
        let samples: Vec<String> = (0..30).map(|n| format!("s{:02}", (n * 7) % 30)).collect();
        let label = |s: &String| f64::from(u8::from(s.as_str() < "s08"));
        let of = |samples: &[String], groups: bool| {
            let labels = Mat::from_fn(samples.len(), 1, |n, _| label(&samples[n]));
            let group = |s: &String| s[2..].parse::<usize>().unwrap() % 7;
            let own: Vec<usize> = samples.iter().map(group).collect();
            let folds = folds_by_name(samples, groups.then_some(&own), &labels, (4, 3)).unwrap();
            let mut named: Vec<(String, usize)> = samples.iter().cloned().zip(folds).collect();
            named.sort();
            named
        };
        let turned: Vec<String> = samples.iter().rev().cloned().collect();
        for groups in [false, true] {
            let first = of(&samples, groups);
            assert_eq!(first, of(&turned, groups));
            assert!((0..4).all(|f| first.iter().filter(|s| s.1 == f).count() > 3));
        }
    }
}
