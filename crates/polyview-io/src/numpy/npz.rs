//! NPZ archives: one matrix, with or without names beside it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use polyview_core::Table;
use zip::ZipArchive;
use zip::result::ZipError;

use super::elements::read_matrix;
use super::header::Header;
use super::names::{numbered, read_names};
use super::turned;
use crate::error::{ArrayError, Axis, Foreign, IoError, NameKind};
use crate::options::{Orientation, ReadOptions};
use crate::text::duplicate;

type Archive = ZipArchive<BufReader<File>>;

/// Names under which the matrix is looked for.
const MATRIX: [&str; 2] = ["x", "values"];
const SAMPLES: &str = "samples";
const FEATURES: &str = "features";

/// Most that deflate can shrink anything, a little over.
const LARGEST_RATIO: u64 = 1040;

/// Reads the matrix of an archive of `length` bytes, with its names where it
/// has `samples` and `features`.
pub(crate) fn read_npz(
    path: &Path,
    file: File,
    length: u64,
    name: String,
    options: &ReadOptions,
) -> Result<Table, IoError> {
    let refuse = |array: Option<&str>, source| IoError::Array {
        path: path.to_owned(),
        array: array.map(str::to_owned),
        source,
    };
    let mut archive = ZipArchive::new(BufReader::with_capacity(1 << 17, file))
        .map_err(|e| refuse(None, damaged(&e)))?;
    let arrays: Vec<String> = archive
        .file_names()
        .filter_map(|n| n.strip_suffix(".npy"))
        .map(str::to_owned)
        .collect();
    if arrays.is_empty() {
        return Err(IoError::Foreign {
            path: path.to_owned(),
            found: Foreign::Workbook,
        });
    }
    let key = choose(&mut archive, length, &arrays, options.array.as_deref())
        .map_err(|e| refuse(None, e))?;
    let values = with_array(&mut archive, length, &key, |input, header, available| {
        read_matrix(input, header, available)
    })
    .map_err(|e| refuse(Some(&key), e))?;
    let mut names = |array: &str, what: NameKind, expected: usize, letter: char| {
        if !arrays.iter().any(|a| a == array) || key == array {
            return Ok(numbered(letter, expected));
        }
        let names = with_array(
            &mut archive,
            length,
            array,
            |input, header, available| match header.shape[..] {
                [found] if found != expected as u64 => Err(ArrayError::NameCount {
                    expected: expected as u64,
                    found,
                }),
                _ => read_names(input, header, available),
            },
        )
        .map_err(|e| refuse(Some(array), e))?;
        match duplicate(&names) {
            None => Ok(names),
            Some((first, second)) => Err(IoError::DuplicateName {
                path: path.to_owned(),
                what,
                name: names[first].clone(),
                axis: Axis::Entries,
                first: first as u64 + 1,
                second: second as u64 + 1,
            }),
        }
    };
    let (n_samples, n_features) = match options.orientation {
        Orientation::SamplesInRows => (values.nrows(), values.ncols()),
        Orientation::FeaturesInRows => (values.ncols(), values.nrows()),
    };
    let samples = names(SAMPLES, NameKind::Sample, n_samples, 's')?;
    let features = names(FEATURES, NameKind::Feature, n_features, 'f')?;
    Ok(Table {
        name,
        samples,
        features,
        values: turned(values, options.orientation),
        levels: Vec::new(),
    })
}

/// Whether an archive has names for its samples.
pub(crate) fn npz_has_samples(path: &Path, file: File) -> Result<bool, IoError> {
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|e| IoError::Array {
        path: path.to_owned(),
        array: None,
        source: damaged(&e),
    })?;
    let name = format!("{SAMPLES}.npy");
    let mut entries = archive.file_names();
    Ok(entries.any(|n| n == name))
}

/// Which array holds the matrix.
fn choose(
    archive: &mut Archive,
    length: u64,
    arrays: &[String],
    asked: Option<&str>,
) -> Result<String, ArrayError> {
    if let Some(asked) = asked {
        return arrays.iter().find(|a| *a == asked).cloned().ok_or_else(|| {
            ArrayError::NoSuchArray {
                asked: asked.to_owned(),
                found: arrays.to_vec(),
            }
        });
    }
    let mut candidates: Vec<String> = arrays
        .iter()
        .filter(|a| MATRIX.contains(&a.as_str()))
        .cloned()
        .collect();
    if candidates.is_empty() {
        for array in arrays {
            if [SAMPLES, FEATURES].contains(&array.as_str()) {
                continue;
            }
            let is_matrix = with_array(archive, length, array, |_, header, _| {
                Ok(header.is_numeric_matrix())
            })?;
            if is_matrix {
                candidates.push(array.clone());
            }
        }
    }
    match candidates.len() {
        1 => Ok(candidates.swap_remove(0)),
        0 => Err(ArrayError::NoArray {
            found: arrays.to_vec(),
        }),
        _ => Err(ArrayError::Ambiguous { candidates }),
    }
}

/// Opens one array, reads its header and hands both over with the number of
/// bytes that follow, as far as the archive can be believed.
fn with_array<T>(
    archive: &mut Archive,
    length: u64,
    name: &str,
    read: impl FnOnce(&mut dyn Read, &Header, u64) -> Result<T, ArrayError>,
) -> Result<T, ArrayError> {
    let mut entry = archive
        .by_name(&format!("{name}.npy"))
        .map_err(|e| damaged(&e))?;
    let most = entry
        .compressed_size()
        .min(length)
        .saturating_mul(LARGEST_RATIO);
    if entry.size() > most {
        return Err(ArrayError::Truncated {
            expected: entry.size(),
            found: most,
        });
    }
    let size = entry.size();
    let (header, used) = Header::read(&mut entry)?;
    read(&mut entry, &header, size.saturating_sub(used))
}

fn damaged(error: &ZipError) -> ArrayError {
    ArrayError::Archive {
        what: error.to_string(),
    }
}
