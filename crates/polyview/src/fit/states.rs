//! States of models: what a posterior keeps, and parts of a checkpoint.

use polyview_core::{Role, State, StateArray, Stateful};
use polyview_infer::Model;

/// Factors and parameters, without what belongs to the training data alone.
pub(crate) fn saved_parameters(model: &Model) -> State {
    let mut state = State::new();
    model.save("", &mut state);
    state.drop_local();
    state
}

/// As [`saved_parameters`], each part gone as soon as it is saved, large ones
/// moved: never is all of a large posterior there twice.
pub(super) fn given_up_parameters(model: Model) -> State {
    let mut state = State::new();
    let Model { factors, views, .. } = model;
    for view in views {
        view.give_up("", &mut state);
        state.drop_local();
    }
    factors.give_up("factors", &mut state);
    state
}

/// Drops from all states but the first what refers to the training data
/// ([`Role::Shared`]), where it is the same, bit for bit: the training values of rank views.
/// [`State::reader_over`] the first finds it.
pub(crate) fn share(states: &mut [State]) {
    let Some((first, others)) = states.split_first_mut() else {
        return;
    };
    let bits = |x: &f64| x.to_bits();
    for state in others {
        state.retain(|name, a| {
            let same = |b: &StateArray| {
                a.shape == b.shape && a.values.iter().map(bits).eq(b.values.iter().map(bits))
            };
            a.role != Role::Shared || !first.arrays().get(name).is_some_and(same)
        });
    }
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
