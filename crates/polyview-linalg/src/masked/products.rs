//! Products of scores and weights with data of which few cells are observed.

use super::direct::{WORD, word_of};
use crate::BitMask;
use crate::columns::{as_slice, write_column};
use crate::simd::{Kernel, Lane, dispatch, mul_add};
use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// Columns in one task of $Z'X$.
const COLUMN_BLOCK: usize = 64;
/// Columns whose part of $XW$ is summed by one task: fixed, so that results do not depend on threads.
const PART: usize = 256;
/// Most lanes of eight numbers that are summed at one time.
const MOST_LANES: usize = 4;
/// Rows from which on fewer cells have to be observed for products over these alone to be sooner.
const MANY: usize = 1024;
/// Rows that are brought into lanes together: they stay in the first-level cache.
const TILE: usize = 32;

/// The observed cells of a table of which few are, column after column: products go over these alone, one after the
/// other in memory, and the time is theirs. Twelve bytes a cell.
///
/// ```
/// use polyview_linalg::{BitMask, Mat, ObservedCells};
///
/// let mask = BitMask::from_fn(3, 2, |n, d| n != d);
/// let x = Mat::from_fn(3, 2, |n, d| [1.0, 10.0, 100.0][n] * (d + 1) as f64);
/// let cells = ObservedCells::new(&mask, x.as_ref());
/// // Z'X
/// let (z, mut out) = (Mat::full(3, 1, 1.0), Mat::zeros(1, 2));
/// cells.cross_into(0..2, z.as_ref(), out.as_mut());
/// assert_eq!((out[(0, 0)], out[(0, 1)]), (110.0, 202.0));
/// // XW
/// let (w, mut out) = (Mat::full(2, 1, 1.0), Mat::zeros(3, 1));
/// cells.times_into(0..2, w.as_ref(), None, out.as_mut());
/// assert_eq!([out[(0, 0)], out[(1, 0)], out[(2, 0)]], [2.0, 10.0, 300.0]);
/// ```
#[derive(Clone, Debug)]
pub struct ObservedCells {
    rows: usize,
    /// Where each column starts, and where the last ends.
    starts: Vec<usize>,
    /// Rows of the cells.
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl ObservedCells {
    /// The cells of `x` that the mask names.
    ///
    /// # Panics
    /// If the shapes disagree, or rows are more than 32 bits can name.
    pub fn new(mask: &BitMask, x: MatRef<'_, f64>) -> Self {
        assert_eq!((mask.rows(), mask.cols()), x.shape(), "shape of the mask");
        assert!(u32::try_from(x.nrows()).is_ok(), "rows of observed cells");
        let count = mask.count();
        let mut out = Self {
            rows: x.nrows(),
            starts: Vec::with_capacity(x.ncols() + 1),
            indices: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
        };
        out.starts.push(0);
        for d in 0..x.ncols() {
            let (bytes, column) = (mask.column_bytes(d), x.col(d));
            for word in 0..x.nrows().div_ceil(WORD) {
                let mut bits = word_of(bytes, word);
                while bits != 0 {
                    let n = WORD * word + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    out.indices.push(n as u32);
                    out.values.push(column[n]);
                }
            }
            out.starts.push(out.values.len());
        }
        out
    }

    /// Whether products go over the observed cells alone sooner than over all of a table of rows × columns with zeros: up to two
    /// fifths of the cells of some rows, and a quarter of those of many. The break-even was measured.
    pub fn serve(observed: f64, (rows, columns): (usize, usize)) -> bool {
        let share = if rows > MANY { 0.25 } else { 0.4 };
        observed <= share * (rows * columns) as f64
    }

    fn columns(&self) -> usize {
        self.starts.len() - 1
    }

    /// Rows and values of the cells of a column.
    #[inline(always)]
    fn column(&self, d: usize) -> (&[u32], &[f64]) {
        let at = self.starts[d]..self.starts[d + 1];
        (&self.indices[at.clone()], &self.values[at])
    }

    /// `out` $= Z'X$ for some columns of the table: `z` is $N \times K$, `out` $K \times$ columns.
    ///
    /// # Panics
    /// If the shapes disagree or the columns are out of range.
    pub fn cross_into(&self, columns: Range<usize>, z: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        assert!(columns.end <= self.columns(), "columns of observed cells");
        assert_eq!(z.nrows(), self.rows, "rows of the two factors of Z'X");
        assert_eq!(out.shape(), (z.ncols(), columns.len()), "shape of Z'X");
        if z.ncols() == 0 || columns.is_empty() {
            return;
        }
        let (rows, lanes) = (in_lanes(z, None), z.ncols().div_ceil(8));
        out.par_col_chunks_mut(COLUMN_BLOCK)
            .enumerate()
            .for_each(|(b, mut out)| {
                for from in (0..lanes).step_by(MOST_LANES) {
                    let cross = CrossOf {
                        cells: self,
                        first: columns.start + b * COLUMN_BLOCK,
                        rows: &rows,
                        lanes,
                        from,
                        out: out.rb_mut(),
                    };
                    match lanes - from {
                        1 => dispatch(Cross::<1>(cross)),
                        2 => dispatch(Cross::<2>(cross)),
                        3 => dispatch(Cross::<3>(cross)),
                        _ => dispatch(Cross::<MOST_LANES>(cross)),
                    }
                }
            });
    }

    /// Adds $X\,\mathrm{diag}(t)\,W$ to `out` ($N \times K$) for some columns of the table; `w` has one row, `t` one number
    /// (or 1) for each of these columns.
    ///
    /// # Panics
    /// As [`cross_into`](Self::cross_into).
    pub fn times_into(
        &self,
        columns: Range<usize>,
        w: MatRef<'_, f64>,
        t: Option<&[f64]>,
        out: MatMut<'_, f64>,
    ) {
        assert!(columns.end <= self.columns(), "columns of observed cells");
        assert_eq!(w.nrows(), columns.len(), "inner dimension of XW");
        assert!(
            t.is_none_or(|t| t.len() == columns.len()),
            "weights of the columns of XW"
        );
        assert_eq!(out.shape(), (self.rows, w.ncols()), "shape of XW");
        if w.ncols() == 0 || columns.is_empty() || self.rows == 0 {
            return;
        }
        let lanes = w.ncols().div_ceil(8);
        let parts: Vec<Vec<Lane>> = (0..columns.len().div_ceil(PART))
            .into_par_iter()
            .map(|part| {
                let part = PART * part..(PART * (part + 1)).min(columns.len());
                let of_part = w.subrows(part.start, part.len());
                let weights = in_lanes(of_part, t.map(|t| &t[part.clone()]));
                let mut sums = vec![Lane::ZERO; self.rows * lanes];
                for from in (0..lanes).step_by(MOST_LANES) {
                    let times = TimesOf {
                        cells: self,
                        first: columns.start + part.start,
                        count: part.len(),
                        weights: &weights,
                        lanes,
                        from,
                        sums: &mut sums,
                    };
                    match lanes - from {
                        1 => dispatch(Times::<1>(times)),
                        2 => dispatch(Times::<2>(times)),
                        3 => dispatch(Times::<3>(times)),
                        _ => dispatch(Times::<MOST_LANES>(times)),
                    }
                }
                sums
            })
            .collect();
        let mut out = out;
        for sums in &parts {
            for j in 0..out.ncols() {
                let rows = sums.chunks_exact(lanes);
                for (to, row) in out.rb_mut().col_mut(j).iter_mut().zip(rows) {
                    *to += row[j / 8].0[j % 8];
                }
            }
        }
    }
}

/// Rows of a matrix, each in whole lanes and times its number in `scale`: what is beyond their end is zero.
fn in_lanes(matrix: MatRef<'_, f64>, scale: Option<&[f64]>) -> Vec<Lane> {
    let lanes = matrix.ncols().div_ceil(8);
    let mut out = vec![Lane::ZERO; lanes * matrix.nrows()];
    for (tile, out) in out.chunks_mut(TILE * lanes.max(1)).enumerate() {
        let rows = tile * TILE..(tile * TILE + TILE).min(matrix.nrows());
        for j in 0..matrix.ncols() {
            let cells = out[j / 8..].iter_mut().step_by(lanes);
            let cells = cells.map(|lane| &mut lane.0[j % 8]);
            if let Some(column) = as_slice(matrix.col(j)) {
                let column = &column[rows.clone()];
                cells.zip(column).for_each(|(to, x)| *to = *x);
            } else {
                let column = matrix.col(j).subrows(rows.start, rows.len());
                cells.zip(column.iter()).for_each(|(to, x)| *to = *x);
            }
        }
        if let Some(scale) = scale {
            for (row, t) in out.chunks_exact_mut(lanes).zip(&scale[rows]) {
                for lane in row {
                    for x in &mut lane.0 {
                        *x *= t;
                    }
                }
            }
        }
    }
    out
}

struct CrossOf<'a> {
    cells: &'a ObservedCells,
    first: usize,
    rows: &'a [Lane],
    lanes: usize,
    from: usize,
    out: MatMut<'a, f64>,
}

struct Cross<'a, const LANES: usize>(CrossOf<'a>);

impl<const LANES: usize> Kernel for Cross<'_, LANES> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let CrossOf {
            cells,
            first,
            rows,
            lanes,
            from,
            mut out,
        } = self.0;
        let places = 8 * from..out.nrows().min(8 * (from + LANES));
        for j in 0..out.ncols() {
            let mut sum = [Lane::ZERO; LANES];
            let (indices, values) = cells.column(first + j);
            for (&n, &x) in indices.iter().zip(values) {
                let row = lanes_at::<LANES>(rows, n as usize * lanes + from);
                for l in 0..LANES {
                    for i in 0..8 {
                        sum[l].0[i] = mul_add::<FUSED>(x, row[l].0[i], sum[l].0[i]);
                    }
                }
            }
            let sum = sum.map(|lane| lane.0);
            let column = out.rb_mut().col_mut(j);
            let column = column.subrows_mut(places.start, places.len());
            write_column(column, &sum.as_flattened()[..places.len()]);
        }
    }
}

struct TimesOf<'a> {
    cells: &'a ObservedCells,
    first: usize,
    count: usize,
    weights: &'a [Lane],
    lanes: usize,
    from: usize,
    sums: &'a mut [Lane],
}

struct Times<'a, const LANES: usize>(TimesOf<'a>);

impl<const LANES: usize> Kernel for Times<'_, LANES> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let TimesOf {
            cells,
            first,
            count,
            weights,
            lanes,
            from,
            sums,
        } = self.0;
        for j in 0..count {
            let weight = *lanes_at::<LANES>(weights, j * lanes + from);
            let (indices, values) = cells.column(first + j);
            for (&n, &x) in indices.iter().zip(values) {
                let Some(sum) = sums[n as usize * lanes + from..].first_chunk_mut::<LANES>() else {
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
