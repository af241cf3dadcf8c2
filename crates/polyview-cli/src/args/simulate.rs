//! The options of `polyview simulate`.

use std::path::PathBuf;

use clap::Args;

use super::numbers::{counted, real, whole};

/// Arguments of `simulate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview simulate --model bibfa --samples 200 --features 50,30 --factors 5 --seed 1 --out-dir sim/\n  polyview simulate --from model.pv --samples 100 --out-dir more/"
)]
pub struct SimulateArgs {
    /// The model to draw from; data with labels come --from a fitted model.
    #[arg(long, value_parser = ["bibfa"], default_value = "bibfa", help_heading = "Model")]
    pub model: String,
    /// A fitted model to draw new samples from instead: one draw of its weights,
    /// intercepts and noise from the posterior, the same for all samples, so that
    /// what holds on average holds over seeds. Where the model looks at
    /// groups, those of the new samples go to groups.csv beside the views, as
    /// --metadata and --groups read them.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["model", "factors", "features", "missing"], help_heading = "Model")]
    pub from: Option<PathBuf>,
    /// Number of factors; a model that is drawn --from has its own.
    #[arg(long, short = 'k', value_name = "K", default_value_t = 5, value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Model")]
    pub factors: usize,
    /// Number of samples.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Data")]
    pub samples: usize,
    /// Numbers of features, one per view; a model that is drawn --from has its
    /// own.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "50,30",
        value_name = "D,D,...",
        value_parser = counted::<usize>,
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    pub features: Vec<usize>,
    /// Share of cells that are missing; none are in draws --from a model.
    #[arg(long, default_value_t = 0.0, value_name = "P", value_parser = real, allow_hyphen_values = true, help_heading = "Data")]
    pub missing: f64,
    /// Trials of each cell of a binomial view of the model, a whole number; may
    /// be repeated [default: those of training samples drawn at random].
    #[arg(long, value_name = "VIEW=N", requires = "from", help_heading = "Data")]
    pub trials: Vec<String>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole::<u64>, allow_negative_numbers = true, help_heading = "Data")]
    pub seed: u64,
    /// Where the tables go; - is standard output, for one view.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out_dir: PathBuf,
    /// Replace files that exist.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
