//! What new values are held against.

use std::borrow::Cow;

use polyview_core::View;

use crate::fit::{Compared, GroupScales, TrainingScale, ViewInfo, cells};

/// Standard deviations of counts on the scale of $\ln(1 + x)$ are taken to be at
/// least this, about that of a Poisson count of 1 to 4: features that were all but
/// constant are no measure.
const LEAST_LOG_SD: f64 = 0.5;

/// A single count is far off if its logarithm is this many standard deviations from the training
/// mean **and** it is more than [`LOG_CELL_TIMES`] times as large, or as small, as that says: on a
/// scale of logarithms no count is hundreds of standard deviations away.
const LOG_CELL: f64 = 10.0;

/// How many times as large as in training a single count that is far off is at least.
const LOG_CELL_TIMES: f64 = 1000.0;

/// The training values of a view, and the groups of new samples where the model looks at
/// groups: their values are held against those of their own group, or, where nobody knows it,
/// of the one that they are nearest to.
pub(in crate::verbs) struct Training<'a> {
    pub(super) name: &'a str,
    pub(super) features: &'a [String],
    scale: &'a TrainingScale,
    pub(super) compared: Compared,
    groups: Option<(&'a GroupScales, Cow<'a, [Option<u32>]>)>,
}

impl<'a> Training<'a> {
    /// Of new samples of these groups; `None` where the model keeps no scale of the view.
    pub(in crate::verbs) fn of(
        info: &'a ViewInfo,
        groups: Option<&'a [Option<u32>]>,
    ) -> Option<Self> {
        let scale = info.training.as_ref()?;
        Some(Self {
            name: &info.name,
            features: &info.features,
            scale,
            compared: Compared::of(&info.choices.likelihood)?,
            groups: scale.groups.as_ref().zip(groups.map(Cow::Borrowed)),
        })
    }
    /// Of real numbers, the values of which were so.
    pub(super) fn of_numbers(scale: &'a TrainingScale, view: &'a View) -> Self {
        Self {
            name: view.name(),
            features: view.features(),
            scale,
            compared: Compared::Plain,
            groups: None,
        }
    }
    /// Of some of the new samples.
    pub(super) fn subset(&self, samples: &[u32]) -> Self {
        let some = |all: &[Option<u32>]| samples.iter().map(|&n| all[n as usize]).collect();
        Self {
            groups: (self.groups.as_ref()).map(|(scales, all)| (*scales, Cow::Owned(some(all)))),
            ..*self
        }
    }
    /// Mean and standard deviation of a feature, as values are compared; `None` where it did
    /// not vary.
    pub(super) fn moments(&self, feature: usize) -> Option<(f64, f64)> {
        let mean = *self.scale.mean.get(feature)?;
        let sd = *self.scale.sd.get(feature)?;
        if sd == 0.0 || self.scale.is_rounding(feature) {
            return None;
        }
        let within = self.groups.as_ref().map_or(sd, |g| g.0.sd[feature]);
        let least = match self.compared {
            Compared::Plain => 0.0,
            Compared::Log | Compared::Ratio => LEAST_LOG_SD,
        };
        Some((mean, within.max(least)))
    }
    /// Standard deviations beyond which a single value is far off.
    pub(super) fn cell_limit(&self) -> f64 {
        match self.compared {
            Compared::Plain => super::FAR.1,
            Compared::Log | Compared::Ratio => LOG_CELL,
        }
    }
    /// Whether a single value so many standard deviations `sd` from the training mean is far off.
    pub(super) fn is_cell_far(&self, distance: f64, sd: f64) -> bool {
        let times = match self.compared {
            Compared::Plain => 0.0,
            Compared::Log | Compared::Ratio => LOG_CELL_TIMES.ln(),
        };
        distance > self.cell_limit() && distance * sd > times
    }
    /// The smallest training value, data units, where it is known.
    pub(super) fn least(&self, feature: usize) -> Option<f64> {
        self.scale.least.as_ref().map(|all| all[feature])
    }
    /// A value of a sample as it is compared, from the level of its group taken to that of all.
    fn levelled(&self, sample: usize, feature: usize, x: f64) -> f64 {
        let x = self.compared.forward(x);
        let Some((scales, groups)) = &self.groups else {
            return x;
        };
        let to_all = |means: &Vec<f64>| x - means[feature] + self.scale.mean[feature];
        if let Some(g) = groups[sample] {
            return to_all(&scales.means[g as usize]);
        }
        let off = |x: &f64| (x - self.scale.mean[feature]).abs();
        let each = scales.means.iter().map(to_all);
        each.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(x)
    }
    /// How far a value lies from the training mean, training standard deviations.
    pub(super) fn off(&self, sample: usize, feature: usize, x: f64) -> f64 {
        match self.moments(feature) {
            Some((mean, sd)) => (self.levelled(sample, feature, x) - mean).abs() / sd,
            None => 0.0,
        }
    }
    /// Observed values of a feature in data units and as they are compared, each with the number
    /// of cells that have it.
    pub(super) fn values(&self, view: &View, feature: usize) -> Vec<(f64, f64, f64)> {
        if self.groups.is_none() {
            let all = cells(view, feature).into_iter();
            return all
                .map(|(x, count)| (x, self.compared.forward(x), count))
                .collect();
        }
        let cell = |n: usize| {
            let x = view.value(n, feature)?;
            Some((x, self.levelled(n, feature, x), 1.0))
        };
        (0..view.n_samples()).filter_map(cell).collect()
    }
    /// What values are told to be far from.
    pub(super) fn what_of(&self) -> &'static str {
        if self.groups.is_some() {
            "the training mean of the sample's group"
        } else {
            "the training mean"
        }
    }
}
