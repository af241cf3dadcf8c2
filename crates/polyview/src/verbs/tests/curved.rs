//! Targets that features act on otherwise than in proportion go by similarities (docs/decisions/0094-regressions-that-bend.md).

use polyview_core::{Dataset, DatasetBuilder, State, Table, View};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use crate::verbs::align::Aligned;
use crate::verbs::curved::Curved;
use crate::verbs::{PredictOptions, Prediction};
use crate::{Fit, Settle, models};

const N: usize = 160;

/// Two views of two and of three features, and two targets: the first is in proportion to features of both, the second bends.
fn tables(seed: u64) -> [Table; 3] {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal = |columns: usize| Mat::from_fn(N, columns, |_, _| standard_normal(&mut rng));
    let (a, b, noise) = (normal(2), normal(3), normal(2));
    let y = Mat::from_fn(N, 2, |n, d| {
        let value = match d {
            0 => a[(n, 0)] - 0.7 * b[(n, 1)] + 0.4 * b[(n, 2)],
            _ => 2.0 * (2.0 * a[(n, 0)]).sin() + b[(n, 0)].powi(2),
        };
        value + 0.3 * noise[(n, d)]
    });
    [table("a", a), table("b", b), table("y", y)]
}

fn data(tables: &[Table]) -> Dataset {
    let tables = tables.iter().cloned();
    let built = tables
        .fold(Dataset::builder(), DatasetBuilder::view)
        .build();
    built.expect("data")
}

fn fitted(tables: &[Table], how: Settle) -> Fit {
    let mut spec = models::bibfa(2).with_settled("y", how);
    spec.vb.max_sweeps = 60;
    crate::fit(data(tables), spec).expect("a fit")
}

/// Which predictors go by similarities.
fn curved(fit: &Fit) -> Vec<bool> {
    let found = fit.regressed(2).unwrap().expect("a regression");
    let own = |c: usize| {
        let curved = found.curved.as_ref();
        curved.is_some_and(|own| own.coefficients.col_as_slice(c).iter().any(|b| *b != 0.0))
    };
    (0..found.intercept.len()).map(own).collect()
}

fn predicted(fit: &Fit, tables: &[Table]) -> Prediction {
    let new = data(&tables[..2]);
    fit.predict(&new, "y").expect("predictions")
}

/// Share of the squares of a target about its mean that predictions leave.
fn left(tables: &[Table], found: &Prediction, d: usize) -> f64 {
    let y = tables[2].values.col_as_slice(d);
    let mean = y.iter().sum::<f64>() / N as f64;
    let all: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let off = (0..N).map(|n| (y[n] - found.mean[(n, d)]).powi(2));
    off.sum::<f64>() / all
}

/// Squares of features: a kernel so wide that it hardly curves is, with a small penalty, a polynomial of them, and the best there is. It was what
/// bends were held against.
#[test]
fn squares_are_seen_by_wide_kernels() {
    let of = |seed: u64| {
        let mut rng = StreamKey::new(seed).rng();
        let mut normal =
            |columns: usize| Mat::from_fn(N, columns, |_, _| standard_normal(&mut rng));
        let (a, b, noise) = (normal(6), normal(6), normal(1));
        let y = Mat::from_fn(N, 1, |n, _| {
            a[(n, 0)].powi(2) + b[(n, 1)].powi(2) + a[(n, 1)] + 0.2 * noise[(n, 0)]
        });
        [table("a", a), table("b", b), table("y", y)]
    };
    let [train, new] = [5, 6].map(of);
    let fit = fitted(&train, Settle::Mixture);
    assert_eq!(curved(&fit), [true]);
    let found = left(&new, &predicted(&fit, &new), 0);
    assert!(found < 0.45, "{found}");
    let linear = fitted(&train, Settle::LinearMixture);
    let plain = left(&new, &predicted(&linear, &new), 0);
    assert!(plain > 0.7, "{plain}");
}

#[test]
fn what_bends_goes_by_similarities_and_what_does_not_does_not() {
    let [train, new] = [1, 2].map(tables);
    let fit = fitted(&train, Settle::Mixture);
    assert_eq!(curved(&fit), [false, true]);
    let found = predicted(&fit, &new);
    let said = format!("{:?}", fit.record().journal);
    assert!(
        said.contains("1 of 2 regressions go by similarities to 160 training samples"),
        "{said}"
    );
    // the noise is .09 of variances of about 1.65 and 3.9
    let left_over = [0, 1].map(|d| left(&new, &found, d));
    assert!(left_over[0] < 0.09 && left_over[1] < 0.25, "{left_over:?}");
    let linear = fitted(&train, Settle::LinearMixture);
    assert_eq!(curved(&linear), [false, false]);
    assert_eq!(
        linear.views()[2].choices.settle,
        Some(Settle::LinearMixture)
    );
    let straight = left(&new, &predicted(&linear, &new), 1);
    assert!(straight > 2.0 * left_over[1], "{straight} {left_over:?}");
    // the file has all of it
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.regressed(2).unwrap(), fit.regressed(2).unwrap());
    let other = predicted(&again, &new);
    assert_eq!(other.mean, found.mean);
}

/// What bends is not known away from the training samples, and is not said to be: standard deviations grow, and intervals hold what they say where new
/// samples are as those of training. What is in proportion to the features says the same of all.
#[test]
fn predictions_that_bend_are_unsure_away_from_the_training_samples() {
    let [train, new] = [1, 2].map(tables);
    let fit = fitted(&train, Settle::Mixture);
    let near = predicted(&fit, &new);
    let mut beyond = new.clone();
    beyond[0].values.col_as_slice_mut(0).fill(7.0);
    let far = predicted(&fit, &beyond);
    let mean = |of: &Prediction, d: usize| of.sd.col(d).iter().sum::<f64>() / N as f64;
    let grows = |d: usize| mean(&far, d) / mean(&near, d);
    assert!(
        grows(1) > 2.0 && grows(0) < 1.2,
        "{} {}",
        grows(0),
        grows(1)
    );
    // 1.64 standard deviations are 90 %
    let inside = |n: usize| {
        let off = new[2].values[(n, 1)] - near.mean[(n, 1)];
        off.abs() < 1.645 * near.sd[(n, 1)]
    };
    let held = (0..N).filter(|n| inside(*n)).count();
    assert!((132..=156).contains(&held), "{held}");
    // the standard deviation of a sample is that of how near it is: where it is large errors are
    let mut order: Vec<usize> = (0..N).collect();
    order.sort_by(|a, b| near.sd[(*a, 1)].total_cmp(&near.sd[(*b, 1)]));
    let error = |rows: &[usize]| -> f64 {
        let off = |n: &usize| (new[2].values[(*n, 1)] - near.mean[(*n, 1)]).powi(2);
        (rows.iter().map(off).sum::<f64>() / rows.len() as f64).sqrt()
    };
    let (sure, unsure) = order.split_at(N / 2);
    assert!(
        error(unsure) > 1.3 * error(sure),
        "{} {}",
        error(sure),
        error(unsure)
    );
    // the file says the same
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(predicted(&again, &beyond).sd, far.sd);
}

/// Features behind kernels that the user gave are compared as well, in the units of these: the columns of a kernel do not say how near a sample is
/// to itself, nor may another width be had of them.
#[test]
fn features_behind_kernels_bend_too() {
    let [train, new] = [1, 2].map(tables);
    let given = |few: bool| {
        let rbf = if few { "rbf{references=20}" } else { "rbf" };
        let mut spec = models::bibfa(2)
            .with_settled("y", Settle::Mixture)
            .with_kernel("a", rbf.parse().unwrap())
            .with_kernel("b", "linear".parse().unwrap());
        spec.vb.max_sweeps = 60;
        crate::fit(data(&train), spec).expect("a fit")
    };
    let fit = given(true);
    // reference points are few, the samples that are compared all
    assert!(curved(&fit)[1]);
    let near = predicted(&fit, &new);
    let error = left(&new, &near, 1);
    assert!(error < 0.25, "{error}");
    let mut beyond = new.clone();
    beyond[0].values.col_as_slice_mut(0).fill(7.0);
    let far = predicted(&fit, &beyond);
    let mean = |of: &Prediction| of.sd.col(1).iter().sum::<f64>() / N as f64;
    assert!(
        mean(&far) > 2.0 * mean(&near),
        "{} {}",
        mean(&far),
        mean(&near)
    );
    // the file has them, also for samples that lack a view
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.regressed(2).unwrap(), fit.regressed(2).unwrap());
    for known in [&new[..2], &new[..1]] {
        let [one, other] = [&fit, &again].map(|f| f.predict(&data(known), "y").unwrap());
        assert_eq!((one.mean, one.sd), (other.mean, other.sd));
    }
    // files of before the features were kept predict from what they have
    let mut before = again;
    for view in before.data.iter_mut().flatten() {
        let values = view.to_values_with_nan();
        *view = View::from_values(view.name(), view.features().to_vec(), values).unwrap();
    }
    let found = before.predict(&data(&new[..1]), "y").unwrap();
    assert!(found.mean.col(1).iter().all(|x| x.is_finite()));
    // a sample is predicted alone as among others
    let alone: Vec<Table> = (new.iter())
        .map(|t| Table {
            samples: vec![t.samples[3].clone()],
            values: t.values.subrows(3, 1).to_owned(),
            ..t.clone()
        })
        .collect();
    let one = predicted(&fit, &alone);
    assert!((one.mean[(0, 1)] - near.mean[(3, 1)]).abs() < 1e-9);
    assert!((one.sd[(0, 1)] - near.sd[(3, 1)]).abs() < 1e-9);
    assert!(curved(&given(false))[1]);
}

/// A precomputed kernel has no features behind it.
#[test]
fn what_is_not_known_is_not_compared() {
    let train = tables(1);
    let x = &train[0].values;
    let near = |n: usize, m: usize| {
        let square = (0..2).map(|d| (x[(n, d)] - x[(m, d)]).powi(2)).sum::<f64>();
        (-0.5 * square).exp()
    };
    let similar = Table {
        features: train[0].samples.clone(),
        values: Mat::from_fn(N, N, near),
        ..train[0].clone()
    };
    let all = [similar, train[1].clone(), train[2].clone()];
    let mut spec = models::bibfa(2)
        .with_settled("y", Settle::Mixture)
        .with_kernel("a", "precomputed".parse().unwrap());
    spec.vb.max_sweeps = 60;
    let fit = crate::fit(data(&all), spec).expect("a fit");
    assert_eq!(curved(&fit), [false, false]);
    assert!(fit.data().unwrap()[0].behind().is_none());
}

/// A sample that lacks a view is told what its factors say of that, and one without any is left to the joint fit.
#[test]
fn absent_views_are_filled_in() {
    let [train, mut new] = [1, 2].map(tables);
    let fit = fitted(&train, Settle::Mixture);
    let found = fit.regressed(2).unwrap().unwrap();
    for d in 0..3 {
        new[1].values[(4, d)] = f64::NAN;
    }
    let mut known = views(&fit, &new);
    assert_eq!(found.serves(&fit, &known, N), vec![true; N]);
    let all: Vec<usize> = (0..N).collect();
    assert_eq!(found.lacking((&fit, true), &known, &all), (vec![1], 1));
    assert_eq!(found.lacking((&fit, true), &known, &all[5..]), (vec![], 0));
    assert_eq!(found.lacking((&fit, false), &known, &all), (vec![], 0));
    let of = |views: &[Option<View>]| found.scores(&fit, views, N).unwrap();
    let with_hole = of(&known);
    known[1] = None;
    let without = of(&known);
    let variance = |n: usize| without.variance.as_ref().unwrap()[(n, 0)];
    // what a sample lacks is the same however it is said
    assert!((with_hole.mean[(4, 0)] - without.mean[(4, 0)]).abs() < 1e-9);
    let own = with_hole.variance.as_ref().unwrap()[(4, 0)];
    assert!(own > 0.1 && (own - variance(4)).abs() < 1e-9, "{own}");
    known[0] = None;
    assert_eq!(found.serves(&fit, &known, N), vec![false; N]);
}

/// The views as predictions see them.
fn views(fit: &Fit, tables: &[Table]) -> Vec<Option<View>> {
    let aligned = Aligned::new(
        fit,
        &data(&tables[..2]),
        Some(2),
        PredictOptions::default().unknown_classes,
    );
    aligned.expect("views").views
}

/// A file whose parts do not fit together is refused.
#[test]
fn damaged_files_are_refused() {
    let train = tables(1);
    let fit = fitted(&train, Settle::Mixture);
    let found = fit.regressed(2).unwrap().unwrap();
    let curved = found.curved.expect("similarities");
    let state = |change: &dyn Fn(&mut State)| {
        let mut state = State::new();
        curved.save(&fit, "", &mut state);
        change(&mut state);
        Curved::load("", &state.reader()).map(|_| ())
    };
    assert!(state(&|_| ()).is_ok());
    assert!(state(&|s| s.put_vec("gamma", &[-1.0])).is_err());
    assert!(state(&|s| s.put_vec("sds", &[1.0])).is_err());
    assert!(state(&|s| s.put_mat("priors", Mat::<f64>::zeros(1, 2).as_ref())).is_err());
    assert!(state(&|s| s.put_mat("coefficients", Mat::<f64>::zeros(3, 2).as_ref())).is_err());
}

#[test]
fn labels_that_bend_go_by_similarities() {
    let [a, b, mut y] = tables(3);
    y.values = Mat::from_fn(N, 1, |n, _| {
        f64::from(u8::from(
            a.values[(n, 0)].powi(2) + b.values[(n, 0)].powi(2) > 1.4,
        ))
    });
    y.features.truncate(1);
    let all = [a, b, y];
    let mut spec = models::sshiba(2)
        .with_likelihood("y", "bernoulli")
        .with_settled("y", Settle::Mixture);
    spec.vb.max_sweeps = 60;
    let fit = crate::fit(data(&all), spec).expect("a fit");
    assert_eq!(curved(&fit), [true]);
    // a ring, of which lines know nothing
    let new = tables(4);
    let found = predicted(&fit, &new);
    let right = (0..N)
        .filter(|&n| {
            let inside = new[0].values[(n, 0)].powi(2) + new[1].values[(n, 0)].powi(2) > 1.4;
            inside == (found.mean[(n, 0)] > 0.5)
        })
        .count();
    assert!(right * 10 > N * 8, "{right} of {N}");
}
