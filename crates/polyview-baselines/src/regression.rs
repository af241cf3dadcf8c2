//! Linear models with a penalty.

mod descent;
mod limits;
mod ordered;
mod sparse;
mod squares;

use std::collections::BTreeMap;

use polyview_linalg::{Mat, MatRef, gram, sym_eigen, thin_qr, times_small};

use crate::error::{finite, same};
use crate::{BaselineError, Tuning, parts};
use descent::{ln_sum_exp, logistic_of, smooth};
pub use limits::{Limited, limited_ridge};
pub use ordered::{Ordered, ordered_probit};
pub use sparse::{lasso_held_out, sparse_logistic_held_out, sparse_multinomial_held_out};
use squares::squares;

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
/// missing. From the strongest penalty on, weaker ones are tried: all of them
/// while none is better than the strongest, then until four in a row are worse than the best.
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
    checked_labels(y)?;
    by_target(Kind::Logistic, x, y, tuning)
}

/// Refuses labels that are none.
fn checked_labels(y: MatRef<'_, f64>) -> Result<(), BaselineError> {
    for column in 0..y.ncols() {
        for row in 0..y.nrows() {
            let value = y[(row, column)];
            if !(value == 0.0 || value == 1.0 || value.is_nan()) {
                return Err(BaselineError::NotALabel { row, column, value });
            }
        }
    }
    Ok(())
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
    let (keep, y) = checked_classes(x, classes, count, tuning)?;
    let reduced = Reduced::of(x)?;
    let turned = Reduced::as_it_is(rows(reduced.x.as_ref(), &keep)).turned()?;
    let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
    let mut held = Mat::full(x.nrows(), count, f64::NAN);
    let (beta, penalty, own) = smooth(
        Kind::Multinomial,
        turned.x.as_ref(),
        y.as_ref(),
        &tuning.path(),
        &fold,
    );
    for c in 0..count {
        place(&own, c, &keep, (&mut held, c));
    }
    let fit = Regression {
        kind: Kind::Multinomial,
        coefficients: reduced.back(&turned.back(&beta)),
        penalties: vec![penalty],
    };
    Ok((fit, held))
}

/// The samples that have a class, and of each a one for its own.
fn checked_classes(
    x: MatRef<'_, f64>,
    classes: &[Option<usize>],
    count: usize,
    tuning: &Tuning,
) -> Result<(Vec<usize>, Mat<f64>), BaselineError> {
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
    let y = Mat::from_fn(keep.len(), count, |n, c| {
        f64::from(u8::from(classes[keep[n]] == Some(c)))
    });
    Ok((keep, y))
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
        let mut own = Reduced::as_it_is(rows(reduced.x.as_ref(), keep));
        if kind != Kind::Ridge {
            own = own.turned()?;
        }
        let x = &own.x;
        let y = Mat::from_fn(keep.len(), columns.len(), |n, d| y[(keep[n], columns[d])]);
        let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
        let mut beta = Mat::zeros(1 + x.ncols(), columns.len());
        if kind == Kind::Ridge {
            let (chosen, said);
            (beta, chosen, said) = squares(x.as_ref(), y.as_ref(), &path, &fold)?;
            for (i, (d, p)) in columns.iter().zip(chosen).enumerate() {
                penalties[*d] = p;
                place(&said, i, keep, (&mut held, *d));
            }
        } else {
            for (d, column) in columns.iter().enumerate() {
                let one = y.subcols(d, 1);
                let (found, penalty, said) = smooth(kind, x.as_ref(), one, &path, &fold);
                place(&said, 0, keep, (&mut held, *column));
                beta.col_as_slice_mut(d)
                    .copy_from_slice(found.col_as_slice(0));
                penalties[*column] = penalty;
            }
        }
        let beta = reduced.back(&own.back(&beta));
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
    /// Features that are taken as they are.
    fn as_it_is(x: Mat<f64>) -> Self {
        Self { x, q: None }
    }
    fn of(x: MatRef<'_, f64>) -> Result<Self, BaselineError> {
        if x.ncols() <= x.nrows() {
            return Ok(Self::as_it_is(x.to_owned()));
        }
        let (q, r) = thin_qr(x.transpose().to_owned().as_ref())?;
        Ok(Self {
            x: r.transpose().to_owned(),
            q: Some(q),
        })
    }
    /// Turned to the axes of $X^\top X$, along which a loss bends by itself.
    fn turned(self) -> Result<Self, BaselineError> {
        let (_, axes) = sym_eigen(gram(self.x.as_ref()).to_mat().as_ref())?;
        Ok(Self {
            x: times_small(self.x.as_ref(), axes.as_ref()),
            q: Some(match self.q {
                Some(q) => times_small(q.as_ref(), axes.as_ref()),
                None => axes,
            }),
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

#[cfg(test)]
mod tests;
