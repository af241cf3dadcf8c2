//! Classes by softmax pass what every likelihood has to.

use polyview_core::{Bias, NormalEquations, Predictor, RowMoments, View, ViewTerm};
use polyview_likelihoods::species::SoftmaxSpecies;
use polyview_likelihoods::{ParameterUncertainty, Softmax};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_testing::law::K;
use polyview_testing::{LikelihoodCheck, normal};

#[test]
fn classes_pass() {
    if let Err(failure) = LikelihoodCheck::new(&SoftmaxSpecies).draws(1000).run() {
        panic!("{failure}");
    }
}

const N: usize = 11;
const C: usize = 4;

/// Slopes of what the equations say at the moments of `p`, which are known exactly: of weights and intercepts class by class, and of factors sample by sample.
fn slopes(term: &mut Softmax, p: &Predictor<'_>) -> (Mat<f64>, Vec<f64>, Mat<f64>) {
    let slope = |eq: &NormalEquations, row: usize, at: &RowMoments| -> Vec<f64> {
        let precision = eq.row_precision(row);
        let taken = |k: usize| -> f64 {
            (0..K)
                .map(|j| precision.get(k, j) * at.mean()[(row, j)])
                .sum()
        };
        (0..K).map(|k| eq.rhs[(row, k)] - taken(k)).collect()
    };
    let mut eq = NormalEquations::new(K, 0..0);
    (term.equations().weight_gram(p, &mut eq)).expect("sums");
    eq.set_rows(0..C);
    (term.equations().weight_equations(p, &mut eq)).expect("sums");
    let of_weights: Vec<Vec<f64>> = (0..C).map(|c| slope(&eq, c, p.weights)).collect();
    let (mut precision, mut rhs) = ([0.0; C], [0.0; C]);
    (term.equations()).bias_equations(0..C, p, &mut precision, &mut rhs);
    let of_intercepts = (0..C).map(|c| rhs[c] - precision[c] * p.bias.mean()[c]);
    let mut eq = NormalEquations::new(K, 0..N);
    (term.equations().factor_gram(0, p, &mut eq)).expect("sums");
    (term.equations().factor_equations(p, &mut eq)).expect("sums");
    let of_factors: Vec<Vec<f64>> = (0..N).map(|n| slope(&eq, n, p.factors)).collect();
    (
        Mat::from_fn(C, K, |c, k| of_weights[c][k]),
        of_intercepts.collect(),
        Mat::from_fn(N, K, |n, k| of_factors[n][k]),
    )
}

fn off(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let (rows, columns) = a.shape();
    let cells = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    cells.map(|at| (a[at] - b[at]).abs()).fold(0.0, f64::max)
}

/// Tangents that are kept are one quadratic of everything: where they were made they say what others say, and elsewhere the slopes of weights,
/// intercepts and factors are all of the same residuals of the cells, those of where they were made.
#[test]
fn tangents_that_are_kept_are_one_quadratic() {
    let codes = Mat::from_fn(
        N,
        1,
        |n, _| if n == 5 { f64::NAN } else { (n * n % C) as f64 },
    );
    let levels = (0..C).map(|c| format!("c{c}")).collect();
    let view = View::from_values("t", vec!["t".to_owned()], codes).expect("a view");
    let view = view.with_levels(levels).expect("classes");
    let mut term = Softmax::new(&view, ParameterUncertainty::Posterior).expect("classes");
    let mut rng = StreamKey::new(4).rng();
    // the first factor is the same for all samples, as an intercept is
    let z = normal(N, K, &mut rng);
    let z = RowMoments::point(Mat::from_fn(
        N,
        K,
        |n, k| if k == 0 { 1.0 } else { z[(n, k)] },
    ));
    let [w, moved] = [(); 2].map(|()| RowMoments::point(normal(C, K, &mut rng)));
    let bias = |by: f64| {
        let mut bias = Bias::gaussian(C, 0, 1.0);
        bias.set((0..C).map(|c| by * c as f64 - 0.3).collect(), vec![0.0; C]);
        bias
    };
    let (here, there) = (bias(0.2), bias(-0.5));
    let at = |weights, bias| Predictor {
        factors: &z,
        weights,
        bias,
    };
    let free = slopes(&mut term, &at(&w, &here));
    term.as_tangents().expect("tangents").hold(true);
    let held = slopes(&mut term, &at(&w, &here));
    assert!(off(&free.0, &held.0) < 1e-12 && off(&free.2, &held.2) < 1e-12);
    assert!(
        free.1
            .iter()
            .zip(&held.1)
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
    let (of_weights, of_intercepts, of_factors) = slopes(&mut term, &at(&moved, &there));
    for c in 0..C {
        assert!((of_weights[(c, 0)] - of_intercepts[c]).abs() < 1e-10);
    }
    for k in 0..K {
        let by_factors: f64 = (0..N).map(|n| of_factors[(n, k)]).sum();
        let by_classes: f64 = (0..C)
            .map(|c| moved.mean()[(c, k)] * of_intercepts[c])
            .sum();
        assert!((by_factors - by_classes).abs() < 1e-10);
    }
    // others than those of where everything is
    term.as_tangents().expect("tangents").hold(false);
    let free = slopes(&mut term, &at(&moved, &there));
    assert!(off(&free.0, &of_weights) > 1e-3);
}
