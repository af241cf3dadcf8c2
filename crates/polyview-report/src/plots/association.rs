//! How strongly a factor goes with something known about the samples.

use crate::stats::{self, CorrelationRatio};
use polyview::{Metadata, MetadataValues};
use std::collections::BTreeMap;

/// Strength of an association.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Association {
    /// With a number: Pearson's r over `samples` pairs.
    Correlation { r: f64, samples: usize },
    /// With categories: the squared correlation ratio.
    Ratio(CorrelationRatio),
}

impl Association {
    /// Share of the factor's variance that goes with the column, 0 to 1.
    pub fn strength(&self) -> f64 {
        match self {
            Self::Correlation { r, .. } => r * r,
            Self::Ratio(ratio) => ratio.eta2,
        }
    }

    /// What unrelated data of this size would give on average.
    pub fn by_chance(&self) -> f64 {
        match self {
            Self::Correlation { samples, .. } => 1.0 / (*samples as f64 - 1.0),
            Self::Ratio(ratio) => ratio.by_chance(),
        }
    }

    /// Samples with both values.
    pub fn samples(&self) -> usize {
        match self {
            Self::Correlation { samples, .. } => *samples,
            Self::Ratio(ratio) => ratio.values,
        }
    }
}

/// The association of factor values with a column; `None` when there is too little to say. All
/// categories count, however rare.
pub(crate) fn associations(values: &[f64], column: &Metadata) -> Option<Association> {
    match &column.values {
        MetadataValues::Numbers(numbers) => stats::correlation(values, numbers)
            .map(|(r, samples)| Association::Correlation { r, samples }),
        MetadataValues::Categories(categories) => {
            let mut index: BTreeMap<&str, usize> = BTreeMap::new();
            for name in categories.iter().flatten() {
                let next = index.len();
                index.entry(name).or_insert(next);
            }
            let group: Vec<Option<usize>> = categories
                .iter()
                .map(|c| c.as_ref().and_then(|c| index.get(c.as_str()).copied()))
                .collect();
            stats::correlation_ratio(values, &group).map(Association::Ratio)
        }
    }
}
