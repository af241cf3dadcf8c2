//! The seven discriminative models, from data to predicted labels.

use polyview_core::{Dataset, DatasetBuilder, Table};
use polyview_infer::Audit;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::models::{self, Table1};
use crate::{Fit, ModelSpec, ViewChoices, metrics};

const N: usize = 120;
pub(super) const TRAIN: usize = 80;
const D: usize = 24;

/// Skewed features of two factors and a label that follows the first one, or
/// their product.
pub(super) fn tables(product: bool) -> (Table, Table) {
    let mut rng = StreamKey::new(3).rng();
    let z = Mat::from_fn(N, 2, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(D, 2, |_, _| standard_normal(&mut rng));
    let eta = &z * w.transpose();
    let x = Mat::from_fn(N, D, |n, d| {
        (eta[(n, d)] + 0.3 * standard_normal(&mut rng)).exp()
    });
    let label = |n: usize| {
        let score = if product {
            4.0 * z[(n, 0)] * z[(n, 1)]
        } else {
            z[(n, 0)]
        };
        f64::from(u8::from(score > 0.0))
    };
    let samples: Vec<String> = (0..N).map(|n| format!("s{n:03}")).collect();
    let x = Table {
        name: "x".into(),
        samples: samples.clone(),
        features: (0..D).map(|d| format!("x{d}")).collect(),
        levels: Vec::new(),
        values: x,
    };
    let y = Table {
        name: "y".into(),
        samples,
        features: vec!["y".into()],
        levels: Vec::new(),
        values: Mat::from_fn(N, 1, |n, _| label(n)),
    };
    (x, y)
}

pub(super) fn some(table: &Table, rows: std::ops::Range<usize>) -> Table {
    Table {
        samples: table.samples[rows.clone()].to_vec(),
        values: table.values.subrows(rows.start, rows.len()).to_owned(),
        ..table.clone()
    }
}

pub(super) fn data(tables: impl IntoIterator<Item = Table>) -> Dataset {
    let builder = tables
        .into_iter()
        .fold(Dataset::builder(), DatasetBuilder::view);
    builder.build().unwrap()
}

/// Fit on the first samples, area under the curve of the others.
fn area(spec: ModelSpec, x: &Table, y: &Table) -> (Fit, f64) {
    let fit = crate::fit(data([some(x, 0..TRAIN), some(y, 0..TRAIN)]), spec).unwrap();
    let p = fit.predict(&data([some(x, TRAIN..N)]), "y").unwrap();
    let truth: Vec<bool> = (TRAIN..N).map(|n| y.values[(n, 0)] > 0.5).collect();
    let score = p.score.unwrap();
    let area = metrics::auc(&truth, score.col_as_slice(0))
        .unwrap()
        .unwrap();
    for n in 0..N - TRAIN {
        assert!((0.0..=1.0).contains(&p.mean[(n, 0)]));
    }
    (fit, area)
}

fn quick(model: Table1) -> ModelSpec {
    let mut spec = model.spec(4, &["y"]);
    spec.vb.max_sweeps = 40;
    spec.mixture.components = 3;
    // the ordinary rank likelihood has no bound to audit
    if !model.name().starts_with("OR") {
        spec.vb.audit = Audit::Blocks;
    }
    spec
}

#[test]
fn each_model_predicts_labels_of_new_samples() {
    let (x, y) = tables(false);
    for model in Table1::ALL {
        let (_, area) = area(quick(model), &x, &y);
        // normal models see the skewed numbers themselves
        let least = if model.name().starts_with('G') {
            0.7
        } else {
            0.85
        };
        assert!(area > least, "{}: {area}", model.name());
    }
}

#[test]
fn ranks_do_not_see_a_monotone_transform() {
    let (x, y) = tables(false);
    let mut cubed = x.clone();
    cubed.values = Mat::from_fn(N, D, |n, d| x.values[(n, d)].ln().powi(3) + 5.0 * d as f64);
    for model in [Table1::RankLinearSvm, Table1::RankMixtureSvm] {
        let (a, one) = area(quick(model), &x, &y);
        let (b, two) = area(quick(model), &cubed, &y);
        assert_eq!(one.to_bits(), two.to_bits());
        let (a, b) = (a.factors().unwrap().mean, b.factors().unwrap().mean);
        assert_eq!(a, b, "{}", model.name());
    }
}

#[test]
fn local_classifiers_see_what_a_line_cannot() {
    let (x, y) = tables(true);
    let mut mixture = quick(Table1::RankMixtureSvm);
    (mixture.vb.max_sweeps, mixture.mixture.components) = (150, 6);
    let (fit, local) = area(mixture, &x, &y);
    let (_, linear) = area(quick(Table1::RankLinearSvm), &x, &y);
    assert!(local > linear + 0.05, "{local} {linear}");
    let clusters = fit.clusters().unwrap();
    assert_eq!(clusters.shares.shape(), (TRAIN, 6));
}

/// Combinations that the paper does not have: ranks beside real, binary,
/// categorical and count views, double ARD and labels of SSHIBA.
#[test]
fn rank_views_stand_beside_any_other() {
    let (x, y) = tables(false);
    let counts = Table {
        name: "c".into(),
        features: (0..4).map(|d| format!("c{d}")).collect(),
        values: Mat::from_fn(N, 4, |n, d| (2.0 * x.values[(n, d)]).min(50.0).floor()),
        ..x.clone()
    };
    let real = Table {
        name: "r".into(),
        features: (0..5).map(|d| format!("r{d}")).collect(),
        values: Mat::from_fn(N, 5, |n, d| x.values[(n, d + 4)].ln()),
        ..x.clone()
    };
    let class = Table {
        name: "k".into(),
        features: vec!["k".into()],
        levels: ["low", "middle", "high"].map(str::to_owned).to_vec(),
        values: Mat::from_fn(N, 1, |n, _| {
            let level = x.values[(n, 0)].ln();
            f64::from(u8::from(level > -0.5)) + f64::from(u8::from(level > 0.5))
        }),
        ..x.clone()
    };
    let mut spec = models::rank(4);
    spec.vb.max_sweeps = 30;
    spec.vb.audit = Audit::Blocks;
    for (name, likelihood) in [
        ("r", "gaussian"),
        ("c", "negative-binomial"),
        ("k", "categorical"),
        ("y", "bernoulli"),
    ] {
        spec = spec.with_likelihood(name, likelihood);
    }
    let ranks = ViewChoices {
        selection: "relevance".into(),
        ..spec.view("x")
    };
    spec = spec.with_view("x", ranks);
    let all = [x.clone(), real, counts, class, y.clone()];
    let train = data(all.iter().map(|t| some(t, 0..TRAIN)));
    let fit = crate::fit(train, spec).unwrap();
    let p = fit.predict(&data([some(&x, TRAIN..N)]), "y").unwrap();
    let truth: Vec<bool> = (TRAIN..N).map(|n| y.values[(n, 0)] > 0.5).collect();
    let area = metrics::auc(&truth, p.mean.col_as_slice(0))
        .unwrap()
        .unwrap();
    assert!(area > 0.85, "{area}");
    assert_eq!(fit.relevance("x").unwrap().len(), D);
    // the other way: ranks from counts and classes
    let p = fit.predict(
        &data([some(&all[2], TRAIN..N), some(&all[3], TRAIN..N)]),
        "x",
    );
    let p = p.unwrap();
    let inside = (0..N - TRAIN).all(|n| {
        let column = x.values.col(0);
        let (low, high) = column
            .iter()
            .take(TRAIN)
            .fold((f64::MAX, f64::MIN), |(a, b), v| (v.min(a), v.max(b)));
        (low..=high).contains(&p.mean[(n, 0)])
    });
    assert!(inside);
}
