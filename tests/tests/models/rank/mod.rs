//! Rank views: spec/maxmargin-rank 12.

mod common;
mod conditionals;
mod gibbs;
mod insertion;
mod law;
mod monotone;
mod ordinary;
mod recovery;
