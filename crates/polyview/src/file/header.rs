//! The JSON header of a model file.

use std::collections::HashSet;
use std::sync::Arc;

use polyview_core::{Journal, Metadata, MetadataValues, Options, Rounding};
use polyview_infer::Outcome;
use polyview_kernels::KernelParts;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::adjust::Adjustment;
use crate::assemble::{check_shape, priors_go};
use crate::compose::Composed;
use crate::error::{Error, ErrorKind};
use crate::faithful;
use crate::fit::{Diagnostic, Fit, FitRecord, Optimum, Reading};
use crate::local::validate as check_mixture;
use crate::registry::Registry;
use crate::spec::{EngineKind, ModelSpec, RunOptions, ViewChoices};

/// The first format whose `categorical` is a softmax, until then the multinomial probit, and
/// whose likelihoods with expectation sites have them by default, until then bounds.
const FORMAT_OF_EXPECTATIONS: u32 = 2;

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
    /// Brings what an earlier format says to what this one would.
    pub(super) fn bring_up_to_date(&mut self) {
        self.say_what_was_computed();
        if self.format >= FORMAT_OF_EXPECTATIONS {
            return;
        }
        let of_spec = (self.spec.iter_mut()).flat_map(|spec| {
            let views = spec.views.iter_mut().map(|v| &mut v.choices);
            views.chain([&mut spec.defaults])
        });
        let of_views = self.views.iter_mut().map(|v| &mut v.choices);
        for choices in of_spec.chain(of_views) {
            let likelihood = &mut choices.likelihood;
            if *likelihood == "categorical" {
                *likelihood = "categorical-probit".into();
            }
            let was = match likelihood.name() {
                "bernoulli" | "probit" | "binomial" | "negative-binomial" => "form=bound",
                "poisson" => "rate=softplus",
                _ => continue,
            };
            let written = likelihood.options().clone();
            let was = Options::parse(was).unwrap_or_default();
            *likelihood = likelihood.clone().with(written.or(&was));
        }
    }

    /// Counts by the steps of mofapy2 had the rate of mofapy2, whatever earlier releases wrote down.
    fn say_what_was_computed(&mut self) {
        let Some(spec) = &mut self.spec else {
            return;
        };
        let was = spec.clone();
        let as_computed = |choices: &mut ViewChoices| {
            let name = choices.likelihood.name().to_owned();
            let own = faithful::options(&was, &choices.likelihood);
            if !own.is_empty() {
                let beside = choices.options.remove(&name).unwrap_or_default();
                let all = own.or(&beside).or(choices.likelihood.options());
                choices.likelihood = choices.likelihood.clone().with(all);
            }
        };
        as_computed(&mut spec.defaults);
        let of_spec = spec.views.iter_mut().map(|v| &mut v.choices);
        let of_views = self.views.iter_mut().map(|v| &mut v.choices);
        of_spec.chain(of_views).for_each(as_computed);
    }

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

    /// Whether names, counts and choices fit together. After this the number
    /// of factors is at most that of the samples and of the features.
    pub(super) fn check(&self, composed: &Composed) -> Result<(), Fault> {
        let options = &composed.options;
        match composed.spec() {
            Some(spec) => spec.validate()?,
            None => options.validate()?,
        }
        unique("samples", self.samples.iter())?;
        unique("views", self.views.iter().map(|v| &v.name))?;
        for view in &self.views {
            view.check(composed)?;
        }
        let samples = self.samples.len();
        if let Some(spec) = composed.spec() {
            self.check_spec(spec)?;
        }
        let features: usize = self.views.iter().map(ViewHeader::columns).sum();
        let most = samples.min(features);
        if options.factors > most {
            return Err(Error::from(ErrorKind::TooManyFactors {
                factors: options.factors,
                samples,
                features,
                most,
            })
            .into());
        }
        if self.factors == 0 || self.factors > options.factors {
            return Err(Fault::Count {
                what: "factors",
                expected: options.factors,
                found: self.factors,
            });
        }
        let fits = match options.engine {
            EngineKind::Vb | EngineKind::Stochastic => self.components == 1,
            EngineKind::Gibbs => self.components >= 1,
        };
        if !fits {
            return Err(Fault::Count {
                what: "components",
                expected: 1,
                found: self.components,
            });
        }
        if let Some(groups) = &self.groups {
            unique("groups", groups.names.iter())?;
            Fault::unless_count("group numbers", samples, groups.of_sample.len())?;
            let count = groups.names.len();
            if let Some(&g) = groups.of_sample.iter().find(|g| **g as usize >= count) {
                return Err(Fault::Count {
                    what: "groups",
                    expected: g as usize + 1,
                    found: count,
                });
            }
        }
        for column in &self.metadata {
            if let ColumnValues::Categories(values) = &column.values {
                Fault::unless_count("metadata values", samples, values.len())?;
            }
        }
        Ok(())
    }
}

impl ModelHeader {
    /// Whether the choices of the specification fit the views.
    fn check_spec(&self, spec: &ModelSpec) -> Result<(), Fault> {
        for v in &spec.views {
            if !self.views.iter().any(|known| known.name == v.name) {
                return Err(Error::from(ErrorKind::UnknownView {
                    view: v.name.clone(),
                    known: self.views.iter().map(|v| v.name.clone()).collect(),
                })
                .into());
            }
        }
        let names: Vec<&str> = self.views.iter().map(|v| v.name.as_str()).collect();
        priors_go(spec, &names)?;
        check_mixture(spec, self.samples.len(), names.into_iter())?;
        Ok(())
    }
}

impl ViewHeader {
    fn check(&self, composed: &Composed) -> Result<(), Fault> {
        unique("features", self.features.iter())?;
        let own = |spec: &ModelSpec| {
            let choices = self.choices.clone();
            choices.folded(&spec.defaults, |likelihood| {
                faithful::options(spec, likelihood)
            })
        };
        if (composed.spec()).is_some_and(|spec| spec.view(&self.name) != own(spec)) {
            return Err(Fault::Record("choices of a view and of the model"));
        }
        check_shape(&self.name, &self.choices, self.features.len())?;
        let categorical = self.choices.likelihood.has_classes();
        if categorical == self.levels.is_empty() || categorical && self.features.len() != 1 {
            return Err(Fault::Record("class names of a view"));
        }
        if categorical {
            unique("classes", self.levels.iter())?;
        }
        let places = |of: &[usize]| {
            of.windows(2).all(|p| p[0] < p[1]) && of.last().is_none_or(|&d| d < self.features.len())
        };
        if self.choices.kernel.is_some() != self.kernel.is_some() {
            return Err(Fault::Record("the kernel of a view"));
        }
        if !places(&self.constant) {
            return Err(Fault::Record("numbers of the constant features"));
        }
        // the one feature of a categorical view has its classes
        if !places(&self.unobserved) || categorical && !self.unobserved.is_empty() {
            return Err(Fault::Record("numbers of the features without a value"));
        }
        Ok(())
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

/// At least one name, and none twice.
fn unique<'a>(
    what: &'static str,
    names: impl ExactSizeIterator<Item = &'a String>,
) -> Result<(), Fault> {
    if names.len() == 0 {
        return Err(Fault::Empty(what));
    }
    let mut seen = HashSet::with_capacity(names.len());
    for name in names {
        if !seen.insert(name) {
            return Err(Fault::Duplicate {
                what,
                name: name.clone(),
            });
        }
    }
    Ok(())
}

/// Name and version of this program.
pub(super) fn program() -> String {
    concat!("polyview ", env!("CARGO_PKG_VERSION")).to_owned()
}
