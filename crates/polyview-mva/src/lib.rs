//! Classical multivariate analysis on complete data: principal components ([`pca`]), canonical correlation ([`cca`]),
//! orthonormalised partial least squares ([`opls`]), their ridge-dual forms for more features than samples
//! ([`dual`](fn@dual)), and regularised bagged CCA ([`RbCca`]), which first finds the features whose sign is stable within
//! classes and then projects on them with a penalty that is small for the relevant ones.
//!
//! ```
//! use polyview_mva::{MvaError, RbCca, RbCcaOptions};
//! use polyview_linalg::Mat;
//!
//! // two classes; the first two of six features tell them apart, the others do not know them
//! let labels: Vec<usize> = (0..40).map(|n| n % 2).collect();
//! let x = Mat::from_fn(40, 6, |n, d| {
//!     let ripple = ((n * (2 * d + 3) + 5 * d) % 13) as f64 / 6.0 - 1.0;
//!     if d < 2 { ripple + 3.0 * labels[n] as f64 } else { ripple }
//! });
//!
//! let fit = RbCca::fit(x.as_ref(), &labels, &RbCcaOptions { bags: 400, ..RbCcaOptions::default() })?;
//! assert!(fit.selected().starts_with(&[0, 1]));
//! let scores = fit.project(x.as_ref())?; // 40 x 1: classes apart
//! let mean = |class: usize| (0..40).filter(|n| labels[*n] == class).map(|n| scores[(n, 0)]).sum::<f64>() / 20.0;
//! assert!((mean(0) - mean(1)).abs() > 0.1);
//! # Ok::<(), MvaError>(())
//! ```
//!
//! | what | here | source |
//! |---|---|---|
//! | principal components | [`pca`] | spec/thesis 3.1 |
//! | canonical correlation | [`cca`]; [`rank`] tells how much of it is certain | spec/thesis 3.2 |
//! | one framework for supervised projections | [`opls`], [`Metric`] | spec/thesis 3.3 |
//! | its ridge-dual form | [`dual`](fn@dual), [`Dual`] | spec/thesis 3.4 |
//! | class-wise bagging and its test | [`Bagging`] | spec/thesis 4.1, 4.2 |
//! | relevance-regularised dual CCA | [`guided`], [`GuidedOptions`] | spec/thesis 4.3, 4.4 |
//! | all of it | [`RbCca`] | spec/thesis 4 |
//! | penalties and numbers of features by inner folds | [`RbCca::tuned`], [`tuned_supervised`] | spec/thesis 4.2, 4.5 |
//! | a classifier of components | [`classifier`] | spec/thesis 4.5 |
//!
//! Samples are rows. Methods subtract the means of features (and of targets that are not class indicators) themselves
//! and keep them, so that [`Projection::project`] takes data as they come. "Covariances" are sums, not means.
//!
//! **Errors.** Data come from users: shapes, values that are not finite, classes without samples are [`MvaError`]s that
//! name the place. Nothing panics.
//!
//! It reaches the command line as `mva` of `polyview-cli`.

mod bagging;
mod centre;
mod dual;
mod error;
mod guided;
mod primal;
mod rb_cca;
mod spectrum;
mod tune;

pub use bagging::{Bagging, BaggingOptions};
pub use centre::{Projection, Standard, class_indicators, squared_correlation};
pub use dual::{Dual, dual};
pub use error::MvaError;
pub use guided::{Balance, Guided, GuidedOptions, Representer, guided};
pub use primal::{Cca, Metric, Pca, Supervised, cca, opls, pca};
pub use rb_cca::{RbCca, RbCcaOptions, Selection};
pub use spectrum::rank;
pub use tune::{
    COST, Form, Tuned, TuningOptions, balanced_accuracy, classifier, counts, penalties,
    tuned_supervised,
};
