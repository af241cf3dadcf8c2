//! The `polyview` command.

mod args;
mod choice;
mod codes;
mod commands;
mod copies;
mod counts;
mod failure;
mod files;
mod group_names;
mod guess;
mod hdf5;
mod inputs;
mod joined;
mod labels;
mod output;
mod preset;
mod progress;
mod remarks;
mod study;
mod view_table;
mod written;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.code()
        }
    }
}
