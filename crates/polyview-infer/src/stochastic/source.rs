//! Where batches come from, and which samples are in which.

use std::ops::Range;

use polyview_random::{StreamKey, uniform_open01};

use super::StochasticOptions;

/// The samples in blocks, and the blocks in batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batches {
    samples: usize,
    block: usize,
    count: usize,
}

impl Batches {
    pub(super) fn new(samples: usize, options: &StochasticOptions) -> Self {
        let batch = options.batch_size(samples);
        let block = match options.block {
            0 => batch.div_ceil(8).clamp(1, 4096),
            own => own.min(batch),
        };
        let blocks = samples.div_ceil(block).max(1);
        let count = ((samples as f64 / batch as f64).round() as usize).clamp(1, blocks);
        Self {
            samples,
            block,
            count,
        }
    }
    fn blocks(&self) -> usize {
        self.samples.div_ceil(self.block).max(1)
    }
    /// Batches of an epoch: every block in one of them, in the order of the
    /// data within a batch. The order belongs to the key alone.
    pub(super) fn shuffled(&self, key: StreamKey) -> Vec<Vec<Range<usize>>> {
        let mut order: Vec<usize> = (0..self.blocks()).collect();
        let mut rng = key.rng();
        for i in (1..order.len()).rev() {
            let j = (uniform_open01(&mut rng) * (i + 1) as f64) as usize;
            order.swap(i, j.min(i));
        }
        self.dealt(&order)
    }
    /// Batches in the order of the data.
    pub(super) fn in_order(&self) -> Vec<Vec<Range<usize>>> {
        let order: Vec<usize> = (0..self.blocks()).collect();
        self.dealt(&order)
    }
    /// Batches of sizes that differ by a block at most.
    fn dealt(&self, order: &[usize]) -> Vec<Vec<Range<usize>>> {
        (0..self.count)
            .map(|b| {
                let from = b * order.len() / self.count;
                let to = (b + 1) * order.len() / self.count;
                let mut blocks = order[from..to].to_vec();
                blocks.sort_unstable();
                let mut ranges: Vec<Range<usize>> = Vec::with_capacity(blocks.len());
                for i in blocks {
                    let next = i * self.block..((i + 1) * self.block).min(self.samples);
                    match ranges.last_mut() {
                        Some(last) if last.end == next.start => last.end = next.end,
                        _ => ranges.push(next),
                    }
                }
                ranges
            })
            .collect()
    }
}

/// Number of samples in some ranges.
pub(super) fn samples_in(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(ExactSizeIterator::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_visits_every_sample_once_in_batches_of_nearly_one_size() {
        for (samples, batch, block) in [(1, 0.5, 0), (10, 1.0, 3), (1003, 0.1, 7), (97, 0.05, 0)] {
            let options = StochasticOptions {
                batch,
                block,
                ..StochasticOptions::default()
            };
            let batches = Batches::new(samples, &options);
            for deal in [batches.shuffled(StreamKey::new(3)), batches.in_order()] {
                let mut seen = vec![0; samples];
                for range in deal.iter().flatten() {
                    for n in range.clone() {
                        seen[n] += 1;
                    }
                }
                assert!(seen.iter().all(|s| *s == 1));
                let sizes: Vec<usize> = deal.iter().map(|b| samples_in(b)).collect();
                let (least, most) = (sizes.iter().min(), sizes.iter().max());
                let spread = most.unwrap_or(&0) - least.unwrap_or(&0);
                assert!(
                    *least.unwrap_or(&0) > 0 && spread <= 2 * batches.block,
                    "{sizes:?}"
                );
            }
        }
    }
}
