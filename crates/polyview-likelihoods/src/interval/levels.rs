//! How many levels there are, and what they are called: an option of ordered levels.

use std::fmt;

use polyview_core::{DataError, OptionError, Options, View};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cells::check_domain;

/// What the levels are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Levels {
    /// 1 to the largest of the data.
    #[default]
    OfData,
    /// 1 to this number.
    Count(usize),
    /// Words, in their order.
    Words(Vec<String>),
}

/// The word for the levels of the data.
const OF_DATA: &str = "data";
/// What stands between words.
const BETWEEN: char = ';';
/// Most levels: of more nobody can say that they are no numbers.
const MOST: usize = 100;
/// What a view needs where a cell is larger.
const TOO_MANY: &str =
    "whole numbers from 1 to 100 at most: the largest of them is the number of levels";

impl Serialize for Levels {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::OfData => s.serialize_str(OF_DATA),
            Self::Count(count) => s.serialize_u64(*count as u64),
            Self::Words(words) => s.serialize_str(&words.join(&BETWEEN.to_string())),
        }
    }
}

impl<'de> Deserialize<'de> for Levels {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ReadLevels)
    }
}

/// Reads a number, or words.
struct ReadLevels;

impl Visitor<'_> for ReadLevels {
    type Value = Levels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "levels: their number, their words in order (low;mid;high), or the word {OF_DATA}"
        )
    }
    fn visit_i64<E: Error>(self, count: i64) -> Result<Levels, E> {
        Ok(Levels::Count(usize::try_from(count).unwrap_or(0)))
    }
    fn visit_u64<E: Error>(self, count: u64) -> Result<Levels, E> {
        Ok(Levels::Count(usize::try_from(count).unwrap_or(usize::MAX)))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Levels, E> {
        if text == OF_DATA {
            return Ok(Levels::OfData);
        }
        let words = text.split(BETWEEN).map(|w| w.trim().to_owned());
        Ok(Levels::Words(words.collect()))
    }
}

impl Levels {
    /// How many they are, where that is said.
    pub(super) fn count(&self) -> Option<usize> {
        match self {
            Self::OfData => None,
            Self::Count(count) => Some(*count),
            Self::Words(words) => Some(words.len()),
        }
    }
    /// What cannot be.
    pub(super) fn invalid(&self) -> Option<String> {
        if let Some(count) = self.count().filter(|c| !(2..=MOST).contains(c)) {
            let words = if let Self::Words(_) = self {
                format!(", with a '{BETWEEN}' between them")
            } else {
                String::new()
            };
            return Some(format!("there are 2 to {MOST} levels{words}, not {count}"));
        }
        let Self::Words(words) = self else {
            return None;
        };
        let twice = |(i, word): &(usize, &String)| word.is_empty() || words[..*i].contains(word);
        let found = words.iter().enumerate().find(twice);
        found.map(|(i, word)| {
            if word.is_empty() {
                format!(
                    "each level needs a word, and the one at place {} has none",
                    i + 1
                )
            } else {
                format!("each level needs a word of its own, and '{word}' stands twice")
            }
        })
    }
}

/// The option, as help has it.
pub(super) const LEVELS: (&str, &str) = (
    "levels",
    "how many levels there are, or their words in order (\"low;mid;high\"); data: the largest of the data",
);

impl Levels {
    /// What cannot be, as an error of the option.
    pub(super) fn check(&self, options: &Options) -> Result<(), OptionError> {
        match self.invalid() {
            None => Ok(()),
            Some(needs) => Err(OptionError::Value {
                option: "levels".to_owned(),
                value: options.text("levels").unwrap_or_default(),
                needs,
            }),
        }
    }
    /// The same where these data say nothing new, or how many they say that there are. Nothing
    /// where that cannot be: a view of it is refused by its cell ([`Levels::of`]).
    pub(super) fn with_data(&self, view: &View) -> Option<Self> {
        let of_data = *self == Self::OfData && view.n_observed() > 0;
        let found = of_data.then(|| largest(view));
        found.filter(|n| *n <= MOST).map(Self::Count)
    }
    /// The largest number that a cell may have.
    pub(super) fn most(&self) -> usize {
        self.count().unwrap_or(MOST)
    }
    /// The words, where there are any.
    pub(super) fn words(self) -> Vec<String> {
        match self {
            Self::Words(words) => words,
            _ => Vec::new(),
        }
    }
    /// How many they are for a view: 0 where a file will say it.
    ///
    /// # Errors
    /// [`DataError::OutOfDomain`] for a cell that is too large for a level.
    pub(super) fn of(&self, view: &View) -> Result<usize, DataError> {
        match self.count() {
            Some(count) => Ok(count),
            None if view.n_observed() == 0 => Ok(0),
            None => {
                check_domain(view, TOO_MANY, |_, _, x| x.is_nan() || x <= MOST as f64)?;
                Ok(largest(view))
            }
        }
    }
}

/// The largest of some data, which is the number of levels where nobody says it: at least 2.
fn largest(view: &View) -> usize {
    let mut column = vec![0.0; view.n_samples()];
    let mut out = 2.0_f64;
    for d in 0..view.n_features() {
        view.write_column(d, &mut column);
        let known = (0..view.n_samples()).filter(|&n| view.is_observed(n, d));
        out = known.map(|n| column[n]).fold(out, f64::max);
    }
    out as usize
}
