//! How views are predicted that are there to be predicted, where nothing is said of it.

use polyview::{Dataset, EngineKind, Settle};

use super::Study;

/// Presets whose labels are predicted by a mixture of ways; the others reproduce papers and programs, or settle labels
/// by themselves.
const PRESETS: [&str; 3] = ["sshiba", "mofa", "bibfa"];
/// A view of zeros and ones with more columns than that is a table of features.
const LABELS: usize = 20;

impl Study {
    /// Has the views `targets`, or where there are none all labels and times to an event, predicted by a mixture of the joint fit and a regression
    /// ([`Settle::Mixture`]), unless something is said of how; views of zeros and ones with many columns are no labels.
    /// Says which those are. Where the model refuses it they are left to the joint fit.
    pub fn mix_targets(&mut self, targets: &[String], data: &Dataset) -> Option<String> {
        let preset = PRESETS.contains(&self.model.model.as_str());
        if !preset || self.model.engine != EngineKind::Vb {
            return None;
        }
        // no regression stands beside a fit that is adjusted or has something of its own for groups
        let groups = data.groups().is_some_and(|g| g.names.len() > 1);
        if self.model.adjusts() || groups && self.model.knows_groups() {
            return None;
        }
        let is_wanted = |name: &str| {
            let choices = self.model.view(name);
            let regresses = choices.likelihood.has_plain_regression();
            if choices.settle.is_some() || choices.kernel.is_some() || choices.local || !regresses {
                return false;
            }
            if !targets.is_empty() {
                return targets.iter().any(|t| t == name);
            }
            let domain = choices.likelihood.domain();
            let few = |d: polyview::Domain| {
                let columns = data.view(name).map_or(0, polyview::View::n_features);
                d.is_survival() || d.is_label() && (d.has_classes() || columns <= LABELS)
            };
            domain.is_some_and(few)
        };
        let names: Vec<String> = (data.views().iter())
            .map(|v| v.name().to_owned())
            .filter(|name| is_wanted(name))
            .collect();
        let mut model = self.model.clone();
        for name in &names {
            model = model.with_settled(name, Settle::Mixture);
        }
        // factors come from what is not settled
        let others = data.views().iter().any(|v| !model.view(v.name()).settles());
        if names.is_empty() || !others || model.validate().is_err() {
            return None;
        }
        self.model = model;
        for name in &names {
            self.decided(format!("views/{name}/settle"));
        }
        Some(format!(
            "{}: predicted from other views by a mixture of the joint fit and a regression on their features, with \
             shares that are found in folds at the end of the fit (--no-settle leaves that out)",
            names.join(", ")
        ))
    }
}
