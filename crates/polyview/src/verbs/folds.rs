//! Folds that follow the names of samples, not their places: the same for tables in any order.

use polyview_baselines::{grouped, stratified};
use polyview_core::by_name;
use polyview_linalg::Mat;

use crate::error::Result;

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
