//! The map of a view of a model: everything that it takes to bring tables of the original
//! features to the columns that are fitted.

use std::collections::HashMap;

use polyview_core::Table;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};

use crate::ard::FeatureWeights;
use crate::centring::Centre;
use crate::choice::{Family, KernelChoice, Width};
use crate::error::KernelError;
use crate::kernel::Kernel;
use crate::map::{KernelMap, similarities, some_of};
use crate::units::{Holes, Points, Units, names_fit};

/// Samples whose distances a median is taken of.
const MEDIAN_OF: usize = 1000;
/// Similarities that differ by more, relative to the largest, are not symmetric.
const SYMMETRIC: f64 = 1e-8;
/// Similarities that differ by less, relative to the largest, are rounding.
const FLAT: f64 = 1e-12;
/// A similarity from which on two samples are not nearly as unlike as can be.
const UNLIKE: f64 = 1e-6;
/// Streams of the draws.
const CHOSEN: u32 = 0x6b72_6566;
const COMPARED: u32 = 0x6b6d_6564;

/// A learnt map, and what was found in the table.
pub struct Learnt {
    /// The map: centred at the mean of the reference points in feature space.
    pub map: KernelMap,
    /// Features that do not vary, or have no value: they are not compared.
    pub left_out: Vec<String>,
    /// The median distance between samples, where the kernel has a width: in the unit of that.
    pub median: Option<f64>,
    /// The width, where the kernel has one.
    pub width: Option<f64>,
    /// Whether every reference point is similar to itself alone, so that nothing is said of any two
    /// samples.
    pub unlike: bool,
}

/// Learns the kernel of a view from the samples of its table, samples × features in any units
/// (spec/thesis 7.1): means and scales of the features, reference points and, in feature space, the
/// mean of these, about which similarities are centred.
///
/// A sample that lacks some features is compared by expected squared distances and products: what
/// it lacks has the mean and the variance of the feature in training, which add up to
/// $\mathrm{E}\lVert x - y\rVert^2 = \lVert\hat x - \hat y\rVert^2 + \sum_{d \in \text{holes}} v_d$
/// of two samples. The distance of a sample to itself is 0: what it lacks is one value. So is that of a
/// sample with the ID, the values and the holes of a reference point.
/// The farther it may be from everything, the nearer its similarities are to those of the mean.
///
/// All samples are reference points unless fewer are asked for. Then the first is drawn, and each
/// further one with a probability in proportion to the squared distance in feature space to the
/// nearest of those before: no two of them are alike.
///
/// # Errors
/// [`KernelError::Empty`], [`KernelError::OneSample`], [`KernelError::Constant`], [`KernelError::Alike`] where
/// nothing can be compared; [`KernelError::TooManyReferences`]; [`KernelError::OneReference`]; [`KernelError::Infinite`],
/// [`KernelError::TooLarge`], [`KernelError::Overflow`]. Of a precomputed kernel
/// [`KernelError::NotSquare`], [`KernelError::NotSymmetric`], [`KernelError::Missing`].
pub fn learn_view(table: &Table, choice: &KernelChoice, seed: u64) -> Result<Learnt, KernelError> {
    learn(table, choice, (None, None), seed)
}

/// As [`learn_view`], against the samples of these names alone.
///
/// # Errors
/// As [`learn_view`]; [`KernelError::Damaged`] where a sample is not there.
pub fn learn_view_against(
    table: &Table,
    choice: &KernelChoice,
    references: &[String],
) -> Result<Learnt, KernelError> {
    learn(table, choice, (Some(references), None), 0)
}

/// As [`learn_view`], with features that are counted by these weights (features that none was learnt of count as the mean), against the samples of
/// these names alone where there are any.
///
/// # Errors
/// As [`learn_view_against`].
pub fn learn_view_weighted(
    table: &Table,
    choice: &KernelChoice,
    weights: &FeatureWeights,
    references: Option<&[String]>,
    seed: u64,
) -> Result<Learnt, KernelError> {
    learn(table, choice, (references, Some(weights)), seed)
}

/// Places of names among the samples of a table that are numbered so.
fn places(table: &Table, samples: &[usize], names: &[String]) -> Result<Vec<usize>, KernelError> {
    let place: HashMap<&str, usize> = (samples.iter().enumerate())
        .map(|(i, &n)| (table.samples[n].as_str(), i))
        .collect();
    let of = |name: &String| place.get(name.as_str()).copied();
    let all: Option<Vec<usize>> = names.iter().map(of).collect();
    all.ok_or(KernelError::Damaged {
        what: "a reference point is none of the samples",
    })
}

/// The units of the features that vary, and the names of the others.
fn comparable(table: &Table, choice: &KernelChoice) -> Result<(Units, Vec<String>), KernelError> {
    let (units, left_out) = Units::learn(table, !choice.raw, Holes::Expected)?.varying();
    let lone = seen(table);
    if lone < 2 {
        return Err(KernelError::OneSample);
    }
    if units.features.is_empty() {
        return Err(KernelError::Constant {
            features: left_out.len(),
        });
    }
    Ok((units, left_out))
}

/// The median distance between the samples of a table, in the unit of the width of a kernel; of no more than 1000 of
/// them, so that memory is linear in their number. As [`learn_view`] finds it; `None` of kernels without a width.
///
/// # Errors
/// [`KernelError::Empty`], [`KernelError::OneSample`], [`KernelError::Constant`], [`KernelError::Infinite`],
/// [`KernelError::TooLarge`].
pub fn median_of_view(
    table: &Table,
    choice: &KernelChoice,
    seed: u64,
) -> Result<Option<f64>, KernelError> {
    if choice.family.width().is_none() {
        return Ok(None);
    }
    let (units, _) = comparable(table, choice)?;
    let points = units.points(table)?;
    Ok(Some(median_distance(&points, StreamKey::new(seed))))
}

fn learn(
    table: &Table,
    choice: &KernelChoice,
    (only, weights): (Option<&[String]>, Option<&FeatureWeights>),
    seed: u64,
) -> Result<Learnt, KernelError> {
    names_fit(table)?;
    let key = StreamKey::new(seed);
    if choice.family == Family::Precomputed {
        let map = precomputed(table, choice.references, only, key)?;
        return Ok(Learnt {
            map,
            left_out: Vec::new(),
            median: None,
            width: None,
            unlike: false,
        });
    }
    let (units, left_out) = comparable(table, choice)?;
    let units = match weights {
        None => units,
        Some(weights) => {
            let weights = weights.of(&units.features);
            units.weighted(&weights)
        }
    };
    let points = units.points(table)?;
    let count = points.samples.len();
    let references = checked(choice.references, count)?;
    let median = choice.family.width().map(|_| median_distance(&points, key));
    let width = choice.family.width().map(|width| match width {
        Width::Is(width) => width,
        Width::Auto | Width::Median => median.unwrap_or(1.0),
    });
    let kernel = choice.family.of_width(width.unwrap_or(1.0));
    kernel.check()?;
    if let Some(count) = choice.features {
        return Ok(Learnt {
            map: KernelMap::at_random(kernel, units, count, key),
            left_out,
            median,
            width,
            unlike: false,
        });
    }
    if references == 1 || only.is_some_and(|names| names.len() == 1) {
        return Err(KernelError::OneReference);
    }
    let chosen = if let Some(names) = only {
        places(table, &points.samples, names)?
    } else if references == count {
        (0..count).collect()
    } else {
        far_apart(kernel, &points, references, key)
    };
    let mut map = KernelMap::against(kernel, units, table, &points, &chosen);
    let own = map.similarities(&points.only(&chosen), &table.samples);
    let centre = Centre::of(&own)?;
    let mut about = own.clone();
    centre.apply(&mut about);
    if largest(&about, |_, _| true) <= FLAT * largest(&own, |_, _| true) {
        return Err(KernelError::Alike);
    }
    map.centre = Some(centre);
    Ok(Learnt {
        unlike: chosen.len() > 1 && largest(&own, |i, j| i != j) <= UNLIKE,
        map,
        left_out,
        median,
        width,
    })
}

/// The largest size of some similarities.
fn largest(of: &Mat<f64>, which: impl Fn(usize, usize) -> bool) -> f64 {
    let mut out = 0.0_f64;
    for j in 0..of.ncols() {
        for (i, x) in of.col_as_slice(j).iter().enumerate() {
            if which(i, j) {
                out = out.max(x.abs());
            }
        }
    }
    out
}

/// Number of samples with a value.
fn seen(table: &Table) -> usize {
    let known = |n: &usize| (0..table.features.len()).any(|j| !table.values[(*n, j)].is_nan());
    (0..table.samples.len()).filter(known).count()
}

fn checked(asked: Option<usize>, samples: usize) -> Result<usize, KernelError> {
    match asked {
        Some(references) if references > samples => Err(KernelError::TooManyReferences {
            references,
            samples,
        }),
        asked => Ok(asked.unwrap_or(samples)),
    }
}

impl Points {
    /// Some of the samples.
    pub(crate) fn only(&self, chosen: &[usize]) -> Self {
        let d = self.values.ncols();
        Self {
            samples: chosen.iter().map(|&i| self.samples[i]).collect(),
            values: Mat::from_fn(chosen.len(), d, |i, j| self.values[(chosen[i], j)]),
            spread: chosen.iter().map(|&i| self.spread[i]).collect(),
            variance: self.variance.clone(),
            with_holes: 0,
        }
    }
    /// Features × samples, and squared lengths.
    pub(crate) fn as_references(&self) -> (Mat<f64>, Vec<f64>) {
        (self.values.transpose().to_owned(), self.squares())
    }
}

/// Median distance of pairs of samples, of no more than [`MEDIAN_OF`] of these; where most of the
/// samples are alike the mean distance.
fn median_distance(points: &Points, key: StreamKey) -> f64 {
    let all: Vec<usize> = (0..points.samples.len()).collect();
    let few = some_of(&all, MEDIAN_OF, key.block(COMPARED));
    let few = points.only(&few);
    let (references, squares) = few.as_references();
    // the squared distance of a linear kernel
    let products = similarities(Kernel::Linear, &few, (references.as_ref(), &squares));
    let count = squares.len();
    let mut far: Vec<f64> = (0..count)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| {
            (squares[i] + squares[j] - 2.0 * products[(i, j)])
                .max(0.0)
                .sqrt()
        })
        .collect();
    let mean = far.iter().sum::<f64>() / far.len().max(1) as f64;
    let middle = far.len() / 2;
    if far.is_empty() {
        return mean;
    }
    let (_, median, _) = far.select_nth_unstable_by(middle, f64::total_cmp);
    if *median > 1e-6 * mean { *median } else { mean }
}

/// So many samples, each drawn in proportion to its squared distance in feature space to the
/// nearest of those before it; in their order.
fn far_apart(kernel: Kernel, points: &Points, count: usize, key: StreamKey) -> Vec<usize> {
    let d = points.values.ncols();
    let own: Vec<f64> = (points.squares().iter().enumerate())
        .map(|(i, squares)| {
            let product: f64 = (0..d).map(|j| points.values[(i, j)].powi(2)).sum();
            match kernel.at_itself() {
                Some(own) if points.spread[i] > 0.0 => own,
                _ => kernel.value(product, 2.0 * squares, d),
            }
        })
        .collect();
    let to = |i: usize| {
        let one = points.only(&[i]);
        let (reference, squares) = one.as_references();
        similarities(kernel, points, (reference.as_ref(), &squares))
    };
    spread_out(&own, |i| to(i).col_as_slice(0).to_vec(), count, key)
}

/// As [`far_apart`], of samples whose similarities to themselves and to one of them are given.
fn spread_out(
    own: &[f64],
    to: impl Fn(usize) -> Vec<f64>,
    count: usize,
    key: StreamKey,
) -> Vec<usize> {
    let mut rng = key.block(CHOSEN).rng();
    let mut nearest = vec![f64::INFINITY; own.len()];
    let mut free = vec![true; own.len()];
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let weight = |i: usize| match (free[i], out.is_empty()) {
            (false, _) => 0.0,
            (true, true) => 1.0,
            (true, false) => nearest[i],
        };
        let total: f64 = (0..own.len()).map(weight).sum();
        let mut left = uniform_open01(&mut rng) * total;
        let drawn = (0..own.len()).find(|&i| {
            left -= weight(i);
            weight(i) > 0.0 && left <= 0.0
        });
        // those that are left are copies of those that are there
        let Some(next) = drawn.or_else(|| free.iter().rposition(|f| *f)) else {
            break;
        };
        for (i, k) in to(next).into_iter().enumerate() {
            let far = (own[i] + own[next] - 2.0 * k).max(0.0);
            nearest[i] = nearest[i].min(far);
        }
        free[next] = false;
        out.push(next);
    }
    out.sort_unstable();
    out
}

/// The map of a table that holds the similarities of its samples to each other.
fn precomputed(
    table: &Table,
    references: Option<usize>,
    only: Option<&[String]>,
    key: StreamKey,
) -> Result<KernelMap, KernelError> {
    let seen: Vec<usize> = (0..table.samples.len())
        .filter(|&n| (0..table.features.len()).any(|j| !table.values[(n, j)].is_nan()))
        .collect();
    match seen.len() {
        0 => return Err(KernelError::Empty),
        1 => return Err(KernelError::OneSample),
        _ => {}
    }
    let place: HashMap<&str, usize> = (table.features.iter().enumerate())
        .map(|(j, f)| (f.as_str(), j))
        .collect();
    let columns = seen.iter().map(|&n| {
        let sample = &table.samples[n];
        place.get(sample.as_str()).copied().ok_or_else(|| {
            let (samples, columns) = (seen.len(), table.features.len());
            KernelError::NotSquare {
                sample: sample.clone(),
                samples,
                columns,
            }
        })
    });
    let columns: Vec<usize> = columns.collect::<Result<_, _>>()?;
    let count = checked(references, seen.len())?;
    let at = |i: usize, j: usize| table.values[(seen[i], columns[j])];
    let name = |i: usize| table.samples[seen[i]].clone();
    let mut largest = 0.0_f64;
    for i in 0..seen.len() {
        for j in 0..seen.len() {
            let value = at(i, j);
            let (sample, feature) = (name(i), name(j));
            if value.is_nan() {
                return Err(KernelError::Missing { sample, feature });
            }
            if value.is_infinite() {
                return Err(KernelError::Infinite { sample, feature });
            }
            largest = largest.max(value.abs());
        }
    }
    if let Some(i) = (0..seen.len()).find(|&i| at(i, i) < -SYMMETRIC * largest) {
        return Err(KernelError::NegativeSelf {
            sample: name(i),
            value: at(i, i),
        });
    }
    for i in 0..seen.len() {
        if let Some(j) = (0..i).find(|&j| (at(i, j) - at(j, i)).abs() > SYMMETRIC * largest) {
            return Err(KernelError::NotSymmetric {
                sample: name(i),
                other: name(j),
            });
        }
    }
    let varies = (1..seen.len()).any(|i| (0..seen.len()).any(|j| at(i, j) != at(0, j)));
    if !varies {
        return Err(KernelError::Constant {
            features: columns.len(),
        });
    }
    if count == 1 || only.is_some_and(|names| names.len() == 1) {
        return Err(KernelError::OneReference);
    }
    let chosen = if let Some(names) = only {
        places(table, &seen, names)?
    } else if count == seen.len() {
        (0..count).collect()
    } else {
        let own: Vec<f64> = (0..seen.len()).map(|i| at(i, i)).collect();
        let to = |r: usize| (0..seen.len()).map(|i| at(i, r)).collect();
        spread_out(&own, to, count, key)
    };
    let count = chosen.len();
    let among = Mat::from_fn(count, count, |i, j| at(chosen[i], chosen[j]));
    let names: Vec<String> = chosen.iter().map(|&i| name(i)).collect();
    Ok(KernelMap {
        kernel: Kernel::Precomputed,
        units: Units {
            mean: vec![0.0; count],
            scale: vec![1.0; count],
            variance: Vec::new(),
            features: names.clone(),
        },
        references: names,
        points: Mat::zeros(count, 0),
        spread: Vec::new(),
        itself: false,
        centre: Some(Centre::of(&among)?),
        fourier: false,
    })
}

#[cfg(test)]
mod tests {
    use polyview_random::standard_normal;

    use super::*;

    fn table(rows: usize, columns: usize, seed: u64) -> Table {
        let mut rng = StreamKey::new(seed).rng();
        Table {
            name: "x".into(),
            samples: (0..rows).map(|n| format!("s{n}")).collect(),
            features: (0..columns).map(|d| format!("f{d}")).collect(),
            levels: Vec::new(),
            values: Mat::from_fn(rows, columns, |_, d| {
                3.0 * d as f64 + (1.0 + d as f64) * standard_normal(&mut rng)
            }),
        }
    }

    /// $\mathrm{E}\lVert x - y\rVert^2$ over all values that training has where a value is missing.
    #[test]
    fn holes_are_compared_by_expected_distances() {
        let mut training = table(9, 3, 4);
        training.values[(1, 2)] = f64::NAN;
        training.values[(5, 0)] = f64::NAN;
        training.values[(5, 2)] = f64::NAN;
        let choice: KernelChoice = "rbf{width=2.5}".parse().expect("a kernel");
        let map = learn_view(&training, &choice, 1).expect("a map").map;
        let known = |d: usize| -> Vec<f64> {
            let of = training.values.col_as_slice(d).iter().copied();
            of.filter(|x| !x.is_nan()).collect()
        };
        let moments: Vec<(f64, f64)> = (0..3)
            .map(|d| {
                let all = known(d);
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                let variance =
                    all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64;
                (mean, variance.sqrt())
            })
            .collect();
        let may_be = |x: f64, d: usize| if x.is_nan() { known(d) } else { vec![x] };
        let mut new = table(4, 3, 7);
        new.values[(0, 1)] = f64::NAN;
        new.values[(2, 2)] = f64::NAN;
        let points = map.units.points(&new).expect("samples");
        let found = map.similarities(&points, &new.samples);
        for n in 0..4 {
            for r in 0..9 {
                let expected: f64 = (0..3)
                    .map(|d| {
                        let (x, y) = (new.values[(n, d)], training.values[(r, d)]);
                        let (x, y) = (may_be(x, d), may_be(y, d));
                        let all = x
                            .iter()
                            .flat_map(|x| y.iter().map(move |y| (x - y).powi(2)));
                        let (_, sd) = moments[d];
                        all.sum::<f64>() / (x.len() * y.len()) as f64 / (sd * sd)
                    })
                    .sum();
                let distance = -2.0 * 2.5_f64.powi(2) * found[(n, r)].ln();
                assert!((distance - expected).abs() < 1e-9, "{distance} {expected}");
            }
        }
        assert_eq!(points.with_holes, 2);
    }

    #[test]
    fn the_median_is_that_of_a_map() {
        let data = table(40, 3, 5);
        for text in [
            "rbf",
            "matern{references=7}",
            "rbf{scale=none, features=10}",
        ] {
            let choice: KernelChoice = text.parse().expect("a kernel");
            let found = median_of_view(&data, &choice, 3).expect("a median");
            assert_eq!(found, learn_view(&data, &choice, 3).expect("a map").median);
            assert!(found.is_some_and(|m| m > 0.0));
        }
        let linear: KernelChoice = "linear".parse().expect("a kernel");
        assert_eq!(median_of_view(&data, &linear, 3).expect("no median"), None);
    }

    #[test]
    fn reference_points_are_far_from_each_other() {
        // three clusters of very different sizes
        let mut data = table(60, 2, 3);
        let cluster = |n: usize| usize::from(n >= 50) + usize::from(n >= 55);
        for n in 0..60 {
            for d in 0..2 {
                let centre = [[0.0, 0.0], [60.0, 0.0], [0.0, 80.0]][cluster(n)][d];
                data.values[(n, d)] = centre + 0.01 * data.values[(n, d)];
            }
        }
        for seed in 0..20 {
            let choice: KernelChoice = "rbf{width=0.5,references=3}".parse().expect("a kernel");
            let map = learn_view(&data, &choice, seed).expect("a map").map;
            let of = map
                .references()
                .iter()
                .map(|name| cluster(name[1..].parse().expect("n")));
            let mut found: Vec<usize> = of.collect();
            found.sort_unstable();
            assert_eq!(found, [0, 1, 2], "seed {seed}");
        }
    }
}
