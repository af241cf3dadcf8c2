//! The bound at the current precisions (spec/maxmargin-rank 5.6).

use polyview_core::Predictor;
use rayon::prelude::*;

use super::Rank;

/// Terms that are summed together. Fixed, so that the order of sums is.
const PART: usize = 1 << 14;

impl Rank {
    /// $-c\sum\_t[\langle u\_t\rangle + \tfrac12(\kappa\_t\langle u\_t^2\rangle +
    /// 1/\kappa\_t)]$: at $\kappa = \langle u^2\rangle^{-1/2}$ it is
    /// $-c\sum[\langle u\rangle + \sqrt{\langle u^2\rangle}]$. With drawn
    /// precisions $-2c\sum\max(0, u\_t)$: the augmentation is summed out.
    pub(super) fn ranks(&mut self, p: &Predictor<'_>) -> f64 {
        self.measure(p);
        let Some(m) = &self.measured else {
            return 0.0;
        };
        let hinge = self.drawn && m.known;
        let parts: Vec<f64> = m
            .values
            .par_chunks(PART)
            .zip(self.kappa.par_chunks(PART))
            .map(|(values, kappa)| {
                values
                    .iter()
                    .zip(kappa)
                    .map(|(v, k)| match (hinge, m.known) {
                        (true, _) => 2.0 * v.max(0.0),
                        (false, true) => 0.5 * (k * v * v + k.recip()),
                        (false, false) => 0.5 * (k * v + k.recip()),
                    })
                    .sum()
            })
            .collect();
        let sum: f64 = parts.iter().sum();
        let linear = if hinge { 0.0 } else { m.sum };
        -self.options.weight * (linear + sum)
    }
}
