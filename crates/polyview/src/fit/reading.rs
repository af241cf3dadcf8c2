//! How the tables of the training data were read.

use serde::{Deserialize, Serialize};

use super::Fit;
use crate::assemble::several;

/// How the tables of the training data were read, as far as tables of new samples are to be
/// read alike. A fit only keeps it: whoever reads tables says it and asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Reading {
    /// Column of the metadata that gave each sample its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// Numbers and words that stood for a missing value, besides empty cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl Fit {
    /// How the tables of the training data were read; nothing where nobody said so, as in
    /// files of earlier releases.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }
    /// Keeps how the tables of the training data were read.
    pub fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
    }
    /// Whether projections and predictions of a sample depend on its group: the model has
    /// several, and something of its own for each.
    pub fn looks_at_groups(&self) -> bool {
        several(self.groups()).is_some() && self.composed.knows_groups()
    }
}
