//! What can be wrong with a file, before it has a path.

use std::io;

use thiserror::Error;

use crate::error::{Error, ErrorKind};

/// What is wrong with a file. Inside this module a fault carries data; at its
/// edge it becomes an [`Error`] with the path.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it ends after {found} bytes; at least {expected} were written")]
    Truncated { expected: u64, found: u64 },
    #[error("{extra} bytes follow its end")]
    TooLong { extra: u64 },
    #[error(
        "it is neither a model file nor a checkpoint of polyview: it is not a safetensors file ({0})"
    )]
    NotSafetensors(String),
    #[error("the names in it take {found} bytes; the format holds at most {most}")]
    HeaderTooLarge { found: usize, most: usize },
    #[error("it was not written by this program: its metadata has no '{0}'")]
    Foreign(&'static str),
    #[error("its metadata has an unknown entry '{0}'")]
    UnknownEntry(String),
    #[error("its checksum is wrong: the file was damaged or changed")]
    Checksum,
    #[error("its header cannot be read ({0})")]
    Header(#[from] serde_json::Error),
    #[error("{0}")]
    Choices(Box<Error>),
    #[error("it was written in format {found}")]
    Newer { found: u32, known: u32 },
    #[error("it was written in format {0}")]
    OldCheckpoint(u32),
    #[error("it holds a {found}, not a {expected}")]
    Kind {
        expected: &'static str,
        found: &'static str,
    },
    #[error("array '{0}' is missing")]
    Missing(String),
    #[error("array '{0}' is unknown to this program")]
    Unknown(String),
    #[error("array '{name}' has the shape {found:?} instead of {expected:?}")]
    Shape {
        name: String,
        expected: Vec<usize>,
        found: Vec<usize>,
    },
    #[error("array '{name}' {what}")]
    Values { name: String, what: &'static str },
    #[error("it has {found} {what} instead of {expected}")]
    Count {
        what: &'static str,
        expected: usize,
        found: usize,
    },
    #[error("it has {factors} factors, more than its {features} features carry")]
    Factors { factors: usize, features: usize },
    #[error("it has no {0}")]
    Empty(&'static str),
    #[error("two {what} are called '{name}'")]
    Duplicate { what: &'static str, name: String },
    #[error("the {0} of its record do not fit together")]
    Record(&'static str),
    #[error("it belongs to a fit of other data: {0} differ")]
    OtherData(String),
    #[error("it belongs to a fit with other choices: '{option}' is {there} there and {here} here")]
    OtherChoices {
        option: String,
        there: String,
        here: String,
    },
    #[error("{0}")]
    Model(#[from] Error),
}

impl Fault {
    /// The error of the facade for the file `path`.
    pub(super) fn at(self, path: &str) -> Error {
        let path = path.to_owned();
        match self {
            Self::Newer { found, known } => ErrorKind::NewerFile { path, found, known },
            Self::OldCheckpoint(found) => ErrorKind::OldCheckpoint {
                path,
                found,
                known: super::CHECKPOINT_VERSION,
            },
            Self::Io(e) if e.kind() == io::ErrorKind::NotFound => ErrorKind::Io {
                path,
                why: "there is no such file; check the path".to_owned(),
            },
            Self::Io(e) => ErrorKind::Io {
                path,
                why: e.to_string(),
            },
            Self::Choices(e) if e.is_of_the_registry() => return *e,
            other @ (Self::OtherData(_) | Self::OtherChoices { .. }) => ErrorKind::OtherFit {
                path,
                why: other.to_string(),
            },
            other => ErrorKind::File {
                path,
                why: other.to_string(),
            },
        }
        .into()
    }
    pub(super) fn values(name: &str, what: &'static str) -> Self {
        Self::Values {
            name: name.to_owned(),
            what,
        }
    }
    /// An error unless `found` is `expected`.
    pub(super) fn unless_count(
        what: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), Self> {
        if found == expected {
            Ok(())
        } else {
            Err(Self::Count {
                what,
                expected,
                found,
            })
        }
    }
}
