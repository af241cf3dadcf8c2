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
    /// R² of the hidden cells of ranks, which have no density.
    R2 {
        /// Hidden cells of a repeat that are counted.
        cells: f64,
    },
}

impl Measure {
    /// Whether a mean shortfall is none whatever its error: less than one nat over all cells of
    /// a repeat, and of $R^2$ less than half a per cent of the variance. That is a convention, not
    /// derived: fits of the same ranks that stopped a little earlier or later differed by up to so much
    /// in the one data set where it was looked at, and smaller gains are nothing to choose a
    /// number of factors by.
    fn is_rounding(self, shortfall: f64) -> bool {
        match self {
            Self::Density { cells } => shortfall * cells < 1.0,
            Self::R2 { .. } => shortfall < 5e-3,
        }
    }
    fn cells(self) -> f64 {
        match self {
            Self::Density { cells } | Self::R2 { cells } => cells,
        }
    }
    fn words(self, value: f64) -> String {
        match self {
            Self::Density { .. } => format!("robust density {value:.4} nats a cell"),
            Self::R2 { .. } => format!("R2 {value:.4}; ranks have no density"),
        }
    }
}

/// One measure of the hidden cells, by number of factors.
#[derive(Clone, Copy, Debug)]
pub(in crate::verbs) struct Judge<'a> {
    /// What is measured.
    pub(in crate::verbs) measure: Measure,
    /// By number of factors, by repeat.
    pub(in crate::verbs) scores: &'a [Vec<f64>],
    /// By number of factors; none where cells have no say.
    pub(in crate::verbs) singles: &'a [Singles],
}

/// How far a number of factors falls short of the best.
#[derive(Clone, Copy, Debug)]
struct Shortfall {
    mean: f64,
    /// The larger of the standard errors over repeats and over cells; 0 where neither is
    /// known.
    error: f64,
    /// Whether one of them is.
    known: bool,
    /// Whether that over repeats is.
    repeated: bool,
}

impl Judge<'_> {
    /// The mean of a number of factors over the repeats.
    fn value(&self, i: usize) -> f64 {
        mean_and_error(&self.scores[i]).0
    }
    /// The number of factors with the largest mean, the first of equal ones.
    fn best(&self) -> usize {
        let all: Vec<(f64, usize)> = (0..self.scores.len()).map(|i| (self.value(i), i)).collect();
        best(&all).1
    }
    fn shortfall(&self, i: usize) -> Shortfall {
        let best = self.best();
        let differences: Vec<f64> = self.scores[best]
            .iter()
            .zip(&self.scores[i])
            .map(|(b, x)| b - x)
            .collect();
        let (mean, error) = mean_and_error(&differences);
        let of_cells = match (self.singles.get(best), self.singles.get(i)) {
            (Some(b), Some(x)) => b.error(x),
            _ => f64::NAN,
        };
        Shortfall {
            mean,
            // what is not known, `NaN`, counts for nothing
            error: 0.0_f64.max(error).max(of_cells),
            known: !(error.is_nan() && of_cells.is_nan()),
            repeated: !error.is_nan(),
        }
    }
    /// Whether a number is as good as the best, as far as anybody can tell.
    fn passes(&self, i: usize) -> bool {
        let s = self.shortfall(i);
        i == self.best() || s.mean <= s.error || self.measure.is_rounding(s.mean)
    }
    /// Whether no table shows a difference from the best.
    fn ties(&self, i: usize) -> bool {
        i == self.best() || self.shortfall(i).mean.abs() < SHOWN
    }
    /// By how much a number that passes falls short.
    fn margin(&self, i: usize) -> String {
        let s = self.shortfall(i);
        match self.measure {
            _ if s.mean <= s.error => format!(
                "no more than one standard error of the difference ({:.4}, standard error {:.4})",
                s.mean, s.error
            ),
            Measure::Density { cells } => format!(
                "less than one nat over the {cells:.0} hidden cells of a repeat that have a density \
                 ({:.1e} a cell)",
                s.mean
            ),
            Measure::R2 { .. } => {
                format!("less than half a per cent of the variance ({:.4})", s.mean)
            }
        }
    }
    /// By how much every smaller number than the best falls short.
    fn above(&self, best: usize) -> &'static str {
        if (0..best).all(|i| self.shortfall(i).repeated) {
            "by more than one standard error of the difference"
        } else if (0..best).all(|i| self.shortfall(i).known) {
            "by more than one standard error of the difference over the hidden cells of the one repeat (several would \
             tell what another choice of cells and another start do)"
        } else {
            "(one repeat has no standard error: more of them would tell what chance does)"
        }
    }
}

/// The one-standard-error rule on paired differences, and its words. Of one judge the
/// smallest number that it passes; of two the smallest that both pass, or, where they
/// contradict one another, that the judge of more cells passes.
pub(in crate::verbs) fn recommend(rows: &[ChooseKRow], judges: &[Judge<'_>]) -> (usize, String) {
    let (chosen, mut reason) = match judges {
        [one] => by_one(rows, one),
        [one, two] => by_two(rows, one, two),
        _ => (0, String::from("nothing was measured")),
    };
    let row = &rows[chosen];
    if let [one] = judges {
        reason.push_str(&others(rows, &rows[one.best()], one.measure));
    }
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

fn by_one(rows: &[ChooseKRow], judge: &Judge<'_>) -> (usize, String) {
    let best = judge.best();
    let chosen = (0..best).find(|&i| judge.passes(i)).unwrap_or(best);
    let row = &rows[chosen];
    let tied: Vec<String> = (0..rows.len())
        .filter(|&i| judge.ties(i))
        .map(|i| rows[i].factors.to_string())
        .collect();
    let ties = tied.len() > 1 && judge.ties(chosen);
    let words = judge.measure.words(judge.value(best));
    let mut reason = if ties {
        let (last, before) = tied.split_last().unwrap_or((&tied[0], &[]));
        format!(
            "hidden cells are predicted alike with {} and {last} factors ({words})",
            before.join(", "),
        )
    } else {
        format!(
            "hidden cells are predicted best with {} ({words})",
            factors(rows[best].factors)
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
            ", and every smaller number falls short of it {}",
            judge.above(best)
        )
    } else {
        write!(
            reason,
            "; {} is the smallest number that falls short of it by {}",
            row.factors,
            judge.margin(chosen)
        )
    };
    (chosen, reason)
}

fn by_two(rows: &[ChooseKRow], density: &Judge<'_>, r2: &Judge<'_>) -> (usize, String) {
    let mut reason = format!(
        "two things decide: the {:.0} hidden cells of a repeat that have a density are predicted best \
         with {} (robust density {:.4} nats a cell), the {:.0} of ranks, which have none, with {} \
         (R2 {:.4})",
        density.measure.cells(),
        factors(rows[density.best()].factors),
        density.value(density.best()),
        r2.measure.cells(),
        factors(rows[r2.best()].factors),
        r2.value(r2.best()),
    );
    let both = (0..rows.len()).find(|&i| density.passes(i) && r2.passes(i));
    let chosen = if let Some(chosen) = both {
        let _ = if rows.len() == 1 {
            write!(reason, "; it is the only number that was tried")
        } else if chosen == density.best() && chosen == r2.best() {
            write!(
                reason,
                ", and every smaller number falls short in one of them"
            )
        } else {
            let of = |judge: &Judge<'_>| {
                if chosen == judge.best() {
                    "is the best".to_owned()
                } else {
                    format!("falls short by {}", judge.margin(chosen))
                }
            };
            write!(
                reason,
                "; {} is the smallest number that will do for both: its density {}, its R2 {}",
                rows[chosen].factors,
                of(density),
                of(r2)
            )
        };
        chosen
    } else {
        let (judge, name) = if density.measure.cells() > r2.measure.cells() {
            (density, "the density")
        } else {
            (r2, "R2")
        };
        let chosen = (0..rows.len()).find(|&i| judge.passes(i));
        let chosen = chosen.unwrap_or_else(|| judge.best());
        let _ = write!(
            reason,
            "; no number will do for both, and {name} has more cells: {} is the smallest number that \
             will do for it",
            rows[chosen].factors
        );
        chosen
    };
    (chosen, reason)
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
        Measure::R2 { .. } => at("the bound", |r| r.bound).into_iter().collect(),
    };
    if found.is_empty() {
        String::new()
    } else {
        format!("; best elsewhere: {}", found.join(", "))
    }
}
