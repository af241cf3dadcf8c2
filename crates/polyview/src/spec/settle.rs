//! What a view is settled on.

use std::fmt;

use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a view is settled on at the end of a fit ([`Fit::settle`](crate::Fit::settle)).
///
/// Written as `false`, `true` (the same as `"factors"`), `"features"`, `"best"`, `"mixture"` or `"linear-mixture"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// On nothing: what predicts it are the weights of the joint fit.
    Not,
    /// On the factors of the training samples without the view.
    Factors,
    /// On these, and on what they leave of the features of the other views.
    Features,
    /// On that of the others, nothing among them, which predicts the view best in samples that were held out
    /// in turn; once the fit is done its choices have what was found, and its journal what was measured.
    Best,
    /// On nothing, and predicted by a mixture of two laws: that of the joint fit, and that of a regression on the features of
    /// the other views. Their shares are means of what samples leave open that were held out in turn, so that few samples leave
    /// something to the worse way as well; a way that has next to none is left out. What is predicted better so goes by similarities to training samples, whose features are kept then.
    Mixture,
    /// As [`Settle::Mixture`], by a regression that is linear in the features: it keeps nothing of single samples.
    LinearMixture,
}

impl Settle {
    /// The words of [`Settle::of_word`].
    pub const WORDS: [&'static str; 6] = [
        "factors",
        "features",
        "best",
        "mixture",
        "linear-mixture",
        "no",
    ];
    /// Whether the view is settled at all.
    pub fn settles(self) -> bool {
        self != Self::Not
    }
    /// Whether the view is predicted by a mixture of the joint fit and a regression.
    pub fn is_mixture(self) -> bool {
        matches!(self, Self::Mixture | Self::LinearMixture)
    }
    /// That of a word as it is written: one of [`Settle::WORDS`].
    pub fn of_word(word: &str) -> Option<Self> {
        let ways = [
            Self::Factors,
            Self::Features,
            Self::Best,
            Self::Mixture,
            Self::LinearMixture,
            Self::Not,
        ];
        let at = Self::WORDS.iter().position(|w| *w == word)?;
        Some(ways[at])
    }
}

impl From<bool> for Settle {
    fn from(settle: bool) -> Self {
        if settle { Self::Factors } else { Self::Not }
    }
}

impl fmt::Display for Settle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Not => "not",
            Self::Factors => "factors",
            Self::Features => "features",
            Self::Best => "best",
            Self::Mixture => "mixture",
            Self::LinearMixture => "linear-mixture",
        })
    }
}

impl Serialize for Settle {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Not | Self::Factors => to.serialize_bool(self.settles()),
            Self::Features | Self::Best | Self::Mixture | Self::LinearMixture => {
                to.collect_str(self)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Settle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Spelled)
    }
}

/// As it is written: a word, true or false.
struct Spelled;

impl Visitor<'_> for Spelled {
    type Value = Settle;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"factors\", \"features\", \"best\", \"mixture\", true or false")
    }
    fn visit_bool<E: de::Error>(self, settle: bool) -> Result<Settle, E> {
        Ok(settle.into())
    }
    fn visit_str<E: de::Error>(self, word: &str) -> Result<Settle, E> {
        Settle::of_word(word).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))
    }
}
