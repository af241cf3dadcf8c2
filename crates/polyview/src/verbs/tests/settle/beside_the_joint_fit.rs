//! The joint fit is kept beside what was settled, and settling can be ended.

use polyview_core::Table;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::settled;
use crate::verbs::tests::discriminative::{data, some};
use crate::{Fit, ModelSpec, ProjectOptions, models};

/// Two views of numbers with two factors in common, of 60 samples, and some new ones of the same.
fn two_views() -> [Table; 2] {
    let mut rng = StreamKey::new(11).rng();
    let mut normal =
        |rows: usize, columns: usize| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w, v) = (normal(90, 2), normal(6, 2), normal(4, 2));
    let x = &z * w.transpose() + 2.0 * normal(90, 6);
    let y = &z * v.transpose() + normal(90, 4);
    let of = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: (0..90).map(|n| format!("s{n:02}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    [of("x", x), of("y", y)]
}

/// What was settled predicts the view from others, and the joint fit does all else, as it does
/// where nothing was settled; in a file, too, and under another rotation.
#[test]
fn the_joint_fit_is_kept() {
    for (spec, turns) in [(models::bibfa(3), true), (models::mofa(3), false)] {
        the_joint_fit_is_kept_of(spec, turns);
    }
}

fn the_joint_fit_is_kept_of(spec: ModelSpec, turns: bool) {
    let [x, mut y] = two_views();
    for n in (0..90).step_by(7) {
        y.values[(n, n % 4)] = f64::NAN;
    }
    let part = |rows: std::ops::Range<usize>| data([some(&x, rows.clone()), some(&y, rows)]);
    let chosen = crate::fit(part(0..60), spec.clone().with_settled("y", true)).unwrap();
    let joint = crate::fit(part(0..60), spec.with_settled("y", false)).unwrap();
    assert_ne!(settled(&chosen), joint.weights("y").unwrap().mean);

    let again = Fit::from_bytes(&chosen.to_bytes().unwrap()).unwrap();
    let (new, with) = (data([some(&x, 60..90)]), part(60..90));
    let sources = data([some(&y, 60..90)]);
    for fit in [&chosen, &again] {
        assert_eq!(
            fit.weights("y").unwrap().mean,
            joint.weights("y").unwrap().mean
        );
        assert_eq!(
            fit.explain().unwrap().marginal,
            joint.explain().unwrap().marginal
        );
        for view in ["x", "y"] {
            let of = |f: &Fit| f.impute(view, 0.9).unwrap().values;
            assert_eq!(of(fit), of(&joint), "{view}");
            assert_eq!(fit.fitted(view).unwrap().sd, joint.fitted(view).unwrap().sd);
        }
        // the view among the sources, and itself imputed by them
        let options = ProjectOptions::default();
        for data in [&sources, &with] {
            let of = |f: &Fit| f.project(data, &options).unwrap().mean;
            assert_eq!(of(fit), of(&joint));
        }
        let of = |f: &Fit| f.predict(&sources, "x").unwrap();
        assert_eq!(of(fit).mean, of(&joint).mean);
        let of = |f: &Fit| f.impute_data(&with, "y", 0.9).unwrap().lower;
        assert_eq!(of(fit), of(&joint));
        let drawn = |f: &Fit| {
            f.simulate(20, 1)
                .unwrap()
                .view("y")
                .unwrap()
                .values()
                .to_owned()
        };
        assert_eq!(drawn(fit), drawn(&joint));
        // and what it was settled for
        let of = |f: &Fit| f.predict(&new, "y").unwrap();
        assert_eq!(of(fit).mean, of(&chosen).mean);
        assert_ne!(of(fit).mean, of(&joint).mean);
    }
    if !turns {
        return;
    }
    let turned = chosen.varimax().unwrap();
    assert_ne!(settled(&turned), settled(&chosen));
    let [before, after] = [&chosen, &turned].map(|f| f.predict(&new, "y").unwrap());
    assert!((&before.mean - &after.mean).norm_max() < 1e-8);
    assert!((&before.sd - &after.sd).norm_max() < 1e-8);
}

/// Settling asks before each sweep whether to go on; what was swept is in a checkpoint from
/// before, which goes on to the same fit.
#[test]
fn settling_can_be_ended() {
    let [x, y] = two_views();
    let begun = || {
        let both = data([some(&x, 0..60), some(&y, 0..60)]);
        crate::Fitting::new(both, models::mofa(3).with_settled("y", true)).unwrap()
    };
    let mut fitting = begun();
    assert!(fitting.settles() && !fitting.is_over());
    while !fitting.step().unwrap().done {}
    assert!(fitting.is_over());
    let checkpoint = fitting.checkpoint().unwrap();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let twice = |p: &crate::SettleProgress| {
        let before = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        assert_eq!((p.view.as_str(), p.sweep), ("y", before));
        before < 2
    };
    assert!(fitting.finish_while(&twice).unwrap().is_none());
    assert_eq!(asked.into_inner(), 3);
    let mut again = begun();
    again.resume(&checkpoint).unwrap();
    assert!(again.is_over());
    let again = again.finish().unwrap();
    let mut whole = begun();
    while !whole.step().unwrap().done {}
    let whole = whole.finish().unwrap();
    assert_eq!(settled(&again), settled(&whole));
    assert_eq!(again.record().ledgers, whole.record().ledgers);
}

/// Targets whose factors come from labels that say nothing of most of these: what a prediction is
/// uncertain of is no more than it was of the training samples.
#[test]
fn factors_that_sources_do_not_know_add_no_uncertainty() {
    let mut rng = StreamKey::new(5).rng();
    let mut normal =
        |rows: usize, columns: usize| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (rows, z, w) = (600, normal(600, 6), normal(24, 6));
    let eta = &z * w.transpose() + 0.5 * normal(rows, 24);
    let of = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: (0..rows).map(|n| format!("s{n:03}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    let a = of("a", eta.subcols(0, 12).to_owned());
    let b = of("b", eta.subcols(12, 12).to_owned());
    let l = of(
        "l",
        Mat::from_fn(rows, 2, |n, d| f64::from(u8::from(z[(n, d)] > 0.0))),
    );
    let part = |rows: std::ops::Range<usize>| [&a, &b, &l].map(|t| some(t, rows.clone()));
    let spec = models::sshiba(8)
        .with_settled("a", true)
        .with_settled("b", true);
    let fit = crate::fit(data(part(0..40)), spec).unwrap();
    let [own, _, labels] = part(100..600);
    let p = fit.predict(&data([labels]), "a").unwrap();
    let (lower, upper) = p.interval(0.9).unwrap();
    let cells = (0..500).flat_map(|n| (0..12).map(move |d| (n, d)));
    let inside = |at: &(usize, usize)| (lower[*at]..upper[*at]).contains(&own.values[*at]);
    let share = cells.filter(inside).count() as f64 / 6000.0;
    assert!((0.8..0.95).contains(&share), "{share}");
}
