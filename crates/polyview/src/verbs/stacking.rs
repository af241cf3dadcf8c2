//! Views that are predicted by a mixture of two laws, with the shares that predict held out samples best.

use std::fmt::Write;

use polyview_core::{Event, View};
use polyview_linalg::Mat;

use super::held_out::Folds;
use super::regressed::{Regressed, Scores, place as regression};
use super::settle::Watch;
use crate::error::Result;
use crate::fit::Fit;
use crate::spec::Settle;

/// What is mixed, in the order of the shares.
pub(crate) const WAYS: [&str; 2] = ["joint fit", "regression on features"];
/// A way with a smaller share is left out.
const LEAST: f64 = 0.02;
/// Folds, whose joint fits are what finding shares costs.
const FOLDS: usize = 3;
/// So many samples tell ways apart: where one fold holds out as many, its joint fit is the only one. Two ways whose densities of
/// a sample differ with a standard deviation of one nat are known to .03 nats then, and shares are flatter than that.
const ENOUGH: usize = 1000;
/// Steps of the integrals over a share, an even number, and how far below its top, in nats, a density is nothing.
const STEPS: usize = 100;
const NOTHING: f64 = 40.0;
/// Halvings that find the top of a density and where it is nothing.
const HALVINGS: usize = 30;

/// Where the state has the shares of a view.
pub(crate) fn place(target: &str) -> String {
    format!("mixture/{target}")
}

/// A way to predict a view.
pub(super) enum Way {
    /// By the joint fit.
    Joint,
    /// By what it was settled on, if it was.
    Settled,
    /// By these linear predictors, and variances of numbers about them.
    Regressed(Scores, Vec<f64>),
}

/// A way and its share of each sample.
pub(super) type Told = (Way, Vec<f64>);

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

/// Mean log density of cells under a mixture.
fn mixed(cells: &[[f64; 2]], shares: [f64; 2]) -> f64 {
    let of = |cell: &[f64; 2]| {
        let most = cell.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = (cell.iter().zip(shares))
            .map(|(ln, share)| share * (ln - most).exp())
            .sum();
        most + sum.ln()
    };
    cells.iter().map(of).sum::<f64>() / cells.len().max(1) as f64
}

/// Folds, where the scarcest of the views that are mixed has so many samples.
fn folds_of(samples: usize) -> Folds {
    let taken = if samples / FOLDS >= ENOUGH { 1 } else { FOLDS };
    Folds { all: FOLDS, taken }
}

/// The shares of both ways, zero for one that is left out, and what was measured, in words.
fn shares_of(held: [&Mat<f64>; 2], usable: &[bool], folds: Folds) -> Option<([f64; 2], String)> {
    let mut cells = Vec::new();
    for n in (0..held[0].nrows()).filter(|n| usable[*n]) {
        for d in 0..held[0].ncols() {
            let cell = held.map(|m| m[(n, d)]);
            // a cell that both ways rule out tells none apart; of a fold that was not taken there is but one way
            let told = cell.iter().any(|x| x.is_finite());
            if told && cell.iter().all(|x| !x.is_nan()) {
                cells.push(cell);
            }
        }
    }
    if cells.is_empty() {
        return None;
    }
    let found = Pairs::of(&cells).shares();
    // what has next to nothing is left out, and the other has all
    let kept: f64 = found.iter().filter(|s| **s >= LEAST).sum();
    let of = |w: usize| {
        if found[w] >= LEAST {
            found[w] / kept
        } else {
            0.0
        }
    };
    let out = [of(0), of(1)];
    let mut said = format!(
        "predicted by a mixture, of which mean log densities of {} cells held out in {} are {:.4}, nats (share): ",
        cells.len(),
        if folds.taken < folds.all {
            format!("{} of {} folds", folds.taken, folds.all)
        } else {
            format!("{} folds", folds.all)
        },
        mixed(&cells, out)
    );
    for (w, name) in WAYS.iter().enumerate() {
        let own = cells.iter().map(|cell| cell[w]).sum::<f64>() / cells.len() as f64;
        let comma = if w > 0 { ", " } else { "" };
        let _ = write!(said, "{comma}{name} {own:.4} ({:.2})", out[w]);
    }
    said.push_str("; shares are means of what these cells leave open, so that few cells leave something to both");
    Some((out, said))
}

impl Fit {
    /// Finds how views are mixed that are to be ([`Settle::is_mixture`]); false where `watch` ended it. Where it cannot be told
    /// they are predicted by the joint fit, and the journal says so.
    pub(super) fn mix_ways(&mut self, watch: Watch<'_>) -> Result<bool> {
        let has = |v: &usize, of: fn(Settle) -> bool| self.views[*v].choices.settle.is_some_and(of);
        // what is settled in other ways is a target as well, of which new samples know nothing
        let targets: Vec<usize> = (0..self.views.len())
            .filter(|v| has(v, Settle::settles))
            .collect();
        let mixed: Vec<usize> = (targets.iter().copied())
            .filter(|v| has(v, Settle::is_mixture))
            .collect();
        let mut open = Vec::new();
        for &v in &mixed {
            match self.never_regressed(v, &targets)? {
                Some(why) => self.not_mixed(v, &format!("no regression stands beside it: {why}")),
                None => open.push(v),
            }
        }
        if open.is_empty() {
            return Ok(true);
        }
        if self.knows_factors_by_pairs(&targets) {
            for &v in &open {
                let note =
                    "settled on factors and not mixed: factors of rank views have no law of data";
                let event = Event::Warning { note: note.into() };
                self.chosen(v, Settle::Factors, event);
            }
            return Ok(true);
        }
        let data = self.data()?;
        let count = |v: &usize| {
            let view = &data[*v];
            let cells = |n: &usize| view.mask().count_sample(*n, view.n_features()) > 0;
            (0..view.n_samples()).filter(cells).count()
        };
        let folds = folds_of(open.iter().map(count).min().unwrap_or(0));
        let held = match self.ways_held_out((&open, &targets), (&[Settle::Not], folds), watch)? {
            Ok(None) => return Ok(false),
            Ok(Some(held)) => held,
            Err(why) => {
                for &v in &open {
                    self.not_mixed(v, &format!("ways could not be mixed: {why}"));
                }
                return Ok(true);
            }
        };
        for (v, own) in targets.iter().zip(&held.densities) {
            if let Some(Some(joint)) = own.first()
                && open.contains(v)
            {
                self.mix(*v, &targets, (&held.fold_of, joint), folds)?;
            }
        }
        Ok(true)
    }

    /// Which views are no sources of the regression of a target, being targets as well; nothing where it is the only one.
    fn no_sources(&self, v: usize, targets: &[usize]) -> Option<String> {
        let others = targets.iter().filter(|u| **u != v);
        let others: Vec<&str> = others.map(|u| self.views[*u].name.as_str()).collect();
        match others.as_slice() {
            [] => None,
            [one] => Some(format!(
                "; '{one}', a target as well, is no source of the regression"
            )),
            all => Some(format!(
                "; '{}', targets as well, are no sources of the regression",
                all.join("', '")
            )),
        }
    }

    /// Says why a view is predicted by the joint fit.
    fn not_mixed(&mut self, v: usize, why: &str) {
        let note = format!("predicted by the joint fit alone: {why}");
        self.chosen(v, Settle::Not, Event::Data { note });
    }

    /// Finds the shares of one view, of which the joint fits of these folds say `joint`.
    fn mix(
        &mut self,
        v: usize,
        targets: &[usize],
        (fold_of, joint): (&[usize], &Mat<f64>),
        folds: Folds,
    ) -> Result<()> {
        let rows = self.samples.len();
        let data = self.data()?;
        let views: Vec<Option<View>> = (data.iter().enumerate())
            .map(|(u, view)| (!targets.contains(&u)).then(|| view.clone()))
            .collect();
        let (regressed, held) = self.regress((targets, &views), v, fold_of)?;
        let usable = regressed.serves(self, &views, rows);
        let Some((shares, mut note)) = shares_of([joint, &held], &usable, folds) else {
            self.not_mixed(v, "no sample has all of the other views");
            return Ok(());
        };
        let name = self.views[v].name.clone();
        if shares[1] > 0.0 {
            let mut state = std::mem::take(&mut self.settled);
            regressed.save(self, &name, &mut state);
            self.settled = state;
            note.extend(regressed.says_of_similar());
        }
        note.extend(self.no_sources(v, targets));
        self.settled.put_vec(&place(&name), &shares);
        let own = self.views[v].choices.settle.unwrap_or(Settle::Mixture);
        self.chosen(v, own, Event::Data { note });
        Ok(())
    }

    /// The shares of a view that is mixed, in the order of [`WAYS`].
    pub(crate) fn shares_of(&self, at: usize) -> Result<Option<[f64; 2]>> {
        let (name, reader) = (place(&self.views[at].name), self.settled.reader());
        if !reader.has(&name) {
            return Ok(None);
        }
        let found = reader.vec(&name)?;
        let of = |w: usize| found.get(w).copied().unwrap_or(0.0);
        Ok(Some([of(0), of(1)]))
    }

    /// How view `at` is predicted from other views, with the shares of each sample; a note says where
    /// samples lack a view that the regression of a mixture needs.
    pub(super) fn ways_of(
        &self,
        at: usize,
        views: &[Option<View>],
        samples: usize,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Told>> {
        let Some([joint, regression]) = self.shares_of(at)? else {
            return Ok(vec![(Way::Settled, vec![1.0; samples])]);
        };
        let regressed: Option<Regressed> = self.regressed(at)?;
        let Some(regressed) = regressed.filter(|_| regression > 0.0) else {
            return Ok(vec![(Way::Joint, vec![1.0; samples])]);
        };
        // without views that nothing fills in, and without any, there is the joint fit
        let knows = regressed.serves(self, views, samples);
        for filled in [true, false] {
            let (lacking, count) = regressed.lacking((self, filled), views, samples);
            let names = lacking.into_iter().map(|v| self.views[v].name.as_str());
            let names: Vec<&str> = names.collect();
            let (of, all) = match names.as_slice() {
                [] => continue,
                [one] => ("the view", format!("'{one}'")),
                all => ("one of the views", format!("'{}'", all.join("', '"))),
            };
            let so = if filled {
                "it takes what they lack to be what their factors say"
            } else {
                "they are predicted by the joint fit alone"
            };
            notes.push(format!(
                "view '{}': {count} of {samples} sample(s) lack {of} {all}, which the regression beside the joint fit \
                 was made on; {so}",
                self.views[at].name
            ));
        }
        let share = |own: f64, alone: f64| {
            let of = |knows: &bool| if *knows { own } else { alone };
            knows.iter().map(of).collect::<Vec<f64>>()
        };
        let known = regressed.scores(self, views, samples)?;
        let ways = [
            (Way::Joint, share(joint, 1.0)),
            (
                Way::Regressed(known, regressed.noise),
                share(regression, 0.0),
            ),
        ];
        let mut ways: Vec<Told> = ways.into_iter().filter(|(_, s)| has(s)).collect();
        if ways.is_empty() {
            ways.push((Way::Joint, Vec::new()));
        }
        Ok(ways)
    }

    /// Where the state has what a view is mixed of.
    pub(super) fn is_of_mixture(&self, name: &str) -> bool {
        self.views
            .iter()
            .any(|v| name == place(&v.name) || name.starts_with(&regression(&v.name)))
    }
}

/// Whether any sample has a share.
fn has(shares: &[f64]) -> bool {
    shares.iter().any(|s| *s > 0.0)
}

#[cfg(test)]
mod tests {
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
        assert!(
            both[0] > 0.9 && mixed(&cells(200, sure), both) > -0.1,
            "{both:?}"
        );
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
        let (shares, said) = shares_of(held, &[true; 3000], folds_of(3000)).expect("shares");
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
        let (shares, said) = shares_of(held, &[true; 400], folds_of(400)).expect("shares");
        assert_eq!(shares, [0.0, 1.0], "{said}");
        assert!(
            said.contains("400 cells") && said.contains("regression on features"),
            "{said}"
        );
        // cells of samples that lack something do not count
        let mut usable = [true; 400];
        usable[0] = false;
        let (_, said) = shares_of(held, &usable, folds_of(400)).expect("shares");
        assert!(said.contains("399 cells held out in 3 folds"), "{said}");
        assert!(shares_of(held, &[false; 400], folds_of(400)).is_none());
    }
}
