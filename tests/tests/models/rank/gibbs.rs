//! Draws against the exact posterior of a tiny problem, by importance sampling
//! from the prior (spec/maxmargin-rank 4.1; a pseudo-likelihood has no data to
//! draw, so that Geweke's test cannot be asked).

use polyview_core::{Bias, RowMoments, Schedule, View};
use polyview_infer::{GibbsChain, Model, ViewPart};
use polyview_likelihoods::{Margin, PairPolicy, Rank, RankOptions};
use polyview_linalg::Mat;
use polyview_priors::{Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::normal;

const N: usize = 4;
const D: usize = 2;

fn view() -> View {
    let x = [[0.0, 3.0], [1.0, 2.0], [2.0, 2.0], [5.0, f64::NAN]];
    let names = vec!["a".into(), "b".into()];
    View::from_values("ranks", names, Mat::from_fn(N, D, |n, d| x[n][d])).expect("a view")
}

/// Test functions that do not change with the sign of the factor.
fn statistics(z: &Mat<f64>, w: &Mat<f64>) -> Vec<f64> {
    let k = z.ncols();
    let eta = z * w.transpose();
    let mut out = vec![
        z[(0, 0)].powi(2),
        z[(3, 0)].powi(2),
        w[(0, 0)].powi(2),
        w[(1, 0)].powi(2),
        z[(0, 0)] * z[(3, 0)],
        z[(1, 0)] * z[(2, 0)],
        w[(0, 0)] * w[(1, 0)],
    ];
    for d in 0..D {
        out.extend([
            eta[(0, d)] - eta[(1, d)],
            (eta[(0, d)] - eta[(2, d)]).max(0.0),
            f64::from(u8::from(eta[(1, d)] < eta[(3, d)])),
        ]);
    }
    assert_eq!(k, 1);
    out
}

fn agree(options: RankOptions) -> f64 {
    let term = Rank::new(&view(), options, StreamKey::new(3)).expect("a rank view");
    let pairs: Vec<(usize, usize, usize)> = (0..D)
        .flat_map(|d| {
            term.pairs(d)
                .map(move |(l, h)| (d, l, h))
                .collect::<Vec<_>>()
        })
        .collect();
    let (eps, c) = (term.epsilon(), options.weight);
    // the posterior by importance sampling
    let draws = 300_000;
    let (mut all, mut sums, mut squares) = (0.0, vec![0.0; 13], 0.0);
    let mut rng = StreamKey::new(11).rng();
    let mut own: Vec<(f64, Vec<f64>)> = Vec::with_capacity(draws);
    for _ in 0..draws {
        let (z, w) = (normal(N, 1, &mut rng), normal(D, 1, &mut rng));
        let loss: f64 = pairs
            .iter()
            .map(|&(d, l, h)| (w[(d, 0)] * (z[(l, 0)] - z[(h, 0)]) + eps).max(0.0))
            .sum();
        let weight = (-2.0 * c * loss).exp();
        all += weight;
        squares += weight * weight;
        let s = statistics(&z, &w);
        for (x, y) in sums.iter_mut().zip(&s) {
            *x += weight * y;
        }
        own.push((weight, s));
    }
    assert!(all * all / squares > 2000.0, "{}", all * all / squares);
    let exact: Vec<f64> = sums.iter().map(|s| s / all).collect();
    let mut error = vec![0.0; exact.len()];
    for (weight, s) in &own {
        for ((e, x), m) in error.iter_mut().zip(s).zip(&exact) {
            *e += (weight / all * (x - m)).powi(2);
        }
    }
    // and by the sampler
    let part = ViewPart {
        name: "ranks".into(),
        term: Box::new(term),
        weights: Box::new(FullRows::new(
            "weights/ranks",
            Fixed::standard_normal(1),
            RowMoments::point(Mat::from_fn(D, 1, |_, _| 0.1)),
        )),
        bias: Bias::absent(D),
    };
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(1),
        RowMoments::point(Mat::from_fn(N, 1, |n, _| n as f64 - 1.5)),
    );
    let model = Model::new(Box::new(factors), vec![part], Schedule::standard(1));
    let mut chain = GibbsChain::new(model, StreamKey::new(4));
    let mut kept: Vec<Vec<f64>> = Vec::new();
    for sweep in 0..60_000 {
        chain.advance().expect("a sweep");
        if sweep >= 500 {
            let m = chain.model();
            let z = m.factors.moments().mean().to_owned();
            let w = m.views[0].weights.moments().mean().to_owned();
            kept.push(statistics(&z, &w));
        }
    }
    let mut worst: f64 = 0.0;
    for s in 0..exact.len() {
        let values: Vec<f64> = kept.iter().map(|k| k[s]).collect();
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let batches: Vec<f64> = values.chunks(values.len() / 50).map(mean).collect();
        let centre = mean(&batches);
        let spread = batches.iter().map(|b| (b - centre).powi(2)).sum::<f64>()
            / (batches.len() * (batches.len() - 1)) as f64;
        worst = worst.max((mean(&values) - exact[s]).abs() / (spread + error[s]).sqrt());
    }
    worst
}

#[test]
fn draws_have_the_moments_of_the_exact_posterior() {
    for (pairs, weight) in [(PairPolicy::All, 1.0), (PairPolicy::Random, 0.6)] {
        let worst = agree(RankOptions {
            pairs,
            partners: 2,
            margin: Margin::Fixed(0.4),
            weight,
            ..RankOptions::default()
        });
        assert!(worst < 4.0, "{pairs:?}: {worst}");
    }
}
