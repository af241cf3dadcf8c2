//! `polyview simulate`.

use std::path::Path;

use polyview::{Fit, ModelSpec, SimulateOptions};
use polyview_core::{Dataset, View};
use polyview_datasets::{BibfaOptions, Missing, simulate_bibfa};

use super::tables::{write, write_columns};
use super::{factor_names, say};
use crate::args::{Cli, SimulateArgs};
use crate::failure::{Failure, Outcome};
use crate::files::{Files, make_folder};

/// Draws data from a model.
pub fn run(cli: &Cli, args: &SimulateArgs) -> Outcome<()> {
    make_folder(&args.out_dir)?;
    if let Some(path) = &args.from {
        let options = SimulateOptions {
            trials: args
                .trials
                .iter()
                .map(|t| trials(t))
                .collect::<Outcome<_>>()?,
        };
        let fit = Fit::load(path)?;
        let data = fit.simulate_with(args.samples, args.seed, &options)?;
        views(&data, Some(fit.spec()), &args.out_dir, args.force)?;
    } else {
        let mut options = BibfaOptions::new(args.samples, &args.features, args.factors, args.seed);
        if args.missing > 0.0 {
            options.missing = Missing {
                cells: args.missing,
                ..Missing::default()
            };
        }
        let s = simulate_bibfa(&options)
            .map_err(|e| Failure::Usage(e.to_string()))?
            .data;
        views(&s.dataset, None, &args.out_dir, args.force)?;
        let names = factor_names(s.factors.ncols());
        let at = |name: String| args.out_dir.join(name);
        write(
            &at("true-factors.csv".into()),
            "sample",
            s.dataset.samples(),
            &names,
            s.factors.as_ref(),
            args.force,
        )?;
        for (v, w) in s.dataset.views().iter().zip(&s.weights) {
            let path = at(format!("true-weights-{}.csv", v.name()));
            write(
                &path,
                "feature",
                v.features(),
                &names,
                w.as_ref(),
                args.force,
            )?;
        }
    }
    say(cli, format!("written to {}", args.out_dir.display()));
    Ok(())
}

/// The name of a view and its number of trials.
fn trials(text: &str) -> Outcome<(String, u64)> {
    text.rsplit_once('=')
        .filter(|(name, _)| !name.is_empty())
        .and_then(|(name, n)| Some((name.to_owned(), n.parse().ok()?)))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "--trials: '{text}' is not VIEW=N with a whole number, such as wins=20"
            ))
        })
}

/// Refuses one file for two tables, as of a view `x-trials` beside the trials of
/// `x`.
fn distinct(data: &Dataset, folder: &Path) -> Outcome<()> {
    let all = data.views().iter().flat_map(|v| {
        let table = format!("{}.csv", v.name());
        let trials = v.trials().map(|_| format!("{}-trials.csv", v.name()));
        std::iter::once(table).chain(trials)
    });
    let paths = all.map(|name| folder.join(name));
    Files::default().writing("--out-dir", paths).distinct()
}

/// The words of a view of classes, or of labels that the model knows by words.
fn words(view: &View, spec: Option<&ModelSpec>) -> Option<Vec<Option<String>>> {
    let word = |x: f64, of: &[String]| of.get(x as usize).cloned();
    let rows = 0..view.n_samples();
    let of = match spec.and_then(|s| s.labels(view.name())) {
        Some(labels) => labels,
        None if view.levels().is_empty() => return None,
        None => view.levels(),
    };
    Some(rows.map(|n| word(view.value(n, 0)?, of)).collect())
}

fn views(data: &Dataset, spec: Option<&ModelSpec>, folder: &Path, force: bool) -> Outcome<()> {
    distinct(data, folder)?;
    for v in data.views() {
        let path = folder.join(format!("{}.csv", v.name()));
        if let Some(words) = words(v, spec) {
            let columns = vec![(v.features()[0].clone(), words)];
            write_columns(&path, data.samples(), columns, force)?;
            continue;
        }
        write(
            &path,
            "sample",
            data.samples(),
            v.features(),
            v.to_values_with_nan().as_ref(),
            force,
        )?;
        if let Some(trials) = v.trials() {
            let path = folder.join(format!("{}-trials.csv", v.name()));
            let (samples, features) = (data.samples(), v.features());
            write(
                &path,
                "sample",
                samples,
                features,
                trials.as_ref().as_ref(),
                force,
            )?;
        }
    }
    Ok(())
}
