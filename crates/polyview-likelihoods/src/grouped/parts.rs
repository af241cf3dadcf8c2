//! What each group sees of factors and intercepts.

use std::ops::Range;
use std::sync::{Arc, PoisonError};

use polyview_core::{Bias, Predictor, RowMoments, Stamp};

use super::Grouped;

/// The groups' parts of the blocks that a predictor is made of, with the
/// stamps of the states they belong to.
#[derive(Debug, Default)]
pub(super) struct Parts {
    factors: Option<(Stamp, Arc<Vec<RowMoments>>)>,
    biases: Option<(Stamp, Arc<Vec<Bias>>)>,
}

/// The groups' parts of one predictor.
pub(super) struct Split {
    factors: Arc<Vec<RowMoments>>,
    biases: Arc<Vec<Bias>>,
}

impl Split {
    /// What one group sees of a predictor.
    pub(super) fn of<'a>(&'a self, group: usize, p: &Predictor<'a>) -> Predictor<'a> {
        Predictor {
            factors: &self.factors[group],
            weights: p.weights,
            bias: &self.biases[group],
        }
    }
}

impl Grouped {
    /// The groups' parts of a predictor; those of a state that was seen before
    /// have the stamps they had.
    pub(super) fn split(&self, p: &Predictor<'_>) -> Split {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = p.factors.stamp();
        let factors = match &parts.factors {
            Some((s, factors)) if *s == stamp => factors.clone(),
            _ => {
                let made = self.rows.iter().map(|r| p.factors.subset(r)).collect();
                let made: Arc<Vec<RowMoments>> = Arc::new(made);
                parts.factors = Some((stamp, made.clone()));
                made
            }
        };
        let biases = biases(&mut parts, self.rows.len(), p);
        Split { factors, biases }
    }
    /// As [`Grouped::split`] where the factors are about to change, row by
    /// row, and do not matter: those of any earlier state will do.
    pub(super) fn split_weights(&self, p: &Predictor<'_>) -> Split {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = parts.factors.as_ref().map(|f| &f.1).or(self.pass.as_ref());
        if let Some(factors) = seen.cloned() {
            let biases = biases(&mut parts, self.rows.len(), p);
            return Split { factors, biases };
        }
        drop(parts);
        self.split(p)
    }
    /// Rows of a group, in the group's own count, among some samples.
    pub(super) fn within(&self, group: usize, samples: &Range<usize>) -> Range<usize> {
        let rows = &self.rows[group];
        let place = |n: usize| rows.partition_point(|&r| (r as usize) < n);
        place(samples.start)..place(samples.end)
    }
    /// What equations of the factors are made with: tangents are taken at the present
    /// factors, everything else does not look at them.
    pub(super) fn split_for_factors(&self, p: &Predictor<'_>) -> Split {
        if self.tangents {
            self.split(p)
        } else {
            self.split_weights(p)
        }
    }
    /// Takes over the factors of some samples that are final, in the buffers of
    /// the latest state, and says what the groups see of them.
    pub(super) fn take_samples(&mut self, samples: &Range<usize>, p: &Predictor<'_>) -> Split {
        let parts = self.parts.get_mut().unwrap_or_else(PoisonError::into_inner);
        let seen = parts.factors.take().map(|(_, factors)| factors);
        let biases = biases(parts, self.rows.len(), p);
        let mut factors = self.pass.take().or(seen);
        let fits = factors.as_mut().is_some_and(|factors| {
            let groups = Arc::make_mut(factors).iter_mut().enumerate();
            groups.fold(true, |fits, (g, own)| {
                let at = self.within(g, samples);
                let rows = &self.rows[g][at.clone()];
                fits && own.take_rows(at, p.factors, rows)
            })
        });
        let factors = match factors {
            Some(factors) if fits => factors,
            _ => Arc::new(self.rows.iter().map(|r| p.factors.subset(r)).collect()),
        };
        self.pass = Some(factors.clone());
        Split { factors, biases }
    }
    /// Makes the factors of a finished pass those of the current state.
    pub(super) fn keep_pass(&mut self, p: &Predictor<'_>) {
        if let Some(factors) = self.pass.take() {
            let parts = self.parts.get_mut().unwrap_or_else(PoisonError::into_inner);
            parts.factors = Some((p.factors.stamp(), factors));
        }
    }
}

fn biases(parts: &mut Parts, groups: usize, p: &Predictor<'_>) -> Arc<Vec<Bias>> {
    let stamp = p.bias.stamp();
    match &parts.biases {
        Some((s, biases)) if *s == stamp => biases.clone(),
        _ => {
            let made: Arc<Vec<Bias>> = Arc::new((0..groups).map(|g| p.bias.of_group(g)).collect());
            parts.biases = Some((stamp, made.clone()));
            made
        }
    }
}
