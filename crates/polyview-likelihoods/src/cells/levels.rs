//! Levels that expected counts were brought to (docs/decisions/0110-levels-of-counts.md), as files have them.

use polyview_core::{NumericError, State, StateReader};

/// What they are called in states.
const LEVELS: &str = "levels";

pub(crate) fn save(levels: &[(f64, f64)], prefix: &str, state: &mut State) {
    if !levels.is_empty() {
        let pairs: Vec<f64> = (levels.iter())
            .flat_map(|(level, spread)| [*level, *spread])
            .collect();
        state.put_vec(&format!("{prefix}/{LEVELS}"), &pairs);
    }
}

/// Those of so many columns, if there are any.
///
/// # Errors
/// [`NumericError`] where there are others.
pub(crate) fn load(
    columns: usize,
    prefix: &str,
    state: &StateReader<'_>,
) -> Result<Option<Vec<(f64, f64)>>, NumericError> {
    let name = format!("{prefix}/{LEVELS}");
    if !state.has(&name) {
        return Ok(None);
    }
    let pairs = state.vec_of(&name, 2 * columns)?;
    Ok(Some(pairs.chunks(2).map(|x| (x[0], x[1])).collect()))
}
