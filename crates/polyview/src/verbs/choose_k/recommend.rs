//! Which number of factors is recommended, and why.

use std::fmt::Write as _;

use super::ChooseKRow;
use crate::verbs::compare::thinned;

/// Bound and factors of the fit of the largest bound; of the first where there
/// are no bounds.
pub(in crate::verbs) fn best(ends: &[(f64, usize)]) -> (f64, usize) {
    let mut out = ends.first().copied().unwrap_or((f64::NAN, 0));
    for end in ends {
        if end.0 > out.0 || (out.0.is_nan() && !end.0.is_nan()) {
            out = *end;
        }
    }
    out
}

/// Mean and its standard error; the latter `NaN` for one value.
pub(in crate::verbs) fn mean_and_error(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|v| (v - mean).powi(2)).sum();
    let error = if x.len() > 1 {
        (squares / (n - 1.0) / n).sqrt()
    } else {
        f64::NAN
    };
    (mean, error)
}

/// Differences of scores below this one are in no table.
const SHOWN: f64 = 5e-5;

/// A number of factors, in words.
fn factors(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} factor{plural}")
}

/// Most cells of a repeat from which a standard error is taken.
const SINGLES: usize = 20_000;

/// Robust log densities of single cells, over the repeats.
#[derive(Clone, Debug, Default)]
pub(in crate::verbs) struct Singles {
    /// Those kept.
    kept: Vec<f64>,
    /// How many there were.
    of: usize,
}

impl Singles {
    /// Adds the cells of a repeat.
    pub(in crate::verbs) fn add(&mut self, cells: &[f64]) {
        self.of += cells.len();
        self.kept.extend(thinned(cells, SINGLES));
    }
    /// Standard error of the mean difference of all cells.
    fn error(&self, other: &Self) -> f64 {
        let differences = self.kept.iter().zip(&other.kept);
        let differences: Vec<f64> = differences.map(|(a, b)| a - b).collect();
        let (_, error) = mean_and_error(&differences);
        error * (self.kept.len() as f64 / self.of as f64).sqrt()
    }
}

/// What numbers of factors are compared by; more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::verbs) enum Measure {
    /// Mean robust log density of a hidden cell.
    Density {
        /// Hidden cells of a repeat that have one.
        cells: f64,
    },
    /// R² of the hidden cells.
    R2,
}

impl Measure {
    /// The measure of one number of factors.
    fn of(self, row: &ChooseKRow) -> f64 {
        match self {
            Self::Density { .. } => row.robust_density,
            Self::R2 => row.r2,
        }
    }
    /// Whether a mean shortfall is none whatever its error.
    fn is_rounding(self, shortfall: f64) -> bool {
        match self {
            Self::Density { cells } => shortfall * cells < 1.0,
            Self::R2 => shortfall < 1e-6,
        }
    }
    fn words(self, row: &ChooseKRow) -> String {
        match self {
            Self::Density { .. } => {
                format!("robust density {:.4} nats a cell", row.robust_density)
            }
            Self::R2 => format!("R2 {:.4}; ranks have no density", row.r2),
        }
    }
}

/// The one-standard-error rule on paired differences, and its words; `scores`
/// by candidate and repeat, `singles` by candidate where there are cells.
pub(in crate::verbs) fn recommend(
    rows: &[ChooseKRow],
    (scores, singles): (&[Vec<f64>], &[Singles]),
    measure: Measure,
) -> (usize, String) {
    let (_, best) = best(
        &(rows.iter().enumerate())
            .map(|(i, row)| (measure.of(row), i))
            .collect::<Vec<_>>(),
    );
    let shortfall = |i: usize| -> (f64, f64) {
        let differences: Vec<f64> = scores[best]
            .iter()
            .zip(&scores[i])
            .map(|(b, x)| b - x)
            .collect();
        let (mean, error) = mean_and_error(&differences);
        let of_cells = match (singles.get(best), singles.get(i)) {
            (Some(b), Some(x)) => b.error(x),
            _ => f64::NAN,
        };
        // what is not known, `NaN`, counts for nothing
        (mean, 0.0_f64.max(error).max(of_cells))
    };
    let chosen = (0..best)
        .find(|&i| {
            let (mean, error) = shortfall(i);
            mean <= error || measure.is_rounding(mean)
        })
        .unwrap_or(best);
    let (row, top) = (&rows[chosen], &rows[best]);
    let tied: Vec<String> = (0..rows.len())
        .filter(|&i| i == best || shortfall(i).0.abs() < SHOWN)
        .map(|i| rows[i].factors.to_string())
        .collect();
    let ties = tied.len() > 1 && (chosen == best || shortfall(chosen).0.abs() < SHOWN);
    let mut reason = if ties {
        let (last, before) = tied.split_last().unwrap_or((&tied[0], &[]));
        format!(
            "hidden cells are predicted alike with {} and {last} factors ({})",
            before.join(", "),
            measure.words(top)
        )
    } else {
        format!(
            "hidden cells are predicted best with {} ({})",
            factors(top.factors),
            measure.words(top)
        )
    };
    let _ = if rows.len() == 1 {
        write!(reason, "; it is the only number that was tried")
    } else if ties {
        write!(reason, ": {} is the smallest of these numbers", row.factors)
    } else if best == 0 {
        write!(reason, ", the smallest number that was tried")
    } else if chosen == best {
        write!(
            reason,
            ", and every smaller number falls short of it by more than one standard error of the \
             difference"
        )
    } else {
        let (mean, error) = shortfall(chosen);
        let margin = match measure {
            _ if mean <= error => {
                format!(
                    "no more than one standard error of the difference ({mean:.4}, standard error \
                     {error:.4})"
                )
            }
            Measure::Density { .. } => {
                format!("less than one nat over all hidden cells ({mean:.1e} a cell)")
            }
            Measure::R2 => "nothing but rounding".to_owned(),
        };
        write!(
            reason,
            "; {} is the smallest number that falls short of it by {margin}",
            row.factors
        )
    };
    reason.push_str(&others(rows, top, measure));
    if row.kept < row.factors as f64 {
        let _ = write!(
            reason,
            "; of its {} the fit of all data keeps {}",
            factors(row.factors),
            row.kept
        );
    }
    if chosen + 1 == rows.len() && rows.len() > 1 && row.kept >= row.factors as f64 {
        reason.push_str(
            "; it is the largest number that was tried and none of its factors was removed: try \
             larger ones",
        );
    }
    if row.stability < 0.8 {
        let _ = write!(
            reason,
            "; starts agree only to {:.2} (1 = the same factors every time): do not read much \
             into single factors",
            row.stability
        );
    }
    reason.push('.');
    (row.factors, reason)
}

/// Where the other criteria are best, if elsewhere.
fn others(rows: &[ChooseKRow], top: &ChooseKRow, measure: Measure) -> String {
    let at = |name: &str, of: fn(&ChooseKRow) -> f64| {
        let known = (rows.iter()).filter(|r| of(r).is_finite());
        let best = known.max_by(|a, b| of(a).total_cmp(&of(b)))?;
        // differences that no table shows are none
        let same = of(best) - of(top) < 5e-5 * of(top).abs().max(1.0);
        (!same).then(|| format!("{name} with {}", best.factors))
    };
    let found: Vec<String> = match measure {
        Measure::Density { .. } => [
            at(
                "the plain log density, which a few cells far off can decide,",
                |r| r.log_density,
            ),
            at("R2", |r| r.r2),
            at("the bound", |r| r.bound),
        ]
        .into_iter()
        .flatten()
        .collect(),
        Measure::R2 => at("the bound", |r| r.bound).into_iter().collect(),
    };
    if found.is_empty() {
        String::new()
    } else {
        format!("; best elsewhere: {}", found.join(", "))
    }
}
