//! States of models: what a posterior keeps, and parts of a checkpoint.

use polyview_core::{State, Stateful};
use polyview_infer::Model;

/// Factors and parameters, without what belongs to the training data alone.
pub(crate) fn saved_parameters(model: &Model) -> State {
    let mut state = State::new();
    model.save("", &mut state);
    state.retain(|name| !is_local(name));
    state
}

/// As [`saved_parameters`], each part gone as soon as it is saved, large ones
/// moved: never is all of a large posterior there twice.
pub(super) fn given_up_parameters(model: Model) -> State {
    let mut state = State::new();
    let Model { factors, views, .. } = model;
    for view in views {
        view.give_up("", &mut state);
        state.retain(|name| !is_local(name));
    }
    factors.give_up("factors", &mut state);
    state
}

/// Whether an array belongs to the training data alone.
pub(crate) fn is_local(name: &str) -> bool {
    let Some((_, mut rest)) = name.rsplit_once("/term/") else {
        return false;
    };
    if let Some((group, own)) = rest.split_once('/')
        && group.starts_with("group")
    {
        rest = own;
    }
    rest.starts_with("imputed/") || rest.starts_with("local/")
}

/// Drops from all states but the first what belongs to the training data and not
/// to a draw, where it is the same, bit for bit: the training values of rank views.
/// [`State::reader_over`] the first finds it.
pub(crate) fn share(states: &mut [State]) {
    let Some((first, others)) = states.split_first_mut() else {
        return;
    };
    let bits = |x: &f64| x.to_bits();
    for state in others {
        let own = state.arrays();
        let same = |name: &str| {
            let (a, b) = (own.get(name)?, first.arrays().get(name)?);
            let same =
                a.shape == b.shape && a.values.iter().map(bits).eq(b.values.iter().map(bits));
            same.then_some(())
        };
        let names: Vec<String> = own
            .keys()
            .filter(|name| is_shared(name) && same(name).is_some())
            .cloned()
            .collect();
        state.retain(|name| !names.iter().any(|n| n == name));
    }
}

/// Whether draws may have an array in common.
pub(crate) fn is_shared(name: &str) -> bool {
    let Some((_, rest)) = name.rsplit_once("/term/") else {
        return false;
    };
    rest.starts_with("anchors/") || rest.contains("/anchors/")
}

/// Puts copies of all arrays under a prefix.
pub(super) fn copy(from: &State, prefix: &str, to: &mut State) {
    for (name, array) in from.arrays() {
        to.put(&format!("{prefix}{name}"), array.clone());
    }
}

/// The arrays under a prefix, without it.
pub(super) fn part(from: &State, prefix: &str) -> State {
    let mut out = State::new();
    for (name, array) in from.arrays() {
        if let Some(rest) = name.strip_prefix(prefix) {
            out.put(rest, array.clone());
        }
    }
    out
}
