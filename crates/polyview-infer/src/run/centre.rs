//! Means of the factors go to the intercepts (docs/decisions/0104-means-go-to-the-intercepts.md).

use polyview_core::{RowBlock, own_column_block};
use polyview_linalg::{LinalgError, Mat, cross, solve_spd};

use super::{LONGEST_WAIT, RunState};
use crate::model::{Model, ViewPart};

/// Share of what a step should gain to second order that it has to gain, to be taken as it is.
const ENOUGH: f64 = 0.5;

/// Gain that is not worth a step, nats: it would keep what is at rest from its end.
const LITTLE: f64 = 0.01;

/// Binary digits of a step.
const DIGITS: i32 = 20;

/// To so many digits of `largest`: terms sum up in one order or another, by what they know already, and a run that goes on from a
/// checkpoint has the same bits all the same.
fn rounded(x: f64, largest: f64) -> f64 {
    let unit = 2_f64.powi((largest.log2().ceil() as i32).saturating_sub(DIGITS));
    if unit.is_normal() {
        (x / unit).round() * unit
    } else {
        x
    }
}

impl RunState {
    /// Moves the factors of all samples by the same, and the intercepts to where the means of all predictors stay:
    /// $Z - 1\delta$, $b + W\delta$. Steps of factors and of intercepts alone wait for each other. $\delta$ is the top of the bound to second order, or as
    /// much of it as raises the bound itself, which alone decides. Where no view is of tangents (numbers find their intercepts in one sweep) or one has no
    /// intercepts that are learnt, never again. The next step is due at
    /// [`RunRecord::next_centring`](super::RunRecord::next_centring): one that gains less than `tolerance`, relative to the
    /// bound, or than a hundredth of a nat, can wait. Tells what was gained, nats.
    pub fn centre(&mut self, tolerance: f64) -> f64 {
        if !self.model.may_be_centred() {
            self.record.next_centring = usize::MAX;
            return 0.0;
        }
        let scale = self.record.ledger.last().map_or(1.0, f64::abs).max(1.0);
        let least = (tolerance * scale).max(LITTLE);
        let mut gain = 0.0;
        if let (Some(before), Ok((step, promised))) =
            (self.record.ledger.last(), self.model.centring())
            && promised > least
        {
            gain = self.take(&step, promised, before);
        }
        let record = &mut self.record;
        record.centring_interval = if gain > least {
            1
        } else {
            (2 * record.centring_interval).clamp(1, LONGEST_WAIT)
        };
        record.next_centring = record.sweep + record.centring_interval;
        gain
    }
    /// Goes along `step` as far as the bound rises: the whole of it where that gains about what was `promised`, else to the
    /// top of the parabola through three points.
    fn take(&mut self, step: &[f64], promised: f64, before: f64) -> f64 {
        let (mut best, mut at) = ((0.0, 0.0), 0.0);
        let gain = |run: &mut Self, to: f64, at: &mut f64| {
            run.move_by(step, to - *at);
            *at = to;
            run.model.bound() - before
        };
        let whole = gain(self, 1.0, &mut at);
        if whole > best.1 {
            best = (1.0, whole);
        }
        if whole < ENOUGH * promised {
            let half = gain(self, 0.5, &mut at);
            if half > best.1 {
                best = (0.5, half);
            }
            // through (0, 0), (1/2, half), (1, whole)
            let (slope, bend) = (4.0 * half - whole, 4.0 * half - 2.0 * whole);
            if bend > 0.0 && slope > 0.0 {
                let top = rounded(0.5 * slope / bend, 1.0).min(1.0);
                let highest = gain(self, top, &mut at);
                if highest > best.1 {
                    best = (top, highest);
                }
            }
        }
        if at != best.0 {
            self.move_by(step, best.0 - at);
        }
        best.1
    }
    fn move_by(&mut self, step: &[f64], share: f64) {
        let by: Vec<f64> = step.iter().map(|s| -share * s).collect();
        self.model.move_means(&by);
        self.momentum.shifted(&by);
    }
}

impl Model {
    /// Whether a view is of tangents, and each has intercepts that are learnt, of columns that are not those of components.
    fn may_be_centred(&mut self) -> bool {
        let learnt = |v: &ViewPart| v.bias.is_present() && v.bias.prior_precision().is_some();
        self.factors.shares().is_none()
            && self.views.iter().all(learnt)
            && (self.views.iter_mut()).any(|v| v.term.as_tangents().is_some())
    }
    /// By how much the factors stand too high, one number each, and what the bound would gain by that, both to second order. Factors are
    /// where the bound has them after a sweep, so that its slope along the step is that of the intercepts, $W^\top\partial F/\partial b$. What predictors keep
    /// does not bend it: only the priors do, and what is not known of the weights, $\sum_d\sum_n h_{nd}\operatorname{Cov}(w_d)$ with the precisions $h$ of
    /// the sites.
    ///
    /// # Errors
    /// [`LinalgError`] on numbers that are not finite.
    fn centring(&mut self) -> Result<(Vec<f64>, f64), LinalgError> {
        let (rows, k) = self.factors.moments().mean().shape();
        let prior = self.factors.precision();
        let mut curvature = Mat::<f64>::zeros(k, k);
        for j in 0..k {
            curvature[(j, j)] = (0..rows).map(|n| prior.at(n, j)).sum();
        }
        let mut slope = vec![0.0; k];
        for view in &mut self.views {
            let (precision, slopes) = view.slopes_of_intercepts(self.factors.as_ref());
            let (own, means) = (view.weights.moments(), view.weights.moments().mean());
            let columns = view.bias.columns();
            let mut by_column = vec![0.0; columns];
            let mut known = vec![0.0; columns];
            let prior = view.bias.prior_precision().unwrap_or_default();
            for (place, (p, s)) in precision.iter().zip(&slopes).enumerate() {
                by_column[place % columns] += s;
                known[place % columns] += p;
            }
            let uncertain = own.cov_sum(Some(&known));
            let each = slopes.len() as f64 / columns.max(1) as f64;
            let outer = cross(means, means);
            for j in 0..k {
                for i in 0..k {
                    curvature[(i, j)] += uncertain.get(i, j) + prior * each * outer[(i, j)];
                }
                slope[j] += (0..columns)
                    .map(|d| means[(d, j)] * by_column[d])
                    .sum::<f64>();
            }
        }
        let right = Mat::from_fn(k, 1, |j, _| slope[j]);
        let found = solve_spd(curvature.as_ref(), right.as_ref())?;
        let largest = (0..k).map(|j| found[(j, 0)].abs()).fold(0.0, f64::max);
        let step: Vec<f64> = (0..k).map(|j| rounded(found[(j, 0)], largest)).collect();
        let promised = 0.5 * step.iter().zip(&slope).map(|(s, g)| s * g).sum::<f64>();
        Ok((step, promised))
    }
    /// Adds to the factors of all samples, and takes what predictors gain by it off the intercepts.
    fn move_means(&mut self, by: &[f64]) {
        let (rows, k) = self.factors.moments().mean().shape();
        let all = Mat::from_fn(rows, k, |_, j| by[j]);
        self.factors.shift(all.as_ref());
        for view in &mut self.views {
            let (w, columns) = (view.weights.moments().mean(), view.bias.columns());
            let mut moments = view.bias.of_columns(0..columns);
            for (place, (mean, _)) in moments.iter_mut().enumerate() {
                let w = w.row(place % columns);
                *mean -= w.iter().zip(by).map(|(w, by)| w * by).sum::<f64>();
            }
            view.bias.put_columns(0..columns, &moments);
        }
    }
}

impl ViewPart {
    /// Precisions that the data give the intercepts, and slopes of the bound along these, group after group.
    fn slopes_of_intercepts(&mut self, factors: &dyn RowBlock) -> (Vec<f64>, Vec<f64>) {
        let shape = self.term.shape();
        let (columns, each) = (shape.predictor_columns, self.bias.per_column());
        let width = own_column_block(shape.samples);
        let mut precision = vec![0.0; columns * each];
        let mut slopes = precision.clone();
        for start in (0..columns).step_by(width) {
            let block = start..(start + width).min(columns);
            let (mut p, mut r) = (vec![0.0; block.len() * each], vec![0.0; block.len() * each]);
            let (term, predictor) = self.with(factors.seen());
            (term.equations()).bias_equations(block.clone(), &predictor, &mut p, &mut r);
            for g in 0..each {
                for (i, d) in block.clone().enumerate() {
                    let (from, to) = (g * block.len() + i, g * columns + d);
                    precision[to] = p[from];
                    slopes[to] = r[from] - p[from] * self.bias.mean()[to];
                }
            }
        }
        let prior = self.bias.prior_precision().unwrap_or_default();
        for (place, slope) in slopes.iter_mut().enumerate() {
            *slope -= prior * (self.bias.mean()[place] - self.bias.prior_mean(place));
        }
        (precision, slopes)
    }
}
