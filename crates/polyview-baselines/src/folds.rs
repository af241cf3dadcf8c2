//! Folds in which every label keeps its share, and folds that keep groups of samples together.

use polyview_linalg::{Mat, MatRef};
use polyview_random::{StreamKey, uniform_open01};

use crate::BaselineError;
use crate::error::same;

/// The fold of each sample, 0 to `folds` − 1, by iterative stratification
/// (Sechidis, Tsoumakas and Vlahavas 2011): the rarest label first, each of
/// its samples to the fold that wants most of them.
///
/// `labels` are samples × labels; 1 says that a sample has the label, anything else that it has not. Without labels (no
/// columns) folds are random and of equal size to one sample.
///
/// # Errors
/// [`BaselineError::Folds`] for no folds, or more than samples.
pub fn stratified(
    labels: MatRef<'_, f64>,
    folds: usize,
    seed: u64,
) -> Result<Vec<usize>, BaselineError> {
    let (n, c) = (labels.nrows(), labels.ncols());
    check(folds, "samples", n)?;
    let has = |r: usize, d: usize| labels[(r, d)] == 1.0;
    let mut left = shuffled(n, seed);
    let share = 1.0 / folds as f64;
    let mut wants = vec![n as f64 * share; folds];
    let mut wants_of = Mat::from_fn(folds, c, |_, d| {
        (0..n).filter(|&r| has(r, d)).count() as f64 * share
    });
    let mut fold = vec![0; n];
    while !left.is_empty() {
        let rarest = (0..c)
            .map(|d| (left.iter().filter(|&&r| has(r, d)).count(), d))
            .filter(|(count, _)| *count > 0)
            .min();
        let (now, later): (Vec<usize>, Vec<usize>) = left
            .iter()
            .partition(|&&r| rarest.is_none_or(|(_, d)| has(r, d)));
        for r in now {
            let best = (0..folds).fold(0, |best, f| {
                let of_label = |f: usize| rarest.map_or(0.0, |(_, d)| wants_of[(f, d)]);
                let (a, b) = ((of_label(f), wants[f]), (of_label(best), wants[best]));
                if a > b { f } else { best }
            });
            fold[r] = best;
            wants[best] -= 1.0;
            for d in 0..c {
                wants_of[(best, d)] -= f64::from(u8::from(has(r, d)));
            }
        }
        left = later;
    }
    Ok(fold)
}

/// The fold of each sample, 0 to `folds` − 1, all samples of a group in one: the groups in order of size, largest first
/// (equal ones at random), each to the fold that brings sizes and shares of labels closest to equal ones. What is as close
/// as can be for whole groups may be far from equal where groups are large.
///
/// `groups` has a number for each sample; `labels` are as in [`stratified`].
///
/// # Errors
/// [`BaselineError::Shape`] unless there is a group for each sample; [`BaselineError::Folds`] for no folds, or more than
/// groups.
pub fn grouped(
    groups: &[usize],
    labels: MatRef<'_, f64>,
    folds: usize,
    seed: u64,
) -> Result<Vec<usize>, BaselineError> {
    let (n, c) = (labels.nrows(), labels.ncols());
    same("groups of samples", n, groups.len())?;
    // in random order of their first sample
    let mut names: Vec<usize> = Vec::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for r in shuffled(n, seed) {
        if let Some(at) = names.iter().position(|g| *g == groups[r]) {
            members[at].push(r);
        } else {
            names.push(groups[r]);
            members.push(vec![r]);
        }
    }
    check(folds, "groups", members.len())?;
    members.sort_by_key(|m| std::cmp::Reverse(m.len()));
    // of samples, and of those with each label
    let counts = |rows: &[usize]| -> Vec<f64> {
        let of = |d: usize| rows.iter().filter(|&&r| labels[(r, d)] == 1.0).count() as f64;
        std::iter::once(rows.len() as f64)
            .chain((0..c).map(of))
            .collect()
    };
    let all = counts(&(0..n).collect::<Vec<_>>());
    let mut filled = vec![vec![0.0; c + 1]; folds];
    let mut fold = vec![0; n];
    let mut waiting = members.len();
    for rows in &members {
        let own = counts(rows);
        let further = |f: usize| -> f64 {
            let distance = |x: f64, all: f64| (x / all - 1.0 / folds as f64).powi(2);
            (0..=c)
                .filter(|&i| all[i] > 0.0)
                .map(|i| distance(filled[f][i] + own[i], all[i]) - distance(filled[f][i], all[i]))
                .sum()
        };
        // no fold stays empty: the last groups go to those that are
        let empty = filled.iter().filter(|f| f[0] == 0.0).count();
        let open = |f: &usize| waiting > empty || filled[*f][0] == 0.0;
        let mut best: Option<(f64, usize)> = None;
        for f in (0..folds).filter(open) {
            let by = further(f);
            if best.is_none_or(|(least, _)| by < least) {
                best = Some((by, f));
            }
        }
        let best = best.map_or(0, |(_, f)| f);
        for (to, own) in filled[best].iter_mut().zip(own) {
            *to += own;
        }
        for &r in rows {
            fold[r] = best;
        }
        waiting -= 1;
    }
    Ok(fold)
}

/// The samples inside and outside a fold.
pub fn parts(fold: &[usize], which: usize) -> (Vec<usize>, Vec<usize>) {
    (0..fold.len()).partition(|&n| fold[n] == which)
}

fn check(folds: usize, what: &'static str, of: usize) -> Result<(), BaselineError> {
    if folds == 0 || folds > of {
        return Err(BaselineError::Folds { folds, what, of });
    }
    Ok(())
}

/// Numbers below `n` in random order.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut rng = StreamKey::new(seed).rng();
    let mut out: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let j = (uniform_open01(&mut rng) * (i + 1) as f64) as usize;
        out.swap(i, j.min(i));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(n: usize) -> Mat<f64> {
        let mut rng = StreamKey::new(5).rng();
        Mat::from_fn(n, 4, |_, d| {
            f64::from(u8::from(
                uniform_open01(&mut rng) < [0.05, 0.2, 0.5, 0.8][d],
            ))
        })
    }

    #[test]
    fn every_fold_has_its_share_of_every_label() {
        let labels = labels(203);
        let fold = stratified(labels.as_ref(), 5, 1).expect("folds");
        let mut seen = 0;
        for f in 0..5 {
            let (inside, outside) = parts(&fold, f);
            assert_eq!(inside.len() + outside.len(), 203);
            assert!((35..=47).contains(&inside.len()), "{}", inside.len());
            seen += inside.len();
            for d in 0..4 {
                let all = (0..203).filter(|&n| labels[(n, d)] == 1.0).count() as f64;
                let here = inside.iter().filter(|&&n| labels[(n, d)] == 1.0).count() as f64;
                assert!((here - all / 5.0).abs() < 2.0, "label {d}: {here} of {all}");
            }
        }
        assert_eq!(seen, 203);
        let other = stratified(labels.as_ref(), 5, 2).expect("folds");
        assert_ne!(fold, other);
        // missing labels are labels that a sample has not
        let holes = Mat::from_fn(
            203,
            4,
            |n, d| if labels[(n, d)] == 1.0 { 1.0 } else { f64::NAN },
        );
        assert_eq!(stratified(holes.as_ref(), 5, 1).expect("folds"), fold);
    }

    #[test]
    fn groups_stay_together_and_labels_keep_their_shares() {
        let labels = labels(400);
        // of 2 to 14 samples, not one after another
        let groups: Vec<usize> = (0..400).map(|n| 7 + (n * n + n / 3) % 53).collect();
        let fold = grouped(&groups, labels.as_ref(), 5, 1).expect("folds");
        for (n, group) in groups.iter().enumerate() {
            let first = groups.iter().position(|g| g == group).expect("itself");
            assert_eq!(fold[n], fold[first], "group {group}");
        }
        for f in 0..5 {
            let (inside, _) = parts(&fold, f);
            assert!((65..=95).contains(&inside.len()), "{}", inside.len());
            for d in 1..4 {
                let all = (0..400).filter(|&n| labels[(n, d)] == 1.0).count() as f64;
                let here = inside.iter().filter(|&&n| labels[(n, d)] == 1.0).count() as f64;
                assert!(
                    (here / all - 0.2).abs() < 0.05,
                    "label {d}: {here} of {all}"
                );
            }
        }
    }

    #[test]
    fn no_fold_stays_empty() {
        // one group of nearly all samples
        let groups: Vec<usize> = (0..30).map(|n| if n < 4 { n } else { 99 }).collect();
        let fold = grouped(&groups, Mat::zeros(30, 0).as_ref(), 5, 3).expect("folds");
        assert!((0..5).all(|f| fold.contains(&f)), "{fold:?}");
        let bad = grouped(&groups, Mat::zeros(30, 0).as_ref(), 6, 3);
        assert!(matches!(
            bad,
            Err(BaselineError::Folds {
                folds: 6,
                what: "groups",
                of: 5
            })
        ));
        let bad = stratified(Mat::zeros(3, 0).as_ref(), 4, 1);
        assert!(matches!(bad, Err(BaselineError::Folds { of: 3, .. })));
        assert!(stratified(Mat::zeros(3, 0).as_ref(), 0, 1).is_err());
    }
}
