//! Scores over all folds and repeats.

use super::{CrossValidateRow, CrossValidateScore, CrossValidateSummary};

/// Means and standard errors by target, method and score, in the order in which they come; differences
/// are from the method `first`.
pub(super) fn summed_up(
    rows: &[CrossValidateRow],
    first: &str,
    folds: usize,
) -> Vec<CrossValidateSummary> {
    let mut all: Vec<(Key<'_>, Vec<&CrossValidateRow>)> = Vec::new();
    for row in rows {
        let key = Key::of(row);
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(row),
            None => all.push((key, vec![row])),
        }
    }
    // by target, then by method, each in order of first appearance
    let appearance = |of: &dyn Fn(&Key<'_>) -> String, key: &Key<'_>| {
        all.iter().position(|(k, _)| of(k) == of(key))
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&i| {
        let key = &all[i].0;
        let target = appearance(&|k| k.target.to_owned(), key);
        let method = appearance(&|k| k.method.to_owned(), key);
        (target, method, i)
    });
    order
        .into_iter()
        .map(|i| {
            let (key, own) = &all[i];
            let base = Key {
                method: first,
                ..*key
            };
            let base = all.iter().find(|(k, _)| *k == base).map(|(_, rows)| rows);
            let of_fold = |row: &CrossValidateRow| {
                let same = base?
                    .iter()
                    .find(|b| (b.repeat, b.fold) == (row.repeat, row.fold));
                same.map(|b| row.value - b.value)
            };
            let values: Vec<f64> = own.iter().map(|r| r.value).collect();
            let differences: Vec<f64> = own.iter().filter_map(|r| of_fold(r)).collect();
            let (mean, standard_error) = mean_and_error(&values, folds);
            let (difference, difference_error) = mean_and_error(&differences, folds);
            CrossValidateSummary {
                target: key.target.to_owned(),
                method: key.method.to_owned(),
                score: key.score,
                mean,
                standard_error,
                difference,
                difference_error,
                values: values.len(),
            }
        })
        .collect()
}

/// What a mean is of.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key<'a> {
    target: &'a str,
    method: &'a str,
    score: CrossValidateScore,
}

impl<'a> Key<'a> {
    fn of(row: &'a CrossValidateRow) -> Self {
        Self {
            target: &row.target,
            method: &row.method,
            score: row.score,
        }
    }
}

/// Mean, and its standard error over so many folds, however often they were repeated.
fn mean_and_error(x: &[f64], folds: usize) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    if x.len() < 2 {
        return (mean, f64::NAN);
    }
    // values of repeats are no further samples: their number takes nothing from the variance of one
    let squares: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    let folds = n.min(folds.max(2) as f64);
    (mean, (squares / n / (folds - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_do_not_make_more_samples_and_differences_are_paired() {
        let values = [
            ("m", [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]),
            ("b", [[1.5, 2.5, 3.5], [1.5, 2.5, 3.5]]),
        ];
        let mut rows = Vec::new();
        for (method, of) in values {
            for (r, folds) in of.iter().enumerate() {
                for (f, value) in folds.iter().enumerate() {
                    for target in ["y", "z"] {
                        rows.push(CrossValidateRow {
                            repeat: r + 1,
                            fold: f + 1,
                            target: target.to_owned(),
                            method: method.to_owned(),
                            score: CrossValidateScore::R2,
                            value: *value,
                            cells: 4,
                        });
                    }
                }
            }
        }
        let found = summed_up(&rows, "m", 3);
        let named: Vec<_> = found.iter().map(|s| (&*s.target, &*s.method)).collect();
        assert_eq!(named, [("y", "m"), ("y", "b"), ("z", "m"), ("z", "b")]);
        // six values of variance 2/3, three folds: that of three values
        assert_eq!((found[0].mean, found[0].values), (2.0, 6));
        assert!((found[0].standard_error - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!((found[0].difference, found[0].difference_error), (0.0, 0.0));
        assert_eq!((found[1].difference, found[1].difference_error), (0.5, 0.0));
    }
}
