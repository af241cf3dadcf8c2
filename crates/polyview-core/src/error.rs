//! Errors of this crate: data, not text.

use polyview_linalg::LinalgError;
use thiserror::Error;

/// What can be wrong with the data of a model.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// No view was given.
    #[error("no view was given; add at least one")]
    NoViews,
    /// A view without rows or columns.
    #[error("view '{view}' is empty: it needs at least one sample and one feature")]
    EmptyView {
        /// The view.
        view: String,
    },
    /// A view none of whose cells was observed.
    #[error("view '{view}' has no observed value; leave it out")]
    NothingObserved {
        /// The view.
        view: String,
    },
    /// A sample without any observed value.
    #[error("sample '{sample}' has no observed value in any view; remove it")]
    EmptySample {
        /// The sample.
        sample: String,
    },
    /// Two views of one name.
    #[error("two views are called '{view}'; give each its own name")]
    DuplicateView {
        /// The name.
        view: String,
    },
    /// One sample ID on two rows.
    #[error("view '{view}': sample '{sample}' stands on rows {} and {}; sample IDs must be unique", first + 1, second + 1)]
    DuplicateSample {
        /// The view.
        view: String,
        /// The sample.
        sample: String,
        /// First row, from 0.
        first: usize,
        /// Second row, from 0.
        second: usize,
    },
    /// One feature name on two columns.
    #[error("view '{view}': feature '{feature}' names columns {} and {}; feature names must be unique", first + 1, second + 1)]
    DuplicateFeature {
        /// The view.
        view: String,
        /// The feature.
        feature: String,
        /// First column, from 0.
        first: usize,
        /// Second column, from 0.
        second: usize,
    },
    /// An infinite value.
    #[error("view '{view}': the value at row {}, column {} is infinite; correct it or leave it empty", sample + 1, feature + 1)]
    Infinite {
        /// The view.
        view: String,
        /// Row from 0.
        sample: usize,
        /// Column from 0.
        feature: usize,
    },
    /// A value whose square, or sums of such, no 64-bit number holds.
    #[error(
        "view '{view}', sample '{sample}', feature '{feature}': {value:e} is too large to be computed with (beyond {:e}); correct it or leave the cell empty, or divide the view by a power of ten",
        crate::View::LARGEST
    )]
    TooLarge {
        /// The view.
        view: String,
        /// The sample's ID.
        sample: String,
        /// The feature.
        feature: String,
        /// The value.
        value: f64,
    },
    /// A count of successes without a number of trials that holds it.
    #[error("view '{view}', feature '{feature}': {trials} trials at row {} cannot be; give a whole number, above zero and at least the successes, or leave both empty", sample + 1)]
    Trials {
        /// The view.
        view: String,
        /// The feature.
        feature: String,
        /// Row from 0.
        sample: usize,
        /// The number of trials, `NaN` where there was none.
        trials: f64,
    },
    /// A value that the view's likelihood does not know.
    #[error("view '{view}', feature '{feature}': the value {value} at row {} is not allowed; the likelihood needs {needs}", sample + 1)]
    OutOfDomain {
        /// The view.
        view: String,
        /// The feature.
        feature: String,
        /// Row from 0.
        sample: usize,
        /// The value.
        value: f64,
        /// What is allowed.
        needs: &'static str,
    },
    /// A number of names that does not fit the matrix.
    #[error("view '{view}': expected {expected} {what}, found {found}")]
    LengthMismatch {
        /// The view.
        view: String,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A likelihood that nobody knows.
    #[error("view '{view}': there is no likelihood '{name}'")]
    UnknownLikelihood {
        /// The view.
        view: String,
        /// Name of the likelihood.
        name: String,
    },
    /// A prior that nobody knows.
    #[error("{block}: there is no prior '{name}'")]
    UnknownPrior {
        /// The block of rows.
        block: String,
        /// Name of the prior.
        name: String,
    },
    /// Options that a species cannot read.
    #[error(transparent)]
    Options(#[from] crate::species::OptionError),
    /// A model whose parts cannot be made for other samples.
    #[error("the model cannot be put together: {why}")]
    Composed {
        /// What stands in the way.
        why: String,
    },
    /// A data term inside another one can do what the outer one cannot pass on.
    #[error("view '{view}': its data term has {what}, which the term around it cannot pass on")]
    LostCapability {
        /// The view.
        view: String,
        /// What would be lost.
        what: &'static str,
    },
    /// No sample ID occurs in two views.
    #[error(
        "the views {views:?} share no sample ID (first IDs: {examples:?}); {}",
        advice.as_deref().unwrap_or("check that the first column holds the same IDs in every file")
    )]
    NoSharedSamples {
        /// The views.
        views: Vec<String>,
        /// First sample ID of each.
        examples: Vec<String>,
        /// What the names look like: transposed tables, or one ID in two spellings.
        advice: Option<String>,
    },
    /// Rows without sample IDs where others have IDs, or another number of rows.
    #[error(
        "view '{numbered}' has no sample IDs, so that its {rows} rows can be joined by place alone, and {} {}; {}",
        about(view.as_deref()),
        other_rows(*named, *samples),
        crate::DataError::GIVE_IDS
    )]
    NoSampleIds {
        /// The view without IDs.
        numbered: String,
        /// Its number of rows.
        rows: usize,
        /// The view that it cannot be joined with; `None` for groups or metadata.
        view: Option<String>,
        /// Whether that has IDs.
        named: bool,
        /// Its number of samples.
        samples: usize,
    },
    /// No sample has every view.
    #[error("no sample has all of the views {views:?}; join by union instead")]
    EmptyIntersection {
        /// The views.
        views: Vec<String>,
    },
    /// A sample without a group where groups were given.
    #[error("sample '{sample}' has no group; give each sample one")]
    NoGroup {
        /// The sample.
        sample: String,
    },
    /// A row of a group that does not exist.
    #[error("row {}: group {group} is out of range; there are {groups} groups, numbered from 0", row + 1)]
    GroupOutOfRange {
        /// Row from 0.
        row: usize,
        /// The group's number.
        group: u32,
        /// Number of groups.
        groups: usize,
    },
    /// A class code that is no whole number.
    #[error(
        "view '{view}': the class code {value} at row {} is not a whole number; codes are 0, 1, 2, …",
        sample + 1
    )]
    NotACode {
        /// The view.
        view: String,
        /// Row from 0.
        sample: usize,
        /// The value.
        value: f64,
    },
    /// A class code without a class name.
    #[error(
        "view '{view}': the class code {code} at row {} is out of range; with {classes} classes codes run from 0 to {}",
        sample + 1, classes - 1
    )]
    CodeOutOfRange {
        /// The view.
        view: String,
        /// Row from 0.
        sample: usize,
        /// The code.
        code: f64,
        /// Number of classes.
        classes: usize,
    },
    /// One class name for two codes.
    #[error(
        "view '{view}': the class '{class}' has the codes {first} and {second}; class names must be unique"
    )]
    DuplicateClass {
        /// The view.
        view: String,
        /// The name.
        class: String,
        /// First code.
        first: usize,
        /// Second code.
        second: usize,
    },
    /// Every observed sample is of one class: there is nothing to tell apart.
    #[error(
        "view '{view}': every sample is of class '{class}'; a categorical view needs two classes: \
         add samples of another, or leave the view out"
    )]
    OneClass {
        /// The view.
        view: String,
        /// The class.
        class: String,
    },
    /// Class names where there are none.
    #[error("view '{view}' has no class names; a categorical view needs them")]
    NotCategorical {
        /// The view.
        view: String,
    },
    /// A class that the trained model has not seen.
    #[error(
        "view '{view}': {samples} samples are of class '{class}', which the model was not trained on"
    )]
    UnknownClass {
        /// The view.
        view: String,
        /// The class.
        class: String,
        /// Samples of that class.
        samples: usize,
    },
    /// A missing cell that holds a value.
    #[error("view '{view}': the missing cell at row {}, column {} holds a value", sample + 1, feature + 1)]
    MissingNotZero {
        /// The view.
        view: String,
        /// Row from 0.
        sample: usize,
        /// Column from 0.
        feature: usize,
    },
    /// Numbers of trials for counts that are stored sparse.
    #[error(
        "view '{view}' is stored sparse, and numbers of trials are one a cell; give both as dense tables"
    )]
    SparseTrials {
        /// The view.
        view: String,
    },
    /// Other ends of cells that are stored sparse.
    #[error(
        "view '{view}' is stored sparse, and cells between two ends are kept one by one; give a dense table"
    )]
    SparseEnds {
        /// The view.
        view: String,
    },
    /// A choice of a view that cannot be.
    #[error("view '{view}': the option {option} cannot be {value}")]
    Option {
        /// The view.
        view: String,
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// A term that compares new samples with the training samples was asked
    /// about new ones before it knew those
    /// ([`Conditioned::condition`](crate::Conditioned::condition)).
    #[error(
        "view '{view}': new samples are compared with the training samples, which are not known"
    )]
    NotAnchored {
        /// The view.
        view: String,
    },
    /// A view that compares samples with one another has too many of them.
    #[error("view '{view}': {found} samples are too many to compare; the most are {most}")]
    TooManySamples {
        /// The view.
        view: String,
        /// Samples found.
        found: usize,
        /// Most samples.
        most: usize,
    },
    /// A likelihood that cannot have columns by component.
    #[error(
        "view '{view}': a likelihood with learnt parameters by feature cannot have columns for each component of the factors' prior"
    )]
    ByComponent {
        /// The view.
        view: String,
    },
    /// A column of similarities whose name is no sample ID.
    #[error(
        "view '{view}': the column '{feature}' is none of the samples; a table of similarities has the same IDs in its first row as in its first column: name it as its sample is called, or remove it"
    )]
    ForeignFeature {
        /// The view.
        view: String,
        /// The column.
        feature: String,
    },
    /// Two cells of one pair of samples that differ.
    #[error(
        "view '{view}': the similarity of '{row}' and '{column}' is {there} in the row of '{row}' and {back} in that of '{column}'; give one number for both, or leave one of the two cells empty"
    )]
    Asymmetric {
        /// The view.
        view: String,
        /// One sample.
        row: String,
        /// The other one.
        column: String,
        /// The cell in the row of the first.
        there: f64,
        /// The cell in the row of the second.
        back: f64,
    },
    /// Similarities that are one and the same for all pairs of samples.
    #[error(
        "view '{view}': the similarities do not vary ({value} for all pairs): they tell no sample from another; make sure that this is the right file, or leave the view out"
    )]
    PairsAlike {
        /// The view.
        view: String,
        /// The one similarity.
        value: f64,
    },
    /// Similarities of samples that are no columns.
    #[error(
        "view '{view}' has {samples} samples and {features} columns; a table of similarities has a column for each of its samples"
    )]
    NotSquare {
        /// The view.
        view: String,
        /// Number of samples.
        samples: usize,
        /// Number of columns.
        features: usize,
    },
    /// More latent dimensions than a table of similarities can say anything of.
    #[error(
        "view '{view}': {dimensions} latent dimensions are too many for similarities of {samples} samples; choose similarity{{dimensions={}}} or fewer", samples.saturating_sub(1).max(1)
    )]
    TooManyDimensions {
        /// The view.
        view: String,
        /// Dimensions that were asked for.
        dimensions: usize,
        /// Samples with a similarity.
        samples: usize,
    },
    /// Similarities that are larger the less alike samples are.
    #[error(
        "view '{view}': about their mean these numbers are negative definite, as distances are, and not similarities: samples that resemble each other must have the larger number; of distances d take exp(-d^2 / (2 s^2)) with s a typical distance, of numbers with the wrong sign turn it"
    )]
    NegativeDefinite {
        /// The view.
        view: String,
    },
    /// A view that does not exist.
    #[error("there is no view '{view}'")]
    UnknownView {
        /// The name asked for.
        view: String,
    },
}

impl DataError {
    /// How rows of arrays get sample IDs.
    pub const GIVE_IDS: &'static str = "give every file IDs: in the first column of text, with numpy.savez(\"FILE.npz\", x=X, samples=IDS) \
         for an array, in FILE.rows.txt and FILE.cols.txt beside FILE.mtx";
}

/// What [`DataError::NoSampleIds`] is about beside the view without IDs.
fn about(view: Option<&str>) -> String {
    view.map_or_else(
        || "the table about the samples".to_owned(),
        |v| format!("view '{v}'"),
    )
}

/// What that has.
fn other_rows(named: bool, samples: usize) -> String {
    if named {
        format!("has IDs of its own ({samples} samples)")
    } else {
        format!("has {samples} rows")
    }
}

/// Numerical trouble in one block of a model.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NumericError {
    /// A linear system could not be solved.
    #[error("{block}: {source}")]
    Linalg {
        /// The block, such as `weights/genes`.
        block: String,
        /// What went wrong.
        source: LinalgError,
    },
    /// A quantity stopped being a number.
    #[error("{block}: {what} is not finite; the data may be badly scaled")]
    NotFinite {
        /// The block.
        block: String,
        /// The quantity.
        what: &'static str,
    },
    /// The bound fell in one block update.
    #[error("{block}: the bound fell from {before} to {after}")]
    BoundFell {
        /// The block.
        block: String,
        /// Before the update.
        before: f64,
        /// After it.
        after: f64,
    },
    /// Rows or scales that do not belong together.
    #[error("{block}: {what}")]
    Mismatch {
        /// The block.
        block: String,
        /// What does not fit what.
        what: &'static str,
    },
    /// A data term has no exact augmentation, so it cannot be sampled.
    #[error("this likelihood cannot be sampled; use variational Bayes")]
    NoDraws,
    /// A saved state does not fit the model it is loaded into.
    #[error("the saved state lacks or misshapes '{name}'")]
    BadState {
        /// The array.
        name: String,
    },
}
