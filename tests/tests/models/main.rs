//! The tests across crates, as one program: what they share of the crates is built once.

mod acceptance;
mod adjusted;
mod bernoulli;
mod categorical;
mod counts;
mod geweke;
mod group_fits;
mod groups;
mod invariances;
mod labels;
mod law;
mod mixture;
mod mlfs;
mod mofa_reference;
mod momentum;
mod monotone;
mod paths;
mod priors;
mod proofs;
mod rank;
mod relevance;
mod softmax;
mod sparse;
mod sparse_views;
mod species;
mod vectors;
