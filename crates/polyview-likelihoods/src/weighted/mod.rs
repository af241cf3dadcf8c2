//! Views whose likelihood counts more, or less, than once (docs/decisions/0073-weights-of-views.md).
//!
//! $$\mathcal L = \sum\_m c\_m\\,\mathcal L\_m(Z, W\_m, b\_m) - \mathrm{KL}, $$
//!
//! $\mathcal L\_m$ all that the data term of a view says: the expected log density of its data, and what
//! noise, sizes and local variables of its own cost. With a whole number $c$ it is the bound of the model in
//! which $c$ copies of the view are observed that share weights and intercepts, each copy with noise and
//! local variables of its own, all alike; without such parameters that of the likelihood to the power
//! $c$.
//!
//! | what the term hands out | is |
//! |---|---|
//! | equations of weights, intercepts and factors | $c$ times those of the term inside |
//! | bound, by part and by row | $c$ times its own |
//! | updates of noise, parameters and local variables | its own: a factor moves no optimum |
//! | laws, links, scores, simulated data | its own: of one observation |
//!
//! It is no likelihood of the data that there are, so that its bound is no evidence, and draws of the local
//! variables inside are not those of the power: it has none.

mod capable;
mod term;

use polyview_core::{Capabilities, DataError, ViewTerm};

/// Data term of a view that counts `weight` times.
pub struct Weighted {
    inner: Box<dyn ViewTerm>,
    weight: f64,
    /// Whether tangents of columns hang together.
    couples: bool,
    /// Whether tangents are kept for a whole sweep.
    held: bool,
}

impl Weighted {
    /// A term that says `weight` times, a positive number, what `inner` says of the view of that
    /// name.
    ///
    /// # Errors
    /// [`DataError::LostCapability`] for a term that can do what this one does not know of.
    pub fn new(view: &str, mut inner: Box<dyn ViewTerm>, weight: f64) -> Result<Self, DataError> {
        let inside = Capabilities::of(inner.as_mut()).but_sampling();
        inside.kept(view, Self::around(inner, weight))
    }
    fn around(mut inner: Box<dyn ViewTerm>, weight: f64) -> Self {
        Self {
            couples: inner.as_tangents().is_some_and(|t| t.couples_columns()),
            held: false,
            inner,
            weight,
        }
    }
    /// How often the view counts.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}
