//! Where a fit is.

use polyview_core::GainLeft;
use polyview_infer::{SweepReport, VbOptions};

/// What one step of a fit did.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Restart (variational Bayes) from 1.
    pub restart: usize,
    /// Restarts in all.
    pub restarts: usize,
    /// Whether this is a sweep of dense weights, of which sparse ones start: such sweeps are counted by themselves, and come
    /// before the first restart.
    pub before_start: bool,
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
    /// Sweeps until neither a sweep nor all that follow gain more than they may at convergence
    /// ([`VbOptions::enough_left`]), if gains go on shrinking as they do; none where nothing is known
    /// of it.
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
            before_start: false,
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
    /// With what the bound still gains, of a run with these options.
    pub(super) fn with_gain(mut self, gain: Option<GainLeft>, vb: &VbOptions) -> Self {
        let a_sweep = vb.tolerance * self.objective.abs().max(1.0);
        let all = vb.enough_left(self.objective);
        self.sweeps_left = gain.and_then(|gain| sweeps_until(gain, a_sweep, all));
        self.gain = gain;
        self
    }
}

/// Sweeps until one gains no more than `a_sweep`, and all that follow it no more than `all`, nats:
/// gains shrink by the factor that lets all of them add up to what is left.
fn sweeps_until(GainLeft { per_sweep, left }: GainLeft, a_sweep: f64, all: f64) -> Option<usize> {
    let shares = [per_sweep / a_sweep, left.unwrap_or(f64::INFINITY) / all];
    let times = shares[0].max(shares[1]);
    if times <= 1.0 {
        return Some(0);
    }
    let sweeps = left? / per_sweep * times.ln();
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
        assert_eq!(sweeps_until(gain(10.0), 0.01, 10.0), Some(47));
        assert_eq!(sweeps_until(gain(10.0), 2.0, 10.0), Some(0));
        // e^-0.1 of what is left: from 10 to 0.1
        assert_eq!(sweeps_until(gain(10.0), 2.0, 0.1), Some(47));
        let steady = GainLeft {
            per_sweep: 1.0,
            left: None,
        };
        assert_eq!(sweeps_until(steady, 0.01, 1.0), None);
        assert_eq!(sweeps_until(gain(10.0), 0.0, 1.0), None);
    }
}
