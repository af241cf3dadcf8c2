//! A view after it was settled: how well it predicts its training labels.

use polyview_core::{Bias, Block, Predictor, RowMoments, State, View};
use polyview_infer::{Outcome, ViewPart};

use super::settling::with;

/// Least range of predicted probabilities over the samples of a classifier that
/// tells them apart.
const LEAST_RANGE: f64 = 1e-3;

/// One view after a run.
pub(super) struct Candidate {
    /// Its part of what the model saves, without what belongs to samples.
    pub(super) state: State,
    /// Log loss of the labels of training samples at the given factors, nats over all
    /// cells; `None` for what is no label.
    pub(super) loss: Option<f64>,
    /// That of the joint fit's weights.
    pub(super) joint_loss: Option<f64>,
    /// That of the shares of the labels.
    pub(super) shares_loss: Option<f64>,
    /// Number of weights.
    pub(super) weights: f64,
    /// Whether it predicts the same of all samples.
    pub(super) constant: bool,
    /// How its sweeps ended, and their number.
    pub(super) outcome: Outcome,
    pub(super) sweeps: usize,
    /// Where it was settled on features, the number of directions of what factors leave of
    /// these, and their share in the variance of the predictors.
    pub(super) features: Option<(usize, f64)>,
}

impl Candidate {
    /// Whether the joint fit's own weights predict the labels better, by more than a nat
    /// for each weight (they have seen these labels), though these do not move with
    /// the samples at all, or are surer than they have reason to be.
    pub(super) fn is_worse_than_joint(&self) -> bool {
        match (self.loss, self.joint_loss) {
            (Some(own), Some(joint)) => {
                (self.constant || self.is_too_sure()) && joint + self.weights < own
            }
            _ => false,
        }
    }
    /// Whether the labels are predicted worse than by their shares, by more than a nat for each
    /// weight: where factors say little of them, the pseudo-likelihood of a margin
    /// (spec/maxmargin-rank 2.3) puts every sample a margin from the border all the same.
    pub(super) fn is_too_sure(&self) -> bool {
        match (self.loss, self.shares_loss) {
            (Some(own), Some(shares)) => shares + self.weights < own,
            _ => false,
        }
    }
}

/// Log loss of the labels of a view, nats over all cells, and whether the same is predicted of all
/// samples; `None` for what is no label.
pub(super) fn predicted(
    part: &ViewPart,
    bias: &Bias,
    factors: &RowMoments,
    view: &View,
) -> Option<(f64, bool)> {
    let domain = part.term.domain();
    if !(domain.is_label() || domain.has_trials()) {
        return None;
    }
    let p = Predictor {
        bias,
        ..with(part, factors)
    };
    let rows = view.n_samples();
    let block = Block::new(0..rows, 0..part.term.shape().observed_columns);
    let mean = part.term.law(&p, &block).means();
    let columns = mean.ncols();
    let mut sum = 0.0;
    let mut tell = |probability: f64| sum -= probability.max(f64::MIN_POSITIVE).ln();
    for n in 0..rows {
        if domain.has_classes() {
            if let Some(class) = view.value(n, 0) {
                tell(mean[(n, class as usize)]);
            }
            continue;
        }
        for d in 0..columns {
            if let Some(x) = view.value(n, d) {
                tell(if x > 0.5 {
                    mean[(n, d)]
                } else {
                    1.0 - mean[(n, d)]
                });
            }
        }
    }
    let still = |d: usize| {
        let column = mean.col_as_slice(d);
        let least = column.iter().copied().fold(f64::INFINITY, f64::min);
        let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - least < LEAST_RANGE
    };
    Some((sum, (0..columns).all(still)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_constant_and_clearly_worse_gives_way() {
        let found = |constant: bool, joint: f64| Candidate {
            state: State::new(),
            loss: Some(50.0),
            joint_loss: Some(joint),
            shares_loss: None,
            weights: 5.0,
            constant,
            outcome: Outcome::Converged,
            sweeps: 1,
            features: None,
        };
        assert!(found(true, 30.0).is_worse_than_joint());
        // a nat for each weight is what weights gain that have seen the labels
        assert!(!found(true, 46.0).is_worse_than_joint());
        assert!(!found(false, 30.0).is_worse_than_joint());
        let sure = |shares: f64| Candidate {
            shares_loss: Some(shares),
            ..found(false, 30.0)
        };
        assert!(sure(44.0).is_worse_than_joint());
        assert!(!sure(46.0).is_worse_than_joint());
    }
}
