//! Reading arrays and names, with shapes and sizes checked first.

use std::path::{Path, PathBuf};

use hdf5_pure::{AttrValue, DType, Dataset, Error, File, FormatError, Group};
use polyview_linalg::Mat;

use crate::error::{Hdf5Error, Result};

/// Most values that a byte of a compressed file can stand for (deflate packs
/// at most 1032 to 1).
const PACKED: u64 = 1100;
/// Values that are read at a time.
const BLOCK: u64 = 1 << 22;

/// A file that is open for reading.
pub(crate) struct Reader {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let read = |source| Hdf5Error::Read {
            path: path.to_owned(),
            source,
        };
        let meta = std::fs::metadata(path).map_err(read)?;
        if !meta.is_file() {
            return Err(read(std::io::Error::other("this is not a plain file")));
        }
        if !hdf5_pure::is_hdf5(path).map_err(read)? {
            return Err(Hdf5Error::NotHdf5 {
                path: path.to_owned(),
            });
        }
        let file = File::open_streaming(path).map_err(|e| match e {
            Error::Io(source) => read(source),
            e => damaged(path, "/", &e),
        })?;
        // the file knows how long it must be
        let end = file.superblock().eof_address;
        if end > meta.len() {
            return Err(Hdf5Error::Damaged {
                path: path.to_owned(),
                place: "/".to_owned(),
                why: format!("{} of {end} bytes are there", meta.len()),
            });
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            bytes: meta.len(),
        })
    }
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    fn bad(&self, place: &str, e: &Error) -> Hdf5Error {
        damaged(&self.path, place, e)
    }
    pub(crate) fn missing(&self, place: &str, mend: &str) -> Hdf5Error {
        Hdf5Error::Missing {
            path: self.path.clone(),
            place: place.to_owned(),
            mend: mend.to_owned(),
        }
    }
    pub(crate) fn layout(&self, place: &str, found: impl Into<String>, mend: &str) -> Hdf5Error {
        Hdf5Error::Layout {
            path: self.path.clone(),
            place: place.to_owned(),
            found: found.into(),
            mend: mend.to_owned(),
        }
    }
    pub(crate) fn values(&self, place: &str, what: impl Into<String>) -> Hdf5Error {
        Hdf5Error::Values {
            path: self.path.clone(),
            place: place.to_owned(),
            what: what.into(),
        }
    }
    pub(crate) fn wrong_shape(&self, place: &str, expected: &[usize], found: &[u64]) -> Hdf5Error {
        Hdf5Error::Shape {
            path: self.path.clone(),
            place: place.to_owned(),
            expected: expected.iter().map(|n| *n as u64).collect(),
            found: found.to_vec(),
        }
    }
    pub(crate) fn too_large(&self, place: &str, shape: &[u64], why: &str) -> Hdf5Error {
        Hdf5Error::TooLarge {
            path: self.path.clone(),
            place: place.to_owned(),
            shape: shape.to_vec(),
            why: why.to_owned(),
        }
    }

    /// The group at a place, if there is one.
    pub(crate) fn group(&self, place: &str) -> Result<Option<Group>> {
        match self.file.group(place) {
            Ok(group) => Ok(Some(group)),
            Err(Error::Format(FormatError::PathNotFound(_)) | Error::NotAGroup(_)) => Ok(None),
            Err(e) => Err(self.bad(place, &e)),
        }
    }
    /// The array at a place, if there is one.
    pub(crate) fn array(&self, place: &str) -> Result<Option<Dataset>> {
        match self.file.dataset(place) {
            Ok(array) => Ok(Some(array)),
            Err(
                Error::Format(FormatError::PathNotFound(_))
                | Error::NotADataset(_)
                | Error::NotAGroup(_),
            ) => Ok(None),
            Err(e) => Err(self.bad(place, &e)),
        }
    }
    /// Names of the arrays of a group, sorted; none where there is no group.
    pub(crate) fn arrays_in(&self, place: &str) -> Result<Vec<String>> {
        let Some(group) = self.group(place)? else {
            return Ok(Vec::new());
        };
        let mut names = group.datasets().map_err(|e| self.bad(place, &e))?;
        names.sort();
        Ok(names)
    }
    /// Names of the groups of a group, sorted; none where there is no group.
    pub(crate) fn groups_in(&self, place: &str) -> Result<Vec<String>> {
        let Some(group) = self.group(place)? else {
            return Ok(Vec::new());
        };
        let mut names = group.groups().map_err(|e| self.bad(place, &e))?;
        names.sort();
        Ok(names)
    }
    /// An attribute of the group or array at a place.
    pub(crate) fn attribute(&self, place: &str, name: &str) -> Result<Option<AttrValue>> {
        let attributes = if let Some(group) = self.group(place)? {
            group.attrs()
        } else if let Some(array) = self.array(place)? {
            array.attrs()
        } else {
            return Ok(None);
        };
        Ok(attributes
            .map_err(|e| self.bad(place, &e))?
            .get(name)
            .cloned())
    }
    /// A word among the attributes of a place.
    pub(crate) fn word(&self, place: &str, name: &str) -> Result<Option<String>> {
        let value = self.attribute(place, name)?;
        Ok(value.and_then(|v| v.as_str().map(str::to_owned)))
    }

    /// The shape of an array whose content the file can hold.
    pub(crate) fn shape(&self, place: &str, array: &Dataset) -> Result<Vec<u64>> {
        let shape = array.shape().map_err(|e| self.bad(place, &e))?;
        let count = shape.iter().try_fold(1u64, |p, n| p.checked_mul(*n));
        match count {
            Some(n) if n <= self.bytes.saturating_mul(PACKED) => Ok(shape),
            _ => Err(self.too_large(
                place,
                &shape,
                "the file cannot hold so many values; it is damaged: write it again",
            )),
        }
    }
    /// What an array holds, in a word.
    pub(crate) fn kind(&self, place: &str, array: &Dataset) -> Result<DType> {
        array.dtype().map_err(|e| self.bad(place, &e))
    }

    /// A vector of numbers, of that length if one is given; a single number
    /// counts as a vector.
    pub(crate) fn vector(&self, place: &str, len: Option<usize>) -> Result<Option<Vec<f64>>> {
        let Some(array) = self.array(place)? else {
            return Ok(None);
        };
        let shape = self.shape(place, &array)?;
        let count: u64 = shape.iter().product();
        if shape.len() > 1 || len.is_some_and(|n| n as u64 != count) {
            return Err(self.wrong_shape(place, &[len.unwrap_or(1)], &shape));
        }
        self.expect_numbers(place, &array)?;
        array.read_f64().map(Some).map_err(|e| self.bad(place, &e))
    }
    fn expect_numbers(&self, place: &str, array: &Dataset) -> Result<()> {
        match self.kind(place, array)? {
            DType::F32
            | DType::F64
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::Enum(_) => Ok(()),
            other if other.to_string().contains("f16") => Err(self.layout(
                place,
                "an array of numbers of 16 bits (half precision), which is not read",
                "write it with 32 or 64 bits (in Python astype('float32'))",
            )),
            other => Err(self.layout(
                place,
                format!("no array of numbers ({other})"),
                "write numbers there",
            )),
        }
    }
    /// A matrix of numbers, of that shape if one is given.
    pub(crate) fn matrix(
        &self,
        place: &str,
        expected: Option<[usize; 2]>,
    ) -> Result<Option<Mat<f64>>> {
        let Some(array) = self.array(place)? else {
            return Ok(None);
        };
        let shape = self.shape(place, &array)?;
        let fits = shape.len() == 2
            && expected.is_none_or(|e| e[0] as u64 == shape[0] && e[1] as u64 == shape[1]);
        if !fits {
            return Err(self.wrong_shape(place, &expected.unwrap_or([1, 1]), &shape));
        }
        self.expect_numbers(place, &array)?;
        let (rows, columns) = (shape[0], shape[1]);
        let mut out = Mat::zeros(rows as usize, columns as usize);
        // whole chunks at a time: each is unpacked once
        let chunk = array.chunk_shape().ok().flatten();
        let chunk = chunk
            .and_then(|c| c.first().copied())
            .unwrap_or(1)
            .clamp(1, rows.max(1));
        let step = (BLOCK / columns.max(1) / chunk).max(1) * chunk;
        let mut first = 0;
        while first < rows && columns > 0 {
            let count = step.min(rows - first);
            let block = array
                .read_f64_rows(first, count)
                .map_err(|e| self.bad(place, &e))?;
            if block.len() as u64 != count * columns {
                return Err(self.wrong_shape(
                    place,
                    &[rows as usize, columns as usize],
                    &[first + block.len() as u64 / columns, columns],
                ));
            }
            for d in 0..columns as usize {
                let column = &mut out.col_as_slice_mut(d)[first as usize..(first + count) as usize];
                for (i, x) in column.iter_mut().enumerate() {
                    *x = block[i * columns as usize + d];
                }
            }
            first += count;
        }
        Ok(Some(out))
    }
    /// A vector of words, of fixed or variable length.
    pub(crate) fn words(&self, place: &str) -> Result<Option<Vec<String>>> {
        let Some(array) = self.array(place)? else {
            return Ok(None);
        };
        let shape = self.shape(place, &array)?;
        match self.kind(place, &array)? {
            DType::String | DType::VariableLengthString => {}
            other => {
                return Err(self.layout(
                    place,
                    format!("no list of words ({other})"),
                    "write words there",
                ));
            }
        }
        if shape.len() > 1 {
            return Err(self.wrong_shape(place, &[1], &shape));
        }
        array
            .read_string()
            .map(Some)
            .map_err(|e| self.bad(place, &e))
    }
}

fn damaged(path: &Path, place: &str, error: &Error) -> Hdf5Error {
    Hdf5Error::Damaged {
        path: path.to_owned(),
        place: place.to_owned(),
        why: error.to_string(),
    }
}

/// What [`Option::None`] means where the thing must be there.
pub(crate) trait Needed<T> {
    /// The thing, or an error that says how to mend its absence.
    fn needed(self, file: &Reader, place: &str, mend: &str) -> Result<T>;
}

impl<T> Needed<T> for Option<T> {
    fn needed(self, file: &Reader, place: &str, mend: &str) -> Result<T> {
        self.ok_or_else(|| file.missing(place, mend))
    }
}
