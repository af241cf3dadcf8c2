//! Priors that measure the weights of a view by how large factors are in other views
//! (docs/decisions/0061-weights-that-follow-factors.md).

use polyview_core::Event;

use crate::model::{Model, ViewPart};
use crate::run::{RunState, SweepReport};

/// The change of the logarithm of a size that is worth going on for.
const MOVED: f64 = 0.05;

/// How often a run that has come to rest goes on because sizes moved.
const MOST_AT_REST: usize = 5;

/// The last sweep of a Gibbs chain after which sizes are taken over: from then on the
/// prior is the same in every sweep.
const LAST_OF_CHAIN: usize = 256;

/// Whether sizes are taken over after the sweep of this number: ever less often.
pub(crate) fn is_due(sweep: usize) -> bool {
    sweep >= 4 && sweep.is_power_of_two()
}

/// As [`is_due`], of a chain.
pub(crate) fn is_due_in_chain(sweep: usize) -> bool {
    is_due(sweep) && sweep <= LAST_OF_CHAIN
}

impl Model {
    /// Tells the priors that follow how large each factor is in the views that do not
    /// ([`RowBlock::follow`](polyview_core::RowBlock::follow)); the largest change of the
    /// logarithm of a size, no unit. 0 where nobody follows, or all do (the ridge of spec/sites 6,
    /// relative to sizes).
    pub fn tell_sizes(&mut self) -> f64 {
        if !self.views.iter().any(|v| v.weights.follows()) {
            return 0.0;
        }
        // the units of rank views are those of this sweep
        self.condition();
        let Some(sizes) = self.sizes() else {
            return 0.0;
        };
        let views = self.views.iter_mut();
        let changes = views.map(|v| v.weights.follow(&sizes));
        changes.fold(0.0, f64::max)
    }
    /// Share of each factor in what all factors explain of the views that do not follow, every
    /// view counting alike; none where no such view has weights.
    fn sizes(&self) -> Option<Vec<f64>> {
        let k = self.k();
        let z = self.factors.moments().mean();
        let samples = z.nrows().max(1) as f64;
        let energies: Vec<f64> = (0..k)
            .map(|j| z.col(j).squared_norm_l2() / samples)
            .collect();
        let mut sizes = vec![0.0; k];
        for view in self.views.iter().filter(|v| !v.weights.follows()) {
            for (size, share) in sizes.iter_mut().zip(shares(view, &energies)) {
                *size += share;
            }
        }
        let all: f64 = sizes.iter().sum();
        (all > 0.0 && all.is_finite()).then(|| sizes.iter().map(|s| s / all).collect())
    }
}

/// Share of each factor in the variance of a view, link and noise counted.
fn shares(view: &ViewPart, energies: &[f64]) -> Vec<f64> {
    let moments = view.weights.moments();
    let w = moments.mean();
    let scales: Vec<f64> = (0..w.nrows())
        .map(|d| view.term.link(None, d, 0.0).scale.powi(2))
        .collect();
    let own: Vec<f64> = (energies.iter().enumerate())
        .map(|(j, energy)| {
            let squares = w.col(j).iter().zip(&scales).map(|(w, s)| w * w * s);
            energy * squares.sum::<f64>()
        })
        .collect();
    let noise = |d: usize| view.term.mean_link_variance(&view.bias, d);
    // columns that are not spelled out have the noise of all
    let implicit = moments.implicit_rows() as f64;
    let implicit = if implicit > 0.0 {
        implicit * noise(0)
    } else {
        0.0
    };
    let whole = own.iter().sum::<f64>() + (0..w.nrows()).map(noise).sum::<f64>() + implicit;
    own.iter()
        .map(|o| o / whole.max(f64::MIN_POSITIVE))
        .collect()
}

impl RunState {
    /// Lets priors follow after a sweep of variational Bayes; the bound of the sweep is that
    /// of the model as it is now. Returns the largest change, as [`Model::tell_sizes`].
    fn follow(&mut self, report: &mut SweepReport) -> f64 {
        let change = self.model.tell_sizes();
        if change > 0.0 {
            let (sweep, terms) = (report.sweep, self.model.objective());
            self.record.ledger.rows.pop();
            report.bound = self.record.ledger.push(sweep, self.model.k(), terms);
        }
        change
    }
    /// As the schedule has it: after the sweeps that [`is_due`] says.
    pub(crate) fn follow_when_due(&mut self, report: &mut SweepReport) {
        if is_due(report.sweep) && self.follow(report) > MOVED {
            self.disturb();
        }
    }
    /// At rest; whether sizes have moved so far that the run goes on.
    pub(crate) fn follow_at_rest(&mut self, report: &mut SweepReport) -> bool {
        if self.record.followed >= MOST_AT_REST || self.follow(report) <= MOVED {
            return false;
        }
        self.record.followed += 1;
        let note = "weights that are measured by the sizes of factors follow them".to_owned();
        (self.record.journal).note(report.sweep, "", Event::Note { note });
        self.disturb();
        true
    }
}
