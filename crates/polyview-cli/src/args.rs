//! The command line, as parsed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Bayesian factor models for several views of the same samples.
#[derive(Debug, Parser)]
#[command(
    name = "polyview",
    version,
    about = "Bayesian factor models for several views of the same samples",
    after_help = "Results go to standard output or to files, progress and messages to standard error.\n\
Exit codes: 0 done, 1 something is wrong with data, model or files, 2 wrong usage (or a study\n\
file that cannot be read), 130 interrupted (a checkpoint was written if --checkpoint was given).\n\n\
Start with:  polyview demo"
)]
pub struct Cli {
    /// No progress, no messages but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Number of threads; 0 takes all cores. Results do not depend on it.
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Machine-readable results on standard output.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit a model to tables and write a model file.
    Fit(FitArgs),
    /// Factors of new samples from any subset of the views.
    Project(ProjectArgs),
    /// Predict one view of samples from others.
    Predict(PredictArgs),
    /// The training data of a view with its holes filled.
    Impute(ImputeArgs),
    /// What a model file holds.
    Inspect(InspectArgs),
    /// An HTML report with pictures.
    Report(ReportArgs),
    /// Factors, weights and variances as tables.
    Export(ExportArgs),
    /// Compare numbers of factors and recommend one.
    ChooseK(ChooseKArgs),
    /// Draw data from a model.
    Simulate(SimulateArgs),
    /// Fit real data that come with the program, and report.
    Demo(DemoArgs),
    /// Shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Preset models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelName {
    /// Bayesian inter-battery factor analysis: Gaussian views, ARD, intercepts.
    Bibfa,
}

/// Where data come from.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// A view: NAME=FILE or NAME=FILE:LIKELIHOOD. CSV, TSV (also .gz), NPY,
    /// NPZ; first column the sample IDs, header row the feature names.
    #[arg(long = "view", value_name = "NAME=FILE[:LIKELIHOOD]")]
    pub views: Vec<String>,
    /// A table about the samples (first column the IDs), kept for reports,
    /// never modelled.
    #[arg(long, value_name = "FILE")]
    pub metadata: Option<PathBuf>,
    /// Column of the metadata that gives each sample its group.
    #[arg(long, value_name = "COLUMN", requires = "metadata")]
    pub groups: Option<String>,
    /// Samples to keep: union (default) or intersection of the views'.
    #[arg(long, value_name = "HOW", value_parser = ["union", "intersection"])]
    pub join: Option<String>,
    /// The tables have features in rows and samples in columns.
    #[arg(long)]
    pub transposed: bool,
}

/// What to fit and how.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model.
    #[arg(long, value_enum)]
    pub model: Option<ModelName>,
    /// Number of factors to start with; superfluous ones are removed.
    #[arg(long, short = 'k', value_name = "K")]
    pub factors: Option<usize>,
    /// Seed of all random numbers.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Engine.
    #[arg(long, value_parser = ["vb", "gibbs"])]
    pub engine: Option<String>,
    /// Treatment of missing values: integrated out, or the papers' imputation.
    #[arg(long, value_parser = ["marginal", "impute"])]
    pub missing: Option<String>,
    /// One noise precision for each view, or for each feature.
    #[arg(long, value_parser = ["view", "feature"])]
    pub noise: Option<String>,
    /// Divide values by nothing, one number a view, or each feature's
    /// standard deviation.
    #[arg(long, value_parser = ["none", "view", "feature"])]
    pub scaling: Option<String>,
    /// Subtract nothing, or each feature's mean.
    #[arg(long, value_parser = ["none", "feature"])]
    pub centring: Option<String>,
    /// Learn how relevant each feature of this view is; may be given several
    /// times.
    #[arg(long, value_name = "VIEW")]
    pub select_features: Vec<String>,
    /// Model without intercepts.
    #[arg(long)]
    pub no_intercepts: bool,
    /// Start of the factors.
    #[arg(long, value_parser = ["varimax", "svd", "random"])]
    pub start: Option<String>,
    /// Starts; the best bound is kept.
    #[arg(long, value_name = "N")]
    pub restarts: Option<usize>,
    /// Most sweeps.
    #[arg(long, value_name = "N")]
    pub max_sweeps: Option<usize>,
    /// Largest relative change of the bound at convergence.
    #[arg(long, value_name = "X")]
    pub tolerance: Option<f64>,
    /// Do not rotate factors on the bound.
    #[arg(long)]
    pub no_rotation: bool,
    /// Do not remove empty factors.
    #[arg(long)]
    pub no_pruning: bool,
    /// How complete data are swept.
    #[arg(long, value_parser = ["auto", "streaming", "compress-samples", "compress-features"])]
    pub path: Option<String>,
    /// Check the bound after every block; stop with an error where it falls.
    #[arg(long)]
    pub audit: bool,
    /// Gibbs: chains.
    #[arg(long, value_name = "N")]
    pub chains: Option<usize>,
    /// Gibbs: sweeps thrown away at the beginning of each chain.
    #[arg(long, value_name = "N")]
    pub warm_up: Option<usize>,
    /// Gibbs: sweeps kept after that.
    #[arg(long, value_name = "N")]
    pub sweeps: Option<usize>,
    /// Gibbs: every how many sweeps a draw is stored.
    #[arg(long, value_name = "N")]
    pub thin: Option<usize>,
}

/// Arguments of `fit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview fit --view genes=genes.csv --view lipids=lipids.csv --factors 15 --seed 1 --out model.pv\n  \
polyview fit --spec study.toml --out model.pv\n  \
polyview fit --spec study.toml --dry-run > complete.toml\n  \
polyview fit --view x=x.npy --engine gibbs --chains 4 --sweeps 2000 --out draws.pv\n  \
polyview fit --spec study.toml --checkpoint run.ckpt --out model.pv\n  \
polyview fit --spec study.toml --resume run.ckpt --out model.pv")]
pub struct FitArgs {
    /// A study file (TOML) with data and choices; options given here win.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    /// The model file to write.
    #[arg(long, short, value_name = "FILE", required_unless_present = "dry_run")]
    pub out: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
    /// Print the study with every default filled in, and stop.
    #[arg(long)]
    pub dry_run: bool,
    /// Leave the training data out of the model file.
    #[arg(long)]
    pub no_data: bool,
    /// Write a checkpoint here now and then, and on Ctrl-C.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub checkpoint_every: u64,
    /// Go on from a checkpoint of the same data and choices.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

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
polyview predict model.pv --view genes=new.csv --target lipids --out p.csv --sd sd.csv\n\n\
The columns are: sample, then one for each feature of the target.")]
pub struct PredictArgs {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// The view to predict.
    #[arg(long, value_name = "VIEW")]
    pub target: String,
    /// Where predictive means go.
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Where predictive standard deviations go.
    #[arg(long, value_name = "FILE")]
    pub sd: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `impute`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview impute model.pv --view lipids --out filled.csv\n  \
polyview impute model.pv --view lipids --out filled.csv --lower low.csv --upper high.csv --level 0.9")]
pub struct ImputeArgs {
    /// The model file.
    pub model: PathBuf,
    /// The view to fill.
    #[arg(long, value_name = "VIEW")]
    pub view: String,
    /// Where the filled table goes.
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Where lower ends of the intervals go (observed cells: their values).
    #[arg(long, value_name = "FILE")]
    pub lower: Option<PathBuf>,
    /// Where upper ends of the intervals go.
    #[arg(long, value_name = "FILE")]
    pub upper: Option<PathBuf>,
    /// Probability of the intervals.
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub level: f64,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview inspect model.pv\n  polyview inspect model.pv --journal\n  polyview inspect model.pv --json"
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
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview report model.pv --out report.html\n  polyview report model.pv --out report.html --metadata samples.csv\n  polyview report model.pv --out report.html --pictures figures/"
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
    /// Also write each picture as SVG into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
    /// Title of the page.
    #[arg(long)]
    pub title: Option<String>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview export model.pv --factors z.csv --weights genes=w.csv\n  polyview export model.pv --variance r2.csv --factors-sd z-sd.npy\n  polyview export model.pv --weights genes=w.csv --varimax"
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
    /// Variance explained, views × factors (marginal), and in all.
    #[arg(long, value_name = "FILE")]
    pub variance: Option<PathBuf>,
    /// Rotate the answer by varimax first.
    #[arg(long)]
    pub varimax: bool,
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

/// Arguments of `simulate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview simulate --model bibfa --samples 200 --features 50,30 --factors 5 --seed 1 --out-dir sim/\n  polyview simulate --from model.pv --samples 100 --out-dir more/"
)]
pub struct SimulateArgs {
    /// The model to draw from.
    #[arg(long, value_enum, default_value_t = ModelName::Bibfa)]
    pub model: ModelName,
    /// A fitted model to draw new samples from instead.
    #[arg(long, value_name = "MODEL")]
    pub from: Option<PathBuf>,
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
