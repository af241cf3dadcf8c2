//! Shares of two ways, by what they say of held-out cells.

use std::fmt::Write;

use polyview_linalg::Mat;

use crate::verbs::choosing::{Gain, no_better};
use crate::verbs::held_out::Folds;

/// What is mixed, in the order of the shares.
pub(crate) const WAYS: [&str; 2] = ["joint fit", "regression on features"];
/// A way with a smaller share is left out.
const LEAST: f64 = 0.02;
/// Steps of the integrals over a share, an even number, and how far below its top, in nats, a density is nothing.
const STEPS: usize = 100;
const NOTHING: f64 = 40.0;
/// Halvings that find the top of a density and where it is nothing.
const HALVINGS: usize = 30;

/// What two ways say of held-out cells: their densities, the larger of each cell 1.
struct Pairs(Vec<[f64; 2]>);

impl Pairs {
    fn of(cells: &[[f64; 2]]) -> Self {
        let pair = |[a, b]: &[f64; 2]| {
            let most = a.max(*b);
            [(a - most).exp(), (b - most).exp()]
        };
        Self(cells.iter().map(pair).collect())
    }

    /// $\sum\_c\ln(w p\_{1c} + (1-w) p\_{2c})$, which is concave in w.
    fn value(&self, w: f64) -> f64 {
        self.0
            .iter()
            .map(|[a, b]| (w * a + (1.0 - w) * b).ln())
            .sum()
    }

    /// Its slope.
    fn slope(&self, w: f64) -> f64 {
        let of = |[a, b]: &[f64; 2]| (a - b) / (w * a + (1.0 - w) * b);
        self.0.iter().map(of).sum()
    }

    /// The shares of the ways: their means under all that the cells leave open, from any share being as likely as another.
    ///
    /// With $p(w)\propto\prod\_c(w p\_{1c} + (1-w) p\_{2c})$ the law of a new cell is $\int p(w)(w p\_1 + (1-w) p\_2)\,dw$, the mixture
    /// with the mean of w.
    fn shares(&self) -> [f64; 2] {
        let top = turn(0.0, 1.0, |w| self.slope(w) > 0.0);
        let most = self.value(top);
        let seen = |w: f64| self.value(w) > most - NOTHING;
        let (low, high) = (turn(0.0, top, |w| !seen(w)), turn(top, 1.0, seen));
        let (mut all, mut first) = (0.0, 0.0);
        // by Simpson's rule
        for step in 0..=STEPS {
            let weight = match step {
                0 | STEPS => 1.0,
                _ => 2.0 + 2.0 * (step % 2) as f64,
            };
            let w = low + (high - low) * step as f64 / STEPS as f64;
            let density = weight * (self.value(w) - most).exp();
            all += density;
            first += density * w;
        }
        let mean = first / all;
        [mean, 1.0 - mean]
    }
}

/// Shares of two ways whose log densities of cells these are: what has next to nothing is left out, and the other has all.
pub(super) fn shares_of(cells: &[[f64; 2]]) -> [f64; 2] {
    let found = Pairs::of(cells).shares();
    let kept: f64 = found.iter().filter(|s| **s >= LEAST).sum();
    found.map(|s| if s >= LEAST { s / kept } else { 0.0 })
}

/// Where what holds near `low` ends; an end of the interval where it holds nowhere or everywhere.
fn turn(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if holds(high) {
        return high;
    }
    if !holds(low) {
        return low;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Log density of a cell under a mixture.
fn mixed(cell: &[f64; 2], shares: [f64; 2]) -> f64 {
    let most = cell.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = (cell.iter().zip(shares))
        .map(|(ln, share)| share * (ln - most).exp())
        .sum();
    most + sum.ln()
}

/// What was found of a view that is mixed.
pub(super) struct Found {
    /// The shares of both ways, zero for one that is left out.
    pub(super) shares: [f64; 2],
    /// What was measured, in words.
    pub(super) said: String,
    /// What is to be said where neither the joint fit nor the mixture is better than means by more than a standard error.
    pub(super) no_better: Option<String>,
}

/// What is found of what the ways and `means` alone say of held-out cells, samples × features.
pub(super) fn found_of(
    held: [&Mat<f64>; 2],
    means: &Mat<f64>,
    usable: &[bool],
    folds: Folds,
) -> Option<Found> {
    let (mut cells, mut by_means) = (Vec::new(), Vec::new());
    for n in (0..held[0].nrows()).filter(|n| usable[*n]) {
        for d in 0..held[0].ncols() {
            let cell = held.map(|m| m[(n, d)]);
            // a cell that both ways rule out tells none apart; of a fold that was not taken there is but one way
            let told = cell.iter().any(|x| x.is_finite());
            if told && cell.iter().all(|x| !x.is_nan()) {
                cells.push(cell);
                by_means.push((n, means[(n, d)]));
            }
        }
    }
    if cells.is_empty() {
        return None;
    }
    let shares = shares_of(&cells);
    let mean =
        |of: &dyn Fn(&[f64; 2]) -> f64| cells.iter().map(of).sum::<f64>() / cells.len() as f64;
    let all = mean(&|cell| mixed(cell, shares));
    let each = [0, 1].map(|w| mean(&|cell| cell[w]));
    let mut said = format!(
        "predicted by a mixture, of which mean log densities of {} cells held out in {} are {all:.4}, nats (share): ",
        cells.len(),
        if folds.taken < folds.all {
            format!("{} of {} folds", folds.taken, folds.all)
        } else {
            format!("{} folds", folds.all)
        },
    );
    for (w, name) in WAYS.iter().enumerate() {
        let comma = if w > 0 { ", " } else { "" };
        let _ = write!(said, "{comma}{name} {:.4} ({:.2})", each[w], shares[w]);
    }
    let known = by_means.iter().map(|(_, x)| *x).filter(|x| !x.is_nan());
    let base = known.clone().sum::<f64>() / known.count() as f64;
    if base.is_finite() {
        let _ = write!(said, "; by means alone, without a feature, {base:.4}");
    }
    said.push_str("; shares are means of what these cells leave open, so that few cells leave something to both");
    if let Some(w) = [0, 1]
        .into_iter()
        .find(|w| shares[*w] > 0.0 && each[*w] > all)
    {
        let _ = write!(said, ", though the {} alone says more of these", WAYS[w]);
    }
    let over_means = |of: &dyn Fn(&[f64; 2]) -> f64| {
        let cells = cells.iter().zip(&by_means);
        Gain::over(cells.map(|(cell, (n, base))| (*n, of(cell) - base)))
    };
    let ways = [
        ("of the joint fit", each[0], over_means(&|cell| cell[0])),
        (
            "of the mixture",
            all,
            over_means(&|cell| mixed(cell, shares)),
        ),
    ];
    let no_better = no_better(&ways, base);
    Some(Found {
        shares,
        said,
        no_better,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{FOLDS, folds_of};
    use super::*;

    /// Log densities of cells by two ways.
    fn cells(count: usize, of: impl Fn(usize) -> [f64; 2]) -> Vec<[f64; 2]> {
        (0..count).map(of).collect()
    }

    fn shares(cells: &[[f64; 2]]) -> [f64; 2] {
        Pairs::of(cells).shares()
    }

    #[test]
    fn one_way_that_knows_all_has_nearly_all() {
        let told = |_: usize| [0.5f64.ln(), 0.99f64.ln()];
        let many = shares(&cells(500, told));
        assert!(many[1] > 0.98, "{many:?}");
        assert!((many.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // a handful of cells leaves much to the other, and none decides nothing
        let few = shares(&cells(3, told));
        assert!(few[1] < 0.7 && few[1] > few[0], "{few:?}");
        assert!((shares(&[])[0] - 0.5).abs() < 1e-12);
        // nor does a way that rules nothing out win by one cell that the other rules out
        let sure = |n: usize| [if n == 0 { -700.0 } else { -0.01 }, -0.7];
        let both = shares(&cells(200, sure));
        assert!(both[0] > 0.9 && mixed(&sure(1), both) > -0.1, "{both:?}");
    }

    /// Ways that rule out what the other says have the share a + 1 of a + b + 2 (Laplace's rule of succession).
    #[test]
    fn shares_are_means_of_what_cells_leave_open() {
        for (a, b) in [(0, 1), (3, 0), (7, 2), (40, 60), (90_000, 10_000)] {
            let own = |n: usize| {
                if n < a {
                    [-0.3, f64::NEG_INFINITY]
                } else {
                    [f64::NEG_INFINITY, -2.0]
                }
            };
            let found = shares(&cells(a + b, own));
            let exact = (a + 1) as f64 / (a + b + 2) as f64;
            assert!(
                (found[0] - exact).abs() < 1e-6,
                "{a} {b}: {found:?} {exact}"
            );
        }
    }

    /// What is found where means alone say nothing of use.
    fn found(held: [&Mat<f64>; 2], usable: &[bool]) -> Option<Found> {
        let means = Mat::full(usable.len(), 1, -3.0);
        found_of(held, &means, usable, folds_of(usable.len()))
    }

    #[test]
    fn one_fold_is_enough_where_it_has_a_thousand_samples() {
        let taken = [2999, 3000].map(|samples| folds_of(samples).taken);
        assert_eq!(taken, [FOLDS, 1]);
        // cells of the others are those of one way alone
        let of = |x: f64, known: usize| {
            Mat::from_fn(3000, 1, |n, _| if n < known { x.ln() } else { f64::NAN })
        };
        let (joint, regression) = (of(0.9, 1000), of(0.3, 3000));
        let held = [&joint, &regression];
        let Found { shares, said, .. } = found(held, &[true; 3000]).expect("shares");
        assert_eq!(shares, [1.0, 0.0], "{said}");
        assert!(
            said.contains("1000 cells held out in 1 of 3 folds"),
            "{said}"
        );
    }

    #[test]
    fn ways_with_next_to_nothing_are_left_out() {
        let of = |x: f64| Mat::full(400, 1, x.ln());
        let (bad, good) = (of(0.3), of(0.9));
        let held = [&bad, &good];
        let Found { shares, said, .. } = found(held, &[true; 400]).expect("shares");
        assert_eq!(shares, [0.0, 1.0], "{said}");
        assert!(
            said.contains("400 cells") && said.contains("regression on features"),
            "{said}"
        );
        // cells of samples that lack something do not count
        let mut usable = [true; 400];
        usable[0] = false;
        let Found { said, .. } = found(held, &usable).expect("shares");
        assert!(said.contains("399 cells held out in 3 folds"), "{said}");
        assert!(found(held, &[false; 400]).is_none());
    }

    /// What no way foresees better than means do is said to be chance, and a way that is better than the mixture is named.
    #[test]
    fn means_alone_are_what_ways_are_held_against() {
        let wave = |n: usize| if n.is_multiple_of(2) { 0.3 } else { -0.3 };
        let of = |level: f64| Mat::from_fn(60, 1, |n, _| level + wave(n));
        let means = Mat::full(60, 1, -0.7);
        let told = |joint: f64, regression: f64| {
            let (joint, regression) = (of(joint), of(regression));
            found_of([&joint, &regression], &means, &[true; 60], folds_of(60)).expect("shares")
        };
        // the standard error is 0.039
        let chance = told(-0.72, -0.69);
        let said = chance.no_better.expect("a warning");
        assert!(
            said.contains("-0.7200 of the joint fit") && said.contains("against -0.7000"),
            "{said}"
        );
        assert!(
            chance
                .said
                .contains("means alone, without a feature, -0.7000")
                && chance
                    .said
                    .ends_with("though the regression on features alone says more of these"),
            "{}",
            chance.said
        );
        for (joint, regression) in [(-0.6, -0.9), (-0.9, -0.6)] {
            assert_eq!(told(joint, regression).no_better, None);
        }
        // of cells of which means say nothing there is nothing to hold against
        let nothing = Mat::full(60, 1, f64::NAN);
        let way = of(-0.7);
        let found = found_of([&way, &way], &nothing, &[true; 60], folds_of(60)).expect("shares");
        assert!(
            found.no_better.is_none() && !found.said.contains("means alone"),
            "{}",
            found.said
        );
    }
}
