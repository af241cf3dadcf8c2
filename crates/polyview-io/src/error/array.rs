//! What can be wrong inside a NumPy file.

use thiserror::Error;

/// What is wrong with a NumPy array or archive.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// Not an NPY file, or one cut off inside its header.
    #[error("this is not a whole NPY header; save it again with numpy.save")]
    Header,
    /// A header longer than any that NumPy writes for a plain array.
    #[error("the header claims {bytes} bytes; save it again with numpy.save")]
    HeaderTooLong {
        /// What the file claims.
        bytes: u64,
    },
    /// A version that does not exist yet.
    #[error("NPY version {major}.{minor} is not known; save it again with an older NumPy")]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// An element type that is no real number (nor, for names, text).
    #[error(
        "elements of type {descr} cannot be used; convert with .astype(float), or names with .astype(str)"
    )]
    ElementType {
        /// The type as the file spells it.
        descr: String,
    },
    /// Not two-dimensional, or empty.
    #[error(
        "shape {shape:?} is not samples × features; give a two-dimensional array with at least one of each"
    )]
    Shape {
        /// The shape.
        shape: Vec<u64>,
    },
    /// Names that are not a list.
    #[error("shape {shape:?} is not a list of names; give a one-dimensional array of text")]
    NameShape {
        /// The shape.
        shape: Vec<u64>,
    },
    /// Fewer bytes than the header promises.
    #[error(
        "the header promises {expected} bytes of values, {found} are there; the file was cut off or damaged, copy it again"
    )]
    Truncated {
        /// Bytes that shape and type ask for.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// More bytes than the header promises.
    #[error("bytes follow after the values; the file holds more than one array or is damaged")]
    Trailing,
    /// An infinite value.
    #[error("the value at row {}, column {} is infinite; correct it or make it NaN", row + 1, column + 1)]
    Infinite {
        /// Row from 0.
        row: u64,
        /// Column from 0.
        column: u64,
    },
    /// An integer that no f64 holds.
    #[error("the integer {value} at row {}, column {} does not fit into a 64-bit float without rounding; scale it first", row + 1, column + 1)]
    Inexact {
        /// Row from 0.
        row: u64,
        /// Column from 0.
        column: u64,
        /// The integer.
        value: i128,
    },
    /// A name that is not text.
    #[error("name {} is not valid text", index + 1)]
    Name {
        /// Place from 0.
        index: u64,
    },
    /// A name that is empty.
    #[error("name {} is empty", index + 1)]
    BlankName {
        /// Place from 0.
        index: u64,
    },
    /// Not as many names as rows or columns.
    #[error("it has {found} names for {expected}; give one each")]
    NameCount {
        /// Rows or columns there are.
        expected: u64,
        /// Names there are.
        found: u64,
    },
    /// No array that could be meant.
    #[error(
        "no two-dimensional array 'x' or 'values' among {found:?}; name one of them so, or ask for it by name (FILE.npz#NAME)"
    )]
    NoArray {
        /// Arrays there are.
        found: Vec<String>,
    },
    /// Several arrays that could be meant.
    #[error(
        "several two-dimensional arrays: {candidates:?}; call the right one 'x', or ask for it by name (FILE.npz#NAME)"
    )]
    Ambiguous {
        /// The candidates.
        candidates: Vec<String>,
    },
    /// The array asked for is not there.
    #[error("there is no array '{asked}' among {found:?}")]
    NoSuchArray {
        /// The name asked for.
        asked: String,
        /// Arrays there are.
        found: Vec<String>,
    },
    /// The archive itself cannot be read.
    #[error("the archive is damaged ({what}); save it again with numpy.savez")]
    Archive {
        /// What the archive reader found.
        what: String,
    },
}
