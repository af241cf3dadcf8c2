//! The options of `polyview mva`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FormatArgs;
use super::numbers::{counted, real, whole};

/// Classical projections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MvaMethod {
    /// Principal components of one view.
    Pca,
    /// Canonical correlation of two views, or of a view and classes.
    Cca,
    /// Orthonormalised partial least squares: what of a view predicts another
    /// one, or classes.
    Opls,
    /// Regularised bagged CCA: the features of a view that tell classes apart,
    /// and a projection on them.
    RbCca,
}

impl MvaMethod {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pca => "pca",
            Self::Cca => "cca",
            Self::Opls => "opls",
            Self::RbCca => "rb-cca",
        }
    }
}

/// How regularised bagged CCA selects features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Select {
    /// Those whose sign is stable over the bags of a class, by a test (--test-level).
    Test,
    /// As many of the most relevant as cross-validation finds needed: the fewest
    /// whose balanced accuracy is within a standard error of the best.
    Cv,
    /// All.
    All,
}

/// Options of `polyview mva`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview mva --method rb-cca --view genes=genes.csv --labels diet.csv --relevance relevance.csv --save diet.mva\n  polyview mva --map diet.mva --view genes=new-genes.csv --predicted new-diet.csv --scores new-scores.csv\n  polyview mva --method cca --view genes=genes.csv --view lipids=lipids.csv --ridge 10 --scores scores.csv\n  polyview mva --method pca --view genes=genes.csv --factors 3 --weights genes=directions.csv\n\n\
The data have to be complete: fill holes first, by 'polyview fit' and 'polyview impute'. Samples that \
a view lacks are left out; samples without a label get components and a predicted class. Classes are \
predicted by linear support vector machines on the components, each class against the others."
)]
pub struct MvaArgs {
    /// The method [default: that of the file of --map].
    #[arg(
        long,
        value_enum,
        required_unless_present = "map",
        help_heading = "Method"
    )]
    pub method: Option<MvaMethod>,
    /// A view: NAME=FILE, numbers. Files are those of polyview fit. The second
    /// view of opls is the one to be predicted.
    #[arg(long = "view", value_name = "NAME=FILE", help_heading = "Data")]
    pub views: Vec<String>,
    /// A table with the classes of the samples: first column the IDs, then one
    /// of words (or numbers); empty where not known.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub labels: Option<PathBuf>,
    /// The column of classes, where the table has several.
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "labels",
        help_heading = "Data"
    )]
    pub label: Option<String>,
    /// The tables have features in rows and samples in columns.
    #[arg(long, help_heading = "Data")]
    pub transposed: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Number of components [default: of classes one less than there are, else
    /// 10, or what the data carry].
    #[arg(long, short = 'k', value_name = "K", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Method")]
    pub factors: Option<usize>,
    /// Penalty: of cca and opls added to the sums of squares of the features, of
    /// the dual form to those of the weights of samples, of rb-cca lambda
    /// [default: of classes chosen from 17 between 1e-4 and 1e3 by the balanced
    /// accuracy on folds of the samples; else 0, and 1 in the dual form, which
    /// needs one].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true, help_heading = "Method")]
    pub ridge: Option<f64>,
    /// Solve in features, or in samples, which takes no longer for more features
    /// and needs a penalty (opls, and cca of classes) [default: in samples
    /// where features are more than these].
    #[arg(long, value_name = "FORM", value_parser = ["primal", "dual"], help_heading = "Method")]
    pub form: Option<String>,
    /// Take features in their own units; else each is brought to mean 0 and
    /// standard deviation 1 (rb-cca always does).
    #[arg(long, help_heading = "Method")]
    pub raw: bool,
    /// Samples count alike, and not classes (of rb-cca and the classifier).
    #[arg(long, help_heading = "Method")]
    pub unbalanced: bool,
    /// Look for directions of rb-cca where the exact minimum lies, not where the
    /// published form looks for them.
    #[arg(long, help_heading = "Method")]
    pub exact: bool,
    /// How rb-cca selects features [default: test].
    #[arg(long, value_enum, help_heading = "Relevance")]
    pub select: Option<Select>,
    /// Two-sided level of the test that a feature has to pass, between 0 and 1
    /// [default: 0.01].
    #[arg(long = "test-level", value_name = "P", value_parser = real, allow_hyphen_values = true, help_heading = "Relevance")]
    pub level: Option<f64>,
    /// Number of bags of each class [default: 1000].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Relevance")]
    pub bags: Option<usize>,
    /// Share of the samples of a class in a bag, between 0 and 1 [default: 0.5].
    #[arg(long, value_name = "SHARE", value_parser = real, allow_hyphen_values = true, help_heading = "Relevance")]
    pub share: Option<f64>,
    /// Penalty of the CCA whose weights are bagged, above 0 [default: the square of the
    /// mean eigenvalue of the kernel of the samples].
    #[arg(long, value_name = "X", value_parser = real, allow_hyphen_values = true, help_heading = "Relevance")]
    pub bag_ridge: Option<f64>,
    /// Folds by which penalty and number of features are chosen, 2 or more; no
    /// more are made than the smallest class has samples [default: 10].
    #[arg(long, value_name = "N", value_parser = counted::<usize>, allow_negative_numbers = true, help_heading = "Classifier")]
    pub folds: Option<usize>,
    /// Cost of an error of the support vector machines, above 0 [default: 0.035].
    #[arg(long, value_name = "C", value_parser = real, allow_hyphen_values = true, help_heading = "Classifier")]
    pub cost: Option<f64>,
    /// Seed of bags and folds, which are drawn by the places of the rows: tables in
    /// another order have others [default: 1].
    #[arg(long, value_name = "SEED", value_parser = whole::<u64>, allow_negative_numbers = true, help_heading = "Classifier")]
    pub seed: Option<u64>,
    /// Take directions and classifier of this file, which --save wrote, for new
    /// samples.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["method", "labels", "factors", "ridge", "form", "raw", "unbalanced", "exact", "select", "level", "bags", "share", "bag_ridge", "folds", "cost", "seed", "save", "relevance", "tuning"],
        help_heading = "Method"
    )]
    pub map: Option<PathBuf>,
    /// Where the components of the samples go; a FILE of - is standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub scores: Option<PathBuf>,
    /// Where the directions of a view go, features x components, in standardised
    /// units (--raw: in those of the features).
    #[arg(long, value_name = "VIEW=FILE", help_heading = "Output")]
    pub weights: Vec<String>,
    /// Where the relevance of each feature for each class goes, and whether it
    /// was selected for it (rb-cca).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub relevance: Option<PathBuf>,
    /// Where predicted classes go, or the predicted view of opls.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub predicted: Option<PathBuf>,
    /// Where the balanced accuracies go by which penalty and number of features
    /// were chosen.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub tuning: Option<PathBuf>,
    /// A picture of the first two components, FILE.svg.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub picture: Option<PathBuf>,
    /// Keep directions and classifier, for new samples.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
