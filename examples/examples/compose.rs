//! A model put together by hand from the parts: one Gaussian view with noise
//! by feature, ARD weights, and the sweep in an order of one's own.
#![allow(clippy::print_stdout)]

use polyview_core::{Bias, GammaPrior, Journal, RowMoments, Schedule, Step, View};
use polyview_infer::{Model, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{Gaussian, GaussianOptions, NoiseBy};
use polyview_linalg::Mat;
use polyview_priors::{Ard, Fixed, FullRows};
use polyview_random::{StreamKey, standard_normal};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = StreamKey::new(1).rng();
    let z: Mat<f64> = Mat::from_fn(80, 2, |_, _| standard_normal(&mut rng));
    let w: Mat<f64> = Mat::from_fn(12, 2, |_, _| standard_normal(&mut rng));
    let x = &z * w.transpose() + Mat::from_fn(80, 12, |_, _| 0.3 * standard_normal(&mut rng));
    let view = View::from_values("x", (0..12).map(|d| format!("f{d}")).collect(), x)?;

    let options = GaussianOptions {
        noise: NoiseBy::Feature,
        ..GaussianOptions::default()
    };
    let start = Mat::from_fn(80, 4, |_, _| standard_normal(&mut rng));
    let prior = Ard::new(GammaPrior::new(1e-3, 1e-3), 4);
    let part = ViewPart {
        name: "x".into(),
        term: Box::new(Gaussian::new(view, options)),
        weights: Box::new(FullRows::new(
            "weights/x",
            prior,
            RowMoments::isotropic(Mat::zeros(12, 4), 1.0, 0),
        )),
        bias: Bias::gaussian(12, 0, 1.0),
    };
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(4),
        RowMoments::isotropic(start, 0.1, 0),
    );
    let schedule = Schedule {
        sweep: vec![
            Step::Weights(0),
            Step::Scales(0),
            Step::Bias(0),
            Step::Noise(0),
            Step::Factors,
            Step::Prune,
        ],
    };
    let model = Model::new(Box::new(factors), vec![part], schedule);
    let mut run = VbRun::new(
        model,
        VbOptions::default(),
        StreamKey::new(1),
        Journal::default(),
    );
    let last = loop {
        let report = run.sweep()?;
        if report.outcome.is_some() {
            break report;
        }
    };
    println!(
        "{} factors after {} sweeps, bound {:.2}",
        last.factors, last.sweep, last.bound
    );
    for entry in &run.record().journal.entries {
        println!("{entry}");
    }
    Ok(())
}
