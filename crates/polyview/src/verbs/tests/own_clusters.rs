//! Labels and the clusters of a mixture.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use crate::{Fit, InterceptPrior, Settle, models};

const N: usize = 200;
const D: usize = 15;
const K: usize = 3;

/// Two clusters of samples along the first factor; the label follows the second one, the
/// other way round in the other cluster, or is a coin flip and there are no clusters.
fn data(coin: bool, seed: u64) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let side = |n: usize| if n.is_multiple_of(2) { 1.0 } else { -1.0 };
    let z = Mat::from_fn(N, K, |n, k| {
        let centre = if k == 0 && !coin { 2.5 * side(n) } else { 0.0 };
        centre + standard_normal(&mut rng)
    });
    let w = Mat::from_fn(D, K, |_, _| standard_normal(&mut rng));
    let noise = Mat::from_fn(N, D, |_, _| standard_normal(&mut rng));
    let y = Mat::from_fn(N, 1, |n, _| {
        let one = if coin {
            uniform_open01(&mut rng) > 0.5
        } else {
            side(n) * z[(n, 1)] + 0.3 * standard_normal(&mut rng) > 0.0
        };
        f64::from(u8::from(one))
    });
    of_tables(&z * w.transpose() + noise, y)
}

fn of_tables(x: Mat<f64>, y: Mat<f64>) -> Dataset {
    let of = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: (0..N).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    Dataset::builder()
        .view(of("x", x))
        .view(of("y", y))
        .build()
        .unwrap()
}

fn fitted(data: Dataset, likelihood: &'static str) -> Fit {
    let spec = models::sshiba(K).with_likelihood("y", likelihood);
    crate::fit(data, spec.with_mixture(2).with_local("y")).unwrap()
}

fn warned(fit: &Fit) -> bool {
    let remarks = fit.record().journal.remarks();
    remarks
        .into_iter()
        .any(|(_, text)| text.contains("the clusters repeat"))
}

#[test]
fn classifiers_of_opposite_sign_do_not_cancel() {
    let fit = fitted(data(false, 5), "probit");
    let explained = fit.explain().unwrap();
    // the classifiers of the two clusters add up to next to nothing
    assert!(explained.total[1] > 0.5, "{}", explained.total[1]);
    assert!(explained.deviance[1] > 0.3, "{}", explained.deviance[1]);
    // shares add up whatever the clusters
    let sum: f64 = (0..fit.k()).map(|k| explained.unique[(1, k)]).sum();
    assert!((sum + explained.shared[1] - explained.total[1]).abs() < 1e-9);
    // and so they do of data given anew
    let again = fit.explain_on(&data(false, 5)).unwrap();
    assert!(again.total[1] > 0.5, "{}", again.total[1]);
    assert!(!warned(&fit));
}

#[test]
fn clusters_that_repeat_labels_are_said() {
    let mut repeated = 0;
    for seed in 1..=12 {
        // levels that are learnt leave no room for it in these data
        let spec = models::sshiba(K).with_likelihood("y", "bernoulli");
        let mut spec = spec.with_mixture(2).with_local("y");
        spec.intercept_prior = InterceptPrior::Fixed;
        let fit = crate::fit(data(true, seed), spec).unwrap();
        let shown = fit.explain().unwrap();
        // what the fit would show if it had not found it out
        let mut blind = fit.clone();
        blind.record.journal.entries.clear();
        let deviance = blind.explain().unwrap().deviance[1];
        // nothing can be known of a coin
        assert_eq!(warned(&fit), deviance > 0.2, "{seed}: {deviance}");
        for number in [shown.deviance[1], shown.total[1], shown.marginal[(1, 0)]] {
            assert_eq!(number.is_nan(), warned(&fit), "{seed}");
        }
        let noted = shown
            .notes
            .iter()
            .any(|n| n.contains("'y': nothing is explained"));
        assert_eq!(noted, warned(&fit), "{seed}");
        assert!(shown.total[0] > 0.2, "{seed}");
        repeated += usize::from(deviance > 0.2);
    }
    assert!(repeated > 0);
}

/// A regression stands beside classifiers of clusters as beside one classifier: what it says of a sample hangs on no
/// cluster, so that it is that of a fit without clusters.
#[test]
fn a_regression_stands_beside_classifiers_of_clusters() {
    let mut rng = StreamKey::new(3).rng();
    let x = Mat::from_fn(N, 6, |_, _| standard_normal(&mut rng));
    let y = Mat::from_fn(N, 1, |n, _| {
        let told = x[(n, 0)] - x[(n, 1)] + 0.5 * standard_normal(&mut rng);
        f64::from(u8::from(told > 0.0))
    });
    let data = of_tables(x, y);
    let mixed = |clusters: bool| {
        let spec = models::sshiba(K).with_likelihood("y", "bernoulli");
        let spec = if clusters {
            spec.with_mixture(2).with_local("y")
        } else {
            spec
        };
        let alone = crate::fit(data.clone(), spec.clone()).unwrap();
        let fit = crate::fit(data.clone(), spec.with_settled("y", Settle::Mixture)).unwrap();
        let of = |fit: &Fit| fit.predict(&data.with_views(&["x"]).unwrap(), "y").unwrap();
        let fit = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
        let shares = fit.shares_of(1).unwrap().expect("shares");
        (shares, of(&alone).mean, of(&fit).mean)
    };
    // p = s p_joint + (1 - s) p_regression
    let regression = |(shares, joint, both): ([f64; 2], Mat<f64>, Mat<f64>)| {
        assert!(shares[1] > 0.1, "{shares:?}");
        Mat::from_fn(N, 1, |n, _| {
            (both[(n, 0)] - shares[0] * joint[(n, 0)]) / shares[1]
        })
    };
    let [with, without] = [true, false].map(|clusters| regression(mixed(clusters)));
    for n in 0..N {
        assert!(
            (with[(n, 0)] - without[(n, 0)]).abs() < 1e-9,
            "{n}: {} {}",
            with[(n, 0)],
            without[(n, 0)]
        );
    }
}
