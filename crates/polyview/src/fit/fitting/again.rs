//! A fit over again, of views that are others in some cells.

use std::time::Instant;

use polyview_core::{Journal, Ledger, State, View};

use super::restarts::Restarts;
use super::{Campaign, Given};
use crate::error::Result;
use crate::fit::{Fit, Reading};
use crate::spec::Settle;

/// Change of the bound in a sweep that ends such a fit, nats for each sample: ten times as much is then left at most (or a tenth
/// of a nat), far less than what two predictions of a sample differ by.
const CHANGE: f64 = 1e-5;
/// With fewer samples such a fit ends as the first did.
const MANY: usize = 1000;
/// Sweeps that such a fit may take whatever the first took.
const SWEEPS: usize = 100;

impl Fit {
    /// The change of the bound that ends a fit over again, relative to it: that of the fit itself, or of many samples [`CHANGE`]
    /// where that is more (few features).
    fn tolerance_again(&self) -> f64 {
        let own = self.run_options().vb.tolerance;
        if self.samples.len() < MANY {
            return own;
        }
        let bound = self.record.ledgers.first().and_then(Ledger::last);
        let enough = bound.map(|bound| CHANGE * self.samples.len() as f64 / bound.abs());
        // a tolerance is below 1
        let enough = enough.filter(|x| *x < 0.1).unwrap_or(own);
        own.max(enough)
    }

    /// The joint fit over again from its own start, of these views in working units; one run, whatever
    /// the restarts were, which ends a little earlier where there are many samples, and after no more sweeps than the fit itself took (or a hundred). None of its views is settled, and nothing is said of how it ended. `None` once `go_on`,
    /// which is asked before each sweep, does not say so.
    ///
    /// # Errors
    /// Numerical errors.
    pub(crate) fn again(
        &self,
        views: Vec<View>,
        go_on: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Self>> {
        let mut infos = self.views.clone();
        for info in &mut infos {
            info.choices.settle = Some(Settle::Not);
        }
        let mut composed = self.composed.clone();
        composed.options.restarts = 1;
        composed.options.vb.tolerance = self.tolerance_again();
        let most = &mut composed.options.vb.max_sweeps;
        *most = (*most).min(self.record.sweeps.max(SWEEPS));
        let mut given = Given {
            composed,
            samples: self.samples.clone(),
            infos,
            views,
            groups: self.groups.clone(),
            journal: Journal::default(),
        };
        let started = Instant::now();
        let start = given.start(0)?;
        let mut campaign = Box::new(Restarts::new(&mut given, &start)?);
        let mut sweep = 0;
        loop {
            if !go_on(sweep) {
                return Ok(None);
            }
            sweep += 1;
            if campaign.step(&mut given)?.done {
                break;
            }
        }
        let mut ended = campaign.finish(&mut given)?;
        ended.record.seconds = started.elapsed().as_secs_f64();
        Ok(Some(Self {
            composed: given.composed,
            samples: given.samples,
            views: given.infos,
            data: Some(given.views),
            rounding: Vec::new(),
            components: ended.components,
            settled: State::new(),
            sums: None,
            record: ended.record,
            groups: given.groups,
            metadata: Vec::new(),
            reading: Reading::default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::models;

    /// A fit over again takes no more sweeps than the first one, of which a hundred are as good as none.
    #[test]
    fn it_ends_when_the_first_had() {
        let mut spec = models::mofa(10);
        spec.vb.tolerance = 1e-13;
        spec.vb.max_sweeps = 150;
        let mut fit = crate::fit(polyview_datasets::nutrimouse(), spec).unwrap();
        let first = fit.record.sweeps;
        let views = fit.data.clone().unwrap();
        let mut sweeps = |of_first: usize| {
            fit.record.sweeps = of_first;
            let again = fit.again(views.clone(), &|_| true).unwrap().unwrap();
            again.record.sweeps
        };
        assert_eq!(first, 150);
        assert_eq!([sweeps(7), sweeps(120), sweeps(first)], [100, 120, 150]);
    }
}
