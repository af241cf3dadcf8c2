//! Groups of samples.

use polyview_core::{DataError, RowGroups, Way};
use polyview_likelihoods::{GroupNoise, Grouped};

use super::Finding;
use super::numbers::{obeys, rises};
use super::subject::{DataCase, Subject, numeric};

/// Sweeps of the fits that are compared.
const SWEEPS: usize = 4;
/// Largest difference of their bounds, relative.
const ROUNDING: f64 = 1e-9;

pub(super) fn findings(s: &Subject<'_>) -> Vec<Finding> {
    if s.refusal(Way::Groups).is_some() {
        return Vec::new();
    }
    let mut out = Vec::new();
    out.extend(one(s).err());
    let groups = s.groups(2);
    let case = DataCase::Groups;
    let law = grouped(s, &groups).and_then(|mut t| obeys(&mut t, case, Some(&groups)));
    out.extend(law.err());
    let bound = grouped(s, &groups).and_then(|t| rises(s, Box::new(t), case, Some(groups)));
    out.extend(bound.err());
    out
}

fn grouped(s: &Subject<'_>, groups: &RowGroups) -> Result<Grouped, Finding> {
    let name = |g: usize| format!("{} ({g})", s.view.name());
    let make = |view: polyview_core::View| s.term_with(&view, &s.context(DataCase::Groups));
    let made = Grouped::new::<DataError>(&s.view, groups.clone(), GroupNoise::Own, name, make);
    made.map_err(|source| Finding::Way {
        way: Way::Groups,
        why: source.to_string(),
    })
}

/// One group is none.
fn one(s: &Subject<'_>) -> Result<(), Finding> {
    let case = DataCase::Complete;
    let bound = |term| {
        let run = s.fitted(s.model(term, None), SWEEPS);
        let mut run = run.map_err(numeric(case, "a fit"))?;
        Ok::<f64, Finding>(run.model_mut().bound())
    };
    let plain = bound(s.term_of(case)?)?;
    let grouped = bound(Box::new(grouped(s, &RowGroups::one(s.view.n_samples()))?))?;
    if (plain - grouped).abs() <= ROUNDING * plain.abs() {
        return Ok(());
    }
    Err(Finding::OneGroup { plain, grouped })
}
