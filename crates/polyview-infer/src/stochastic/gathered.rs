//! A bound, gathered from batches.

use polyview_core::{Of, Term, compensated};

/// Terms of a bound, gathered from batches.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) terms: Vec<Term<String>>,
}

impl Gathered {
    /// Adds estimates of the whole with this weight.
    pub(super) fn add(&mut self, terms: Vec<Term<String>>, weight: f64) {
        if self.terms.is_empty() {
            self.terms = terms;
            for term in &mut self.terms {
                term.value *= weight;
            }
        } else {
            for (all, term) in self.terms.iter_mut().zip(terms) {
                all.value += weight * term.value;
            }
        }
    }
    /// Adds the samples of a batch; what is no sum over samples counts once.
    pub(super) fn add_part(&mut self, terms: Vec<Term<String>>) {
        if self.terms.is_empty() {
            self.terms = terms;
        } else {
            for (all, term) in self.terms.iter_mut().zip(terms) {
                if term.of == Of::Samples {
                    all.value += term.value;
                }
            }
        }
    }
    pub(super) fn total(&self) -> f64 {
        compensated(self.terms.iter().map(|t| t.value))
    }
}
