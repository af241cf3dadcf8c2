//! MOFA as its published program computes it.

use polyview_core::{FeatureScaling, GammaPrior};
use polyview_infer::{PruneRule, Rotate, VbOptions};

use crate::spec::{Algorithm, GroupChoices, Intercepts, ModelSpec, Posterior, ViewChoices};

/// MOFA step by step as mofapy2 0.7 computes it (spec/mofa B, C.1): the same
/// start, order, priors and bounds, sweep by sweep, for Gaussian, Bernoulli and
/// Poisson views. It is for checking one program against the other;
/// [`mofa`](super::mofa) is the model to use.
///
/// Groups of samples, where the data have several, have noise of their own and
/// are centred one by one in Gaussian views. Factors are standard normal as by
/// default there; the priors of factors ([`FactorPrior`](crate::FactorPrior)) `ard` and
/// `spike-and-slab` are its
/// options `ard_factors` and, with it, `spikeslab_factors`.
///
/// Its rule of convergence is this library's; mofapy2's trajectory is that of
/// [`FitRecord`](crate::FitRecord)'s ledger up to any number of sweeps.
pub fn mofapy2(factors: usize) -> ModelSpec {
    ModelSpec {
        model: "mofapy2".to_owned(),
        factors,
        algorithm: Algorithm::Faithful,
        posterior: Posterior::Factorised,
        intercepts: Intercepts::GroupMeans,
        groups: GroupChoices {
            noise: true,
            intercepts: true,
        },
        weight_prior: GammaPrior::new(1e-14, 1e-14),
        noise_prior: Some(GammaPrior::new(1e-3, 1e-3)),
        defaults: ViewChoices {
            scaling: FeatureScaling::None,
            selection: "spike-and-slab".into(),
            ..ViewChoices::default()
        },
        vb: VbOptions {
            rotate: Rotate::Off,
            prune: PruneRule::never(),
            momentum: false,
            noise_first: false,
            ..VbOptions::default()
        },
        ..ModelSpec::default()
    }
}
