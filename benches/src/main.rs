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
        Some("scratch") => scratch(args),
        Some("cells") => cells::run(args)?,
        Some(other) => return Err(format!("no command '{other}'\n{USAGE}").into()),
        None => return Err(USAGE.into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn scratch(args: impl Iterator<Item = String>) {
    use polyview_linalg::*;
    let v: Vec<f64> = args.map(|a| a.parse().unwrap()).collect();
    let (n, d, p, share, add) = (v[0] as usize, v[1] as usize, v[2] as usize, v[3], v[4] != 0.0);
    Threads::new(1).unwrap().install(|| {
        let mut s = 12345u64;
        let mask = BitMask::from_fn(n, d, |_, _| {
            s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((s >> 33) as f64 / (1u64 << 31) as f64) < share
        });
        let table = Mat::from_fn(p, n, |i, j| ((i * 7 + j * 13) % 101) as f64 * 0.01);
        let mut out = Mat::zeros(p, d);
        for _ in 0..3 {
            let t = crate::case::cpu();
            for _ in 0..20 {
                if add { add_masked_sums(&mask, table.as_ref(), out.as_mut()) } else { masked_sums(&mask, table.as_ref(), out.as_mut()) }
            }
            println!("{} {} {} {}: {:.3} ms, {:.2} ns for a lane of a cell", n, d, p, share, 50.0 * (crate::case::cpu() - t), 1e9 / 20.0 * (crate::case::cpu() - t) / (n as f64 * d as f64 * share * (p as f64 / 8.0)));
        }
    });
}
