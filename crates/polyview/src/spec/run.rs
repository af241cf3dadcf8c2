//! How a fit goes about its work, whoever composed its model.

use polyview_infer::{PruneRule, Start, StochasticOptions, VbOptions};
use serde::{Deserialize, Serialize};

use super::{Algorithm, ChainStart, EngineKind, GibbsOptions, ModelSpec, ViewChoices};
use crate::error::{ErrorKind, Result};

/// How a fit goes about its work: what is no part of its model. A [`ModelSpec`] has the same
/// choices ([`ModelSpec::run_options`]).
///
/// ```
/// use polyview::{EngineKind, RunOptions};
///
/// let options = RunOptions {
///     factors: 4,
///     engine: EngineKind::Gibbs,
///     ..RunOptions::default()
/// };
/// assert_eq!(options.seed, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RunOptions {
    /// Number of factors to start with.
    pub factors: usize,
    /// Seed of every random stream.
    pub seed: u64,
    /// How factors are started.
    pub start: Start,
    /// Number of starts; the best bound is kept.
    pub restarts: usize,
    /// Column of the metadata: samples with one value there, of one patient or one batch, are in one fold wherever a
    /// fit holds samples out to find how a view is predicted ([`Settle::Mixture`](crate::Settle::Mixture),
    /// [`Settle::Best`](crate::Settle::Best)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_together: Option<String>,
    /// The engine.
    pub engine: EngineKind,
    /// Variational Bayes.
    pub vb: VbOptions,
    /// Gibbs sampling.
    pub gibbs: GibbsOptions,
    /// Stochastic variational Bayes. Pruning, rotation and, for the exact sweeps
    /// at its end, tolerances are those of `vb`.
    pub stochastic: StochasticOptions,
}

impl Default for RunOptions {
    fn default() -> Self {
        ModelSpec::default().run_options()
    }
}

impl ModelSpec {
    /// Its choices of how the fit goes about its work.
    pub fn run_options(&self) -> RunOptions {
        RunOptions {
            factors: self.factors,
            seed: self.seed,
            start: self.start,
            restarts: self.restarts,
            keep_together: self.keep_together.clone(),
            engine: self.engine,
            vb: VbOptions {
                // sweep by sweep those of another program
                momentum: self.vb.momentum && self.algorithm != Algorithm::Faithful,
                noise_first: self.vb.noise_first && self.algorithm != Algorithm::Faithful,
                prune: self.pruning(),
                ..self.vb.clone()
            },
            gibbs: self.gibbs,
            stochastic: self.stochastic,
        }
    }
    /// The rule by which factors are removed. Beside a kernel that bends none is empty by the usual size, unless another size was
    /// chosen: similarities are numbers without noise whose directions fall off by orders of magnitude, and while their noise
    /// comes down from the variance of all of them the small ones, in which what bends is, say less than their own uncertainty
    /// (docs/decisions/0098-small-directions-of-kernels.md).
    fn pruning(&self) -> PruneRule {
        let usual = PruneRule::default();
        let own = self.vb.prune;
        let is_usual =
            own.energy_ratio == usual.energy_ratio && own.largest_weight == usual.largest_weight;
        let choices = self.views.iter().map(|v| &v.choices);
        let mut choices = choices.chain([&self.defaults]);
        let bends = |c: &ViewChoices| c.kernel.is_some_and(|k| k.family.bends());
        if is_usual && choices.any(bends) {
            PruneRule {
                energy_ratio: 0.0,
                largest_weight: 0.0,
                ..own
            }
        } else {
            own
        }
    }
    /// The same model with these choices of how the fit goes about its work.
    #[must_use]
    pub(crate) fn with_run_options(self, options: RunOptions) -> Self {
        Self {
            factors: options.factors,
            seed: options.seed,
            start: options.start,
            restarts: options.restarts,
            keep_together: options.keep_together,
            engine: options.engine,
            vb: options.vb,
            gibbs: options.gibbs,
            stochastic: options.stochastic,
            ..self
        }
    }
}

impl RunOptions {
    /// Whether chains start at the optimum of variational Bayes.
    pub(crate) fn is_polished(&self) -> bool {
        self.engine == EngineKind::Gibbs && self.gibbs.start == ChainStart::Optimum
    }
    /// What to do where only variational Bayes will do, in words that follow "take this, or".
    pub(crate) fn without_draws(&self) -> &'static str {
        if self.is_polished() {
            "variational Bayes alone (leave --polish out)"
        } else {
            "variational Bayes (engine vb)"
        }
    }
    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// [`ErrorKind::NoFactors`], [`ErrorKind::Option`].
    pub fn validate(&self) -> Result<()> {
        let bad =
            |option: &'static str, value: String| Err(ErrorKind::Option { option, value }.into());
        if self.factors == 0 {
            return Err(ErrorKind::NoFactors.into());
        }
        for (option, value) in [
            ("restarts", self.restarts),
            ("chains", self.gibbs.chains),
            ("sweeps", self.gibbs.sweeps),
            ("thin", self.gibbs.thin),
        ] {
            if value == 0 {
                return bad(option, "0".to_owned());
            }
        }
        if self.gibbs.thin > self.gibbs.sweeps {
            return bad("thin", self.gibbs.thin.to_string());
        }
        match self.vb.fault().or_else(|| self.stochastic.fault()) {
            Some((option, value)) => bad(option, value),
            None => Ok(()),
        }
    }
}
