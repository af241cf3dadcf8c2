//! Delimited text: lines into fields, fields into tables.

mod header;
mod records;
mod rows;
mod strings;
mod table;
mod thousands;

pub use header::Delimiter;
pub(crate) use header::{duplicate, read_header};
pub(crate) use records::Records;
pub use rows::{RowTable, read_rows};
pub(crate) use strings::read_words;
pub use strings::{StringTable, read_metadata, read_metadata_with, read_string_table};
pub(crate) use table::{each_line, read_text_table};
