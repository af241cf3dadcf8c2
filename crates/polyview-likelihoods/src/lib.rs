//! Likelihood adapters of polyview's factor models: each turns the data of one
//! view into normal equations for factors and weights, for variational Bayes
//! and for Gibbs sampling.
//!
//! ```
//! use polyview_core::{Bias, GammaPrior, Predictor, RowMoments, View, ViewTerm};
//! use polyview_likelihoods::{Gaussian, GaussianOptions};
//! use polyview_linalg::Mat;
//!
//! # fn main() -> Result<(), polyview_core::DataError> {
//! let values = Mat::from_fn(6, 2, |n, d| if (n, d) == (2, 1) { f64::NAN } else { (n * (d + 1)) as f64 });
//! let view = View::from_values("genes", vec!["a".into(), "b".into()], values)?;
//! let mut term = Gaussian::new(view, GaussianOptions::default());
//! let factors = RowMoments::point(Mat::from_fn(6, 1, |n, _| n as f64));
//! let weights = RowMoments::point(Mat::from_fn(2, 1, |d, _| (d + 1) as f64));
//! let bias = Bias::absent(2);
//! let p = Predictor { factors: &factors, weights: &weights, bias: &bias };
//! // the predictor hits every value, so only the constants are left: ⟨ln τ⟩ of
//! // q(τ) = Ga(1, 1) is minus Euler's constant
//! let exact = -0.5 * 11.0 * ((2.0 * std::f64::consts::PI).ln() + 0.577_215_664_901_532_9);
//! assert!((term.bound(&p).0[0].value - exact).abs() < 1e-9);
//! # Ok(())
//! # }
//! ```
//!
//! | type | data | site on $\eta$ |
//! |---|---|---|
//! | [`Softmax`] | one of C classes | $H = \mathrm{diag}(a) - aa^\top$ of all classes, $h = e\_t - a + Hm$ |
//! | [`CategoricalProbit`] | one of C classes | $\omega = 1$, $h = \langle x\rangle$, the latent scores |
//! | [`Gaussian`] | real numbers | $\omega = \langle\tau\rangle$, $h = \langle\tau\rangle x$ |
//! | [`Cells`] of [`Bernoulli`] | 0 or 1 | $\omega = 2\lambda(\xi)$ or $\mathrm{PG}(1, \eta)$, $h = x - \tfrac12$ |
//! | [`Cells`] of [`BayesianSvm`] | 0 or 1 | $\omega = \langle v^2\rangle^{-1/2}$ or $\mathrm{IG}(1/\lvert v\rvert, 1)$, $v = 1 - y\eta$, $h = y(1 + \omega)$ |
//! | [`Cells`] of [`Probit`] | 0 or 1 | $\omega = 1$, $h = \langle f\rangle$ of a score $f \sim N(\eta, 1)$ |
//! | [`Cells`] of [`Ordinal`] | ordered levels | $\omega = 1$, $h = \langle f\rangle$ of a score $f \sim N(\eta, 1)$ between cut points |
//! | [`MidpointOrdinal`] | ordered levels | $\omega = \langle\gamma\rangle$, $h = \langle\gamma\rangle t$ of the midpoint of the level's cell |
//! | [`Cells`] of [`Poisson`] | counts | $\omega = \tfrac14 + 0.17\\,x$, $h = \omega\zeta - f\'(\zeta)$ |
//! | [`Cells`] of [`NegativeBinomial`] | counts | $\omega = 2(x + r)\lambda(\xi)$ or $\mathrm{PG}(x + r, \psi)$, $h = \tfrac{x - r}2 + \omega\ln r$ |
//! | [`Cells`] of [`PoissonLogNormal`] | counts | $\omega = \tau$, $h = \tau\langle x\rangle$ of a log rate $x\sim N(\eta, 1/\tau)$ |
//! | [`Cells`] of [`Binomial`] | successes out of n | $\omega = 2n\lambda(\xi)$ or $\mathrm{PG}(n, \eta)$, $h = x - n/2$ |
//! | [`Cells`] of [`Censored`] | numbers of which ends may be all that is known | $\omega = \tau$, $h = \tau\langle\xi\rangle$ of a number $\xi \sim N(\eta, 1/\tau)$ between its ends |
//! | [`Expected`] of [`Bernoulli`], [`Probit`], [`Ordinal`], [`Censored`], [`Binomial`], [`NegativeBinomial`], [`LogPoisson`] or any [`ScalarLikelihood`] | as they say | the expectation of the log density itself: $\omega = -2\\,\partial F/\partial v$, $h = \partial F/\partial m + \omega m$ |
//! | [`Expected`] of [`PoissonLogNormal`] | counts | $\omega = \lambda\tau/(\lambda + \tau)$, $h = x - \lambda + \omega m$ of the expected rate λ of a log rate that follows η |
//! | [`Expected`] of [`Gamma`] | numbers above 0 | $\omega = a x e^{v/2 - m}$, $h = \omega(1 + m) - a$ of the shape $a$ |
//! | [`Rank`] | only their order | pairs of samples: $\kappa$ on $\eta\_l - \eta\_h$ |
//! | [`OrdinaryRank`] | only their order | $\omega = 1$, $h = \langle w\rangle$ of a latent score between its neighbours |
//! | [`Similarity`] | how alike two samples are | $\omega = \langle\gamma\rangle$, $h = \langle\gamma\rangle\langle u\rangle$ of latent rows, whose products are the data |
//! | [`LatentBernoulli`] | 0 or 1 | $\omega = \langle\tau\rangle$, $h = \langle\tau\rangle\langle x\rangle$ of a latent score |
//!
//! [`Grouped`] gives groups of samples noise, parameters and intercepts of their
//! own, whatever the likelihood.
//!
//! [`Weighted`] takes the likelihood of a view to a power.
//!
//! [`Experts`] gives each component of a mixture prior on the factors predictor
//! columns of its own: local classifiers.
//!
//! A likelihood of single cells is a [`CellLikelihood`]; [`Cells`] makes a data
//! term of it.

mod bernoulli;
mod categorical;
mod cells;
mod counts;
mod gaussian;
mod grouped;
mod interval;
mod labels;
mod laws;
mod learnt;
mod positive;
mod pseudo;
mod rank;
mod scalar;
mod similarity;
mod softmax;
mod weighted;

pub use bernoulli::{Bernoulli, LatentBernoulli, LatentBernoulliOptions, ScoreStart};
pub use categorical::{CategoricalProbit, CategoricalProbitOptions};
pub use cells::{
    Cell, CellAugmentation, CellLikelihood, Cells, ColumnCells, ColumnData, ColumnParameters,
    ColumnSites, Experts, LearnedParameters, LocalMoments, SeenColumn, Site, ViewParameters,
};
pub use counts::{Binomial, Curvature, LogPoisson, NegativeBinomial, Poisson, PoissonLogNormal};
pub use gaussian::{Compressed, Gaussian, GaussianOptions};
pub use grouped::{GroupNoise, Grouped};
pub use interval::{Censored, CutPoints, CutPointsBy, MidpointOrdinal, Ordinal};
pub use labels::{BayesianSvm, Probit};
pub use laws::{CellLaw, CountLaw, Matched};
pub use polyview_core::{MissingData, NoiseBy, ParameterUncertainty};
pub use positive::Gamma;
pub use pseudo::{PseudoData, PseudoKind};
pub use rank::{
    FrozenRank, Margin, OrdinaryRank, PairPolicy, Rank, RankOptions, RankUpdates, normal_scores,
    rank_term,
};
pub use scalar::{Expectations, Expected, MixedLaw, Rise, ScalarLikelihood, ScalarParameter};
pub use similarity::{NewSamples, Similarity, SimilarityOptions};
pub use softmax::Softmax;
pub use weighted::Weighted;

/// Likelihoods that describe themselves ([`LikelihoodSpecies`](polyview_core::LikelihoodSpecies)),
/// for a registry.
pub mod species {
    pub use crate::bernoulli::{BernoulliSpecies, LatentBernoulliSpecies};
    pub use crate::categorical::CategoricalProbitSpecies;
    pub use crate::counts::{
        BinomialSpecies, NegativeBinomialSpecies, PoissonLogNormalSpecies, PoissonSpecies,
    };
    pub use crate::gaussian::GaussianSpecies;
    pub use crate::interval::{
        CensoredSpecies, MidpointOrdinalSpecies, OrdinalSpecies, SurvivalSpecies,
    };
    pub use crate::labels::{BayesianSvmSpecies, ProbitSpecies};
    pub use crate::positive::GammaSpecies;
    pub use crate::rank::{OrdinaryRankSpecies, RankSpecies};
    pub use crate::similarity::SimilaritySpecies;
    pub use crate::softmax::SoftmaxSpecies;
}
