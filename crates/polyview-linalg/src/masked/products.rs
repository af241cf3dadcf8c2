//! Products of scores and weights with data of which few cells are observed.

use super::direct::{WORD, word_of};
use crate::BitMask;
use crate::columns::as_slice;
use crate::simd::{Kernel, Lane, dispatch, mul_add};
use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// Columns in one task.
const COLUMN_BLOCK: usize = 64;
/// Most lanes of eight numbers that are summed at one time.
const MOST_LANES: usize = 4;

/// Rows of a matrix, each in whole lanes: what is beyond their end is zero.
fn in_lanes(matrix: MatRef<'_, f64>) -> Vec<Lane> {
    let lanes = matrix.ncols().div_ceil(8);
    let mut out = vec![Lane::ZERO; lanes * matrix.nrows()];
    for j in 0..matrix.ncols() {
        let (lane, at) = (j / 8, j % 8);
        let cells = out[lane..].iter_mut().step_by(lanes);
        match as_slice(matrix.col(j)) {
            Some(column) => {
                for (to, x) in cells.zip(column) {
                    to.0[at] = *x;
                }
            }
            None => {
                for (to, x) in cells.zip(matrix.col(j).iter()) {
                    to.0[at] = *x;
                }
            }
        }
    }
    out
}

/// Runs a kernel for each few of the lanes.
macro_rules! by_lanes {
    ($lanes:expr, $from:ident, $kernel:ident, $make:expr) => {
        for $from in (0..$lanes).step_by(MOST_LANES) {
            match $lanes - $from {
                1 => dispatch($kernel::<1>($make)),
                2 => dispatch($kernel::<2>($make)),
                3 => dispatch($kernel::<3>($make)),
                _ => dispatch($kernel::<MOST_LANES>($make)),
            }
        }
    };
}

/// `out` $= Z'X$ for some columns of `x` ($N \times D$) of which only the cells of the mask count: `z` is $N \times K$,
/// `out` $K \times$ columns. The time is that of the observed cells; where most are,
/// [`cross_into`](crate::cross_into) is faster, with zeros in the place of the others.
///
/// # Panics
/// If the shapes disagree, the columns are out of range, or those of `x` do not lie in one piece.
///
/// ```
/// use polyview_linalg::{BitMask, Mat, masked_cross_into};
///
/// let mask = BitMask::from_fn(3, 2, |n, d| n != d);
/// let x = Mat::from_fn(3, 2, |n, d| [1.0, 10.0, 100.0][n] * (d + 1) as f64);
/// let z = Mat::full(3, 1, 1.0);
/// let mut out = Mat::zeros(1, 2);
/// masked_cross_into(&mask, 0..2, z.as_ref(), x.as_ref(), out.as_mut());
/// assert_eq!((out[(0, 0)], out[(0, 1)]), (110.0, 202.0));
/// ```
pub fn masked_cross_into(
    mask: &BitMask,
    columns: Range<usize>,
    z: MatRef<'_, f64>,
    x: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    check(mask, &columns, x);
    assert_eq!(z.nrows(), x.nrows(), "rows of the two factors of Z'X");
    assert_eq!(out.shape(), (z.ncols(), columns.len()), "shape of Z'X");
    if z.ncols() == 0 || columns.is_empty() {
        return;
    }
    let (rows, lanes) = (in_lanes(z), z.ncols().div_ceil(8));
    let mut out = out;
    out.rb_mut()
        .par_col_chunks_mut(COLUMN_BLOCK)
        .enumerate()
        .for_each(|(b, mut out)| {
            by_lanes!(
                lanes,
                from,
                Cross,
                CrossOf {
                    mask,
                    first: columns.start + b * COLUMN_BLOCK,
                    rows: &rows,
                    lanes,
                    from,
                    x,
                    out: out.rb_mut(),
                }
            );
        });
}

struct CrossOf<'a> {
    mask: &'a BitMask,
    first: usize,
    rows: &'a [Lane],
    lanes: usize,
    from: usize,
    x: MatRef<'a, f64>,
    out: MatMut<'a, f64>,
}

struct Cross<'a, const LANES: usize>(CrossOf<'a>);

impl<const LANES: usize> Kernel for Cross<'_, LANES> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let CrossOf {
            mask,
            first,
            rows,
            lanes,
            from,
            x,
            mut out,
        } = self.0;
        for j in 0..out.ncols() {
            let (bytes, x) = (mask.column_bytes(first + j), column(x, first + j));
            let mut sum = [Lane::ZERO; LANES];
            for word in 0..x.len().div_ceil(WORD) {
                let mut bits = word_of(bytes, word);
                while bits != 0 {
                    let n = WORD * word + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let (x, row) = (x[n], lanes_at::<LANES>(rows, n * lanes + from));
                    for l in 0..LANES {
                        for i in 0..8 {
                            sum[l].0[i] = mul_add::<FUSED>(x, row[l].0[i], sum[l].0[i]);
                        }
                    }
                }
            }
            let sum = sum.map(|lane| lane.0);
            let cells = 8 * from..out.nrows().min(8 * (from + LANES));
            let mut column = out.rb_mut().col_mut(j).subrows_mut(cells.start, cells.len());
            match column.rb_mut().try_as_col_major_mut() {
                Some(column) => {
                    (column.as_slice_mut()).copy_from_slice(&sum.as_flattened()[..cells.len()]);
                }
                None => {
                    for (to, x) in column.iter_mut().zip(sum.as_flattened()) {
                        *to = *x;
                    }
                }
            }
        }
    }
}

/// Adds $XW$ to `out` ($N \times K$) for some columns of `x` ($N \times D$) of which only the cells of the mask count;
/// `w` has one row for each of these columns.
///
/// Each entry of `out` gathers its terms in the order of the columns, so that blocks of columns may come one after the
/// other.
///
/// # Panics
/// As [`masked_cross_into`].
///
/// ```
/// use polyview_linalg::{BitMask, Mat, masked_times_into};
///
/// let mask = BitMask::from_fn(3, 2, |n, d| n != d);
/// let x = Mat::from_fn(3, 2, |n, d| [1.0, 10.0, 100.0][n] * (d + 1) as f64);
/// let (w, mut out) = (Mat::full(2, 1, 1.0), Mat::zeros(3, 1));
/// masked_times_into(&mask, 0..2, x.as_ref(), w.as_ref(), out.as_mut());
/// assert_eq!([out[(0, 0)], out[(1, 0)], out[(2, 0)]], [2.0, 10.0, 300.0]);
/// ```
pub fn masked_times_into(
    mask: &BitMask,
    columns: Range<usize>,
    x: MatRef<'_, f64>,
    w: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    check(mask, &columns, x);
    assert_eq!(w.nrows(), columns.len(), "inner dimension of XW");
    assert_eq!(out.shape(), (x.nrows(), w.ncols()), "shape of XW");
    if w.ncols() == 0 || columns.is_empty() || x.nrows() == 0 {
        return;
    }
    let (weights, lanes) = (in_lanes(w), w.ncols().div_ceil(8));
    let mut out = out;
    out.rb_mut()
        .par_row_chunks_mut(WORD)
        .enumerate()
        .for_each(|(word, mut out)| {
            let mut sums = in_lanes(out.as_ref());
            by_lanes!(
                lanes,
                from,
                Times,
                TimesOf {
                    mask,
                    columns: columns.clone(),
                    word,
                    weights: &weights,
                    lanes,
                    from,
                    x,
                    sums: &mut sums,
                }
            );
            for j in 0..out.ncols() {
                let rows = sums.chunks_exact(lanes);
                for (to, row) in out.rb_mut().col_mut(j).iter_mut().zip(rows) {
                    *to = row[j / 8].0[j % 8];
                }
            }
        });
}

struct TimesOf<'a> {
    mask: &'a BitMask,
    columns: Range<usize>,
    /// Which 64 rows.
    word: usize,
    weights: &'a [Lane],
    lanes: usize,
    from: usize,
    x: MatRef<'a, f64>,
    sums: &'a mut [Lane],
}

struct Times<'a, const LANES: usize>(TimesOf<'a>);

impl<const LANES: usize> Kernel for Times<'_, LANES> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let TimesOf {
            mask,
            columns,
            word,
            weights,
            lanes,
            from,
            x,
            sums,
        } = self.0;
        for (j, d) in columns.enumerate() {
            let x = &column(x, d)[WORD * word..];
            let weight = *lanes_at::<LANES>(weights, j * lanes + from);
            let mut bits = word_of(mask.column_bytes(d), word);
            while bits != 0 {
                let n = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let x = x[n];
                let Some(sum) = sums[n * lanes + from..].first_chunk_mut::<LANES>() else {
                    panic!("row {n} of sums");
                };
                for l in 0..LANES {
                    for i in 0..8 {
                        sum[l].0[i] = mul_add::<FUSED>(x, weight[l].0[i], sum[l].0[i]);
                    }
                }
            }
        }
    }
}

/// Lanes from place `at` on.
#[inline(always)]
fn lanes_at<const LANES: usize>(all: &[Lane], at: usize) -> &[Lane; LANES] {
    match all[at..].first_chunk() {
        Some(lanes) => lanes,
        None => panic!("lanes from {at} on, of {}", all.len()),
    }
}

#[inline(always)]
fn column(x: MatRef<'_, f64>, d: usize) -> &[f64] {
    match as_slice(x.col(d)) {
        Some(column) => column,
        None => panic!("column {d} of masked data does not lie in one piece"),
    }
}

fn check(mask: &BitMask, columns: &Range<usize>, x: MatRef<'_, f64>) {
    assert_eq!((mask.rows(), mask.cols()), x.shape(), "shape of the mask");
    assert!(columns.end <= x.ncols(), "columns of the mask");
}
