//! `polyview report`.

use polyview_io::write_atomic;
use polyview_report::{Report, pictures, render};
use serde_json::json;

use super::kernel::load_model;
use super::trust;
use crate::args::{Cli, ReportArgs};
use crate::failure::Outcome;
use crate::files::{Files, make_folder};
use crate::inputs::{about_samples, read_as, warn_strangers};
use crate::written::overwrite;

/// Writes the page.
pub fn run(cli: &Cli, args: &ReportArgs) -> Outcome<()> {
    let files = Files::default()
        .for_json(cli)
        .reading([&args.model])
        .reading(args.metadata.iter().chain(&args.against))
        .writing("--out", [&args.out]);
    files.check(overwrite(args.force))?;
    let mut fit = load_model(&args.model)?;
    if let Some(path) = &args.metadata {
        let about = about_samples(cli, path, &read_as(&args.format, &fit))?;
        let features = fit.views().iter().flat_map(|v| &v.features);
        warn_strangers(cli, Some(path), &about, fit.samples(), features);
        fit.set_metadata(&about)?;
    }
    let mut report = Report::from_fit(&fit)?;
    if let Some(replicates) = args.checks {
        report = report.with_checks(&trust::checks(&fit, replicates)?);
    }
    if let Some(path) = &args.against {
        let other = load_model(path)?;
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
    files.done(
        cli,
        &format!("report written to {}", args.out.display()),
        json!({ "title": report.title, "pictures": args.pictures }),
    )
}

/// Renders a report into a file.
pub fn write(report: &Report, path: &std::path::Path, force: bool) -> Outcome<()> {
    let page = render(report)?;
    write_atomic(path, overwrite(force), |w| w.write_all(page.as_bytes()))?;
    Ok(())
}
