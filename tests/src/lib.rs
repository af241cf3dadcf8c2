//! Tests across the crates of polyview.
