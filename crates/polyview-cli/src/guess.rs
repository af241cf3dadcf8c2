//! What a table of unknown kind looks like.

use std::collections::BTreeSet;
use std::path::Path;

use polyview::Likelihood;
use polyview_core::ViewTable;
use polyview_io::{Content, IoError, NumberHint, ReadOptions, read_table, read_view};

use crate::counts::likelihood_of_counts;
use crate::failure::Outcome;
use crate::hdf5;
use crate::view_table::archive;

/// Most values that a column of classes is thought to have.
const FEW: usize = 10;

/// A table and what it looks like.
pub struct Guess {
    /// The table.
    pub table: ViewTable,
    /// What it looks like.
    pub likelihood: Likelihood,
    /// Why.
    pub why: String,
    /// What to say if it is something else; `FILE` stands for view and file.
    pub advice: String,
}

impl Guess {
    /// Reads the table of a view, and guesses.
    pub fn of(path: &Path, options: &ReadOptions) -> Outcome<Self> {
        let name = options.name.clone().unwrap_or_default();
        if let Some(table) = hdf5::table(path, &name, options, false)? {
            return Ok(Self::numbers(table));
        }
        let (path, options) = &archive(path, options.clone());
        let error = match read_view(path, options) {
            Ok(table) => return Ok(Self::numbers(table)),
            Err(e) => e,
        };
        let is_words = matches!(
            error,
            IoError::NotNumber {
                hint: NumberHint::Words,
                ..
            }
        );
        if !is_words {
            return Err(error.into());
        }
        match read_table(path, &as_classes(options)) {
            Ok(table) => Ok(Self {
                likelihood: Likelihood::Categorical,
                why: format!("one column of words, {} classes", table.levels.len()),
                advice: otherwise(),
                table: table.into(),
            }),
            Err(IoError::ManyClassColumns { .. }) => Err(error.into()),
            Err(other) => Err(other.into()),
        }
    }

    /// What a table of numbers looks like.
    fn numbers(table: ViewTable) -> Self {
        let known = || table.cells().map(|c| c.2).filter(|x| !x.is_nan());
        let (likelihood, why, advice) = if known().all(is_bit) && known().next().is_some() {
            let why = "all values are 0 or 1";
            (Likelihood::Bernoulli, why, otherwise())
        } else {
            let counts = likelihood_of_counts(&table);
            let counts = counts.map(|l| format!("if they are counts, say --view FILE:{l}"));
            let why = match counts {
                Some(_) => "whole numbers from 0 on",
                None => "numbers",
            };
            let classes = is_few(&table).then(|| {
                "if they are classes, --view FILE:categorical; if they have an order but no distances, --view FILE:rank".to_owned()
            });
            let advice: Vec<String> = counts.into_iter().chain(classes).collect();
            let advice = if advice.is_empty() {
                otherwise()
            } else {
                advice.join("; ")
            };
            (Likelihood::Gaussian, why, advice)
        };
        Self {
            likelihood,
            why: why.to_owned(),
            advice,
            table,
        }
    }
}

/// What to say instead of a guess.
fn otherwise() -> String {
    "if not, say --view FILE:LIKELIHOOD".to_owned()
}

/// Whether the table is one column of few whole numbers that occur again and
/// again, as codes of classes do.
fn is_few(table: &ViewTable) -> bool {
    let values: Vec<f64> = table.cells().map(|c| c.2).filter(|x| !x.is_nan()).collect();
    let whole = values.iter().all(|x| x.fract() == 0.0);
    let different: BTreeSet<u64> = values.iter().map(|x| x.to_bits()).collect();
    let few = different.len() <= FEW && different.len() < values.len();
    table.features().len() == 1 && whole && few
}

/// The same options for a column of class names.
pub fn as_classes(options: &ReadOptions) -> ReadOptions {
    ReadOptions {
        content: Content::Classes,
        ..options.clone()
    }
}

/// Whether a number is 0 or 1.
pub fn is_bit(x: f64) -> bool {
    x == 0.0 || x == 1.0
}
