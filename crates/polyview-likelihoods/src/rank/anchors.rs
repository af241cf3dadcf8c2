//! Training values that new ones are compared with.

use polyview_core::{NumericError, State, StateReader, View};

use super::levels::Levels;
use super::pairs::Pairs;

/// For each feature a grid of training samples through the order of its values;
/// each stands for its stratum. With no more observed samples than asked for
/// they are all there. The smallest and the largest value are strata of their own,
/// so that what is said of the tails of a feature ends where its values do.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Anchors {
    /// First anchor of each feature, and one past the last.
    pub(super) start: Vec<usize>,
    /// Training value, ascending within a feature.
    pub(super) values: Vec<f64>,
    /// Training sample.
    pub(super) samples: Vec<u32>,
    /// Number of training samples that it stands for.
    pub(super) counts: Vec<f64>,
    /// Terms a pair of different values in training.
    pub(super) rates: Vec<f64>,
}

/// Bounds of the strata of `all` ordered values, `most` of them.
fn strata(all: usize, most: usize) -> Vec<(usize, usize)> {
    let even = |from: usize, to: usize, count: usize| {
        let at = move |q: usize| from + q * (to - from) / count.max(1);
        (0..count).map(move |q| (at(q), at(q + 1)))
    };
    if all <= most || most < 4 {
        return even(0, all, all.min(most)).collect();
    }
    let ends = ((0, 1), (all - 1, all));
    std::iter::once(ends.0)
        .chain(even(1, all - 1, most - 2))
        .chain(std::iter::once(ends.1))
        .collect()
}

impl Anchors {
    /// The anchors of a view, `most` a feature.
    pub(super) fn new(view: &View, levels: &Levels, most: usize) -> Self {
        let mut out = Self {
            start: vec![0],
            ..Self::default()
        };
        for i in 0..levels.features() {
            let order = levels.order(i);
            let all = order.len();
            for (from, to) in strata(all, most) {
                let n = order[from + (to - from) / 2];
                out.samples.push(n);
                out.values.push(view.values()[(n as usize, i)]);
                out.counts.push((to - from) as f64);
            }
            out.start.push(out.samples.len());
            out.rates.push(0.0);
        }
        out
    }
    /// Each pair of different values as often as these pairs have it.
    pub(super) fn with_rates(mut self, levels: &Levels, pairs: &Pairs) -> Self {
        for (i, rate) in self.rates.iter_mut().enumerate() {
            let possible = levels.distinct_pairs(i);
            let terms = pairs.of(i).len() as f64;
            *rate = if possible > 0.0 {
                terms / possible
            } else {
                0.0
            };
        }
        self
    }
    pub(super) fn features(&self) -> usize {
        self.rates.len()
    }
    pub(super) fn of(&self, feature: usize) -> std::ops::Range<usize> {
        self.start[feature]..self.start[feature + 1]
    }
    /// Number of observed cells of a feature.
    pub(super) fn observed(&self, feature: usize) -> f64 {
        self.counts[self.of(feature)].iter().sum()
    }
    /// Ends of the runs of equal values of a feature, as places in the lists.
    pub(super) fn runs(&self, feature: usize) -> Vec<std::ops::Range<usize>> {
        let of = self.of(feature);
        let mut out = Vec::new();
        let mut from = of.start;
        for at in of.clone() {
            if at + 1 == of.end || self.values[at + 1] > self.values[at] {
                out.push(from..at + 1);
                from = at + 1;
            }
        }
        out
    }
    pub(super) fn save(&self, prefix: &str, state: &mut State) {
        let start: Vec<f64> = self.start.iter().map(|&s| s as f64).collect();
        let samples: Vec<f64> = self.samples.iter().map(|&n| f64::from(n)).collect();
        state.shared(|state| {
            state.put_vec(&format!("{prefix}/anchors/start"), &start);
            state.put_vec(&format!("{prefix}/anchors/values"), &self.values);
            state.put_vec(&format!("{prefix}/anchors/samples"), &samples);
            state.put_vec(&format!("{prefix}/anchors/counts"), &self.counts);
            state.put_vec(&format!("{prefix}/anchors/rates"), &self.rates);
        });
    }
    pub(super) fn load(
        prefix: &str,
        state: &StateReader<'_>,
        features: usize,
    ) -> Result<Self, NumericError> {
        let bad = |what: &str| NumericError::BadState {
            name: format!("{prefix}/anchors/{what}"),
        };
        let vec = |what: &str, len: usize| state.vec_of(&format!("{prefix}/anchors/{what}"), len);
        let whole = |x: f64, most: f64| x >= 0.0 && x <= most && x.fract() == 0.0;
        let start = vec("start", features + 1)?;
        let values = state.vec(&format!("{prefix}/anchors/values"))?;
        let all = values.len();
        let ordered = start.windows(2).all(|w| w[0] <= w[1]);
        if !ordered
            || start[0] != 0.0
            || start[features] != all as f64
            || !start.iter().all(|&s| whole(s, all as f64))
        {
            return Err(bad("start"));
        }
        let out = Self {
            start: start.into_iter().map(|s| s as usize).collect(),
            values,
            samples: vec("samples", all)?
                .into_iter()
                .map(|n| whole(n, f64::from(u32::MAX)).then_some(n as u32))
                .collect::<Option<_>>()
                .ok_or_else(|| bad("samples"))?,
            counts: vec("counts", all)?,
            rates: vec("rates", features)?,
        };
        let sorted = |i: usize| {
            let v = &out.values[out.of(i)];
            v.iter().all(|x| x.is_finite()) && v.windows(2).all(|w| w[0] <= w[1])
        };
        if !(0..features).all(sorted) {
            return Err(bad("values"));
        }
        if !out.counts.iter().all(|c| *c > 0.0 && c.is_finite()) {
            return Err(bad("counts"));
        }
        if !out.rates.iter().all(|r| *r >= 0.0 && r.is_finite()) {
            return Err(bad("rates"));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_are_a_partition_whose_ends_are_single_values() {
        for (all, most) in [
            (0, 5),
            (3, 5),
            (5, 5),
            (6, 5),
            (100, 64),
            (1000, 64),
            (9, 2),
        ] {
            let found = strata(all, most);
            assert_eq!(found.len(), all.min(most));
            let mut at = 0;
            for &(from, to) in &found {
                assert!(from == at && to > from, "{all} {most}");
                at = to;
            }
            assert_eq!(at, all);
            if most >= 4 && all > 0 {
                assert_eq!((found[0].1, found[found.len() - 1].0), (1, all - 1));
            }
        }
    }
}
