//! Which pairs are compared (spec/maxmargin-rank 3).

use polyview_random::{ChaCha8Rng, Rng, StreamKey, uniform_open01};
use rayon::prelude::*;

use super::levels::{Levels, MISSING};
use super::options::PairPolicy;
use super::pairs::Pairs;

/// A number below `count`.
fn below(count: usize, rng: &mut (impl Rng + ?Sized)) -> usize {
    ((uniform_open01(rng) * count as f64) as usize).min(count - 1)
}

/// The pairs of a policy; those of [`PairPolicy::Extreme`] before there are
/// predictors, all of them zero. One stream of random numbers a feature, so
/// that they depend on its place alone and not on its values.
pub(super) fn make(policy: PairPolicy, partners: usize, levels: &Levels, key: StreamKey) -> Pairs {
    let zeros = vec![0.0; levels.samples()];
    let lists = (0..levels.features())
        .into_par_iter()
        .map(|i| {
            if levels.count(i) < 2 {
                return Vec::new();
            }
            let mut rng = key.chunk(i as u32).rng();
            match policy {
                PairPolicy::Random => random(levels.of(i), partners, &mut rng),
                PairPolicy::Adjacent => adjacent(levels, i, &mut rng),
                PairPolicy::Extreme => extreme(levels, i, &zeros),
                PairPolicy::All => all(levels.of(i)),
            }
        })
        .collect();
    Pairs::new(lists)
}

/// P partners of each observed sample among the others; equal values give no
/// term.
fn random(levels: &[u32], partners: usize, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
    let observed: Vec<u32> = (0..levels.len() as u32)
        .filter(|&n| levels[n as usize] != MISSING)
        .collect();
    let mut out = Vec::with_capacity(partners * observed.len());
    for (at, &n) in observed.iter().enumerate() {
        for _ in 0..partners {
            let mut place = below(observed.len() - 1, rng);
            place += usize::from(place >= at);
            let o = observed[place];
            let (a, b) = (levels[n as usize], levels[o as usize]);
            if a < b {
                out.push((n, o));
            } else if b < a {
                out.push((o, n));
            }
        }
    }
    out
}

/// Neighbours in the order of the values, each pair once (E5). Of tied samples
/// each has one partner among those of the next value; the smaller of two
/// levels goes round, in a random order.
fn adjacent(levels: &Levels, feature: usize, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
    let of = levels.of(feature);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); levels.count(feature)];
    for n in levels.order(feature) {
        members[of[n as usize] as usize].push(n);
    }
    for level in &mut members {
        for i in (1..level.len()).rev() {
            level.swap(i, below(i + 1, rng));
        }
    }
    let mut out = Vec::new();
    for pair in members.windows(2) {
        let (low, high) = (&pair[0], &pair[1]);
        for i in 0..low.len().max(high.len()) {
            out.push((low[i % low.len()], high[i % high.len()]));
        }
    }
    out
}

/// For each sample the largest predictor among smaller values and the smallest
/// among larger ones; of equal predictors the first sample's.
pub(super) fn extreme(levels: &Levels, feature: usize, predictor: &[f64]) -> Vec<(u32, u32)> {
    let of = levels.of(feature);
    let order = levels.order(feature);
    let count = levels.count(feature);
    // best of each level, then of all below and above it
    let mut highest: Vec<Option<u32>> = vec![None; count];
    let mut lowest = highest.clone();
    let w = |n: u32| predictor[n as usize];
    for &n in &order {
        let level = of[n as usize] as usize;
        let top = &mut highest[level];
        if top.is_none_or(|t| w(n) > w(t)) {
            *top = Some(n);
        }
        let bottom = &mut lowest[level];
        if bottom.is_none_or(|b| w(n) < w(b)) {
            *bottom = Some(n);
        }
    }
    for level in 1..count {
        if let (Some(before), Some(own)) = (highest[level - 1], highest[level])
            && w(before) >= w(own)
        {
            highest[level] = Some(before);
        }
    }
    for level in (0..count.saturating_sub(1)).rev() {
        if let (Some(after), Some(own)) = (lowest[level + 1], lowest[level])
            && w(after) <= w(own)
        {
            lowest[level] = Some(after);
        }
    }
    let mut out = Vec::with_capacity(2 * order.len());
    for &n in &order {
        let level = of[n as usize] as usize;
        if let Some(l) = level.checked_sub(1).and_then(|i| highest[i]) {
            out.push((l, n));
        }
        if let Some(h) = lowest.get(level + 1).copied().flatten() {
            out.push((n, h));
        }
    }
    out
}

/// All pairs of different values.
fn all(levels: &[u32]) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    for (n, &a) in levels.iter().enumerate() {
        for (o, &b) in levels.iter().enumerate().skip(n + 1) {
            if a == MISSING || b == MISSING || a == b {
                continue;
            }
            let (n, o) = (n as u32, o as u32);
            out.push(if a < b { (n, o) } else { (o, n) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use polyview_core::View;
    use polyview_linalg::Mat;

    use super::*;

    fn levels(x: &[f64]) -> Levels {
        let x = Mat::from_fn(x.len(), 1, |n, _| x[n]);
        Levels::new(&View::from_values("v", vec!["a".into()], x).expect("a view"))
    }

    fn of(policy: PairPolicy, x: &[f64]) -> Vec<(u32, u32)> {
        let pairs = make(policy, 4, &levels(x), StreamKey::new(3));
        pairs.low.into_iter().zip(pairs.high).collect()
    }

    const X: [f64; 6] = [3.0, 1.0, 3.0, f64::NAN, 7.0, 1.0];
    const ALL: [PairPolicy; 4] = [
        PairPolicy::Random,
        PairPolicy::Adjacent,
        PairPolicy::Extreme,
        PairPolicy::All,
    ];

    #[test]
    fn pairs_are_ordered_and_never_of_equal_or_missing_values() {
        for policy in ALL {
            let found = of(policy, &X);
            assert!(!found.is_empty());
            for (l, h) in found {
                assert!(X[l as usize] < X[h as usize], "{policy:?}: {l} {h}");
            }
        }
    }

    #[test]
    fn constant_and_unobserved_features_have_no_pairs() {
        for policy in ALL {
            assert!(of(policy, &[2.0; 5]).is_empty());
            assert!(of(policy, &[f64::NAN, 1.0, f64::NAN]).is_empty());
        }
    }

    #[test]
    fn all_and_adjacent_pairs_are_those_counted_by_hand() {
        assert_eq!(of(PairPolicy::All, &X).len(), 8);
        assert_eq!(of(PairPolicy::Adjacent, &[2.0, 0.0, 1.0]), [(1, 2), (2, 0)]);
        // two of level 0 beside two of level 1; two of level 1 beside one
        assert_eq!(of(PairPolicy::Adjacent, &X).len(), 4);
    }

    #[test]
    fn extreme_partners_are_those_of_the_definition() {
        let levels = levels(&X);
        let w = [0.3, -0.2, 0.9, 5.0, 0.5, 0.4];
        let mut expected = Vec::new();
        for n in 0..6 {
            let better = |o: usize, of: Option<usize>, up: bool| {
                of.is_none_or(|b| if up { w[o] > w[b] } else { w[o] < w[b] })
            };
            let (mut below, mut above) = (None, None);
            for o in 0..6 {
                if X[o] < X[n] && better(o, below, true) {
                    below = Some(o);
                }
                if X[o] > X[n] && better(o, above, false) {
                    above = Some(o);
                }
            }
            expected.extend(below.map(|l| (l as u32, n as u32)));
            expected.extend(above.map(|h| (n as u32, h as u32)));
        }
        let mut found = extreme(&levels, 0, &w);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn random_partners_do_not_depend_on_the_values() {
        let bent: Vec<f64> = X.iter().map(|x| x.exp() - 4.0).collect();
        assert_eq!(of(PairPolicy::Random, &X), of(PairPolicy::Random, &bent));
        // each cell has its four, less ties
        assert!(of(PairPolicy::Random, &[0.0, 1.0, 2.0]).len() == 12);
    }
}
