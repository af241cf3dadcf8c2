//! Regressions on few of the features.

use polyview_linalg::{Mat, MatRef};

use super::descent::{INTERCEPT, least_loss, ln_sum_exp, logistic_of, loss};
use super::{Kind, Regression, checked_classes, checked_labels, place, rows, splits};
use crate::error::{finite, same};
use crate::{BaselineError, Tuning};

/// Penalties that are tried, from the one under which no feature counts down to this share of it.
const PENALTIES: usize = 40;
const WEAKEST: f64 = 0.003;
/// Curvature of the loss of a sample that is taken to be at least this, and the most that it is.
const LEAST_CURVATURE: f64 = 1e-3;
const MOST_CURVATURE: f64 = 0.25;
/// Most quadratic approximations of a loss for a penalty, most passes over the features of each, and changes that are none:
/// of a predictor, in units in which features vary by one, and of the loss.
const STEPS: usize = 30;
const PASSES: usize = 200;
const STILL: f64 = 1e-5;
const SAME: f64 = 1e-7;

/// Regression of numbers on few of the features (the lasso, Tibshirani 1996), by descent along one coefficient after the other (Friedman, Hastie
/// and Tibshirani 2010): minimises $\frac1{2N}\lVert y - \beta\_0 - X\beta\rVert^2 + \lambda\sum\_d|\beta\_d|$ for each target. Data are those of
/// [`ridge`](crate::ridge); of [`Tuning`] the folds count alone, as penalties begin where no feature has a coefficient. With
/// what is said of each sample by the others, as by [`ridge_held_out`](crate::ridge_held_out).
///
/// # Errors
/// As [`ridge`](crate::ridge).
pub fn lasso_held_out(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    each(Kind::Ridge, x, y, tuning)
}

/// Logistic regression on few of the features: the penalty of [`lasso_held_out`] on the mean loss of
/// [`logistic`](crate::logistic). With what is said of each sample by the others: predictors, no probabilities.
///
/// # Errors
/// As [`logistic`](crate::logistic).
pub fn sparse_logistic_held_out(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    checked_labels(y)?;
    each(Kind::Logistic, x, y, tuning)
}

/// Multinomial regression on few of the features: the penalty of [`lasso_held_out`] on the coefficients of all classes, and the mean loss of
/// [`multinomial`](crate::multinomial). With what is said of each sample by the others: predictors, no probabilities.
///
/// # Errors
/// As [`multinomial`](crate::multinomial).
pub fn sparse_multinomial_held_out(
    x: MatRef<'_, f64>,
    classes: &[Option<usize>],
    count: usize,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    let (keep, y) = checked_classes(x, classes, count, tuning)?;
    let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
    let found = along(Kind::Multinomial, &rows(x, &keep), &y, &fold);
    let mut held = Mat::full(x.nrows(), count, f64::NAN);
    for c in 0..count {
        place(&found.held, c, &keep, (&mut held, c));
    }
    let fit = Regression {
        kind: Kind::Multinomial,
        coefficients: found.beta,
        penalties: vec![found.penalty],
    };
    Ok((fit, held))
}

/// Every column of `y` by itself.
fn each(
    kind: Kind,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    same("samples of the targets", x.nrows(), y.nrows())?;
    tuning.check(x.nrows())?;
    finite("features", x, false)?;
    finite("targets", y, true)?;
    let mut coefficients = Mat::full(1 + x.ncols(), y.ncols(), f64::NAN);
    let mut penalties = vec![f64::NAN; y.ncols()];
    let mut held = Mat::full(y.nrows(), y.ncols(), f64::NAN);
    for d in 0..y.ncols() {
        let keep: Vec<usize> = (0..y.nrows()).filter(|&n| !y[(n, d)].is_nan()).collect();
        if keep.is_empty() {
            continue;
        }
        let own = Mat::from_fn(keep.len(), 1, |n, _| y[(keep[n], d)]);
        let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
        let found = along(kind, &rows(x, &keep), &own, &fold);
        place(&found.held, 0, &keep, (&mut held, d));
        coefficients
            .col_as_slice_mut(d)
            .copy_from_slice(found.beta.col_as_slice(0));
        penalties[d] = found.penalty;
    }
    let fit = Regression {
        kind,
        coefficients,
        penalties,
    };
    Ok((fit, held))
}

/// What was found under the penalty of least loss on folds.
struct Found {
    beta: Mat<f64>,
    penalty: f64,
    held: Mat<f64>,
}

fn along(kind: Kind, x: &Mat<f64>, y: &Mat<f64>, fold: &[usize]) -> Found {
    let mut all = Descent::new(kind, x.clone(), y.clone());
    let strongest = all.strongest();
    let step = WEAKEST.powf(1.0 / (PENALTIES - 1) as f64);
    let path: Vec<f64> = (0..PENALTIES as i32)
        .map(|i| strongest * step.powi(i))
        .collect();
    let splits = splits(fold);
    let mut halves: Vec<(Descent, Mat<f64>, Mat<f64>)> = (splits.iter())
        .map(|(inside, outside)| {
            let of = |m: &Mat<f64>, keep: &[usize]| rows(m.as_ref(), keep);
            (
                Descent::new(kind, of(x, outside), of(y, outside)),
                of(x, inside),
                of(y, inside),
            )
        })
        .collect();
    let (best, held) = least_loss(&path, y.shape(), splits.len(), |penalty, said| {
        let mut sum = 0.0;
        for ((descent, new, truth), (inside, _)) in halves.iter_mut().zip(&splits) {
            descent.to(penalty);
            let score = super::scores(new.as_ref(), &descent.beta);
            for c in 0..truth.ncols() {
                place(&score, c, inside, (said, c));
            }
            let of = |n: usize| of_sample(kind, truth.as_ref(), &score, n);
            sum += (0..new.nrows()).map(of).sum::<f64>();
        }
        sum
    });
    for penalty in &path[..=best] {
        all.to(*penalty);
    }
    Found {
        beta: all.beta,
        penalty: path[best],
        held,
    }
}

/// The loss of a sample.
fn of_sample(kind: Kind, y: MatRef<'_, f64>, score: &Mat<f64>, n: usize) -> f64 {
    if kind == Kind::Ridge {
        return 0.5 * (y[(n, 0)] - score[(n, 0)]).powi(2);
    }
    loss(kind, y, score, n)
}

/// Coefficients that go down a loss along one feature after the other, from one penalty to the next weaker one.
struct Descent {
    kind: Kind,
    x: Mat<f64>,
    y: Mat<f64>,
    /// Intercepts first, features × predictors.
    beta: Mat<f64>,
    /// Linear predictors of these.
    score: Mat<f64>,
    /// Of classes $\ln\sum\_c e^{s\_{nc}}$ of each sample, kept up with these one predictor at a time: the exponentials of
    /// all for each would cost as many times more as there are classes.
    whole: Vec<f64>,
    /// The last penalty.
    last: f64,
}

/// A loss that is nearly that of one predictor of each sample: half its curvature times the square of what is left.
struct Quadratic {
    curvature: Vec<f64>,
    left: Vec<f64>,
}

impl Descent {
    /// Without a feature.
    fn new(kind: Kind, x: Mat<f64>, y: Mat<f64>) -> Self {
        let (n, p, c) = (x.nrows(), x.ncols(), y.ncols());
        let mut out = Self {
            kind,
            x,
            y,
            beta: Mat::zeros(1 + p, c),
            score: Mat::zeros(n, c),
            whole: Vec::new(),
            last: f64::INFINITY,
        };
        out.sum_up();
        for _ in 0..STEPS {
            let mut most = 0.0f64;
            for d in 0..c {
                most = most.max(out.intercept(d));
            }
            if most < STILL {
                break;
            }
        }
        out
    }
    fn samples(&self) -> f64 {
        self.y.nrows() as f64
    }
    /// What the data say of the slope of each sample's loss in predictor `d`, with the sign turned.
    fn slopes(&self, d: usize) -> Vec<f64> {
        let of = |n: usize| self.y[(n, d)] - self.expected(n, d);
        (0..self.y.nrows()).map(of).collect()
    }
    fn expected(&self, n: usize, d: usize) -> f64 {
        match self.kind {
            Kind::Ridge => self.score[(n, d)],
            Kind::Logistic => logistic_of(self.score[(n, d)]),
            Kind::Multinomial => (self.score[(n, d)] - self.whole[n]).exp(),
        }
    }
    fn sum_up(&mut self) {
        if self.kind == Kind::Multinomial {
            let of = |n: usize| ln_sum_exp(&self.score, n);
            self.whole = (0..self.y.nrows()).map(of).collect();
        }
    }
    /// After predictor `d` moved from these.
    fn moved(&mut self, d: usize, from: &[f64]) {
        for (n, whole) in self.whole.iter_mut().enumerate() {
            let step = self.score[(n, d)] - from[n];
            if step == 0.0 {
                continue;
            }
            let share = (from[n] - *whole).exp();
            // a sum that is all but this one is not what is left of it
            *whole = if share < 0.5 && step < 1.0 {
                *whole + (share * step.exp_m1()).ln_1p()
            } else {
                ln_sum_exp(&self.score, n)
            };
        }
    }
    /// Weight of the square of an intercept, which keeps a label finite that all samples have.
    fn held(&self) -> f64 {
        if self.kind == Kind::Ridge {
            0.0
        } else {
            INTERCEPT
        }
    }
    /// A step of one intercept alone; how far it went.
    fn intercept(&mut self, d: usize) -> f64 {
        let bound = if self.kind == Kind::Ridge {
            1.0
        } else {
            MOST_CURVATURE
        };
        let slope = self.slopes(d).iter().sum::<f64>() - self.held() * self.beta[(0, d)];
        let step = slope / (bound * self.samples() + self.held());
        self.beta[(0, d)] += step;
        let from = self.score.col_as_slice(d).to_vec();
        self.score
            .col_as_slice_mut(d)
            .iter_mut()
            .for_each(|s| *s += step);
        self.moved(d, &from);
        step.abs()
    }
    /// The penalty under which no feature has a coefficient.
    fn strongest(&self) -> f64 {
        let mut most = 0.0f64;
        for d in 0..self.y.ncols() {
            let slopes = self.slopes(d);
            for j in 0..self.x.ncols() {
                most = most.max(dot(self.x.col_as_slice(j), &slopes).abs());
            }
        }
        (most / self.samples()).max(f64::MIN_POSITIVE)
    }
    /// The loss, with its penalty.
    fn value(&self, penalty: f64) -> f64 {
        let of_predictors = 0..self.beta.ncols();
        self.whole.iter().sum::<f64>() + of_predictors.map(|d| self.own(d, penalty)).sum::<f64>()
    }
    /// What hangs on predictor `d` of the loss, of classes beside their sums.
    fn own(&self, d: usize, penalty: f64) -> f64 {
        let of = |n: usize| match self.kind {
            Kind::Multinomial => -self.y[(n, d)] * self.score[(n, d)],
            _ => of_sample(self.kind, self.y.as_ref(), &self.score, n),
        };
        let (first, others) = self.beta.col_as_slice(d).split_at(1);
        let size: f64 = others.iter().map(|b| b.abs()).sum();
        (0..self.y.nrows()).map(of).sum::<f64>()
            + 0.5 * self.held() * first[0] * first[0]
            + self.samples() * penalty * size
    }
    /// As [`Descent::value`] while no other predictor than `d` moves, but for a constant.
    fn alone(&self, d: usize, penalty: f64) -> f64 {
        self.whole.iter().sum::<f64>() + self.own(d, penalty)
    }
    /// To the least loss under a penalty, weaker than the last.
    fn to(&mut self, penalty: f64) {
        // what a sum of slopes says that moves by less than the penalty does (Tibshirani et al. 2012); what it left out is looked at after
        let last = self.last.min(1e300);
        let near = self.samples() * (2.0 * penalty - last);
        let mut active: Vec<Vec<usize>> = (0..self.beta.ncols())
            .map(|d| {
                let slopes = self.slopes(d);
                let is_near = |j: &usize| {
                    self.beta[(1 + j, d)] != 0.0
                        || dot(self.x.col_as_slice(*j), &slopes).abs() >= near
                };
                (0..self.x.ncols()).filter(is_near).collect()
            })
            .collect();
        self.last = penalty;
        self.sum_up();
        let mut value = self.value(penalty);
        let whole = value.abs().max(self.samples() * SAME);
        for _ in 0..STEPS {
            for (d, active) in active.iter().enumerate() {
                self.step(d, active, penalty);
            }
            let new = self.value(penalty);
            let still = value - new < SAME * whole;
            value = new;
            if !still {
                continue;
            }
            let mut any = false;
            for (d, active) in active.iter_mut().enumerate() {
                let slopes = self.slopes(d);
                let most = self.samples() * penalty * (1.0 + 1e-6);
                for j in 0..self.x.ncols() {
                    if dot(self.x.col_as_slice(j), &slopes).abs() > most
                        && let Err(at) = active.binary_search(&j)
                    {
                        active.insert(at, j);
                        any = true;
                    }
                }
            }
            if !any {
                break;
            }
        }
    }
    /// To the least value of a quadratic approximation of the loss in predictor `d`; where the loss itself rises, of one
    /// that is nowhere below it.
    fn step(&mut self, d: usize, active: &[usize], penalty: f64) {
        let before = (
            self.beta.col_as_slice(d).to_vec(),
            self.score.col_as_slice(d).to_vec(),
            self.whole.clone(),
        );
        let value = self.alone(d, penalty);
        for bounded in [false, true] {
            let quadratic = self.quadratic(d, bounded);
            self.descend(d, active, penalty, quadratic);
            self.moved(d, &before.1);
            if bounded || self.kind == Kind::Ridge || self.alone(d, penalty) <= value + SAME {
                return;
            }
            self.beta.col_as_slice_mut(d).copy_from_slice(&before.0);
            self.score.col_as_slice_mut(d).copy_from_slice(&before.1);
            self.whole.copy_from_slice(&before.2);
        }
    }
    fn quadratic(&self, d: usize, bounded: bool) -> Quadratic {
        let n = self.y.nrows();
        let curvature: Vec<f64> = (0..n)
            .map(|n| match self.kind {
                Kind::Ridge => 1.0,
                _ if bounded => MOST_CURVATURE,
                _ => {
                    let p = self.expected(n, d);
                    (p * (1.0 - p)).max(LEAST_CURVATURE)
                }
            })
            .collect();
        let left = self.slopes(d).into_iter().zip(&curvature);
        Quadratic {
            left: left.map(|(slope, curvature)| slope / curvature).collect(),
            curvature,
        }
    }
    fn descend(&mut self, d: usize, active: &[usize], penalty: f64, mut of: Quadratic) {
        let n = of.left.len();
        let start = of.left.clone();
        let penalty = self.samples() * penalty;
        let total = of.curvature.iter().sum::<f64>() + self.held();
        let bends: Vec<f64> = (active.iter())
            .map(|&j| {
                let x = self.x.col_as_slice(j);
                (0..n).map(|n| of.curvature[n] * x[n] * x[n]).sum()
            })
            .collect();
        for _ in 0..PASSES {
            let mut most = 0.0f64;
            let slope = dot(&of.curvature, &of.left) - self.held() * self.beta[(0, d)];
            let step = slope / total;
            self.beta[(0, d)] += step;
            of.left.iter_mut().for_each(|r| *r -= step);
            most = most.max(step.abs());
            for (&j, bend) in active.iter().zip(&bends) {
                if *bend <= 0.0 {
                    continue;
                }
                let (x, old) = (self.x.col_as_slice(j), self.beta[(1 + j, d)]);
                let slope: f64 = (0..n).map(|n| of.curvature[n] * of.left[n] * x[n]).sum();
                let free = slope + bend * old;
                let new = free.signum() * (free.abs() - penalty).max(0.0) / bend;
                let step = new - old;
                if step != 0.0 {
                    for (r, x) in of.left.iter_mut().zip(x) {
                        *r -= step * x;
                    }
                    self.beta[(1 + j, d)] = new;
                    most = most.max(step.abs());
                }
            }
            if most < STILL {
                break;
            }
        }
        for ((s, old), new) in (self.score.col_as_slice_mut(d).iter_mut())
            .zip(&start)
            .zip(&of.left)
        {
            *s += old - new;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
