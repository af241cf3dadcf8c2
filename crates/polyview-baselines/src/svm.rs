//! Linear support vector machines, one class against the others.

use polyview_linalg::{Mat, MatRef, times_small};
use polyview_random::{StreamKey, uniform_open01};

use crate::BaselineError;
use crate::error::{finite, same};

/// Most passes over the samples.
const PASSES: u32 = 2000;
/// A pass in which no sample's slope was further off than this ends the search.
const TOLERANCE: f64 = 1e-8;

/// Choices of [`linear_svm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SvmOptions {
    /// Cost $C$ of an error, above 0.
    pub cost: f64,
    /// Whether the two sides of each machine count alike however many samples they have: an error on a side of $N\_s$ of $N$
    /// samples costs $C N / (2 N\_s)$.
    pub balanced: bool,
}

/// One linear machine for each class, which tells it from all others.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSvm {
    coefficients: Mat<f64>,
}

impl LinearSvm {
    /// Machines of known coefficients, 1 + features × classes, the intercepts in the first row.
    ///
    /// # Errors
    /// [`BaselineError::NothingObserved`] without a row or a class, [`BaselineError::NotFinite`].
    pub fn from_coefficients(coefficients: Mat<f64>) -> Result<Self, BaselineError> {
        if coefficients.nrows() == 0 || coefficients.ncols() == 0 {
            return Err(BaselineError::NothingObserved {
                what: "coefficients",
            });
        }
        finite("coefficients", coefficients.as_ref(), false)?;
        Ok(Self { coefficients })
    }
    /// Coefficients, 1 + features × classes: the intercepts are the first row.
    pub fn coefficients(&self) -> MatRef<'_, f64> {
        self.coefficients.as_ref()
    }
    /// Scores, samples × classes: distances from each machine's border, in units of its margin.
    ///
    /// # Errors
    /// [`BaselineError::Shape`] for another number of features, [`BaselineError::NotFinite`].
    pub fn scores(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>, BaselineError> {
        let p = self.coefficients.nrows() - 1;
        same("features", p, x.ncols())?;
        finite("features", x, false)?;
        let mut out = times_small(x, self.coefficients.subrows(1, p));
        for c in 0..out.ncols() {
            let intercept = self.coefficients[(0, c)];
            for s in out.col_as_slice_mut(c) {
                *s += intercept;
            }
        }
        Ok(out)
    }
    /// The class of the largest score of each sample; of equal ones the first.
    ///
    /// # Errors
    /// As [`LinearSvm::scores`].
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Vec<usize>, BaselineError> {
        let scores = self.scores(x)?;
        let best = |n: usize| {
            (1..scores.ncols()).fold(0, |best, c| {
                if scores[(n, c)] > scores[(n, best)] {
                    c
                } else {
                    best
                }
            })
        };
        Ok((0..scores.nrows()).map(best).collect())
    }
}

/// Linear support vector machines, one for each of `count` classes against all others, by dual coordinate descent (Hsieh,
/// Chang, Lin, Keerthi and Sundararajan 2008): each minimises
/// $\tfrac12(\lVert w\rVert^2 + b^2) + \sum\_n C\_n \max(0, 1 - y\_n (x\_n w + b))$. The intercept is a weight as others are. Features
/// are taken as they are; `classes` are numbered from 0. The order of samples in each pass is drawn by a fixed key, so that the
/// same data give the same bits.
///
/// ```
/// use polyview_baselines::{SvmOptions, linear_svm};
/// use polyview_linalg::Mat;
///
/// let classes = [0, 0, 1, 1, 2, 2];
/// let x = Mat::from_fn(6, 2, |n, d| [[3.0, 0.0], [2.0, 0.5], [-2.0, 3.0], [-1.0, 3.0], [-2.0, -3.0], [-1.0, -2.0]][n][d]);
/// let fit = linear_svm(x.as_ref(), &classes, 3, &SvmOptions { cost: 1.0, balanced: true })?;
/// assert_eq!(fit.predict(x.as_ref())?, classes);
/// # Ok::<(), polyview_baselines::BaselineError>(())
/// ```
///
/// # Errors
/// [`BaselineError::Shape`], [`BaselineError::NotFinite`], [`BaselineError::UnknownClass`], [`BaselineError::Option`] for a
/// cost that is not a finite number above 0, [`BaselineError::NothingObserved`] without samples or classes.
pub fn linear_svm(
    x: MatRef<'_, f64>,
    classes: &[usize],
    count: usize,
    options: &SvmOptions,
) -> Result<LinearSvm, BaselineError> {
    same("classes of samples", x.nrows(), classes.len())?;
    finite("features", x, false)?;
    if !(options.cost.is_finite() && options.cost > 0.0) {
        return Err(BaselineError::Option {
            option: "the cost of an error",
            value: options.cost,
            range: "a finite number above 0",
        });
    }
    if classes.is_empty() || count == 0 {
        return Err(BaselineError::NothingObserved { what: "classes" });
    }
    if let Some(row) = classes.iter().position(|c| *c >= count) {
        return Err(BaselineError::UnknownClass {
            row,
            class: classes[row],
            classes: count,
        });
    }
    // rows side by side, the 1 of the intercept first
    let width = 1 + x.ncols();
    let mut rows = vec![1.0; classes.len() * width];
    for (n, row) in rows.chunks_exact_mut(width).enumerate() {
        for (d, cell) in row[1..].iter_mut().enumerate() {
            *cell = x[(n, d)];
        }
    }
    let mut coefficients = Mat::zeros(width, count);
    for c in 0..count {
        let side: Vec<bool> = classes.iter().map(|k| *k == c).collect();
        let w = machine(&rows, width, &side, options);
        coefficients.col_as_slice_mut(c).copy_from_slice(&w);
    }
    Ok(LinearSvm { coefficients })
}

/// The weights of one machine: minimises $\tfrac12 \alpha' Q \alpha - 1'\alpha$ over $0 \le \alpha\_n \le C\_n$, one entry after another.
fn machine(rows: &[f64], width: usize, side: &[bool], options: &SvmOptions) -> Vec<f64> {
    let n = side.len();
    let own = side.iter().filter(|s| **s).count();
    let cost = |of: usize| {
        if options.balanced {
            options.cost * n as f64 / (2.0 * of.max(1) as f64)
        } else {
            options.cost
        }
    };
    let (cost_own, cost_others) = (cost(own), cost(n - own));
    let row = |i: usize| &rows[i * width..(i + 1) * width];
    let squares: Vec<f64> = (0..n).map(|i| dot(row(i), row(i))).collect();
    let mut alpha = vec![0.0; n];
    let mut w = vec![0.0; width];
    let mut order: Vec<usize> = (0..n).collect();
    let mut rng = StreamKey::new(0).rng();
    for _ in 0..PASSES {
        for i in (1..n).rev() {
            let j = (uniform_open01(&mut rng) * (i + 1) as f64) as usize;
            order.swap(i, j.min(i));
        }
        let mut furthest = 0.0_f64;
        for &i in &order {
            let (y, most) = if side[i] {
                (1.0, cost_own)
            } else {
                (-1.0, cost_others)
            };
            let slope = y * dot(row(i), &w) - 1.0;
            let next = (alpha[i] - slope / squares[i]).clamp(0.0, most);
            let step = next - alpha[i];
            // what the bounds leave of the slope
            furthest = furthest.max(step.abs() * squares[i]);
            if step != 0.0 {
                alpha[i] = next;
                for (w, x) in w.iter_mut().zip(row(i)) {
                    *w += step * y * x;
                }
            }
        }
        if furthest <= TOLERANCE {
            break;
        }
    }
    w
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyview_random::standard_normal;

    fn data(seed: u64, n: usize) -> (Mat<f64>, Vec<usize>) {
        let mut rng = StreamKey::new(seed).rng();
        let classes: Vec<usize> = (0..n).map(|i| [0, 0, 0, 1, 2][i % 5]).collect();
        let x = Mat::from_fn(n, 3, |i, d| {
            let centre = if d == classes[i] { 1.2 } else { 0.0 };
            centre + standard_normal(&mut rng)
        });
        (x, classes)
    }

    /// The objective of the machine of class `c`, at any weights.
    fn objective(
        x: &Mat<f64>,
        classes: &[usize],
        c: usize,
        options: &SvmOptions,
        w: &[f64],
    ) -> f64 {
        let n = classes.len();
        let own = classes.iter().filter(|k| **k == c).count();
        let mut value = 0.5 * dot(w, w);
        for i in 0..n {
            let (y, of) = if classes[i] == c {
                (1.0, own)
            } else {
                (-1.0, n - own)
            };
            let cost = if options.balanced {
                options.cost * n as f64 / (2.0 * of as f64)
            } else {
                options.cost
            };
            let score = w[0] + (0..3).map(|d| w[d + 1] * x[(i, d)]).sum::<f64>();
            value += cost * (1.0 - y * score).max(0.0);
        }
        value
    }

    #[test]
    fn no_other_weights_cost_less() {
        let (x, classes) = data(3, 120);
        for balanced in [true, false] {
            let options = SvmOptions {
                cost: 0.2,
                balanced,
            };
            let fit = linear_svm(x.as_ref(), &classes, 3, &options).expect("a fit");
            let mut rng = StreamKey::new(9).rng();
            for c in 0..3 {
                let w = fit
                    .coefficients()
                    .col(c)
                    .iter()
                    .copied()
                    .collect::<Vec<_>>();
                let least = objective(&x, &classes, c, &options, &w);
                for size in [1e-4, 1e-2, 0.3] {
                    for _ in 0..40 {
                        let other: Vec<f64> = w
                            .iter()
                            .map(|w| w + size * standard_normal(&mut rng))
                            .collect();
                        let cost = objective(&x, &classes, c, &options, &other);
                        assert!(cost >= least - 1e-9, "{c}, {size}: {cost} < {least}");
                    }
                }
            }
        }
    }

    #[test]
    fn sides_count_alike_where_balanced() {
        // 190 of one class, 10 of the other, close together
        let mut rng = StreamKey::new(4).rng();
        let classes: Vec<usize> = (0..200).map(|n| usize::from(n % 20 == 0)).collect();
        let x = Mat::from_fn(200, 1, |n, _| {
            standard_normal(&mut rng) + 1.5 * classes[n] as f64
        });
        let found = |balanced| {
            let options = SvmOptions {
                cost: 0.05,
                balanced,
            };
            let fit = linear_svm(x.as_ref(), &classes, 2, &options).expect("a fit");
            let said = fit.predict(x.as_ref()).expect("classes");
            (0..200)
                .filter(|n| classes[*n] == 1 && said[*n] == 1)
                .count()
        };
        assert!(found(true) >= 7 && found(false) == 0);
    }

    #[test]
    fn what_cannot_be_is_named() {
        let (x, classes) = data(1, 10);
        let options = SvmOptions {
            cost: 1.0,
            balanced: true,
        };
        let bad = linear_svm(x.as_ref(), &classes, 2, &options);
        assert!(matches!(
            bad,
            Err(BaselineError::UnknownClass { class: 2, .. })
        ));
        let bad = linear_svm(x.as_ref(), &classes[..4], 3, &options);
        assert!(matches!(bad, Err(BaselineError::Shape { .. })));
        let none = SvmOptions {
            cost: 0.0,
            ..options
        };
        assert!(matches!(
            linear_svm(x.as_ref(), &classes, 3, &none),
            Err(BaselineError::Option { .. })
        ));
        let fit = linear_svm(x.as_ref(), &classes, 3, &options).expect("a fit");
        assert!(fit.predict(Mat::zeros(1, 2).as_ref()).is_err());
        let again = LinearSvm::from_coefficients(fit.coefficients().to_owned()).expect("the same");
        assert_eq!(again, fit);
        assert!(LinearSvm::from_coefficients(Mat::zeros(0, 2)).is_err());
    }
}
