//! What to beat: ridge and logistic regression, on the inputs or on components
//! of them, each penalty chosen by cross-validation on the training samples
//! (spec/sshiba 6.3).

use std::error::Error;

use polyview_baselines::{BaselineError, Design, Tuning, logistic, ridge, stratified};
use polyview_core::Table;
use polyview_linalg::{Mat, MatRef, column_sums, times_small};
use polyview_mva::{Metric, MvaError, opls, pca};

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Linear {
    /// Least squares with a penalty; scores, no probabilities.
    Ridge,
    /// Logistic regression with a penalty.
    Logistic,
}

/// What a linear model sees of the inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// All of them.
    All,
    /// The principal components that hold 95 % of the variance.
    Principal,
    /// The canonical components of inputs and labels.
    Canonical,
}

const VARIANCE: f64 = 0.95;
const FOLDS: usize = 5;

/// Inputs side by side, standardised by the training samples; missing cells
/// take the training mean. Returns training and test inputs.
///
/// # Errors
/// Infinite values.
pub fn design(train: &[&Table], test: &[&Table]) -> Result<(Mat<f64>, Mat<f64>), BaselineError> {
    let side_by_side = |tables: &[&Table]| {
        let columns: Vec<(&Table, usize)> = (tables.iter())
            .flat_map(|t| (0..t.values.ncols()).map(move |d| (*t, d)))
            .collect();
        let rows = tables.first().map_or(0, |t| t.values.nrows());
        Mat::from_fn(rows, columns.len(), |n, d| {
            columns[d].0.values[(n, columns[d].1)]
        })
    };
    let (train, test) = (side_by_side(train), side_by_side(test));
    let design = Design::learn(train.as_ref())?;
    Ok((design.apply(train.as_ref())?, design.apply(test.as_ref())?))
}

/// Training and test inputs of [`design`] as a linear model is to see them.
///
/// # Errors
/// When a decomposition fails.
pub fn reduced(
    inputs: Inputs,
    x: Mat<f64>,
    y: MatRef<'_, f64>,
    new: Mat<f64>,
) -> Result<(Mat<f64>, Mat<f64>), MvaError> {
    let (projection, components) = match inputs {
        Inputs::All => return Ok((x, new)),
        Inputs::Principal => {
            let all = pca(x.as_ref(), x.ncols())?;
            let mut sum = 0.0;
            let few = all.shares.iter().take_while(|s| {
                let before = sum;
                sum += **s;
                before < VARIANCE
            });
            let few = few.count();
            (all.projection, few)
        }
        Inputs::Canonical => {
            let fit = opls(x.as_ref(), y, y.ncols(), Metric::Correlation, 0.0)?;
            (fit.projection, fit.eigenvalues.len())
        }
    };
    let first = |scores: Mat<f64>| scores.subcols(0, components).to_owned();
    Ok((
        first(projection.project(x.as_ref())?),
        first(projection.project(new.as_ref())?),
    ))
}

/// Labels by canonical correlation alone: the least-squares approximation of
/// the indicators by the canonical components.
///
/// # Errors
/// When a decomposition fails.
pub fn canonical(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    new: MatRef<'_, f64>,
) -> Result<Mat<f64>, MvaError> {
    let (n, c) = (y.nrows(), y.ncols());
    let mean: Vec<f64> = column_sums(y).iter().map(|s| s / n as f64).collect();
    let centred = Mat::from_fn(n, c, |i, j| y[(i, j)] - mean[j]);
    let fit = opls(x, centred.as_ref(), c, Metric::Correlation, 0.0)?;
    let scores = fit.projection.project(new)?;
    let part = times_small(scores.as_ref(), fit.targets.transpose());
    Ok(Mat::from_fn(part.nrows(), c, |i, j| mean[j] + part[(i, j)]))
}

/// Fits every column of `y` to `x` and scores the rows of `new`; per label the
/// penalty of the least cross-validated loss.
///
/// # Errors
/// When an equation cannot be solved.
pub fn fit_and_score(
    kind: Linear,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    new: MatRef<'_, f64>,
) -> Result<Mat<f64>, Box<dyn Error>> {
    let tuning = Tuning::new(stratified(y, FOLDS.min(x.nrows()), 1)?);
    let fit = match kind {
        Linear::Ridge => ridge(x, y, &tuning)?,
        Linear::Logistic => logistic(x, y, &tuning)?,
    };
    Ok(fit.predict(new)?)
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal, uniform_open01};

    use super::*;

    fn simulated(n: usize) -> (Mat<f64>, Mat<f64>) {
        let mut rng = StreamKey::new(3).rng();
        let x = Mat::from_fn(n, 3, |_, _| standard_normal(&mut rng));
        let y = Mat::from_fn(n, 1, |n, _| {
            let s = 0.5 + 2.0 * x[(n, 0)] - x[(n, 1)];
            f64::from(u8::from(
                uniform_open01(&mut rng) < 1.0 / (1.0 + (-s).exp()),
            ))
        });
        (x, y)
    }

    #[test]
    fn both_find_the_signal() {
        let (x, y) = simulated(400);
        let truth: Vec<bool> = (0..400).map(|n| y[(n, 0)] == 1.0).collect();
        for kind in [Linear::Ridge, Linear::Logistic] {
            let s = fit_and_score(kind, x.as_ref(), y.as_ref(), x.as_ref()).unwrap();
            let auc = polyview::metrics::auc(&truth, s.col_as_slice(0))
                .unwrap()
                .unwrap();
            assert!(auc > 0.85, "{auc}");
        }
    }

    #[test]
    fn components_of_all_the_variance_lose_nothing_and_cca_finds_the_label() {
        let (x, y) = simulated(400);
        let (a, b) = reduced(Inputs::Canonical, x.clone(), y.as_ref(), x.clone()).unwrap();
        assert_eq!((a.ncols(), a.clone()), (1, b));
        let (a, _) = reduced(Inputs::Principal, x.clone(), y.as_ref(), x.clone()).unwrap();
        assert_eq!(a.ncols(), x.ncols());
        let truth: Vec<bool> = (0..400).map(|n| y[(n, 0)] == 1.0).collect();
        let s = canonical(x.as_ref(), y.as_ref(), x.as_ref()).unwrap();
        let auc = polyview::metrics::auc(&truth, s.col_as_slice(0)).unwrap();
        assert!(auc.unwrap() > 0.85);
    }

    #[test]
    fn missing_cells_take_the_training_mean() {
        let t = Table {
            name: "x".into(),
            samples: vec!["a".into(), "b".into(), "c".into()],
            features: vec!["f".into()],
            values: Mat::from_fn(3, 1, |n, _| [1.0, f64::NAN, 3.0][n]),
            levels: Vec::new(),
        };
        let (a, _) = design(&[&t], &[&t]).unwrap();
        assert_eq!([a[(0, 0)], a[(1, 0)], a[(2, 0)]], [-1.0, 0.0, 1.0]);
    }
}
