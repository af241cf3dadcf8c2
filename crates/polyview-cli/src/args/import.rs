//! The options of `polyview import`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview import mofa2.hdf5 --out model.pv\n  polyview import mofa2.hdf5 --group patients --out model.pv\n  polyview import mofa2.hdf5 --scale rna=2.5 --out model.pv\n\n\
The file keeps means alone. What is taken for granted instead is said, kept in the model's journal, \
and said again by `project` and `predict`."
)]
pub struct ImportArgs {
    /// The file of MOFA2.
    pub file: PathBuf,
    /// The model file to write.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: PathBuf,
    /// Of several groups read this one alone, with its intercepts and noise
    /// [default: all].
    #[arg(long, value_name = "GROUP", help_heading = "Data")]
    pub group: Option<String>,
    /// What MOFA2 divided a view by (scale_views), the standard deviation of
    /// its original values about the mean of their feature (of several groups:
    /// in their group), which its file does not say (a file that polyview wrote does, and another scale is refused);
    /// may be given several times [default: 1].
    #[arg(long, value_name = "VIEW=NUMBER", help_heading = "Data")]
    pub scale: Vec<String>,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
