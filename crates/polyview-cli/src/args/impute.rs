//! The options of `polyview impute`.

use std::path::PathBuf;

use clap::Args;

use super::IntervalArgs;

/// Arguments of `impute`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview impute model.pv --view lipids --out filled.csv\n  \
polyview impute model.pv --view lipids --out filled.csv --lower low.csv --upper high.csv --level 0.9\n  \
polyview impute model.pv --view diet --out diet.csv --probabilities p.csv")]
pub struct ImputeArgs {
    /// The model file.
    pub model: PathBuf,
    /// The view to fill. Its holes are filled by the joint fit from all that is known of a
    /// sample, also where the view is predicted from others by a mixture with a
    /// regression (fit --settle), as labels are; 'polyview predict' says what that gives.
    #[arg(long, value_name = "VIEW", help_heading = "Data")]
    pub view: String,
    /// Where the filled table goes; - is standard output. Holes of a binary view
    /// are filled with the probability of a 1, those of --labels with the more probable word, those
    /// of a categorical view with the most probable class, those of counts with
    /// the expected count. Times (survival) come with a column that is 1 where the
    /// event came then and 0 where the time is the model's. Ends of intervals are the
    /// values of cells that were observed.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: PathBuf,
    /// Where the probabilities of the classes of a categorical view go, or of
    /// the two words of --labels (observed: 1 and 0).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub probabilities: Option<PathBuf>,
    #[command(flatten)]
    pub intervals: IntervalArgs,
    /// Parameters at their means, without their uncertainty, as printed in the
    /// papers.
    #[arg(long, help_heading = "Prediction")]
    pub plug_in: bool,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
