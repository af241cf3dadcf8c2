//! How to read a table.

use std::path::Path;

use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use crate::error::NameKind;
use crate::number::{Codes, DecimalMark};
use crate::text::Delimiter;

/// Which way a table lies in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Orientation {
    /// One sample a row, one feature a column.
    #[default]
    SamplesInRows,
    /// One feature a row, one sample a column, as omics tables often come.
    FeaturesInRows,
}

impl Orientation {
    /// What names columns, and what names lines.
    pub(crate) fn names(self) -> (NameKind, NameKind) {
        match self {
            Self::SamplesInRows => (NameKind::Feature, NameKind::Sample),
            Self::FeaturesInRows => (NameKind::Sample, NameKind::Feature),
        }
    }
}

/// What the cells of a table hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Numbers.
    #[default]
    Numbers,
    /// Class names, in the one column beside the sample IDs. They become codes
    /// 0, 1, … and [`Table::levels`](polyview_core::Table::levels), which are
    /// sorted: by value where all of them are numbers (1, 2, 10), else by
    /// character. So neither the order of the samples nor which of them are
    /// missing moves a class.
    Classes,
}

/// How to read a table. The default suits most files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Name of the view; the file's name without its endings if not given.
    pub name: Option<String>,
    /// Which way the table lies.
    pub orientation: Orientation,
    /// Numbers or class names.
    pub content: Content,
    /// What parts the columns (text).
    pub delimiter: Delimiter,
    /// Which character parts the whole from the fraction (text).
    pub decimal: DecimalMark,
    /// Which array of an archive to read (NPZ); `x`, `values` or the only
    /// two-dimensional one if not given.
    pub array: Option<String>,
    /// What stands for a missing cell besides an empty one and the words of
    /// [`MISSING_NUMBER`](crate::MISSING_NUMBER): words, compared without regard to case,
    /// and numbers such as `999`, however these are written. In sparse tables
    /// there are none.
    pub missing: Vec<String>,
}

impl ReadOptions {
    /// The default options under a name for the view.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..Self::default()
        }
    }
    /// Takes the numbers that stand for missing cells ([`ReadOptions::missing`]) out of a
    /// matrix that was read elsewhere: they become `NaN`.
    pub fn hide_missing(&self, values: &mut Mat<f64>) {
        Codes::of(self).hide(values);
    }
    /// The default options for a view of class names.
    pub fn classes(name: impl Into<String>) -> Self {
        Self {
            content: Content::Classes,
            ..Self::named(name)
        }
    }
}

/// The file's name without `.gz` and without the ending before it.
pub(crate) fn default_name(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    match stem.rsplit_once('.') {
        Some((before, _)) if !before.is_empty() => before.to_owned(),
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_files() {
        for (path, name) in [
            ("a/genes.csv", "genes"),
            ("genes.csv.gz", "genes"),
            ("rna.v2.tsv", "rna.v2"),
            ("plain", "plain"),
            (".hidden", ".hidden"),
        ] {
            assert_eq!(default_name(Path::new(path)), name);
        }
    }
}
