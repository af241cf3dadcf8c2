//! Scores of predicted probabilities of a success.

use polyview_linalg::MatRef;
use polyview_special::ln_gamma;

use super::counts::binomial_unit;
use super::real::explained;
use super::{CountScore, CountTable, MetricError, same_length, within};

/// A cell whose numbers are known.
#[derive(Clone, Copy)]
struct Cell {
    successes: f64,
    trials: f64,
    probability: f64,
}

impl Cell {
    fn expected(&self) -> f64 {
        self.trials * self.probability
    }
    fn ln_density(&self) -> f64 {
        let (y, n, p) = (self.successes, self.trials, self.probability);
        let part = |count: f64, p: f64| if count > 0.0 { count * p.ln() } else { 0.0 };
        let ways = ln_gamma(n + 1.0) - ln_gamma(y + 1.0) - ln_gamma(n - y + 1.0);
        ways + part(y, p) + part(n - y, 1.0 - p)
    }
}

/// Scores probabilities of a success column by column: true numbers of successes out of
/// numbers of trials. Deviances and densities are those of binomial counts, and explained is the
/// share of the deviance from the column's own rate of successes; RMSE is of the successes.
/// Cells whose number of successes or trials is `NaN` are left out.
///
/// ```
/// use polyview::metrics::binomial_table;
/// use polyview_linalg::Mat;
///
/// # fn main() -> Result<(), polyview::metrics::MetricError> {
/// let successes = Mat::from_fn(2, 1, |n, _| [1.0, 9.0][n]);
/// let trials = Mat::from_fn(2, 1, |_, _| 10.0);
/// let right = Mat::from_fn(2, 1, |n, _| [0.1, 0.9][n]);
/// let found = binomial_table(successes.as_ref(), right.as_ref(), trials.as_ref())?;
/// assert!(found.all.deviance < Some(1e-9) && found.all.explained > Some(0.999));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`MetricError::LengthMismatch`]; [`MetricError::BadValue`] for more successes than trials, a
/// negative number, and a probability outside 0..1.
pub fn binomial_table(
    truth: MatRef<'_, f64>,
    probability: MatRef<'_, f64>,
    trials: MatRef<'_, f64>,
) -> Result<CountTable, MetricError> {
    for (what, m) in [("probabilities", probability), ("trials", trials)] {
        same_length(what, truth.nrows(), m.nrows())?;
        same_length(what, truth.ncols(), m.ncols())?;
    }
    let mut columns = Vec::with_capacity(truth.ncols());
    for d in 0..truth.ncols() {
        let mut cells = Vec::new();
        for n in 0..truth.nrows() {
            let at = (n, d);
            if truth[at].is_nan() || trials[at].is_nan() {
                continue;
            }
            let all = within("number of trials", trials[at], (0.0, f64::MAX), n, d)?;
            cells.push(Cell {
                successes: within("number of successes", truth[at], (0.0, all), n, d)?,
                trials: all,
                probability: within("probability", probability[at], (0.0, 1.0), n, d)?,
            });
        }
        columns.push(cells);
    }
    let null = |cells: &[Cell]| {
        let of = |f: fn(&Cell) -> f64| cells.iter().map(f).sum::<f64>();
        let rate = of(|c| c.successes) / of(|c| c.trials);
        let unit = |c: &Cell| binomial_unit(c.successes, c.trials, rate);
        cells.iter().filter(|c| c.trials > 0.0).map(unit).sum()
    };
    let density = |cells: &[Cell]| {
        let sum: f64 = cells.iter().map(Cell::ln_density).sum();
        (!cells.is_empty()).then(|| sum / cells.len() as f64)
    };
    let every: Vec<Cell> = columns.concat();
    Ok(CountTable {
        all: score(&every, columns.iter().map(|c| null(c)).sum()),
        densities: columns.iter().map(|c| density(c)).collect(),
        density: density(&every),
        columns: columns.iter().map(|c| score(c, null(c))).collect(),
    })
}

/// Scores of some cells, against what their columns' rates leave.
fn score(cells: &[Cell], null: f64) -> CountScore {
    let count = cells.len() as f64;
    let share = |sum: f64| (count > 0.0).then(|| sum / count);
    let unit = |c: &Cell| binomial_unit(c.successes, c.trials, c.probability);
    let own: f64 = cells.iter().map(unit).sum();
    let squares = cells.iter().map(|c| (c.successes - c.expected()).powi(2));
    CountScore {
        count: cells.len(),
        deviance: share(own),
        explained: explained(own, null).filter(|_| null > 1e-9),
        rmse: share(squares.sum()).map(f64::sqrt),
    }
}
