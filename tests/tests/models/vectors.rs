//! The numeric vectors of spec/thesis 15.2: each number that it prints of the
//! four factor models.

use polyview_core::{
    Bias, GammaPrior, Journal, RowBlock, RowMoments, Schedule, State, Stateful, Step, View,
};
use polyview_infer::{Model, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{
    CategoricalProbit, CategoricalProbitOptions, Gaussian, GaussianOptions, LatentBernoulli,
    LatentBernoulliOptions, MissingData, NoiseBy, ScoreStart,
};
use polyview_linalg::Mat;
use polyview_priors::{Ard, DoubleArd, Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::categorical::view_of_codes;

fn part(name: &str, values: Mat<f64>) -> ViewPart {
    let start = RowMoments::isotropic(Mat::zeros(values.ncols(), 1), 1.0, 0);
    let block = FullRows::new(
        format!("weights/{name}"),
        Ard::new(GammaPrior::new(1.0, 1.0), 1),
        start,
    );
    part_with(name, values, Box::new(block))
}

fn part_with(name: &str, values: Mat<f64>, weights: Box<dyn RowBlock>) -> ViewPart {
    let d = values.ncols();
    let names = (0..d).map(|i| i.to_string()).collect();
    let view = View::from_values(name, names, values).expect("finite");
    let options = GaussianOptions {
        noise: NoiseBy::View,
        prior: GammaPrior::new(1.0, 1.0),
        missing: MissingData::Impute,
        start: 1.0,
    };
    ViewPart {
        name: name.to_owned(),
        term: Box::new(Gaussian::new(view, options)),
        weights,
        bias: Bias::gaussian(d, 0, 1.0),
    }
}

fn one_sweep(views: Vec<ViewPart>) -> VbRun {
    let start = Mat::from_fn(3, 1, |n, _| [1.0, -1.0, 0.5][n]);
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(1),
        RowMoments::isotropic(start, 0.5, 0),
    );
    let m = views.len();
    let mut sweep: Vec<Step> = (0..m).map(Step::Weights).collect();
    sweep.push(Step::Factors);
    for v in 0..m {
        sweep.extend([
            Step::Local(v),
            Step::Noise(v),
            Step::Bias(v),
            Step::Scales(v),
        ]);
    }
    let model = Model::new(Box::new(factors), views, Schedule { sweep });
    let options = VbOptions {
        rotate: Rotate::Off,
        prune: PruneRule::never(),
        max_sweeps: 3000,
        tolerance: 1e-300,
        ..VbOptions::default()
    };
    VbRun::new(model, options, StreamKey::new(0), Journal::default())
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 6e-9 * (1.0 + expected.abs()),
        "{found} instead of {expected}"
    );
}

/// One named array of the run's state.
fn array(run: &VbRun, name: &str) -> Vec<f64> {
    let mut state = State::new();
    run.model().save("", &mut state);
    state.arrays()[name].values.clone()
}

fn all_close(run: &VbRun, name: &str, expected: &[f64]) {
    let found = array(run, name);
    assert_eq!(found.len(), expected.len(), "{name}");
    for (f, e) in found.into_iter().zip(expected) {
        close(f, *e);
    }
}

#[test]
fn real_with_feature_selection() {
    let x = [[1.0, 2.0], [0.0, -1.0], [2.0, 1.0]];
    let values = Mat::from_fn(3, 2, |n, d| x[n][d]);
    let (one, relevance) = (GammaPrior::new(1.0, 1.0), GammaPrior::new(2.0, 1.0));
    let mut prior = DoubleArd::new(one, relevance, 2, 1);
    for d in 0..2 {
        prior.rows_mut().set(d, 2.0, 1.0);
    }
    let start = RowMoments::isotropic(Mat::zeros(2, 1), 1.0, 0);
    let block = FullRows::new("weights/a", prior, start);
    let mut run = one_sweep(vec![part_with("a", values, Box::new(block))]);
    let report = run.sweep().expect("a sweep");
    let weights = run.model().views[0].weights.moments();
    for (d, expected) in [0.347_826_09, 0.608_695_65].into_iter().enumerate() {
        close(weights.mean()[(d, 0)], expected);
        close(weights.variance(d, 0), 0.173_913_04);
    }
    let factors = run.model().factors.moments();
    for (n, expected) in [0.850_976_36, -0.330_935_25, 0.709_146_97]
        .into_iter()
        .enumerate()
    {
        close(factors.mean()[(n, 0)], expected);
        close(factors.variance(n, 0), 0.543_679_34);
    }
    all_close(&run, "views/a/term/noise/shape", &[4.0]);
    all_close(&run, "views/a/term/noise/rate", &[5.287_008_74]);
    all_close(&run, "views/a/bias/mean", &[0.595_234_57, 0.289_650_7]);
    all_close(&run, "views/a/bias/variance", &[0.305_837_11; 2]);
    all_close(&run, "views/a/weights/prior/gamma/shape", &[2.5; 2]);
    all_close(
        &run,
        "views/a/weights/prior/gamma/rate",
        &[1.147_448_02, 1.272_211_72],
    );
    all_close(&run, "views/a/weights/prior/alpha/shape", &[2.0]);
    all_close(&run, "views/a/weights/prior/alpha/rate", &[1.856_170_34]);
    close(report.bound, -13.255_522_03);
    // it switches the factor off
    let mut bound = report.bound;
    for _ in 1..3000 {
        bound = run.sweep().expect("a sweep").bound;
    }
    close(bound, -12.516_156_40);
    all_close(&run, "views/a/bias/mean", &[0.662_394_63, 0.441_596_42]);
    // still creeping in the eighth digit, where the source has another last one
    let noise = array(&run, "views/a/term/noise/mean")[0];
    assert!((noise - 0.654_012_71).abs() < 3e-8, "{noise}");
    let weights = run.model().views[0].weights.moments();
    assert!((0..2).all(|d| weights.mean()[(d, 0)].abs() < 1e-6));
}

#[test]
fn missing_real() {
    let x = [[1.0, 2.0], [0.0, -1.0], [2.0, f64::NAN]];
    let first = Mat::from_fn(3, 2, |n, d| x[n][d]);
    let second = Mat::from_fn(3, 1, |n, _| x[n][0]);
    let mut run = one_sweep(vec![part("a", first), part("b", second)]);
    let report = run.sweep().expect("a sweep");
    let z = run.model().factors.moments().mean().to_owned();
    for (n, expected) in [0.88269454, -0.26480836, 0.70615563]
        .into_iter()
        .enumerate()
    {
        close(z[(n, 0)], expected);
    }
    all_close(&run, "views/a/term/imputed/cells", &[0.445_993_03]);
    // every feature keeps the variance that its missing cells would have
    all_close(&run, "views/a/term/imputed/variance", &[1.0; 2]);
    all_close(&run, "views/a/term/noise/rate", &[5.451_272_12]);
    all_close(&run, "views/b/term/noise/rate", &[3.038_955_46]);
    close(report.bound, -18.14716635);
}

#[test]
fn categorical() {
    let view = view_of_codes("c", &[0.0, 2.0, 1.0], 3);
    let mut term =
        CategoricalProbit::new(&view, CategoricalProbitOptions::default()).expect("classes");
    // the vector starts from one-hot scores
    let mut state = State::new();
    let codes = [0, 2, 1];
    let one_hot = Mat::from_fn(3, 3, |n, c| f64::from(u8::from(codes[n] == c)));
    state.put_mat("t/local/scores", one_hot.as_ref());
    state.put_vec("t/local/offsets", &[0.0; 3]);
    state.put_vec("t/local/drawn", &[0.0]);
    term.load("t", &state.reader()).expect("a state");
    let mut run = one_sweep(vec![ViewPart {
        name: "c".into(),
        term: Box::new(term),
        weights: Box::new(FullRows::new(
            "weights/c",
            Ard::new(GammaPrior::new(1.0, 1.0), 1),
            RowMoments::isotropic(Mat::zeros(3, 1), 1.0, 0),
        )),
        bias: Bias::gaussian(3, 0, 1.0),
    }]);
    let report = run.sweep().expect("a sweep");
    let model = run.model();
    let (z, view) = (model.factors.moments().mean(), &model.views[0]);
    let w = view.weights.moments().mean();
    for (i, expected) in [0.21052632, 0.10526316, -0.21052632]
        .into_iter()
        .enumerate()
    {
        close(w[(i, 0)], expected);
    }
    for (n, expected) in [0.1216, -0.1216, 0.0608].into_iter().enumerate() {
        close(z[(n, 0)], expected);
    }
    let mut state = State::new();
    view.term.save("t", &mut state);
    let scores = state.reader().mat("t/local/scores").expect("scores");
    let expected = [
        [0.85788441, -0.41119591, -0.4338885],
        [-0.43631555, -0.42872872, 0.85224427],
        [-0.41422608, 0.84988948, -0.4292634],
    ];
    for n in 0..3 {
        for c in 0..3 {
            close(scores[(n, c)], expected[n][c]);
        }
    }
    // ln zeta at the scores' parameter, which was z w' before there were
    // intercepts
    let offsets = state.reader().vec("t/local/offsets").expect("offsets");
    for (n, expected) in [-1.07190705, -1.06115617, -1.09327269]
        .into_iter()
        .enumerate()
    {
        let shift = |c: usize| scores[(n, c)] - z[(n, 0)] * w[(c, 0)];
        let square: f64 = (0..3).map(|c| shift(c).powi(2)).sum();
        close(offsets[n] - 0.5 * square, expected);
    }
    all_close(&run, "views/c/weights/prior/alpha/rate", &[1.365_650_97]);
    for (c, expected) in [-0.00136431, 0.00089121, 0.00047309]
        .into_iter()
        .enumerate()
    {
        close(view.bias.mean()[c], expected);
    }
    close(report.bound, -7.48783540);
}

#[test]
fn binary() {
    let t = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let values = Mat::from_fn(3, 2, |n, d| t[n][d]);
    let mut view = part("a", values.clone());
    let names = vec!["0".into(), "1".into()];
    let labels = View::from_values("a", names, values).expect("finite");
    let options = LatentBernoulliOptions {
        prior: GammaPrior::new(1.0, 1.0),
        start_scores: ScoreStart::Signed(1.0),
        ..LatentBernoulliOptions::default()
    };
    view.term = Box::new(LatentBernoulli::new(labels, options).expect("labels"));
    let mut run = one_sweep(vec![view]);
    let report = run.sweep().expect("a sweep");
    let model = run.model();
    let w = model.views[0].weights.moments().mean();
    close(w[(0, 0)], 0.52631579);
    close(w[(1, 0)], -0.31578947);
    let z = model.factors.moments().mean();
    for (n, expected) in [0.46841294, -0.46841294, 0.11710324]
        .into_iter()
        .enumerate()
    {
        close(z[(n, 0)], expected);
    }
    let mut state = State::new();
    model.views[0].term.save("term", &mut state);
    let scores = state.reader().mat("term/local/scores").expect("scores");
    let xi = state.reader().mat("term/local/xi").expect("xi");
    let expected = [
        [(0.60792239, 0.81432741), (-0.52696435, 0.81331715)],
        [(-0.60792239, 0.81432741), (0.52696435, 0.81331715)],
        [(0.45635008, 0.81254102), (0.37587123, 0.81178179)],
    ];
    for (n, row) in expected.iter().enumerate() {
        for (d, (mean, variance)) in row.iter().enumerate() {
            close(scores[(n, d)], *mean);
            close(xi[(n, d)].powi(2) - mean * mean, *variance);
        }
    }
    close(
        state.reader().vec("term/noise/rate").expect("rate")[0],
        4.63811648,
    );
    all_close(&run, "views/a/weights/prior/alpha/rate", &[1.398_891_97]);
    let b = model.views[0].bias.mean();
    close(b[0], 0.09489459);
    close(b[1], 0.09925431);
    close(report.bound, -8.26779063);
}
