//! Order and signs of the factors (docs/decisions/0003-start-and-order.md).

use polyview_infer::Model;

use crate::error::Result;

/// Orders factors by the variance that they explain over all views, most
/// first, and signs each so that its largest weight is positive.
pub(super) fn order_factors(model: &mut Model) -> Result<()> {
    let (order, signs) = by_variance(model);
    model.select(&order, &signs)?;
    Ok(())
}

/// Factors by explained variance, most first, and their signs.
pub(super) fn by_variance(model: &Model) -> (Vec<usize>, Vec<f64>) {
    let k = model.k();
    let z = model.factors.moments().mean();
    let spread: Vec<f64> = (0..k)
        .map(|j| (0..z.nrows()).map(|n| z[(n, j)].powi(2)).sum::<f64>() / z.nrows().max(1) as f64)
        .collect();
    let mut explained = vec![0.0; k];
    let mut peak = vec![0.0_f64; k];
    for view in &model.views {
        let w = view.weights.moments().mean();
        for j in 0..k {
            for d in 0..w.nrows() {
                let x = w[(d, j)];
                explained[j] += spread[j] * x * x / w.nrows() as f64;
                if x.abs() > peak[j].abs() {
                    peak[j] = x;
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| explained[b].total_cmp(&explained[a]));
    let signs = order
        .iter()
        .map(|&j| if peak[j] < 0.0 { -1.0 } else { 1.0 })
        .collect();
    (order, signs)
}
