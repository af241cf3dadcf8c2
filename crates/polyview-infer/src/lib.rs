//! Inference engines of polyview's factor models: variational Bayes and Gibbs
//! sampling over one schedule and the same normal equations, with exact
//! in-loop rotation, pruning, convergence, alignment of draws and MCMC
//! diagnostics.
//!
//! ```
//! use polyview_core::{Bias, GammaPrior, Journal, RowMoments, Schedule, View};
//! use polyview_infer::{Model, VbOptions, VbRun, ViewPart};
//! use polyview_likelihoods::{Gaussian, GaussianOptions};
//! use polyview_linalg::Mat;
//! use polyview_priors::{Ard, Fixed, FullRows};
//! use polyview_random::StreamKey;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // one factor seen by four features of eight samples
//! let score = |n: usize| n as f64 / 2.0 - 1.75;
//! let values = Mat::from_fn(8, 4, |n, d| score(n) * (d as f64 - 1.5) + 0.01 * ((n * d) % 3) as f64);
//! let view = View::from_values("genes", (0..4).map(|d| format!("g{d}")).collect(), values)?;
//! let start = RowMoments::isotropic(Mat::from_fn(8, 1, |n, _| score(n)), 1e-2, 0);
//! let weights = RowMoments::isotropic(Mat::zeros(4, 1), 1.0, 0);
//! let model = Model::new(
//!     Box::new(FullRows::new("factors", Fixed::standard_normal(1), start)),
//!     vec![ViewPart {
//!         name: "genes".into(),
//!         term: Box::new(Gaussian::new(view, GaussianOptions::default())),
//!         weights: Box::new(FullRows::new("weights/genes", Ard::new(GammaPrior::new(1e-3, 1e-3), 1), weights)),
//!         bias: Bias::gaussian(4, 0, 1.0),
//!     }],
//!     Schedule::standard(1),
//! );
//! let mut run = VbRun::new(model, VbOptions::default(), StreamKey::new(1), Journal::default());
//! let last = loop {
//!     let report = run.sweep()?;
//!     if report.outcome.is_some() { break report; }
//! };
//! assert_eq!(last.outcome, Some(polyview_infer::Outcome::Converged));
//! # Ok(())
//! # }
//! ```
//!
//! | type | what |
//! |---|---|
//! | [`Model`], [`ViewPart`] | the parts of a model put together |
//! | [`Run`], [`RunState`], [`Outcome`] | sweeps of any [`Strategy`], what is remembered of them, checkpoints |
//! | [`VbRun`], [`VbOptions`] | a run of variational Bayes |
//! | [`StochasticRun`] | stochastic variational Bayes over data that are read in batches |
//! | [`GibbsChain`] | one Markov chain |
//! | [`Engine`], [`Vb`], [`Gibbs`] | what an engine does with one block |
//! | [`diagnostics`], [`alignment`] | R-hat, effective sizes, sign and permutation |
//! | [`rotation`] | maximises the bound over invertible maps of the factors |

pub mod alignment;
pub mod diagnostics;
mod engine;
mod follow;
mod model;
mod prune;
pub mod rotation;
mod run;
mod start;
pub mod stochastic;

pub use engine::{
    Engine, Gibbs, Projected, ProjectionRounds, Vb, assign, project_factors, run_steps,
    step_groups, update_factors,
};
pub use model::{Model, ViewPart};
pub use prune::PruneRule;
pub use run::{
    Audit, GibbsChain, Moving, Outcome, Resumable, Rotate, Run, RunRecord, RunState, Strategy,
    SweepReport, VbOptions, VbRun,
};
pub use start::{
    MoreFactors, Start, many_samples, more_factors, normal_columns, start_factors,
    turned_by_varimax, turned_to_sparse,
};
pub use stochastic::{
    FactorMaker, Stochastic, StochasticError, StochasticOptions, StochasticRun, Sums,
};
