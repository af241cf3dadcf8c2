//! What a data term says of itself.

/// Extents of a data term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewShape {
    /// Rows of the data.
    pub samples: usize,
    /// Columns of the data.
    pub observed_columns: usize,
    /// Columns of the linear predictor: those of the data, or C for the one
    /// column of codes of a categorical view with C classes, or the latent dimensions of a view
    /// that has such; T times as many
    /// where each of T components of the factors' prior has its own.
    pub predictor_columns: usize,
    /// Number of components of the factors' prior for which the term has a set
    /// of predictor columns each (local experts); `None` where one set serves
    /// all samples.
    pub components: Option<usize>,
}

impl ViewShape {
    /// A term of `samples` rows and `columns` columns of data, each with one predictor
    /// column.
    pub fn plain(samples: usize, columns: usize) -> Self {
        Self {
            samples,
            observed_columns: columns,
            predictor_columns: columns,
            components: None,
        }
    }
    /// Number of columns that are predicted: those of the data where there is a set
    /// of predictor columns for each component, else one for each predictor column.
    pub fn predicted_columns(&self) -> usize {
        match self.components {
            Some(_) => self.observed_columns,
            None => self.predictor_columns,
        }
    }
}

/// What the data of a column say of its linear predictor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identified {
    /// All of it.
    #[default]
    Whole,
    /// Only how it differs between samples: intercepts mean nothing.
    BetweenSamples,
    /// Only how it differs from those of the other columns (classes).
    BetweenColumns,
    /// Nothing, and never will: priors with a cost for each weight leave the column out.
    Nothing,
}

/// What a term says of the intercepts of its predictor columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Intercepts {
    /// Where to start, one for each predictor column; `None` = zero.
    pub start: Option<Vec<f64>>,
    /// Where those of each group of samples start, group after group; `None` where
    /// there are no groups, or zero.
    pub start_by_group: Option<Vec<f64>>,
    /// Their prior precision, as a multiple of the model's
    /// ([`Bias`](crate::Bias)): 1 where a predictor has working units, less
    /// where its natural unit makes that prior too narrow.
    pub precision: f64,
    /// Whether the columns are alike enough to tell level and spread of each other's
    /// intercepts (spec/sites 7), which then are learnt in place of that prior
    /// ([`Bias::with_learnt_prior`](crate::Bias::with_learnt_prior)).
    pub alike: bool,
}

impl Default for Intercepts {
    fn default() -> Self {
        Self {
            start: None,
            start_by_group: None,
            precision: 1.0,
            alike: false,
        }
    }
}

/// What noise and link add to the linear predictor of a column. Shares of variance are
/// shares of predictor and this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Expected variance that noise and link add to the predictor times `scale`, in
    /// squared units of that: $\mathrm{E}[1/\tau]$ for real numbers, $\pi^2/3$ for the
    /// logistic function, 1 for the probit; for counts it depends on the level of the
    /// predictor.
    pub variance: f64,
    /// What the predictor is multiplied by before its variance is added to that of other
    /// columns: 1 where predictors of a view have one unit. Those of ranks have a unit of
    /// their own each, and are brought to normal scores; 0 where the data do not vary at
    /// all, so that the column counts for nothing.
    pub scale: f64,
}

impl Link {
    /// A link that adds this variance to predictors of one unit.
    pub fn of(variance: f64) -> Self {
        Self {
            variance,
            scale: 1.0,
        }
    }
}

/// What a term contributes to the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// A lower bound on a log likelihood: every update raises it.
    Bound,
    /// What would be a lower bound if the predictor, a product of uncertain factors and
    /// weights, were normal: exact where one of the two is known (spec/sites 1.1). Every
    /// update raises it.
    ApproximateBound,
    /// A bound on a pseudo-likelihood: every update raises it.
    PseudoLikelihood,
    /// No guarantee; the monotonicity check is off.
    NoGuarantee,
}

/// What one noise precision is shared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseScope {
    /// One for each predictor column: columns can be updated on their own.
    Column,
    /// One for the whole view.
    View,
}
