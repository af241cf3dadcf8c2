//! A bound, gathered from batches.

use polyview_core::compensated;

/// Whether a term of the bound is a sum over samples.
pub(super) fn of_samples(name: &str) -> bool {
    name == "factors" || name.starts_with("likelihood/")
}

/// Terms of a bound, gathered from batches.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) terms: Vec<(String, f64)>,
}

impl Gathered {
    /// Adds estimates of the whole with this weight.
    pub(super) fn add(&mut self, terms: Vec<(String, f64)>, weight: f64) {
        if self.terms.is_empty() {
            self.terms = terms.into_iter().map(|(n, v)| (n, weight * v)).collect();
        } else {
            for (all, (_, value)) in self.terms.iter_mut().zip(terms) {
                all.1 += weight * value;
            }
        }
    }
    /// Adds the samples of a batch; what is no sum over samples counts once.
    pub(super) fn add_part(&mut self, terms: Vec<(String, f64)>) {
        if self.terms.is_empty() {
            self.terms = terms;
        } else {
            for (all, (name, value)) in self.terms.iter_mut().zip(terms) {
                if of_samples(&name) {
                    all.1 += value;
                }
            }
        }
    }
    pub(super) fn total(&self) -> f64 {
        compensated(self.terms.iter().map(|t| t.1))
    }
}
