//! Benchmarks of polyview.
