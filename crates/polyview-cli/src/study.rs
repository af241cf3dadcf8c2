//! A study: data files and every choice, as a TOML file or from options.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use polyview::{EngineKind, Likelihood, ModelSpec, Offset, StochasticOptions};
use polyview_core::{Join, counted};
use polyview_io::{DecimalMark, Delimiter, ReadOptions};
use serde::{Deserialize, Serialize};

use crate::args::{DataArgs, ModelArgs, ModelName};
use crate::failure::{Failure, Outcome};
use crate::preset::{KNOWN, preset};

mod checks;
mod data;
mod engines;
mod options;
mod read;
mod targets;
mod values;
mod write;

pub use data::{Once, named_file, of_view, offset_option, view_option};
use data::{distinct, sources};
pub use options::set;
use read::read;
use values::Beside;

/// Factors to start with where a view has a kernel, and nobody says how many: the first ones are
/// the principal components of the kernel, and what other views need of it comes after them.
pub const KERNEL_FACTORS: usize = 40;

/// Where one view comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Source {
    /// Name of the view.
    pub name: String,
    /// The file, relative to the study file.
    pub path: PathBuf,
    /// How its data arise: short for an entry of `model.views`, and stronger.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub likelihood: Option<Likelihood>,
    /// The file with the numbers of trials of a binomial view.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trials: Option<PathBuf>,
    /// The one column of the file that is the view: labels of two values, words
    /// or numbers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<String>,
}

/// Data files and every choice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Study {
    /// A table about the samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<PathBuf>,
    /// Column of the metadata that gives each sample its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// A table about the samples with the covariates that the fit is adjusted for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covariates: Option<PathBuf>,
    /// Files with the offsets of views, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub offsets: BTreeMap<String, PathBuf>,
    /// Whether tables have features in rows.
    pub transposed: bool,
    /// What parts the columns of text files.
    #[serde(skip_serializing_if = "is_default")]
    pub delimiter: Delimiter,
    /// Which character parts the whole from the fraction in text files.
    #[serde(skip_serializing_if = "is_default")]
    pub decimal: DecimalMark,
    /// What stands for a missing value in the files, besides empty cells and NA.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub na: Vec<String>,
    /// Views that are there to be predicted, together: none of them is what another is predicted from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// The views' files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Source>,
    /// The model.
    pub model: ModelSpec,
    /// Views whose likelihood was given, rather than left to its default.
    #[serde(skip)]
    told: Told,
    /// Whether labels have weights by component.
    #[serde(skip)]
    local: bool,
    /// What is to be said of the study file.
    #[serde(skip)]
    remarks: Vec<String>,
    /// Options of likelihoods that views of the study file have beside their own.
    #[serde(skip)]
    beside: Vec<Beside>,
    /// The study file.
    #[serde(skip)]
    file: String,
    /// Tables of limits of detection, by view.
    #[serde(skip)]
    pub limits: BTreeMap<String, PathBuf>,
}

/// Which views' likelihoods were given.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    views: HashSet<String>,
    all: bool,
    factors: bool,
    batch: bool,
}

impl Study {
    /// From a study file and options; options win.
    pub fn new(spec: Option<&Path>, data: &DataArgs, model: &ModelArgs) -> Outcome<Self> {
        let name = model.choices.model.map(ModelName::name);
        let mut study = match spec {
            Some(path) => read(path, name)?,
            None => Self {
                model: preset(name.unwrap_or(KNOWN[0])),
                ..Self::default()
            },
        };
        let of_file = study.model.clone();
        study.add_data(data)?;
        study.add_likelihoods();
        study.add_model(model)?;
        study.add_kernels(model)?;
        study.add_limits(model)?;
        study.check_likelihoods()?;
        study.check_options()?;
        study.check_tables()?;
        if study.data.is_empty() {
            return Err(Failure::Usage(
                "no view was given; add --view NAME=FILE or a study file with [[data]] entries"
                    .into(),
            ));
        }
        study.check_targets()?;
        study.check_model(&of_file)?;
        Ok(study)
    }

    fn add_data(&mut self, args: &DataArgs) -> Outcome<()> {
        let mut options = self.format();
        args.format.set(&mut options);
        (self.delimiter, self.decimal) = (options.delimiter, options.decimal);
        self.na.clone_from(&options.missing);
        let given = sources(args, &options)?;
        distinct(&given)?;
        for s in given {
            if let Some(l) = &s.likelihood {
                self.leave_out_beside(&s.name, l);
            }
            match self.data.iter_mut().find(|known| known.name == s.name) {
                Some(known) if s.column.is_none() => {
                    known.path = s.path;
                    known.likelihood = s.likelihood.or(known.likelihood.clone());
                }
                Some(known) => *known = s,
                None => self.data.push(s),
            }
        }
        distinct(&self.data)?;
        let mut once = Once::of("--trials");
        for text in &args.trials {
            let (name, path) = named_file("--trials", text)?;
            once.view(&name)?;
            let known: Vec<String> = self.data.iter().map(|s| s.name.clone()).collect();
            match self.data.iter_mut().find(|s| s.name == name) {
                Some(s) => s.trials = Some(path),
                None => {
                    return Err(Failure::Usage(format!(
                        "--trials: there is no view '{name}'; there are {}",
                        known.join(", ")
                    )));
                }
            }
        }
        if let Some(m) = &args.metadata {
            self.metadata = Some(m.clone());
        }
        if let Some(g) = &args.groups {
            self.groups = Some(g.clone());
        }
        if let Some(c) = &args.covariates {
            self.covariates = Some(c.clone());
        }
        let mut once = Once::of("--offset");
        for text in &args.offsets {
            let (view, path) = offset_option(text)?;
            once.view(&view)?;
            match (view, path) {
                (view, None) => {
                    self.offsets.remove(&view);
                    self.model.offsets.insert(view, Offset::LogTotal);
                }
                (view, Some(path)) => {
                    self.offsets.insert(view, path);
                }
            }
        }
        for view in self.offsets.keys() {
            let offset = Offset::Column(Offset::column_of(view));
            self.model.offsets.insert(view.clone(), offset);
        }
        self.transposed |= args.transposed;
        if let Some(j) = &args.join {
            self.model.join = if j == "union" {
                Join::Union
            } else {
                Join::Intersection
            };
        }
        Ok(())
    }

    /// Moves the likelihoods of the data entries to the model.
    fn add_likelihoods(&mut self) {
        for s in &mut self.data {
            if let Some(l) = s.likelihood.take() {
                let options = l.options().clone();
                let (name, ranks) = (l.name().to_owned(), l.is_rank());
                self.model = self.model.clone().with_likelihood(&s.name, l);
                // options that come with it are stronger than those that stand beside it
                let own = self.model.views.iter_mut().find(|v| v.name == s.name);
                if let Some(own) = own.map(|v| &mut v.choices) {
                    if let Some(beside) = own.options.get_mut(&name) {
                        *beside = options.clone().or(beside);
                    }
                    if ranks && !own.ranks.is_empty() {
                        own.ranks = options.or(&own.ranks);
                    }
                }
                self.told.views.insert(s.name.clone());
                let place = format!("views/{}/likelihood", s.name);
                self.model.from_data.retain(|p| *p != place);
            }
        }
    }

    /// The likelihood of a view; `None` where it is to be guessed.
    pub fn likelihood(&self, view: &str) -> Option<Likelihood> {
        let told = self.told.all || self.told.views.contains(view);
        // these two know one kind of view; labels are told
        let one_kind = ["bibfa", "rank"].contains(&self.model.model.as_str());
        (told || one_kind).then(|| self.model.view(view).likelihood)
    }

    /// Takes a guess as the likelihood of a view.
    pub fn guess(&mut self, view: &str, likelihood: Likelihood) {
        self.take(view, likelihood);
        self.decided(format!("views/{view}/likelihood"));
    }

    /// Remarks that the data decided a choice.
    fn decided(&mut self, place: String) {
        if !self.model.from_data.contains(&place) {
            self.model.from_data.push(place);
        }
    }

    /// Whether somebody gave a number of factors.
    pub fn has_factors(&self) -> bool {
        self.told.factors
    }

    /// Offers as many factors as suit `samples` samples, unless somebody gave a number, and no more than `most`, which the data carry;
    /// says that.
    pub fn fit_factors(&mut self, samples: usize, most: usize) -> Option<String> {
        let offered = self.model.offered_factors(samples);
        if !self.told.factors && most > self.model.factors && offered > self.model.factors {
            self.model.factors = offered.min(most);
            self.decided("factors".to_owned());
        }
        let before = self.model.factors;
        if before <= most || most == 0 {
            return None;
        }
        self.model.factors = most;
        if self.told.factors {
            return Some(format!(
                "note: {}, the most that these data carry ({before} were asked for)",
                counted(most, "factor")
            ));
        }
        self.decided("factors".to_owned());
        Some(format!(
            "note: {}, the most that these data carry (the default is {before})",
            counted(most, "factor")
        ))
    }

    /// Raises the batch of a stochastic fit to what suits so many factors, unless somebody chose one; says that.
    pub fn fit_batch(&mut self, samples: usize, factors: usize) -> Option<String> {
        let before = self.model.stochastic;
        let sized = before.for_factors(samples, factors);
        if self.model.engine != EngineKind::Stochastic || self.told.batch || sized == before {
            return None;
        }
        self.model.stochastic = sized;
        self.decided("stochastic/batch".to_owned());
        let size = |options: &StochasticOptions| options.batch_size(samples);
        Some(format!(
            "note: batches of {} of the {samples} samples, for {} (--batch {} would be {})",
            size(&sized),
            counted(factors, "factor"),
            before.batch,
            size(&before)
        ))
    }

    /// As [`Study::fit_factors`], of data that are parted: each part decides what it carries, unless somebody gave a number.
    /// The batch of a stochastic fit suits as many as are offered; what is to be said of that.
    pub fn fit_factors_of_parts(&mut self, samples: usize) -> Option<String> {
        self.fit_factors(samples, usize::MAX);
        if !self.told.factors {
            self.decided("factors".to_owned());
        }
        self.fit_batch(samples, self.model.factors)
    }

    /// Takes the likelihood of a view as told.
    pub fn take(&mut self, view: &str, likelihood: Likelihood) {
        self.model = self.model.clone().with_likelihood(view, likelihood);
        self.told.views.insert(view.to_owned());
        self.localise(view);
    }

    /// Gives the components of a mixture weights of their own in a view that
    /// can have such.
    fn localise(&mut self, view: &str) {
        if self.local && self.model.view(view).likelihood.can_be_local() {
            self.model = self.model.clone().with_local(view);
        }
    }

    /// Refuses labels and counts in a model of numbers, and trials of anything
    /// but successes.
    fn check_likelihoods(&self) -> Outcome<()> {
        for s in self.data.iter().filter(|s| s.trials.is_some()) {
            if let Some(l) = self.likelihood(&s.name)
                && !l.has_trials()
            {
                return Err(Failure::Usage(format!(
                    "view '{}': numbers of trials belong to binomial views, not {l}; say --view {}={}:binomial, or leave the trials out",
                    s.name,
                    s.name,
                    s.path.display()
                )));
            }
        }
        for s in &self.data {
            let likelihood = self.likelihood(&s.name);
            let fits = |l: &Likelihood| l.is_censored() && !l.is_survival();
            if self.model.view(&s.name).limits.is_some() && !likelihood.as_ref().is_some_and(fits) {
                let is = likelihood.map_or_else(String::new, |l| format!(", not {l}"));
                return Err(Failure::Usage(format!(
                    "view '{}': limits of detection belong to censored views{is}; say --view {}={}:censored, or leave the limits out",
                    s.name,
                    s.name,
                    s.path.display()
                )));
            }
        }
        let own = self
            .data
            .iter()
            .map(|s| (s.name.as_str(), self.model.view(&s.name).likelihood));
        match own.into_iter().find(|(_, l)| !l.is_real()) {
            Some((view, likelihood)) if self.model.model == "bibfa" => {
                Err(Failure::Usage(format!(
                    "view '{view}': {likelihood} views are not for bibfa, which knows numbers with normal noise alone (gaussian, censored, survival); add --model {}",
                    if likelihood.is_count() {
                        "mofa"
                    } else {
                        "sshiba"
                    }
                )))
            }
            _ => Ok(()),
        }
    }

    /// How its text files are read.
    pub fn format(&self) -> ReadOptions {
        ReadOptions {
            delimiter: self.delimiter,
            decimal: self.decimal,
            missing: self.na.clone(),
            ..ReadOptions::default()
        }
    }

    /// The files with its data.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let views = self
            .data
            .iter()
            .flat_map(|s| [Some(&s.path), s.trials.as_ref()]);
        let about = [self.metadata.as_ref(), self.covariates.as_ref()];
        let beside = self.offsets.values().chain(self.limits.values());
        let all = views.chain(about).chain(beside.map(Some));
        all.flatten().map(PathBuf::as_path)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests;
