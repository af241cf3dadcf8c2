//! Rows that have the same precision because they have the same views and
//! belong to the same group.

use std::collections::HashMap;

use polyview_core::{NormalEquations, PatternGrams, PrecisionView};
use polyview_linalg::SymPacked;

/// What the rows of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pattern: Option<u32>,
    group: Option<u32>,
}

impl Kind {
    /// Data precision of the kind's rows, at scale 1 and without own parts.
    pub(super) fn data_precision(&self, eq: &NormalEquations) -> SymPacked {
        let mut out = match (&eq.patterns, self.pattern) {
            (Some(patterns), Some(p)) => patterns.grams.sym(p as usize),
            _ => SymPacked::zeros(eq.k()),
        };
        out.add_scaled(1.0, &eq.gram);
        out
    }
    /// Prior precision of the kind's rows.
    pub(super) fn prior_precision(&self, prior: PrecisionView<'_>, k: usize) -> Vec<f64> {
        match (prior, self.group) {
            (PrecisionView::Groups { groups, .. }, Some(g)) => {
                (0..k).map(|j| groups[(g as usize, j)]).collect()
            }
            _ => (0..k).map(|j| prior.at(0, j)).collect(),
        }
    }
}

/// The kinds of rows, numbered by first appearance.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) kinds: Vec<Kind>,
    /// Kind of each row.
    pub(super) of_row: Vec<u32>,
}

impl Shares {
    /// The kinds of `rows` rows under a prior by column or by group.
    pub(super) fn new(
        prior: PrecisionView<'_>,
        patterns: Option<&PatternGrams>,
        rows: usize,
    ) -> Self {
        let mut out = Self {
            kinds: Vec::new(),
            of_row: Vec::with_capacity(rows),
        };
        let mut known = HashMap::new();
        for r in 0..rows {
            let kind = Kind {
                pattern: patterns.map(|p| p.table.of_row[r]),
                group: match prior {
                    PrecisionView::Groups { of_row, .. } => Some(of_row[r]),
                    _ => None,
                },
            };
            let at = *known.entry(kind).or_insert_with(|| {
                out.kinds.push(kind);
                out.kinds.len() - 1
            });
            out.of_row.push(at as u32);
        }
        out
    }
}
