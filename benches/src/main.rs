//! Measurements of polyview, beside other programs and beside published figures.
//!
//! ```text
//! cargo run -p polyview-benches --release -- suite [--quick]   everything, into BENCHMARKS.md
//! cargo run -p polyview-benches --release -- table NAME ...    one published table
//! cargo run -p polyview-benches --release -- axes ...          whether factors come out unmixed
//! cargo run -p polyview-benches --release -- data FOLDER CASE  a synthetic case
//! cargo run -p polyview-benches --release -- case FOLDER ...   fits one synthetic case
//! cargo run -p polyview-benches --release -- cells KIND ...    what a sweep costs for each cell
//! ```

mod axes;
mod case;
mod cases;
mod cells;
mod sheet;
mod suite;
mod table;

use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "usage: polyview-benches suite|table|axes|data|case|cells [options]
suite --help lists what the suite measures";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("suite") => return suite::run(args),
        Some("table") => drop(table::run(args)?),
        Some("axes") => drop(axes::run(args)?),
        Some("data") => cases::run(args)?,
        Some("case") => case::run(args)?,
        Some("cells") => cells::run(args)?,
        Some(other) => return Err(format!("no command '{other}'\n{USAGE}").into()),
        None => return Err(USAGE.into()),
    }
    Ok(ExitCode::SUCCESS)
}
