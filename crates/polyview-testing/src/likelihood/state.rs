//! Saved states.

use polyview_core::{State, ViewTerm, Way};
use polyview_infer::GibbsChain;

use super::Finding;
use super::subject::{DataCase, Subject, difference, numeric, saved};

/// Sweeps before a term is saved.
const SWEEPS: usize = 3;

pub(super) fn findings(s: &Subject<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for case in DataCase::PLAIN {
        out.extend(
            fitted(s, case)
                .and_then(|state| again(s, case, state))
                .err(),
        );
        if s.refusal(Way::Gibbs).is_none() {
            out.extend(drawn(s, case).and_then(|state| again(s, case, state)).err());
        }
    }
    out
}

/// The term's state after some sweeps of variational Bayes.
fn fitted(s: &Subject<'_>, case: DataCase) -> Result<State, Finding> {
    let run = s.fitted(s.model(s.term_of(case)?, None), SWEEPS);
    let run = run.map_err(numeric(case, "a fit"))?;
    Ok(saved(run.model().views[0].term.as_ref()))
}

/// The term's state after some sweeps of Gibbs sampling.
fn drawn(s: &Subject<'_>, case: DataCase) -> Result<State, Finding> {
    let mut chain = GibbsChain::new(s.model(s.term_of(case)?, None), s.key.block(33));
    for _ in 0..SWEEPS {
        chain.advance().map_err(numeric(case, "a chain"))?;
    }
    Ok(saved(chain.model().views[0].term.as_ref()))
}

/// Reads the state into a new term, and the parameters into one without samples.
fn again(s: &Subject<'_>, case: DataCase, mut state: State) -> Result<(), Finding> {
    let what = "a state read into a new term of the same data";
    let mut term = s.term_of(case)?;
    same(&mut *term, &state, case, what)?;

    let what = "parameters read into a term without samples";
    state.drop_local();
    let empty = s.view.subset(s.view.name(), &[]);
    let mut term = s.term(&empty, case)?;
    term.load("", &state.reader())
        .map_err(numeric(case, what))?;
    let mut own = saved(term.as_ref());
    own.drop_local();
    match difference(&state, &own) {
        None => Ok(()),
        Some(array) => Err(Finding::State { what, array }),
    }
}

fn same(
    term: &mut dyn ViewTerm,
    state: &State,
    case: DataCase,
    what: &'static str,
) -> Result<(), Finding> {
    term.load("", &state.reader())
        .map_err(numeric(case, what))?;
    match difference(state, &saved(term)) {
        None => Ok(()),
        Some(array) => Err(Finding::State { what, array }),
    }
}
