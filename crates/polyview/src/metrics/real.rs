//! Scores of predicted real values and intervals.

use polyview_linalg::MatRef;

use super::{MetricError, finite, same_length};

/// A share that sums of squares or deviances of many cells are not known to.
const NOTHING: f64 = 1e-14;

/// How close predicted values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealScore {
    /// Values with a truth.
    pub count: usize,
    /// $1 - \sum(x - \hat x)^2 / \sum(x - \bar x\_d)^2$, with $\bar x\_d$ the
    /// mean of the values' column in the training data, or of the true values
    /// where no means were given; `None` where no true value differs from it, or
    /// there is none.
    ///
    /// This is the one definition of the program: of held-out cells
    /// ([`HeldOut::r2`](crate::HeldOut::r2)), in reports, in comparisons of numbers
    /// of factors, and of files.
    pub r2: Option<f64>,
    /// Root of the mean squared error, in the unit of the data; `None` without
    /// values.
    pub rmse: Option<f64>,
}

/// Sums over some values.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: usize,
    error: f64,
    spread: f64,
}

impl Sums {
    fn of(pairs: &[(f64, f64)], mean: Option<f64>) -> Self {
        let count = pairs.len();
        let constant = pairs.windows(2).all(|w| w[0].0 == w[1].0);
        // no rounding makes equal values differ from their mean
        let own = || match pairs.first() {
            Some(first) if constant => first.0,
            _ => pairs.iter().map(|(t, _)| t / count as f64).sum(),
        };
        let mean = mean.unwrap_or_else(own);
        Self {
            count,
            error: pairs.iter().map(|(t, p)| (t - p).powi(2)).sum(),
            spread: pairs.iter().map(|(t, _)| (t - mean).powi(2)).sum(),
        }
    }
    fn score(self) -> RealScore {
        RealScore {
            count: self.count,
            r2: explained(self.error, self.spread),
            rmse: (self.count > 0).then(|| (self.error / self.count as f64).sqrt()),
        }
    }
}

/// The share of what there is to explain that is not left: $1 - \\text{own}/\\text{null}$, and
/// nothing where rounding alone keeps the two apart. None where there is nothing to explain.
pub(crate) fn explained(own: f64, null: f64) -> Option<f64> {
    (null > 0.0).then(|| {
        let share = 1.0 - own / null;
        if share.abs() < NOTHING { 0.0 } else { share }
    })
}

/// Scores predicted values; those whose truth is `NaN` are left out. `mean` is
/// that of the training values.
///
/// # Errors
/// [`MetricError::LengthMismatch`], [`MetricError::BadValue`] for a value that
/// is not finite.
pub fn real(truth: &[f64], predicted: &[f64], mean: Option<f64>) -> Result<RealScore, MetricError> {
    same_length("predicted values", truth.len(), predicted.len())?;
    Ok(Sums::of(&pairs(truth, predicted, 0)?, mean).score())
}

/// Values with a truth, and what was predicted for them.
fn pairs(truth: &[f64], predicted: &[f64], column: usize) -> Result<Vec<(f64, f64)>, MetricError> {
    (truth.iter().zip(predicted).enumerate())
        .filter(|(_, (t, _))| !t.is_nan())
        .map(|(n, (t, p))| {
            Ok((
                finite("true value", *t, n, column)?,
                finite("prediction", *p, n, column)?,
            ))
        })
        .collect()
}

/// Scores of predicted values, column by column and of all cells.
#[derive(Clone, Debug, PartialEq)]
pub struct RealTable {
    /// One a column.
    pub columns: Vec<RealScore>,
    /// Over all cells together, errors and distances from the **columns'** means
    /// added up; columns without a mean are left out.
    pub all: RealScore,
}

/// Scores each column of predicted values and all of them together; cells whose
/// truth is `NaN` are left out. `means` are the columns' means over the training
/// values; a column whose mean is `NaN` has no $R^2$.
///
/// # Errors
/// As [`real`].
pub fn real_by_column(
    truth: MatRef<'_, f64>,
    predicted: MatRef<'_, f64>,
    means: Option<&[f64]>,
) -> Result<RealTable, MetricError> {
    same_length("rows of predictions", truth.nrows(), predicted.nrows())?;
    same_length("columns of predictions", truth.ncols(), predicted.ncols())?;
    if let Some(means) = means {
        same_length("means", truth.ncols(), means.len())?;
    }
    let column = |m: MatRef<'_, f64>, d: usize| m.col(d).iter().copied().collect::<Vec<f64>>();
    let mut columns = Vec::with_capacity(truth.ncols());
    let mut all = Sums::default();
    for d in 0..truth.ncols() {
        let pairs = pairs(&column(truth, d), &column(predicted, d), d)?;
        let sums = Sums::of(&pairs, means.map(|m| m[d]));
        columns.push(sums.score());
        if sums.spread.is_finite() {
            all.count += sums.count;
            all.error += sums.error;
            all.spread += sums.spread;
        }
    }
    Ok(RealTable {
        columns,
        all: all.score(),
    })
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

/// Scores of the intervals of each column, and of all values.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalTable {
    /// Each column.
    pub columns: Vec<IntervalScore>,
    /// All values.
    pub all: IntervalScore,
}

/// Scores intervals column by column; values whose truth is `NaN` are left out.
///
/// # Errors
/// As [`intervals`].
pub fn intervals_by_column(
    truth: MatRef<'_, f64>,
    lower: MatRef<'_, f64>,
    upper: MatRef<'_, f64>,
) -> Result<IntervalTable, MetricError> {
    same_length("columns of lower ends", truth.ncols(), lower.ncols())?;
    same_length("columns of upper ends", truth.ncols(), upper.ncols())?;
    let column = |m: MatRef<'_, f64>, d: usize| m.col(d).iter().copied().collect::<Vec<f64>>();
    let mut columns = Vec::with_capacity(truth.ncols());
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for d in 0..truth.ncols() {
        let own = [truth, lower, upper].map(|m| column(m, d));
        columns.push(intervals(&own[0], &own[1], &own[2])?);
        for (to, from) in all.iter_mut().zip(own) {
            to.extend(from);
        }
    }
    let all = intervals(&all[0], &all[1], &all[2])?;
    Ok(IntervalTable { columns, all })
}
