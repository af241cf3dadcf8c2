//! What plain predictors are called beside the models: figures go by these names.

/// Means, or shares, of the training samples.
pub(super) const MEAN: &str = "mean";
/// Of hidden cells.
pub(super) const SVD: &str = "softly thresholded SVD";
/// Of numbers and counts.
pub(super) const RIDGE: &str = "ridge regression";
/// Of numbers, beside models with kernels.
pub(super) const KERNEL_RIDGE: &str = "kernel ridge regression";
/// Of numbers and times of which limits may be all that is known.
pub(super) const LIMITS: &str = "regression on limits";
/// Of ordered levels.
pub(super) const ORDERED: &str = "ordered regression";
/// Of labels.
pub(super) const LOGISTIC: &str = "logistic regression";
/// Of classes.
pub(super) const MULTINOMIAL: &str = "multinomial regression";

/// All of them.
pub(super) const ALL: [&str; 8] = [
    MEAN,
    SVD,
    RIDGE,
    KERNEL_RIDGE,
    LIMITS,
    ORDERED,
    LOGISTIC,
    MULTINOMIAL,
];
