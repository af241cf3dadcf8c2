//! Tables in every format: read, written, and broken.
#![allow(clippy::unwrap_used)]

mod classes;
mod commas;
mod common;
mod fuzz;
mod market;
mod npz;
mod numpy;
mod on_disk;
mod text;
mod write;
