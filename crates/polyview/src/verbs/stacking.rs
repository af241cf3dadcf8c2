//! Views that are predicted by a mixture of several laws, with the shares that predict held out samples best.

use std::fmt::Write;

use polyview_core::{Event, View};
use polyview_linalg::Mat;

use super::held_out::{Held, folds_of};
use super::regressed::{Regressed, place as regression};
use super::settle::Watch;
use crate::error::Result;
use crate::fit::Fit;
use crate::spec::Settle;

/// What is mixed, in the order of the shares.
pub(crate) const WAYS: [&str; 3] = ["joint fit", "settled on factors", "regression on features"];
/// Those of them that folds go.
const SETTLED: [Settle; 2] = [Settle::Not, Settle::Factors];
/// What part of a cell is taken to have been seen of each way before any is (a Dirichlet prior of the shares).
const BEFORE: f64 = 0.1;
/// A way with a smaller share is left out.
const LEAST: f64 = 0.02;
/// Most steps to the shares, and the change that ends them.
const STEPS: usize = 2000;
const STILL: f64 = 1e-9;

/// Where the state has the shares of a view.
pub(crate) fn place(target: &str) -> String {
    format!("mixture/{target}")
}

/// A way to predict a view.
pub(super) enum Way {
    /// By the joint fit.
    Joint,
    /// By what it was settled on.
    Settled,
    /// By linear predictors that are known, samples × predictors, and variances about them.
    Regressed(Mat<f64>, Vec<f64>),
}

/// A way and its share of each sample.
pub(super) type Told = (Way, Vec<f64>);

/// The shares of ways by their log densities of the same cells: those of the largest posterior density, by expectation and
/// maximisation, from equal ones.
///
/// $\max\_w \sum\_c\ln\sum\_k w\_k p\_{kc} + a\sum\_k\ln w\_k$, which is concave in w.
fn shares(cells: &[Vec<f64>], ways: usize) -> Vec<f64> {
    let mut shares = vec![1.0 / ways as f64; ways];
    let mut own = vec![0.0; ways];
    for _ in 0..STEPS {
        let mut counts = vec![BEFORE; ways];
        for cell in cells {
            let most = cell.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for ((own, ln), share) in own.iter_mut().zip(cell).zip(&shares) {
                *own = share * (ln - most).exp();
            }
            let sum: f64 = own.iter().sum();
            for (count, own) in counts.iter_mut().zip(&own) {
                *count += own / sum;
            }
        }
        let all: f64 = counts.iter().sum();
        let mut change = 0.0f64;
        for (share, count) in shares.iter_mut().zip(&counts) {
            change = change.max((count / all - *share).abs());
            *share = count / all;
        }
        if change < STILL {
            break;
        }
    }
    shares
}

/// Mean log density of cells under a mixture.
fn mixed(cells: &[Vec<f64>], shares: &[f64]) -> f64 {
    let of = |cell: &Vec<f64>| {
        let most = cell.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = (cell.iter().zip(shares))
            .map(|(ln, share)| share * (ln - most).exp())
            .sum();
        most + sum.ln()
    };
    cells.iter().map(of).sum::<f64>() / cells.len().max(1) as f64
}

/// The shares of all three ways, zero for those that are left out, and what was measured, in words.
fn shares_of(held: &[Option<&Mat<f64>>; 3], usable: &[bool]) -> Option<([f64; 3], String)> {
    let known: Vec<usize> = (0..3).filter(|&w| held[w].is_some()).collect();
    let first = held[0]?;
    let mut cells = Vec::new();
    for n in (0..first.nrows()).filter(|n| usable[*n]) {
        for d in 0..first.ncols() {
            let cell: Vec<f64> = known
                .iter()
                .filter_map(|&w| held[w].map(|m| m[(n, d)]))
                .collect();
            // a cell that every way rules out tells none apart
            let told = cell.iter().any(|x| x.is_finite());
            if told && cell.iter().all(|x| !x.is_nan()) {
                cells.push(cell);
            }
        }
    }
    if cells.is_empty() {
        return None;
    }
    let found = shares(&cells, known.len());
    // what has next to nothing is left out, and the others keep their proportions
    let kept: f64 = found.iter().filter(|s| **s >= LEAST).sum();
    let of = |s: &f64| if *s >= LEAST { s / kept } else { 0.0 };
    let found: Vec<f64> = found.iter().map(of).collect();
    let mut out = [0.0; 3];
    let mut said = format!(
        "predicted by a mixture, of which mean log densities of {} cells held out in {} folds are {:.4}, nats (share): ",
        cells.len(),
        folds_of(first.nrows()),
        mixed(&cells, &found)
    );
    for (i, &w) in known.iter().enumerate() {
        out[w] = found[i];
        let own = cells.iter().map(|cell| cell[i]).sum::<f64>() / cells.len() as f64;
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(said, "{comma}{} {own:.4} ({:.2})", WAYS[w], found[i]);
    }
    Some((out, said))
}

impl Fit {
    /// Finds how views are mixed that are to be ([`Settle::Mixture`]); false where `watch` ended it. Where it cannot be told
    /// they are predicted by the joint fit, and the journal says so.
    pub(super) fn mix_ways(&mut self, watch: Watch<'_>) -> Result<bool> {
        let of = |fit: &Self, v: usize| fit.views[v].choices.settle;
        let all: Vec<usize> = (0..self.views.len())
            .filter(|&v| self.views[v].choices.settles())
            .collect();
        let open: Vec<usize> = (all.iter().copied())
            .filter(|&v| of(self, v) == Some(Settle::Mixture))
            .collect();
        if open.is_empty() {
            return Ok(true);
        }
        if self.knows_factors_by_pairs(&all) {
            for &v in &open {
                let note =
                    "settled on factors and not mixed: factors of rank views have no law of data";
                let event = Event::Warning { note: note.into() };
                self.chosen(v, Settle::Factors, event);
            }
            return Ok(true);
        }
        let held = match self.ways_held_out((&open, &all), &SETTLED, watch)? {
            Ok(None) => return Ok(false),
            Ok(Some(held)) => held,
            Err(why) => {
                for &v in &open {
                    let note =
                        format!("predicted by the joint fit, since ways could not be mixed: {why}");
                    self.chosen(v, Settle::Not, Event::Data { note });
                }
                return Ok(true);
            }
        };
        for (v, own) in all.iter().zip(&held.densities) {
            if open.contains(v) {
                self.mix(*v, &all, (&held, own))?;
            }
        }
        Ok(true)
    }

    /// Finds the shares of one view.
    fn mix(
        &mut self,
        v: usize,
        targets: &[usize],
        (held, own): (&Held, &[Option<Mat<f64>>]),
    ) -> Result<()> {
        let rows = self.samples.len();
        let (found, why) = match self.regress(targets, v, &held.fold_of)? {
            Ok(found) => (Some(found), None),
            Err(why) => (None, Some(why)),
        };
        let data = self.data()?;
        let views: Vec<Option<View>> = (data.iter().enumerate())
            .map(|(u, view)| (!targets.contains(&u)).then(|| view.clone()))
            .collect();
        let usable = (found.as_ref()).map_or(vec![true; rows], |(r, _)| r.knows(&views, rows));
        let regression = found.as_ref().map(|(_, held)| held);
        let ways = [own[0].as_ref(), own[1].as_ref(), regression];
        let Some((shares, mut note)) = shares_of(&ways, &usable) else {
            let note = "predicted by the joint fit: nothing was measured";
            self.chosen(v, Settle::Not, Event::Data { note: note.into() });
            return Ok(());
        };
        if own[1].is_none() {
            note.push_str("; it cannot be settled on factors");
        }
        if let Some(why) = why {
            let _ = write!(note, "; no regression on features: {why}");
        }
        let name = self.views[v].name.clone();
        if let Some((regressed, _)) = found.filter(|_| shares[2] > 0.0) {
            let mut state = std::mem::take(&mut self.settled);
            regressed.save(self, &name, &mut state);
            self.settled = state;
        }
        self.settled.put_vec(&place(&name), &shares);
        self.chosen(v, Settle::Mixture, Event::Data { note });
        Ok(())
    }

    /// The shares of a view that is mixed, in the order of [`WAYS`].
    pub(super) fn shares_of(&self, at: usize) -> Result<Option<[f64; 3]>> {
        let (name, reader) = (place(&self.views[at].name), self.settled.reader());
        if !reader.has(&name) {
            return Ok(None);
        }
        let found = reader.vec(&name)?;
        let of = |w: usize| found.get(w).copied().unwrap_or(0.0);
        Ok(Some([of(0), of(1), of(2)]))
    }

    /// Whether a mixed view is settled on factors as well.
    pub(super) fn mixes_settled(&self, at: usize) -> Result<bool> {
        let shares = self.shares_of(at)?;
        Ok(shares.is_none_or(|s| s[1] > 0.0))
    }

    /// Gives the share of settled weights to the joint fit, where there are none.
    pub(super) fn mix_without_settled(&mut self, at: usize) -> Result<()> {
        if let Some([joint, settled, regression]) = self.shares_of(at)? {
            let name = place(&self.views[at].name);
            (self.settled).put_vec(&name, &[joint + settled, 0.0, regression]);
        }
        Ok(())
    }

    /// How view `at` is predicted from other views, with the shares of each sample.
    pub(super) fn ways_of(
        &self,
        at: usize,
        views: &[Option<View>],
        samples: usize,
    ) -> Result<Vec<Told>> {
        let all = || vec![1.0; samples];
        let Some([joint, settled, regression]) = self.shares_of(at)? else {
            return Ok(vec![(Way::Settled, all())]);
        };
        let regressed: Option<Regressed> = self.regressed(at)?;
        let Some(regressed) = regressed.filter(|_| regression > 0.0) else {
            let of = |share: f64| vec![share; samples];
            let ways = [(Way::Joint, of(joint)), (Way::Settled, of(settled))];
            return Ok(ways.into_iter().filter(|(_, s)| has(s)).collect());
        };
        let knows = regressed.knows(views, samples);
        let (mut j, mut s, mut r) = (all(), all(), all());
        for n in 0..samples {
            let of = if knows[n] {
                [joint, settled, regression]
            } else if joint + settled > 0.0 {
                let both = joint + settled;
                [joint / both, settled / both, 0.0]
            } else {
                [1.0, 0.0, 0.0]
            };
            [j[n], s[n], r[n]] = of;
        }
        let known = regressed.scores(views, samples);
        let ways = [
            (Way::Joint, j),
            (Way::Settled, s),
            (Way::Regressed(known, regressed.noise), r),
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

    /// Log densities of cells by ways of which one is right with these probabilities.
    fn cells(count: usize, of: impl Fn(usize) -> Vec<f64>) -> Vec<Vec<f64>> {
        (0..count).map(of).collect()
    }

    #[test]
    fn one_way_that_knows_all_has_nearly_all() {
        let told = |n: usize| vec![0.5f64.ln(), 0.99f64.ln(), (0.2 + 0.6 * (n % 2) as f64).ln()];
        let many = shares(&cells(500, told), 3);
        assert!(many[1] > 0.98, "{many:?}");
        assert!((many.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // a handful of cells leaves something to the others, and none decides nothing
        let few = shares(&cells(3, told), 3);
        assert!(few[1] < 0.95 && few[1] > few[0], "{few:?}");
        assert_eq!(shares(&[], 3), vec![1.0 / 3.0; 3]);
        // nor does a way that rules nothing out win by one cell that others rule out
        let sure = |n: usize| vec![if n == 0 { -700.0 } else { -0.01 }, -0.7];
        let both = shares(&cells(200, sure), 2);
        assert!(
            both[0] > 0.9 && mixed(&cells(200, sure), &both) > -0.1,
            "{both:?}"
        );
    }

    /// At the optimum the slopes are alike: $\sum_c p_{kc}/\sum_j w_jp_{jc} + a/w_k$ is the same for all ways.
    #[test]
    fn shares_are_those_of_the_largest_posterior_density() {
        let told = |n: usize| {
            let x = ((n * 7919) % 101) as f64 / 101.0;
            vec![
                (0.1 + 0.8 * x).ln(),
                (0.9 - 0.7 * x).ln(),
                (0.3 + 0.3 * x * x).ln(),
            ]
        };
        let all = cells(60, told);
        let w = shares(&all, 3);
        let slope = |k: usize| {
            let of = |c: &Vec<f64>| c[k].exp() / (0..3).map(|j| w[j] * c[j].exp()).sum::<f64>();
            all.iter().map(of).sum::<f64>() + BEFORE / w[k]
        };
        let whole = 60.0 + 3.0 * BEFORE;
        for k in 0..3 {
            assert!(
                (slope(k) / whole - 1.0).abs() < 1e-5,
                "{k}: {} {w:?}",
                slope(k)
            );
        }
    }

    #[test]
    fn ways_with_next_to_nothing_are_left_out() {
        let of = |x: f64| Mat::full(400, 1, x.ln());
        let (bad, good) = (of(0.3), of(0.9));
        let held = [Some(&bad), None, Some(&good)];
        let (shares, said) = shares_of(&held, &[true; 400]).expect("shares");
        assert_eq!(shares, [0.0, 0.0, 1.0], "{said}");
        assert!(
            said.contains("400 cells") && said.contains("regression on features"),
            "{said}"
        );
        // cells of samples that lack something do not count
        let mut usable = [true; 400];
        usable[0] = false;
        let (_, said) = shares_of(&held, &usable).expect("shares");
        assert!(said.contains("399 cells"), "{said}");
        assert!(shares_of(&held, &[false; 400]).is_none());
    }
}
