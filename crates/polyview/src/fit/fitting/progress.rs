//! Where a fit is.

use polyview_core::GainLeft;
use polyview_infer::SweepReport;

/// What one step of a fit did.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Restart (variational Bayes) from 1.
    pub restart: usize,
    /// Restarts in all.
    pub restarts: usize,
    /// Sweep of this restart, from 1.
    pub sweep: usize,
    /// Most sweeps of a restart; all sweeps of a chain.
    pub sweeps: usize,
    /// Bound, or mean log joint density of the chains, nats.
    pub objective: f64,
    /// Whether the objective is that density: one of draws, not to be compared with any bound.
    pub of_draws: bool,
    /// Relative change of the bound.
    pub change: f64,
    /// Factors left.
    pub factors: usize,
    /// What the bound still gains, by its last sweeps
    /// ([`Ledger::gain_left`](polyview_core::Ledger::gain_left)); none of draws, of batches and of the
    /// first sweeps.
    pub gain: Option<GainLeft>,
    /// Sweeps until a sweep gains no more than the tolerance allows, if gains go on shrinking as they
    /// do; none where nothing is known of it.
    pub sweeps_left: Option<usize>,
    /// Set when the whole fit is over.
    pub done: bool,
}

impl Progress {
    /// Of a run that is the only one, with this limit of sweeps.
    pub(in crate::fit) fn of(report: &SweepReport, sweeps: usize) -> Self {
        Self {
            restart: 1,
            restarts: 1,
            sweep: report.sweep,
            sweeps,
            objective: report.bound,
            of_draws: false,
            change: report.change,
            factors: report.factors,
            gain: None,
            sweeps_left: None,
            done: report.outcome.is_some(),
        }
    }
    /// With what the bound still gains; a run ends where a sweep gains `tolerance` of it or less.
    pub(super) fn with_gain(mut self, gain: Option<GainLeft>, tolerance: f64) -> Self {
        let enough = tolerance * self.objective.abs().max(1.0);
        self.sweeps_left = gain.and_then(|gain| sweeps_until(gain, enough));
        self.gain = gain;
        self
    }
}

/// Sweeps until one gains no more than `enough`, nats: gains shrink by the factor that lets all of
/// them add up to what is left.
fn sweeps_until(GainLeft { per_sweep, left }: GainLeft, enough: f64) -> Option<usize> {
    if per_sweep <= enough {
        return Some(0);
    }
    let sweeps = left? / per_sweep * (per_sweep / enough).ln();
    sweeps.is_finite().then_some(sweeps.ceil() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bound that nears its end by a tenth of what is left in each sweep.
    #[test]
    fn sweeps_are_counted_until_one_gains_little_enough() {
        let gain = |left: f64| GainLeft {
            per_sweep: 0.1 * left,
            left: Some(left),
        };
        // e^-0.1 of the gain a sweep: from 1 to 0.01
        assert_eq!(sweeps_until(gain(10.0), 0.01), Some(47));
        assert_eq!(sweeps_until(gain(10.0), 2.0), Some(0));
        let steady = GainLeft {
            per_sweep: 1.0,
            left: None,
        };
        assert_eq!(sweeps_until(steady, 0.01), None);
        assert_eq!(sweeps_until(gain(10.0), 0.0), None);
    }
}
