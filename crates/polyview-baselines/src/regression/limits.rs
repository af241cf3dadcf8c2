//! Numbers of which limits may be all that is known.

use polyview_linalg::{Mat, MatRef, cross};
use polyview_special::LimitedNormal;

use super::descent::{INTERCEPT, TOLERANCE, least_loss, squares_of_columns};
use super::{Kind, Reduced, Regression, place, rows, scores, splits};
use crate::error::{finite, same};
use crate::minimise::minimise_along;
use crate::{BaselineError, Tuning};

/// A regression on limits, with what is said of samples that were held out.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// The regression; it predicts numbers.
    pub regression: Regression,
    /// What is said of each sample by the others, samples × targets: numbers, under the penalty that was chosen, by the
    /// fit without its fold. `NaN` where nothing is known of the target, and with one fold alone.
    pub held_out: Mat<f64>,
    /// Variance of the noise of each target, in its squared units, about `held_out`, or with one fold alone about what the regression itself says of
    /// its samples.
    pub noise: Vec<f64>,
}

/// Ridge regression of numbers of which limits may be all that is known (Tobin 1958; in the coordinates of Olsen 1978, in which
/// it is convex): $y = \beta\_0 + X\beta + \varepsilon$ with normal noise of standard deviation $1/\theta$, $\gamma = \theta\beta$, minimises
///
/// $$ -\sum\_n \ln p(l\_n \le y\_n \le u\_n) + \tfrac12\lambda\lVert\gamma\rVert^2, $$
///
/// which is [`ridge`](crate::ridge) where all numbers are exact. `lower` and `upper` are samples × targets: the number twice
/// where it is exact, infinite where there is no limit on that side, both infinite or `NaN` where nothing is known. The noise is held by one more
/// cell, at one standard deviation of the numbers and limits from its predictor. The penalty of each target is
/// that of least log loss on the folds of [`Tuning`]; penalties are tried as by [`logistic`](crate::logistic).
///
/// # Errors
/// [`BaselineError::Shape`], [`BaselineError::NotFinite`] of features, [`BaselineError::Limits`], [`BaselineError::Penalties`], [`BaselineError::Linalg`].
pub fn limited_ridge(
    x: MatRef<'_, f64>,
    (lower, upper): (MatRef<'_, f64>, MatRef<'_, f64>),
    tuning: &Tuning,
) -> Result<Limited, BaselineError> {
    same("samples of the targets", x.nrows(), lower.nrows())?;
    same("samples of the upper limits", x.nrows(), upper.nrows())?;
    same("upper limits", lower.ncols(), upper.ncols())?;
    tuning.check(x.nrows())?;
    finite("features", x, false)?;
    let reduced = Reduced::of(x)?.turned()?;
    let (samples, targets) = (lower.nrows(), lower.ncols());
    let mut out = Limited {
        regression: Regression {
            kind: Kind::Ridge,
            coefficients: Mat::full(1 + x.ncols(), targets, f64::NAN),
            penalties: vec![f64::NAN; targets],
        },
        held_out: Mat::full(samples, targets, f64::NAN),
        noise: vec![f64::NAN; targets],
    };
    for d in 0..targets {
        let cells: Vec<(f64, f64)> = (0..samples)
            .map(|n| (lower[(n, d)], upper[(n, d)]))
            .collect();
        if let Some(row) = cells.iter().position(|(l, u)| l > u) {
            return Err(BaselineError::Limits { row, column: d });
        }
        let known = |n: &usize| cells[*n].0.is_finite() || cells[*n].1.is_finite();
        let keep: Vec<usize> = (0..samples).filter(known).collect();
        if keep.is_empty() {
            continue;
        }
        let own: Vec<(f64, f64)> = keep.iter().map(|&n| cells[n]).collect();
        let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
        let x = rows(reduced.x.as_ref(), &keep);
        let fit = Target::new(&own).along(x.as_ref(), &tuning.path(), &fold);
        place(&fit.held, 0, &keep, (&mut out.held_out, d));
        let beta = reduced.back(&fit.beta);
        let to = out.regression.coefficients.col_as_slice_mut(d);
        to.copy_from_slice(beta.col_as_slice(0));
        out.regression.penalties[d] = fit.penalty;
        out.noise[d] = fit.noise;
    }
    Ok(out)
}

/// One target: its cells, standardised.
struct Target {
    cells: Vec<(f64, f64)>,
    mean: f64,
    sd: f64,
}

/// What was found of a target, in its own units.
struct Found {
    beta: Mat<f64>,
    penalty: f64,
    held: Mat<f64>,
    noise: f64,
}

impl Target {
    fn new(cells: &[(f64, f64)]) -> Self {
        let middle = |&(l, u): &(f64, f64)| match (l.is_finite(), u.is_finite()) {
            (true, true) => 0.5 * (l + u),
            (true, false) => l,
            _ => u,
        };
        let n = cells.len() as f64;
        let mean = cells.iter().map(middle).sum::<f64>() / n;
        let square = cells
            .iter()
            .map(|c| (middle(c) - mean).powi(2))
            .sum::<f64>()
            / n;
        let sd = if square > 0.0 { square.sqrt() } else { 1.0 };
        let standard = |x: f64| (x - mean) / sd;
        Self {
            cells: (cells.iter())
                .map(|&(l, u)| (standard(l), standard(u)))
                .collect(),
            mean,
            sd,
        }
    }
    /// The fit of the penalty of least log loss on folds; each penalty starts at the answer of the stronger one.
    fn along(&self, x: MatRef<'_, f64>, path: &[f64], fold: &[usize]) -> Found {
        let start = || {
            let mut start = vec![0.0; x.ncols() + 2];
            start[x.ncols() + 1] = 1.0;
            start
        };
        let splits = splits(fold);
        let part =
            |of: &[usize]| -> Vec<(f64, f64)> { of.iter().map(|&n| self.cells[n]).collect() };
        let halves: Vec<_> = (splits.iter())
            .map(|(inside, outside)| {
                (
                    rows(x, outside),
                    part(outside),
                    rows(x, inside),
                    part(inside),
                )
            })
            .collect();
        let mut starts: Vec<Vec<f64>> = halves.iter().map(|_| start()).collect();
        let (best, held) = least_loss(path, (x.nrows(), 1), splits.len(), |penalty, said| {
            let mut sum = 0.0;
            let of_folds = halves.iter().zip(&splits).zip(&mut starts);
            for (((seen, known, new, truth), (inside, _)), start) in of_folds {
                *start = fitted(seen.as_ref(), known, penalty, std::mem::take(start));
                let (beta, theta) = unpacked(start);
                let score = scores(new.as_ref(), &beta);
                for (i, cell) in truth.iter().enumerate() {
                    sum += loss(*cell, theta, score[(i, 0)]).0;
                    said[(inside[i], 0)] = score[(i, 0)] / theta;
                }
            }
            sum
        });
        let mut found = start();
        for penalty in &path[..=best] {
            found = fitted(x, &self.cells, *penalty, found);
        }
        let (gamma, theta) = unpacked(&found);
        let own = scores(x, &gamma);
        let said: Vec<f64> = (0..x.nrows())
            .map(|n| {
                let held = held[(n, 0)];
                if held.is_nan() {
                    own[(n, 0)] / theta
                } else {
                    held
                }
            })
            .collect();
        let in_units = |z: f64| self.mean + self.sd * z;
        Found {
            beta: Mat::from_fn(gamma.nrows(), 1, |i, _| {
                let own = gamma[(i, 0)] / theta;
                if i == 0 { in_units(own) } else { self.sd * own }
            }),
            penalty: path[best],
            held: Mat::from_fn(x.nrows(), 1, |n, _| in_units(held[(n, 0)])),
            noise: (self.sd / sharpness(&self.cells, &said)).powi(2),
        }
    }
}

/// Coefficients of the features, intercept first, and the inverse standard deviation of the noise.
fn unpacked(b: &[f64]) -> (Mat<f64>, f64) {
    let last = b.len() - 1;
    (Mat::from_fn(last, 1, |i, _| b[i]), b[last])
}

/// Minus the log likelihood of a cell, and its slopes in $\theta$ and in the predictor, both in standard deviations of the noise.
fn loss(cell: (f64, f64), theta: f64, score: f64) -> (f64, f64, f64) {
    let LimitedNormal { value, slope, .. } = LimitedNormal::of(cell, (score, theta));
    (-value, -slope[1], -slope[0])
}

/// Intercept, coefficients and $\theta$ of one penalty.
fn fitted(x: MatRef<'_, f64>, cells: &[(f64, f64)], penalty: f64, start: Vec<f64>) -> Vec<f64> {
    let p = x.ncols();
    let function = |b: &[f64]| {
        let (gamma, theta) = unpacked(b);
        if theta <= 0.0 {
            return (f64::INFINITY, vec![0.0; b.len()]);
        }
        let score = scores(x, &gamma);
        // the cell beforehand
        let (mut value, mut slope) = (0.5 * theta * theta - theta.ln(), vec![0.0; b.len()]);
        slope[p + 1] = theta - theta.recip();
        let mut residual = Mat::zeros(cells.len(), 1);
        for (n, cell) in cells.iter().enumerate() {
            let (own, of_theta, of_score) = loss(*cell, theta, score[(n, 0)]);
            value += own;
            slope[p + 1] += of_theta;
            residual[(n, 0)] = of_score;
        }
        let of_features = cross(x, residual.as_ref());
        slope[0] = residual.col_as_slice(0).iter().sum::<f64>();
        for i in 0..p {
            slope[1 + i] = of_features[(i, 0)];
        }
        for i in 0..=p {
            let weight = if i == 0 { INTERCEPT } else { penalty };
            slope[i] += weight * b[i];
            value += 0.5 * weight * b[i] * b[i];
        }
        (value, slope)
    };
    // of exact numbers; limits bend it less
    let theta = start[p + 1];
    let mut curvature = vec![cells.len() as f64 + INTERCEPT];
    curvature.extend(squares_of_columns(x).into_iter().map(|sum| sum + penalty));
    curvature.push((cells.len() as f64 + 1.0) * (1.0 + theta.powi(-2)));
    let tolerance = TOLERANCE * (cells.len() as f64).sqrt();
    minimise_along(start, &curvature, tolerance, function)
}

/// The inverse standard deviation of noise about these predictors, standardised as the cells are.
fn sharpness(cells: &[(f64, f64)], said: &[f64]) -> f64 {
    let function = |b: &[f64]| {
        let theta = b[0];
        if theta <= 0.0 {
            return (f64::INFINITY, vec![0.0]);
        }
        let (mut value, mut slope) = (0.5 * theta * theta - theta.ln(), theta - theta.recip());
        for (cell, eta) in cells.iter().zip(said) {
            let (own, of_theta, of_score) = loss(*cell, theta, theta * eta);
            value += own;
            slope += of_theta + eta * of_score;
        }
        (value, vec![slope])
    };
    let curvature = [2.0 * cells.len() as f64];
    let tolerance = TOLERANCE * (cells.len() as f64).sqrt();
    minimise_along(vec![1.0], &curvature, tolerance, function)[0]
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal};

    use super::*;
    use crate::ridge;

    /// Features, and numbers that follow two of them with noise of standard deviation .5.
    fn simulated(n: usize, p: usize) -> (Mat<f64>, Mat<f64>) {
        let mut rng = StreamKey::new(8).rng();
        let x = Mat::from_fn(n, p, |_, _| standard_normal(&mut rng));
        let y = Mat::from_fn(n, 1, |n, _| {
            10.0 + 2.0 * x[(n, 0)] - x[(n, 1)] + 0.5 * standard_normal(&mut rng)
        });
        (x, y)
    }

    fn folds(n: usize) -> Tuning {
        Tuning::new((0..n).map(|n| n % 5).collect())
    }

    #[test]
    fn exact_numbers_are_ridge_regression() {
        for (n, p) in [(150, 4), (30, 40)] {
            let (x, y) = simulated(n, p);
            let one = Tuning {
                penalties: vec![3.0],
                fold: (0..n).map(|n| n % 5).collect(),
            };
            let own = limited_ridge(x.as_ref(), (y.as_ref(), y.as_ref()), &one).unwrap();
            let plain = ridge(x.as_ref(), y.as_ref(), &one).unwrap();
            for i in 0..=p {
                let gap = own.regression.coefficients()[(i, 0)] - plain.coefficients()[(i, 0)];
                assert!(gap.abs() < 2e-3, "{n} {i}: {gap}");
            }
            if n > p {
                assert!((own.noise[0] / 0.25 - 1.0).abs() < 0.3, "{}", own.noise[0]);
            }
        }
    }

    #[test]
    fn slopes_are_those_of_finite_differences() {
        let inf = f64::INFINITY;
        for cell in [
            (0.4, 0.4),
            (0.4, inf),
            (-inf, -1.0),
            (-0.2, 0.9),
            (25.0, inf),
        ] {
            let (theta, score, h) = (1.3, 0.7, 1e-5);
            let (_, of_theta, of_score) = loss(cell, theta, score);
            let at = |t: f64, s: f64| loss(cell, t, s).0;
            let by_theta = (at(theta + h, score) - at(theta - h, score)) / (2.0 * h);
            let by_score = (at(theta, score + h) - at(theta, score - h)) / (2.0 * h);
            assert!(
                (of_theta - by_theta).abs() < 1e-6 * (1.0 + by_theta.abs()),
                "{cell:?}"
            );
            assert!(
                (of_score - by_score).abs() < 1e-6 * (1.0 + by_score.abs()),
                "{cell:?}"
            );
        }
    }

    /// Six in ten are known to lie above a limit alone: what is taken for the number then is far off,
    /// and the limits are not.
    #[test]
    fn coefficients_are_found_behind_limits() {
        let n = 600;
        let (x, y) = simulated(n, 3);
        let limit = 9.4;
        let lower = Mat::from_fn(n, 1, |n, _| y[(n, 0)].min(limit));
        let upper = Mat::from_fn(n, 1, |n, _| {
            if y[(n, 0)] > limit {
                f64::INFINITY
            } else {
                y[(n, 0)]
            }
        });
        let own = limited_ridge(x.as_ref(), (lower.as_ref(), upper.as_ref()), &folds(n)).unwrap();
        let plain = ridge(x.as_ref(), lower.as_ref(), &folds(n)).unwrap();
        for (i, truth) in [10.0, 2.0, -1.0, 0.0].into_iter().enumerate() {
            let found = own.regression.coefficients()[(i, 0)];
            assert!((found - truth).abs() < 0.12, "{i}: {found}");
        }
        assert!((plain.coefficients()[(1, 0)] - 2.0).abs() > 0.5);
        assert!((own.noise[0] / 0.25 - 1.0).abs() < 0.25, "{}", own.noise[0]);
        assert!(own.held_out.col_as_slice(0).iter().all(|x| x.is_finite()));
    }

    #[test]
    fn what_cannot_be_known_is_finite_or_missing() {
        let (x, y) = simulated(40, 3);
        let none = Mat::full(40, 1, f64::NAN);
        let own = limited_ridge(x.as_ref(), (none.as_ref(), none.as_ref()), &folds(40)).unwrap();
        assert!(own.noise[0].is_nan() && own.held_out[(0, 0)].is_nan());
        // nothing but limits on one side
        let above = Mat::full(40, 1, f64::INFINITY);
        let own = limited_ridge(x.as_ref(), (y.as_ref(), above.as_ref()), &folds(40)).unwrap();
        assert!(own.noise[0] > 0.0 && own.noise[0].is_finite());
        assert!(own.held_out.col_as_slice(0).iter().all(|x| x.is_finite()));
        let wrong = limited_ridge(x.as_ref(), (above.as_ref(), y.as_ref()), &folds(40));
        assert!(matches!(
            wrong,
            Err(BaselineError::Limits { row: 0, column: 0 })
        ));
    }
}
