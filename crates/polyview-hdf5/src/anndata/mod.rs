//! Views out of `.h5ad` (one matrix) and `.h5mu` (several) files, the formats of
//! anndata and muon.

mod frame;
mod matrix;

use std::path::{Path, PathBuf};

use polyview_core::{Metadata, MetadataValues, SparseTable, Table, ViewTable};
use polyview_linalg::Mat;

use crate::error::{Hdf5Error, Result};
use crate::file::{Needed, Reader};
use frame::Frame;
use matrix::Matrix;

/// A view inside a file: `file.h5ad`, `file.h5ad#layers/counts`,
/// `file.h5mu#rna`, `file.h5mu#rna/layers/counts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// What follows the `#`; empty without one.
    pub inside: String,
}

impl Location {
    /// The location that a text names, if its file ends in `.h5ad` or `.h5mu`.
    pub fn parse(text: &Path) -> Option<Self> {
        let is_one = |path: &Path| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("h5ad") || e.eq_ignore_ascii_case("h5mu"))
        };
        if is_one(text) {
            return Some(Self {
                path: text.to_owned(),
                inside: String::new(),
            });
        }
        let whole = text.to_str()?;
        let (path, inside) = whole.rsplit_once('#')?;
        is_one(Path::new(path)).then(|| Self {
            path: path.into(),
            inside: inside.trim_matches('/').to_owned(),
        })
    }
}

/// What a location comes to in its file.
struct Place {
    /// Where the annotated matrix stands: empty, or `mod/<modality>`.
    root: String,
    /// The matrix, below the root.
    matrix: String,
}

impl Place {
    fn find(file: &Reader, location: &Location) -> Result<Self> {
        let modalities = file.groups_in("mod")?;
        if modalities.is_empty() {
            let matrix = if location.inside.is_empty() {
                "X".to_owned()
            } else {
                location.inside.clone()
            };
            return Ok(Self {
                root: String::new(),
                matrix,
            });
        }
        let known = modalities.join(", ");
        let (modality, rest) = match location.inside.split_once('/') {
            Some((m, rest)) => (m, rest),
            None => (location.inside.as_str(), "X"),
        };
        if !modalities.iter().any(|m| m == modality) {
            return Err(Hdf5Error::Option(format!(
                "{}: name a modality after a '#', such as {}#{}; there are {known}",
                location.path.display(),
                location.path.display(),
                modalities[0]
            )));
        }
        Ok(Self {
            root: format!("mod/{modality}/"),
            matrix: rest.to_owned(),
        })
    }
    fn at(&self, name: &str) -> String {
        format!("{}{name}", self.root)
    }
}

/// Reads one view: the matrix `X`, a layer (`layers/counts`) or `raw/X`, dense
/// or sparse by rows (CSR) or columns (CSC), with the names of `obs` and
/// `var`. `NaN` is a missing cell; zeros that a sparse matrix leaves out are
/// zeros. A sparse matrix stays sparse, unless cells of it are missing.
///
/// # Errors
/// [`Hdf5Error`]: the file is cut off or damaged, of another layout, without
/// such a matrix, or too large when dense.
pub fn read_view(location: &Location, name: &str) -> Result<ViewTable> {
    let file = Reader::open(&location.path)?;
    let place = Place::find(&file, location)?;
    if let Some(column) = place.matrix.strip_prefix("obs/") {
        return Err(of_obs(&file, &place, column)?);
    }
    if let Some(refused) = of_no_features(&file, &place)? {
        return Err(refused);
    }
    let samples = Frame::open(&file, place.at("obs"))?.names()?;
    let variables = if place.matrix.starts_with("raw/") {
        "raw/var"
    } else {
        "var"
    };
    let features = Frame::open(&file, place.at(variables))?.names()?;
    let at = place.at(&place.matrix);
    let shape = [samples.len(), features.len()];
    let values =
        matrix::read(&file, &at, shape)?.needed(&file, &at, &what_there_is(&file, &place)?)?;
    if let Matrix::Dense(values) = &values {
        finite(&file, &at, values, (&samples, &features))?;
    }
    let name = name.to_owned();
    Ok(match values {
        Matrix::Dense(values) => ViewTable::Dense(Table {
            name,
            samples,
            features,
            values,
            levels: Vec::new(),
        }),
        Matrix::Sparse(values) => ViewTable::Sparse(SparseTable {
            name,
            samples,
            features,
            values,
        }),
    })
}

/// Refuses an infinite value by its names.
fn finite(
    file: &Reader,
    at: &str,
    values: &Mat<f64>,
    (samples, features): (&[String], &[String]),
) -> Result<()> {
    for (d, feature) in features.iter().enumerate() {
        let column = values.col_as_slice(d);
        if let Some(n) = column.iter().position(|x| x.is_infinite()) {
            return Err(file.values(
                at,
                format!(
                    "has an infinite value, of sample '{}' and feature '{feature}'; correct it, or write NaN there, which \
                     is a missing cell",
                    samples[n]
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses what stands in a file beside the matrices of its variables, and has other columns than these.
fn of_no_features(file: &Reader, place: &Place) -> Result<Option<Hdf5Error>> {
    const BESIDE: [&str; 5] = ["obsm", "obsp", "varm", "varp", "uns"];
    let first = place.matrix.split('/').next().unwrap_or_default();
    let at = place.at(&place.matrix);
    let is_there =
        || -> Result<bool> { Ok(file.array(&at)?.is_some() || file.group(&at)?.is_some()) };
    if !BESIDE.contains(&first) || !is_there()? {
        return Ok(None);
    }
    let mend = format!(
        "a view is a matrix of samples and the variables of var ({}): write this one to a table of its own",
        what_there_is(file, place)?
    );
    Ok(Some(file.layout(
        &at,
        format!("of {first}, whose columns are not those of var"),
        &mend,
    )))
}

/// What to do with a column of `obs` where a matrix belongs.
fn of_obs(file: &Reader, place: &Place, column: &str) -> Result<Hdf5Error> {
    let is_truth = |w: &String| w.eq_ignore_ascii_case("true") || w.eq_ignore_ascii_case("false");
    let (found, mend) = match Frame::open(file, place.at("obs"))?.column(column)? {
        MetadataValues::Categories(words) if words.iter().flatten().all(is_truth) => (
            "a column of true and false",
            "read it as two classes: write ':categorical' after it, with a model that knows these \
             (--model sshiba)",
        ),
        MetadataValues::Categories(_) => (
            "a column of words",
            "read it as classes: write ':categorical' after it, with a model that knows these \
             (--model sshiba)",
        ),
        MetadataValues::Numbers(_) => (
            "a column of numbers",
            "a view is a matrix, such as X or layers/counts: write the column to a table of its own",
        ),
    };
    Ok(file.layout(&place.at(&place.matrix), found, mend))
}

/// Reads a column of `obs` as a categorical view: one column of class names.
/// The classes are sorted.
///
/// # Errors
/// As [`read_view`]; [`Hdf5Error::Layout`] for a column of numbers.
pub fn read_classes(location: &Location, name: &str) -> Result<Table> {
    let file = Reader::open(&location.path)?;
    let place = Place::find(&file, location)?;
    let column = place.matrix.strip_prefix("obs/").ok_or_else(|| {
        Hdf5Error::Option(format!(
            "{}: class names are a column of obs: name it after a '#', such as {}#obs/cell_type",
            location.path.display(),
            location.path.display()
        ))
    })?;
    let frame = Frame::open(&file, place.at("obs"))?;
    let samples = frame.names()?;
    let MetadataValues::Categories(words) = frame.column(column)? else {
        return Err(file.layout(
            &place.at(&place.matrix),
            "a column of numbers",
            "name a column of words or categories",
        ));
    };
    let mut levels: Vec<String> = words.iter().flatten().cloned().collect();
    levels.sort();
    levels.dedup();
    let values = Mat::from_fn(samples.len(), 1, |n, _| {
        let word = words.get(n).and_then(Option::as_ref);
        word.and_then(|w| levels.binary_search(w).ok())
            .map_or(f64::NAN, |c| c as f64)
    });
    Ok(Table {
        name: name.to_owned(),
        samples,
        features: vec![column.to_owned()],
        values,
        levels,
    })
}

/// What is known about the samples: every column of `obs` of a file (of an
/// `.h5mu` without a modality the common `obs`), with the sample names it
/// belongs to; and what could not be read.
///
/// # Errors
/// [`Hdf5Error`] when the file or the names of the samples cannot be read.
pub fn read_obs(location: &Location) -> Result<(Vec<(Vec<String>, Metadata)>, Vec<String>)> {
    let file = Reader::open(&location.path)?;
    let root = if location.inside.is_empty() {
        String::new()
    } else {
        Place::find(&file, location)?.root
    };
    let frame = Frame::open(&file, format!("{root}obs"))?;
    let samples = frame.names()?;
    let (mut columns, mut notes) = (Vec::new(), Vec::new());
    for name in frame.columns()? {
        match frame.column(&name) {
            Ok(values) => columns.push((samples.clone(), Metadata { name, values })),
            Err(e @ (Hdf5Error::Layout { .. } | Hdf5Error::Missing { .. })) => {
                notes.push(format!("column '{name}' is left out: {e}"));
            }
            Err(e) => return Err(e),
        }
    }
    Ok((columns, notes))
}

/// The matrices that could have been asked for, in words.
fn what_there_is(file: &Reader, place: &Place) -> Result<String> {
    let all = matrices(file, place)?;
    Ok(if all.is_empty() {
        "there is no matrix in it: write one as X or as a layer".to_owned()
    } else {
        format!("what there is: {}", all.join(", "))
    })
}

/// The modalities of an `.h5mu` file that a location does not name; none of other files.
///
/// # Errors
/// [`Hdf5Error`] when the file cannot be read.
pub fn unnamed_modalities(location: &Location) -> Result<Vec<String>> {
    if !location.inside.is_empty() {
        return Ok(Vec::new());
    }
    Reader::open(&location.path)?.groups_in("mod")
}

/// The matrices that could have been asked for.
fn matrices(file: &Reader, place: &Place) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for (group, prefix) in [("", ""), ("layers", "layers/"), ("raw", "raw/")] {
        let at = place.at(group);
        let at = at.trim_end_matches('/');
        let here = if at.is_empty() { "/" } else { at };
        let mut names = file.arrays_in(here)?;
        names.extend(file.groups_in(here)?);
        names.retain(|n| group == "layers" || n == "X");
        out.extend(names.into_iter().map(|n| format!("{prefix}{n}")));
    }
    Ok(out)
}
