//! Where the values of the training data lay, feature by feature: what new data
//! are held against.

use polyview_core::{Centring, FeatureScaling, Groups, Scaling, View};
use serde::{Deserialize, Serialize};

use super::ViewInfo;
use crate::spec::Likelihood;

/// Mean and standard deviation of the training values of each feature of a view
/// over its observed cells: of real numbers, ranks and similarities in data units, of counts
/// x those of $\ln(1 + x)$.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingScale {
    /// Means, one per feature; 0 for features that were never observed.
    pub mean: Vec<f64>,
    /// Standard deviations, one per feature; 0 where fewer than two different
    /// values were observed.
    pub sd: Vec<f64>,
    /// Smallest values, one per feature, in data units; 0 for features that were never
    /// observed. None of earlier files, which did not keep them.
    pub least: Option<Vec<f64>>,
    /// Where the values of each group of samples lay, of a model that looks at groups; none of
    /// earlier files.
    pub groups: Option<GroupScales>,
}

/// Levels and spread of the training values of each feature within groups of samples, as those
/// of [`TrainingScale`] are over all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupScales {
    /// Means, for each group one per feature; that of all groups where a group has no value.
    pub means: Vec<Vec<f64>>,
    /// Standard deviations about the means of the groups, one per feature, of all groups
    /// together; that about the mean of all where no group has two values or all values of
    /// each group are one.
    pub sd: Vec<f64>,
}

/// What a value is compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The value itself.
    Plain,
    /// $\ln(1 + x)$.
    Log,
    /// $\ln x$, of numbers above 0.
    Ratio,
}

impl Compared {
    /// How the values of a view are compared; `None` for labels and for successes,
    /// which have a scale of their own.
    pub(crate) fn of(likelihood: &Likelihood) -> Option<Self> {
        match likelihood {
            l if l.has_trials() => None,
            l if l.is_count() => Some(Self::Log),
            l if l.is_positive() => Some(Self::Ratio),
            l if l.is_real() || l.is_rank() || l.is_similarity() => Some(Self::Plain),
            _ => None,
        }
    }
    /// From data units.
    pub(crate) fn forward(self, x: f64) -> f64 {
        match self {
            Self::Plain => x,
            Self::Log => x.ln_1p(),
            Self::Ratio => x.ln(),
        }
    }
    /// To data units.
    pub(crate) fn backward(self, x: f64) -> f64 {
        match self {
            Self::Plain => x,
            Self::Log => x.exp_m1(),
            Self::Ratio => x.exp(),
        }
    }
}

/// Observed values of a feature, each with the number of cells that have it: of
/// what is stored sparse the cells without an entry are one value.
pub(crate) fn cells(view: &View, feature: usize) -> Vec<(f64, f64)> {
    let observed = view.mask().count_feature(feature, view.n_samples());
    if let Some(x) = view.sparse() {
        let (_, entries) = x.entries().column(feature);
        let base = x.base()[feature];
        let rest = observed.saturating_sub(entries.len());
        let rest = (rest > 0).then_some((base, rest as f64));
        let entries = entries.iter().map(|x| (x + base, 1.0));
        return entries.chain(rest).collect();
    }
    let column = view.values().col(feature);
    let cell = |(n, x): (usize, &f64)| view.is_observed(n, feature).then_some((*x, 1.0));
    column.iter().enumerate().filter_map(cell).collect()
}

/// Number, mean and standard deviation of values. Deviations are divided by the
/// largest before they are squared, so that nothing underflows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
}

impl Moments {
    /// Of values with their numbers.
    pub(crate) fn of(values: &[(f64, f64)]) -> Self {
        let Some(&(first, _)) = values.first() else {
            return Self::default();
        };
        let count: f64 = values.iter().map(|v| v.1).sum();
        let about: f64 = values.iter().map(|(x, w)| w * (x - first)).sum();
        let mean = first + about / count;
        let largest = (values.iter()).fold(0.0_f64, |m, (x, _)| m.max((x - mean).abs()));
        let mut sd = 0.0;
        if largest > 0.0 {
            let square = |(x, w): &(f64, f64)| w * ((x - mean) / largest).powi(2);
            sd = largest * (values.iter().map(square).sum::<f64>() / count).sqrt();
        }
        Self { count, mean, sd }
    }
    /// Of these and others together.
    fn with(self, other: Self) -> Self {
        let count = self.count + other.count;
        if self.count == 0.0 || other.count == 0.0 {
            return if self.count == 0.0 { other } else { self };
        }
        let apart = other.mean - self.mean;
        let (a, b) = (self.count / count, other.count / count);
        let largest = self.sd.max(other.sd).max(apart.abs());
        let mut sd = 0.0;
        if largest > 0.0 {
            let square = |x: f64| (x / largest).powi(2);
            let sum = a * square(self.sd) + b * square(other.sd) + a * b * square(apart);
            sd = largest * sum.sqrt();
        }
        let mean = self.mean + b * apart;
        Self { count, mean, sd }
    }
}

impl GroupScales {
    /// Of a view whose values of each feature have these moments over all samples; `restore`
    /// gives a value in data units.
    fn of(
        (compared, all): (Compared, &[Moments]),
        view: &View,
        groups: &Groups,
        restore: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let count = groups.names.len();
        let mut out = Self {
            means: vec![vec![0.0; all.len()]; count],
            sd: vec![0.0; all.len()],
        };
        for (d, all) in all.iter().enumerate() {
            let mut values: Vec<Vec<(f64, f64)>> = vec![Vec::new(); count];
            for (n, &g) in groups.of_sample.iter().enumerate() {
                if let Some(x) = view.value(n, d) {
                    values[g as usize].push((compared.forward(restore(d, x)), 1.0));
                }
            }
            let own: Vec<Moments> = values.iter().map(|v| Moments::of(v)).collect();
            for (means, own) in out.means.iter_mut().zip(&own) {
                means[d] = if own.count > 0.0 { own.mean } else { all.mean };
            }
            let largest = own.iter().fold(0.0_f64, |m, g| m.max(g.sd));
            let free: f64 = own.iter().map(|g| (g.count - 1.0).max(0.0)).sum();
            out.sd[d] = if largest > ROUNDING * all.mean.abs() && free > 0.0 {
                let square = |g: &Moments| g.count * (g.sd / largest).powi(2);
                let within = largest * (own.iter().map(square).sum::<f64>() / free).sqrt();
                within.min(all.sd)
            } else {
                all.sd
            };
        }
        out
    }
}

/// A [`TrainingScale`] in the making, over blocks of samples in any number.
pub(crate) struct ScaleSums {
    compared: Compared,
    features: Vec<Moments>,
    least: Vec<f64>,
}

impl ScaleSums {
    /// Of no sample yet; `None` where the data have a scale of their own.
    pub(crate) fn new(likelihood: &Likelihood, features: usize) -> Option<Self> {
        Some(Self {
            compared: Compared::of(likelihood)?,
            features: vec![Moments::default(); features],
            least: vec![f64::INFINITY; features],
        })
    }
    /// Adds the observed cells of some samples; `restore` gives the value of a
    /// feature in data units.
    pub(crate) fn add(&mut self, view: &View, restore: impl Fn(usize, f64) -> f64) {
        for (d, sums) in self.features.iter_mut().enumerate() {
            let mut values = cells(view, d);
            for (x, _) in &mut values {
                let own = restore(d, *x);
                self.least[d] = self.least[d].min(own);
                *x = self.compared.forward(own);
            }
            *sums = sums.with(Moments::of(&values));
        }
    }
    /// What came out.
    pub(crate) fn finish(self) -> TrainingScale {
        TrainingScale {
            mean: self.features.iter().map(|m| m.mean).collect(),
            sd: self.features.iter().map(|m| m.sd).collect(),
            least: Some(
                self.least
                    .iter()
                    .map(|x| if x.is_finite() { *x } else { 0.0 })
                    .collect(),
            ),
            groups: None,
        }
    }
    /// As [`ScaleSums::finish`], with what the groups of the samples of `view`, all of those
    /// that were added, are like.
    fn finish_with(
        self,
        view: &View,
        groups: Option<&Groups>,
        restore: impl Fn(usize, f64) -> f64,
    ) -> TrainingScale {
        let all = (self.compared, &self.features[..]);
        let groups = groups.map(|groups| GroupScales::of(all, view, groups, restore));
        TrainingScale {
            groups,
            ..self.finish()
        }
    }
}

/// Share of its mean below which a feature's standard deviation is that of rounding.
const ROUNDING: f64 = 1e-14;

impl TrainingScale {
    /// Whether a feature varies, but by no more than the rounding of its values.
    pub(crate) fn is_rounding(&self, feature: usize) -> bool {
        let (mean, sd) = (self.mean[feature], self.sd[feature]);
        sd > 0.0 && sd <= ROUNDING * mean.abs()
    }
    /// That of a view in data units, with groups of its samples where the model looks at them.
    pub(crate) fn of(
        likelihood: &Likelihood,
        view: &View,
        groups: Option<&Groups>,
    ) -> Option<Self> {
        let mut sums = ScaleSums::new(likelihood, view.n_features())?;
        sums.add(view, |_, x| x);
        Some(sums.finish_with(view, groups, |_, x| x))
    }
    /// That of a view that was centred and scaled feature by feature, which says it
    /// all.
    pub(crate) fn of_scaling(info: &ViewInfo) -> Option<Self> {
        let choices = &info.choices;
        let says = choices.likelihood.is_real()
            && choices.centring == Centring::Feature
            && choices.scaling == FeatureScaling::Feature;
        says.then(|| {
            let Scaling {
                offset,
                scale,
                constant,
                ..
            } = &info.scaling;
            let mut sd = scale.clone();
            for &d in constant {
                sd[d] = 0.0;
            }
            Self {
                mean: offset.clone(),
                sd,
                least: None,
                groups: None,
            }
        })
    }
    /// That of a view in working units, with groups of its samples where the model looks at them.
    pub(crate) fn of_working(
        likelihood: &Likelihood,
        view: &View,
        scaling: &Scaling,
        groups: Option<&Groups>,
    ) -> Option<Self> {
        let mut sums = ScaleSums::new(likelihood, view.n_features())?;
        let restore = |d: usize, x: f64| scaling.backward(d, x);
        sums.add(view, restore);
        Some(sums.finish_with(view, groups, restore))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_nothing_underflows() {
        for unit in [1.0, 1e-300, 1e60] {
            let all: Vec<(f64, f64)> = (0..20)
                .map(|n| (unit * ((n * n % 7) as f64 + 3.0), f64::from(1 + n % 3)))
                .collect();
            let whole = Moments::of(&all);
            let n: f64 = all.iter().map(|v| v.1).sum();
            let mean = all.iter().map(|(x, w)| w * x / unit).sum::<f64>() / n;
            let squares = |(x, w): &(f64, f64)| w * (x / unit - mean).powi(2);
            let sd = (all.iter().map(squares).sum::<f64>() / n).sqrt();
            assert!((whole.mean / unit - mean).abs() < 1e-12);
            assert!((whole.sd / unit - sd).abs() < 1e-12, "{unit}");
            let (a, b) = all.split_at(7);
            let both = Moments::of(a).with(Moments::of(b));
            assert_eq!(both.count, n);
            assert!((both.mean / unit - mean).abs() < 1e-12);
            assert!((both.sd / unit - sd).abs() < 1e-12);
            assert_eq!(Moments::default().with(whole), whole);
            assert_eq!(whole.with(Moments::default()), whole);
        }
    }
}
