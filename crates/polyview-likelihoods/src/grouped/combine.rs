//! The groups' equations put together.

use std::sync::Arc;

use polyview_core::{Mask, NormalEquations, NumericError, PatternGrams, PatternTable, Predictor};
use polyview_linalg::{PackedRows, SymPacked};

use super::Grouped;

/// What the rows of the weights have in common in one group.
#[derive(Clone, Debug)]
pub(super) struct WeightGram {
    gram: SymPacked,
    scale: Option<Vec<f64>>,
}

/// Equations whose one pattern has every view, so that a term writes what its
/// samples have in common to `gram` or to that pattern.
fn one_pattern(k: usize) -> NormalEquations {
    let mut eq = NormalEquations::new(k, 0..0);
    let table = PatternTable {
        of_row: Vec::new(),
        present: vec![vec![true]],
        group: vec![0],
    };
    eq.patterns = Some(PatternGrams {
        table: Arc::new(table),
        grams: PackedRows::zeros(1, k),
    });
    eq
}

impl Grouped {
    /// The sum of the groups' grams where it has the form of one; else each
    /// row's own sum, with the equations.
    pub(super) fn sum_weight_grams(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (split, k) = (self.split(p), eq.k());
        let mut grams = Vec::with_capacity(self.inner.len());
        for (g, term) in self.inner.iter_mut().enumerate() {
            let mut own = NormalEquations::new(k, 0..0);
            term.equations().weight_gram(&split.of(g, p), &mut own)?;
            eq.own |= own.own;
            if own.scale.is_some() || own.gram.as_slice().iter().any(|x| *x != 0.0) {
                grams.push(WeightGram {
                    gram: own.gram,
                    scale: own.scale,
                });
            }
        }
        let alike = grams.windows(2).all(|w| w[0].scale == w[1].scale);
        if alike {
            for own in &grams {
                eq.gram.add_scaled(1.0, &own.gram);
            }
            eq.scale = grams.pop().and_then(|own| own.scale);
            grams.clear();
        } else {
            eq.own = true;
        }
        self.weight_grams = grams;
        Ok(())
    }
    /// Adds $\sum\_g\tau\_{gd}\langle Z\_g^\top Z\_g\rangle$ to each row's own
    /// part, where groups differ in scale.
    pub(super) fn add_weight_grams(&self, eq: &mut NormalEquations) {
        if self.weight_grams.is_empty() {
            return;
        }
        let columns = eq.rows();
        let packed = eq.packed_mut();
        for own in &self.weight_grams {
            for (i, d) in columns.clone().enumerate() {
                let tau = own.scale.as_ref().map_or(1.0, |s| s[d]);
                for (x, g) in packed.row_mut(i).iter_mut().zip(own.gram.as_slice()) {
                    *x += tau * g;
                }
            }
        }
    }
    /// Adds each group's common precision to the patterns of the group; what
    /// patterns cannot carry comes sample by sample.
    pub(super) fn add_factor_grams(
        &mut self,
        view: usize,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (split, k) = (self.split_for_factors(p), eq.k());
        let by_pattern = eq.patterns.as_ref().is_some_and(|p| self.matches(&p.table));
        for g in 0..self.inner.len() {
            let term = &mut self.inner[g];
            let mut own = one_pattern(k);
            term.equations().factor_gram(0, &split.of(g, p), &mut own)?;
            let mut gram = own.gram;
            if let Some(patterns) = &own.patterns {
                gram.add_scaled(1.0, &patterns.grams.sym(0));
            }
            self.loose[g] = None;
            if gram.as_slice().iter().all(|x| *x == 0.0) {
                continue;
            }
            // whole samples are missing in this group, and patterns do not know
            let hidden = matches!(term.mask(), Some(Mask::Rows(_)))
                && !matches!(self.mask, Some(Mask::Rows(_)));
            match &mut eq.patterns {
                Some(patterns) if by_pattern && !hidden => {
                    let table = patterns.table.clone();
                    for (i, present) in table.present.iter().enumerate() {
                        if present[view] && table.group[i] as usize == g {
                            let cells = patterns.grams.row_mut(i).iter_mut();
                            for (x, m) in cells.zip(gram.as_slice()) {
                                *x += m;
                            }
                        }
                    }
                }
                _ => {
                    eq.own = true;
                    self.loose[g] = Some(gram);
                }
            }
        }
        Ok(())
    }
    /// Whether the patterns are those of these groups.
    fn matches(&self, table: &PatternTable) -> bool {
        let groups = self.groups.of_row();
        table.of_row.len() == groups.len()
            && table
                .of_row
                .iter()
                .zip(groups)
                .all(|(&pattern, g)| table.group[pattern as usize] == *g)
    }
    /// Adds the samples' own precisions and right-hand sides.
    pub(super) fn add_factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (split, k, samples) = (self.split_for_factors(p), eq.k(), eq.rows());
        for g in 0..self.inner.len() {
            let range = self.within(g, &samples);
            let mut own = one_pattern(k);
            own.set_rows(range.clone());
            self.inner[g]
                .equations()
                .factor_equations(&split.of(g, p), &mut own)?;
            if let Some(gram) = &self.loose[g] {
                let mask = self.inner[g].mask().cloned();
                let packed = own.packed_mut();
                for (i, n) in range.clone().enumerate() {
                    if !matches!(&mask, Some(Mask::Rows(rows)) if !rows[n]) {
                        for (x, m) in packed.row_mut(i).iter_mut().zip(gram.as_slice()) {
                            *x += m;
                        }
                    }
                }
            }
            let rows = &self.rows[g][range];
            for j in 0..k {
                for (i, &n) in rows.iter().enumerate() {
                    eq.rhs[(n as usize - samples.start, j)] += own.rhs[(i, j)];
                }
            }
            if let Some(part) = &own.packed {
                let packed = eq.packed_mut();
                for (i, &n) in rows.iter().enumerate() {
                    let to = packed.row_mut(n as usize - samples.start).iter_mut();
                    for (x, y) in to.zip(part.row(i)) {
                        *x += y;
                    }
                }
            }
        }
        Ok(())
    }
}
