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

/// Marks the end of a pair that is the higher one.
const HIGH: u32 = 1 << 31;
/// Most samples that a view can compare.
pub(super) const MOST_SAMPLES: usize = HIGH as usize;

/// The same terms by sample: each appears twice, once at either end.
#[derive(Clone, Debug, Default)]
pub(super) struct BySample {
    start: Vec<usize>,
    feature: Vec<u32>,
    other: Vec<u32>,
    /// Expected precision of each term.
    kappa: Vec<f64>,
    filled: bool,
}

/// One end of a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) feature: u32,
    /// The sample at the other end.
    pub(super) other: u32,
    /// +1 where this sample is to be the lower one, −1 where the higher.
    pub(super) sign: f64,
    pub(super) kappa: f64,
}

impl BySample {
    pub(super) fn new(pairs: &Pairs, samples: usize) -> Self {
        let mut start = vec![0; samples + 1];
        for n in pairs.low.iter().chain(&pairs.high) {
            start[*n as usize + 1] += 1;
        }
        for n in 0..samples {
            start[n + 1] += start[n];
        }
        let mut next = start.clone();
        let (mut feature, mut other) = (vec![0; 2 * pairs.len()], vec![0; 2 * pairs.len()]);
        for i in 0..pairs.features() {
            for t in pairs.of(i) {
                let (l, h) = (pairs.low[t], pairs.high[t]);
                for (own, mark) in [(l, h), (h, l | HIGH)] {
                    let at = &mut next[own as usize];
                    feature[*at] = i as u32;
                    other[*at] = mark;
                    *at += 1;
                }
            }
        }
        Self {
            start,
            feature,
            other,
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
    /// Places of the ends of a sample, in the order of the features.
    pub(super) fn of(&self, sample: usize) -> Range<usize> {
        self.start[sample]..self.start[sample + 1]
    }
    /// The places among those of a sample that belong to some features.
    pub(super) fn within(&self, sample: usize, features: &Range<usize>) -> Range<usize> {
        let all = self.of(sample);
        let list = &self.feature[all.clone()];
        let from = list.partition_point(|f| (*f as usize) < features.start);
        let to = list.partition_point(|f| (*f as usize) < features.end);
        all.start + from..all.start + to
    }
    /// One end.
    #[inline]
    pub(super) fn end(&self, at: usize) -> End {
        let mark = self.other[at];
        End {
            feature: self.feature[at],
            other: mark & !HIGH,
            sign: if mark & HIGH == 0 { 1.0 } else { -1.0 },
            kappa: self.kappa[at],
        }
    }
}
