//! What a file says of the fit that it is a copy of, beyond the layout: how that ended, and what the copy lacks.

use hdf5_pure::GroupBuilder;
use polyview::{EngineKind, Fit, ViewInfo};
use polyview_infer::Outcome;

use super::OWN;
use crate::error::Result;
use crate::file::Reader;

const OUTCOME: &str = "outcome";
const TOLD: &str = "told";

/// Words for how a fit ended.
const OUTCOMES: [(&str, Outcome); 3] = [
    ("converged", Outcome::Converged),
    ("limit", Outcome::MaxSweeps),
    ("interrupted", Outcome::Interrupted),
];

/// How the fit ended, and what whoever reads the copy has to know.
pub(super) struct Source {
    pub(super) outcome: Outcome,
    pub(super) told: Vec<String>,
    /// Whether the course of the fit is that of a bound, and its last entry that of the model.
    pub(super) has_bound: bool,
}

impl Source {
    /// Of a fit of which these views are about to be copied.
    pub(super) fn of(fit: &Fit, views: &[&ViewInfo]) -> Self {
        let mut told = Vec::new();
        let (sampled, updates) = (fit.is_sampled(), fit.updates());
        if sampled {
            told.push(format!(
                "a copy of the means of draws by Gibbs sampling ({}): how far draws differ is not in the file, and it has \
                 no bound",
                fit.ending()
            ));
            told.extend(fit.unmixed());
        } else if fit.run_options().engine == EngineKind::Stochastic {
            told.push(format!(
                "a copy of a fit by the engine stochastic ({}): bounds of its epochs are estimates from batches",
                fit.ending()
            ));
        }
        if !updates.is_empty() {
            told.push(
                "the course of the fit is that of its first samples: the bound of all is not known"
                    .to_owned(),
            );
            told.extend(updates.iter().cloned());
        }
        if let Some(counted) = fit.counted() {
            told.push(format!(
                "views that count more or less than once: {counted}"
            ));
        }
        let copied = |name: &str| views.iter().any(|view| view.name == name);
        for (_, beside) in (fit.predicted_beside().into_iter()).filter(|(name, _)| copied(name)) {
            told.push(format!(
                "{beside} in the fit that this is a copy of; the file has no place for that, and by the copy the joint fit \
                 alone predicts"
            ));
        }
        for view in views.iter().filter(|view| view.kernel.is_some()) {
            told.push(format!(
                "view '{}' is of similarities by a kernel in the fit that this is a copy of; the file has no place for the kernel, so \
                 that new samples need similarities to its reference points in place of their features",
                view.name
            ));
        }
        let mixed = fit.record().mixing().is_some_and(|m| m.trouble().is_some());
        Self {
            outcome: match fit.record().outcome {
                Outcome::Converged if mixed => Outcome::MaxSweeps,
                other => other,
            },
            told,
            has_bound: !sampled && updates.is_empty(),
        }
    }
    /// Adds it to what the layout has no place for.
    pub(super) fn write(&self, all: &mut GroupBuilder) {
        let word = OUTCOMES.iter().find(|o| o.1 == self.outcome);
        all.create_dataset(OUTCOME)
            .with_vlen_strings(&[word.map_or("converged", |o| o.0)]);
        if !self.told.is_empty() {
            let told: Vec<&str> = self.told.iter().map(String::as_str).collect();
            all.create_dataset(TOLD).with_vlen_strings(&told);
        }
    }
    /// How the fit of a file ended, where the file says so, and what it tells.
    pub(super) fn read(file: &Reader) -> Result<(Option<Outcome>, Vec<String>)> {
        let words = |name: &str| file.words(&format!("{OWN}/{name}"));
        let said = words(OUTCOME)?.unwrap_or_default();
        let known = |word: &String| OUTCOMES.iter().find(|o| o.0 == word).map(|o| o.1);
        Ok((
            said.first().and_then(known),
            words(TOLD)?.unwrap_or_default(),
        ))
    }
}
