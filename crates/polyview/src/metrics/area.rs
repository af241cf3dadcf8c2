//! Area under the receiver operating characteristic (spec/sshiba 6.1).

use polyview_linalg::MatRef;

use super::{Average, MetricError, finite, known, same_length};

/// The probability that a positive sample scores above a negative one, a tie
/// counting one half; `None` unless there are both.
///
/// # Errors
/// [`MetricError::LengthMismatch`], [`MetricError::BadValue`] for a score that
/// is not finite.
pub fn auc(truth: &[bool], scores: &[f64]) -> Result<Option<f64>, MetricError> {
    same_length("scores", truth.len(), scores.len())?;
    let mut ranked = Vec::with_capacity(truth.len());
    for (n, (&t, &s)) in truth.iter().zip(scores).enumerate() {
        ranked.push((finite("score", s, n, 0)?, t));
    }
    Ok(area(ranked))
}

/// From scores and labels, by ranks.
fn area(mut ranked: Vec<(f64, bool)>) -> Option<f64> {
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut negatives, mut twice) = (0.0, 0.0);
    // not by total order: 0 and −0 tie
    for ties in ranked.chunk_by(|a, b| a.0 == b.0) {
        let positive = ties.iter().filter(|t| t.1).count() as f64;
        let negative = ties.len() as f64 - positive;
        twice += positive * (2.0 * negatives + negative);
        negatives += negative;
    }
    let positives = ranked.len() as f64 - negatives;
    (positives > 0.0 && negatives > 0.0).then(|| twice / (2.0 * positives * negatives))
}

/// The area of one label or class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelAuc {
    /// Samples that have it.
    pub positives: usize,
    /// Samples that have it not.
    pub negatives: usize,
    /// The area; `None` where one of the two is zero.
    pub auc: Option<f64>,
}

/// Areas of all labels or classes.
#[derive(Clone, Debug, PartialEq)]
pub struct AucTable {
    /// One a label.
    pub labels: Vec<LabelAuc>,
}

impl AucTable {
    /// The plain average over labels.
    pub fn macro_average(&self) -> Average {
        Average::of(self.labels.iter().map(|l| (l.auc, 1.0)))
    }
    /// The average weighted by prevalence, $\sum\_c N\_c\\,\mathrm{AUC}\_c /
    /// \sum\_c N\_c$ (spec/sshiba E22): the papers' "balanced" area.
    pub fn weighted_average(&self) -> Average {
        Average::of(self.labels.iter().map(|l| (l.auc, l.positives as f64)))
    }
}

fn table(columns: impl Iterator<Item = Vec<(f64, bool)>>) -> AucTable {
    let labels = columns
        .map(|ranked| {
            let positives = ranked.iter().filter(|r| r.1).count();
            LabelAuc {
                positives,
                negatives: ranked.len() - positives,
                auc: area(ranked),
            }
        })
        .collect();
    AucTable { labels }
}

/// The area of each column of labels 0 and 1, samples × labels; cells whose
/// truth is `NaN` are left out.
///
/// # Errors
/// [`MetricError::LengthMismatch`] when the shapes differ,
/// [`MetricError::BadValue`] for a label that is neither 0 nor 1 or a score
/// that is not finite.
pub fn auc_by_label(
    truth: MatRef<'_, f64>,
    scores: MatRef<'_, f64>,
) -> Result<AucTable, MetricError> {
    same_length("rows of scores", truth.nrows(), scores.nrows())?;
    same_length("columns of scores", truth.ncols(), scores.ncols())?;
    let mut columns = Vec::with_capacity(truth.ncols());
    for d in 0..truth.ncols() {
        let mut ranked = Vec::new();
        for n in 0..truth.nrows() {
            let t = truth[(n, d)];
            if t.is_nan() {
                continue;
            }
            if t != 0.0 && t != 1.0 {
                return Err(MetricError::BadValue {
                    what: "label",
                    row: n,
                    column: d,
                    value: t,
                });
            }
            ranked.push((finite("score", scores[(n, d)], n, d)?, t == 1.0));
        }
        columns.push(ranked);
    }
    Ok(table(columns.into_iter()))
}

/// The area of each class against all others, by its score, samples ×
/// classes; samples without a true class are left out.
///
/// # Errors
/// [`MetricError::LengthMismatch`], [`MetricError::UnknownClass`],
/// [`MetricError::BadValue`] for a score that is not finite.
pub fn auc_by_class(
    truth: &[Option<usize>],
    scores: MatRef<'_, f64>,
) -> Result<AucTable, MetricError> {
    same_length("rows of scores", truth.len(), scores.nrows())?;
    let mut columns = Vec::with_capacity(scores.ncols());
    for c in 0..scores.ncols() {
        let mut ranked = Vec::new();
        for (n, t) in truth.iter().enumerate() {
            if let Some(t) = *t {
                let own = known(t, scores.ncols(), n)? == c;
                ranked.push((finite("score", scores[(n, c)], n, c)?, own));
            }
        }
        columns.push(ranked);
    }
    Ok(table(columns.into_iter()))
}
