//! Scores of predicted real values and intervals.

use polyview_linalg::MatRef;

use super::{MetricError, finite, same_length};

/// How close predicted values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealScore {
    /// Values with a truth.
    pub count: usize,
    /// $1 - \sum(x - \hat x)^2 / \sum(x - \bar x)^2$; `None` when all true
    /// values are the same or there is none.
    pub r2: Option<f64>,
    /// Root of the mean squared error, in the unit of the data; `None` without
    /// values.
    pub rmse: Option<f64>,
}

fn score(pairs: &[(f64, f64)]) -> RealScore {
    let count = pairs.len();
    let n = count as f64;
    let error: f64 = pairs.iter().map(|(t, p)| (t - p).powi(2)).sum();
    let constant = pairs.windows(2).all(|w| w[0].0 == w[1].0);
    let mean = pairs.iter().map(|(t, _)| t / n).sum::<f64>();
    let spread: f64 = pairs.iter().map(|(t, _)| (t - mean).powi(2)).sum();
    RealScore {
        count,
        r2: (!constant && spread > 0.0).then(|| 1.0 - error / spread),
        rmse: (count > 0).then(|| (error / n).sqrt()),
    }
}

/// Scores predicted values; those whose truth is `NaN` are left out.
///
/// # Errors
/// [`MetricError::LengthMismatch`], [`MetricError::BadValue`] for a value that
/// is not finite.
pub fn real(truth: &[f64], predicted: &[f64]) -> Result<RealScore, MetricError> {
    same_length("predicted values", truth.len(), predicted.len())?;
    let pairs = (0..truth.len())
        .map(|n| (truth[n], predicted[n], n))
        .filter(|t| !t.0.is_nan())
        .map(|(t, p, n)| {
            Ok((
                finite("true value", t, n, 0)?,
                finite("prediction", p, n, 0)?,
            ))
        })
        .collect::<Result<Vec<_>, MetricError>>()?;
    Ok(score(&pairs))
}

/// Scores each column of predicted values; cells whose truth is `NaN` are left
/// out. [`Average::of`](super::Average::of) makes averages that list the
/// columns without a score.
///
/// # Errors
/// As [`real`].
pub fn real_by_column(
    truth: MatRef<'_, f64>,
    predicted: MatRef<'_, f64>,
) -> Result<Vec<RealScore>, MetricError> {
    same_length("rows of predictions", truth.nrows(), predicted.nrows())?;
    same_length("columns of predictions", truth.ncols(), predicted.ncols())?;
    let mut out = Vec::with_capacity(truth.ncols());
    for d in 0..truth.ncols() {
        let mut pairs = Vec::new();
        for n in 0..truth.nrows() {
            if !truth[(n, d)].is_nan() {
                pairs.push((
                    finite("true value", truth[(n, d)], n, d)?,
                    finite("prediction", predicted[(n, d)], n, d)?,
                ));
            }
        }
        out.push(score(&pairs));
    }
    Ok(out)
}

/// How often intervals hold the truth, and how wide they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalScore {
    /// Values with a truth.
    pub count: usize,
    /// Share of them inside their interval, ends included; `None` without
    /// values.
    pub coverage: Option<f64>,
    /// Mean width of their intervals, in the unit of the data; `None` without
    /// values.
    pub mean_width: Option<f64>,
}

/// Scores intervals; those whose truth is `NaN` are left out.
///
/// # Errors
/// [`MetricError::LengthMismatch`], [`MetricError::BadValue`] for an end that
/// is not a number or an interval that ends before it starts.
pub fn intervals(
    truth: &[f64],
    lower: &[f64],
    upper: &[f64],
) -> Result<IntervalScore, MetricError> {
    same_length("lower ends", truth.len(), lower.len())?;
    same_length("upper ends", truth.len(), upper.len())?;
    let (mut count, mut inside, mut width) = (0usize, 0usize, 0.0);
    for n in 0..truth.len() {
        if truth[n].is_nan() {
            continue;
        }
        let t = finite("true value", truth[n], n, 0)?;
        let wide = upper[n] - lower[n];
        if wide.is_nan() || wide < 0.0 {
            return Err(MetricError::BadValue {
                what: "width of the interval",
                row: n,
                column: 0,
                value: wide,
            });
        }
        count += 1;
        inside += usize::from(lower[n] <= t && t <= upper[n]);
        width += wide;
    }
    let share = |x: f64| (count > 0).then(|| x / count as f64);
    Ok(IntervalScore {
        count,
        coverage: share(inside as f64),
        mean_width: share(width),
    })
}
