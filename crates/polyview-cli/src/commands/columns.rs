//! Columns of predicted labels, levels and times, and what they are called.

use polyview::{PredictedLevels, Prediction};
use polyview_linalg::{Mat, MatRef};

use crate::failure::Outcome;
use crate::written::shortest;

/// Names and cells of columns.
pub(super) type Columns = Vec<(String, Vec<Option<String>>)>;

/// What is added to the name of the column of chosen classes where a class has
/// that name.
pub const CHOSEN: &str = " (class)";
/// The column of scores of a label.
pub const SCORE: &str = "score";
/// How the name of the column of a label's probabilities begins; the word that
/// they are of follows.
pub const PROBABILITY_OF: &str = "probability_of_";
/// What stands between a feature and one of its levels, over the level's probability.
pub const LEVEL: &str = "_probability_of_";

/// What follows a feature over the means of its logarithms.
pub const MEAN_LOG: &str = "_mean_log";
/// What follows the name of a feature where standard deviations of logarithms of times are.
pub const SD_LOG: &str = "_sd_log";
/// What stands between a feature and a time, over the probability that the event comes later.
pub const SURVIVAL: &str = "_survival_at_";

/// The most probable class, then the probability of each.
pub(super) fn class_columns(feature: &str, p: &Prediction) -> Columns {
    let mut name = feature.to_owned();
    while p.features.contains(&name) {
        name.push_str(CHOSEN);
    }
    let chosen = p.classes().into_iter();
    let mut columns = vec![(name, chosen.map(|c| Some(p.features[c].clone())).collect())];
    for (c, class) in p.features.iter().enumerate() {
        let cells = p.mean.col(c).iter().map(|x| Some(shortest(*x))).collect();
        columns.push((class.clone(), cells));
    }
    columns
}

/// Times of their logarithms, to twelve digits: those that were read come out as they were.
pub(super) fn of_logarithms(values: &Mat<f64>) -> Mat<f64> {
    let time = |x: f64| format!("{:.11e}", x.exp()).parse().unwrap_or(f64::NAN);
    Mat::from_fn(values.nrows(), values.ncols(), |n, d| time(values[(n, d)]))
}

/// The median time of each feature, the mean of its logarithm, and the probabilities that the event
/// comes later than these times.
pub(super) fn survival_columns(p: &Prediction, times: &[f64]) -> Outcome<Columns> {
    let median = of_logarithms(&p.median()?);
    let curves = p.survival(times)?;
    let mut columns = Vec::new();
    for (d, feature) in p.features.iter().enumerate() {
        let cell = |x: &f64| (!x.is_nan()).then(|| shortest(*x));
        let cells = |m: &Mat<f64>| m.col(d).iter().map(cell).collect();
        columns.push((feature.clone(), cells(&median)));
        columns.push((format!("{feature}{MEAN_LOG}"), cells(&p.mean)));
        for (time, curve) in times.iter().zip(&curves) {
            let name = format!("{feature}{SURVIVAL}{time}");
            columns.push((name, cells(curve)));
        }
    }
    Ok(columns)
}

/// What a level is called: its word, or its number from 1 on.
pub(super) fn level_name(words: &[String], level: usize) -> String {
    let word = words.get(level - 1).cloned();
    word.unwrap_or_else(|| level.to_string())
}

/// Levels of samples × features by their words.
pub(super) fn worded(features: &[String], levels: &Mat<f64>, words: &[String]) -> Columns {
    let name = |x: &f64| (!x.is_nan()).then(|| level_name(words, *x as usize));
    let column = |d: usize| levels.col(d).iter().map(name).collect();
    let named = features.iter().enumerate();
    named.map(|(d, f)| (f.clone(), column(d))).collect()
}

/// The median level of each feature, and the probability of each level.
pub(super) fn level_columns(
    features: &[String],
    levels: &PredictedLevels,
    words: &[String],
) -> Columns {
    let median = levels.median();
    let mut columns = Vec::new();
    for (d, feature) in features.iter().enumerate() {
        let name = |x: &f64| (!x.is_nan()).then(|| level_name(words, *x as usize));
        columns.push((feature.clone(), median.col(d).iter().map(name).collect()));
        for (k, p) in levels.probability.iter().enumerate() {
            let cell = |x: &f64| (!x.is_nan()).then(|| shortest(*x));
            let level = level_name(words, k + 1);
            let cells = p.col(d).iter().map(cell).collect();
            columns.push((format!("{feature}{LEVEL}{level}"), cells));
        }
    }
    columns
}

/// The more probable of two labels, the score, and the probability of the second
/// label, which a positive score stands for.
pub(super) fn label_columns(feature: &str, labels: &[String; 2], p: &Prediction) -> Columns {
    let probability = p.mean.col(0);
    let chosen = |p: &f64| Some(labels[usize::from(*p > 0.5)].clone());
    let numbers = |m: MatRef<'_, f64>| m.col(0).iter().map(|x| Some(shortest(*x))).collect();
    let mut columns = vec![(feature.to_owned(), probability.iter().map(chosen).collect())];
    if let Some(score) = &p.score {
        columns.push((SCORE.to_owned(), numbers(score.as_ref())));
    }
    let name = format!("{PROBABILITY_OF}{}", labels[1]);
    columns.push((name, numbers(p.mean.as_ref())));
    for j in 1..columns.len() {
        while columns[j].0 == columns[0].0 {
            columns[0].0.push_str(CHOSEN);
        }
    }
    columns
}
