//! Blocks of rows and their priors.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

mod common;
mod diagonal;
mod double_ard;
mod group_ard;
mod horseshoe;
mod idle;
mod mixture;
mod other_rows;
mod spike_slab;
