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

/// What noise is estimated from where the file has none.
pub(super) struct Fitted<'a> {
    /// Data of the view, working units.
    pub data: Option<&'a View>,
    /// Samples × K.
    pub factors: &'a Mat<f64>,
    /// Features × K.
    pub weights: &'a Mat<f64>,
    /// One list a group, working units.
    pub intercepts: &'a [Vec<f64>],
}

/// Noise of a view, one list a group, and what was assumed for it.
pub(super) fn noise(
    file: &Reader,
    names: &Names,
    view: usize,
    fitted: &Fitted<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Vec<Noise>>> {
    let name = &names.views[view];
    let columns = fitted.weights.nrows();
    let groups = names.groups.len();
    if let Some(own) = saved(file, &format!("{OWN}/noise/{name}"), columns)? {
        return Ok(vec![own; groups]);
    }
    let by_group = format!("{OWN}/noise_by_group/{name}");
    if file.group(&by_group)?.is_some() {
        let of = |group: &String| {
            let place = format!("{by_group}/{group}");
            saved(file, &place, columns)?.needed(file, &place, IS_IT)
        };
        return names.groups.iter().map(of).collect();
    }
    let sums = if file.group(&format!("expectations/Tau/{name}"))?.is_some() {
        of_file(file, names, view, columns)?
    } else if let Some(data) = fitted.data {
        notes.push(format!(
            "view '{name}': the file does not say how noisy the features are; their noise is that \
             of the training data about factors times weights"
        ));
        of_data(names, data, fitted)
    } else {
        return Err(file.missing(
            "expectations/Tau",
            "without noise and without data nothing can be projected: save the model with its \
             data, or with expectations \"all\"",
        ));
    };
    // a feature that a group lacks has the noise of the other groups
    let mut all: Vec<Option<Noise>> = (0..columns)
        .map(|d| {
            sums.iter()
                .fold(Sum::default(), |s, g| s.plus(g[d]))
                .noise()
        })
        .collect();
    fill(&mut all, name, notes);
    let all = finish(file, name, all)?;
    let of = |group: &Vec<Sum>| {
        let own = group.iter().map(|s| s.noise());
        own.zip(&all).map(|(n, all)| n.unwrap_or(*all)).collect()
    };
    Ok(sums.iter().map(of).collect())
}

/// Cells of a feature and group, and the sum of their noise variances.
#[derive(Clone, Copy, Default)]
struct Sum {
    cells: f64,
    variance: f64,
    /// What the prior adds to the rate.
    prior: f64,
}

impl Sum {
    fn plus(self, other: Self) -> Self {
        Self {
            cells: self.cells + other.cells,
            variance: self.variance + other.variance,
            prior: self.prior.max(other.prior),
        }
    }
    fn noise(self) -> Option<Noise> {
        let shape = PRIOR + 0.5 * self.cells;
        let mean = if self.prior > 0.0 {
            shape / (self.prior + 0.5 * self.variance)
        } else {
            self.cells / self.variance
        };
        (self.cells > 0.0).then(|| Noise {
            shape: shape.max(SMALLEST),
            mean,
        })
    }
}

/// Noise in the group of this program.
fn saved(file: &Reader, place: &str, columns: usize) -> Result<Option<Vec<Noise>>> {
    let part = |name: &str| format!("{place}/{name}");
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
fn of_file(file: &Reader, names: &Names, view: usize, columns: usize) -> Result<Vec<Vec<Sum>>> {
    let mut out = Vec::with_capacity(names.groups.len());
    for (group, samples) in names.groups.iter().zip(&names.samples) {
        let place = format!("expectations/Tau/{}/{group}", names.views[view]);
        let tau = file
            .matrix(&place, Some([samples.len(), columns]))?
            .needed(file, &place, IS_IT)?;
        let mut sums = vec![Sum::default(); columns];
        for (d, sum) in sums.iter_mut().enumerate() {
            for t in tau.col_as_slice(d).iter().filter(|t| !t.is_nan()) {
                if *t <= 0.0 || t.is_infinite() {
                    return Err(file.values(&place, format!("holds the precision {t}")));
                }
                sum.cells += 1.0;
                sum.variance += 1.0 / t;
            }
        }
        out.push(sums);
    }
    Ok(out)
}

/// Squares of what factors, weights and each group's intercepts leave of the
/// data.
fn of_data(names: &Names, data: &View, fitted: &Fitted<'_>) -> Vec<Vec<Sum>> {
    let none = Sum {
        prior: PRIOR,
        ..Sum::default()
    };
    let columns = data.n_features();
    let mut out = vec![vec![none; columns]; names.groups.len()];
    for d in 0..columns {
        let eta = predictor(fitted.factors, fitted.weights, d);
        let mut first = 0;
        for (g, samples) in names.samples.iter().enumerate() {
            for n in first..first + samples.len() {
                if let Some(x) = data.value(n, d) {
                    out[g][d].cells += 1.0;
                    out[g][d].variance += (x - fitted.intercepts[g][d] - eta[n]).powi(2);
                }
            }
            first += samples.len();
        }
    }
    out
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
