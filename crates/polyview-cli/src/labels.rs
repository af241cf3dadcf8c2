//! Tables of labels: each column is a view of its own, named by its header,
//! of two values that may be words.

use std::path::{Path, PathBuf};

use polyview_core::{ClassPlaces, Table};
use polyview_io::{DecimalMark, ReadOptions, StringTable, class_names, read_string_table};
use polyview_linalg::Mat;

use crate::failure::{Failure, Outcome};

/// Parses `FILE:LIKELIHOOD` of `--labels`.
pub fn labels_option(text: &str) -> (PathBuf, Option<&str>) {
    match text.rsplit_once(':') {
        Some((path, likelihood)) if !path.is_empty() && !likelihood.contains(['/', '\\', '.']) => {
            (path.into(), Some(likelihood))
        }
        _ => (text.into(), None),
    }
}

/// Reads a table of labels.
pub fn read(path: &Path, options: &ReadOptions) -> Outcome<StringTable> {
    Ok(read_string_table(path, options)?)
}

/// What 0 and 1 are called in a column, in the order of class names.
fn names(path: &Path, column: &str, cells: &[Option<String>]) -> Outcome<[String; 2]> {
    let mut found = class_names(cells, DecimalMark::Point);
    found.truncate(3);
    let refuse = |what: String| {
        Err(Failure::Usage(format!(
            "'{}', column '{column}': {what}",
            path.display()
        )))
    };
    match <[String; 2]>::try_from(found) {
        Ok(names) => Ok(names),
        Err(found) if found.is_empty() => refuse("no label is known; leave the column out".into()),
        Err(found) if found.len() == 1 => refuse(format!(
            "all known labels are '{}'; a label needs two values, leave the column out",
            found[0]
        )),
        Err(found) => refuse(format!(
            "more than two values ('{}'); give it as --view {column}=FILE:categorical, in a file of its own",
            found.join("', '")
        )),
    }
}

/// One column as a view of zeros and ones, with what these are called: the
/// given names where a model knows them already.
pub fn task(
    path: &Path,
    table: &StringTable,
    column: &str,
    known: Option<&[String; 2]>,
) -> Outcome<(Table, [String; 2])> {
    let Some(cells) = table.column(column) else {
        return Err(Failure::Usage(format!(
            "'{}' has no column '{column}'; it has {}",
            path.display(),
            table.columns.join(", ")
        )));
    };
    let names = match known {
        Some(names) => names.clone(),
        None => names(path, column, cells)?,
    };
    let places = ClassPlaces::of(names.iter().map(String::as_str));
    let mut values = Mat::from_fn(cells.len(), 1, |_, _| f64::NAN);
    for (n, cell) in cells.iter().enumerate() {
        let Some(cell) = cell else { continue };
        let Some(code) = places.at(cell) else {
            return Err(Failure::Cell {
                path: path.to_owned(),
                sample: table.samples[n].clone(),
                column: column.to_owned(),
                found: format!(
                    "'{cell}' is neither '{}' nor '{}'; correct it, or leave the cell empty",
                    names[0], names[1]
                ),
            });
        };
        values[(n, 0)] = code as f64;
    }
    let table = Table {
        name: column.to_owned(),
        samples: table.samples.clone(),
        features: vec![column.to_owned()],
        levels: Vec::new(),
        values,
    };
    Ok((table, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(cells: &[&str]) -> StringTable {
        StringTable {
            name: String::new(),
            samples: (0..cells.len()).map(|n| format!("s{n}")).collect(),
            columns: vec!["ill".into()],
            values: vec![
                cells
                    .iter()
                    .map(|c| (!c.is_empty()).then(|| (*c).to_owned()))
                    .collect(),
            ],
        }
    }

    fn codes(
        cells: &[&str],
        known: Option<&[String; 2]>,
    ) -> Result<(Vec<f64>, [String; 2]), String> {
        let (table, names) =
            task(Path::new("y.csv"), &table(cells), "ill", known).map_err(|e| e.to_string())?;
        Ok((table.values.col(0).iter().copied().collect(), names))
    }

    #[test]
    fn words_and_numbers_become_zeros_and_ones() {
        let (values, names) = codes(&["yes", "", "no"], None).expect("two values");
        assert!(values[0] == 1.0 && values[1].is_nan() && values[2] == 0.0);
        assert_eq!(names, ["no", "yes"].map(str::to_owned));
        let (values, names) = codes(&["10", "-9", "10"], None).expect("two values");
        assert_eq!(
            (values, names),
            (vec![1.0, 0.0, 1.0], ["-9", "10"].map(str::to_owned))
        );
        let known = ["b", "a"].map(str::to_owned);
        let (values, _) = codes(&["a", "b"], Some(&known)).expect("known values");
        assert_eq!(values, [1.0, 0.0]);
        let known = ["0", "1"].map(str::to_owned);
        let (values, _) = codes(&["1.0", "0.0"], Some(&known)).expect("known values");
        assert_eq!(values, [1.0, 0.0]);
    }

    #[test]
    fn other_columns_are_refused() {
        let error = |cells: &[&str]| codes(cells, None).expect_err("refused");
        assert!(error(&["", ""]).contains("no label is known"));
        assert!(error(&["a", "a"]).contains("all known labels are 'a'"));
        assert!(error(&["a", "b", "c"]).contains("categorical"));
        let known = ["b", "a"].map(str::to_owned);
        let e = codes(&["a", "x"], Some(&known)).expect_err("refused");
        assert!(
            e.contains("s1") && e.contains("'x' is neither 'b' nor 'a'"),
            "{e}"
        );
        assert!(task(Path::new("y.csv"), &table(&["a"]), "well", None).is_err());
    }

    #[test]
    fn options() {
        assert_eq!(
            labels_option("a/y.csv:svm"),
            ("a/y.csv".into(), Some("svm"))
        );
        assert_eq!(labels_option(r"C:\y.csv"), (r"C:\y.csv".into(), None));
    }
}
