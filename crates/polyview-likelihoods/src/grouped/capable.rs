//! What groups can do because each of their terms can.

use std::ops::Range;

use polyview_core::{
    ByGroup, Context, Gammas, Noise, NoiseScope, NumericError, Predictor, Rounds, RowGroups, Side,
    Sizes, Tangents, ViewTerm,
};
use polyview_linalg::PackedRows;

use super::Grouped;
use super::gibbs::group_key;

/// Of its own only where groups share the precisions.
impl Noise for Grouped {
    fn scope(&self) -> NoiseScope {
        let first = self.inner.first().and_then(|t| t.as_noise());
        first.map_or(NoiseScope::Column, Noise::scope)
    }
    fn precisions(&self) -> Option<&Gammas> {
        self.shared.as_ref()
    }
    fn of_group(&self, group: usize) -> Option<&Gammas> {
        self.inner.get(group)?.as_noise()?.precisions()
    }
    fn share(&mut self, noise: &Gammas) {
        if self.shared.is_some() {
            self.shared = Some(noise.clone());
            self.hand_out_noise();
        }
    }
    fn sums(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        if self.shared.is_some() {
            self.shared_sums(columns, p)
        } else {
            Ok(Vec::new())
        }
    }
    fn update(&mut self, columns: Range<usize>, p: &Predictor<'_>) -> Result<(), NumericError> {
        if self.shared.is_some() {
            let first = self.first_noise(&columns);
            let sums = self.shared_sums(columns, p)?;
            if let Some(noise) = &mut self.shared {
                for (i, (count, sum)) in sums.into_iter().enumerate() {
                    let (shape, rate) = noise.posterior(count, sum);
                    noise.set(first + i, shape, rate);
                }
            }
            self.hand_out_noise();
            return Ok(());
        }
        let split = self.split(p);
        for (g, term) in self.inner.iter_mut().enumerate() {
            if let Some(noise) = term.as_noise_mut() {
                noise.update(columns.clone(), &split.of(g, p))?;
            }
        }
        Ok(())
    }
}

impl Rounds for Grouped {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let (split, key) = (self.split(p), cx.key);
        for (g, term) in self.inner.iter_mut().enumerate() {
            cx.key = group_key(key, g);
            if let Some(locals) = term.as_rounds() {
                locals.refresh_locals(&split.of(g, p), cx)?;
            }
        }
        cx.key = key;
        Ok(())
    }
    fn extrapolates(&mut self) -> bool {
        let mut inner = self.inner.iter_mut().filter_map(|t| t.as_rounds());
        inner.all(Rounds::extrapolates)
    }
    fn rest(&mut self, resting: &[bool]) {
        for (term, rows) in self.inner.iter_mut().zip(&self.rows) {
            if let Some(locals) = term.as_rounds() {
                let own: Vec<bool> = rows.iter().map(|&n| resting[n as usize]).collect();
                locals.rest(&own);
            }
        }
    }
    fn slack(&mut self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let split = self.split(p);
        for (g, (term, rows)) in self.inner.iter_mut().zip(&self.rows).enumerate() {
            let Some(locals) = term.as_rounds() else {
                continue;
            };
            let mut own = PackedRows::zeros(rows.len(), slack.k());
            locals.slack(&split.of(g, p), &mut own);
            for (i, &n) in rows.iter().enumerate() {
                for (to, x) in slack.row_mut(n as usize).iter_mut().zip(own.row(i)) {
                    *to += x;
                }
            }
        }
    }
}

impl Tangents for Grouped {
    fn values(&mut self, side: Side, rows: Range<usize>, p: &Predictor<'_>, out: &mut [f64]) {
        let split = self.split(p);
        let by_group = p.bias.groups().is_some();
        for g in 0..self.inner.len() {
            let samples = self.within(g, &rows);
            let Some(term) = self.inner[g].as_tangents() else {
                continue;
            };
            let p = split.of(g, p);
            match side {
                Side::Factors => {
                    let mut own = vec![0.0; samples.len()];
                    term.values(side, samples.clone(), &p, &mut own);
                    for (x, &n) in own.iter().zip(&self.rows[g][samples]) {
                        out[n as usize - rows.start] += x;
                    }
                }
                Side::Intercepts if by_group => {
                    let own = &mut out[g * rows.len()..(g + 1) * rows.len()];
                    term.values(side, rows.clone(), &p, own);
                }
                Side::Weights | Side::Intercepts => term.values(side, rows.clone(), &p, out),
            }
        }
    }
    fn couples_columns(&self) -> bool {
        self.coupled
    }
    fn be_positive(&mut self, positive: bool) {
        for term in &mut self.inner {
            if let Some(tangents) = term.as_tangents() {
                tangents.be_positive(positive);
            }
        }
    }
    fn hold(&mut self, held: bool) {
        self.held = held;
        for term in &mut self.inner {
            if let Some(tangents) = term.as_tangents() {
                tangents.hold(held);
                self.held &= tangents.is_held();
            }
        }
    }
    fn is_held(&self) -> bool {
        self.held
    }
    fn starts_at_data(&mut self) -> bool {
        let mut terms = self.inner.iter_mut().filter_map(|term| term.as_tangents());
        terms.any(Tangents::starts_at_data)
    }
}

impl ByGroup for Grouped {
    fn place(&mut self, groups: &RowGroups) {
        if groups.count() == self.inner.len() && self.shape().samples == 0 {
            self.rows = groups.rows_of_groups();
            self.groups = groups.clone();
            self.parts = std::sync::Mutex::default();
        }
    }
}

impl Sizes for Grouped {
    fn size(&self, group: usize, column: usize) -> f64 {
        let own = self.inner.get(group).and_then(|t| t.as_sizes());
        own.map_or(f64::NAN, |s| s.size(0, column))
    }
}
