//! `polyview export`.

use std::path::PathBuf;

use polyview::Fit;
use polyview_linalg::Mat;
use serde_json::json;

use super::explained::more_columns;
use super::factor_names;
use super::kernel::load_model;
use crate::args::{Cli, ExportArgs};
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::hdf5;
use crate::remarks::say;
use crate::study::named_file;
use crate::written::overwrite;
use crate::written::write;

/// Columns and values of a table of a view, a row for each row of its weights.
type Table = (Vec<String>, Mat<f64>);

/// A table that is written: its file, what its rows are and their names, and the table.
type Written = (PathBuf, (&'static str, Vec<String>), Table);

/// The option of coefficients, whose columns are covariates.
const COEFFICIENTS: &str = "--coefficients";

/// A table with a column for each factor.
fn by_factor(fit: &Fit, values: Mat<f64>) -> Table {
    (factor_names(fit.k()), values)
}

/// Coefficients of the covariates of a view.
fn coefficients(fit: &Fit, view: &str) -> polyview::Result<Table> {
    let values = (fit.coefficients(view)?).map_or_else(|| Mat::zeros(0, 0), |c| c.mean);
    Ok((fit.covariates(), values))
}

/// What fitted values of a view are made of besides factors and weights: intercepts, where
/// the scaling is a line its centre and scale, and standard deviations of the noise.
fn intercepts(fit: &Fit, view: &str) -> polyview::Result<Table> {
    let (found, (_, info)) = (fit.intercepts(view)?, fit.view(view)?);
    let rows = found.mean.nrows();
    let groups = fit.groups().map_or(&[][..], |g| &g.names);
    let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
    let mut put = |name: &str, values: &Mat<f64>| {
        for g in 0..values.ncols() {
            let name = match groups.get(g) {
                Some(group) if values.ncols() > 1 => format!("{name} ({group})"),
                _ => name.to_owned(),
            };
            columns.push((name, values.col_as_slice(g).to_vec()));
        }
    };
    put("intercept", &found.mean);
    let scaling = &info.scaling;
    if scaling.scores.is_none() && info.levels.is_empty() && scaling.scale.len() == rows {
        put("centre", &Mat::from_fn(rows, 1, |d, _| scaling.offset[d]));
        put("scale", &Mat::from_fn(rows, 1, |d, _| scaling.scale[d]));
    }
    if let Some(noise) = &found.noise {
        put("noise", noise);
    }
    if let Some(sizes) = &found.sizes {
        put("size", sizes);
    }
    if let Some(shapes) = &found.shapes {
        put("shape", shapes);
    }
    for (g, points) in found.cut_points.iter().enumerate() {
        for l in 0..points.ncols() {
            let name = format!("cut point {}|{}", l + 1, l + 2);
            let name = match groups.get(g) {
                Some(group) if found.cut_points.len() > 1 => format!("{name} ({group})"),
                _ => name,
            };
            columns.push((name, points.col_as_slice(l).to_vec()));
        }
    }
    let (names, values): (Vec<String>, Vec<Vec<f64>>) = columns.into_iter().unzip();
    let values = Mat::from_fn(rows, names.len(), |d, j| values[j][d]);
    Ok((names, values))
}

/// Makes the table of a view.
type Make = fn(&Fit, &str) -> polyview::Result<Table>;

/// Factors, weights and variances as tables.
pub fn run(cli: &Cli, args: &ExportArgs) -> Outcome<()> {
    let of_views: [(&'static str, &[String], Make); 5] = [
        ("--weights", &args.weights, |f, v| {
            Ok(by_factor(f, f.weights(v)?.mean))
        }),
        ("--weights-sd", &args.weights_sd, |f, v| {
            Ok(by_factor(f, f.weights(v)?.sd))
        }),
        ("--inclusion", &args.inclusion, |f, v| {
            Ok(by_factor(f, f.inclusion(v)?))
        }),
        ("--intercepts", &args.intercepts, intercepts),
        (COEFFICIENTS, &args.coefficients, coefficients),
    ];
    let mut files = Files::default()
        .for_json(cli)
        .reading([&args.model])
        .printing("--factors", &args.factors)
        .printing("--factors-sd", &args.factors_sd)
        .printing("--variance", &args.variance)
        .writing("--format", &args.file);
    for &(option, list, _) in &of_views {
        for text in list {
            files = files.printing(option, [named_file(option, text)?.1]);
        }
    }
    files.check(overwrite(args.force))?;
    let mut fit = load_model(&args.model)?;
    if args.varimax && !args.inclusion.is_empty() {
        return Err(Failure::Usage(
            "--inclusion: turned factors (--varimax) have no inclusion probabilities; leave one of them out".into(),
        ));
    }
    if args.varimax {
        fit = fit.varimax()?;
    }
    let names = factor_names(fit.k());
    if !args.coefficients.is_empty() && fit.covariates().is_empty() {
        return Err(Failure::Usage(format!(
            "{COEFFICIENTS}: the fit was not adjusted for covariates; leave it out"
        )));
    }
    // all tables are made before any is written: where one is refused, none is
    let mut tables: Vec<Written> = Vec::new();
    if args.factors.is_some() || args.factors_sd.is_some() {
        let z = fit.factors()?;
        for (path, values) in [(&args.factors, z.mean), (&args.factors_sd, z.sd)] {
            if let Some(path) = path {
                let rows = ("sample", fit.samples().to_vec());
                tables.push((path.clone(), rows, (names.clone(), values)));
            }
        }
    }
    for (option, list, make) in of_views {
        for text in list {
            let (view, path) = named_file(option, text)?;
            let table = make(&fit, &view)?;
            tables.push((path, ("feature", fit.weight_rows(&view)?), table));
        }
    }
    if let Some(path) = &args.variance {
        let e = fit.explain()?;
        let views: Vec<String> = fit.views().iter().map(|v| v.name.clone()).collect();
        let more = more_columns(&fit, &e);
        let mut columns = vec!["all".to_owned()];
        columns.extend(names);
        columns.extend(more.iter().map(|(name, _)| (*name).to_owned()));
        let values = Mat::from_fn(views.len(), columns.len(), |i, j| match j {
            0 => e.total[i],
            j if j <= e.factors => e.marginal[(i, j - 1)],
            j => more[j - 1 - e.factors].1[i],
        });
        tables.push((path.clone(), ("view", views), (columns, values)));
    }
    let written = tables.len();
    for (path, (what, rows), (columns, values)) in tables {
        write(&path, what, &rows, &columns, values.as_ref(), args.force)?;
    }
    // the one format that there is
    if let Some(path) = &args.file {
        for note in hdf5::export(&fit, path, &args.without, overwrite(args.force))? {
            crate::remarks::note(cli, note);
        }
        let text = format!("{} written", path.display());
        if written == 0 {
            return files.done(cli, &text, json!({}));
        }
        say(cli, text);
    }
    if written == 0 {
        return Err(Failure::Usage(
            "nothing to export; add --factors, --weights VIEW=FILE, --intercepts VIEW=FILE, --coefficients VIEW=FILE, --inclusion VIEW=FILE, --variance or --format mofa2 FILE"
                .into(),
        ));
    }
    files.done(cli, &format!("{written} table(s) written"), json!({}))
}
