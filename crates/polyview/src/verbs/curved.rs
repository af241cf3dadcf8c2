//! Regressions on similarities to training samples, where features act otherwise than in proportion.

use polyview_core::{NumericError, State, StateReader, Table};
use polyview_kernels::{
    Comparison, Family, Kernel, KernelChoice, KernelMap, Width, median_of_view,
};
use polyview_linalg::{Mat, MatRef, solve_spd, times_small};
use polyview_random::StreamKey;

use super::cross_validate::{columns, side_by_side};
use super::filled::Filled;
use super::regressed::{BEHIND, OWN};
use super::regressing::root_mean_square;
use crate::error::{ErrorKind, Result};
use crate::fit::Fit;
use crate::fit::short_fits::{SAMPLES, some_of};
use crate::fit::widths::{of_width, standardised};

/// With fewer samples of a view whether it bends cannot be told from chance.
const FEWEST: usize = 50;
/// Most training samples that others are compared with.
const POINTS: usize = 1000;
/// Most numbers that are kept of these.
const NUMBERS: usize = 1 << 20;
/// Widths that are tried, as multiples of the median distance of samples. Squares and products of features are seen best by wide ones: a kernel
/// of four times that distance is nearly a polynomial.
const WIDTHS: [f64; 10] = [0.125, 0.25, 0.354, 0.5, 0.707, 1.0, 1.41, 2.0, 2.83, 4.0];
/// Least share of the variance that a bend adds: a wide kernel and none differ by less where nothing bends.
const LEAST: f64 = 0.01;
/// Largest share of what is known of a sample that the sample itself says.
const MOST: f64 = 0.999;
/// Samples whose similarities are solved for together.
const AT_ONCE: usize = 2048;
/// Streams of the draw of the points, and of the samples that widths are compared in.
const DRAWN: u32 = 0x6376_7074;
const COMPARED: u32 = 0x6376_7764;

/// What features of several views are multiplied by once they are similarities to points: RBF, centred.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curved {
    /// The views by their places in the fit, those whose features are behind a kernel by their places after all views.
    views: Vec<usize>,
    /// Of the columns of these side by side, over the training samples.
    means: Vec<f64>,
    sds: Vec<f64>,
    map: KernelMap,
    /// Points × predictors of the target.
    pub(super) coefficients: Mat<f64>,
    /// Means of the similarities to each point over the training samples.
    pub(super) centres: Vec<f64>,
    /// What is known beforehand of each predictor of numbers, as the penalty says; of others nothing.
    pub(super) priors: Vec<Prior>,
}

/// A predictor that bends is a Gaussian process beforehand: kernel ridge regression is its posterior mean (docs/decisions/0116-how-sure-bends-are.md).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Prior {
    /// Variance for a unit of the kernel, in variances of the noise; 0 where none is told.
    pub(super) variance: f64,
    /// What is added to the diagonal of the kernel of the points, as noise.
    pub(super) noise: f64,
}

/// A kernel of features that predicts a target, and what it says of the training samples.
pub(super) struct Similar {
    pub(super) curved: Curved,
    /// Samples × points.
    pub(super) columns: Mat<f64>,
    /// The training samples that are the points, in order.
    pub(super) chosen: Vec<u32>,
}

impl Curved {
    pub(super) fn save(&self, fit: &Fit, at: &str, state: &mut State) {
        let all = fit.views().len();
        let mut is_source = vec![0.0; all];
        for v in &self.views {
            is_source[v % all] = if *v < all { OWN } else { BEHIND };
        }
        state.put_vec(&format!("{at}views"), &is_source);
        state.put_vec(&format!("{at}means"), &self.means);
        state.put_vec(&format!("{at}sds"), &self.sds);
        state.put_vec(&format!("{at}centres"), &self.centres);
        if let Kernel::Rbf { gamma } = self.map.kernel() {
            state.put_vec(&format!("{at}gamma"), &[gamma]);
        }
        state.put_mat(&format!("{at}points"), self.map.points());
        if self.priors.iter().any(|own| own.variance > 0.0) {
            let two = |n: usize, i: usize| {
                let own = self.priors[n];
                [own.variance, own.noise][i]
            };
            let priors = Mat::from_fn(self.priors.len(), 2, two);
            state.put_mat(&format!("{at}priors"), priors.as_ref());
        }
        state.put_mat(&format!("{at}coefficients"), self.coefficients.as_ref());
    }
    /// What a file has of it, if anything.
    pub(super) fn load(at: &str, state: &StateReader<'_>) -> Result<Option<Self>> {
        if !state.has(&format!("{at}views")) {
            return Ok(None);
        }
        let is_source = state.vec(&format!("{at}views"))?;
        let all = is_source.len();
        let gamma = state.scalar(&format!("{at}gamma"))?;
        let points = state.mat(&format!("{at}points"))?;
        let map = KernelMap::to_points(gamma, points).map_err(wrong)?;
        let name = format!("{at}coefficients");
        let coefficients = state.mat(&name)?;
        if coefficients.nrows() != map.references().len() {
            return Err(NumericError::BadState { name }.into());
        }
        let of = |what: &str, count: usize| state.vec_of(&format!("{at}{what}"), count);
        let name = format!("{at}priors");
        let mut priors = Vec::new();
        if state.has(&name) {
            let told = state.mat(&name)?;
            if told.shape() != (coefficients.ncols(), 2) {
                return Err(NumericError::BadState { name }.into());
            }
            priors.extend((0..told.nrows()).map(|c| Prior {
                variance: told[(c, 0)],
                noise: told[(c, 1)],
            }));
        }
        Ok(Some(Self {
            priors,
            views: (0..2 * all)
                .filter(|v| is_source[v % all] == if *v < all { OWN } else { BEHIND })
                .collect(),
            means: of("means", map.features().len())?,
            sds: of("sds", map.features().len())?,
            centres: of("centres", map.references().len())?,
            coefficients,
            map,
        }))
    }
    /// Gives of each predictor so much to what it says.
    pub(super) fn share(&mut self, of: impl Fn(usize) -> f64) {
        for c in 0..self.coefficients.ncols() {
            let share = of(c);
            (self.coefficients.col_as_slice_mut(c).iter_mut()).for_each(|x| *x *= share);
            if let Some(own) = self.priors.get_mut(c) {
                own.variance *= share;
            }
        }
    }
    /// How many predictors go by it.
    pub(super) fn predictors(&self) -> usize {
        let goes = |c: &usize| self.coefficients.col_as_slice(*c).iter().any(|b| *b != 0.0);
        (0..self.coefficients.ncols()).filter(goes).count()
    }
    /// How many training samples others are compared with.
    pub(super) fn points(&self) -> usize {
        self.map.references().len()
    }
    /// How many columns its views have.
    pub(super) fn features(&self) -> usize {
        self.means.len()
    }
    /// Whether it is of this one of so many views, or of the features behind it.
    pub(super) fn is_of(&self, view: usize, of: usize) -> bool {
        self.views.contains(&view) || self.views.contains(&(of + view))
    }
    /// What it adds to the linear predictors of samples, of which `of_view` has the columns of each view.
    ///
    /// # Errors
    /// [`ErrorKind::Kernel`] where similarities are out of range.
    pub(super) fn add_to(&self, of_view: &[Option<Mat<f64>>], out: &mut Mat<f64>) -> Result<()> {
        let mut similar = self.similarities(of_view, out.nrows())?;
        self.add(&mut similar, out);
        Ok(())
    }
    /// As [`Curved::add_to`]; the variances of what is added too, samples × predictors, in variances of the noise of each. `None` where nothing
    /// is told of them.
    pub(super) fn add_with_variance(
        &self,
        of_view: &[Option<Mat<f64>>],
        out: &mut Mat<f64>,
    ) -> Result<Option<Mat<f64>>> {
        let mut similar = self.similarities(of_view, out.nrows())?;
        let variance = self.variances(&similar, &self.alone(of_view, out.nrows()))?;
        self.add(&mut similar, out);
        Ok(variance)
    }
    fn add(&self, similar: &mut Mat<f64>, out: &mut Mat<f64>) {
        for (r, centre) in self.centres.iter().enumerate() {
            for x in similar.col_as_slice_mut(r) {
                *x -= centre;
            }
        }
        *out += times_small(similar.as_ref(), self.coefficients.as_ref());
    }
    /// Posterior variances of the predictors of samples with these similarities to the points, and `alone` to themselves, in variances of the noise of each
    /// predictor; `None` where nothing is known beforehand of any. With the kernel $\tilde K$ of the points about its mean and the
    /// noise $\rho$ of a [`Prior`] a sample has $v\lbrace\tilde k\_{xx} - \tilde k\_x^\top(\tilde K + \rho I)^{-1}\tilde k\_x\rbrace$.
    ///
    /// # Errors
    /// [`ErrorKind::Kernel`] where similarities are out of range, numerical errors.
    fn variances(&self, similar: &Mat<f64>, alone: &[f64]) -> Result<Option<Mat<f64>>> {
        if self.priors.iter().all(|own| own.variance == 0.0) {
            return Ok(None);
        }
        let (samples, own) = (similar.nrows(), self.of_points()?);
        let mut left: Vec<(f64, Vec<f64>)> = Vec::new();
        let mut out = Mat::zeros(samples, self.priors.len());
        for (c, prior) in self.priors.iter().enumerate() {
            if prior.variance == 0.0 {
                continue;
            }
            if !left.iter().any(|(noise, _)| *noise == prior.noise) {
                let own = unexplained((&own, prior.noise), similar, alone)?;
                left.push((prior.noise, own));
            }
            let of_noise = left.iter().find(|(noise, _)| *noise == prior.noise);
            for (n, share) in of_noise.iter().flat_map(|(_, own)| own.iter().enumerate()) {
                out[(n, c)] = prior.variance * share;
            }
        }
        Ok(Some(out))
    }
    /// Similarities of the points to one another.
    fn of_points(&self) -> Result<Mat<f64>> {
        let x = self.map.points().transpose().to_owned();
        let found = self.map.apply(&table(x, self.map.features().to_vec()));
        Ok(found.map_err(wrong)?.values)
    }
    /// Similarities of so many samples of these columns of each view to themselves about the mean of the points: $1 - 2\bar k\_x + \bar k$ with
    /// the mean similarity $\bar k\_x$ of the sample to the points and that of these to one another.
    fn alone(&self, of_view: &[Option<Mat<f64>>], samples: usize) -> Vec<f64> {
        let points = self.map.points();
        let means = self.means_to_points(self.scaled(of_view, samples).as_ref());
        let of_points = self.means_to_points(points.transpose());
        let mean = of_points.iter().sum::<f64>() / of_points.len() as f64;
        means
            .into_iter()
            .map(|own| 1.0 - 2.0 * own + mean)
            .collect()
    }
    /// Mean of $e^{-\gamma\lVert x - p\rVert^2}$ over the points p, for each row x.
    fn means_to_points(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        let Kernel::Rbf { gamma } = self.map.kernel() else {
            return vec![0.0; x.nrows()];
        };
        let points = self.map.points();
        let products = times_small(x, points);
        let square = |column: usize| points.col(column).squared_norm_l2();
        let squares: Vec<f64> = (0..points.ncols()).map(square).collect();
        let of_row = |n: usize| {
            let own = x.row(n).squared_norm_l2();
            let near = squares.iter().enumerate().map(|(r, square)| {
                let far = own + square - 2.0 * products[(n, r)];
                // squares beyond all numbers are as far as can be
                if far.is_nan() {
                    0.0
                } else {
                    (-gamma * far.max(0.0)).exp()
                }
            });
            near.sum::<f64>() / squares.len() as f64
        };
        (0..x.nrows()).map(of_row).collect()
    }
    /// Sets the priors of predictors of numbers with these penalties, of so many training samples, and returns what each of these is unsure of by the
    /// others ([`Curved::variances`]); `columns` are their similarities to the points, which are the samples `chosen`.
    ///
    /// The penalties are on directions in which the kernel varies by one per feature, on average over the samples.
    pub(super) fn doubt(
        &mut self,
        penalties: &[f64],
        (x, columns, chosen): (&Filled<'_>, &Mat<f64>, &[u32]),
        samples: usize,
    ) -> Result<Option<Mat<f64>>> {
        if penalties.is_empty() {
            return Ok(None);
        }
        let own = self.of_points()?;
        let points = self.points();
        let mean = (0..points).map(|r| own[(r, r)]).sum::<f64>() / points as f64;
        let unit = self.features() as f64 / mean;
        let prior = |penalty: &f64| {
            let noise = penalty / unit;
            if noise.is_finite() && noise > 0.0 {
                Prior {
                    variance: noise.recip(),
                    // points that are a part of the samples say what all of these do
                    noise: noise * points as f64 / samples.max(1) as f64,
                }
            } else {
                Prior::default()
            }
        };
        self.priors = penalties.iter().map(prior).collect();
        let mut found = self.variances(columns, &self.alone(&x.of_view, x.samples))?;
        if let Some(found) = &mut found {
            for c in 0..found.ncols() {
                let column = found.col_as_slice_mut(c);
                for &n in chosen {
                    // what a sample says of itself is taken out
                    let own = column[n as usize].min(MOST);
                    column[n as usize] = own / (1.0 - own);
                }
            }
        }
        Ok(found)
    }
    /// Similarities of samples with these features to the points, of one that lacks some as they are on average.
    fn similar(&self, x: &Filled<'_>) -> Result<Mat<f64>> {
        let mut out = self.similarities(&x.of_view, x.samples)?;
        let Some(holes) = &x.holes else {
            return Ok(out);
        };
        let mut sums = Mat::zeros(holes.rows.len(), out.ncols());
        for point in 0..holes.points() {
            let drawn = holes.drawn(point, &x.at(holes, point));
            sums += self.similarities(&drawn, holes.rows.len())?;
        }
        let count = holes.points() as f64;
        for r in 0..out.ncols() {
            for (&n, sum) in holes.rows.iter().zip(sums.col_as_slice(r)) {
                out[(n, r)] = sum / count;
            }
        }
        Ok(out)
    }
    /// Columns of each view side by side, in the units of the kernel.
    fn scaled(&self, of_view: &[Option<Mat<f64>>], samples: usize) -> Mat<f64> {
        let own = |v: &usize| of_view.get(*v).and_then(Option::as_ref);
        let parts: Vec<&Mat<f64>> = self.views.iter().filter_map(own).collect();
        let x = side_by_side(&parts, samples);
        scaled(x.as_ref(), &self.means, &self.sds)
    }
    /// Similarities of so many samples of these columns of each view to the points.
    fn similarities(&self, of_view: &[Option<Mat<f64>>], samples: usize) -> Result<Mat<f64>> {
        let scaled = self.scaled(of_view, samples);
        let found = self.map.apply(&table(scaled, self.map.features().to_vec()));
        Ok(found.map_err(wrong)?.values)
    }
}

/// What is left of the similarity of each sample to itself, `alone`, by those to the points, samples × points, of which `own` are the
/// similarities and the noise: $\tilde k\_{xx} - \tilde k\_x^\top(\tilde K + \rho I)^{-1}\tilde k\_x$.
fn unexplained(
    (own, noise): (&Mat<f64>, f64),
    similar: &Mat<f64>,
    alone: &[f64],
) -> Result<Vec<f64>> {
    let mut noisy = own.clone();
    (0..noisy.nrows()).for_each(|r| noisy[(r, r)] += noise);
    let mut left = alone.to_vec();
    for (chunk, left) in left.chunks_mut(AT_ONCE).enumerate() {
        let rows = similar.subrows(chunk * AT_ONCE, left.len());
        let across = rows.transpose().to_owned();
        let solved = solve_spd(noisy.as_ref(), across.as_ref());
        let solved = solved.map_err(|source| NumericError::Linalg {
            block: "similarities".to_owned(),
            source,
        })?;
        for (n, left) in left.iter_mut().enumerate() {
            let both = across.col_as_slice(n).iter().zip(solved.col_as_slice(n));
            let explained: f64 = both.map(|(a, b)| a * b).sum();
            *left = (*left - explained).max(0.0);
        }
    }
    Ok(left)
}

/// In units of the training samples; what is missing is at the mean.
fn scaled(x: MatRef<'_, f64>, means: &[f64], sds: &[f64]) -> Mat<f64> {
    Mat::from_fn(x.nrows(), x.ncols(), |n, d| {
        let value = (x[(n, d)] - means[d]) / sds[d];
        if value.is_finite() { value } else { 0.0 }
    })
}

fn wrong(source: polyview_kernels::KernelError) -> ErrorKind {
    ErrorKind::Kernel {
        view: "features".to_owned(),
        source,
    }
}

fn table(values: Mat<f64>, features: Vec<String>) -> Table {
    Table {
        name: "features".to_owned(),
        samples: (1..=values.nrows()).map(|n| n.to_string()).collect(),
        features,
        levels: Vec::new(),
        values,
    }
}

impl Fit {
    /// A kernel of these features of views by which kernel ridge regression predicts view `at` better than in proportion to
    /// them, if there is one: RBF of one width for all features of the view. Of a view that has a kernel of its own it is one of the features
    /// behind that, none of which counts more or less than there; where these are not known there is none.
    pub(super) fn similar(&self, of: &Filled<'_>, at: usize) -> Result<Option<Similar>> {
        let data = self.data()?;
        let rows = self.samples.len();
        let all = self.views.len();
        let has_kernel = |v: usize| v < all && self.views[v].kernel.is_some();
        let (views, parts): (Vec<usize>, Vec<&Mat<f64>>) = (of.of_view.iter().enumerate())
            .filter(|(v, _)| !has_kernel(*v))
            .filter_map(|(v, own)| Some((v, own.as_ref()?)))
            .unzip();
        let known = |v: usize| of.of(v).is_none() || of.of(all + v).is_some();
        if !(0..all).all(|v| !has_kernel(v) || known(v)) {
            return Ok(None);
        }
        let x = side_by_side(&parts, rows);
        let design = polyview_baselines::Design::learn(x.as_ref())?;
        let (means, mut sds) = (design.means().to_vec(), design.sds().to_vec());
        let mut first = 0;
        for (v, part) in views.iter().zip(&parts) {
            let own = &mut sds[first..first + part.ncols()];
            if *v >= all {
                own.fill(root_mean_square(own));
            }
            first += part.ncols();
        }
        let x = scaled(x.as_ref(), &means, &sds);
        let target = &data[at];
        let known: Vec<u32> = (0..rows as u32)
            .filter(|n| target.mask().count_sample(*n as usize, target.n_features()) > 0)
            .collect();
        let most = POINTS.min(NUMBERS / x.ncols().max(1));
        if known.len() < FEWEST || most < POINTS.min(known.len()) / 2 {
            return Ok(None);
        }
        let key = StreamKey::new(self.run_options().seed);
        let Some(gamma) = self.bend(&x, at, &known, key)? else {
            return Ok(None);
        };
        let chosen = some_of(known, &self.samples, most, key.block(DRAWN));
        let points = Mat::from_fn(x.ncols(), chosen.len(), |d, r| x[(chosen[r] as usize, d)]);
        let map = KernelMap::to_points(gamma, points).map_err(wrong)?;
        let curved = Curved {
            views,
            means,
            sds,
            coefficients: Mat::zeros(chosen.len(), 0),
            centres: Vec::new(),
            priors: Vec::new(),
            map,
        };
        let columns = curved.similar(of)?;
        // what factors say of a view that hardly any sample has may be as far off as numbers go
        let known =
            (0..columns.ncols()).all(|r| columns.col_as_slice(r).iter().all(|k| k.is_finite()));
        Ok(known.then_some(Similar {
            curved,
            columns,
            chosen,
        }))
    }
    /// γ of the kernel by which most is predicted beyond what a linear one predicts, if any adds to that.
    fn bend(&self, x: &Mat<f64>, at: usize, known: &[u32], key: StreamKey) -> Result<Option<f64>> {
        let rows = some_of(known.to_vec(), &self.samples, SAMPLES, key.block(COMPARED));
        let of_rows =
            |m: &Mat<f64>| Mat::from_fn(rows.len(), m.ncols(), |n, d| m[(rows[n] as usize, d)]);
        let y = standardised(&of_rows(&columns(&self.data()?[at], self.domain(at))));
        let y = Mat::from_fn(rows.len(), y.len(), |n, c| y[c][n]);
        let mut own = table(of_rows(x), (1..=x.ncols()).map(|d| d.to_string()).collect());
        own.samples = rows
            .iter()
            .map(|n| self.samples[*n as usize].clone())
            .collect();
        let median = KernelChoice {
            raw: true,
            ..KernelChoice::from(Family::Rbf {
                width: Width::Median,
            })
        };
        let seed = self.run_options().seed;
        // features that do not vary, and too few samples, have none
        let Ok(Some(distance)) = median_of_view(&own, &median, seed) else {
            return Ok(None);
        };
        let kernel = of_width(median, distance);
        let linear = KernelChoice {
            family: Family::Linear,
            ..kernel
        };
        let [bent, straight] =
            [kernel, linear].map(|kernel| Comparison::new(own.clone(), &kernel, y.as_ref(), seed));
        let (Ok(bent), Ok(straight)) = (bent, straight) else {
            return Ok(None);
        };
        let shares = |times: f64| bent.shares_of_width(times * distance).map_err(wrong);
        let straight = straight.shares_of_width(distance).map_err(wrong)?;
        // what is in proportion to the features has no say in how the others bend
        let gain = |own: &[f64]| -> f64 {
            let each = own.iter().zip(&straight);
            each.map(|(own, straight)| (own - straight).max(0.0)).sum()
        };
        let (mut best, mut most) = (None, LEAST);
        for times in WIDTHS {
            let gain = gain(&shares(times)?);
            if gain > most {
                let width = times * distance;
                (best, most) = (Some(0.5 / (width * width)), gain);
            }
        }
        Ok(best)
    }
}
