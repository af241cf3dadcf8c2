//! `polyview layout`: repeated visits as a study.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use polyview::Likelihood;
use polyview_io::{Action, IoError, read_rows, write_atomic};
use polyview_layouts::{Content, Laid, Layout, Part, Plan, Role, Rows, Windows, lay_out};
use serde_json::json;

use crate::args::{Cli, LayoutArgs, Outputs, RowsOf};
use crate::choice;
use crate::failure::{Failure, Outcome};
use crate::files::{Files, make_folder, same};
use crate::preset::preset;
use crate::remarks::{note, warning};
use crate::study::{Source, Study, view_option};
use crate::written::{overwrite, write_columns};

/// Parts of one option, and the likelihoods that were given.
type Given = (Vec<Part>, BTreeMap<String, Likelihood>);

/// Lays a table of visits out as a study.
pub fn run(cli: &Cli, args: &LayoutArgs) -> Outcome<()> {
    let (views, mut told) = parts("--views", &args.views)?;
    let (fixed, of_fixed) = parts("--static", &args.fixed)?;
    let (targets, of_targets) = parts("--targets", &args.targets)?;
    told.extend(of_fixed);
    told.extend(of_targets);
    let options = args.format.options();
    let plan = Plan {
        subject: args.sample.clone(),
        time: args.time.clone(),
        decimal: options.decimal,
        step: args.step,
        window: args.window,
        ahead: args.ahead,
        tolerance: args.tolerance,
        until: args.until,
        predict_at: args.predict_at,
        views,
        fixed,
        targets,
        set_to_limits: args.set_to_limits,
        windows: match args.rows {
            RowsOf::Targets => Windows::WithTargets,
            RowsOf::All => Windows::All,
            RowsOf::AllAndNew => Windows::AllAndNew,
        },
    };
    let of_table = |source| Failure::Layout {
        path: args.table.clone(),
        source,
    };
    // what the options say by themselves, before anything is read
    plan.check().map_err(of_table)?;
    let table = read_rows(&args.table, &options)?;
    let layout = lay_out(&table, &plan).map_err(of_table)?;
    for remark in &layout.remarks {
        note(cli, remark);
    }
    for text in &layout.warnings {
        warning(cli, text);
    }
    let likelihoods = likelihoods(cli, &layout, &told);
    make_folder(&args.out_dir)?;
    let at = |name: String| args.out_dir.join(name);
    let mut tables: Vec<(PathBuf, &Rows, Option<&Laid>)> = Vec::new();
    for (rows, prefix) in [(&layout.training, ""), (&layout.new, "new-")] {
        tables.push((at(format!("{prefix}samples.csv")), rows, None));
        for laid in &rows.tables {
            let known = laid.cells.iter().flatten().any(Option::is_some);
            // of new samples what is known of any: past visits, and the truth
            if prefix.is_empty() || known {
                tables.push((at(format!("{prefix}{}.csv", laid.name)), rows, Some(laid)));
            }
        }
    }
    let studies = studies(args, &layout, &likelihoods)?;
    let earlier = earlier(&args.out_dir)?;
    let paths = tables.iter().map(|t| &t.0);
    let files = Files::default()
        .for_json(cli)
        .reading([&args.table])
        .writing("--out-dir", paths.chain(studies.iter().map(|s| &s.0)));
    files.check(overwrite(args.force))?;
    for (path, rows, laid) in &tables {
        write_table(args, path, rows, *laid)?;
    }
    for (path, text) in &studies {
        write_atomic(path, overwrite(args.force), |w| {
            w.write_all(text.as_bytes())
        })?;
    }
    let stays = |path: &&PathBuf| {
        let written = tables.iter().map(|t| &t.0);
        written
            .chain(studies.iter().map(|s| &s.0))
            .all(|w| w != *path)
            && !same(path, &args.table)
    };
    let stale: Vec<String> = (earlier.iter().filter(stays))
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    if !stale.is_empty() {
        warning(
            cli,
            format!(
                "{} has files of an earlier layout, which are not of this one: {}; remove them",
                args.out_dir.display(),
                stale.join(", ")
            ),
        );
    }
    if args.outputs != Outputs::Each {
        note(cli, together(args, &layout));
    }
    let (old, new) = (layout.training.samples.len(), layout.new.samples.len());
    files.done(
        cli,
        &format!(
            "{old} rows of {} views written to {}, {new} more as new ones, in tables that begin with new-",
            layout.training.tables.len(),
            args.out_dir.display()
        ),
        json!({
            "rows": old, "new_rows": new, "views": layout.training.tables.len(),
        }),
    )
}

/// How well the targets are predicted, all of them together, in words.
fn together(args: &LayoutArgs, layout: &Layout) -> String {
    let tables = layout.training.tables.iter();
    let targets: Vec<&str> = (tables.filter(|laid| laid.role == Role::Target))
        .map(|laid| laid.name.as_str())
        .collect();
    format!(
        "the study says that {} {}, so that none is predicted from another of the same visit: polyview cross-validate \
         --spec {} tells how well, in folds that keep the rows of one {} together",
        targets.join(", "),
        match targets.len() {
            1 => "is its target",
            _ => "are its targets, together",
        },
        args.out_dir.join("study.toml").display(),
        args.sample
    )
}

/// Files of a folder that look like those of a layout: studies, the tables that these name, and tables
/// of new samples.
fn earlier(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = |source| IoError::System {
        path: folder.to_owned(),
        action: Action::Read,
        source,
    };
    let (mut found, mut named) = (BTreeSet::new(), BTreeSet::new());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        let is = |kind: &str| path.extension().is_some_and(|e| e == kind);
        let is_study = name == "study.toml" || name.starts_with("study-") && is("toml");
        if is_study {
            // one that cannot be read names nothing
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let study: toml::Table = text.parse().unwrap_or_default();
            let data = study.get("data").and_then(toml::Value::as_array);
            let paths = data.into_iter().flatten();
            let paths = paths.filter_map(|source| source.get("path")?.as_str());
            named.extend(paths.map(|p| folder.join(p)));
        }
        if is_study || name.starts_with("new-") && is("csv") {
            found.insert(path);
        }
    }
    found.extend(named.into_iter().filter(|p| p.is_file()));
    Ok(found.into_iter().collect())
}

/// The parts of an option.
fn parts(option: &str, texts: &[String]) -> Outcome<Given> {
    let (mut out, mut told) = (Vec::new(), BTreeMap::new());
    for text in texts {
        // a target is named by its column alone
        let named = match text.split_once('=') {
            Some((name, _)) if !name.contains(':') => text.clone(),
            _ => {
                let column = text.split(':').next().unwrap_or_default();
                format!("{column}={text}")
            }
        };
        let (name, patterns, word) = view_option(&named).map_err(|_| {
            Failure::Usage(format!(
                "{option}: '{text}' is not NAME=COLUMNS or NAME=COLUMNS:LIKELIHOOD, such as csf=csf_*:censored"
            ))
        })?;
        let likelihood = word
            .map(|w| choice::species::<_>(&format!("{option} {name}, likelihood"), &w))
            .transpose()?;
        let content = content(option, &name, likelihood.as_ref())?;
        let patterns = patterns.to_string_lossy();
        out.push(Part {
            name: name.clone(),
            patterns: patterns.split('+').map(str::to_owned).collect(),
            content,
        });
        if let Some(likelihood) = likelihood {
            told.insert(name, likelihood);
        }
    }
    Ok((out, told))
}

/// What the cells of a likelihood are.
fn content(option: &str, name: &str, likelihood: Option<&Likelihood>) -> Outcome<Content> {
    let Some(likelihood) = likelihood else {
        return Ok(Content::Measured);
    };
    if likelihood.is_survival() || likelihood.has_trials() {
        return Err(Failure::Usage(format!(
            "{option} {name}: {likelihood} takes more than one table of a visit; add it to the study file by hand"
        )));
    }
    Ok(if likelihood.has_classes() {
        Content::Classes
    } else if likelihood.is_label() {
        Content::Indicators
    } else if likelihood.is_ordered() {
        Content::Words
    } else if likelihood.is_censored() {
        Content::Limits
    } else {
        Content::Numbers
    })
}

/// The likelihood of each table: as given, else by its cells.
fn likelihoods(
    cli: &Cli,
    layout: &Layout,
    told: &BTreeMap<String, Likelihood>,
) -> BTreeMap<String, Likelihood> {
    let mut out = BTreeMap::new();
    let mut said: Vec<&str> = Vec::new();
    for laid in &layout.training.tables {
        let likelihood = match told.get(&laid.part) {
            Some(likelihood) => likelihood.clone(),
            None if laid.content == Content::Limits => {
                if !said.contains(&laid.part.as_str()) {
                    said.push(&laid.part);
                    note(
                        cli,
                        format!(
                            "'{}' has limits, such as <1300, and is censored; --set-to-limits takes them as numbers",
                            laid.part
                        ),
                    );
                }
                "censored".into()
            }
            None => "gaussian".into(),
        };
        out.insert(laid.name.clone(), likelihood);
    }
    out
}

/// The study files: their paths, and what they say.
fn studies(
    args: &LayoutArgs,
    layout: &Layout,
    likelihoods: &BTreeMap<String, Likelihood>,
) -> Outcome<Vec<(PathBuf, String)>> {
    let tables = &layout.training.tables;
    let study = |target: Option<&str>| -> Outcome<String> {
        let chosen = |laid: &&Laid| match target {
            Some(name) => laid.role != Role::Target || laid.name == name,
            None => true,
        };
        let source = |laid: &Laid| Source {
            name: laid.name.clone(),
            path: format!("{}.csv", laid.name).into(),
            likelihood: likelihoods.get(&laid.name).cloned(),
            ..Source::default()
        };
        let data = tables.iter().filter(chosen).map(source).collect();
        let is_target = |laid: &&Laid| laid.role == Role::Target;
        let targets = tables.iter().filter(chosen).filter(is_target);
        let mut study = Study::of_tables(preset(args.model.name()), data, "samples.csv".into());
        study.targets = targets.map(|laid| laid.name.clone()).collect();
        study.model.keep_together = Some(args.sample.clone());
        study.to_toml()
    };
    let mut out = Vec::new();
    if args.outputs != Outputs::Each {
        out.push((args.out_dir.join("study.toml"), study(None)?));
    }
    if args.outputs != Outputs::Together {
        for laid in tables.iter().filter(|t| t.role == Role::Target) {
            let name = format!("study-{}.toml", laid.name);
            out.push((args.out_dir.join(name), study(Some(&laid.name))?));
        }
    }
    Ok(out)
}

/// Writes a table of rows, or what is known about these.
fn write_table(args: &LayoutArgs, path: &Path, rows: &Rows, laid: Option<&Laid>) -> Outcome<()> {
    let columns = if let Some(laid) = laid {
        let names = laid.columns.iter().cloned();
        names.zip(laid.cells.clone()).collect()
    } else {
        let subjects = rows.subjects.iter().cloned().map(Some);
        let times = rows.times.iter().map(|t| Some(t.to_string()));
        vec![
            (args.sample.clone(), subjects.collect()),
            (args.time.clone(), times.collect()),
        ]
    };
    write_columns(path, &rows.samples, columns, args.force)
}
