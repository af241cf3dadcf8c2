//! Statistics of posterior predictive checks.

/// Whether a statistic is defined of the data and of the replicate.
pub(super) fn spread_out(data: f64, replicate: f64) -> bool {
    data.is_finite() && replicate.is_finite()
}

/// Mean and central moments of second and third order.
fn moments(x: &[f64]) -> (f64, f64, f64) {
    let count = x.len() as f64;
    let mean = x.iter().sum::<f64>() / count;
    let (mut second, mut third) = (0.0, 0.0);
    for x in x {
        let d = x - mean;
        second += d * d;
        third += d * d * d;
    }
    (mean, second / count, third / count)
}

/// Standard deviation, skewness, and largest distance from the mean in standard
/// deviations; the last two `NaN` where nothing varies.
pub(super) fn of_numbers(x: &[f64]) -> [f64; 3] {
    let (mean, second, third) = moments(x);
    let sd = second.sqrt();
    let far = x.iter().fold(0.0, |far: f64, x| far.max((x - mean).abs()));
    [sd, third / (second * sd), far / sd]
}

/// Share of zeros, variance over mean (`NaN` where all are zero), largest count.
pub(super) fn of_counts(x: &[f64]) -> [f64; 3] {
    let (mean, second, _) = moments(x);
    let largest = x.iter().copied().fold(f64::NAN, f64::max);
    [share_of(0.0, x), second / mean, largest]
}

/// Share of the entries that are this number.
pub(super) fn share_of(value: f64, x: &[f64]) -> f64 {
    x.iter().filter(|x| **x == value).count() as f64 / x.len() as f64
}

/// Mean probability of the ones less that of the zeros (Tjur 2009, "Coefficients
/// of determination in logistic regression models"); `NaN` with one of the two
/// alone.
pub(super) fn separation(labels: &[f64], probability: &[f64]) -> f64 {
    let mean_of = |label: f64| {
        let own = labels.iter().zip(probability).filter(|(y, _)| **y == label);
        let (sum, count) = own.fold((0.0, 0.0), |(s, c), (_, q)| (s + q, c + 1.0));
        sum / count
    };
    mean_of(1.0) - mean_of(0.0)
}

/// Share of the pairs whose order `values` keep: `difference` of a pair is below
/// zero where the first comes first, and zero where it says nothing. Equal values
/// keep half an order; `NaN` without pairs.
pub(super) fn agreement(
    pairs: &[(usize, usize)],
    difference: &dyn Fn(usize, usize) -> f64,
    values: &[f64],
) -> f64 {
    let (mut kept, mut all) = (0.0, 0.0);
    for &(i, j) in pairs {
        let given = difference(i, j);
        if given == 0.0 {
            continue;
        }
        all += 1.0;
        let own = values[i] - values[j];
        if own == 0.0 {
            kept += 0.5;
        } else if (own < 0.0) == (given < 0.0) {
            kept += 1.0;
        }
    }
    kept / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_their_definitions() {
        let [sd, skewness, far] = of_numbers(&[0.0, 0.0, 3.0]);
        assert!((sd - 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((skewness - 0.5_f64.sqrt()).abs() < 1e-12);
        assert!((far - 2.0_f64.sqrt()).abs() < 1e-12);
        let flat = of_numbers(&[2.0, 2.0]);
        assert!(flat[0] == 0.0 && flat[1].is_nan() && flat[2].is_nan());
        let [zeros, dispersion, largest] = of_counts(&[0.0, 4.0, 0.0, 4.0]);
        assert_eq!((zeros, dispersion, largest), (0.5, 2.0, 4.0));
        assert!((separation(&[1.0, 0.0, 1.0], &[0.9, 0.2, 0.5]) - 0.5).abs() < 1e-12);
        assert!(separation(&[1.0], &[0.3]).is_nan());
    }

    #[test]
    fn orders_agree_where_they_are_kept() {
        let pairs = [(0, 1), (1, 2), (0, 2), (3, 0)];
        let always = |_: usize, _: usize| -1.0;
        // 0 < 1, 1 = 2, 0 < 2, 3 > 0
        let found = agreement(&pairs, &always, &[0.0, 1.0, 1.0, 5.0]);
        assert!((found - 2.5 / 4.0).abs() < 1e-12);
        let other = [5.0, 4.0, 4.0, 1.0];
        let by = |i: usize, j: usize| other[i] - other[j];
        // the second pair says nothing, and only the last order is not kept
        let found = agreement(&pairs, &by, &[2.0, 1.0, 0.0, 9.0]);
        assert!((found - 2.0 / 3.0).abs() < 1e-12);
        assert!(agreement(&[], &always, &[]).is_nan());
    }
}
