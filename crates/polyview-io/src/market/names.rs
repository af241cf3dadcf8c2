//! The names that stand beside a Matrix Market file.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::error::{Axis, IoError, MarketError, NameKind};
use crate::options::Orientation;
use crate::source::{Source, open};

/// Rows or columns that are numbered where there are no names.
const NUMBERED: usize = 10_000_000;

/// Names of samples and features, and which of them lie in the file's rows.
pub(super) struct Names {
    pub(super) samples: Vec<String>,
    pub(super) features: Vec<String>,
    pub(super) orientation: Orientation,
}

/// The path without `.gz` and `.mtx`.
fn stem(path: &Path) -> Option<(PathBuf, String)> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let stem = name.strip_suffix(".mtx").unwrap_or(name);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Some((folder, stem.to_owned()))
}

/// The first of these files that is there, plain or gzipped.
fn beside(folder: &Path, names: &[String]) -> Option<PathBuf> {
    let all = names
        .iter()
        .flat_map(|n| [folder.join(n), folder.join(format!("{n}.gz"))]);
    all.into_iter().find(|p| p.is_file())
}

/// The two files of names beside a matrix.
enum Beside {
    /// Of rows and of columns.
    Own([PathBuf; 2]),
    /// Of features and of barcodes, as 10x has them.
    TenX([PathBuf; 2]),
}

fn beside_matrix(path: &Path) -> Option<Beside> {
    let (folder, stem) = stem(path)?;
    let own = |part: &str| beside(&folder, &[format!("{stem}.{part}.txt")]);
    if let (Some(rows), Some(columns)) = (own("rows"), own("cols")) {
        return Some(Beside::Own([rows, columns]));
    }
    let prefix = stem.strip_suffix("matrix")?;
    let features = ["features.tsv", "genes.tsv"].map(|n| format!("{prefix}{n}"));
    let barcodes = [format!("{prefix}barcodes.tsv")];
    let features = beside(&folder, &features)?;
    Some(Beside::TenX([features, beside(&folder, &barcodes)?]))
}

/// The files of names that [`read_market`](crate::read_market) reads beside this
/// one; none beside a file whose name does not end in `.mtx` or `.mtx.gz`.
pub fn market_names(path: impl AsRef<Path>) -> Vec<PathBuf> {
    let path = path.as_ref();
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    if name
        .strip_suffix(".gz")
        .unwrap_or(name)
        .strip_suffix(".mtx")
        .is_none()
    {
        return Vec::new();
    }
    files_beside(path)
}

/// The files of names beside a matrix; none where one of the two is lacking.
pub(super) fn files_beside(path: &Path) -> Vec<PathBuf> {
    match beside_matrix(path) {
        Some(Beside::Own(files) | Beside::TenX(files)) => files.into(),
        None => Vec::new(),
    }
}

impl Names {
    /// The names of a matrix of that shape, as they stand beside its file.
    pub(super) fn of(
        path: &Path,
        orientation: Orientation,
        shape: [usize; 2],
    ) -> Result<Self, IoError> {
        match beside_matrix(path) {
            Some(Beside::Own([rows, columns])) => {
                let (row_kind, column_kind) = match orientation {
                    Orientation::SamplesInRows => (NameKind::Sample, NameKind::Feature),
                    Orientation::FeaturesInRows => (NameKind::Feature, NameKind::Sample),
                };
                let rows = read(&rows, row_kind, shape[0])?;
                let columns = read(&columns, column_kind, shape[1])?;
                Ok(Self::lying(rows, columns, orientation))
            }
            Some(Beside::TenX([features, barcodes])) => {
                let features = read(&features, NameKind::Feature, shape[0])?;
                let samples = read(&barcodes, NameKind::Sample, shape[1])?;
                Ok(Self::lying(features, samples, Orientation::FeaturesInRows))
            }
            None => Self::numbered(path, orientation, shape),
        }
    }
    fn lying(rows: Vec<String>, columns: Vec<String>, orientation: Orientation) -> Self {
        let (samples, features) = match orientation {
            Orientation::SamplesInRows => (rows, columns),
            Orientation::FeaturesInRows => (columns, rows),
        };
        Self {
            samples,
            features,
            orientation,
        }
    }
    fn numbered(
        path: &Path,
        orientation: Orientation,
        [rows, columns]: [usize; 2],
    ) -> Result<Self, IoError> {
        if rows.max(columns) > NUMBERED {
            return Err(IoError::Market {
                path: path.to_owned(),
                line: 0,
                source: MarketError::NoNames { rows, columns },
            });
        }
        let (samples, features) = match orientation {
            Orientation::SamplesInRows => (rows, columns),
            Orientation::FeaturesInRows => (columns, rows),
        };
        let number = |letter: char, count: usize| (1..=count).map(move |i| format!("{letter}{i}"));
        Ok(Self {
            samples: number('s', samples).collect(),
            features: number('f', features).collect(),
            orientation,
        })
    }
}

/// One name a line: what stands before the first tab.
fn read(path: &Path, what: NameKind, expected: usize) -> Result<Vec<String>, IoError> {
    let count = |found: usize| IoError::NameCount {
        path: path.to_owned(),
        what,
        expected,
        found,
    };
    let Source::Text(mut input) = open(path)? else {
        return Err(count(0));
    };
    let (mut out, mut line) = (Vec::new(), Vec::new());
    let mut seen: HashMap<String, u64> = HashMap::new();
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|e| IoError::text(path, e))? == 0 {
            break;
        }
        let number = out.len() as u64 + 1;
        let text = std::str::from_utf8(&line).map_err(|e| IoError::NotUtf8 {
            path: path.to_owned(),
            line: number,
            byte: e.valid_up_to() + 1,
            value: line[e.valid_up_to()],
        })?;
        let name = text.split('\t').next().unwrap_or_default().trim();
        if name.is_empty() {
            return Err(IoError::BlankLineName {
                path: path.to_owned(),
                line: number,
                what,
            });
        }
        if let Some(first) = seen.insert(name.to_owned(), number) {
            return Err(IoError::DuplicateName {
                path: path.to_owned(),
                what,
                name: name.to_owned(),
                axis: Axis::Lines,
                first,
                second: number,
            });
        }
        out.push(name.to_owned());
        if out.len() > expected {
            break;
        }
    }
    if out.len() == expected {
        Ok(out)
    } else {
        Err(count(out.len()))
    }
}
