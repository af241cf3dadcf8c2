//! Multi-omics factor analysis.

use polyview_core::FeatureScaling;

use super::removing_on_trial;
use crate::spec::{GroupChoices, ModelSpec, ViewChoices};

/// Multi-omics factor analysis (MOFA, Argelaguet et al. 2018; MOFA+, 2020;
/// spec/mofa C.3): views of any likelihood, spike-and-slab weights with ARD,
/// noise by feature, intercepts.
///
/// It differs from the published programs where these depart from exact
/// variational Bayes (spec/mofa C.2): intercepts are part of the model, the
/// bounds of labels and counts are brought up to date together with their
/// pseudo-data, and factors keep their covariances. Factors start from a
/// varimax-rotated decomposition, which is what leaves them unmixed.
///
/// Groups of samples, where the data have them, have noise and intercepts of
/// their own (MOFA+); the prior `ard` ([`FactorPrior`](crate::FactorPrior)) learns
/// where each factor acts.
///
/// A view is divided by one number, the root of its mean variance, so that the
/// sizes of features among each other stay as they are.
pub fn mofa(factors: usize) -> ModelSpec {
    ModelSpec {
        model: "mofa".to_owned(),
        factors,
        defaults: ViewChoices {
            scaling: FeatureScaling::View,
            selection: "spike-and-slab".into(),
            ..ViewChoices::default()
        },
        groups: GroupChoices {
            noise: true,
            intercepts: true,
        },
        vb: removing_on_trial(),
        ..ModelSpec::default()
    }
}
