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
