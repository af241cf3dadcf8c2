//! What the command says when something goes wrong, and its exit codes.

use std::path::PathBuf;
use std::process::ExitCode;

use polyview::ErrorKind;
use thiserror::Error;

/// A failed command.
#[derive(Debug, Error)]
pub enum Failure {
    /// Data or model.
    #[error(transparent)]
    Model(#[from] polyview::Error),
    /// New data of a class that the model has not seen.
    #[error("{file}: {source}, or take such classes as missing with --unknown-class missing")]
    UnknownClass {
        /// Where it stands.
        file: String,
        /// What it is.
        source: polyview::Error,
    },
    /// Files.
    #[error(transparent)]
    Io(#[from] polyview_io::IoError),
    /// HDF5 files.
    #[cfg(feature = "hdf5")]
    #[error(transparent)]
    Hdf5(#[from] polyview_hdf5::Hdf5Error),
    /// Words where numbers belong.
    #[error("{source}; {mend}")]
    Words {
        /// What the reader said.
        source: Box<polyview_io::IoError>,
        /// How words are given to this model.
        mend: String,
    },
    /// A cell that cannot be used.
    #[error("{}: sample '{sample}', column '{column}': {found}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The sample.
        sample: String,
        /// The column.
        column: String,
        /// What stands there, and the mend.
        found: String,
    },
    /// Two tables that do not fit together.
    #[error("{} and {}: {what}", first.display(), second.display())]
    Tables {
        /// The one.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// What does not fit, and the mend.
        what: String,
    },
    /// Samples without a group.
    #[error("{}: {what}", path.display())]
    Groups {
        /// The table about the samples.
        path: PathBuf,
        /// Why they have none, and the mend.
        what: String,
    },
    /// A checkpoint where another one is to be written.
    #[error("'{path}' is a checkpoint already; go on from it with --resume {path}, replace it with --force, or name another file", path = path.display())]
    CheckpointThere {
        /// The file.
        path: PathBuf,
    },
    /// A number that no offset can be.
    #[error("{}: {source}", path.display())]
    Offset {
        /// The table of the offsets.
        path: PathBuf,
        /// What is wrong with it.
        source: polyview::Error,
    },
    /// A kernel.
    #[error("{}: {source}", path.display())]
    Kernel {
        /// The table, or the file of the kernel.
        path: PathBuf,
        /// What is wrong.
        source: polyview_kernels::KernelError,
    },
    /// A file that does not describe a kernel.
    #[error("{}: {why}; give a file that 'polyview kernel --save' wrote", path.display())]
    KernelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Visits.
    #[error("{}: {source}", path.display())]
    Layout {
        /// The table.
        path: PathBuf,
        /// What is wrong.
        source: polyview_layouts::LayoutError,
    },
    /// A projection of `polyview mva`.
    #[error("{}: {what}", path.display())]
    Mva {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and the mend.
        what: String,
    },
    /// What another command wrote where a model is meant.
    #[error("'{}' holds {what}", path.display())]
    NotModel {
        /// The file.
        path: PathBuf,
        /// What it holds, and what that is for.
        what: &'static str,
    },
    /// A score.
    #[error(transparent)]
    Metric(#[from] polyview::metrics::MetricError),
    /// The report.
    #[error(transparent)]
    Report(#[from] polyview_report::ReportError),
    /// Options that do not fit together.
    #[error("{0}")]
    Usage(String),
    /// A study file that cannot be read.
    #[error("'{path}': {why}")]
    Study {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// Ctrl-C.
    #[error("interrupted at sweep {sweep}{}; {}", of_start(*before_start), after_interrupt(checkpoint.as_deref(), *keeps))]
    Interrupted {
        /// Last sweep done.
        sweep: usize,
        /// Whether that is one of the sweeps before the start.
        before_start: bool,
        /// The checkpoint.
        checkpoint: Option<String>,
        /// Whether the engine has checkpoints.
        keeps: bool,
    },
    /// Writing to standard output failed.
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}

/// Which sweeps those are that come before the start, in words that follow their number.
const fn of_start(before_start: bool) -> &'static str {
    if before_start {
        " of the dense weights that come first"
    } else {
        ""
    }
}

/// What there is to do after Ctrl-C.
fn after_interrupt(checkpoint: Option<&str>, keeps: bool) -> String {
    match checkpoint {
        Some(path) if std::path::Path::new(path).exists() => format!("go on with --resume {path}"),
        Some(path) => format!("nothing was kept: there is no {path} yet"),
        None if keeps => {
            "nothing was kept: with --checkpoint FILE, Ctrl-C keeps the work, and --resume \
                          FILE goes on with it"
                .to_owned()
        }
        None => "nothing was kept: the engine stochastic has no checkpoints".to_owned(),
    }
}

/// Whether an option has a value that no data and no model could make right.
fn is_misuse(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::Option { .. } | ErrorKind::NoFactors)
}

impl From<polyview_core::DataError> for Failure {
    fn from(e: polyview_core::DataError) -> Self {
        Self::Model(e.into())
    }
}

impl Failure {
    /// Exit code: 1 data, model or file; 2 usage; 130 interrupted.
    pub fn code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Study { .. } => ExitCode::from(2),
            Self::Model(e) if is_misuse(e.kind()) => ExitCode::from(2),
            Self::Interrupted { .. } => ExitCode::from(130),
            Self::Output(e) if e.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            _ => ExitCode::from(1),
        }
    }
}

/// Result of a command.
pub type Outcome<T> = Result<T, Failure>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_that_is_not_there_is_not_pointed_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.ck").display().to_string();
        assert!(after_interrupt(Some(&path), true).contains("nothing was kept: there is no"));
        std::fs::write(&path, "").expect("written");
        assert_eq!(
            after_interrupt(Some(&path), true),
            format!("go on with --resume {path}")
        );
    }
}
