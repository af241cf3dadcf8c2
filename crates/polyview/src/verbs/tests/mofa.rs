//! The MOFA family through the facade.

use polyview_core::{Dataset, Event, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, poisson, standard_normal, uniform_open01};

use crate::{EngineKind, ErrorKind, Fit, Posterior, ProjectOptions, models};

const N: usize = 200;
const D: usize = 60;
const K: usize = 3;

/// Two views of sparse factors, weights and factors known.
fn simulated() -> (Dataset, Mat<f64>, Vec<Mat<f64>>) {
    simulated_with(21, 1.0, 1.0)
}

/// The same with noise of this standard deviation, and weights of the last factor that are as much smaller.
fn simulated_with(seed: u64, noise: f64, last: f64) -> (Dataset, Mat<f64>, Vec<Mat<f64>>) {
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(N, K, |_, _| standard_normal(&mut rng));
    let mut weights = Vec::new();
    let mut builder = Dataset::builder();
    for name in ["a", "b"] {
        let w = Mat::from_fn(D, K, |_, k| {
            let w = standard_normal(&mut rng);
            if uniform_open01(&mut rng) < 0.3 {
                if k + 1 == K { last * w } else { w }
            } else {
                0.0
            }
        });
        let x = &z * w.transpose();
        let values = Mat::from_fn(N, D, |n, d| {
            let hidden = uniform_open01(&mut rng) < 0.1;
            let x = x[(n, d)] + noise * standard_normal(&mut rng);
            if hidden { f64::NAN } else { x }
        });
        builder = builder.view(Table {
            name: name.into(),
            samples: (0..N).map(|n| format!("s{n}")).collect(),
            features: (0..D).map(|d| format!("{name}{d}")).collect(),
            values,
            levels: Vec::new(),
        });
        weights.push(w);
    }
    (builder.build().unwrap(), z, weights)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let (ma, mb) = (mean(a), mean(b));
    let dot = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    dot(a, ma, b, mb) / (dot(a, ma, a, ma) * dot(b, mb, b, mb)).sqrt()
}

/// The factor found that agrees best with each true one.
fn matches(fit: &Fit, z: &Mat<f64>) -> Vec<(usize, f64)> {
    let found = fit.factors().unwrap().mean;
    (0..z.ncols())
        .map(|t| {
            (0..found.ncols())
                .map(|k| {
                    let r = correlation(z.col_as_slice(t), found.col_as_slice(k));
                    (k, r.abs())
                })
                .fold((0, 0.0), |best, x| if x.1 > best.1 { x } else { best })
        })
        .collect()
}

#[test]
fn factors_come_out_unmixed_and_in_number() {
    let (data, z, weights) = simulated();
    let fit = crate::fit(data, models::mofa(8)).unwrap();
    assert_eq!(fit.k(), K);
    let removed = |e: &Event| matches!(e, Event::Pruned { .. } | Event::Needless { .. });
    let lines = fit.record().journal.entries.iter();
    assert_eq!(lines.filter(|e| removed(&e.event)).count(), 8 - K);
    for (t, (k, r)) in matches(&fit, &z).into_iter().enumerate() {
        assert!(r > 0.97, "factor {t}: {r}");
        for (view, w) in ["a", "b"].iter().zip(&weights) {
            let inclusion = fit.inclusion(view).unwrap();
            // large weights are in, zeros out but for a few
            let (mut missed, mut wrong) = (0, 0);
            for d in 0..D {
                let own = inclusion[(d, k)];
                assert!((0.0..=1.0).contains(&own));
                missed += usize::from(w[(d, t)].abs() > 0.5 && own < 0.5);
                wrong += usize::from(w[(d, t)] == 0.0 && own > 0.9);
            }
            assert_eq!(missed, 0, "{view} {t}");
            assert!(wrong <= 3, "{view} {t}: {wrong}");
        }
    }
}

/// With little noise and missing cells factors come out in number, exactly and soon, with the zeros that there are
/// (docs/decisions/0105-starts-are-completed-and-unmixed.md): starts that take missing cells to be at their means, or leave factors
/// uncorrelated in the sample, kept further factors, and weights in place of zeros.
#[test]
fn little_noise_leaves_neither_factors_nor_weights_that_are_not_there() {
    for seed in [22, 23] {
        let (data, z, weights) = simulated_with(seed, 0.01, 1.0);
        let fit = crate::fit(data, models::mofa(20)).unwrap();
        assert_eq!(fit.k(), K, "seed {seed}");
        assert!(fit.record().sweeps < 300, "{}", fit.record().sweeps);
        for (t, (k, r)) in matches(&fit, &z).into_iter().enumerate() {
            assert!(r > 0.9999, "seed {seed}, factor {t}: {r}");
            for (view, w) in ["a", "b"].iter().zip(&weights) {
                let inclusion = fit.inclusion(view).unwrap();
                let wrong = |d: &usize| w[(*d, t)] == 0.0 && inclusion[(*d, k)] > 0.9;
                let wrong = (0..D).filter(wrong).count();
                assert!(wrong <= 1, "seed {seed}, {view} {t}: {wrong}");
            }
        }
    }
}

/// Weights of a factor that does nothing in a view are as good as zero whatever their inclusion.
#[test]
fn factors_that_do_nothing_in_a_view_are_known() {
    let fit = crate::fit(polyview_datasets::nutrimouse(), models::mofa(12)).unwrap();
    let (mut idle, mut acting) = (0, 0);
    for view in ["gene", "lipid"] {
        let (found, weights) = (fit.idle(view).unwrap(), fit.weights(view).unwrap().mean);
        let inclusion = fit.inclusion(view).unwrap();
        for (k, is_idle) in found.iter().enumerate() {
            let any = inclusion.col(k).iter().any(|p| *p > 0.0);
            assert_eq!(any, !is_idle, "{view} {k}");
        }
        let largest = |k: usize| weights.col(k).iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        for (k, is_idle) in found.into_iter().enumerate() {
            assert_eq!(is_idle, largest(k) < 0.03, "{view} {k}: {}", largest(k));
            *(if is_idle { &mut idle } else { &mut acting }) += 1;
        }
    }
    assert!(idle > 0 && acting > idle, "{idle} {acting}");
}

/// Probabilities of weights that are not zero are those of the prior where a factor explains next to nothing and none of its weights stands out:
/// they are zero, so that few of the weights that a threshold takes are not there.
#[test]
fn weights_of_views_that_a_factor_has_nothing_to_do_with_are_zero() {
    let (mut wrong, mut right) = (0, 0);
    for seed in 0..4 {
        let mut rng = StreamKey::new(seed).rng();
        let z = Mat::from_fn(120, 4, |_, _| standard_normal(&mut rng));
        let mut builder = Dataset::builder();
        let mut truth = Vec::new();
        // a factor of all views, and one of each alone
        for (v, columns) in [60, 40, 30].into_iter().enumerate() {
            let w = Mat::from_fn(columns, 4, |d, k| {
                let acts = (k == 0 || k == v + 1) && d % 3 == k % 3;
                f64::from(u8::from(acts)) * standard_normal(&mut rng)
            });
            let noise = Mat::from_fn(120, columns, |_, _| standard_normal(&mut rng));
            builder = builder.view(Table {
                name: format!("v{v}"),
                samples: (0..120).map(|n| format!("s{n}")).collect(),
                features: (0..columns).map(|d| format!("v{v}_{d}")).collect(),
                levels: Vec::new(),
                values: &z * w.transpose() + noise,
            });
            truth.push(w);
        }
        let fit = crate::fit(builder.build().unwrap(), models::mofa(8)).unwrap();
        assert_eq!(fit.k(), 4, "{seed}");
        for (t, (k, _)) in matches(&fit, &z).into_iter().enumerate() {
            for (v, w) in truth.iter().enumerate() {
                let inclusion = fit.inclusion(&format!("v{v}")).unwrap();
                for d in 0..w.nrows() {
                    let taken = usize::from(inclusion[(d, k)] > 0.5);
                    *(if w[(d, t)] == 0.0 {
                        &mut wrong
                    } else {
                        &mut right
                    }) += taken;
                }
            }
        }
    }
    assert!(right > 150 && 12 * wrong < right, "{right} {wrong}");
}

#[test]
fn a_chain_finds_the_same_zeros() {
    let (data, _, _) = simulated();
    let mut spec = models::mofa(K);
    let vb = crate::fit(data.clone(), spec.clone()).unwrap();
    spec.engine = EngineKind::Gibbs;
    spec.gibbs.chains = 1;
    (spec.gibbs.warm_up, spec.gibbs.sweeps) = (150, 300);
    let gibbs = crate::fit(data, spec).unwrap();
    let matched = matches(&gibbs, &vb.factors().unwrap().mean);
    for view in ["a", "b"] {
        let (mean, draws) = (vb.inclusion(view).unwrap(), gibbs.inclusion(view).unwrap());
        let mut agree = 0;
        for (t, &(k, r)) in matched.iter().enumerate() {
            assert!(r > 0.97, "{t}: {r}");
            let same = (0..D).filter(|&d| (mean[(d, t)] > 0.5) == (draws[(d, k)] > 0.5));
            agree += same.count();
        }
        assert!(agree as f64 > 0.93 * (D * K) as f64, "{view}: {agree}");
    }
}

#[test]
fn choices_are_kept_and_some_refused() {
    let (data, _, _) = simulated();
    for posterior in [Posterior::Full, Posterior::Factorised] {
        let mut spec = models::mofa(4);
        spec.posterior = posterior;
        let fit = crate::fit(data.clone(), spec).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.pv");
        fit.save(&path, crate::Overwrite::Refuse).unwrap();
        let again = Fit::load(&path).unwrap();
        assert_eq!(again.spec().unwrap().posterior, posterior);
        let (a, b) = (fit.inclusion("a").unwrap(), again.inclusion("a").unwrap());
        assert_eq!(a, b);
        assert!(matches!(
            fit.varimax().unwrap_err().kind(),
            ErrorKind::Incompatible { .. }
        ));
    }
    let plain = crate::fit(data.clone(), models::bibfa(2)).unwrap();
    assert!(matches!(
        plain.inclusion("a").unwrap_err().kind(),
        ErrorKind::NoInclusion { .. }
    ));
    // mofapy2 does not know these
    let spec = models::mofapy2(2).with_likelihood("a", "negative-binomial");
    assert!(matches!(
        crate::fit(data.clone(), spec).unwrap_err().kind(),
        ErrorKind::Incompatible { .. }
    ));
    let mut spec = models::mofapy2(2);
    spec.engine = EngineKind::Gibbs;
    assert!(crate::fit(data, spec).is_err());
}

#[test]
fn factors_that_explain_little_are_dropped() {
    // the last factor explains a hundredth
    let (data, _, _) = simulated_with(21, 1.0, 0.3);
    let mut spec = models::mofa(8);
    spec.vb.prune.by_bound = false;
    let all = crate::fit(data.clone(), spec.clone()).unwrap();
    assert!(all.k() >= K, "nothing to drop");
    spec.vb.prune.least_explained = 0.02;
    assert_eq!(crate::fit(data.clone(), spec.clone()).unwrap().k(), K - 1);
    // nothing explains that much
    spec.vb.prune.least_explained = 0.99;
    assert_eq!(crate::fit(data, spec).unwrap().k(), 1);
}

/// Zeros among the factors would not outlive a rotation.
#[test]
fn sparse_factors_are_not_turned() {
    let (data, _, _) = simulated();
    let mut spec = models::bibfa(3);
    spec.factor_prior = "spike-and-slab".into();
    spec.vb.max_sweeps = 5;
    let error = crate::fit(data, spec).unwrap().varimax().unwrap_err();
    assert!(
        error.to_string().contains("spike-and-slab factors"),
        "{error}"
    );
}

/// What the way of mofapy2 finds of a sample does not depend on those beside it,
/// and training samples land where they are.
#[test]
fn samples_of_mofapy2_are_projected_one_by_one() {
    let (_, z, w) = simulated();
    let (a, b) = (&z * w[0].transpose(), &z * w[1].transpose());
    let mut rng = StreamKey::new(3).rng();
    let labels = Mat::from_fn(N, D, |n, d| {
        let p = 1.0 / (1.0 + (-2.0 * a[(n, d)]).exp());
        f64::from(u8::from(uniform_open01(&mut rng) < p))
    });
    let counts = Mat::from_fn(N, D, |n, d| {
        poisson(&mut rng, (1.0 + (b[(n, d)] + 1.0).exp()).ln()).unwrap()
    });
    let table = |name: &str, values: &Mat<f64>, rows: std::ops::Range<usize>| Table {
        name: name.into(),
        samples: rows.clone().map(|n| format!("s{n}")).collect(),
        features: (0..D).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values: values.subrows(rows.start, rows.len()).to_owned(),
    };
    for (name, values, likelihood) in [("a", &labels, "bernoulli"), ("b", &counts, "poisson")] {
        let of = |rows| {
            Dataset::builder()
                .view(table(name, values, rows))
                .build()
                .unwrap()
        };
        let mut spec = models::mofapy2(3).with_likelihood(name, likelihood);
        spec.vb.max_sweeps = 400;
        let fit = crate::fit(of(0..N), spec).unwrap();
        // as a file keeps it, without training data
        let mut saved = fit.clone();
        saved.forget_data();
        let saved = Fit::from_bytes(&saved.to_bytes().unwrap()).unwrap();
        let project = |f: &Fit, rows| {
            f.project(&of(rows), &ProjectOptions::default())
                .unwrap()
                .mean
        };
        let own = fit.factors().unwrap().mean;
        let (all, one, again) = (
            project(&fit, 0..N),
            project(&fit, 7..8),
            project(&saved, 7..8),
        );
        for k in 0..fit.k() {
            assert_eq!(one[(0, k)], again[(0, k)], "{name}");
            assert!(
                (one[(0, k)] - all[(7, k)]).abs() < 1e-4,
                "{name} {k}: {one:?}"
            );
            let (x, y): (Vec<f64>, Vec<f64>) = (0..N).map(|n| (all[(n, k)], own[(n, k)])).unzip();
            let r = correlation(&x, &y);
            let empty = y.iter().all(|y| y.abs() < 1e-6);
            assert!(r > 0.999 || empty, "{name} {k}: {r}");
        }
    }
}
