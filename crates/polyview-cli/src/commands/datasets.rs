//! `polyview datasets`: the studies that come with the program, as tables.

use std::path::{Path, PathBuf};

use polyview_datasets::{Contents, Role, Study, StudyCells, StudyTable, studies};
use serde_json::{Value, json};

use crate::args::{Cli, DatasetsArgs};
use crate::failure::{Failure, Outcome};
use crate::files::{Files, make_folder};
use crate::output;
use crate::remarks::say;
use crate::written::overwrite;
use crate::written::{write, write_columns};

/// Lists the studies, describes one, or writes its tables.
pub fn run(cli: &Cli, args: &DatasetsArgs) -> Outcome<()> {
    let Some(name) = &args.name else {
        return list(cli);
    };
    let study = *studies().iter().find(|s| s.name == name).ok_or_else(|| {
        let names = studies().map(|s| s.name).join(", ");
        Failure::Usage(format!(
            "there is no data set '{name}'; those that come with the program are {names}"
        ))
    })?;
    match &args.out_dir {
        Some(folder) => write_study(cli, args, study, folder),
        None if cli.json => output::json(&as_json(study)),
        None => describe(study),
    }
}

fn list(cli: &Cli) -> Outcome<()> {
    let all = studies();
    if cli.json {
        return output::json(&all.iter().map(|s| as_json(s)).collect());
    }
    for s in all {
        output::line(format!("{:<12}{}", s.name, s.summary))?;
    }
    output::line("")?;
    output::line("What one holds, and its licence:  polyview datasets nutrimouse")?;
    output::line("As tables, to try a fit on:       polyview datasets nutrimouse --out-dir mice")
}

fn describe(study: &Study) -> Outcome<()> {
    output::line(format!("{}: {}", study.name, study.summary))?;
    output::line("")?;
    let rows = study.contents.iter().map(|c| {
        [
            file(c.name),
            c.columns.to_string(),
            c.what.to_owned(),
            option(c),
        ]
    });
    let header = ["table", "columns", "what", "how to give it"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(header).chain(rows).collect();
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2].map(width);
    for [table, columns, what, how] in &rows {
        let [a, b, c] = widths;
        output::line(format!("{table:<a$}  {columns:>b$}  {what:<c$}  {how}"))?;
    }
    output::line("")?;
    for (what, text) in origin(study) {
        output::line(format!("{what:<8} {text}"))?;
    }
    Ok(())
}

/// Where the data of a study come from, and under which terms.
fn origin(study: &Study) -> Vec<(&'static str, &'static str)> {
    match study.source {
        Some(s) => vec![
            ("cite", s.citation),
            ("from", s.origin),
            ("licence", s.licence),
        ],
        None => vec![
            ("from", "the simulator of this program: no real data"),
            ("licence", "MIT"),
        ],
    }
}

fn file(name: &str) -> String {
    format!("{name}.csv")
}

/// The option that gives a table to a fit. Real numbers are what a view is
/// unless something else is said.
fn option(c: &Contents) -> String {
    let (name, file) = (c.name, file(c.name));
    match c.role {
        Role::View("gaussian") => format!("--view {name}={file}"),
        Role::View(likelihood) => format!("--view {name}={file}:{likelihood}"),
        Role::Labels(likelihood) => format!("--labels {file}:{likelihood}"),
        Role::About => format!("--metadata {file}"),
        Role::Visits => format!("polyview layout --table {file}"),
    }
}

fn as_json(study: &Study) -> Value {
    let tables = study.contents.iter().map(|c| {
        json!({
            "file": file(c.name),
            "columns": c.columns,
            "what": c.what,
            "option": option(c),
        })
    });
    let origin: serde_json::Map<String, Value> = origin(study)
        .into_iter()
        .map(|(what, text)| (what.to_owned(), text.into()))
        .collect();
    json!({
        "name": study.name,
        "summary": study.summary,
        "samples": study.samples,
        "simulated": study.source.is_none(),
        "origin": origin,
        "tables": tables.collect::<Vec<_>>(),
    })
}

/// Writes the tables of a study, with some samples set apart unless it is
/// wanted whole.
fn write_study(cli: &Cli, args: &DatasetsArgs, study: &Study, folder: &Path) -> Outcome<()> {
    make_folder(folder)?;
    let mut files: Vec<(PathBuf, StudyTable)> = Vec::new();
    for table in study.tables() {
        let path = folder.join(file(table.name));
        if args.whole || study.whole {
            files.push((path, table));
            continue;
        }
        let (old, new) = table.split();
        files.push((folder.join(format!("new-{}", file(table.name))), new));
        files.push((path, old));
    }
    // all of them or none
    Files::default()
        .writing("--out-dir", files.iter().map(|(path, _)| path))
        .check(overwrite(args.force))?;
    for (path, table) in &files {
        write_table(path, table, args.force)?;
    }
    let count = study.contents.len();
    let new = files[0].1.samples().len();
    say(
        cli,
        if args.whole || study.whole {
            format!(
                "{count} tables of {} samples written to {}",
                study.samples,
                folder.display()
            )
        } else {
            format!(
                "{count} tables of {} samples written to {}; {new} more samples, as new ones, in tables that begin with new-",
                study.samples - new,
                folder.display()
            )
        },
    );
    Ok(())
}

fn write_table(path: &Path, table: &StudyTable, force: bool) -> Outcome<()> {
    match &table.cells {
        StudyCells::Numbers(t) => write(
            path,
            "sample",
            &t.samples,
            &t.features,
            t.values.as_ref(),
            force,
        ),
        StudyCells::Words(columns) => {
            let words = columns
                .iter()
                .map(|c| {
                    let words = c.words().map(|w| Some(w.to_owned())).collect();
                    (c.name.clone(), words)
                })
                .collect();
            write_columns(path, table.samples(), words, force)
        }
        StudyCells::Text { samples, columns } => {
            write_columns(path, samples, columns.clone(), force)
        }
    }
}
