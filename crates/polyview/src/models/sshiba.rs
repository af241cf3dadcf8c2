//! Sparse semi-supervised heterogeneous inter-battery Bayesian analysis.

use super::removing_on_trial;
use crate::spec::ModelSpec;

/// SSHIBA (Sevilla-Salcedo, Gómez-Verdejo and Olmos 2020; spec/sshiba): real,
/// binary and categorical views with holes anywhere, ARD on the weights of each
/// view, intercepts, and where [`WeightPrior`](crate::WeightPrior)
/// asks for it a relevance of each feature.
///
/// What a view holds is said by its likelihood:
/// [`with_likelihood`](ModelSpec::with_likelihood). Samples without labels may
/// be among the others: their labels are predicted from the factors that they
/// share with the rest.
pub fn sshiba(factors: usize) -> ModelSpec {
    ModelSpec {
        model: "sshiba".to_owned(),
        factors,
        vb: removing_on_trial(),
        ..ModelSpec::default()
    }
}
