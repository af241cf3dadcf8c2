//! Matrix Market files: sparse matrices as single cells have them.

mod names;

use std::io::BufRead;
use std::path::Path;

use polyview_core::{SparseTable, ViewTable};
use polyview_linalg::{Repeats, SparseColumns, SparseError};

use crate::error::{IoError, MarketError, excerpt};
use crate::numpy::npz_has_samples;
use crate::options::{Content, Orientation, ReadOptions, default_name};
use crate::read::read_table;
use crate::source::{Source, open};
use names::Names;
pub use names::market_names;

/// How every Matrix Market file begins.
pub(crate) const BANNER: &[u8] = b"%%MatrixMarket";
/// Entries that room is made for before they are read.
const AHEAD: usize = 1 << 20;

/// What stands in an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Number,
    /// Nothing: the entry is a one.
    Pattern,
}

/// Reads one view, however it is stored: Matrix Market files as
/// [`read_market`] does, everything else as [`read_table`]. The file is opened twice, so that
/// pipes are refused.
///
/// # Errors
/// [`IoError`], naming file and line and how to mend it; [`IoError::Pipe`].
pub fn read_view(path: impl AsRef<Path>, options: &ReadOptions) -> Result<ViewTable, IoError> {
    let path = path.as_ref();
    if is_pipe(path) {
        return Err(IoError::Pipe {
            path: path.to_owned(),
        });
    }
    let is_market = match open(path)? {
        Source::Text(mut input) => is_market(path, &mut input)?,
        _ => false,
    };
    if is_market && options.content == Content::Numbers {
        Ok(read_market(path, options)?.into())
    } else {
        Ok(read_table(path, options)?.into())
    }
}

/// Whether what a path leads to can be read once alone.
fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Whether text begins as Matrix Market files do.
fn is_market(path: &Path, input: &mut dyn BufRead) -> Result<bool, IoError> {
    let ends = |path: &Path, end: &str| {
        path.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case(end))
    };
    let inner = path.with_extension("");
    if ends(path, "mtx") || (ends(path, "gz") && ends(&inner, "mtx")) {
        return Ok(true);
    }
    let start = input.fill_buf().map_err(|e| IoError::text(path, e))?;
    Ok(start.len() >= BANNER.len() && start[..BANNER.len()].eq_ignore_ascii_case(BANNER))
}

/// Whether a file that [`read_view`] reads has sample IDs of its own. Text has; NPZ has
/// where there is an array `samples`, and Matrix Market where names stand beside it; NPY
/// has none. Without them the IDs of the table are the numbers of its rows, `s1, s2, …`,
/// which say nothing of what stands there
/// ([`DatasetBuilder::numbered`](polyview_core::DatasetBuilder::numbered)). A pipe, which can be
/// read once, is taken for text.
///
/// # Errors
/// [`IoError`] where the file cannot be opened, or is no archive.
pub fn has_sample_ids(path: impl AsRef<Path>) -> Result<bool, IoError> {
    let path = path.as_ref();
    if is_pipe(path) {
        return Ok(true);
    }
    match open(path)? {
        Source::Text(mut input) => {
            Ok(!is_market(path, &mut input)? || !names::files_beside(path).is_empty())
        }
        Source::Npy(..) => Ok(false),
        Source::Npz(file, _) => npz_has_samples(path, file),
    }
}

/// Reads a Matrix Market file (plain or gzipped) without storing a zero:
/// `coordinate`, `real`, `integer` or `pattern` (ones), `general`.
///
/// Samples lie in rows unless [`ReadOptions::orientation`] says otherwise.
/// Names stand beside the file, one a line:
///
/// | matrix | rows | columns |
/// |---|---|---|
/// | `counts.mtx` | `counts.rows.txt` | `counts.cols.txt` |
/// | `matrix.mtx`, as 10x has it, whatever the orientation | `features.tsv` or `genes.tsv`: features by their first column | `barcodes.tsv`: samples |
///
/// each of them plain or with `.gz`; what comes before `matrix` in the file's
/// name comes before theirs. Without such files samples are `s1, s2, …` and
/// features `f1, f2, …`.
///
/// ```
/// use polyview_io::{ReadOptions, read_market};
///
/// let folder = tempfile::tempdir()?;
/// let at = |name: &str| folder.path().join(name);
/// let lines = "%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 3 7\n2 1 4\n";
/// std::fs::write(at("rna.mtx"), lines)?;
/// std::fs::write(at("rna.rows.txt"), "cell1\ncell2\n")?;
/// std::fs::write(at("rna.cols.txt"), "ACTB\nCD4\nCD8\n")?;
/// let rna = read_market(at("rna.mtx"), &ReadOptions::default())?;
/// assert_eq!((rna.samples[1].as_str(), rna.features[2].as_str()), ("cell2", "CD8"));
/// assert_eq!((rna.values.get(0, 2), rna.values.count()), (7.0, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`IoError::Market`], naming the line; [`IoError::NameCount`] and
/// [`IoError::DuplicateName`] for names that do not fit.
pub fn read_market(path: impl AsRef<Path>, options: &ReadOptions) -> Result<SparseTable, IoError> {
    let path = path.as_ref();
    let Source::Text(input) = open(path)? else {
        return Err(at_line(path, 1, MarketError::Banner));
    };
    let mut lines = Lines {
        path,
        input,
        number: 0,
        line: Vec::new(),
    };
    let field = banner(&mut lines)?;
    let [rows, columns, count] = size(&mut lines)?;
    let names = Names::of(path, options.orientation, [rows, columns])?;
    let across = names.orientation == Orientation::FeaturesInRows;
    let entries = entries(&mut lines, field, [rows, columns, count], across)?;
    let (samples, features) = if across {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let values = SparseColumns::from_triplets(samples, features, &entries, Repeats::Refuse);
    let values = values.map_err(|source| match source {
        SparseError::Repeated { row, column } => {
            let (row, column) = if across { (column, row) } else { (row, column) };
            at_line(path, 0, MarketError::Repeated { row, column })
        }
        other => at_line(path, 0, MarketError::Sparse(other)),
    })?;
    Ok(SparseTable {
        name: options.name.clone().unwrap_or_else(|| default_name(path)),
        samples: names.samples,
        features: names.features,
        values,
    })
}

fn at_line(path: &Path, line: u64, source: MarketError) -> IoError {
    IoError::Market {
        path: path.to_owned(),
        line,
        source,
    }
}

/// The lines of a file, one at a time.
struct Lines<'a> {
    path: &'a Path,
    input: Box<dyn BufRead>,
    /// Of the line at hand, from 1.
    number: u64,
    line: Vec<u8>,
}

impl Lines<'_> {
    /// The next line, without its end; `None` after the last.
    fn next(&mut self) -> Result<Option<&[u8]>, IoError> {
        self.line.clear();
        let read = self.input.read_until(b'\n', &mut self.line);
        let read = read.map_err(|e| IoError::text(self.path, e))?;
        self.number += 1;
        Ok((read > 0).then(|| self.line.trim_ascii()))
    }
    /// The next line that is neither empty nor a comment.
    fn content(&mut self) -> Result<bool, IoError> {
        loop {
            match self.next()? {
                None => return Ok(false),
                Some(line) if line.is_empty() || line[0] == b'%' => {}
                Some(_) => return Ok(true),
            }
        }
    }
    fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.line
            .split(u8::is_ascii_whitespace)
            .filter(|w| !w.is_empty())
    }
    fn fault(&self, source: MarketError) -> IoError {
        at_line(self.path, self.number, source)
    }
}

/// The first line: which entries follow.
fn banner(lines: &mut Lines<'_>) -> Result<Field, IoError> {
    lines.next()?;
    let words: Vec<String> = lines
        .words()
        .map(|w| String::from_utf8_lossy(w).to_ascii_lowercase())
        .collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|w| w == word);
    if !is(0, "%%matrixmarket") || !is(1, "matrix") {
        return Err(lines.fault(MarketError::Banner));
    }
    let unknown = |at: usize| {
        let found = words.get(at).cloned().unwrap_or_default();
        lines.fault(MarketError::Kind {
            found: excerpt(found.as_bytes()),
        })
    };
    if !is(2, "coordinate") {
        return Err(unknown(2));
    }
    if !is(4, "general") {
        return Err(unknown(4));
    }
    match words.get(3).map(String::as_str) {
        Some("real" | "integer") => Ok(Field::Number),
        Some("pattern") => Ok(Field::Pattern),
        _ => Err(unknown(3)),
    }
}

fn whole(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Rows, columns and number of entries.
fn size(lines: &mut Lines<'_>) -> Result<[usize; 3], IoError> {
    if !lines.content()? {
        return Err(lines.fault(MarketError::Size));
    }
    let words: Vec<Option<u64>> = lines.words().map(whole).collect();
    let [Some(rows), Some(columns), Some(count)] = words[..] else {
        return Err(lines.fault(MarketError::Size));
    };
    let most = u64::from(u32::MAX);
    let room = rows.saturating_mul(columns);
    if rows > most || columns > most || count > room {
        return Err(lines.fault(MarketError::Size));
    }
    Ok([rows as usize, columns as usize, count as usize])
}

/// All entries, (sample, feature, value).
fn entries(
    lines: &mut Lines<'_>,
    field: Field,
    [rows, columns, count]: [usize; 3],
    across: bool,
) -> Result<Vec<(u32, u32, f64)>, IoError> {
    let mut out = Vec::with_capacity(count.min(AHEAD));
    while lines.content()? {
        if out.len() == count {
            return Err(lines.fault(MarketError::TooMany { expected: count }));
        }
        let mut words = lines.words();
        let place = |word: Option<&[u8]>, most: usize| -> Result<u32, IoError> {
            let word = word.unwrap_or_default();
            match whole(word) {
                Some(at) if at >= 1 && at <= most as u64 => Ok((at - 1) as u32),
                _ => Err(lines.fault(MarketError::Place {
                    found: excerpt(word),
                    most,
                })),
            }
        };
        let row = place(words.next(), rows)?;
        let column = place(words.next(), columns)?;
        let value = match field {
            Field::Pattern => 1.0,
            Field::Number => {
                let word = words.next().unwrap_or_default();
                let text = std::str::from_utf8(word).unwrap_or_default();
                match text.parse::<f64>() {
                    Ok(x) if x.is_finite() => x,
                    _ => {
                        let found = excerpt(word);
                        return Err(lines.fault(MarketError::Value { found }));
                    }
                }
            }
        };
        if let Some(word) = words.next() {
            let found = excerpt(word);
            return Err(lines.fault(MarketError::Rest { found }));
        }
        out.push(if across {
            (column, row, value)
        } else {
            (row, column, value)
        });
    }
    if out.len() < count {
        return Err(lines.fault(MarketError::TooFew {
            expected: count,
            found: out.len(),
        }));
    }
    Ok(out)
}
