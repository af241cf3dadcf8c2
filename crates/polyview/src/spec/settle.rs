//! What a view is settled on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a view is settled on at the end of a fit ([`Fit::settle`](crate::Fit::settle)).
///
/// Written as `false`, `true` (the same as `"factors"`) or `"features"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Spelled", into = "Spelled")]
pub enum Settle {
    /// On nothing: what predicts it are the weights of the joint fit.
    Not,
    /// On the factors of the training samples without the view.
    Factors,
    /// On these, and on what they leave of the features of the other views.
    Features,
}

impl Settle {
    /// Whether the view is settled at all.
    pub fn settles(self) -> bool {
        self != Self::Not
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
        })
    }
}

impl FromStr for Settle {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "factors" => Ok(Self::Factors),
            "features" => Ok(Self::Features),
            _ => Err(format!(
                "settle = \"{word}\": expected \"factors\" or \"features\", true or false"
            )),
        }
    }
}

/// As it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelled {
    Said(bool),
    Word(String),
}

impl TryFrom<Spelled> for Settle {
    type Error = String;
    fn try_from(spelled: Spelled) -> Result<Self, String> {
        match spelled {
            Spelled::Said(settle) => Ok(settle.into()),
            Spelled::Word(word) => word.parse(),
        }
    }
}

impl From<Settle> for Spelled {
    fn from(settle: Settle) -> Self {
        match settle {
            Settle::Not | Settle::Factors => Self::Said(settle.settles()),
            Settle::Features => Self::Word(settle.to_string()),
        }
    }
}
