//! Factors much smaller than others, where noise is low enough to see them (docs/decisions/0099-noise-first.md), and factors of
//! views of tangents (docs/decisions/0100-tangents-hold-weights-back.md).

use polyview_core::Dataset;
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, gamma, standard_normal, uniform_open01};

use super::counts::table;
use crate::{Fit, ModelSpec, models};

/// Two views, 40 and 30 features, of factors whose loadings have these standard deviations.
fn of_sizes(sizes: &[f64], noise: f64, samples: usize) -> Dataset {
    let k = sizes.len();
    let normal = |rows: usize, block: u32| {
        let mut out = Mat::zeros(rows, k.max(40));
        for j in 0..out.ncols() {
            let mut rng = StreamKey::new(3).block(block).chunk(j as u32).rng();
            for i in 0..rows {
                out[(i, j)] = standard_normal(&mut rng);
            }
        }
        out
    };
    let z = normal(samples, 1);
    let views = [("x", 40), ("y", 30)].map(|(name, features)| {
        let block = if name == "x" { 2 } else { 4 };
        let (w, e) = (normal(features, block), normal(samples, block + 1));
        let values = Mat::from_fn(samples, features, |n, d| {
            let signal = (0..k).map(|j| z[(n, j)] * w[(d, j)] * sizes[j]);
            signal.sum::<f64>() + noise * e[(n, d)]
        });
        table(name, values)
    });
    let [x, y] = views;
    Dataset::builder().view(x).view(y).build().unwrap()
}

fn fit(data: &Dataset, mut spec: ModelSpec, noise_first: bool) -> Fit {
    spec.vb.noise_first = noise_first;
    crate::fit(data.clone(), spec).unwrap()
}

fn bound(fit: &Fit) -> f64 {
    fit.record().bound.unwrap()
}

/// Also where more factors are offered than there are.
#[test]
fn small_factors_are_kept_where_noise_is_low() {
    let sizes = [
        1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 0.03, 0.03, 0.03,
    ];
    let data = of_sizes(&sizes, 0.001, 100);
    for spec in [models::bibfa(25), models::mofa(25)] {
        let (usual, before) = (fit(&data, spec.clone(), true), fit(&data, spec, false));
        assert_eq!(usual.k(), 12);
        assert!(before.k() < 10, "{}", before.k());
        assert!(bound(&usual) > bound(&before) + 10_000.0);
    }
}

/// Sparse weights are judged from the first sweep on.
#[test]
fn sparse_weights_find_what_dense_ones_find() {
    let sizes = [
        1.0, 1.0, 1.0, 0.6, 0.6, 0.6, 0.3, 0.3, 0.3, 0.15, 0.15, 0.15,
    ];
    let data = of_sizes(&sizes, 0.1, 100);
    let mut dense = models::mofa(25);
    dense.defaults.selection = "none".into();
    let (sparse, dense) = (fit(&data, models::mofa(25), true), fit(&data, dense, true));
    assert_eq!((sparse.k(), dense.k()), (12, 12));
    assert!((bound(&sparse) - bound(&dense)).abs() < 200.0);
}

/// Durations of so many factors, whose gamma distribution has this shape and whose loadings have standard deviation `size`.
fn durations(seed: u64, factors: usize, features: usize, (shape, size): (f64, f64)) -> Dataset {
    let samples = 100;
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(samples, factors, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(features, factors, |_, _| size * standard_normal(&mut rng));
    let values = Mat::from_fn(samples, features, |n, d| {
        let eta: f64 = (0..factors).map(|j| z[(n, j)] * w[(d, j)]).sum();
        (1.0 + eta).exp() * gamma(&mut rng, shape, shape).unwrap()
    });
    Dataset::builder().view(table("y", values)).build().unwrap()
}

/// How many factors are left of those offered, and the bound.
fn of_durations(spec: ModelSpec, data: &Dataset) -> (usize, f64) {
    let fit = fit(data, spec.with_likelihood("y", "gamma"), true);
    (fit.k(), bound(&fit))
}

/// Of factors that data have, one or two were closed before their weights had grown where thirty were offered.
#[test]
fn scales_wait_for_weights_that_tangents_hold_back() {
    for seed in 2..7 {
        let data = durations(seed, 3, 30, (1.0, 0.3));
        let [few, many] = [3, 30].map(|k| of_durations(models::sshiba(k), &data));
        assert_eq!(few.0, many.0, "{seed}");
        assert!((few.1 - many.1).abs() < 0.1, "{seed}: {few:?} {many:?}");
    }
}

/// With sparse weights, under which factors first stay where the start put them, and with dense ones, whose scales wait.
#[test]
fn strong_factors_of_durations_are_kept() {
    for seed in 1..7 {
        let data = durations(seed, 5, 20, (2.0, 1.2));
        for spec in [models::mofa(20), models::sshiba(20)] {
            let (kept, bound) = of_durations(spec, &data);
            assert_eq!(kept, 5, "{seed}: {bound}");
        }
    }
}

/// Directions of counts beside other views are those of their logarithms as well: by the counts themselves, of which a few large
/// ones decide, a third of these lost a factor.
#[test]
fn strong_factors_of_counts_beside_labels_are_kept() {
    for seed in 1..9 {
        let mut rng = StreamKey::new(seed).rng();
        let mut normal =
            |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
        let (z, w, v) = (normal(300, 3), normal(60, 3), normal(15, 3));
        let chosen = |w: &Mat<f64>, rng: &mut ChaCha8Rng| {
            Mat::from_fn(w.nrows(), w.ncols(), |d, j| {
                if uniform_open01(rng) < 0.2 {
                    w[(d, j)]
                } else {
                    0.0
                }
            })
        };
        let (w, v) = (chosen(&w, &mut rng), chosen(&v, &mut rng));
        let (eta, of_labels) = (&z * w.transpose(), &z * v.transpose());
        let counts = Mat::from_fn(300, 60, |n, d| {
            polyview_random::poisson(&mut rng, (1.0 + eta[(n, d)]).exp()).unwrap()
        });
        let labels = Mat::from_fn(300, 15, |n, d| {
            let p = 1.0 / (1.0 + (-of_labels[(n, d)]).exp());
            f64::from(u8::from(uniform_open01(&mut rng) < p))
        });
        let tables = Dataset::builder().view(table("labels", labels));
        let data = tables.view(table("counts", counts)).build().unwrap();
        let spec = models::mofa(20).with_likelihood("labels", "bernoulli");
        let fit = crate::fit(data, spec.with_likelihood("counts", "poisson")).unwrap();
        assert!(fit.k() >= 3, "seed {seed}");
    }
}
