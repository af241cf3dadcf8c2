//! The way of single rows back to what they were.

use polyview_core::{KeptRows, NumericError, RowCov};

use super::{SpikeSlabRows, site};

impl SpikeSlabRows {
    /// Entropy of the entries of a row without $\tfrac12\ln 2\pi e$ each; 0 for draws.
    pub(super) fn row_entropy(&self, row: usize) -> f64 {
        if self.is_draw() {
            return 0.0;
        }
        (0..self.inclusion.ncols())
            .map(|k| {
                let entry = (self.inclusion[(row, k)], self.slab_variance[(row, k)]);
                site::entry_entropy(entry, || 0.5 * self.spike(row, k).ln())
            })
            .sum()
    }
    /// Natural parameters of each entry go part of the way: those of the slab, and the log
    /// odds of inclusion.
    pub(super) fn retreat_entries(
        &mut self,
        kept: &KeptRows,
        row: usize,
        share: f64,
    ) -> Result<(), NumericError> {
        let [gamma, mean, variance] = &kept.entries[..] else {
            return self.moments.retreat(&self.name, kept, row, share);
        };
        self.known = None;
        let (at, before) = (row - kept.rows().start, self.row_entropy(row));
        let part = |a: f64, b: f64| (1.0 - share) * a + share * b;
        let log_odds = |p: f64| p.ln() - (-p).ln_1p();
        for k in 0..self.inclusion.ncols() {
            let old = (gamma[(at, k)], mean[(at, k)], variance[(at, k)]);
            let new = (
                self.inclusion[(row, k)],
                self.slab_mean[(row, k)],
                self.slab_variance[(row, k)],
            );
            let (p, m, v) = if share == 0.0 {
                old
            } else if old.2 > 0.0 && new.2 > 0.0 {
                let precision = part(old.2.recip(), new.2.recip());
                let linear = part(old.1 / old.2, new.1 / new.2);
                // entries that are surely in the slab, as a start has them, come as they are
                let logit = match (log_odds(old.0), log_odds(new.0)) {
                    (a, b) if a.is_finite() && b.is_finite() => part(a, b),
                    (_, b) => b,
                };
                let odds = 1.0 / (1.0 + (-logit).exp());
                (odds, linear / precision, precision.recip())
            } else {
                (new.0, part(old.1, new.1), new.2)
            };
            self.inclusion[(row, k)] = p;
            self.slab_mean[(row, k)] = m;
            self.slab_variance[(row, k)] = v;
        }
        if self.together.is_some() {
            return self.moments.retreat(&self.name, kept, row, share);
        }
        let (mean, cov, _) = self.moments.parts_mut();
        for k in 0..self.inclusion.ncols() {
            let p = self.inclusion[(row, k)];
            let (m, v) = (self.slab_mean[(row, k)], self.slab_variance[(row, k)]);
            mean[(row, k)] = p * m;
            if let RowCov::Diagonal(all) = cov {
                all[(row, k)] = p * v + p * (1.0 - p) * m * m;
            }
        }
        if !self.is_draw() {
            self.entropy += self.row_entropy(row) - before;
        }
        Ok(())
    }
}
