//! Scores over all folds and repeats.

use std::collections::HashMap;

use super::{CrossValidateRow, CrossValidateScore, CrossValidateSummary};

/// Means and standard errors by target, method and score, in the order in which they come; differences
/// are from the method `first`. Folds weigh as much as there was to explain in them where that is known, so that
/// a mean R² is $1-\sum(x-\hat x)^2/\sum(x-\bar x)^2$ over all of them, however few samples one has.
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
    let to_explain = ToExplain::of(rows);
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
            let weights = to_explain.weights(own);
            let of_fold = |(row, weight): (&&CrossValidateRow, &f64)| {
                let same = base?
                    .iter()
                    .find(|b| (b.repeat, b.fold) == (row.repeat, row.fold));
                same.map(|b| (row.value - b.value, *weight))
            };
            let own = || own.iter().zip(&weights);
            let values: Vec<(f64, f64)> = own().map(|(r, w)| (r.value, *w)).collect();
            let differences: Vec<(f64, f64)> = own().filter_map(of_fold).collect();
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

/// The score of which a share explained is one less a ratio.
fn errors_of(score: CrossValidateScore) -> Option<CrossValidateScore> {
    match score {
        CrossValidateScore::R2 => Some(CrossValidateScore::MeanSquaredError),
        CrossValidateScore::DevianceExplained => Some(CrossValidateScore::Deviance),
        _ => None,
    }
}

/// A fold of a repeat, a target, and a share explained of it.
type Place<'a> = (usize, usize, &'a str, CrossValidateScore);

/// What there was to explain in each fold, as any method says that left something of it.
struct ToExplain<'a>(HashMap<Place<'a>, f64>);

impl<'a> ToExplain<'a> {
    fn of(rows: &'a [CrossValidateRow]) -> Self {
        let errors: HashMap<(Place<'_>, &str), f64> = (rows.iter())
            .map(|r| ((place(r), r.method.as_str()), r.value * r.cells as f64))
            .collect();
        let mut all = HashMap::new();
        for row in rows {
            let Some(score) = errors_of(row.score) else {
                continue;
            };
            let (repeat, fold, target, _) = place(row);
            let errors = errors.get(&((repeat, fold, target, score), row.method.as_str()));
            let to_explain = errors.map(|e| e / (1.0 - row.value));
            if let Some(own) = to_explain.filter(|x| x.is_finite() && *x > 0.0) {
                all.entry(place(row)).or_insert(own);
            }
        }
        Self(all)
    }
    /// That of the fold of each of these rows; 1 for all where it is not known of all.
    fn weights(&self, own: &[&CrossValidateRow]) -> Vec<f64> {
        let known: Option<Vec<f64>> = (own.iter())
            .map(|r| self.0.get(&place(r)).copied())
            .collect();
        known.unwrap_or_else(|| vec![1.0; own.len()])
    }
}

fn place(row: &CrossValidateRow) -> Place<'_> {
    (row.repeat, row.fold, &row.target, row.score)
}

/// Mean of values with their weights, and its standard error over so many folds, however often they were repeated.
fn mean_and_error(x: &[(f64, f64)], folds: usize) -> (f64, f64) {
    let n = x.len() as f64;
    let all = x.iter().map(|(_, w)| w).sum::<f64>() / n;
    let mean = x.iter().map(|(v, w)| v * w).sum::<f64>() / (n * all);
    if x.len() < 2 {
        return (mean, f64::NAN);
    }
    // values of repeats are no further samples: their number takes nothing from the variance of one
    let squares: f64 = (x.iter().map(|(v, w)| (w / all * (v - mean)).powi(2))).sum();
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

    /// Three folds of two, two and one sample; of the one that is alone next to nothing was to explain.
    #[test]
    fn shares_explained_are_of_all_folds_together() {
        let of = |method: &str, score, values: [f64; 3]| -> Vec<CrossValidateRow> {
            let row = |(f, value): (usize, f64)| CrossValidateRow {
                repeat: 1,
                fold: f + 1,
                target: "y".to_owned(),
                method: method.to_owned(),
                score,
                value,
                cells: [2, 2, 1][f],
            };
            values.into_iter().enumerate().map(row).collect()
        };
        // squares to explain: 8, 12 and 0.1
        let rows = [
            of("m", CrossValidateScore::R2, [0.75, 1.0, -9.0]),
            of("m", CrossValidateScore::MeanSquaredError, [1.0, 0.0, 1.0]),
            of("mean", CrossValidateScore::R2, [0.0, 0.0, 0.0]),
            of(
                "mean",
                CrossValidateScore::MeanSquaredError,
                [4.0, 6.0, 0.1],
            ),
        ]
        .concat();
        let found = summed_up(&rows, "m", 3);
        let r2 = 1.0 - 3.0 / 20.1;
        assert!((found[0].mean - r2).abs() < 1e-12, "{}", found[0].mean);
        assert!(found[0].standard_error < 0.2);
        // errors of samples are means over folds
        assert!((found[1].mean - 2.0 / 3.0).abs() < 1e-12);
        assert!((found[2].difference + r2).abs() < 1e-12);
        // where nobody says what there was to explain, folds count alike
        let alone = summed_up(&rows[..3], "m", 3);
        assert!((alone[0].mean + 7.25 / 3.0).abs() < 1e-12);
    }
}
