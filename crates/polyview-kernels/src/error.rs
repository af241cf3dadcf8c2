//! The error type of this crate.

use thiserror::Error;

/// What is wrong with the data or the options of a kernel.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A sample has some of its features, but not all.
    #[error(
        "sample '{sample}' lacks feature '{feature}': a kernel needs all features of a sample or none; \
         impute the table first, or fit it as it is"
    )]
    Missing {
        /// The sample.
        sample: String,
        /// The feature.
        feature: String,
    },
    /// A value is infinite.
    #[error(
        "sample '{sample}', feature '{feature}': infinite; correct it, or leave the cell empty"
    )]
    Infinite {
        /// The sample.
        sample: String,
        /// The feature.
        feature: String,
    },
    /// No sample has its features.
    #[error("no sample of the table has values: there is nothing to compare with")]
    Empty,
    /// The table lacks a feature that the kernel was learnt with.
    #[error("the table has no feature '{feature}', which the kernel was learnt with")]
    Absent {
        /// The feature.
        feature: String,
    },
    /// An option lies outside its range.
    #[error("{what} is {value}, must be {range}")]
    OutOfRange {
        /// The option.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// Similarities are too large for numbers.
    #[error(
        "the similarity of sample '{sample}' to reference '{reference}' is too large; \
         take a smaller degree, or standardise the features"
    )]
    TooLarge {
        /// The sample.
        sample: String,
        /// The reference point.
        reference: String,
    },
    /// What was read is no kernel: its parts do not fit together.
    #[error("not the description of a kernel: {what}")]
    Damaged {
        /// What does not fit.
        what: &'static str,
    },
}
