//! The three sums that all shares of variance are made of.

use std::ops::Range;

use polyview_core::{DataError, Mask, RowMoments, View, column_block};
use polyview_linalg::{Mat, MatRef, cross, gram, masked_sums, packed_index, packed_len};
use rayon::prelude::*;

use super::posterior::Draw;

/// Sums over the observed cells of one view, everything about the feature's
/// mean over its observed cells, with $F\_k$ the contribution of factor k.
pub(super) struct Sums {
    /// $\\|X\\|^2$.
    pub total: f64,
    /// $\langle F\_k, X\rangle$.
    pub cross: Vec<f64>,
    /// $\langle F\_k, F\_l\rangle$.
    pub gram: Mat<f64>,
}

/// Columns that are read together.
pub(super) fn width(samples: usize) -> usize {
    column_block(samples).min(256)
}

impl Sums {
    pub(super) fn zero(k: usize) -> Self {
        Self {
            total: 0.0,
            cross: vec![0.0; k],
            gram: Mat::zeros(k, k),
        }
    }

    /// The sums of so many factors, of those of each of them in every component.
    pub(super) fn folded(self, k: usize) -> Self {
        if self.cross.len() == k {
            return self;
        }
        let mut out = Self {
            total: self.total,
            ..Self::zero(k)
        };
        for (j, x) in self.cross.iter().enumerate() {
            out.cross[j % k] += x;
            for l in 0..self.cross.len() {
                out.gram[(j % k, l % k)] += self.gram[(j, l)];
            }
        }
        out
    }

    /// What some columns explain together, of [`Sums::total`].
    pub(super) fn explained(&self, columns: Range<usize>) -> f64 {
        let of = |j: usize| {
            let all: f64 = columns.clone().map(|l| self.gram[(j, l)]).sum();
            2.0 * self.cross[j] - all
        };
        columns.clone().map(of).sum()
    }

    /// All components of a posterior.
    pub(super) fn of(view: &View, draws: &[Draw], at: usize) -> Self {
        match draws {
            [one] => Self::of_one(view, one, at),
            many => Self::of_many(view, many, at),
        }
    }

    /// The sums over the samples of each stratum about its own means, added.
    pub(super) fn by_strata(
        view: &View,
        draws: &[Draw],
        at: usize,
        strata: &[Vec<usize>],
    ) -> Result<Self, DataError> {
        let mut out = Self::zero(draws.first().map_or(0, |d| d.factors.ncols()));
        for rows in strata.iter().filter(|rows| !rows.is_empty()) {
            out.add(&Self::of_samples(view, draws, at, rows)?);
        }
        Ok(out)
    }

    /// The sums over some samples alone, about each feature's mean over them.
    /// A block of features at a time is looked at as a view of its own, so
    /// that the rows are never copied all together.
    fn of_samples(
        view: &View,
        draws: &[Draw],
        at: usize,
        rows: &[usize],
    ) -> Result<Self, DataError> {
        let k = draws.first().map_or(0, |d| d.factors.ncols());
        let mut out = Self::zero(k);
        let some: Vec<Mat<f64>> = draws
            .iter()
            .map(|d| Mat::from_fn(rows.len(), k, |r, j| d.factors[(rows[r], j)]))
            .collect();
        let width = width(view.n_samples());
        for start in (0..view.n_features()).step_by(width) {
            let columns = start..(start + width).min(view.n_features());
            let mut values = Mat::zeros(rows.len(), columns.len());
            for (j, d) in columns.clone().enumerate() {
                let column = view.column(d);
                for (x, &n) in values.col_as_slice_mut(j).iter_mut().zip(rows) {
                    *x = if view.is_observed(n, d) {
                        column[n]
                    } else {
                        f64::NAN
                    };
                }
            }
            let names = view.features()[columns.clone()].to_vec();
            let block = View::from_values(view.name(), names, values)?;
            let parts: Vec<Draw> = draws
                .iter()
                .zip(&some)
                .map(|(d, z)| Draw {
                    factors: z.clone(),
                    weights: vec![Mat::from_fn(columns.len(), k, |j, f| {
                        d.weights[at][(start + j, f)]
                    })],
                })
                .collect();
            out.add(&Self::of(&block, &parts, 0));
        }
        Ok(out)
    }

    pub(super) fn add(&mut self, part: &Self) {
        let k = self.cross.len();
        self.total += part.total;
        for j in 0..k {
            self.cross[j] += part.cross[j];
            for l in 0..k {
                self.gram[(j, l)] += part.gram[(j, l)];
            }
        }
    }

    /// One component, $F\_k = z\_k w\_k^\top$: everything follows from K × K
    /// sums of each side, no contribution is ever spelt out.
    fn of_one(view: &View, draw: &Draw, at: usize) -> Self {
        let z = centred(&draw.factors);
        let w = &draw.weights[at];
        let (n, k) = (z.nrows(), z.ncols());
        let mut out = Self::zero(k);
        let width = width(view.n_samples());
        for start in (0..view.n_features()).step_by(width) {
            let columns = start..(start + width).min(view.n_features());
            let mut block: Mat<f64> = Mat::zeros(n, columns.len());
            for (j, d) in columns.clone().enumerate() {
                out.total += centre_column(view, d, block.col_as_slice_mut(j));
            }
            let products = cross(z.as_ref(), block.as_ref());
            for (j, d) in columns.enumerate() {
                for f in 0..k {
                    out.cross[f] += w[(d, f)] * products[(f, j)];
                }
            }
        }
        match view.mask() {
            Mask::Complete => out.gram = product_gram(z.as_ref(), w.as_ref()),
            Mask::Rows(rows) => {
                let kept: Vec<usize> = (0..n).filter(|&r| rows[r]).collect();
                let some = Mat::from_fn(kept.len(), k, |r, j| z[(kept[r], j)]);
                out.gram = product_gram(centred(&some).as_ref(), w.as_ref());
            }
            Mask::Cells { by_feature, .. } => {
                let z = RowMoments::point(z);
                let table = z.moment_table();
                let mut sums: Mat<f64> = Mat::zeros(table.nrows(), view.n_features());
                masked_sums(by_feature, table.as_ref(), sums.as_mut());
                let p = packed_len(k);
                for d in 0..view.n_features() {
                    let count = by_feature.count_col(d);
                    if count == 0 {
                        continue;
                    }
                    let s = sums.col_as_slice(d);
                    for a in 0..k {
                        for b in 0..=a {
                            let own = s[packed_index(a, b)] - s[p + a] * s[p + b] / count as f64;
                            out.gram[(a, b)] += w[(d, a)] * w[(d, b)] * own;
                        }
                    }
                }
                for a in 0..k {
                    for b in 0..a {
                        out.gram[(b, a)] = out.gram[(a, b)];
                    }
                }
            }
        }
        out
    }

    /// Several components: $F\_k$ is the mean of their contributions, spelt
    /// out feature by feature.
    fn of_many(view: &View, draws: &[Draw], at: usize) -> Self {
        let k = draws.first().map_or(0, |d| d.factors.ncols());
        let factors: Vec<Mat<f64>> = draws.iter().map(|d| centred(&d.factors)).collect();
        let share = 1.0 / draws.len().max(1) as f64;
        let width = width(view.n_samples());
        let starts: Vec<usize> = (0..view.n_features()).step_by(width).collect();
        let parts: Vec<Self> = starts
            .into_par_iter()
            .map(|start| {
                let mut part = Self::zero(k);
                let mut x = vec![0.0; view.n_samples()];
                for d in start..(start + width).min(view.n_features()) {
                    part.total += centre_column(view, d, &mut x);
                    let mut f: Mat<f64> = Mat::zeros(view.n_samples(), k);
                    for (z, draw) in factors.iter().zip(draws) {
                        for j in 0..k {
                            let w = share * draw.weights[at][(d, j)];
                            for (f, z) in f.col_as_slice_mut(j).iter_mut().zip(z.col_as_slice(j)) {
                                *f += w * z;
                            }
                        }
                    }
                    for j in 0..k {
                        centre_observed(view, d, f.col_as_slice_mut(j));
                        part.cross[j] += dot(f.col_as_slice(j), &x);
                        for l in 0..=j {
                            part.gram[(j, l)] += dot(f.col_as_slice(j), f.col_as_slice(l));
                        }
                    }
                }
                part
            })
            .collect();
        let mut out = Self::zero(k);
        for part in &parts {
            out.add(part);
        }
        for j in 0..k {
            for l in 0..j {
                out.gram[(l, j)] = out.gram[(j, l)];
            }
        }
        out
    }
}

/// The posterior mean of the linear predictor of some columns of a view without
/// its intercepts, missing where no label was observed; with the draws for
/// these columns alone.
pub(super) fn linear_predictor(
    view: &View,
    draws: &[Draw],
    at: usize,
    names: &[String],
    columns: &Range<usize>,
) -> Result<(View, Vec<Draw>), DataError> {
    let mut values: Mat<f64> = Mat::zeros(view.n_samples(), columns.len());
    let share = 1.0 / draws.len().max(1) as f64;
    let part = |draw: &Draw| Draw {
        factors: draw.factors.clone(),
        weights: vec![
            draw.weights[at]
                .as_ref()
                .subrows(columns.start, columns.len())
                .to_owned(),
        ],
    };
    let parts: Vec<Draw> = draws.iter().map(part).collect();
    for draw in &parts {
        let w = draw.weights[0].transpose().to_owned();
        values += polyview_linalg::times_small(draw.factors.as_ref(), w.as_ref()) * share;
    }
    for (j, d) in columns.clone().enumerate() {
        // classes are one feature, and latent dimensions none
        let seen = |n: usize| {
            if names.len() == view.n_features() {
                view.is_observed(n, d)
            } else {
                view.mask().count_sample(n, view.n_features()) > 0
            }
        };
        for n in 0..view.n_samples() {
            if !seen(n) {
                values[(n, j)] = f64::NAN;
            }
        }
    }
    let view = View::from_values(view.name(), names[columns.clone()].to_vec(), values)?;
    Ok((view, parts))
}

/// The columns of a linear predictor in units in which predictor and link together have
/// the variance 1 a cell, with the draws in the same units, and the variance of all links
/// then. `link` has that of each column over its observed cells.
pub(super) fn alike(
    latent: &View,
    mut draws: Vec<Draw>,
    link: &[f64],
    strata: &[Vec<usize>],
) -> Result<(View, Vec<Draw>, f64), DataError> {
    let mut values = latent.to_values_with_nan();
    let all = [(0..latent.n_samples()).collect::<Vec<usize>>()];
    let strata = if strata.is_empty() { &all } else { strata };
    let mut links = 0.0;
    for (d, link) in link.iter().enumerate() {
        let (mut cells, mut own) = (0.0, 0.0);
        for rows in strata {
            let x = rows.iter().map(|&n| values[(n, d)]).filter(|x| !x.is_nan());
            let (count, sum) = x.clone().fold((0.0, 0.0), |(n, s), x| (n + 1.0, s + x));
            let mean = if count > 0.0 { sum / count } else { 0.0 };
            cells += count;
            own += x.map(|x| (x - mean).powi(2)).sum::<f64>();
        }
        let squared = cells / (own + link);
        // without a cell, or with a link of infinite variance, it counts for nothing
        let squared = if squared.is_finite() { squared } else { 0.0 };
        links += if squared > 0.0 { squared * link } else { cells };
        for x in values.col_as_slice_mut(d) {
            *x *= squared.sqrt();
        }
        for draw in &mut draws {
            let w = &mut draw.weights[0];
            for j in 0..w.ncols() {
                w[(d, j)] *= squared.sqrt();
            }
        }
    }
    let view = View::from_values(latent.name(), latent.features().to_vec(), values)?;
    Ok((view, draws, links))
}

/// $(Z^\top Z)\circ(W^\top W)$.
fn product_gram(z: MatRef<'_, f64>, w: MatRef<'_, f64>) -> Mat<f64> {
    let (zz, ww) = (gram(z), gram(w));
    Mat::from_fn(z.ncols(), z.ncols(), |a, b| zz.get(a, b) * ww.get(a, b))
}

/// Columns less their means.
fn centred(m: &Mat<f64>) -> Mat<f64> {
    let mut out = m.clone();
    let n = m.nrows().max(1) as f64;
    for j in 0..out.ncols() {
        let column = out.col_as_slice_mut(j);
        let mean = column.iter().sum::<f64>() / n;
        for x in column {
            *x -= mean;
        }
    }
    out
}

/// Writes the observed values of a feature less their mean, zero elsewhere;
/// returns their sum of squares.
fn centre_column(view: &View, feature: usize, out: &mut [f64]) -> f64 {
    view.write_column(feature, out);
    centre_observed(view, feature, out);
    dot(out, out)
}

/// Takes the mean over the observed samples away from them and puts zero
/// elsewhere.
fn centre_observed(view: &View, feature: usize, x: &mut [f64]) {
    let count = view.mask().count_feature(feature, x.len());
    if let Mask::Complete = view.mask() {
        let mean = x.iter().sum::<f64>() / count.max(1) as f64;
        for x in x {
            *x -= mean;
        }
        return;
    }
    let mut sum = 0.0;
    for (n, x) in x.iter().enumerate() {
        if view.is_observed(n, feature) {
            sum += x;
        }
    }
    let mean = sum / count.max(1) as f64;
    for (n, x) in x.iter_mut().enumerate() {
        *x = if view.is_observed(n, feature) {
            *x - mean
        } else {
            0.0
        };
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
