//! Views that stay on disk and are read some samples at a time.

use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use polyview_core::{BlockSource, SourceError, View};

use crate::error::{Action, IoError};
use crate::number::Codes;
use crate::numpy::{MatrixFile, Order, numbered};
use crate::options::{Orientation, ReadOptions, default_name};
use crate::source::{Source, open};
use crate::text::{Records, each_line, read_header};

/// A view on disk.
struct OnDiskView {
    name: String,
    features: Vec<String>,
    matrix: MatrixFile,
    codes: Codes,
}

/// Views on disk, read some samples at a time: a source for stochastic
/// variational Bayes.
///
/// NPY files of floats, integers or booleans in either order are read where
/// they stand; rows that are next to each other in the file come with one read,
/// so that an array in C order, samples in rows, is the fastest. Text (CSV, TSV,
/// plain or gzipped) is read once, line by line, into a file without a name in
/// the folder for temporary files, eight bytes a cell; that goes when the views go.
/// `NaN` and empty cells are missing.
///
/// All views need the same samples in the same order, for rows are not joined
/// here: IDs are those of the text, `s1, s2, …` in NPY files.
///
/// ```
/// use polyview_core::BlockSource;
/// use polyview_io::{OnDisk, ReadOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("genes.csv");
/// std::fs::write(&path, "sample,ACAT1,ACBP\nm1,-0.65,\nm2,0.5,1e-3\nm3,2,4\n")?;
/// let mut source = OnDisk::open(&[(path, ReadOptions::named("genes"))], folder.path())?;
/// assert_eq!(source.sample_names(), ["m1", "m2", "m3"]);
/// let views = source.read(&[1..3])?;
/// assert_eq!(views[0].value(1, 0), Some(2.0));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct OnDisk {
    views: Vec<OnDiskView>,
    samples: Vec<String>,
}

impl OnDisk {
    /// Opens files, each with the options of its view; text goes through a
    /// temporary file in the folder `scratch`.
    ///
    /// # Errors
    /// [`IoError`]: those of [`read_table`](crate::read_table),
    /// [`IoError::NotByBlocks`] for NPZ files and where no file was given, and
    /// [`IoError::OtherSamples`] where views do not have the same samples in the
    /// same order.
    pub fn open(files: &[(PathBuf, ReadOptions)], scratch: &Path) -> Result<Self, IoError> {
        let mut views: Vec<OnDiskView> = Vec::with_capacity(files.len());
        let mut samples: Option<Vec<String>> = None;
        for (path, options) in files {
            let name = options.name.clone().unwrap_or_else(|| default_name(path));
            let (matrix, own, features) = match open(path)? {
                Source::Npy(file, length) => {
                    let matrix = MatrixFile::npy(path, file, length, options.orientation)?;
                    let (n, d) = (matrix.samples, matrix.features);
                    (matrix, numbered('s', n), numbered('f', d))
                }
                Source::Npz(..) => return Err(IoError::NotByBlocks { path: path.clone() }),
                Source::Text(input) => spool(Records::new(path, input), options, scratch)?,
            };
            match &samples {
                None => samples = Some(own),
                Some(known) => same_samples(path, known, &own)?,
            }
            views.push(OnDiskView {
                name,
                features,
                matrix,
                codes: Codes::of(options),
            });
        }
        let samples = samples.ok_or_else(|| IoError::NotByBlocks {
            path: PathBuf::new(),
        })?;
        Ok(Self { views, samples })
    }
    /// Sample IDs.
    pub fn sample_names(&self) -> &[String] {
        &self.samples
    }
    /// Feature names, one list a view.
    pub fn features(&self) -> impl Iterator<Item = &[String]> {
        self.views.iter().map(|v| v.features.as_slice())
    }
}

impl BlockSource for OnDisk {
    fn samples(&self) -> usize {
        self.samples.len()
    }
    fn read(&mut self, ranges: &[Range<usize>]) -> Result<Vec<View>, SourceError> {
        self.views
            .iter_mut()
            .map(|v| {
                let mut values = v.matrix.read(ranges)?;
                v.codes.hide(&mut values);
                Ok(View::from_values(&v.name, v.features.clone(), values)?)
            })
            .collect()
    }
}

fn same_samples(path: &Path, known: &[String], own: &[String]) -> Result<(), IoError> {
    let differs = known.iter().zip(own).position(|(a, b)| a != b);
    let at = match differs {
        Some(at) => at,
        None if known.len() == own.len() => return Ok(()),
        None => known.len().min(own.len()),
    };
    let word = |ids: &[String]| {
        ids.get(at)
            .map_or_else(|| "no sample".to_owned(), |s| format!("'{s}'"))
    };
    Err(IoError::OtherSamples {
        path: path.to_owned(),
        row: at + 1,
        expected: word(known).into(),
        found: word(own).into(),
    })
}

/// Text into a file of numbers, line by line; then sample IDs and features.
fn spool(
    mut records: Records,
    options: &ReadOptions,
    scratch: &Path,
) -> Result<(MatrixFile, Vec<String>, Vec<String>), IoError> {
    let (columns_are, _) = options.orientation.names();
    let columns = read_header(&mut records, options.delimiter, columns_are)?;
    let refuse = |e| IoError::system(scratch, Action::Write, e);
    let mut out =
        BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(scratch).map_err(refuse)?);
    let mut bytes = Vec::with_capacity(8 * columns.len());
    let names = each_line(&mut records, options, &columns, |values| {
        bytes.clear();
        bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        out.write_all(&bytes).map_err(refuse)
    })?;
    let file = out.into_inner().map_err(|e| refuse(e.into_error()))?;
    let path = records.path().to_owned();
    Ok(match options.orientation {
        Orientation::SamplesInRows => (
            MatrixFile::bare(&path, file, Order::C, (names.len(), columns.len())),
            names,
            columns,
        ),
        Orientation::FeaturesInRows => (
            MatrixFile::bare(&path, file, Order::Fortran, (columns.len(), names.len())),
            columns,
            names,
        ),
    })
}
