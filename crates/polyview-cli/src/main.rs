//! The `polyview` command.

fn main() {}
