//! Limits of detection on the command line: a number, two, or a table by feature.

use std::path::{Path, PathBuf};

use polyview::{Limit, Limits};
use polyview_io::{DecimalMark, ReadOptions, read_string_table};

use crate::failure::{Failure, Outcome};

/// Limits, and the table that they were read from.
pub struct Given {
    /// The limits.
    pub limits: Limits,
    /// The table.
    pub path: Option<PathBuf>,
}

/// The columns of a table of limits.
const COLUMNS: [&str; 2] = ["lower", "upper"];

/// Parses `VIEW=FILE`, `VIEW=LOWER` or `VIEW=LOWER..UPPER`, of which one may be empty.
pub fn limit_option(text: &str, options: &ReadOptions) -> Outcome<(String, Given)> {
    let parts = text.split_once('=');
    match parts.filter(|(view, said)| !(view.is_empty() || said.is_empty())) {
        Some((view, said)) => Ok((view.to_owned(), given(said, options)?)),
        None => Err(Failure::Usage(format!(
            "--limit: '{text}' is not VIEW=FILE, VIEW=LOWER or VIEW=LOWER..UPPER, such as csf=limits.csv or csf=0.05..1300"
        ))),
    }
}

/// Parses what stands behind the name of a view.
pub fn given(said: &str, options: &ReadOptions) -> Outcome<Given> {
    let Some(limit) = in_numbers(said) else {
        let path = PathBuf::from(said);
        let limits = read(&path, options)?;
        return Ok(Given {
            limits,
            path: Some(path),
        });
    };
    if let Some(fault) = limit.fault() {
        return Err(Failure::Usage(format!("--limit {said}: {fault}")));
    }
    Ok(Given {
        limits: Limits {
            lower: limit.lower,
            upper: limit.upper,
            ..Limits::default()
        },
        path: None,
    })
}

/// One number or two; `None` where the text is none and names a file.
fn in_numbers(said: &str) -> Option<Limit> {
    let number = |x: &str| x.trim().parse::<f64>().ok();
    if let Some(lower) = number(said) {
        return Some(Limit {
            lower: Some(lower),
            upper: None,
        });
    }
    let (lower, upper) = said.split_once("..")?;
    let end = |x: &str| match x.trim() {
        "" => Some(None),
        x => number(x).map(Some),
    };
    let limit = Limit {
        lower: end(lower)?,
        upper: end(upper)?,
    };
    (limit != Limit::default()).then_some(limit)
}

/// Limits by feature: a row for each, with a column `lower`, a column `upper`, or both.
fn read(path: &Path, options: &ReadOptions) -> Outcome<Limits> {
    let table = read_string_table(path, options)?;
    if !COLUMNS.iter().any(|c| table.column(c).is_some()) {
        return Err(Failure::Usage(format!(
            "--limit {}: a table of limits has a row for each feature and a column 'lower', a column 'upper', or both; \
             its columns are {}",
            path.display(),
            table.columns.join(", ")
        )));
    }
    let wrong = |feature: &String, column: &str, found: String| {
        Failure::Usage(format!(
            "--limit {}: feature '{feature}', column '{column}': {found}",
            path.display()
        ))
    };
    let mut limits = Limits::default();
    for (row, feature) in table.samples.iter().enumerate() {
        let mut ends = [None, None];
        for (end, name) in ends.iter_mut().zip(COLUMNS) {
            let cell = table.column(name).and_then(|c| c[row].as_ref());
            *end = match cell.map(|cell| (cell, number(cell, options.decimal))) {
                None => None,
                Some((_, Some(x))) => Some(x),
                Some((cell, None)) => {
                    let found = format!(
                        "'{cell}' is no limit; give a finite number, or leave the cell empty where there is none"
                    );
                    return Err(wrong(feature, name, found));
                }
            };
        }
        let limit = Limit {
            lower: ends[0],
            upper: ends[1],
        };
        if let Some(fault) = limit.fault() {
            return Err(wrong(feature, COLUMNS[1], fault));
        }
        limits.features.insert(feature.clone(), limit);
    }
    Ok(limits)
}

fn number(text: &str, decimal: DecimalMark) -> Option<f64> {
    let text = match decimal {
        DecimalMark::Point => text.trim().to_owned(),
        DecimalMark::Comma if text.contains('.') => return None,
        DecimalMark::Comma => text.trim().replace(',', "."),
    };
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

/// Refuses limits of features that a table does not have.
pub fn check_features(
    limits: &Limits,
    path: &Path,
    (table, features): (&Path, &[String]),
) -> Outcome<()> {
    match limits.features.keys().find(|name| !features.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::Tables {
            first: path.to_owned(),
            second: table.to_owned(),
            what: format!(
                "the feature '{name}' has limits and is not in the view (its first is '{}'); correct the name, or \
                 leave the row out",
                features.first().map_or("", String::as_str)
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_files() {
        let limit = |lower, upper| Some(Limit { lower, upper });
        for (text, expected) in [
            ("0.05", limit(Some(0.05), None)),
            ("-3", limit(Some(-3.0), None)),
            ("0.05..1300", limit(Some(0.05), Some(1300.0))),
            ("..1300", limit(None, Some(1300.0))),
            ("-1e2..", limit(Some(-100.0), None)),
            ("..", None),
            ("../limits.csv", None),
            ("limits.csv", None),
            ("5.csv", None),
        ] {
            assert_eq!(in_numbers(text), expected, "{text}");
        }
        for text in ["nan", "inf", "3..2", "2..2", "0..nan"] {
            assert!(given(text, &ReadOptions::default()).is_err(), "{text}");
        }
    }
}
