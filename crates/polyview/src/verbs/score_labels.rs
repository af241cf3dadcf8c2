//! Scores of held-out labels.

use polyview_core::{Ask, Domain, Law, UnknownClass, View};

use super::laws::Laws;
use super::own_units::Squares;
use super::score::{HeldOut, HeldOutPairs, LEVEL, PAIRS, PROBABILITIES};
use super::score_cells::{Cell, LEAST_LN};
use crate::error::Result;
use crate::fit::ViewInfo;
use crate::metrics::{self, Average, Confusion};

/// One held-out class.
pub(super) struct HeldOutClass {
    sample: usize,
    class: usize,
    /// Predicted probabilities.
    probability: Vec<f64>,
}

/// What the score of numbers becomes for zeros and ones.
pub(super) fn labels_scored(mut score: HeldOut, cells: &[Cell]) -> HeldOut {
    let truth: Vec<Option<usize>> = (cells.iter())
        .map(|c| Some(usize::from(c.value > 0.5)))
        .collect();
    let said: Vec<usize> = cells
        .iter()
        .map(|c| usize::from(c.said.mean > 0.5))
        .collect();
    score.accuracy = accuracy(&truth, &said, 2);
    // cells lie feature by feature
    let by_label = cells.chunk_by(|a, b| a.feature == b.feature).map(|label| {
        let truth: Vec<bool> = label.iter().map(|c| c.value > 0.5).collect();
        let predicted: Vec<f64> = label.iter().map(|c| c.said.mean).collect();
        let ones = truth.iter().filter(|t| **t).count() as f64;
        (metrics::auc(&truth, &predicted).ok().flatten(), ones)
    });
    score.auc = average(by_label);
    score.coverage = f64::NAN;
    score.width = f64::NAN;
    score.pairs.lower.clear();
    score.pairs.upper.clear();
    score
}

/// The average area over the labels, or classes, that have one, by their ones; `NaN` where
/// none has.
fn average(areas: impl Iterator<Item = (Option<f64>, f64)>) -> f64 {
    (Average::of(areas).over_defined).unwrap_or(f64::NAN)
}

/// Share of what is right; `NaN` without any.
fn accuracy(truth: &[Option<usize>], said: &[usize], classes: usize) -> f64 {
    let confusion = Confusion::new(truth, said, classes).ok();
    (confusion.and_then(|c| c.accuracy())).unwrap_or(f64::NAN)
}

/// The held-out classes of one view, in the codes of the model.
pub(super) fn held_out_classes(
    info: &ViewInfo,
    truth: &View,
    rows: &[Option<usize>],
    training: &View,
) -> Result<Vec<HeldOutClass>> {
    let truth = truth.relevel(&info.levels, UnknownClass::Error)?.view;
    let mut out: Vec<HeldOutClass> = truth
        .classes()
        .iter()
        .zip(rows)
        .filter_map(|(class, sample)| {
            let (class, sample) = ((*class)?, (*sample)?);
            (!training.is_observed(sample, 0)).then(|| HeldOutClass {
                sample,
                class,
                probability: vec![0.0; info.levels.len()],
            })
        })
        .collect();
    out.sort_by_key(|c| c.sample);
    Ok(out)
}

/// Says of each class what is predicted.
pub(super) fn predict_classes(laws: &Laws, held_out: &mut [HeldOutClass]) {
    for c in held_out {
        let law = laws.block(c.sample..c.sample + 1, 0..1);
        for (class, p) in c.probability.iter_mut().enumerate() {
            law.fill(Ask::Level(class), 0, &[], std::slice::from_mut(p));
        }
    }
}

/// The score of the held-out classes of one view.
pub(super) fn classes_scored(
    info: &ViewInfo,
    held_out: &[HeldOutClass],
    training: &View,
) -> HeldOut {
    let count = held_out.len() as f64;
    let known = training.classes();
    let observed = known.iter().flatten().count().max(1) as f64;
    let share: Vec<f64> = (0..info.levels.len())
        .map(|k| known.iter().flatten().filter(|c| **c == k).count() as f64 / observed)
        .collect();
    let distance = |c: &HeldOutClass, p: &[f64]| -> f64 {
        p.iter()
            .enumerate()
            .map(|(k, p)| (f64::from(u8::from(k == c.class)) - p).powi(2))
            .sum()
    };
    let best = |c: &HeldOutClass| -> usize {
        (1..c.probability.len()).fold(0, |b, k| {
            if c.probability[k] > c.probability[b] {
                k
            } else {
                b
            }
        })
    };
    let errors: f64 = held_out.iter().map(|c| distance(c, &c.probability)).sum();
    let scatter: f64 = held_out.iter().map(|c| distance(c, &share)).sum();
    let density: f64 = held_out.iter().map(|c| c.probability[c.class].ln()).sum();
    let robust = held_out.iter().map(|c| c.probability[c.class].ln());
    let robust = robust.map(|x| x.max(LEAST_LN)).collect();
    let truth: Vec<Option<usize>> = held_out.iter().map(|c| Some(c.class)).collect();
    let said: Vec<usize> = held_out.iter().map(best).collect();
    let accuracy = accuracy(&truth, &said, info.levels.len());
    let by_class = (0..info.levels.len()).map(|k| {
        let truth: Vec<bool> = held_out.iter().map(|c| c.class == k).collect();
        let predicted: Vec<f64> = held_out.iter().map(|c| c.probability[k]).collect();
        let members = truth.iter().filter(|t| **t).count() as f64;
        (metrics::auc(&truth, &predicted).ok().flatten(), members)
    });
    let auc = average(by_class);
    let mut pairs = HeldOutPairs::default();
    let most = (PROBABILITIES / info.levels.len().max(1)).clamp(1, PAIRS);
    for c in held_out.iter().step_by(held_out.len().div_ceil(most)) {
        pairs.feature.push(0);
        pairs.probability.push(c.probability.clone());
        pairs.truth.push(c.class as f64);
        pairs.predicted.push(best(c) as f64);
    }
    HeldOut {
        levels: None,
        view: info.name.clone(),
        kind: Domain::CLASSES,
        cells: held_out.len(),
        limits: 0,
        r2: metrics::explained(errors, scatter).unwrap_or(f64::NAN),
        rmse: (errors / count).sqrt(),
        log_density: density / count,
        level: LEVEL,
        coverage: f64::NAN,
        width: f64::NAN,
        deviance: f64::NAN,
        deviance_explained: f64::NAN,
        gain: f64::NAN,
        accuracy,
        auc,
        pairs,
        notes: Vec::new(),
        robust,
        own_units: Squares::default(),
    }
}
