//! The option for a positive number that is given, or learnt from the data, and the checks of
//! options like it.

use std::fmt;

use polyview_core::{GammaPrior, OptionError};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serialize, Serializer};

/// A positive number of every feature.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Learnt {
    /// Known.
    Known(f64),
    /// One for each feature, from the data.
    #[default]
    FromData,
}

/// The word for what is learnt.
const LEARNT: &str = "learnt";

impl Learnt {
    /// Reads the option of that name.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        option: &'static str,
        d: D,
    ) -> Result<Self, D::Error> {
        d.deserialize_any(Reader(option))
    }
    /// Whether it is one for each feature, from the data.
    pub(crate) fn is_learnt(self) -> bool {
        matches!(self, Self::FromData)
    }
    /// That a number that is given can be one.
    pub(crate) fn check(self, option: &str) -> Result<(), OptionError> {
        match self {
            Self::Known(x) if !(x > 0.0 && x.is_finite()) => {
                Err(needs_positive(option, x.to_string()))
            }
            _ => Ok(()),
        }
    }
}

impl Serialize for Learnt {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(x) => s.serialize_f64(*x),
            Self::FromData => s.serialize_str(LEARNT),
        }
    }
}

/// Reads a number, or the word, of the option of that name.
struct Reader(&'static str);

impl Visitor<'_> for Reader {
    type Value = Learnt;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: a number above 0, or the word {LEARNT}", self.0)
    }
    fn visit_f64<E: Error>(self, x: f64) -> Result<Learnt, E> {
        Ok(Learnt::Known(x))
    }
    fn visit_i64<E: Error>(self, x: i64) -> Result<Learnt, E> {
        Ok(Learnt::Known(x as f64))
    }
    fn visit_u64<E: Error>(self, x: u64) -> Result<Learnt, E> {
        Ok(Learnt::Known(x as f64))
    }
    fn visit_str<E: Error>(self, word: &str) -> Result<Learnt, E> {
        if word == LEARNT {
            Ok(Learnt::FromData)
        } else {
            Err(E::invalid_value(Unexpected::Str(word), &self))
        }
    }
}

/// The error of an option that must be a positive number.
pub(crate) fn needs_positive(option: &str, value: String) -> OptionError {
    OptionError::Value {
        option: option.to_owned(),
        value,
        needs: "it must be a positive number".to_owned(),
    }
}

/// That the option `prior` is a law.
pub(crate) fn proper(prior: GammaPrior) -> Result<(), OptionError> {
    if prior.is_proper() {
        return Ok(());
    }
    let value = format!("(shape {}, rate {})", prior.shape, prior.rate);
    Err(needs_positive("prior", value))
}
