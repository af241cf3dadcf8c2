//! Weights of labels that are measured by the sizes of factors in other views
//! (docs/decisions/0061-weights-that-follow-factors.md).

use polyview_core::{Event, Table};
use polyview_infer::Audit;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::discriminative::{data, some};
use crate::{EngineKind, Fit, Fitting, ModelSpec, models};

const N: usize = 260;
const TRAIN: usize = 40;

/// Features of factors whose sizes fall from the first to the last, and a label of which the
/// features know as much as their sizes say.
fn tables(seed: u64) -> [Table; 2] {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal =
        |rows: usize, columns: usize| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let z = normal(N, 8);
    let size = |k: usize| 0.65_f64.powi(k as i32);
    let w = normal(40, 8);
    let w = Mat::from_fn(40, 8, |d, k| size(k) * w[(d, k)]);
    let x = &z * w.transpose() + 0.3 * normal(N, 40);
    let slopes = normal(8, 2);
    let mut rng = StreamKey::new(seed).chain(1).rng();
    let labels = Mat::from_fn(N, 2, |n, d| {
        let eta: f64 = (0..8)
            .map(|k| 2.0 * size(k) * slopes[(k, d)] * z[(n, k)])
            .sum();
        f64::from(u8::from(
            uniform_open01(&mut rng) < 1.0 / (1.0 + (-eta).exp()),
        ))
    });
    let of = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: (0..N).map(|n| format!("s{n:04}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    [of("x", x), of("y", labels)]
}

fn spec(prior: &str) -> ModelSpec {
    let mut spec = models::sshiba(12).with_likelihood("y", "bernoulli");
    let mut choices = spec.view("y");
    choices.selection = prior.into();
    spec = spec.with_view("y", choices);
    spec.vb.audit = Audit::Blocks;
    spec
}

fn fitted(tables: &[Table; 2], spec: ModelSpec) -> Fit {
    let train = tables.each_ref().map(|t| some(t, 0..TRAIN));
    crate::fit(data(train), spec).unwrap()
}

/// Mean log loss of the labels of new samples.
fn log_loss(tables: &[Table; 2], fit: &Fit) -> f64 {
    let [x, y] = tables;
    let p = fit.predict(&data([some(x, TRAIN..N)]), "y").unwrap();
    let mut sum = 0.0;
    for n in 0..N - TRAIN {
        for d in 0..2 {
            let (p, is) = (p.mean[(n, d)], y.values[(TRAIN + n, d)]);
            sum -= if is > 0.5 { p.ln() } else { (-p).ln_1p() };
        }
    }
    sum / (2 * (N - TRAIN)) as f64
}

/// Shares of the factors in what all explain of x, from its weights and factors alone.
fn sizes(fit: &Fit) -> Vec<f64> {
    let component = fit.component(0).unwrap();
    let (z, w) = (
        component.factors().mean(),
        component.views[0].weights.mean(),
    );
    let own: Vec<f64> = (0..w.ncols())
        .map(|k| z.col(k).squared_norm_l2() * w.col(k).squared_norm_l2())
        .collect();
    let all: f64 = own.iter().sum();
    own.iter().map(|o| o / all).collect()
}

#[test]
fn precisions_are_those_of_the_sizes_in_the_end_and_no_block_lowers_a_bound() {
    let fit = fitted(&tables(3), spec("relative-ridge"));
    let columns = fit.components[0]
        .reader()
        .vec("views/y/weights/prior/columns")
        .unwrap();
    let sizes = sizes(&fit);
    assert_eq!(columns.len(), sizes.len());
    assert!(sizes.len() > 3, "{sizes:?}");
    for (precision, size) in columns.iter().zip(&sizes) {
        let off = (precision * size.max(1e-5)).ln().abs();
        assert!(off < 0.06, "{precision} beside a size of {size}");
    }
    let fell = |e: &Event| matches!(e, Event::BoundFell { .. });
    assert!(!fit.record.journal.entries.iter().any(|e| fell(&e.event)));
}

#[test]
fn many_weak_factors_do_not_drown_labels() {
    let mut losses = [0.0; 3];
    for seed in 0..8 {
        let tables = tables(seed);
        let priors = ["ard", "ridge-by-feature", "relative-ridge"];
        for (loss, prior) in losses.iter_mut().zip(priors) {
            *loss += log_loss(&tables, &fitted(&tables, spec(prior))) / 8.0;
        }
    }
    let [ard, ridge, following] = losses;
    assert!(following < ard.min(ridge) - 0.005, "{losses:?}");
}

/// What follows is a part of the state: a fit that was stopped between two steps of
/// following goes on to the same bits.
#[test]
fn interruptions_change_no_bit() {
    let tables = tables(5);
    let train = || data(tables.each_ref().map(|t| some(t, 0..TRAIN)));
    let mut whole = Fitting::new(train(), spec("relative-ridge")).unwrap();
    let mut bounds = Vec::new();
    loop {
        let progress = whole.step().unwrap();
        bounds.push(progress.objective.to_bits());
        if progress.done {
            break;
        }
    }
    let mut first = Fitting::new(train(), spec("relative-ridge")).unwrap();
    for _ in 0..11 {
        first.step().unwrap();
    }
    let saved = first.checkpoint().unwrap();
    let mut second = Fitting::new(train(), spec("relative-ridge")).unwrap();
    second.resume(&saved).unwrap();
    for (sweep, bound) in bounds.iter().enumerate().skip(11) {
        assert_eq!(
            second.step().unwrap().objective.to_bits(),
            *bound,
            "{sweep}"
        );
    }
}

/// A chain takes sizes over while it warms up; alone, labels have equal precisions.
#[test]
fn chains_follow_and_labels_alone_have_nothing_to_follow() {
    let tables = tables(6);
    let mut gibbs = spec("relative-ridge");
    gibbs.factors = 5;
    gibbs.engine = EngineKind::Gibbs;
    (gibbs.gibbs.chains, gibbs.gibbs.warm_up, gibbs.gibbs.sweeps) = (1, 100, 20);
    let fit = fitted(&tables, gibbs);
    let columns = fit.components[0]
        .reader()
        .vec("views/y/weights/prior/columns")
        .unwrap();
    assert!(
        columns.iter().any(|c| (c / columns[0]).ln().abs() > 0.3),
        "{columns:?}"
    );
    assert!(log_loss(&tables, &fit) < 0.65);

    let alone = crate::fit(data([some(&tables[1], 0..TRAIN)]), {
        let mut spec = spec("relative-ridge");
        spec.factors = 2;
        spec
    });
    let columns = alone.unwrap().components[0]
        .reader()
        .vec("views/y/weights/prior/columns")
        .unwrap();
    assert!(columns.iter().all(|c| *c == columns[0]), "{columns:?}");
}
