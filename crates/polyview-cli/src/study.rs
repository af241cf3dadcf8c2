//! A study: data files and every choice, as a TOML file or from options.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use polyview::{
    EngineKind, GibbsOptions, Intercepts, KernelChoice, Likelihood, ModelSpec, Offset, PruneRule,
    Settle, ViewChoices, WeightPrior,
};
use polyview_core::{Join, OptionError};
use polyview_io::{DecimalMark, Delimiter, ReadOptions};
use serde::{Deserialize, Serialize};

use crate::args::{DataArgs, ModelArgs, ModelName};
use crate::choice::{parsed, species};
use crate::detection::{Given, limit_option};
use crate::failure::{Failure, Outcome};
use crate::preset::{KNOWN, preset};

mod checks;
mod data;
mod engines;
mod read;
mod values;
mod write;

use data::{distinct, settle_option, sources, weight_option};
pub use data::{named_file, of_view, offset_option, trials_twice, view_option};
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
        study.model.validate()?;
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
        let mut with_trials = HashSet::new();
        for text in &args.trials {
            let (name, path) = named_file("--trials", text)?;
            if !with_trials.insert(name.clone()) {
                return Err(trials_twice(&name));
            }
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
        for text in &args.offsets {
            match offset_option(text)? {
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
                self.model = self.model.clone().with_likelihood(&s.name, l);
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

    /// Takes no more factors than `most`, which the data carry; says so.
    pub fn fit_factors(&mut self, most: usize) -> Option<String> {
        let before = self.model.factors;
        if before <= most || most == 0 {
            return None;
        }
        self.model.factors = most;
        if self.told.factors {
            return Some(format!(
                "note: {most} factors, the most that these data carry ({before} were asked for)"
            ));
        }
        self.decided("factors".to_owned());
        Some(format!(
            "note: {most} factors, the most that these data carry (the default is {before})"
        ))
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
                    "view '{view}': {likelihood} views are not for bibfa, which knows gaussian ones alone; add --model {}",
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

    fn add_model(&mut self, args: &ModelArgs) -> Outcome<()> {
        let m = &mut self.model;
        if !KNOWN.contains(&m.model.as_str()) {
            return Err(Failure::Usage(format!(
                "unknown model '{}'; known: {}",
                m.model,
                KNOWN.join(", ")
            )));
        }
        self.told.factors |= args.choices.factors.is_some();
        set(&mut m.factors, args.choices.factors);
        set(&mut m.seed, args.engine.seed);
        set(&mut m.restarts, args.engine.restarts);
        set(&mut m.vb.max_sweeps, args.convergence.max_sweeps);
        set(&mut m.vb.tolerance, args.convergence.tolerance);
        if let Some(e) = &args.engine.engine {
            m.engine = parsed("--engine", e)?;
        }
        if let Some(sweeps) = args.gibbs.polish {
            if m.engine == EngineKind::Stochastic {
                return Err(Failure::Usage(
                    "--polish: it starts from variational Bayes over all samples at once, and this is --engine \
                     stochastic; leave one of them out"
                        .into(),
                ));
            }
            (m.engine, m.gibbs) = (EngineKind::Gibbs, GibbsOptions::from_optimum(sweeps));
        }
        set(&mut m.gibbs.chains, args.gibbs.chains);
        set(&mut m.gibbs.warm_up, args.gibbs.warm_up);
        set(&mut m.gibbs.sweeps, args.gibbs.sweeps);
        set(&mut m.gibbs.thin, args.gibbs.thin);
        set(&mut m.stochastic.batch, args.stochastic.batch);
        set(&mut m.stochastic.epochs, args.stochastic.epochs);
        set(
            &mut m.stochastic.learning_rate,
            args.stochastic.learning_rate,
        );
        set(&mut m.stochastic.forgetting, args.stochastic.forgetting);
        set(&mut m.stochastic.exact_sweeps, args.stochastic.exact_sweeps);
        if let Some(x) = &args.choices.missing {
            m.missing = parsed("--missing", x)?;
        }
        if let Some(x) = &args.engine.start {
            m.start = parsed("--start", x)?;
        }
        if let Some(x) = &args.engine.path {
            m.path = parsed("--path", x)?;
        }
        if args.choices.no_intercepts {
            m.intercepts = Intercepts::None;
        }
        if let Some(x) = &args.priors.factor_prior {
            m.factor_prior = species("--factor-prior", x)?;
        }
        if !args.choices.adjust.is_empty() {
            m.covariates.clone_from(&args.choices.adjust);
        }
        m.groups.noise |= args.choices.group_noise;
        m.groups.intercepts |= args.choices.group_intercepts;
        if args.convergence.no_rotation {
            m.vb.rotate = parsed("rotate", "off")?;
        }
        if args.engine.audit {
            m.vb.audit = parsed("audit", "blocks")?;
        }
        if args.convergence.no_pruning {
            m.vb.prune = PruneRule::never();
        }
        let names: Vec<String> = m.views.iter().map(|v| v.name.clone()).collect();
        let mut all = vec![(None, m.defaults.clone())];
        all.extend(names.into_iter().map(|n| {
            let c = m.view(&n);
            (Some(n), c)
        }));
        for (name, mut choices) in all {
            if let Some(x) = &args.choices.noise {
                choices.noise = parsed("--noise", x)?;
            }
            if let Some(x) = &args.choices.scaling {
                choices.scaling = parsed("--scaling", x)?;
            }
            if let Some(x) = &args.choices.centring {
                choices.centring = parsed("--centring", x)?;
            }
            match name {
                None => m.defaults = choices,
                Some(n) => *m = m.clone().with_view(&n, choices),
            }
        }
        for text in &args.priors.weights {
            // options come in braces, with equals signs of their own
            let end = if text.ends_with('}') {
                text.find('{')
            } else {
                None
            };
            let (view, prior) = match text[..end.unwrap_or(text.len())].rfind('=') {
                Some(at) => (Some(&text[..at]), &text[at + 1..]),
                None => (None, text.as_str()),
            };
            let selection: WeightPrior = species("--weights", prior)?;
            let names: Vec<String> = match view {
                Some(view) => vec![view.to_owned()],
                None => m.views.iter().map(|v| v.name.clone()).collect(),
            };
            if view.is_none() {
                m.defaults.selection = selection.clone();
            }
            for name in names {
                let choices = ViewChoices {
                    selection: selection.clone(),
                    ..m.view(&name)
                };
                *m = m.clone().with_view(&name, choices);
            }
        }
        for name in &args.priors.select_features {
            let mut choices = m.view(name);
            choices.selection = "relevance".into();
            *m = m.clone().with_view(name, choices);
        }
        for text in &args.choices.weight {
            let (view, weight) = weight_option(text)?;
            *m = m.clone().with_weight(&view, weight);
        }
        for name in &args.choices.settle {
            let (name, settle) = settle_option(name);
            *m = m.clone().with_settled(name, settle);
        }
        if args.choices.no_settle {
            m.defaults.settle = Some(Settle::Not);
            for v in &mut m.views {
                v.choices.settle = Some(Settle::Not);
            }
        }
        for text in &args.choices.shape {
            let (name, shape) = shape_option(text)?;
            let mut choices = m.view(&name);
            choices.shape = Some(shape);
            *m = m.clone().with_view(&name, choices);
        }
        if let Some(t) = args.priors.mixture {
            *m = m.clone().with_mixture(t);
            self.local = true;
            for s in self.data.clone() {
                self.localise(&s.name);
            }
        }
        Ok(())
    }

    /// Kernels of views, which are made of real numbers unless somebody says otherwise.
    fn add_kernels(&mut self, args: &ModelArgs) -> Outcome<()> {
        for text in &args.choices.kernel {
            let (view, kernel) = kernel_option(text)?;
            let choices = ViewChoices {
                kernel: Some(kernel),
                ..self.model.view(&view)
            };
            self.model = self.model.clone().with_view(&view, choices);
        }
        let views = self.model.views.iter();
        let with_kernel = views.filter(|v| v.choices.kernel.is_some());
        let names: Vec<String> = with_kernel.map(|v| v.name.clone()).collect();
        if !(names.is_empty() || self.told.factors) && self.model.factors < KERNEL_FACTORS {
            self.model.factors = KERNEL_FACTORS;
            self.decided("factors".to_owned());
        }
        for name in names {
            if !(self.told.all || self.told.views.contains(&name)) {
                self.take(&name, "gaussian".into());
            }
        }
        Ok(())
    }

    /// Limits of detection of views.
    fn add_limits(&mut self, args: &ModelArgs) -> Outcome<()> {
        let mut names = HashSet::new();
        for text in &args.choices.limit {
            let (view, Given { limits, path }) = limit_option(text, &self.format())?;
            if !names.insert(view.clone()) {
                return Err(Failure::Usage(format!(
                    "--limit: view '{view}' has limits twice; leave one out, or give a table with those of each feature"
                )));
            }
            self.model = self.model.clone().with_limits(&view, limits);
            self.limits.extend(path.map(|path| (view, path)));
        }
        Ok(())
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

/// Sets what is given.
pub fn set<T: Copy>(target: &mut T, value: Option<T>) {
    if let Some(v) = value {
        *target = v;
    }
}

/// Parses `VIEW=KERNEL`.
fn kernel_option(text: &str) -> Outcome<(String, KernelChoice)> {
    // options have equals signs of their own
    let end = text.find('{').unwrap_or(text.len());
    match text[..end].rfind('=') {
        Some(at) if at > 0 => {
            let kernel = text[at + 1..].parse();
            let kernel =
                kernel.map_err(|e: OptionError| Failure::Usage(format!("--kernel {text}: {e}")))?;
            Ok((text[..at].to_owned(), kernel))
        }
        _ => Err(Failure::Usage(format!(
            "--kernel: '{text}' is not VIEW=KERNEL, such as genes=rbf"
        ))),
    }
}

/// Parses `VIEW=HxW`.
fn shape_option(text: &str) -> Outcome<(String, [usize; 2])> {
    let parse = || {
        let (name, shape) = text.rsplit_once('=')?;
        let (rows, columns) = shape.split_once('x')?;
        Some((name, [rows.parse().ok()?, columns.parse().ok()?]))
    };
    match parse() {
        Some((name, shape)) if !name.is_empty() => Ok((name.to_owned(), shape)),
        _ => Err(Failure::Usage(format!(
            "--shape: '{text}' is not VIEW=HxW, such as pixels=16x15"
        ))),
    }
}

#[cfg(test)]
mod tests;
