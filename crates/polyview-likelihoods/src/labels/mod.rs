//! Two classes by a classifier on the predictor: [`BayesianSvm`] and
//! [`Probit`].

mod probit;
mod pseudo;
mod species;
mod svm;

pub use species::{BayesianSvmSpecies, ProbitSpecies};

pub use probit::Probit;
pub use svm::BayesianSvm;

/// $y = \pm1$ of a datum 1 or 0.
fn sign(datum: f64) -> f64 {
    2.0 * datum - 1.0
}
