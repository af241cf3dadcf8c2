//! Tests of the command: every verb, every kind of bad input.

mod bad_input;
mod common;
mod verbs;
