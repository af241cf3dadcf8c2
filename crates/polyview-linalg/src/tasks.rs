//! Independent tasks on the threads of the current pool.
//!
//! The work is taken by reference to a function object, so that the machinery of threads is compiled once for each type of
//! item and result, not once for every place, and every likelihood, that has such work.

use rayon::prelude::*;

use crate::MatMut;

/// The results of `of(0)`, …, `of(count - 1)`, in this order.
///
/// ```
/// assert_eq!(polyview_linalg::each(4, |i| i * i), [0, 1, 4, 9]);
/// ```
pub fn each<R: Send>(count: usize, of: impl Fn(usize) -> R + Sync) -> Vec<R> {
    all(count, &of)
}

fn all<R: Send>(count: usize, of: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    (0..count).into_par_iter().map(of).collect()
}

/// The results of `of` for each of the items and its place, in their order.
///
/// ```
/// use polyview_linalg::{Mat, column_chunks, each_of};
///
/// let mut m: Mat<f64> = Mat::zeros(3, 5);
/// let widths = each_of(column_chunks(m.as_mut(), 2), |i, mut part| {
///     part.fill(i as f64);
///     part.ncols()
/// });
/// assert_eq!(widths, [2, 2, 1]);
/// assert_eq!(m[(0, 4)], 2.0);
/// ```
pub fn each_of<T: Send, R: Send>(items: Vec<T>, of: impl Fn(usize, T) -> R + Sync) -> Vec<R> {
    all_of(items, &of)
}

fn all_of<T: Send, R: Send>(items: Vec<T>, of: &(dyn Fn(usize, T) -> R + Sync)) -> Vec<R> {
    (items.into_par_iter().enumerate())
        .map(|(i, item)| of(i, item))
        .collect()
}

/// The columns of a matrix in parts of at most `width` (at least one), from the left.
pub fn column_chunks(mut m: MatMut<'_, f64>, width: usize) -> Vec<MatMut<'_, f64>> {
    let width = width.max(1);
    let mut parts = Vec::with_capacity(m.ncols().div_ceil(width));
    while m.ncols() > width {
        let (part, rest) = m.split_at_col_mut(width);
        parts.push(part);
        m = rest;
    }
    if m.ncols() > 0 {
        parts.push(m);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mat, Threads};

    #[test]
    fn results_come_in_the_order_of_items_for_any_number_of_threads() {
        let of = |i: usize| (i as f64).sqrt();
        let expected: Vec<f64> = (0..1000).map(of).collect();
        for threads in [1, 2, 5] {
            let pool = Threads::new(threads).expect("threads");
            let (counted, given) = pool.install(|| {
                let given = each_of((0..1000).collect(), |i, item: usize| (i, of(item)));
                (each(1000, of), given)
            });
            assert_eq!(counted, expected);
            assert!(given.iter().enumerate().all(|(i, (at, _))| i == *at));
            assert_eq!(given.into_iter().map(|g| g.1).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn chunks_are_all_columns_once() {
        for (columns, width) in [(0, 3), (1, 3), (3, 3), (7, 3), (6, 1), (2, 0)] {
            let mut m: Mat<f64> = Mat::zeros(2, columns);
            for (i, mut part) in column_chunks(m.as_mut(), width).into_iter().enumerate() {
                for j in 0..part.ncols() {
                    part[(1, j)] += (i * width.max(1) + j + 1) as f64;
                }
            }
            assert!((0..columns).all(|j| m[(1, j)] == (j + 1) as f64 && m[(0, j)] == 0.0));
        }
    }
}
