//! Readers and writers of tables for multi-view models: CSV, TSV, gzip, NPY,
//! NPZ, Matrix Market.
//!
//! Every error names the file, the line, the column and how to mend it. Every
//! file is written whole or not at all.
//!
//! ```
//! use polyview_core::Dataset;
//! use polyview_io::{ReadOptions, WriteOptions, read_metadata, read_table, write_matrix};
//!
//! let folder = tempfile::tempdir()?;
//! let at = |name: &str| folder.path().join(name);
//! std::fs::write(at("genes.csv"), "sample,ACAT1,ACBP\nm1,-0.65,NA\nm2,0.5,1.25\n")?;
//! std::fs::write(at("lipids.tsv"), "id\tC16:0\nm2\t26.45\nm3\t24.04\n")?;
//! std::fs::write(at("mice.csv"), "mouse,diet,age\nm1,fish,9\nm2,sun,11\nm3,fish,\n")?;
//!
//! let mut builder = Dataset::builder()
//!     .view(read_table(at("genes.csv"), &ReadOptions::default())?)
//!     .view(read_table(at("lipids.tsv"), &ReadOptions::named("fatty acids"))?);
//! for (samples, column) in read_metadata(at("mice.csv"))? {
//!     builder = builder.metadata(samples, column);
//! }
//! let data = builder.build()?;
//! assert_eq!(data.samples(), ["m1", "m2", "m3"]);
//!
//! let genes = read_table(at("genes.csv"), &ReadOptions::default())?;
//! write_matrix(at("genes.npz"), &(&genes).into(), &WriteOptions::default())?;
//! assert_eq!(read_table(at("genes.npz"), &ReadOptions::default())?.samples, genes.samples);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`read_table`], [`ReadOptions`] | one view from text or NumPy arrays: numbers, or class names ([`Content`]) |
//! | [`read_market`], [`read_view`] | a sparse matrix (Matrix Market, as 10x has it); any of them |
//! | [`has_sample_ids`] | whether a file has sample IDs, or rows with numbers alone |
//! | [`read_metadata`], [`read_metadata_with`] | numbers and categories about the samples |
//! | [`read_string_table`], [`StringTable`] | columns of words: groups, classes |
//! | [`read_rows`], [`RowTable`] | rows that no column names, such as visits |
//! | [`write_matrix`], [`NamedMatrix`], [`WriteOptions`] | a matrix with names, format by ending |
//! | [`print_matrix`], [`print_string_table`] | the same as text, to any stream |
//! | [`write_atomic`], [`ensure_writable`], [`Overwrite`] | any file, whole or not at all |
//! | [`IoError`] | what went wrong, where, and how to mend it |
//!
//! A mistake in a file reads like this:
//!
//! ```text
//! genes.csv: line 14 ('mouse13'), column 3 ('ACAT1'): '1,5' is not a number; it looks like a decimal comma: write a point, or read the file with decimal commas
//! ```
//!
//! * Text: header of feature names, sample IDs in the first column; comma, semicolon or tab. Missing: empty, `NA`, `N/A`, `#N/A`, `<NA>`, `NaN`, `null`,
//!   `none`, `.`, `-`, `?` in any case.
//! * NumPy: floats, integers, booleans, C or Fortran order; NPZ archives with `x` (or `values`, or one matrix), and names in `samples` and `features`.
//! * Matrix Market: sparse matrices, plain or gzipped, names in `.rows.txt` and `.cols.txt` beside them or as 10x has them; zeros are not stored.
//! * [`OnDisk`] leaves views on disk and reads some samples at a time, for stochastic variational Bayes.

mod blocks;
mod classes;
mod error;
mod market;
mod number;
mod numpy;
mod on_disk;
mod options;
mod read;
mod source;
mod text;
mod write;

pub use classes::class_names;
pub use error::{
    Action, ArrayError, Axis, Cell, Foreign, IoError, MarketError, NameKind, NumberHint, RaggedHint,
};
pub use market::{has_sample_ids, market_names, read_market, read_view};
pub use number::{DecimalMark, MISSING_NUMBER, MISSING_WORD, to_digits};
pub use on_disk::OnDisk;
pub use options::{Content, Orientation, ReadOptions};
pub use read::read_table;
pub use text::{
    Delimiter, RowTable, StringTable, read_metadata, read_metadata_with, read_rows,
    read_string_table,
};
pub use write::{
    MissingText, NamedMatrix, Overwrite, WriteOptions, ensure_writable, print_matrix,
    print_string_table, write_atomic, write_matrix, write_string_table,
};
