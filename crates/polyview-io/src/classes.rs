//! Columns of class names.

use std::path::Path;

use polyview_core::Table;
use polyview_linalg::Mat;

use crate::error::IoError;
use crate::number::{DecimalMark, MISSING_WORD, Parsed, format, is_missing, parse};
use crate::options::{Orientation, ReadOptions};
use crate::text::{Records, read_words};

/// Reads one column (or, lying the other way, one line) of class names.
pub(crate) fn read_text_classes(
    records: Records,
    name: String,
    options: &ReadOptions,
) -> Result<Table, IoError> {
    let path = records.path().to_owned();
    let raw = read_words(records, options)?;
    let (samples, features, cells) = match options.orientation {
        Orientation::SamplesInRows => (raw.samples, raw.columns, raw.values),
        Orientation::FeaturesInRows => {
            let first = raw.values.into_iter().map(|mut c| c.swap_remove(0));
            (raw.columns, raw.samples, vec![first.collect()])
        }
    };
    let mut cells: Vec<Vec<String>> = cells;
    let (1, Some(cells)) = (features.len(), cells.pop()) else {
        return Err(IoError::ManyClassColumns {
            path,
            found: features.len(),
        });
    };
    let known = |c: String| (!is_missing(c.as_bytes(), MISSING_WORD)).then_some(c);
    let words: Vec<Option<String>> = cells.into_iter().map(known).collect();
    coded(&path, name, samples, features, &words, options.decimal)
}

/// A column of numbers as class names.
pub(crate) fn classes_of_numbers(path: &Path, table: Table) -> Result<Table, IoError> {
    if table.features.len() != 1 {
        return Err(IoError::ManyClassColumns {
            path: path.to_owned(),
            found: table.features.len(),
        });
    }
    let word = |x: &f64| {
        let mut text = String::new();
        format(*x, "", &mut text);
        (!text.is_empty()).then_some(text)
    };
    let words: Vec<Option<String>> = table.values.col(0).iter().map(word).collect();
    let Table {
        name,
        samples,
        features,
        ..
    } = table;
    coded(path, name, samples, features, &words, DecimalMark::Point)
}

fn coded(
    path: &Path,
    name: String,
    samples: Vec<String>,
    features: Vec<String>,
    words: &[Option<String>],
    decimal: DecimalMark,
) -> Result<Table, IoError> {
    let levels = class_names(words, decimal);
    if levels.is_empty() {
        return Err(IoError::NoClasses {
            path: path.to_owned(),
            column: features.into_iter().next().unwrap_or_default(),
        });
    }
    let place: std::collections::HashMap<&str, usize> = levels
        .iter()
        .enumerate()
        .map(|(code, level)| (level.as_str(), code))
        .collect();
    let code = |n: usize| {
        let word = words[n].as_deref()?;
        place.get(word).map(|&code| code as f64)
    };
    let values = Mat::from_fn(samples.len(), 1, |n, _| code(n).unwrap_or(f64::NAN));
    Ok(Table {
        name,
        samples,
        features,
        values,
        levels,
    })
}

/// The class names of a column: the words that occur, each once, by value where
/// all are numbers, else by character.
///
/// ```
/// use polyview_io::{DecimalMark, class_names};
///
/// let column = ["10", "9", "10"].map(|w| Some(w.to_owned()));
/// assert_eq!(class_names(&column, DecimalMark::Point), ["9", "10"]);
/// ```
pub fn class_names(words: &[Option<String>], decimal: DecimalMark) -> Vec<String> {
    let mut levels: Vec<String> = words.iter().flatten().cloned().collect();
    levels.sort_unstable();
    levels.dedup();
    let value = |w: &String| match parse(w.as_bytes(), decimal) {
        Parsed::Number(x) => Some(x),
        _ => None,
    };
    if let Some(numbers) = levels.iter().map(value).collect::<Option<Vec<f64>>>() {
        let mut order: Vec<usize> = (0..levels.len()).collect();
        // stable: 1 and 1.0 stay in the order of their characters
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        levels = order.into_iter().map(|i| levels[i].clone()).collect();
    }
    levels
}
