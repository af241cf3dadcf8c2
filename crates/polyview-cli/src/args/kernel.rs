//! The options of `polyview kernel`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FormatArgs;
use super::numbers::{counted, real, whole};

/// Kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    /// exp(-gamma * squared distance).
    Rbf,
    /// The inner product.
    Linear,
    /// (inner product / number of features + offset) to the power of degree.
    Polynomial,
}

/// Options of `polyview kernel`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview kernel genes.csv --out similar.csv --references 300 --save genes.kernel\n  polyview fit --model sshiba --view genes=similar.csv --view ill=ill.csv:bernoulli --factors 30 --out model.pv\n  polyview kernel new-genes.csv --map genes.kernel --out new-similar.csv\n  polyview predict model.pv --view genes=new-similar.csv --target ill --out predicted.csv"
)]
pub struct KernelArgs {
    /// The table: samples in rows, features in columns. Samples without any
    /// value stay empty.
    pub table: PathBuf,
    #[command(flatten)]
    pub format: FormatArgs,
    /// The kernel.
    #[arg(long, value_enum, default_value = "rbf", help_heading = "Kernel")]
    pub kind: KernelName,
    /// Of rbf, per squared unit of the features [default: one over their
    /// number].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true, help_heading = "Kernel")]
    pub gamma: Option<f64>,
    /// Of polynomial, 1 to 20 [default: 3].
    #[arg(long, value_name = "N", value_parser = counted::<u32>, allow_negative_numbers = true, help_heading = "Kernel")]
    pub degree: Option<u32>,
    /// Of polynomial, 0 or larger [default: 1].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true, help_heading = "Kernel")]
    pub offset: Option<f64>,
    /// Number of reference points, drawn from the samples [default: all
    /// samples].
    #[arg(long, value_name = "R", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Kernel")]
    pub references: Option<usize>,
    /// Seed of that draw.
    #[arg(long, default_value_t = 1, value_name = "SEED", value_parser = whole::<u64>, allow_negative_numbers = true, help_heading = "Kernel")]
    pub seed: u64,
    /// Take features in their own units; else each is brought to mean 0 and
    /// standard deviation 1.
    #[arg(long, help_heading = "Kernel")]
    pub raw: bool,
    /// Take the kernel and the reference points of this file, which --save wrote.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "gamma", "degree", "offset", "references", "seed", "raw", "save"], help_heading = "Kernel")]
    pub map: Option<PathBuf>,
    /// Where the similarities go, samples x reference points; - is standard
    /// output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: PathBuf,
    /// Keep the kernel with its reference points, for new samples.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
