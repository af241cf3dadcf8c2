//! What can go wrong with an HDF5 file, with a text that says where and how to
//! mend it.

use std::io;
use std::path::PathBuf;

use polyview_core::WriteError;
use thiserror::Error;

/// What can go wrong with an HDF5 file. Places are paths inside the file, such
/// as `obs/donor`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Hdf5Error {
    /// The system refuses to read the file.
    #[error("{}: cannot read it: {source}; check path and permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of another kind.
    #[error("{}: this is no HDF5 file (or its beginning is lost); name one, or copy it again", path.display())]
    NotHdf5 {
        /// The file.
        path: PathBuf,
    },
    /// Bytes that make no sense, or that are not there.
    #[error("{}: '{place}' cannot be read: {why}; the file is damaged, cut off or of a form that is not supported: copy or write it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// What the reader said.
        why: String,
    },
    /// Something that belongs there is not.
    #[error("{}: there is no '{place}'; {mend}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is missing.
        place: String,
        /// The mend.
        mend: String,
    },
    /// Something is laid out in a way that is not known here.
    #[error("{}: '{place}' is {found}; {mend}", path.display())]
    Layout {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// What it is.
        found: String,
        /// The mend.
        mend: String,
    },
    /// An array of another shape than its names call for.
    #[error("{}: '{place}' has the shape {found:?}, but {expected:?} is needed; the file contradicts itself: write it again", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// The shape that is needed.
        expected: Vec<u64>,
        /// The shape that it has.
        found: Vec<u64>,
    },
    /// An array that claims more values than the file can hold, or than fit
    /// into memory when dense.
    #[error("{}: '{place}' of shape {shape:?} is too large: {why}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// Its shape.
        shape: Vec<u64>,
        /// Why, and the mend.
        why: String,
    },
    /// Values that cannot be.
    #[error("{}: '{place}' {what}", path.display())]
    Values {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// What is wrong, and the mend.
        what: String,
    },
    /// A name that HDF5 has no room for.
    #[error(
        "the {kind} '{name}' cannot be a name in an HDF5 file: it is empty, '.' or has a '/'; rename it"
    )]
    Name {
        /// What is named.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A view that MOFA2 has no likelihood for.
    #[error(
        "view '{view}' is {likelihood}, which MOFA2 does not know (gaussian, bernoulli and poisson); leave it out with --without {view}"
    )]
    Likelihood {
        /// The view.
        view: String,
        /// Its likelihood.
        likelihood: String,
    },
    /// An option that does not fit the file.
    #[error("{0}")]
    Option(String),
    /// The model.
    #[error(transparent)]
    Model(#[from] polyview::Error),
    /// Writing.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl From<polyview_core::DataError> for Hdf5Error {
    fn from(e: polyview_core::DataError) -> Self {
        Self::Model(e.into())
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Hdf5Error>;
