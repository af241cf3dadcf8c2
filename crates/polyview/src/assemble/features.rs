//! Whether views can be settled on what factors leave of the features of others.

use polyview_core::Groups;

use super::several;
use crate::error::{Error, ErrorKind, Result};
use crate::spec::{ModelSpec, Settle};
use crate::verbs::leaves_numbers;

/// Refuses views that are to be settled on features, by their choices.
///
/// # Errors
/// [`ErrorKind::Incompatible`] where the fit is adjusted, groups have parameters of their own,
/// or factors leave no numbers of any other view.
pub(super) fn features_go(spec: &ModelSpec, names: &[&str], groups: Option<&Groups>) -> Result<()> {
    let wants = |name: &&&str| spec.view(name).settle == Some(Settle::Features);
    let Some(target) = names.iter().find(wants) else {
        return Ok(());
    };
    let own = spec.groups.noise || spec.groups.intercepts;
    let numbers = |name: &&&str| {
        let choices = spec.view(name);
        let domain = choices.likelihood.domain();
        !choices.settles() && !choices.local && domain.is_some_and(leaves_numbers)
    };
    if spec.adjusts() {
        Err(not_on_features(target, "covariates or offsets"))
    } else if own && several(groups).is_some() {
        let with = "noise or intercepts by group of samples";
        Err(not_on_features(target, with))
    } else if !names.iter().any(|name| numbers(&name)) {
        let with = "other views of which factors leave no numbers (classes, ranks, similarities, trials, limits)";
        Err(not_on_features(target, with))
    } else {
        Ok(())
    }
}

/// The answer to whoever wants to settle a view on features that cannot be.
pub(crate) fn not_on_features(view: &str, with: &str) -> Error {
    ErrorKind::Incompatible {
        view: view.to_owned(),
        what: "settling it on features (settle = \"features\")".to_owned(),
        with: format!("{with}: settle it on factors (settle = true)"),
    }
    .into()
}
