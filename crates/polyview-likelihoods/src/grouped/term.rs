//! The term as the engines see it.

use std::ops::Range;

use polyview_core::{
    Augmented, Context, Coupling, DataError, Equations, Gammas, Mask, NoiseScope, NormalEquations,
    NumericError, Objective, PredictedBlock, PredictedKind, Predictor, RowGroups, State,
    StateReader, Stateful, Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::{Mat, PackedRows};
use polyview_random::StreamKey;

use super::gibbs::group_key;
use super::{GroupNoise, Grouped, check};

impl ViewTerm for Grouped {
    fn shape(&self) -> ViewShape {
        let mut shape = ViewShape {
            samples: 0,
            observed_columns: 0,
            predictor_columns: 0,
        };
        for term in &self.inner {
            let own = term.shape();
            shape = ViewShape {
                samples: shape.samples + own.samples,
                ..own
            };
        }
        shape
    }
    fn coupling(&self) -> Coupling {
        let mut inner = self.inner.iter();
        if inner.any(|t| t.coupling() == Coupling::Rows) {
            Coupling::Rows
        } else {
            Coupling::Independent
        }
    }
    /// The weakest of the groups'.
    fn objective(&self) -> Objective {
        let worse = |o| self.inner.iter().any(|t| t.objective() == o);
        if worse(Objective::NoGuarantee) {
            Objective::NoGuarantee
        } else if worse(Objective::PseudoLikelihood) {
            Objective::PseudoLikelihood
        } else {
            Objective::Bound
        }
    }
    fn groups(&self) -> Option<&RowGroups> {
        (self.inner.len() > 1).then_some(&self.groups)
    }
    fn place(&mut self, groups: &RowGroups) {
        if groups.count() == self.inner.len() && self.shape().samples == 0 {
            self.rows = groups.rows_of_groups();
            self.groups = groups.clone();
            self.parts = std::sync::Mutex::default();
        }
    }
    fn noise_scope(&self) -> NoiseScope {
        self.inner
            .first()
            .map_or(NoiseScope::None, |t| t.noise_scope())
    }
    fn mask(&self) -> Option<&Mask> {
        self.mask.as_ref()
    }
    fn by_cells(&self) -> bool {
        self.inner.iter().any(|t| t.by_cells())
    }
    fn has_locals(&self) -> bool {
        self.inner.iter().any(|t| t.has_locals())
    }
    fn extrapolates(&self) -> bool {
        self.inner.iter().all(|t| t.extrapolates())
    }
    /// The mean of the groups', by their samples.
    fn start_intercepts(&self) -> Option<Vec<f64>> {
        let all: f64 = self.groups.sizes().iter().sum();
        let mut out: Vec<f64> = Vec::new();
        for (term, size) in self.inner.iter().zip(self.groups.sizes()) {
            let own = term.start_intercepts()?;
            out.resize(own.len(), 0.0);
            for (x, b) in out.iter_mut().zip(own) {
                *x += b * size / all.max(1.0);
            }
        }
        Some(out)
    }
    fn start_intercepts_by_group(&self) -> Option<Vec<f64>> {
        let mut out = Vec::new();
        for term in &self.inner {
            out.extend(term.start_intercepts()?);
        }
        Some(out)
    }
    fn intercept_precision(&self) -> f64 {
        self.inner.first().map_or(1.0, |t| t.intercept_precision())
    }
    fn predicted_kind(&self) -> PredictedKind {
        self.inner
            .first()
            .map_or(PredictedKind::Real, |t| t.predicted_kind())
    }
    /// The mean of the groups', by their samples; without samples each group
    /// counts the same.
    fn link_variance(&self, column: usize, level: f64) -> f64 {
        if let Some(only) = self.only() {
            return only.link_variance(column, level);
        }
        self.inner
            .iter()
            .zip(self.groups.shares())
            .map(|(t, share)| share * t.link_variance(column, level))
            .sum()
    }
    fn link_scale(&self, column: usize) -> f64 {
        self.inner.first().map_or(1.0, |t| t.link_scale(column))
    }
    fn link_variance_in(&self, group: usize, column: usize, level: f64) -> f64 {
        match self.inner.get(group) {
            Some(term) => term.link_variance(column, level),
            None => self.link_variance(column, level),
        }
    }
    fn size_in(&self, group: usize, column: usize) -> Option<f64> {
        self.inner.get(group)?.size_in(group, column)
    }
    fn noise(&self) -> Option<&Gammas> {
        self.shared.as_ref()
    }
    fn noise_in(&self, group: usize) -> Option<&Gammas> {
        self.inner.get(group)?.noise()
    }
    fn share_noise(&mut self, noise: &Gammas) {
        if self.shared.is_some() {
            self.shared = Some(noise.clone());
            self.hand_out_noise();
        }
    }
    fn noise_sums(
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
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        let (split, key) = (self.split(p), cx.key);
        for (g, term) in self.inner.iter_mut().enumerate() {
            cx.key = group_key(key, g);
            term.refresh(&split.of(g, p), cx)?;
        }
        cx.key = key;
        Ok(())
    }
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let (split, key) = (self.split(p), cx.key);
        for (g, term) in self.inner.iter_mut().enumerate() {
            cx.key = group_key(key, g);
            term.refresh_locals(&split.of(g, p), cx)?;
        }
        cx.key = key;
        Ok(())
    }
    fn rest(&mut self, settled: &[bool]) {
        for (term, rows) in self.inner.iter_mut().zip(&self.rows) {
            let own: Vec<bool> = rows.iter().map(|&n| settled[n as usize]).collect();
            term.rest(&own);
        }
    }
    fn slack(&self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let split = self.split(p);
        for (g, (term, rows)) in self.inner.iter().zip(&self.rows).enumerate() {
            let mut own = PackedRows::zeros(rows.len(), slack.k());
            term.slack(&split.of(g, p), &mut own);
            for (i, &n) in rows.iter().enumerate() {
                for (to, x) in slack.row_mut(n as usize).iter_mut().zip(own.row(i)) {
                    *to += x;
                }
            }
        }
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    fn update_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<(), NumericError> {
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
            term.update_noise(columns.clone(), &split.of(g, p))?;
        }
        Ok(())
    }
    /// The sum of the groups'; noise that they share counts once.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let split = self.split(p);
        let mut out = Terms::default();
        for (g, term) in self.inner.iter_mut().enumerate() {
            for own in term.bound(&split.of(g, p)).0 {
                match out.0.iter_mut().find(|t| t.name == own.name) {
                    Some(_) if own.name == "noise" && self.shared.is_some() => {}
                    Some(t) => t.value += own.value,
                    None => out.0.push(own),
                }
            }
        }
        out
    }
    fn predict(
        &self,
        p: &Predictor<'_>,
        samples: Range<usize>,
        columns: Range<usize>,
    ) -> PredictedBlock {
        let split = self.split(p);
        if let Some(only) = self.only() {
            return only.predict(&split.of(0, p), samples, columns);
        }
        let mut mean = Mat::zeros(samples.len(), columns.len());
        let mut variance = Mat::zeros(samples.len(), columns.len());
        for (g, term) in self.inner.iter().enumerate() {
            let range = self.within(g, &samples);
            let rows = &self.rows[g][range.clone()];
            let block = term.predict(&split.of(g, p), range, columns.clone());
            for j in 0..columns.len() {
                for (i, &n) in rows.iter().enumerate() {
                    let n = n as usize - samples.start;
                    mean[(n, j)] = block.mean[(i, j)];
                    variance[(n, j)] = block.variance[(i, j)];
                }
            }
        }
        PredictedBlock { mean, variance }
    }
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let split = self.split(p);
        if let Some(only) = self.only() {
            return only.simulate(&split.of(0, p), parameters, data);
        }
        let mut out = Mat::zeros(p.factors.explicit_rows(), self.shape().observed_columns);
        for (g, term) in self.inner.iter().enumerate() {
            let own = match self.group_noise() {
                GroupNoise::Own => group_key(parameters, g),
                GroupNoise::Shared => parameters,
            };
            let values = term.simulate(&split.of(g, p), own, group_key(data, g));
            for j in 0..values.ncols() {
                for (i, &n) in self.rows[g].iter().enumerate() {
                    out[(n as usize, j)] = values[(i, j)];
                }
            }
        }
        out
    }
    /// The samples of `view` belong to the groups that [`ViewTerm::place`] said.
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        check(view, &self.groups)?;
        let inner = self
            .inner
            .iter()
            .zip(&self.rows)
            .map(|(term, rows)| term.rebind(&view.subset(view.name(), rows)))
            .collect::<Result<Vec<_>, _>>()?;
        let (groups, rows) = (self.groups.clone(), self.rows.clone());
        let noise = self.group_noise();
        Ok(Box::new(Self::assemble(groups, rows, inner, noise)))
    }
    fn augmented(&mut self) -> Option<&mut dyn Augmented> {
        if self.inner.iter_mut().all(|t| t.augmented().is_some()) {
            Some(self)
        } else {
            None
        }
    }
}

impl Equations for Grouped {
    fn weight_gram(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let split = self.split(p);
        if let [only] = &mut self.inner[..] {
            return only.equations().weight_gram(&split.of(0, p), eq);
        }
        self.sum_weight_grams(p, eq)
    }
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let split = self.split(p);
        for (g, term) in self.inner.iter_mut().enumerate() {
            term.equations().weight_equations(&split.of(g, p), eq)?;
        }
        self.add_weight_grams(eq);
        Ok(())
    }
    fn bias_equations(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        let (split, count) = (self.split(p), columns.len());
        let own = p.bias.groups().is_some();
        let (mut prec, mut right) = (vec![0.0; count], vec![0.0; count]);
        let mut implicit = 0.0;
        if !own {
            precision[..count].fill(0.0);
            rhs[..count].fill(0.0);
        }
        for (g, term) in self.inner.iter_mut().enumerate() {
            prec.fill(0.0);
            right.fill(0.0);
            let p = split.of(g, p);
            implicit += term
                .equations()
                .bias_equations(columns.clone(), &p, &mut prec, &mut right);
            if own {
                precision[g * count..][..count].copy_from_slice(&prec);
                rhs[g * count..][..count].copy_from_slice(&right);
            } else {
                for (x, y) in precision.iter_mut().zip(&prec) {
                    *x += y;
                }
                for (x, y) in rhs.iter_mut().zip(&right) {
                    *x += y;
                }
            }
        }
        implicit
    }
    fn absorb(&mut self, columns: Range<usize>, p: &Predictor<'_>) {
        let split = self.split(p);
        for (g, term) in self.inner.iter_mut().enumerate() {
            term.equations().absorb(columns.clone(), &split.of(g, p));
        }
    }
    fn seal(&mut self, p: &Predictor<'_>) {
        let split = self.split(p);
        for (g, term) in self.inner.iter_mut().enumerate() {
            term.equations().seal(&split.of(g, p));
        }
    }
    fn factor_gram(
        &mut self,
        view: usize,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let split = self.split_weights(p);
        if let [only] = &mut self.inner[..] {
            return only.equations().factor_gram(view, &split.of(0, p), eq);
        }
        self.add_factor_grams(view, p, eq)
    }
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let split = self.split_weights(p);
        if let [only] = &mut self.inner[..] {
            return only.equations().factor_equations(&split.of(0, p), eq);
        }
        self.add_factor_equations(p, eq)
    }
    fn absorb_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        if !self.by_cells() {
            return;
        }
        let split = self.take_samples(&samples, p);
        let ranges: Vec<Range<usize>> = (0..self.rows.len())
            .map(|g| self.within(g, &samples))
            .collect();
        for ((g, term), range) in self.inner.iter_mut().enumerate().zip(ranges) {
            term.equations().absorb_samples(range, &split.of(g, p));
        }
    }
    fn seal_samples(&mut self, p: &Predictor<'_>) {
        self.keep_pass(p);
        let split = self.split(p);
        for (g, term) in self.inner.iter_mut().enumerate() {
            term.equations().seal_samples(&split.of(g, p));
        }
    }
}

impl Stateful for Grouped {
    fn save(&self, prefix: &str, state: &mut State) {
        for (g, term) in self.inner.iter().enumerate() {
            term.save(&format!("{prefix}/group{g}"), state);
        }
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        for (g, term) in self.inner.iter_mut().enumerate() {
            term.load(&format!("{prefix}/group{g}"), state)?;
        }
        if let (Some(noise), [first, ..]) = (&mut self.shared, &self.inner[..])
            && let Some(own) = first.noise()
        {
            noise.clone_from(own);
        }
        self.hand_out_noise();
        Ok(())
    }
}
