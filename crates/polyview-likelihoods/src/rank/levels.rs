//! What is left of the data: the order of each feature's values.

use polyview_core::View;
use rayon::prelude::*;

/// A missing cell.
pub(super) const MISSING: u32 = u32::MAX;

/// Dense ranks, feature after feature: equal values share a level, levels run
/// from 0 without gaps. A strictly monotone transform of a feature leaves them
/// as they are, bit for bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Levels {
    samples: usize,
    of: Vec<u32>,
    /// Number of levels of each feature.
    counts: Vec<u32>,
}

impl Levels {
    pub(super) fn new(view: &View) -> Self {
        let (samples, features) = (view.n_samples(), view.n_features());
        let mut of = vec![MISSING; samples * features];
        let mut counts = vec![0; features];
        of.par_chunks_mut(samples.max(1))
            .zip(counts.par_iter_mut())
            .enumerate()
            .for_each(|(d, (levels, count))| {
                let mut order: Vec<u32> = (0..samples as u32)
                    .filter(|&n| view.is_observed(n as usize, d))
                    .collect();
                let values = view.values().col(d);
                order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
                let mut last: Option<f64> = None;
                for n in order {
                    let x = values[n as usize];
                    // the two zeros are one value
                    if last.is_some_and(|l| l < x) {
                        *count += 1;
                    }
                    last = Some(x);
                    levels[n as usize] = *count;
                }
                *count += u32::from(last.is_some());
            });
        Self {
            samples,
            of,
            counts,
        }
    }
    pub(super) fn samples(&self) -> usize {
        self.samples
    }
    pub(super) fn features(&self) -> usize {
        self.counts.len()
    }
    /// Number of distinct observed values of a feature.
    pub(super) fn count(&self, feature: usize) -> usize {
        self.counts[feature] as usize
    }
    /// Whether a feature has not two different values; none without samples.
    pub(super) fn is_idle(&self, feature: usize) -> bool {
        self.samples > 0 && self.count(feature) < 2
    }
    pub(super) fn is_observed(&self, sample: usize, feature: usize) -> bool {
        self.of(feature)[sample] != MISSING
    }
    /// The levels of other values in the same cells.
    pub(super) fn reordered(&self, value: impl Fn(usize, usize) -> f64) -> Self {
        let mut out = self.clone();
        for i in 0..self.features() {
            let mut order: Vec<(f64, usize)> = (0..self.samples)
                .filter(|&n| self.is_observed(n, i))
                .map(|n| (value(n, i), n))
                .collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut last: Option<f64> = None;
            let mut level = 0;
            for (x, n) in order {
                level += u32::from(last.is_some_and(|l| l < x));
                last = Some(x);
                out.of[i * self.samples + n] = level;
            }
            out.counts[i] = level + u32::from(last.is_some());
        }
        out
    }
    /// Levels of all samples.
    pub(super) fn of(&self, feature: usize) -> &[u32] {
        &self.of[feature * self.samples..(feature + 1) * self.samples]
    }
    /// Observed samples by level, ties in the order of the samples.
    pub(super) fn order(&self, feature: usize) -> Vec<u32> {
        let levels = self.of(feature);
        let mut order: Vec<u32> = (0..self.samples as u32)
            .filter(|&n| levels[n as usize] != MISSING)
            .collect();
        order.sort_by_key(|&n| levels[n as usize]);
        order
    }
    /// Number of pairs of samples whose values differ.
    pub(super) fn distinct_pairs(&self, feature: usize) -> f64 {
        let mut sizes = vec![0.0; self.count(feature)];
        let mut all = 0.0;
        for &level in self.of(feature).iter().filter(|l| **l != MISSING) {
            sizes[level as usize] += 1.0;
            all += 1.0;
        }
        0.5 * (all * all - sizes.iter().map(|s| s * s).sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;

    #[test]
    fn ties_share_a_level_and_both_zeros_are_one_value() {
        let x = [2.0, -0.0, f64::NAN, 2.0, 0.0, -1.5];
        let view = View::from_values("v", vec!["a".into()], Mat::from_fn(6, 1, |n, _| x[n]))
            .expect("a view");
        let levels = Levels::new(&view);
        assert_eq!(levels.of(0), [2, 1, MISSING, 2, 1, 0]);
        assert_eq!(levels.count(0), 3);
        assert_eq!(levels.order(0), [5, 1, 4, 0, 3]);
        assert!((levels.distinct_pairs(0) - 8.0).abs() < 1e-12);
    }
}
