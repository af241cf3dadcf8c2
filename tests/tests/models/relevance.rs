//! Selection of features: what is learnt, what must not matter, and the fit
//! of what is left (spec/sshiba 9.6 items 4, 7, 10, 11; spec/thesis 6.2).
#![allow(clippy::unwrap_used)]

use polyview::{ErrorKind, Fit, ModelSpec, Selection, models};
use polyview_core::{
    DataError, Dataset, FeatureScaling, GammaPrior, Journal, PrecisionView, RowMoments, State,
    Stateful, Table, View,
};
use polyview_infer::{Audit, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_tests::{Case, Holes, ViewCase, model_from, normal, views, weights};

/// Two views of three factors: of the first only every third feature knows
/// them; the second is plain.
fn data(samples: usize, features: usize, seed: u64) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, 3, &mut rng);
    let mut builder = Dataset::builder();
    for (name, d) in [("sparse", features), ("dense", 8)] {
        let mut w = normal(d, 3, &mut rng);
        for j in 0..d {
            // no feature is relevant by a hair
            for k in 0..3 {
                w[(j, k)] += 0.7_f64.copysign(w[(j, k)]);
            }
        }
        for j in (0..d).filter(|j| name == "sparse" && j % 3 > 0) {
            for k in 0..3 {
                w[(j, k)] = 0.0;
            }
        }
        let x = &z * w.transpose() + 0.6 * normal(samples, d, &mut rng);
        builder = builder.view(Table {
            name: name.into(),
            samples: (0..samples).map(|n| format!("s{n}")).collect(),
            features: (0..d).map(|j| format!("{name}{j}")).collect(),
            levels: Vec::new(),
            values: x,
        });
    }
    builder.build().unwrap()
}

fn spec() -> ModelSpec {
    let mut spec = models::bibfa(5);
    spec.vb.max_sweeps = 400;
    spec.vb.audit = Audit::Blocks;
    // the noise of the data is that of the model: one for the view
    spec.defaults.noise = NoiseBy::View;
    spec.defaults.scaling = FeatureScaling::View;
    let mut choices = spec.view("sparse");
    choices.selection = "relevance".into();
    spec.with_view("sparse", choices)
}

#[test]
fn irrelevant_features_rank_last() {
    let data = data(150, 30, 1);
    let fit = polyview::fit(data.clone(), spec()).unwrap();
    let relevance = fit.relevance("sparse").unwrap();
    let (mut used, mut unused): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (d, r) in relevance.iter().enumerate() {
        if d % 3 == 0 { &mut used } else { &mut unused }.push(*r);
    }
    let least = used.iter().copied().fold(f64::INFINITY, f64::min);
    let most = unused.iter().copied().fold(0.0, f64::max);
    assert!(least > 3.0 * most, "{least} {most}");
    let mut sorted = relevance.clone();
    sorted.sort_by(f64::total_cmp);
    assert!((0.5 * (sorted[14] + sorted[15]) - 1.0).abs() < 1e-12);

    // the three ways to say how many
    let mut top = fit.select_features("sparse", Selection::Top(10)).unwrap();
    assert!(top.windows(2).all(|w| relevance[w[0]] >= relevance[w[1]]));
    let share = fit
        .select_features("sparse", Selection::Share(1.0 / 3.0))
        .unwrap();
    let above = fit
        .select_features("sparse", Selection::Above(2.0 * most))
        .unwrap();
    assert_eq!((&share, &above), (&top, &top));
    top.sort_unstable();
    assert_eq!(top, (0..10).map(|j| 3 * j).collect::<Vec<_>>());
    for bad in [
        Selection::Top(0),
        Selection::Top(31),
        Selection::Share(0.0),
        Selection::Share(1.1),
        Selection::Share(f64::NAN),
        Selection::Above(f64::INFINITY),
        Selection::Above(f64::NAN),
    ] {
        let e = fit.select_features("sparse", bad).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Option { .. }), "{bad:?}: {e}");
    }
    let e = fit.relevance("dense").unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::NoRelevance { .. }), "{e}");
    let e = fit.relevance("other").unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::UnknownView { .. }), "{e}");

    // what is left, in the order of the data, and its fit
    let reduced = fit
        .reduce(&data, &[("sparse", Selection::Top(10))])
        .unwrap();
    let view = reduced.view("sparse").unwrap();
    assert_eq!(view.features()[..2], ["sparse0", "sparse3"]);
    for n in 0..150 {
        assert_eq!(view.value(n, 4), data.view("sparse").unwrap().value(n, 12));
    }
    assert_eq!(reduced.view("dense"), data.view("dense"));
    assert_eq!(reduced.samples(), data.samples());
    let again = fit.refit(&data, &[("sparse", Selection::Top(10))]).unwrap();
    let direct = polyview::fit(reduced, fit.spec().expect("a specification").clone()).unwrap();
    assert_eq!(again.record().bound, direct.record().bound);
    assert_eq!(again.views()[0].features.len(), 10);
    let e = fit
        .refit(&data, &[("other", Selection::Top(1))])
        .err()
        .unwrap();
    assert!(matches!(e.kind(), ErrorKind::UnknownView { .. }), "{e}");
    let e = again.reduce(&data, &[("sparse", Selection::Top(2))]);
    assert_eq!(e.unwrap().view("sparse").unwrap().n_features(), 2);
    let lacking = data.with_features("sparse", &[1, 2]).unwrap();
    let e = fit
        .reduce(&lacking, &[("sparse", Selection::Top(3))])
        .unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::MissingFeatures { .. }), "{e}");
}

#[test]
fn columns_of_a_data_set_are_chosen_with_care() {
    let data = data(6, 4, 2);
    let error = |view: &str, keep: &[usize]| data.with_features(view, keep).unwrap_err();
    assert!(matches!(error("x", &[0]), DataError::UnknownView { .. }));
    assert!(matches!(error("dense", &[]), DataError::EmptyView { .. }));
    assert!(matches!(
        error("dense", &[8]),
        DataError::LengthMismatch { .. }
    ));
    let twice = error("dense", &[1, 2, 1]);
    assert!(
        matches!(
            twice,
            DataError::DuplicateFeature {
                first: 0,
                second: 2,
                ..
            }
        ),
        "{twice}"
    );
    let order = data.with_features("dense", &[3, 1]).unwrap();
    assert_eq!(
        order.view("dense").unwrap().features(),
        ["dense3", "dense1"]
    );
    // a sample that has nothing but what goes
    let x = Mat::from_fn(3, 2, |n, d| if n == 1 && d == 0 { f64::NAN } else { 1.0 });
    let table = Table {
        name: "only".into(),
        samples: ["a", "b", "c"].map(str::to_owned).to_vec(),
        features: vec!["p".into(), "q".into()],
        levels: Vec::new(),
        values: x,
    };
    let one = Dataset::builder().view(table).build().unwrap();
    let e = one.with_features("only", &[0]).unwrap_err();
    assert!(
        matches!(e, DataError::EmptySample { ref sample } if sample == "b"),
        "{e}"
    );
}

fn case(holes: Holes, noise: NoiseBy) -> Case {
    let v = ViewCase {
        features: 7,
        holes,
        noise,
        missing: MissingData::Marginal,
        bias: Some(1.0),
        relevance: true,
    };
    let w = ViewCase {
        features: 5,
        relevance: false,
        ..v
    };
    Case {
        seed: 11,
        samples: 24,
        k: 3,
        views: vec![v, w],
    }
}

/// Weights' precisions by feature, of the first view.
fn row_precisions(run: &VbRun) -> Vec<f64> {
    match run.model().views[0].weights.precision() {
        PrecisionView::Outer { rows, .. } => rows.to_vec(),
        _ => Vec::new(),
    }
}

fn swept(
    case: &Case,
    data: Vec<View>,
    sweeps: usize,
    relevance: Option<GammaPrior>,
) -> (f64, VbRun) {
    let start = normal(case.samples, case.k, &mut StreamKey::new(5).rng());
    let mut m = model_from(case, data, start);
    if let Some(prior) = relevance {
        let zeros = RowMoments::isotropic(Mat::zeros(7, case.k), 1.0, 0);
        m.views[0].weights = weights(
            "weights/v0".into(),
            GammaPrior::new(1.2, 0.9),
            Some(prior),
            zeros,
        );
    }
    let options = VbOptions {
        max_sweeps: sweeps,
        tolerance: 1e-300,
        prune: PruneRule::never(),
        audit: Audit::Blocks,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(m, options, StreamKey::new(1), Journal::default());
    let mut last = 0.0;
    for _ in 0..sweeps {
        last = run.sweep().unwrap().bound;
    }
    (last, run)
}

#[test]
fn the_order_of_features_does_not_matter() {
    for holes in [Holes::None, Holes::Rows(0.3), Holes::Cells(0.3)] {
        for noise in [NoiseBy::View, NoiseBy::Feature] {
            let c = case(holes, noise);
            let data = views(&c, 2);
            let order: Vec<usize> = (0..7).map(|d| (d * 3 + 2) % 7).collect();
            let x = data[0].to_values_with_nan();
            let turned = Mat::from_fn(c.samples, 7, |n, d| x[(n, order[d])]);
            let names = (0..7).map(|d| d.to_string()).collect();
            let other = vec![
                View::from_values("v0", names, turned).unwrap(),
                data[1].clone(),
            ];
            let (a, run_a) = swept(&c, data, 25, None);
            let (b, run_b) = swept(&c, other, 25, None);
            assert!((a - b).abs() < 1e-9 * a.abs(), "{holes:?}: {a} {b}");
            let (pa, pb) = (row_precisions(&run_a), row_precisions(&run_b));
            assert_eq!(pa.len(), 7);
            for (d, p) in pb.iter().enumerate() {
                assert!((p - pa[order[d]]).abs() < 1e-6 * p, "{holes:?} {d}");
            }
        }
    }
}

#[test]
fn features_held_at_precision_one_give_plain_ard() {
    for holes in [Holes::None, Holes::Cells(0.3)] {
        let c = case(holes, NoiseBy::View);
        let mut plain = c.clone();
        plain.views[0].relevance = false;
        let data = views(&c, 2);
        let (_, a) = swept(&plain, data.clone(), 25, None);
        let (_, b) = swept(&c, data.clone(), 25, Some(GammaPrior::new(1e10, 1e10)));
        let (free, f) = swept(&c, data, 25, None);
        let state = |run: &VbRun| {
            let mut s = State::new();
            run.model().save("", &mut s);
            s
        };
        let (sa, sb, sf) = (state(&a), state(&b), state(&f));
        let gap = |s: &State, name: &str| {
            let (x, y) = (&sa.arrays()[name].values, &s.arrays()[name].values);
            let size = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let gap = x
                .iter()
                .zip(y)
                .fold(0.0, |m: f64, (p, q)| m.max((p - q).abs()));
            gap / size
        };
        for name in [
            "factors/mean",
            "views/v0/weights/mean",
            "views/v0/weights/prior/alpha/mean",
            "views/v0/term/noise/mean",
            "views/v1/weights/mean",
        ] {
            assert!(gap(&sb, name) < 1e-6, "{name}: {:e}", gap(&sb, name));
            // and the test sees those that are not held
            assert!(gap(&sf, name) > 1e-4, "{name}");
        }
        assert!(free.is_finite());
    }
}

#[test]
fn a_feature_that_does_not_vary_is_the_least_relevant() {
    let data = data(60, 12, 4);
    let view = data.view("sparse").unwrap();
    let mut x = view.to_values_with_nan();
    for n in 0..60 {
        x[(n, 3)] = 2.5;
    }
    let view = View::from_values("sparse", view.features().to_vec(), x).unwrap();
    let data = data.with_view(view).unwrap();
    let without: Fit = polyview::fit(data.clone(), spec()).unwrap();
    assert_eq!(without.relevance("sparse").unwrap().len(), 11);
    // a pixel stays in its image
    let mut image = spec().view("sparse");
    image.shape = Some([3, 4]);
    let fit: Fit = polyview::fit(data, spec().with_view("sparse", image)).unwrap();
    let relevance = fit.relevance("sparse").unwrap();
    assert!(relevance.iter().all(|r| r.is_finite() && *r > 0.0));
    let least = (0..12).min_by(|&a, &b| relevance[a].total_cmp(&relevance[b]));
    assert_eq!(least, Some(3), "{relevance:?}");
    let w = fit.weights("sparse").unwrap();
    assert!((0..fit.k()).all(|k| w.mean[(3, k)].abs() < 1e-8));
}

#[test]
fn draws_tell_the_features_apart_too() {
    let data = data(120, 12, 6);
    let mut sampled = spec();
    sampled.factors = 3;
    sampled.engine = polyview::EngineKind::Gibbs;
    (sampled.gibbs.chains, sampled.gibbs.warm_up) = (2, 150);
    (sampled.gibbs.sweeps, sampled.gibbs.thin) = (300, 5);
    let draws = polyview::fit(data, sampled).unwrap();
    let mut top = draws.select_features("sparse", Selection::Top(4)).unwrap();
    let relevance = draws.relevance("sparse").unwrap();
    let next = draws.select_features("sparse", Selection::Top(5)).unwrap()[4];
    assert!(relevance[top[3]] > 3.0 * relevance[next], "{relevance:?}");
    top.sort_unstable();
    assert_eq!(top, [0, 3, 6, 9]);
}
