//! Sums over rows that equations and bounds are made of.

use std::ops::Range;
use std::sync::OnceLock;

use polyview_linalg::{
    Mat, PackedRows, SymPacked, column_square_sums, column_sums, gram, packed_dot, packed_index,
    packed_len, packed_quad, weighted_column_sums,
};

use super::lanes::second_moment;
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
    pub(super) fn packed_cov<'a>(&'a self, r: usize, spare: &'a mut [f64]) -> &'a [f64] {
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
}

fn axpy(t: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += t * x;
    }
}
