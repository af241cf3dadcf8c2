//! Samples and features that are copies of one another under other names.

use std::collections::{BTreeMap, HashSet};

use polyview_core::View;

use crate::study::Study;

/// Most pairs that are named.
const MOST: usize = 3;

/// Different numbers of a sample in one real view from which on an equal sample is no
/// chance; whole numbers, as of questionnaires, repeat more easily.
const FRACTIONS: usize = 5;
const WHOLE: usize = 10;

/// What is to be said of samples all of whose cells, observed or not, are those of another.
/// Nothing is said of those whose real numbers are few: equal labels, counts and constants
/// are natural.
pub fn copies(views: &[View], ids: &[String], study: &Study) -> Option<String> {
    let is_real = |v: &&View| study.model.view(v.name()).likelihood.is_real();
    let real: Vec<&View> = views.iter().filter(is_real).collect();
    if real.is_empty() {
        return None;
    }
    let mut alike: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (n, hash) in hashes(views, ids.len()).into_iter().enumerate() {
        alike.entry(hash).or_default().push(n);
    }
    let mut pairs = Vec::new();
    for group in alike.into_values().filter(|g| g.len() > 1) {
        let of_first = |n: &usize| equal(views, group[0], *n);
        if real.iter().any(|v| is_telling(v, group[0])) {
            let others = group[1..].iter().copied().filter(of_first);
            pairs.extend(others.map(|n| (group[0], n)));
        }
    }
    let listed = listed(pairs, |n| format!("'{}'", ids[*n]))?;
    Some(format!(
        "samples that are exact copies of each other in every view: {listed}; where they are one sample under two \
         IDs, keep one: copies count as further evidence, and hidden cells of one are known from the other"
    ))
}

/// What is to be said of features of a view that have the very numbers of another, but where these are few.
pub fn copied_features(view: &View) -> Option<String> {
    let mut column = vec![0.0; view.n_samples()];
    let mut alike: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let mut by_hash: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for d in 0..view.n_features() {
        view.write_column(d, &mut column);
        by_hash
            .entry(hash_of(view, d, &column))
            .or_default()
            .push(d);
    }
    let mut pairs = Vec::new();
    for group in by_hash.into_values().filter(|g| g.len() > 1) {
        alike.clear();
        for d in group {
            let bits = |n: usize| view.value(n, d).map_or(f64::NAN, |x| x + 0.0).to_bits();
            let cells: Vec<u64> = (0..view.n_samples()).map(bits).collect();
            match alike.get(&cells) {
                Some(first) if are_telling(cells.iter().copied()) => pairs.push((*first, d)),
                Some(_) => {}
                None => {
                    alike.insert(cells, d);
                }
            }
        }
    }
    let listed = listed(pairs, |d| format!("'{}'", view.features()[*d]))?;
    Some(format!(
        "view '{}': features that are exact copies of each other: {listed}; keep one of each: copies count as further \
         evidence, and make a factor of their own",
        view.name()
    ))
}

/// The first pairs by name.
pub(super) fn listed<T: Ord>(
    mut pairs: Vec<(T, T)>,
    name: impl Fn(&T) -> String,
) -> Option<String> {
    pairs.sort_unstable();
    let named: Vec<String> = (pairs.iter().take(MOST))
        .map(|(a, b)| format!("{} and {}", name(a), name(b)))
        .collect();
    let more = match pairs.len().saturating_sub(MOST) {
        0 if named.is_empty() => return None,
        0 => String::new(),
        more => format!(" and {more} more pairs"),
    };
    Some(format!("{}{more}", named.join(", ")))
}

/// An odd number that mixes bits.
pub(super) const ODD: u64 = 0x517c_c1b7_2722_0a95;

/// A cell more in a number that equal cells make alike.
fn mixed(hash: u64, view: &View, n: usize, d: usize, x: f64) -> u64 {
    let bits = if view.is_observed(n, d) {
        // zero has two signs
        (x + 0.0).to_bits()
    } else {
        f64::NAN.to_bits()
    };
    (hash.rotate_left(5) ^ bits).wrapping_mul(ODD)
}

fn hash_of(view: &View, d: usize, column: &[f64]) -> u64 {
    let cells = column.iter().enumerate();
    cells.fold(0, |hash, (n, x)| mixed(hash, view, n, d, *x))
}

/// A number for each sample, the same for equal ones.
fn hashes(views: &[View], samples: usize) -> Vec<u64> {
    let mut out = vec![0_u64; samples];
    let mut column = vec![0.0; out.len()];
    for view in views {
        for d in 0..view.n_features() {
            view.write_column(d, &mut column);
            for (n, hash) in out.iter_mut().enumerate() {
                *hash = mixed(*hash, view, n, d, column[n]);
            }
        }
    }
    out
}

fn equal(views: &[View], a: usize, b: usize) -> bool {
    let same = |v: &View| (0..v.n_features()).all(|d| v.value(a, d) == v.value(b, d));
    views.iter().all(same)
}

/// Whether a sample has so many different numbers in a view that another one with the same
/// ones is no chance.
fn is_telling(view: &View, sample: usize) -> bool {
    let cells = (0..view.n_features()).filter_map(|d| view.value(sample, d));
    are_telling(cells.map(|x| (x + 0.0).to_bits()))
}

/// Whether the same numbers elsewhere are no chance: so many of them differ.
pub(super) fn are_telling(cells: impl Iterator<Item = u64>) -> bool {
    let known = cells.filter(|bits| !f64::from_bits(*bits).is_nan());
    let different: HashSet<u64> = known.collect();
    let whole = different.iter().all(|x| f64::from_bits(*x).fract() == 0.0);
    different.len() >= if whole { WHOLE } else { FRACTIONS }
}
