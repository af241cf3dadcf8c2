//! `polyview update`.

use polyview::{UpdateOptions, Updated};
use serde_json::json;

use super::kernel::load_model;
use crate::args::{Cli, UpdateArgs};
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::inputs::{files, kept_data};
use crate::remarks::answer;
use crate::written::overwrite;

/// New samples taken into a model.
pub fn run(cli: &Cli, args: &UpdateArgs) -> Outcome<()> {
    let outputs = Files::default()
        .for_json(cli)
        .reading([&args.model])
        .reading(files(&args.data))
        .writing("--out", [&args.out]);
    outputs.check(overwrite(args.force))?;
    let fit = load_model(&args.model)?;
    // before anybody looks for tables that such a model needs
    fit.can_update()?;
    refuse_adjusting(args)?;
    let data = kept_data(cli, &args.data, &fit)?;
    let options = UpdateOptions {
        batch: args.batch.unwrap_or(0),
        passes: args.passes,
        forget: args.forget,
        refresh: args.refresh,
        ..UpdateOptions::default()
    };
    let Updated {
        fit: updated,
        taken,
        passes,
        rested,
        notes,
        warnings,
    } = fit.update(&data, &options)?;
    updated.save(&args.out, overwrite(args.force))?;
    answer(cli, &notes, &warnings);
    outputs.done(
        cli,
        &format!(
            "{}: {taken} new samples beside {}, {} factors, {passes} {}{}",
            args.out.display(),
            fit.samples().len(),
            updated.k(),
            if passes == 1 { "pass" } else { "passes" },
            if rested { ", at rest" } else { "" }
        ),
        json!({
            "taken": taken, "samples": updated.samples().len(), "factors": updated.k(),
            "passes": passes, "rested": rested,
        }),
    )
}

/// Refuses what adjusts a fit: a model that was adjusted is not updated, and no other has a use for it.
fn refuse_adjusting(args: &UpdateArgs) -> Outcome<()> {
    let option = match (&args.data.covariates, &args.data.offsets[..]) {
        (Some(_), _) => "--covariates",
        (None, [_, ..]) => "--offset",
        (None, []) => return Ok(()),
    };
    Err(Failure::Usage(format!(
        "{option}: this model was not adjusted, and one that was takes no new samples; leave it out"
    )))
}
