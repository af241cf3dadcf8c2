//! `polyview import`.

use polyview_core::Level;
use serde_json::json;

use crate::args::{Cli, ImportArgs};
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::hdf5;
use crate::output::counted;
use crate::study::Once;
use crate::written::overwrite;

/// A model of MOFA2 as a model file.
pub fn run(cli: &Cli, args: &ImportArgs) -> Outcome<()> {
    let mut once = Once::of("--scale");
    let scale = |text: &String| {
        let (view, number) = scale(text)?;
        once.view(&view)?;
        Ok((view, number))
    };
    let scales = args.scale.iter().map(scale).collect::<Outcome<Vec<_>>>()?;
    let files = Files::default()
        .for_json(cli)
        .reading([&args.file])
        .writing("--out", [&args.out]);
    files.check(overwrite(args.force))?;
    let fit = hdf5::import(&args.file, args.group.clone(), scales)?;
    fit.save(&args.out, overwrite(args.force))?;
    for note in fit.record().assumptions() {
        crate::remarks::note(cli, note);
    }
    let journal = &fit.record().journal;
    let warnings = journal
        .remarks()
        .filter(|(level, _)| *level == Level::Warning);
    for (_, warning) in warnings {
        crate::remarks::warning(cli, warning);
    }
    files.done(
        cli,
        &format!(
            "{}: {}, {}, {}",
            args.out.display(),
            counted(fit.samples().len(), "sample"),
            counted(fit.views().len(), "view"),
            counted(fit.k(), "factor")
        ),
        json!({ "samples": fit.samples().len(), "factors": fit.k() }),
    )
}

/// Parses `VIEW=NUMBER`.
fn scale(text: &str) -> Outcome<(String, f64)> {
    text.split_once('=')
        .and_then(|(view, number)| Some((view.to_owned(), number.parse().ok()?)))
        .ok_or_else(|| Failure::Usage(format!("'{text}' is not VIEW=NUMBER, such as rna=2.5")))
}
