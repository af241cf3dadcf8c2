//! What to do about an error.

use polyview_core::NumericError;
use polyview_kernels::KernelError;

use super::kind::ErrorKind;
use super::words::quoted;

impl ErrorKind {
    /// What to do about it, where there is something to say beyond the
    /// message.
    pub(super) fn advice(&self) -> Option<String> {
        Some(match self {
            Self::NotSettled { steep, .. } if !steep.is_empty() => format!(
                "fit {} with the likelihood poisson-log-normal, which suits large counts",
                quoted(steep)
            ),
            Self::NotSettled { views, .. } => format!(
                "see whether values of that sample in {} are far from those of training, and leave \
                 the sample or the view out",
                quoted(views)
            ),
            Self::Kernel { source, .. } => match source {
                KernelError::Absent { .. } | KernelError::Missing { .. } => {
                    "give a table with the features of the training table".to_owned()
                }
                KernelError::Constant { .. } | KernelError::OneSample | KernelError::Empty => {
                    "give other data, or leave the view out".to_owned()
                }
                _ => return None,
            },
            Self::KernelFeatures { .. } => {
                "give the table as a further view without a kernel, under another name, which is predicted and \
                 filled as any other"
                    .to_owned()
            }
            Self::NoFactors => "ask for at least one factor".to_owned(),
            Self::TooManyFolds { what, of: 2, .. } => {
                format!("ask for 2 folds, as many as there are {what}")
            }
            Self::TooManyFolds { what, of, .. } if *of > 1 => {
                format!("ask for 2 to {of} folds, as many as there are {what}")
            }
            Self::TooManyFolds { what, .. } => format!("give more {what}"),
            Self::OneClass { .. } => {
                "leave it out of the targets and of what folds are stratified by, or give samples of another class".to_owned()
            }
            Self::OnlyTargets { .. } => {
                "leave such samples out, or keep those alone that all views have (--join intersection)".to_owned()
            }
            Self::UnknownMetadata { known, .. } if known.is_empty() => {
                "give a table about the samples (--metadata)".to_owned()
            }
            Self::UnknownMetadata { .. } => "name one of them".to_owned(),
            Self::NoCovariate { column, sample } => format!(
                "give '{sample}' a value of '{column}', leave the sample out, or fit without the \
                 column"
            ),
            Self::NoOffset { view, .. } => {
                format!("give them with --offset {view}=FILE, as for the fit, or leave the view out")
            }
            Self::Covariate { .. } => "correct it, or leave it out".to_owned(),
            Self::UnknownCategory { .. } => {
                "nothing was learnt of it: leave the sample out, or fit the model with samples of \
                 that category"
                    .to_owned()
            }
            Self::BadOffset { is_total: true, .. } => {
                "leave the sample out of the view, or give sizes in a column".to_owned()
            }
            Self::BadOffset { is_size: true, .. } => {
                "a size is a positive number, whose logarithm is added to the predictor".to_owned()
            }
            Self::BadOffset { .. } => "an offset is a finite number".to_owned(),
            Self::TooManyComponents { samples, .. } => {
                format!("ask for at most {samples}; superfluous components stay empty")
            }
            Self::NoClusters => "fit it again with factor-prior = \"mixture\"".to_owned(),
            Self::Option { option, .. } => range(option).to_owned(),
            Self::NothingToHide { .. } => {
                "give more samples and features, or hide a larger share: two values stay in every \
                 feature, and one in every sample"
                    .to_owned()
            }
            Self::NoUpdate { .. } => "fit the old and the new samples together".to_owned(),
            Self::KnownSamples { .. } => {
                "leave them out, or give them other IDs if they are other samples".to_owned()
            }
            Self::NewFeatures { .. } => {
                "leave them out, or fit the old and the new samples together".to_owned()
            }
            Self::NothingNew => "give samples with data, their features named as in the model".to_owned(),
            Self::Incompatible { with, .. } if with.contains("; ") => return None,
            Self::Incompatible { .. } => "change one of the two".to_owned(),
            Self::NothingInCommon { .. } => "compare fits of the same data".to_owned(),
            Self::UnknownSpecies { .. } => {
                "name one of them, or add it to the registry (Registry::with, Registry::with_prior)".to_owned()
            }
            Self::UnknownComposer { .. } => {
                "add it to the registry that the file is read with (Registry::with_composer)"
                    .to_owned()
            }
            Self::Composed { .. } => {
                "this is a defect of that composer, not of your data".to_owned()
            }
            Self::SpeciesOption { .. } => "correct the option, or leave it out".to_owned(),
            Self::UnknownView { .. } => "name one of the model's views".to_owned(),
            Self::GroupInOneFold { together: true, .. } => {
                "what keeps samples together (--keep-together) must not keep whole groups together: take \
                 another column, or leave the groups (--groups) out"
                    .to_owned()
            }
            Self::GroupInOneFold { .. } => {
                "merge it with another group, leave its samples out, or leave the groups (--groups) out"
                    .to_owned()
            }
            Self::UnknownGroup { known, .. } if known.is_empty() => {
                "give the samples groups when fitting".to_owned()
            }
            Self::SmallGroup { .. } => {
                "merge it with another group, leave it out, or let groups share noise and \
                 intercepts"
                    .to_owned()
            }
            Self::UnknownGroup { .. } => {
                "name one of the model's groups; leave the group of a new sample empty to have it \
                 taken to be of any of them"
                    .to_owned()
            }
            Self::UnknownClass { .. } => "correct the name, or leave that cell empty".to_owned(),
            Self::MissingFeatures { .. } => {
                "give every feature of the model by name; leave unknown values empty".to_owned()
            }
            Self::NoKnownFeature {
                transposed: true, ..
            } => "its sample IDs are the features of the model: say --transposed where samples stand in columns, and leave it \
                  out where they stand in rows"
                .to_owned(),
            Self::NoKnownFeature { .. } => {
                "check that the header row holds the feature names used when fitting".to_owned()
            }
            Self::NewerFile { .. } => "use a newer release of polyview".to_owned(),
            Self::OldCheckpoint { .. } => {
                "go on with it in the release of polyview that wrote it, or start afresh without it"
                    .to_owned()
            }
            Self::File { .. } => {
                "check that it is the right file, restore it from a copy, or make it again"
                    .to_owned()
            }
            Self::OtherFit { .. } => {
                "give the data and choices it was made with, or start afresh without it".to_owned()
            }
            Self::SweepsDone { option, done, .. } => {
                format!("give a larger number to go on with it: {option} above {done}")
            }
            Self::Exists { .. } => {
                "choose another name, or allow it to be replaced".to_owned()
            }
            Self::Shape { .. } => {
                "give the height and the width, in this order, whose product is the number of features"
                    .to_owned()
            }
            Self::NoRelevance { .. } => {
                "fit it again with selection = \"relevance\"".to_owned()
            }
            Self::NoInclusion { .. } => {
                "fit it again with selection = \"spike-and-slab\" (--weights spike-slab)".to_owned()
            }
            Self::NoData => {
                "fit again without --no-data, which leaves them out of the model file".to_owned()
            }
            Self::DataOnDisk => {
                "fit again with --in-memory, and without --no-data".to_owned()
            }
            Self::SmallBatch {
                factors, samples, ..
            } => format!(
                "give a larger --batch (1 is all {samples} samples, and a number above 1 so many of them), of \
                 more than {factors} samples, better of ten times as many, or ask for fewer factors"
            ),
            Self::Numeric(NumericError::BoundFell { .. }) => {
                "this is a defect of the program, not of your data; please report it".to_owned()
            }
            Self::Numeric(_) | Self::Linalg(_) | Self::Baseline(_) | Self::Score { .. } => {
                "check the data for extreme values; standardise the features".to_owned()
            }
            Self::NoComponent { count, .. } => format!("ask for a number below {count}"),
            Self::Start { .. } => {
                "give finite numbers, a row for each sample and a column for each factor, before the first step"
                    .to_owned()
            }
            Self::NotWithEngine { .. } => "leave it out, or take another engine".to_owned(),
            // what went wrong in a fold has its own
            Self::Data(_)
            | Self::Io { .. }
            | Self::Source { .. }
            | Self::Limit { .. }
            | Self::Fold { .. } => return None,
        })
    }
}

/// What to give for an option.
fn range(option: &str) -> &'static str {
    match option {
        "batch" => {
            "give a share above 0 and at most 1, or a number of samples above 1 and at most all of \
             them"
        }
        "restarts" | "max-sweeps" | "chains" | "sweeps" | "epochs" | "rounds" | "passes"
        | "repeats" | "replicates" | "samples" | "mixture.components" | "partners" | "anchors" => {
            "give a whole number from 1 on"
        }
        "thin" => "give a whole number from 1 to the number of sweeps kept (sweeps)",
        "times" => "give a number above 0, in the unit of the times that were fitted",
        "trials" => "give a whole number from 1 to 1000000000",
        "learning-rate" => "give a number above 0 and at most 1",
        "forget" => "give a number from 0 on, below 1",
        "energy-ratio" | "largest-weight" | "least-explained" => {
            "give a number from 0 on, which turns it off, and below 1"
        }
        "forgetting" | "threshold" => "give a number from 0 on",
        "relaxation" => "give a number above 0 and below 2",
        "folds" => "give a whole number from 2 on",
        "models" => "give one at least, each with a name of its own",
        "targets" => "name each view once",
        "share" => "give a share above 0 and below 1",
        "tolerance" | "movement" | "stochastic tolerance" | "local-tolerance" | "level" => {
            "give a number above 0 and below 1"
        }
        "intercept-precision" | "margin" | "weight" => "give a finite number above 0",
        "shrinkage-prior"
        | "inclusion-prior"
        | "weight-prior"
        | "relevance-prior"
        | "noise-prior"
        | "mixture.precision"
        | "mixture.concentration" => "give two finite numbers above 0",
        _ => "see the documentation of the option for its range",
    }
}
