//! The numeric vectors of spec/thesis 15.2 that need no feature selection.

use polyview_core::{Bias, GammaPrior, Journal, RowMoments, Schedule, State, Stateful, Step, View};
use polyview_infer::{Model, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{
    Categorical, CategoricalOptions, Gaussian, GaussianOptions, MissingData, NoiseBy,
};
use polyview_linalg::Mat;
use polyview_priors::{Ard, Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::categorical::view_of_codes;

fn part(name: &str, values: Mat<f64>) -> ViewPart {
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
        weights: Box::new(FullRows::new(
            format!("weights/{name}"),
            Ard::new(GammaPrior::new(1.0, 1.0), 1),
            RowMoments::isotropic(Mat::zeros(d, 1), 1.0, 0),
        )),
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
    close(report.bound, -18.14716635);
}

#[test]
fn categorical() {
    let view = view_of_codes("c", &[0.0, 2.0, 1.0], 3);
    let mut term = Categorical::new(&view, CategoricalOptions::default()).expect("classes");
    // the vector starts from one-hot scores
    let mut state = State::new();
    let codes = [0, 2, 1];
    let one_hot = Mat::from_fn(3, 3, |n, c| f64::from(u8::from(codes[n] == c)));
    state.put_mat("t/scores", one_hot.as_ref());
    state.put_vec("t/offsets", &[0.0; 3]);
    state.put_vec("t/drawn", &[0.0]);
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
    let scores = state.reader().mat("t/scores").expect("scores");
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
    for (c, expected) in [-0.00136431, 0.00089121, 0.00047309]
        .into_iter()
        .enumerate()
    {
        close(view.bias.mean()[c], expected);
    }
    close(report.bound, -7.48783540);
}
