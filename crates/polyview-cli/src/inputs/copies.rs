//! Samples that are copies of one another under other IDs.

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
    pairs.sort_unstable();
    let named: Vec<String> = (pairs.iter().take(MOST))
        .map(|(a, b)| format!("'{}' and '{}'", ids[*a], ids[*b]))
        .collect();
    let more = match pairs.len().saturating_sub(MOST) {
        0 if named.is_empty() => return None,
        0 => String::new(),
        more => format!(" and {more} more pairs"),
    };
    Some(format!(
        "samples that are exact copies of each other in every view: {}{more}; where they are one sample under two \
         IDs, keep one: copies count as further evidence, and hidden cells of one are known from the other",
        named.join(", ")
    ))
}

/// A number for each sample, the same for equal ones.
fn hashes(views: &[View], samples: usize) -> Vec<u64> {
    const ODD: u64 = 0x517c_c1b7_2722_0a95;
    let mut out = vec![0_u64; samples];
    let mut column = vec![0.0; out.len()];
    for view in views {
        for d in 0..view.n_features() {
            view.write_column(d, &mut column);
            for (n, hash) in out.iter_mut().enumerate() {
                let bits = if view.is_observed(n, d) {
                    // zero has two signs
                    (column[n] + 0.0).to_bits()
                } else {
                    f64::NAN.to_bits()
                };
                *hash = (hash.rotate_left(5) ^ bits).wrapping_mul(ODD);
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
    let different: HashSet<u64> = cells.map(|x| (x + 0.0).to_bits()).collect();
    let whole = different.iter().all(|x| f64::from_bits(*x).fract() == 0.0);
    different.len() >= if whole { WHOLE } else { FRACTIONS }
}
