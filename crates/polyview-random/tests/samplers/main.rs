//! Every sampler against its exact distribution function, its moments, and its extremes.
#![allow(clippy::unwrap_used)]

mod gamma_family;
mod gig;
mod goldens;
mod inverse_gaussian;
mod polya_gamma;
mod precision;
mod simplex;
mod standard;
mod streams;
mod support;
mod truncated_normal;
mod validation;
