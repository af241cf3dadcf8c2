//! Factors that repeat what single features vary by themselves.

use polyview_core::Dataset;
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, gamma, poisson, standard_normal};

use super::counts::table;
use crate::{Fit, Likelihood, models};

/// Thirty numbers of three factors, and a view whose columns are alike by `load` times the first factor and vary by
/// themselves as a gamma number of shape 3 does.
fn data(seed: u64, samples: usize, columns: usize, load: f64, counts: bool) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let normal = |rows, columns, rng: &mut ChaCha8Rng| {
        Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
    };
    let (z, w) = (normal(samples, 3, &mut rng), normal(30, 3, &mut rng));
    let x = &z * w.transpose() + normal(samples, 30, &mut rng);
    let y = Mat::from_fn(samples, columns, |n, _| {
        let rate = (load * z[(n, 0)]).exp() * gamma(&mut rng, 3.0, 0.5).unwrap();
        if counts {
            poisson(&mut rng, rate).unwrap()
        } else {
            rate
        }
    });
    let builder = Dataset::builder().view(table("x", x)).view(table("y", y));
    builder.build().unwrap()
}

fn fitted(data: Dataset, likelihood: &'static str) -> Fit {
    crate::fit(data, models::mofa(20).with_likelihood("y", likelihood)).unwrap()
}

fn warned(fit: &Fit) -> bool {
    let mut warnings = fit.record().journal.warnings();
    warnings.any(|w| w.starts_with("weights/y: factor(s)") && w.contains("are not explained"))
}

/// What a factor of no other view says of counts and positive numbers that are independent is what their sizes and shapes say, of
/// one column as of four, whichever way the factors are turned.
#[test]
fn what_columns_vary_by_themselves_is_not_explained() {
    // of few samples four columns resemble one another by chance, which a factor may well say
    for (likelihood, samples, columns) in [
        ("negative-binomial", 40, 1),
        ("negative-binomial", 150, 4),
        ("gamma", 40, 1),
    ] {
        let mut taken = 0;
        for seed in 1..=6 {
            let counts = likelihood != "gamma";
            let fit = fitted(data(seed, samples, columns, 0.0, counts), likelihood);
            let explained = fit.explain().unwrap();
            let found = fit.repeating(&explained).unwrap();
            let own: f64 = (found.iter().filter(|f| f.view == 1))
                .flat_map(|f| f.factors.iter().map(|k| explained.marginal[(1, *k)]))
                .sum();
            // chance resemblance to factors of the other view is no matter of this
            let only = |k: &usize| explained.marginal[(0, *k)] < 0.005;
            let private = (0..explained.factors).filter(only);
            let private: f64 = private.map(|k| explained.marginal[(1, k)].max(0.0)).sum();
            assert!(
                private - own < 0.02,
                "{likelihood} {columns} {seed}: {own} of {private}"
            );
            if private > 0.1 {
                taken += 1;
                assert!(warned(&fit), "{likelihood} {columns} {seed}");
            }
        }
        assert!(taken > 1, "{likelihood} {columns}: {taken}");
    }
}

/// Factors of several columns are findings, in another view or not.
#[test]
fn what_columns_have_in_common_is_explained() {
    for (likelihood, counts) in [("negative-binomial", true), ("gamma", false)] {
        let shared = data(7, 150, 6, 0.7, counts);
        // the factor of these columns is one of another set of samples
        let values =
            |data: &Dataset, view: &str| table(view, data.view(view).unwrap().to_values_with_nan());
        let (x, y) = (
            values(&data(8, 150, 1, 0.0, counts), "x"),
            values(&shared, "y"),
        );
        let private = Dataset::builder().view(x).view(y).build().unwrap();
        let [shared, private] = [shared, private].map(|data| fitted(data, likelihood));
        for fit in [shared, private] {
            let explained = fit.explain().unwrap();
            assert!(
                explained.total[1] > 0.3,
                "{likelihood} {:?}",
                explained.total
            );
            assert!(!warned(&fit), "{likelihood}");
        }
    }
}

#[test]
fn likelihoods_say_whether_they_learn_a_spread() {
    let of = |name: &str| name.parse::<Likelihood>().unwrap().learns_spread();
    for name in [
        "gaussian",
        "censored",
        "survival",
        "nb",
        "pln",
        "gamma",
        "bernoulli-latent",
        "ordinal-midpoint",
    ] {
        assert!(of(name), "{name}");
    }
    for name in [
        "poisson",
        "binomial",
        "bernoulli",
        "probit",
        "svm",
        "categorical",
        "ordinal",
        "rank",
        "nb{size=3}",
        "gamma{shape=3}",
    ] {
        assert!(!of(name), "{name}");
    }
}
