//! Kernels between samples as views of a factor model (spec/thesis 7.1).
//!
//! A kernel view replaces the features of a sample by its similarities
//! $k(x\_n, \tilde x\_r)$ to R reference points: linear factors of these columns follow
//! curved structure in the features, and a model with R columns stands for one with any
//! number of features. To the model the columns are real numbers as any others, with noise,
//! intercepts, relevances of their own (double ARD then selects reference points, spec/thesis
//! 7.2), and several kernels of the same samples are several views (7.4).
//!
//! ```
//! use polyview_core::Table;
//! use polyview_kernels::{Kernel, KernelError, KernelKind, KernelMap, KernelOptions};
//! use polyview_linalg::Mat;
//!
//! let table = Table {
//!     name: "genes".into(),
//!     samples: (0..8).map(|n| format!("s{n}")).collect(),
//!     features: (0..3).map(|d| format!("g{d}")).collect(),
//!     levels: Vec::new(),
//!     values: Mat::from_fn(8, 3, |n, d| ((n * (d + 2)) % 5) as f64),
//! };
//! let map = KernelMap::learn(&table, &KernelOptions::default())?;
//! assert_eq!(map.kernel(), Kernel::Rbf { gamma: 1.0 / 3.0 });
//! let view = map.apply(&table)?;
//! assert_eq!(view.features, table.samples); // all samples are references
//! assert!((view.values[(4, 4)] - 1.0).abs() < 1e-12);
//! # Ok::<(), KernelError>(())
//! ```
//!
//! | kernel | $k(x, y)$ |
//! |---|---|
//! | [`Kernel::Linear`] | $x^\top y$ |
//! | [`Kernel::Polynomial`] | $(x^\top y / D + c)^p$ |
//! | [`Kernel::Rbf`] | $e^{-\gamma\lVert x - y\rVert^2}$ |
//! | [`Kernel::Matern`] | of $\lVert x - y\rVert$, rougher than the last |
//! | [`Kernel::Precomputed`] | what the table holds |
//!
//! A view of a model is mapped by [`learn_view`], of a [`KernelChoice`] such as `rbf{width=median}`:
//! similarities are centred in feature space, and samples may lack features. Features may have weights of their
//! own, which [`Comparison`] finds by what else is to be predicted (7.3), and random Fourier features may stand
//! for similarities where there are very many samples.
//!
//! **Errors.** Data come from users: holes, absent features, options out of range are
//! [`KernelError`]s that name the place. Nothing panics.
//!
//! [`KernelMap`] is what the command `kernel` writes, and one value that maps new samples in the same way.

mod ard;
mod centring;
mod choice;
mod error;
mod kernel;
mod map;
mod parts;
mod ridge;
mod units;
mod view;

pub use ard::{Comparison, FeatureWeights, LearntWeights, WidthScore};
pub use choice::{FAMILIES, Family, KernelChoice, Width};
pub use error::KernelError;
pub use kernel::{Kernel, KernelKind, Smoothness};
pub use map::{KernelMap, KernelOptions, Mapped};
pub use parts::KernelParts;
pub use view::{Learnt, learn_view, learn_view_against, learn_view_weighted, median_of_view};
