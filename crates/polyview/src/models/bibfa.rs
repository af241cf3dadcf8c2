//! Bayesian inter-battery factor analysis.

use crate::spec::ModelSpec;

/// Bayesian inter-battery factor analysis (Klami, Virtanen and Kaski 2013;
/// spec/sshiba 1.1, 1.2, thesis 5.4): Gaussian views, one noise precision a
/// view, ARD on the weights of each view, intercepts. With one view it is
/// Bayesian principal component analysis.
///
/// `factors` is the number to start with; those that no view needs are
/// removed.
pub fn bibfa(factors: usize) -> ModelSpec {
    ModelSpec {
        model: "bibfa".to_owned(),
        factors,
        ..ModelSpec::default()
    }
}
