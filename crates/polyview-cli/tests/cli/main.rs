//! Tests of the command: every verb, every kind of bad input, what it says,
//! Ctrl-C and full disks.

mod across;
mod adjust;
mod adjusted_samples;
mod advice;
mod agreement;
mod bad_input;
#[cfg(unix)]
mod bad_labels;
mod choose_k;
mod common;
#[cfg(unix)]
mod counts;
mod cross_validate;
mod datasets;
mod export;
mod factors;
#[cfg(unix)]
mod first_steps;
mod full_disk;
#[cfg(unix)]
mod groups;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(unix)]
mod idle;
#[cfg(unix)]
mod interrupt;
mod joined;
mod kernel;
#[cfg(unix)]
mod label_options;
#[cfg(unix)]
mod labels;
mod layout;
mod levels;
mod limits;
mod mends;
mod mistyped;
mod mixture;
mod models;
#[cfg(unix)]
mod mofapy2;
mod mva;
mod new_cells;
mod no_effect;
mod notices;
mod odd_data;
mod options;
mod paths;
mod positive;
mod rank;
mod reading;
#[cfg(unix)]
mod readme;
mod remarks;
mod score;
mod seen;
mod similarity;
mod sparse;
mod standard_output;
mod stochastic;
mod study_files;
mod study_values;
mod taken_for;
mod targets;
mod tasks;
#[cfg(unix)]
mod told;
mod transcripts;
mod trust;
mod unknown;
mod update;
mod verbs;
mod whole_names;
mod width;
mod words;
