//! Likelihoods that are, or are bounded by, a quadratic in each cell's
//! predictor: local variables, cell-wise precision, normal equations.
//!
//! $$ \log p(x\_{nd}\mid\eta\_{nd}) \ge h\_{nd}\eta\_{nd} - \tfrac12\omega\_{nd}\eta\_{nd}^2 + c\_{nd} $$
//!
//! with h, ω, c functions of the datum and of one local number a cell (spec/mofa
//! A.2-A.4). A missing cell has $h = \omega = c = 0$: it is integrated out.
//!
//! | symbol | field |
//! |---|---|
//! | $x$ | `data` |
//! | local number | `locals`: the bound's parameter, or the drawn augmentation |
//! | $\sum\_n\omega\_{nd}\langle z\_n^\top z\_n\rangle$ | `cache.weights` |
//! | $\sum\_d\omega\_{nd}\langle w\_d^\top w\_d\rangle$ | `cache.factors` |
//!
//! Data and local numbers are the only arrays of samples × features; ω and h
//! exist for one block of columns at a time. Where data are stored sparse, so do
//! the local numbers ([`locals`]), and there is no such array.

mod bind;
mod bound;
mod data;
mod equations;
mod experts;
mod gibbs;
pub(crate) mod levels;
mod likelihood;
mod locals;
mod parameters;
mod shared;
mod slack;
mod sums;
pub(crate) mod view_parameters;

pub(crate) use bind::cell_term;
pub use experts::Experts;
pub(crate) use likelihood::tiles;
pub use likelihood::{
    Cell, CellAugmentation, CellLikelihood, ColumnCells, ColumnData, ColumnParameters, ColumnSites,
    LearnedParameters, LocalMoments, Site,
};
pub(crate) use parameters::Turns;
pub(crate) use shared::{blocks, check_domain, check_features, mean_of, predict_cells};
pub(crate) use slack::jaakkola_slack;
pub use view_parameters::{SeenColumn, ViewParameters};

use std::ops::Range;

use polyview_core::{
    Augmented, Block, Context, DataError, Domain, Equations, Event, Intercepts, Law, Link,
    NumericError, Objective, Of, Predictor, Rounds, Sizes, Stamp, State, StateReader, Stateful,
    Terms, View, ViewShape, ViewTerm, own_column_block,
};
use polyview_linalg::{Mat, PackedRows, column_chunks, each_of};
use polyview_random::StreamKey;

pub(crate) use data::Data;
use locals::{LocalBlock, Locals, Made, Seen, write_best};
pub(crate) use shared::blocks_of;

/// Data term of a view with a [`CellLikelihood`]; missing cells, in whatever
/// pattern, are integrated out.
#[derive(Clone, Debug)]
pub struct Cells<L> {
    name: String,
    features: Vec<String>,
    likelihood: L,
    data: Data,
    /// Sum of [`CellLikelihood::datum_offset`] over each column.
    datum_offsets: Vec<f64>,
    locals: Locals,
    /// Whether `locals` are draws.
    drawn: bool,
    /// What each cell counts for; 1 where absent.
    weights: Option<experts::Shares>,
    /// Changes with local numbers and data.
    stamp: Stamp,
    cache: sums::Cache,
}

impl<L: CellLikelihood> Cells<L> {
    /// The term of a view.
    ///
    /// # Errors
    /// [`DataError::OutOfDomain`] for a datum that the likelihood does not
    /// know, [`DataError::NothingObserved`] when every cell of a view with
    /// samples is missing.
    pub fn new(view: View, likelihood: L) -> Result<Self, DataError> {
        if view.n_samples() > 0 && view.n_observed() == 0 {
            return Err(DataError::NothingObserved {
                view: view.name().to_owned(),
            });
        }
        Self::bind(view, likelihood)
    }
    /// As [`Cells::new`], also for views without any data (new samples).
    fn bind(view: View, likelihood: L) -> Result<Self, DataError> {
        let cell = |n: usize, d: usize, value: f64| Cell {
            column: d,
            value,
            trials: view.trials_of(n, d),
            end: view.ends().map_or(f64::NAN, |e| e[(n, d)]),
        };
        check_domain(&view, likelihood.needs(), |n, d, x| {
            likelihood.admits(cell(n, d, x))
        })?;
        let (name, features, data) = Data::of(view);
        let locals = Locals::start(&likelihood, &data);
        let mut term = Self {
            name,
            features,
            datum_offsets: data.sums(|cell| likelihood.datum_offset(cell)),
            likelihood,
            data,
            locals,
            drawn: false,
            weights: None,
            stamp: Stamp::fresh(),
            cache: sums::Cache::default(),
        };
        term.start_parameters();
        Ok(term)
    }
    /// The likelihood.
    pub fn likelihood(&self) -> &L {
        &self.likelihood
    }
    /// The local number of a cell: the bound's parameter or, in a Gibbs chain,
    /// the drawn augmentation; `None` where the cell is missing.
    pub fn local(&self, sample: usize, column: usize) -> Option<f64> {
        let block = self.locals_of(&(column..column + 1), None);
        let observed = self.data.mask.is_observed(sample, column);
        observed.then(|| block.column(0)[sample])
    }
    /// The site of a cell, zero where it is missing.
    pub fn site(&self, sample: usize, column: usize) -> Site {
        match (
            self.data.column(column).cell(sample),
            self.local(sample, column),
        ) {
            (Some(cell), Some(local)) => {
                let site = match (self.drawn, self.likelihood.augmentation()) {
                    (true, Some(a)) => a.site(cell, local),
                    _ => self.likelihood.site(cell, local),
                };
                let weight = self.weight(sample, column);
                Site {
                    precision: weight * site.precision,
                    linear: weight * site.linear,
                }
            }
            _ => Site::default(),
        }
    }
    /// The law of a block of predictor columns.
    fn law_of(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law> {
        let Block {
            samples,
            columns,
            exposure,
        } = block;
        let mean = p.mean(samples.clone(), columns.clone());
        let variance = p.variance(samples.clone(), columns.clone());
        (self.likelihood).law(columns.start, mean, variance, *exposure)
    }
    /// What a cell counts for.
    fn weight(&self, sample: usize, column: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w.of(sample, column))
    }
    /// What the data of a column alone add to the constants.
    fn datum_offset(&self, column: usize) -> f64 {
        let Some(weights) = &self.weights else {
            return self.datum_offsets[column];
        };
        let data = self.data.column(column);
        (0..self.data.rows())
            .filter_map(|n| {
                let offset = self.likelihood.datum_offset(data.cell(n)?);
                Some(weights.of(n, column) * offset)
            })
            .sum()
    }
    /// The sites of a column and, of bounds, their constants without
    /// [`Cells::datum_offset`]; whatever where cells are missing, and each as if
    /// it counted for 1.
    fn evaluate_column(&self, data: ColumnData<'_>, local: &[f64], out: ColumnSites<'_>) {
        match (self.drawn, self.likelihood.augmentation()) {
            (true, Some(a)) => {
                for (n, &local) in local.iter().enumerate() {
                    let site = a.site(data.cell(n), local);
                    out.precision[n] = site.precision;
                    out.linear[n] = site.linear;
                    out.offset[n] = 0.0;
                }
            }
            _ => self.likelihood.evaluate_column(data, local, out),
        }
    }
    /// Local numbers of some columns.
    fn locals_of<'a>(
        &'a self,
        columns: &Range<usize>,
        now: Option<&Predictor<'a>>,
    ) -> LocalBlock<'a> {
        let Self {
            likelihood,
            data,
            locals,
            ..
        } = self;
        locals.of_columns(likelihood, data, columns, now)
    }
    /// Blocks of columns in which cells are visited: those of a pass over the
    /// columns, so that the sites of a block serve weights and factors.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<L> {
        let (rows, columns) = (self.data.rows(), self.data.columns());
        blocks_of(own_column_block(rows), columns)
    }
    /// An error where a site was made from what is not finite.
    fn check_sites(&self) -> Result<(), NumericError> {
        if self.cache.spoilt {
            Err(self.not_finite("a linear predictor or a local variable"))
        } else {
            Ok(())
        }
    }
    /// Brings the local numbers to their optimum.
    fn optimise(&mut self, p: &Predictor<'_>) -> Result<(), NumericError> {
        let mut finite = true;
        let Self {
            likelihood,
            data,
            locals,
            ..
        } = self;
        match locals {
            Locals::Stored(local) => {
                let all = data.columns();
                let parts = column_chunks(local.as_mut(), sums::TASK);
                let fine = each_of(parts, |i, out| {
                    let start = i * sums::TASK;
                    let columns = start..(start + sums::TASK).min(all);
                    write_best(likelihood, data, p, &columns, out)
                });
                finite = fine.iter().all(|f| *f);
            }
            Locals::Made(made) => *made = Made::Best(Seen::of(p)),
        }
        self.drawn = false;
        self.stamp = Stamp::fresh();
        if finite {
            Ok(())
        } else {
            Err(self.not_finite("a linear predictor"))
        }
    }
    fn not_finite(&self, what: &'static str) -> NumericError {
        NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what,
        }
    }
}

impl<L: CellLikelihood> ViewTerm for Cells<L> {
    fn shape(&self) -> ViewShape {
        ViewShape::plain(self.data.rows(), self.data.columns())
    }
    fn objective(&self) -> Objective {
        self.likelihood.objective()
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn intercepts(&self) -> Intercepts {
        let start = |d: usize| self.likelihood.start_intercept(&self.column_cells(d).1);
        Intercepts {
            start: Some((0..self.data.columns()).map(start).collect()),
            start_by_group: None,
            precision: self.likelihood.intercept_precision(),
            alike: self.likelihood.columns_are_alike(),
        }
    }
    fn link(&self, _group: Option<usize>, column: usize, level: f64) -> Link {
        Link::of(self.likelihood.link_variance(column, level))
    }
    fn domain(&self) -> Domain {
        self.likelihood.domain()
    }
    /// The bound's parameters at their optimum (spec/mofa A.2).
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if cx.sweep == 1 {
            // columns by component are of the same data
            let all = self.data.columns();
            for d in 0..self.weights.as_ref().map_or(all, |w| w.columns) {
                if let Some(remark) = self.likelihood.remark(&self.column_cells(d).1) {
                    let note = format!("feature '{}' {remark}", self.features[d]);
                    cx.journal.note(
                        cx.sweep,
                        format!("likelihood/{}", self.name),
                        Event::Data { note },
                    );
                }
            }
        }
        self.update_parameters(p, cx.sweep);
        self.optimise(p)
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    /// With drawn local numbers it is $\sum\log p(x\mid\eta)$: the
    /// augmentation is summed out.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let constants = self.constants(p);
        let quadratic = if self.drawn { 0.0 } else { self.quadratic(p) };
        let terms = Terms::of_samples("likelihood", constants + quadratic);
        let terms = match self.parameter_prior() {
            Some((name, prior)) => terms.with(name, Of::Parameters, prior),
            None => terms,
        };
        match self.likelihood.view_parameters() {
            Some(p) => terms.with(p.name(), Of::Parameters, p.log_prior()),
            None => terms,
        }
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        self.law_of(p, block)
    }
    /// One stream of random numbers a column. Successes are out of the trials of
    /// the term's own samples, where it has as many; out of one trial each where
    /// it has none.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let (rows, columns) = (p.factors.explicit_rows(), self.data.columns());
        let trials = self.data.trials.as_ref().filter(|t| t.nrows() == rows);
        let mut out = Mat::zeros(rows, columns);
        for block in blocks(rows, columns) {
            let eta = p.mean(0..rows, block.clone());
            for (j, d) in block.enumerate() {
                let mut rng = data.chunk(d as u32).rng();
                for n in 0..rows {
                    let cell = Cell {
                        column: d,
                        value: 0.0,
                        trials: trials.map_or(1.0, |t| t[(n, d)]),
                        end: f64::NAN,
                    };
                    out[(n, d)] = self.likelihood.draw_datum(cell, eta[(n, j)], &mut rng);
                }
            }
        }
        out
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        check_features(view, self.data.columns())?;
        Ok(Box::new(Self::bind(view.clone(), self.likelihood.clone())?))
    }
    fn widened(
        &self,
        view: &View,
        at: &Predictor<'_>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        let spread = at.spread(0..view.n_samples(), 0..self.data.columns());
        self.likelihood.widened(view, spread)
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        if self.likelihood.augmentation().is_some() {
            Some(self)
        } else {
            None
        }
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
    fn take_noise(&mut self, variances: &[f64]) -> bool {
        let own = self.likelihood.parameters().and_then(|p| {
            let all = variances.iter().map(|v| p.of_noise(*v));
            all.collect::<Option<Vec<f64>>>()
        });
        let taken = own.filter(|own| own.len() == self.data.columns());
        taken.map(|own| self.set_parameters(own)).is_some()
    }
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        levels.len() == self.data.columns() && self.likelihood.take_levels(levels)
    }
    fn take_cut_points(&mut self, points: &[Vec<f64>]) -> bool {
        let columns = self.data.columns();
        let of_view = self.likelihood.view_parameters_mut();
        points.len() == columns && of_view.is_some_and(|p| p.take_cut_points(points))
    }
    fn cut_points(&self, _group: Option<usize>, column: usize) -> Option<Vec<f64>> {
        let of_view = self.likelihood.view_parameters()?;
        of_view.cut_points(column).map(<[f64]>::to_vec)
    }
    fn as_sizes(&self) -> Option<&dyn Sizes> {
        self.likelihood.size(0).is_some().then_some(self)
    }
}

impl<L: CellLikelihood> Rounds for Cells<L> {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.optimise(p)
    }
    fn slack(&mut self, p: &Predictor<'_>, slack: &mut PackedRows) {
        self.add_slack(p, slack);
    }
}

impl<L: CellLikelihood> Sizes for Cells<L> {
    fn size(&self, _group: usize, column: usize) -> f64 {
        self.likelihood.size(column).unwrap_or(f64::NAN)
    }
}

impl<L: CellLikelihood> Stateful for Cells<L> {
    fn save(&self, prefix: &str, state: &mut State) {
        state.local(|state| {
            self.locals.save(&format!("{prefix}/local"), state);
            let drawn = [f64::from(u8::from(self.drawn))];
            state.put_vec(&format!("{prefix}/local/drawn"), &drawn);
        });
        if let Some(p) = self.likelihood.parameters() {
            state.put_vec(&format!("{prefix}/{}", p.name()), p.values());
        }
        levels::save(self.likelihood.levels(), prefix, state);
        view_parameters::save(self.likelihood.view_parameters(), prefix, state);
    }
    /// A term without samples takes parameters only.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let columns = self.data.columns();
        if let Some(p) = self.likelihood.parameters_mut() {
            let name = format!("{prefix}/{}", p.name());
            let values = state.vec(&name)?;
            if values.len() != columns {
                return Err(NumericError::BadState { name });
            }
            p.set(values);
        }
        if let Some(own) = levels::load(columns, prefix, state)? {
            self.likelihood.take_levels(&own);
        }
        let of_view = self.likelihood.view_parameters_mut();
        view_parameters::load(of_view, columns, prefix, state)?;
        if self.data.rows() == 0 {
            return Ok(());
        }
        let shape = (self.data.rows(), columns);
        let locals = self
            .locals
            .loaded(&format!("{prefix}/local"), shape, state)?;
        self.drawn = state.scalar(&format!("{prefix}/local/drawn"))? != 0.0;
        self.locals = locals;
        self.stamp = Stamp::fresh();
        self.cache = sums::Cache::default();
        Ok(())
    }
}
