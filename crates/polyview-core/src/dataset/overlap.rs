//! Which samples have which views.

use std::collections::BTreeMap;

use super::{Dataset, Mask};

/// One combination of views and the number of samples that have just these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlapRow {
    /// For each view, whether it is present in this combination.
    pub present: Vec<bool>,
    /// Number of samples with exactly this combination.
    pub samples: usize,
}

/// The overlap table of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Names of the views.
    pub views: Vec<String>,
    /// Samples with at least one observed cell, by view.
    pub samples_of_view: Vec<usize>,
    /// Combinations, most frequent first.
    pub rows: Vec<OverlapRow>,
}

impl Overlap {
    pub(super) fn of(data: &Dataset) -> Self {
        let mut combinations: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
        let mut samples_of_view = vec![0; data.views().len()];
        for n in 0..data.n_samples() {
            let present: Vec<bool> = data
                .views()
                .iter()
                .map(|v| match v.mask() {
                    Mask::Complete => v.n_features() > 0,
                    mask => mask.count_sample(n, v.n_features()) > 0,
                })
                .collect();
            for (count, here) in samples_of_view.iter_mut().zip(&present) {
                *count += usize::from(*here);
            }
            *combinations.entry(present).or_default() += 1;
        }
        let mut rows: Vec<OverlapRow> = combinations
            .into_iter()
            .map(|(present, samples)| OverlapRow { present, samples })
            .collect();
        rows.sort_by(|a, b| {
            b.samples
                .cmp(&a.samples)
                .then_with(|| b.present.cmp(&a.present))
        });
        Self {
            views: data.views().iter().map(|v| v.name().to_owned()).collect(),
            samples_of_view,
            rows,
        }
    }
}
