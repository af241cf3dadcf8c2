//! Held-out cells and what the laws of a fit say of them.

use std::ops::Range;

use polyview_core::{Ask, Domain, Law};
use polyview_linalg::Mat;

use super::laws::{Column, Laws};
use super::score::LEVEL;

/// One held-out cell.
#[derive(Default)]
pub(super) struct Cell {
    pub(super) sample: usize,
    pub(super) feature: usize,
    /// Working units.
    pub(super) value: f64,
    /// The same in data units, as it was given.
    pub(super) raw: f64,
    /// Of successes the number of trials.
    pub(super) trials: Option<f64>,
    /// What is predicted.
    pub(super) said: Said,
}

/// What is predicted of a held-out cell.
#[derive(Default)]
pub(super) struct Said {
    /// Mean, data units.
    pub(super) mean: f64,
    /// Ends of the interval, data units.
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Probabilities of no more, and of less, than the value.
    pub(super) most: f64,
    pub(super) less: f64,
    /// Log density of the value, data units, and one that no single cell decides.
    pub(super) ln_density: f64,
    pub(super) robust: f64,
    /// Of ranks the mean of the normal score.
    pub(super) score: f64,
    /// Of ordered levels the probabilities of each; else empty.
    pub(super) levels: Vec<f64>,
}

/// Least logarithm of a probability that counts for a single cell: one in a
/// million.
pub(super) const LEAST_LN: f64 = -13.8;
/// Probability of less than the lower end of an interval.
pub(super) const OUTSIDE: f64 = 0.5 * (1.0 - LEVEL);

/// The cells of a block of rows of a feature: they lie feature by feature, and by sample within them.
fn cells_of(cells: &[Cell], rows: &Range<usize>, feature: usize) -> Range<usize> {
    let at = |n: usize| cells.partition_point(|c| (c.feature, c.sample) < (feature, n));
    at(rows.start)..at(rows.end)
}

/// Log densities of cells, data units.
pub(super) fn ln_densities(laws: &Laws, cells: &[Cell]) -> Vec<f64> {
    let answers = laws.each(
        |rows, feature| !cells_of(cells, rows, feature).is_empty(),
        |c| {
            let range = cells_of(cells, &c.rows, c.feature);
            let mut x = vec![f64::NAN; c.rows.len()];
            for cell in &cells[range.clone()] {
                x[cell.sample - c.rows.start] = cell.value;
            }
            let mut found = vec![0.0; x.len()];
            c.law.inner().fill(Ask::LnDensity, c.at, &x, &mut found);
            let of = |cell: &Cell| {
                found[cell.sample - c.rows.start] + c.scaling.ln_slope(c.feature, cell.value)
            };
            (
                range.clone(),
                cells[range].iter().map(of).collect::<Vec<f64>>(),
            )
        },
    );
    let mut out = vec![f64::NAN; cells.len()];
    for (_, _, (range, found)) in answers {
        out[range].copy_from_slice(&found);
    }
    out
}

/// Says of each cell what is predicted.
pub(super) fn predict_cells(laws: &Laws, kind: Domain, cells: &mut [Cell]) {
    let of = |rows: &Range<usize>, feature: usize| cells_of(cells, rows, feature);
    let answers = laws.each(
        |rows, feature| !of(rows, feature).is_empty(),
        |c| {
            let range = of(&c.rows, c.feature);
            (range.clone(), said(c, kind, &cells[range]))
        },
    );
    for (_, _, (range, said)) in answers {
        for (cell, said) in cells[range].iter_mut().zip(said) {
            cell.said = said;
        }
    }
}

/// What is predicted of cells of a column.
fn said(c: &Column<'_>, kind: Domain, cells: &[Cell]) -> Vec<Said> {
    let place = |cell: &Cell| cell.sample - c.rows.start;
    // one number for each sample, of those that have a cell
    let column = |of: &dyn Fn(&Cell) -> f64| {
        let mut out = vec![f64::NAN; c.rows.len()];
        for cell in cells {
            out[place(cell)] = of(cell);
        }
        out
    };
    let working = c.law.inner();
    let ask = |ask: Ask, x: &[f64]| {
        let mut out = vec![0.0; c.rows.len()];
        working.fill(ask, c.at, x, &mut out);
        out
    };
    let value = column(&|cell| cell.value);
    let most = ask(Ask::Cdf, &value);
    let less = if kind.is_whole() {
        ask(Ask::Cdf, &column(&|cell| cell.value - 1.0))
    } else {
        most.clone()
    };
    let ln_density = ask(Ask::LnDensity, &value);
    let quantile = |p: f64| {
        let mut out = vec![f64::NAN; c.rows.len()];
        if !kind.is_label() {
            c.law.quantile(c.at, &column(&|_| p), &mut out);
        }
        out
    };
    let (lower, upper) = (quantile(OUTSIDE), quantile(1.0 - OUTSIDE));
    let zeros = || vec![0.0; c.rows.len()];
    let (mut mean, mut deviation) = (zeros(), zeros());
    c.law.moments(c.at, &mut mean, &mut deviation);
    let (mut centre, mut spread) = (zeros(), zeros());
    working.moments(c.at, &mut centre, &mut spread);
    let (mut score, mut variance) = (zeros(), zeros());
    if let Some(ranked) = c.law.as_ranked() {
        ranked.scores(c.at, &mut score, &mut variance);
    }
    let levels = c.levels(c.law.ordered());
    let said = |cell: &Cell| {
        let n = place(cell);
        let slope = c.scaling.ln_slope(c.feature, cell.value);
        let ln_density = ln_density[n] + slope;
        Said {
            mean: mean[n],
            lower: lower[n],
            upper: upper[n],
            most: most[n],
            less: less[n],
            ln_density,
            robust: if kind.is_real() {
                student(cell.value, centre[n], spread[n]) + slope
            } else {
                ln_density.max(LEAST_LN)
            },
            score: score[n],
            levels: levels.iter().map(|p| p[n]).collect(),
        }
    };
    cells.iter().map(said).collect()
}

/// Log density of a value under Student's law of four degrees of freedom about a
/// predictive mean. Its scale is such that, for normal values, the true standard
/// deviation has the largest mean of all: predictions that are too sure of
/// themselves lose by it as by the normal density, but a value far away costs the
/// logarithm of its distance and not the square.
fn student(value: f64, mean: f64, sd: f64) -> f64 {
    /// Where $\mathrm{E}\\,5z^2/(4c^2 + z^2) = 1$ for standard normal z.
    const SCALE: f64 = 0.831_003_493_777_786;
    let scale = SCALE * sd;
    let u = (value - mean) / scale;
    0.375_f64.ln() - scale.ln() - 2.5 * (0.25 * u * u).ln_1p()
}

/// The numbers of trials of the cells, where they have any; 1 for all others.
pub(super) fn trials_of(cells: &[Cell], samples: usize, features: usize) -> Option<Mat<f64>> {
    let mut known = cells.iter().filter_map(|c| Some((c, c.trials?))).peekable();
    known.peek()?;
    let mut out: Mat<f64> = Mat::full(samples, features, 1.0);
    for (c, trials) in known {
        out[(c.sample, c.feature)] = trials;
    }
    Some(out)
}
