//! Factors with a mixture prior, and views with local experts.

mod equations;
mod fits;
mod geweke;
mod monotone;
mod projection;

use polyview_core::{Bias, GammaPrior, RowMoments, Schedule, View, ViewTerm};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{BayesianSvm, Bernoulli, CellLikelihood, Experts, Probit};
use polyview_linalg::Mat;
use polyview_priors::{Ard, FullRows, MixtureOptions, MixtureRows};
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_special::sigmoid;

/// Proper priors of `components` components.
pub fn options(components: usize) -> MixtureOptions {
    MixtureOptions {
        components,
        precision: GammaPrior::new(4.0, 3.0),
        concentration: GammaPrior::new(3.0, 2.0),
    }
}

/// A model of these parts, its factors started from `start`.
pub fn model(parts: Vec<ViewPart>, options: MixtureOptions, start: Mat<f64>) -> Model {
    let moments = RowMoments::isotropic(start, 0.1, 0);
    let factors = MixtureRows::new("factors", options, moments, StreamKey::new(5));
    let schedule = Schedule::with_assignment(parts.len());
    Model::new(Box::new(factors), parts, schedule)
}

/// The part of a data term, weights at zero.
pub fn part(name: &str, term: Box<dyn ViewTerm>, k: usize, bias: Option<f64>) -> ViewPart {
    let d = term.shape().predictor_columns;
    ViewPart {
        name: name.to_owned(),
        term,
        weights: Box::new(FullRows::new(
            format!("weights/{name}"),
            Ard::new(GammaPrior::new(1.2, 0.9), k),
            RowMoments::isotropic(Mat::zeros(d, k), 1.0, 0),
        )),
        bias: bias.map_or_else(|| Bias::absent(d), |p| Bias::gaussian(d, 0, p)),
    }
}

/// Random labels, a share of them missing; one cell stays.
pub fn labels(name: &str, rows: usize, columns: usize, missing: f64, seed: u64) -> View {
    let mut rng = StreamKey::new(seed).block(31).rng();
    let values = Mat::from_fn(rows, columns, |n, c| {
        let label = uniform_open01(&mut rng) < sigmoid(standard_normal(&mut rng));
        let hidden = uniform_open01(&mut rng) < missing && (n, c) != (0, 0);
        if hidden {
            f64::NAN
        } else {
            f64::from(u8::from(label))
        }
    });
    let names = (0..columns).map(|c| format!("task{c}")).collect();
    View::from_values(name, names, values).expect("finite")
}

/// A classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classifier {
    /// Logistic.
    Bernoulli,
    /// Probit.
    Probit,
    /// Hinge loss.
    Svm,
}

/// All classifiers.
pub const CLASSIFIERS: [Classifier; 3] =
    [Classifier::Bernoulli, Classifier::Probit, Classifier::Svm];

/// Labels with a classifier for each component.
pub fn experts_of(kind: Classifier, view: &View, components: usize) -> Box<dyn ViewTerm> {
    fn boxed<L: CellLikelihood>(view: &View, law: L, components: usize) -> Box<dyn ViewTerm> {
        Box::new(Experts::new(view.clone(), law, components).expect("labels"))
    }
    match kind {
        Classifier::Bernoulli => boxed(view, Bernoulli::default(), components),
        Classifier::Probit => boxed(view, Probit::default(), components),
        Classifier::Svm => boxed(view, BayesianSvm::default(), components),
    }
}

/// Labels with a logistic classifier for each component.
pub fn experts(view: &View, components: usize) -> Box<dyn ViewTerm> {
    experts_of(Classifier::Bernoulli, view, components)
}
