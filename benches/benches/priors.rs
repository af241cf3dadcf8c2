//! What precisions for each feature cost (double ARD, spec/sshiba 2.6), beside
//! plain ARD, at the shape of gene expression.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use polyview_core::{
    Bias, Context, GammaPrior, Journal, NormalEquations, RowBlock, RowMoments, Rule, Schedule,
    View, column_block,
};
use polyview_infer::{Model, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{Gaussian, GaussianOptions};
use polyview_linalg::{Mat, gram};
use polyview_priors::{Ard, DoubleArd, Fixed, FullRows};
use polyview_random::StreamKey;
use std::hint::black_box;

const SAMPLES: usize = 200;
const FEATURES: usize = 20_000;
const K: usize = 100;
const PRIOR: GammaPrior = GammaPrior::new(1e-6, 1e-6);

fn noise(rows: usize, cols: usize) -> Mat<f64> {
    Mat::from_fn(rows, cols, |i, j| {
        (((i * 7919 + j * 104_729 + i * j % 523) % 1009) as f64 - 504.0) / 300.0
    })
}

fn weights(name: &str) -> Box<dyn RowBlock> {
    let start = RowMoments::isotropic(Mat::zeros(FEATURES, K), 1.0, 0);
    if name == "ard" {
        Box::new(FullRows::new("w", Ard::new(PRIOR, K), start))
    } else {
        let prior = DoubleArd::new(PRIOR, PRIOR, FEATURES, K);
        Box::new(FullRows::new("w", prior, start))
    }
}

/// Equations to moments, and the scales after them.
fn block(c: &mut Criterion) {
    let mut g = c.benchmark_group("weights+scales/20000x100");
    for name in ["ard", "double-ard"] {
        let mut w = weights(name);
        let mut eq = NormalEquations::new(K, 0..0);
        eq.gram = gram(noise(SAMPLES, K).as_ref());
        eq.gram.add_diag(&[1.0; K]);
        let mut journal = Journal::default();
        let rhs = noise(FEATURES, K);
        let width = column_block(SAMPLES);
        g.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| {
                let mut cx = Context {
                    key: StreamKey::new(1),
                    sweep: 1,
                    journal: &mut journal,
                };
                let done = w.prepare(&eq, &mut cx).is_ok()
                    && (0..FEATURES).step_by(width).all(|start| {
                        let len = width.min(FEATURES - start);
                        eq.set_rows(start..start + len);
                        eq.rhs.copy_from(rhs.as_ref().subrows(start, len));
                        w.update(&mut eq, Rule::Optimum, &mut cx).is_ok()
                    });
                let done = done && w.learn(&mut cx).is_ok();
                assert!(done, "the equations are positive definite");
                black_box(w.bound())
            });
        });
    }
    g.finish();
}

fn run(name: &str) -> Option<VbRun> {
    let names = (0..FEATURES).map(|d| d.to_string()).collect();
    let view = View::from_values("x", names, noise(SAMPLES, FEATURES)).ok()?;
    let part = ViewPart {
        name: "x".into(),
        term: Box::new(Gaussian::new(view, GaussianOptions::default())),
        weights: weights(name),
        bias: Bias::gaussian(FEATURES, 0, 1.0),
    };
    let start = RowMoments::isotropic(noise(SAMPLES, K), 0.1, 0);
    let factors = FullRows::new("factors", Fixed::standard_normal(K), start);
    let model = Model::new(Box::new(factors), vec![part], Schedule::standard(1));
    let options = VbOptions {
        rotate: Rotate::Off,
        prune: PruneRule::never(),
        ..VbOptions::default()
    };
    let key = StreamKey::new(1);
    Some(VbRun::new(model, options, key, Journal::default()))
}

/// Whole sweeps, the bound included.
fn sweep(c: &mut Criterion) {
    let mut g = c.benchmark_group("sweep/200x20000x100");
    for name in ["ard", "double-ard"] {
        let Some(mut run) = run(name) else { return };
        g.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| black_box(run.sweep().is_ok()));
        });
    }
    g.finish();
}

fn all(c: &mut Criterion) {
    block(c);
    sweep(c);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = all
}
criterion_main!(benches);
