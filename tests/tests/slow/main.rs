//! The slow tier: recovery, calibration, and the two engines against each
//! other. Run with `cargo test -p polyview-tests --features slow --release
//! --test slow`.

mod calibration;
mod counts;
mod coverage;
mod distortions;
mod engines;
mod ranks;
mod recovery;
mod sbc;
