//! The error type of this crate.

use thiserror::Error;

/// What is wrong with visits, or with what is asked of them. Lines are those of the file, from 1.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A column that the table has not.
    #[error("there is no column '{name}'; the table has {}", some(have))]
    NoColumn {
        /// The column.
        name: String,
        /// Columns that there are.
        have: Vec<String>,
    },
    /// A pattern that no column's name matches.
    #[error("{of}: no column matches '{pattern}'; the table has {}", some(have))]
    NoMatch {
        /// What the pattern is of, in words.
        of: String,
        /// The pattern.
        pattern: String,
        /// Columns that there are.
        have: Vec<String>,
    },
    /// A pattern that none but the column of samples or times matches.
    #[error(
        "{of}: '{pattern}' is the column of {role}, which is no part of a view; the others are {}",
        some(have)
    )]
    IsPlace {
        /// What the pattern is of, in words.
        of: String,
        /// The pattern.
        pattern: String,
        /// What the column says: samples or times.
        role: &'static str,
        /// The other columns.
        have: Vec<String>,
    },
    /// New samples at a time that training sees.
    #[error(
        "new samples of {predict_at} would be rows of training as well, which sees all up to {until}: what is said of \
         them would be known; take --predict-at after --until, such as --until {before} with --predict-at {predict_at}"
    )]
    SeenBefore {
        /// The time of new samples.
        predict_at: String,
        /// The last time that training sees.
        until: String,
        /// One step before the time of new samples.
        before: String,
    },
    /// Two parts of one name.
    #[error("there are two of the name '{name}'; give each a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// A name that no file can have.
    #[error(
        "'{name}' is no name for a view: use letters, digits, '_', '-' and '.', not at the beginning"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// A row without a subject.
    #[error("line {line}: column '{column}' is empty; give each visit its subject")]
    NoSubject {
        /// The line.
        line: u64,
        /// The column of subjects.
        column: String,
    },
    /// A time that is no number, or none at all.
    #[error(
        "line {line}, column '{column}': '{found}' is no time; give a number, such as months since the first visit"
    )]
    NoTime {
        /// The line.
        line: u64,
        /// The column of times.
        column: String,
        /// What stands there.
        found: String,
    },
    /// Two visits of one subject at one time.
    #[error(
        "subject '{subject}' has two visits at {time}, in lines {first} and {second}; keep one of them, or join them"
    )]
    DuplicateVisit {
        /// The subject.
        subject: String,
        /// The time.
        time: f64,
        /// The line of the first.
        first: u64,
        /// The line of the second.
        second: u64,
    },
    /// A word where numbers belong.
    #[error("line {line}, column '{column}': '{found}' is no number; {mend}")]
    NoNumber {
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// What stands there.
        found: String,
        /// What to do about it.
        mend: &'static str,
    },
    /// Classes in several columns.
    #[error("{of} is of classes, and has {columns} columns; give one column")]
    SeveralColumns {
        /// The view.
        of: String,
        /// Columns that match.
        columns: usize,
    },
    /// A number out of its range.
    #[error("{what} is {value}; give {range}")]
    OutOfRange {
        /// The option.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// Nothing to lay out.
    #[error("{what} is empty; {mend}")]
    Nothing {
        /// What is empty.
        what: &'static str,
        /// What to do about it.
        mend: &'static str,
    },
}

/// The first names of many.
fn some(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
