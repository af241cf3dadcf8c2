//! `polyview simulate`.

use std::path::{Path, PathBuf};

use polyview::{ModelSpec, SimulateOptions};
use polyview_core::{Dataset, View};
use polyview_datasets::{BibfaOptions, Missing, Simulated, simulate_bibfa};
use polyview_linalg::Mat;
use serde_json::json;

use super::factor_names;
use super::kernel::load_model;
use crate::args::{Cli, SimulateArgs};
use crate::failure::{Failure, Outcome};
use crate::files::{Files, make_folder};
use crate::remarks::note;
use crate::study::Once;
use crate::written::{called, is_stdout, write, write_columns};

/// Draws data from a model.
pub fn run(cli: &Cli, args: &SimulateArgs) -> Outcome<()> {
    let files = Files::default()
        .for_json(cli)
        .printing("--out-dir", [&args.out_dir]);
    files.distinct()?;
    let out = Out {
        folder: (!is_stdout(&args.out_dir)).then_some(args.out_dir.as_path()),
        of_model: args.from.is_some(),
        force: args.force,
    };
    let mut groups = None;
    if let Some(path) = &args.from {
        let mut once = Once::of("--trials");
        let of_view = |text: &String| {
            let (view, number) = trials(text)?;
            once.view(&view)?;
            Ok((view, number))
        };
        let options = SimulateOptions {
            trials: args.trials.iter().map(of_view).collect::<Outcome<_>>()?,
        };
        let fit = load_model(path)?;
        let data = fit.simulate_with(args.samples, args.seed, &options)?;
        out.views(&data, fit.spec())?;
        groups = out.groups(cli, &data)?;
        for v in data.views() {
            if fit.view(v.name())?.1.choices.likelihood.is_similarity() {
                note(
                    cli,
                    format!(
                        "view '{}': these are similarities of the drawn samples to those of training, as 'polyview project' and \
                         'polyview predict' of this model read them; a fit needs those among its own samples, so leave the \
                         table out of one",
                        v.name()
                    ),
                );
            }
            let likelihood = &fit.view(v.name())?.1.choices.likelihood;
            if likelihood.is_censored() && !likelihood.is_survival() {
                note(
                    cli,
                    format!(
                        "view '{}': the drawn numbers are exact: where limits lie is no part of the model; --limit of 'polyview fit' \
                         and of the other commands lays limits on them",
                        v.name()
                    ),
                );
            }
            if likelihood.is_survival() {
                note(
                    cli,
                    format!(
                        "view '{}': the event came at each of the drawn times: when samples stop being watched is no \
                         part of the model",
                        v.name()
                    ),
                );
            }
        }
        if fit
            .spec()
            .is_some_and(|s| !(s.covariates.is_empty() && s.offsets.is_empty()))
        {
            note(
                cli,
                "covariates and offsets of the drawn samples are those of training samples drawn at random; \
                 they are in the values, and not written",
            );
        }
    } else {
        let mut options = BibfaOptions::new(args.samples, &args.features, args.factors, args.seed);
        if args.missing != 0.0 {
            options.missing = Missing {
                cells: args.missing,
                ..Missing::default()
            };
        }
        let s = simulate_bibfa(&options)
            .map_err(|e| Failure::Usage(e.to_string()))?
            .data;
        out.views(&s.dataset, None)?;
        out.truth(&s)?;
    }
    let groups = groups.map_or_else(String::new, |path| {
        format!("; groups of the samples: --metadata {path} --groups {GROUP}")
    });
    files.done(
        cli,
        &format!("written to {}{groups}", called(&args.out_dir)),
        json!({ "samples": args.samples }),
    )
}

/// The table of the samples' groups, and its column.
const GROUPS: &str = "groups.csv";
const GROUP: &str = "group";

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

/// The words of a view of classes, of labels that the model knows by words, or of levels that have any: column by column.
fn words(view: &View, spec: Option<&ModelSpec>) -> Option<Vec<(String, Vec<Option<String>>)>> {
    let levels = spec.map_or_else(Vec::new, |s| s.view(view.name()).likelihood.level_words());
    let (of, first) = match spec.and_then(|s| s.labels(view.name())) {
        Some(labels) => (&labels[..], 0),
        None if !levels.is_empty() => (&levels[..], 1),
        None if view.levels().is_empty() => return None,
        None => (view.levels(), 0),
    };
    let word = |x: f64| of.get((x as usize).checked_sub(first)?).cloned();
    let column = |(d, name): (usize, &String)| {
        let cells = (0..view.n_samples()).map(|n| word(view.value(n, d)?));
        (name.clone(), cells.collect())
    };
    Some(view.features().iter().enumerate().map(column).collect())
}

/// Times from their logarithms, at each of which the event came.
fn times(view: &View) -> Mat<f64> {
    Mat::from_fn(view.n_samples(), 2, |n, column| match view.value(n, 0) {
        Some(log) if column == 0 => log.exp(),
        Some(_) => 1.0,
        None => f64::NAN,
    })
}

/// Where the tables go.
struct Out<'a> {
    /// A folder; standard output if there is none.
    folder: Option<&'a Path>,
    /// Whether the tables are drawn from a fitted model, whose views they are.
    of_model: bool,
    force: bool,
}

impl Out<'_> {
    /// Names of views may have any characters: those that would lead out of the folder become `-`.
    fn place(&self, name: &str) -> PathBuf {
        let inside = |c: char| {
            if std::path::is_separator(c) || c == '\\' {
                '-'
            } else {
                c
            }
        };
        match self.folder {
            Some(folder) => folder.join(name.chars().map(inside).collect::<String>()),
            None => "-".into(),
        }
    }

    /// Refuses one file for two tables, as of a view `x-trials` beside the trials
    /// of `x`, and several views for standard output.
    fn check(&self, data: &Dataset) -> Outcome<()> {
        let all = data.views().iter().flat_map(|v| {
            let table = format!("{}.csv", v.name());
            let trials = v.trials().map(|_| format!("{}-trials.csv", v.name()));
            std::iter::once(table).chain(trials)
        });
        let groups = data.groups().filter(|_| self.folder.is_some());
        let all = all.chain(groups.map(|_| GROUPS.to_owned()));
        let paths: Vec<PathBuf> = all.map(|name| self.place(&name)).collect();
        let Some(folder) = self.folder else {
            return if paths.len() == 1 {
                Ok(())
            } else {
                Err(Failure::Usage(format!(
                    "--out-dir: there are {} tables, and standard output takes one; name a folder{}",
                    paths.len(),
                    if self.of_model {
                        " (the model has so many)"
                    } else {
                        ", or draw one view (--features 50)"
                    }
                )))
            };
        };
        Files::default().writing("--out-dir", paths).distinct()?;
        make_folder(folder)
    }

    fn views(&self, data: &Dataset, spec: Option<&ModelSpec>) -> Outcome<()> {
        self.check(data)?;
        for v in data.views() {
            let path = self.place(&format!("{}.csv", v.name()));
            let (samples, features) = (data.samples(), v.features());
            if let Some(columns) = words(v, spec) {
                write_columns(&path, samples, columns, self.force)?;
                continue;
            }
            let likelihood = spec.map(|s| s.view(v.name()).likelihood);
            let (values, own);
            let features = if let Some(likelihood) = likelihood
                && likelihood.is_survival()
            {
                values = times(v);
                own = ["time", "event"].map(|o| likelihood.options().text(o).unwrap_or_default());
                &own[..]
            } else {
                values = v.to_values_with_nan();
                features
            };
            write(
                &path,
                "sample",
                samples,
                features,
                values.as_ref(),
                self.force,
            )?;
            if let Some(trials) = v.trials() {
                let path = self.place(&format!("{}-trials.csv", v.name()));
                let trials = trials.as_ref().as_ref();
                write(&path, "sample", samples, features, trials, self.force)?;
            }
        }
        Ok(())
    }

    /// The groups of the samples, as a table about these; its path where there are any.
    fn groups(&self, cli: &Cli, data: &Dataset) -> Outcome<Option<String>> {
        let Some(groups) = data.groups() else {
            return Ok(None);
        };
        if self.folder.is_none() {
            note(
                cli,
                "the groups of the samples do not go to standard output beside a view; name a folder to have them",
            );
            return Ok(None);
        }
        let name = |&g: &u32| groups.names.get(g as usize).cloned();
        let of_sample = groups.of_sample.iter().map(name).collect();
        let columns = vec![(GROUP.to_owned(), of_sample)];
        let path = self.place(GROUPS);
        write_columns(&path, data.samples(), columns, self.force)?;
        Ok(Some(path.display().to_string()))
    }

    /// The true factors, weights, intercepts and standard deviations of the noise, into a folder.
    fn truth(&self, s: &Simulated) -> Outcome<()> {
        if self.folder.is_none() {
            return Ok(());
        }
        let names = factor_names(s.factors.ncols());
        let samples = s.dataset.samples();
        let path = self.place("true-factors.csv");
        write(
            &path,
            "sample",
            samples,
            &names,
            s.factors.as_ref(),
            self.force,
        )?;
        for (v, w) in s.dataset.views().iter().zip(&s.weights) {
            let path = self.place(&format!("true-weights-{}.csv", v.name()));
            write(
                &path,
                "feature",
                v.features(),
                &names,
                w.as_ref(),
                self.force,
            )?;
        }
        // as 'polyview export --intercepts' has them, of values that nothing centres or scales
        let beside = ["intercept", "noise"].map(str::to_owned);
        for (m, v) in s.dataset.views().iter().enumerate() {
            let path = self.place(&format!("true-intercepts-{}.csv", v.name()));
            let noise = s.noise_precision[m].sqrt().recip();
            let values = Mat::from_fn(v.n_features(), 2, |d, j| {
                if j == 0 { s.intercepts[m][d] } else { noise }
            });
            write(
                &path,
                "feature",
                v.features(),
                &beside,
                values.as_ref(),
                self.force,
            )?;
        }
        Ok(())
    }
}
