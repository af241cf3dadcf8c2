//! Ridge regression on similarities.

use std::collections::BTreeMap;

use polyview_linalg::{Mat, MatRef, solve_spd, sym_eigen, times_small};

use crate::error::{finite, same};
use crate::{BaselineError, parts};

/// Penalties that are tried, as shares of the mean similarity of a sample to itself.
pub const KERNEL_PENALTIES: [f64; 11] =
    [1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0];
/// Training samples by which kernel and penalty are chosen, at most.
const COMPARED: usize = 800;

/// Similarities that a regression may go by.
#[derive(Clone, Debug)]
pub struct Similarities {
    /// Of the training samples among themselves, symmetric and positive semidefinite.
    pub training: Mat<f64>,
    /// Of new samples to these, new × training.
    pub new: Mat<f64>,
}

/// What [`kernel_ridge`] says.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRidge {
    /// Predictions, new samples × targets; `NaN` where nothing is known of a target.
    pub predicted: Mat<f64>,
    /// For each target which similarities were chosen.
    pub kernels: Vec<usize>,
    /// For each target the penalty, as a share of the mean similarity of a sample to itself.
    pub penalties: Vec<f64>,
}

/// Kernel ridge regression (Saunders, Gammerman and Vovk 1998): $\hat y(x) = \bar y + k(x)^\top(K + \lambda I)^{-1}(y - \bar y)$ for
/// each target, a column of `y` (samples × targets). Similarities, one of several, and penalty
/// ([`KERNEL_PENALTIES`]) are those of least squared error on the folds, for each target its own; where there are
/// more than 800 training samples every so-manieth is compared. Targets that are `NaN` are missing, and the
/// sample does not count for that target.
///
/// # Errors
/// [`BaselineError::Shape`], [`BaselineError::NotFinite`], [`BaselineError::NothingObserved`] where there are no
/// similarities, [`BaselineError::Linalg`].
pub fn kernel_ridge(
    kernels: &[Similarities],
    y: MatRef<'_, f64>,
    fold: &[usize],
) -> Result<KernelRidge, BaselineError> {
    let n = y.nrows();
    same("folds of samples", n, fold.len())?;
    finite("targets", y, true)?;
    let Some(first) = kernels.first() else {
        return Err(BaselineError::NothingObserved {
            what: "similarities",
        });
    };
    for k in kernels {
        same("training samples of similarities", n, k.training.nrows())?;
        same("training samples of similarities", n, k.training.ncols())?;
        same("training samples of similarities", n, k.new.ncols())?;
        same("new samples", first.new.nrows(), k.new.nrows())?;
        finite("similarities", k.training.as_ref(), false)?;
        finite("similarities", k.new.as_ref(), false)?;
    }
    let mut out = KernelRidge {
        predicted: Mat::full(first.new.nrows(), y.ncols(), f64::NAN),
        kernels: vec![0; y.ncols()],
        penalties: vec![f64::NAN; y.ncols()],
    };
    // targets that the same samples have share all decompositions
    let mut patterns: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for d in 0..y.ncols() {
        let known = (0..n).filter(|&i| !y[(i, d)].is_nan()).collect();
        patterns.entry(known).or_default().push(d);
    }
    for (known, columns) in patterns.iter().filter(|(known, _)| !known.is_empty()) {
        let own = Mat::from_fn(n, columns.len(), |i, c| y[(i, columns[c])]);
        let chosen = chosen(kernels, &own, known, fold)?;
        for (c, (kernel, penalty)) in chosen.into_iter().enumerate() {
            let (of, d) = (&kernels[kernel], columns[c]);
            let mean = known.iter().map(|&i| own[(i, c)]).sum::<f64>() / known.len() as f64;
            let mut matrix = Mat::from_fn(known.len(), known.len(), |i, j| {
                of.training[(known[i], known[j])]
            });
            let add = penalty * mean_diagonal(&matrix);
            for i in 0..known.len() {
                matrix[(i, i)] += add;
            }
            let rhs = Mat::from_fn(known.len(), 1, |i, _| own[(known[i], c)] - mean);
            let alpha = solve_spd(matrix.as_ref(), rhs.as_ref())?;
            for r in 0..of.new.nrows() {
                let sum: f64 = (known.iter().enumerate())
                    .map(|(i, &n)| of.new[(r, n)] * alpha[(i, 0)])
                    .sum();
                out.predicted[(r, d)] = mean + sum;
            }
            (out.kernels[d], out.penalties[d]) = (kernel, penalty);
        }
    }
    Ok(out)
}

fn mean_diagonal(matrix: &Mat<f64>) -> f64 {
    let sum: f64 = (0..matrix.nrows()).map(|i| matrix[(i, i)]).sum();
    // similarities that are all zero say nothing, whatever the penalty
    let mean = sum / matrix.nrows() as f64;
    if mean > 0.0 { mean } else { 1.0 }
}

/// For each target kernel and penalty of least squared error on the folds; of equal ones the first
/// kernel and the stronger penalty.
fn chosen(
    kernels: &[Similarities],
    y: &Mat<f64>,
    known: &[usize],
    fold: &[usize],
) -> Result<Vec<(usize, f64)>, BaselineError> {
    let every = known.len().div_ceil(COMPARED).max(1);
    let compared: Vec<usize> = known.iter().copied().step_by(every).collect();
    let own: Vec<usize> = compared.iter().map(|&n| fold[n]).collect();
    let folds = own.iter().max().map_or(0, |f| f + 1);
    let targets = y.ncols();
    let mut best = vec![(0, KERNEL_PENALTIES[8]); targets];
    let mut least = vec![f64::INFINITY; targets];
    for (at, kernel) in kernels.iter().enumerate() {
        let mut losses = vec![[0.0; KERNEL_PENALTIES.len()]; targets];
        let mut any = false;
        for f in 0..folds {
            let (inside, outside) = parts(&own, f);
            if inside.is_empty() || outside.is_empty() {
                continue;
            }
            any = true;
            let [inside, outside] =
                [inside, outside].map(|of| of.iter().map(|&i| compared[i]).collect::<Vec<_>>());
            let pick = |a: &[usize], b: &[usize]| {
                Mat::from_fn(a.len(), b.len(), |i, j| kernel.training[(a[i], b[j])])
            };
            let matrix = pick(&outside, &outside);
            let unit = mean_diagonal(&matrix);
            let (values, vectors) = sym_eigen(matrix.as_ref())?;
            let across = times_small(pick(&inside, &outside).as_ref(), vectors.as_ref());
            for (t, losses) in losses.iter_mut().enumerate() {
                let mean = outside.iter().map(|&n| y[(n, t)]).sum::<f64>() / outside.len() as f64;
                let along: Vec<f64> = (0..outside.len())
                    .map(|j| {
                        let of = vectors.col_as_slice(j).iter().zip(&outside);
                        of.map(|(v, &n)| v * (y[(n, t)] - mean)).sum()
                    })
                    .collect();
                for (loss, penalty) in losses.iter_mut().zip(KERNEL_PENALTIES) {
                    for (i, &n) in inside.iter().enumerate() {
                        let sum: f64 = (0..outside.len())
                            .map(|j| {
                                let size = values[j].max(0.0) + penalty * unit;
                                across[(i, j)] * along[j] / size
                            })
                            .sum();
                        *loss += (y[(n, t)] - mean - sum).powi(2);
                    }
                }
            }
        }
        for (t, losses) in losses.iter().enumerate() {
            for (loss, penalty) in losses.iter().zip(KERNEL_PENALTIES).rev() {
                if any && *loss < least[t] {
                    (best[t], least[t]) = ((at, penalty), *loss);
                }
            }
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tuning, ridge, stratified};

    fn data(n: usize, shift: usize) -> Mat<f64> {
        Mat::from_fn(n, 3, |i, d| {
            (((i + shift) * (2 * d + 5) * 37 + 11 * d) % 101) as f64 / 50.0 - 1.0
        })
    }

    fn products(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
        times_small(a.as_ref(), b.transpose().to_owned().as_ref())
    }

    fn gaussian(a: &Mat<f64>, b: &Mat<f64>, width: f64) -> Mat<f64> {
        Mat::from_fn(a.nrows(), b.nrows(), |i, j| {
            let far: f64 = (0..3).map(|d| (a[(i, d)] - b[(j, d)]).powi(2)).sum();
            (-far / (2.0 * width * width)).exp()
        })
    }

    /// With products of centred features for similarities it is ridge regression on these.
    #[test]
    fn a_linear_kernel_is_ridge_regression() {
        let x = data(40, 0);
        let mean = |d: usize| x.col_as_slice(d).iter().sum::<f64>() / 40.0;
        let centred = |m: &Mat<f64>| Mat::from_fn(m.nrows(), 3, |i, d| m[(i, d)] - mean(d));
        let (x, new) = (centred(&x), centred(&data(7, 90)));
        let y = Mat::from_fn(40, 1, |i, _| 2.0 * x[(i, 0)] - x[(i, 2)] + 0.3);
        let fold = stratified(Mat::zeros(40, 0).as_ref(), 5, 1).unwrap();
        let found = kernel_ridge(
            &[Similarities {
                training: products(&x, &x),
                new: products(&new, &x),
            }],
            y.as_ref(),
            &fold,
        )
        .unwrap();
        let unit = mean_diagonal(&products(&x, &x));
        let tuning = Tuning {
            penalties: vec![found.penalties[0] * unit],
            fold,
        };
        let other = ridge(x.as_ref(), y.as_ref(), &tuning).unwrap();
        let other = other.predict(new.as_ref()).unwrap();
        for i in 0..7 {
            assert!((found.predicted[(i, 0)] - other[(i, 0)]).abs() < 1e-9);
        }
    }

    #[test]
    fn the_width_that_predicts_is_chosen() {
        let (x, new) = (data(120, 0), data(30, 500));
        let curved = |m: &Mat<f64>, i: usize| (3.0 * m[(i, 0)]).sin() + m[(i, 1)].powi(2);
        let y = Mat::from_fn(120, 2, |i, d| {
            if d == 1 && i % 3 == 0 {
                f64::NAN
            } else {
                curved(&x, i)
            }
        });
        let fold = stratified(Mat::zeros(120, 0).as_ref(), 5, 1).unwrap();
        let kernels = [0.02, 1.0, 60.0].map(|width| Similarities {
            training: gaussian(&x, &x, width),
            new: gaussian(&new, &x, width),
        });
        let found = kernel_ridge(&kernels, y.as_ref(), &fold).unwrap();
        assert_eq!(found.kernels, [1, 1]);
        let (mut errors, mut all) = (0.0, 0.0);
        for i in 0..30 {
            errors += (found.predicted[(i, 0)] - curved(&new, i)).powi(2);
            all += curved(&new, i).powi(2);
        }
        assert!(errors < 0.02 * all, "{errors} {all}");
        assert!(found.predicted[(3, 1)].is_finite());
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let y = Mat::zeros(4, 1);
        let k = |n: usize, new: usize| Similarities {
            training: Mat::zeros(n, n),
            new: Mat::zeros(new, n),
        };
        let fails =
            |kernels: &[Similarities]| kernel_ridge(kernels, y.as_ref(), &[0, 1, 0, 1]).is_err();
        assert!(fails(&[]) && fails(&[k(3, 2)]) && fails(&[k(4, 2), k(4, 3)]));
        assert!(!fails(&[k(4, 2)]));
        assert!(kernel_ridge(&[k(4, 2)], y.as_ref(), &[0, 1]).is_err());
        let unknown = Mat::full(4, 1, f64::NAN);
        let found = kernel_ridge(&[k(4, 2)], unknown.as_ref(), &[0, 1, 0, 1]).unwrap();
        assert!(found.predicted[(1, 0)].is_nan());
    }
}
