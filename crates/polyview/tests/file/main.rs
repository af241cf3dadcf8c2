//! Model files and checkpoints.
#![allow(clippy::unwrap_used)]

mod checkpoint;
mod common;
mod golden;
mod hostile;
mod model;
mod python;
mod roles;
