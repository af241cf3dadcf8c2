//! Hand-worked values and brute force.

use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};

use super::*;

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a score");
    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
}

/// Coarse random scores, so that there are ties.
fn random(n: usize, seed: u64) -> (Vec<bool>, Vec<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let truth: Vec<bool> = (0..n).map(|_| uniform_open01(&mut rng) < 0.4).collect();
    let scores = (0..n)
        .map(|_| (uniform_open01(&mut rng) * 8.0).floor() / 8.0)
        .collect();
    (truth, scores)
}

fn pairs(truth: &[bool], scores: &[f64]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for (i, a) in scores.iter().enumerate() {
        for (j, b) in scores.iter().enumerate() {
            if truth[i] && !truth[j] {
                count += 1.0;
                sum += match a.partial_cmp(b) {
                    Some(std::cmp::Ordering::Greater) => 1.0,
                    Some(std::cmp::Ordering::Equal) => 0.5,
                    _ => 0.0,
                };
            }
        }
    }
    (count > 0.0).then(|| sum / count)
}

#[test]
fn area_equals_all_pairs() {
    for seed in 0..40 {
        let (truth, scores) = random(2 + 3 * seed as usize, seed);
        let found = auc(&truth, &scores).expect("scores");
        match pairs(&truth, &scores) {
            Some(expected) => near(found, expected),
            None => assert_eq!(found, None),
        }
    }
    assert_eq!(
        auc(&[true, false], &[0.0, -0.0]).expect("scores"),
        Some(0.5)
    );
}

#[test]
fn averages_of_areas() {
    // label 0: 1 of 4 positive, perfect; label 1: 3 of 4, area 1/3; label 2:
    // never positive, so no area
    let truth = Mat::from_fn(4, 3, |n, d| match d {
        0 => f64::from(u8::from(n == 3)),
        1 => f64::from(u8::from(n != 2)),
        _ => 0.0,
    });
    let scores = Mat::from_fn(4, 3, |n, _| n as f64);
    let table = auc_by_label(truth.as_ref(), scores.as_ref()).expect("scores");
    near(table.labels[0].auc, 1.0);
    near(table.labels[1].auc, 1.0 / 3.0);
    assert_eq!(table.labels[2].auc, None);
    let plain = table.macro_average();
    near(plain.over_defined, 2.0 / 3.0);
    assert_eq!((plain.value(), plain.undefined), (None, vec![2]));
    // E22: divided by the sum of the counts
    let weighted = table.weighted_average();
    near(weighted.over_defined, (1.0 + 3.0 / 3.0) / 4.0);
    assert_eq!(weighted.undefined, [2]);
}

#[test]
fn classes_against_the_rest() {
    let p = [
        [0.7, 0.2, 0.1],
        [0.1, 0.6, 0.3],
        [0.3, 0.4, 0.3],
        [0.2, 0.2, 0.6],
    ];
    let p = Mat::from_fn(4, 3, |n, c| p[n][c]);
    let truth = [Some(0), Some(1), Some(0), None];
    let table = auc_by_class(&truth, p.as_ref()).expect("scores");
    near(table.labels[0].auc, 1.0);
    near(table.labels[1].auc, 1.0);
    assert_eq!((table.labels[2].positives, table.labels[2].auc), (0, None));
    let loss = class_log_loss(&truth, p.as_ref()).expect("scores");
    near(loss.mean, -(0.7f64.ln() + 0.6f64.ln() + 0.3f64.ln()) / 3.0);
    assert_eq!(loss.samples, 3);
    // (.09+.04+.01) + (.01+.16+.09) + (.49+.16+.09)
    near(
        class_brier(&truth, p.as_ref()).expect("scores"),
        (0.14 + 0.26 + 0.74) / 3.0,
    );
    let confusion = Confusion::new(&truth, &[0, 1, 1, 2], 3).expect("classes");
    assert_eq!(confusion.counts, [[1, 1, 0], [0, 1, 0], [0, 0, 0]]);
    assert_eq!(confusion.left_out, 1);
    near(confusion.accuracy(), 2.0 / 3.0);
    let balanced = confusion.balanced_accuracy();
    near(balanced.over_defined, 0.75);
    assert_eq!((balanced.value(), balanced.undefined), (None, vec![2]));
}

#[test]
fn probabilities_of_labels() {
    let (truth, p) = ([true, false, true], [0.8, 0.3, 0.5]);
    let loss = log_loss(&truth, &p).expect("scores");
    near(loss.mean, -(0.8f64.ln() + 0.7f64.ln() + 0.5f64.ln()) / 3.0);
    near(
        brier(&truth, &p).expect("scores"),
        (0.04 + 0.09 + 0.25) / 3.0,
    );
    let certain = log_loss(&[true, false], &[1.0, 1.0]).expect("scores");
    assert_eq!(
        (certain.mean, certain.impossible),
        (Some(f64::INFINITY), vec![1])
    );
    assert_eq!(log_loss(&[], &[]).expect("none").mean, None);
    assert_eq!(brier(&[], &[]).expect("none"), None);
}

#[test]
fn calibration_by_bins() {
    let truth = [true, false, true, true, false];
    let p = [0.0, 0.1, 0.5, 1.0, 0.74];
    let bins = calibration(&truth, &p, 4).expect("a curve");
    let counts: Vec<usize> = bins.iter().map(|b| b.count).collect();
    assert_eq!(counts, [2, 0, 2, 1]);
    near(bins[0].predicted, 0.05);
    near(bins[0].observed, 0.5);
    assert_eq!((bins[1].predicted, bins[1].observed), (None, None));
    near(bins[2].predicted, 0.62);
    near(bins[3].observed, 1.0);
    for count in [3, 7, 10, 49] {
        for i in 0..count {
            let p = i as f64 / count as f64;
            let bins = calibration(&[true], &[p], count).expect("a curve");
            assert_eq!(bins[i].count, 1, "{p} of {count}");
        }
    }
    assert_eq!(calibration(&truth, &p, 0), Err(MetricError::NoBins));
}

#[test]
fn real_values() {
    let s = real(&[1.0, 2.0, f64::NAN, 6.0], &[1.5, 2.0, 9.0, 5.0], None).expect("scores");
    assert_eq!(s.count, 3);
    near(s.rmse, (1.25f64 / 3.0).sqrt());
    near(s.r2, 1.0 - 1.25 / 14.0);
    // against the mean of the training values, 1
    let s = real(&[1.0, 2.0, f64::NAN, 6.0], &[1.5, 2.0, 9.0, 5.0], Some(1.0)).expect("scores");
    near(s.r2, 1.0 - 1.25 / 26.0);
    let constant = real(&[0.1; 7], &[0.2; 7], None).expect("scores");
    assert_eq!(constant.r2, None);
    near(constant.rmse, 0.1);
    assert_eq!(real(&[f64::NAN], &[1.0], None).expect("none").rmse, None);
    let truth = Mat::from_fn(3, 2, |n, d| if d == 0 { 4.0 } else { n as f64 });
    let table = real_by_column(truth.as_ref(), truth.as_ref(), None).expect("scores");
    assert_eq!((table.all.count, table.all.r2), (6, Some(1.0)));
    // all cells: about the mean of each column, those without one left out
    let off = Mat::from_fn(3, 2, |n, d| truth[(n, d)] + 1.0);
    let both = real_by_column(truth.as_ref(), off.as_ref(), Some(&[3.0, 2.0])).expect("scores");
    near(both.all.r2, 1.0 - 6.0 / (3.0 + 5.0));
    let one = real_by_column(truth.as_ref(), off.as_ref(), Some(&[f64::NAN, 2.0])).expect("scores");
    assert_eq!((one.columns[0].r2, one.all.count), (None, 3));
    near(one.all.r2, 1.0 - 3.0 / 5.0);
    let average = Average::of(table.columns.iter().map(|s| (s.r2, 1.0)));
    assert_eq!(
        (average.over_defined, average.undefined),
        (Some(1.0), vec![0])
    );
    let i = intervals(
        &[1.0, 2.0, f64::NAN, 3.0],
        &[0.0, 2.5, 0.0, 3.0],
        &[2.0, 3.0, 1.0, 4.5],
    )
    .expect("intervals");
    assert_eq!(i.count, 3);
    near(i.coverage, 2.0 / 3.0);
    near(i.mean_width, 4.0 / 3.0);
}

#[test]
fn refusals() {
    assert!(matches!(
        auc(&[true], &[]),
        Err(MetricError::LengthMismatch { found: 0, .. })
    ));
    assert!(auc(&[true, false], &[f64::NAN, 0.0]).is_err());
    assert!(log_loss(&[true], &[1.1]).is_err());
    let p = Mat::from_fn(1, 2, |_, _| 0.4);
    assert!(class_log_loss(&[Some(0)], p.as_ref()).is_err());
    assert!(matches!(
        auc_by_class(&[Some(2)], p.as_ref()),
        Err(MetricError::UnknownClass { class: 2, .. })
    ));
    assert!(Confusion::new(&[Some(0)], &[5], 2).is_err());
    assert!(intervals(&[1.0], &[2.0], &[1.0]).is_err());
    let bad = Mat::from_fn(1, 1, |_, _| 0.5);
    assert!(auc_by_label(bad.as_ref(), bad.as_ref()).is_err());
}

#[test]
fn deviance_of_counts() {
    use super::{CountLaw, count_log_density, counts, counts_by_column, poisson_deviance};
    let truth = [0.0, 4.0, f64::NAN, 2.0];
    let mean = [0.5, 4.0, 9.0, 1.0];
    let by_hand = (2.0 * 0.5 + 0.0 + 2.0 * (2.0 * 2.0_f64.ln() - 1.0)) / 3.0;
    let found = poisson_deviance(&truth, &mean).unwrap().unwrap();
    assert!((found - by_hand).abs() < 1e-15);
    let score = counts(&truth, &mean).unwrap();
    let null = poisson_deviance(&truth, &[2.0; 4]).unwrap().unwrap();
    assert!((score.explained.unwrap() - (1.0 - by_hand / null)).abs() < 1e-15);
    assert!((score.rmse.unwrap() - (1.25_f64 / 3.0).sqrt()).abs() < 1e-15);
    assert_eq!(counts(&[3.0, 3.0], &[1.0, 2.0]).unwrap().explained, None);
    assert_eq!(poisson_deviance(&[f64::NAN], &[1.0]).unwrap(), None);
    assert_eq!(
        poisson_deviance(&[1.0], &[0.0]).unwrap(),
        Some(f64::INFINITY)
    );
    for (t, m) in [
        (-1.0, 1.0),
        (1.0, -1.0),
        (1.0, f64::NAN),
        (1.0, f64::INFINITY),
    ] {
        assert!(poisson_deviance(&[t], &[m]).is_err());
    }
    assert!(poisson_deviance(&[1.0], &[]).is_err());
    let columns = counts_by_column(
        Mat::from_fn(2, 2, |n, d| (n + d) as f64).as_ref(),
        Mat::from_fn(2, 2, |_, _| 1.0).as_ref(),
    );
    assert_eq!(columns.unwrap()[0].deviance, Some(1.0));
    let sd = [1.0, 3.0, f64::NAN, 0.0];
    let density = count_log_density(&truth, &mean, &sd).unwrap().unwrap();
    let law = |i: usize| CountLaw::new(mean[i], sd[i] * sd[i]).ln_density(truth[i]);
    assert!((density - (law(0) + law(1) + law(3)) / 3.0).abs() < 1e-15);
    assert!(count_log_density(&truth, &mean, &[-1.0; 4]).is_err());
}

#[test]
fn units_of_deviance_meet_in_their_limits() {
    use super::{binomial_unit, negative_binomial_unit, poisson_unit};
    for (y, m) in [(0.0, 0.7), (3.0, 5.0), (8.0, 2.5)] {
        let poisson = poisson_unit(y, m);
        assert!((negative_binomial_unit(y, m, 1e9) - poisson).abs() < 1e-6);
        assert!((binomial_unit(y, 1e9, m / 1e9) - poisson).abs() < 1e-6);
        let r: f64 = 1.3;
        let y_ln = if y > 0.0 { y * (y / m).ln() } else { 0.0 };
        let direct = 2.0 * (y_ln - (y + r) * ((y + r) / (m + r)).ln());
        assert!((negative_binomial_unit(y, m, r) - direct).abs() < 1e-12);
    }
    assert_eq!(binomial_unit(3.0, 3.0, 1.0), 0.0);
    assert_eq!(binomial_unit(1.0, 3.0, 0.0), f64::INFINITY);
}

/// Of a size that is nothing beside the mean, where $(y + r)/(\mu + r)$ is below what 1 can be told
/// from.
#[test]
fn a_size_far_below_the_mean_has_a_deviance() {
    for (y, m, r) in [
        (0.0_f64, 600.0_f64, 1.5e-18_f64),
        (3.0, 1e12, 1.0),
        (0.0, 1e300, 1.0),
    ] {
        let own = if y > 0.0 { y * (y / m).ln() } else { 0.0 };
        let log = (y + r).ln() - f64::ln(m + r);
        let direct = 2.0 * (own - (y + r) * log);
        let found = negative_binomial_unit(y, m, r);
        assert!((found - direct).abs() <= 1e-12 * direct, "{found} {direct}");
    }
}

#[test]
fn rounding_explains_nothing() {
    let (own, null) = (0.1 + 0.2, 0.3);
    assert_ne!(own, null, "two sums of the same squares");
    assert_eq!(explained(own, null), Some(0.0));
    assert_eq!(explained(1.0, 4.0), Some(0.75));
    assert_eq!(explained(5.0, 4.0), Some(-0.25));
    assert_eq!(explained(1.0, 0.0), None);
    assert_eq!(explained(1.0, f64::NAN), None);
}
