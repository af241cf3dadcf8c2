//! Bayesian inter-battery factor analysis.

use super::removing_on_trial;
use crate::spec::ModelSpec;

/// Bayesian inter-battery factor analysis (Klami, Virtanen and Kaski 2013;
/// spec/sshiba 1.1, 1.2, thesis 5.4): Gaussian views, ARD on the weights of
/// each view, intercepts. With one view it is Bayesian principal component
/// analysis, or Bayesian factor analysis with noise by feature.
///
/// Features are scaled one by one and each has its own noise precision. The
/// paper has one noise precision a view
/// ([`NoiseBy::View`](polyview_likelihoods::NoiseBy::View), best with one
/// scale a view too): where features differ in noise, and scaling them one by
/// one makes them differ, that form keeps factors that do not exist.
///
/// `factors` is the number to start with; those that no view needs are
/// removed, and so are those that do not pay for themselves by the bound.
pub fn bibfa(factors: usize) -> ModelSpec {
    ModelSpec {
        model: "bibfa".to_owned(),
        factors,
        vb: removing_on_trial(),
        ..ModelSpec::default()
    }
}
