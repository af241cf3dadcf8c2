//! Every conditional of spec/maxmargin-rank 4 at once, the paper's models: max-margin
//! ranks and a support vector machine under horseshoe weights, linear and with a
//! mixture of local classifiers. Neither term has a law of data, but for given
//! data both are probabilities, so that draws from the prior that survive with
//! them are exact draws of the posterior; sweeps must leave these alone.

use polyview_core::{Bias, GammaPrior, Predictor, RowBlock, RowMoments, Schedule, View, ViewTerm};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{BayesianSvm, Cells, Experts, Margin, PairPolicy, Rank, RankOptions};
use polyview_linalg::Mat;
use polyview_priors::{
    Fixed, FullRows, GlobalScale, MixtureOptions, MixtureRows, ThreeParameterBeta,
    ThreeParameterBetaOptions,
};
use polyview_random::StreamKey;
use polyview_tests::geweke::largest_change_given;

const N: usize = 3;
const K: usize = 2;
/// Features, and tasks of the labels.
const D: usize = 2;
const LABELS: [[f64; D]; N] = [[1.0, f64::NAN], [f64::NAN, f64::NAN], [f64::NAN, 0.0]];

fn view(name: &str, x: [[f64; D]; N]) -> View {
    let names = (0..D).map(|d| d.to_string()).collect();
    View::from_values(name, names, Mat::from_fn(N, D, |n, d| x[n][d])).expect("a view")
}

fn horseshoe(name: &str, rows: usize, global: GlobalScale) -> Box<dyn RowBlock> {
    let options = ThreeParameterBetaOptions {
        global,
        ..ThreeParameterBetaOptions::default()
    };
    Box::new(FullRows::new(
        format!("weights/{name}"),
        ThreeParameterBeta::new(options, rows, K),
        RowMoments::point(Mat::zeros(rows, K)),
    ))
}

fn part(name: &str, term: Box<dyn ViewTerm>, global: GlobalScale) -> ViewPart {
    let d = term.shape().predictor_columns;
    ViewPart {
        name: name.into(),
        term,
        weights: horseshoe(name, d, global),
        bias: Bias::absent(d),
    }
}

/// Factors, schedule and labels of one classifier, or of one for each of
/// `components`.
fn labelled(components: Option<usize>) -> (Box<dyn RowBlock>, Schedule, ViewPart) {
    let y = view("y", LABELS);
    let (zero, svm) = (RowMoments::point(Mat::zeros(N, K)), BayesianSvm::default());
    match components {
        None => {
            let term = Box::new(Cells::new(y, svm).expect("labels"));
            let factors = FullRows::new("factors", Fixed::standard_normal(K), zero);
            (
                Box::new(factors),
                Schedule::standard(2),
                part("y", term, GlobalScale::Row),
            )
        }
        Some(t) => {
            let options = MixtureOptions {
                components: t,
                precision: GammaPrior::new(4.0, 3.0),
                concentration: GammaPrior::new(3.0, 2.0),
            };
            let term = Box::new(Experts::new(y, svm, t).expect("labels"));
            let factors = MixtureRows::new("factors", options, zero, StreamKey::new(5));
            (
                Box::new(factors),
                Schedule::with_assignment(2),
                part("y", term, GlobalScale::All),
            )
        }
    }
}

/// Logarithm of the pseudo-likelihood of the labels, spec 2.3.
fn svm(m: &Model) -> f64 {
    let v = &m.views[1];
    let p = Predictor {
        factors: m.factors.moments(),
        weights: v.weights.moments(),
        bias: &v.bias,
    };
    let mut loss = 0.0;
    for (n, row) in LABELS.iter().enumerate() {
        let own = m.factors.shares().map_or(0, |s| {
            (0..s.ncols()).find(|&t| s[(n, t)] == 1.0).expect("one")
        });
        for (c, y) in row.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
            let score = p.mean_cell(n, own * D + c);
            loss += 2.0 * (1.0 - (2.0 * y - 1.0) * score).max(0.0);
        }
    }
    -loss
}

fn largest(components: Option<usize>) -> f64 {
    let ranks = RankOptions {
        pairs: PairPolicy::All,
        margin: Margin::Fixed(0.2),
        weight: 0.8,
        ..RankOptions::default()
    };
    let x = view("x", [[0.0, 2.0], [3.0, 2.0], [4.0, 1.0]]);
    let term = Rank::new(&x, ranks, StreamKey::new(3)).expect("a rank view");
    let pairs: Vec<(usize, usize, usize)> = (0..D)
        .flat_map(|d| {
            term.pairs(d)
                .map(move |(l, h)| (d, l, h))
                .collect::<Vec<_>>()
        })
        .collect();
    // the tie is no pair
    assert_eq!(pairs.len(), 5);
    let (eps, c) = (term.epsilon(), ranks.weight);
    let (factors, schedule, labels) = labelled(components);
    let parts = vec![part("x", Box::new(term), GlobalScale::Column), labels];
    let model = Model::new(factors, parts, schedule);
    largest_change_given(model, 2500, 2, 7, |m| {
        let (z, w) = (
            m.factors.moments().mean(),
            m.views[0].weights.moments().mean(),
        );
        let loss: f64 = pairs
            .iter()
            .map(|&(d, l, h)| {
                let u: f64 = (0..K).map(|k| w[(d, k)] * (z[(l, k)] - z[(h, k)])).sum();
                2.0 * c * (u + eps).max(0.0)
            })
            .sum();
        svm(m) - loss
    })
}

#[test]
fn sweeps_of_the_linear_model_leave_its_posterior_alone() {
    let worst = largest(None);
    assert!(worst < 4.5, "{worst}");
}

#[test]
fn sweeps_of_the_mixture_leave_its_posterior_alone() {
    let worst = largest(Some(2));
    assert!(worst < 4.5, "{worst}");
}
