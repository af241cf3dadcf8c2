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
