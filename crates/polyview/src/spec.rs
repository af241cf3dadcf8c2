//! What model to fit and how: every choice with its value.

use polyview_core::{Centring, FeatureScaling, GammaPrior, Join};
use polyview_infer::{Start, StochasticOptions, VbOptions};
use polyview_likelihoods::{MissingData, NoiseBy, RankOptions};
use polyview_priors::{BetaPrior, MixtureOptions};
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, Result};
use crate::faithful;

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
    /// How complete data are swept.
    pub path: Path,
    /// Which samples are kept.
    pub join: Join,
    /// Whether there are intercepts.
    pub intercepts: Intercepts,
    /// Prior precision of the intercepts, per squared working unit; a hundredth
    /// of it for binary views, per squared unit of log-odds
    /// ([`ViewTerm::intercept_precision`](polyview_core::ViewTerm::intercept_precision)).
    pub intercept_precision: f64,
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
    /// Prior of the noise precisions, per squared working unit.
    pub noise_prior: GammaPrior,
    /// Treatment of missing values.
    pub missing: MissingData,
    /// What groups of samples have of their own. In effect where the data have
    /// at least two groups.
    pub groups: GroupChoices,
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

/// Choices that may differ from view to view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ViewChoices {
    /// How the data arise from the linear predictor.
    pub likelihood: Likelihood,
    /// What one noise precision is shared by.
    pub noise: NoiseBy,
    /// Whether feature means are taken away.
    pub centring: Centring,
    /// What values are divided by.
    pub scaling: FeatureScaling,
    /// Whether the relevance of each feature is learnt.
    pub selection: FeatureSelection,
    /// How a rank view compares its samples; nothing for every other. In effect
    /// the defaults, where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RankOptions>,
    /// Whether each component of a mixture prior of the factors has weights and
    /// intercepts of its own in this view: local classifiers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// Whether a fit ends with weights of this view that are settled on factors
    /// which did not see it ([`Fit::settle`](crate::Fit::settle)), as those of a
    /// new sample whose labels are to be predicted. Where nothing is said: for labels in a
    /// model of preset `rank` that is fitted by variational Bayes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<bool>,
    /// Height and width where the features are the pixels of an image, row by
    /// row: reports then show relevances as that image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<[usize; 2]>,
}

/// Shapes of the three-parameter beta prior
/// ([`ThreeParameterBeta`](polyview_priors::ThreeParameterBeta)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ShrinkageShapes {
    /// $r > 0$: the smaller, the more mass at zero.
    pub r: f64,
    /// $s > 0$: the smaller, the heavier the tails.
    pub s: f64,
}

impl Default for ShrinkageShapes {
    /// The horseshoe.
    fn default() -> Self {
        Self { r: 0.5, s: 0.5 }
    }
}

/// Whether the relevance of each feature of a view is learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureSelection {
    /// No: all features of a view share the precisions of the factors (ARD).
    #[default]
    #[serde(alias = "ard")]
    None,
    /// Yes: each feature has a precision of its own besides (double ARD;
    /// spec/sshiba G8, G9). See [`Fit::relevance`](crate::Fit::relevance).
    Relevance,
    /// Single weights: each is zero or not, with a share of those that are not
    /// for each factor (spike and slab with ARD; spec/mofa B.3). See
    /// [`Fit::inclusion`](crate::Fit::inclusion).
    #[serde(alias = "spike-slab")]
    SpikeAndSlab,
    /// Single weights: each has a variance of its own under a scale that its
    /// factor has in this view (of labels: that the label or class has), so
    /// that small weights vanish and large ones are left alone (the horseshoe,
    /// or another three-parameter beta prior; spec/maxmargin-rank 2.4). See
    /// [`Fit::effective_features`](crate::Fit::effective_features).
    Horseshoe,
}

/// Which covariances the posterior of factors and weights keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Posterior {
    /// Those of all factors of a sample, and of all weights of a feature.
    #[default]
    Full,
    /// None, as in MOFA: variances too small and a slower way there, for very
    /// many factors or to compare.
    Factorised,
}

/// Whether steps are those of exact variational Bayes or of mofapy2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Exact coordinate steps: the bound never falls.
    #[default]
    Corrected,
    /// Those of mofapy2, departures from exact variational Bayes included, so
    /// that anyone can check one program against the other (spec/mofa B, C.2).
    /// See [`models::mofapy2`](crate::models::mofapy2).
    Faithful,
}

/// Prior of the factors. Where the data have groups of samples, each group has
/// scales of its own (spec/mofa B.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactorPrior {
    /// $z\_{nk} \sim N(0, 1)$.
    #[default]
    StandardNormal,
    /// $z\_{nk} \sim N(0, 1/\alpha^g\_k)$ with the prior of the weights'
    /// precisions, one a group and factor. The common scale of a factor and its
    /// weights is then fixed by the hyperpriors alone; ratios between groups
    /// mean something.
    Ard,
    /// As [`FactorPrior::Ard`], and each entry is zero or not, with a share of
    /// those that are not for each group and factor.
    SpikeAndSlab,
    /// Each sample belongs to one of several components, with a mean and a
    /// precision each ([`ModelSpec::mixture`]; spec/maxmargin-rank 2.5).
    Mixture,
}

/// What groups of samples have of their own (spec/mofa B.1, B.2, C.3), in every
/// view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GroupChoices {
    /// Noise precisions $\tau\_{gd}$.
    pub noise: bool,
    /// Intercepts $b\_{gd}$. Sizes of counts then are those of each group, too.
    pub intercepts: bool,
}

/// How the data of a view arise from its linear predictor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Likelihood {
    /// Real numbers with normal noise.
    #[default]
    Gaussian,
    /// Zeros and ones with $p(x = 1) = \sigma(\eta)$, any number of labels a
    /// sample.
    #[serde(alias = "multilabel")]
    Bernoulli,
    /// Zeros and ones of a noisy latent score, $p(x = 1) = \sigma(\eta +
    /// \varepsilon)$: SSHIBA's own form (spec/sshiba 1.4). Its bound is looser
    /// and has more local optima than that of [`Likelihood::Bernoulli`].
    BernoulliLatent,
    /// Zeros and ones by a Bayesian support vector machine
    /// ([`BayesianSvm`](polyview_likelihoods::BayesianSvm); spec/maxmargin-rank
    /// 2.3): a pseudo-likelihood, whose probabilities are no calibrated ones.
    Svm,
    /// Zeros and ones with $p(x = 1) = \Phi(\eta)$.
    Probit,
    /// One of several classes a sample, by a multinomial probit (spec/sshiba
    /// 1.5): a view with class names
    /// ([`View::levels`](polyview_core::View::levels)).
    Categorical,
    /// Counts with a softplus rate, MOFA's form (spec/mofa B.2): its bound is
    /// loose where counts are large, and there is no Gibbs sampler.
    Poisson,
    /// Counts that vary more than Poisson counts, with a logarithmic link and
    /// one size a feature.
    #[serde(alias = "nb")]
    NegativeBinomial,
    /// Counts of a log rate with normal noise, one noise precision a feature: as
    /// [`Likelihood::NegativeBinomial`] for counts that vary more than Poisson
    /// counts, and the better choice where many are large (sequencing reads), as
    /// its sweeps do not slow down with the counts.
    #[serde(alias = "pln")]
    PoissonLogNormal,
    /// Counts of successes out of known numbers of trials
    /// ([`View::trials`](polyview_core::View::trials)), with a logistic link.
    Binomial,
    /// Anything that has an order: only the order of each feature's values
    /// counts, by a margin between the predictors of pairs of samples
    /// (spec/maxmargin-rank; [`ViewChoices::ranks`]). Monotone transforms change
    /// nothing.
    Rank,
    /// As [`Likelihood::Rank`] with latent scores of unit noise in the order of
    /// the data (Hoff 2007): exact by Gibbs sampling, without a bound in
    /// variational Bayes.
    OrdinaryRank,
}

impl std::fmt::Display for Likelihood {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gaussian => "gaussian",
            Self::Bernoulli => "bernoulli",
            Self::BernoulliLatent => "bernoulli-latent",
            Self::Svm => "svm",
            Self::Probit => "probit",
            Self::Categorical => "categorical",
            Self::Poisson => "poisson",
            Self::NegativeBinomial => "negative-binomial",
            Self::PoissonLogNormal => "poisson-log-normal",
            Self::Binomial => "binomial",
            Self::Rank => "rank",
            Self::OrdinaryRank => "ordinary-rank",
        })
    }
}

impl Likelihood {
    /// Whether the data are zeros and ones, or classes.
    pub fn is_label(self) -> bool {
        matches!(
            self,
            Self::Bernoulli | Self::BernoulliLatent | Self::Svm | Self::Probit | Self::Categorical
        )
    }
    /// Whether the data are counts: whole numbers, not negative. Successes are
    /// such too.
    pub fn is_count(self) -> bool {
        matches!(
            self,
            Self::Poisson | Self::NegativeBinomial | Self::PoissonLogNormal | Self::Binomial
        )
    }
    /// Whether the data are counts with a variance of their own,
    /// $\mu + \mu^2/r$ at a mean μ: their sizes r are learnt from all cells of a
    /// feature.
    pub fn has_sizes(self) -> bool {
        matches!(self, Self::NegativeBinomial | Self::PoissonLogNormal)
    }
    /// Whether the data are real numbers, which may be centred and scaled.
    pub fn is_real(self) -> bool {
        self == Self::Gaussian
    }
    /// Whether only the order of the data counts.
    pub fn is_rank(self) -> bool {
        matches!(self, Self::Rank | Self::OrdinaryRank)
    }
    /// Whether a view of it keeps no number for single cells, so that data that
    /// are stored sparse stay so.
    pub fn stays_sparse(self) -> bool {
        !matches!(
            self,
            Self::BernoulliLatent | Self::Categorical | Self::Rank | Self::OrdinaryRank
        )
    }
    /// Whether each component of a mixture prior of the factors can have weights
    /// of its own: classifiers of zeros and ones.
    pub fn can_be_local(self) -> bool {
        matches!(self, Self::Bernoulli | Self::Svm | Self::Probit)
    }
    /// Whether the data are classes: one column of codes with class names.
    pub fn has_classes(self) -> bool {
        self == Self::Categorical
    }
}

/// Whether each feature has an intercept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intercepts {
    /// Yes: $b\_d \sim N(0, 1/\beta)$.
    #[default]
    Learned,
    /// No, as in the original inter-battery model.
    None,
    /// None to learn: where groups of samples have intercepts of their own
    /// ([`GroupChoices::intercepts`]), those of real views are the means of each
    /// group's observed values, as if each had been centred by itself
    /// (spec/mofa B.1); all others are zero.
    GroupMeans,
}

/// The engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// Variational Bayes.
    #[default]
    Vb,
    /// Gibbs sampling.
    Gibbs,
    /// Stochastic variational Bayes: a batch of the samples at a time, for data
    /// that do not fit in memory ([`Fitting::from_blocks`](crate::Fitting::from_blocks))
    /// or of very many samples.
    Stochastic,
}

/// How complete Gaussian data are swept. All ways give the same iterates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Whatever a cost model finds cheapest.
    #[default]
    Auto,
    /// The data themselves, one pass a sweep.
    Streaming,
    /// Sums over samples: a sweep costs O(D²K) whatever N.
    CompressSamples,
    /// Sums over features: a sweep costs O(N²K) whatever D.
    CompressFeatures,
}

/// Choices of the Gibbs sampler.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GibbsOptions {
    /// Chains, each from its own start.
    pub chains: usize,
    /// Sweeps thrown away at the beginning of each chain.
    pub warm_up: usize,
    /// Sweeps kept after that, in each chain.
    pub sweeps: usize,
    /// Every how many sweeps a draw is stored.
    pub thin: usize,
}

impl Default for GibbsOptions {
    fn default() -> Self {
        Self {
            chains: 2,
            warm_up: 500,
            sweeps: 1000,
            thin: 10,
        }
    }
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            model: "bibfa".to_owned(),
            factors: 10,
            seed: 1,
            start: Start::default(),
            restarts: 1,
            path: Path::default(),
            join: Join::default(),
            intercepts: Intercepts::default(),
            intercept_precision: 1.0,
            weight_prior: GammaPrior::new(1e-6, 1e-6),
            relevance_prior: GammaPrior::new(1e-6, 1e-6),
            shrinkage_prior: ShrinkageShapes::default(),
            inclusion_prior: BetaPrior::uniform(),
            posterior: Posterior::default(),
            algorithm: Algorithm::default(),
            factor_prior: FactorPrior::default(),
            mixture: MixtureOptions::default(),
            noise_prior: GammaPrior::new(1e-6, 1e-6),
            missing: MissingData::default(),
            groups: GroupChoices::default(),
            defaults: ViewChoices::default(),
            engine: EngineKind::default(),
            vb: VbOptions::default(),
            gibbs: GibbsOptions::default(),
            stochastic: StochasticOptions::default(),
            views: Vec::new(),
        }
    }
}

impl ModelSpec {
    /// Whether the model looks at the groups of samples.
    pub fn knows_groups(&self) -> bool {
        self.groups.noise
            || self.groups.intercepts
            || matches!(
                self.factor_prior,
                FactorPrior::Ard | FactorPrior::SpikeAndSlab
            )
    }
    /// Whether each group of samples has intercepts of its own in a view, where
    /// the data have several.
    pub(crate) fn group_intercepts(&self, view: &str) -> bool {
        let likelihood = self.view(view).likelihood;
        let has = match self.intercepts {
            Intercepts::Learned => {
                !likelihood.is_rank() && faithful::pseudo_data(self, view).is_none()
            }
            Intercepts::GroupMeans => likelihood.is_real(),
            Intercepts::None => false,
        };
        self.groups.intercepts && has
    }

    /// Choices of the view of that name. Labels, counts and ranks are neither
    /// centred nor scaled; those of ranks are written out.
    pub fn view(&self, name: &str) -> ViewChoices {
        let mut choices = self
            .views
            .iter()
            .find(|v| v.name == name)
            .map_or(self.defaults, |v| v.choices);
        if !choices.likelihood.is_real() {
            choices.centring = Centring::None;
            choices.scaling = FeatureScaling::None;
        }
        choices.ranks = choices
            .likelihood
            .is_rank()
            .then(|| choices.ranks.unwrap_or_default());
        if self.model == "rank" && self.engine == EngineKind::Vb && choices.likelihood.is_label() {
            choices.settle = Some(choices.settle.unwrap_or(true));
        }
        choices
    }

    /// Has the weights of one view settled at the end of the fit
    /// ([`Fit::settle`](crate::Fit::settle)), or not.
    #[must_use]
    pub fn with_settled(self, name: &str, settle: bool) -> Self {
        let choices = self
            .views
            .iter()
            .find(|v| v.name == name)
            .map_or(self.defaults, |v| v.choices);
        let settle = Some(settle);
        self.with_view(name, ViewChoices { settle, ..choices })
    }

    /// Sets the likelihood of one view and leaves its other choices.
    #[must_use]
    pub fn with_likelihood(self, name: &str, likelihood: Likelihood) -> Self {
        let choices = self
            .views
            .iter()
            .find(|v| v.name == name)
            .map_or(self.defaults, |v| v.choices);
        self.with_view(
            name,
            ViewChoices {
                likelihood,
                ..choices
            },
        )
    }
    /// Gives the factors a mixture prior of that many components.
    #[must_use]
    pub fn with_mixture(mut self, components: usize) -> Self {
        self.factor_prior = FactorPrior::Mixture;
        self.mixture.components = components;
        self
    }
    /// Gives each component of the mixture weights of its own in one view:
    /// local classifiers.
    #[must_use]
    pub fn with_local(self, name: &str) -> Self {
        let choices = self
            .views
            .iter()
            .find(|v| v.name == name)
            .map_or(self.defaults, |v| v.choices);
        self.with_view(
            name,
            ViewChoices {
                local: true,
                ..choices
            },
        )
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

    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// [`ErrorKind::NoFactors`], [`ErrorKind::Option`];
    /// [`ErrorKind::Incompatible`] for a view that the engine cannot sample.
    pub fn validate(&self) -> Result<()> {
        let bad =
            |option: &'static str, value: String| Err(ErrorKind::Option { option, value }.into());
        if self.factors == 0 {
            return Err(ErrorKind::NoFactors.into());
        }
        for v in &self.views {
            crate::build::no_sampler(self, &v.name, v.choices.likelihood)?;
            crate::build::cannot_settle(self, &v.name)?;
        }
        let ranks = self.views.iter().map(|v| v.choices.ranks);
        for ranks in ranks.chain([self.defaults.ranks]).flatten() {
            if let Some((option, value)) = ranks.invalid() {
                return bad(option, value.to_string());
            }
        }
        if self.restarts == 0 {
            return bad("restarts", "0".to_owned());
        }
        for (option, value) in [
            ("tolerance", self.vb.tolerance),
            ("movement", self.vb.movement),
        ] {
            if !(value > 0.0 && value < 1.0) {
                return bad(option, value.to_string());
            }
        }
        if !(self.vb.relaxation > 0.0 && self.vb.relaxation < 2.0) {
            return bad("relaxation", self.vb.relaxation.to_string());
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
        if self.vb.max_sweeps == 0 {
            return bad("max-sweeps", "0".to_owned());
        }
        if !(self.intercept_precision > 0.0 && self.intercept_precision.is_finite()) {
            return bad("intercept-precision", self.intercept_precision.to_string());
        }
        for (option, prior) in [
            ("weight-prior", self.weight_prior),
            ("relevance-prior", self.relevance_prior),
            ("noise-prior", self.noise_prior),
            ("mixture.precision", self.mixture.precision),
            ("mixture.concentration", self.mixture.concentration),
        ] {
            if !prior.is_proper() {
                return bad(option, format!("({}, {})", prior.shape, prior.rate));
            }
        }
        for (option, value) in [
            ("chains", self.gibbs.chains),
            ("sweeps", self.gibbs.sweeps),
            ("thin", self.gibbs.thin),
        ] {
            if value == 0 {
                return bad(option, "0".to_owned());
            }
        }
        if let Some((option, value)) = self.stochastic.fault() {
            return bad(option, value);
        }
        if self.gibbs.thin > self.gibbs.sweeps {
            return bad("thin", self.gibbs.thin.to_string());
        }
        Ok(())
    }
}
