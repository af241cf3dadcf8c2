//! The shared parts of polyview's factor models: data sets whose views are
//! joined by sample ID, the containers that pass between the parts of a model
//! (row moments, normal equations, predictor), and the traits of those parts.
//!
//! ```
//! use polyview_core::{Dataset, Table};
//! use polyview_linalg::Mat;
//!
//! # fn main() -> Result<(), polyview_core::DataError> {
//! let table = |name: &str, ids: [&str; 3]| Table {
//!     name: name.to_owned(),
//!     samples: ids.map(str::to_owned).to_vec(),
//!     features: vec!["a".to_owned(), "b".to_owned()],
//!     values: Mat::from_fn(3, 2, |n, d| (n + d) as f64),
//!     levels: Vec::new(),
//! };
//! let data = Dataset::builder()
//!     .view(table("genes", ["s1", "s2", "s3"]))
//!     .view(table("lipids", ["s3", "s2", "s4"]))
//!     .build()?;
//! assert_eq!(data.samples(), ["s1", "s2", "s3", "s4"]);
//! assert_eq!(data.overlap().samples_of_view, [3, 3]);
//! # Ok(())
//! # }
//! ```
//!
//! | type | what |
//! |---|---|
//! | [`Dataset`], [`View`], [`Table`] | samples with several views, any cell of which may be missing |
//! | [`RowMoments`] | K-dimensional Gaussian rows: factors or weights |
//! | [`NormalEquations`] | what the data say about a block of rows |
//! | [`ViewTerm`], [`RowBlock`], [`ScalePrior`] | the species of a model's parts |
//! | [`Law`], [`Affine`], [`Mixture`], [`Interleaved`] | predictive laws of the cells of a block |
//! | [`RowGroups`], [`PrecisionView`] | groups of rows, and the prior precisions of rows |
//! | [`Ledger`], [`Journal`], [`Schedule`] | objective by term, what happened, order of steps |
//! | [`write_atomic`], [`Overwrite`] | files that appear whole or not at all |
//!
//! One model serves all: $\eta^{(m)} = Z W^{(m)\top} + 1 b^{(m)}$ with any
//! data term that is, or is bounded by, a quadratic in $\eta$. A term gives
//! **normal equations** to the rows of W and Z. With expectations in them the
//! update is variational Bayes, with draws it is a Gibbs sampler.
//!
//! A new likelihood or prior implements one trait of this crate and then works with every other part; ARCHITECTURE.md of the repository shows how.

mod dataset;
mod disk;
mod error;
mod journal;
mod law;
mod ledger;
mod model;
mod schedule;
mod species;
mod words;

pub use dataset::{
    BlockSource, Centring, ClassPlaces, Dataset, DatasetBuilder, DenseValues, FeatureScaling,
    Groups, Join, Mask, Metadata, MetadataValues, NormalScores, Overlap, OverlapRow, Relevelled,
    Rounding, Scaling, ScalingSums, SourceError, SparseTable, SparseValues, Table, UnknownClass,
    Values, View, ViewTable, by_name, excerpt, other_form, plain_name, whole_number,
};
pub use disk::{Overwrite, WriteError, WriteFault, ensure_writable, write_atomic};
pub use error::{DataError, NumericError};
pub use journal::{Entry, Event, Journal, Level};
pub use law::{
    Affine, Ask, Block, CellCounts, ChanceLaw, Counted, CountedLaw, Counting, Interleaved, Law,
    Mixture, RankedLaw, quantile_by_search,
};
pub use ledger::{GainLeft, Ledger, LedgerRow, Of, Term, Terms, compensated};
pub use model::{
    AS_IT_IS, Augmented, Bias, ByComponent, ByGroup, Capabilities, Conditioned, Context,
    CoupledRows, Domain, Equations, Exposure, GammaPrior, Gammas, Identified, Intercepts, KeptRows,
    LevelPrior, Link, MixtureComponents, Noise, NoiseScope, NormalEquations, Objective,
    OrderStatistics, PatternGrams, PatternTable, PrecisionView, Predictor, Role, RotationSide,
    RotationTerm, Rounds, RowBlock, RowContext, RowCov, RowGroups, RowMoments, Rule, SAMPLE_BLOCK,
    ScalePrior, Side, Sizes, Stamp, State, StateArray, StateReader, Stateful, Tangents, ViewShape,
    ViewTerm, column_block, noise_precisions, own_column_block,
};
pub use schedule::{Schedule, Step, ViewId};
pub use species::{
    About, Finding, Guess, LikelihoodSpecies, MissingData, NoiseBy, Observed, OptionError, Options,
    ParameterUncertainty, Posterior, PriorContext, PriorSpecies, RowRole, RowsOf, Setting,
    TermContext, Way,
};
pub use words::counted;
