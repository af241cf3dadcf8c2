//! Ordered levels, as a species.

use std::fmt;

use polyview_core::{
    About, DataError, Domain, GammaPrior, Guess, LikelihoodSpecies, OptionError, Options,
    TermContext, View, ViewTable, ViewTerm, Way,
};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ordinal::NEEDS;
use super::{CutPoints, CutPointsBy, Ordinal};
use crate::scalar::{FORM, Form};

/// [`Ordinal`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrdinalSpecies;

/// What the levels are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Levels {
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
/// Most levels of a table that is taken to be of such.
const FEW: usize = 10;

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
    fn count(&self) -> Option<usize> {
        match self {
            Self::OfData => None,
            Self::Count(count) => Some(*count),
            Self::Words(words) => Some(words.len()),
        }
    }
    /// What cannot be.
    fn invalid(&self) -> Option<String> {
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
        found.map(|(_, word)| format!("each level needs a word of its own, and '{word}' is none"))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Choices {
    levels: Levels,
    cut_points: CutPointsBy,
    prior: GammaPrior,
    form: Form,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            levels: Levels::OfData,
            cut_points: CutPointsBy::View,
            prior: Ordinal::PRIOR,
            form: Form::default(),
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

impl LikelihoodSpecies for OrdinalSpecies {
    fn name(&self) -> &'static str {
        "ordinal"
    }
    fn about(&self) -> About {
        About {
            line: "ordered levels, such as answers from 1 to 5: a normal variable between cut points",
            needs: NEEDS,
            label: "sites 2",
            options: &[
                (
                    "levels",
                    "how many levels there are, or their words in order (\"low;mid;high\"); data: the \
                     largest of the data",
                ),
                (
                    "cut-points",
                    "what shares one set of cut points: view, or feature",
                ),
                (
                    "prior",
                    "gamma prior of the gaps between cut points, in units of the noise: {shape = 2.0, rate = 2.0}",
                ),
                FORM,
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::LEVELS
    }
    fn defaults(&self) -> Options {
        Options::of(&Choices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let choices: Choices = options.read()?;
        let value = |option: &str, value: String, needs: String| OptionError::Value {
            option: option.to_owned(),
            value,
            needs,
        };
        if let Some(needs) = choices.levels.invalid() {
            let text = options.text("levels").unwrap_or_default();
            return Err(value("levels", text, needs));
        }
        let GammaPrior { shape, rate } = choices.prior;
        if choices.prior.is_proper() {
            return Ok(());
        }
        Err(value(
            "prior",
            format!("(shape {shape}, rate {rate})"),
            "both are positive numbers".to_owned(),
        ))
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        let form = options
            .read::<Choices>()
            .map(|c| c.form)
            .unwrap_or_default();
        match way {
            Way::Stochastic => Some(
                "its cut points are learnt from all cells of the view at once: take the engine vb"
                    .to_owned(),
            ),
            Way::Sparse => Some("its levels are numbered from 1: no cell is a zero".to_owned()),
            Way::Components => Some("levels have one set of weights".to_owned()),
            _ => form.refuses(way),
        }
    }
    fn guess(&self, table: &ViewTable) -> Option<Guess> {
        let mut seen = [false; FEW];
        for (_, _, x) in table.cells().filter(|c| !c.2.is_nan()) {
            if x.fract() != 0.0 || !(1.0..=FEW as f64).contains(&x) {
                return None;
            }
            seen[x as usize - 1] = true;
        }
        let different = seen.iter().filter(|s| **s).count();
        (table.levels().is_empty() && different > 2).then(|| Guess {
            strength: 0,
            why: format!("whole numbers from 1 to {FEW} at most"),
            when: "they are ordered levels",
        })
    }
    fn with_data(&self, options: &Options, view: &View) -> Options {
        match options.read::<Choices>() {
            Ok(choices) if choices.levels == Levels::OfData && view.n_observed() > 0 => {
                let levels = Levels::Count(largest(view));
                Options::of(&Choices { levels, ..choices }).unwrap_or_else(|_| options.clone())
            }
            _ => options.clone(),
        }
    }
    fn level_words(&self, options: &Options) -> Vec<String> {
        match options.read::<Choices>().map(|c| c.levels) {
            Ok(Levels::Words(words)) => words,
            _ => Vec::new(),
        }
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: Choices = options.read()?;
        let levels = match choices.levels.count() {
            Some(count) => count,
            // a file says how many they are
            None if view.n_observed() == 0 => 0,
            None => largest(&view),
        };
        let cuts = CutPoints::new(levels, choices.cut_points, choices.prior);
        let mut likelihood = Ordinal::with_cut_points(cuts);
        likelihood.prediction = cx.prediction;
        choices.form.term(view, likelihood, cx)
    }
}
