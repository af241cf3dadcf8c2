//! Standardisation of real views: computed once, stored with the model, undone
//! on the way out.

use std::sync::Arc;

use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use super::{Mask, NormalScores, SparseValues, Values, View};
use crate::error::DataError;

/// Whether the mean of each feature is taken away before fitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Centring {
    /// Values stay where they are.
    None,
    /// The mean of the observed values of each feature becomes zero.
    #[default]
    Feature,
}

/// What the values are divided by before fitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureScaling {
    /// Nothing.
    None,
    /// One number for the whole view: the root of the mean variance of its
    /// features. Keeps the relative scales of the features.
    View,
    /// Each feature by its own standard deviation, as for correlations.
    #[default]
    Feature,
    /// Not divided but bent: each value by the normal score of its rank among the
    /// training values of its feature ([`NormalScores`]), for features with heavy
    /// tails or bent scales. Whether features are centred makes no difference then.
    NormalScores,
}

/// A map a feature between data units and working units: working value = (value −
/// offset) / scale, or the normal score of the value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// What was subtracted, in data units, one a feature.
    pub offset: Vec<f64>,
    /// What was divided by, in data units, one a feature; never zero.
    pub scale: Vec<f64>,
    /// Features that were constant (or observed fewer than twice): their scale
    /// is taken as the view's.
    pub constant: Vec<usize>,
    /// The map of normal scores, where working units are such; offsets are then 0
    /// and scales 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<NormalScores>,
}

/// Sums from which a [`Scaling`] follows, over blocks of samples in any number.
///
/// Sums are taken about the first observed value of each feature, so that
/// features of scale 1e9 or 1e-9 keep their digits. Limits count as values, other than in [`Scaling::learn`]: no likelihood
/// that knows limits takes data by blocks (docs/decisions/0090-scales-of-limits.md).
#[derive(Clone, Debug)]
pub struct ScalingSums {
    features: Vec<FeatureSums>,
}

/// First observed value, number of values, sum and sum of squares about it. Small
/// numbers have squares of their own, in units that keep these from underflow.
#[derive(Clone, Copy, Debug, Default)]
struct FeatureSums {
    shift: Option<f64>,
    count: f64,
    sum: f64,
    squares: f64,
    small_squares: f64,
}

/// Numbers below this, $2^{-480}$, are small: their squares are near the smallest
/// number that keeps all its digits, $2^{-1022}$.
const SMALL: f64 = f64::from_bits((1023 - 480) << 52);

/// What small numbers are multiplied by before they are squared, $2^{600}$.
const ENLARGED: f64 = f64::from_bits((1023 + 600) << 52);

impl ScalingSums {
    /// Of no sample yet.
    pub fn new(features: usize) -> Self {
        Self {
            features: vec![FeatureSums::default(); features],
        }
    }
    /// Adds the observed cells of some samples.
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when the view has another number of features.
    pub fn add(&mut self, view: &View) -> Result<(), DataError> {
        if view.n_features() != self.features.len() {
            return Err(DataError::LengthMismatch {
                view: view.name().to_owned(),
                what: "features",
                expected: self.features.len(),
                found: view.n_features(),
            });
        }
        for (d, sums) in self.features.iter_mut().enumerate() {
            for x in (0..view.n_samples()).filter_map(|n| view.value(n, d)) {
                sums.add(x);
            }
        }
        Ok(())
    }
    /// Number of observed values of each feature.
    pub fn counts(&self) -> Vec<f64> {
        self.features.iter().map(|f| f.count).collect()
    }
    /// Mean of the observed values of all features; `NaN` where there are none.
    pub fn mean(&self) -> f64 {
        let sum = |f: &FeatureSums| f.sum + f.count * f.shift.unwrap_or(0.0);
        self.features.iter().map(sum).sum::<f64>() / self.counts().iter().sum::<f64>()
    }
    /// The map. A feature without spread keeps scale 1 (or the view's) and is
    /// listed in `constant`. Normal scores do not follow from sums: asked for
    /// them, values are not scaled.
    pub fn finish(&self, centring: Centring, scaling: FeatureScaling) -> Scaling {
        let spreads: Vec<Spread> = self.features.iter().map(FeatureSums::spread).collect();
        Scaling::of_spreads(&spreads, centring, scaling)
    }
}

impl FeatureSums {
    fn add(&mut self, x: f64) {
        let x = x - *self.shift.get_or_insert(x);
        self.count += 1.0;
        self.sum += x;
        if x.abs() < SMALL {
            self.small_squares += (ENLARGED * x) * (ENLARGED * x);
        } else {
            self.squares += x * x;
        }
    }
    fn spread(&self) -> Spread {
        let (n, shift) = (self.count, self.shift.unwrap_or(0.0));
        let mean: f64 = if n > 0.0 { self.sum / n } else { 0.0 };
        let (variance, unit) = if n <= 1.0 {
            (0.0, 1.0)
        } else if self.squares > 0.0 {
            let squares = self.squares + self.small_squares / ENLARGED / ENLARGED;
            ((squares / n - mean * mean).max(0.0), 1.0)
        } else {
            let mean = ENLARGED * mean;
            ((self.small_squares / n - mean * mean).max(0.0), ENLARGED)
        };
        Spread {
            mean: shift + mean,
            variance,
            unit,
            magnitude: shift.abs().max(mean.abs()),
        }
    }
}

impl Scaling {
    /// The map that changes nothing.
    pub fn identity(features: usize) -> Self {
        Self {
            offset: vec![0.0; features],
            scale: vec![1.0; features],
            constant: Vec::new(),
            scores: None,
        }
    }

    /// Learns the map from the observed cells of a view. A feature without
    /// spread keeps scale 1 (or the view's) and is listed in `constant`. Class
    /// codes are names, not numbers: a categorical view is left as it is. Where limits are all that is
    /// known of some cells, mean and standard deviation are those of the normal law under which all of
    /// them are most likely, given two exact values that differ; else limits count as values.
    pub fn learn(view: &View, centring: Centring, scaling: FeatureScaling) -> Self {
        if !view.levels().is_empty() {
            return Self::identity(view.n_features());
        }
        if scaling == FeatureScaling::NormalScores {
            let scores = NormalScores::learn(view);
            return Self {
                constant: scores.constant(),
                scores: Some(scores),
                ..Self::identity(view.n_features())
            };
        }
        let rows = view.n_samples();
        let spread = |d: usize| {
            if let Some(x) = view.sparse() {
                return Spread::of_entries(x, view.mask().count_feature(d, rows), d);
            }
            let mut sums = FeatureSums::default();
            for x in (0..rows).filter_map(|n| view.value(n, d)) {
                sums.add(x);
            }
            let spread = sums.spread();
            if (0..rows).any(|n| view.is_censored(n, d)) {
                return spread.within_limits(view, d);
            }
            spread
        };
        let spreads: Vec<Spread> = (0..view.n_features()).map(spread).collect();
        Self::of_spreads(&spreads, centring, scaling)
    }

    fn of_spreads(spreads: &[Spread], centring: Centring, scaling: FeatureScaling) -> Self {
        let mut map = Self::identity(spreads.len());
        let mut sd = vec![0.0; spreads.len()];
        for (d, of) in spreads.iter().enumerate() {
            if centring == Centring::Feature {
                map.offset[d] = of.mean;
            }
            if of.sd() > 1e-14 * of.magnitude && of.sd() > TINY {
                sd[d] = of.sd();
            }
        }
        let of_view = {
            let varying = spreads.iter().zip(&sd).filter(|(_, sd)| **sd > 0.0);
            root_mean_variance(&varying.map(|(of, _)| of).collect::<Vec<_>>())
        };
        match scaling {
            FeatureScaling::None | FeatureScaling::NormalScores => {}
            FeatureScaling::View => map.scale.fill(of_view),
            FeatureScaling::Feature => {
                for (s, sd) in map.scale.iter_mut().zip(&sd) {
                    *s = if *sd > 0.0 { *sd } else { of_view };
                }
            }
        }
        // a spread whose square underflows in working units is none there
        let varies = |d: usize| (sd[d] / map.scale[d]).powi(2) >= f64::MIN_POSITIVE;
        map.constant = (0..sd.len()).filter(|&d| !varies(d)).collect();
        map
    }

    /// Working value of a value in data units.
    pub fn forward(&self, feature: usize, value: f64) -> f64 {
        match &self.scores {
            Some(scores) => scores.score(feature, value),
            None => (value - self.offset[feature]) / self.scale[feature],
        }
    }
    /// Value in data units of a working value.
    pub fn backward(&self, feature: usize, value: f64) -> f64 {
        match &self.scores {
            Some(scores) => scores.value(feature, value),
            None => value * self.scale[feature] + self.offset[feature],
        }
    }
    /// The end of an interval in data units, of its end in working units
    /// ([`NormalScores::quantile`]).
    pub fn quantile(&self, feature: usize, value: f64) -> f64 {
        match &self.scores {
            Some(scores) => scores.quantile(feature, value),
            None => self.backward(feature, value),
        }
    }
    /// Mean and standard deviation in data units of a normal working value of that mean
    /// and standard deviation; where working units are normal scores those of the values
    /// that its scores lead to ([`NormalScores::moments`]).
    pub fn moments(&self, feature: usize, mean: f64, sd: f64) -> (f64, f64) {
        match &self.scores {
            Some(scores) => scores.moments(feature, mean, sd),
            None => (self.backward(feature, mean), sd * self.scale[feature]),
        }
    }
    /// Logarithm of the working units that a unit of the data takes, at a working
    /// value: what is added to the log density of that to have one of the data.
    pub fn ln_slope(&self, feature: usize, value: f64) -> f64 {
        match &self.scores {
            Some(scores) => scores.ln_slope(feature, value),
            None => -self.scale[feature].ln(),
        }
    }
    /// The view in working units; missing cells stay zero. Consumes the view
    /// and works in place. What is stored sparse stays so: entries are divided,
    /// and the offset moves the base of their column.
    pub fn apply(&self, view: View) -> View {
        let affine = view.sparse().filter(|_| self.scores.is_none());
        if let Some(scaled) = affine.and_then(|x| self.of_entries(x)) {
            return View {
                values: Values::Sparse(Arc::new(scaled)),
                ..view
            };
        }
        let (levels, trials) = (view.levels().to_vec(), view.trials().cloned());
        let behind = view.behind().cloned();
        let ends = view.ends().map(|e| {
            let end = |n: usize, d: usize| self.forward(d, e[(n, d)]);
            Arc::new(Mat::from_fn(e.nrows(), e.ncols(), end))
        });
        let (name, features, values, mask) = view.into_parts();
        let mut values = Arc::unwrap_or_clone(values);
        for d in 0..values.ncols() {
            let complete = matches!(mask, Mask::Complete);
            for (n, x) in values.col_as_slice_mut(d).iter_mut().enumerate() {
                if complete || mask.is_observed(n, d) {
                    *x = self.forward(d, *x);
                }
            }
        }
        View {
            trials,
            ends,
            behind,
            ..View::new_unchecked(name, features, values, mask, levels)
        }
    }
    /// Entries in working units; `None` where one overflows, which then shows
    /// in a matrix of all cells.
    fn of_entries(&self, x: &SparseValues) -> Option<SparseValues> {
        let entries = x.entries().map(|_, d, x| x / self.scale[d]).ok()?;
        Some(SparseValues::new(entries, self.working_base(x.base())))
    }
    /// What cells of a sparse view without an entry are in working units.
    pub(super) fn working_base(&self, base: &[f64]) -> Vec<f64> {
        let base = base.iter().enumerate();
        base.map(|(d, b)| self.forward(d, *b)).collect()
    }
    /// A matrix samples × features from working to data units.
    pub fn restore(&self, values: &mut Mat<f64>) {
        for d in 0..values.ncols() {
            for n in 0..values.nrows() {
                values[(n, d)] = self.backward(d, values[(n, d)]);
            }
        }
    }
}

/// Mean and variance of a feature, and how large its numbers are.
struct Spread {
    mean: f64,
    /// In squares of units, of which `unit` make one of the data.
    variance: f64,
    /// One, or what keeps variances from underflow.
    unit: f64,
    magnitude: f64,
}

impl Spread {
    /// Of a feature some of whose cells are known by limits alone.
    fn within_limits(self, view: &View, feature: usize) -> Self {
        match view.most_likely_normal(feature) {
            Some((mean, sd)) if self.unit == 1.0 => Self {
                mean,
                variance: sd * sd,
                ..self
            },
            _ => self,
        }
    }
    /// Standard deviation, in data units.
    fn sd(&self) -> f64 {
        self.variance.sqrt() / self.unit
    }
}

/// Standard deviations below this are too near the smallest numbers to keep their
/// digits, $10^{-290}$.
const TINY: f64 = 1e-290;

/// The root of the mean variance of features, in data units; 1 of none.
fn root_mean_variance(spreads: &[&Spread]) -> f64 {
    let unit = spreads.iter().map(|s| s.unit).fold(ENLARGED, f64::min);
    let variance = |s: &&Spread| s.variance * (unit / s.unit) * (unit / s.unit);
    if spreads.is_empty() {
        1.0
    } else {
        (spreads.iter().map(variance).sum::<f64>() / spreads.len() as f64).sqrt() / unit
    }
}

impl Spread {
    /// Of `count` observed cells, twice over those that have entries: the mean
    /// first, then squares about it.
    fn of_entries(x: &SparseValues, count: usize, column: usize) -> Self {
        let (_, values) = x.entries().column(column);
        let n = count as f64;
        if count == 0 {
            return Self {
                mean: 0.0,
                variance: 0.0,
                unit: 1.0,
                magnitude: 0.0,
            };
        }
        let mean = values.iter().sum::<f64>() / n;
        let zeros = (count - values.len()) as f64;
        let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let unit = if largest < SMALL { ENLARGED } else { 1.0 };
        let about: f64 = (values.iter()).map(|x| (unit * (x - mean)).powi(2)).sum();
        let variance = (about + zeros * (unit * mean).powi(2)) / n;
        Self {
            mean: x.base()[column] + mean,
            variance: if count > 1 { variance } else { 0.0 },
            unit,
            magnitude: largest.max(x.base()[column].abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of two features, a number of times as large.
    fn view(unit: [f64; 2]) -> View {
        let values = Mat::from_fn(9, 2, |n, d| {
            unit[d] * (3.0 + d as f64 + ((n * n + 3 * d) % 7) as f64)
        });
        let features = ["a", "b"].map(str::to_owned).to_vec();
        View::new_unchecked("x".into(), features, values, Mask::Complete, Vec::new())
    }

    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    }

    /// A feature three quarters of which lie below a limit has the scale of all of it, its neighbour, which is exact,
    /// that of its values.
    #[test]
    fn limits_are_no_values() {
        let z = |n: usize| polyview_special::normal_quantile((n as f64 + 0.5) / 400.0);
        let limit = 7.0 + 2.0 * z(300);
        let known = |n: usize| 7.0 + 2.0 * z(n);
        let values = Mat::from_fn(400, 2, |n, d| {
            if d == 0 {
                known(n).max(limit)
            } else {
                known(n)
            }
        });
        let ends = Mat::from_fn(400, 2, |n, d| {
            let below = d == 0 && n < 300;
            if below { f64::NEG_INFINITY } else { f64::NAN }
        });
        let features = ["limited", "exact"].map(str::to_owned).to_vec();
        let view = View::new_unchecked("x".into(), features, values, Mask::Complete, Vec::new());
        let view = view.with_ends(ends).unwrap();
        let found = Scaling::learn(&view, Centring::Feature, FeatureScaling::Feature);
        for d in 0..2 {
            assert!((found.scale[d] - 2.0).abs() < 0.03, "{:?}", found.scale);
            assert!((found.offset[d] - 7.0).abs() < 0.03, "{:?}", found.offset);
        }
    }

    /// Spreads do not underflow: a view of tiny numbers is scaled as one of others.
    #[test]
    fn scales_go_with_the_unit() {
        let of = |unit: [f64; 2], s| Scaling::learn(&view(unit), Centring::Feature, s);
        for scaling in [FeatureScaling::View, FeatureScaling::Feature] {
            let plain = of([1.0, 1.0], scaling);
            for unit in [1e-140, 1e-144, 1e-145, 1e-155, 1e-162, 1e-280, 1e60] {
                let found = of([unit, unit], scaling);
                assert_eq!(found.constant, [0_usize; 0], "{unit}");
                for d in 0..2 {
                    close(found.scale[d] / unit, plain.scale[d]);
                    close(found.offset[d] / unit, plain.offset[d]);
                }
            }
        }
        // on either side of where squares are enlarged
        let found = of([2f64.powi(-480), 2f64.powi(-483)], FeatureScaling::Feature);
        let plain = of([8.0, 1.0], FeatureScaling::Feature);
        for d in 0..2 {
            close(found.scale[d] * 2f64.powi(483), plain.scale[d]);
        }
        let found = of([2f64.powi(-480), 2f64.powi(-483)], FeatureScaling::View);
        let plain = of([8.0, 1.0], FeatureScaling::View);
        close(found.scale[0] * 2f64.powi(483), plain.scale[0]);
    }

    /// What varies by nothing that can be squared in working units is called so.
    #[test]
    fn spreads_without_a_square_are_none() {
        let of = |unit: [f64; 2], s| Scaling::learn(&view(unit), Centring::Feature, s).constant;
        let none = [0_usize; 0];
        assert_eq!(of([1e-160; 2], FeatureScaling::None), [0, 1]);
        assert_eq!(of([1.0, 1e-160], FeatureScaling::View), [1]);
        assert_eq!(of([1.0, 1e-160], FeatureScaling::Feature), none);
        assert_eq!(of([1e-300; 2], FeatureScaling::Feature), [0, 1]);
        assert_eq!(of([0.0, 1.0], FeatureScaling::Feature), [0]);
    }

    /// Blocks of samples and sparse entries give the same map.
    #[test]
    fn sums_over_blocks_are_sums_over_all() {
        for unit in [1.0, 1e-160] {
            let v = view([unit; 2]);
            let mut sums = ScalingSums::new(2);
            for rows in [0_u32..4, 4..9] {
                let rows: Vec<u32> = rows.collect();
                sums.add(&v.subset("x", &rows)).expect("two features");
            }
            for scaling in [FeatureScaling::View, FeatureScaling::Feature] {
                let (a, b) = (
                    sums.finish(Centring::Feature, scaling),
                    Scaling::learn(&v, Centring::Feature, scaling),
                );
                for d in 0..2 {
                    close(a.scale[d], b.scale[d]);
                }
            }
        }
    }
}
