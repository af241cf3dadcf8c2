//! Spike-and-slab rows as a block: optimum, draws, bound, rotations, state.

use std::ops::Range;

use polyview_core::{
    Context, KeptRows, NormalEquations, NumericError, Of, PrecisionView, RotationSide,
    RotationTerm, RowBlock, RowContext, RowCov, RowMoments, Rule, State, StateReader, Stateful,
    Terms,
};
use polyview_linalg::{Mat, MatRef, SymPacked};
use polyview_random::StreamKey;

use super::super::diagonal::{finite, without_covariances};
use super::super::{Prepared, noise, solve_update, sweep};
use super::SpikeSlabRows;
use super::site::{self, Draw, Optimum, Scales};

impl RowBlock for SpikeSlabRows {
    fn moments(&self) -> &RowMoments {
        &self.moments
    }
    /// A start: every entry is in the slab ($\gamma = 1$) with the given mean
    /// and variance; covariances between entries are dropped.
    fn set_moments(&mut self, moments: RowMoments) {
        let (rows, k) = (moments.explicit_rows(), moments.k());
        self.inclusion = Mat::from_fn(rows, k, |_, _| 1.0);
        self.slab_mean = moments.mean().to_owned();
        self.slab_variance = Mat::from_fn(rows, k, |r, j| moments.variance(r, j));
        self.spike_variance = self.spikes();
        let cov = match moments.cov() {
            RowCov::Zero => RowCov::Zero,
            _ => RowCov::Diagonal(self.slab_variance.clone()),
        };
        let (mean, implicit) = (self.slab_mean.clone(), moments.implicit_rows());
        self.moments = RowMoments::new(mean, cov, 0.0, implicit);
        self.refresh_entropy();
    }
    fn prepare(
        &mut self,
        _eq: &NormalEquations,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.check()
    }
    /// To the optimum, by [`Rule::Dense`] to that with every entry in the slab; entries that are zero or not know no way
    /// beyond it.
    fn update(
        &mut self,
        eq: &mut NormalEquations,
        rule: Rule,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let (start, len, k) = (eq.rows().start, eq.rows().len(), eq.k());
        let explicit = self.moments.explicit_rows();
        let scales = Scales::new(&self.prior);
        let site = Optimum {
            scales: match rule {
                Rule::Dense => scales.in_the_slab(),
                _ => scales,
            },
            jointly: !self.one_by_one && self.together.is_none(),
        };
        let tiles = sweep::sweep(eq, self.moments.mean(), self.passes, &site);
        if start == 0 {
            self.entropy = 0.0;
            self.spike_variance = self.spikes();
        }
        self.entropy += sweep::total(&tiles);
        sweep::scatter(&tiles, 2, &mut self.inclusion);
        sweep::scatter(&tiles, 3, &mut self.slab_mean);
        sweep::scatter(&tiles, 4, &mut self.slab_variance);
        if let Some(mut cells) = self.together.take() {
            self.refresh_precisions(&mut cells, eq.rows());
            let own: Vec<SymPacked> = eq.rows().map(|r| eq.row_precision(r)).collect();
            let (prior, prepared) = (PrecisionView::Cells(cells.as_ref()), Prepared::Own);
            let eq = (eq, Rule::Optimum);
            let done = solve_update(&self.name, &prepared, prior, &mut self.moments, eq, cx);
            let done = done.and_then(|()| self.spread_together(start, &cells, &own));
            self.together = Some(cells);
            return done;
        }
        let (mean, cov, _) = self.moments.parts_mut();
        sweep::scatter(&tiles, 0, mean);
        if !matches!(cov, RowCov::Diagonal(_)) {
            *cov = RowCov::Diagonal(Mat::zeros(explicit, k));
        }
        if let RowCov::Diagonal(v) = cov {
            sweep::scatter(&tiles, 1, v);
        }
        let mean = self.moments.mean();
        finite(&self.name, mean.subrows(start, len), "a mean")
    }
    fn draw(&mut self, eq: &mut NormalEquations, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let (start, len) = (eq.rows().start, eq.rows().len());
        let noise = noise::normals_and_uniforms(eq.rows(), eq.k(), cx.key);
        let site = Draw {
            scales: Scales::new(&self.prior),
            first: start,
            noise: noise.as_ref(),
        };
        let tiles = sweep::sweep(eq, self.moments.mean(), 1, &site);
        if start == 0 {
            self.slab_variance.fill(0.0);
            self.spike_variance = self.spikes();
            self.entropy = 0.0;
        }
        sweep::scatter(&tiles, 1, &mut self.inclusion);
        sweep::scatter(&tiles, 2, &mut self.slab_mean);
        let (mean, cov, _) = self.moments.parts_mut();
        *cov = RowCov::Zero;
        sweep::scatter(&tiles, 0, mean);
        finite(&self.name, mean.as_ref().subrows(start, len), "a draw")
    }
    fn draws_at_once(&self) -> bool {
        false
    }
    fn keep(&self, rows: Range<usize>) -> KeptRows {
        let mut kept = self.moments.keep(rows.clone());
        let part = |m: &Mat<f64>| m.as_ref().subrows(rows.start, rows.len()).to_owned();
        kept.entries = [&self.inclusion, &self.slab_mean, &self.slab_variance]
            .map(part)
            .into();
        kept
    }
    fn retreat(&mut self, kept: &KeptRows, row: usize, share: f64) -> Result<(), NumericError> {
        self.retreat_entries(kept, row, share)
    }
    fn row_bounds(&self, rows: Range<usize>) -> Vec<f64> {
        let scales = Scales::new(&self.prior);
        rows.map(|r| {
            let prior = |k: usize| {
                let spike = self.spike(r, k);
                let entry = (self.inclusion[(r, k)], self.slab_mean[(r, k)]);
                scales.log_density(r, k, entry, self.slab_variance[(r, k)], spike)
            };
            (0..self.inclusion.ncols()).map(prior).sum::<f64>() + self.row_entropy(r)
        })
        .collect()
    }
    fn draw_prior(&mut self, key: StreamKey) {
        self.prior.draw_prior(key.block(0));
        let (rows, k) = (self.inclusion.nrows(), self.inclusion.ncols());
        let noise = noise::normals_and_uniforms(0..rows, k, key.block(1));
        self.spike_variance = self.spikes();
        let groups = self.prior.groups();
        for j in 0..k {
            for r in 0..rows {
                let at = groups.of_row()[r] as usize + groups.count() * j;
                let theta = self.prior.betas().mean(at);
                self.inclusion[(r, j)] = f64::from(u8::from(noise[(r, k + j)] < theta));
                self.slab_mean[(r, j)] = noise[(r, j)] * self.spike_variance[at].sqrt();
            }
        }
        self.drawn();
    }
    fn draw_rows(&mut self, key: StreamKey) {
        self.draw_given_scales(key);
    }
    fn for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Box<dyn RowBlock>, NumericError> {
        Ok(Box::new(self.under(cx.groups, start)?))
    }
    fn gaussian_for_rows(
        &self,
        cx: &RowContext<'_>,
        start: RowMoments,
    ) -> Result<Option<Box<dyn RowBlock>>, NumericError> {
        Ok(Some(Box::new(self.gaussian(cx.groups, start)?)))
    }
    fn prior_variance(&self, row: usize, k: usize) -> f64 {
        let groups = self.prior.groups();
        let g = groups.of_row()[row] as usize;
        self.prior.variance(g + groups.count() * k)
    }
    fn scales_at(&self) -> Vec<f64> {
        self.prior.free()
    }
    fn set_scales(&mut self, scales: &[f64]) {
        self.prior.set_free(scales);
    }
    /// Means stay: they follow from inclusions and slabs, and others would be no moments of any of
    /// these.
    fn push(&mut self, _by: Option<MatRef<'_, f64>>, scales: &[f64]) {
        self.set_scales(scales);
    }
    fn learn(&mut self, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        let sums = self.sums();
        self.prior.update(&sums);
        // the bound asks for them again
        self.known = Some((self.moments.stamp(), sums));
        Ok(())
    }
    fn draw_scales(&mut self, cx: &mut Context<'_>) {
        let sums = self.sums();
        self.prior.draw(&sums, cx.key);
    }
    /// spec/mofa B.6.4 and B.6.5; for draws the log density of $\hat w$, $s$
    /// and the scales.
    fn bound(&self) -> Terms {
        let entries = (self.inclusion.nrows() * self.inclusion.ncols()) as f64;
        let own = if self.is_draw() {
            -0.5 * entries * (2.0 * std::f64::consts::PI).ln()
        } else if self.spike_of_prior {
            let newest = self.spikes();
            let groups = self.prior.groups();
            let ln_spike = |r: usize, k: usize| {
                0.5 * newest[groups.of_row()[r] as usize + groups.count() * k].ln()
            };
            site::entropy(&self.inclusion, &self.slab_variance, ln_spike) + 0.5 * entries
        } else {
            self.entropy + 0.5 * entries
        };
        let rows = match &self.known {
            Some((stamp, sums)) if *stamp == self.moments.stamp() => {
                self.prior.expected_log_density(sums)
            }
            _ => self.prior.expected_log_density(&self.sums()),
        } + own;
        Terms::of_samples("rows", rows).with("scales", Of::Parameters, self.prior.bound())
    }
    fn idle_column(&self) -> f64 {
        self.prior.idle_column()
    }
    fn rotation_term(&self, _side: RotationSide) -> Option<Box<dyn RotationTerm>> {
        None
    }
    fn transform(&mut self, a: MatRef<'_, f64>, log_abs_det: f64) {
        if let Some(from) = monomial(a) {
            self.rearrange(&from);
        } else {
            let mut moments = self.moments.clone();
            moments.transform(a, log_abs_det);
            self.set_moments(without_covariances(moments));
        }
    }
    fn select(&mut self, keep: &[usize], signs: &[f64]) -> Result<(), NumericError> {
        let from: Vec<(usize, f64)> = keep.iter().copied().zip(signs.iter().copied()).collect();
        self.prior.select(keep);
        self.rearrange(&from);
        Ok(())
    }
    fn precision(&self) -> PrecisionView<'_> {
        self.prior.precision()
    }
    fn inclusion(&self) -> Option<MatRef<'_, f64>> {
        Some(self.inclusion.as_ref())
    }
}

impl Stateful for SpikeSlabRows {
    fn save(&self, prefix: &str, state: &mut State) {
        self.moments.save(prefix, state);
        self.prior.save(&format!("{prefix}/prior"), state);
        for (name, m) in [
            ("inclusion", &self.inclusion),
            ("slab_mean", &self.slab_mean),
            ("slab_variance", &self.slab_variance),
        ] {
            state.put_mat(&format!("{prefix}/{name}"), m.as_ref());
        }
        state.put_vec(&format!("{prefix}/spike_variance"), &self.spike_variance);
        state.put_vec(&format!("{prefix}/entropy"), &[self.entropy]);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let bad = |name: &str| NumericError::BadState {
            name: format!("{prefix}/{name}"),
        };
        self.moments = RowMoments::load(prefix, state)?;
        self.prior.load(&format!("{prefix}/prior"), state)?;
        let (rows, k) = (self.moments.explicit_rows(), self.moments.k());
        let mat = |name: &str| -> Result<Mat<f64>, NumericError> {
            let m = state.mat(&format!("{prefix}/{name}"))?;
            if m.nrows() == rows && m.ncols() == k {
                Ok(m)
            } else {
                Err(bad(name))
            }
        };
        self.inclusion = mat("inclusion")?;
        self.slab_mean = mat("slab_mean")?;
        self.slab_variance = mat("slab_variance")?;
        self.check().map_err(|_| bad("prior"))?;
        let scales = self.prior.gammas().len();
        self.spike_variance = state.vec_of(&format!("{prefix}/spike_variance"), scales)?;
        self.entropy = state.scalar(&format!("{prefix}/entropy"))?;
        match self.moments.cov() {
            RowCov::Zero | RowCov::Diagonal(_) => Ok(()),
            _ => Err(bad("variances")),
        }
    }
}

/// Where each column comes from and times what, if `a` only reorders and
/// scales columns.
fn monomial(a: MatRef<'_, f64>) -> Option<Vec<(usize, f64)>> {
    let mut used = vec![false; a.nrows()];
    (0..a.ncols())
        .map(|j| {
            let mut entries = (0..a.nrows()).filter(|&i| a[(i, j)] != 0.0);
            let i = entries.next()?;
            if entries.next().is_some() || std::mem::replace(&mut used[i], true) {
                return None;
            }
            Some((i, a[(i, j)]))
        })
        .collect()
}
