//! Noise precisions of a Gaussian view of a MOFA2 file.

use polyview::Noise;
use polyview_core::View;
use polyview_linalg::Mat;

use super::OWN;
use super::intercepts::predictor;
use super::names::{IS_IT, Names};
use crate::error::Result;
use crate::file::{Needed, Reader};

/// Prior of MOFA2's noise precisions, shape and rate.
const PRIOR: f64 = 1e-3;
/// Smallest shape whose $\mathrm{E}[1/\tau]$ is of use.
const SMALLEST: f64 = 1.5;

/// Noise of a view, and what was assumed for it.
pub(super) fn noise(
    file: &Reader,
    names: &Names,
    view: usize,
    data: Option<&View>,
    factors: &Mat<f64>,
    weights: &Mat<f64>,
    notes: &mut Vec<String>,
) -> Result<Vec<Noise>> {
    let name = &names.views[view];
    let columns = weights.nrows();
    if let Some(own) = saved(file, name, columns)? {
        return Ok(own);
    }
    if file.group(&format!("expectations/Tau/{name}"))?.is_some() {
        let mut out = of_groups(file, names, view, columns)?;
        if names.groups.len() > 1 {
            notes.push(format!(
                "view '{name}': the noise of a feature is the same in every group, the mean of the \
                 groups' variances"
            ));
        }
        fill(&mut out, name, notes);
        return finish(file, name, out);
    }
    let Some(data) = data else {
        return Err(file.missing(
            "expectations/Tau",
            "without noise and without data nothing can be projected: save the model with its \
             data, or with expectations \"all\"",
        ));
    };
    notes.push(format!(
        "view '{name}': the file does not say how noisy the features are; their noise is that of \
         the training data about factors times weights"
    ));
    let mut out: Vec<Option<Noise>> = (0..columns)
        .map(|d| {
            let fitted = predictor(factors, weights, d);
            let (mut n, mut squares) = (0.0, 0.0);
            for (row, eta) in fitted.iter().enumerate() {
                if let Some(x) = data.value(row, d) {
                    n += 1.0;
                    squares += (x - eta).powi(2);
                }
            }
            let shape = PRIOR + 0.5 * n;
            (n > 0.0).then(|| Noise {
                shape: shape.max(SMALLEST),
                mean: shape / (PRIOR + 0.5 * squares),
            })
        })
        .collect();
    fill(&mut out, name, notes);
    finish(file, name, out)
}

/// Noise in the group of this program.
fn saved(file: &Reader, view: &str, columns: usize) -> Result<Option<Vec<Noise>>> {
    let part = |name: &str| format!("{OWN}/noise/{view}/{name}");
    let (Some(shape), Some(mean)) = (
        file.vector(&part("shape"), Some(columns))?,
        file.vector(&part("mean"), Some(columns))?,
    ) else {
        return Ok(None);
    };
    let pairs = shape.into_iter().zip(mean);
    Ok(Some(
        pairs.map(|(shape, mean)| Noise { shape, mean }).collect(),
    ))
}

/// `Tau`, one value a cell: those of a feature and group are equal, `NaN`
/// stands in missing cells. Over the groups, variances are averaged by cells.
fn of_groups(
    file: &Reader,
    names: &Names,
    view: usize,
    columns: usize,
) -> Result<Vec<Option<Noise>>> {
    let (mut cells, mut variance) = (vec![0.0; columns], vec![0.0; columns]);
    for (group, samples) in names.groups.iter().zip(&names.samples) {
        let place = format!("expectations/Tau/{}/{group}", names.views[view]);
        let tau = file
            .matrix(&place, Some([samples.len(), columns]))?
            .needed(file, &place, IS_IT)?;
        for d in 0..columns {
            for t in tau.col_as_slice(d).iter().filter(|t| !t.is_nan()) {
                if *t <= 0.0 || t.is_infinite() {
                    return Err(file.values(&place, format!("holds the precision {t}")));
                }
                cells[d] += 1.0;
                variance[d] += 1.0 / t;
            }
        }
    }
    Ok((0..columns)
        .map(|d| {
            (cells[d] > 0.0).then(|| Noise {
                shape: (PRIOR + 0.5 * cells[d]).max(SMALLEST),
                mean: cells[d] / variance[d],
            })
        })
        .collect())
}

/// Features that were never observed get the mean noise of the others.
fn fill(noise: &mut [Option<Noise>], view: &str, notes: &mut Vec<String>) {
    let known: Vec<f64> = noise.iter().flatten().map(|n| 1.0 / n.mean).collect();
    let without = noise.len() - known.len();
    if without == 0 || known.is_empty() {
        return;
    }
    let mean = known.len() as f64 / known.iter().sum::<f64>();
    for n in noise.iter_mut().filter(|n| n.is_none()) {
        *n = Some(Noise {
            shape: SMALLEST,
            mean,
        });
    }
    notes.push(format!(
        "view '{view}': {without} feature(s) without an observed cell have the mean noise of the \
         others"
    ));
}

fn finish(file: &Reader, view: &str, noise: Vec<Option<Noise>>) -> Result<Vec<Noise>> {
    noise
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| {
            file.values(
                &format!("data/{view}"),
                "holds no observed cell; save the model with its data",
            )
        })
}
