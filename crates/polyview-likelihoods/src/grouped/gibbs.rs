//! Draws, group after group.

use std::ops::Range;

use polyview_core::{Augmented, Context, Noise, NoiseScope, NumericError, Predictor, ViewTerm};
use polyview_random::StreamKey;

use super::Grouped;

/// The random stream of a group: another chain's, far from those of chains.
pub(super) fn group_key(key: StreamKey, group: usize) -> StreamKey {
    key.chain(key.chain ^ (group as u32) << 16)
}

fn drawable(term: &mut dyn ViewTerm) -> Result<&mut dyn Augmented, NumericError> {
    term.as_augmented().ok_or(NumericError::NoDraws)
}

impl Augmented for Grouped {
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let (split, key) = (self.split(p), cx.key);
        for (g, term) in self.inner.iter_mut().enumerate() {
            cx.key = group_key(key, g);
            drawable(term.as_mut())?.draw_locals(&split.of(g, p), cx)?;
        }
        cx.key = key;
        Ok(())
    }
    fn draw_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        if self.shared.is_some() {
            let first = self.first_noise(&columns);
            let sums = self.shared_sums(columns, p)?;
            if let Some(noise) = &mut self.shared {
                for (i, (count, sum)) in sums.into_iter().enumerate() {
                    let (shape, rate) = noise.posterior(count, sum);
                    let at = first + i;
                    noise.draw(at, shape, rate, cx.key.chunk(at as u32));
                }
            }
            self.hand_out_noise();
            return Ok(());
        }
        let (split, key) = (self.split(p), cx.key);
        for (g, term) in self.inner.iter_mut().enumerate() {
            cx.key = group_key(key, g);
            drawable(term.as_mut())?.draw_noise(columns.clone(), &split.of(g, p), cx)?;
        }
        cx.key = key;
        Ok(())
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        for (g, term) in self.inner.iter_mut().enumerate() {
            if let Some(draws) = term.as_augmented() {
                draws.draw_noise_prior(group_key(key, g));
            }
        }
        if let (Some(noise), [first, ..]) = (&mut self.shared, &self.inner[..]) {
            if let Some(drawn) = first.as_noise().and_then(|n| n.precisions()) {
                noise.clone_from(drawn);
            }
            self.hand_out_noise();
        }
    }
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let split = self.split(p);
        for (g, term) in self.inner.iter_mut().enumerate() {
            if let Some(draws) = term.as_augmented() {
                draws.draw_data(&split.of(g, p), group_key(key, g));
            }
        }
    }
}

impl Grouped {
    /// Number of the first noise precision of some columns.
    pub(super) fn first_noise(&self, columns: &Range<usize>) -> usize {
        if self.scope() == NoiseScope::View {
            0
        } else {
            columns.start
        }
    }
    /// The sums over all groups that the noise precisions they share depend
    /// on.
    pub(super) fn shared_sums(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        let split = self.split(p);
        let mut out: Vec<(f64, f64)> = Vec::new();
        for (g, term) in self.inner.iter_mut().enumerate() {
            let sums = match term.as_noise_mut() {
                Some(noise) => noise.sums(columns.clone(), &split.of(g, p))?,
                None => Vec::new(),
            };
            if out.is_empty() {
                out = sums;
            } else {
                for (all, own) in out.iter_mut().zip(sums) {
                    all.0 += own.0;
                    all.1 += own.1;
                }
            }
        }
        Ok(out)
    }
}
