//! The pairs of samples that a view compares, as flat lists.

use std::ops::Range;

/// Terms $t = (i, l, h)$ with $x\_{il} < x\_{ih}$, feature after feature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// First term of each feature, and one past the last.
    pub(super) start: Vec<usize>,
    /// The sample of the smaller value.
    pub(super) low: Vec<u32>,
    /// The sample of the larger value.
    pub(super) high: Vec<u32>,
}

impl Pairs {
    /// One list a feature, put one after the other.
    pub(super) fn new(lists: Vec<Vec<(u32, u32)>>) -> Self {
        let all = lists.iter().map(Vec::len).sum();
        let mut out = Self {
            start: Vec::with_capacity(lists.len() + 1),
            low: Vec::with_capacity(all),
            high: Vec::with_capacity(all),
        };
        out.start.push(0);
        for list in lists {
            for (low, high) in list {
                out.low.push(low);
                out.high.push(high);
            }
            out.start.push(out.low.len());
        }
        out
    }
    pub(super) fn len(&self) -> usize {
        self.low.len()
    }
    pub(super) fn features(&self) -> usize {
        self.start.len().saturating_sub(1)
    }
    /// Terms of a feature.
    pub(super) fn of(&self, feature: usize) -> Range<usize> {
        self.start[feature]..self.start[feature + 1]
    }
    /// Terms of some features.
    pub(super) fn of_all(&self, features: &Range<usize>) -> Range<usize> {
        self.start[features.start]..self.start[features.end]
    }
}

/// Most samples that a view can compare.
pub(super) const MOST_SAMPLES: usize = u32::MAX as usize;

/// The same terms by sample: each appears twice, once at either end.
#[derive(Clone, Debug, Default)]
pub(super) struct BySample {
    features: usize,
    start: Vec<usize>,
    /// One past the last end of each feature, counted from the sample's first.
    ends: Vec<u32>,
    /// The sample at the other end.
    other: Vec<u32>,
    /// Whether this sample is the higher one.
    high: Vec<bool>,
    /// Expected precision of each term.
    kappa: Vec<f64>,
    filled: bool,
}

/// The ends of one sample, feature by feature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'a> {
    /// One past the last of each feature.
    pub(super) until: &'a [u32],
    /// The samples at the other ends.
    pub(super) other: &'a [u32],
    /// Whether this sample is the higher one.
    pub(super) high: &'a [bool],
    pub(super) kappa: &'a [f64],
}

impl Ends<'_> {
    /// First place of a feature.
    pub(super) fn begin(&self, feature: usize) -> usize {
        feature.checked_sub(1).map_or(0, |f| self.until[f] as usize)
    }
    /// Places of a feature.
    pub(super) fn of(&self, feature: usize) -> Range<usize> {
        self.begin(feature)..self.until[feature] as usize
    }
}

impl BySample {
    pub(super) fn new(pairs: &Pairs, samples: usize) -> Self {
        let features = pairs.features();
        let mut start = vec![0; samples + 1];
        for n in pairs.low.iter().chain(&pairs.high) {
            start[*n as usize + 1] += 1;
        }
        for n in 0..samples {
            start[n + 1] += start[n];
        }
        let mut next = start.clone();
        let (mut other, mut high) = (vec![0; 2 * pairs.len()], vec![false; 2 * pairs.len()]);
        let mut ends = vec![0; samples * features];
        for i in 0..features {
            for t in pairs.of(i) {
                let (l, h) = (pairs.low[t], pairs.high[t]);
                for (own, mate, is_high) in [(l, h, false), (h, l, true)] {
                    let at = &mut next[own as usize];
                    other[*at] = mate;
                    high[*at] = is_high;
                    *at += 1;
                }
            }
            for n in 0..samples {
                ends[n * features + i] = (next[n] - start[n]) as u32;
            }
        }
        Self {
            features,
            start,
            ends,
            other,
            high,
            kappa: vec![0.0; 2 * pairs.len()],
            filled: false,
        }
    }
    /// Says that precisions have changed.
    pub(super) fn forget(&mut self) {
        self.filled = false;
    }
    /// Copies the precisions of the terms, where they have changed.
    pub(super) fn fill(&mut self, pairs: &Pairs, kappa: &[f64]) {
        if self.filled {
            return;
        }
        let mut next = self.start.clone();
        for ((l, h), k) in pairs.low.iter().zip(&pairs.high).zip(kappa) {
            for n in [l, h] {
                let at = &mut next[*n as usize];
                self.kappa[*at] = *k;
                *at += 1;
            }
        }
        self.filled = true;
    }
    /// The ends of a sample.
    pub(super) fn of(&self, sample: usize) -> Ends<'_> {
        let all = self.start[sample]..self.start[sample + 1];
        Ends {
            until: &self.ends[sample * self.features..(sample + 1) * self.features],
            other: &self.other[all.clone()],
            high: &self.high[all.clone()],
            kappa: &self.kappa[all],
        }
    }
}
