//! What most programs need, for `use polyview::prelude::*`: data, models, fits and the options of
//! their verbs. Whoever writes a [`Composer`] finds its vocabulary here, too.
//!
//! ```
//! use polyview::prelude::*;
//!
//! # fn main() -> polyview::Result<()> {
//! let table = Table {
//!     name: "genes".to_owned(),
//!     samples: (0..12).map(|n| format!("s{n}")).collect(),
//!     features: (0..4).map(|d| format!("g{d}")).collect(),
//!     values: Mat::from_fn(12, 4, |n, d| (n * (d + 1)) as f64 + ((n * 7 + d * 3) % 5) as f64),
//!     levels: Vec::new(),
//! };
//! let fit: Fit = polyview::fit(Dataset::builder().view(table).build()?, models::bibfa(2))?;
//! assert!(fit.k() <= 2);
//! # Ok(())
//! # }
//! ```

pub use crate::models;
pub use crate::{
    CheckOptions, ChooseKOptions, Composer, CrossValidateModel, CrossValidateOptions, EngineKind,
    Error, ErrorKind, Fit, Fitting, GibbsOptions, Likelihood, ModelContext, ModelSpec, Overwrite,
    ParameterUncertainty, PredictOptions, Prediction, ProjectOptions, Registry, RunOptions,
    SimulateOptions, ViewChoices, ViewSpec, choose_k, choose_k_composed, cross_validate, hold_out,
};
pub use polyview_core::{
    Bias, Dataset, Groups, Metadata, MetadataValues, Options, RowBlock, RowMoments, Schedule,
    Table, View, ViewTerm,
};
pub use polyview_infer::{Model, ViewPart};
pub use polyview_linalg::{Mat, MatRef};
