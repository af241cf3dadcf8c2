//! The term as the engines see it.

use std::ops::Range;

use polyview_core::{
    Block, ByComponent, ByGroup, Conditioned, Context, CoupledRows, DataError, Domain, Equations,
    Identified, Intercepts, Law, Link, Mask, Noise, NormalEquations, NumericError, Objective,
    Predictor, Rounds, RowGroups, Sizes, State, StateReader, Stateful, Tangents, Terms, View,
    ViewShape, ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::Weighted;

impl ViewTerm for Weighted {
    fn shape(&self) -> ViewShape {
        self.inner.shape()
    }
    /// What counts more than once is no likelihood of the data.
    fn objective(&self) -> Objective {
        match self.inner.objective() {
            Objective::NoGuarantee => Objective::NoGuarantee,
            Objective::Bound | Objective::ApproximateBound | Objective::PseudoLikelihood => {
                Objective::PseudoLikelihood
            }
        }
    }
    fn groups(&self) -> Option<&RowGroups> {
        self.inner.groups()
    }
    fn mask(&self) -> Option<&Mask> {
        self.inner.mask()
    }
    fn by_cells(&self) -> bool {
        self.inner.by_cells()
    }
    fn identified(&self, column: usize) -> Identified {
        self.inner.identified(column)
    }
    fn intercepts(&self) -> Intercepts {
        self.inner.intercepts()
    }
    fn link(&self, group: Option<usize>, column: usize, level: f64) -> Link {
        self.inner.link(group, column, level)
    }
    fn domain(&self) -> Domain {
        self.inner.domain()
    }
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.inner.refresh(p, cx)
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let mut out = self.inner.bound(p);
        for term in &mut out.0 {
            term.value *= self.weight;
        }
        out
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        self.inner.law(p, block)
    }
    fn score(&self, p: &Predictor<'_>, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        self.inner.score(p, samples, columns)
    }
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        self.inner.simulate(p, parameters, data)
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        Ok(Box::new(Self::around(
            self.inner.rebind(view)?,
            self.weight,
        )))
    }
    fn widened(
        &self,
        view: &View,
        at: &Predictor<'_>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        let inner = self.inner.widened(view, at)?;
        Some(inner.map(|inner| Box::new(Self::around(inner, self.weight)) as Box<dyn ViewTerm>))
    }
    fn as_noise(&self) -> Option<&dyn Noise> {
        self.inner.as_noise()
    }
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        self.inner.as_noise_mut()
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        self.inner.as_rounds()?;
        Some(self)
    }
    fn as_coupled(&mut self) -> Option<&mut dyn CoupledRows> {
        self.inner.as_coupled()?;
        Some(self)
    }
    fn as_tangents(&mut self) -> Option<&mut dyn Tangents> {
        self.inner.as_tangents()?;
        Some(self)
    }
    fn as_conditioned(&mut self) -> Option<&mut dyn Conditioned> {
        self.inner.as_conditioned()
    }
    fn as_by_component(&mut self) -> Option<&mut dyn ByComponent> {
        self.inner.as_by_component()?;
        Some(self)
    }
    fn as_by_group(&mut self) -> Option<&mut dyn ByGroup> {
        self.inner.as_by_group()
    }
    fn take_cut_points(&mut self, points: &[Vec<f64>]) -> bool {
        self.inner.take_cut_points(points)
    }
    fn take_noise(&mut self, variances: &[f64]) -> bool {
        self.inner.take_noise(variances)
    }
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        self.inner.take_levels(levels)
    }
    fn cut_points(&self, group: Option<usize>, column: usize) -> Option<Vec<f64>> {
        self.inner.cut_points(group, column)
    }
    fn law_shape(&self, group: Option<usize>, column: usize) -> Option<f64> {
        self.inner.law_shape(group, column)
    }
    fn as_sizes(&self) -> Option<&dyn Sizes> {
        self.inner.as_sizes()
    }
}

impl Equations for Weighted {
    fn weight_gram(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        self.inner.equations().weight_gram(p, eq)?;
        eq.gram.scale(self.weight);
        Ok(())
    }
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let mut own = eq.part();
        self.inner.equations().weight_equations(p, &mut own)?;
        eq.add_part(self.weight, &own);
        Ok(())
    }
    fn bias_equations(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        let inner = self.inner.equations();
        let implicit = inner.bias_equations(columns, p, precision, rhs);
        for x in precision.iter_mut().chain(rhs) {
            *x *= self.weight;
        }
        self.weight * implicit
    }
    fn absorb(&mut self, columns: Range<usize>, p: &Predictor<'_>) {
        self.inner.equations().absorb(columns, p);
    }
    fn seal(&mut self, p: &Predictor<'_>) {
        self.inner.equations().seal(p);
    }
    fn factor_gram(
        &mut self,
        view: usize,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let mut own = eq.part();
        self.inner.equations().factor_gram(view, p, &mut own)?;
        eq.add_part(self.weight, &own);
        Ok(())
    }
    fn prepare_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        self.inner.equations().prepare_samples(samples, p);
    }
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let mut own = eq.part();
        self.inner.equations().factor_equations(p, &mut own)?;
        eq.add_part(self.weight, &own);
        Ok(())
    }
    fn absorb_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        self.inner.equations().absorb_samples(samples, p);
    }
    fn seal_samples(&mut self, p: &Predictor<'_>) {
        self.inner.equations().seal_samples(p);
    }
}

/// As the term inside.
impl Stateful for Weighted {
    fn save(&self, prefix: &str, state: &mut State) {
        self.inner.save(prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.inner.load(prefix, state)
    }
}
