//! `polyview report`.

use polyview::Fit;
use polyview_io::write_atomic;
use polyview_report::{Report, pictures, render};

use super::{overwrite, say, trust};
use crate::args::{Cli, ReportArgs};
use crate::failure::{Failure, Outcome};
use crate::files::{Files, make_folder};
use crate::inputs::{about_samples, strangers};

/// Writes the page.
pub fn run(cli: &Cli, args: &ReportArgs) -> Outcome<()> {
    Files::default()
        .reading([&args.model])
        .reading(args.metadata.iter().chain(&args.against))
        .writing("--out", [&args.out])
        .check(overwrite(args.force))?;
    let mut fit = Fit::load(&args.model)?;
    if let Some(path) = &args.metadata {
        let about = about_samples(cli, path, &args.format.options())?;
        let features = fit.views().iter().flat_map(|v| &v.features);
        if let Some(what) = strangers(&about, fit.samples(), features) {
            return Err(Failure::Tables {
                first: path.clone(),
                second: args.model.clone(),
                what,
            });
        }
        fit.set_metadata(&about)?;
    }
    let mut report = Report::from_fit(&fit)?;
    if let Some(replicates) = args.checks {
        report = report.with_checks(&trust::checks(&fit, replicates)?);
    }
    if let Some(path) = &args.against {
        let other = Fit::load(path)?;
        let found = fit.compare(&other)?;
        report = report.with_comparison(&fit, &other, &found);
    }
    if let Some(title) = &args.title {
        report.title.clone_from(title);
    }
    write(&report, &args.out, args.force)?;
    if let Some(folder) = &args.pictures {
        make_folder(folder)?;
        for p in pictures(&report)? {
            let path = folder.join(format!("{}.svg", p.stem));
            let svg = p.picture.to_svg();
            write_atomic(&path, overwrite(args.force), |w| {
                w.write_all(svg.as_bytes())
            })?;
        }
    }
    say(cli, format!("report written to {}", args.out.display()));
    Ok(())
}

/// Renders a report into a file.
pub fn write(report: &Report, path: &std::path::Path, force: bool) -> Outcome<()> {
    let page = render(report)?;
    write_atomic(path, overwrite(force), |w| w.write_all(page.as_bytes()))?;
    Ok(())
}
