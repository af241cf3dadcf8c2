//! Everything that happened and was not an error.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
#[non_exhaustive]
pub enum Event {
    /// A precision matrix needed a larger diagonal to be factored.
    Jitter {
        /// Row of the block.
        row: usize,
        /// Pivot that was not positive.
        pivot: usize,
        /// What was added to the diagonal.
        amount: f64,
    },
    /// A factor was removed.
    Pruned {
        /// Its number at that time, from 1.
        factor: usize,
        /// Its largest absolute weight in any view, in working units.
        largest_weight: f64,
        /// Share of the data's variance that it explained.
        explained: f64,
        /// Factors left.
        left: usize,
    },
    /// A factor was taken out on trial, and the bound was higher with one of which no data
    /// speak in its place.
    Needless {
        /// Its number at that time, from 1.
        factor: usize,
        /// Share of the data's variance that it explained.
        explained: f64,
        /// Gain of the bound, nats.
        gain: f64,
        /// Factors left.
        left: usize,
    },
    /// Factors and weights were rotated.
    Rotated {
        /// Gain of the bound, nats.
        gain: f64,
    },
    /// The bound fell in a block update.
    BoundFell {
        /// Before, nats.
        before: f64,
        /// After, nats.
        after: f64,
    },
    /// The way the data are swept was chosen.
    Path {
        /// Its name.
        path: String,
        /// Why.
        reason: String,
    },
    /// A restart began or was chosen.
    Restart {
        /// Number from 1.
        number: usize,
        /// Final bound, where the restart is over.
        bound: Option<f64>,
        /// Whether this one was kept.
        kept: bool,
    },
    /// The run ended.
    Ended {
        /// How.
        outcome: String,
    },
    /// Something worth knowing about the data.
    Data {
        /// What.
        note: String,
    },
    /// A choice that the data do not suit: results are likely to be poor.
    Warning {
        /// What, and what to do instead.
        note: String,
    },
    /// Something the model takes for granted because nothing said otherwise:
    /// projections and predictions repeat it.
    Assumed {
        /// What.
        note: String,
    },
    /// Something else.
    Note {
        /// What.
        note: String,
    },
}

/// How much an event matters to whoever reads the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Good to know.
    Note,
    /// Results are likely to be poor.
    Warning,
}

impl Event {
    /// How much it matters to whoever reads the results: what is said of the data
    /// or taken for granted is a note, and a warning is one. `None` for the steps of a fit.
    pub fn level(&self) -> Option<Level> {
        match self {
            Self::Data { .. } | Self::Assumed { .. } => Some(Level::Note),
            Self::Warning { .. } => Some(Level::Warning),
            _ => None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jitter { row, pivot, amount } => {
                write!(
                    f,
                    "row {}: pivot {} was not positive, {amount:.1e} added to the diagonal",
                    row + 1,
                    pivot + 1
                )
            }
            Self::Pruned {
                factor,
                largest_weight,
                explained,
                left,
            } => write!(
                f,
                "factor {factor} removed: largest weight {largest_weight:.1e}, {:.2} % of the variance; {left} left",
                100.0 * explained
            ),
            Self::Needless {
                factor,
                explained,
                gain,
                left,
            } => write!(
                f,
                "factor {factor} removed: it costs the bound {gain:.3} more than an idle one; {:.2} % of the variance; {left} left",
                100.0 * explained
            ),
            Self::Rotated { gain } => write!(f, "rotated, bound + {gain:.3}"),
            Self::BoundFell { before, after } => {
                write!(f, "the bound fell from {before:.6} to {after:.6}")
            }
            Self::Path { path, reason } => write!(f, "{path}: {reason}"),
            Self::Restart {
                number,
                bound,
                kept,
            } => {
                write!(f, "restart {number}")?;
                if let Some(b) = bound {
                    write!(f, ", bound {b:.4}")?;
                }
                if *kept { f.write_str(", kept") } else { Ok(()) }
            }
            Self::Ended { outcome } => f.write_str(outcome),
            Self::Data { note }
            | Self::Warning { note }
            | Self::Assumed { note }
            | Self::Note { note } => f.write_str(note),
        }
    }
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The sweep, 0 before the first.
    pub sweep: usize,
    /// The block, such as `weights/genes`; empty for the whole model.
    pub block: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sweep {:>4}  {}", self.sweep, self.remark())
    }
}

impl Entry {
    /// The line without its sweep.
    pub fn remark(&self) -> String {
        if self.block.is_empty() {
            self.event.to_string()
        } else {
            format!("{}: {}", self.block, self.event)
        }
    }
}

/// What happened during a fit, in order. Saved with the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// The lines.
    pub entries: Vec<Entry>,
}

impl Journal {
    /// The warnings, each with its block.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let remarks = self.remarks();
        remarks.filter_map(|(level, text)| (level == Level::Warning).then_some(text))
    }
    /// What a user is to hear at once, the notes and the warnings, each with its
    /// block.
    pub fn remarks(&self) -> impl Iterator<Item = (Level, String)> {
        let remark = |e: &Entry| Some((e.event.level()?, e.remark()));
        self.entries.iter().filter_map(remark)
    }
    /// Adds a line.
    pub fn note(&mut self, sweep: usize, block: impl Into<String>, event: Event) {
        self.entries.push(Entry {
            sweep,
            block: block.into(),
            event,
        });
    }
}
