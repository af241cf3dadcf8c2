//! The parts of a model put together.

use std::sync::Arc;

use polyview_core::{
    Bias, Context, LevelPrior, Mask, NumericError, Objective, Of, PatternTable, PrecisionView,
    Predictor, RotationSide, RowBlock, RowMoments, Schedule, State, StateReader, Stateful, Step,
    Term, ViewId, ViewTerm,
};
use polyview_linalg::MatRef;
use rayon::prelude::*;

/// One view of a model: its data term, weights and intercepts.
pub struct ViewPart {
    /// Name of the view.
    pub name: String,
    /// Data term.
    pub term: Box<dyn ViewTerm>,
    /// Weights, predictor columns × K.
    pub weights: Box<dyn RowBlock>,
    /// Intercepts.
    pub bias: Bias,
}

impl ViewPart {
    /// A view with intercepts that are learnt, where the term has any: one for each predictor
    /// column, of the prior precision that the term names, begun where it says
    /// ([`ViewTerm::intercepts`]).
    pub fn new(
        name: impl Into<String>,
        term: Box<dyn ViewTerm>,
        weights: Box<dyn RowBlock>,
    ) -> Self {
        let columns = term.shape().predictor_columns;
        let mut bias = Bias::absent(columns);
        if term.has_intercepts() {
            let own = term.intercepts();
            bias = Bias::gaussian(columns, 0, own.precision);
            if let Some(start) = own.start {
                bias.set(start, vec![0.0; columns]);
            }
            if own.alike {
                bias = bias.with_learnt_prior(LevelPrior::default());
            }
        }
        Self {
            name: name.into(),
            term,
            weights,
            bias,
        }
    }
    /// The term, and the window that it has on the rest of the model: `factors`
    /// (samples × K), weights and intercepts of the view.
    pub fn with<'a>(
        &'a mut self,
        factors: &'a RowMoments,
    ) -> (&'a mut dyn ViewTerm, Predictor<'a>) {
        let p = Predictor {
            factors,
            weights: self.weights.seen(),
            bias: &self.bias,
        };
        (self.term.as_mut(), p)
    }
    /// Writes the view's part of what the [`Model`] saves under `prefix`.
    pub fn save(&self, prefix: &str, state: &mut State) {
        let at = format!("{prefix}views/{}", self.name);
        self.term.save(&format!("{at}/term"), state);
        self.weights.save(&format!("{at}/weights"), state);
        self.bias.save(&format!("{at}/bias"), state);
    }
    /// Reads what [`ViewPart::save`] wrote.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let at = format!("{prefix}views/{}", self.name);
        let columns = self.term.shape().predictor_columns;
        self.term.load(&format!("{at}/term"), state)?;
        self.weights.load(&format!("{at}/weights"), state)?;
        self.bias.load(&format!("{at}/bias"), state)?;
        let w = self.weights.moments();
        if w.explicit_rows() != columns || self.bias.columns() != columns {
            return Err(NumericError::BadState {
                name: format!("{at}/weights"),
            });
        }
        Ok(())
    }
    /// The view's part of [`Model::objective`].
    fn objective(&mut self, factors: &RowMoments) -> Vec<Term<String>> {
        let (term, p) = self.with(factors);
        let mut terms = term.bound(&p);
        for Term { name, value, .. } in self.weights.bound().0 {
            let name = if name == "rows" { "weights" } else { name };
            // rows of weights are no samples
            terms = terms.with(name, Of::Parameters, value);
        }
        if self.bias.is_present() {
            terms = terms.with("bias", Of::Parameters, self.bias.bound());
        }
        let named = |t: Term| Term {
            name: format!("{}/{}", t.name, self.name),
            of: t.of,
            value: t.value,
        };
        terms.0.into_iter().map(named).collect()
    }
    /// As [`ViewPart::save`], at the end of the view's life: nothing large is
    /// there twice.
    pub fn give_up(self, prefix: &str, state: &mut State) {
        let at = format!("{prefix}views/{}", self.name);
        self.term.save(&format!("{at}/term"), state);
        drop(self.term);
        self.bias.save(&format!("{at}/bias"), state);
        self.weights.give_up(&format!("{at}/weights"), state);
    }
}

/// A factor model: factors, views, and the order in which they are updated.
///
/// Which species the parts are is nobody's business here.
pub struct Model {
    /// Factors, samples × K.
    pub factors: Box<dyn RowBlock>,
    /// Views.
    pub views: Vec<ViewPart>,
    /// Steps of a sweep.
    pub schedule: Schedule,
    patterns: Option<Arc<PatternTable>>,
}

impl Model {
    /// Puts the parts together.
    pub fn new(factors: Box<dyn RowBlock>, views: Vec<ViewPart>, schedule: Schedule) -> Self {
        let whole_rows = views
            .iter()
            .any(|v| matches!(v.term.mask(), Some(Mask::Rows(_))));
        let groups = views.iter().find_map(|v| v.term.groups());
        let patterns = (whole_rows || groups.is_some()).then(|| {
            let rows = factors.moments().explicit_rows();
            let present = |n: usize, v: usize| match views[v].term.mask() {
                // whoever puts the parts together looks whether they are of as many samples
                Some(Mask::Rows(r)) => r.get(n).copied().unwrap_or(false),
                _ => true,
            };
            let group = |n: usize| groups.and_then(|g| g.of_row().get(n)).map_or(0, |g| *g);
            Arc::new(PatternTable::by_group(rows, views.len(), present, group))
        });
        let mut out = Self {
            factors,
            views,
            schedule,
            patterns,
        };
        out.share();
        out
    }
    /// Tells the terms which components the samples belong to, where the
    /// factors have a mixture prior. Whoever changes the factors' block from
    /// outside calls it afterwards.
    pub fn share(&mut self) {
        if let Some(shares) = self.factors.shares() {
            for view in &mut self.views {
                if let Some(components) = view.term.as_by_component() {
                    components.take_shares(shares);
                }
            }
        }
    }
    /// Name of the block that a step updates, for messages.
    pub(crate) fn block_name(&self, step: Step) -> String {
        let of = |kind: &str, v: ViewId| format!("{kind}/{}", self.views[v].name);
        match step {
            Step::Local(v) => of("local", v),
            Step::Weights(v) | Step::Bias(v) | Step::Noise(v) => of("weights", v),
            Step::Scales(v) => of("scales", v),
            Step::Factors => "factors".into(),
            Step::Assign => "assignment".into(),
            Step::FactorScales => "factor-scales".into(),
            Step::Rotate => "rotation".into(),
            Step::Prune => String::new(),
        }
    }
    /// Whether no step can lower the objective.
    pub(crate) fn is_guaranteed(&self) -> bool {
        let fixed = |v: &ViewPart| v.term.objective() != Objective::NoGuarantee;
        self.views.iter().all(fixed)
    }
    /// Lets terms keep their tangents for a whole sweep, or no more ([`polyview_core::Tangents::hold`]).
    pub(crate) fn hold(&mut self, held: bool) {
        for view in &mut self.views {
            if let Some(tangents) = view.term.as_tangents() {
                tangents.hold(held);
            }
        }
    }
    /// Number of factors.
    pub fn k(&self) -> usize {
        self.factors.moments().k()
    }
    /// Patterns of views missing as a whole and of groups of samples whose
    /// precisions differ, where there are any.
    pub fn patterns(&self) -> Option<&Arc<PatternTable>> {
        self.patterns.as_ref()
    }
    /// Whether samples have precisions of their own.
    pub(crate) fn has_cells(&self) -> bool {
        self.views.iter().any(|v| v.term.by_cells())
    }
    /// The objective by named term: the bound of variational Bayes, or the log
    /// joint density when the blocks hold draws.
    pub fn objective(&mut self) -> Vec<Term<String>> {
        let factors = self.factors.seen();
        let of_views: Vec<_> = self
            .views
            .par_iter_mut()
            .with_max_len(1)
            .map(|view| view.objective(factors))
            .collect();
        let mut out = of_views.concat();
        out.extend(self.factors.bound().0.into_iter().map(|t| Term {
            name: match t.name {
                "rows" => "factors".to_owned(),
                other => format!("factor-{other}"),
            },
            of: t.of,
            value: t.value,
        }));
        out
    }
    /// Sum of [`Model::objective`].
    pub fn bound(&mut self) -> f64 {
        polyview_core::compensated(self.objective().into_iter().map(|t| t.value))
    }
    /// What one more factor would add to the bound if no data spoke of it
    /// ([`RowBlock::idle_column`]): at most 0.
    pub fn idle_factor(&self) -> f64 {
        let weights = self.views.iter().map(|v| v.weights.idle_column());
        self.factors.idle_column() + weights.sum::<f64>()
    }
    /// Writes factors and weights alone.
    pub(crate) fn save_rows(&self, state: &mut State) {
        self.factors.save("factors", state);
        for view in &self.views {
            view.weights.save(&format!("weights/{}", view.name), state);
        }
    }
    /// Reads what [`Model::save_rows`] wrote.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub(crate) fn load_rows(&mut self, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.factors.load("factors", state)?;
        for view in &mut self.views {
            view.weights
                .load(&format!("weights/{}", view.name), state)?;
        }
        self.share();
        Ok(())
    }
    /// Takes over factors, weights and intercepts, with their priors, of a model of the same
    /// samples, columns and number of factors, whatever its data terms are.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when they are of another kind or extent.
    pub fn take_rows(&mut self, from: &Self) -> Result<(), NumericError> {
        let mut state = State::new();
        from.save_rows(&mut state);
        for view in &from.views {
            view.bias.save(&format!("bias/{}", view.name), &mut state);
        }
        let state = state.reader();
        self.load_rows(&state)?;
        for view in &mut self.views {
            view.bias.load(&format!("bias/{}", view.name), &state)?;
        }
        Ok(())
    }
    /// Removes, reorders and flips factors: keeps the columns `keep`, in that
    /// order, each times its sign.
    ///
    /// # Errors
    /// [`NumericError`] when a covariance is not positive definite.
    pub fn select(&mut self, keep: &[usize], signs: &[f64]) -> Result<(), NumericError> {
        self.factors.select(keep, signs)?;
        for view in &mut self.views {
            view.weights.select(keep, signs)?;
        }
        Ok(())
    }
    /// Whether factors and weights may be turned together by any orthogonal matrix, and nothing that
    /// is said of any sample changes: the priors of the weights and that of the factors stay in their
    /// families (none is sparse), and that of the factors is the same in every direction, as it is
    /// where they are standard normal. It is not where factors have precisions of their own.
    #[must_use]
    pub fn may_turn(&self) -> bool {
        let weights = |v: &ViewPart| v.weights.rotation_term(RotationSide::Weights).is_some();
        if self.factors.rotation_term(RotationSide::Factors).is_none()
            || !self.views.iter().all(weights)
        {
            return false;
        }
        let (rows, k) = (self.factors.moments().explicit_rows(), self.k());
        alike(&self.factors.precision(), rows, k)
    }
    /// Turns factors and weights by an orthogonal matrix, K × K. Precisions of the weights that are not
    /// the same for all factors become those that fit the turned weights; those of rows
    /// among them.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    pub fn turn(
        &mut self,
        rotation: MatRef<'_, f64>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.factors.transform(rotation, 0.0);
        let k = self.k();
        for view in &mut self.views {
            view.weights.transform(rotation, 0.0);
            let rows = view.weights.moments().explicit_rows();
            if !alike(&view.weights.precision(), rows, k) {
                view.weights.learn(cx)?;
            }
        }
        Ok(())
    }
}

/// Whether every row has one precision for all of its entries.
fn alike(precision: &PrecisionView<'_>, rows: usize, k: usize) -> bool {
    let same = |x: &[f64]| x.iter().all(|p| *p == x[0]);
    match precision {
        PrecisionView::Columns(c) | PrecisionView::Outer { columns: c, .. } => same(c),
        other => (0..rows).all(|r| (1..k).all(|j| other.at(r, j) == other.at(r, 0))),
    }
}

impl Model {
    /// Hands the present factors and weights to all terms whose predictions for other
    /// samples need them ([`ViewTerm::as_conditioned`]).
    pub fn condition(&mut self) {
        for view in &mut self.views {
            let (term, p) = view.with(self.factors.seen());
            if let Some(conditioned) = term.as_conditioned() {
                conditioned.condition(&p);
            }
        }
    }
    /// Reads the views' parts of what [`Stateful::save`] wrote, and leaves the
    /// factors alone: the parameters of a fit for other samples.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub fn load_views(
        &mut self,
        prefix: &str,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        self.views
            .iter_mut()
            .try_for_each(|v| v.load(prefix, state))
    }
}

impl Stateful for Model {
    fn save(&self, prefix: &str, state: &mut State) {
        self.factors.save(&format!("{prefix}factors"), state);
        for view in &self.views {
            view.save(prefix, state);
        }
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.factors.load(&format!("{prefix}factors"), state)?;
        self.load_views(prefix, state)?;
        self.share();
        let k = self.k();
        match self.views.iter().find(|v| v.weights.moments().k() != k) {
            Some(v) => Err(NumericError::BadState {
                name: format!("{prefix}views/{}/weights", v.name),
            }),
            None => Ok(()),
        }
    }
}
