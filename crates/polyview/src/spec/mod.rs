//! What model to fit and how: every choice with its value.

mod choices;
mod engines;
mod likelihood;
mod limits;
mod named;
mod prior;
mod run;
mod settle;

pub use choices::{GroupChoices, InterceptPrior, Intercepts, ShrinkageShapes, ViewChoices};
pub use engines::{Algorithm, ChainStart, EngineKind, GibbsOptions, Path};
pub use likelihood::{Likelihood, Likelihoods};
pub(crate) use limits::limited;
pub use limits::{Limit, Limits};
pub use named::{Described, Kind, Named};
pub use polyview_core::Posterior;
pub use prior::{FactorPrior, FactorPriors, PriorKind, WeightPrior, WeightPriors};
pub use run::RunOptions;
pub use settle::Settle;

use std::collections::BTreeMap;

use polyview_core::{
    Centring, FeatureScaling, GammaPrior, Join, MissingData, NoiseBy, OptionError, Options, Way,
};
use polyview_infer::{Start, StochasticOptions, VbOptions};
use polyview_kernels::KernelChoice;
use polyview_priors::{BetaPrior, MixtureOptions};
use serde::{Deserialize, Serialize};

use crate::adjust::Offset;
use crate::error::{ErrorKind, Result};
use crate::faithful;
use crate::registry::Registry;

/// Every choice of a fit, with its value. Written into the model file, and
/// the same as a study file (TOML) with every default filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ModelSpec {
    /// Name of the preset it came from, such as `bibfa`.
    pub model: String,
    /// Number of factors to start with.
    pub factors: usize,
    /// Seed of every random stream.
    pub seed: u64,
    /// How factors are started.
    pub start: Start,
    /// Number of starts; the best bound is kept.
    pub restarts: usize,
    /// Column of the metadata: samples with one value there, of one patient or one batch, are in one fold wherever
    /// the fit holds samples out to find how a view is predicted ([`Settle::Mixture`], [`Settle::Best`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_together: Option<String>,
    /// How complete data are swept.
    pub path: Path,
    /// Which samples are kept.
    pub join: Join,
    /// Whether there are intercepts.
    pub intercepts: Intercepts,
    /// Prior precision of the intercepts, per squared working unit; a hundredth
    /// of it for binary views, per squared unit of log-odds
    /// ([`Intercepts::precision`](polyview_core::Intercepts::precision)).
    pub intercept_precision: f64,
    /// Whether views of labels and counts learn level and spread of their intercepts in place of
    /// that precision.
    pub intercept_prior: InterceptPrior,
    /// Prior of the precision of the weights, one a view and factor.
    pub weight_prior: GammaPrior,
    /// Prior of the precisions of single features, where a view selects
    /// them.
    pub relevance_prior: GammaPrior,
    /// Shapes of the prior of single variances, where a view's weights have a
    /// horseshoe.
    pub shrinkage_prior: ShrinkageShapes,
    /// Prior of the share of weights that are not zero, where a view selects
    /// single weights.
    pub inclusion_prior: BetaPrior,
    /// Which covariances the posterior of factors and weights keeps.
    pub posterior: Posterior,
    /// Whether steps are those of exact variational Bayes or of mofapy2.
    pub algorithm: Algorithm,
    /// Prior of the factors.
    pub factor_prior: FactorPrior,
    /// Components of the factors' prior, where it is a mixture.
    #[serde(skip_serializing_if = "is_default")]
    pub mixture: MixtureOptions,
    /// Prior of the noise precisions, per squared working unit. Where none is chosen, that of the
    /// engine: vague, $\mathrm{Ga}(10^{-6}, 10^{-6})$, but for Gibbs sampling of real views with noise by
    /// feature $\mathrm{Ga}(2, 0.2s^2)$ with $s^2$ the smallest variance of a feature, 1 where
    /// features are standardised (spec/sites 10, docs/decisions/0068-draws.md).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_prior: Option<GammaPrior>,
    /// Treatment of missing values.
    pub missing: MissingData,
    /// What groups of samples have of their own. In effect where the data have
    /// at least two groups.
    pub groups: GroupChoices,
    /// Covariates of the samples that the fit is adjusted for: columns of the metadata. Their
    /// coefficients are learnt beside the weights, and factors do not follow them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covariates: Vec<String>,
    /// Offsets of views, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub offsets: BTreeMap<String, Offset>,
    /// Choices that hold for every view without its own.
    pub defaults: ViewChoices,
    /// The engine.
    pub engine: EngineKind,
    /// Variational Bayes.
    pub vb: VbOptions,
    /// Gibbs sampling.
    pub gibbs: GibbsOptions,
    /// Stochastic variational Bayes. Pruning, rotation and, for the exact sweeps
    /// at its end, tolerances are those of `vb`.
    pub stochastic: StochasticOptions,
    /// Choices that nobody made and that the data decided, by their places:
    /// `views/diet/likelihood` was guessed, `views/diet/options/ordinal/levels` is the number of
    /// levels that were found. A remark: nothing goes by it but what is said of the choices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from_data: Vec<String>,
    /// Views with choices of their own; views without are not listed.
    pub views: Vec<ViewSpec>,
}

/// Whether choices are those that nobody made.
fn is_default(options: &MixtureOptions) -> bool {
    *options == MixtureOptions::default()
}

/// Choices of one view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ViewSpec {
    /// Name of the view.
    pub name: String,
    /// Choices.
    #[serde(flatten)]
    pub choices: ViewChoices,
    /// What 0 and 1 stand for, where the data are labels of two values with
    /// names of their own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub labels: Option<[String; 2]>,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            model: "bibfa".to_owned(),
            factors: 10,
            seed: 1,
            start: Start::default(),
            restarts: 1,
            keep_together: None,
            path: Path::default(),
            join: Join::default(),
            intercepts: Intercepts::default(),
            intercept_precision: 1.0,
            intercept_prior: InterceptPrior::default(),
            weight_prior: GammaPrior::new(1e-6, 1e-6),
            relevance_prior: GammaPrior::new(1e-6, 1e-6),
            shrinkage_prior: ShrinkageShapes::default(),
            inclusion_prior: BetaPrior::uniform(),
            posterior: Posterior::default(),
            algorithm: Algorithm::default(),
            factor_prior: FactorPrior::default(),
            mixture: MixtureOptions::default(),
            noise_prior: None,
            missing: MissingData::default(),
            groups: GroupChoices::default(),
            covariates: Vec::new(),
            offsets: BTreeMap::new(),
            defaults: ViewChoices::default(),
            engine: EngineKind::default(),
            vb: VbOptions::default(),
            gibbs: GibbsOptions::default(),
            stochastic: StochasticOptions::default(),
            from_data: Vec::new(),
            views: Vec::new(),
        }
    }
}

impl ModelSpec {
    /// Whether the model looks at the groups of samples.
    pub fn knows_groups(&self) -> bool {
        self.groups.noise || self.groups.intercepts || self.factor_prior.knows_groups()
    }
    /// Adjusts the fit for these covariates, columns of the metadata: numbers are standardised,
    /// each category but the first of a column of words has an indicator.
    #[must_use]
    pub fn with_covariates<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.covariates = names.into_iter().map(Into::into).collect();
        self
    }
    /// Gives a view an offset.
    #[must_use]
    pub fn with_offset(mut self, view: &str, offset: impl Into<Offset>) -> Self {
        self.offsets.insert(view.to_owned(), offset.into());
        self
    }
    /// Whether it has covariates or offsets.
    pub fn adjusts(&self) -> bool {
        !(self.covariates.is_empty() && self.offsets.is_empty())
    }
    /// Whether each group of samples has intercepts of its own in a view, where
    /// the data have several.
    pub(crate) fn group_intercepts(&self, view: &str) -> bool {
        let likelihood = self.view(view).likelihood;
        let has = match self.intercepts {
            Intercepts::Learned => {
                likelihood.refuses(Way::Groups).is_none()
                    && faithful::pseudo_data(self, view).is_none()
            }
            Intercepts::GroupMeans => likelihood.is_real(),
            Intercepts::None => false,
        };
        self.groups.intercepts && has
    }

    /// Choices of the view of that name. Labels, counts and ranks are neither
    /// centred nor scaled; the columns of a kernel are scaled alike and have one noise; options of
    /// its likelihood are written out.
    pub fn view(&self, name: &str) -> ViewChoices {
        let implied = |likelihood: &Likelihood| faithful::options(self, likelihood);
        let mut choices = self.written(name).folded(&self.defaults, implied);
        if !choices.likelihood.is_real() {
            choices.centring = Centring::None;
            choices.scaling = FeatureScaling::None;
        }
        if choices.kernel.is_some() {
            // columns of one unit, with one noise (spec/thesis 7.1)
            choices.noise = NoiseBy::View;
            choices.scaling = FeatureScaling::View;
        }
        if self.model == "rank" && self.engine == EngineKind::Vb && choices.likelihood.is_label() {
            choices.settle = Some(choices.settle.unwrap_or(Settle::Factors));
        }
        choices
    }

    /// Has the weights of one view settled at the end of the fit
    /// ([`Fit::settle`](crate::Fit::settle)), on what is said, or not: `true` is on factors.
    #[must_use]
    pub fn with_settled(self, name: &str, settle: impl Into<Settle>) -> Self {
        self.with_changed(name, |choices| choices.settle = Some(settle.into()))
    }

    /// Has one view count that often, a positive number.
    #[must_use]
    pub fn with_weight(self, name: &str, weight: f64) -> Self {
        self.with_changed(name, |choices| choices.weight = Some(weight))
    }
    /// Says between which limits the features of a view of likelihood `censored` are measured.
    #[must_use]
    pub fn with_limits(self, name: &str, limits: Limits) -> Self {
        self.with_changed(name, |choices| choices.limits = Some(limits))
    }
    /// Sets the likelihood of one view and leaves its other choices.
    #[must_use]
    pub fn with_likelihood(self, name: &str, likelihood: impl Into<Likelihood>) -> Self {
        self.with_changed(name, |choices| choices.likelihood = likelihood.into())
    }
    /// Compares the samples of one view by a kernel; the view is one of real numbers then.
    ///
    /// ```
    /// use polyview::models;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let spec = models::bibfa(20).with_kernel("gene", "rbf{width=12}".parse()?);
    /// let fit = polyview::fit(polyview_datasets::nutrimouse(), spec)?;
    /// let new = polyview_datasets::nutrimouse(); // tables of genes, as the fit had
    /// assert_eq!(fit.predict(&new, "lipid")?.mean.ncols(), 21);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_kernel(self, name: &str, kernel: KernelChoice) -> Self {
        self.with_changed(name, |choices| {
            choices.kernel = Some(kernel);
            choices.likelihood = "gaussian".into();
        })
    }
    /// Gives the factors a mixture prior of that many components.
    #[must_use]
    pub fn with_mixture(mut self, components: usize) -> Self {
        self.factor_prior = "mixture".into();
        self.mixture.components = components;
        self
    }
    /// Has the fit polished: variational Bayes first, then a Gibbs chain that starts at its
    /// optimum, `sweeps` of which are kept ([`GibbsOptions::from_optimum`]). The posterior is that of the draws.
    ///
    /// ```
    /// use polyview::models;
    /// use polyview_datasets::{BibfaOptions, simulate_bibfa};
    ///
    /// let data = simulate_bibfa(&BibfaOptions::new(20, &[4, 3], 2, 1))?.data.dataset;
    /// let fit = polyview::fit(data, models::bibfa(2).polished(30))?;
    /// assert_eq!(fit.n_components(), 30);
    /// let optimum = fit.record().optimum.as_ref().expect("it started there");
    /// assert!(optimum.sweeps > 1 && optimum.bound.is_finite());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn polished(mut self, sweeps: usize) -> Self {
        self.engine = EngineKind::Gibbs;
        self.gibbs = GibbsOptions::from_optimum(sweeps);
        self
    }
    /// Gives each component of the mixture weights of its own in one view:
    /// local classifiers.
    #[must_use]
    pub fn with_local(self, name: &str) -> Self {
        self.with_changed(name, |choices| choices.local = true)
    }
    /// Choices of the view of that name as they were written.
    fn written(&self, name: &str) -> ViewChoices {
        let view = self.views.iter().find(|v| v.name == name);
        view.map_or_else(|| self.defaults.clone(), |v| v.choices.clone())
    }
    /// Changes some choices of one view and leaves the others as written.
    fn with_changed(self, name: &str, change: impl FnOnce(&mut ViewChoices)) -> Self {
        let mut choices = self.written(name);
        change(&mut choices);
        self.with_view(name, choices)
    }
    /// Sets the choices of one view.
    #[must_use]
    pub fn with_view(mut self, name: &str, choices: ViewChoices) -> Self {
        match self.views.iter_mut().find(|v| v.name == name) {
            Some(v) => v.choices = choices,
            None => self.views.push(ViewSpec {
                name: name.to_owned(),
                choices,
                labels: None,
            }),
        }
        self
    }
    /// What 0 and 1 stand for in a view of labels with names of their own.
    pub fn labels(&self, view: &str) -> Option<&[String; 2]> {
        let own = self.views.iter().find(|v| v.name == view)?;
        own.labels.as_ref()
    }
    /// Says what 0 and 1 stand for in a view of labels.
    #[must_use]
    pub fn with_labels(self, name: &str, labels: [String; 2]) -> Self {
        let choices = self.view(name);
        let mut out = self.with_view(name, choices);
        if let Some(v) = out.views.iter_mut().find(|v| v.name == name) {
            v.labels = Some(labels);
        }
        out
    }

    /// Looks up the likelihoods and priors that are not known yet in a registry, and checks
    /// the options of all.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSpecies`], [`ErrorKind::SpeciesOption`].
    pub fn resolve(&mut self, registry: &Registry) -> Result<()> {
        self.factor_prior.resolve(registry)?;
        let own = self.views.iter_mut().map(|v| &mut v.choices);
        for choices in std::iter::once(&mut self.defaults).chain(own) {
            choices.likelihood.resolve(registry)?;
            choices.selection.resolve(registry)?;
            for (name, options) in choices.options_by_name() {
                registry.check_options(name, options)?;
            }
        }
        Ok(())
    }

    /// What all priors may take from the specification, as options of theirs.
    ///
    /// # Errors
    /// [`OptionError`] for a number that no file holds.
    pub(crate) fn shared_options(&self) -> std::result::Result<Options, OptionError> {
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Shared {
            weight_prior: GammaPrior,
            relevance_prior: GammaPrior,
            shrinkage_prior: ShrinkageShapes,
            inclusion_prior: BetaPrior,
            #[serde(flatten)]
            mixture: MixtureOptions,
        }
        Options::of(&Shared {
            weight_prior: self.weight_prior,
            relevance_prior: self.relevance_prior,
            shrinkage_prior: self.shrinkage_prior,
            inclusion_prior: self.inclusion_prior,
            mixture: self.mixture,
        })
    }
    /// Number of components of a mixture prior of the factors, wherever it was written.
    pub(crate) fn components(&self) -> usize {
        let written = self.factor_prior.options().text("components");
        let own = written.and_then(|t| t.parse().ok());
        own.unwrap_or(self.mixture.components)
    }

    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// [`ErrorKind::NoFactors`], [`ErrorKind::Option`];
    /// [`ErrorKind::Incompatible`] for a view that the engine cannot sample.
    pub fn validate(&self) -> Result<()> {
        let bad =
            |option: &'static str, value: String| Err(ErrorKind::Option { option, value }.into());
        let run = self.run_options();
        run.validate()?;
        self.factor_prior.check()?;
        self.view("").likelihood.check()?;
        self.defaults.selection.check()?;
        let own = self.views.iter().map(|v| &v.choices);
        for choices in std::iter::once(&self.defaults).chain(own) {
            if let Some(w) = choices.weight.filter(|w| !(*w > 0.0 && w.is_finite())) {
                return bad("weight", w.to_string());
            }
        }
        for v in &self.views {
            v.choices.selection.check()?;
            let choices = self.view(&v.name);
            choices.likelihood.check()?;
            choices.check_limits(&v.name)?;
            crate::assemble::no_sampler(self.engine, &v.name, &choices.likelihood)?;
            let mofapy2 = faithful::refuses(self);
            crate::assemble::cannot_settle(&run, &v.name, &choices, mofapy2)?;
            crate::assemble::counts_once(&run, &v.name, &choices, mofapy2)?;
        }
        let ShrinkageShapes { r, s } = self.shrinkage_prior;
        if ![r, s].iter().all(|x| *x > 0.0 && x.is_finite()) {
            return bad("shrinkage-prior", format!("({r}, {s})"));
        }
        if self.mixture.components == 0 {
            return bad("mixture.components", "0".to_owned());
        }
        if !self.inclusion_prior.is_proper() {
            let BetaPrior { a, b } = self.inclusion_prior;
            return bad("inclusion-prior", format!("({a}, {b})"));
        }
        if !(self.intercept_precision > 0.0 && self.intercept_precision.is_finite()) {
            return bad("intercept-precision", self.intercept_precision.to_string());
        }
        for (option, prior) in [
            ("weight-prior", self.weight_prior),
            ("relevance-prior", self.relevance_prior),
            ("mixture.precision", self.mixture.precision),
            ("mixture.concentration", self.mixture.concentration),
        ]
        .into_iter()
        .chain(self.noise_prior.map(|prior| ("noise-prior", prior)))
        {
            if !prior.is_proper() {
                return bad(option, format!("({}, {})", prior.shape, prior.rate));
            }
        }
        Ok(())
    }
}
