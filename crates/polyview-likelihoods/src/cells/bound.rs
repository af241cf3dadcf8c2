//! The bound at the current local numbers.

use polyview_core::Predictor;
use polyview_linalg::{each, packed_dot, packed_len};

use super::{CellLikelihood, Cells};

impl<L: CellLikelihood> Cells<L> {
    /// $\sum c\_{nd}$, or the log density where local numbers are draws.
    pub(super) fn constants(&mut self, p: &Predictor<'_>) -> f64 {
        if let (true, Some(a)) = (self.drawn, self.likelihood.augmentation()) {
            let rows = self.data.rows();
            let mut total = 0.0;
            for columns in self.blocks() {
                let eta = p.mean(0..rows, columns.clone());
                let of_column = |j: usize| -> f64 {
                    let (column, eta) = (self.data.column(columns.start + j), eta.col_as_slice(j));
                    (0..rows)
                        .filter_map(|n| {
                            Some((n, column.cell(n)?, self.weight(n, columns.start + j)))
                        })
                        .filter(|(_, _, w)| *w != 0.0)
                        .map(|(n, cell, w)| w * a.log_density(cell, eta[n]))
                        .sum()
                };
                total += each(columns.len(), of_column).iter().sum::<f64>();
            }
            return total;
        }
        if let Some((stamp, sum)) = self.cache.offset
            && stamp == self.stamp
        {
            return sum;
        }
        if self.has_column_sums() {
            return self.cache.columns.iter().map(|c| c.2).sum();
        }
        let mut sums: Vec<f64> = Vec::with_capacity(self.data.columns());
        for columns in self.blocks() {
            let locals = self.locals_of(&columns, Some(p));
            let of_column = |j: usize| -> f64 {
                let d = columns.start + j;
                let (column, local) = (self.data.column(d), locals.column(j));
                let sum: f64 = (0..self.data.rows())
                    .filter_map(|n| {
                        let offset = self.likelihood.offset(column.cell(n)?, local[n]);
                        Some(self.weight(n, d) * offset)
                    })
                    .sum();
                sum + self.datum_offset(d)
            };
            sums.extend(each(columns.len(), of_column));
        }
        let sum = sums.iter().sum();
        self.cache.offset = Some((self.stamp, sum));
        sum
    }
    /// $\sum h\langle\eta\rangle - \tfrac12\omega\langle\eta^2\rangle$, from
    /// whichever sums are still valid.
    pub(super) fn quadratic(&mut self, p: &Predictor<'_>) -> f64 {
        let k = p.weights.k();
        let len = packed_len(k);
        let mut total = 0.0;
        if self.has_factor_sums(p) {
            let (z, table) = (p.factors.mean(), p.factors.moment_table());
            if let Some(side) = &self.cache.factors {
                for n in 0..z.nrows() {
                    let sums = side.sums.col_as_slice(n);
                    let mut linear = 0.0;
                    for j in 0..k {
                        linear += z[(n, j)] * (side.linear[(n, j)] - sums[len + j]);
                    }
                    total +=
                        linear - 0.5 * packed_dot(&sums[..len], &table.col_as_slice(n)[..len], k);
                }
            }
        } else {
            self.ensure_weight_sums(self.data.columns(), p);
            let w = p.weights.mean();
            if let Some(side) = &self.cache.weights {
                for columns in self.blocks() {
                    let moments = p.weights.second_moment_rows(columns.clone());
                    for (i, d) in columns.enumerate() {
                        let sums = side.sums.col_as_slice(d);
                        let b = p.bias.mean()[d];
                        let mut linear = 0.0;
                        for j in 0..k {
                            linear += w[(d, j)] * (side.linear[(j, d)] - b * sums[len + j]);
                        }
                        total += linear - 0.5 * packed_dot(&sums[..len], moments.row(i), k);
                    }
                }
            }
        }
        for (d, &(omega, h, _)) in self.cache.columns.iter().enumerate() {
            let b = p.bias.mean()[d];
            total += b * h - 0.5 * omega * (b * b + p.bias.variance()[d]);
        }
        total
    }
}
