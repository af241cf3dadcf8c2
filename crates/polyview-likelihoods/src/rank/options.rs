//! Choices of a rank view.

use polyview_core::DataError;
use serde::{Deserialize, Serialize};

/// Which pairs of samples a feature compares (spec/maxmargin-rank 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairPolicy {
    /// Each observed cell with some observed cells of its feature, drawn once:
    /// a fixed objective that no update lowers.
    #[default]
    Random,
    /// Each cell with one of the next value: weak, and prone to collapse.
    Adjacent,
    /// Each cell with the largest predictor among smaller values and the
    /// smallest among larger ones, chosen anew in every sweep: the paper's
    /// formula. The objective changes with the choice, and a pair that is chosen because
    /// it breaks the order pulls both of its ends: under [`RankUpdates::Coherent`] all
    /// loadings vanish. It is for [`RankUpdates::Frozen`], by draws.
    Extreme,
    /// All pairs of different values: quadratic in the samples.
    All,
}

/// By how much predictors are to differ, in their own units.
///
/// $(A, \epsilon) \to (cA, c\epsilon)$ multiplies the loss by $c$, and priors
/// with learnt scales do not notice: the margin only says how much ranks weigh
/// beside the prior of the factors and the other views, an inverse temperature
/// (spec/maxmargin-rank 2.2). Where it weighs too little all loadings shrink to
/// zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Margin {
    /// $\epsilon$ itself.
    Fixed(f64),
    /// What one cell is worth, in nats: the loss $2c\epsilon$ of the pairs of a
    /// cell without any order, on average over the cells that are compared.
    /// Unlike $\epsilon$ it does not depend on the number of partners.
    PerCell(f64),
}

/// What a cell is worth unless somebody says otherwise, in nats: about what a cell of a
/// Gaussian view is, and with five partners the margin of .05 of the paper.
///
/// Pairs are no independent observations. Where they weigh more, factors follow noise:
/// of ten factors offered to data of three all ten are kept, and hidden cells of data with
/// much noise are predicted worse than by their means; where they weigh less, weak factors
/// are lost.
/// Measured on simulated data (`cargo run --release -p polyview-examples --example
/// rank_margin`: 300 samples, 60 features, signal and noise of one size, a tenth of the
/// cells hidden): .6, .8, 1, 2, 5 and 20 nats keep 3, 3, 3, 5, 10 and 10 factors and
/// predict hidden cells with an R² of .44, .45, .45, .45, .37 and .31.
const NATS: f64 = 1.0;

impl Default for Margin {
    fn default() -> Self {
        Self::PerCell(NATS)
    }
}

/// How factors and loadings are updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankUpdates {
    /// Exact steps on the pairs ([`Rank`](crate::Rank)).
    #[default]
    Coherent,
    /// The paper's, repaired: neighbours stay where they are while a sample
    /// moves, and nothing is guaranteed ([`FrozenRank`](crate::FrozenRank)).
    Frozen,
}

/// Partners of a cell, unless somebody says otherwise.
///
/// Measured on simulated data by the error of a label of 1000 new samples, 200 to train
/// (`cargo run --release -p polyview-examples --example rank_scales`, means of eight data
/// sets): 25.9, 25.0 and 25.4 % with 3, 5 and 10 partners where 200 features have little
/// signal, 24.0, 24.1 and 24.1 % where 50 have, and 18.9, 18.8 and 18.7 % where 200
/// have much. Fits take about 1.25 times as long with 5 as with 3, and 1.4 to
/// 2.8 times as long with 10.
const PARTNERS: usize = 5;

/// Choices of a rank view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RankOptions {
    /// Which samples are compared.
    pub pairs: PairPolicy,
    /// Partners of each cell ([`PairPolicy::Random`]).
    pub partners: usize,
    /// By how much predictors are to differ.
    pub margin: Margin,
    /// Weight $c$ of each pair; a whole number is that many copies.
    pub weight: f64,
    /// How factors and loadings are updated ([`rank_term`](crate::rank_term)).
    pub updates: RankUpdates,
    /// Most training values of a feature that a new sample is compared with.
    pub anchors: usize,
}

impl Default for RankOptions {
    fn default() -> Self {
        Self {
            pairs: PairPolicy::default(),
            partners: PARTNERS,
            margin: Margin::default(),
            weight: 1.0,
            updates: RankUpdates::default(),
            anchors: 64,
        }
    }
}

impl RankOptions {
    /// The option that cannot be, by name, with its value.
    pub fn invalid(&self) -> Option<(&'static str, f64)> {
        let margin = match self.margin {
            Margin::Fixed(x) | Margin::PerCell(x) => x,
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(margin) {
            Some(("margin", margin))
        } else if !positive(self.weight) {
            Some(("weight", self.weight))
        } else if self.partners == 0 {
            Some(("partners", 0.0))
        } else if self.anchors < 2 {
            Some(("anchors", self.anchors as f64))
        } else {
            None
        }
    }
    pub(super) fn check(&self, view: &str) -> Result<(), DataError> {
        match self.invalid() {
            None => Ok(()),
            Some((option, value)) => Err(DataError::Option {
                view: view.to_owned(),
                option,
                value,
            }),
        }
    }
}
