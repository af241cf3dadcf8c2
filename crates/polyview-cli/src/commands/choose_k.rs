//! `polyview choose-k`.

use polyview::{ChooseKOptions, choose_k};

use super::say;
use crate::args::{ChooseKArgs, Cli};
use crate::failure::{Failure, Outcome};
use crate::inputs::dataset;
use crate::output::{json, line, table};
use crate::progress::Bar;
use crate::study::{Study, set};

/// Refuses what no comparison can be made with.
fn check(args: &ChooseKArgs) -> Outcome<()> {
    if !(args.held_out > 0.0 && args.held_out < 1.0) {
        return Err(Failure::Usage(format!(
            "--held-out: {} is not allowed; give a share above 0 and below 1",
            args.held_out
        )));
    }
    if args.model.factors.is_some() {
        return Err(Failure::Usage(
            "-k: the numbers of factors to compare are --candidates K,K,...; leave -k out".into(),
        ));
    }
    Ok(())
}

/// A number, or a dash where there is none.
fn number(x: f64, digits: usize) -> String {
    if x.is_nan() {
        "-".to_owned()
    } else {
        format!("{x:.digits$}")
    }
}

/// Compares numbers of factors.
pub fn run(cli: &Cli, args: &ChooseKArgs) -> Outcome<()> {
    check(args)?;
    let mut study = Study::new(args.spec.as_deref(), &args.data, &args.model)?;
    for idle in study.idle_options(&args.model)? {
        say(cli, idle);
    }
    let data = dataset(cli, &mut study)?;
    let mut options = ChooseKOptions {
        candidates: args.candidates.clone(),
        share: args.held_out,
        repeats: args.repeats,
        seed: study.model.seed,
        ..ChooseKOptions::default()
    };
    set(&mut options.restarts, args.model.restarts);
    let bar = Bar::new(cli.quiet);
    let found = choose_k(data, &study.model, &options, &mut |p| {
        bar.say(p.to_string());
    })?;
    bar.clear();
    if cli.json {
        return json(&serde_json::to_value(&found).unwrap_or_default());
    }
    let header = [
        "factors",
        "kept",
        "log density/cell",
        "robust",
        "se",
        "R2",
        "bound",
        "stability",
    ]
    .map(str::to_owned);
    let rows: Vec<Vec<String>> = found
        .rows
        .iter()
        .map(|r| {
            vec![
                r.factors.to_string(),
                number(r.kept, 1),
                number(r.log_density, 4),
                number(r.robust_density, 4),
                number(r.robust_density_se, 4),
                number(r.r2, 4),
                number(r.bound, 1),
                number(r.stability, 3),
            ]
        })
        .collect();
    table(&header, &rows)?;
    line(
        "robust: log density a cell under a law with heavy tails, which no few cells decide; se is its standard error",
    )?;
    line("")?;
    line(format!(
        "recommended: {} factors. {}",
        found.recommended, found.reason
    ))
}
