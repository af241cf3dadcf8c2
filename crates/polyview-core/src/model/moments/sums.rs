//! Sums over rows that equations and bounds are made of.

// kernels are compiled for several instruction sets only where they are inlined
#![allow(clippy::inline_always)]

use std::ops::Range;
use std::sync::OnceLock;

use polyview_linalg::faer::prelude::ReborrowMut;
use polyview_linalg::simd::{Kernel, dispatch, mul_add};
use polyview_linalg::{
    Mat, MatMut, MatRef, PackedRows, SymPacked, column_square_sums, column_sums, gram, packed_dot,
    packed_index, packed_len, packed_quad, weighted_column_sums,
};
use rayon::prelude::*;

use super::{RowCov, RowMoments};
use crate::model::basis;

impl RowMoments {
    /// $\sum\_r t\_r S\_r$ over the explicit rows (`t` = 1 without weights),
    /// plus the implicit ones with weight 1 when there are no weights.
    pub fn cov_sum(&self, weights: Option<&[f64]>) -> SymPacked {
        match weights {
            None => self.cov_total.get_or_init(|| self.sum_cov(None)).clone(),
            Some(_) => self.sum_cov(weights),
        }
    }
    fn sum_cov(&self, weights: Option<&[f64]>) -> SymPacked {
        let weight = |r: usize| weights.map_or(1.0, |t| t[r]);
        let sums_of = |m: &Mat<f64>| match weights {
            None => column_sums(m.as_ref()),
            Some(t) => weighted_column_sums(m.as_ref(), t),
        };
        let total = || match weights {
            None => self.rows() as f64,
            Some(t) => t.iter().sum(),
        };
        let mut out = SymPacked::zeros(self.k());
        match &self.cov {
            RowCov::Zero => {}
            RowCov::Shared(s) => out.add_scaled(total(), s),
            RowCov::Basis { vectors, scales } => {
                let sums = sums_of(scales);
                basis::covariance(vectors.as_ref(), |j| sums[j], out.as_mut_slice());
            }
            RowCov::Patterns { cov, of_row } => {
                let mut per = vec![0.0; cov.rows()];
                for (r, &p) in of_row.iter().enumerate() {
                    per[p as usize] += weight(r);
                }
                for (p, t) in per.iter().enumerate() {
                    axpy(*t, cov.row(p), out.as_mut_slice());
                }
            }
            RowCov::PerRow(cov) => match weights {
                None => out.add_scaled(1.0, &cov.sum()),
                Some(t) => {
                    for (r, t) in t.iter().enumerate() {
                        axpy(*t, cov.row(r), out.as_mut_slice());
                    }
                }
            },
            RowCov::Diagonal(v) => out.add_diag(&sums_of(v)),
        }
        out
    }

    /// $\sum\_r t\_r \langle r^\top r\rangle$ (spec/sshiba M1, M2).
    pub fn second_moment(&self, weights: Option<&[f64]>) -> SymPacked {
        let mut out = self.cov_sum(weights);
        let outer = match weights {
            None => gram(self.mean.as_ref()),
            Some(t) => {
                let roots: Vec<f64> = t.iter().map(|t| t.max(0.0).sqrt()).collect();
                let mut scaled = self.mean.clone();
                for j in 0..self.k() {
                    for (x, t) in scaled.col_as_slice_mut(j).iter_mut().zip(&roots) {
                        *x *= t;
                    }
                }
                gram(scaled.as_ref())
            }
        };
        out.add_scaled(1.0, &outer);
        out
    }

    /// $\langle r^\top r\rangle$ of each explicit row in `rows`, packed.
    pub fn second_moment_rows(&self, rows: Range<usize>) -> PackedRows {
        let (k, p) = (self.k(), packed_len(self.k()));
        let mut out = PackedRows::zeros(rows.len(), k);
        let (mut mean, mut spare) = (vec![0.0; k], vec![0.0; p]);
        for (i, r) in rows.enumerate() {
            self.copy_mean(r, &mut mean);
            let cov = self.packed_cov(r, &mut spare);
            second_moment(k, cov, &mean, 1.0, out.row_mut(i));
        }
        out
    }
    fn copy_mean(&self, row: usize, into: &mut [f64]) {
        for (j, x) in into.iter_mut().enumerate() {
            *x = self.mean[(row, j)];
        }
    }
    /// Packed covariance of one explicit row; `spare` is written to where it is
    /// not stored.
    fn packed_cov<'a>(&'a self, r: usize, spare: &'a mut [f64]) -> &'a [f64] {
        match &self.cov {
            RowCov::Zero => spare.fill(0.0),
            RowCov::Shared(s) => return s.as_slice(),
            RowCov::PerRow(cov) => return cov.row(r),
            RowCov::Patterns { cov, of_row } => return cov.row(of_row[r] as usize),
            RowCov::Basis { vectors, scales } => {
                basis::covariance(vectors.as_ref(), |j| scales[(r, j)], spare);
            }
            RowCov::Diagonal(v) => {
                spare.fill(0.0);
                for j in 0..self.k() {
                    spare[packed_index(j, j)] = v[(r, j)];
                }
            }
        }
        spare
    }

    /// $\mathrm{tr}(\langle r^\top r\rangle C)$ of one explicit row, `c`
    /// packed.
    pub fn row_energy(&self, row: usize, c: &[f64]) -> f64 {
        let k = self.k();
        let mut mean = vec![0.0; k];
        self.copy_mean(row, &mut mean);
        packed_quad(c, &mean)
            + match &self.cov {
                RowCov::Zero => 0.0,
                RowCov::Shared(s) => packed_dot(s.as_slice(), c, k),
                RowCov::Patterns { cov, of_row } => packed_dot(cov.row(of_row[row] as usize), c, k),
                RowCov::PerRow(cov) => packed_dot(cov.row(row), c, k),
                RowCov::Diagonal(v) => (0..k).map(|j| v[(row, j)] * c[packed_index(j, j)]).sum(),
                RowCov::Basis { .. } => packed_dot(self.row_cov(row).as_slice(), c, k),
            }
    }

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

    /// $\mathrm{tr}(\langle r^\top r\rangle C)$ of each explicit row in `rows`.
    pub fn row_energies(&self, rows: Range<usize>, c: &SymPacked) -> Vec<f64> {
        let k = self.k();
        let shared = match &self.cov {
            RowCov::Shared(s) => s.dot(c),
            _ => 0.0,
        };
        let by_pattern: Vec<f64> = match &self.cov {
            RowCov::Patterns { cov, .. } => (0..cov.rows())
                .map(|p| packed_dot(cov.row(p), c.as_slice(), k))
                .collect(),
            _ => Vec::new(),
        };
        let in_basis: Vec<f64> = match &self.cov {
            RowCov::Basis { vectors, .. } => (0..vectors.ncols())
                .map(|j| {
                    let v: Vec<f64> = (0..k).map(|i| vectors[(i, j)]).collect();
                    packed_quad(c.as_slice(), &v)
                })
                .collect(),
            _ => Vec::new(),
        };
        let full = c.to_mat();
        let block = self.mean.as_ref().subrows(rows.start, rows.len());
        let turned = polyview_linalg::times_small(block, full.as_ref());
        rows.enumerate()
            .map(|(i, r)| {
                let quad: f64 = (0..k).map(|j| turned[(i, j)] * self.mean[(r, j)]).sum();
                quad + match &self.cov {
                    RowCov::Zero => 0.0,
                    RowCov::Shared(_) => shared,
                    RowCov::Basis { scales, .. } => in_basis
                        .iter()
                        .enumerate()
                        .map(|(j, e)| scales[(r, j)] * e)
                        .sum(),
                    RowCov::Patterns { of_row, .. } => by_pattern[of_row[r] as usize],
                    RowCov::PerRow(cov) => packed_dot(cov.row(r), c.as_slice(), k),
                    RowCov::Diagonal(v) => (0..k).map(|j| v[(r, j)] * c.get(j, j)).sum(),
                }
            })
            .collect()
    }

    /// $\sum\_r t\_r\langle r\_k^2\rangle$ for each column (all rows,
    /// implicit ones with weight 1 when there are no weights).
    pub fn column_squares(&self, weights: Option<&[f64]>) -> Vec<f64> {
        let cov = self.cov_sum(weights);
        let squares = match weights {
            None => column_square_sums(self.mean()),
            Some(t) => (0..self.k())
                .map(|k| {
                    let column = self.mean.col_as_slice(k);
                    t.iter().zip(column).map(|(t, x)| t * x * x).sum()
                })
                .collect(),
        };
        let with_cov = |(k, x): (usize, f64)| x + cov.get(k, k);
        squares.into_iter().enumerate().map(with_cov).collect()
    }

    /// $\sum\_k c\_k\langle r\_k^2\rangle$ of each explicit row, one weight a
    /// column.
    pub fn row_squares(&self, weights: &[f64]) -> Vec<f64> {
        let (k, rows) = (self.k(), self.mean.nrows());
        let diagonal = |packed: &[f64]| -> f64 {
            (0..k)
                .map(|j| weights[j] * packed[packed_index(j, j)])
                .sum()
        };
        let mut out: Vec<f64> = match &self.cov {
            RowCov::Zero => vec![0.0; rows],
            RowCov::Shared(s) => vec![diagonal(s.as_slice()); rows],
            RowCov::Basis { vectors, scales } => {
                let mut out = vec![0.0; rows];
                for j in 0..vectors.ncols() {
                    let energy: f64 = (0..k).map(|i| weights[i] * vectors[(i, j)].powi(2)).sum();
                    axpy(energy, scales.col_as_slice(j), &mut out);
                }
                out
            }
            RowCov::Patterns { cov, of_row } => {
                let per: Vec<f64> = (0..cov.rows()).map(|p| diagonal(cov.row(p))).collect();
                of_row.iter().map(|&p| per[p as usize]).collect()
            }
            RowCov::PerRow(cov) => (0..rows).map(|r| diagonal(cov.row(r))).collect(),
            RowCov::Diagonal(v) => {
                let mut out = vec![0.0; rows];
                for j in 0..k {
                    axpy(weights[j], v.col_as_slice(j), &mut out);
                }
                out
            }
        };
        for j in 0..k {
            for (sum, x) in out.iter_mut().zip(self.mean.col_as_slice(j)) {
                *sum += weights[j] * x * x;
            }
        }
        out
    }

    /// For each explicit row (a column here) the packed $\\langle r^\\top
    /// r\\rangle$ followed by the mean: (K(K+1)/2 + K) × rows. Made when first
    /// asked for and kept until the rows change; every incomplete view sums
    /// columns of it.
    pub fn moment_table(&self) -> &Mat<f64> {
        self.table.get_or_init(|| {
            let mut out = Mat::zeros(packed_len(self.k()) + self.k(), self.mean.nrows());
            let rows = 0..self.mean.nrows();
            self.write_moment_table(rows, |_| (1.0, 1.0), out.as_mut());
            out
        })
    }
    /// Gives the memory of [`RowMoments::moment_table`] back; who asks for it
    /// again has it made anew.
    pub fn forget_moment_table(&mut self) {
        self.table = OnceLock::new();
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
const ROWS: usize = 32;

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
                let (mean, variance) = (reader.mean.row(i).as_chunks().0, variance.row(i).as_chunks().0);
                let mut start = 0;
                for a in 0..k {
                    let (x, last, end) = (reader.mean.row(i)[a], a / WIDE, a % WIDE);
                    for (j, mean) in mean[..last].iter().enumerate() {
                        let cells = cells_at(matrix, start + WIDE * j);
                        for l in 0..WIDE {
                            sums[l] = mul_add::<FUSED>(cells[l], 2.0 * x * mean[l], sums[l]);
                        }
                    }
                    let cells = cells_at(matrix, start + WIDE * last);
                    let (mean, v) = (&mean[last], &variance[last]);
                    let (diagonal, times) = &LINES[end];
                    for l in 0..WIDE {
                        let moment = times[l] * x * mean[l] + diagonal[l] * v[l];
                        // what stands beyond the line is no number of it
                        let cell = if times[l] == 0.0 { 0.0 } else { cells[l] };
                        sums[l] = mul_add::<FUSED>(cell, moment, sums[l]);
                    }
                    start += a + 1;
                }
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
            let (squares, line) = cell.split_at_mut(p);
            reader.second_moment(i, second, squares);
            for (x, m) in line.iter_mut().zip(reader.mean.row(i)) {
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
fn second_moment(k: usize, cov: &[f64], mean: &[f64], t: f64, out: &mut [f64]) {
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
    let (lanes, variance) = (mean.as_chunks::<WIDE>().0, variance.as_chunks::<WIDE>().0);
    let mut start = 0;
    for (a, x) in mean[..k].iter().enumerate() {
        let (last, end) = (a / WIDE, a % WIDE);
        for (j, mean) in lanes[..=last].iter().enumerate() {
            let at = start + WIDE * j;
            let mut made = mean.map(|m| x * m);
            if j == last {
                let diagonal = &LINES[end].0;
                for l in 0..WIDE {
                    made[l] += diagonal[l] * variance[j][l];
                }
            }
            let made = made.map(|x| x * t);
            match out[at..].first_chunk_mut::<WIDE>() {
                Some(out) => *out = made,
                None => {
                    let rest = out.len() - at;
                    out[at..].copy_from_slice(&made[..rest]);
                }
            }
        }
        start += a + 1;
    }
}

fn axpy(t: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += t * x;
    }
}
