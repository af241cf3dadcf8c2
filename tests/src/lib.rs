//! Random models for the tests across polyview's crates; the tests that every data term
//! must pass are those of `polyview-testing`.

pub mod calibration;
pub mod categorical;
pub mod distorted;
pub mod mixed;
pub mod sparse;

use polyview_core::{Bias, GammaPrior, Journal, RowMoments, View};
use polyview_infer::{Model, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{Gaussian, GaussianOptions, MissingData, NoiseBy};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{StreamKey, uniform_open01};
pub use polyview_testing::{assemble, geweke, law, normal, weights};

/// Sums of squares of the columns.
pub fn column_squares(data: MatRef<'_, f64>) -> Vec<f64> {
    let of = |d: usize| data.col(d).iter().map(|x| x * x).sum();
    (0..data.ncols()).map(of).collect()
}

/// Which cells of a view are missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holes {
    /// None.
    None,
    /// Whole samples, this share.
    Rows(f64),
    /// Any cells, this share.
    Cells(f64),
}

/// One view of a random model.
#[derive(Clone, Copy, Debug)]
pub struct ViewCase {
    /// Features.
    pub features: usize,
    /// Missing cells.
    pub holes: Holes,
    /// Noise precision by view or feature.
    pub noise: NoiseBy,
    /// Treatment of missing cells.
    pub missing: MissingData,
    /// Prior precision of intercepts; none without.
    pub bias: Option<f64>,
    /// Whether features have precisions of their own.
    pub relevance: bool,
}

/// A random model.
#[derive(Clone, Debug)]
pub struct Case {
    /// Seed.
    pub seed: u64,
    /// Samples.
    pub samples: usize,
    /// Factors of the model.
    pub k: usize,
    /// Views.
    pub views: Vec<ViewCase>,
}

/// Data of `truth` factors with the holes of the case, one view each.
pub fn views(case: &Case, truth: usize) -> Vec<View> {
    let mut rng = StreamKey::new(case.seed).block(77).rng();
    let z = normal(case.samples, truth, &mut rng);
    case.views
        .iter()
        .enumerate()
        .map(|(m, v)| {
            let w = normal(v.features, truth, &mut rng);
            let b = normal(v.features, 1, &mut rng);
            let mut x = &z * w.transpose() + 0.7 * normal(case.samples, v.features, &mut rng);
            for d in 0..v.features {
                for n in 0..case.samples {
                    x[(n, d)] += 0.5 * b[(d, 0)];
                }
            }
            match v.holes {
                Holes::None => {}
                Holes::Rows(share) => {
                    for n in 1..case.samples {
                        if uniform_open01(&mut rng) < share {
                            for d in 0..v.features {
                                x[(n, d)] = f64::NAN;
                            }
                        }
                    }
                }
                Holes::Cells(share) => {
                    for d in 0..v.features {
                        for n in 0..case.samples {
                            if uniform_open01(&mut rng) < share {
                                x[(n, d)] = f64::NAN;
                            }
                        }
                    }
                }
            }
            let names = (0..v.features).map(|d| format!("f{d}")).collect();
            View::from_values(format!("v{m}"), names, x).expect("finite values")
        })
        .collect()
}

/// The model of these views, started from noise.
pub fn model(case: &Case, data: Vec<View>) -> Model {
    let mut rng = StreamKey::new(case.seed).block(78).rng();
    let start = normal(case.samples, case.k, &mut rng);
    model_from(case, data, start)
}

/// The model of these views, started from `start`.
pub fn model_from(case: &Case, data: Vec<View>, start: Mat<f64>) -> Model {
    assemble(gaussian_parts(case, data), start)
}

/// The parts of these Gaussian views.
pub fn gaussian_parts(case: &Case, data: Vec<View>) -> Vec<ViewPart> {
    data.into_iter()
        .zip(&case.views)
        .map(|(view, v)| {
            let name = view.name().to_owned();
            let options = GaussianOptions {
                noise: v.noise,
                prior: GammaPrior::new(1.5, 0.7),
                missing: v.missing,
                start: 1.0,
            };
            let d = view.n_features();
            ViewPart {
                term: Box::new(Gaussian::new(view, options)),
                weights: weights(
                    format!("weights/{name}"),
                    GammaPrior::new(1.2, 0.9),
                    v.relevance.then_some(GammaPrior::new(1.4, 1.1)),
                    RowMoments::isotropic(Mat::zeros(d, case.k), 1.0, 0),
                ),
                bias: v
                    .bias
                    .map_or_else(|| Bias::absent(d), |p| Bias::gaussian(d, 0, p)),
                name,
            }
        })
        .collect()
}

/// A run of variational Bayes of the case's model.
pub fn run(case: &Case, options: VbOptions) -> VbRun {
    let m = model(case, views(case, 2));
    VbRun::new(m, options, StreamKey::new(case.seed), Journal::default())
}

/// Runs the example of the workspace's README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
