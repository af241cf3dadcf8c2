//! Folds in which every label keeps its share.

use polyview_linalg::{Mat, MatRef};
use polyview_random::{StreamKey, uniform_open01};

/// The fold of each sample, 0 to `folds` − 1, by iterative stratification
/// (Sechidis, Tsoumakas and Vlahavas 2011): the rarest label first, each of
/// its samples to the fold that wants most of them.
pub fn stratified(labels: MatRef<'_, f64>, folds: usize, seed: u64) -> Vec<usize> {
    let (n, c) = (labels.nrows(), labels.ncols());
    let mut rng = StreamKey::new(seed).rng();
    // samples in random order
    let mut left: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let j = (uniform_open01(&mut rng) * (i + 1) as f64) as usize;
        left.swap(i, j.min(i));
    }
    let share = 1.0 / folds as f64;
    let mut wants = vec![n as f64 * share; folds];
    let mut wants_of = Mat::from_fn(folds, c, |_, d| {
        (0..n).filter(|&r| labels[(r, d)] == 1.0).count() as f64 * share
    });
    let mut fold = vec![0; n];
    while !left.is_empty() {
        let rarest = (0..c)
            .map(|d| (left.iter().filter(|&&r| labels[(r, d)] == 1.0).count(), d))
            .filter(|(count, _)| *count > 0)
            .min();
        let (now, later): (Vec<usize>, Vec<usize>) = left
            .iter()
            .partition(|&&r| rarest.is_none_or(|(_, d)| labels[(r, d)] == 1.0));
        for r in now {
            let best = (0..folds).fold(0, |best, f| {
                let of_label = |f: usize| rarest.map_or(0.0, |(_, d)| wants_of[(f, d)]);
                let (a, b) = ((of_label(f), wants[f]), (of_label(best), wants[best]));
                if a > b { f } else { best }
            });
            fold[r] = best;
            wants[best] -= 1.0;
            for d in 0..c {
                wants_of[(best, d)] -= labels[(r, d)];
            }
        }
        left = later;
    }
    fold
}

/// The samples inside and outside a fold.
pub fn parts(fold: &[usize], which: usize) -> (Vec<usize>, Vec<usize>) {
    (0..fold.len()).partition(|&n| fold[n] == which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fold_has_its_share_of_every_label() {
        let mut rng = StreamKey::new(5).rng();
        let labels = Mat::from_fn(203, 4, |_, d| {
            f64::from(u8::from(
                uniform_open01(&mut rng) < [0.05, 0.2, 0.5, 0.8][d],
            ))
        });
        let fold = stratified(labels.as_ref(), 5, 1);
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
    }
}
