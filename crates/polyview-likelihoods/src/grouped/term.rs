//! The term as the engines see it.

use std::ops::Range;

use polyview_core::{
    Augmented, Block, ByGroup, Context, DataError, Domain, Equations, Identified, Intercepts,
    Interleaved, Law, Link, Mask, Noise, NormalEquations, NumericError, Objective, Predictor,
    Rounds, RowGroups, Sizes, State, StateReader, Stateful, Tangents, Terms, View, ViewShape,
    ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::gibbs::group_key;
use super::{GroupNoise, Grouped, check};

impl ViewTerm for Grouped {
    fn shape(&self) -> ViewShape {
        let mut shape = ViewShape::plain(0, 0);
        for term in &self.inner {
            let own = term.shape();
            shape = ViewShape {
                samples: shape.samples + own.samples,
                ..own
            };
        }
        shape
    }
    /// The weakest of the groups'.
    fn objective(&self) -> Objective {
        let worse = |o| self.inner.iter().any(|t| t.objective() == o);
        if worse(Objective::NoGuarantee) {
            Objective::NoGuarantee
        } else if worse(Objective::PseudoLikelihood) {
            Objective::PseudoLikelihood
        } else if worse(Objective::ApproximateBound) {
            Objective::ApproximateBound
        } else {
            Objective::Bound
        }
    }
    fn groups(&self) -> Option<&RowGroups> {
        (self.inner.len() > 1).then_some(&self.groups)
    }
    fn mask(&self) -> Option<&Mask> {
        self.mask.as_ref()
    }
    fn by_cells(&self) -> bool {
        self.inner.iter().any(|t| t.by_cells())
    }
    /// Where no group has intercepts of its own, the mean of the groups', by their
    /// samples.
    fn intercepts(&self) -> Intercepts {
        let first = self.inner.first().map(|t| t.intercepts());
        let mut out = Intercepts {
            start: None,
            start_by_group: None,
            ..first.unwrap_or_default()
        };
        let all: f64 = self.groups.sizes().iter().sum();
        let (mut mean, mut by_group): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (term, size) in self.inner.iter().zip(self.groups.sizes()) {
            let Some(own) = term.intercepts().start else {
                return out;
            };
            mean.resize(own.len(), 0.0);
            for (x, b) in mean.iter_mut().zip(&own) {
                *x += b * size / all.max(1.0);
            }
            by_group.extend(own);
        }
        (out.start, out.start_by_group) = (Some(mean), Some(by_group));
        out
    }
    fn identified(&self, column: usize) -> Identified {
        (self.inner.first()).map_or(Identified::Whole, |t| t.identified(column))
    }
    /// Of all groups the mean, by their samples; without samples each group counts the
    /// same.
    fn link(&self, group: Option<usize>, column: usize, level: f64) -> Link {
        if let Some(only) = self.only() {
            return only.link(None, column, level);
        }
        if let Some(term) = group.and_then(|g| self.inner.get(g)) {
            return term.link(None, column, level);
        }
        let mut out = Link::of(0.0);
        for (term, share) in self.inner.iter().zip(self.groups.shares()) {
            let own = term.link(None, column, level);
            out.variance += share * own.variance;
            out.scale = own.scale;
        }
        out
    }
    fn domain(&self) -> Domain {
        (self.inner.first()).map_or(Domain::Reals, |t| t.domain())
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
    fn equations(&mut self) -> &mut dyn Equations {
        self
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
    /// Those of the groups.
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let split = self.split(p);
        if let Some(only) = self.only() {
            return only.law(&split.of(0, p), block);
        }
        let parts = self.inner.iter().enumerate().map(|(g, term)| {
            let range = self.within(g, &block.samples);
            let rows: Vec<usize> = (self.rows[g][range.clone()].iter())
                .map(|&n| n as usize - block.samples.start)
                .collect();
            let exposure = block
                .exposure
                .map(|all| Mat::from_fn(rows.len(), all.ncols(), |i, j| all[(rows[i], j)]));
            let own = Block {
                samples: range,
                columns: block.columns.clone(),
                exposure: exposure.as_ref().map(Mat::as_ref),
            };
            (rows, term.law(&split.of(g, p), &own))
        });
        Box::new(Interleaved::new(block.samples.len(), parts.collect()))
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
    /// The samples of `view` belong to the groups that [`polyview_core::ByGroup::place`] said.
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
    fn widened(
        &self,
        view: &View,
        at: &Predictor<'_>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        if let Err(e) = check(view, &self.groups) {
            return Some(Err(e));
        }
        let split = self.split(at);
        let groups = self.inner.iter().zip(&self.rows).enumerate();
        let parts = groups.map(|(g, (term, rows))| {
            term.widened(&view.subset(view.name(), rows), &split.of(g, at))
        });
        let inner = parts.collect::<Option<Result<Vec<_>, _>>>()?;
        let (groups, rows) = (self.groups.clone(), self.rows.clone());
        let noise = self.group_noise();
        Some(
            inner.map(|inner| {
                Box::new(Self::assemble(groups, rows, inner, noise)) as Box<dyn ViewTerm>
            }),
        )
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        let all = self.inner.iter_mut().all(|t| t.as_augmented().is_some());
        all.then_some(self)
    }
    fn as_noise(&self) -> Option<&dyn Noise> {
        self.inner.first()?.as_noise()?;
        Some(self)
    }
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        self.as_noise()?;
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        let any = self.inner.iter_mut().any(|t| t.as_rounds().is_some());
        any.then_some(self)
    }
    fn as_tangents(&mut self) -> Option<&mut dyn Tangents> {
        self.tangents.then_some(self)
    }
    fn as_by_group(&mut self) -> Option<&mut dyn ByGroup> {
        Some(self)
    }
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        let mut taken = !self.inner.is_empty();
        for term in &mut self.inner {
            taken &= term.take_levels(levels);
        }
        taken
    }
    fn cut_points(&self, group: Option<usize>, column: usize) -> Option<Vec<f64>> {
        let own = match (self.only(), group) {
            (Some(only), _) => only,
            (None, group) => self.inner.get(group?)?.as_ref(),
        };
        own.cut_points(None, column)
    }
    fn law_shape(&self, group: Option<usize>, column: usize) -> Option<f64> {
        let own = match (self.only(), group) {
            (Some(only), _) => only,
            (None, group) => self.inner.get(group?)?.as_ref(),
        };
        own.law_shape(None, column)
    }
    fn as_sizes(&self) -> Option<&dyn Sizes> {
        self.inner.first()?.as_sizes()?;
        Some(self)
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
            && let Some(own) = first.as_noise().and_then(|n| n.precisions())
        {
            noise.clone_from(own);
        }
        self.hand_out_noise();
        Ok(())
    }
}
