//! Prior families of polyview's factor models and the posterior blocks they
//! belong to, for variational Bayes and for Gibbs sampling: automatic
//! relevance determination, also by feature and by group of rows, and fixed
//! precisions, on rows with full or with no covariances; the horseshoe; spike and
//! slab; Dirichlet-process mixtures of rows.
//!
//! ```
//! use polyview_core::{Context, GammaPrior, Journal, RowBlock, RowMoments};
//! use polyview_linalg::Mat;
//! use polyview_priors::{Ard, FullRows};
//! use polyview_random::StreamKey;
//!
//! // twenty features, three factors, one of which nobody uses
//! let mean = Mat::from_fn(20, 3, |d, k| if k == 2 { 0.0 } else { (1 + d + k) as f64 / 10.0 });
//! let mut weights = FullRows::new("weights/genes", Ard::new(GammaPrior::new(1e-3, 1e-3), 3),
//!     RowMoments::isotropic(mean, 1e-4, 0));
//! let mut cx = Context { key: StreamKey::new(1), sweep: 1, journal: &mut Journal::default() };
//! weights.learn(&mut cx)?;
//! let alpha = weights.prior().precisions();
//! assert!(alpha[2] > 1000.0 * alpha[0]); // the unused factor is switched off
//! # Ok::<(), polyview_core::NumericError>(())
//! ```
//!
//! Sparse weights, and factors of groups of samples, as MOFA has them
//! (spec/mofa B.3):
//!
//! ```
//! use polyview_core::{GammaPrior, RowGroups, RowMoments};
//! use polyview_linalg::Mat;
//! use polyview_priors::{BetaPrior, DiagonalRows, FullRows, GroupArd, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
//!
//! let (features, samples, k) = (500, 60, 8);
//! let at = |rows| RowMoments::isotropic(Mat::zeros(rows, k), 1.0, 0);
//! // weights of one view, with MOFA's hyperpriors or others
//! let options = SpikeSlabOptions { inclusion: BetaPrior::new(1.0, 3.0), ..SpikeSlabOptions::default() };
//! let weights = SpikeSlabRows::new("weights/genes", SpikeSlab::new(options, features, k), at(features));
//! assert_eq!(weights.inclusion()[(0, 0)], 1.0); // every weight starts in the slab
//! // factors with a precision for each group of samples: full covariances, factorised, or sparse
//! let groups = RowGroups::new((0..samples).map(|n| u32::from(n >= 40)).collect(), 2)?;
//! let ard = GroupArd::new(GammaPrior::new(1e-3, 1e-3), groups.clone(), k);
//! let full = FullRows::new("factors", ard.clone(), at(samples));
//! let factorised = DiagonalRows::new("factors", ard, at(samples));
//! let sparse = SpikeSlabRows::new("factors", SpikeSlab::by_group(options, groups, k), at(samples));
//! # let _ = (full, factorised, sparse);
//! # Ok::<(), polyview_core::DataError>(())
//! ```
//!
//! | type | what |
//! |---|---|
//! | [`FullRows`] | Gaussian rows with full K × K covariances under any scale prior |
//! | [`DiagonalRows`] | Gaussian rows with independent entries under any scale prior |
//! | [`SpikeSlabRows`] | entries that are exactly zero or Gaussian, with learnt inclusion probabilities; scales: [`SpikeSlab`] |
//! | [`Ard`] | $w\_{dk} \sim N(0, \alpha\_k^{-1})$, $\alpha\_k \sim \mathrm{Ga}(a\_0, b\_0)$ |
//! | [`DoubleArd`] | $w\_{dk} \sim N(0, (\gamma\_d\alpha\_k)^{-1})$, a Gamma precision for each factor and for each feature |
//! | [`Ridge`] | $w\_{dk} \sim N(0, \alpha^{-1})$ or $N(0, \alpha\_d^{-1})$: precisions that do not know factors apart |
//! | [`GroupArd`] | $z\_{nk} \sim N(0, 1/\alpha^{g(n)}\_k)$, a Gamma precision for each factor in each group of rows |
//! | [`ThreeParameterBeta`] | $w\_{dk} \sim N(0, \xi\_{dk})$, a variance for each entry under global scales: the horseshoe |
//! | [`Fixed`] | $z\_{nk} \sim N(0, p\_k^{-1})$ with known $p\_k$: the standard normal prior of factors |
//! | [`MixtureRows`] | rows that belong to the components of a [`Mixture`], a Dirichlet process with truncated sticks |
//! | [`RowsBeside`] | any of them with covariates and offsets, or their coefficients, beside the rows |
//! | [`Betas`] | inclusion probabilities as Beta variables |
//! | [`ColumnRotation`] | a prior's part of the rotation objective |
//!
//! Rows that share a precision, eigenvectors or a missingness pattern share the work. [`DiagonalRows`] and [`SpikeSlabRows`] sweep
//! coordinates on the equations, without another pass over the data; the latter knows the posterior probability of inclusion of every entry.

mod ard;
mod beta;
mod double_ard;
mod fixed;
mod group_ard;
mod mixture;
mod ridge;
mod rotation;
mod rows;
mod shared;
mod three_parameter_beta;

pub use ard::Ard;
pub use beta::{BetaPrior, Betas};
pub use double_ard::DoubleArd;
pub use fixed::Fixed;
pub use group_ard::GroupArd;
pub use mixture::{Mixture, MixtureOptions, MixtureRows};
pub use ridge::Ridge;
pub use rotation::{ColumnPenalty, ColumnRotation};
pub use rows::{DiagonalRows, FullRows, RowsBeside, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
pub use three_parameter_beta::{GlobalScale, ThreeParameterBeta, ThreeParameterBetaOptions};

/// Priors that describe themselves ([`PriorSpecies`](polyview_core::PriorSpecies)), for a
/// registry.
pub mod species {
    pub use crate::ard::ArdSpecies;
    pub use crate::double_ard::DoubleArdSpecies;
    pub use crate::fixed::StandardNormalSpecies;
    pub use crate::group_ard::GroupArdSpecies;
    pub use crate::mixture::MixtureSpecies;
    pub use crate::ridge::{RelativeRidgeSpecies, RidgeByFeatureSpecies, RidgeSpecies};
    pub use crate::rows::SpikeSlabSpecies;
    pub use crate::three_parameter_beta::ThreeParameterBetaSpecies;
}
