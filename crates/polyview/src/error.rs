//! The error of the facade: opaque, with kind, place and advice.

mod advice;
mod kind;
mod words;

use std::fmt;

use polyview_core::{WriteError, WriteFault};
use polyview_infer::StochasticError;

pub use kind::ErrorKind;
use words::place;

/// An error of the facade: opaque, with kind, place and advice.
#[derive(Debug, Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    kind: ErrorKind,
    view: Option<String>,
    sweep: Option<usize>,
}

/// Result of the facade.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What kind of thing went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
    /// The view it happened in, if one.
    pub fn view(&self) -> Option<&str> {
        self.0.view.as_deref()
    }
    /// The sweep it happened in, if one.
    pub fn sweep(&self) -> Option<usize> {
        self.0.sweep
    }
    /// Whether a registry lacks what a file names.
    pub(crate) fn is_of_the_registry(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::UnknownSpecies { .. } | ErrorKind::UnknownComposer { .. }
        )
    }
    /// The same error with the sweep it happened in.
    #[must_use]
    pub(crate) fn at_sweep(mut self, sweep: usize) -> Self {
        self.0.sweep = Some(sweep);
        self
    }
    /// The same error with the view it happened in.
    #[must_use]
    pub(crate) fn in_view(mut self, view: &str) -> Self {
        self.0.view = Some(view.to_owned());
        self
    }
    /// What to do about it, where there is something to say beyond the
    /// message.
    pub fn advice(&self) -> Option<String> {
        self.kind().advice()
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Self(Box::new(Inner {
            kind: kind.into(),
            view: None,
            sweep: None,
        }))
    }
}

impl From<WriteError> for Error {
    fn from(WriteError { path, fault }: WriteError) -> Self {
        let path = path.display().to_string();
        match fault {
            WriteFault::Exists => ErrorKind::Exists { path },
            other => ErrorKind::Io {
                path,
                why: other.to_string(),
            },
        }
        .into()
    }
}

impl From<StochasticError> for ErrorKind {
    fn from(e: StochasticError) -> Self {
        match e {
            StochasticError::Numeric(e) => e.into(),
            StochasticError::Data(e) => e.into(),
            other => Self::Source {
                why: other.to_string(),
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.0.kind.to_string();
        if let Some(v) = &self.0.view {
            let place = place(v);
            if !what.starts_with(&place) {
                f.write_str(&place)?;
            }
        }
        f.write_str(&what)?;
        if let Some(s) = self.0.sweep {
            write!(f, " (sweep {s})")?;
        }
        if let Some(a) = self.advice() {
            write!(f, "; {a}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.kind)
    }
}
