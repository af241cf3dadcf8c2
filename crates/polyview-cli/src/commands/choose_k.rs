//! `polyview choose-k`.

use polyview::{ChooseKOptions, choose_k, default_candidates};

use crate::args::{ChooseKArgs, Cli};
use crate::failure::{Failure, Outcome};
use crate::inputs::dataset;
use crate::output::{count, json, line, nats, number, prose, share, table};
use crate::progress::Bar;
use crate::remarks::Said;
use crate::remarks::say;
use crate::study::{Study, set};

/// Refuses what no comparison can be made with.
fn check(args: &ChooseKArgs) -> Outcome<()> {
    if !(args.held_out > 0.0 && args.held_out < 1.0) {
        return Err(Failure::Usage(format!(
            "--held-out: {} is not allowed; give a share above 0 and below 1",
            args.held_out
        )));
    }
    if args.model.choices.factors.is_some() {
        return Err(Failure::Usage(
            "-k: the numbers of factors to compare are --candidates K,K,...; leave -k out".into(),
        ));
    }
    Ok(())
}

/// Compares numbers of factors.
pub fn run(cli: &Cli, args: &ChooseKArgs) -> Outcome<()> {
    check(args)?;
    let mut study = Study::new(args.spec.as_deref(), &args.data, &args.model)?;
    for idle in study.idle_options(&args.model)? {
        say(cli, idle);
    }
    let data = dataset(cli, &mut study)?;
    let idle = study.idle_on_views(&args.model)?.into_iter();
    // cells are hidden, and samples are in no folds
    for idle in idle.chain(study.kept_together_nowhere(&args.model)) {
        say(cli, idle);
    }
    let mut said = Said::default();
    said.journal(cli, data.journal());
    let mut candidates = args.candidates.clone();
    if candidates.is_empty() {
        candidates = default_candidates(&data);
    }
    let most = candidates.iter().copied().max().unwrap_or(0);
    if let Some(batch) = study.fit_batch(data.n_samples(), most) {
        say(cli, batch);
    }
    let mut options = ChooseKOptions {
        candidates,
        share: args.held_out,
        repeats: args.repeats,
        seed: study.model.seed,
        ..ChooseKOptions::default()
    };
    set(&mut options.restarts, args.model.engine.restarts);
    let bar = Bar::new(cli.quiet);
    let found = choose_k(data, &study.model, &options, &mut |p| {
        bar.compare(p);
    })?;
    bar.clear();
    said.answer(cli, &found.notes, &found.warnings);
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
                count(r.kept),
                number(r.log_density),
                number(r.robust_density),
                number(r.robust_density_se),
                number(r.r2),
                nats(r.bound),
                share(r.stability),
            ]
        })
        .collect();
    table(&header, &rows)?;
    if !found.ranked.is_empty() && found.dense_cells > 0.0 {
        prose(format!(
            "log density, robust: of the {:.0} hidden cells of a repeat that have a density, none of them of {}",
            found.dense_cells,
            found.ranked.join(", ")
        ))?;
    }
    if found.dense_cells > 0.0 {
        prose(
            "robust: log density a cell under a law with heavy tails, which no few cells decide; se is its standard error",
        )?;
    }
    prose(
        "R2: of the hidden cells, in standard deviations of their features (ranks: in normal scores), so that features count alike, and about each feature's mean over all samples left, whatever the groups",
    )?;
    line("")?;
    prose(format!(
        "recommended: {} factor{}. {}",
        found.recommended,
        if found.recommended == 1 { "" } else { "s" },
        found.reason
    ))
}
