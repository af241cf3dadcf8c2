//! Local experts: a set of predictor columns for each component of a mixture
//! prior on the factors.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Augmented, Block, ByComponent, Context, DataError, Domain, Equations, Intercepts, Law, Link,
    Mask, Mixture, NumericError, Objective, Predictor, Rounds, Stamp, State, StateReader, Stateful,
    Terms, Values, View, ViewShape, ViewTerm,
};
use polyview_linalg::{Mat, PackedRows, each};
use polyview_random::{ChaCha8Rng, StreamKey, uniform_open01};

use super::data::Data;
use super::locals::Locals;
use super::{Cell, CellLikelihood, Cells, check_features};

/// What cells count for: the probability that their sample belongs to the
/// component of their column.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// Samples × components; `None` before anybody has told.
    told: Option<Arc<Mat<f64>>>,
    components: usize,
    /// Columns of the data: those of one component.
    pub(super) columns: usize,
}

impl Shares {
    /// Probability of a component; each is as likely where nobody has told.
    fn at(&self, sample: usize, component: usize) -> f64 {
        match &self.told {
            Some(s) if sample < s.nrows() && component < s.ncols() => s[(sample, component)],
            _ => 1.0 / self.components as f64,
        }
    }
    /// What a cell of a predictor column counts for.
    pub(super) fn of(&self, sample: usize, column: usize) -> f64 {
        self.at(sample, column / self.columns)
    }
    /// Draws a component for each of the first `rows` samples.
    fn draw(&self, rows: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
        (0..rows)
            .map(|n| {
                let mut left = uniform_open01(rng);
                let mut own = 0;
                for t in 0..self.components {
                    let share = self.at(n, t);
                    if share > 0.0 {
                        own = t;
                        left -= share;
                        if left <= 0.0 {
                            break;
                        }
                    }
                }
                own
            })
            .collect()
    }
}

/// Data term of a view whose features have one predictor column **for each
/// component** of a mixture prior on the factors: local experts
/// (spec/maxmargin-rank 2.5), with any [`CellLikelihood`].
///
/// $$ \log p(x\_{nc} \mid t(n) = t) = \log p(x\_{nc} \mid \eta\_{nct}),\qquad
/// \eta\_{nct} = z\_n w\_{ct}^\top + b\_{ct} $$
///
/// The bound is $\sum\_{nct}\varphi\_{nt}(h\_{nct}\langle\eta\_{nct}\rangle -
/// \tfrac12\omega\_{nct}\langle\eta\_{nct}^2\rangle + c\_{nct})$, with shares
/// $\varphi$ and a local number for each cell and component (5.5, the tighter of
/// its two augmentations): a cell of [`Cells`] that counts with weight
/// $\varphi\_{nt}$. Predictor column $tC + c$ belongs to feature $c$ of $C$ and
/// component $t$ of $T$.
///
/// Predictions are of the features, $\sum\_t\varphi\_{nt}p\_{nct}$. Until it has
/// been told shares ([`ByComponent::take_shares`](polyview_core::ByComponent::take_shares)), every component is as likely.
///
/// ```
/// use polyview_core::{View, ViewTerm};
/// use polyview_likelihoods::{Bernoulli, Experts};
/// use polyview_linalg::Mat;
///
/// # fn main() -> Result<(), polyview_core::DataError> {
/// let labels = Mat::from_fn(6, 1, |n, _| f64::from(u8::from(n % 2 == 0)));
/// let view = View::from_values("class", vec!["sick".into()], labels)?;
/// let term = Experts::new(view, Bernoulli::default(), 3)?;
/// assert_eq!((term.shape().observed_columns, term.shape().predictor_columns), (1, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Experts<L> {
    /// The data as often as there are components.
    cells: Cells<L>,
    shares: Shares,
}

impl<L: CellLikelihood> Experts<L> {
    /// The term of a view for `components` components (at least one).
    ///
    /// # Errors
    /// As [`Cells::new`]; [`DataError::ByComponent`] for a likelihood with
    /// parameters by feature that are learnt.
    pub fn new(view: View, likelihood: L, components: usize) -> Result<Self, DataError> {
        Self::around(Cells::new(view, likelihood)?, components)
    }
    fn around(plain: Cells<L>, components: usize) -> Result<Self, DataError> {
        let parameters = plain.likelihood.parameters();
        let learnt = parameters.is_some_and(|p| p.learned().is_some());
        if learnt || plain.likelihood.view_parameters().is_some() {
            return Err(DataError::ByComponent { view: plain.name });
        }
        let columns = plain.data.columns();
        let shares = Shares {
            told: None,
            components: components.max(1),
            columns,
        };
        let (rows, all) = (plain.data.rows(), columns * shares.components);
        let repeated = |m: &Mat<f64>| Arc::new(Mat::from_fn(rows, all, |n, j| m[(n, j % columns)]));
        let Data {
            values,
            trials,
            ends,
            mask,
        } = &plain.data;
        let data = Data {
            values: Values::Dense(repeated(&values.to_dense(mask)).into()),
            trials: trials.as_deref().map(repeated),
            ends: ends.as_deref().map(repeated),
            mask: match mask {
                Mask::Cells { .. } => {
                    Mask::from_fn(rows, all, |n, j| mask.is_observed(n, j % columns))
                }
                other => other.clone(),
            },
        };
        let cells = Cells {
            locals: Locals::start(&plain.likelihood, &data),
            data,
            weights: Some(shares.clone()),
            ..plain
        };
        Ok(Self { cells, shares })
    }
    /// Refuses shares of other samples or components.
    fn check(&self) -> Result<(), NumericError> {
        let rows = self.cells.data.rows();
        let fits = match &self.shares.told {
            Some(s) => s.shape() == (rows, self.shares.components),
            None => true,
        };
        if fits {
            Ok(())
        } else {
            Err(NumericError::Mismatch {
                block: format!("likelihood/{}", self.cells.name),
                what: "samples and their shares of components differ in number",
            })
        }
    }
    /// Adds `of(cell, local, mean, square)` of every observed cell to its sample
    /// and component.
    fn add_up(
        &self,
        p: &Predictor<'_>,
        squares: bool,
        evidence: &mut Mat<f64>,
        of: impl Fn(Cell, f64, f64, f64) -> f64 + Sync,
    ) -> Result<(), NumericError> {
        let rows = self.cells.data.rows();
        if evidence.shape() != (rows, self.shares.components) {
            return Err(NumericError::Mismatch {
                block: format!("likelihood/{}", self.cells.name),
                what: "evidence is asked for of another number of components",
            });
        }
        for block in self.cells.blocks() {
            let locals = self.cells.locals_of(&block, Some(p));
            let mean = p.mean(0..rows, block.clone());
            let square = squares.then(|| p.square(0..rows, block.clone()));
            let sums: Vec<Vec<f64>> = each(block.len(), |j| {
                let (column, local) = (self.cells.data.column(block.start + j), locals.column(j));
                let of_cell = |n: usize| {
                    let m = mean[(n, j)];
                    let square = square.as_ref().map_or(m * m, |s| s[(n, j)]);
                    let cell = column.cell(n);
                    cell.map_or(0.0, |cell| of(cell, local[n], m, square))
                };
                (0..rows).map(of_cell).collect()
            });
            for (j, sum) in sums.iter().enumerate() {
                let t = (block.start + j) / self.shares.columns;
                for (to, x) in evidence.col_as_slice_mut(t).iter_mut().zip(sum) {
                    *to += x;
                }
            }
        }
        Ok(())
    }
}

impl<L: CellLikelihood> ViewTerm for Experts<L> {
    fn shape(&self) -> ViewShape {
        ViewShape {
            observed_columns: self.shares.columns,
            components: Some(self.shares.components),
            ..self.cells.shape()
        }
    }
    fn objective(&self) -> Objective {
        self.cells.objective()
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn intercepts(&self) -> Intercepts {
        self.cells.intercepts()
    }
    fn link(&self, group: Option<usize>, column: usize, level: f64) -> Link {
        self.cells.link(group, column, level)
    }
    fn domain(&self) -> Domain {
        self.cells.domain()
    }
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.check()?;
        self.cells.refresh(p, cx)
    }
    fn equations(&mut self) -> &mut dyn Equations {
        &mut self.cells
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        self.cells.bound(p)
    }
    /// $\sum\_t\varphi\_{nt}p\_t(x\_{nc})$: the mixture of the experts, by the shares of
    /// each sample.
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let parts = (0..self.shares.components).map(|t| {
            let first = t * self.shares.columns;
            let own = Block {
                columns: first + block.columns.start..first + block.columns.end,
                ..block.clone()
            };
            let shares = block.samples.clone().map(|n| self.shares.at(n, t));
            (shares.collect(), self.cells.law_of(p, &own) as Box<dyn Law>)
        });
        Box::new(Mixture::new(parts.collect()))
    }
    /// $\sum\_t\varphi\_{nt}\langle\eta\_{nct}\rangle$ (spec/maxmargin-rank 6).
    fn score(&self, p: &Predictor<'_>, samples: Range<usize>, columns: Range<usize>) -> Mat<f64> {
        let mut out: Mat<f64> = Mat::zeros(samples.len(), columns.len());
        for t in 0..self.shares.components {
            let first = t * self.shares.columns;
            let own = first + columns.start..first + columns.end;
            let mean = p.mean(samples.clone(), own);
            for j in 0..columns.len() {
                for (i, n) in samples.clone().enumerate() {
                    out[(i, j)] += self.shares.at(n, t) * mean[(i, j)];
                }
            }
        }
        out
    }
    /// Each sample's component is drawn from its shares.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let (rows, columns) = (p.factors.explicit_rows(), self.shares.columns);
        let component = self.shares.draw(rows, &mut own_stream(data));
        let mut out = Mat::zeros(rows, columns);
        for c in 0..columns {
            let mut rng = data.chunk(c as u32).rng();
            for (n, t) in component.iter().enumerate() {
                let cell = Cell {
                    column: c,
                    value: 0.0,
                    trials: 1.0,
                    end: f64::NAN,
                };
                let eta = p.mean_cell(n, t * columns + c);
                out[(n, c)] = self.cells.likelihood.draw_datum(cell, eta, &mut rng);
            }
        }
        out
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        check_features(view, self.shares.columns)?;
        let plain = Cells::bind(view.clone(), self.cells.likelihood.clone())?;
        Ok(Box::new(Self::around(plain, self.shares.components)?))
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        if self.cells.likelihood.augmentation().is_some() {
            Some(self)
        } else {
            None
        }
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
    fn as_by_component(&mut self) -> Option<&mut dyn ByComponent> {
        Some(self)
    }
}

impl<L: CellLikelihood> Rounds for Experts<L> {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.check()?;
        self.cells.refresh_locals(p, cx)
    }
    fn slack(&mut self, p: &Predictor<'_>, slack: &mut PackedRows) {
        self.cells.slack(p, slack);
    }
}

impl<L: CellLikelihood> ByComponent for Experts<L> {
    fn evidence(&mut self, p: &Predictor<'_>, evidence: &mut Mat<f64>) -> Result<(), NumericError> {
        self.cells.optimise(p)?;
        let likelihood = &self.cells.likelihood;
        self.add_up(p, true, evidence, |cell, local, mean, square| {
            let (site, offset) = likelihood.evaluate(cell, local);
            let constant = offset + likelihood.datum_offset(cell);
            site.linear * mean - 0.5 * site.precision * square + constant
        })
    }
    fn take_shares(&mut self, shares: &Arc<Mat<f64>>) {
        self.shares.told = Some(Arc::clone(shares));
        self.cells.weights = Some(self.shares.clone());
        self.cells.stamp = Stamp::fresh();
    }
}

/// The stream of the samples' components, apart from those of the columns.
fn own_stream(key: StreamKey) -> ChaCha8Rng {
    key.chunk(1 << 31).rng()
}

impl<L: CellLikelihood> Augmented for Experts<L> {
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.check()?;
        self.cells.draw_locals(p, cx)
    }
    fn component_likelihood(
        &mut self,
        p: &Predictor<'_>,
        evidence: &mut Mat<f64>,
    ) -> Result<(), NumericError> {
        let Some(a) = self.cells.likelihood.augmentation() else {
            return Err(NumericError::NoDraws);
        };
        self.add_up(p, false, evidence, |cell, _, eta, _| {
            a.log_density(cell, eta)
        })
    }
    fn draw_noise_prior(&mut self, key: StreamKey) {
        self.cells.draw_noise_prior(key);
    }
    /// One datum for all components' copies, by the component that its sample
    /// belongs to.
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let (rows, columns) = (self.cells.data.rows(), self.shares.columns);
        let component = self.shares.draw(rows, &mut own_stream(key));
        for c in 0..columns {
            let mut rng = key.chunk(c as u32).rng();
            for (n, t) in component.iter().enumerate() {
                let d = t * columns + c;
                let Some(cell) = self.cells.data.column(d).cell(n) else {
                    continue;
                };
                let datum = self
                    .cells
                    .likelihood
                    .draw_datum(cell, p.mean_cell(n, d), &mut rng);
                let Data { values, mask, .. } = &mut self.cells.data;
                let values = values.cells_mut(mask);
                for t in 0..self.shares.components {
                    values[(n, t * columns + c)] = datum;
                }
            }
        }
        self.cells.drawn = true;
        self.cells.stamp = Stamp::fresh();
    }
}

impl<L: CellLikelihood> Stateful for Experts<L> {
    /// Shares are the factors' to remember.
    fn save(&self, prefix: &str, state: &mut State) {
        self.cells.save(prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.cells.load(prefix, state)
    }
}
