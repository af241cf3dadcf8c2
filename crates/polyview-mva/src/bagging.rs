//! Class-wise bagging of dual weights: which features keep their sign (spec/thesis 4.1, 4.2).

use crate::MvaError;
use crate::centre::{class_sizes, finite, same};
use polyview_linalg::{Mat, MatRef, times_small};
use polyview_random::StreamKey;
use polyview_special::normal_quantile;
use rand::seq::index;
use rayon::prelude::*;

/// Features of one block of work.
const FEATURES: usize = 64;
/// Bags of one product.
const BAGS: usize = 512;

/// Choices of [`Bagging::run`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaggingOptions {
    /// Number of bags $P$ of each class.
    pub bags: usize,
    /// Share $M$ of samples in a bag, between 0 and 1.
    pub share: f64,
    /// Whether every class gives the same number of samples, the share of the smallest class.
    pub balanced: bool,
    /// Seed of the bags.
    pub seed: u64,
}

impl Default for BaggingOptions {
    /// A thousand bags of half the samples, balanced.
    fn default() -> Self {
        Self {
            bags: 1000,
            share: 0.5,
            balanced: true,
            seed: 0,
        }
    }
}

/// What bags of each class say of each feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Bagging {
    share: f64,
    /// For each class $\phi$, features $\times$ components: the share of bags in which a direction is positive.
    positive: Vec<Mat<f64>>,
    /// For each class $\mu$, features $\times$ components: the mean absolute value of directions.
    magnitude: Vec<Mat<f64>>,
}

impl Bagging {
    /// Draws bags of the samples of each class and sums $X\_B' A\_B$ in each: `x` ($N \times D$, centred), dual weights
    /// $A$ ($N \times R$), labels numbered from 0 without gaps. Each bag is a row of one matrix product. Results do not
    /// depend on the number of threads.
    ///
    /// # Errors
    /// [`MvaError::Shape`], [`MvaError::NotFinite`], [`MvaError::Empty`] without bags or components,
    /// [`MvaError::OutOfRange`], [`MvaError::Class`] of a class with fewer than two samples.
    pub fn run(
        x: MatRef<'_, f64>,
        weights: MatRef<'_, f64>,
        labels: &[usize],
        options: &BaggingOptions,
    ) -> Result<Self, MvaError> {
        same("labels", x.nrows(), labels.len())?;
        same("dual weights", x.nrows(), weights.nrows())?;
        finite("the data", x)?;
        finite("the dual weights", weights)?;
        if options.bags == 0 {
            return Err(MvaError::Empty { what: "the bags" });
        }
        if weights.ncols() == 0 {
            return Err(MvaError::Empty {
                what: "the dual weights",
            });
        }
        if !(options.share > 0.0 && options.share < 1.0) {
            return Err(MvaError::OutOfRange {
                what: "the share of samples in a bag",
                value: options.share,
                range: "between 0 and 1",
            });
        }
        let sizes = class_sizes(labels, 2)?;
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        let (mut positive, mut magnitude) = (Vec::new(), Vec::new());
        for (class, &size) in sizes.iter().enumerate() {
            let of = if options.balanced { smallest } else { size };
            let take = ((options.share * of as f64).round() as usize).clamp(1, size - 1);
            let rows: Vec<usize> = (0..labels.len()).filter(|n| labels[*n] == class).collect();
            let bags = bags(class, size, take, options);
            let (phi, mu) = class_sums(x, weights, &rows, &bags);
            positive.push(phi);
            magnitude.push(mu);
        }
        Ok(Self {
            share: options.share,
            positive,
            magnitude,
        })
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.positive.len()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.positive.first().map_or(0, Mat::nrows)
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.positive.first().map_or(0, Mat::ncols)
    }

    /// Share of bags of a class in which the direction of a feature is positive, features $\times$ components.
    pub fn positive(&self, class: usize) -> Option<MatRef<'_, f64>> {
        self.positive.get(class).map(Mat::as_ref)
    }

    /// Mean absolute direction over the bags of a class, features $\times$ components.
    pub fn magnitude(&self, class: usize) -> Option<MatRef<'_, f64>> {
        self.magnitude.get(class).map(Mat::as_ref)
    }

    /// Relevance $b\_{dc} = \frac{1}{R} \sum\_k |2\phi\_{dck} - 1|$ in $\[0, 1\]$, features $\times$ classes.
    pub fn relevance(&self) -> Mat<f64> {
        let r = self.components() as f64;
        Mat::from_fn(self.features(), self.classes(), |d, c| {
            let phi = self.positive[c].row(d);
            phi.iter().map(|p| (2.0 * p - 1.0).abs()).sum::<f64>() / r
        })
    }

    /// Features of each class that pass the two-sided test of $\phi = \frac{1}{2}$ at `level`, by the vote of at least half the
    /// components. With the correction for overlapping bags the test is a threshold on $|2\phi - 1|$: of
    /// $z \sqrt c / \sqrt{1 + z^2 c}$ with $c = M / (1 - M)$ and $z$ the normal quantile (spec/thesis 4.2).
    ///
    /// # Errors
    /// [`MvaError::OutOfRange`] where the level is not between 0 and 1.
    pub fn select(&self, level: f64) -> Result<Vec<Vec<usize>>, MvaError> {
        if !(level > 0.0 && level < 1.0) {
            return Err(MvaError::OutOfRange {
                what: "the level of the test",
                value: level,
                range: "between 0 and 1",
            });
        }
        let c = self.share / (1.0 - self.share);
        let z = normal_quantile(1.0 - level / 2.0);
        let threshold = z * c.sqrt() / (1.0 + z * z * c).sqrt();
        let passes = |phi: &Mat<f64>, d: usize| {
            let votes = phi
                .row(d)
                .iter()
                .filter(|p| (2.0 * **p - 1.0).abs() > threshold)
                .count();
            2 * votes >= phi.ncols()
        };
        Ok(self
            .positive
            .iter()
            .map(|phi| (0..phi.nrows()).filter(|d| passes(phi, *d)).collect())
            .collect())
    }

    /// All features, the most relevant first: by the largest $b\_{dc}$ of any class, equal ones by the smaller penalty
    /// ([`Bagging::penalties`]), then in their order (spec/thesis 4.2).
    pub fn ranking(&self) -> Vec<usize> {
        let relevance = self.relevance();
        let penalties = self.penalties();
        let largest: Vec<f64> = (0..self.features())
            .map(|d| relevance.row(d).iter().fold(0.0_f64, |m, v| m.max(*v)))
            .collect();
        let mut order: Vec<usize> = (0..self.features()).collect();
        order.sort_by(|a, b| {
            (largest[*b].total_cmp(&largest[*a])).then(penalties[*a].total_cmp(&penalties[*b]))
        });
        order
    }

    /// Penalties $\omega\_d = 1 / (\bar b\_d \bar u\_d)$ of all features, $\bar b\_d$ the largest relevance over classes and
    /// $\bar u\_d$ the norm over components of the largest magnitude (spec/thesis 4.3). Products below $10^{-12}$ of the
    /// largest count as that.
    pub fn penalties(&self) -> Vec<f64> {
        let relevance = self.relevance();
        let products: Vec<f64> = (0..self.features())
            .map(|d| {
                let b = relevance.row(d).iter().fold(0.0_f64, |m, v| m.max(*v));
                let squares = (0..self.components()).map(|k| {
                    let largest = self
                        .magnitude
                        .iter()
                        .fold(0.0_f64, |m, mu| m.max(mu[(d, k)]));
                    largest * largest
                });
                b * squares.sum::<f64>().sqrt()
            })
            .collect();
        let largest = products.iter().fold(0.0_f64, |m, v| m.max(*v));
        if largest == 0.0 {
            return vec![1.0; products.len()];
        }
        let least = 1e-12 * largest;
        products.into_iter().map(|p| 1.0 / p.max(least)).collect()
    }
}

/// Indicators of `take` of `size` samples in each bag, bags $\times$ samples.
fn bags(class: usize, size: usize, take: usize, options: &BaggingOptions) -> Mat<f64> {
    let mut out = Mat::zeros(options.bags, size);
    let mut rng = StreamKey::new(options.seed).block(class as u32).rng();
    for bag in 0..options.bags {
        for sample in index::sample(&mut rng, size, take) {
            out[(bag, sample)] = 1.0;
        }
    }
    out
}

/// $\phi$ and $\mu$ of one class.
fn class_sums(
    x: MatRef<'_, f64>,
    weights: MatRef<'_, f64>,
    rows: &[usize],
    bags: &Mat<f64>,
) -> (Mat<f64>, Mat<f64>) {
    let (d, r) = (x.ncols(), weights.ncols());
    let blocks: Vec<usize> = (0..d).step_by(FEATURES).collect();
    let sums: Vec<Vec<(f64, f64)>> = blocks
        .par_iter()
        .map(|&first| {
            let width = FEATURES.min(d - first);
            // x_nd a_nk for the samples of the class
            let terms = Mat::from_fn(rows.len(), width * r, |i, j| {
                x[(rows[i], first + j / r)] * weights[(rows[i], j % r)]
            });
            let mut sums = vec![(0.0, 0.0); width * r];
            for from in (0..bags.nrows()).step_by(BAGS) {
                let some = bags.subrows(from, BAGS.min(bags.nrows() - from));
                let u = times_small(some, terms.as_ref());
                for (j, (count, absolute)) in sums.iter_mut().enumerate() {
                    for value in u.col(j).iter() {
                        *count += f64::from(u8::from(*value > 0.0));
                        *absolute += value.abs();
                    }
                }
            }
            sums
        })
        .collect();
    let p = bags.nrows() as f64;
    let at = |i: usize, k: usize| sums[i / FEATURES][(i % FEATURES) * r + k];
    (
        Mat::from_fn(d, r, |i, k| at(i, k).0 / p),
        Mat::from_fn(d, r, |i, k| at(i, k).1 / p),
    )
}
