//! Classes of samples, as words or as a view.

use polyview_core::{Metadata, MetadataValues, Table};
use polyview_linalg::Mat;

/// One class a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// What the classes are about, such as `diet`.
    pub name: String,
    /// Sample IDs.
    pub samples: Vec<String>,
    /// Names of the classes, sorted.
    pub levels: Vec<String>,
    /// Index into `levels`, one a sample.
    pub codes: Vec<usize>,
}

impl Labels {
    pub(crate) fn new(name: &str, samples: Vec<String>, words: &[String]) -> Self {
        let mut levels = words.to_vec();
        levels.sort_unstable();
        levels.dedup();
        let code = |w: &String| {
            levels
                .binary_search(w)
                .expect("every word is among the levels")
        };
        let codes = words.iter().map(code).collect();
        Self {
            name: name.to_owned(),
            samples,
            levels,
            codes,
        }
    }

    /// The class of each sample by name.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.codes.iter().map(|&c| self.levels[c].as_str())
    }

    /// As a view of one column of class indices 0, 1, …
    pub fn to_codes(&self) -> Table {
        Table {
            name: self.name.clone(),
            samples: self.samples.clone(),
            features: vec![self.name.clone()],
            values: Mat::from_fn(self.samples.len(), 1, |n, _| self.codes[n] as f64),
            levels: self.levels.clone(),
        }
    }

    /// As a view of one 0/1 column a class, named by it.
    pub fn to_indicators(&self) -> Table {
        Table {
            name: self.name.clone(),
            samples: self.samples.clone(),
            features: self.levels.clone(),
            values: Mat::from_fn(self.samples.len(), self.levels.len(), |n, c| {
                f64::from(u8::from(self.codes[n] == c))
            }),
            levels: Vec::new(),
        }
    }

    /// As metadata, in the order of `samples`.
    pub fn to_metadata(&self) -> Metadata {
        Metadata {
            name: self.name.clone(),
            values: MetadataValues::Categories(self.words().map(|w| Some(w.to_owned())).collect()),
        }
    }
}
