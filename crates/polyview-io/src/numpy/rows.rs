//! Some rows of a matrix on disk, read where they stand.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use polyview_linalg::Mat;

use super::elements::{check_length, convert};
use super::header::{ElementType, Endian, Header, Kind, Order};
use super::read_exact;
use crate::error::{Action, ArrayError, IoError};
use crate::options::Orientation;

/// Bytes read at a time, about: few enough to stay in cache.
const CHUNK: usize = 1 << 18;

/// A matrix on disk with samples in rows, whatever the order of its bytes.
pub(crate) struct MatrixFile {
    path: PathBuf,
    file: File,
    /// Where its first element stands.
    start: u64,
    element: ElementType,
    order: Order,
    pub(crate) samples: usize,
    pub(crate) features: usize,
    bytes: Vec<u8>,
}

impl MatrixFile {
    /// An NPY file of `length` bytes, standing at its start.
    pub(crate) fn npy(
        path: &Path,
        file: File,
        length: u64,
        orientation: Orientation,
    ) -> Result<Self, IoError> {
        let refuse = |source| IoError::Array {
            path: path.to_owned(),
            array: None,
            source,
        };
        let mut input = BufReader::new(file);
        let (header, start) = Header::read(&mut input).map_err(refuse)?;
        let element = header.element().map_err(refuse)?;
        if matches!(element.kind, Kind::Unicode | Kind::Bytes) {
            return Err(refuse(ArrayError::ElementType {
                descr: header.descr.clone(),
            }));
        }
        let (rows, columns) = header.matrix_shape().map_err(refuse)?;
        check_length(&header, element, length.saturating_sub(start)).map_err(refuse)?;
        let (rows, columns) = (rows as usize, columns as usize);
        let (samples, features, order) = match (orientation, header.order) {
            (Orientation::SamplesInRows, order) => (rows, columns, order),
            (Orientation::FeaturesInRows, Order::C) => (columns, rows, Order::Fortran),
            (Orientation::FeaturesInRows, Order::Fortran) => (columns, rows, Order::C),
        };
        Ok(Self {
            path: path.to_owned(),
            file: input.into_inner(),
            start,
            element,
            order,
            samples,
            features,
            bytes: Vec::new(),
        })
    }
    /// Bare numbers of eight bytes, the lower byte first.
    pub(crate) fn bare(path: &Path, file: File, order: Order, shape: (usize, usize)) -> Self {
        Self {
            path: path.to_owned(),
            file,
            start: 0,
            element: ElementType {
                kind: Kind::Float,
                endian: Endian::Little,
                size: 8,
            },
            order,
            samples: shape.0,
            features: shape.1,
            bytes: Vec::new(),
        }
    }

    /// Reads the samples of some ranges, one range after the other.
    ///
    /// # Errors
    /// [`IoError`], where the file changed since it was opened too.
    pub(crate) fn read(&mut self, ranges: &[Range<usize>]) -> Result<Mat<f64>, IoError> {
        let rows = ranges.iter().map(ExactSizeIterator::len).sum();
        let mut values = Mat::zeros(rows, self.features);
        let mut first = 0;
        for range in ranges {
            match self.order {
                Order::C => self.read_lines(range, first, &mut values)?,
                Order::Fortran => self.read_columns(range, first, &mut values)?,
            }
            first += range.len();
        }
        Ok(values)
    }

    /// `count` elements from that place on.
    fn fetch(&mut self, place: usize, count: usize) -> Result<(), IoError> {
        self.bytes.resize(count * self.element.size, 0);
        let at = self.start + (place * self.element.size) as u64;
        self.file
            .seek(SeekFrom::Start(at))
            .map_err(|e| IoError::system(&self.path, Action::Read, e))?;
        let input: &mut dyn Read = &mut self.file;
        read_exact(input, &mut self.bytes).map_err(|source| IoError::Array {
            path: self.path.clone(),
            array: None,
            source,
        })
    }
    /// Every `stride`-th element of what was fetched, from the `first` on: the
    /// samples from `row` on of one column.
    fn numbers(
        &self,
        first: usize,
        stride: usize,
        row: usize,
        column: usize,
        out: &mut [f64],
    ) -> Result<(), IoError> {
        let (size, bytes) = (self.element.size, &self.bytes[..]);
        let at = |i: usize| (first + i * stride) * size;
        // the usual ones without a decision a cell
        match (self.element.kind, self.element.endian, size) {
            (Kind::Float, Endian::Little, 4) => {
                for (i, x) in out.iter_mut().enumerate() {
                    let mut raw = [0; 4];
                    raw.copy_from_slice(&bytes[at(i)..at(i) + 4]);
                    *x = f64::from(f32::from_le_bytes(raw));
                }
            }
            (Kind::Float, Endian::Little, 8) => {
                for (i, x) in out.iter_mut().enumerate() {
                    let mut raw = [0; 8];
                    raw.copy_from_slice(&bytes[at(i)..at(i) + 8]);
                    *x = f64::from_le_bytes(raw);
                }
            }
            _ => {
                for (i, x) in out.iter_mut().enumerate() {
                    *x = convert(&bytes[at(i)..at(i) + size], self.element, row + i, column)
                        .map_err(|source| self.refuse(source))?;
                }
            }
        }
        match out.iter().position(|x| x.is_infinite()) {
            None => Ok(()),
            Some(i) => Err(self.refuse(ArrayError::Infinite {
                row: (row + i) as u64,
                column: column as u64,
            })),
        }
    }
    fn refuse(&self, source: ArrayError) -> IoError {
        IoError::Array {
            path: self.path.clone(),
            array: None,
            source,
        }
    }
    fn read_lines(
        &mut self,
        range: &Range<usize>,
        first: usize,
        values: &mut Mat<f64>,
    ) -> Result<(), IoError> {
        let columns = self.features;
        let lines = (CHUNK / (columns * self.element.size)).max(1);
        for from in range.clone().step_by(lines) {
            let count = lines.min(range.end - from);
            self.fetch(from * columns, count * columns)?;
            let to = first + from - range.start;
            for d in 0..columns {
                let out = &mut values.col_as_slice_mut(d)[to..to + count];
                self.numbers(d, columns, from, d, out)?;
            }
        }
        Ok(())
    }
    fn read_columns(
        &mut self,
        range: &Range<usize>,
        first: usize,
        values: &mut Mat<f64>,
    ) -> Result<(), IoError> {
        for d in 0..self.features {
            self.fetch(d * self.samples + range.start, range.len())?;
            let out = &mut values.col_as_slice_mut(d)[first..first + range.len()];
            self.numbers(0, 1, range.start, d, out)?;
        }
        Ok(())
    }
}
