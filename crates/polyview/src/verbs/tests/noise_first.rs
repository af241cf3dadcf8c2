//! Factors much smaller than others, where noise is low enough to see them (docs/decisions/0099-noise-first.md), and factors of
//! views of tangents (docs/decisions/0103-the-first-steps.md).

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

/// Of factors that data have, one or two were closed before their weights had grown where thirty were offered. Two of these sets have two optima
/// 17 nats apart, with two factors and with three.
#[test]
fn many_factors_that_are_offered_close_none() {
    let same = |seed: &u64| {
        let data = durations(*seed, 3, 30, (1.0, 0.3));
        let [few, many] = [3, 30].map(|k| of_durations(models::sshiba(k), &data));
        few.0 == many.0 && (few.1 - many.1).abs() < 0.1
    };
    let count = (2..14).filter(same).count();
    assert!(count >= 10, "{count} of 12");
}

/// With sparse weights, and with dense ones.
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

/// Poisson counts of 200 samples and 40 features whose log rates are `level` and three factors with loadings of that size.
fn counts_of(seed: u64, (level, size): (f64, f64)) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let mut normal = |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w) = (normal(200, 3), normal(40, 3));
    let eta = &z * w.transpose();
    let counts = Mat::from_fn(200, 40, |n, d| {
        polyview_random::poisson(&mut rng, (level + size * eta[(n, d)]).exp()).unwrap()
    });
    Dataset::builder().view(table("y", counts)).build().unwrap()
}

/// Rates that differ by factors of ten thousand: weights go to their optima together, and their first step starts where the counts
/// are. Entry by entry, and from a rate that is the same everywhere, forty sweeps left the bound at fifty times that of dense weights.
#[test]
fn sparse_weights_keep_up_with_dense_ones_where_rates_are_far_apart() {
    for seed in 1..5 {
        let data = counts_of(seed, (1.0, 1.5));
        let [sparse, dense] = [models::mofa(20), models::sshiba(20)].map(|spec| {
            let mut spec = spec.with_likelihood("y", "poisson");
            spec.vb.max_sweeps = 40;
            bound(&crate::fit(data.clone(), spec).unwrap())
        });
        assert!(sparse > 1.3 * dense, "{seed}: {sparse} {dense}");
    }
}

/// The first step of Poisson weights starts where the counts are: after five sweeps there is little left to gain, where the bound was
/// hundreds of times that of the end.
#[test]
fn weights_of_counts_start_where_the_counts_are() {
    let data = counts_of(2, (1.0, 1.5));
    let [first, last] = [5, 60].map(|sweeps| {
        let mut spec = models::sshiba(20).with_likelihood("y", "poisson");
        spec.vb.max_sweeps = sweeps;
        bound(&crate::fit(data.clone(), spec).unwrap())
    });
    assert!(first > 3.0 * last, "{first} {last}");
}

/// Factors of views of tangents alone move under sparse weights from the first sweep on. Where they stayed the last two of these kept a fourth.
#[test]
fn no_further_factors_of_overdispersed_counts_are_kept() {
    for seed in [1, 2, 3, 11, 21] {
        let mut rng = StreamKey::new(seed).rng();
        let mut normal =
            |rows, columns| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
        let (z, w) = (normal(150, 3), normal(30, 3));
        let eta = &z * w.transpose();
        let counts = Mat::from_fn(150, 30, |n, d| {
            let rate = gamma(&mut rng, 2.0, 2.0).unwrap() * (2.0 + 0.6 * eta[(n, d)]).exp();
            polyview_random::poisson(&mut rng, rate).unwrap()
        });
        let data = Dataset::builder().view(table("y", counts)).build().unwrap();
        let fit = crate::fit(data, models::mofa(30).with_likelihood("y", "nb")).unwrap();
        assert_eq!(fit.k(), 3, "seed {seed}");
    }
}
