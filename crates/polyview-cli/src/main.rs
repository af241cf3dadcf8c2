//! The `polyview` command.

mod args;
mod commands;
mod failure;
mod inputs;
mod output;
mod progress;
mod study;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let level = if cli.quiet { "error" } else { "warn" };
    let filter = tracing_subscriber::EnvFilter::try_from_env("POLYVIEW_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        .init();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.code()
        }
    }
}
