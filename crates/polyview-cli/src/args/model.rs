//! What to fit and how.

use clap::{Args, ValueEnum};
use polyview_core::RowRole;

use super::numbers::{counted, real, whole};
use crate::choice::priors;

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
    /// Multiview learning with features and similarities: ordered levels, numbers,
    /// similarities of the samples and classes together.
    Mlfs,
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
            Self::Mlfs => "mlfs",
        }
    }
}

/// What to fit and how.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelArgs {
    #[command(flatten)]
    pub choices: ChoiceArgs,
    #[command(flatten)]
    pub priors: PriorArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub convergence: ConvergenceArgs,
    #[command(flatten)]
    pub gibbs: GibbsArgs,
    #[command(flatten)]
    pub stochastic: StochasticArgs,
}

/// The model and its parts.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub struct ChoiceArgs {
    /// The model [default: bibfa].
    #[arg(long, value_enum)]
    pub model: Option<ModelName>,
    /// Number of factors to start with; superfluous ones are removed [default:
    /// one for every four samples, at least 10 (mofa 20) and at most 40; but just
    /// these 10 (mofa 20) where a view is of labels, classes or ranks, with
    /// mofapy2, and with --engine gibbs without --polish; 40 with a kernel; and no
    /// more than the data carry].
    #[arg(long, short = 'k', value_name = "K", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub factors: Option<usize>,
    /// One noise precision for each view, or for each feature [default:
    /// feature].
    #[arg(long, value_parser = ["view", "feature"])]
    pub noise: Option<String>,
    /// Divide values by nothing, one number per view, or each feature's
    /// standard deviation; or take the normal scores of their ranks in each
    /// feature instead, which heavy tails and bent scales call for [default:
    /// feature; with mofa view, with mofapy2 none].
    #[arg(long, value_parser = ["none", "view", "feature", "normal-scores"])]
    pub scaling: Option<String>,
    /// Subtract nothing, or each feature's mean [default: feature].
    #[arg(long, value_parser = ["none", "feature"])]
    pub centring: Option<String>,
    /// Model without intercepts.
    #[arg(long)]
    pub no_intercepts: bool,
    /// Noise for each group of samples and feature (see --groups); with mofa
    /// and mofapy2 it is so by default.
    #[arg(long)]
    pub group_noise: bool,
    /// Intercepts for each group of samples and feature (see --groups); with
    /// mofa and mofapy2 it is so by default.
    #[arg(long, conflicts_with = "no_intercepts")]
    pub group_intercepts: bool,
    /// Columns of --covariates (or of --metadata) that the fit is adjusted for,
    /// such as age,batch: factors do not follow them.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub adjust: Vec<String>,
    /// Column of the metadata: samples with the same value there, of one patient
    /// or one batch, are in one fold wherever samples are held out, be it to find
    /// how labels are predicted (see --settle) or in a cross-validation.
    #[arg(long, value_name = "COLUMN")]
    pub keep_together: Option<String>,
    /// Treatment of missing values: integrated out, or the papers' imputation
    /// [default: marginal].
    #[arg(long, value_parser = ["marginal", "impute"])]
    pub missing: Option<String>,
    /// Have this view count X times, its part of the bound times X: labels of
    /// few columns beside thousands of features, for example. What is learnt so is
    /// used as of one observation, and the bound is no evidence; with --engine vb
    /// alone; may be given several times.
    #[arg(long, value_name = "VIEW=X")]
    pub weight: Vec<String>,
    /// Limits of detection of a censored view: a cell at its lower limit or below
    /// is one of which no more is known, as is one at its upper limit or above. A
    /// table, a row for each feature with a column lower, a column upper, or
    /// both; a number, the lower limit of all features; or LOWER..UPPER. New data
    /// of the model are read alike; may be given several times.
    #[arg(long, value_name = "VIEW=FILE|LOWER|LOWER..UPPER")]
    pub limit: Vec<String>,
    /// How this view is predicted from the others, labels for example. VIEW=mixture:
    /// by a mixture of the joint fit and a regression on their features, with shares by
    /// what each says of samples whose labels were hidden in three folds (drawn by the
    /// samples' IDs, whatever their order; means of what
    /// these leave open: few samples leave something to the worse one as well); what
    /// is predicted better so goes by few of the features, or by similarities to training
    /// samples in their place (VIEW=linear-mixture leaves similarities out, and keeps nothing
    /// of single samples: the default with --no-data); views that are predicted so are targets
    /// together, hidden together in these folds; new samples that lack a view, or have some of
    /// these targets, have a regression on what they have too, beside the other or in its place,
    /// which is made when they come, from the training samples in the model (with --no-data what
    /// they lack is filled in by the joint fit alone), and where labels are all there is they go
    /// by the joint fit;
    /// VIEW alone: by weights that are settled at the end on factors of the other
    /// views alone, those that a prediction of it will meet; VIEW=features: on what
    /// these leave of the features as well; VIEW=best: in whichever of the last two
    /// ways and the joint fit's own predicts five such folds best, of which a mixture
    /// is none (tens of times the time of a fit where there are many features);
    /// VIEW=no: by the joint fit. May be given several times [default: mixture for
    /// labels (bernoulli, categorical) of at most twenty columns, for times (survival),
    /// for a single column of numbers (gaussian, censored) or of ordered levels (ordinal)
    /// where any other view has more, for numbers where all other views have a kernel,
    /// and for targets of cross-validate and of a study, with --model mofa,
    /// sshiba, bibfa or mlfs and --engine vb; labels of other likelihoods (probit, svm, ...)
    /// have no such regression and are predicted by the joint fit; VIEW alone for labels with --model rank; else the joint fit].
    #[arg(
        long,
        value_name = "VIEW[=features|=best|=mixture|=linear-mixture|=no]"
    )]
    pub settle: Vec<String>,
    /// Predict all views by the joint fit.
    #[arg(long, conflicts_with = "settle")]
    pub no_settle: bool,
    /// Compare the samples of this view by a kernel, in place of its features:
    /// rbf, matern, polynomial, linear or precomputed, with options such as
    /// 'genes=rbf{width=12, references=200}': ard=true learns a weight for each
    /// feature (rbf, matern, linear), features=500 takes random Fourier features in
    /// place of similarities (rbf, for very many samples). May be given several
    /// times.
    #[arg(long, value_name = "VIEW=KERNEL")]
    pub kernel: Vec<String>,
    /// The features of this view are the pixels of an image of H rows and W
    /// columns, row by row: reports show their relevance as that image; may be
    /// given several times.
    #[arg(long, value_name = "VIEW=HxW")]
    pub shape: Vec<String>,
}

/// What `--weights` takes, with the priors that there are.
fn weights_help() -> String {
    let names: Vec<&str> = priors(RowRole::Weights).map(|(name, _)| name).collect();
    format!(
        "Prior of the weights, of all views or of one: {} ('polyview models' says what each is); may be \
         given several times, later ones win [default: ard; with mofa and mofapy2 spike-slab, with rank \
         horseshoe]",
        names.join(", ")
    )
}

/// Priors of weights and factors.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Priors")]
pub struct PriorArgs {
    /// Priors of the weights, each PRIOR or VIEW=PRIOR.
    #[arg(long, value_name = "[VIEW=]PRIOR", help = weights_help())]
    pub weights: Vec<String>,
    /// Learn how relevant each feature of this view is; may be given several
    /// times.
    #[arg(long, value_name = "VIEW")]
    pub select_features: Vec<String>,
    /// Prior of the factors: standard normal, precisions by factor, or
    /// precisions and exact zeros, for each group of samples its own; or a
    /// mixture (see --mixture) [default: standard-normal].
    #[arg(long, value_name = "PRIOR", value_parser = ["standard-normal", "ard", "spike-and-slab", "mixture"])]
    pub factor_prior: Option<String>,
    /// Each sample belongs to one of T clusters, with classifiers of its own for
    /// bernoulli views (a mixture prior of the factors) [default: no clusters].
    #[arg(long, value_name = "T", conflicts_with = "factor_prior", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub mixture: Option<usize>,
}

/// How the posterior is computed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Engine")]
pub struct EngineArgs {
    /// Variational Bayes, Gibbs sampling, or variational Bayes by batches of
    /// samples [default: vb]. With stochastic, fit does not load NPY and text
    /// files but reads them from disk a batch at a time (see --in-memory).
    #[arg(long, value_parser = ["vb", "gibbs", "stochastic"])]
    pub engine: Option<String>,
    /// Seed of all random numbers [default: 1].
    #[arg(long, value_name = "SEED", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Start of the factors; after varimax sparse weights of more samples than
    /// features, all numbers, or of Poisson counts whose rates are far apart,
    /// wait for sweeps of dense ones [default: varimax].
    #[arg(long, value_parser = ["varimax", "svd", "random"])]
    pub start: Option<String>,
    /// Starts; the best bound is kept [default: 1; of choose-k 3, which
    /// compares them].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub restarts: Option<usize>,
    /// How complete data are swept: as they are, or by the crossproducts of
    /// features or samples; auto takes the fastest [default: auto].
    #[arg(long, value_parser = ["auto", "streaming", "compress-samples", "compress-features"])]
    pub path: Option<String>,
    /// Check the bound after every block, not every sweep; stop with an error
    /// where it falls. Sweeps of labels, counts and levels then keep no tangents, and last digits and
    /// numbers of sweeps may be others.
    #[arg(long)]
    pub audit: bool,
}

/// When a fit of the bound ends.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Convergence")]
pub struct ConvergenceArgs {
    /// Most sweeps [default: 2000].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub max_sweeps: Option<usize>,
    /// Largest change of the bound in a sweep at convergence, as a share of the bound: of a bound
    /// of -100000 nats 1e-7 is .01 nats per sweep. What further sweeps would gain is estimated, and told
    /// in nats on the way and at the end; at convergence a thousand of them would gain no more than
    /// ten times that (.1 nats, and never less is asked), which is little beside what sets models apart
    /// [default: 1e-7; with rank 1e-5].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,
    /// Do not rotate factors on the bound; with mofapy2 it is so by default.
    #[arg(long)]
    pub no_rotation: bool,
    /// Remove no factors, neither empty ones nor, on trial, those that cost the bound
    /// more than an idle factor would, whose prior costs several nats by itself: so
    /// bounds of different numbers of factors are compared; with mofapy2 it is so by
    /// default.
    #[arg(long)]
    pub no_pruning: bool,
}

/// Options of the sampler.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Gibbs sampling (--engine gibbs)")]
pub struct GibbsArgs {
    /// Variational Bayes first, then a Gibbs chain that starts at its optimum:
    /// SWEEPS are kept of it after a third as many, and a hundred draws of them,
    /// or up to twice as many, take the optimum's place: they explain and
    /// predict, and make the file as much larger. Labels and times are predicted by
    /// these draws alone then, and no view by a mixture (--settle) [default: no
    /// chain; without SWEEPS 300].
    #[arg(long, value_name = "SWEEPS", num_args = 0..=1, default_missing_value = "300", conflicts_with = "sweeps", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub polish: Option<usize>,
    /// Chains [default: 2].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub chains: Option<usize>,
    /// Sweeps thrown away at the beginning of each chain [default: 500].
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub warm_up: Option<usize>,
    /// Sweeps kept after that [default: 1000].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub sweeps: Option<usize>,
    /// Every how many sweeps a draw is stored [default: 10].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub thin: Option<usize>,
}

/// Options of batches.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Batches of samples (--engine stochastic)")]
pub struct StochasticArgs {
    /// Samples of a batch, as a share or as a number above 1; a share that nobody
    /// chose is raised to ten samples for each factor [default: 0.05].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true)]
    pub batch: Option<f64>,
    /// Most epochs, each a visit to every sample; they end before that once the
    /// bound rests [default: 500].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true)]
    pub epochs: Option<usize>,
    /// Step of the first epoch, above 0 and at most 1 [default: 1].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true)]
    pub learning_rate: Option<f64>,
    /// How fast steps become shorter; 0 keeps the first [default: 0.5].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true)]
    pub forgetting: Option<f64>,
    /// Most exact sweeps after the epochs: they end once the bound has next to nothing to gain [default: 200].
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub exact_sweeps: Option<usize>,
}
