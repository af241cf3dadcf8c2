//! Scores between their neighbours.

use std::ops::Range;

use polyview_core::Predictor;
use polyview_linalg::{Mat, times_small};
use polyview_random::{ChaCha8Rng, StreamKey, TruncatedNormal};
use polyview_special::truncated_normal_moments;
use rayon::prelude::*;

use super::OrdinaryRank;
use crate::rank::levels::MISSING;

/// Features that are worked on together.
const CHUNK: usize = 32;

/// What the scores of a feature add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoreSums {
    pub(super) variance: f64,
    /// $\sum\tfrac12\ln 2\pi + \ln Z + \tfrac12\langle(w - \eta)^2\rangle$: the
    /// entropies.
    pub(super) entropy: f64,
    pub(super) finite: bool,
    /// $\sum\langle(w - \eta)^2\rangle$ at the mean of the predictor, and the number of
    /// scores.
    about: f64,
    count: f64,
}

/// How a score becomes another one: its new value, variance and entropy.
trait Step: Sync {
    /// Whether the scores of a feature are brought to their unit afterwards.
    const RESCALES: bool;
    fn step(&self, mean: f64, ends: (f64, f64), rng: &mut ChaCha8Rng) -> Option<(f64, f64, f64)>;
}

/// Its expectation (spec 8).
struct Expected;

impl Step for Expected {
    const RESCALES: bool = true;
    fn step(&self, mean: f64, ends: (f64, f64), _: &mut ChaCha8Rng) -> Option<(f64, f64, f64)> {
        let m = truncated_normal_moments(mean, 1.0, ends.0, ends.1).ok()?;
        let about = m.variance + (m.mean - mean).powi(2);
        let entropy = 0.5 * (2.0 * std::f64::consts::PI).ln() + m.ln_mass + 0.5 * about;
        Some((m.mean, m.variance, entropy))
    }
}

/// A draw (spec 2.1).
struct Drawn;

impl Step for Drawn {
    const RESCALES: bool = false;
    fn step(&self, mean: f64, ends: (f64, f64), rng: &mut ChaCha8Rng) -> Option<(f64, f64, f64)> {
        let law = TruncatedNormal::new(mean, 1.0, ends.0, ends.1).ok()?;
        Some((law.sample(rng), 0.0, 0.0))
    }
}

impl OrdinaryRank {
    pub(super) fn refresh_scores(&mut self, p: &Predictor<'_>) -> bool {
        self.drawn = false;
        self.replace(p, StreamKey::new(0), &Expected)
    }
    pub(super) fn draw_scores(&mut self, p: &Predictor<'_>, key: StreamKey) -> bool {
        self.drawn = true;
        self.replace(p, key, &Drawn)
    }
    /// Variances of the scores of new samples between their ends at the mean predictors,
    /// features × samples; 0 where a cell is missing.
    pub(super) fn freedom(
        &self,
        (lower, upper): &(Mat<f64>, Mat<f64>),
        p: &Predictor<'_>,
        features: Range<usize>,
    ) -> Mat<f64> {
        let w = p.weights.mean().subrows(features.start, features.len());
        let mut eta = times_small(w, p.factors.mean().transpose().to_owned().as_ref());
        eta.as_mut()
            .par_col_chunks_mut(1)
            .enumerate()
            .for_each(|(n, mut eta)| {
                for (j, i) in features.clone().enumerate() {
                    let ends = (lower[(n, i)], upper[(n, i)]);
                    let known = self.levels.is_observed(n, i);
                    let m = truncated_normal_moments(eta[(j, 0)], 1.0, ends.0, ends.1);
                    eta[(j, 0)] = m.map_or(0.0, |m| if known { m.variance } else { 0.0 });
                }
            });
        eta
    }
    /// One score after the other, in the order of the values; features do not
    /// know one another. Returns whether all is finite.
    fn replace<S: Step>(&mut self, p: &Predictor<'_>, key: StreamKey, how: &S) -> bool {
        let (rows, features) = (self.levels.samples(), self.features.len());
        let mut sums = Vec::with_capacity(features);
        for start in (0..features).step_by(CHUNK) {
            let range = start..(start + CHUNK).min(features);
            let w = p.weights.mean().subrows(start, range.len());
            let eta = times_small(p.factors.mean(), w.transpose().to_owned().as_ref());
            let (levels, ends) = (&self.levels, self.ends.as_deref());
            // new samples have the unit of the training scores
            let spread =
                (S::RESCALES && ends.is_none()).then(|| p.variance(0..rows, range.clone()));
            let scores = self.layer.scores_mut();
            let part: Vec<ScoreSums> = scores
                .as_mut()
                .subcols_mut(start, range.len())
                .par_col_chunks_mut(1)
                .enumerate()
                .map(|(j, mut column)| {
                    let i = start + j;
                    let mut own: Vec<f64> = (0..rows).map(|n| column[(n, 0)]).collect();
                    let feature = Feature {
                        levels: levels.of(i),
                        order: levels.order(i),
                        count: levels.count(i),
                        eta: eta.col_as_slice(j),
                    };
                    let mut rng = key.chunk(i as u32).rng();
                    let mut sums = match ends {
                        None => feature.among_themselves(&mut own, how, &mut rng),
                        Some(ends) => feature.between(ends, i, &mut own, how, &mut rng),
                    };
                    if let Some(spread) = &spread {
                        feature.rescale(&mut own, spread.col_as_slice(j), &mut sums);
                    }
                    for (n, x) in own.iter().enumerate() {
                        column[(n, 0)] = *x;
                    }
                    sums
                })
                .collect();
            sums.extend(part);
        }
        self.entropy = sums.iter().map(|s| s.entropy).collect();
        self.layer
            .scores_changed(sums.iter().map(|s| s.variance).collect());
        self.keep_anchor_scores();
        sums.iter().all(|s| s.finite)
    }
}

/// One feature of all samples.
struct Feature<'a> {
    levels: &'a [u32],
    order: Vec<u32>,
    count: usize,
    eta: &'a [f64],
}

impl Feature<'_> {
    fn visit(
        &self,
        n: usize,
        ends: (f64, f64),
        scores: &mut [f64],
        (how, rng, sums): (&impl Step, &mut ChaCha8Rng, &mut ScoreSums),
    ) {
        sums.finite &= self.eta[n].is_finite();
        // between ends that rounding has brought together it stays
        if let Some((score, variance, entropy)) = how.step(self.eta[n], ends, rng) {
            scores[n] = score;
            sums.about += variance + (score - self.eta[n]).powi(2);
            sums.count += 1.0;
            sums.variance += variance;
            sums.entropy += entropy;
            sums.finite &= score.is_finite();
        }
    }
    /// Each score between the largest of the level below and the smallest of
    /// the level above.
    fn among_themselves(
        &self,
        scores: &mut [f64],
        how: &impl Step,
        rng: &mut ChaCha8Rng,
    ) -> ScoreSums {
        let mut sums = ScoreSums {
            finite: true,
            ..ScoreSums::default()
        };
        let mut lowest = vec![f64::INFINITY; self.count + 1];
        for &n in &self.order {
            let at = &mut lowest[self.levels[n as usize] as usize];
            *at = at.min(scores[n as usize]);
        }
        let (mut below, mut highest, mut level) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
        for &n in &self.order {
            let n = n as usize;
            let own = self.levels[n] as usize;
            if own != level {
                (below, level) = (highest, own);
            }
            let ends = (below, lowest[own + 1]);
            self.visit(n, ends, scores, (how, &mut *rng, &mut sums));
            highest = highest.max(scores[n]);
        }
        sums
    }
    /// Brings the scores to the unit in which their noise is 1:
    ///
    /// $$ w \to sw,\qquad s^2 = N\Big/\sum\_n\langle(w\_n - \eta\_n)^2\rangle. $$
    ///
    /// The order of the data says nothing of the unit of the scores, but each score moves
    /// no further than its neighbours let it, so that on its own the unit
    /// takes thousands of sweeps. Scores and weights times s (the next update of the weights
    /// follows the scores) change the expected log density by
    /// $-\tfrac12s^2\sum\langle(w-\eta)^2\rangle$ and the entropy by $N\ln s$: this is
    /// its maximum (a parameter expansion; the prior of the weights is left out, whose
    /// scales follow). `spread` has the variances of the predictors.
    fn rescale(&self, scores: &mut [f64], spread: &[f64], sums: &mut ScoreSums) {
        let observed = self.order.iter().map(|&n| spread[n as usize].max(0.0));
        let square = (sums.about + observed.sum::<f64>()) / sums.count;
        // between levels that many share scores move freely, and their unit is found as it is;
        // with the ends plugged in, this step would lead further out for ever
        let tied = 2 * self.count < self.order.len();
        if tied || self.count < 2 || !(square > 0.0 && square.is_finite()) {
            return;
        }
        let scale = square.sqrt().recip();
        for &n in &self.order {
            scores[n as usize] *= scale;
        }
        sums.variance *= scale * scale;
        sums.entropy += sums.count * scale.ln();
    }
    /// Each score between ends of its own.
    fn between(
        &self,
        (lower, upper): &(Mat<f64>, Mat<f64>),
        feature: usize,
        scores: &mut [f64],
        how: &impl Step,
        rng: &mut ChaCha8Rng,
    ) -> ScoreSums {
        let mut sums = ScoreSums {
            finite: true,
            ..ScoreSums::default()
        };
        for n in 0..scores.len() {
            if self.levels[n] != MISSING {
                let ends = (lower[(n, feature)], upper[(n, feature)]);
                self.visit(n, ends, scores, (how, &mut *rng, &mut sums));
            }
        }
        sums
    }
}
