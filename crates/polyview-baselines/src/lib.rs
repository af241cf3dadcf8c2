//! The plain predictors that a joint model of several views has to beat, and the folds on which they are compared.
//!
//! ```
//! use polyview_baselines::{BaselineError, Design, Tuning, parts, ridge, stratified};
//! use polyview_linalg::Mat;
//!
//! // a number that follows two of three features; a tenth of the cells is missing
//! let x = Mat::from_fn(80, 3, |n, d| if (n + 3 * d) % 10 == 0 { f64::NAN } else { ((n * (2 * d + 3)) % 13) as f64 });
//! let y = Mat::from_fn(80, 1, |n, _| ((n * 3) % 13) as f64 - 2.0 * ((n * 5) % 13) as f64);
//!
//! // the last of four folds is predicted from the others
//! let (test, training) = parts(&stratified(Mat::zeros(80, 0).as_ref(), 4, 1)?, 3);
//! let rows = |m: &Mat<f64>, of: &[usize]| Mat::from_fn(of.len(), m.ncols(), |n, d| m[(of[n], d)]);
//! let design = Design::learn(rows(&x, &training).as_ref())?;
//! let (seen, new) = (design.apply(rows(&x, &training).as_ref())?, design.apply(rows(&x, &test).as_ref())?);
//! let inner = Tuning::new(stratified(Mat::zeros(training.len(), 0).as_ref(), 5, 1)?);
//! let predicted = ridge(seen.as_ref(), rows(&y, &training).as_ref(), &inner)?.predict(new.as_ref())?;
//! let error: f64 = (0..test.len()).map(|n| (predicted[(n, 0)] - y[(test[n], 0)]).powi(2)).sum();
//! assert!((error / test.len() as f64).sqrt() < 5.0); // y spreads over 36
//! # Ok::<(), BaselineError>(())
//! ```
//!
//! | what | here | source |
//! |---|---|---|
//! | standardised features, missing cells at their means | [`Design`] | |
//! | least squares with a penalty | [`ridge`] | Hoerl and Kennard 1970 |
//! | the same where limits may be all that is known of a number | [`limited_ridge`] | Tobin 1958, Olsen 1978 |
//! | the same on similarities, the best of several | [`kernel_ridge`] | Saunders, Gammerman and Vovk 1998 |
//! | labels 0 and 1, each by itself | [`logistic`] | le Cessie and van Houwelingen 1992 |
//! | ordered levels, each target by itself | [`ordered_probit`] | McCullagh 1980 |
//! | numbers, labels and classes on few of the features | [`lasso_held_out`], [`sparse_logistic_held_out`], [`sparse_multinomial_held_out`] | Tibshirani 1996 |
//! | one of several classes | [`multinomial`] | Böhning 1992 |
//! | one of several classes, the machine of each against the others | [`linear_svm`] | Hsieh, Chang, Lin, Keerthi and Sundararajan 2008 |
//! | penalties by folds of the training samples | [`Tuning`] | |
//! | what needs no features | [`means`], [`frequencies`], [`class_frequencies`], [`level_frequencies`] | |
//! | hidden cells of a matrix | [`soft_impute`] | Mazumder, Hastie and Tibshirani 2010 |
//! | folds that keep the shares of labels | [`stratified`] | Sechidis, Tsoumakas and Vlahavas 2011 |
//! | folds that keep groups of samples together | [`grouped`] | |
//!
//! Samples are rows. `NaN` stands for a missing cell in [`Design`], in targets and in [`soft_impute`].
//!
//! **Errors.** Data come from users: shapes, infinite values, more folds than samples are [`BaselineError`]s that name the
//! place. Nothing panics.
//!
//! **Determinism.** The same data and seed give the same bits, whatever the number of threads.

mod constant;
mod design;
mod error;
mod folds;
mod kernel;
mod minimise;
mod regression;
mod soft;
mod svm;
mod tuning;

pub use constant::{class_frequencies, frequencies, level_frequencies, means};
pub use design::Design;
pub use error::BaselineError;
pub use folds::{grouped, parts, stratified};
pub use kernel::{KERNEL_PENALTIES, KernelRidge, Similarities, kernel_ridge};
pub use regression::{
    Limited, Ordered, Regression, lasso_held_out, limited_ridge, logistic, logistic_held_out,
    multinomial, multinomial_held_out, ordered_probit, ridge, ridge_held_out,
    sparse_logistic_held_out, sparse_multinomial_held_out,
};
pub use soft::{SoftImpute, SoftImputeOptions, soft_impute};
pub use svm::{LinearSvm, SvmOptions, linear_svm};
pub use tuning::{PENALTIES, Tuning};
