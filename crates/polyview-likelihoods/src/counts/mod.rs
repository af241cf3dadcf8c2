//! Counts: [`LogPoisson`], [`Poisson`], [`NegativeBinomial`], [`PoissonLogNormal`],
//! [`Binomial`].

mod binomial;
mod log_normal;
mod log_rate;
mod negative_binomial;
mod poisson;
mod scale;
mod species;
mod steep;
#[cfg(test)]
mod tests;

pub use binomial::Binomial;
pub use log_normal::PoissonLogNormal;
pub use log_rate::LogPoisson;
pub use negative_binomial::NegativeBinomial;
pub use poisson::{Curvature, Poisson};
pub use scale::Rise;
pub(crate) use scale::{Scale, moments};
pub use species::{
    BinomialSpecies, NegativeBinomialSpecies, PoissonLogNormalSpecies, PoissonSpecies,
};

use std::sync::LazyLock;

use polyview_special::{GaussHermite, ln_gamma};

use crate::scalar::ln_gamma_of_large;

/// Counts above this are taken for something else: their bounds are useless
/// and their logarithms of factorials lose their last digits.
pub(crate) const LARGEST: f64 = 1e9;

/// What counts are, for errors.
const NEEDS: &str = "counts: whole numbers from 0 to 1e9";

/// Whether a datum is a count.
fn is_count(datum: f64) -> bool {
    (0.0..=LARGEST).contains(&datum) && datum.fract() == 0.0
}

static LN_FACTORIALS: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..1024).map(|y| ln_gamma(f64::from(y) + 1.0)).collect());

/// $\ln y!$ of a count.
fn ln_factorial(count: f64) -> f64 {
    let known = LN_FACTORIALS.get(count as usize);
    known
        .copied()
        .unwrap_or_else(|| ln_gamma_of_large(count + 1.0))
}

static NORMAL: LazyLock<Option<GaussHermite>> = LazyLock::new(|| GaussHermite::normal(32).ok());

/// Mean and variance of f over $N(m, v)$.
fn normal_moments(mean: f64, variance: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let sd = variance.max(0.0).sqrt();
    match (sd > 0.0, &*NORMAL) {
        (true, Some(rule)) => {
            let first = rule.integrate(|u| f(mean + sd * u));
            let second = rule.integrate(|u| (f(mean + sd * u) - first).powi(2));
            (first, second)
        }
        _ => (f(mean), 0.0),
    }
}
