//! Limits of detection.

use std::collections::BTreeMap;

use polyview_core::{Dataset, View};
use serde::{Deserialize, Serialize};

use super::ViewChoices;
use crate::error::{Error, ErrorKind, Result};

/// Between which numbers a feature is measured. A reading at the lower limit or below is known to
/// lie below it, one at the upper limit or above to lie above, and no more (spec/sites 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Limit {
    /// The lower limit, data units; none = there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The upper limit, data units; none = there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
}

impl Limit {
    /// What is wrong with it, and the mend.
    pub fn fault(self) -> Option<String> {
        for (which, x) in [("lower", self.lower), ("upper", self.upper)] {
            if let Some(x) = x.filter(|x| !x.is_finite()) {
                return Some(format!(
                    "the {which} limit is {x}; give a finite number, or leave it out"
                ));
            }
        }
        match (self.lower, self.upper) {
            (Some(l), Some(u)) if l >= u => Some(format!(
                "the lower limit {l} is not below the upper limit {u}; interchange or correct them"
            )),
            _ => None,
        }
    }
}

/// Limits of detection of a view of likelihood `censored`: of all its features, and of single
/// ones. Cells that are written as limits or intervals themselves stay as they are.
///
/// ```
/// use polyview::{Limit, Limits};
///
/// let mut limits = Limits { lower: Some(0.05), ..Limits::default() };
/// limits.features.insert("crp".into(), Limit { lower: None, upper: Some(1300.0) });
/// assert_eq!(limits.of("ferritin").lower, Some(0.05));
/// assert_eq!(limits.of("crp"), Limit { lower: None, upper: Some(1300.0) });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Limits {
    /// The lower limit of every feature without limits of its own, data units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The upper limit of every feature without limits of its own, data units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Features with limits of their own, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, Limit>,
}

impl Limits {
    /// Those of one feature.
    pub fn of(&self, feature: &str) -> Limit {
        let all = Limit {
            lower: self.lower,
            upper: self.upper,
        };
        self.features.get(feature).copied().unwrap_or(all)
    }
    /// What is wrong with them, and the mend.
    pub(super) fn fault(&self) -> Option<String> {
        let mut own = self.features.iter();
        let own =
            own.find_map(|(name, limit)| Some(format!("feature '{name}': {}", limit.fault()?)));
        own.or_else(|| {
            self.of("")
                .fault()
                .filter(|_| !self.features.contains_key(""))
        })
    }
    /// The view with cells at a limit or beyond it known by that limit alone.
    ///
    /// # Errors
    /// [`polyview_core::DataError`] of values that are stored sparse.
    pub fn applied(&self, view: View) -> Result<View> {
        let limits: Vec<(f64, f64)> = (view.features().iter())
            .map(|f| {
                let Limit { lower, upper } = self.of(f);
                (
                    lower.unwrap_or(f64::NEG_INFINITY),
                    upper.unwrap_or(f64::INFINITY),
                )
            })
            .collect();
        Ok(view.within(&limits)?)
    }
}

fn wrong(view: &str, why: String) -> Error {
    ErrorKind::Limit {
        view: view.to_owned(),
        why,
    }
    .into()
}

impl ViewChoices {
    /// Checks the limits of a view of that name without its data.
    pub(super) fn check_limits(&self, view: &str) -> Result<()> {
        let fault = self.limits.as_ref().and_then(Limits::fault);
        fault.map_or(Ok(()), |why| Err(wrong(view, why)))
    }
    /// Checks that a view can have the limits that it has.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`].
    pub(crate) fn limits_go(&self, view: &View) -> Result<()> {
        let Some(limits) = &self.limits else {
            return Ok(());
        };
        self.check_limits(view.name())?;
        let likelihood = &self.likelihood;
        if !likelihood.is_censored() || likelihood.is_survival() {
            let why = format!(
                "it is {likelihood}, and limits of detection are those of censored views; leave them out, or fit \
                 the view as censored"
            );
            return Err(wrong(view.name(), why));
        }
        let unknown = |name: &&String| !view.features().contains(name);
        match limits.features.keys().find(unknown) {
            None => Ok(()),
            Some(name) => {
                let first = view.features().first().map_or("", String::as_str);
                let why = format!(
                    "there are limits of the feature '{name}', which it does not have (its first is '{first}'); \
                     correct the name, or leave the limits out"
                );
                Err(wrong(view.name(), why))
            }
        }
    }
    /// The view as its limits have it.
    ///
    /// # Errors
    /// As [`Limits::applied`].
    pub(crate) fn limited(&self, view: View) -> Result<View> {
        match &self.limits {
            Some(limits) => limits.applied(view),
            None => Ok(view),
        }
    }
}

/// The data as limits of their views have them.
///
/// # Errors
/// As [`Limits::applied`].
pub(crate) fn limited(mut data: Dataset, choices: &[ViewChoices]) -> Result<Dataset> {
    let names: Vec<String> = data.views().iter().map(|v| v.name().to_owned()).collect();
    for (name, own) in names.iter().zip(choices).filter(|c| c.1.limits.is_some()) {
        if let Some(view) = data.view(name) {
            let view = own.limited(view.clone())?;
            data = data.with_view(view)?;
        }
    }
    Ok(data)
}
