//! What is remarkable about labels of support vector machines.

use polyview_core::Event;

use super::{Fit, ViewInfo};
use crate::error::Result;

/// What a view of support vector machines loses beside the shares of its classes before it
/// is said, as a part of the deviance of these.
const LOST: f64 = 0.05;

impl Fit {
    /// Warns of labels of support vector machines that their own training labels contradict:
    /// a margin is no law of data, and where the factors say nothing of rare labels all of these
    /// are a whole margin away, with a probability of .018.
    pub(super) fn note_worse_than_shares(&mut self) -> Result<()> {
        let of_margins = |v: &ViewInfo| v.choices.likelihood == "svm";
        if self.data.is_none() || !self.views.iter().any(of_margins) {
            return Ok(());
        }
        let deviance = self.explain()?.deviance;
        for (m, deviance) in deviance.into_iter().enumerate() {
            if !of_margins(&self.views[m]) || deviance.is_nan() || deviance >= -LOST {
                continue;
            }
            let note = format!(
                "the probabilities fit the training labels worse than the shares of the classes do (deviance {:.0} \
                 %): those of a support vector machine are no frequencies where factors say little of \
                 rare labels; take the likelihood probit or bernoulli where probabilities matter",
                100.0 * deviance
            );
            let block = format!("likelihood/{}", self.views[m].name);
            self.note_before_the_end(&block, Event::Warning { note });
        }
        Ok(())
    }
}
