//! NumPy arrays: NPY files and NPZ archives.
//!
//! The header is parsed here rather than by a library: it is a dictionary of
//! three entries, and a general parser of Python literals can be driven out of
//! stack or into overflow by a hostile file.

mod elements;
mod header;
mod names;
mod npz;
mod rows;
mod write;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use polyview_core::Table;

use crate::error::{ArrayError, IoError};
use crate::options::{Orientation, ReadOptions};
use elements::read_matrix;
use header::Header;
pub(crate) use header::Order;
pub(crate) use names::numbered;
pub(crate) use npz::{npz_has_samples, read_npz};
pub(crate) use rows::MatrixFile;
pub(crate) use write::{write_npy, write_npz};

/// Reads an NPY file of `length` bytes, standing at its start.
pub(crate) fn read_npy(
    path: &Path,
    file: File,
    length: u64,
    name: String,
    options: &ReadOptions,
) -> Result<Table, IoError> {
    let refuse = |source| IoError::Array {
        path: path.to_owned(),
        array: None,
        source,
    };
    let mut input = BufReader::with_capacity(1 << 17, file);
    let (header, used) = Header::read(&mut input).map_err(refuse)?;
    let values = read_matrix(&mut input, &header, length.saturating_sub(used)).map_err(refuse)?;
    let (samples, features) = match options.orientation {
        Orientation::SamplesInRows => (values.nrows(), values.ncols()),
        Orientation::FeaturesInRows => (values.ncols(), values.nrows()),
    };
    Ok(Table {
        name,
        samples: names::numbered('s', samples),
        features: names::numbered('f', features),
        values: turned(values, options.orientation),
        levels: Vec::new(),
    })
}

/// The matrix with samples in rows.
fn turned(
    values: polyview_linalg::Mat<f64>,
    orientation: Orientation,
) -> polyview_linalg::Mat<f64> {
    match orientation {
        Orientation::SamplesInRows => values,
        Orientation::FeaturesInRows => values.transpose().to_owned(),
    }
}

/// Reads exactly what an array promises; fewer bytes are a truncated file.
fn read_exact(input: &mut dyn std::io::Read, out: &mut [u8]) -> Result<(), ArrayError> {
    let mut done = 0;
    while done < out.len() {
        match input.read(&mut out[done..]) {
            Ok(0) => {
                return Err(ArrayError::Truncated {
                    expected: out.len() as u64,
                    found: done as u64,
                });
            }
            Ok(read) => done += read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => {
                return Err(ArrayError::Archive {
                    what: e.to_string(),
                });
            }
        }
    }
    Ok(())
}
