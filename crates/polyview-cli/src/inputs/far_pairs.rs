//! Similarities far from all others.

use std::collections::HashMap;

use polyview_core::View;

use crate::study::Study;

/// How many times the range of all others a similarity is off before it is said.
const RANGES: f64 = 100.0;

/// Largest share of pairs that may be far from the others: more are no exception.
const SHARE: f64 = 0.05;

/// Fewest pairs that say where similarities lie.
const OTHERS: usize = 10;

/// What is to be said of similarities that lie far from all others of their table, with the first of them: such a pair
/// alone decides the scale of the whole view.
pub fn far_pairs(views: &[View], samples: &[String], study: &Study) -> Vec<String> {
    let of_similarities = |v: &&View| study.model.view(v.name()).likelihood.is_similarity();
    (views.iter().filter(of_similarities))
        .filter_map(|v| of_view(v, samples))
        .collect()
}

fn of_view(view: &View, samples: &[String]) -> Option<String> {
    let rows: HashMap<&str, usize> = samples.iter().map(String::as_str).zip(0..).collect();
    let mut pairs = Vec::new();
    let mut column = vec![0.0; view.n_samples()];
    for (d, feature) in view.features().iter().enumerate() {
        view.write_column(d, &mut column);
        let own = rows.get(feature.as_str());
        let known = (0..column.len()).filter(|n| view.is_observed(*n, d) && own != Some(n));
        pairs.extend(known.map(|n| (n, d, column[n])));
    }
    let mut sorted: Vec<f64> = pairs.iter().map(|p| p.2).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = usual(&sorted)?;
    let far: Vec<_> = pairs.iter().filter(|p| p.2 < low || p.2 > high).collect();
    let (n, d, x) = far.first()?;
    let and = match far.len() - 1 {
        0 => String::new(),
        more => format!(", as are {more} more"),
    };
    Some(format!(
        "view '{}': the similarity of '{}' (row) to '{}' (column) is {x}, far from all others, which are {low} to {high}{and}; correct it, \
         or leave the cell empty; if it is a code for missing values, say --na {x}",
        view.name(),
        samples.get(*n).map_or("", String::as_str),
        view.features()[*d],
    ))
}

/// The ends of all numbers but those few that lie far off; `None` where none do. The numbers are sorted.
fn usual(sorted: &[f64]) -> Option<(f64, f64)> {
    let most = (SHARE * sorted.len() as f64) as usize;
    if sorted.len() < OTHERS + most {
        return None;
    }
    let (mut from, mut to) = (0, sorted.len() - 1);
    // what lies between the shares that may be far at both ends
    let (inner_from, inner_to) = (most, sorted.len() - 1 - most);
    let is_far = |gap: f64, range: f64| range > 0.0 && gap > RANGES * range;
    for at in inner_to..sorted.len() - 1 {
        if is_far(sorted[at + 1] - sorted[at], sorted[at] - sorted[inner_from]) {
            to = at;
            break;
        }
    }
    for at in (1..=inner_from).rev() {
        if is_far(sorted[at] - sorted[at - 1], sorted[inner_to] - sorted[at]) {
            from = at;
            break;
        }
    }
    (from > 0 || to < sorted.len() - 1).then(|| (sorted[from], sorted[to]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_far_numbers_are_told_from_many() {
        let all = |more: &[f64]| {
            let mut x: Vec<f64> = (0..100).map(|i| f64::from(i) / 99.0).collect();
            x.extend_from_slice(more);
            x.sort_by(f64::total_cmp);
            usual(&x)
        };
        assert_eq!(all(&[]), None);
        assert_eq!(all(&[50.0, -9.0]), None);
        assert_eq!(all(&[1e6]), Some((0.0, 1.0)));
        assert_eq!(all(&[1e6, 3e6, -1e5]), Some((0.0, 1.0)));
        // many are no exception
        assert_eq!(all(&[1e6; 30]), None);
        // of zeros alone nothing is known
        let mut zeros = vec![0.0; 99];
        zeros.push(1.0);
        assert_eq!(usual(&zeros), None);
    }
}
