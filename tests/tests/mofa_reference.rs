//! Bounds of MOFA's Gaussian model, sweep by sweep, against the reference
//! values of spec/mofa C.1, which were made by an independent program.

use polyview_core::{
    Bias, Context, GammaPrior, Journal, RowBlock, RowMoments, Schedule, Step, View,
};
use polyview_infer::{Model, Vb, ViewPart, run_step_group, step_groups};
use polyview_likelihoods::{Gaussian, GaussianOptions, MissingData, NoiseBy};
use polyview_linalg::{Mat, thin_svd};
use polyview_priors::{Ard, DiagonalRows, Fixed, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::StreamKey;

const K: usize = 5;

/// The Gaussian view, each feature centred on its observed cells.
fn data() -> Mat<f64> {
    let lines: Vec<Vec<f64>> = include_str!("../data/mofa/gaussian.csv")
        .lines()
        .map(|l| {
            l.split(',')
                .map(|x| x.parse().unwrap_or(f64::NAN))
                .collect()
        })
        .collect();
    let mut y = Mat::from_fn(lines.len(), lines[0].len(), |n, d| lines[n][d]);
    let missing = (0..y.ncols()).map(|d| y.col(d).iter().filter(|x| x.is_nan()).count());
    assert_eq!(missing.sum::<usize>(), 386);
    for d in 0..y.ncols() {
        let seen: Vec<f64> = y.col(d).iter().copied().filter(|x| !x.is_nan()).collect();
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        for x in y.col_as_slice_mut(d) {
            *x -= mean;
        }
    }
    y
}

/// spec/mofa B.4: principal components, missing cells at their mean, each
/// stretched to \[-1, 1\].
fn start(y: &Mat<f64>) -> Mat<f64> {
    let filled = Mat::from_fn(y.nrows(), y.ncols(), |n, d| {
        if y[(n, d)].is_nan() { 0.0 } else { y[(n, d)] }
    });
    let u = thin_svd(filled.as_ref()).expect("finite").u;
    let ends = |j: usize| {
        u.col(j)
            .iter()
            .fold((f64::MAX, f64::MIN), |(a, b), x| (x.min(a), x.max(b)))
    };
    Mat::from_fn(y.nrows(), K, |n, j| {
        let (low, high) = ends(j);
        2.0 * (u[(n, j)] - low) / (high - low) - 1.0
    })
}

/// spec/mofa B.3, B.5: factorised standard normal factors, noise by feature.
fn model(weights: Box<dyn RowBlock>, y: Mat<f64>) -> Model {
    let start = RowMoments::isotropic(start(&y), 1.0, 0);
    let (names, columns) = ((0..y.ncols()).map(|d| d.to_string()).collect(), y.ncols());
    let view = View::from_values("v", names, y).expect("finite");
    let options = GaussianOptions {
        noise: NoiseBy::Feature,
        prior: GammaPrior::new(1e-3, 1e-3),
        missing: MissingData::Marginal,
        start: 1.0,
    };
    let part = ViewPart {
        name: "v".into(),
        term: Box::new(Gaussian::new(view, options)),
        weights,
        bias: Bias::absent(columns),
    };
    let factors = DiagonalRows::new("factors", Fixed::standard_normal(K), start);
    let sweep = vec![
        Step::Weights(0),
        Step::Scales(0),
        Step::Factors,
        Step::FactorScales,
        Step::Noise(0),
    ];
    Model::new(Box::new(factors), vec![part], Schedule { sweep })
}

fn follows(mut model: Model, expected: &[(usize, f64)]) {
    let mut journal = Journal::default();
    for sweep in 0..=59 {
        if sweep > 0 {
            for group in step_groups(&model.schedule.clone()) {
                let mut cx = Context {
                    key: StreamKey::new(1),
                    sweep,
                    journal: &mut journal,
                };
                run_step_group(&Vb, &group, &mut model, &mut cx).expect("a step");
            }
        }
        if let Some((_, bound)) = expected.iter().find(|e| e.0 == sweep) {
            let found = model.bound();
            // the table has three decimals
            assert!((found - bound).abs() < 6e-4, "{sweep}: {found}, {bound}");
        }
    }
}

fn zero(features: usize) -> RowMoments {
    RowMoments::isotropic(Mat::zeros(features, K), 1.0, 0)
}

/// The corrected algorithm: the spike's variance as q holds it. The
/// inclusion probabilities are learnt from sweep 50.
#[test]
fn sparse_weights_follow_the_reference() {
    let y = data();
    let mut scales = SpikeSlab::new(SpikeSlabOptions::default(), y.ncols(), K);
    scales.hold_probabilities(49);
    let weights = SpikeSlabRows::new("weights/v", scales, zero(y.ncols()));
    follows(
        model(Box::new(weights), y),
        &[
            (0, -17244.219),
            (1, -5277.644),
            (2, -4983.058),
            (5, -4839.092),
            (10, -4818.140),
            (30, -4765.414),
            (59, -4688.709),
        ],
    );
}

#[test]
fn dense_weights_follow_the_reference() {
    let y = data();
    let ard = Ard::new(GammaPrior::new(1e-14, 1e-14), K);
    let weights = DiagonalRows::new("weights/v", ard, zero(y.ncols()));
    follows(
        model(Box::new(weights), y),
        &[
            (0, -17044.219),
            (1, -5146.670),
            (2, -4877.970),
            (5, -4746.817),
            (10, -4716.756),
            (30, -4703.733),
            (59, -4702.238),
        ],
    );
}
