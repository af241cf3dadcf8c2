//! The error type of this crate.

use thiserror::Error;

/// What is wrong with the data or the options of a kernel.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A sample has some of its features, but not all.
    #[error(
        "sample '{sample}' lacks feature '{feature}': a precomputed kernel, and an inner product of features in their \
         own units (linear and polynomial kernels with --raw), need all features of a sample or none; standardise the \
         features, impute the table first, or fit it as it is"
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
    /// Names and values differ in number.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// Of what there are too many or too few.
        what: &'static str,
        /// What the values call for.
        expected: usize,
        /// What was given.
        found: usize,
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
    /// One sample alone has values.
    #[error("one sample alone has values: there is nothing to compare it with")]
    OneSample,
    /// No feature varies.
    #[error(
        "none of the {features} feature(s) varies: all samples are alike, and a kernel tells none of them from another"
    )]
    Constant {
        /// Their number.
        features: usize,
    },
    /// More reference points than samples.
    #[error(
        "{references} reference points were asked for, but {samples} samples have values; ask for fewer, or leave \
         references out: then all are reference points"
    )]
    TooManyReferences {
        /// Asked for.
        references: usize,
        /// Samples.
        samples: usize,
    },
    /// A table of similarities without a column for one of its samples.
    #[error(
        "sample '{sample}' has no column: a precomputed kernel has a row and a column for each sample, under the same \
         name ({samples} samples, {columns} columns); add the column, or take another kernel"
    )]
    NotSquare {
        /// The first such sample.
        sample: String,
        /// Samples.
        samples: usize,
        /// Columns.
        columns: usize,
    },
    /// A sample whose similarity to itself is below zero.
    #[error(
        "the similarity of sample '{sample}' to itself is {value}, below zero: a kernel is a product of features, and \
         a square is none such; correct the table, give similarities rather than distances, or fit the view with the \
         likelihood similarity, which needs no such squares"
    )]
    NegativeSelf {
        /// The sample.
        sample: String,
        /// What it is to itself.
        value: f64,
    },
    /// Two samples whose similarity depends on who is asked.
    #[error(
        "the similarities of samples '{sample}' and '{other}' differ with their order: a kernel is symmetric"
    )]
    NotSymmetric {
        /// One sample.
        sample: String,
        /// The other.
        other: String,
    },
    /// Similarities that tell no two samples apart.
    #[error(
        "all samples are alike to this kernel: their similarities do not differ; take a smaller width or another kernel"
    )]
    Alike,
    /// One reference point alone.
    #[error(
        "one reference point alone says nothing: similarities are about the mean of the reference points, which it is; ask \
         for two or more (references), or keep a larger share (keep)"
    )]
    OneReference,
    /// Similarities of reference points are too large for numbers.
    #[error(
        "the similarities of the samples among themselves are too large; take a smaller degree, or standardise the features"
    )]
    Overflow,
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
