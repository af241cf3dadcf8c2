//! What working units took from the data, in a model file.
//!
//! Up to four arrays a view: a byte a stored value, places and values of the
//! cells that are too far for a byte, and what the cells of a sparse view without
//! an entry are.

use polyview_core::{Rounding, View};

use super::container::{Container, Tensor, Values};
use super::fault::Fault;
use super::header::RoundingHeader;

const PARTS: [&str; 4] = ["steps", "far-cells", "far-values", "zeros"];

/// Adds the arrays of a view, those that are not empty.
pub(super) fn push_rounding<'a>(tensors: &mut Vec<Tensor<'a>>, view: &str, of: &'a Rounding) {
    let (steps, far, zeros) = of.parts();
    let cells: Vec<f64> = far.iter().map(|f| f.0 as f64).collect();
    let values: Vec<f64> = far.iter().map(|f| f.1).collect();
    let parts = [
        (steps.len(), Values::Bytes(vec![steps.len()], steps.into())),
        (far.len(), Values::Vector(cells.into())),
        (far.len(), Values::Vector(values.into())),
        (zeros.len(), Values::Vector(zeros.into())),
    ];
    for (name, (_, values)) in PARTS.iter().zip(parts).filter(|(_, part)| part.0 > 0) {
        tensors.push(Tensor::new(format!("{name}/{view}"), values));
    }
}

/// That of a view in working units.
pub(super) fn take_rounding(
    view: &View,
    header: RoundingHeader,
    file: &mut Container<'_>,
) -> Result<Rounding, Fault> {
    let [steps_at, cells_at, values_at, zeros_at] = PARTS.map(|p| format!("{p}/{}", view.name()));
    let steps = if header.steps > 0 {
        file.take(&steps_at)?.byte_string(&steps_at)?.to_vec()
    } else {
        Vec::new()
    };
    if RoundingHeader::sum(&steps) != header.steps {
        return Err(Fault::values(
            &steps_at,
            "does not add up to what was promised",
        ));
    }
    let mut numbers = |name: &str, len: usize| -> Result<Vec<f64>, Fault> {
        if len == 0 {
            return Ok(Vec::new());
        }
        file.take(name)?.numbers(name, &[len])
    };
    let cells = numbers(&cells_at, header.far)?;
    let values = numbers(&values_at, header.far)?;
    let zeros = numbers(&zeros_at, if header.zeros { view.n_features() } else { 0 })?;
    let whole = |x: &f64| *x >= 0.0 && *x < 1e15 && x.fract() == 0.0;
    if !cells.iter().all(whole) {
        return Err(Fault::values(&cells_at, "holds a value that is no place"));
    }
    let far = cells.into_iter().map(|x| x as usize).zip(values).collect();
    Rounding::from_parts(view, steps, far, zeros)
        .ok_or_else(|| Fault::values(&steps_at, "does not fit the data"))
}
