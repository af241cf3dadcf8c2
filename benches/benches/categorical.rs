//! A categorical view of 100 classes and 20 000 samples, ten factors: what a
//! sweep of variational Bayes, one of Gibbs, and a prediction cost.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use polyview_core::{
    Bias, Block, Context, Journal, NormalEquations, Predictor, RowMoments, View, ViewTerm,
};
use polyview_likelihoods::{CategoricalProbit, CategoricalProbitOptions};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};
use std::hint::black_box;

const SAMPLES: usize = 20_000;
const CLASSES: usize = 100;
const K: usize = 10;

fn noise(rows: usize, scale: f64, seed: u64) -> Mat<f64> {
    let mut rng = StreamKey::new(seed).rng();
    Mat::from_fn(rows, K, |_, _| scale * standard_normal(&mut rng))
}

fn classes(c: &mut Criterion) {
    let factors = RowMoments::isotropic(noise(SAMPLES, 1.0, 1), 0.1, 0);
    let weights = RowMoments::isotropic(noise(CLASSES, 0.5, 2), 0.01, 0);
    let bias = Bias::gaussian(CLASSES, 0, 1.0);
    let p = Predictor {
        factors: &factors,
        weights: &weights,
        bias: &bias,
    };
    let codes = Mat::from_fn(SAMPLES, 1, |n, _| (n * 37 % CLASSES) as f64);
    let term = View::from_values("classes", vec!["class".into()], codes)
        .and_then(|v| v.with_levels((0..CLASSES).map(|c| c.to_string()).collect()))
        .and_then(|v| CategoricalProbit::new(&v, CategoricalProbitOptions::default()));
    let Ok(mut term) = term else { return };
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(3),
        sweep: 1,
        journal: &mut journal,
    };
    let mut g = c.benchmark_group("categorical/20000x100");
    g.sample_size(10);
    g.throughput(Throughput::Elements((SAMPLES * CLASSES) as u64));
    g.bench_function("refresh", |b| b.iter(|| term.refresh(&p, &mut cx)));
    g.bench_function("refresh and equations", |b| {
        b.iter(|| {
            term.refresh(&p, &mut cx)?;
            let mut eq = NormalEquations::new(K, 0..0);
            term.equations().weight_gram(&p, &mut eq)?;
            eq.set_rows(0..CLASSES);
            term.equations().weight_equations(&p, &mut eq)?;
            term.equations().absorb(0..CLASSES, &p);
            term.equations().seal(&p);
            let mut eq = NormalEquations::new(K, 0..SAMPLES);
            term.equations()
                .factor_gram(0, &p, &mut eq)
                .expect("equations");
            term.equations().factor_equations(&p, &mut eq)
        });
    });
    g.bench_function("predict", |b| {
        b.iter(|| black_box(term.law(&p, &Block::new(0..SAMPLES, 0..1))));
    });
    if let Some(sampler) = term.as_augmented() {
        g.bench_function("draw", |b| b.iter(|| sampler.draw_locals(&p, &mut cx)));
    }
    g.finish();
}

criterion_group!(benches, classes);
criterion_main!(benches);
