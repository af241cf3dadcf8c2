//! Ordered levels, by words or by numbers.

use std::collections::BTreeMap;
use std::path::Path;

use polyview::Likelihood;
use polyview_core::{ClassPlaces, Table, ViewTable, whole_number};
use polyview_io::{Orientation, ReadOptions, read_string_table};
use polyview_linalg::Mat;

use crate::failure::{Failure, Outcome};

/// A table whose cells are words of levels, or their numbers from 1 on: numbers they become.
pub fn of_words(
    path: &Path,
    file: &Path,
    options: &ReadOptions,
    words: &[String],
) -> Outcome<ViewTable> {
    if options.orientation != Orientation::SamplesInRows {
        return Err(Failure::Usage(format!(
            "'{}': words of levels are read with samples in rows; turn the table, or give numbers",
            path.display()
        )));
    }
    let read = read_string_table(file, options)?;
    let places = ClassPlaces::of(words.iter().map(String::as_str));
    let mut values = Mat::full(read.samples.len(), read.columns.len(), f64::NAN);
    for (d, column) in read.values.iter().enumerate() {
        for (n, cell) in column.iter().enumerate() {
            let Some(word) = cell else {
                continue;
            };
            let place = places.at(word);
            let place = place
                .map(|k| (k + 1) as f64)
                .or_else(|| number(word, words.len()));
            values[(n, d)] = place.ok_or_else(|| Failure::Cell {
                path: path.to_owned(),
                sample: read.samples[n].clone(),
                column: read.columns[d].clone(),
                found: format!(
                    "'{word}' is none of the levels {}; correct it, leave the cell empty, or add the word to \
                     levels, where it belongs in the order",
                    words.join(", ")
                ),
            })?;
        }
    }
    Ok(Table {
        name: options.name.clone().unwrap_or(read.name),
        samples: read.samples,
        features: read.columns,
        values,
        levels: Vec::new(),
    }
    .into())
}

/// The number of a level.
fn number(word: &str, levels: usize) -> Option<f64> {
    let number = usize::try_from(whole_number(word)?).ok()?;
    (1..=levels).contains(&number).then_some(number as f64)
}

/// Refuses what is no level; `mend` says what to do about it.
pub fn whole(path: &Path, table: &ViewTable, of: &Likelihood, mend: &str) -> Outcome<()> {
    let most = of.most_levels().map_or(f64::INFINITY, |n| n as f64);
    let is_level = |x: f64| x.fract() == 0.0 && (1.0..=most).contains(&x);
    let Some((n, d, x)) = (table.cells()).find(|c| !c.2.is_nan() && !is_level(c.2)) else {
        return Ok(());
    };
    let found = if x > most && x.fract() == 0.0 {
        format!(
            "{x} is no level: levels are numbered 1 to {most}; if it is a code for missing values, say --na {x}; \
             else {mend}"
        )
    } else {
        format!("{x} is no level: levels are numbered 1, 2 and so on; {mend}")
    };
    Err(Failure::Cell {
        path: path.to_owned(),
        sample: table.samples()[n].clone(),
        column: table.features()[d].clone(),
        found,
    })
}

/// What is to be said of levels that nobody has before the last one, where the data say how many levels there are: one
/// cell that is mistyped makes as many as it says.
pub fn gap(path: &Path, table: &ViewTable, of: &Likelihood) -> Option<String> {
    let by_data = |text: String| text.parse::<usize>().is_err();
    if !of.is_ordered() || !of.options().text("levels").is_none_or(by_data) {
        return None;
    }
    let mut first: BTreeMap<u64, (usize, usize, usize)> = BTreeMap::new();
    for (n, d, x) in table.cells().filter(|c| !c.2.is_nan()) {
        first.entry(x as u64).or_insert((n, d, 0)).2 += 1;
    }
    let mut from_last = first.iter().rev();
    let (&last, &(n, d, cells)) = from_last.next()?;
    let (&before, _) = from_last.next()?;
    let empty = last - first.len() as u64;
    if last - before == 1 && 2 * empty <= last {
        return None;
    }
    let name = of.name();
    let cells = match cells {
        1 => "1 cell".to_owned(),
        more => format!("{more} cells"),
    };
    Some(format!(
        "{}: sample '{}', column '{}': level {last} makes {last} levels, of which {empty} are in no cell (the next one below it \
         is {before}; {last} stands in {cells}); correct it if it is mistyped, say --na {last} if it is a code for missing \
         values, number levels without gaps, or say how many there are: {name}{{levels={last}}}",
        path.display(),
        table.samples()[n],
        table.features()[d],
    ))
}
