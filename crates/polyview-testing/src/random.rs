//! Small random models.

use polyview_core::{GammaPrior, RowBlock, RowMoments, Schedule};
use polyview_infer::{Model, ViewPart};
use polyview_linalg::Mat;
use polyview_priors::{Ard, DoubleArd, Fixed, FullRows};
use polyview_random::{Rng, standard_normal};

/// A standard normal matrix.
pub fn normal(rows: usize, cols: usize, rng: &mut (impl Rng + ?Sized)) -> Mat<f64> {
    Mat::from_fn(rows, cols, |_, _| standard_normal(rng))
}

/// The model of these parts under standard normal factors that start at `start`, samples × K,
/// with the variance 0.1.
pub fn assemble(parts: Vec<ViewPart>, start: Mat<f64>) -> Model {
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(start.ncols()),
        RowMoments::isotropic(start, 0.1, 0),
    );
    let schedule = Schedule::standard(parts.len());
    Model::new(Box::new(factors), parts, schedule)
}

/// Weights under automatic relevance determination, or with precisions of features besides
/// under the prior `relevance`; they start at `start`, features × K.
pub fn weights(
    name: String,
    prior: GammaPrior,
    relevance: Option<GammaPrior>,
    start: RowMoments,
) -> Box<dyn RowBlock> {
    let (d, k) = (start.rows(), start.k());
    match relevance {
        None => Box::new(FullRows::new(name, Ard::new(prior, k), start)),
        Some(r) => Box::new(FullRows::new(name, DoubleArd::new(prior, r, d, k), start)),
    }
}
