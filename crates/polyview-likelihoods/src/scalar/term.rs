//! The data term of a view whose likelihood is known by its log density.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Augmented, Block, Context, DataError, Domain, Equations, Event, Intercepts, Law, Link,
    NumericError, Objective, Of, Predictor, Rounds, Sizes, Stamp, State, StateReader, Stateful,
    Tangents, Terms, View, ViewShape, ViewTerm, own_column_block,
};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_special::Expectation;

use super::equations::FactorSums;
use super::sites::{Key, Products, Sites, not_below_zero};
use super::{Expectations, ScalarLikelihood};
use crate::cells::{
    Cell, Data, blocks, blocks_of, check_domain, check_features, levels, view_parameters,
};

/// Data term of a view with a [`ScalarLikelihood`]; missing cells, in whatever pattern, are
/// integrated out.
///
/// There are no local variables: sites are functions of the moments of factors, weights and
/// intercepts, and are made where they are wanted, block of columns by block of columns.
#[derive(Clone, Debug)]
pub struct Expected<L> {
    pub(super) name: String,
    features: Vec<String>,
    pub(super) likelihood: L,
    pub(super) data: Data,
    /// One for each column, empty where there are none.
    pub(super) parameters: Vec<f64>,
    /// Changes with parameters and data.
    pub(super) stamp: Stamp,
    /// The sites that were made last.
    pub(super) last: Option<Arc<Sites>>,
    /// The predictors that they were made of, without their intercepts.
    pub(super) products: Option<Products>,
    /// Sums for the factors.
    pub(super) sums: Option<FactorSums>,
    /// Samples that have their equations in this pass, from the first.
    pub(super) handed: usize,
    /// Samples that have moved in this pass, or were asked for, from the first.
    pub(super) moved: usize,
    /// $\sum F$ of each sample, as it was asked for last.
    pub(super) by_sample: Option<Vec<f64>>,
    /// $\sum F$ of all cells and what it was made of.
    pub(super) value: Option<(Key, f64)>,
    /// Whether curvatures below zero are left out.
    pub(super) positive: bool,
    /// Whether tangents are kept for a whole sweep.
    pub(super) held: bool,
    /// Variances of predictors that belong to the law of the data, samples × columns.
    spread: Option<Arc<Mat<f64>>>,
}

impl<L: ScalarLikelihood> Expected<L> {
    /// The term of a view.
    ///
    /// # Errors
    /// [`DataError::OutOfDomain`] for a datum that the likelihood does not know,
    /// [`DataError::NothingObserved`] when every cell of a view with samples is missing,
    /// [`DataError::Composed`] for a sharpness that is no finite number above 0.
    pub fn new(view: View, likelihood: L) -> Result<Self, DataError> {
        if view.n_samples() > 0 && view.n_observed() == 0 {
            return Err(DataError::NothingObserved {
                view: view.name().to_owned(),
            });
        }
        Self::bind(view, likelihood, Vec::new())
    }
    /// As [`Expected::new`], also for views without any data (new samples).
    fn bind(view: View, likelihood: L, parameters: Vec<f64>) -> Result<Self, DataError> {
        let cell = |n: usize, d: usize, value: f64| Cell {
            column: d,
            value,
            trials: view.trials_of(n, d),
            end: view.ends().map_or(f64::NAN, |e| e[(n, d)]),
        };
        check_domain(&view, likelihood.needs(), |n, d, x| {
            likelihood.admits(cell(n, d, x))
        })?;
        let range = (likelihood.parameter()).map_or([1.0; 2], |p| [p.range.0, p.range.1]);
        for at in range {
            let sharpness = likelihood.sharpness(at);
            if !(sharpness > 0.0 && sharpness.is_finite()) {
                let why = format!(
                    "view '{}': the likelihood says a sharpness of {sharpness} at the parameter {at}, where it \
                     is to be a finite number above 0",
                    view.name()
                );
                return Err(DataError::Composed { why });
            }
        }
        let (name, features, data) = Data::of(view);
        let mut term = Self {
            name,
            features,
            likelihood,
            data,
            parameters,
            stamp: Stamp::fresh(),
            last: None,
            products: None,
            sums: None,
            handed: 0,
            moved: 0,
            by_sample: None,
            value: None,
            positive: false,
            held: false,
            spread: None,
        };
        term.start_parameters();
        Ok(term)
    }
    /// The term of data whose predictors have these variances, samples × columns, beside what a
    /// predictor says: they are part of the law of the data (spec/sites 5). `parameters` are
    /// those of the columns, if there are any, and stay.
    pub(crate) fn behind(
        view: &View,
        likelihood: L,
        parameters: Vec<f64>,
        spread: Mat<f64>,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        check_features(view, spread.ncols())?;
        let mut term = Self::bind(view.clone(), likelihood, parameters)?;
        term.spread = Some(Arc::new(spread));
        Ok(Box::new(term))
    }
    /// Expectations of some cells of a column, whether they are observed or not.
    pub(super) fn expectations(
        &self,
        column: usize,
        samples: Range<usize>,
        moments: (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        let theta = self.parameter(column);
        let of_column = self.data.column(column);
        let all = of_column.all();
        let data = all.part(samples.clone());
        match &self.spread {
            None => (self.likelihood).expectations(data, theta, moments, out),
            Some(spread) => {
                let spread = &spread.col_as_slice(column)[samples];
                let mut made = vec![Expectation::default(); spread.len()];
                (self.likelihood).widened_expectations(data, theta, moments, spread, &mut made);
                for (n, made) in made.into_iter().enumerate() {
                    out.put(n, made);
                }
            }
        }
    }
    /// The likelihood.
    pub fn likelihood(&self) -> &L {
        &self.likelihood
    }
    /// The parameters of the columns; empty where they have none.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }
    /// Blocks of columns in which cells are visited.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<L> {
        let (rows, columns) = (self.data.rows(), self.data.columns());
        blocks_of(own_column_block(rows), columns)
    }
    /// Data or parameters are others than before.
    pub(super) fn changed(&mut self) {
        self.stamp = Stamp::fresh();
        self.last = None;
        self.sums = None;
        self.by_sample = None;
        self.value = None;
    }
    fn cell_of(&self, sample: usize, column: usize) -> Cell {
        let trials = self.data.trials.as_ref();
        Cell {
            column,
            value: 0.0,
            trials: trials
                .filter(|t| sample < t.nrows())
                .map_or(1.0, |t| t[(sample, column)]),
            end: f64::NAN,
        }
    }
}

impl<L: ScalarLikelihood> ViewTerm for Expected<L> {
    fn shape(&self) -> ViewShape {
        ViewShape::plain(self.data.rows(), self.data.columns())
    }
    fn objective(&self) -> Objective {
        Objective::ApproximateBound
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn intercepts(&self) -> Intercepts {
        let start = |d: usize| {
            let cells = self.column_cells(d).1;
            self.likelihood.start_intercept(&cells, self.parameter(d))
        };
        Intercepts {
            start: Some((0..self.data.columns()).map(start).collect()),
            start_by_group: None,
            precision: self.likelihood.intercept_precision(),
            alike: self.likelihood.columns_are_alike(),
        }
    }
    fn link(&self, _group: Option<usize>, column: usize, level: f64) -> Link {
        let theta = self.parameter(column);
        Link::of(self.likelihood.link_variance(column, level, theta))
    }
    fn domain(&self) -> Domain {
        self.likelihood.domain()
    }
    /// Parameters of columns at what raises the bound (spec/sites 1.8).
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if cx.sweep == 1 {
            for d in 0..self.data.columns() {
                if let Some(remark) = self.likelihood.remark(&self.column_cells(d).1) {
                    let note = format!("feature '{}' {remark}", self.features[d]);
                    let block = format!("likelihood/{}", self.name);
                    cx.journal.note(cx.sweep, block, Event::Data { note });
                }
            }
        }
        if self.has_parameters() && self.spread.is_none() && self.update_parameters(p, cx.sweep) {
            self.changed();
        }
        Ok(())
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    /// $\sum F$; with factors and weights known exactly the log density.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let key = self.key(p);
        let value = match self.value {
            Some((made, value)) if made == key => value,
            _ => {
                let value = self
                    .values_by_sample(&(0..self.data.rows()), p)
                    .iter()
                    .sum();
                self.value = Some((key, value));
                value
            }
        };
        let terms = Terms::of_samples("likelihood", value);
        let terms = match (self.likelihood.parameter(), self.scale()) {
            (Some(p), Some(scale)) => {
                let prior = self.parameters.iter().map(|x| scale.log_prior(*x)).sum();
                terms.with(p.name, Of::Parameters, prior)
            }
            _ => terms,
        };
        match self.likelihood.view_parameters() {
            Some(p) => terms.with(p.name(), Of::Parameters, p.log_prior()),
            None => terms,
        }
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let (samples, columns) = (block.samples.clone(), block.columns.clone());
        let variance = not_below_zero(p.variance(samples.clone(), columns.clone()));
        let parameters = columns.clone().map(|d| self.parameter(d)).collect();
        let first = columns.start;
        let predictor = (p.mean(samples, columns), variance);
        (self.likelihood).law(first, parameters, predictor, block.exposure)
    }
    /// One stream of random numbers a column.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let (rows, columns) = (p.factors.explicit_rows(), self.data.columns());
        let own = rows == self.data.rows();
        let mut out = Mat::zeros(rows, columns);
        for block in blocks(rows, columns) {
            let eta = p.mean(0..rows, block.clone());
            for (j, d) in block.enumerate() {
                let mut rng = data.chunk(d as u32).rng();
                let theta = self.parameter(d);
                for n in 0..rows {
                    let mut cell = self.cell_of(n, d);
                    if !own {
                        cell.trials = 1.0;
                    }
                    out[(n, d)] = (self.likelihood).draw_datum(cell, eta[(n, j)], theta, &mut rng);
                }
            }
        }
        out
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        check_features(view, self.data.columns())?;
        let (view, likelihood) = (view.clone(), self.likelihood.clone());
        Ok(Box::new(Self::bind(
            view,
            likelihood,
            self.parameters.clone(),
        )?))
    }
    fn widened(
        &self,
        view: &View,
        at: &Predictor<'_>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        let spread = at.spread(0..view.n_samples(), 0..self.data.columns());
        let (likelihood, parameters) = (self.likelihood.clone(), self.parameters.clone());
        Some(Self::behind(view, likelihood, parameters, spread))
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
    fn take_noise(&mut self, variances: &[f64]) -> bool {
        let own = variances.iter().map(|v| self.likelihood.of_noise(*v));
        let own: Option<Vec<f64>> = own.collect();
        let Some(own) = own.filter(|own| own.len() == self.data.columns()) else {
            return false;
        };
        self.parameters = own;
        self.changed();
        true
    }
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        levels.len() == self.data.columns() && self.likelihood.take_levels(levels)
    }
    fn take_cut_points(&mut self, points: &[Vec<f64>]) -> bool {
        let columns = self.data.columns();
        let of_view = self.likelihood.view_parameters_mut();
        let taken = points.len() == columns && of_view.is_some_and(|p| p.take_cut_points(points));
        if taken {
            self.changed();
        }
        taken
    }
    fn cut_points(&self, _group: Option<usize>, column: usize) -> Option<Vec<f64>> {
        let of_view = self.likelihood.view_parameters()?;
        of_view.cut_points(column).map(<[f64]>::to_vec)
    }
    fn law_shape(&self, _group: Option<usize>, column: usize) -> Option<f64> {
        self.likelihood.shape(self.parameter(column))
    }
    fn as_sizes(&self) -> Option<&dyn Sizes> {
        self.likelihood.size(1.0).is_some().then_some(self)
    }
    fn as_tangents(&mut self) -> Option<&mut dyn Tangents> {
        Some(self)
    }
}

impl<L: ScalarLikelihood> Rounds for Expected<L> {
    /// Sites follow the moments by themselves.
    fn refresh_locals(
        &mut self,
        _p: &Predictor<'_>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        Ok(())
    }
}

impl<L: ScalarLikelihood> Sizes for Expected<L> {
    fn size(&self, _group: usize, column: usize) -> f64 {
        (self.likelihood.size(self.parameter(column))).unwrap_or(f64::NAN)
    }
}

impl<L: ScalarLikelihood> Augmented for Expected<L> {
    /// Parameters of columns: rows are drawn around tangents, without local variables.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if self.has_parameters() {
            self.draw_parameters(p, cx.key);
            self.changed();
        }
        Ok(())
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        self.draw_prior_parameters(key);
        self.changed();
    }
    /// Values stored sparse become dense.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let mut drawn = Vec::with_capacity(self.data.columns());
        for d in 0..self.data.columns() {
            let (column, theta) = (self.data.column(d), self.parameter(d));
            let mut rng = key.chunk(d as u32).rng();
            let draw = |n: usize| {
                column.cell(n).map_or((0.0, f64::NAN), |cell| {
                    (self.likelihood).draw_cell(cell, p.mean_cell(n, d), theta, &mut rng)
                })
            };
            drawn.push((0..self.data.rows()).map(draw).collect::<Vec<_>>());
        }
        self.data.replace(&drawn);
        self.changed();
    }
}

impl<L: ScalarLikelihood> Stateful for Expected<L> {
    fn save(&self, prefix: &str, state: &mut State) {
        if let Some(p) = self.likelihood.parameter() {
            state.put_vec(&format!("{prefix}/{}", p.name), &self.parameters);
        }
        levels::save(self.likelihood.levels(), prefix, state);
        view_parameters::save(self.likelihood.view_parameters(), prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let columns = self.data.columns();
        let of_view = self.likelihood.view_parameters_mut();
        view_parameters::load(of_view, columns, prefix, state)?;
        if let Some(p) = self.likelihood.parameter() {
            self.parameters = state.vec_of(&format!("{prefix}/{}", p.name), columns)?;
        }
        if let Some(own) = levels::load(columns, prefix, state)? {
            self.likelihood.take_levels(&own);
        }
        self.changed();
        Ok(())
    }
}
