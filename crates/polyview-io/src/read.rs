//! Reading the table of a view.

use std::path::Path;

use polyview_core::Table;

use crate::classes::{classes_of_numbers, read_text_classes};
use crate::error::IoError;
use crate::numpy::{read_npy, read_npz};
use crate::options::{Content, ReadOptions, default_name};
use crate::source::{Source, open};
use crate::text::{Records, read_text_table};

/// Reads one view: CSV or TSV (plain or gzipped), NPY or NPZ.
///
/// What a file is, is told by its first bytes.
///
/// * **Text**: a header line of feature names, then a line a sample with its ID
///   in the first column (whatever that column is called). Blanks around cells
///   are ignored, blank lines skipped, CRLF line ends and a byte order mark
///   taken. A cell is missing where it is empty or spells one of
///   [`MISSING_NUMBER`](crate::MISSING_NUMBER). The peak of memory is about
///   twice the matrix.
/// * **NPY**: a matrix of floats, integers or booleans in either order; names
///   are `s1, s2, …` and `f1, f2, …`.
/// * **NPZ**: the array `x`, `values` or the only matrix; names from the
///   one-dimensional arrays `samples` and `features` where they are.
///
/// ```
/// use polyview_io::{ReadOptions, read_table};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("genes.csv");
/// std::fs::write(&path, "sample,ACAT1,ACBP\nm1,-0.65,\nm2,0.5,1e-3\n")?;
/// let genes = read_table(&path, &ReadOptions::default())?;
/// assert_eq!(genes.name, "genes");
/// assert_eq!(genes.features, ["ACAT1", "ACBP"]);
/// assert!(genes.values[(0, 1)].is_nan());
///
/// std::fs::write(&path, "sample,ACAT1,ACBP\nm1,-0.65,high\n")?;
/// let error = read_table(&path, &ReadOptions::default()).unwrap_err().to_string();
/// assert!(error.contains("line 2 ('m1'), column 3 ('ACBP'): 'high' is not a number"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With [`Content::Classes`] the one column beside the sample IDs holds class
/// names; a cell is missing where it is empty or spells one of
/// [`MISSING_WORD`](crate::MISSING_WORD). Numbers are names as well, as they are
/// written.
///
/// ```
/// use polyview_io::{ReadOptions, read_table};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("diet.csv");
/// std::fs::write(&path, "mouse,diet\nm1,sun\nm2,\nm3,fish\n")?;
/// let diet = read_table(&path, &ReadOptions::classes("diet"))?;
/// assert_eq!(diet.levels, ["fish", "sun"]);
/// assert_eq!((diet.values[(0, 0)], diet.values[(2, 0)]), (1.0, 0.0));
/// assert!(diet.values[(1, 0)].is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`IoError`], naming file, line and column and how to mend it.
pub fn read_table(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table, IoError> {
    let path = path.as_ref();
    let name = options.name.clone().unwrap_or_else(|| default_name(path));
    let classes = options.content == Content::Classes;
    let mut table = match open(path)? {
        Source::Text(input) if classes => {
            return read_text_classes(Records::new(path, input), name, options);
        }
        Source::Text(input) => read_text_table(Records::new(path, input), name, options),
        Source::Npy(file, length) => read_npy(path, file, length, name, options),
        Source::Npz(file, length) => read_npz(path, file, length, name, options),
    }?;
    options.hide_missing(&mut table.values);
    if classes {
        return classes_of_numbers(path, table);
    }
    Ok(table)
}
