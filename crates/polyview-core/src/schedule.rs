//! The order of the steps of a sweep, as data.

use serde::{Deserialize, Serialize};

/// Place of a view in the model.
pub type ViewId = usize;

/// One step of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Local variables of a view (latent scores, imputed cells).
    Local(ViewId),
    /// Weights of a view.
    Weights(ViewId),
    /// Intercepts of a view.
    Bias(ViewId),
    /// Noise precision of a view.
    Noise(ViewId),
    /// Scales of the weights' prior.
    Scales(ViewId),
    /// Factors.
    Factors,
    /// Components of a mixture prior that the samples belong to.
    Assign,
    /// Scales of the factors' prior.
    FactorScales,
    /// Rotation of factors and weights.
    Rotate,
    /// Removal of empty factors.
    Prune,
}

impl Step {
    /// The view that it is about; `None` for steps of the factors.
    pub fn view(self) -> Option<ViewId> {
        match self {
            Self::Local(v)
            | Self::Weights(v)
            | Self::Bias(v)
            | Self::Noise(v)
            | Self::Scales(v) => Some(v),
            Self::Factors | Self::Assign | Self::FactorScales | Self::Rotate | Self::Prune => None,
        }
    }
}

/// The order of the steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Steps of every sweep, in order.
    pub sweep: Vec<Step>,
}

impl Schedule {
    /// The default (spec/sshiba 2.7): a rotation first
    /// (docs/decisions/0005-rotation-first.md), before products with
    /// the data are made that it would turn; by view locals, weights, intercepts, noise,
    /// scales; then the factors, and empty factors are removed. Factors come last, since
    /// a start gives factors and the first weights are made from them.
    pub fn standard(views: usize) -> Self {
        let mut sweep = vec![Step::Rotate];
        for v in 0..views {
            sweep.extend([
                Step::Local(v),
                Step::Weights(v),
                Step::Bias(v),
                Step::Noise(v),
                Step::Scales(v),
            ]);
        }
        sweep.extend([Step::Factors, Step::FactorScales, Step::Prune]);
        Self { sweep }
    }
    /// As [`Schedule::standard`], for factors with a mixture prior: the
    /// components that samples belong to come right after their factors, the
    /// components themselves after that (spec/maxmargin-rank 5.6).
    pub fn with_assignment(views: usize) -> Self {
        let mut out = Self::standard(views);
        let after = out.sweep.iter().position(|s| *s == Step::Factors);
        out.sweep
            .insert(after.map_or(out.sweep.len(), |i| i + 1), Step::Assign);
        out
    }
    /// The order of mofapy2 (spec/mofa B.5): each kind of node for all views
    /// before the next, noise last; no rotation, no pruning.
    pub fn by_node(views: usize) -> Self {
        let all = |step: fn(ViewId) -> Step| (0..views).map(step);
        let sweep = all(Step::Local)
            .chain(all(Step::Weights))
            .chain(all(Step::Scales))
            .chain([Step::Factors, Step::FactorScales])
            .chain(all(Step::Noise))
            .collect();
        Self { sweep }
    }
}
