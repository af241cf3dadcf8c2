//! Small statistics of plain numbers. Pairs with a value that is not finite are left out.

/// Arithmetic mean of the finite values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    let (sum, n) = values
        .iter()
        .filter(|v| v.is_finite())
        .fold((0.0, 0usize), |(sum, n), v| (sum + v, n + 1));
    (n > 0).then(|| sum / n as f64)
}

/// The finite values in ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    out.sort_by(f64::total_cmp);
    out
}

/// Quantile of sorted values by linear interpolation (type 7 of Hyndman and Fan).
pub(crate) fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (i, share) = (at.floor() as usize, at.fract());
    let upper = sorted[(i + 1).min(last)];
    Some(sorted[i] + share * (upper - sorted[i]))
}

/// Divides by the largest absolute value, so that squares neither overflow nor vanish; `None` when all
/// are zero or there is nothing. Correlations and ratios do not notice.
fn scaled(values: &mut [f64]) -> Option<f64> {
    let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return None;
    }
    for v in values.iter_mut() {
        *v /= largest;
    }
    Some(largest)
}

/// Sum of squares about the mean.
fn scatter(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| (v - mean).powi(2)).sum()
}

/// The pairs in which both values are finite.
fn finite_pairs(x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    x.iter()
        .zip(y)
        .filter(|(a, b)| a.is_finite() && b.is_finite())
        .map(|(&a, &b)| (a, b))
        .unzip()
}

/// Pearson correlation and the number of pairs; `None` below three pairs or without variation.
pub(crate) fn correlation(x: &[f64], y: &[f64]) -> Option<(f64, usize)> {
    let (mut x, mut y) = finite_pairs(x, y);
    let n = x.len();
    if n < 3 {
        return None;
    }
    scaled(&mut x)?;
    scaled(&mut y)?;
    let (mx, my) = (
        x.iter().sum::<f64>() / n as f64,
        y.iter().sum::<f64>() / n as f64,
    );
    let xy: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
    let r = xy / (scatter(&x).sqrt() * scatter(&y).sqrt());
    r.is_finite().then(|| (r.clamp(-1.0, 1.0), n))
}

/// Share of the variance of the values that lies between groups (the squared correlation ratio).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CorrelationRatio {
    /// $\eta^2$, 0 to 1.
    pub eta2: f64,
    /// Values with a group.
    pub values: usize,
    /// Groups.
    pub groups: usize,
}

impl CorrelationRatio {
    /// What unrelated groups would give on average: $(g - 1)/(n - 1)$.
    pub fn by_chance(&self) -> f64 {
        (self.groups as f64 - 1.0) / (self.values as f64 - 1.0)
    }
}

/// Squared correlation ratio of `values` over groups numbered from 0; `None` with fewer than two
/// groups, no more values than groups, or no variation.
pub(crate) fn correlation_ratio(
    values: &[f64],
    group: &[Option<usize>],
) -> Option<CorrelationRatio> {
    let pairs: Vec<(f64, usize)> = values
        .iter()
        .zip(group)
        .filter(|(v, _)| v.is_finite())
        .filter_map(|(&v, g)| g.map(|g| (v, g)))
        .collect();
    let n = pairs.len();
    let (mut values, group): (Vec<f64>, Vec<usize>) = pairs.into_iter().unzip();
    let mut sums = vec![(0.0, 0usize); group.iter().map(|g| g + 1).max()?];
    scaled(&mut values)?;
    for (&v, &g) in values.iter().zip(&group) {
        sums[g].0 += v;
        sums[g].1 += 1;
    }
    sums.retain(|s| s.1 > 0);
    let groups = sums.len();
    if groups < 2 || n <= groups {
        return None;
    }
    let grand = values.iter().sum::<f64>() / n as f64;
    let between: f64 = sums
        .iter()
        .map(|&(sum, m)| m as f64 * (sum / m as f64 - grand).powi(2))
        .sum();
    let eta2 = between / scatter(&values);
    eta2.is_finite().then(|| CorrelationRatio {
        eta2: eta2.clamp(0.0, 1.0),
        values: n,
        groups,
    })
}

/// How well numbers were predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Accuracy {
    /// Pairs with both values finite.
    pub cells: usize,
    /// Root of the mean squared error, in the unit of the values.
    pub rmse: f64,
}

/// Accuracy of predictions; `None` without a single finite pair.
pub(crate) fn accuracy(truth: &[f64], predicted: &[f64]) -> Option<Accuracy> {
    let (truth, predicted) = finite_pairs(truth, predicted);
    let n = truth.len();
    if n == 0 {
        return None;
    }
    let mut errors: Vec<f64> = truth.iter().zip(&predicted).map(|(t, p)| t - p).collect();
    let rmse = scaled(&mut errors).map_or(0.0, |unit| {
        unit * (errors.iter().map(|e| e * e).sum::<f64>() / n as f64).sqrt()
    });
    Some(Accuracy { cells: n, rmse })
}

/// Share of the true values inside their intervals; `None` when no interval is finite.
pub(crate) fn coverage(truth: &[f64], lower: &[f64], upper: &[f64]) -> Option<f64> {
    let (mut inside, mut n) = (0usize, 0usize);
    for ((&t, &lo), &hi) in truth.iter().zip(lower).zip(upper) {
        if t.is_finite() && !lo.is_nan() && !hi.is_nan() {
            n += 1;
            inside += usize::from(lo <= t && t <= hi);
        }
    }
    (n > 0).then(|| inside as f64 / n as f64)
}

/// Area under the ROC curve, ties halved; `None` unless both classes occur.
pub(crate) fn auc(truth: &[f64], score: &[f64]) -> Option<f64> {
    let known = truth.iter().zip(score).filter(|(_, s)| s.is_finite());
    let (truth, score): (Vec<bool>, Vec<f64>) = known.map(|(&t, &s)| (t > 0.5, s)).unzip();
    polyview::metrics::auc(&truth, &score).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let s = sorted(&[4.0, 1.0, f64::NAN, 3.0, 2.0]);
        assert_eq!(s, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(quantile(&s, 0.5), Some(2.5));
        assert_eq!(quantile(&s, 0.25), Some(1.75));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(mean(&[f64::NAN, 1.0, 3.0]), Some(2.0));
    }

    #[test]
    fn correlation_of_known_numbers() {
        let (r, n) = correlation(&[1.0, 2.0, 3.0, 4.0, f64::NAN], &[1.0, 3.0, 2.0, 4.0, 9.0])
            .expect("defined");
        assert!((r - 0.8).abs() < 1e-15 && n == 4);
        assert_eq!(correlation(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        for unit in [1e300, 1.0, 1e-300] {
            let (r, _) = correlation(&[unit, -unit, 0.0], &[1.0, 2.0, 3.0]).expect("defined");
            assert!((r + 0.5).abs() < 1e-15, "{unit}: {r}");
        }
    }

    #[test]
    fn correlation_ratio_of_known_numbers() {
        // groups {1, 3} and {5, 7}: between 16, total 20
        let r = correlation_ratio(
            &[1.0, 3.0, 5.0, 7.0, 99.0],
            &[Some(0), Some(0), Some(2), Some(2), None],
        )
        .expect("defined");
        assert!((r.eta2 - 0.8).abs() < 1e-15);
        assert_eq!((r.values, r.groups), (4, 2));
        assert!((r.by_chance() - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(correlation_ratio(&[1.0, 2.0], &[Some(0), Some(1)]), None);
        assert_eq!(correlation_ratio(&[], &[]), None);
    }

    #[test]
    fn accuracy_of_known_numbers() {
        let a = accuracy(&[1.0, 2.0, 3.0, f64::NAN], &[1.0, 2.0, 5.0, 0.0]).expect("defined");
        assert_eq!(a.cells, 3);
        assert!((a.rmse - (4.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        let huge = accuracy(&[1e300, 2e300, 3e300], &[1e300, 2e300, 5e300]).expect("defined");
        assert!((huge.rmse / 1e300 - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(
            coverage(
                &[1.0, 2.0, 9.0, 0.0],
                &[0.0, 2.0, 0.0, f64::NAN],
                &[1.0, 3.0, 5.0, 1.0]
            ),
            Some(2.0 / 3.0)
        );
    }

    #[test]
    fn area_under_the_curve_counts_ordered_pairs() {
        assert_eq!(
            auc(&[0.0, 0.0, 1.0, 1.0], &[0.1, 0.4, 0.35, 0.8]),
            Some(0.75)
        );
        assert_eq!(auc(&[0.0, 1.0], &[0.5, 0.5]), Some(0.5));
        assert_eq!(auc(&[1.0, 1.0], &[0.5, 0.6]), None);
    }
}
