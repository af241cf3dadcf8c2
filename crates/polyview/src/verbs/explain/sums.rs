//! The three sums that all shares of variance are made of.

use std::ops::Range;

use polyview_core::{DataError, Domain, Mask, RowGroups, RowMoments, View, column_block};
use polyview_linalg::{Mat, MatRef, cross, gram, masked_sums, packed_index, packed_len};
use rayon::prelude::*;

use super::deviance::Expected;
use crate::fit::{Component, ComponentView};

/// Posterior means of one component.
pub(super) struct Draw {
    /// Factors and what is known beside them, samples × columns.
    pub factors: Mat<f64>,
    /// Weights of each view and what stands beside them, features × columns.
    pub weights: Vec<Mat<f64>>,
}

/// What a posterior says of every view.
#[derive(Default)]
pub(super) struct Posterior {
    /// Its components.
    pub draws: Vec<Draw>,
    /// What the data of each view are.
    pub kinds: Vec<Domain>,
    /// Draws of the views whose components have weights of their own, by view: each factor
    /// once for each component, in the samples that belong there, side by side.
    pub local: Vec<Vec<Draw>>,
    /// Whether each view's intercepts are by group of samples.
    pub by_group: Vec<bool>,
    /// Known factors and the views' parts, one a component, where there are
    /// labels or counts.
    components: Vec<(RowMoments, Vec<ComponentView>)>,
    /// What link and noise add, by component and view.
    links: Vec<Vec<Link>>,
}

impl Posterior {
    /// Adds a component, with factors of its own or of other samples, which belong to the
    /// components of a mixture by `shares`.
    pub(super) fn push(
        &mut self,
        factors: Mat<f64>,
        component: Component,
        shares: Option<&Mat<f64>>,
    ) {
        self.local.resize_with(component.views.len(), Vec::new);
        for (m, local) in self.local.iter_mut().enumerate() {
            let components = component.views[m].term.shape().components;
            if let (Some(_), Some(shares)) = (components, shares) {
                local.push(Draw {
                    factors: by_component(&factors, shares),
                    weights: vec![component.local_weights(m, shares.ncols())],
                });
            }
        }
        let weights = (0..component.views.len())
            .map(|m| component.linear_seen(m))
            .collect();
        let parts = component.views;
        self.kinds = parts.iter().map(|v| v.term.domain()).collect();
        self.by_group = parts.iter().map(|v| v.bias.groups().is_some()).collect();
        self.links.push(parts.iter().map(Link::of).collect());
        self.draws.push(Draw { factors, weights });
        if self.kinds.iter().any(|k| !k.is_real())
            && let Some(draw) = self.draws.last()
        {
            let known = RowMoments::point(draw.factors.clone());
            self.components.push((known, parts));
        }
    }

    /// Number of columns of a view's predictor, those of one set of weights.
    pub(super) fn columns(&self, at: usize) -> usize {
        let of = self.links.first().and_then(|c| c[at].variance.first());
        of.map_or(0, Vec::len)
    }
    /// What some columns of labels or counts are expected to be.
    pub(super) fn expected(&self, at: usize, columns: &Range<usize>) -> Expected {
        let samples = self.draws.first().map_or(0, |d| d.factors.nrows());
        let mut out = Expected::new(samples, columns);
        for (factors, parts) in &self.components {
            out.add(factors, &parts[at]);
        }
        out
    }

    /// Variance that link and noise add to the cells of a column of a view, those
    /// of the samples `rows`, on average over the components.
    pub(super) fn link_variance(&self, at: usize, column: usize, rows: &[usize]) -> f64 {
        let sum: f64 = self.links.iter().map(|c| c[at].over(column, rows)).sum();
        sum / self.links.len().max(1) as f64
    }
}

/// Factors times the probabilities of the components, component after component.
fn by_component(factors: &Mat<f64>, shares: &Mat<f64>) -> Mat<f64> {
    let k = factors.ncols();
    Mat::from_fn(factors.nrows(), k * shares.ncols(), |n, j| {
        factors[(n, j % k)] * shares[(n, j / k)]
    })
}

/// Variance that link and noise add to the cells of a view.
struct Link {
    /// By group, by column.
    variance: Vec<Vec<f64>>,
    /// Group of each sample; none where all are alike.
    of_row: Vec<u32>,
}

impl Link {
    fn of(v: &ComponentView) -> Self {
        let groups = v.bias.groups().or_else(|| v.term.groups());
        let of_group = |g: usize| {
            (0..v.term.shape().predicted_columns())
                .map(|d| v.term.link_at(&v.bias, g, d).variance)
                .collect()
        };
        Self {
            variance: (0..groups.map_or(1, RowGroups::count))
                .map(of_group)
                .collect(),
            of_row: groups.map_or_else(Vec::new, |g| g.of_row().to_vec()),
        }
    }

    /// The sum over some samples.
    fn over(&self, column: usize, rows: &[usize]) -> f64 {
        let mut cells = vec![0.0; self.variance.len()];
        for &n in rows {
            cells[self.of_row.get(n).map_or(0, |g| *g as usize)] += 1.0;
        }
        let of_group = |(cells, v): (&f64, &Vec<f64>)| cells * v[column];
        cells.iter().zip(&self.variance).map(of_group).sum()
    }
}

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
