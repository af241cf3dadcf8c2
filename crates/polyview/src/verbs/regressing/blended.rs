//! Each predictor by several regressions at once, in shares that samples without their fold say.

use std::iter::once;

use polyview_linalg::Mat;

use super::one::One;
use crate::error::Result;
use crate::fit::Fit;
use crate::verbs::regressed::{Parameters, Scores, Source};

/// How far shares may move towards one regression at once, and most moves.
const STEPS: [f64; 3] = [0.5, 0.25, 0.125];
const MOVES: usize = 6;
/// By how much a move must make the cells of a feature more likely, nats: a share that is of no use gains half of a nat by chance.
const LEAST: f64 = 1.0;

/// Of each regression its shares of the features, which add up to one.
type Shares = Vec<Vec<f64>>;

impl Fit {
    /// The shares of regressions of view `at` of each of its features, by the log densities of its cells without their fold:
    /// all is the one's with the largest sum over the cells that all know, of equal ones the first, and moves towards others as long as that makes
    /// them more likely.
    pub(super) fn shares_of_regressions(&self, at: usize, tried: &[One]) -> Result<Shares> {
        // by one noise, so that numbers are compared by their squares
        let noise = &tried[0].found.parameters.noise;
        let ln_densities = |held: &Scores, mut parameters: Parameters| {
            parameters.noise.clone_from(noise);
            self.ln_densities_by(at, held, &parameters)
        };
        let densities: Vec<Mat<f64>> = (tried.iter())
            .map(|own| ln_densities(&own.held, own.found.parameters.clone()))
            .collect::<Result<_>>()?;
        let features = densities[0].ncols();
        let cells: Vec<Vec<usize>> = (0..features)
            .map(|d| {
                let known = |n: &usize| densities.iter().all(|own| !own[(*n, d)].is_nan());
                (0..densities[0].nrows()).filter(known).collect()
            })
            .collect();
        let sum = |of: &Mat<f64>, d: usize| cells[d].iter().map(|&n| of[(n, d)]).sum::<f64>();
        let mut shares = vec![vec![0.0; features]; tried.len()];
        let mut now = vec![f64::NEG_INFINITY; features];
        for (d, now) in now.iter_mut().enumerate() {
            let sums: Vec<f64> = densities.iter().map(|own| sum(own, d)).collect();
            let best =
                (1..sums.len()).fold(0, |best, i| if sums[i] > sums[best] { i } else { best });
            shares[best][d] = 1.0;
            *now = sums[best];
        }
        drop(densities);
        for _ in 0..MOVES {
            let mut best: Vec<Option<(f64, usize, f64)>> = vec![None; features];
            for i in 0..tried.len() {
                for step in STEPS {
                    let moved = moved(&shares, |_| Some((i, step)));
                    let own = ln_densities(&held_at(tried, &moved), parameters_at(tried, &moved))?;
                    for (d, best) in best.iter_mut().enumerate() {
                        let gain = sum(&own, d) - now[d];
                        if gain > best.map_or(LEAST, |best| best.0) {
                            *best = Some((gain, i, step));
                        }
                    }
                }
            }
            if best.iter().all(Option::is_none) {
                break;
            }
            shares = moved(&shares, |d| best[d].map(|(_, i, step)| (i, step)));
            for (now, best) in now.iter_mut().zip(&best) {
                *now += best.map_or(0.0, |best| best.0);
            }
        }
        Ok(shares)
    }
}

/// Shares of each feature moved towards those of one regression, where there is one, by a step.
fn moved(shares: &Shares, to: impl Fn(usize) -> Option<(usize, f64)>) -> Shares {
    let own = |i: usize, d: usize, share: f64| match to(d) {
        Some((there, step)) => share * (1.0 - step) + if there == i { step } else { 0.0 },
        None => share,
    };
    let of = |(i, row): (usize, &Vec<f64>)| {
        let each = row.iter().enumerate();
        each.map(|(d, share)| own(i, d, *share)).collect()
    };
    shares.iter().enumerate().map(of).collect()
}

/// The share of a predictor: all of classes have that of their one feature.
fn share(of: &[f64], predictor: usize) -> f64 {
    if of.len() == 1 { of[0] } else { of[predictor] }
}

/// Adds a share of each column to another.
fn add(to: &mut Mat<f64>, from: &Mat<f64>, shares: &[f64]) {
    add_of(to, from, shares, |x| x);
}

fn add_of(to: &mut Mat<f64>, from: &Mat<f64>, shares: &[f64], of: impl Fn(f64) -> f64) {
    for c in 0..to.ncols() {
        let share = share(shares, c);
        if share > 0.0 {
            let both = to.col_as_slice_mut(c).iter_mut().zip(from.col_as_slice(c));
            both.for_each(|(to, from)| *to += share * of(*from));
        }
    }
}

/// What regressions say in these shares of samples without their fold. What a sample lacks moves all of them together, so that their standard
/// deviations add up.
fn held_at(tried: &[One], shares: &Shares) -> Scores {
    let (rows, predictors) = tried[0].held.mean.shape();
    let mut mean = Mat::zeros(rows, predictors);
    let mut spread: Option<Mat<f64>> = None;
    for (own, shares) in tried.iter().zip(shares) {
        add(&mut mean, &own.held.mean, shares);
        if let Some(from) = &own.held.variance {
            let to = spread.get_or_insert_with(|| Mat::zeros(rows, predictors));
            add_of(to, from, shares, f64::sqrt);
        }
    }
    let variance = spread.map(|sd| Mat::from_fn(rows, predictors, |n, c| sd[(n, c)].powi(2)));
    Scores { mean, variance }
}

fn parameters_at(tried: &[One], shares: &Shares) -> Parameters {
    let mut out = tried[0].found.parameters.clone();
    out.noise.fill(0.0);
    out.cuts.iter_mut().for_each(|cuts| cuts.fill(0.0));
    for (own, shares) in tried.iter().zip(shares) {
        let Parameters { noise, cuts } = &own.found.parameters;
        for (c, (to, from)) in out.noise.iter_mut().zip(noise).enumerate() {
            *to += share(shares, c) * from;
        }
        for (c, (to, from)) in out.cuts.iter_mut().zip(cuts).enumerate() {
            let share = share(shares, c);
            to.iter_mut()
                .zip(from)
                .for_each(|(to, from)| *to += share * from);
        }
    }
    out
}

/// One regression of several in these shares, of which one at most bends.
pub(super) fn blended(mut tried: Vec<One>, shares: &Shares) -> One {
    let (held, parameters) = (held_at(&tried, shares), parameters_at(&tried, shares));
    let others = tried.split_off(1);
    let mut out = tried.swap_remove(0);
    let predictors = out.found.intercept.len();
    let goes = |i: usize| shares[i].iter().any(|share| *share > 0.0);
    let of = |i: usize, c: usize| share(&shares[i], c);
    for (v, own) in out.found.of_view.iter_mut().enumerate() {
        let first = own.take();
        let all = once(first.as_ref()).chain(others.iter().map(|o| o.found.of_view[v].as_ref()));
        // what no predictor is of is not asked of new samples
        for (i, from) in all.enumerate().filter(|(i, _)| goes(*i)) {
            let Some(from) = from else { continue };
            let to = own.get_or_insert_with(|| Source {
                coefficients: Mat::zeros(from.coefficients.nrows(), predictors),
                means: from.means.clone(),
            });
            add(&mut to.coefficients, &from.coefficients, &shares[i]);
        }
    }
    for c in 0..predictors {
        out.found.intercept[c] *= of(0, c);
        for (i, other) in others.iter().enumerate() {
            out.found.intercept[c] += of(i + 1, c) * other.found.intercept[c];
        }
    }
    for (i, other) in others.into_iter().enumerate().filter(|(i, _)| goes(i + 1)) {
        if let Some(mut curved) = other.found.curved {
            curved.share(|c| of(i + 1, c));
            out.found.curved = Some(curved);
        }
        if let Some(doubt) = other.doubt {
            let mut own = Mat::zeros(doubt.nrows(), doubt.ncols());
            add(&mut own, &doubt, &shares[i + 1]);
            out.doubt = Some(own);
        }
    }
    out.held = held;
    out.found.parameters = parameters;
    out
}
