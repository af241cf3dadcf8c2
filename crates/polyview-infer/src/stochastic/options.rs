//! Choices of a stochastic run.

use serde::{Deserialize, Serialize};

/// How a stochastic run goes over its data (spec/mofa B.11).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StochasticOptions {
    /// Share of the samples in a batch, above 0 and at most 1; or their number,
    /// a whole one above 1.
    pub batch: f64,
    /// Step of the first epoch $\kappa$, above 0 and at most 1.
    pub learning_rate: f64,
    /// Forgetting rate $\varphi$, not negative: the step of epoch $e = 0, 1,
    /// \ldots$ is $\rho\_e = \kappa/(1+\varphi e)^{3/4}$.
    pub forgetting: f64,
    /// Most epochs, each a visit to every sample: a limit, as they end once the
    /// bound rests.
    pub epochs: usize,
    /// Largest relative change of an epoch's mean bound that counts as none;
    /// twice running it ends the epochs.
    pub tolerance: f64,
    /// Most exact sweeps after the epochs, each one more visit to every sample: a limit, as they end once
    /// the bound, by its last five of them at least, has next to nothing to gain
    /// ([`VbOptions::enough_left`](crate::VbOptions::enough_left)). At the limit a run has not converged; 0 leaves them out, and the
    /// end is that of the epochs. Sweeps in which a factor is out on trial
    /// ([`PruneRule::by_bound`](crate::PruneRule::by_bound)) come on top, and as many again once one has gone.
    pub exact_sweeps: usize,
    /// Samples that stand together on disk and are read together; 0 = an
    /// eighth of a batch, at most 4096.
    pub block: usize,
    /// Most rounds of local variables and factors of a batch.
    pub rounds: usize,
    /// Largest change of a factor, relative to the largest or to 1, at which
    /// these rounds end: well below what a batch can tell.
    pub local_tolerance: f64,
}

impl Default for StochasticOptions {
    fn default() -> Self {
        Self {
            batch: 0.05,
            learning_rate: 1.0,
            forgetting: 0.5,
            epochs: 500,
            tolerance: 1e-4,
            exact_sweeps: 200,
            block: 0,
            rounds: 20,
            local_tolerance: 1e-4,
        }
    }
}

impl StochasticOptions {
    /// Samples of a batch for each factor, of which fewer may lead the first steps astray.
    pub const PER_FACTOR: usize = 10;

    /// The first option that is out of its range, and its value in words.
    pub fn fault(&self) -> Option<(&'static str, String)> {
        let share = |x: f64| x > 0.0 && x <= 1.0;
        let checks = [
            (
                "batch",
                self.batch,
                share(self.batch) || (self.batch > 1.0 && self.batch.fract() == 0.0),
            ),
            (
                "learning-rate",
                self.learning_rate,
                share(self.learning_rate),
            ),
            (
                "forgetting",
                self.forgetting,
                self.forgetting >= 0.0 && self.forgetting.is_finite(),
            ),
            (
                "stochastic tolerance",
                self.tolerance,
                self.tolerance > 0.0 && self.tolerance < 1.0,
            ),
            (
                "local-tolerance",
                self.local_tolerance,
                self.local_tolerance > 0.0 && self.local_tolerance < 1.0,
            ),
        ];
        if let Some((name, value, _)) = checks.iter().find(|c| !c.2) {
            return Some((name, value.to_string()));
        }
        [("epochs", self.epochs), ("rounds", self.rounds)]
            .iter()
            .find(|c| c.1 == 0)
            .map(|c| (c.0, "0".to_owned()))
    }
    /// The same with a batch that holds at least [`StochasticOptions::PER_FACTOR`] samples for each of so many factors, or all
    /// that there are.
    #[must_use]
    pub fn for_factors(self, samples: usize, factors: usize) -> Self {
        let least = Self::PER_FACTOR * factors;
        if self.batch_size(samples) >= least {
            return self;
        }
        let batch = if least < samples { least as f64 } else { 1.0 };
        Self { batch, ..self }
    }
    /// Samples of a batch out of `samples`, about.
    pub fn batch_size(&self, samples: usize) -> usize {
        let share = if self.batch > 1.0 {
            self.batch
        } else {
            self.batch * samples as f64
        };
        (share.round() as usize).clamp(1, samples.max(1))
    }
    /// $\rho\_e$ of epoch `epoch`, counted from 0.
    pub fn step(&self, epoch: usize) -> f64 {
        self.learning_rate / (1.0 + self.forgetting * epoch as f64).powf(0.75)
    }
}
