//! Regressions beside the joint fit take what samples lack to be what their factors say (docs/decisions/0095-holes-of-regressions.md).

use polyview_core::{Dataset, DatasetBuilder, ParameterUncertainty, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use crate::verbs::PredictOptions;
use crate::verbs::align::Aligned;
use crate::verbs::filled::Filled;
use crate::{Fit, Settle, models};

const N: usize = 200;
const D: usize = 10;

/// Targets.
const C: usize = 5;

/// Ten features of two factors with a good deal of their own, and targets that go by the first features, which are more than two
/// factors can know.
fn tables(seed: u64) -> [Table; 2] {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal = |columns: usize| Mat::from_fn(N, columns, |_, _| standard_normal(&mut rng));
    let (z, own, noise) = (normal(2), normal(D), normal(C));
    let x = Mat::from_fn(N, D, |n, d| {
        z[(n, d % 2)] + 0.3 * z[(n, 1 - d % 2)] * (d as f64 - 4.0) / 4.0 + 0.7 * own[(n, d)]
    });
    let y = Mat::from_fn(N, C, |n, c| 3.0 * x[(n, c)] + 0.2 * noise[(n, c)]);
    [table("x", x), table("y", y)]
}

fn data(tables: &[Table]) -> Dataset {
    let each = tables.iter().cloned();
    let built = each.fold(Dataset::builder(), DatasetBuilder::view).build();
    built.expect("data")
}

fn fitted(tables: &[Table]) -> Fit {
    let mut spec = models::bibfa(2).with_settled("y", Settle::LinearMixture);
    spec.vb.max_sweeps = 100;
    let fit = crate::fit(data(tables), spec).expect("a fit");
    let [joint, regression] = fit.shares_of(1).unwrap().expect("a mixture");
    assert!(regression > 0.9, "{joint} {regression}");
    fit
}

fn aligned(fit: &Fit, x: &Table) -> Aligned {
    let unknown = PredictOptions::default().unknown_classes;
    Aligned::new(fit, &data(std::slice::from_ref(x)), Some(1), unknown).expect("views")
}

/// Hides the first feature of all samples and others of some.
fn with_holes(mut x: Table) -> Table {
    for n in 0..N {
        x.values[(n, 0)] = f64::NAN;
        if n % 3 == 0 {
            x.values[(n, 1 + n % (D - 1))] = f64::NAN;
        }
    }
    x
}

/// Mean over the points and variance between and within them are those of the law of the cell.
#[test]
fn cells_have_the_moments_of_their_laws() {
    let fit = fitted(&tables(1));
    let [x, _] = tables(2).map(with_holes_of_x);
    let views = aligned(&fit, &x).views;
    let filled = Filled::new(&fit, &[0], &views, N).unwrap().at_means();
    let law = fit.predict_aligned(0, aligned(&fit, &x), ParameterUncertainty::Posterior);
    let [mean, sd] = law.unwrap().laws.working_moments();
    let own = filled.of(0).unwrap();
    let holes = filled.holes.as_ref().unwrap();
    assert_eq!(holes.rows.len(), N);
    let count = holes.points() as f64;
    let at: Vec<_> = (0..holes.points())
        .map(|point| filled.at(holes, point).swap_remove(0).unwrap())
        .collect();
    for n in 0..N {
        for d in 0..D {
            if x.values[(n, d)].is_nan() {
                let off: f64 = (at.iter())
                    .map(|cells| {
                        let within = cells.variance.as_ref().unwrap()[(n, d)];
                        within + (cells.mean[(n, d)] - own[(n, d)]).powi(2)
                    })
                    .sum();
                assert!((own[(n, d)] - mean[(n, d)]).abs() < 1e-9, "{n} {d}");
                let variance = sd[(n, d)].powi(2);
                assert!(
                    (off / count / variance - 1.0).abs() < 1e-9,
                    "{n} {d}: {} {variance}",
                    off / count
                );
            } else {
                assert!(at.iter().all(|cells| cells.mean[(n, d)] == own[(n, d)]));
            }
        }
    }
}

fn with_holes_of_x(t: Table) -> Table {
    if t.name == "x" { with_holes(t) } else { t }
}

/// Intervals are as wide as what is missing leaves open, and no wider; a sample alone is told what it is told among others.
#[test]
fn intervals_are_as_wide_as_what_is_missing_leaves_open() {
    let fit = fitted(&tables(1));
    let [x, y] = tables(3).map(with_holes_of_x);
    let new = data(std::slice::from_ref(&x));
    let found = fit.predict(&new, "y").unwrap();
    let (lower, upper) = found.interval(0.9).unwrap();
    let inside = |n: &usize| {
        let own = y.values[(*n, 0)];
        lower[(*n, 0)] <= own && own <= upper[(*n, 0)]
    };
    let covered = (0..N).filter(inside).count();
    assert!(
        (N * 82 / 100..=N * 97 / 100).contains(&covered),
        "{covered}"
    );
    // what the other features say of the first is in the mean
    let mean = y.values.col_as_slice(0).iter().sum::<f64>() / N as f64;
    let [mut left, mut all] = [0.0; 2];
    for n in 0..N {
        left += (y.values[(n, 0)] - found.mean[(n, 0)]).powi(2);
        all += (y.values[(n, 0)] - mean).powi(2);
    }
    assert!(left < 0.6 * all, "{left} {all}");
    // without holes they are much narrower
    let [whole, _] = tables(3);
    let whole = fit.predict(&data(&[whole]), "y").unwrap();
    assert!(whole.sd[(0, 0)] < 0.3 * found.sd[(0, 0)]);
    let mut alone = x;
    alone.values = alone.values.subrows(7, 1).to_owned();
    alone.samples = vec!["s7".into()];
    let alone = fit.predict(&data(&[alone]), "y").unwrap();
    assert!((alone.mean[(0, 0)] - found.mean[(7, 0)]).abs() < 1e-10);
    assert!((alone.sd[(0, 0)] - found.sd[(7, 0)]).abs() < 1e-10);
}

/// With holes in training the regression is made on what factors say of them, and its noise is what they do not explain.
#[test]
fn holes_in_training_are_no_noise() {
    let [mut x, y] = tables(1);
    for n in (0..N).step_by(2) {
        x.values[(n, 0)] = f64::NAN;
    }
    let fit = fitted(&[x, y]);
    let [x, y] = tables(3);
    let found = fit.predict(&data(&[x]), "y").unwrap();
    // of the samples that know the feature the noise is next to nothing of a variance of ten and more
    let off = |n: usize| (found.mean[(n, 0)] - y.values[(n, 0)]).powi(2);
    let mean_square = (0..N).map(off).sum::<f64>() / N as f64;
    let sd = found.sd.col_as_slice(0).iter().sum::<f64>() / N as f64;
    assert!(mean_square < 0.8 && sd < 0.9, "{mean_square} {sd}");
}
