//! Choices of single views, of factors and of groups.

use std::collections::BTreeMap;

use polyview_core::{Centring, FeatureScaling, NoiseBy, Options};
use polyview_kernels::KernelChoice;
use serde::{Deserialize, Serialize};

use super::{Likelihood, Limits, Settle, WeightPrior};

/// Choices that may differ from view to view.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, into = "Written")]
pub struct ViewChoices {
    /// How the data arise from the linear predictor.
    pub likelihood: Likelihood,
    /// What one noise precision is shared by.
    pub noise: NoiseBy,
    /// Whether feature means are taken away.
    pub centring: Centring,
    /// What values are divided by.
    pub scaling: FeatureScaling,
    /// Prior of the weights: whether the relevance of each feature is learnt, or of each
    /// weight.
    pub selection: WeightPrior,
    /// Options of likelihoods, by their names, wherever the view is of one of them; they
    /// come before what the likelihood itself says. Of the defaults: of every view that is of
    /// one of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Options>,
    /// The kernel by which samples are compared: the view then has a column for each reference
    /// point in place of its features (spec/thesis 7.1), and is made of real numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelChoice>,
    /// How a rank view compares its samples: options of `rank` and `ordinary-rank`.
    #[serde(skip_serializing_if = "Options::is_empty")]
    pub ranks: Options,
    /// Whether each component of a mixture prior of the factors has weights and
    /// intercepts of its own in this view: local classifiers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// Whether a fit has, beside the joint one, weights of this view that are settled on factors
    /// which did not see it ([`Fit::settle`](crate::Fit::settle)), as those of a
    /// new sample whose labels are to be predicted: they predict it from other views, by the factors
    /// alone (`true`, `"factors"`) or by what these leave of the features as well (`"features"`), or by whichever of these and
    /// the joint fit is best in samples held out in turn (`"best"`), or by a mixture of the joint fit and a
    /// regression on the features of other views (`"mixture"`, or `"linear-mixture"`).
    /// Where nothing is said: on factors for labels in a model of preset `rank` that is fitted by variational Bayes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
    /// Between which limits the features of a view of likelihood `censored` are measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// How often the view counts, where it is not once: its part of the bound times this number
    /// ([`Weighted`](polyview_likelihoods::Weighted)). The bound is no evidence then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Height and width where the features are the pixels of an image, row by
    /// row: reports then show relevances as that image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<[usize; 2]>,
}

/// As choices are written: the likelihood is one word, and its options stand beside it.
#[derive(PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Written {
    likelihood: String,
    noise: NoiseBy,
    centring: Centring,
    scaling: FeatureScaling,
    selection: WeightPrior,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    options: BTreeMap<String, Options>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelChoice>,
    #[serde(skip_serializing_if = "Options::is_empty")]
    ranks: Options,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    local: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    settle: Option<Settle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Limits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<[usize; 2]>,
}

/// Likelihoods whose options are called `ranks`.
fn compares(species: &str) -> bool {
    matches!(species, "rank" | "ordinary-rank")
}

impl Likelihood {
    /// Where one of its options stands in the choices of a view, as
    /// [`ModelSpec::from_data`](crate::ModelSpec::from_data) tells places.
    pub(crate) fn place_of(&self, view: &str, option: &str) -> String {
        let name = self.name();
        if compares(name) {
            format!("views/{view}/ranks/{option}")
        } else {
            format!("views/{view}/options/{name}/{option}")
        }
    }
}

impl From<ViewChoices> for Written {
    fn from(choices: ViewChoices) -> Self {
        let choices = choices.spelled();
        Self {
            likelihood: choices.likelihood.name().to_owned(),
            options: choices.options,
            kernel: choices.kernel,
            ranks: choices.ranks,
            noise: choices.noise,
            centring: choices.centring,
            scaling: choices.scaling,
            selection: choices.selection,
            local: choices.local,
            settle: choices.settle,
            limits: choices.limits,
            weight: choices.weight,
            shape: choices.shape,
        }
    }
}

impl PartialEq for ViewChoices {
    /// Wherever the options of a likelihood stand.
    fn eq(&self, other: &Self) -> bool {
        Written::from(self.clone()) == Written::from(other.clone())
    }
}

impl ViewChoices {
    /// The same with the options of its likelihood beside it, as they are written.
    #[must_use]
    pub fn spelled(mut self) -> Self {
        if self.likelihood.options().is_empty() {
            return self;
        }
        let name = self.likelihood.name().to_owned();
        let all = self.options_of(&name).or(self.likelihood.options());
        if compares(&name) {
            self.options.remove(&name);
            self.ranks = all;
        } else {
            self.options.insert(name, all);
        }
        self.likelihood = self.likelihood.with(Options::new());
        self
    }
    /// Whether the view is settled at the end of the fit.
    pub fn settles(&self) -> bool {
        self.settle.is_some_and(Settle::settles)
    }
    /// How often the view counts, if not once.
    pub(crate) fn own_weight(&self) -> Option<f64> {
        self.weight.filter(|w| *w != 1.0)
    }
    /// Options of likelihoods that stand beside the view's own: name and options.
    pub fn options_by_name(&self) -> impl Iterator<Item = (&str, &Options)> {
        let ranks = (!self.ranks.is_empty()).then_some(("rank", &self.ranks));
        let others = self.options.iter().map(|(name, o)| (name.as_str(), o));
        others.chain(ranks)
    }
    /// The same with the options of its likelihood in one place, all of them written out,
    /// those of `defaults` where it says nothing, and where these do not either, what
    /// `implied` says of its likelihood.
    #[must_use]
    pub(crate) fn folded(
        mut self,
        defaults: &Self,
        implied: impl FnOnce(&Likelihood) -> Options,
    ) -> Self {
        let name = self.likelihood.name().to_owned();
        let options = (self.options_of(&name))
            .or(self.likelihood.options())
            .or(&defaults.options_of(&name))
            .or(&implied(&self.likelihood));
        self.likelihood = self.likelihood.with(options).in_full();
        (self.options, self.ranks) = (BTreeMap::new(), Options::new());
        self
    }
    /// Options that were written for a likelihood, wherever the view is of it.
    fn options_of(&self, species: &str) -> Options {
        let own = self.options.get(species).cloned().unwrap_or_default();
        if compares(species) {
            own.or(&self.ranks)
        } else {
            own
        }
    }
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

/// What is known of intercepts before there are data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterceptPrior {
    /// In views of labels and counts $b\_d \sim N(\mu, 1/\lambda)$, both learnt from all features of
    /// the view: those that are rare tell each other how rare (spec/sites 7). In all others as
    /// [`InterceptPrior::Fixed`].
    #[default]
    Learnt,
    /// $b\_d \sim N(0, 1/\beta)$ with the model's precision
    /// ([`ModelSpec::intercept_precision`](crate::ModelSpec::intercept_precision)).
    Fixed,
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
