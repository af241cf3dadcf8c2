//! Predictions that need no features.

use polyview_linalg::MatRef;

use crate::BaselineError;

/// Means of the columns over the observed cells; `NaN` where there is none. `NaN` stands for a missing cell.
pub fn means(y: MatRef<'_, f64>) -> Vec<f64> {
    let mean = |d: usize| {
        let seen = || y.col(d).iter().filter(|v| !v.is_nan());
        seen().sum::<f64>() / seen().count() as f64
    };
    (0..y.ncols()).map(mean).collect()
}

/// Share of ones in the columns of labels 0 and 1, half a sample of each kind added: $(n_1 + \tfrac12) / (n + 1)$, the mean
/// under Jeffreys' prior, which gives no label that is to come the probability zero. `NaN` stands for a missing label.
pub fn frequencies(y: MatRef<'_, f64>) -> Vec<f64> {
    let share = |d: usize| {
        let seen = || y.col(d).iter().filter(|v| !v.is_nan());
        (seen().sum::<f64>() + 0.5) / (seen().count() as f64 + 1.0)
    };
    (0..y.ncols()).map(share).collect()
}

/// Share of each class, half a sample of each added: $(n_c + \tfrac12) / (n + C/2)$. Samples without a class do not count.
///
/// # Errors
/// [`BaselineError::UnknownClass`].
pub fn class_frequencies(
    classes: &[Option<usize>],
    count: usize,
) -> Result<Vec<f64>, BaselineError> {
    let mut found = vec![0.5; count];
    for (row, class) in classes.iter().enumerate() {
        if let Some(class) = *class {
            *found.get_mut(class).ok_or(BaselineError::UnknownClass {
                row,
                class,
                classes: count,
            })? += 1.0;
        }
    }
    let all: f64 = found.iter().sum();
    Ok(found.into_iter().map(|n| n / all).collect())
}

/// Share of each ordered level, 1 to `levels`, in every column, half a cell of each added: of each column as many as there are levels. `NaN` stands
/// for a missing cell, and cells that are no level do not count.
pub fn level_frequencies(y: MatRef<'_, f64>, levels: usize) -> Vec<Vec<f64>> {
    let of = |d: usize| {
        let mut found = vec![0.5; levels];
        for level in y.col(d).iter().filter(|x| x.fract() == 0.0 && **x >= 1.0) {
            if let Some(count) = found.get_mut(*level as usize - 1) {
                *count += 1.0;
            }
        }
        let all: f64 = found.iter().sum();
        found.into_iter().map(|n| n / all).collect()
    };
    (0..y.ncols()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;

    #[test]
    fn holes_do_not_count() {
        let y = Mat::from_fn(4, 2, |n, d| {
            if d == 0 {
                [1.0, 0.0, f64::NAN, 1.0][n]
            } else {
                f64::NAN
            }
        });
        assert!((means(y.as_ref())[0] - 2.0 / 3.0).abs() < 1e-15 && means(y.as_ref())[1].is_nan());
        assert_eq!(frequencies(y.as_ref()), [2.5 / 4.0, 0.5]);
    }

    #[test]
    fn no_level_is_impossible() {
        let y = Mat::from_fn(5, 2, |n, d| {
            if d == 0 {
                [1.0, 3.0, f64::NAN, 1.0, 9.0][n]
            } else {
                f64::NAN
            }
        });
        let found = level_frequencies(y.as_ref(), 3);
        assert_eq!(found[0], [2.5 / 4.5, 0.5 / 4.5, 1.5 / 4.5]);
        assert_eq!(found[1], [0.5 / 1.5; 3]);
    }

    #[test]
    fn no_class_is_impossible() {
        let classes = [Some(0), Some(0), None, Some(2)];
        let found = class_frequencies(&classes, 3).expect("classes");
        assert_eq!(found, [2.5 / 4.5, 0.5 / 4.5, 1.5 / 4.5]);
        assert!(matches!(
            class_frequencies(&classes, 2),
            Err(BaselineError::UnknownClass {
                row: 3,
                class: 2,
                ..
            })
        ));
    }
}
