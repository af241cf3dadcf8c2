//! Pieces that several pictures share.

use crate::svg::legend::{Entry, Sample};
use crate::svg::marker::Marker;
use crate::svg::number::{count, drawable};
use crate::svg::palette::{CATEGORIES, step_of};
use crate::svg::scale::Extent;
use polyview::{Metadata, MetadataValues};
use std::collections::BTreeMap;

/// Colour class and shape of one group of samples.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub marker: Marker,
    pub colour: String,
}

/// Samples sorted into at most eight named groups.
#[derive(Clone, Debug)]
pub(crate) struct Grouping {
    /// Names in the order of drawing; the last one may gather rare categories.
    pub names: Vec<String>,
    /// Samples in each group.
    pub counts: Vec<usize>,
    /// Group of each sample.
    pub group: Vec<Option<usize>>,
    /// Whether the last group gathers rare categories.
    pub gathered: Option<usize>,
}

impl Grouping {
    /// The most frequent categories by name; more than eight leave seven and a group of the rest.
    pub fn new(values: &[Option<String>]) -> Self {
        let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
        for value in values.iter().flatten() {
            *tally.entry(value).or_default() += 1;
        }
        let mut kept: Vec<(&str, usize)> = tally.into_iter().collect();
        let mut gathered = None;
        if kept.len() > CATEGORIES {
            kept.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            gathered = Some(kept.len() - (CATEGORIES - 1));
            kept.truncate(CATEGORIES - 1);
            kept.sort_by(|a, b| a.0.cmp(b.0));
        }
        let index: BTreeMap<&str, usize> =
            kept.iter().enumerate().map(|(i, (n, _))| (*n, i)).collect();
        let rest = kept.len();
        let group: Vec<Option<usize>> = values
            .iter()
            .map(|v| {
                v.as_ref()
                    .map(|v| index.get(v.as_str()).copied().unwrap_or(rest))
            })
            .collect();
        let mut names: Vec<String> = kept.iter().map(|(n, _)| (*n).to_owned()).collect();
        let mut counts: Vec<usize> = kept.iter().map(|(_, c)| *c).collect();
        if let Some(more) = gathered {
            names.push(format!("{more} other categories"));
            counts.push(group.iter().filter(|g| **g == Some(rest)).count());
        }
        Self {
            names,
            counts,
            group,
            gathered,
        }
    }

    /// How group `index` is drawn.
    pub fn style(&self, index: usize) -> Style {
        if self.gathered.is_some() && index + 1 == self.names.len() {
            Style {
                marker: Marker::Speck,
                colour: "n".to_owned(),
            }
        } else {
            Style {
                marker: Marker::of_category(index),
                colour: format!("c{}", index % CATEGORIES),
            }
        }
    }

    /// Entries of the key with the number of samples.
    pub fn entries(&self) -> Vec<Entry> {
        (0..self.names.len())
            .map(|i| {
                let style = self.style(i);
                Entry {
                    sample: Sample::Point(style.marker),
                    colour: style.colour,
                    label: format!("{} ({})", self.names[i], count(self.counts[i])),
                }
            })
            .collect()
    }
}

/// How samples are coloured by a metadata column.
#[derive(Clone, Debug)]
pub(crate) enum Colouring {
    /// One colour for all.
    Plain,
    /// By category.
    Groups(Grouping),
    /// By number: step of the sequential scale per sample.
    Numbers {
        step: Vec<Option<usize>>,
        extent: Extent,
        title: String,
    },
}

/// The colouring for a column; numbers that are all missing leave every sample without colour.
pub(crate) fn coloured_by(column: Option<&Metadata>) -> Colouring {
    let Some(column) = column else {
        return Colouring::Plain;
    };
    match &column.values {
        MetadataValues::Categories(values) => Colouring::Groups(Grouping::new(values)),
        MetadataValues::Numbers(values) => {
            let extent = Extent::of(values.iter().copied())
                .unwrap_or_else(Extent::unit)
                .proper();
            let step = values
                .iter()
                .map(|&v| drawable(v).then(|| step_of((v - extent.lo) / extent.length())))
                .collect();
            Colouring::Numbers {
                step,
                extent,
                title: column.name.clone(),
            }
        }
    }
}

/// A quantity with its unit in brackets.
pub(crate) fn titled(name: &str, unit: &str) -> String {
    if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name} ({unit})")
    }
}

/// At most `most` evenly spaced indexes below `n`, the first among them.
pub(crate) fn spaced(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let kept = n.min(most.max(1));
    (0..kept).map(move |i| (i as u128 * n as u128 / kept as u128) as usize)
}

/// A line thinned to the first, lowest, highest and last point of each of `bins` stretches, which
/// looks the same as the whole line when a bin is about a pixel wide.
pub(crate) fn thinned(line: &[(f64, f64)], bins: usize) -> Vec<(f64, f64)> {
    if line.len() <= 4 * bins {
        return line.to_vec();
    }
    let mut out = Vec::with_capacity(4 * bins);
    for b in 0..bins {
        let (start, end) = (b * line.len() / bins, (b + 1) * line.len() / bins);
        let piece = &line[start..end];
        let finite = piece.iter().enumerate().filter(|(_, p)| drawable(p.1));
        let low = finite
            .clone()
            .min_by(|a, b| a.1.1.total_cmp(&b.1.1))
            .map(|(i, _)| i);
        let high = finite
            .max_by(|a, b| a.1.1.total_cmp(&b.1.1))
            .map(|(i, _)| i);
        let mut keep: Vec<usize> = [Some(0), low, high, piece.len().checked_sub(1)]
            .into_iter()
            .flatten()
            .collect();
        keep.sort_unstable();
        keep.dedup();
        out.extend(keep.into_iter().map(|i| piece[i]));
    }
    out
}

/// The same with a small first letter.
pub(crate) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// `text` joined as in a sentence: `a, b and c`.
pub(crate) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|n| Some((*n).to_owned())).collect()
    }

    #[test]
    fn up_to_eight_categories_keep_their_names() {
        let mut values = some(&["b", "a", "b"]);
        values.push(None);
        let g = Grouping::new(&values);
        assert_eq!(g.names, ["a", "b"]);
        assert_eq!(g.counts, [1, 2]);
        assert_eq!(g.group, [Some(1), Some(0), Some(1), None]);
        assert_eq!(g.gathered, None);
    }

    #[test]
    fn rare_categories_are_gathered_and_counted() {
        let values: Vec<Option<String>> = (0..12)
            .flat_map(|c| vec![Some(format!("c{c:02}")); 12 - c])
            .collect();
        let g = Grouping::new(&values);
        assert_eq!(g.names.len(), CATEGORIES);
        assert_eq!(
            g.names.last().map(String::as_str),
            Some("5 other categories")
        );
        assert_eq!(g.counts.iter().sum::<usize>(), values.len());
        assert_eq!(g.counts[7], 5 + 4 + 3 + 2 + 1);
    }

    #[test]
    fn thinning_keeps_the_extremes() {
        let line: Vec<(f64, f64)> = (0..10_000)
            .map(|i| {
                (
                    f64::from(i),
                    if i == 4321 { 50.0 } else { f64::from(i % 7) },
                )
            })
            .collect();
        let thin = thinned(&line, 100);
        assert!(thin.len() <= 400);
        assert!(thin.contains(&(4321.0, 50.0)));
        assert_eq!(thin.first(), line.first());
        assert_eq!(thin.last(), line.last());
        assert!(thin.windows(2).all(|w| w[0].0 < w[1].0));
    }

    #[test]
    fn spaced_indexes_are_distinct_and_in_range() {
        let s: Vec<usize> = spaced(10, 4).collect();
        assert_eq!(s, [0, 2, 5, 7]);
        assert_eq!(spaced(3, 10).count(), 3);
        assert_eq!(spaced(0, 10).count(), 0);
    }
}
