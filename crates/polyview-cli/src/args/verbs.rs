//! The arguments of the verbs that take a model file, and of the small ones.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DataArgs, FormatArgs, ModelArgs};

/// Arguments of `project`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview project model.pv --view genes=new.csv --out factors.csv\n  \
polyview project model.pv --view genes=g.csv --view lipids=l.csv --out z.csv --sd z-sd.csv")]
pub struct ProjectArgs {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// What becomes of a class that the model has not seen.
    #[arg(long, value_name = "HOW", value_parser = ["error", "missing"], default_value = "error")]
    pub unknown_class: String,
    /// Where the factors go: a column for each.
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Where their standard deviations go.
    #[arg(long, value_name = "FILE")]
    pub sd: Option<PathBuf>,
    /// Weights at their means, without their uncertainty.
    #[arg(long)]
    pub plug_in: bool,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `predict`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview predict model.pv --view genes=new.csv --target lipids --out predicted.csv\n  \
polyview predict model.pv --view genes=new.csv --target lipids --out p.csv --sd sd.csv\n  \
polyview predict model.pv --view genes=new.csv --target diet --out p.csv\n\n\
The columns are: sample, then one for each feature of the target. Of a binary target they hold\n\
the probability of a 1. Of a target of --labels the first column is the more probable word, then\n\
comes a score, where the model has one, then the probability of one of the words, the one that the\n\
name of the column says: probability_of_WORD. Of a categorical target the first column, named after\n\
its feature, is the most probable class; then comes the probability of each class.")]
pub struct PredictArgs {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// The view to predict.
    #[arg(long, value_name = "VIEW")]
    pub target: String,
    /// What becomes of a class that the model has not seen.
    #[arg(long, value_name = "HOW", value_parser = ["error", "missing"], default_value = "error")]
    pub unknown_class: String,
    /// Where predictive means go; for labels their probabilities, for classes
    /// first the most probable one.
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Where predictive standard deviations go (not for labels).
    #[arg(long, value_name = "FILE")]
    pub sd: Option<PathBuf>,
    /// Parameters at their means, without their uncertainty, as printed in the
    /// papers; by default the uncertainty of weights, intercepts and noise
    /// counts, which makes probabilities less extreme.
    #[arg(long)]
    pub plug_in: bool,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `impute`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview impute model.pv --view lipids --out filled.csv\n  \
polyview impute model.pv --view lipids --out filled.csv --lower low.csv --upper high.csv --level 0.9\n  \
polyview impute model.pv --view diet --out diet.csv --probabilities p.csv")]
pub struct ImputeArgs {
    /// The model file.
    pub model: PathBuf,
    /// The view to fill.
    #[arg(long, value_name = "VIEW")]
    pub view: String,
    /// Where the filled table goes. Holes of a binary view are filled with the
    /// probability of a 1, those of --labels with the more probable word, those
    /// of a categorical view with the most probable class, those of counts with
    /// the expected count.
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Where the probabilities of the classes of a categorical view go, or of
    /// the two words of --labels (observed: 1 and 0).
    #[arg(long, value_name = "FILE")]
    pub probabilities: Option<PathBuf>,
    /// Where lower ends of the intervals go (observed cells: their values).
    #[arg(long, value_name = "FILE")]
    pub lower: Option<PathBuf>,
    /// Where upper ends of the intervals go.
    #[arg(long, value_name = "FILE")]
    pub upper: Option<PathBuf>,
    /// Probability of the intervals.
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub level: f64,
    /// Parameters at their means, without their uncertainty, as printed in the
    /// papers.
    #[arg(long)]
    pub plug_in: bool,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// What was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScoreKind {
    /// Probabilities of labels that are 0 or 1, or one of two words.
    Binary,
    /// One class a sample.
    Categorical,
    /// Expected counts.
    Count,
    /// Numbers.
    Real,
}

/// Arguments of `score`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview score --truth lipids.csv --predicted p.csv --kind real --lower low.csv --upper high.csv\n  \
polyview score --truth genotype.csv --predicted p.csv --kind binary\n  \
polyview score --truth ill.csv --predicted p.csv --kind binary --positive yes\n  \
polyview score --truth diet.csv --predicted p.csv --kind categorical --json\n  \
polyview score --truth counts.csv --predicted p.csv --kind count --sd sd.csv\n\n\
Samples are matched by ID, columns by name; cells whose truth is empty are left out. The\n\
predictions are files as `predict` writes them, or `impute --probabilities`; --delimiter and\n\
--decimal-comma are about the truth and the training values. Scores that cannot be computed\n\
are listed.")]
pub struct ScoreArgs {
    /// The true values; for classes one column of names.
    #[arg(long, value_name = "FILE")]
    pub truth: PathBuf,
    #[command(flatten)]
    pub format: FormatArgs,
    /// The predictions.
    #[arg(long, value_name = "FILE")]
    pub predicted: PathBuf,
    /// What was predicted.
    #[arg(long, value_enum)]
    pub kind: ScoreKind,
    /// The word of the truth that the probabilities are of (binary); not needed
    /// for the predictions of labels that `predict` writes.
    #[arg(long, value_name = "WORD")]
    pub positive: Option<String>,
    /// The training values (real): R2 is then against each column's mean over
    /// them, as that of fits, reports and choose-k, and not over the true values.
    #[arg(long, value_name = "FILE")]
    pub training: Option<PathBuf>,
    /// Lower ends of intervals (real, count).
    #[arg(long, value_name = "FILE", requires = "upper")]
    pub lower: Option<PathBuf>,
    /// Upper ends of intervals (real, count).
    #[arg(long, value_name = "FILE", requires = "lower")]
    pub upper: Option<PathBuf>,
    /// Standard deviations (count): log densities are then those of negative
    /// binomial counts, else of Poisson counts.
    #[arg(long, value_name = "FILE")]
    pub sd: Option<PathBuf>,
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview inspect model.pv\n  polyview inspect model.pv --journal\n  polyview inspect model.pv --json\n  polyview inspect vb.pv --against gibbs.pv\n  polyview inspect model.pv --checks"
)]
pub struct InspectArgs {
    /// The model file.
    pub model: PathBuf,
    /// Everything that happened during the fit.
    #[arg(long)]
    pub journal: bool,
    /// Every choice, as a study file.
    #[arg(long)]
    pub spec: bool,
    /// Another model of the same data: whether the two predict the same, and how
    /// sure this one is beside it.
    #[arg(long, value_name = "MODEL")]
    pub against: Option<PathBuf>,
    /// Data that the model makes, in so many replicates, beside those given.
    #[arg(long, value_name = "REPLICATES", num_args = 0..=1, default_missing_value = "100")]
    pub checks: Option<usize>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview report model.pv --out report.html\n  polyview report model.pv --out report.html --metadata samples.csv\n  polyview report model.pv --out report.html --pictures figures/\n  polyview report vb.pv --out report.html --against gibbs.pv --checks"
)]
pub struct ReportArgs {
    /// The model file.
    pub model: PathBuf,
    /// The page to write.
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// A table about the samples, for colours.
    #[arg(long, value_name = "FILE")]
    pub metadata: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Also write each picture as SVG into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
    /// Title of the page.
    #[arg(long)]
    pub title: Option<String>,
    /// Another model of the same data: whether the two predict the same, and how
    /// sure this one is beside it.
    #[arg(long, value_name = "MODEL")]
    pub against: Option<PathBuf>,
    /// Data that the model makes, in so many replicates, beside those given.
    #[arg(long, value_name = "REPLICATES", num_args = 0..=1, default_missing_value = "100")]
    pub checks: Option<usize>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview export model.pv --factors z.csv --weights genes=w.csv\n  polyview export model.pv --variance r2.csv --factors-sd z-sd.npy\n  polyview export model.pv --weights genes=w.csv --varimax\n  polyview export model.pv --inclusion genes=p.csv\n  polyview export model.pv --format mofa2 model.hdf5"
)]
pub struct ExportArgs {
    /// The model file.
    pub model: PathBuf,
    /// Factors, samples × factors.
    #[arg(long, value_name = "FILE")]
    pub factors: Option<PathBuf>,
    /// Standard deviations of the factors.
    #[arg(long, value_name = "FILE")]
    pub factors_sd: Option<PathBuf>,
    /// Weights of a view, features × factors, in standardised units.
    #[arg(long, value_name = "VIEW=FILE")]
    pub weights: Vec<String>,
    /// Standard deviations of the weights of a view.
    #[arg(long, value_name = "VIEW=FILE")]
    pub weights_sd: Vec<String>,
    /// Posterior inclusion probabilities of the weights of a spike-and-slab
    /// view, features × factors.
    #[arg(long, value_name = "VIEW=FILE")]
    pub inclusion: Vec<String>,
    /// Variance explained, views × factors (marginal), and in all.
    #[arg(long, value_name = "FILE")]
    pub variance: Option<PathBuf>,
    /// Write the whole model in the layout of another program: mofa2, the HDF5
    /// file that MOFA2, mofax and muon open.
    #[arg(long, value_name = "FORMAT", value_parser = ["mofa2"], requires = "file")]
    pub format: Option<String>,
    /// Where the whole model goes.
    #[arg(value_name = "FILE", requires = "format")]
    pub file: Option<PathBuf>,
    /// A view to leave out of the whole model; may be given several times.
    #[arg(long, value_name = "VIEW", requires = "format")]
    pub without: Vec<String>,
    /// Rotate the answer by varimax first.
    #[arg(long)]
    pub varimax: bool,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview import mofa2.hdf5 --out model.pv\n  polyview import mofa2.hdf5 --group patients --out model.pv\n  polyview import mofa2.hdf5 --scale rna=2.5 --out model.pv\n\n\
The file keeps means alone. What is taken for granted instead is said, kept in the model's journal,\n\
and said again by `project` and `predict`."
)]
pub struct ImportArgs {
    /// The file of MOFA2.
    pub file: PathBuf,
    /// The model file to write.
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Of several groups read this one alone, with its intercepts and noise.
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// What MOFA2 divided a view by (scale_views), which its file does not
    /// say; may be given several times.
    #[arg(long, value_name = "VIEW=NUMBER")]
    pub scale: Vec<String>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `choose-k`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview choose-k --spec study.toml\n  polyview choose-k --view genes=genes.csv --candidates 2,4,8,16 --repeats 5"
)]
pub struct ChooseKArgs {
    /// A study file (TOML) with data and choices; options given here win.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Numbers of factors to compare.
    #[arg(long, value_delimiter = ',', value_name = "K,K,...")]
    pub candidates: Vec<usize>,
    /// Share of the cells that is held out.
    #[arg(long, default_value_t = 0.1, value_name = "P")]
    pub held_out: f64,
    /// Repeats with other cells held out.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub repeats: usize,
}

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
    /// Where the similarities go, samples x reference points.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The kernel.
    #[arg(long, value_enum, default_value = "rbf")]
    pub kind: KernelName,
    /// Of rbf, per squared unit of the features. Default: one over their number.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub gamma: Option<f64>,
    /// Of polynomial, 1 to 20.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub degree: u32,
    /// Of polynomial, 0 or larger.
    #[arg(
        long,
        default_value_t = 1.0,
        value_name = "X",
        allow_negative_numbers = true
    )]
    pub offset: f64,
    /// Number of reference points, drawn from the samples. Default: all samples.
    #[arg(long, value_name = "R")]
    pub references: Option<usize>,
    /// Seed of that draw.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Take features in their own units; else each is brought to mean 0 and
    /// standard deviation 1.
    #[arg(long)]
    pub raw: bool,
    /// Keep the kernel with its reference points, for new samples.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Take the kernel and the reference points of this file, which --save wrote.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "gamma", "degree", "offset", "references", "seed", "raw", "save"])]
    pub map: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `simulate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview simulate --model bibfa --samples 200 --features 50,30 --factors 5 --seed 1 --out-dir sim/\n  polyview simulate --from model.pv --samples 100 --out-dir more/"
)]
pub struct SimulateArgs {
    /// The model to draw from; data with labels come --from a fitted model.
    #[arg(long, value_parser = ["bibfa"], default_value = "bibfa")]
    pub model: String,
    /// A fitted model to draw new samples from instead.
    #[arg(long, value_name = "MODEL")]
    pub from: Option<PathBuf>,
    /// Trials of each cell of a binomial view of the model, a whole number; may
    /// be repeated. Without it they are those of training samples drawn at random.
    #[arg(long, value_name = "VIEW=N", requires = "from")]
    pub trials: Vec<String>,
    /// Number of samples.
    #[arg(long, default_value_t = 200)]
    pub samples: usize,
    /// Numbers of features, one a view.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "50,30",
        value_name = "D,D,..."
    )]
    pub features: Vec<usize>,
    /// Number of factors.
    #[arg(long, short = 'k', default_value_t = 5)]
    pub factors: usize,
    /// Share of cells that are missing.
    #[arg(long, default_value_t = 0.0, value_name = "P")]
    pub missing: f64,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where the tables go.
    #[arg(long, value_name = "FOLDER")]
    pub out_dir: PathBuf,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  polyview demo --out-dir polyview-demo")]
pub struct DemoArgs {
    /// Where model and report go.
    #[arg(long, value_name = "FOLDER", default_value = "polyview-demo")]
    pub out_dir: PathBuf,
}
