//! Who put the model of a fit together, and how the fit went about its work.

use std::sync::Arc;

use polyview_core::Dataset;

use super::{Fit, Fitting};
use crate::compose::{Composed, Composer};
use crate::error::Result;
use crate::spec::{ModelSpec, RunOptions};

impl Fit {
    /// Every choice of the fit, where a specification put its model together; `None` where
    /// another [`Fit::composer`] did.
    pub fn spec(&self) -> Option<&ModelSpec> {
        self.composed.spec()
    }
    /// Who put its model together.
    pub fn composer(&self) -> &Arc<dyn Composer> {
        &self.composed.composer
    }
    /// How the fit went about its work.
    pub fn run_options(&self) -> &RunOptions {
        &self.composed.options
    }
    /// Name of the model: of the preset of a specification, such as `bibfa`, or of the
    /// composer.
    pub fn model_name(&self) -> &str {
        self.composed.name()
    }
    /// What 0 and 1 stand for in a view of labels with names of their own
    /// ([`ModelSpec::labels`]).
    pub fn labels(&self, view: &str) -> Option<&[String; 2]> {
        self.spec()?.labels(view)
    }
}

impl Fitting {
    /// A fit of a model that somebody else than a [`ModelSpec`] puts together. Where more factors
    /// are asked for than the data carry, and of features that do not vary, the same holds as
    /// with [`Fitting::new`].
    ///
    /// # Errors
    /// What the composer, the likelihoods of its views and the engine refuse;
    /// [`crate::ErrorKind::Composed`] for parts that do not fit together; [`crate::ErrorKind::Linalg`] from
    /// the start.
    pub fn composed(
        data: Dataset,
        composer: Arc<dyn Composer>,
        options: RunOptions,
    ) -> Result<Self> {
        Self::of(data, Composed::new(composer, options))
    }
    /// The choices, with every view's written out; `None` where another composer puts the
    /// model together.
    pub fn spec(&self) -> Option<&ModelSpec> {
        self.given.composed.spec()
    }
    /// How the fit goes about its work.
    pub fn run_options(&self) -> &RunOptions {
        &self.given.composed.options
    }
    /// Goes on with the fit to its end.
    ///
    /// # Errors
    /// Those of [`Fitting::step`] and [`Fitting::finish`].
    pub fn to_the_end(mut self) -> Result<Fit> {
        while !self.step()?.done {}
        self.finish()
    }
}
