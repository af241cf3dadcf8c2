//! What rank views leave out, and what is said where they fail.

use polyview_core::{Dataset, Event, Options, Table};
use polyview_infer::Outcome;
use polyview_likelihoods::{Margin, PairPolicy, RankOptions, RankUpdates};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::{Fit, ModelSpec, models};

const N: usize = 70;
const CLEAN: usize = 12;

/// Features of two factors; with `idle` a constant one, one seen once and one never,
/// among the others.
fn data(idle: bool) -> Dataset {
    let mut rng = StreamKey::new(21).rng();
    let z = Mat::from_fn(N, 2, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(CLEAN, 2, |_, _| standard_normal(&mut rng));
    let noisy = {
        let signal = z * w.transpose();
        Mat::from_fn(N, CLEAN, |n, d| {
            signal[(n, d)] + 0.4 * standard_normal(&mut rng)
        })
    };
    let mut columns: Vec<(String, Vec<f64>)> = (0..CLEAN)
        .map(|d| (format!("f{d}"), noisy.col_as_slice(d).to_vec()))
        .collect();
    if idle {
        let once = (0..N).map(|n| if n == 5 { 1.0 } else { f64::NAN });
        columns.push(("once".into(), once.collect()));
        columns.push(("constant".into(), vec![7.5; N]));
        columns.push(("never".into(), vec![f64::NAN; N]));
    }
    let table = Table {
        name: "x".into(),
        samples: (0..N).map(|n| format!("s{n}")).collect(),
        features: columns.iter().map(|c| c.0.clone()).collect(),
        levels: Vec::new(),
        values: Mat::from_fn(N, columns.len(), |n, d| columns[d].1[n]),
    };
    Dataset::builder().view(table).build().unwrap()
}

fn spec(likelihood: &'static str) -> ModelSpec {
    let mut spec = models::rank(2);
    spec.defaults.likelihood = likelihood.into();
    spec
}

#[test]
fn features_without_order_cost_nothing() {
    let with = crate::fit(data(true), spec("rank")).unwrap();
    let without = crate::fit(data(false), spec("rank")).unwrap();
    // the bound is that of a model without them (their holes move the start a little)
    let (a, b) = (
        with.record().bound.unwrap(),
        without.record().bound.unwrap(),
    );
    assert!((a - b).abs() < 1.0, "{a} {b}");
    let w = with.weights("x").unwrap();
    for d in CLEAN..CLEAN + 3 {
        assert!((0..2).all(|k| w.mean[(d, k)] == 0.0 && w.sd[(d, k)] < 1e-3));
    }
    // a constant is predicted as it is, nothing of what was never seen
    let fitted = with.fitted("x").unwrap();
    let (lower, upper) = fitted.interval(0.9).unwrap();
    for n in 0..N {
        assert_eq!(fitted.mean[(n, CLEAN)], 1.0);
        assert_eq!(fitted.mean[(n, CLEAN + 1)], 7.5);
        assert_eq!((lower[(n, CLEAN + 1)], upper[(n, CLEAN + 1)]), (7.5, 7.5));
        assert!(fitted.mean[(n, CLEAN + 2)].is_nan());
    }
    let said = |fit: &Fit| {
        let notes = fit.record().journal.entries.iter();
        let data = notes.filter(|e| matches!(e.event, Event::Data { .. }));
        data.map(|e| e.event.to_string())
            .find(|note| note.contains("left out"))
    };
    let note = said(&with).unwrap();
    for name in ["3 of 15", "'once'", "'constant'", "'never'"] {
        assert!(note.contains(name), "{note}");
    }
    assert_eq!(said(&without), None);
}

#[test]
fn small_margins_are_warned_of_with_what_helps() {
    let with = |ranks: RankOptions| {
        let mut spec = spec("rank");
        spec.factors = 4;
        spec.defaults.ranks = Options::of(&ranks).unwrap();
        let fit = crate::fit(data(false), spec).unwrap();
        let warnings: Vec<String> = fit.record().journal.warnings().collect();
        warnings.into_iter().find(|w| w.contains("collapsed"))
    };
    let small = with(RankOptions {
        margin: Margin::Fixed(0.003),
        ..RankOptions::default()
    })
    .unwrap();
    assert!(
        small.starts_with("likelihood/x") && small.contains("larger margin"),
        "{small}"
    );
    let adjacent = with(RankOptions {
        pairs: PairPolicy::Adjacent,
        ..RankOptions::default()
    });
    assert!(adjacent.unwrap().contains("pairs = \"random\""));
    assert_eq!(with(RankOptions::default()), None);
}

/// The scores' unit is found at once: no sweep more than the tolerance of the preset
/// asks for changes the answer.
#[test]
fn ordinary_ranks_end_where_they_say() {
    let fit = crate::fit(data(false), spec("ordinary-rank")).unwrap();
    assert_eq!(fit.record().outcome, Outcome::Converged);
    let mut longer = spec("ordinary-rank");
    (longer.vb.tolerance, longer.vb.movement) = (1e-9, 1e-6);
    longer.vb.max_sweeps = 3000;
    let end = crate::fit(data(false), longer).unwrap();
    let length = |f: &Fit| f.weights("x").unwrap().mean.norm_l2();
    let slope = length(&fit) / length(&end);
    assert!((0.9..1.1).contains(&slope), "{slope}");
    let (a, b) = (
        fit.explain().unwrap().total[0],
        end.explain().unwrap().total[0],
    );
    assert!((a - b).abs() < 0.02, "{a} {b}");
    // in the unit of the scores the noise is 1
    let of_model = fit.active(0.0).unwrap();
    let shares: f64 = (0..fit.k()).map(|k| of_model.share[(0, k)]).sum();
    assert!((shares - a).abs() < 0.05, "{shares} {a}");
}

#[test]
fn extreme_partners_are_refused_where_they_lead_nowhere() {
    let with = |updates: RankUpdates| {
        let mut spec = spec("rank");
        spec.defaults.ranks = Options::of(&RankOptions {
            pairs: PairPolicy::Extreme,
            updates,
            ..RankOptions::default()
        })
        .unwrap();
        spec.vb.max_sweeps = 5;
        crate::fit(data(false), spec)
    };
    let error = with(RankUpdates::Coherent).unwrap_err().to_string();
    for words in ["x", "extreme", "pairs = \"random\"", "frozen"] {
        assert!(error.contains(words), "{error}");
    }
    // the paper's updates go no further than the optimum of a sweep
    assert!(with(RankUpdates::Frozen).is_ok());
}

/// A quarter of the samples have a label that nothing foretells, or one that the features
/// know.
#[test]
fn labels_worse_than_their_shares_are_warned_of() {
    let said = |known: bool| {
        let features = data(false);
        let view = features.view("x").unwrap();
        let mut of: Vec<f64> = (0..N).map(|n| view.value(n, 0).unwrap()).collect();
        let mut sorted = of.clone();
        sorted.sort_by(f64::total_cmp);
        let cut = sorted[3 * N / 4];
        for (n, x) in of.iter_mut().enumerate() {
            let positive = if known { *x > cut } else { n % 4 == 0 };
            *x = f64::from(u8::from(positive));
        }
        let table = |name: &str, columns: usize, values: Mat<f64>| Table {
            name: name.into(),
            samples: (0..N).map(|n| format!("s{n}")).collect(),
            features: (0..columns).map(|d| format!("{name}{d}")).collect(),
            levels: Vec::new(),
            values,
        };
        let x = Mat::from_fn(N, CLEAN, |n, d| view.value(n, d).unwrap());
        let y = Mat::from_fn(N, 1, |n, _| of[n]);
        let both = Dataset::builder()
            .view(table("x", CLEAN, x))
            .view(table("y", 1, y));
        let spec = models::rank(2).with_likelihood("y", "svm");
        let fit = crate::fit(both.build().unwrap(), spec).unwrap();
        let mut warnings = fit.record().journal.warnings();
        warnings.find(|w| w.contains("shares of the classes"))
    };
    let found = said(false).unwrap();
    assert!(
        found.starts_with("likelihood/y") && found.contains("probit"),
        "{found}"
    );
    assert_eq!(said(true), None);
}
