//! What a table of unknown kind looks like.

use std::path::Path;

use polyview::{Likelihood, Registry};
use polyview_core::ViewTable;
use polyview_io::{Content, IoError, NumberHint, ReadOptions, read_table, read_view};

use super::archive::archive;
use crate::failure::Outcome;
use crate::hdf5;

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
            return Ok(Self::best(table));
        }
        let (path, options) = &archive(path, options.clone());
        let error = match read_view(path, options) {
            Ok(table) => return Ok(Self::best(table)),
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
            Ok(table) => Ok(Self::best(table.into())),
            Err(IoError::ManyClassColumns { .. }) => Err(error.into()),
            Err(other) => Err(other.into()),
        }
    }

    /// The strongest guess of all likelihoods, and what the others say.
    fn best(table: ViewTable) -> Self {
        let registry = Registry::standard();
        let all: Vec<_> = (registry.likelihoods())
            .filter_map(|s| Some((s.name(), s.guess(&table)?)))
            .collect();
        let mut best: Option<&(&str, polyview_core::Guess)> = None;
        for one in &all {
            if best.is_none_or(|b| one.1.strength > b.1.strength) {
                best = Some(one);
            }
        }
        let (name, why) = best.map_or(("gaussian", "numbers".to_owned()), |b| {
            (b.0, b.1.why.clone())
        });
        let sure = best.is_some_and(|b| b.1.strength > 1);
        let others = all.iter().filter(|g| g.0 != name && !sure);
        let mut advice: Vec<String> = Vec::new();
        for (other, guess) in others {
            let say = if guess.when.ends_with("counts") {
                "say "
            } else {
                ""
            };
            advice.push(format!("if {}, {say}--view FILE:{other}", guess.when));
        }
        Self {
            likelihood: name.into(),
            why,
            advice: if advice.is_empty() {
                "if not, say --view FILE:LIKELIHOOD".to_owned()
            } else {
                advice.join("; ")
            },
            table,
        }
    }
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
