//! The JSON header of a model file.

mod earlier;
mod valid;

use std::sync::Arc;

use polyview_core::{Journal, Metadata, MetadataValues, Options, Rounding};
use polyview_infer::Outcome;
use polyview_kernels::KernelParts;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::adjust::Adjustment;
use crate::compose::Composed;
use crate::error::Error;
use crate::fit::{Diagnostic, Fit, FitRecord, Optimum, Reading};
use crate::registry::Registry;
use crate::spec::{ModelSpec, RunOptions, ViewChoices};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// A fitted model.
    Model,
    /// A fit in progress.
    Checkpoint,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Checkpoint => "checkpoint",
        }
    }
    /// The newest format of files of this kind that is known.
    pub(super) fn version(self) -> u32 {
        match self {
            Self::Model => super::FORMAT_VERSION,
            Self::Checkpoint => super::CHECKPOINT_VERSION,
        }
    }
    /// What a header says that it is of.
    pub(super) fn of(header: &serde_json::Value) -> Result<Self, Fault> {
        let kind = header.get("kind").cloned().unwrap_or_default();
        Ok(super::json::from_value(kind)?)
    }
    /// An error unless `header` is of this kind.
    pub(super) fn expect(self, header: &serde_json::Value) -> Result<(), Fault> {
        let found = Self::of(header)?;
        if found == self {
            Ok(())
        } else {
            Err(Fault::Kind {
                expected: self.name(),
                found: found.name(),
            })
        }
    }
}

/// Everything of a model that is not an array of numbers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ModelHeader {
    pub(super) format: u32,
    pub(super) kind: Kind,
    pub(super) program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) spec: Option<ModelSpec>,
    /// In place of `spec`, where another composer put the model together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) composer: Option<ComposerHeader>,
    pub(super) factors: usize,
    pub(super) components: usize,
    pub(super) samples: Vec<String>,
    pub(super) views: Vec<ViewHeader>,
    pub(super) groups: Option<GroupsHeader>,
    /// Covariates and offsets, where the fit was adjusted for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) adjustment: Option<Adjustment>,
    pub(super) metadata: Vec<ColumnHeader>,
    /// How the tables of the training data were read, where anybody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reading: Option<Reading>,
    pub(super) record: RecordHeader,
}

/// A composer that is no specification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ComposerHeader {
    pub(super) name: String,
    pub(super) options: Options,
    pub(super) run: RunOptions,
}

impl ComposerHeader {
    /// `None` for a specification, which is written as such.
    pub(super) fn of(composed: &Composed) -> Option<Self> {
        if composed.spec().is_some() {
            return None;
        }
        let (name, options) = composed.composer.describe();
        Some(Self {
            name: name.to_owned(),
            options,
            run: composed.options.clone(),
        })
    }
}

/// One view.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ViewHeader {
    pub(super) name: String,
    pub(super) features: Vec<String>,
    /// Class names of a categorical view.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) levels: Vec<String>,
    pub(super) choices: ViewChoices,
    pub(super) constant: Vec<usize>,
    pub(super) observed: usize,
    /// Places of the features that were never observed, in order. Files of models
    /// with their data may lack them: the data say which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unobserved: Vec<usize>,
    /// Features of the training data that did not vary and are not in the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<String>,
    /// Similarities of the training samples to themselves, as they were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) selves: Vec<Option<f64>>,
    /// How tables of the view become its columns, where it has a kernel; the reference points are
    /// an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kernel: Option<KernelParts>,
    pub(super) data: DataKind,
    /// Whether the file has the smallest training values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) training_least: bool,
    /// Whether the file has how many training values each value of a map of normal scores is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) score_counts: bool,
    /// Whether the file has where the training values of each group lay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) training_groups: bool,
    /// Whether numbers of trials are among the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) trials: bool,
    /// Whether other ends of cells are among the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ends: bool,
    /// Whether the features that a kernel compares are among the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) behind: bool,
    /// Whether the data are stored sparse.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) sparse: bool,
    /// What working units took from the data, where it is beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rounding: Option<RoundingHeader>,
}

/// Which arrays say what working units took from the data of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RoundingHeader {
    /// Sum of the bytes and their number; 0 where there are none.
    pub(super) steps: u64,
    /// Number of values that are too far for a byte.
    pub(super) far: usize,
    /// Whether cells without an entry are among them.
    pub(super) zeros: bool,
}

impl RoundingHeader {
    /// Of a view; `None` where there is nothing to say.
    pub(super) fn of(rounding: &Rounding) -> Option<Self> {
        let (steps, far, zeros) = rounding.parts();
        (!rounding.is_none()).then(|| Self {
            steps: Self::sum(steps),
            far: far.len(),
            zeros: !zeros.is_empty(),
        })
    }
    /// Sum of some bytes and their number.
    pub(super) fn sum(steps: &[u8]) -> u64 {
        steps.iter().map(|s| u64::from(*s) + 1).sum()
    }
}

impl ViewHeader {
    /// Number of features, or of classes.
    fn columns(&self) -> usize {
        if self.levels.is_empty() {
            self.features.len()
        } else {
            self.levels.len()
        }
    }
}

/// Which of a view's data are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DataKind {
    /// The model was saved without its data.
    None,
    /// Every cell was observed.
    Complete,
    /// Whole samples are missing.
    Samples,
    /// Any cells are missing.
    Cells,
}

/// Sample groups.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct GroupsHeader {
    pub(super) names: Vec<String>,
    pub(super) of_sample: Vec<u32>,
}

/// One column of metadata.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ColumnHeader {
    pub(super) name: String,
    pub(super) values: ColumnValues,
}

/// Values of a column of metadata.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ColumnValues {
    /// They stand in the array `metadata/<place of the column>`.
    Numbers,
    /// One a sample, `null` where absent.
    Categories(Vec<Option<String>>),
}

/// What happened in the fit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RecordHeader {
    pub(super) outcome: Outcome,
    pub(super) sweeps: usize,
    pub(super) bound: Option<f64>,
    pub(super) restart_bounds: Vec<f64>,
    pub(super) seconds: f64,
    /// Names of the terms of each ledger; their values are arrays.
    pub(super) ledgers: Vec<Vec<String>>,
    pub(super) journal: Journal,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The variational fit at whose end chains started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) optimum: Option<Optimum>,
}

impl RecordHeader {
    pub(super) fn of(record: &FitRecord) -> Self {
        Self {
            outcome: record.outcome,
            sweeps: record.sweeps,
            bound: record.bound,
            restart_bounds: record.restart_bounds.clone(),
            seconds: record.seconds,
            ledgers: record.ledgers.iter().map(|l| l.names.clone()).collect(),
            journal: record.journal.clone(),
            diagnostics: record.diagnostics.clone(),
            optimum: record.optimum.clone(),
        }
    }
}

impl ModelHeader {
    /// Looks up the composer and the species that are named in it.
    pub(super) fn resolve(&mut self, registry: &Registry) -> Result<Composed, Fault> {
        let unknown = |e: Error| Fault::Choices(Box::new(e));
        let composed = match (self.spec.take(), self.composer.take()) {
            (Some(mut spec), None) => {
                spec.resolve(registry).map_err(unknown)?;
                spec.into()
            }
            (None, Some(c)) => {
                let composer = registry.composer(&c.name, &c.options).map_err(unknown)?;
                Composed::new(composer, c.run)
            }
            _ => return Err(Fault::Record("entries 'spec' and 'composer'")),
        };
        let composed = Composed {
            adjustment: self.adjustment.take().map(Arc::new),
            ..composed
        };
        for view in &mut self.views {
            view.choices.likelihood.resolve(registry).map_err(unknown)?;
            view.choices.selection.resolve(registry).map_err(unknown)?;
        }
        Ok(composed)
    }

    /// The header of a model whose views' data are of the given kinds.
    pub(super) fn of(fit: &Fit, data: &[DataKind]) -> Self {
        Self {
            format: super::FORMAT_VERSION,
            kind: Kind::Model,
            program: program(),
            spec: fit.spec().cloned(),
            composer: ComposerHeader::of(&fit.composed),
            factors: fit.k(),
            components: fit.components.len(),
            samples: fit.samples.clone(),
            views: fit
                .views
                .iter()
                .zip(data)
                .enumerate()
                .map(|(i, (v, &data))| ViewHeader {
                    name: v.name.clone(),
                    features: v.features.clone(),
                    levels: v.levels.clone(),
                    choices: v.choices.clone(),
                    constant: v.scaling.constant.clone(),
                    observed: v.observed,
                    unobserved: v.unobserved.clone(),
                    left_out: v.left_out.clone(),
                    selves: v.selves.clone(),
                    score_counts: (v.scaling.scores.as_ref())
                        .is_some_and(|s| !s.counts().is_empty()),
                    training_least: v.training.as_ref().is_some_and(|t| t.least.is_some()),
                    training_groups: v.training.as_ref().is_some_and(|t| t.groups.is_some()),
                    kernel: v.kernel.as_ref().map(|map| map.parts()),
                    data,
                    trials: (fit.data.as_ref()).is_some_and(|d| d[i].trials().is_some()),
                    ends: (fit.data.as_ref()).is_some_and(|d| d[i].ends().is_some()),
                    behind: (fit.data.as_ref()).is_some_and(|d| d[i].behind().is_some()),
                    sparse: (fit.data.as_ref()).is_some_and(|d| d[i].sparse().is_some()),
                    rounding: fit.rounding.get(i).and_then(RoundingHeader::of),
                })
                .collect(),
            groups: fit.groups.as_ref().map(|g| GroupsHeader {
                names: g.names.clone(),
                of_sample: g.of_sample.clone(),
            }),
            adjustment: fit.composed.adjustment.as_deref().cloned(),
            metadata: fit.metadata.iter().map(ColumnHeader::of).collect(),
            reading: Some(fit.reading.clone()).filter(|r| *r != Reading::default()),
            record: RecordHeader::of(&fit.record),
        }
    }
}

impl ColumnHeader {
    fn of(column: &Metadata) -> Self {
        Self {
            name: column.name.clone(),
            values: match &column.values {
                MetadataValues::Numbers(_) => ColumnValues::Numbers,
                MetadataValues::Categories(c) => ColumnValues::Categories(c.clone()),
            },
        }
    }
}

/// Name and version of this program.
pub(super) fn program() -> String {
    concat!("polyview ", env!("CARGO_PKG_VERSION")).to_owned()
}
