//! Special functions for Bayesian inference in `f64`: what variational updates, Gibbs draws and
//! bounds need, each to about 1e-13 relative accuracy **over the whole range**, tails included.
//! Logarithms and ratios are computed directly, never as the log or ratio of something that
//! underflows. Checked against committed 40-digit tables.
//!
//! ```
//! use polyview_special::*;
//!
//! // Probit likelihood, forty standard deviations on the wrong side.
//! assert!((ln_normal_cdf(-40.0) - -804.6084420137538).abs() < 1e-10);
//! assert!((inverse_mills(-40.0) - 40.02496884720651).abs() < 1e-12);
//!
//! // An ordinal cell: log-probability and moments of the latent value.
//! let cell = truncated_normal_moments(0.3, 1.0, 1.0, 1.5)?;
//! assert!(cell.mean > 1.0 && cell.mean < 1.5 && cell.variance < 0.25 / 12.0);
//! assert!((cell.ln_mass - ln_interval_probability(0.7, 1.2)).abs() < 1e-14);
//!
//! // A local scale of a horseshoe.
//! let scale = gig_moments(2.6, 0.4, 0.0)?;
//! assert!((scale.mean - 0.557802).abs() < 1e-6);
//!
//! // What a noise precision costs in the bound.
//! assert!(gamma::kl(50.0, 47.2, 1e-3, 1e-3) > 0.0);
//!
//! // A Gaussian expectation.
//! let rule = GaussHermite::normal(32)?;
//! let mean = rule.integrate(|u| log_sigmoid(1.5 + 0.7 * u));
//! assert!((mean - -0.2382).abs() < 1e-4);
//! # Ok::<(), SpecialError>(())
//! ```
//!
//! | family | items |
//! |---|---|
//! | gamma function | [`digamma`], [`trigamma`], [`ln_gamma`], [`ln_beta`], [`gamma_q`], [`beta_i`] |
//! | error function | [`erf()`], [`erfc()`], [`erfcx()`] |
//! | logistic | [`sigmoid`], [`log_sigmoid`], [`softplus`], [`log1mexp`], [`log_sum_exp`], [`jaakkola_lambda`] |
//! | normal | [`normal_pdf`], [`ln_normal_pdf`], [`normal_cdf`], [`ln_normal_cdf`], [`normal_quantile`], [`mills_ratio`], [`inverse_mills`] |
//! | truncated normal | [`ln_interval_probability`], [`truncated_normal_moments`], [`TruncatedMoments`], [`LimitedNormal`] |
//! | Bessel $K$ | [`ln_bessel_k`], [`ln_bessel_k_scaled`], [`bessel_k_scaled`], [`bessel_k_ratio`] |
//! | distributions | [`gig_moments`], [`GigMoments`], module [`gamma`] |
//! | quadrature | [`GaussHermite`], [`Expectation`] of a function with its derivative ([`Real`], [`Dual`]) |
//!
//! Scalar functions return NaN outside their domain; functions that return several numbers
//! return [`SpecialError`].
//!
//! Every function is tested against tables computed with mpmath (`tests/tables/make_tables.py`); the worst errors are printed by
//! `cargo test -p polyview-special --test tables -- --nocapture`.

mod bessel;
mod double_double;
mod erf;
mod error;
mod expectation;
pub mod gamma;
mod gamma_functions;
mod gig;
mod hermite;
mod incomplete;
mod logistic;
mod normal;
mod real;
mod stirling;

pub use bessel::{bessel_k_ratio, bessel_k_scaled, ln_bessel_k, ln_bessel_k_scaled};
pub use erf::{erf, erfc, erfcx};
pub use error::SpecialError;
pub use expectation::Expectation;
pub use gamma_functions::{digamma, ln_beta, ln_gamma, trigamma};
pub use gig::{GigMoments, gig_moments};
pub use hermite::GaussHermite;
pub use incomplete::{beta_i, gamma_q};
pub use logistic::{jaakkola_lambda, log_sigmoid, log_sum_exp, log1mexp, sigmoid, softplus};
pub use normal::{
    LimitedNormal, TruncatedMoments, inverse_mills, ln_interval_probability, ln_normal_cdf,
    ln_normal_pdf, mills_ratio, normal_cdf, normal_pdf, normal_quantile, truncated_normal_moments,
};
pub use real::{Dual, Real};
