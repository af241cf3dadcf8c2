//! The options of `polyview update`.

use std::path::PathBuf;

use clap::Args;

use super::DataArgs;
use super::numbers::{at_least_one, counted, real};

/// Arguments of `update`.
#[derive(Debug, Args)]
// models that were adjusted are not updated: what their new samples would need is no option
#[command(mut_arg("covariates", |a| a.hide(true)))]
#[command(mut_arg("offsets", |a| a.hide(true)))]
#[command(mut_arg("transposed", |a| a.help(
    "The tables of --view and --trials have features in rows and samples in columns. Tables about samples \
     (--labels, --metadata) have samples in rows all the same, and .h5ad and .h5mu say themselves where these are"
)))]
#[command(after_help = "Examples:\n  \
polyview update model.pv --view genes=new.csv --view lipids=new-lipids.csv --out model2.pv\n  \
polyview update model.pv --view genes=new.csv --batch 1 --out model2.pv\n  \
polyview update model.pv --view genes=new.csv --passes 200 --refresh --out model2.pv\n\n\
Factors of new samples are found under the weights of the model, and their sums are added to those \
of all samples so far, from which weights, intercepts and noise follow: in one pass each new sample is \
seen once. Features, their scales and centres, classes and the number of factors are those of the first \
fit. Views that are not given are missing. 'polyview models' says which likelihoods have such sums (those \
that the engine stochastic takes).")]
pub struct UpdateArgs {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// New samples that are taken in together, with one update after each batch
    /// [default: all of them].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>, allow_negative_numbers = true, help_heading = "Update")]
    pub batch: Option<usize>,
    /// Most passes over the new samples; they end once weights rest.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Update")]
    pub passes: usize,
    /// Share by which all that came before a new sample counts less after it, from
    /// 0 to below 1: for data that drift.
    #[arg(
        long,
        value_name = "RATE",
        default_value_t = 0.0,
        value_parser = real,
        allow_negative_numbers = true,
        help_heading = "Update"
    )]
    pub forget: f64,
    /// See the samples of the model again in each pass after the first: with enough
    /// passes a fit of all samples together, gone on with from this one. Of views that take
    /// their bound here (bernoulli, probit, binomial, nb: those with a form) it is the fit
    /// with form=bound, whose weights are smaller than by default.
    #[arg(long, help_heading = "Update")]
    pub refresh: bool,
    /// The model file to write, another one than the model that is read.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: PathBuf,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
