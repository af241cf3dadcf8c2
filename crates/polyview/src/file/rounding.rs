//! What working units took from the data, in a model file.
//!
//! Up to four arrays a view: a byte a stored value, places and values of the
//! cells that are too far for a byte, and what the cells of a sparse view without
//! an entry are.

use polyview_core::{Rounding, View};

use super::container::{Container, Tensor, Values};
use super::fault::Fault;

const PARTS: [&str; 4] = ["steps", "far-cells", "far-values", "zeros"];

/// Adds the arrays of a view.
pub(super) fn push_rounding<'a>(tensors: &mut Vec<Tensor<'a>>, view: &str, of: &'a Rounding) {
    let (steps, far, base) = of.parts();
    let cells: Vec<f64> = far.iter().map(|f| f.0 as f64).collect();
    let values: Vec<f64> = far.iter().map(|f| f.1).collect();
    let parts = [
        Values::Bytes(vec![steps.len()], steps.into()),
        Values::Vector(cells.into()),
        Values::Vector(values.into()),
        Values::Vector(base.into()),
    ];
    for (name, values) in PARTS.iter().zip(parts) {
        tensors.push(Tensor::new(format!("{name}/{view}"), values));
    }
}

/// That of a view in working units.
pub(super) fn take_rounding(view: &View, file: &mut Container<'_>) -> Result<Rounding, Fault> {
    let [steps_at, cells_at, values_at, base_at] = PARTS.map(|p| format!("{p}/{}", view.name()));
    let steps = file.take(&steps_at)?.byte_string(&steps_at)?.to_vec();
    let mut numbers = |name: &str| Ok::<_, Fault>(file.take(name)?.to_array(name)?.values);
    let (cells, values, base) = (
        numbers(&cells_at)?,
        numbers(&values_at)?,
        numbers(&base_at)?,
    );
    Fault::unless_count("values that are far", cells.len(), values.len())?;
    let whole = |x: &f64| *x >= 0.0 && *x < 1e15 && x.fract() == 0.0;
    if !cells.iter().all(whole) {
        return Err(Fault::values(&cells_at, "holds a value that is no place"));
    }
    let far = cells.into_iter().map(|x| x as usize).zip(values).collect();
    Rounding::from_parts(view, steps, far, base)
        .ok_or_else(|| Fault::values(&steps_at, "does not fit the data"))
}
