//! Samples with other views than the regression of the fit is made on have one of their own
//! (docs/decisions/0112-regressions-by-what-samples-have.md).

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use super::discriminative::{data, some};
use crate::{Fit, Settle, UpdateOptions, models};

const TRAIN: usize = 120;
const N: usize = 420;
/// Features of each view.
const WIDTH: usize = 12;

/// Features `x`, the same with noise `u`, labels `m` of their own, and a label `y` of `u` and `m`.
fn tables() -> [Table; 4] {
    let mut rng = StreamKey::new(3).rng();
    let mut normal = |columns: usize| Mat::from_fn(N, columns, |_, _| standard_normal(&mut rng));
    let (x, noise, toss, chance) = (normal(WIDTH), normal(WIDTH), normal(4), normal(1));
    let u = Mat::from_fn(N, WIDTH, |n, d| x[(n, d)] + 0.3 * noise[(n, d)]);
    let m = Mat::from_fn(N, 4, |n, d| f64::from(u8::from(toss[(n, d)] > 0.0)));
    let y = Mat::from_fn(N, 1, |n, _| {
        let of_features: f64 = (0..WIDTH).map(|d| u[(n, d)]).sum();
        let of_labels: f64 = (0..4).map(|d| 2.0 * m[(n, d)] - 1.0).sum();
        let score = 0.7 * of_features + 1.5 * of_labels + 0.5 * chance[(n, 0)];
        f64::from(u8::from(score > 0.0))
    });
    [table("x", x), table("u", u), table("m", m), table("y", y)]
}

fn fitted(tables: &[Table; 4]) -> Fit {
    fitted_on(tables, TRAIN)
}

/// A fit of the first samples.
fn fitted_on(tables: &[Table; 4], samples: usize) -> Fit {
    let mut spec = models::sshiba(1);
    for label in ["m", "y"] {
        spec = spec
            .with_likelihood(label, "bernoulli")
            .with_settled(label, Settle::Mixture);
    }
    crate::fit(data(tables.each_ref().map(|t| some(t, 0..samples))), spec).expect("a fit")
}

/// Some of the tables, of new samples.
fn new(tables: &[Table; 4], which: &[usize], rows: std::ops::Range<usize>) -> Dataset {
    let of = |i: &usize| some(&tables[*i], TRAIN + rows.start..TRAIN + rows.end);
    data(which.iter().map(of))
}

/// Log loss of the new samples' label, known by these views.
fn loss(fit: &Fit, tables: &[Table; 4], which: &[usize]) -> f64 {
    let found = fit.predict(&new(tables, which, 0..N - TRAIN), "y").unwrap();
    let of = |n: usize| {
        let p = found.mean[(n, 0)];
        let truth = tables[3].values[(TRAIN + n, 0)];
        -if truth > 0.5 { p.ln() } else { (1.0 - p).ln() }
    };
    (0..N - TRAIN).map(of).sum::<f64>() / (N - TRAIN) as f64
}

#[test]
fn what_samples_have_is_what_they_are_predicted_from() {
    let tables = tables();
    let fit = fitted(&tables);
    let mut without_data = fit.clone();
    without_data.forget_data();
    let of = |which: &[usize]| [&fit, &without_data].map(|fit| loss(fit, &tables, which));
    // those of the fit's own regression: nothing is made anew
    let [own, kept] = of(&[0, 1]);
    assert_eq!(own, kept);
    // its one factor does not tell the features of one view by those of the other
    let [own, filled] = of(&[0]);
    assert!(own < filled - 0.02, "{own} {filled}");
    // labels that were hidden with the target when the fit was made, and are known of new samples
    let [with_labels, left_alone] = of(&[0, 1, 2]);
    assert!(with_labels < left_alone - 0.1, "{with_labels} {left_alone}");
    assert!(with_labels < kept - 0.1, "{with_labels} {kept}");
    let said = |fit: &Fit, which: &[usize]| {
        let found = fit.predict(&new(&tables, which, 0..9), "y").unwrap();
        found.notes.join(" ")
    };
    assert!(said(&fit, &[0, 2]).contains(
        "9 of 9 sample(s) lack the view 'u', which the regression beside the joint fit was made on, or come with 'm'"
    ));
    assert!(
        said(&fit, &[0]).ends_with(
            "made from the training samples, for each set of views, and stands beside that of the fit or in its place"
        )
    );
    assert!(said(&without_data, &[0]).contains("takes what they lack to be what their factors"));
    for fit in [&fit, &without_data] {
        assert!(!said(fit, &[0, 1]).contains("regression"));
    }
}

/// A sample is told the same whatever the others have, in any order of them.
#[test]
fn what_others_have_changes_nothing() {
    let mut tables = tables();
    let fit = fitted(&tables);
    for n in TRAIN..TRAIN + 9 {
        for d in 0..WIDTH {
            if n % 3 == 0 {
                tables[0].values[(n, d)] = f64::NAN;
            } else if n % 3 == 1 {
                tables[1].values[(n, d)] = f64::NAN;
            }
        }
    }
    let all = fit.predict(&new(&tables, &[0, 1], 0..9), "y").unwrap();
    assert!(all.notes.join(" ").contains("6 of 9 sample(s)"));
    for n in 0..9 {
        let which: &[usize] = [&[1][..], &[0], &[0, 1]][(TRAIN + n) % 3];
        let alone = fit.predict(&new(&tables, which, n..n + 1), "y").unwrap();
        assert!((all.mean[(n, 0)] - alone.mean[(0, 0)]).abs() < 1e-12);
    }
    let from_file = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    let again = from_file
        .predict(&new(&tables, &[0, 1], 0..9), "y")
        .unwrap();
    assert_eq!(all.mean, again.mean);
}

/// Samples that a model takes in count for the regression of those that have all views as well.
#[test]
fn an_updated_model_has_its_regression_made_again() {
    let tables = tables();
    let few = fitted_on(&tables, 40);
    let more = data(tables.each_ref().map(|t| some(t, 40..TRAIN)));
    let updated = few.update(&more, &UpdateOptions::default()).unwrap();
    assert!(
        updated
            .notes
            .iter()
            .any(|n| n.contains("made again with the new ones"))
    );
    let own = |fit: &Fit| fit.regressed(3).unwrap().expect("a regression");
    assert_ne!(own(&updated.fit), own(&few));
    let [before, after] = [&few, &updated.fit].map(|fit| loss(fit, &tables, &[0, 1]));
    assert!(after < before - 0.02, "{before} {after}");
    // without the data it stays what it was
    let mut bare = few.clone();
    bare.forget_data();
    let updated = bare.update(&more, &UpdateOptions::default()).unwrap();
    assert_eq!(own(&updated.fit), own(&few));
}
