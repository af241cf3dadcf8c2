//! Ordered levels.

use polyview_linalg::{Mat, MatRef, cross};
use polyview_special::{ln_interval_probability, ln_normal_pdf, normal_cdf, normal_quantile};

use super::descent::{TOLERANCE, least_loss, squares_of_columns};
use super::{Reduced, place, rows, scores, splits};
use crate::error::{finite, same};
use crate::minimise::minimise_along;
use crate::{BaselineError, Tuning};

/// A sample beside those that there are, of each level, at a predictor of zero: it keeps cut points about levels that nobody has finite.
const BESIDE: f64 = 0.5;

/// Least distance of two cut points, units of the noise.
const APART: f64 = 1e-6;

/// A regression of ordered levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    /// Coefficients, 1 + features × targets, units of the noise: the intercepts are the first row. `NaN` where nothing is known of a
    /// target.
    pub coefficients: Mat<f64>,
    /// Cut points of each target in order, levels - 1, which add up to zero; units of the noise.
    pub cuts: Vec<Vec<f64>>,
    /// The penalty that was chosen for each target; `NaN` where nothing is known of it.
    pub penalties: Vec<f64>,
    /// What is said of each sample by the others, samples × targets: linear predictors, under the penalty that was chosen, by the
    /// fit without its fold. `NaN` where the level is missing, and with one fold alone.
    pub held_out: Mat<f64>,
}

impl Ordered {
    /// Probabilities of the levels, of each level samples × targets; `NaN` where nothing was known of a target.
    ///
    /// # Errors
    /// [`BaselineError::Shape`] for another number of features, or of targets with cut points, [`BaselineError::NotFinite`].
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Vec<Mat<f64>>, BaselineError> {
        let (rows, targets) = self.coefficients.shape();
        same(
            "rows of the coefficients, one more than features",
            1 + x.ncols(),
            rows,
        )?;
        same("targets with cut points", targets, self.cuts.len())?;
        finite("features", x, false)?;
        let score = scores(x, &self.coefficients);
        let levels = self.cuts.first().map_or(0, |own| own.len() + 1);
        let below = |n: usize, d: usize, k: usize| match k {
            0 => 0.0,
            k => (self.cuts[d].get(k - 1)).map_or(1.0, |c| normal_cdf(c - score[(n, d)])),
        };
        let of = |k: usize| {
            Mat::from_fn(x.nrows(), score.ncols(), |n, d| {
                if score[(n, d)].is_nan() {
                    f64::NAN
                } else {
                    below(n, d, k + 1) - below(n, d, k)
                }
            })
        };
        Ok((0..levels).map(of).collect())
    }
}

/// Regression of ordered levels (McCullagh 1980, with a normal variable as in Aitchison and Silvey 1957) with a penalty on the squares of the
/// coefficients: level k is seen where $\beta\_0 + X\beta + \varepsilon$, $\varepsilon\sim N(0, 1)$, lies between $\theta\_{k-1}$
/// and $\theta\_k$. Coefficients and cut points minimise
///
/// $$ -\sum\_n \ln\lbrace\Phi(\theta\_{y\_n} - s\_n) - \Phi(\theta\_{y\_n - 1} - s\_n)\rbrace + \tfrac12\lambda\lVert\beta\rVert^2, $$
///
/// which is convex (Pratt 1981), half a sample of each level added at the predictor of no feature. `y` is samples × targets: levels
/// 1 to `levels`, `NaN` where it is missing. The penalty of each target is that of least log loss on the folds of [`Tuning`]; penalties
/// are tried as by [`logistic`](crate::logistic).
///
/// # Errors
/// [`BaselineError::Shape`], [`BaselineError::NotFinite`] of features, [`BaselineError::NotALevel`], [`BaselineError::Penalties`],
/// [`BaselineError::Linalg`].
pub fn ordered_probit(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    levels: usize,
    tuning: &Tuning,
) -> Result<Ordered, BaselineError> {
    same("samples of the targets", x.nrows(), y.nrows())?;
    tuning.check(x.nrows())?;
    finite("features", x, false)?;
    for column in 0..y.ncols() {
        for row in 0..y.nrows() {
            let value = y[(row, column)];
            let is_level = value.fract() == 0.0 && value >= 1.0 && value <= levels as f64;
            if !(is_level || value.is_nan()) {
                return Err(BaselineError::NotALevel {
                    row,
                    column,
                    value,
                    levels,
                });
            }
        }
    }
    let reduced = Reduced::of(x)?.turned()?;
    let targets = y.ncols();
    let mut out = Ordered {
        coefficients: Mat::full(1 + x.ncols(), targets, f64::NAN),
        cuts: vec![vec![0.0; levels.saturating_sub(1)]; targets],
        penalties: vec![f64::NAN; targets],
        held_out: Mat::full(x.nrows(), targets, f64::NAN),
    };
    for d in 0..targets {
        let keep: Vec<usize> = (0..x.nrows()).filter(|n| !y[(*n, d)].is_nan()).collect();
        if keep.is_empty() || levels < 2 {
            continue;
        }
        let own: Vec<usize> = keep.iter().map(|&n| y[(n, d)] as usize).collect();
        let fold: Vec<usize> = keep.iter().map(|&n| tuning.fold[n]).collect();
        let x = rows(reduced.x.as_ref(), &keep);
        let found = along(x.as_ref(), (&own, levels), &tuning.path(), &fold);
        place(&found.held, 0, &keep, (&mut out.held_out, d));
        let beta = reduced.back(&found.beta);
        let to = out.coefficients.col_as_slice_mut(d);
        to.copy_from_slice(beta.col_as_slice(0));
        out.penalties[d] = found.penalty;
        out.cuts[d] = found.cuts;
    }
    Ok(out)
}

/// What was found of a target.
struct Found {
    beta: Mat<f64>,
    cuts: Vec<f64>,
    penalty: f64,
    held: Mat<f64>,
}

/// The fit of the penalty of least log loss on folds; each penalty starts at the answer of the stronger one. Answers are cut points,
/// and coefficients behind them.
fn along(
    x: MatRef<'_, f64>,
    (y, levels): (&[usize], usize),
    path: &[f64],
    fold: &[usize],
) -> Found {
    let part = |of: &[usize]| -> Vec<usize> { of.iter().map(|&n| y[n]).collect() };
    let splits = splits(fold);
    let halves: Vec<_> = (splits.iter())
        .map(|(inside, outside)| {
            let (seen, new) = (rows(x, outside), rows(x, inside));
            (seen, part(outside), new, part(inside))
        })
        .collect();
    let starts = halves.iter().map(|own| start(&own.1, levels, x.ncols()));
    let mut starts: Vec<Vec<f64>> = starts.collect();
    let (best, held) = least_loss(path, (x.nrows(), 1), splits.len(), |penalty, said| {
        let mut sum = 0.0;
        let of_folds = halves.iter().zip(&splits).zip(&mut starts);
        for (((seen, known, new, truth), (inside, _)), start) in of_folds {
            *start = fitted(
                seen.as_ref(),
                (known, levels),
                penalty,
                std::mem::take(start),
            );
            let (beta, cuts) = unpacked(start, levels);
            let score = scores(new.as_ref(), &beta);
            for (i, level) in truth.iter().enumerate() {
                said[(inside[i], 0)] = score[(i, 0)];
                sum += loss(&cuts, *level, score[(i, 0)]).value;
            }
        }
        sum
    });
    let mut found = start(y, levels, x.ncols());
    for penalty in &path[..=best] {
        found = fitted(x, (y, levels), *penalty, found);
    }
    let (beta, cuts) = unpacked(&found, levels);
    Found {
        beta,
        cuts,
        penalty: path[best],
        held,
    }
}

/// Cut points at the normal quantiles of the levels' shares, and no coefficients.
fn start(y: &[usize], levels: usize, features: usize) -> Vec<f64> {
    let share = |k: usize| {
        let below = y.iter().filter(|l| **l <= k).count() as f64;
        (below + BESIDE * k as f64) / (y.len() as f64 + BESIDE * levels as f64)
    };
    let mut out: Vec<f64> = (1..levels).map(|k| normal_quantile(share(k))).collect();
    out.extend(std::iter::repeat_n(0.0, features));
    out
}

/// Intercept and coefficients, and cut points that add up to zero.
fn unpacked(b: &[f64], levels: usize) -> (Mat<f64>, Vec<f64>) {
    let (cuts, beta) = b.split_at(levels - 1);
    let middle = cuts.iter().sum::<f64>() / cuts.len() as f64;
    let beta = Mat::from_fn(1 + beta.len(), 1, |i, _| {
        if i == 0 { -middle } else { beta[i - 1] }
    });
    (beta, cuts.iter().map(|c| c - middle).collect())
}

/// Minus the log probability of a level, and its slopes in its ends; that in the predictor is minus their sum.
struct Loss {
    value: f64,
    lower: f64,
    upper: f64,
}

fn loss(cuts: &[f64], level: usize, score: f64) -> Loss {
    let lower = (level.checked_sub(2)).map_or(f64::NEG_INFINITY, |i| cuts[i] - score);
    let upper = (cuts.get(level - 1)).map_or(f64::INFINITY, |c| c - score);
    let value = ln_interval_probability(lower, upper);
    let density = |end: f64| {
        if end.is_infinite() {
            0.0
        } else {
            (ln_normal_pdf(end) - value).exp()
        }
    };
    Loss {
        value: -value,
        lower: density(lower),
        upper: -density(upper),
    }
}

/// Cut points and coefficients of one penalty.
fn fitted(
    x: MatRef<'_, f64>,
    (y, levels): (&[usize], usize),
    penalty: f64,
    start: Vec<f64>,
) -> Vec<f64> {
    let (p, points) = (x.ncols(), levels - 1);
    let function = |b: &[f64]| {
        let (cuts, beta) = b.split_at(points);
        let mut slope = vec![0.0; b.len()];
        if cuts.windows(2).any(|two| two[1] - two[0] < APART) {
            return (f64::INFINITY, slope);
        }
        let column = Mat::from_fn(1 + p, 1, |i, _| if i == 0 { 0.0 } else { beta[i - 1] });
        let score = scores(x, &column);
        let mut value = 0.0;
        let mut residual = Mat::zeros(y.len(), 1);
        let mut add = |level: usize, score: f64, times: f64| {
            let own = loss(cuts, level, score);
            value += times * own.value;
            if level > 1 {
                slope[level - 2] += times * own.lower;
            }
            if level <= points {
                slope[level - 1] += times * own.upper;
            }
            -times * (own.lower + own.upper)
        };
        for level in 1..=levels {
            add(level, 0.0, BESIDE);
        }
        for (n, level) in y.iter().enumerate() {
            residual[(n, 0)] = add(*level, score[(n, 0)], 1.0);
        }
        let of_features = cross(x, residual.as_ref());
        for (i, b) in beta.iter().enumerate() {
            slope[points + i] = of_features[(i, 0)] + penalty * b;
            value += 0.5 * penalty * b * b;
        }
        (value, slope)
    };
    let curvature = bends(x, (&start[..points], y.len()), penalty);
    let tolerance = TOLERANCE * (y.len() as f64).sqrt();
    minimise_along(start, &curvature, tolerance, function)
}

/// Second derivatives along each coordinate where no feature says anything and levels are as frequent as their cut points say.
fn bends(x: MatRef<'_, f64>, (cuts, samples): (&[f64], usize), penalty: f64) -> Vec<f64> {
    let density = |k: usize| {
        k.checked_sub(1)
            .and_then(|i| cuts.get(i))
            .map_or(0.0, |c| ln_normal_pdf(*c).exp())
    };
    let below = |k: usize| match k {
        0 => 0.0,
        k => cuts.get(k - 1).map_or(1.0, |c| normal_cdf(*c)),
    };
    let share = |k: usize| (below(k) - below(k - 1)).max(1e-6);
    let of_predictor: f64 = (1..=cuts.len() + 1)
        .map(|k| (density(k) - density(k - 1)).powi(2) / share(k))
        .sum();
    let n = samples as f64;
    let of_cut = |k: usize| n * density(k).powi(2) * (share(k).recip() + share(k + 1).recip());
    let mut out: Vec<f64> = (1..=cuts.len()).map(|k| of_cut(k).max(BESIDE)).collect();
    let squares = squares_of_columns(x).into_iter();
    out.extend(squares.map(|sum| sum * of_predictor + penalty));
    out
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal};

    use super::*;
    use crate::logistic;

    const CUTS: [f64; 3] = [-1.0, 0.2, 1.5];

    /// Features, and levels that follow two of them between [`CUTS`].
    fn simulated(n: usize, p: usize) -> (Mat<f64>, Mat<f64>) {
        let mut rng = StreamKey::new(3).rng();
        let x = Mat::from_fn(n, p, |_, _| standard_normal(&mut rng));
        let y = Mat::from_fn(n, 1, |n, _| {
            let s = 0.3 + 0.8 * x[(n, 0)] - 0.5 * x[(n, 1)] + standard_normal(&mut rng);
            1.0 + CUTS.iter().filter(|c| s > **c).count() as f64
        });
        (x, y)
    }

    fn folds(n: usize) -> Tuning {
        Tuning::new((0..n).map(|n| n % 5).collect())
    }

    #[test]
    fn coefficients_and_cut_points_are_found() {
        let (x, y) = simulated(4000, 4);
        let own = ordered_probit(x.as_ref(), y.as_ref(), 4, &folds(4000)).unwrap();
        // cut points are told from their mean, which the intercept has
        let middle = CUTS.iter().sum::<f64>() / 3.0;
        for (i, truth) in [0.3 - middle, 0.8, -0.5, 0.0, 0.0].into_iter().enumerate() {
            let found = own.coefficients[(i, 0)];
            assert!((found - truth).abs() < 0.06, "{i}: {found}");
        }
        for (found, truth) in own.cuts[0].iter().zip(CUTS) {
            assert!((found - (truth - middle)).abs() < 0.06, "{found}");
        }
        // held out predictors are those of nearly the same fit
        let all = scores(x.as_ref(), &own.coefficients);
        for n in 0..4000 {
            assert!((own.held_out[(n, 0)] - all[(n, 0)]).abs() < 0.2);
        }
    }

    #[test]
    fn slopes_are_those_of_finite_differences() {
        let cuts = [-0.7, 0.1, 2.0];
        for level in 1..=4 {
            for score in [-3.0, 0.4, 5.0] {
                let h = 1e-6;
                let own = loss(&cuts, level, score);
                let at = |s: f64| loss(&cuts, level, s).value;
                let by_score = (at(score + h) - at(score - h)) / (2.0 * h);
                let found = -(own.lower + own.upper);
                assert!((found - by_score).abs() < 1e-6 * (1.0 + by_score.abs()));
                for k in 0..3 {
                    let moved = |by: f64| {
                        let mut cuts = cuts;
                        cuts[k] += by;
                        loss(&cuts, level, score).value
                    };
                    let slope = (moved(h) - moved(-h)) / (2.0 * h);
                    let found = match level {
                        l if l == k + 2 => own.lower,
                        l if l == k + 1 => own.upper,
                        _ => 0.0,
                    };
                    assert!((found - slope).abs() < 1e-6 * (1.0 + slope.abs()));
                }
            }
        }
    }

    /// Two levels are a label: a normal variable and a logistic one rank samples alike, and probabilities are nearly those.
    #[test]
    fn two_levels_are_a_label() {
        let (x, y) = simulated(300, 3);
        let two = Mat::from_fn(300, 1, |n, _| 1.0 + f64::from(u8::from(y[(n, 0)] > 2.0)));
        let label = Mat::from_fn(300, 1, |n, _| two[(n, 0)] - 1.0);
        let weak = Tuning {
            penalties: vec![0.01],
            ..folds(300)
        };
        let own = ordered_probit(x.as_ref(), two.as_ref(), 2, &weak).unwrap();
        let theirs = logistic(x.as_ref(), label.as_ref(), &weak).unwrap();
        let (p, q) = (
            own.predict(x.as_ref()).unwrap(),
            theirs.predict(x.as_ref()).unwrap(),
        );
        for n in 0..300 {
            assert!((p[1][(n, 0)] - q[(n, 0)]).abs() < 0.03);
            assert!((p[0][(n, 0)] + p[1][(n, 0)] - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn what_cannot_be_known_is_finite_or_missing() {
        let (x, y) = simulated(40, 60);
        let mut holes = Mat::full(40, 2, f64::NAN);
        for n in 0..30 {
            // the third level is nobody's, and two are never seen
            holes[(n, 0)] = [1.0, 2.0, 2.0, 4.0][y[(n, 0)] as usize - 1];
        }
        let own = ordered_probit(x.as_ref(), holes.as_ref(), 6, &folds(40)).unwrap();
        assert!(own.cuts[0].windows(2).all(|two| two[0] < two[1]));
        assert!(own.cuts.iter().flatten().all(|c| c.is_finite()));
        assert!(own.penalties[1].is_nan() && own.coefficients[(0, 1)].is_nan());
        assert!(own.held_out[(35, 0)].is_nan() && own.held_out[(3, 0)].is_finite());
        let p = own.predict(x.as_ref()).unwrap();
        assert!(p[4][(0, 0)] > 0.0 && p[4][(0, 1)].is_nan());
        let wrong = Mat::full(40, 1, 7.0);
        assert!(matches!(
            ordered_probit(x.as_ref(), wrong.as_ref(), 6, &folds(40)),
            Err(BaselineError::NotALevel {
                row: 0,
                column: 0,
                levels: 6,
                ..
            })
        ));
        assert!(ordered_probit(x.as_ref(), holes.as_ref(), 0, &folds(40)).is_err());
    }
}
