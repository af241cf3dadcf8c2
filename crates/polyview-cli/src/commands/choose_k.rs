//! `polyview choose-k`.

use polyview::{ChooseKOptions, choose_k};

use crate::args::{ChooseKArgs, Cli};
use crate::failure::Outcome;
use crate::inputs::dataset;
use crate::output::{json, line, table};
use crate::progress::Bar;
use crate::study::Study;

/// Compares numbers of factors.
pub fn run(cli: &Cli, args: &ChooseKArgs) -> Outcome<()> {
    let mut study = Study::new(args.spec.as_deref(), &args.data, &args.model)?;
    let data = dataset(cli, &mut study)?;
    let options = ChooseKOptions {
        candidates: args.candidates.clone(),
        share: args.held_out,
        repeats: args.repeats,
        ..ChooseKOptions::default()
    };
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
                format!("{:.1}", r.kept),
                format!("{:.4}", r.log_density),
                format!("{:.4}", r.log_density_se),
                format!("{:.4}", r.r2),
                format!("{:.1}", r.bound),
                format!("{:.3}", r.stability),
            ]
        })
        .collect();
    table(&header, &rows)?;
    line("")?;
    line(format!(
        "recommended: {} factors. {}",
        found.recommended, found.reason
    ))
}
