//! Kinds of errors, and what each says.

use polyview_baselines::BaselineError;
use polyview_core::{DataError, NumericError};
use polyview_kernels::KernelError;
use polyview_linalg::LinalgError;
use thiserror::Error;

use super::words::{are, place, quoted};
use crate::metrics::MetricError;

/// What kind of thing went wrong.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The numbers.
    #[error(transparent)]
    Numeric(#[from] NumericError),
    /// Linear algebra outside of a block.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A plain predictor of a cross-validation.
    #[error("a plain predictor: {0}")]
    Baseline(#[from] BaselineError),
    /// The kernel of a view, or what it was given.
    #[error("view '{view}': {source}")]
    Kernel {
        /// The view.
        view: String,
        /// What is wrong.
        source: KernelError,
    },
    /// Features of a view whose kernel compares samples alone.
    #[error(
        "view '{view}' has a kernel: the model knows how alike its samples are, and {what} cannot be told of its features"
    )]
    KernelFeatures {
        /// The view.
        view: String,
        /// What was asked for.
        what: &'static str,
    },
    /// Predictions that have no score.
    #[error("view '{view}': {source}")]
    Score {
        /// The view.
        view: String,
        /// What is wrong with them.
        source: MetricError,
    },
    /// More folds than there is to part.
    #[error("{of} {what} cannot be parted into {folds} folds")]
    TooManyFolds {
        /// Folds asked for.
        folds: usize,
        /// What is parted: `samples` or `groups`.
        what: &'static str,
        /// How many there are.
        of: usize,
    },
    /// Labels or classes that all samples share.
    #[error("view '{view}' has one class alone: there is nothing to tell apart")]
    OneClass {
        /// The view.
        view: String,
    },
    /// Samples of which nothing is known but the targets.
    #[error(
        "{count} of {samples} sample(s), first '{sample}', have no observed value outside the targets, so that nothing predicts these"
    )]
    OnlyTargets {
        /// ID of the first.
        sample: String,
        /// How many there are.
        count: usize,
        /// Number of all samples.
        samples: usize,
    },
    /// A column about the samples that the data do not have.
    #[error(
        "the data have no column '{column}' about their samples; there {}",
        are(known)
    )]
    UnknownMetadata {
        /// The name asked for.
        column: String,
        /// Columns that there are.
        known: Vec<String>,
    },
    /// A sample of which a covariate or an offset is not known.
    #[error("sample '{sample}' has no value in the column '{column}'")]
    NoCovariate {
        /// The column.
        column: String,
        /// The first such sample.
        sample: String,
    },
    /// A view whose samples had offsets of their own in training, of new samples without any.
    #[error(
        "view '{view}' was fitted with {} of its samples, and none are known of these: what they are would pass for factors",
        if *is_size { "sizes" } else { "offsets" }
    )]
    NoOffset {
        /// The view.
        view: String,
        /// Whether they are sizes, whose logarithms are added.
        is_size: bool,
    },
    /// A column that cannot be a covariate or an offset.
    #[error("the column '{column}' cannot be adjusted for: {why}")]
    Covariate {
        /// The column.
        column: String,
        /// Why not.
        why: String,
    },
    /// A category of a covariate that the training samples do not have.
    #[error(
        "sample '{sample}' has '{category}' in the column '{column}', which no training sample has; these have {}",
        known.join(", ")
    )]
    UnknownCategory {
        /// The column.
        column: String,
        /// The category.
        category: String,
        /// The first sample that has it.
        sample: String,
        /// Categories of the training samples.
        known: Vec<String>,
    },
    /// An offset that is no finite number, or a size that is not positive.
    #[error(
        "view '{view}': the {} of sample '{sample}' is {value}",
        if *is_total { "total count" } else if *is_size { "size" } else { "offset" }
    )]
    BadOffset {
        /// The view.
        view: String,
        /// The first such sample.
        sample: String,
        /// Its value.
        value: String,
        /// Whether it is a size, whose logarithm is added.
        is_size: bool,
        /// Whether it is the sample's total count in the view.
        is_total: bool,
    },
    /// What went wrong in one fold of a cross-validation.
    #[error("fold {fold} of repeat {repeat}, {method}: {source}")]
    Fold {
        /// The repeat, from 1.
        repeat: usize,
        /// The fold, from 1.
        fold: usize,
        /// What was fitted.
        method: String,
        /// What went wrong.
        source: Box<crate::Error>,
    },
    /// No factor was asked for.
    #[error("the number of factors is 0")]
    NoFactors,
    /// A choice out of its range.
    #[error("{option} = {value} is not allowed")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
    },
    /// Data of which no cell can be hidden.
    #[error(
        "the data are too small to hide cells of: {samples} sample(s) of {features} feature(s)"
    )]
    NothingToHide {
        /// Samples.
        samples: usize,
        /// Features of all views.
        features: usize,
    },
    /// Limits of detection that a view cannot have; what is wrong with them, and the mend.
    #[error("view '{view}': {why}")]
    Limit {
        /// The view.
        view: String,
        /// What is wrong, and behind a semicolon what to do about it.
        why: String,
    },
    /// A model that new samples cannot be taken into.
    #[error("new samples cannot be taken into this model: {why}")]
    NoUpdate {
        /// Why not.
        why: String,
    },
    /// New samples that are those of the model.
    #[error("{count} of the new samples are in the model already, first '{first}'")]
    KnownSamples {
        /// How many.
        count: usize,
        /// The first of them.
        first: String,
    },
    /// Features of new samples that the model does not have.
    #[error(
        "view '{view}': {count} feature(s) of the new samples are not in the model, first '{first}'"
    )]
    NewFeatures {
        /// The view.
        view: String,
        /// How many.
        count: usize,
        /// The first of them.
        first: String,
    },
    /// New samples without any value that the model knows.
    #[error(
        "the new samples have no observed value that the model knows, so that nothing would change"
    )]
    NothingNew,
    /// Choices that cannot go together.
    #[error("{}{what} cannot be combined with {with}", place(view))]
    Incompatible {
        /// The view; empty for the whole model.
        view: String,
        /// One choice.
        what: String,
        /// The other; behind a semicolon what to do about it, if it is more than to change one of
        /// the two.
        with: String,
    },
    /// Two fits that have nothing to compare.
    #[error("the two fits have no {what} in common")]
    NothingInCommon {
        /// What is matched by name.
        what: &'static str,
    },
    /// A view that the model does not have.
    #[error("the model has no view '{view}'; it has {}", known.join(", "))]
    UnknownView {
        /// The name asked for.
        view: String,
        /// Names of the model's views.
        known: Vec<String>,
    },
    /// A likelihood or a prior that nobody knows.
    #[error("there is no {what} '{name}'; there are {}", known.join(", "))]
    UnknownSpecies {
        /// What it would be: `likelihood`, `prior of weights`, `prior of factors`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Names of those that there are.
        known: Vec<String>,
    },
    /// An option that a likelihood or a prior does not have, or that cannot be.
    #[error("{what} {species}: {source}")]
    SpeciesOption {
        /// What it is: `likelihood`, `prior of weights`, `prior of factors`.
        what: &'static str,
        /// Its name.
        species: String,
        /// What is wrong.
        source: polyview_core::OptionError,
    },
    /// A model file of a composer that nobody knows.
    #[error("no composer is called '{name}'; there {}", are(known))]
    UnknownComposer {
        /// Its name.
        name: String,
        /// Names of those that there are.
        known: Vec<String>,
    },
    /// Parts of a model that do not fit together, or its views.
    #[error("the composer '{composer}' has put together what does not fit: {what}")]
    Composed {
        /// Name of the composer.
        composer: String,
        /// What does not fit.
        what: String,
    },
    /// A group of samples of which a fold leaves too few to learn from: none, or one where groups have noise
    /// or intercepts of their own.
    #[error(
        "cross-validation: all samples of group '{group}'{} are in one fold, and the fits that are to predict them {}",
        if *left == 0 { "" } else { " but one" },
        if *left == 0 { "would not know the group" } else { "would have one sample for its own noise or intercepts" }
    )]
    GroupInOneFold {
        /// The group.
        group: String,
        /// How many of its samples are outside the fold.
        left: usize,
        /// Whether samples are kept together by a column of the metadata.
        together: bool,
    },
    /// A group of samples that the model does not have.
    #[error("the model has no group '{group}'; it has {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    UnknownGroup {
        /// The name asked for.
        group: String,
        /// Names of the model's groups.
        known: Vec<String>,
    },
    /// A class that the model has not seen.
    #[error(
        "view '{view}': {samples} sample(s), first '{first}', are of class '{class}', which the model was not trained on; it knows {}",
        known.join(", ")
    )]
    UnknownClass {
        /// The view.
        view: String,
        /// The class.
        class: String,
        /// Samples of that class.
        samples: usize,
        /// The first of them.
        first: String,
        /// The classes of the model.
        known: Vec<String>,
    },
    /// A mixture with more components than samples.
    #[error("a mixture of {components} components needs as many samples; there are {samples}")]
    TooManyComponents {
        /// Components asked for.
        components: usize,
        /// Samples.
        samples: usize,
    },
    /// A summary of components of a model without any.
    #[error("the factors of this model have no mixture prior, so there are no clusters")]
    NoClusters,
    /// A group with too few samples for parameters of its own.
    #[error("group '{group}' has one sample, too few for noise or intercepts of its own")]
    SmallGroup {
        /// The group.
        group: String,
    },
    /// Features that do not match those of the model.
    #[error("view '{view}': {} of the model's {expected} features are absent, first '{}'", absent.len(), absent.first().map_or("", String::as_str))]
    MissingFeatures {
        /// The view.
        view: String,
        /// Features of the model.
        expected: usize,
        /// Those that the data lack.
        absent: Vec<String>,
    },
    /// None of the features is known to the model.
    #[error("view '{view}': none of its features is known to the model, first '{found}'")]
    NoKnownFeature {
        /// The view.
        view: String,
        /// First feature of the data.
        found: String,
        /// Whether its samples have the names of the model's features.
        transposed: bool,
    },
    /// Samples whose factors did not come to rest when they were sought in the data: what
    /// was found of them is no answer.
    #[error(
        "the factors of {count} of {samples} sample(s), first '{first}', did not settle: after {rounds} rounds with the \
         local variables of {} they still moved by {moved:.1e} of their size",
        quoted(views)
    )]
    NotSettled {
        /// Views whose local variables follow the factors.
        views: Vec<String>,
        /// Those of them that are fitted as negative binomial counts.
        steep: Vec<String>,
        /// Number of samples that did not settle.
        count: usize,
        /// Number of all samples.
        samples: usize,
        /// ID of the first that did not.
        first: String,
        /// Rounds of local variables and factors.
        rounds: usize,
        /// Largest step of the last round, relative to the sample's largest factor or to 1.
        moved: f64,
    },
    /// A model file or checkpoint that cannot be read.
    #[error("'{path}' cannot be read: {why}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A checkpoint of other data or choices.
    #[error("'{path}' cannot be gone on with: {why}")]
    OtherFit {
        /// The file.
        path: String,
        /// What differs.
        why: String,
    },
    /// A checkpoint of more sweeps than the fit that goes on from it may have.
    #[error("the checkpoint has {done} sweeps done, more than {option} = {limit} allows")]
    SweepsDone {
        /// The limit's name.
        option: &'static str,
        /// Sweeps that are done.
        done: usize,
        /// Sweeps that are allowed.
        limit: usize,
    },
    /// A checkpoint of an earlier version.
    #[error(
        "'{path}' is a checkpoint in format {found}; this program goes on from format {known} alone"
    )]
    OldCheckpoint {
        /// The file.
        path: String,
        /// Its version.
        found: u32,
        /// The version that is gone on from.
        known: u32,
    },
    /// A model file or checkpoint of a later version.
    #[error("'{path}' was written in format {found}; this program reads up to {known}")]
    NewerFile {
        /// The file.
        path: String,
        /// Its version.
        found: u32,
        /// Newest version known.
        known: u32,
    },
    /// Reading or writing failed.
    #[error("'{path}': {why}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        why: String,
    },
    /// A file that exists and may not be replaced.
    #[error("'{path}' exists already")]
    Exists {
        /// The file.
        path: String,
    },
    /// An image that has not the features of its view for pixels.
    #[error(
        "view '{view}': an image of {} x {} pixels does not fit its {features} features",
        shape[0],
        shape[1]
    )]
    Shape {
        /// The view.
        view: String,
        /// Height and width.
        shape: [usize; 2],
        /// Features of the view.
        features: usize,
    },
    /// Inclusion probabilities were asked of a view that does not have them.
    #[error("view '{view}' was fitted without selection of single weights")]
    NoInclusion {
        /// The view.
        view: String,
    },
    /// The relevance of features was asked of a view that did not learn it.
    #[error("view '{view}' was fitted without selection of features")]
    NoRelevance {
        /// The view.
        view: String,
    },
    /// Data that could not be read while fitting.
    #[error("the data cannot be read: {why}")]
    Source {
        /// What the source said.
        why: String,
    },
    /// A choice that a fit in progress does not have.
    #[error("{what} is not there with the engine {engine}")]
    NotWithEngine {
        /// What was asked for.
        what: &'static str,
        /// The engine.
        engine: &'static str,
    },
    /// A component that the posterior does not have.
    #[error("component {index} was asked for, and the posterior has {count}, counted from 0")]
    NoComponent {
        /// The number.
        index: usize,
        /// Components: one, or one for each draw that was kept.
        count: usize,
    },
    /// Factors that no fit starts from.
    #[error("the fit cannot start from these factors: {why}")]
    Start {
        /// What is wrong with them, or with the moment.
        why: String,
    },
    /// The model file holds no data, and the verb needs them.
    #[error("the model was saved without its data")]
    NoData,
    /// The model comes from the engine stochastic and holds no data, and the verb
    /// needs them.
    #[error(
        "the model holds no data: the engine stochastic left them on disk, or they were left out of the file"
    )]
    DataOnDisk,
    /// A batch too small for the factors to start from, or whose first steps went astray.
    #[error("a batch of {batch} sample(s) is too small for {factors} factors to start from")]
    SmallBatch {
        /// Samples of the first batch.
        batch: usize,
        /// Factors asked for.
        factors: usize,
        /// All samples.
        samples: usize,
    },
}
