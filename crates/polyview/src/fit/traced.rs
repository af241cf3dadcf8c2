//! Quantities of a chain that mean the same under every sign, order and rotation
//! of the factors and every numbering of components: what convergence is judged
//! by.

use polyview_core::{Identified, Predictor, RowGroups, View, noise_precisions};
use polyview_infer::{Model, ViewPart};

/// Cells of a view whose linear predictor is followed.
const CELLS: usize = 16;

/// A quantity that is identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Components of the factors' prior that a sample belongs to.
    Occupied,
    /// Length of all weights of a view together.
    Weights(usize),
    /// Geometric mean of the noise precisions of a view, of all groups.
    Noise(usize),
    /// Geometric mean of the sizes of the counts of a view.
    Size(usize),
    /// The linear predictor at a cell: a score, where the data are labels.
    Predictor {
        /// The view.
        view: usize,
        /// The sample.
        sample: usize,
        /// The predicted column.
        column: usize,
    },
}

impl Quantity {
    /// What kind of quantity it is, and what it is.
    pub(super) fn named(self, model: &Model, views: &[View], samples: &[String]) -> [String; 2] {
        let of = |what: &str, view: usize| format!("{what}/{}", views[view].name());
        let kind = match self {
            Self::Occupied => "occupied components".to_owned(),
            Self::Weights(v) => of("length of the weights", v),
            Self::Noise(v) => of("noise precision", v),
            Self::Size(v) => of("size of counts", v),
            Self::Predictor { view, .. } => of(
                match model.views[view].term.domain() {
                    domain if domain.is_label() || domain.has_trials() => "score",
                    _ => "predictor",
                },
                view,
            ),
        };
        let Self::Predictor {
            view,
            sample,
            column,
        } = self
        else {
            return [kind.clone(), kind];
        };
        let view = &views[view];
        let columns = if view.levels().is_empty() {
            view.features()
        } else {
            view.levels()
        };
        let cell = format!("{kind} ({}, {})", samples[sample], columns[column]);
        [kind, cell]
    }
}

/// What is followed of a model; the same in every sweep.
pub(super) fn quantities(model: &Model) -> Vec<Quantity> {
    let mut out = Vec::new();
    if model.factors.shares().is_some() {
        out.push(Quantity::Occupied);
    }
    for (view, part) in model.views.iter().enumerate() {
        out.push(Quantity::Weights(view));
        if noise_precisions(part.term.as_ref())
            .iter()
            .any(|n| !n.is_empty())
        {
            out.push(Quantity::Noise(view));
        }
        if part.term.as_sizes().is_some() {
            out.push(Quantity::Size(view));
        }
        if part.term.domain().is_similarity() {
            // latent dimensions may turn from draw to draw
            continue;
        }
        let shape = part.term.shape();
        let (samples, columns) = (shape.samples, shape.predicted_columns());
        let count = CELLS.min(samples.saturating_mul(columns));
        let spread = |i: usize, all: usize| (2 * i + 1) * all / (2 * count);
        let mut cells: Vec<(usize, usize)> = (0..count)
            .map(|i| {
                let column = if columns < count {
                    i % columns
                } else {
                    spread(i, columns)
                };
                (spread(i, samples), column)
            })
            .collect();
        cells.sort_unstable();
        cells.dedup();
        out.extend(
            cells
                .into_iter()
                .map(|(sample, column)| Quantity::Predictor {
                    view,
                    sample,
                    column,
                }),
        );
    }
    out
}

/// The quantities under the model's current draw.
pub(super) fn values(model: &Model, quantities: &[Quantity]) -> Vec<f64> {
    let z = model.factors.seen().mean();
    let count = z.nrows().max(1) as f64;
    let centre: Vec<f64> = (0..z.ncols())
        .map(|k| z.col(k).iter().sum::<f64>() / count)
        .collect();
    let geometric = |logs: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = logs.fold((0.0, 0.0), |(s, c), x| (s + x, c + 1.0));
        f64::exp(sum / f64::max(count, 1.0))
    };
    let value = |q: &Quantity| match *q {
        Quantity::Occupied => model.factors.shares().map_or(0.0, |shares| {
            let of = |t: usize| shares.col_as_slice(t).iter().any(|s| *s > 0.5);
            (0..shares.ncols()).filter(|t| of(*t)).count() as f64
        }),
        Quantity::Weights(v) => {
            let w = model.views[v].weights.moments().mean();
            w.squared_norm_l2().sqrt()
        }
        Quantity::Noise(v) => {
            let all = noise_precisions(model.views[v].term.as_ref()).into_iter();
            geometric(&mut all.flat_map(|noise| noise.mean().iter().map(|x| x.ln())))
        }
        Quantity::Size(v) => {
            let term = &model.views[v].term;
            let groups = term.groups().map_or(1, RowGroups::count);
            let columns = term.shape().predicted_columns();
            term.as_sizes().map_or(0.0, |sizes| {
                let all = (0..groups).flat_map(|g| (0..columns).map(move |d| sizes.size(g, d)));
                geometric(&mut all.map(f64::ln))
            })
        }
        Quantity::Predictor {
            view,
            sample,
            column,
        } => predictor(model, &model.views[view], (sample, column), &centre),
    };
    quantities.iter().map(value).collect()
}

/// The linear predictor at a cell, as far as the data see it: about the mean of
/// the classes where a shift of all of them is none, about the mean of the samples
/// where only differences between these count, and of a sample's own component
/// where each has its own.
fn predictor(model: &Model, part: &ViewPart, cell: (usize, usize), centre: &[f64]) -> f64 {
    let (sample, column) = cell;
    let p = Predictor {
        factors: model.factors.seen(),
        weights: part.weights.seen(),
        bias: &part.bias,
    };
    let shape = part.term.shape();
    let columns = shape.predicted_columns();
    if let (Some(_), Some(shares)) = (shape.components, model.factors.shares()) {
        return (0..shares.ncols())
            .filter(|&t| shares[(sample, t)] != 0.0)
            .map(|t| shares[(sample, t)] * p.mean_cell(sample, t * columns + column))
            .sum();
    }
    let own = p.mean_cell(sample, column);
    match part.term.identified(column) {
        Identified::Whole => return own,
        Identified::BetweenColumns => {
            let all: f64 = (0..columns).map(|c| p.mean_cell(sample, c)).sum();
            return own - all / columns as f64;
        }
        Identified::BetweenSamples | Identified::Nothing => {}
    }
    let w = p.weights.mean();
    own - centre
        .iter()
        .enumerate()
        .map(|(k, z)| z * w[(column, k)])
        .sum::<f64>()
}
