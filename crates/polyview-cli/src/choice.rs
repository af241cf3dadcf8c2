//! Words that stand for one of several choices: what there is, and which of them a
//! misspelt one is nearest to.

use std::fmt;

use polyview::{Described, ErrorKind, Kind, Named, Registry};
use polyview_core::{OptionError, PriorSpecies, RowRole};
use serde::Deserialize;
use serde::de::IntoDeserializer;

use crate::failure::{Failure, Outcome};

/// Parses a word as one of the values of an option.
///
/// # Errors
/// [`Failure::Usage`], which lists the values and says which one is nearest.
pub fn parsed<T: for<'de> Deserialize<'de>>(option: &str, word: &str) -> Outcome<T> {
    let word_as = IntoDeserializer::<Refused>::into_deserializer(word);
    T::deserialize(word_as).map_err(|refused| Failure::Usage(refused.message(option, word)))
}

/// Parses a species with its options: `negative-binomial{size=2}`.
///
/// # Errors
/// [`Failure::Usage`], which lists the species and says which one is nearest, or what is
/// wrong with an option.
pub fn species<K: Kind>(option: &str, text: &str) -> Outcome<Named<K>> {
    let usage = |why: String| Failure::Usage(format!("{option}: {why}"));
    let mut found: Named<K> = text
        .parse()
        .map_err(|e: OptionError| usage(e.to_string()))?;
    match found.resolve(Registry::standard()) {
        Ok(()) => Ok(found),
        Err(e) => Err(match e.kind() {
            ErrorKind::UnknownSpecies { name, .. } => {
                Failure::Usage(Refused::Unknown(names::<K>()).message(option, name))
            }
            _ => usage(e.to_string()),
        }),
    }
}

/// The names of all species of a kind, and what else they are called.
pub fn names<K: Kind>() -> Vec<String> {
    let mut out = Vec::new();
    for species in K::all(Registry::standard()) {
        out.push(species.name().to_owned());
        out.extend(species.aliases().iter().map(|&alias| alias.to_owned()));
    }
    out
}

/// The species of a kind as help lists them: `bernoulli (or multilabel)`.
pub fn known<K: Kind>() -> Vec<String> {
    K::all(Registry::standard())
        .into_iter()
        .map(|species| match species.aliases() {
            [] => species.name().to_owned(),
            more => format!("{} (or {})", species.name(), more.join(", ")),
        })
        .collect()
}

/// The priors of rows of this role with the names that options take: of weights the short ones.
pub fn priors(role: RowRole) -> impl Iterator<Item = (&'static str, &'static dyn PriorSpecies)> {
    let short = move |s: &'static dyn PriorSpecies| match (role, s.aliases()) {
        (RowRole::Weights, [alias, ..]) => *alias,
        _ => s.name(),
    };
    Registry::standard()
        .priors(role)
        .map(move |s| (short(s), s as _))
}

/// Why a word is none of the choices.
#[derive(Debug)]
enum Refused {
    /// It is none of these, under their names and what else they are called.
    Unknown(Vec<String>),
    /// Something else.
    Other(String),
}

impl Refused {
    fn message(&self, option: &str, word: &str) -> String {
        match self {
            Self::Other(why) => format!("{option}: {why}"),
            Self::Unknown(known) => {
                format!("{option}: there is no '{word}'; {}", instead(word, known))
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(known) => write!(f, "none of {}", known.join(", ")),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Refused {}

impl serde::de::Error for Refused {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::Other(why.to_string())
    }
    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::Unknown(expected.iter().map(|&word| word.to_owned()).collect())
    }
}

/// What there is instead of a word that is none of those known; which one is nearest.
pub fn instead<S: AsRef<str>>(word: &str, known: &[S]) -> String {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let nearest = nearest(word, &known);
    let hint = nearest.map_or_else(String::new, |n| format!("did you mean '{n}'? "));
    // "there are none, ard" would say that there are none
    let quoted = |k: &&str| {
        if *k == "none" {
            "'none'".to_owned()
        } else {
            (*k).to_owned()
        }
    };
    let known: Vec<String> = known.iter().map(quoted).collect();
    format!("{hint}there are {}", known.join(", "))
}

/// The known word that is nearest to this one: the first that begins with it, else the
/// one with fewest letters to change, a third of them at most.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let begins = |k: &&&str| word.len() > 1 && k.starts_with(&word);
    if let Some(found) = known.iter().find(begins) {
        return Some(found);
    }
    let by_distance = known.iter().map(|k| (distance(&word, k), *k));
    let (changes, found) = by_distance.min_by_key(|(changes, _)| *changes)?;
    (3 * changes <= found.len().max(3)).then_some(found)
}

/// Fewest letters to put in, take out or change that make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut above = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = above + usize::from(x != *y);
            above = row[j + 1];
            row[j + 1] = change.min(above + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyview::Likelihoods;

    #[test]
    fn letters_to_change() {
        for (a, b, n) in [("", "abc", 3), ("kitten", "sitting", 3), ("x", "x", 0)] {
            assert_eq!(distance(a, b), n, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_word_is_named() {
        let said = |word: &str| match species::<Likelihoods>("likelihood", word) {
            Ok(found) => found.to_string(),
            Err(e) => e.to_string(),
        };
        assert_eq!(said("pln"), "poisson-log-normal");
        for (word, nearest) in [
            ("berno", "bernoulli"),
            ("Gaussian", "gaussian"),
            ("guassian", "gaussian"),
            ("categoric", "categorical"),
            ("negativebinomial", "negative-binomial"),
        ] {
            let text = said(word);
            assert!(
                text.starts_with(&format!(
                    "likelihood: there is no '{word}'; did you mean '{nearest}'? there are gaussian,"
                )),
                "{text}"
            );
        }
        let text = said("tweedie");
        assert!(
            !text.contains("did you mean") && text.contains("ordinary-rank"),
            "{text}"
        );
    }
}
