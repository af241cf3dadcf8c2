//! Reference points that matter.

use polyview_core::Dataset;

use super::Fitting;
use super::short_fits::Search;
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::spec::{EngineKind, Settle, ViewChoices};
use crate::verbs::Selection;

/// Sweeps of the fit that tells which matter.
const SWEEPS: usize = 200;

/// The share of the reference points of a view that matter most, by the relevances (double ARD)
/// of a fit against all of them (spec/thesis 7.2), and what is to be said of it: how much worse
/// short fits predict the other views of held-out samples from these alone.
///
/// # Errors
/// [`ErrorKind::Incompatible`] where another composer puts the model together; those of a fit.
pub(super) fn kept(
    composed: &Composed,
    data: &Dataset,
    choices: &[ViewChoices],
    (at, share): (usize, f64),
) -> Result<(Vec<String>, String)> {
    let view = data.views()[at].name();
    let Some(spec) = composed.spec() else {
        return Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: "a share of the reference points".to_owned(),
            with: "a model that is put together by another composer".to_owned(),
        }
        .into());
    };
    let mut spec = spec.clone();
    for (v, choices) in data.views().iter().zip(choices) {
        let mut choices = choices.clone();
        if let Some(kernel) = &mut choices.kernel {
            kernel.keep = None;
        }
        choices.settle = Some(Settle::Not);
        if v.name() == view {
            choices.selection = "relevance".into();
        }
        spec = spec.with_view(v.name(), choices);
    }
    spec.engine = EngineKind::Vb;
    spec.restarts = 1;
    spec.vb.max_sweeps = spec.vb.max_sweeps.min(SWEEPS);
    let fit = Fitting::of(data.clone(), composed.with_spec(spec))?.to_the_end()?;
    let mut places = fit.select_features(view, Selection::Share(share))?;
    places.sort_unstable();
    let all = &fit.view(view)?.1.features;
    let names: Vec<String> = places.iter().map(|&r| all[r].clone()).collect();
    let mut note = format!(
        "{} of {} reference points are kept, those that are most relevant in a fit against all",
        names.len(),
        all.len()
    );
    if !composed.searches {
        let cost = Search::new(composed, data, choices, at).and_then(|s| s.cut(share));
        note = match cost {
            Ok(text) => format!("{note}: {text}"),
            Err(why) => format!("{note}; what that costs was not measured: {why}"),
        };
    }
    Ok((names, note))
}
