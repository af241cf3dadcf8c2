//! The options of `polyview layout`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::numbers::{counted, real};
use super::{FormatArgs, ModelName};

/// Which studies are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Outputs {
    /// One of all targets: study.toml.
    Together,
    /// One of each target: study-TARGET.toml.
    Each,
    /// Both.
    Both,
}

/// Which windows are rows of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowsOf {
    /// Those at whose time a target is known.
    Targets,
    /// Those in which anything is known, with or without targets, up to the step
    /// before the time of new samples.
    All,
    /// These, and the new samples themselves, whose targets are empty.
    AllAndNew,
}

/// Arguments of `layout`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: from what is known at up to five visits six months apart, what holds a year later; of new \
samples month 36, from visits up to month 24:\n  \
polyview layout --table visits.csv --sample RID --time month --window 5 --step 6 --ahead 2 --views 'brain=mri_*,csf=csf_*,past=DX:multilabel' --static 'person=age+sex' --targets DX:categorical,ADAS13,ventricles --until 24 --predict-at 36 --out-dir study\n  \
polyview fit --spec study/study.toml --out model.pv\n  \
polyview predict model.pv --view brain-12=study/new-brain-12.csv ... --target DX --out DX.csv\n  \
polyview cross-validate --spec study/study.toml\n\n\
Rows are subjects at times, RID@MONTH. A subject is several rows, which the study keeps together where samples are parted into folds. It \
names its targets (targets = [\"DX\", \"ADAS13\", \"ventricles\"]), which are predicted together: those of a visit that is \
to come are none of them known, and none is predicted from another (with --target give all of them, --target DX --target \
ADAS13 --target ventricles). Views of a visit that a row lacks are empty."
)]
pub struct LayoutArgs {
    /// The table: a row for each visit of a subject.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub table: PathBuf,
    /// The column of subjects.
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub sample: String,
    /// The column of times, numbers such as months since the first visit.
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub time: String,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Number of visits of a window: what was known 1, 2, ... steps before (from --ahead
    /// on) is a view each, NAME-6, NAME-12, ...
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Windows")]
    pub window: usize,
    /// Steps from the last visit of a window to its time: how far ahead is predicted.
    #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Windows")]
    pub ahead: usize,
    /// Time between two visits. Visits belong to the nearest multiple of it.
    #[arg(long, value_name = "TIME", value_parser = real, allow_hyphen_values = true, help_heading = "Windows")]
    pub step: f64,
    /// Leave visits out that are further than this from a multiple of the step
    /// [default: half a step, so that all count].
    #[arg(long, value_name = "TIME", value_parser = real, allow_hyphen_values = true, help_heading = "Windows")]
    pub tolerance: Option<f64>,
    /// The last time that training sees [default: with --predict-at --ahead
    /// steps before that, else all].
    #[arg(long, value_name = "TIME", value_parser = real, allow_hyphen_values = true, help_heading = "Windows")]
    pub until: Option<f64>,
    /// The time of which new samples are, after all that training sees, in tables
    /// that begin with new-; those of targets are the truth, where it is known
    /// [default: --ahead steps after each subject's last visit].
    #[arg(long, value_name = "TIME", value_parser = real, allow_hyphen_values = true, help_heading = "Windows")]
    pub predict_at: Option<f64>,
    /// Which windows are rows of training.
    #[arg(long, value_enum, default_value = "targets", help_heading = "Windows")]
    pub rows: RowsOf,
    /// What is repeated, parted by commas: NAME=COLUMNS or
    /// NAME=COLUMNS:LIKELIHOOD; COLUMNS are names with * and ?, joined by +. A
    /// view without a likelihood is gaussian, or censored where cells are limits
    /// (<1300, >120). Words that are multilabel become columns of 0 and 1.
    #[arg(
        long,
        value_name = "NAME=COLUMNS,...",
        required = true,
        value_delimiter = ',',
        help_heading = "Views"
    )]
    pub views: Vec<String>,
    /// What does not change with time, likewise: each subject's first known
    /// value.
    #[arg(
        long = "static",
        value_name = "NAME=COLUMNS,...",
        value_delimiter = ',',
        help_heading = "Views"
    )]
    pub fixed: Vec<String>,
    /// What is to be predicted: COLUMN, COLUMN:LIKELIHOOD or
    /// NAME=COLUMNS:LIKELIHOOD.
    #[arg(
        long,
        value_name = "COLUMN,...",
        required = true,
        value_delimiter = ',',
        help_heading = "Views"
    )]
    pub targets: Vec<String>,
    /// Take limits such as <1300 as the number itself.
    #[arg(long, help_heading = "Views")]
    pub set_to_limits: bool,
    /// The model of the study files.
    #[arg(long, value_enum, default_value = "sshiba", help_heading = "Output")]
    pub model: ModelName,
    /// One study of all targets, or one of each.
    #[arg(long, value_enum, default_value = "together", help_heading = "Output")]
    pub outputs: Outputs,
    /// The folder of the tables and the study files.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out_dir: PathBuf,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
