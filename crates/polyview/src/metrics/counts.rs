//! Scores of predicted counts.

use polyview_linalg::MatRef;

use super::real::explained;
use super::{CountLaw, MetricError, finite, same_length, within};

/// $2\[y\ln\frac y\mu - (y - \mu)\]$: zero where $\mu = y$, infinite where a
/// count above zero was expected to be zero.
pub(crate) fn poisson_unit(count: f64, mean: f64) -> f64 {
    if count > 0.0 {
        2.0 * (count * (count / mean).ln() - (count - mean))
    } else {
        2.0 * mean
    }
}

/// $2\[\frac{x - \mu}\mu - \ln\frac x\mu\]$ of a number above 0 by the gamma law of shape 1: zero
/// where $\mu = x$.
pub(crate) fn gamma_unit(x: f64, mean: f64) -> f64 {
    let off = (x - mean) / mean;
    let ln = if off.abs() < 0.5 {
        off.ln_1p()
    } else {
        (x / mean).ln()
    };
    2.0 * (off - ln)
}

/// $2\[y\ln\frac y\mu - (y + r)\ln\frac{y + r}{\mu + r}\]$ of a negative binomial
/// of size r.
pub(crate) fn negative_binomial_unit(count: f64, mean: f64, size: f64) -> f64 {
    if count == mean {
        return 0.0;
    }
    let own = if count > 0.0 {
        count * (count / mean).ln()
    } else {
        0.0
    };
    // (y + r) ln((y + r)/(μ + r)), where r is large and also where it is far below μ
    let ratio = (count - mean) / (mean + size);
    let log = if ratio > -0.5 {
        ratio.ln_1p()
    } else {
        ((count + size) / (mean + size)).ln()
    };
    let both = (count + size) * log;
    (2.0 * (own - both)).max(0.0)
}

/// $2\[y\ln\frac y{n\pi} + (n - y)\ln\frac{n - y}{n(1 - \pi)}\]$ of y successes
/// in n trials.
pub(crate) fn binomial_unit(successes: f64, trials: f64, probability: f64) -> f64 {
    let part = |found: f64, expected: f64| {
        if found > 0.0 {
            found * (found / expected).ln()
        } else {
            0.0
        }
    };
    let ones = part(successes, trials * probability);
    let zeros = part(trials - successes, trials * (1.0 - probability));
    2.0 * (ones + zeros)
}

/// Mean Poisson deviance $\frac1n\sum 2\[y\ln\frac y\mu - (y - \mu)\]$ of expected
/// counts, for any law of counts: 0 is perfect, about 1 is as good as knowing
/// the means of Poisson counts that are not small. Counts that are `NaN` are
/// left out; `None` without a count; infinite where a count above zero was
/// expected to be zero.
///
/// ```
/// use polyview::metrics::poisson_deviance;
///
/// # fn main() -> Result<(), polyview::metrics::MetricError> {
/// assert_eq!(poisson_deviance(&[0.0, 3.0], &[1.0, 3.0])?, Some(1.0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`MetricError::LengthMismatch`]; [`MetricError::BadValue`] for a negative
/// count or a mean that is negative or not finite.
pub fn poisson_deviance(truth: &[f64], predicted: &[f64]) -> Result<Option<f64>, MetricError> {
    Ok(score(&pairs(truth, predicted, 0)?).deviance)
}

/// How close expected counts are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountScore {
    /// Counts with a truth.
    pub count: usize,
    /// Mean Poisson deviance; `None` without counts.
    pub deviance: Option<f64>,
    /// Share of the deviance from the mean of the true counts that is
    /// explained; `None` where these do not differ.
    pub explained: Option<f64>,
    /// Root of the mean squared error; `None` without counts.
    pub rmse: Option<f64>,
}

fn pairs(truth: &[f64], predicted: &[f64], column: usize) -> Result<Vec<(f64, f64)>, MetricError> {
    same_length("expected counts", truth.len(), predicted.len())?;
    let known = (0..truth.len()).filter(|&n| !truth[n].is_nan());
    known
        .map(|n| {
            let legal = (0.0, f64::MAX);
            Ok((
                within("true count", truth[n], legal, n, column)?,
                within("expected count", predicted[n], legal, n, column)?,
            ))
        })
        .collect()
}

fn score(pairs: &[(f64, f64)]) -> CountScore {
    let n = pairs.len() as f64;
    let share = |sum: f64| (n > 0.0).then(|| sum / n);
    let mean = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let own: f64 = pairs.iter().map(|(y, m)| poisson_unit(*y, *m)).sum();
    let null: f64 = pairs.iter().map(|(y, _)| poisson_unit(*y, mean)).sum();
    let squares: f64 = pairs.iter().map(|(y, m)| (y - m).powi(2)).sum();
    let differ = pairs.windows(2).any(|w| w[0].0 != w[1].0);
    CountScore {
        count: pairs.len(),
        deviance: share(own),
        explained: explained(own, null).filter(|_| differ),
        rmse: share(squares).map(f64::sqrt),
    }
}

/// Scores expected counts; cells whose truth is `NaN` are left out.
///
/// # Errors
/// As [`poisson_deviance`].
pub fn counts(truth: &[f64], predicted: &[f64]) -> Result<CountScore, MetricError> {
    Ok(score(&pairs(truth, predicted, 0)?))
}

/// Scores each column of expected counts; cells whose truth is `NaN` are left
/// out.
///
/// # Errors
/// As [`poisson_deviance`].
pub fn counts_by_column(
    truth: MatRef<'_, f64>,
    predicted: MatRef<'_, f64>,
) -> Result<Vec<CountScore>, MetricError> {
    same_length("rows of expected counts", truth.nrows(), predicted.nrows())?;
    same_length(
        "columns of expected counts",
        truth.ncols(),
        predicted.ncols(),
    )?;
    let column = |m: MatRef<'_, f64>, d: usize| m.col(d).iter().copied().collect::<Vec<f64>>();
    (0..truth.ncols())
        .map(|d| Ok(score(&pairs(&column(truth, d), &column(predicted, d), d)?)))
        .collect()
}

/// Scores of the counts of each column, and of all.
#[derive(Clone, Debug, PartialEq)]
pub struct CountTable {
    /// Each column.
    pub columns: Vec<CountScore>,
    /// All counts; explained is the share of the deviance from the **columns'** means.
    pub all: CountScore,
    /// Mean log density of each column ([`count_log_density`]).
    pub densities: Vec<Option<f64>>,
    /// That of all counts.
    pub density: Option<f64>,
}

/// Scores expected counts column by column, with densities by their standard deviations
/// (Poisson counts without any); cells whose truth is `NaN` are left out.
///
/// # Errors
/// As [`count_log_density`].
pub fn count_table(
    truth: MatRef<'_, f64>,
    predicted: MatRef<'_, f64>,
    sd: Option<MatRef<'_, f64>>,
) -> Result<CountTable, MetricError> {
    let columns = counts_by_column(truth, predicted)?;
    if let Some(sd) = sd {
        same_length("columns of standard deviations", truth.ncols(), sd.ncols())?;
    }
    let none = vec![0.0; truth.nrows()];
    let column = |m: MatRef<'_, f64>, d: usize| m.col(d).iter().copied().collect::<Vec<f64>>();
    let mut densities = Vec::with_capacity(columns.len());
    let [mut truths, mut means, mut deviations, mut levels] = [(); 4].map(|()| Vec::new());
    for d in 0..columns.len() {
        let (x, m) = (column(truth, d), column(predicted, d));
        let s = sd.map_or_else(|| none.clone(), |sd| column(sd, d));
        densities.push(count_log_density(&x, &m, &s)?);
        let known: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
        let level = known.iter().sum::<f64>() / known.len().max(1) as f64;
        levels.resize(levels.len() + x.len(), level);
        truths.extend(x);
        means.extend(m);
        deviations.extend(s);
    }
    let all = counts(&truths, &means)?;
    let explained = match (all.deviance, poisson_deviance(&truths, &levels)?) {
        (Some(own), Some(null)) => explained(own, null),
        _ => None,
    };
    Ok(CountTable {
        columns,
        all: CountScore { explained, ..all },
        densities,
        density: count_log_density(&truths, &means, &deviations)?,
    })
}

/// Mean log density of counts, nats, each under the negative binomial of its
/// predictive mean and standard deviation ([`CountLaw`]; zero standard
/// deviations give Poisson counts). Counts that are `NaN` are left out; `None`
/// without a count.
///
/// # Errors
/// As [`poisson_deviance`], and for a standard deviation that is negative or
/// not finite.
pub fn count_log_density(
    truth: &[f64],
    mean: &[f64],
    sd: &[f64],
) -> Result<Option<f64>, MetricError> {
    same_length("standard deviations", truth.len(), sd.len())?;
    let _ = pairs(truth, mean, 0)?;
    let (mut sum, mut count) = (0.0, 0usize);
    for n in (0..truth.len()).filter(|&n| !truth[n].is_nan()) {
        let sd = finite("standard deviation", sd[n], n, 0)?;
        let sd = within("standard deviation", sd, (0.0, f64::MAX), n, 0)?;
        sum += CountLaw::new(mean[n], sd * sd).ln_density(truth[n]);
        count += 1;
    }
    Ok((count > 0).then(|| sum / count as f64))
}
