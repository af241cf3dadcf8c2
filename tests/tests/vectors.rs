//! The numeric vectors of spec/thesis 15.2 that need no feature selection.

use polyview_core::{Bias, GammaPrior, Journal, RowMoments, Schedule, Step, View};
use polyview_infer::{Model, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{Gaussian, GaussianOptions, MissingData, NoiseBy};
use polyview_linalg::Mat;
use polyview_priors::{Ard, Fixed, FullRows};
use polyview_random::StreamKey;

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
