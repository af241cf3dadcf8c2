//! Choices of all views in which two fits that are compared differ.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::fit::Fit;
use crate::spec::ModelSpec;

/// Choices that are told by themselves, or that say how a fit goes about its work.
const APART: [&str; 16] = [
    "covariates",
    "defaults",
    "engine",
    "factors",
    "from-data",
    "gibbs",
    "groups",
    "model",
    "noise-prior",
    "offsets",
    "path",
    "restarts",
    "seed",
    "start",
    "stochastic",
    "vb",
];

/// Words, or that there are none.
fn listed<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    let all: Vec<&str> = words.into_iter().map(String::as_str).collect();
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    }
}

/// The choices of a model for all its views.
fn of_all_views(spec: &ModelSpec) -> Map<String, Value> {
    match serde_json::to_value(spec) {
        Ok(Value::Object(mut all)) => {
            all.retain(|key, _| key != "views" && !APART.contains(&key.as_str()));
            all
        }
        _ => Map::new(),
    }
}

impl Fit {
    /// What is to be said of choices of all views, and of what is known of samples, where two fits have others.
    pub(super) fn other_choices(&self, other: &Self) -> Vec<String> {
        let fits = [self, other];
        let mut out = Vec::new();
        let offered = fits.map(|f| f.run_options().factors);
        if offered[0] != offered[1] {
            out.push(format!(
                "the first fit started with {} factors, of which {} are left, the second with {}, of which {} are left",
                offered[0],
                self.k(),
                offered[1],
                other.k()
            ));
        }
        let groups = fits.map(|f| {
            let own = f.groups().filter(|_| f.looks_at_groups());
            let names: BTreeSet<&String> = own.into_iter().flat_map(|g| &g.names).collect();
            listed(names)
        });
        if groups[0] != groups[1] {
            out.push(format!(
                "groups of samples with parameters of their own are {} in the first fit and {} in the second: what sets \
                 groups apart is no matter of factors where there are such",
                groups[0], groups[1]
            ));
        }
        let [Some(own), Some(theirs)] = fits.map(Fit::spec) else {
            return out;
        };
        if own.covariates != theirs.covariates {
            out.push(format!(
                "covariates that the fit is adjusted for are {} in the first fit and {} in the second: what follows them is \
                 no matter of factors where there are such",
                listed(&own.covariates),
                listed(&theirs.covariates)
            ));
        }
        if own.offsets != theirs.offsets {
            let views = |spec: &ModelSpec| listed(spec.offsets.keys());
            out.push(format!(
                "views with offsets are {} in the first fit and {} in the second{}",
                views(own),
                views(theirs),
                if own.offsets.keys().eq(theirs.offsets.keys()) {
                    ", and the offsets are others"
                } else {
                    ""
                }
            ));
        }
        let [a, b] = [own, theirs].map(of_all_views);
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        let shown = |value: Option<&Value>| {
            value.map_or_else(|| "the default".to_owned(), ToString::to_string)
        };
        let differ: Vec<String> = keys
            .into_iter()
            .filter(|key| a.get(*key) != b.get(*key))
            .map(|key| format!("{key} {} and {}", shown(a.get(key)), shown(b.get(key))))
            .collect();
        if !differ.is_empty() {
            out.push(format!(
                "choices for all views are others in the first fit and in the second: {}",
                differ.join("; ")
            ));
        }
        out
    }
}

/// Which part of a view was compared, where not all of it was.
pub(super) fn part(view: &str, kept: [usize; 2], of: [usize; 2]) -> Option<String> {
    let parts: Vec<String> = (kept.into_iter().zip(of).zip(["samples", "features"]))
        .filter(|((kept, of), _)| kept < of)
        .map(|((kept, of), what)| format!("{kept} of {of} {what}"))
        .collect();
    (!parts.is_empty()).then(|| format!("{view}: looked at {}, evenly spread", parts.join(" and ")))
}
