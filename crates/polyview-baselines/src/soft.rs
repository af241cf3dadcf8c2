//! Matrix completion by a softly thresholded singular value decomposition.

use polyview_linalg::{Mat, MatRef, cross, gram, sym_eigen, times_small};
use polyview_random::{StreamKey, uniform_open01};

use crate::error::finite;
use crate::{BaselineError, Design};

/// Choices of [`soft_impute`].
#[derive(Clone, Debug, PartialEq)]
pub struct SoftImputeOptions {
    /// Penalties on the path, from the largest singular value down; 2 at least.
    pub penalties: usize,
    /// The last penalty, as a share of the largest singular value; above 0 and below 1.
    pub least: f64,
    /// Share of the observed cells that are hidden to choose the penalty; above 0 and below 1.
    pub share: f64,
    /// Seed of those cells.
    pub seed: u64,
    /// A penalty's rounds end when the squared change of the matrix is this share of its square.
    pub tolerance: f64,
    /// Most rounds of a penalty.
    pub rounds: usize,
}

impl Default for SoftImputeOptions {
    fn default() -> Self {
        Self {
            penalties: 15,
            least: 0.02,
            share: 0.1,
            seed: 1,
            tolerance: 1e-5,
            rounds: 100,
        }
    }
}

/// A completed matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftImpute {
    /// Every cell of the low-rank answer, samples × features, in the units of the data: observed cells too.
    pub completed: Mat<f64>,
    /// The penalty that was chosen, in units of singular values of the standardised matrix.
    pub penalty: f64,
    /// Rank of the answer.
    pub rank: usize,
}

/// Completes a matrix (samples × features, `NaN` where a cell is missing) by the low-rank matrix Z that minimises
/// $\tfrac12\sum\_{\text{observed}}(x - z)^2 + \lambda\lVert Z\rVert\_\*$ of standardised features (Mazumder, Hastie and Tibshirani 2010):
/// rounds of filling the missing cells with the answer and thresholding the singular values softly, along a path of falling
/// penalties, each answer the start of the next. The penalty is the one of least squared error on observed cells that are hidden
/// for that; weaker ones are tried until two of them in a row are worse than the best. It knows no more than rows and columns:
/// features that are no real numbers are up to the caller.
///
/// ```
/// use polyview_baselines::{SoftImputeOptions, soft_impute};
/// use polyview_linalg::Mat;
///
/// // rank one, and a cell that is missing
/// let x = Mat::from_fn(30, 8, |n, d| if (n, d) == (3, 2) { f64::NAN } else { (n % 7) as f64 * (d + 1) as f64 });
/// let found = soft_impute(x.as_ref(), &SoftImputeOptions::default())?;
/// assert!((found.completed[(3, 2)] - 9.0).abs() < 0.5);
/// # Ok::<(), polyview_baselines::BaselineError>(())
/// ```
///
/// # Errors
/// [`BaselineError::NotFinite`] for infinite values, [`BaselineError::NothingObserved`], [`BaselineError::Option`] for choices out
/// of range, [`BaselineError::Linalg`].
pub fn soft_impute(
    x: MatRef<'_, f64>,
    options: &SoftImputeOptions,
) -> Result<SoftImpute, BaselineError> {
    check(options)?;
    finite("the matrix", x, true)?;
    let observed = Mat::from_fn(x.nrows(), x.ncols(), |n, d| !x[(n, d)].is_nan());
    let cells = |n: usize, d: usize| observed[(n, d)];
    let count = (0..x.ncols()).map(|d| (0..x.nrows()).filter(|&n| cells(n, d)).count());
    if count.sum::<usize>() == 0 {
        return Err(BaselineError::NothingObserved { what: "the matrix" });
    }
    let hidden = hidden(&observed, options);
    let left = Mat::from_fn(x.nrows(), x.ncols(), |n, d| cells(n, d) && !hidden[(n, d)]);
    let steps = chosen_steps(x, &left, &hidden, options)?;
    let mut path = Path::new(x, &observed, options)?;
    for step in 0..steps {
        path.go(step)?;
    }
    let completed = Mat::from_fn(x.nrows(), x.ncols(), |n, d| path.in_data_units(n, d));
    Ok(SoftImpute {
        completed,
        penalty: path.penalty,
        rank: path.rank,
    })
}

fn check(options: &SoftImputeOptions) -> Result<(), BaselineError> {
    let bad = |option, value, range| {
        Err(BaselineError::Option {
            option,
            value,
            range,
        })
    };
    if options.penalties < 2 {
        return bad("penalties", options.penalties as f64, "2 or more");
    }
    if options.rounds == 0 {
        return bad("rounds", 0.0, "1 or more");
    }
    for (option, value) in [
        ("least", options.least),
        ("share", options.share),
        ("tolerance", options.tolerance),
    ] {
        if !(value > 0.0 && value < 1.0) {
            return bad(option, value, "a number above 0 and below 1");
        }
    }
    Ok(())
}

/// Cells to hide: of each feature about that share, two staying at least.
fn hidden(observed: &Mat<bool>, options: &SoftImputeOptions) -> Mat<bool> {
    let mut out = Mat::full(observed.nrows(), observed.ncols(), false);
    for d in 0..observed.ncols() {
        let mut rng = StreamKey::new(options.seed).chunk(d as u32).rng();
        let mut left = (0..observed.nrows()).filter(|&n| observed[(n, d)]).count();
        for n in 0..observed.nrows() {
            let draw = uniform_open01(&mut rng) < options.share;
            if observed[(n, d)] && draw && left > 2 {
                out[(n, d)] = true;
                left -= 1;
            }
        }
    }
    out
}

/// How many penalties of the path to go, by the cells that are hidden; all of them where no cell is.
fn chosen_steps(
    x: MatRef<'_, f64>,
    left: &Mat<bool>,
    hidden: &Mat<bool>,
    options: &SoftImputeOptions,
) -> Result<usize, BaselineError> {
    let mut path = Path::new(x, left, options)?;
    let (mut best, mut least, mut worse) = (options.penalties, f64::INFINITY, 0);
    for step in 0..options.penalties {
        path.go(step)?;
        let error = path.error(x, hidden);
        if error < least {
            (best, least, worse) = (step + 1, error, 0);
        } else {
            worse += 1;
        }
        if worse == 2 {
            break;
        }
    }
    Ok(best)
}

/// The answer as it goes down the path.
struct Path<'a> {
    options: &'a SoftImputeOptions,
    design: Design,
    observed: &'a Mat<bool>,
    /// Observed cells, standardised; zero elsewhere.
    data: Mat<f64>,
    /// The low-rank matrix.
    answer: Mat<f64>,
    largest: f64,
    penalty: f64,
    rank: usize,
}

impl<'a> Path<'a> {
    fn new(
        x: MatRef<'_, f64>,
        observed: &'a Mat<bool>,
        options: &'a SoftImputeOptions,
    ) -> Result<Self, BaselineError> {
        let (n, p) = (x.nrows(), x.ncols());
        let known = Mat::from_fn(n, p, |n, d| {
            if observed[(n, d)] {
                x[(n, d)]
            } else {
                f64::NAN
            }
        });
        let design = Design::learn(known.as_ref())?;
        let data = design.apply(known.as_ref())?;
        let (values, _) = spectrum(&data)?;
        Ok(Self {
            options,
            design,
            observed,
            data,
            answer: Mat::zeros(n, p),
            largest: values.last().map_or(0.0, |v| v.max(0.0).sqrt()),
            penalty: f64::INFINITY,
            rank: 0,
        })
    }
    /// To the next penalty, number `step` of the path from 0.
    fn go(&mut self, step: usize) -> Result<(), BaselineError> {
        // the first penalty leaves nothing, which is the mean of each feature
        let down = step as f64 / (self.options.penalties - 1) as f64;
        self.penalty = self.largest * self.options.least.powf(down);
        for _ in 0..self.options.rounds {
            let filled = Mat::from_fn(self.data.nrows(), self.data.ncols(), |n, d| {
                let known = self.observed[(n, d)];
                if known {
                    self.data[(n, d)]
                } else {
                    self.answer[(n, d)]
                }
            });
            let (next, rank) = thresholded(&filled, self.penalty)?;
            let (mut change, mut size) = (0.0, 0.0);
            for d in 0..next.ncols() {
                let pairs = next.col_as_slice(d).iter().zip(self.answer.col_as_slice(d));
                for (new, old) in pairs {
                    change += (new - old).powi(2);
                    size += old * old;
                }
            }
            (self.answer, self.rank) = (next, rank);
            if change <= self.options.tolerance * size {
                break;
            }
        }
        Ok(())
    }
    fn in_data_units(&self, n: usize, d: usize) -> f64 {
        self.design.means()[d] + self.design.sds()[d] * self.answer[(n, d)]
    }
    /// Squared error of hidden cells, in standard deviations of their features.
    fn error(&self, x: MatRef<'_, f64>, hidden: &Mat<bool>) -> f64 {
        let mut sum = 0.0;
        for d in 0..x.ncols() {
            for n in (0..x.nrows()).filter(|&n| hidden[(n, d)]) {
                sum += ((x[(n, d)] - self.in_data_units(n, d)) / self.design.sds()[d]).powi(2);
            }
        }
        sum
    }
}

/// Squared singular values, ascending, and singular vectors of the shorter side.
fn spectrum(x: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>), BaselineError> {
    let matrix = if x.ncols() <= x.nrows() {
        gram(x.as_ref())
    } else {
        gram(x.transpose())
    };
    Ok(sym_eigen(matrix.to_mat().as_ref())?)
}

/// The matrix with every singular value lowered by the penalty, to zero at least, and the rank of that.
fn thresholded(x: &Mat<f64>, penalty: f64) -> Result<(Mat<f64>, usize), BaselineError> {
    let (values, vectors) = spectrum(x)?;
    let above = values
        .iter()
        .filter(|v| v.max(0.0).sqrt() > penalty)
        .count();
    let first = values.len() - above;
    let kept = vectors.subcols(first, above);
    let share = |j: usize| 1.0 - penalty / values[first + j].sqrt();
    let shrunk = Mat::from_fn(kept.nrows(), above, |i, j| kept[(i, j)] * share(j));
    let out = if x.ncols() <= x.nrows() {
        times_small(times_small(x.as_ref(), kept).as_ref(), shrunk.transpose())
    } else {
        times_small(shrunk.as_ref(), cross(kept, x.as_ref()).as_ref())
    };
    Ok((out, above))
}

#[cfg(test)]
mod tests {
    use polyview_linalg::thin_svd;
    use polyview_random::standard_normal;

    use super::*;

    /// Rank three with noise, of these shapes; the truth without noise too.
    fn simulated(n: usize, p: usize) -> (Mat<f64>, Mat<f64>) {
        let mut rng = StreamKey::new(8).rng();
        let z = Mat::from_fn(n, 3, |_, _| standard_normal(&mut rng));
        let w = Mat::from_fn(3, p, |_, _| standard_normal(&mut rng));
        let truth = times_small(z.as_ref(), w.as_ref());
        let truth = Mat::from_fn(n, p, |n, d| 5.0 * d as f64 + truth[(n, d)]);
        let x = Mat::from_fn(n, p, |n, d| {
            let value = truth[(n, d)] + 0.3 * standard_normal(&mut rng);
            if uniform_open01(&mut rng) < 0.2 {
                f64::NAN
            } else {
                value
            }
        });
        (x, truth)
    }

    #[test]
    fn singular_values_are_lowered() {
        for (n, p) in [(20, 7), (7, 20)] {
            let (_, truth) = simulated(n, p);
            let before = thin_svd(truth.as_ref())
                .expect("a decomposition")
                .singular_values;
            let (after, rank) = thresholded(&truth, 3.0).expect("a decomposition");
            let after = thin_svd(after.as_ref())
                .expect("a decomposition")
                .singular_values;
            assert_eq!(rank, before.iter().filter(|s| **s > 3.0).count());
            for (a, b) in after.iter().zip(&before) {
                assert!((a - (b - 3.0).max(0.0)).abs() < 1e-8, "{a} {b}");
            }
        }
    }

    #[test]
    fn hidden_cells_are_found_and_the_answer_is_a_fixed_point() {
        for (n, p) in [(120, 15), (15, 120)] {
            let (x, truth) = simulated(n, p);
            let found = soft_impute(x.as_ref(), &SoftImputeOptions::default()).expect("an answer");
            let (mut errors, mut spread) = (0.0, 0.0);
            for d in 0..p {
                let mean = truth.col_as_slice(d).iter().sum::<f64>() / n as f64;
                for n in (0..n).filter(|&n| x[(n, d)].is_nan()) {
                    errors += (found.completed[(n, d)] - truth[(n, d)]).powi(2);
                    spread += (truth[(n, d)] - mean).powi(2);
                }
            }
            assert!(errors < 0.2 * spread, "{n} x {p}: {}", errors / spread);
            assert!(found.rank >= 3, "{}", found.rank);
            // thresholding the filled matrix gives the answer again
            let design = Design::learn(x.as_ref()).expect("a design");
            let standard = |v: f64, d: usize| (v - design.means()[d]) / design.sds()[d];
            let filled = Mat::from_fn(n, p, |n, d| {
                let own = if x[(n, d)].is_nan() {
                    found.completed[(n, d)]
                } else {
                    x[(n, d)]
                };
                standard(own, d)
            });
            let (again, _) = thresholded(&filled, found.penalty).expect("a decomposition");
            for d in 0..p {
                for n in 0..n {
                    let gap = again[(n, d)] - standard(found.completed[(n, d)], d);
                    assert!(gap.abs() < 0.05, "{n} {d}: {gap}");
                }
            }
        }
    }

    #[test]
    fn noise_alone_is_left_at_the_means() {
        let mut rng = StreamKey::new(2).rng();
        let x = Mat::from_fn(60, 10, |n, d| {
            let v = standard_normal(&mut rng);
            if (n + d) % 5 == 0 { f64::NAN } else { v }
        });
        let found = soft_impute(x.as_ref(), &SoftImputeOptions::default()).expect("an answer");
        let means = crate::means(x.as_ref());
        for d in 0..10 {
            for n in (0..60).filter(|&n| x[(n, d)].is_nan()) {
                assert!((found.completed[(n, d)] - means[d]).abs() < 0.35);
            }
        }
    }

    #[test]
    fn what_cannot_be_is_named() {
        let options = SoftImputeOptions::default();
        let empty = Mat::full(3, 2, f64::NAN);
        let bad = soft_impute(empty.as_ref(), &options);
        assert!(matches!(bad, Err(BaselineError::NothingObserved { .. })));
        let bad = SoftImputeOptions {
            share: 1.0,
            ..options.clone()
        };
        let found = soft_impute(Mat::zeros(3, 2).as_ref(), &bad);
        assert!(matches!(
            found,
            Err(BaselineError::Option {
                option: "share",
                ..
            })
        ));
        // constant features, and a feature of which nothing is known
        let x = Mat::from_fn(4, 2, |_, d| if d == 0 { 2.5 } else { f64::NAN });
        let found = soft_impute(x.as_ref(), &options).expect("an answer");
        assert_eq!(
            (found.completed[(1, 0)], found.completed[(1, 1)]),
            (2.5, 0.0)
        );
    }
}
