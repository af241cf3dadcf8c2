//! The options of `polyview predict`.

use std::path::PathBuf;

use clap::Args;

use super::numbers::real;
use super::{DataArgs, IntervalArgs};

/// Arguments of `predict`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview predict model.pv --view genes=new.csv --target lipids --out predicted.csv\n  \
polyview predict model.pv --view genes=new.csv --target lipids --out p.csv --sd sd.csv\n  \
polyview predict model.pv --view genes=new.csv --target diet --out -\n  \
polyview predict model.pv --view genes=new.csv --target lipids --out p.csv --lower low.csv --upper high.csv --level 0.9\n\n\
The columns are: sample, then one for each feature of the target. Of a binary target they hold \
the probability of a 1. Of a target of --labels the first column is the more probable word, then \
comes a score, where the model has one, then the probability of one of the words, the one that the \
name of the column says: probability_of_WORD. Of a categorical target the first column, named after \
its feature, is the most probable class; then comes the probability of each class. Of a binomial \
target they hold the probability of a success, with --trials TARGET=FILE of the new samples the \
expected successes out of so many. Of times to an event (survival) they hold the median time, the \
mean of its logarithm, and for each time T of --times the probability that the event comes \
later: FEATURE_survival_at_T.\n\n\
Intervals hold the median. Of ranks, counts and levels, whose laws are lopsided, the mean may lie \
outside: a value that is nearly always 0 has a small mean, and 0 at both ends.")]
pub struct PredictArgs {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// The view to predict.
    #[arg(long, value_name = "VIEW", help_heading = "Prediction")]
    pub target: String,
    /// What becomes of a class that the model has not seen.
    #[arg(long, value_name = "HOW", value_parser = ["error", "missing"], default_value = "error", help_heading = "Prediction")]
    pub unknown_class: String,
    /// Of times to an event the times at which the probability of a later one is said, in
    /// the unit of the data; by default the quartiles of the training times.
    #[arg(
        long,
        value_name = "TIMES",
        value_delimiter = ',',
        value_parser = real,
        allow_negative_numbers = true,
        help_heading = "Prediction"
    )]
    pub times: Vec<f64>,
    /// Where predictive means go; for labels their probabilities, for classes
    /// first the most probable one; - is standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: PathBuf,
    /// Where predictive standard deviations go (not for labels); of a binomial
    /// target those of the probability, with --trials those of the successes; of times to an
    /// event those of their logarithms.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sd: Option<PathBuf>,
    #[command(flatten)]
    pub intervals: IntervalArgs,
    /// Parameters at their means, without their uncertainty, as printed in the
    /// papers; by default the uncertainty of weights, intercepts and noise
    /// counts, which makes probabilities less extreme. Intervals are not always
    /// narrower: weights that are known leave the factors of new samples more
    /// room than uncertain ones, which hold them back. Probabilities of labels are then
    /// those at the mean of the predictor, without the uncertainty of factors either.
    #[arg(long, help_heading = "Prediction")]
    pub plug_in: bool,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
