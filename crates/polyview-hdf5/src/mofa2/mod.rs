//! Model files of MOFA2 (mofapy2, MOFA2 for R), which mofax, muon and the
//! viewers of MOFA read.
//!
//! | place | what |
//! |---|---|
//! | `views/views`, `groups/groups` | names in the order of the model |
//! | `features/v`, `samples/g` | names |
//! | `data/v/g` | samples × features, centred, `NaN` = missing |
//! | `intercepts/v/g` | what was taken away, data units |
//! | `expectations/Z/g`, `expectations/W/v` | K × samples, K × features |
//! | `expectations/Tau/v/g` | noise precisions of the cells, where saved |
//! | `model_options`, `training_opts`, `training_stats` | choices and course |
//! | `variance_explained/{r2_per_factor,r2_total}/g` | percent |
//!
//! Beside these an exported model has a group `polyview` with what the layout
//! has no place for: scales, intercepts and noise of the views, and the
//! precisions of the factors where these have some of their own. Other programs
//! do not look at it; [`read_mofa2`] does.

mod factors;
mod intercepts;
mod names;
mod noise;
mod own;
mod read;
mod record;
mod source;
mod write;

pub use read::{ImportOptions, read_mofa2};
pub use write::{ExportOptions, write_mofa2};

/// Name of the only group of a model without groups.
const ONE_GROUP: &str = "group1";
/// What is in the file for other programs than those of MOFA.
const OWN: &str = "polyview";
