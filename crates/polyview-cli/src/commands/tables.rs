//! `polyview project`, `predict`, `impute`: tables in, tables out.

use std::path::Path;

use polyview::{Fit, ProjectOptions, WeightUncertainty};
use polyview_io::{NamedMatrix, WriteOptions, ensure_writable, write_matrix};
use polyview_linalg::MatRef;

use super::{factor_names, overwrite, say};
use crate::args::{Cli, ImputeArgs, PredictArgs, ProjectArgs};
use crate::failure::{Failure, Outcome};
use crate::inputs::new_data;

/// Writes a matrix with names; `corner` heads the first column.
pub fn write(
    path: &Path,
    corner: &str,
    rows: &[String],
    columns: &[String],
    values: MatRef<'_, f64>,
    force: bool,
) -> Outcome<()> {
    let options = WriteOptions {
        overwrite: overwrite(force),
        corner: corner.to_owned(),
        ..WriteOptions::default()
    };
    write_matrix(
        path,
        &NamedMatrix {
            rows,
            columns,
            values,
        },
        &options,
    )?;
    Ok(())
}

/// Refuses to begin where a file is in the way.
fn all_writable<'a>(paths: impl IntoIterator<Item = &'a Path>, force: bool) -> Outcome<()> {
    for p in paths {
        ensure_writable(p, overwrite(force))?;
    }
    Ok(())
}

fn notes(cli: &Cli, notes: &[String]) {
    for n in notes {
        say(cli, format!("note: {n}"));
    }
}

/// Factors of new samples.
pub fn project(cli: &Cli, args: &ProjectArgs) -> Outcome<()> {
    all_writable(
        std::iter::once(args.out.as_path()).chain(args.sd.as_deref()),
        args.force,
    )?;
    let fit = Fit::load(&args.model)?;
    let data = new_data(&args.data)?;
    let options = ProjectOptions {
        weights: if args.plug_in {
            WeightUncertainty::PlugIn
        } else {
            WeightUncertainty::Variational
        },
        ..ProjectOptions::default()
    };
    let z = fit.project(&data, &options)?;
    notes(cli, &z.notes);
    let names = factor_names(z.mean.ncols());
    write(
        &args.out,
        "sample",
        &z.samples,
        &names,
        z.mean.as_ref(),
        args.force,
    )?;
    if let Some(path) = &args.sd {
        write(
            path,
            "sample",
            &z.samples,
            &names,
            z.sd.as_ref(),
            args.force,
        )?;
    }
    say(
        cli,
        format!(
            "{} samples projected to {}",
            z.samples.len(),
            args.out.display()
        ),
    );
    Ok(())
}

/// One view from others.
pub fn predict(cli: &Cli, args: &PredictArgs) -> Outcome<()> {
    all_writable(
        std::iter::once(args.out.as_path()).chain(args.sd.as_deref()),
        args.force,
    )?;
    let fit = Fit::load(&args.model)?;
    fit.view(&args.target)?;
    let data = new_data(&args.data)?;
    let p = fit.predict(&data, &args.target)?;
    notes(cli, &p.notes);
    write(
        &args.out,
        "sample",
        &p.samples,
        &p.features,
        p.mean.as_ref(),
        args.force,
    )?;
    if let Some(path) = &args.sd {
        write(
            path,
            "sample",
            &p.samples,
            &p.features,
            p.sd.as_ref(),
            args.force,
        )?;
    }
    say(
        cli,
        format!(
            "'{}' of {} samples predicted to {}",
            args.target,
            p.samples.len(),
            args.out.display()
        ),
    );
    Ok(())
}

/// Training data with the holes filled.
pub fn impute(cli: &Cli, args: &ImputeArgs) -> Outcome<()> {
    if !(args.level > 0.0 && args.level < 1.0) {
        return Err(Failure::Usage(format!(
            "--level {} is not between 0 and 1",
            args.level
        )));
    }
    let paths = [
        Some(args.out.as_path()),
        args.lower.as_deref(),
        args.upper.as_deref(),
    ];
    all_writable(paths.into_iter().flatten(), args.force)?;
    let fit = Fit::load(&args.model)?;
    let f = fit.impute(&args.view, args.level)?;
    write(
        &args.out,
        "sample",
        &f.samples,
        &f.features,
        f.values.as_ref(),
        args.force,
    )?;
    if let Some(path) = &args.lower {
        write(
            path,
            "sample",
            &f.samples,
            &f.features,
            f.lower.as_ref(),
            args.force,
        )?;
    }
    if let Some(path) = &args.upper {
        write(
            path,
            "sample",
            &f.samples,
            &f.features,
            f.upper.as_ref(),
            args.force,
        )?;
    }
    say(
        cli,
        format!("'{}' filled to {}", args.view, args.out.display()),
    );
    Ok(())
}
