//! Likelihoods of views.

use serde::{Deserialize, Serialize};

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
    /// Small counts with a softplus rate, MOFA's form (spec/mofa B.2). Its bound
    /// is loose where counts are large, and may lose factors: a fit warns of counts
    /// above 4 on average. [`Likelihood::NegativeBinomial`] and
    /// [`Likelihood::PoissonLogNormal`] suit larger ones. There is no Gibbs
    /// sampler.
    Poisson,
    /// Counts that vary more than Poisson counts, with a logarithmic link and
    /// one size per feature, also those that vary no more. Its bound in variational Bayes
    /// gets steeper with the counts: a fit warns of counts that are large next to
    /// their spread (from means of a hundred or so; sequencing reads), which
    /// [`Likelihood::PoissonLogNormal`] suits better.
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
    /// (spec/maxmargin-rank; [`ranks`](super::ViewChoices::ranks)). Monotone transforms change
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
    /// $\mu + \mu^2/r$ at a mean μ, both in counts: their sizes r, positive
    /// numbers without a unit, are learnt from all cells of a feature. Those of
    /// [`Likelihood::PoissonLogNormal`] follow from its noise precisions τ:
    /// $r = 1/(e^{1/\tau} - 1)$.
    pub fn has_sizes(self) -> bool {
        matches!(self, Self::NegativeBinomial | Self::PoissonLogNormal)
    }
    /// Whether the data are real numbers, which may be centred and scaled.
    pub fn is_real(self) -> bool {
        self == Self::Gaussian
    }
    /// Whether the data are numbers of successes out of known numbers of trials.
    pub fn has_trials(self) -> bool {
        self == Self::Binomial
    }
    /// Whether its sites are as steep as the data are large, so that factors of large ones
    /// hardly move.
    pub fn steepens(self) -> bool {
        self == Self::NegativeBinomial
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
