//! A whole sweep by the streaming path beside its own two products with the
//! data. For one thread run with `RAYON_NUM_THREADS=1`.

use criterion::{Criterion, criterion_group, criterion_main};
use polyview::{Fitting, Path, models};
use polyview_core::{Dataset, FeatureScaling, Table, column_block};
use polyview_infer::{PruneRule, Rotate};
use polyview_likelihoods::NoiseBy;
use polyview_linalg::{Accum, Mat, cross, times};
use polyview_random::{StreamKey, standard_normal};
use std::hint::black_box;

fn normal(rows: usize, cols: usize, seed: u64) -> Mat<f64> {
    let mut rng = StreamKey::new(seed).rng();
    Mat::from_fn(rows, cols, |_, _| standard_normal(&mut rng))
}

fn data(samples: usize, features: &[usize], k: usize) -> Vec<Mat<f64>> {
    let z = normal(samples, k, 1);
    features
        .iter()
        .enumerate()
        .map(|(m, &d)| {
            let w = normal(d, k, 2 + m as u64);
            let mut x = normal(samples, d, 20 + m as u64);
            times(
                z.as_ref(),
                w.transpose().to_owned().as_ref(),
                x.as_mut(),
                Accum::Add,
            );
            x
        })
        .collect()
}

fn table(m: usize, values: Mat<f64>) -> Table {
    Table {
        name: format!("v{m}"),
        samples: (0..values.nrows()).map(|n| n.to_string()).collect(),
        features: (0..values.ncols()).map(|d| d.to_string()).collect(),
        levels: Vec::new(),
        values,
    }
}

fn one(c: &mut Criterion, name: &str, samples: usize, features: &[usize], k: usize) {
    let mut g = c.benchmark_group(name);
    g.sample_size(20);
    let views = data(samples, features, k);
    let z = normal(samples, k, 3);
    let weights: Vec<_> = features.iter().map(|&d| normal(d, k, 4)).collect();
    let mut out = Mat::zeros(samples, k);
    let width = column_block(samples);
    // block by block, each read once from memory, as the sweep does
    g.bench_function("two products", |b| {
        b.iter(|| {
            for (x, w) in views.iter().zip(&weights) {
                for start in (0..x.ncols()).step_by(width) {
                    let columns = width.min(x.ncols() - start);
                    let block = x.as_ref().subcols(start, columns);
                    black_box(cross(z.as_ref(), block));
                    times(
                        block,
                        w.as_ref().subrows(start, columns),
                        out.as_mut(),
                        Accum::Add,
                    );
                }
            }
        });
    });
    for noise in [NoiseBy::View, NoiseBy::Feature] {
        let mut builder = Dataset::builder();
        for (m, x) in views.iter().enumerate() {
            builder = builder.view(table(m, x.clone()));
        }
        let mut spec = models::bibfa(k);
        spec.path = Path::Streaming;
        spec.defaults.scaling = FeatureScaling::View;
        spec.defaults.noise = noise;
        spec.vb.max_sweeps = usize::MAX;
        spec.vb.tolerance = 1e-300;
        spec.vb.prune = PruneRule::never();
        spec.vb.rotate = Rotate::Off;
        let mut fitting =
            Fitting::new(builder.build().expect("a data set"), spec).expect("a model");
        g.bench_function(format!("sweep, noise by {noise:?}"), |b| {
            b.iter(|| fitting.step().expect("a sweep"));
        });
    }
    g.finish();
}

fn all(c: &mut Criterion) {
    one(c, "sweep/1000x3x2000, K=20", 1000, &[2000, 2000, 2000], 20);
    one(
        c,
        "sweep/5000x5000 in three, K=20",
        5000,
        &[2000, 2000, 1000],
        20,
    );
}

criterion_group!(benches, all);
criterion_main!(benches);
