//! What must not matter (spec/sshiba 9.6 items 3, 7, 12).

use polyview_core::{Dataset, State, Stateful, View};
use polyview_infer::{PruneRule, Rotate, VbOptions, VbRun};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::{Mat, Threads};
use polyview_random::StreamKey;
use polyview_tests::{Case, Holes, ViewCase, model_from, normal, views};

fn case(holes: Holes, missing: MissingData, noise: NoiseBy) -> Case {
    let v = ViewCase {
        features: 7,
        holes,
        noise,
        missing,
        bias: Some(1.0),
        relevance: false,
    };
    Case {
        seed: 11,
        samples: 24,
        k: 3,
        views: vec![v, ViewCase { features: 5, ..v }],
    }
}

fn options(rotate: Rotate) -> VbOptions {
    VbOptions {
        max_sweeps: 25,
        tolerance: 1e-300,
        prune: PruneRule::never(),
        rotate,
        ..VbOptions::default()
    }
}

fn start(case: &Case) -> Mat<f64> {
    normal(case.samples, case.k, &mut StreamKey::new(5).rng())
}

fn bound(case: &Case, data: Vec<View>, start: Mat<f64>, rotate: Rotate) -> (f64, VbRun) {
    let m = model_from(case, data, start);
    let mut run = VbRun::new(
        m,
        options(rotate),
        StreamKey::new(1),
        polyview_core::Journal::default(),
    );
    let mut last = 0.0;
    for _ in 0..25 {
        last = run.sweep().expect("a sweep").bound;
    }
    (last, run)
}

/// The view with its rows in another order.
fn permuted(v: &View, order: &[usize]) -> View {
    let x = v.to_values_with_nan();
    let y = Mat::from_fn(x.nrows(), x.ncols(), |n, d| x[(order[n], d)]);
    View::from_values(v.name(), v.features().to_vec(), y).expect("finite")
}

#[test]
fn marginal_equals_impute_on_complete_data() {
    for noise in [NoiseBy::View, NoiseBy::Feature] {
        let (m, i) = (
            case(Holes::None, MissingData::Marginal, noise),
            case(Holes::None, MissingData::Impute, noise),
        );
        let a = bound(&m, views(&m, 2), start(&m), Rotate::InLoop).0;
        let b = bound(&i, views(&i, 2), start(&i), Rotate::InLoop).0;
        assert_eq!(a.to_bits(), b.to_bits());
    }
}

#[test]
fn marginal_is_never_below_impute() {
    let (m, i) = (
        case(Holes::Cells(0.3), MissingData::Marginal, NoiseBy::View),
        case(Holes::Cells(0.3), MissingData::Impute, NoiseBy::View),
    );
    let a = bound(&m, views(&m, 2), start(&m), Rotate::InLoop).0;
    let b = bound(&i, views(&i, 2), start(&i), Rotate::InLoop).0;
    assert!(a > b, "{a} {b}");
}

#[test]
fn order_of_samples_views_and_signs_do_not_matter() {
    for holes in [Holes::None, Holes::Rows(0.3), Holes::Cells(0.3)] {
        let c = case(holes, MissingData::Marginal, NoiseBy::View);
        let data = views(&c, 2);
        let z = start(&c);
        let (plain, _) = bound(&c, data.clone(), z.clone(), Rotate::InLoop);
        let order: Vec<usize> = (0..c.samples).map(|n| (n * 7 + 3) % c.samples).collect();
        let turned: Vec<View> = data.iter().map(|v| permuted(v, &order)).collect();
        let zp = Mat::from_fn(c.samples, c.k, |n, k| z[(order[n], k)]);
        let (samples, _) = bound(&c, turned, zp, Rotate::InLoop);
        let swapped = vec![data[1].clone(), data[0].clone()];
        let cs = Case {
            views: vec![c.views[1], c.views[0]],
            ..c.clone()
        };
        let (by_view, _) = bound(&cs, swapped, z.clone(), Rotate::InLoop);
        let flipped = Mat::from_fn(
            c.samples,
            c.k,
            |n, k| if k == 1 { -z[(n, k)] } else { z[(n, k)] },
        );
        let (signs, _) = bound(&c, data, flipped, Rotate::InLoop);
        for other in [samples, by_view, signs] {
            assert!(
                (plain - other).abs() < 1e-7 * plain.abs(),
                "{holes:?}: {plain} {other}"
            );
        }
    }
}

/// Bounds and largest difference of the weights of a fit with a sample of which
/// nothing is known, and of the fit without it.
fn with_an_empty_sample(missing: MissingData) -> (f64, f64, f64) {
    let mut c = case(Holes::Cells(0.3), missing, NoiseBy::View);
    let data = views(&c, 2);
    let z = start(&c);
    let (plain, run) = bound(&c, data.clone(), z.clone(), Rotate::Off);
    let longer: Vec<View> = data
        .iter()
        .map(|v| {
            let x = v.to_values_with_nan();
            let y = Mat::from_fn(x.nrows() + 1, x.ncols(), |n, d| {
                if n < x.nrows() { x[(n, d)] } else { f64::NAN }
            });
            View::from_values(v.name(), v.features().to_vec(), y).expect("finite")
        })
        .collect();
    c.samples += 1;
    // a sample nothing is known of has the prior: start it there
    let zl = Mat::from_fn(c.samples, c.k, |n, k| {
        if n + 1 < c.samples { z[(n, k)] } else { 0.0 }
    });
    let (last, other) = bound(&c, longer, zl, Rotate::Off);
    let mut gap: f64 = 0.0;
    for (a, b) in run.model().views.iter().zip(&other.model().views) {
        let (wa, wb) = (a.weights.moments().mean(), b.weights.moments().mean());
        for k in 0..c.k {
            for d in 0..wa.nrows() {
                gap = gap.max((wa[(d, k)] - wb[(d, k)]).abs());
            }
        }
    }
    (plain, last, gap)
}

/// spec/sshiba 9.6.12.
#[test]
fn a_sample_without_data_changes_nothing() {
    let (plain, last, gap) = with_an_empty_sample(MissingData::Marginal);
    assert!((plain - last).abs() < 1e-9 * plain.abs(), "{plain} {last}");
    assert!(gap < 1e-9, "{gap:e}");
}

/// The known difference of the imputing mode (spec/sshiba 9.6.12, E5): a sample
/// of which nothing is known moves the parameters and lowers the bound.
#[test]
fn a_sample_without_data_changes_an_imputing_fit() {
    let (plain, last, gap) = with_an_empty_sample(MissingData::Impute);
    assert!(last < plain - 1e-3, "{plain} {last}");
    assert!(gap > 1e-4, "{gap:e}");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let big = |holes, noise, relevance| {
        let v = ViewCase {
            features: 150,
            holes,
            noise,
            missing: MissingData::Marginal,
            bias: Some(1.0),
            relevance,
        };
        Case {
            seed: 2,
            samples: 700,
            k: 5,
            views: vec![v, ViewCase { features: 90, ..v }],
        }
    };
    for (holes, noise, relevance) in [
        (Holes::None, NoiseBy::View, false),
        (Holes::None, NoiseBy::Feature, true),
        (Holes::Rows(0.2), NoiseBy::View, true),
        (Holes::Cells(0.2), NoiseBy::Feature, false),
    ] {
        let c = big(holes, noise, relevance);
        let states: Vec<State> = [1, 2, 3]
            .into_iter()
            .map(|t| {
                Threads::new(t).expect("a pool").install(|| {
                    let m = model_from(&c, views(&c, 3), start(&c));
                    let mut run = VbRun::new(
                        m,
                        options(Rotate::InLoop),
                        StreamKey::new(1),
                        polyview_core::Journal::default(),
                    );
                    for _ in 0..6 {
                        run.sweep().expect("a sweep");
                    }
                    let mut state = State::new();
                    run.model().save("", &mut state);
                    state
                })
            })
            .collect();
        for other in &states[1..] {
            for (name, array) in states[0].arrays() {
                let same = array
                    .values
                    .iter()
                    .zip(&other.arrays()[name].values)
                    .all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{holes:?} {noise:?}: {name}");
            }
        }
    }
}

#[test]
fn data_sets_join_by_id() {
    let table = |name: &str, ids: &[&str]| polyview_core::Table {
        name: name.into(),
        samples: ids.iter().map(|s| (*s).to_owned()).collect(),
        features: vec!["a".into(), "b".into()],
        values: Mat::from_fn(ids.len(), 2, |n, d| (ids[n].len() + n + d) as f64),
        levels: Vec::new(),
    };
    let d = Dataset::builder()
        .view(table("x", &["p", "q", "r"]))
        .view(table("y", &["r", "s", "p"]))
        .build()
        .expect("a data set");
    assert_eq!(d.samples(), ["p", "q", "r", "s"]);
    assert_eq!(d.views()[1].value(0, 0), Some(3.0));
    assert_eq!(d.views()[1].value(1, 0), None);
}
