//! Predictive laws.
//!
//! The exact law of a cell is the likelihood, mixed over the uncertainty of its predictor. Of
//! counts it is found by quadrature ([`MixedCount`]), of many draws at once ([`blend`]). What stands for that of others, where it has
//! no closed form, has its mean and variance, and the family that the data are of ([`CellLaw`]).

mod blend;
mod cell;
mod classes;
mod count;
mod grid;
mod line;
mod matched;
mod mixed;
mod smooth;
mod successes;
mod threshold;

pub use cell::CellLaw;
pub(crate) use classes::Classes;
pub use count::CountLaw;
pub use matched::Matched;
pub(crate) use mixed::{MixedCount, MixedCounts, levelled, predicted};
pub(crate) use successes::Successes;

use polyview_core::{Ask, Law};

/// Writes the answers about cells whose laws are known one by one.
fn fill_cells(law: impl Fn(usize) -> CellLaw, ask: Ask, x: &[f64], out: &mut [f64]) {
    for (i, o) in out.iter_mut().enumerate() {
        *o = match ask {
            Ask::Mean => law(i).mean(),
            Ask::Variance => law(i).variance(),
            // few cells of a column may be asked about
            Ask::Cdf | Ask::LnDensity if x[i].is_nan() => f64::NAN,
            Ask::Cdf => law(i).cdf(x[i]),
            Ask::LnDensity => law(i).ln_density(x[i]),
            Ask::Level(_) => f64::NAN,
        };
    }
}

/// Writes the answers about probabilities, one for each sample; `NaN` where it is.
pub(crate) fn each(p: &[f64], out: &mut [f64], quantile: impl Fn(usize, f64) -> f64) {
    for (n, (p, o)) in p.iter().zip(out).enumerate() {
        *o = if p.is_nan() {
            f64::NAN
        } else {
            quantile(n, *p)
        };
    }
}

/// That a law is asked about as many samples as it has.
pub(crate) fn check(law: &impl Law, out: &[f64]) {
    debug_assert_eq!(law.shape().0, out.len());
}
