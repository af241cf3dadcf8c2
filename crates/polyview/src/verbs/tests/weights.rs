//! Views that count more or less than once.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::{EngineKind, ErrorKind, Fit, ProjectOptions, fit, models};

/// Twenty-four samples of a view of numbers and one of labels.
fn data() -> Dataset {
    let mut rng = StreamKey::new(9).rng();
    let z: Vec<f64> = (0..24).map(|_| standard_normal(&mut rng)).collect();
    let x = Mat::from_fn(24, 6, |n, d| {
        z[n] * (d as f64 - 2.0) + standard_normal(&mut rng)
    });
    let y = Mat::from_fn(24, 1, |n, _| {
        f64::from(u8::from(z[n] + standard_normal(&mut rng) > 0.0))
    });
    let table = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: (0..24).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        values,
        levels: Vec::new(),
    };
    let builder = Dataset::builder().view(table("x", x)).view(table("y", y));
    builder.build().unwrap()
}

#[test]
fn a_view_that_counts_pulls_the_factors() {
    let spec = models::sshiba(2).with_likelihood("y", "bernoulli");
    let plain = fit(data(), spec.clone()).unwrap();
    let once = fit(data(), spec.clone().with_weight("y", 1.0)).unwrap();
    assert_eq!(plain.record().bound, once.record().bound);
    assert_eq!(once.counted(), None);
    let five = fit(data(), spec.clone().with_weight("y", 5.0)).unwrap();
    let share = |f: &Fit| f.explain().unwrap().total[1];
    assert!(
        share(&five) > share(&plain),
        "{} {}",
        share(&five),
        share(&plain)
    );
    assert!(five.counted().unwrap().starts_with("y 5 times"));
    // a file holds it, and new samples are of one observation
    let read = Fit::from_bytes(&five.to_bytes().unwrap()).unwrap();
    assert_eq!(read.views()[1].choices.weight, Some(5.0));
    let again = data();
    let (a, b) = (
        five.project(&again, &ProjectOptions::default()),
        read.project(&again, &ProjectOptions::default()),
    );
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a.mean, b.mean);
    // every sweep rises
    let ledger = &five.record().ledgers[0];
    for pair in ledger
        .rows
        .windows(2)
        .filter(|p| p[0].factors == p[1].factors)
    {
        assert!(pair[1].total >= pair[0].total - 1e-7 * pair[0].total.abs());
    }
    // what is no number above zero, and draws
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let e = fit(data(), spec.clone().with_weight("y", wrong)).unwrap_err();
        assert!(
            matches!(
                e.kind(),
                ErrorKind::Option {
                    option: "weight",
                    ..
                }
            ),
            "{e}"
        );
    }
    for engine in [EngineKind::Gibbs, EngineKind::Stochastic] {
        let mut other = spec.clone().with_weight("y", 5.0);
        other.engine = engine;
        let e = fit(data(), other).unwrap_err();
        assert!(e.to_string().contains("weight = 5"), "{e}");
    }
}

/// Eighty samples of two views of numbers and one of labels, three factors; cells of each are hidden.
fn with_holes() -> (Dataset, Dataset) {
    let (n, mut rng) = (80, StreamKey::new(31).rng());
    let mut normal = || standard_normal(&mut rng);
    let z = Mat::from_fn(n, 3, |_, _| normal());
    let mut table = |name: &str, columns: usize, labels: bool| {
        let w = Mat::from_fn(columns, 3, |_, _| normal());
        let values = Mat::from_fn(n, columns, |s, d| {
            let eta: f64 = (0..3).map(|k| z[(s, k)] * w[(d, k)]).sum();
            let x = eta + normal();
            if labels {
                f64::from(u8::from(x > 0.0))
            } else {
                x
            }
        });
        Table {
            name: name.into(),
            samples: (0..n).map(|s| format!("s{s}")).collect(),
            features: (0..columns).map(|d| format!("{name}{d}")).collect(),
            values,
            levels: Vec::new(),
        }
    };
    let tables = [
        table("x", 8, false),
        table("v", 6, false),
        table("y", 6, true),
    ];
    let build = |hide: bool| {
        let mut builder = Dataset::builder();
        for (m, table) in tables.iter().enumerate() {
            let mut table = table.clone();
            for d in 0..table.features.len() {
                for s in (0..n).filter(|s| hide && (s + 3 * d + m) % 8 == 0) {
                    table.values[(s, d)] = f64::NAN;
                }
            }
            builder = builder.view(table);
        }
        builder.build().unwrap()
    };
    (build(true), build(false))
}

/// What is learnt of a view that counts five times is used as of one observation, for training samples as well: their
/// hidden cells lie in their intervals, and their labels have probabilities that are no certainties.
#[test]
fn hidden_cells_of_training_are_of_one_observation() {
    let (data, truth) = with_holes();
    let spec = models::sshiba(3).with_likelihood("y", "bernoulli");
    for (view, at) in [("v", 1), ("y", 2)] {
        let plain = fit(data.clone(), spec.clone()).unwrap();
        let five = fit(data.clone(), spec.clone().with_weight(view, 5.0)).unwrap();
        let inside = |f: &Fit| {
            let filled = f.impute(view, 0.9).unwrap();
            let (mut inside, mut all) = (0.0, 0.0);
            for d in 0..filled.values.ncols() {
                for n in (0..80).filter(|n| filled.was_missing.get(*n, d)) {
                    let x = truth.views()[at].value(n, d).unwrap();
                    let ends = filled.lower[(n, d)]..=filled.upper[(n, d)];
                    inside += f64::from(u8::from(ends.contains(&x)));
                    all += 1.0;
                }
            }
            inside / all
        };
        let density = |f: &Fit| {
            let scores = f.held_out_score(&truth).unwrap();
            scores.iter().find(|s| s.view == view).unwrap().log_density
        };
        if at == 1 {
            let [one, often] = [density(&plain), density(&five)];
            assert!(often > one - 0.15, "{view}: {one} {often}");
            let [one, often] = [inside(&plain), inside(&five)];
            assert!(often > 0.84 && (often - one).abs() < 0.06, "{one} {often}");
        }
        // as of the same samples given again; what is shown as factors stays as it was learnt
        let again = five.impute_data(&data, view, 0.9).unwrap();
        let filled = five.impute(view, 0.9).unwrap();
        let far = (0..filled.values.ncols())
            .flat_map(|d| (0..80).map(move |n| (n, d)))
            .map(|at| (filled.values[at] - again.values[at]).abs())
            .fold(0.0, f64::max);
        assert!(far < 1e-6, "{view}: {far}");
        let shown = five.factors().unwrap().mean;
        let component = five.component(0).unwrap();
        assert_eq!(shown, component.factors().mean());
        let projected = five.project(&data, &ProjectOptions::default()).unwrap();
        assert_ne!(shown, projected.mean);
        // no data, no factors of one observation; once, those of the fit will do
        let (mut without, mut plain) = (five, plain);
        without.forget_data();
        plain.forget_data();
        let e = without.fitted(view).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::NoData), "{e}");
        plain.fitted(view).unwrap();
    }
}
