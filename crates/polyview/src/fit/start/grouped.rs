//! Means of a view's features within groups of samples, as a matrix that is
//! only multiplied with.

use polyview_core::{Mask, RowGroups, View};
use polyview_linalg::{BitMask, Mat, MatMut, MatRef, masked_sums};

/// The matrix $M$, samples × features, with $\mu\_{g(n) d}$, the mean of a
/// feature over the observed cells of a sample's group, in observed cells and
/// 0 in missing ones.
pub(crate) struct GroupMeans {
    /// Samples of each group; of views whose samples are missing as a whole,
    /// those observed.
    rows: Vec<Vec<usize>>,
    /// Features × groups; of sparse values the means of their entries.
    means: Mat<f64>,
    /// What is added to all values of a feature that are stored sparse.
    base: Option<Vec<f64>>,
    /// Where single cells are missing: the observed ones of each group's
    /// samples, by feature and by sample.
    cells: Vec<(BitMask, BitMask)>,
}

impl GroupMeans {
    /// The means, and the variance about them of each feature.
    pub(crate) fn new(view: &View, groups: &RowGroups) -> (Self, Vec<f64>) {
        let (count, cols) = (groups.count(), view.n_features());
        let mut rows = vec![Vec::new(); count];
        for (n, &g) in groups.of_row().iter().enumerate() {
            match view.mask() {
                Mask::Rows(observed) if !observed[n] => {}
                _ => rows[g as usize].push(n),
            }
        }
        let cells: Vec<(BitMask, BitMask)> = match view.mask() {
            Mask::Complete | Mask::Rows(_) => Vec::new(),
            Mask::Cells { by_feature, .. } => rows
                .iter()
                .map(|rows| {
                    let size = rows.len();
                    let seen = |i: usize, d: usize| by_feature.get(rows[i], d);
                    (
                        BitMask::from_fn(size, cols, seen),
                        BitMask::from_fn(cols, size, |d, i| seen(i, d)),
                    )
                })
                .collect(),
        };
        let observed = |g: usize, d: usize| match cells.get(g) {
            Some((by_feature, _)) => by_feature.count_col(d),
            None => rows[g].len(),
        };
        let of_row = groups.of_row();
        let mut means = Mat::zeros(cols, count);
        let (mut sums, mut squares) = (vec![0.0; count], vec![0.0; count]);
        let mut variances = Vec::with_capacity(cols);
        for d in 0..cols {
            sums.fill(0.0);
            squares.fill(0.0);
            let mut add = |n: usize, x: f64| {
                sums[of_row[n] as usize] += x;
                squares[of_row[n] as usize] += x * x;
            };
            // missing cells hold 0; of sparse values the entries alone: their
            // base goes with the means
            if let Some(x) = view.sparse() {
                let (at, values) = x.entries().column(d);
                for (&n, &x) in at.iter().zip(values) {
                    add(n as usize, x);
                }
            } else {
                let values = view.values().col(d);
                values.iter().enumerate().for_each(|(n, &x)| add(n, x));
            }
            let (mut about, mut all) = (0.0, 0);
            for g in 0..count {
                let n = observed(g, d);
                let mean = sums[g] / n.max(1) as f64;
                about += squares[g] - sums[g] * mean;
                all += n;
                means[(d, g)] = mean;
            }
            variances.push(about / all.max(1) as f64);
        }
        let out = Self {
            rows,
            means,
            base: view.sparse().map(|x| x.base().to_vec()),
            cells,
        };
        (out, variances)
    }

    /// The means of the values, number g D + d that of group g and feature d; 0
    /// (and the base) where there are none.
    pub(crate) fn group_after_group(&self) -> Vec<f64> {
        let base = |d: usize| self.base.as_ref().map_or(0.0, |b| b[d]);
        let of = |g: usize| self.means.col(g).iter().enumerate();
        (0..self.means.ncols())
            .flat_map(|g| of(g).map(|(d, mean)| mean + base(d)))
            .collect()
    }

    /// Takes $M\,\mathrm{diag}(s)\,B$ from `out`, samples × L.
    pub(super) fn subtract_times(
        &self,
        scale: &[f64],
        b: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) {
        let (d, l) = (b.nrows(), b.ncols());
        for (g, rows) in self.rows.iter().enumerate() {
            let product = |i: usize, j: usize| self.means[(i, g)] * scale[i] * b[(i, j)];
            if let Some((_, by_sample)) = self.cells.get(g) {
                let table = Mat::from_fn(l, d, |j, i| product(i, j));
                let mut shift = Mat::zeros(l, rows.len());
                masked_sums(by_sample, table.as_ref(), shift.as_mut());
                for j in 0..l {
                    for (i, &n) in rows.iter().enumerate() {
                        out[(n, j)] -= shift[(j, i)];
                    }
                }
            } else {
                for j in 0..l {
                    let shift: f64 = (0..d).map(|i| product(i, j)).sum();
                    for &n in rows {
                        out[(n, j)] -= shift;
                    }
                }
            }
        }
    }

    /// Takes $\mathrm{diag}(s)\,M^\top B$ from `out`, features × L.
    pub(super) fn subtract_transpose_times(
        &self,
        scale: &[f64],
        b: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) {
        let (d, l) = (scale.len(), b.ncols());
        for (g, rows) in self.rows.iter().enumerate() {
            if let Some((by_feature, _)) = self.cells.get(g) {
                let table = Mat::from_fn(l, rows.len(), |j, i| b[(rows[i], j)]);
                let mut sums = Mat::zeros(l, d);
                masked_sums(by_feature, table.as_ref(), sums.as_mut());
                for j in 0..l {
                    for i in 0..d {
                        out[(i, j)] -= scale[i] * self.means[(i, g)] * sums[(j, i)];
                    }
                }
            } else {
                for j in 0..l {
                    let sum: f64 = rows.iter().map(|&n| b[(n, j)]).sum();
                    for i in 0..d {
                        out[(i, j)] -= scale[i] * self.means[(i, g)] * sum;
                    }
                }
            }
        }
    }
}
