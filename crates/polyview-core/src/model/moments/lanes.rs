//! Second moments of rows and what they come to with matrices of their own, in lanes of eight numbers.

// kernels are compiled for several instruction sets only where they are inlined
#![allow(clippy::inline_always)]

use std::ops::Range;

use polyview_linalg::faer::prelude::ReborrowMut;
use polyview_linalg::simd::{Kernel, dispatch, mul_add};
use polyview_linalg::{Mat, MatMut, MatRef, packed_len};
use rayon::prelude::*;

use super::{RowCov, RowMoments};

impl RowMoments {
    /// $\mathrm{tr}(\langle r^\top r\rangle C\_r) + h\_r\langle r\rangle^\top$ of each explicit row in
    /// `rows`: column i of `matrices` begins with the packed $C$ of the i-th of them, and
    /// `linear` writes its $h$.
    ///
    /// # Panics
    /// If there is no column for each row, or one is too short.
    pub fn own_energies(
        &self,
        rows: Range<usize>,
        matrices: MatRef<'_, f64>,
        linear: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Vec<f64> {
        assert_eq!(matrices.ncols(), rows.len(), "one matrix for each row");
        let mut out = vec![0.0; rows.len()];
        out.par_chunks_mut(ROWS).enumerate().for_each(|(c, out)| {
            let start = c * ROWS;
            dispatch(Energies {
                rows: self,
                first: rows.start + start,
                matrices: matrices.subcols(start, out.len()),
                linear: &linear,
                out,
            });
        });
        out
    }

    /// $h\_r\langle r\rangle^\top$ of each explicit row in `rows`: column i of `linear` is the $h$ of the i-th of
    /// them, K × rows.
    ///
    /// # Panics
    /// If the shapes disagree.
    pub fn row_products(&self, rows: Range<usize>, linear: MatRef<'_, f64>) -> Vec<f64> {
        let k = self.k();
        assert_eq!(linear.shape(), (k, rows.len()), "one column for each row");
        let mut means = Means::new(k);
        let mut out = Vec::with_capacity(rows.len());
        for start in rows.clone().step_by(ROWS) {
            let part = start..(start + ROWS).min(rows.end);
            means.read(&self.mean, part.clone());
            for i in 0..part.len() {
                let h = linear.col(start - rows.start + i);
                out.push(h.iter().zip(means.row(i)).map(|(h, m)| h * m).sum());
            }
        }
        out
    }
    /// Writes the columns of [`RowMoments::moment_table`] that belong to `rows`
    /// to `out`, the second moments of row $r$ times the first and its mean
    /// times the second number of `weights(r)`.
    pub fn write_moment_table(
        &self,
        rows: Range<usize>,
        weights: impl Fn(usize) -> (f64, f64) + Sync,
        out: MatMut<'_, f64>,
    ) {
        out.par_col_chunks_mut(ROWS)
            .enumerate()
            .for_each(|(chunk, out)| {
                dispatch(MomentTable {
                    rows: self,
                    first: rows.start + chunk * ROWS,
                    weights: &weights,
                    out,
                });
            });
    }
}

/// Numbers of a line that are written together.
const WIDE: usize = 8;

/// Rows whose moments are made together.
const ROWS: usize = 64;

/// Some columns of means or of variances, row after row: zero beyond K.
struct Means {
    stride: usize,
    cells: Vec<f64>,
}

impl Means {
    fn new(k: usize) -> Self {
        let stride = k.next_multiple_of(WIDE);
        Self {
            stride,
            cells: vec![0.0; ROWS * stride],
        }
    }
    /// Takes over at most [`ROWS`] rows.
    #[inline(always)]
    fn read(&mut self, matrix: &Mat<f64>, rows: Range<usize>) {
        for j in 0..matrix.ncols() {
            let cells = self.cells[j..].iter_mut().step_by(self.stride.max(1));
            for (to, x) in cells.zip(&matrix.col_as_slice(j)[rows.clone()]) {
                *to = *x;
            }
        }
    }
    #[inline(always)]
    fn row(&self, i: usize) -> &[f64] {
        &self.cells[i * self.stride..(i + 1) * self.stride]
    }
}

/// Means and covariances of some rows, one after the other.
struct Reader<'a> {
    rows: &'a RowMoments,
    first: usize,
    mean: Means,
    /// Of independent entries.
    variance: Option<Means>,
    spare: Vec<f64>,
}

impl<'a> Reader<'a> {
    /// Of at most [`ROWS`] rows.
    #[inline(always)]
    fn new(rows: &'a RowMoments, range: Range<usize>) -> Self {
        let k = rows.k();
        let mut mean = Means::new(k);
        mean.read(&rows.mean, range.clone());
        let variance = match &rows.cov {
            RowCov::Diagonal(v) => {
                let mut variance = Means::new(k);
                variance.read(v, range.clone());
                Some(variance)
            }
            _ => None,
        };
        Self {
            rows,
            first: range.start,
            mean,
            variance,
            // what goes beyond the end of the last line
            spare: vec![0.0; packed_len(k) + WIDE],
        }
    }
    /// Writes the packed second moment of the i-th row, times `t`, to `out`.
    #[inline(always)]
    fn second_moment(&mut self, i: usize, t: f64, out: &mut [f64]) {
        let (k, mean) = (self.rows.k(), self.mean.row(i));
        if let Some(variance) = &self.variance {
            independent(k, (mean, variance.row(i)), t, out);
        } else {
            let cov = self.rows.packed_cov(self.first + i, &mut self.spare);
            second_moment(k, cov, mean, t, out);
        }
    }
}

/// 1 at the diagonal of the line of a triangle that ends at this place of a lane, 0 elsewhere; and
/// how often an entry of a symmetric matrix is there: 2 below the diagonal, 1 on it, 0 beyond.
const LINES: [([f64; WIDE], [f64; WIDE]); WIDE] = {
    let mut out = [([0.0; WIDE], [0.0; WIDE]); WIDE];
    let mut end = 0;
    while end < WIDE {
        let mut l = 0;
        while l <= end {
            out[end].0[l] = if l == end { 1.0 } else { 0.0 };
            out[end].1[l] = if l == end { 1.0 } else { 2.0 };
            l += 1;
        }
        end += 1;
    }
    out
};

/// Some numbers of [`RowMoments::own_energies`].
struct Energies<'a, F> {
    rows: &'a RowMoments,
    first: usize,
    matrices: MatRef<'a, f64>,
    linear: &'a F,
    out: &'a mut [f64],
}

impl<F: Fn(usize, &mut [f64])> Kernel for Energies<'_, F> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (k, p) = (self.rows.k(), packed_len(self.rows.k()));
        let mut reader = Reader::new(self.rows, self.first..self.first + self.out.len());
        let (mut line, mut spare) = (vec![0.0; k], vec![0.0; p + WIDE]);
        let mut moment = vec![0.0; p + WIDE];
        for (i, out) in self.out.iter_mut().enumerate() {
            let column = self.matrices.col(i);
            let matrix = match column.try_as_col_major() {
                // a lane of the last line may go beyond the matrix
                Some(column) if column.nrows() >= p + WIDE => column.as_slice(),
                _ => {
                    for (to, x) in spare[..p].iter_mut().zip(column.iter()) {
                        *to = *x;
                    }
                    &spare[..]
                }
            };
            (self.linear)(self.first + i, &mut line);
            let cross = line.iter().zip(reader.mean.row(i));
            let cross = cross.fold(0.0, |sum, (x, y)| mul_add::<FUSED>(*x, *y, sum));
            let mut sums = [0.0; WIDE];
            if let Some(variance) = &reader.variance {
                independent_energy::<FUSED>(
                    (reader.mean.row(i), variance.row(i)),
                    matrix,
                    k,
                    &mut sums,
                );
            } else {
                reader.second_moment(i, 2.0, &mut moment);
                let mut at = 0;
                for j in 0..k {
                    moment[at] *= 0.5;
                    at += j + 2;
                }
                let (cells, rest) = matrix[..p].as_chunks::<WIDE>();
                let (moments, of_rest) = moment[..p].as_chunks::<WIDE>();
                for (x, y) in cells.iter().zip(moments) {
                    for l in 0..WIDE {
                        sums[l] = mul_add::<FUSED>(x[l], y[l], sums[l]);
                    }
                }
                for (sum, (x, y)) in sums.iter_mut().zip(rest.iter().zip(of_rest)) {
                    *sum = mul_add::<FUSED>(*x, *y, *sum);
                }
            }
            *out = sums.iter().sum::<f64>() + cross;
        }
    }
}

/// Adds the lanes of $\mathrm{tr}(\langle r^\top r\rangle C)$, $r$ with independent entries of these means and
/// variances: line by line of the packed $C$, after which eight more numbers follow.
#[inline(always)]
fn independent_energy<const FUSED: bool>(
    (mean, variance): (&[f64], &[f64]),
    matrix: &[f64],
    k: usize,
    sums: &mut [f64; WIDE],
) {
    let (lanes, variances) = (mean.as_chunks::<WIDE>().0, variance.as_chunks::<WIDE>().0);
    let mut total = *sums;
    let mut start = 0;
    for (a, x) in mean[..k].iter().enumerate() {
        let (last, end) = (a / WIDE, a % WIDE);
        let twice = 2.0 * x;
        for (j, mean) in lanes[..last].iter().enumerate() {
            let cells = cells_at(matrix, start + WIDE * j);
            let mut moment = [0.0; WIDE];
            for l in 0..WIDE {
                moment[l] = twice * mean[l];
            }
            for l in 0..WIDE {
                total[l] = mul_add::<FUSED>(cells[l], moment[l], total[l]);
            }
        }
        let cells = cells_at(matrix, start + WIDE * last);
        let (mean, v, (diagonal, times)) = (&lanes[last], &variances[last], &LINES[end]);
        let mut moment = [0.0; WIDE];
        for l in 0..WIDE {
            moment[l] = x * mean[l];
        }
        // what stands beyond the line counts zero times
        for l in 0..WIDE {
            moment[l] = mul_add::<FUSED>(times[l], moment[l], diagonal[l] * v[l]);
        }
        for l in 0..WIDE {
            total[l] = mul_add::<FUSED>(cells[l], moment[l], total[l]);
        }
        start += a + 1;
    }
    *sums = total;
}

/// Eight numbers from place `at` on.
#[inline(always)]
fn cells_at(all: &[f64], at: usize) -> &[f64; WIDE] {
    match all[at..].first_chunk() {
        Some(cells) => cells,
        None => panic!("eight numbers from {at} on, of {}", all.len()),
    }
}

/// Some columns of a moment table.
struct MomentTable<'a, F> {
    rows: &'a RowMoments,
    first: usize,
    weights: &'a F,
    out: MatMut<'a, f64>,
}

impl<F: Fn(usize) -> (f64, f64)> Kernel for MomentTable<'_, F> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (k, p) = (self.rows.k(), packed_len(self.rows.k()));
        let mut out = self.out;
        let mut reader = Reader::new(self.rows, self.first..self.first + out.ncols());
        let mut spare = vec![0.0; p + k];
        for i in 0..out.ncols() {
            let (second, first) = (self.weights)(self.first + i);
            let mut column = out.rb_mut().col_mut(i).try_as_col_major_mut();
            let cell = match &mut column {
                Some(column) => column.rb_mut().as_slice_mut(),
                None => &mut spare[..],
            };
            // lanes of the last lines may go beyond the squares, where the means come after them
            reader.second_moment(i, second, cell);
            for (x, m) in cell[p..].iter_mut().zip(reader.mean.row(i)) {
                *x = first * m;
            }
            if column.is_none() {
                for (to, x) in out.rb_mut().col_mut(i).iter_mut().zip(&spare) {
                    *to = *x;
                }
            }
        }
    }
}

/// Writes the packed $t(S + m^\top m)$ to `out`, `cov` = S packed; what `mean`
/// has beyond K does not count.
///
/// Lines of the triangle are written eight numbers at a time: what goes beyond
/// the end of one is overwritten by the next.
#[inline(always)]
pub(super) fn second_moment(k: usize, cov: &[f64], mean: &[f64], t: f64, out: &mut [f64]) {
    let mut start = 0;
    for (a, x) in mean[..k].iter().enumerate() {
        for j in (0..=a).step_by(WIDE) {
            let at = start + j;
            if let (Some(cov), Some(mean), Some(out)) = (
                cov[at..].first_chunk::<WIDE>(),
                mean[j..].first_chunk::<WIDE>(),
                out[at..].first_chunk_mut::<WIDE>(),
            ) {
                // all before the first is stored: the compiler need not know
                // that they do not overlap
                let mut made = [0.0; WIDE];
                for l in 0..WIDE {
                    made[l] = (cov[l] + x * mean[l]) * t;
                }
                *out = made;
            } else {
                for l in j..=a.min(j + WIDE - 1) {
                    out[start + l] = (cov[start + l] + x * mean[l]) * t;
                }
            }
        }
        start += a + 1;
    }
}

/// As [`second_moment`], of independent entries with these means and variances, in whole lanes.
#[inline(always)]
fn independent(k: usize, (mean, variance): (&[f64], &[f64]), t: f64, out: &mut [f64]) {
    let lanes = mean.as_chunks::<WIDE>().0;
    let mut start = 0;
    for (a, x) in mean[..k].iter().enumerate() {
        for (j, mean) in lanes[..=a / WIDE].iter().enumerate() {
            let mut made = [0.0; WIDE];
            for l in 0..WIDE {
                made[l] = x * mean[l] * t;
            }
            put(&made, start + WIDE * j, out);
        }
        start += a + 1;
    }
    // whatever of a lane went beyond its line has been written over
    let mut diagonal = 0;
    for (a, v) in variance[..k].iter().enumerate() {
        out[diagonal] += t * v;
        diagonal += a + 2;
    }
}

/// Writes eight numbers from place `at` on, or as many as there are.
#[inline(always)]
fn put(made: &[f64; WIDE], at: usize, out: &mut [f64]) {
    match out[at..].first_chunk_mut::<WIDE>() {
        Some(out) => *out = *made,
        None => {
            for (to, x) in out[at..].iter_mut().zip(made) {
                *to = *x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyview_linalg::{PackedRows, SymPacked};

    fn number(i: usize) -> f64 {
        ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0
    }

    /// Rows of each kind of covariance.
    fn kinds(rows: usize, k: usize) -> Vec<RowMoments> {
        let spd = |at: usize| {
            let mut s = SymPacked::identity(k);
            let v: Vec<f64> = (0..k).map(|j| number(at * 17 + j)).collect();
            s.add_outer(0.5, &v);
            s
        };
        let mut own = PackedRows::zeros(rows, k);
        for r in 0..rows {
            own.row_mut(r).copy_from_slice(spd(r).as_slice());
        }
        let positive = |r: usize, j: usize| 0.1 + number(3 * r + j).abs();
        let mean = Mat::from_fn(rows, k, |r, j| number(11 * r + j));
        [
            RowCov::Zero,
            RowCov::Shared(spd(1)),
            RowCov::PerRow(own),
            RowCov::Diagonal(Mat::from_fn(rows, k, positive)),
        ]
        .into_iter()
        .map(|cov| RowMoments::new(mean.clone(), cov, 0.0, 0))
        .collect()
    }

    #[test]
    fn energies_of_own_matrices_are_those_row_by_row() {
        for k in [1, 2, 7, 8, 9, 10, 16, 19] {
            let (all, rows) = (140, 3..137);
            // more rows than the matrix has, of which the last ones count for nothing
            let matrices = Mat::from_fn(packed_len(k) + k, rows.len(), |p, i| number(p + 31 * i));
            let linear = Mat::from_fn(k, rows.len(), |j, i| number(7 * j + i));
            for moments in kinds(all, k) {
                let found = moments.own_energies(rows.clone(), matrices.as_ref(), |r, line| {
                    line.copy_from_slice(linear.col_as_slice(r - rows.start));
                });
                let products = moments.row_products(rows.clone(), linear.as_ref());
                for (i, r) in rows.clone().enumerate() {
                    let own = &matrices.col_as_slice(i)[..packed_len(k)];
                    let product: f64 = (0..k)
                        .map(|j| linear[(j, i)] * moments.mean()[(r, j)])
                        .sum();
                    let expected = moments.row_energy(r, own) + product;
                    assert!((products[i] - product).abs() <= 1e-13, "{k} {r}");
                    assert!(
                        (found[i] - expected).abs() <= 1e-12,
                        "{k} {r}: {} {expected}",
                        found[i]
                    );
                }
            }
        }
    }

    #[test]
    fn tables_of_moments_are_those_row_by_row() {
        for k in [1, 3, 8, 10, 17] {
            for moments in kinds(70, k) {
                let p = packed_len(k);
                let mut out = Mat::zeros(p + k, 66);
                moments.write_moment_table(2..68, |r| (1.0 + r as f64, 2.0), out.as_mut());
                let expected = moments.second_moment_rows(2..68);
                for i in 0..66 {
                    for (found, expected) in out.col_as_slice(i).iter().zip(expected.row(i)) {
                        let expected = (3 + i) as f64 * expected;
                        assert!((found - expected).abs() <= 1e-13 * (1.0 + expected.abs()));
                    }
                    for j in 0..k {
                        assert_eq!(out[(p + j, i)], 2.0 * moments.mean()[(2 + i, j)]);
                    }
                }
            }
        }
    }
}
