//! The containers that every model passes around, and the traits of its parts.

mod basis;
mod bias;
mod equations;
mod gammas;
mod groups;
mod hierarchy;
mod levels;
mod moments;
mod order;
mod predictor;
mod state;
mod traits;

pub use bias::Bias;
pub use equations::{NormalEquations, PatternGrams, PatternTable, Rule};
pub use gammas::{GammaPrior, Gammas};
pub use groups::{PrecisionView, RowGroups};
pub use hierarchy::LevelPrior;
pub use moments::{KeptRows, RowCov, RowMoments, Stamp};
pub use order::OrderStatistics;
pub use predictor::Predictor;
pub use state::{Role, State, StateArray, StateReader, Stateful};
pub use traits::{
    AS_IT_IS, Augmented, ByComponent, ByGroup, Capabilities, Conditioned, Context, CoupledRows,
    Domain, Equations, Exposure, Identified, Intercepts, Link, MixtureComponents, Noise,
    NoiseScope, Objective, RotationSide, RotationTerm, Rounds, RowBlock, RowContext, SAMPLE_BLOCK,
    ScalePrior, Side, Sizes, Tangents, ViewShape, ViewTerm, column_block, noise_precisions,
    own_column_block,
};
