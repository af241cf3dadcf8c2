//! Files of other programs: read, written, and broken.
#![allow(clippy::unwrap_used)]

mod anndata;
mod common;
mod export;
mod hostile;
mod import;
mod mofax;
