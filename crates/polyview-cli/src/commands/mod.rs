//! One file a verb.

mod choose_k;
mod columns;
mod cross_validate;
mod datasets;
mod demo;
mod explained;
mod export;
mod fit;
mod import;
mod in_training;
mod inspect;
mod kernel;
mod layout;
mod models;
mod mva;
mod report;
mod score;
mod simulate;
mod sparsity;
mod tables;
mod trust;
mod update;

use clap::CommandFactory;
use polyview_linalg::Threads;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Outcome};
use crate::output::{bytes, set_digits};

/// Runs the command in a pool of the wanted number of threads.
pub fn run(cli: &Cli) -> Outcome<()> {
    let threads =
        Threads::new(cli.threads).map_err(|e| Failure::Usage(format!("--threads: {e}")))?;
    set_digits(cli.digits);
    threads.install(|| match &cli.command {
        Command::Fit(a) => fit::run(cli, a),
        Command::Project(a) => tables::project(cli, a),
        Command::Update(a) => update::run(cli, a),
        Command::Predict(a) => tables::predict(cli, a),
        Command::Impute(a) => tables::impute(cli, a),
        Command::Score(a) => score::run(cli, a),
        Command::Inspect(a) => inspect::run(cli, a),
        Command::Report(a) => report::run(cli, a),
        Command::Export(a) => export::run(cli, a),
        Command::Import(a) => import::run(cli, a),
        Command::ChooseK(a) => choose_k::run(cli, a),
        Command::CrossValidate(a) => cross_validate::run(cli, a),
        Command::Kernel(a) => kernel::run(cli, a),
        Command::Layout(a) => layout::run(cli, a),
        Command::Mva(a) => mva::run(cli, a),
        Command::Simulate(a) => simulate::run(cli, a),
        Command::Demo(a) => demo::run(cli, a),
        Command::Datasets(a) => datasets::run(cli, a),
        Command::Models(a) => models::run(cli, a),
        Command::Completions { shell } => {
            // the generator knows no reader that goes away
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "polyview", &mut text);
            bytes(&text)
        }
    })
}

/// Names of factors: `Factor 1`, ...
pub fn factor_names(k: usize) -> Vec<String> {
    (1..=k).map(|i| format!("Factor {i}")).collect()
}
