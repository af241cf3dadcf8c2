//! Weights of features and widths, by how well something else is predicted (spec/thesis 7.3).
//!
//! The bound of a model with a kernel for data cannot tell: it is highest where the kernel is trivial. What can be
//! told is how well other columns follow from the kernel. A column $y$ (samples, centred) with all the factors that a
//! kernel may have is normal with covariance $q(\tilde K + \lambda I)$, where $\tilde K = HKH$ is the centred kernel, $\lambda$ the share of
//! noise and $q$ the size, and the bound of that model is its evidence
//!
//! $$\mathcal L = -\tfrac N2\ln\hat q - \tfrac12\ln\lvert\tilde K + \lambda I\rvert,\qquad \hat q = \tfrac1N y^\top(\tilde K + \lambda I)^{-1}y,$$
//!
//! at the best $\lambda$. It is a bound of data that do not move with the weights, so that its gradient means something:
//! docs/decisions/0086-widths-and-weights-of-features.md.

use polyview_core::{Table, by_name};
use polyview_linalg::faer::Accum;
use polyview_linalg::{Mat, MatRef, sym_eigen, times, times_small};
use polyview_random::{StreamKey, uniform_open01};

use crate::centring::Centre;
use crate::choice::{KernelChoice, Width};
use crate::error::KernelError;
use crate::kernel::{Kernel, Smoothness};
use crate::map::{similarities, to_themselves};
use crate::ridge::Decomposed;
use crate::units::{Holes, Points, Units, names_fit, same};

mod held_out;

/// Most columns that are predicted: of more the leading principal components.
const TARGETS: usize = 16;
/// Folds of the samples that are held out in turn: for a width, and for weights.
const FOLDS_OF_WIDTHS: usize = 5;
const FOLDS: usize = 3;
/// Steps of the ascent of $\ln\lambda_d$, their length, and how they remember.
const STEPS: usize = 40;
const LENGTH: f64 = 0.1;
const MEMORY: [f64; 2] = [0.9, 0.99];
/// Widths that an ascent begins with, as multiples of the one that is best where features count alike: what few features bend is seen by a narrower one,
/// and the best for all may be so wide that no step shows it.
const STARTS: [f64; 2] = [1.0, 0.4];
/// Streams of the draw of the folds.
const PARTS: u32 = 0x6b70_6172;

/// What features count in distances and products, relative to the mean of all.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureWeights {
    features: Vec<String>,
    weights: Vec<f64>,
}

impl FeatureWeights {
    /// All features with their weights, the largest first.
    pub fn ranked(&self) -> Vec<(&str, f64)> {
        let names = self.features.iter().map(String::as_str);
        let mut all: Vec<(&str, f64)> = names.zip(self.weights.iter().copied()).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }
    /// The weights of these features; those that none was learnt of count as the mean.
    pub(crate) fn of(&self, features: &[String]) -> Vec<f64> {
        let known: std::collections::HashMap<&str, f64> = (self.features.iter())
            .map(String::as_str)
            .zip(self.weights.iter().copied())
            .collect();
        let weight = |name: &String| known.get(name.as_str()).copied().unwrap_or(1.0);
        features.iter().map(weight).collect()
    }
}

/// Weights that were found by [`Comparison::learn_weights`].
#[derive(Clone, Debug, PartialEq)]
pub struct LearntWeights {
    /// The weights: equal ones, where others gain nothing.
    pub weights: FeatureWeights,
    /// The kernel with the width that goes with them.
    pub kernel: KernelChoice,
    /// Steps of the ascent that were best for samples held out: none where all features alike were.
    pub steps: usize,
    /// The share of variance of held-out samples that is predicted, with all features alike, which is
    /// [`Comparison::score_of_width`], and likewise with weights of so many steps, found anew without each fifth.
    pub held_out: [f64; 2],
    /// The standard error, over samples, of the difference of the two, a share of variance as they.
    pub error: f64,
}

impl LearntWeights {
    /// Whether samples that are held out are predicted better than with all features alike, by more than a standard error.
    pub fn gains(&self) -> bool {
        let [alike, own] = self.held_out;
        own - alike > self.error
    }
}

/// How well held-out samples are predicted at a width ([`Comparison::score_of_width`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WidthScore {
    /// The share of their variance that is predicted, at most 1; below 0 where their means are better.
    pub share: f64,
    /// Its standard error, over samples.
    pub error: f64,
}

impl WidthScore {
    /// Whether samples are predicted better than by the means of the others, by more than two standard errors: where they
    /// are not, scores of widths compare chance with chance.
    pub fn predicts(&self) -> bool {
        self.share > 2.0 * self.error
    }
}

/// What sees the points and the coefficients of each step of an ascent.
type Each<'a> = dyn FnMut(usize, &Points, &Mat<f64>) -> Result<(), KernelError> + 'a;

/// A table whose features are compared, and columns that are to be predicted from it.
pub struct Comparison {
    table: Table,
    units: Units,
    choice: KernelChoice,
    /// Samples × columns, zero where a cell is missing.
    targets: Mat<f64>,
    /// The place of each sample in a drawn order, by which it is in a fold.
    place: Vec<usize>,
}

/// What the evidence of some samples says at some weights.
struct Evidence {
    /// By the logarithm of each weight.
    gradient: Vec<f64>,
    /// What the columns are predicted by, samples × columns.
    alpha: Mat<f64>,
}

impl Comparison {
    /// Of a table and columns of the same samples, samples × columns in units in which they count alike; `NaN` where
    /// a cell is missing, which is taken to be at the mean. The kernel has a width, or needs none.
    ///
    /// # Errors
    /// As [`learn_view`](crate::learn_view); [`KernelError::Shape`] of targets of other samples or fewer samples than
    /// folds can be made of; [`KernelError::OneSample`] where a sample of the table has no value.
    pub fn new(
        table: Table,
        choice: &KernelChoice,
        targets: MatRef<'_, f64>,
        seed: u64,
    ) -> Result<Self, KernelError> {
        names_fit(&table)?;
        let n = table.samples.len();
        same("rows of the targets", n, targets.nrows())?;
        if n < 2 * FOLDS_OF_WIDTHS {
            return Err(KernelError::Shape {
                what: "samples to compare widths on, at least",
                expected: 2 * FOLDS_OF_WIDTHS,
                found: n,
            });
        }
        let (units, out) = Units::learn(&table, !choice.raw, Holes::Expected)?.varying();
        if units.features.is_empty() {
            return Err(KernelError::Constant {
                features: out.len(),
            });
        }
        if units.points(&table)?.samples.len() < n {
            return Err(KernelError::OneSample);
        }
        // the order of the rows is nothing to go by
        let mut order = by_name(&table.samples);
        let mut rng = StreamKey::new(seed).block(PARTS).rng();
        for i in 0..n {
            let left = n - i;
            let j = i + ((uniform_open01(&mut rng) * left as f64) as usize).min(left - 1);
            order.swap(i, j);
        }
        let mut place = vec![0; n];
        for (at, &i) in order.iter().enumerate() {
            place[i] = at;
        }
        Ok(Self {
            targets: reduced(targets)?,
            table,
            units,
            choice: *choice,
            place,
        })
    }
    fn kernel(&self, width: f64) -> Kernel {
        self.choice.family.of_width(width)
    }
    /// Samples in the units of some weights.
    fn points(&self, weights: &[f64]) -> Result<Points, KernelError> {
        self.units.clone().weighted(weights).points(&self.table)
    }
    /// The samples outside a fold of so many and in it.
    fn parts(&self, fold: usize, folds: usize) -> [Vec<usize>; 2] {
        let (new, seen) = (0..self.place.len()).partition(|&n| self.place[n] % folds == fold);
        [seen, new]
    }
    /// Rows of the targets less these means.
    fn centred(&self, samples: &[usize], means: &[f64]) -> Mat<f64> {
        Mat::from_fn(samples.len(), means.len(), |i, t| {
            self.targets[(samples[i], t)] - means[t]
        })
    }
    fn means(&self, samples: &[usize]) -> Vec<f64> {
        let of = |t: usize| samples.iter().map(|&n| self.targets[(n, t)]).sum::<f64>();
        let count = samples.len() as f64;
        (0..self.targets.ncols()).map(|t| of(t) / count).collect()
    }
    /// The share of the variance of held-out samples that kernel ridge regression predicts at this width, with the
    /// penalty that is best for each column: each fifth of the samples is predicted by the others.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`], [`KernelError::Overflow`].
    pub fn score_of_width(&self, width: f64) -> Result<WidthScore, KernelError> {
        let found = self.held_out(self.kernel(width), |_| Ok(self.alike()))?;
        Ok(WidthScore {
            share: found.share,
            error: found.error_of_share(),
        })
    }
    /// As [`Comparison::score_of_width`], the share of each column.
    ///
    /// # Errors
    /// As [`Comparison::score_of_width`].
    pub fn shares_of_width(&self, width: f64) -> Result<Vec<f64>, KernelError> {
        let found = self.held_out(self.kernel(width), |_| Ok(self.alike()))?;
        Ok(found.by_column)
    }
    /// Equal weights.
    fn alike(&self) -> Vec<f64> {
        vec![1.0; self.units.features.len()]
    }
    /// The evidence of the targets of some samples, at the best noise for each column, and its gradient.
    fn evidence(
        &self,
        samples: &[usize],
        kernel: Kernel,
        points: &Points,
    ) -> Result<Evidence, KernelError> {
        let points = points.only(samples);
        let n = samples.len();
        let (raw, centred) = own_similarities(kernel, &points)?;
        let own = Decomposed::of(&centred)?;
        let y = self.centred(samples, &self.means(samples));
        let mut alpha = Mat::zeros(n, y.ncols());
        // by the centred similarities: outer products of these, less an inverse, more a diagonal
        let mut weighted = Mat::zeros(n, y.ncols());
        let (mut inverse, mut diagonal) = (vec![0.0; n], 0.0);
        for t in 0..y.ncols() {
            let along = own.along(y.col_as_slice(t));
            let share = own.best_share(&along);
            let noise = share * own.unit;
            let solved = own.solved(&along, noise);
            let size = own.size(&along, noise);
            let squares: f64 = solved.iter().map(|x| x * x).sum();
            let mut trace = 0.0;
            for (sum, s) in inverse.iter_mut().zip(&own.values) {
                *sum += 0.5 / (s + noise);
                trace += (s + noise).recip();
            }
            diagonal += 0.5 * (squares / size - trace) * share / n as f64;
            for i in 0..n {
                alpha[(i, t)] = solved[i];
                weighted[(i, t)] = 0.5 * solved[i] / size;
            }
        }
        let mut by = times_small(weighted.as_ref(), alpha.transpose().to_owned().as_ref());
        let turned = Mat::from_fn(n, n, |i, j| -own.vectors[(i, j)] * inverse[j]);
        let turn = own.vectors.transpose().to_owned();
        times(turned.as_ref(), turn.as_ref(), by.as_mut(), Accum::Add);
        for i in 0..n {
            by[(i, i)] += diagonal;
        }
        // by the similarities themselves
        Centre::of(&by)?.apply(&mut by);
        let gradient = self.by_weights(samples, kernel, (&points, &raw), by);
        Ok(Evidence { gradient, alpha })
    }
    /// The gradient by logarithms of weights of what has the gradient `by` by similarities.
    fn by_weights(
        &self,
        samples: &[usize],
        kernel: Kernel,
        (points, raw): (&Points, &Mat<f64>),
        mut by: Mat<f64>,
    ) -> Vec<f64> {
        let (n, d) = points.values.shape();
        let variance = points.variance.as_slice();
        if kernel == Kernel::Linear {
            let moved = times_small(by.as_ref(), points.values.as_ref());
            let of = |j: usize| dot(points.values.col_as_slice(j), moved.col_as_slice(j));
            return (0..d).map(of).collect();
        }
        let mut sums = vec![0.0; n];
        for (j, total) in sums.iter_mut().enumerate() {
            let far = raw.col_as_slice(j).iter();
            for (i, (x, far)) in by.col_as_slice_mut(j).iter_mut().zip(far).enumerate() {
                *x *= slope(kernel, *far);
                if i == j && points.spread[i] > 0.0 {
                    // no weight moves the distance of a sample to itself, whatever it lacks
                    *x = 0.0;
                }
                *total += *x;
            }
        }
        let moved = times_small(by.as_ref(), points.values.as_ref());
        let own = |j: usize| -> f64 {
            let x = points.values.col_as_slice(j);
            let column = (self.table.features.iter()).position(|f| *f == self.units.features[j]);
            let lacks =
                |i: usize| column.is_some_and(|c| self.table.values[(samples[i], c)].is_nan());
            let square = |i: usize| if lacks(i) { variance[j] } else { x[i] * x[i] };
            let on_diagonal: f64 = (0..n).map(|i| sums[i] * square(i)).sum();
            2.0 * (on_diagonal - dot(x, moved.col_as_slice(j)))
        };
        (0..d).map(own).collect()
    }
    /// Climbs from equal weights; `each` sees points before each step, and after the last, with what predicts from there.
    fn climb(
        &self,
        samples: &[usize],
        kernel: Kernel,
        steps: usize,
        mut each: Option<&mut Each<'_>>,
    ) -> Result<Vec<f64>, KernelError> {
        let d = self.units.features.len();
        let (mut logs, mut first, mut second) = (vec![0.0_f64; d], vec![0.0; d], vec![0.0; d]);
        for step in 0..=steps {
            let weights: Vec<f64> = logs.iter().map(|l: &f64| l.exp()).collect();
            if step == steps && each.is_none() {
                return Ok(weights);
            }
            let points = self.points(&weights)?;
            let found = self.evidence(samples, kernel, &points)?;
            if let Some(each) = &mut each {
                each(step, &points, &found.alpha)?;
            }
            for j in 0..d {
                let g = found.gradient[j];
                first[j] = MEMORY[0] * first[j] + (1.0 - MEMORY[0]) * g;
                second[j] = MEMORY[1] * second[j] + (1.0 - MEMORY[1]) * g * g;
                let age = step as i32 + 1;
                let mean = first[j] / (1.0 - MEMORY[0].powi(age));
                let root = (second[j] / (1.0 - MEMORY[1].powi(age))).sqrt();
                if root > 0.0 && mean.is_finite() {
                    logs[j] += LENGTH * mean / root;
                }
            }
        }
        Ok(logs.iter().map(|l: &f64| l.exp()).collect())
    }
    /// Squared errors of samples that are held out in turn, after each number of steps of the ascent by the others.
    fn errors_of_steps(&self, kernel: Kernel) -> Result<Vec<f64>, KernelError> {
        let mut errors = vec![0.0; STEPS + 1];
        for fold in 0..FOLDS {
            let [seen, new] = self.parts(fold, FOLDS);
            let left = self.centred(&new, &self.means(&seen));
            let mut each = |step: usize, points: &Points, alpha: &Mat<f64>| {
                let (_, across) = about_centre(kernel, points, &seen, &new)?;
                for t in 0..left.ncols() {
                    let left = left_of(&across, alpha.col_as_slice(t), left.col_as_slice(t));
                    errors[step] += left.iter().map(|x| x * x).sum::<f64>();
                }
                Ok(())
            };
            self.climb(&seen, kernel, STEPS, Some(&mut each))?;
        }
        Ok(errors)
    }
    /// Weights of the features, by ascent of the evidence of the columns from equal ones at a width or at a narrower one, which stops where samples
    /// that are held out in turn are predicted best. They are equal where others predict no better than these by more
    /// than a standard error ([`LearntWeights::gains`]): where nothing is gained they say nothing of the features. The choice says the
    /// width that is best for equal weights; the one that goes with weights of mean 1 is in what comes back.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`], [`KernelError::Overflow`].
    pub fn learn_weights(&self, choice: &KernelChoice) -> Result<LearntWeights, KernelError> {
        let (width, starts) = match choice.family.width() {
            Some(Width::Is(width)) => (width, &STARTS[..]),
            _ => (1.0, &STARTS[..1]),
        };
        let alike = choice.family.of_width(width);
        alike.check()?;
        let mut best = (f64::INFINITY, width, 0);
        for times in starts {
            let width = times * width;
            let errors = self.errors_of_steps(choice.family.of_width(width))?;
            for (step, error) in errors.into_iter().enumerate() {
                if error < best.0 {
                    best = (error, width, step);
                }
            }
        }
        let (_, width, steps) = best;
        let kernel = choice.family.of_width(width);
        let alike = self.held_out(alike, |_| Ok(self.alike()))?;
        let mut out = LearntWeights {
            weights: FeatureWeights {
                features: self.units.features.clone(),
                weights: self.alike(),
            },
            kernel: *choice,
            steps,
            held_out: [alike.share; 2],
            error: 0.0,
        };
        if steps == 0 {
            return Ok(out);
        }
        let own = self.held_out(kernel, |seen| self.climb(seen, kernel, steps, None))?;
        (out.held_out[1], out.error) = (own.share, own.error_against(&alike));
        if !out.gains() {
            return Ok(out);
        }
        let all: Vec<usize> = (0..self.place.len()).collect();
        let mut weights = self.climb(&all, kernel, steps, None)?;
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        for w in &mut weights {
            *w /= mean;
        }
        let family = (choice.family).with_width(Width::Is(width / mean.sqrt()));
        (out.weights.weights, out.kernel) = (weights, KernelChoice { family, ..*choice });
        Ok(out)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The slope of a kernel of distances by the squared distance.
fn slope(kernel: Kernel, far: f64) -> f64 {
    match kernel {
        Kernel::Rbf { gamma } => -gamma * (-gamma * far).exp(),
        Kernel::Matern { nu, width } => {
            let unit = width * width;
            let r = far.sqrt() / width;
            match nu {
                // without a slope where samples are alike, where no weight matters
                Smoothness::Half if r > 0.0 => -(-r).exp() / (2.0 * r * unit),
                Smoothness::Half => 0.0,
                Smoothness::ThreeHalves => -1.5 / unit * (-(3f64.sqrt() * r)).exp(),
                Smoothness::FiveHalves => {
                    let a = 5f64.sqrt() * r;
                    -5.0 / (6.0 * unit) * (1.0 + a) * (-a).exp()
                }
            }
        }
        _ => 0.0,
    }
}

/// What is left of the truth by what similarities and coefficients say.
fn left_of(across: &Mat<f64>, alpha: &[f64], truth: &[f64]) -> Vec<f64> {
    let mut left = truth.to_vec();
    for (j, a) in alpha.iter().enumerate() {
        for (x, k) in left.iter_mut().zip(across.col_as_slice(j)) {
            *x -= a * k;
        }
    }
    left
}

/// Squared distances of samples (products of a linear kernel), and the similarities about their centre.
fn own_similarities(kernel: Kernel, points: &Points) -> Result<(Mat<f64>, Mat<f64>), KernelError> {
    let (references, squares) = points.as_references();
    let of = (references.as_ref(), squares.as_slice());
    let mut raw = similarities(Kernel::Linear, points, of);
    let (mut own, d) = (raw.clone(), references.nrows());
    for j in 0..own.ncols() {
        for (i, x) in own.col_as_slice_mut(j).iter_mut().enumerate() {
            let far = if i == j {
                // not by a difference: its rounding would be the square of a distance
                0.0
            } else {
                (squares[i] + squares[j] - 2.0 * *x).max(0.0)
            };
            *x = match kernel {
                Kernel::Rbf { .. } | Kernel::Matern { .. } => kernel.value(0.0, far, d),
                _ => kernel.value(*x, squares[i] + squares[j], d),
            };
            if kernel != Kernel::Linear {
                raw[(i, j)] = far;
            }
        }
    }
    let centre = Centre::of(&own)?;
    centre.apply(&mut own);
    Ok((raw, own))
}

/// Similarities of the first samples among themselves, and of the second to these, about the centre of the first.
fn about_centre(
    kernel: Kernel,
    points: &Points,
    seen: &[usize],
    new: &[usize],
) -> Result<(Mat<f64>, Mat<f64>), KernelError> {
    let seen = points.only(seen);
    let (references, squares) = seen.as_references();
    let of = (references.as_ref(), squares.as_slice());
    let mut own = similarities(kernel, &seen, of);
    to_themselves(kernel, &seen, &mut own);
    let mut across = similarities(kernel, &points.only(new), of);
    let centre = Centre::of(&own)?;
    centre.apply(&mut own);
    centre.apply(&mut across);
    Ok((own, across))
}

/// Columns about their means, zero where a cell is missing; of more than [`TARGETS`] the leading principal components.
fn reduced(targets: MatRef<'_, f64>) -> Result<Mat<f64>, KernelError> {
    let (n, columns) = targets.shape();
    let mut y = Mat::zeros(n, columns);
    for t in 0..columns {
        let known = || (0..n).map(|i| targets[(i, t)]).filter(|x| x.is_finite());
        let mean = known().sum::<f64>() / known().count().max(1) as f64;
        for i in 0..n {
            let x = targets[(i, t)];
            y[(i, t)] = if x.is_finite() { x - mean } else { 0.0 };
        }
    }
    if columns <= TARGETS {
        return Ok(y);
    }
    let products = times_small(y.as_ref(), y.transpose().to_owned().as_ref());
    let (values, vectors) = sym_eigen(products.as_ref()).map_err(|_| KernelError::Overflow)?;
    let last = values.len();
    Ok(Mat::from_fn(n, TARGETS.min(n), |i, t| {
        vectors[(i, last - 1 - t)] * values[last - 1 - t].max(0.0).sqrt()
    }))
}

#[cfg(test)]
mod tests;
