//! Prior families of polyview's factor models and the posterior blocks they
//! belong to: automatic relevance determination and fixed precisions on rows
//! with full covariances, for variational Bayes and for Gibbs sampling.
//!
//! ```
//! use polyview_core::{GammaPrior, RowBlock, RowMoments};
//! use polyview_linalg::Mat;
//! use polyview_priors::{Ard, FullRows};
//!
//! // twenty features, three factors, one of which nobody uses
//! let mean = Mat::from_fn(20, 3, |d, k| if k == 2 { 0.0 } else { (1 + d + k) as f64 / 10.0 });
//! let mut weights = FullRows::new("weights/genes", Ard::new(GammaPrior::new(1e-3, 1e-3), 3),
//!     RowMoments::isotropic(mean, 1e-4, 0));
//! weights.update_scales();
//! let alpha = weights.prior().precisions();
//! assert!(alpha[2] > 1000.0 * alpha[0]); // the unused factor is switched off
//! ```
//!
//! | type | what |
//! |---|---|
//! | [`FullRows`] | Gaussian rows with full K × K covariances under any scale prior |
//! | [`Ard`] | $w\_{dk} \sim N(0, \alpha\_k^{-1})$, $\alpha\_k \sim \mathrm{Ga}(a\_0, b\_0)$ |
//! | [`DoubleArd`] | $w\_{dk} \sim N(0, (\gamma\_d\alpha\_k)^{-1})$, a Gamma precision for each factor and for each feature |
//! | [`Fixed`] | $z\_{nk} \sim N(0, p\_k^{-1})$ with known $p\_k$: the standard normal prior of factors |
//! | [`ColumnRotation`] | a prior's part of the rotation objective |

mod ard;
mod beta;
mod double_ard;
mod fixed;
mod group_ard;
mod rotation;
mod rows;

pub use ard::Ard;
pub use beta::{BetaPrior, Betas};
pub use double_ard::DoubleArd;
pub use fixed::Fixed;
pub use group_ard::GroupArd;
pub use rotation::{ColumnPenalty, ColumnRotation};
pub use rows::{DiagonalRows, FullRows, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
