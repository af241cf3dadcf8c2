//! Scores of all samples: U9, U12, and class probabilities.

use std::ops::Range;

use polyview_core::{NumericError, Predictor};
use polyview_linalg::Mat;
use rayon::prelude::*;

use super::CategoricalProbit;
use super::probabilities::class_probabilities;
use crate::{MissingData, ParameterUncertainty};

/// Blocks that are worked on together before their results are written back.
const WAVE: usize = 64;

/// Samples that are worked on together: about two megabytes of scores. Fixed,
/// so that results and random streams do not depend on the threads.
fn block_rows(classes: usize) -> usize {
    ((1 << 18) / classes.max(1)).clamp(1, 256)
}

/// Blocks of samples, in waves.
fn waves(samples: usize, classes: usize) -> impl Iterator<Item = Vec<(u32, Range<usize>)>> {
    let rows = block_rows(classes);
    let blocks = samples.div_ceil(rows);
    (0..blocks).step_by(WAVE).map(move |first| {
        (first..(first + WAVE).min(blocks))
            .map(|b| (b as u32, b * rows..((b + 1) * rows).min(samples)))
            .collect()
    })
}

/// $\langle\eta\_n\rangle = \bar z\_n\bar W^\top + \bar b$ (M4, **with** the
/// intercepts, E16), classes × samples: what a sample needs lies together.
pub(super) fn predictor_rows(p: &Predictor<'_>, samples: Range<usize>) -> Mat<f64> {
    let z = p
        .factors
        .mean()
        .subrows(samples.start, samples.len())
        .transpose()
        .to_owned();
    let mut out = polyview_linalg::times_small(p.weights.mean(), z.as_ref());
    for n in 0..out.ncols() {
        for (m, b) in out.col_as_slice_mut(n).iter_mut().zip(p.bias.mean()) {
            *m += b;
        }
    }
    out
}

/// New scores of a block, classes × samples, and offsets.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) scores: Mat<f64>,
    pub(super) offsets: Vec<f64>,
}

impl CategoricalProbit {
    /// Replaces the scores block by block: `make(block number, samples)` in
    /// parallel, then written in order.
    pub(super) fn replace_scores(
        &mut self,
        make: impl Fn(&Self, u32, Range<usize>) -> Result<Block, NumericError> + Sync,
    ) -> Result<(), NumericError> {
        for wave in waves(self.classes.len(), self.levels.len()) {
            let this: &Self = self;
            let done: Vec<Block> = wave
                .into_par_iter()
                .map(|(number, samples)| make(this, number, samples))
                .collect::<Result<_, _>>()?;
            let keep: Vec<bool> = match self.options.missing {
                MissingData::Marginal => self.classes.iter().map(Option::is_some).collect(),
                MissingData::Impute => vec![true; self.classes.len()],
            };
            for block in &done {
                self.offsets[block.start..block.start + block.offsets.len()]
                    .copy_from_slice(&block.offsets);
            }
            self.layer.write_scores(|values| {
                for c in 0..values.ncols() {
                    let column = values.col_as_slice_mut(c);
                    for block in &done {
                        for i in 0..block.offsets.len() {
                            if keep[block.start + i] {
                                column[block.start + i] = block.scores[(c, i)];
                            }
                        }
                    }
                }
            });
        }
        self.layer.scores_written();
        Ok(())
    }

    /// U9 for every sample with a class, U12 for the others where imputed.
    pub(super) fn refresh_scores(&mut self, p: &Predictor<'_>) -> Result<(), NumericError> {
        self.drawn = false;
        self.replace_scores(|term, _, samples| {
            let mut scores = predictor_rows(p, samples.clone());
            let mut offsets = vec![0.0; samples.len()];
            let mut shift = vec![0.0; term.levels.len()];
            let mut ratios = Vec::new();
            for (i, n) in samples.clone().enumerate() {
                let m = scores.col_as_slice_mut(i);
                if let Some(class) = term.classes[n] {
                    let ln_xi = term.rule.moments(m, class, &mut shift, &mut ratios);
                    offsets[i] = ln_xi + 0.5 * shift.iter().map(|s| s * s).sum::<f64>();
                    for (m, s) in m.iter_mut().zip(&shift) {
                        *m += s;
                    }
                }
                if !offsets[i].is_finite() || m.iter().any(|x| !x.is_finite()) {
                    return Err(term.not_finite());
                }
            }
            Ok(Block {
                start: samples.start,
                scores,
                offsets,
            })
        })
    }

    /// Class probabilities of some samples, classes × samples: P8 or P7.
    pub(super) fn predict_probabilities(
        &self,
        p: &Predictor<'_>,
        samples: Range<usize>,
    ) -> Mat<f64> {
        let classes = self.levels.len();
        let mut out = Mat::zeros(classes, samples.len());
        for wave in waves(samples.len(), classes) {
            let done: Vec<(usize, Mat<f64>)> = wave
                .into_par_iter()
                .map(|(_, part)| {
                    let at = samples.start + part.start..samples.start + part.end;
                    let mean = predictor_rows(p, at.clone());
                    let variance = match self.options.prediction {
                        ParameterUncertainty::Posterior => Some(p.variance(at, 0..classes)),
                        ParameterUncertainty::PlugIn => None,
                    };
                    let mut block = Mat::zeros(classes, part.len());
                    for i in 0..part.len() {
                        let sd: Vec<f64> = (0..classes)
                            .map(|c| variance.as_ref().map_or(1.0, |v| (1.0 + v[(i, c)]).sqrt()))
                            .collect();
                        class_probabilities(mean.col_as_slice(i), &sd, block.col_as_slice_mut(i));
                    }
                    (part.start, block)
                })
                .collect();
            for (start, block) in done {
                out.as_mut()
                    .subcols_mut(start, block.ncols())
                    .copy_from(&block);
            }
        }
        out
    }
}
