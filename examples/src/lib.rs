//! Runnable examples of polyview.
