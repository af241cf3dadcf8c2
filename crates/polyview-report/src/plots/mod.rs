//! One file per kind of picture; each function can be called on its own.

mod activity;
mod association;
mod bound;
mod chains;
mod choose_k;
mod common;
mod correlation;
mod groups;
mod heat;
mod held_out;
mod held_out_labels;
mod missingness;
mod overlap;
mod scatter;
mod variance;
mod weights;

pub use activity::draw_activity;
pub(crate) use activity::{Reach, reach_of};
pub(crate) use association::{Association, associations};
pub use bound::{Window, draw_bound};
pub use chains::draw_chains;
pub use choose_k::{Curve, draw_choose_k};
pub(crate) use correlation::correlations_of;
pub use correlation::draw_correlations;
pub(crate) use groups::has_values;
pub use groups::{draw_factor_against, draw_factor_histogram};
pub use held_out::draw_held_out;
pub use missingness::draw_missingness;
pub use overlap::draw_overlap;
pub(crate) use overlap::{Combination, combinations};
pub use scatter::draw_factor_pair;
pub use variance::{Share, draw_variance, draw_variance_by_view};
pub use weights::draw_top_weights;
pub(crate) use weights::leading_features;
