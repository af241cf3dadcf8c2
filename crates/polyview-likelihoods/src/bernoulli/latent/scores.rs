//! Updates of the latent scores, cell by cell.

use polyview_core::Predictor;
use polyview_special::{log_sigmoid, sigmoid, softplus};
use rayon::prelude::*;

use super::LatentBernoulli;
use crate::bernoulli::lambda;
use crate::cells::blocks;

/// What the scores of one column or cell sum up to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoreSums {
    pub(super) variance: f64,
    pub(super) bound: f64,
    pub(super) finite: bool,
}

/// One cell with a score, as an update meets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// The label; `None` where it is missing and imputed.
    pub(super) label: Option<f64>,
    /// Mean of the linear predictor.
    pub(super) eta: f64,
    /// Noise precision.
    pub(super) tau: f64,
    /// Mean of the score, or its draw.
    pub(super) score: f64,
    /// ξ.
    pub(super) xi: f64,
}

pub(super) fn add(a: ScoreSums, b: ScoreSums) -> ScoreSums {
    ScoreSums {
        variance: a.variance + b.variance,
        bound: a.bound + b.bound,
        finite: a.finite,
    }
}

/// L8 of one score with mean `m` and variance `v`. A missing label has
/// $q(\tilde t) = \mathrm{Bernoulli}(\sigma(m))$ (U11), whose term
/// $m r + H(r)$ is $\ln(1 + e^m)$ there.
pub(super) fn cell_sums(label: Option<f64>, m: f64, v: f64, xi: f64) -> ScoreSums {
    let l2p = (2.0 * std::f64::consts::PI).ln();
    // zero, but for rounding, after U8
    let gap = m * m + v - xi * xi;
    let slack = if gap.abs() > 1e-14 * xi * xi {
        lambda(xi) * gap
    } else {
        0.0
    };
    let of_label = label.map_or_else(|| softplus(m), |t| m * t);
    ScoreSums {
        variance: v,
        bound: log_sigmoid(xi) + of_label - 0.5 * (m + xi) - slack + 0.5 * (1.0 + l2p + v.ln()),
        finite: true,
    }
}

/// U7 (E2), U8 (E3) and U11, some rounds.
pub(super) fn update_score(cell: Cell, rounds: usize) -> (f64, f64, ScoreSums) {
    let Cell {
        label,
        eta,
        tau,
        mut score,
        mut xi,
    } = cell;
    let mut v = 0.0;
    for _ in 0..rounds.max(1) {
        let t = label.unwrap_or_else(|| sigmoid(score));
        v = 1.0 / (tau + 2.0 * lambda(xi));
        score = v * (t - 0.5 + tau * eta);
        xi = (score * score + v).sqrt();
    }
    (score, xi, cell_sums(label, score, v, xi))
}

impl LatentBernoulli {
    /// Goes through all scores by columns: `visit(sample, column, label,
    /// predictor, noise precision, score, ξ, random stream)` writes score and
    /// ξ and returns what they sum up to.
    pub(super) fn visit_scores<R: Send>(
        &mut self,
        p: &Predictor<'_>,
        stream: impl Fn(usize) -> R + Sync,
        visit: impl Fn(Cell, &mut R) -> (f64, f64, ScoreSums) + Sync,
    ) -> Vec<ScoreSums> {
        let (rows, columns) = (self.labels.nrows(), self.labels.ncols());
        let imputes = self.imputes();
        let mut all = Vec::with_capacity(columns);
        for block in blocks(rows, columns) {
            let eta = p.mean(0..rows, block.clone());
            let tau: Vec<f64> = block.clone().map(|d| self.scores.precision_of(d)).collect();
            let Self {
                labels,
                mask,
                scores,
                xi,
                ..
            } = self;
            let means = scores
                .scores_mut()
                .as_mut()
                .subcols_mut(block.start, block.len());
            let xis = xi.as_mut().subcols_mut(block.start, block.len());
            let sums: Vec<ScoreSums> = means
                .par_col_chunks_mut(1)
                .zip(xis.par_col_chunks_mut(1))
                .enumerate()
                .map(|(j, (mut mean, mut xi))| {
                    let d = block.start + j;
                    let mut stream = stream(d);
                    let mut sums = ScoreSums {
                        finite: true,
                        ..ScoreSums::default()
                    };
                    for n in 0..rows {
                        let observed = mask.is_observed(n, d);
                        if imputes || observed {
                            let cell = Cell {
                                label: observed.then(|| labels[(n, d)]),
                                eta: eta[(n, j)],
                                tau: tau[j],
                                score: mean[(n, 0)],
                                xi: xi[(n, 0)],
                            };
                            let (m, x, own) = visit(cell, &mut stream);
                            (mean[(n, 0)], xi[(n, 0)]) = (m, x);
                            sums = add(sums, own);
                            sums.finite &= m.is_finite() && x.is_finite();
                        }
                    }
                    sums
                })
                .collect();
            all.extend(sums);
        }
        all
    }
}
