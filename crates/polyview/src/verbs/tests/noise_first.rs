//! Factors much smaller than others, where noise is low enough to see them (docs/decisions/0099-noise-first.md).

use polyview_core::Dataset;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

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
