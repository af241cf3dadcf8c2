//! Scores of predicted probabilities.

use polyview_linalg::MatRef;

use super::{MetricError, known, same_length, within};

const UNIT: (f64, f64) = (0.0, 1.0);

/// Mean of $-\ln p(\text{truth})$.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLoss {
    /// Nats a sample; infinite when a truth had probability zero, `None`
    /// without samples.
    pub mean: Option<f64>,
    /// Number of samples with a truth.
    pub samples: usize,
    /// Samples whose truth had probability zero, which make the mean infinite.
    pub impossible: Vec<usize>,
}

fn mean_ln(of_truth: impl Iterator<Item = (usize, f64)>) -> LogLoss {
    let (mut sum, mut samples, mut impossible) = (0.0, 0, Vec::new());
    for (n, p) in of_truth {
        samples += 1;
        sum -= p.ln();
        if p == 0.0 {
            impossible.push(n);
        }
    }
    LogLoss {
        mean: (samples > 0).then(|| sum / samples as f64),
        samples,
        impossible,
    }
}

fn checked(truth: &[bool], p: &[f64]) -> Result<(), MetricError> {
    same_length("probabilities", truth.len(), p.len())?;
    for (n, &p) in p.iter().enumerate() {
        within("probability", p, UNIT, n, 0)?;
    }
    Ok(())
}

/// Log loss of probabilities of "true".
///
/// # Errors
/// [`MetricError::LengthMismatch`], [`MetricError::BadValue`] for a number
/// that is no probability.
pub fn log_loss(truth: &[bool], probabilities: &[f64]) -> Result<LogLoss, MetricError> {
    checked(truth, probabilities)?;
    let of_truth = truth
        .iter()
        .zip(probabilities)
        .map(|(&t, &p)| if t { p } else { 1.0 - p });
    Ok(mean_ln(of_truth.enumerate()))
}

/// Brier score of probabilities of "true": mean of $(p - t)^2$, from 0 to 1;
/// `None` without samples.
///
/// # Errors
/// As [`log_loss`].
pub fn brier(truth: &[bool], probabilities: &[f64]) -> Result<Option<f64>, MetricError> {
    checked(truth, probabilities)?;
    let sum: f64 = truth
        .iter()
        .zip(probabilities)
        .map(|(&t, p)| (p - f64::from(u8::from(t))).powi(2))
        .sum();
    Ok((!truth.is_empty()).then(|| sum / truth.len() as f64))
}

fn checked_classes(
    truth: &[Option<usize>],
    p: MatRef<'_, f64>,
) -> Result<Vec<(usize, usize)>, MetricError> {
    same_length("rows of probabilities", truth.len(), p.nrows())?;
    let mut out = Vec::with_capacity(truth.len());
    for (n, t) in truth.iter().enumerate() {
        let Some(t) = *t else { continue };
        known(t, p.ncols(), n)?;
        let mut sum = 0.0;
        for c in 0..p.ncols() {
            sum += within("probability", p[(n, c)], UNIT, n, c)?;
        }
        within("sum of probabilities", sum, (1.0 - 1e-6, 1.0 + 1e-6), n, 0)?;
        out.push((n, t));
    }
    Ok(out)
}

/// Log loss of class probabilities, samples × classes; samples without a true
/// class are left out.
///
/// # Errors
/// [`MetricError::LengthMismatch`], [`MetricError::UnknownClass`],
/// [`MetricError::BadValue`] for a number that is no probability or a row that
/// does not sum to one.
pub fn class_log_loss(
    truth: &[Option<usize>],
    probabilities: MatRef<'_, f64>,
) -> Result<LogLoss, MetricError> {
    let rows = checked_classes(truth, probabilities)?;
    Ok(mean_ln(
        rows.into_iter().map(|(n, t)| (n, probabilities[(n, t)])),
    ))
}

/// Brier score of class probabilities: mean over samples of $\sum\_c(p\_c -
/// 1\[t = c\])^2$, from 0 to 2 (twice [`brier`] for two classes); `None` when
/// no sample has a true class.
///
/// # Errors
/// As [`class_log_loss`].
pub fn class_brier(
    truth: &[Option<usize>],
    probabilities: MatRef<'_, f64>,
) -> Result<Option<f64>, MetricError> {
    let rows = checked_classes(truth, probabilities)?;
    let sum: f64 = rows
        .iter()
        .map(|&(n, t)| {
            (0..probabilities.ncols())
                .map(|c| (probabilities[(n, c)] - f64::from(u8::from(c == t))).powi(2))
                .sum::<f64>()
        })
        .sum();
    Ok((!rows.is_empty()).then(|| sum / rows.len() as f64))
}

/// One bin of a calibration curve: probabilities from `lower` up to, but not
/// including, `upper` (the last bin includes 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationBin {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Samples in the bin.
    pub count: usize,
    /// Mean of their probabilities; `None` in an empty bin.
    pub predicted: Option<f64>,
    /// Share of them that are true; `None` in an empty bin.
    pub observed: Option<f64>,
}

/// Calibration curve over `bins` bins of equal width.
///
/// # Errors
/// As [`log_loss`], and [`MetricError::NoBins`].
pub fn calibration(
    truth: &[bool],
    probabilities: &[f64],
    bins: usize,
) -> Result<Vec<CalibrationBin>, MetricError> {
    checked(truth, probabilities)?;
    if bins == 0 {
        return Err(MetricError::NoBins);
    }
    let mut sums = vec![(0usize, 0.0, 0usize); bins];
    for (&t, &p) in truth.iter().zip(probabilities) {
        let (count, sum, positives) = &mut sums[bin_of(p, bins)];
        *count += 1;
        *sum += p;
        *positives += usize::from(t);
    }
    let end = |b: usize| b as f64 / bins as f64;
    Ok(sums
        .into_iter()
        .enumerate()
        .map(|(b, (count, sum, positives))| CalibrationBin {
            lower: end(b),
            upper: end(b + 1),
            count,
            predicted: (count > 0).then(|| sum / count as f64),
            observed: (count > 0).then(|| positives as f64 / count as f64),
        })
        .collect())
}

/// The bin of a probability, whose lower end is not above it.
fn bin_of(p: f64, bins: usize) -> usize {
    let guess = ((p * bins as f64) as usize).min(bins - 1);
    // the product may round past an end that the division does not reach
    if guess > 0 && p < guess as f64 / bins as f64 {
        guess - 1
    } else if guess + 1 < bins && p >= (guess + 1) as f64 / bins as f64 {
        guess + 1
    } else {
        guess
    }
}
