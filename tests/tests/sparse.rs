//! Sparse rows in whole models.

use polyview_core::{Journal, RowMoments, View};
use polyview_infer::{Start, VbOptions, VbRun, start_factors};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::{FilledBlock, Mat, MatRef};
use polyview_priors::{SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::{StreamKey, uniform_open01};
use polyview_tests::sparse::{self, Rows};
use polyview_tests::{Case, Holes, ViewCase, gaussian_parts, normal};

/// Five factors, three in ten weights of which are not zero.
fn sparse_data(samples: usize, features: usize, seed: u64) -> (Mat<f64>, Vec<Mat<f64>>) {
    let mut rng = StreamKey::new(seed).block(5).rng();
    let z = normal(samples, 5, &mut rng);
    let views = (0..3)
        .map(|_| {
            let mut w = normal(features, 5, &mut rng);
            for j in 0..5 {
                for d in 0..features {
                    if uniform_open01(&mut rng) > 0.3 {
                        w[(d, j)] = 0.0;
                    }
                }
            }
            &z * w.transpose() + normal(samples, features, &mut rng)
        })
        .collect();
    (z, views)
}

/// For each true factor the largest correlation with a found one; the least.
fn worst_axis(truth: MatRef<'_, f64>, found: MatRef<'_, f64>) -> f64 {
    let correlation = |i: usize, j: usize| {
        let n = truth.nrows() as f64;
        let (a, b) = (truth.col(i), found.col(j));
        let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
        let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
        for (x, y) in a.iter().zip(b.iter()) {
            ab += (x - ma) * (y - mb);
            aa += (x - ma).powi(2);
            bb += (y - mb).powi(2);
        }
        ab.abs() / (aa * bb).sqrt().max(1e-300)
    };
    (0..truth.ncols())
        .map(|i| {
            (0..found.ncols())
                .map(|j| correlation(i, j))
                .fold(0.0, f64::max)
        })
        .fold(1.0, f64::min)
}

/// A run with ten factors from the varimax start.
fn run(data: &[Mat<f64>], weights: Rows, seed: u64) -> VbRun {
    let (k, features) = (10, data[0].ncols());
    let view = ViewCase {
        features,
        holes: Holes::None,
        noise: NoiseBy::Feature,
        missing: MissingData::Marginal,
        bias: Some(0.01),
        relevance: false,
    };
    let case = Case {
        seed,
        samples: data[0].nrows(),
        k,
        views: vec![view; data.len()],
    };
    let (zero, one) = (vec![0.0; features], vec![1.0; features]);
    let blocks: Vec<FilledBlock<'_>> = data
        .iter()
        .map(|x| FilledBlock {
            values: x.as_ref(),
            mask: None,
            mean: &zero,
            scale: &one,
        })
        .collect();
    let key = StreamKey::new(seed);
    let start = start_factors(Start::Varimax, &blocks, k, key, 0).expect("finite data");
    let names: Vec<String> = (0..features).map(|d| format!("f{d}")).collect();
    let views = (0..)
        .zip(data)
        .map(|(m, x)| View::from_values(format!("v{m}"), names.clone(), x.clone()).expect("finite"))
        .collect();
    let mut model = sparse::assemble(
        gaussian_parts(&case, views),
        weights,
        Rows::Full,
        None,
        start,
    );
    if weights == Rows::SpikeSlab {
        // vague hyperpriors, as MOFA has them
        for v in &mut model.views {
            v.weights = Box::new(SpikeSlabRows::new(
                format!("weights/{}", v.name),
                SpikeSlab::new(SpikeSlabOptions::default(), features, k),
                RowMoments::isotropic(Mat::zeros(features, k), 1.0, 0),
            ));
        }
    }
    let mut run = VbRun::new(model, VbOptions::default(), key, Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    run
}

/// From a varimax start sparse weights find the factors themselves, weights
/// under ARD a mixture of them.
#[test]
fn sparse_weights_unmix_factors() {
    for seed in 0..3 {
        let (z, data) = sparse_data(500, 200, seed);
        let axis = |weights: Rows| {
            let run = run(&data, weights, seed);
            worst_axis(z.as_ref(), run.model().factors.moments().mean())
        };
        let (sparse, ard) = (axis(Rows::SpikeSlab), axis(Rows::Full));
        assert!(sparse > 0.99, "seed {seed}: {sparse}");
        assert!(ard < 0.95, "seed {seed}: {ard}");
    }
}
