//! The `polyview` command. Modules know those before them alone: arguments and failures, the choices
//! of a study, the tables that it names (`inputs`), commands.

mod args;
mod choice;
mod commands;
mod detection;
mod failure;
mod files;
mod hdf5;
mod inputs;
mod interrupt;
mod labels;
mod output;
mod preset;
mod progress;
mod remarks;
mod study;
mod written;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::failed(&failure);
            failure.code()
        }
    }
}
