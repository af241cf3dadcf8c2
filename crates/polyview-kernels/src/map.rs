//! What is learnt of training samples, and how samples are mapped by it.

use std::collections::{HashMap, HashSet};

use polyview_core::Table;
use polyview_linalg::faer::Accum;
use polyview_linalg::{Mat, MatRef, times};
use polyview_random::{StreamKey, standard_normal};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::centring::Centre;
use crate::error::KernelError;
use crate::kernel::{Kernel, KernelKind};
use crate::parts::KernelParts;
use crate::units::{Holes, Points, Units, names_fit};

/// Streams of the draw of frequencies.
const FREQUENCIES: u32 = 0x6b66_7265;

/// Choices of [`KernelMap::learn`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelOptions {
    /// Which kernel.
    pub kernel: KernelKind,
    /// Number of reference points, drawn from the samples; all of them where
    /// nothing is said, or where there are no more.
    pub references: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
    /// Whether features are first brought to mean 0 and standard deviation 1
    /// over the samples.
    pub standardise: bool,
}

impl Default for KernelOptions {
    /// The RBF kernel with γ = 1/D of standardised features against all samples;
    /// seed 1.
    fn default() -> Self {
        Self {
            kernel: KernelKind::Rbf { gamma: None },
            references: None,
            seed: 1,
            standardise: true,
        }
    }
}

/// A kernel with its reference points: maps tables of the features it was learnt
/// with to their similarities (spec/thesis 7.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "KernelParts", into = "KernelParts")]
pub struct KernelMap {
    pub(crate) kernel: Kernel,
    pub(crate) units: Units,
    pub(crate) references: Vec<String>,
    /// Features × references, in these units; none of a precomputed kernel. Where `fourier` is so features ×
    /// frequencies, of which each has two columns.
    pub(crate) points: Mat<f64>,
    /// Of each reference the sum of the variances of the features that it lacks; none where
    /// none lacks any.
    pub(crate) spread: Vec<f64>,
    /// Whether a reference that lacks features is at no distance from itself: in maps of before that was so,
    /// and whose centre was found so, it was compared as two samples.
    pub(crate) itself: bool,
    pub(crate) centre: Option<Centre>,
    pub(crate) fourier: bool,
}

/// Similarities of the samples of a table.
pub struct Mapped {
    /// Samples × references; `NaN` for samples without any value.
    pub table: Table,
    /// The features in the units that the kernel compares them in, samples × features of the map: zero, the mean, where a sample lacks
    /// one, `NaN` for samples without any value. `None` of a precomputed kernel.
    pub features: Option<Mat<f64>>,
    /// How many samples have some of the features only, and are compared by what is expected of
    /// the others.
    pub with_holes: usize,
}

impl KernelMap {
    /// Learns scales and reference points of the samples of a table, samples ×
    /// features in any units (spec/thesis 7.1). Samples without any value are
    /// left out; a feature that is constant over the others is centred only. What a sample lacks is expected to be as
    /// in training, at the mean of the feature and with its variance, as of a view with a kernel
    /// ([`learn_view`](crate::learn_view)).
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`] for a kernel that cannot be, or no reference
    /// points; [`KernelError::Missing`] where a sample has some of its features
    /// only, and products are of features in their own units; [`KernelError::Infinite`]; [`KernelError::Empty`] where no sample
    /// has values.
    pub fn learn(table: &Table, options: &KernelOptions) -> Result<Self, KernelError> {
        names_fit(table)?;
        let kernel = options.kernel.for_features(table.features.len())?;
        if options.references == Some(0) {
            return Err(KernelError::OutOfRange {
                what: "the number of reference points",
                value: 0.0,
                range: "1 or larger",
            });
        }
        // products of features in their own units change with where the mean is
        let anywhere = options.standardise || matches!(options.kernel, KernelKind::Rbf { .. });
        let holes = if anywhere {
            Holes::Expected
        } else {
            Holes::Refused
        };
        let units = Units::learn(table, options.standardise, holes)?;
        let points = units.points(table)?;
        let most = options.references.unwrap_or(usize::MAX);
        let all: Vec<usize> = (0..points.samples.len()).collect();
        let chosen = some_of(&all, most, StreamKey::new(options.seed));
        Ok(Self::against(kernel, units, table, &points, &chosen))
    }
    /// The map to these of some samples of a table, not centred.
    pub(crate) fn against(
        kernel: Kernel,
        units: Units,
        table: &Table,
        points: &Points,
        chosen: &[usize],
    ) -> Self {
        let d = units.features.len();
        let of = |i: &usize| table.samples[points.samples[*i]].clone();
        let spread: Vec<f64> = chosen.iter().map(|&i| points.spread[i]).collect();
        Self {
            kernel,
            units,
            references: chosen.iter().map(of).collect(),
            points: Mat::from_fn(d, chosen.len(), |j, r| points.values[(chosen[r], j)]),
            itself: kernel.at_itself().is_some() && spread.iter().any(|s| *s > 0.0),
            spread: if spread.iter().all(|s| *s == 0.0) {
                Vec::new()
            } else {
                spread
            },
            centre: None,
            fourier: false,
        }
    }
    /// The map to random Fourier features of an RBF kernel (Rahimi and Recht 2007): of frequencies
    /// $\\omega\_j\\sim N(0, 2\\gamma I)$ the columns $m^{-1/2}\\cos\\omega\_j^\\top x$ and $m^{-1/2}\\sin\\omega\_j^\\top x$, whose
    /// products are the kernel in expectation.
    pub(crate) fn at_random(kernel: Kernel, units: Units, columns: usize, key: StreamKey) -> Self {
        let (d, count) = (units.features.len(), columns / 2);
        let spread = match kernel {
            Kernel::Rbf { gamma } => (2.0 * gamma).sqrt(),
            _ => 1.0,
        };
        let mut points = Mat::zeros(d, count);
        for j in 0..count {
            // frequency by frequency: the first ones are the same however many there are
            let mut rng = key.block(FREQUENCIES).chunk(j as u32).rng();
            for x in points.col_as_slice_mut(j) {
                *x = spread * standard_normal(&mut rng);
            }
        }
        let names = (1..=count).flat_map(|j| [format!("cos {j}"), format!("sin {j}")]);
        Self {
            kernel,
            units,
            references: names.collect(),
            points,
            spread: Vec::new(),
            itself: false,
            centre: None,
            fourier: true,
        }
    }
    /// Whether columns are random Fourier features, rather than similarities to reference points.
    pub fn is_random(&self) -> bool {
        self.fourier
    }
    /// What each feature counts in distances and products, relative to the mean of all: variances in the units of the
    /// kernel. All alike unless features have weights or are not standardised; none of a precomputed kernel, and of a
    /// map that refuses holes.
    pub fn relevances(&self) -> Vec<f64> {
        let variance = &self.units.variance;
        let mean = variance.iter().sum::<f64>() / variance.len().max(1) as f64;
        variance.iter().map(|v| v / mean).collect()
    }
    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }
    /// Features that a table must have.
    pub fn features(&self) -> &[String] {
        &self.units.features
    }
    /// Means of the features in training; zeros where they are taken as they are.
    pub fn means(&self) -> &[f64] {
        &self.units.mean
    }
    /// Standard deviations of the features in training, in the unit of the table; none of a map
    /// that refuses holes, and of a precomputed kernel.
    pub fn deviations(&self) -> Vec<f64> {
        let of = self.units.variance.iter().zip(&self.units.scale);
        of.map(|(variance, scale)| variance.sqrt() * scale)
            .collect()
    }
    /// The reference points, features × references in units of the features; none of a
    /// precomputed kernel.
    pub fn points(&self) -> MatRef<'_, f64> {
        self.points.as_ref()
    }
    /// The samples that are reference points.
    pub fn references(&self) -> &[String] {
        &self.references
    }
    /// Similarities of the samples of a table, in the units that the map was
    /// learnt in, to the reference points: samples × references, in the unit of
    /// the [`Kernel`]; `NaN` for samples without any value. Features are matched
    /// by name, in any order; others than the map's do not count. The columns are
    /// called as the reference samples (spec/thesis 7.1, test points).
    ///
    /// # Errors
    /// [`KernelError::Absent`] where a feature of the map is not in the table;
    /// [`KernelError::Missing`] where a sample has some of them only: of a map of
    /// [`learn_view`](crate::learn_view) both only where the kernel is precomputed, or nothing is
    /// known at all. [`KernelError::Infinite`]; [`KernelError::TooLarge`] where a similarity is
    /// not finite.
    pub fn apply(&self, table: &Table) -> Result<Table, KernelError> {
        Ok(self.mapped(table)?.0)
    }
    /// As [`KernelMap::apply`], with what was found on the way.
    ///
    /// # Errors
    /// As [`KernelMap::apply`].
    pub fn map(&self, table: &Table) -> Result<Mapped, KernelError> {
        let (mapped, points) = self.mapped(table)?;
        let compares = self.kernel != Kernel::Precomputed;
        Ok(Mapped {
            features: compares.then(|| points.of_samples(table.samples.len())),
            with_holes: points.with_holes,
            table: mapped,
        })
    }
    /// The similarities of the samples of a table, and these in the units of the kernel.
    fn mapped(&self, table: &Table) -> Result<(Table, Points), KernelError> {
        names_fit(table)?;
        self.all_there(table)?;
        let points = self.units.points(table)?;
        let mut found = self.similarities(&points, &table.samples);
        if let Some((i, r)) = not_finite(&found) {
            return Err(KernelError::TooLarge {
                sample: table.samples[points.samples[i]].clone(),
                reference: self.references[r].clone(),
            });
        }
        if let Some(centre) = &self.centre {
            centre.apply(&mut found);
        }
        let mut values = Mat::full(table.samples.len(), self.references.len(), f64::NAN);
        for r in 0..self.references.len() {
            let (from, to) = (found.col_as_slice(r), values.col_as_slice_mut(r));
            for (x, &n) in from.iter().zip(&points.samples) {
                to[n] = *x;
            }
        }
        let mapped = Table {
            name: table.name.clone(),
            samples: table.samples.clone(),
            features: self.references.clone(),
            levels: Vec::new(),
            values,
        };
        Ok((mapped, points))
    }
    /// Refuses a table without a feature of a map of [`KernelMap::learn`], which is neither centred nor of
    /// random features: who has a kernel alone has no model that would do without.
    fn all_there(&self, table: &Table) -> Result<(), KernelError> {
        if self.centre.is_some() || self.fourier {
            return Ok(());
        }
        let has: HashSet<&String> = table.features.iter().collect();
        match self.units.features.iter().find(|f| !has.contains(f)) {
            Some(feature) => Err(KernelError::Absent {
                feature: feature.clone(),
            }),
            None => Ok(()),
        }
    }
    /// Similarities of these samples, of those of these names, to the references, as the kernel has them.
    pub(crate) fn similarities(&self, points: &Points, names: &[String]) -> Mat<f64> {
        if self.kernel == Kernel::Precomputed {
            return points.values.clone();
        }
        if self.fourier {
            return self.waves(points);
        }
        let mut out = similarities(
            self.kernel,
            points,
            (self.points.as_ref(), &self.reference_squares()),
        );
        if let Some(own) = self.kernel.at_itself().filter(|_| self.itself) {
            for (i, r) in self.references_among(points, names) {
                out[(i, r)] = own;
            }
        }
        out
    }
    /// Which of these samples are reference points that lack some of the features: those that are called so, have the
    /// same values and lack the same features. A new sample may have an ID of training by chance.
    fn references_among(&self, points: &Points, names: &[String]) -> Vec<(usize, usize)> {
        let lacking = |r: &usize| self.spread.get(*r).is_some_and(|s| *s > 0.0);
        let of: HashMap<&str, usize> = (0..self.references.len())
            .filter(lacking)
            .map(|r| (self.references[r].as_str(), r))
            .collect();
        if of.is_empty() {
            return Vec::new();
        }
        let same = |i: usize, r: usize| {
            let mut values = self.points.col_as_slice(r).iter().enumerate();
            points.spread[i].to_bits() == self.spread[r].to_bits()
                && values.all(|(j, x)| points.values[(i, j)].to_bits() == x.to_bits())
        };
        let place = |(i, n): (usize, &usize)| {
            let r = *of.get(names[*n].as_str())?;
            same(i, r).then_some((i, r))
        };
        points
            .samples
            .iter()
            .enumerate()
            .filter_map(place)
            .collect()
    }
    /// Random Fourier features of samples. What a sample lacks brings its columns nearer to zero, as it does its
    /// similarities.
    fn waves(&self, points: &Points) -> Mat<f64> {
        let n = points.samples.len();
        let count = self.points.ncols();
        let mut along: Mat<f64> = Mat::zeros(n, count);
        times(
            points.values.as_ref(),
            self.points.as_ref(),
            along.as_mut(),
            Accum::Replace,
        );
        let gamma = match self.kernel {
            Kernel::Rbf { gamma } => gamma,
            _ => 0.0,
        };
        let unit = (count as f64).sqrt().recip();
        let size: Vec<f64> = points
            .spread
            .iter()
            .map(|s| unit * (-gamma * s).exp())
            .collect();
        let mut out = Mat::zeros(n, 2 * count);
        for j in 0..count {
            for (i, size) in size.iter().enumerate() {
                let (sin, cos) = along[(i, j)].sin_cos();
                out[(i, 2 * j)] = size * cos;
                out[(i, 2 * j + 1)] = size * sin;
            }
        }
        out
    }
    /// Squared lengths of the references, with the variances of what they lack.
    fn reference_squares(&self) -> Vec<f64> {
        let of = |r: usize| -> f64 {
            let own: f64 = self.points.col_as_slice(r).iter().map(|x| x * x).sum();
            own + self.spread.get(r).copied().unwrap_or(0.0)
        };
        (0..self.references.len()).map(of).collect()
    }
}

/// Makes the distance of each of some samples that lack features to itself 0, of similarities of these among themselves.
pub(crate) fn to_themselves(kernel: Kernel, points: &Points, own: &mut Mat<f64>) {
    let Some(one) = kernel.at_itself() else {
        return;
    };
    for (i, spread) in points.spread.iter().enumerate() {
        if *spread > 0.0 {
            own[(i, i)] = one;
        }
    }
}

/// Similarities of samples to points (features × points) of these squared lengths.
pub(crate) fn similarities(
    kernel: Kernel,
    samples: &Points,
    (points, squares): (MatRef<'_, f64>, &[f64]),
) -> Mat<f64> {
    let (n, d) = samples.values.shape();
    let mut out: Mat<f64> = Mat::zeros(n, points.ncols());
    times(
        samples.values.as_ref(),
        points,
        out.as_mut(),
        Accum::Replace,
    );
    let own = samples.squares();
    for (r, of) in squares.iter().enumerate() {
        for (x, own) in out.col_as_slice_mut(r).iter_mut().zip(&own) {
            *x = kernel.value(*x, own + of, d);
        }
    }
    out
}

/// The first value that is no number, column by column.
fn not_finite(of: &Mat<f64>) -> Option<(usize, usize)> {
    (0..of.ncols()).find_map(|r| {
        let at = of.col_as_slice(r).iter().position(|x| !x.is_finite())?;
        Some((at, r))
    })
}

/// At most `most` of these, drawn without replacement, in their order.
pub(crate) fn some_of(all: &[usize], most: usize, key: StreamKey) -> Vec<usize> {
    let mut out = all.to_vec();
    if most < out.len() {
        let mut rng = key.rng();
        for i in 0..most {
            let j = rng.random_range(i..out.len());
            out.swap(i, j);
        }
        out.truncate(most);
        out.sort_unstable();
    }
    out
}
