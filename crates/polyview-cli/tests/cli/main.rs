//! Tests of the command: every verb, every kind of bad input, what it says,
//! Ctrl-C and full disks.

mod advice;
mod agreement;
mod bad_input;
mod common;
#[cfg(unix)]
mod counts;
#[cfg(unix)]
mod full_disk;
#[cfg(unix)]
mod groups;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(unix)]
mod interrupt;
mod kernel;
#[cfg(unix)]
mod label_options;
#[cfg(unix)]
mod labels;
mod mixture;
mod paths;
mod rank;
mod sparse;
mod stochastic;
mod tasks;
#[cfg(unix)]
mod transcripts;
mod unknown;
mod verbs;
mod words;
