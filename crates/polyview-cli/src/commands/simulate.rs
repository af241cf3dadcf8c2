//! `polyview simulate`.

use std::path::Path;

use polyview::{Fit, SimulateOptions};
use polyview_core::Dataset;
use polyview_datasets::{BibfaOptions, Missing, simulate_bibfa};

use super::tables::{write, write_columns};
use super::{factor_names, say};
use crate::args::{Cli, SimulateArgs};
use crate::failure::{Failure, Outcome};

/// Draws data from a model.
pub fn run(cli: &Cli, args: &SimulateArgs) -> Outcome<()> {
    std::fs::create_dir_all(&args.out_dir)?;
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
        views(&data, &args.out_dir, args.force)?;
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
        views(&s.dataset, &args.out_dir, args.force)?;
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

fn views(data: &Dataset, folder: &Path, force: bool) -> Outcome<()> {
    for v in data.views() {
        let path = folder.join(format!("{}.csv", v.name()));
        if !v.levels().is_empty() {
            let classes = v.classes();
            let name = |c: &Option<usize>| c.map(|c| v.levels()[c].clone());
            let columns = vec![(v.features()[0].clone(), classes.iter().map(name).collect())];
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
