//! The command line, as parsed.

mod verbs;

pub use verbs::{
    ChooseKArgs, DemoArgs, ExportArgs, ImportArgs, ImputeArgs, InspectArgs, KernelArgs, KernelName,
    PredictArgs, ProjectArgs, ReportArgs, ScoreArgs, ScoreKind, SimulateArgs,
};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use polyview_io::{DecimalMark, Delimiter, ReadOptions};

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
    /// How good predictions are, against the truth.
    Score(ScoreArgs),
    /// What a model file holds.
    Inspect(InspectArgs),
    /// An HTML report with pictures.
    Report(ReportArgs),
    /// Factors, weights and variances as tables; or a model file for MOFA2.
    Export(ExportArgs),
    /// A model of MOFA2 (mofapy2) as a model file.
    Import(ImportArgs),
    /// Compare numbers of factors and recommend one.
    ChooseK(ChooseKArgs),
    /// Similarities of samples to reference points, as a table to fit.
    Kernel(KernelArgs),
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
    /// Sparse semi-supervised heterogeneous inter-battery Bayesian analysis:
    /// real, binary and categorical views together.
    Sshiba,
    /// Multi-omics factor analysis: views of any kind, counts among them,
    /// sparse weights (spike and slab).
    Mofa,
    /// MOFA as mofapy2 computes it, sweep by sweep, for checking one program
    /// against the other: gaussian, bernoulli and poisson views.
    Mofapy2,
    /// Max-margin rank-likelihood discriminative factors: views enter by the
    /// order of their values alone, labels (--labels) by support vector machines.
    Rank,
}

impl ModelName {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bibfa => "bibfa",
            Self::Sshiba => "sshiba",
            Self::Mofa => "mofa",
            Self::Mofapy2 => "mofapy2",
            Self::Rank => "rank",
        }
    }
}

/// How text files are written.
#[derive(Debug, Args)]
pub struct FormatArgs {
    /// What parts the columns of text files; guessed from the header if not
    /// given.
    #[arg(long, value_name = "WHAT", value_parser = ["comma", "semicolon", "tab"])]
    pub delimiter: Option<String>,
    /// Numbers in text files have a decimal comma.
    #[arg(long)]
    pub decimal_comma: bool,
}

impl FormatArgs {
    /// Changes how text is read where options say so.
    pub fn set(&self, options: &mut ReadOptions) {
        options.delimiter = match self.delimiter.as_deref() {
            Some("comma") => Delimiter::Comma,
            Some("semicolon") => Delimiter::Semicolon,
            Some("tab") => Delimiter::Tab,
            _ => options.delimiter,
        };
        if self.decimal_comma {
            options.decimal = DecimalMark::Comma;
        }
    }
    /// How text is read.
    pub fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        self.set(&mut options);
        options
    }
}

/// Where data come from.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// A view: NAME=FILE or NAME=FILE:LIKELIHOOD. CSV, TSV (also .gz), NPY,
    /// NPZ (FILE.npz#ARRAY for one of several arrays); first column the sample
    /// IDs, header row the feature names. Sparse:
    /// Matrix Market, FILE.mtx with FILE.rows.txt and FILE.cols.txt, or
    /// matrix.mtx of 10x with its features.tsv and barcodes.tsv. Also
    /// FILE.h5ad or FILE.h5ad#layers/counts, FILE.h5mu#MODALITY or
    /// FILE.h5mu#MODALITY/layers/counts; of classes FILE.h5ad#obs/COLUMN.
    /// Likelihoods: gaussian (numbers), bernoulli, bernoulli-latent, probit
    /// or svm (0 and 1), categorical (one column of class names), negative-binomial or nb,
    /// poisson-log-normal or pln, poisson (counts), binomial (counts out of
    /// --trials). With --model sshiba or mofa a likelihood that is not given is
    /// guessed, and the guess is said.
    #[arg(long = "view", value_name = "NAME=FILE[:LIKELIHOOD]")]
    pub views: Vec<String>,
    /// Labels of two values, words or numbers: FILE:LIKELIHOOD. Each column is a
    /// view of its own, named by its header.
    #[arg(long, value_name = "FILE:LIKELIHOOD")]
    pub labels: Vec<String>,
    /// Numbers of trials of a binomial view, in a table like the view's; may
    /// be given several times.
    #[arg(long, value_name = "VIEW=FILE")]
    pub trials: Vec<String>,
    /// A table about the samples (first column the IDs), kept for reports,
    /// never modelled. Of an .h5ad or .h5mu file its obs.
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
    #[command(flatten)]
    pub format: FormatArgs,
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
    /// Engine. With stochastic, fit does not load NPY and text files but reads
    /// them from disk a batch at a time (see its --in-memory).
    #[arg(long, value_parser = ["vb", "gibbs", "stochastic"])]
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
    /// Prior of the weights, of all views or of one: ard (precisions by
    /// factor), relevance (by factor and feature), spike-slab (exact zeros),
    /// horseshoe (variances by weight); may be given several times, later ones
    /// win.
    #[arg(long, value_name = "[VIEW=]PRIOR")]
    pub weights: Vec<String>,
    /// Learn how relevant each feature of this view is; may be given several
    /// times.
    #[arg(long, value_name = "VIEW")]
    pub select_features: Vec<String>,
    /// The features of this view are the pixels of an image of H rows and W
    /// columns, row by row: reports show their relevance as that image; may be
    /// given several times.
    #[arg(long, value_name = "VIEW=HxW")]
    pub shape: Vec<String>,
    /// At the end settle the weights of this view, of labels for example, on
    /// factors of the other views alone: those that a prediction of it will
    /// meet; may be given several times. With --model rank labels are settled
    /// unless --no-settle is given.
    #[arg(long, value_name = "VIEW")]
    pub settle: Vec<String>,
    /// Leave the weights of all views as the joint fit has them.
    #[arg(long, conflicts_with = "settle")]
    pub no_settle: bool,
    /// Model without intercepts.
    #[arg(long)]
    pub no_intercepts: bool,
    /// Prior of the factors: standard normal, precisions by factor, or
    /// precisions and exact zeros, for each group of samples its own; or a
    /// mixture (see --mixture).
    #[arg(long, value_name = "PRIOR", value_parser = ["standard-normal", "ard", "spike-and-slab", "mixture"])]
    pub factor_prior: Option<String>,
    /// Each sample belongs to one of T clusters, with classifiers of its own for
    /// bernoulli views (a mixture prior of the factors).
    #[arg(long, value_name = "T", conflicts_with = "factor_prior")]
    pub mixture: Option<usize>,
    /// Noise for each group of samples and feature (see --groups).
    #[arg(long)]
    pub group_noise: bool,
    /// Intercepts for each group of samples and feature (see --groups).
    #[arg(long)]
    pub group_intercepts: bool,
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
    /// Stochastic: samples of a batch, as a share (0.05) or as a number above 1.
    #[arg(long, value_name = "X")]
    pub batch: Option<f64>,
    /// Stochastic: most epochs, each a visit to every sample.
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Stochastic: step of the first epoch, above 0 and at most 1.
    #[arg(long, value_name = "X")]
    pub learning_rate: Option<f64>,
    /// Stochastic: how fast steps become shorter; 0 keeps the first.
    #[arg(long, value_name = "X")]
    pub forgetting: Option<f64>,
    /// Stochastic: exact sweeps after the epochs.
    #[arg(long, value_name = "N")]
    pub exact_sweeps: Option<usize>,
}

/// Arguments of `fit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
polyview fit --view genes=genes.csv --view lipids=lipids.csv --factors 15 --seed 1 --out model.pv\n  \
polyview fit --model sshiba --view genes=genes.csv --view diet=diet.csv:categorical --out model.pv\n  \
polyview fit --model mofa --view rna=counts.csv:poisson-log-normal --view drugs=d.csv --out model.pv\n  \
polyview fit --spec study.toml --out model.pv\n  \
polyview fit --spec study.toml --dry-run > complete.toml\n  \
polyview fit --view x=x.npy --engine gibbs --chains 4 --sweeps 2000 --out draws.pv\n  \
polyview fit --view x=huge.npy --engine stochastic --batch 0.05 --out model.pv\n  \
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
    /// Write a checkpoint here now and then, on Ctrl-C, and before the last sweep
    /// that --max-sweeps allows.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub checkpoint_every: u64,
    /// Go on from a checkpoint of the same data and choices; --max-sweeps may be
    /// another.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Stochastic: load the views, so that they are joined by their IDs and may
    /// be of any kind.
    #[arg(long)]
    pub in_memory: bool,
    /// Stochastic: folder for the numbers of views in text files while fitting,
    /// eight bytes a cell; the system's folder for temporary files if not given.
    #[arg(long, value_name = "FOLDER")]
    pub scratch: Option<PathBuf>,
}
