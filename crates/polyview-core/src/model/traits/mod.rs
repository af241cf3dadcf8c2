//! The traits of a model's parts, and what they say of themselves.
//!
//! | file | about |
//! |---|---|
//! | `view_term` | data terms: [`ViewTerm`] |
//! | `equations` | what they say of rows: [`Equations`] |
//! | `augmented` | their draws for Gibbs: [`Augmented`] |
//! | `capabilities` | what else only some of them can do: [`Noise`], [`Rounds`], [`CoupledRows`], ... |
//! | `domain` | what the data of a view are: [`Domain`] |
//! | `tangents` | terms whose equations are tangents: [`Tangents`] |
//! | `kinds` | what a data term says of itself: [`ViewShape`], [`Objective`], ... |
//! | `rows` | blocks of rows and priors of their scales: [`RowBlock`], [`ScalePrior`] |
//! | `rotation` | the parts of the rotation objective: [`RotationTerm`] |
//! | `blocks` | how many columns and samples are worked on together |

mod augmented;
mod blocks;
mod capabilities;
mod domain;
mod equations;
mod kinds;
mod rotation;
mod rows;
mod tangents;
mod view_term;

pub use augmented::Augmented;
pub use blocks::{SAMPLE_BLOCK, column_block, own_column_block};
pub use capabilities::{
    ByComponent, ByGroup, Capabilities, Conditioned, CoupledRows, Noise, Rounds, Sizes,
    noise_precisions,
};
pub use domain::{Domain, Exposure};
pub use equations::Equations;
pub use kinds::{Identified, Intercepts, Link, NoiseScope, Objective, ViewShape};
pub use rotation::{RotationSide, RotationTerm};
pub use rows::{MixtureComponents, RowBlock, RowContext, ScalePrior};
pub use tangents::{Side, Tangents};
pub use view_term::{AS_IT_IS, ViewTerm};

use polyview_random::StreamKey;

use crate::journal::Journal;

/// What a step may use besides the model: random streams and the journal.
#[derive(Debug)]
pub struct Context<'a> {
    /// Key of the current (chain, sweep); a step adds its own block number.
    pub key: StreamKey,
    /// Sweep number, from 1; 0 before the first.
    pub sweep: usize,
    /// Where to note what happened.
    pub journal: &'a mut Journal,
}
