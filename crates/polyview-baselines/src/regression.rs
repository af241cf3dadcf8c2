//! Linear models with a penalty.

use std::collections::BTreeMap;

use polyview_linalg::{Mat, MatRef, cross, gram, solve_spd, thin_qr, times_small};

use crate::error::{finite, same};
use crate::minimise::minimise;
use crate::{BaselineError, Tuning, parts};

/// Penalties in a row that are worse than the best before the rest is given up: what hangs on directions in which features vary
/// little is found by weak penalties alone, and strong ones are all alike then.
const PATIENCE: usize = 4;

/// Penalty of the intercepts of labels and classes: a little, which keeps a label finite that every sample has.
const INTERCEPT: f64 = 1e-3;
/// Entries of the slope that are zero, for each sample.
const TOLERANCE: f64 = 1e-6;

/// How linear predictors become predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ridge,
    Logistic,
    Multinomial,
}

/// A fitted linear model with a penalty on the coefficients of all features.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    kind: Kind,
    coefficients: Mat<f64>,
    penalties: Vec<f64>,
}

impl Regression {
    /// Coefficients, 1 + features × targets: the intercepts are the first row. `NaN` where nothing is known of a target.
    pub fn coefficients(&self) -> MatRef<'_, f64> {
        self.coefficients.as_ref()
    }
    /// The penalty that was chosen for each target, for classes one for all; `NaN` where nothing is known of a target.
    pub fn penalties(&self) -> &[f64] {
        &self.penalties
    }
    /// Predictions, samples × targets: numbers, probabilities of a 1, or probabilities of the classes. `NaN` where nothing
    /// was known of a target.
    ///
    /// # Errors
    /// [`BaselineError::Shape`] for another number of features, [`BaselineError::NotFinite`].
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>, BaselineError> {
        same("features", self.coefficients.nrows() - 1, x.ncols())?;
        finite("features", x, false)?;
        let mut out = scores(x, &self.coefficients);
        match self.kind {
            Kind::Ridge => {}
            Kind::Logistic => {
                for d in 0..out.ncols() {
                    for s in out.col_as_slice_mut(d) {
                        *s = logistic_of(*s);
                    }
                }
            }
            Kind::Multinomial => {
                for n in 0..out.nrows() {
                    let ln_sum = ln_sum_exp(&out, n);
                    for c in 0..out.ncols() {
                        out[(n, c)] = (out[(n, c)] - ln_sum).exp();
                    }
                }
            }
        }
        Ok(out)
    }
}

/// Ridge regression (Hoerl and Kennard 1970): minimises $\lVert y - \beta\_0 - X\beta\rVert^2 + \lambda\lVert\beta\rVert^2$ for each
/// target, a column of `y` (samples × targets), from the features `x` (samples × features), with the penalty of least
/// squared error on the folds of [`Tuning`], for each target its own. Features are taken as they are: [`Design`](crate::Design)
/// standardises them. Targets that are `NaN` are missing, and the sample does not count for that target.
///
/// # Errors
/// [`BaselineError::Shape`], [`BaselineError::NotFinite`] (infinite values, `NaN` among the features),
/// [`BaselineError::Penalties`], [`BaselineError::Linalg`].
pub fn ridge(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<Regression, BaselineError> {
    Ok(ridge_held_out(x, y, tuning)?.0)
}

/// As [`ridge`], with what is said of each sample by the others: its linear predictors, samples × targets, under the penalty
/// that was chosen, by the fit without its fold. `NaN` where the target is missing, and with one fold alone.
///
/// # Errors
/// As [`ridge`].
pub fn ridge_held_out(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    by_target(Kind::Ridge, x, y, tuning)
}

/// Logistic regression with a penalty on the squares of the coefficients (le Cessie and van Houwelingen 1992): minimises
/// $\sum\_n \ln(1 + e^{s\_n}) - y\_n s\_n + \tfrac12\lambda\lVert\beta\rVert^2$ with $s = \beta\_0 + X\beta$ for each label, a column of `y`
/// (samples × labels, 0 and 1), each with the penalty of least log loss on the folds of [`Tuning`]. Labels that are `NaN` are
/// missing. From the strongest penalty on, weaker ones are tried until four of them in a row are worse than the best.
///
/// # Errors
/// As [`ridge`]; [`BaselineError::NotALabel`].
pub fn logistic(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<Regression, BaselineError> {
    Ok(logistic_held_out(x, y, tuning)?.0)
}

/// As [`logistic`], with what is said of each sample by the others, as by [`ridge_held_out`]: predictors, no probabilities.
///
/// # Errors
/// As [`logistic`].
pub fn logistic_held_out(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    for column in 0..y.ncols() {
        for row in 0..y.nrows() {
            let value = y[(row, column)];
            if !(value == 0.0 || value == 1.0 || value.is_nan()) {
                return Err(BaselineError::NotALabel { row, column, value });
            }
        }
    }
    by_target(Kind::Logistic, x, y, tuning)
}

/// Multinomial logistic regression with a penalty on the squares of the coefficients of all classes: the softmax of linear
/// predictors, one for each of `count` classes. `classes` has the class of each sample, from 0; samples without one do not
/// count. One penalty for all classes, of least log loss on the folds of [`Tuning`]; penalties are tried as by [`logistic`].
///
/// # Errors
/// As [`ridge`]; [`BaselineError::UnknownClass`]; [`BaselineError::NothingObserved`] where no sample has a class.
pub fn multinomial(
    x: MatRef<'_, f64>,
    classes: &[Option<usize>],
    count: usize,
    tuning: &Tuning,
) -> Result<Regression, BaselineError> {
    Ok(multinomial_held_out(x, classes, count, tuning)?.0)
}

/// As [`multinomial`], with what is said of each sample by the others, samples × classes, as by [`ridge_held_out`]: predictors,
/// no probabilities.
///
/// # Errors
/// As [`multinomial`].
pub fn multinomial_held_out(
    x: MatRef<'_, f64>,
    classes: &[Option<usize>],
    count: usize,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    same("classes of samples", x.nrows(), classes.len())?;
    tuning.check(x.nrows())?;
    finite("features", x, false)?;
    if let Some((row, class)) = (classes.iter().enumerate())
        .find_map(|(row, c)| c.filter(|c| *c >= count).map(|c| (row, c)))
    {
        return Err(BaselineError::UnknownClass {
            row,
            class,
            classes: count,
        });
    }
    let keep: Vec<usize> = (0..x.nrows()).filter(|&n| classes[n].is_some()).collect();
    if keep.is_empty() {
        return Err(BaselineError::NothingObserved { what: "classes" });
    }
    let reduced = Reduced::of(x)?;
    let y = Mat::from_fn(keep.len(), count, |n, c| {
        f64::from(u8::from(classes[keep[n]] == Some(c)))
    });
    let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
    let mut held = Mat::full(x.nrows(), count, f64::NAN);
    let x = rows(reduced.x.as_ref(), &keep);
    let (beta, penalty, own) = smooth(
        Kind::Multinomial,
        x.as_ref(),
        y.as_ref(),
        &tuning.path(),
        &fold,
    );
    for c in 0..count {
        place(&own, c, &keep, (&mut held, c));
    }
    let fit = Regression {
        kind: Kind::Multinomial,
        coefficients: reduced.back(&beta),
        penalties: vec![penalty],
    };
    Ok((fit, held))
}

/// Puts a column of some samples where these are among all.
fn place(from: &Mat<f64>, d: usize, samples: &[usize], (to, column): (&mut Mat<f64>, usize)) {
    for (i, &n) in samples.iter().enumerate() {
        to[(n, column)] = from[(i, d)];
    }
}

/// Every column of `y` by itself; columns that the same samples have together.
fn by_target(
    kind: Kind,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    tuning: &Tuning,
) -> Result<(Regression, Mat<f64>), BaselineError> {
    same("samples of the targets", x.nrows(), y.nrows())?;
    tuning.check(x.nrows())?;
    finite("features", x, false)?;
    finite("targets", y, true)?;
    let reduced = Reduced::of(x)?;
    let path = tuning.path();
    let mut patterns: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for d in 0..y.ncols() {
        let known = (0..y.nrows()).filter(|&n| !y[(n, d)].is_nan()).collect();
        patterns.entry(known).or_default().push(d);
    }
    let mut coefficients = Mat::full(1 + x.ncols(), y.ncols(), f64::NAN);
    let mut penalties = vec![f64::NAN; y.ncols()];
    let mut held = Mat::full(y.nrows(), y.ncols(), f64::NAN);
    for (keep, columns) in patterns.iter().filter(|(keep, _)| !keep.is_empty()) {
        let x = rows(reduced.x.as_ref(), keep);
        let y = Mat::from_fn(keep.len(), columns.len(), |n, d| y[(keep[n], columns[d])]);
        let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
        let mut beta = Mat::zeros(1 + x.ncols(), columns.len());
        if kind == Kind::Ridge {
            let (chosen, own);
            (beta, chosen, own) = squares(x.as_ref(), y.as_ref(), &path, &fold)?;
            for (i, (d, p)) in columns.iter().zip(chosen).enumerate() {
                penalties[*d] = p;
                place(&own, i, keep, (&mut held, *d));
            }
        } else {
            for (d, column) in columns.iter().enumerate() {
                let one = y.subcols(d, 1);
                let (own, penalty, said) = smooth(kind, x.as_ref(), one, &path, &fold);
                place(&said, 0, keep, (&mut held, *column));
                beta.col_as_slice_mut(d)
                    .copy_from_slice(own.col_as_slice(0));
                penalties[*column] = penalty;
            }
        }
        let beta = reduced.back(&beta);
        for (d, column) in columns.iter().enumerate() {
            let to = coefficients.col_as_slice_mut(*column);
            to.copy_from_slice(beta.col_as_slice(d));
        }
    }
    let fit = Regression {
        kind,
        coefficients,
        penalties,
    };
    Ok((fit, held))
}

/// Features in no more columns than samples: where there are more features, $X = LQ'$ with orthonormal columns of Q, and a
/// penalty on the squares of all coefficients is the same for $\beta = Q\gamma$ and for $\gamma$.
struct Reduced {
    x: Mat<f64>,
    q: Option<Mat<f64>>,
}

impl Reduced {
    fn of(x: MatRef<'_, f64>) -> Result<Self, BaselineError> {
        if x.ncols() <= x.nrows() {
            return Ok(Self {
                x: x.to_owned(),
                q: None,
            });
        }
        let (q, r) = thin_qr(x.transpose().to_owned().as_ref())?;
        Ok(Self {
            x: r.transpose().to_owned(),
            q: Some(q),
        })
    }
    /// Coefficients of the features themselves, the intercepts first.
    fn back(&self, beta: &Mat<f64>) -> Mat<f64> {
        let Some(q) = &self.q else {
            return beta.clone();
        };
        let own = times_small(q.as_ref(), beta.subrows(1, beta.nrows() - 1));
        Mat::from_fn(1 + q.nrows(), beta.ncols(), |i, d| {
            if i == 0 {
                beta[(0, d)]
            } else {
                own[(i - 1, d)]
            }
        })
    }
}

fn rows(x: MatRef<'_, f64>, keep: &[usize]) -> Mat<f64> {
    Mat::from_fn(keep.len(), x.ncols(), |n, d| x[(keep[n], d)])
}

/// The folds that occur, each as samples inside and outside; none where there is one fold alone.
fn splits(fold: &[usize]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let folds = fold.iter().max().map_or(0, |f| f + 1);
    let all = (0..folds).map(|f| parts(fold, f));
    all.filter(|(inside, outside)| !inside.is_empty() && !outside.is_empty())
        .collect()
}

/// Linear predictors, samples × targets.
fn scores(x: MatRef<'_, f64>, beta: &Mat<f64>) -> Mat<f64> {
    let mut out = times_small(x, beta.subrows(1, beta.nrows() - 1));
    for d in 0..out.ncols() {
        let intercept = beta[(0, d)];
        for s in out.col_as_slice_mut(d) {
            *s += intercept;
        }
    }
    out
}

/// Least squares of all targets, each with its own penalty of the path, and what is said of each sample
/// by the fit without its fold.
fn squares(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    path: &[f64],
    fold: &[usize],
) -> Result<(Mat<f64>, Vec<f64>, Mat<f64>), BaselineError> {
    let mut losses = Mat::<f64>::zeros(path.len(), y.ncols());
    let splits = splits(fold);
    let mut said = vec![Mat::full(x.nrows(), y.ncols(), f64::NAN); path.len()];
    for (inside, outside) in &splits {
        let (seen, known) = (rows(x, outside), rows(y, outside));
        let (new, truth) = (rows(x, inside), rows(y, inside));
        for (p, beta) in least_squares(&seen, &known, path)?.iter().enumerate() {
            let score = scores(new.as_ref(), beta);
            for d in 0..y.ncols() {
                place(&score, d, inside, (&mut said[p], d));
                for n in 0..inside.len() {
                    losses[(p, d)] += (truth[(n, d)] - score[(n, d)]).powi(2);
                }
            }
        }
    }
    let all = least_squares(&x.to_owned(), &y.to_owned(), path)?;
    let mut chosen = Mat::zeros(1 + x.ncols(), y.ncols());
    let mut penalties = Vec::with_capacity(y.ncols());
    let mut held = Mat::full(x.nrows(), y.ncols(), f64::NAN);
    for d in 0..y.ncols() {
        let best = (0..path.len()).fold(0, |best, p| {
            // of equal ones the weaker, where anything was compared
            let better = !splits.is_empty() && losses[(p, d)] <= losses[(best, d)];
            if better { p } else { best }
        });
        chosen
            .col_as_slice_mut(d)
            .copy_from_slice(all[best].col_as_slice(d));
        penalties.push(path[best]);
        held.col_as_slice_mut(d)
            .copy_from_slice(said[best].col_as_slice(d));
    }
    Ok((chosen, penalties, held))
}

/// Coefficients for every penalty of the path; the intercepts have none.
fn least_squares(x: &Mat<f64>, y: &Mat<f64>, path: &[f64]) -> Result<Vec<Mat<f64>>, BaselineError> {
    let (n, p) = (x.nrows() as f64, x.ncols());
    let mean = |m: &Mat<f64>, d: usize| m.col_as_slice(d).iter().sum::<f64>() / n;
    let of_x: Vec<f64> = (0..p).map(|d| mean(x, d)).collect();
    let of_y: Vec<f64> = (0..y.ncols()).map(|d| mean(y, d)).collect();
    let centred = |m: &Mat<f64>, means: &[f64]| {
        Mat::from_fn(m.nrows(), m.ncols(), |n, d| m[(n, d)] - means[d])
    };
    let (x, y) = (centred(x, &of_x), centred(y, &of_y));
    let product = gram(x.as_ref()).to_mat();
    let rhs = cross(x.as_ref(), y.as_ref());
    path.iter()
        .map(|penalty| {
            let mut matrix = product.clone();
            for i in 0..p {
                matrix[(i, i)] += penalty;
            }
            let slopes = solve_spd(matrix.as_ref(), rhs.as_ref())?;
            Ok(Mat::from_fn(1 + p, y.ncols(), |i, d| {
                if i > 0 {
                    slopes[(i - 1, d)]
                } else {
                    of_y[d] - (0..p).map(|j| of_x[j] * slopes[(j, d)]).sum::<f64>()
                }
            }))
        })
        .collect()
}

/// One label, or all classes, with the penalty of least log loss, and what is said of each sample by the fit
/// without its fold; each answer starts the next weaker one.
fn smooth(
    kind: Kind,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    path: &[f64],
    fold: &[usize],
) -> (Mat<f64>, f64, Mat<f64>) {
    let zeros = || Mat::zeros(1 + x.ncols(), y.ncols());
    let splits = splits(fold);
    let halves: Vec<[Mat<f64>; 4]> = splits
        .iter()
        .map(|(inside, outside)| {
            [
                rows(x, outside),
                rows(y, outside),
                rows(x, inside),
                rows(y, inside),
            ]
        })
        .collect();
    let mut starts: Vec<Mat<f64>> = halves.iter().map(|_| zeros()).collect();
    let (mut best, mut least, mut worse) = (0, f64::INFINITY, 0);
    let mut held = Mat::full(x.nrows(), y.ncols(), f64::NAN);
    for (p, penalty) in path.iter().enumerate() {
        let (mut sum, mut said) = (0.0, held.clone());
        let of_folds = halves.iter().zip(&splits).zip(&mut starts);
        for (([seen, known, new, truth], (inside, _)), start) in of_folds {
            *start = fitted(kind, seen.as_ref(), known.as_ref(), *penalty, start);
            let score = scores(new.as_ref(), start);
            for d in 0..y.ncols() {
                place(&score, d, inside, (&mut said, d));
            }
            sum += (0..score.nrows())
                .map(|n| loss(kind, truth.as_ref(), &score, n))
                .sum::<f64>();
        }
        if sum < least {
            (best, least, worse, held) = (p, sum, 0, said);
        } else {
            worse += 1;
        }
        if worse == PATIENCE || halves.is_empty() {
            break;
        }
    }
    let mut beta = zeros();
    for penalty in &path[..=best] {
        beta = fitted(kind, x, y, *penalty, &beta);
    }
    (beta, path[best], held)
}

/// Minus the log likelihood of a sample.
fn loss(kind: Kind, y: MatRef<'_, f64>, score: &Mat<f64>, n: usize) -> f64 {
    if kind == Kind::Multinomial {
        let of_truth: f64 = (0..y.ncols()).map(|c| y[(n, c)] * score[(n, c)]).sum();
        return ln_sum_exp(score, n) - of_truth;
    }
    softplus(score[(n, 0)]) - y[(n, 0)] * score[(n, 0)]
}

/// The coefficients of one penalty.
fn fitted(
    kind: Kind,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    penalty: f64,
    start: &Mat<f64>,
) -> Mat<f64> {
    let (n, p, c) = (x.nrows(), x.ncols(), y.ncols());
    let weight = |i: usize| if i == 0 { INTERCEPT } else { penalty };
    let unpacked = |b: &[f64]| Mat::from_fn(1 + p, c, |i, d| b[d * (1 + p) + i]);
    let function = |b: &[f64]| {
        let score = scores(x, &unpacked(b));
        let mut value: f64 = (0..n).map(|n| loss(kind, y, &score, n)).sum();
        let mut residual = score;
        for n in 0..n {
            if kind == Kind::Multinomial {
                let ln_sum = ln_sum_exp(&residual, n);
                for d in 0..c {
                    residual[(n, d)] = (residual[(n, d)] - ln_sum).exp() - y[(n, d)];
                }
            } else {
                residual[(n, 0)] = logistic_of(residual[(n, 0)]) - y[(n, 0)];
            }
        }
        let of_features = cross(x, residual.as_ref());
        let mut slope = vec![0.0; b.len()];
        for d in 0..c {
            for i in 0..=p {
                let at = d * (1 + p) + i;
                let data = if i == 0 {
                    residual.col_as_slice(d).iter().sum()
                } else {
                    of_features[(i - 1, d)]
                };
                slope[at] = data + weight(i) * b[at];
                value += 0.5 * weight(i) * b[at] * b[at];
            }
        }
        (value, slope)
    };
    let start: Vec<f64> = (0..c)
        .flat_map(|d| start.col_as_slice(d).to_vec())
        .collect();
    unpacked(&minimise(start, TOLERANCE * n as f64, function))
}

fn logistic_of(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

/// $\ln(1 + e^s)$ without overflow.
fn softplus(s: f64) -> f64 {
    s.max(0.0) + (-s.abs()).exp().ln_1p()
}

/// $\ln\sum\_c e^{s\_{nc}}$ without overflow.
fn ln_sum_exp(score: &Mat<f64>, n: usize) -> f64 {
    let row = || (0..score.ncols()).map(|c| score[(n, c)]);
    let most = row().fold(f64::NEG_INFINITY, f64::max);
    most + row().map(|s| (s - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests;
