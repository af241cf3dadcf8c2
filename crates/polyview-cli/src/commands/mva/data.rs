//! Complete tables of the same samples, and their classes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use polyview_core::{Table, ViewTable};
use polyview_io::{DecimalMark, class_names, read_string_table};
use polyview_linalg::Mat;

use crate::args::{Cli, MvaArgs};
use crate::failure::{Failure, Outcome};
use crate::inputs::{Likely, note_names, read_options, view_cells};
use crate::remarks::note;
use crate::study::named_file;

/// A view of the samples that all views have.
pub struct View {
    pub name: String,
    pub path: PathBuf,
    pub features: Vec<String>,
    /// Samples × features, complete.
    pub values: Mat<f64>,
}

/// The classes of the samples.
pub struct Labels {
    pub path: PathBuf,
    /// The column.
    pub name: String,
    /// Names of the classes.
    pub names: Vec<String>,
    /// The class of each sample; none where it is not known.
    pub of: Vec<Option<usize>>,
}

/// What a projection is learnt of, or applied to.
pub struct Data {
    pub samples: Vec<String>,
    pub views: Vec<View>,
    pub labels: Option<Labels>,
}

impl Data {
    /// The data that the options name: of samples that every view has, in the order of the first.
    pub fn read(cli: &Cli, args: &MvaArgs) -> Outcome<Self> {
        let mut tables = Vec::new();
        for text in &args.views {
            let (name, path) = named_file("--view", text)?;
            if tables.iter().any(|(other, _, _)| *other == name) {
                return Err(Failure::Usage(format!(
                    "--view: there are two views '{name}'; give each a name of its own"
                )));
            }
            let table = read(cli, args, &name, &path)?;
            tables.push((name, path, table));
        }
        let Some((_, first_path, first)) = tables.first() else {
            return Err(Failure::Usage(
                "give the data: --view NAME=FILE, such as --view genes=genes.csv".to_owned(),
            ));
        };
        let places: Vec<HashMap<&str, usize>> = (tables.iter())
            .map(|(_, _, t)| places(&t.samples))
            .collect();
        let in_all = |s: &&String| places.iter().all(|p| p.contains_key(s.as_str()));
        let samples: Vec<String> = first.samples.iter().filter(in_all).cloned().collect();
        let largest = tables.iter().map(|(_, _, t)| t.samples.len()).max();
        let largest = largest.unwrap_or(0);
        if samples.is_empty() {
            let second = tables.get(1).map_or(first_path, |t| &t.1);
            return Err(Failure::Tables {
                first: first_path.clone(),
                second: second.clone(),
                what: "no sample is in both; give the same IDs in the first columns".to_owned(),
            });
        }
        if samples.len() < largest {
            note(
                cli,
                format!(
                    "{} samples are in all views; the others are left out",
                    samples.len()
                ),
            );
        }
        let mut views = Vec::new();
        for ((name, path, table), places) in tables.iter().zip(&places) {
            let rows: Vec<usize> = samples.iter().map(|s| places[s.as_str()]).collect();
            complete(path, table, &rows)?;
            views.push(View {
                name: name.clone(),
                path: path.clone(),
                features: table.features.clone(),
                values: Mat::from_fn(rows.len(), table.features.len(), |n, d| {
                    table.values[(rows[n], d)]
                }),
            });
        }
        let labels = (args.labels.as_deref())
            .map(|path| labels(args, path, &samples))
            .transpose()?;
        Ok(Self {
            samples,
            views,
            labels,
        })
    }
}

fn places(samples: &[String]) -> HashMap<&str, usize> {
    let all = samples.iter().enumerate();
    all.map(|(n, s)| (s.as_str(), n)).collect()
}

fn read(cli: &Cli, args: &MvaArgs, name: &str, path: &Path) -> Outcome<Table> {
    let options = read_options(name, args.transposed, args.format.options());
    let likely = "gaussian".into();
    let cells = view_cells(path, &options, Likely::Asked(&likely), None)?;
    let table = match cells.table {
        ViewTable::Dense(table) => table,
        ViewTable::Sparse(sparse) => sparse.to_dense(),
    };
    note_names(cli, path, &options, (&table.samples, &table.features));
    Ok(table)
}

/// Refuses a hole in rows of a table.
fn complete(path: &Path, table: &Table, rows: &[usize]) -> Outcome<()> {
    for (d, feature) in table.features.iter().enumerate() {
        if let Some(n) = rows.iter().find(|n| table.values[(**n, d)].is_nan()) {
            return Err(Failure::Cell {
                path: path.to_owned(),
                sample: table.samples[*n].clone(),
                column: feature.clone(),
                found:
                    "the cell is empty or stands for a missing value, and these methods need complete data; fill the holes by \
                        'polyview fit' and 'polyview impute', or leave the sample or the column out"
                        .to_owned(),
            });
        }
    }
    Ok(())
}

/// The classes of samples in the table of labels.
fn labels(args: &MvaArgs, path: &Path, samples: &[String]) -> Outcome<Labels> {
    let table = read_string_table(path, &args.format.options())?;
    let wrong = |what: String| Failure::Mva {
        path: path.to_owned(),
        what,
    };
    let name = match (&args.label, table.columns.as_slice()) {
        (Some(name), _) | (None, [name]) => name.clone(),
        (None, all) => {
            return Err(Failure::Usage(format!(
                "--labels {}: it has the columns {}; say which holds the classes: --label COLUMN",
                path.display(),
                all.join(", ")
            )));
        }
    };
    let Some(cells) = table.column(&name) else {
        return Err(Failure::Usage(format!(
            "--label: '{}' has no column '{name}'; it has {}",
            path.display(),
            table.columns.join(", ")
        )));
    };
    let places = places(&table.samples);
    let own: Vec<Option<&String>> = samples
        .iter()
        .map(|s| places.get(s.as_str()).and_then(|n| cells[*n].as_ref()))
        .collect();
    let known: Vec<Option<String>> = own.iter().map(|c| c.cloned()).collect();
    let names = class_names(&known, DecimalMark::Point);
    match names.as_slice() {
        [] => Err(wrong(format!(
            "column '{name}' has a class for none of the samples; give the same IDs in the first columns"
        ))),
        [one] => Err(wrong(format!(
            "column '{name}': all samples are '{one}'; a projection of classes needs two of them"
        ))),
        _ => {
            let class =
                |cell: Option<&String>| cell.and_then(|word| names.iter().position(|n| n == word));
            Ok(Labels {
                path: path.to_owned(),
                name,
                of: own.iter().copied().map(class).collect(),
                names,
            })
        }
    }
}
