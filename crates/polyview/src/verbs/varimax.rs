//! Varimax after the fit.

use polyview_core::{Context, Event, Journal, ParameterUncertainty, RotationSide, State, Stateful};
use polyview_infer::Model;
use polyview_linalg::{KaiserNormalisation, Mat, MatRef, VarimaxOptions};
use polyview_random::StreamKey;

use crate::assemble;
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::fit::{Fit, ViewInfo, saved_parameters, share};
use crate::spec::{ModelSpec, Posterior};
use crate::verbs::features_of;

impl Fit {
    /// The same answer with its factors turned by varimax: the orthogonal
    /// rotation of the posterior mean weights (all views on top of one
    /// another, working units, every feature by its communality) that makes
    /// the squared weights as uneven as possible.
    ///
    /// Means and covariances of factors and weights are turned together, those
    /// of Gibbs draws by the same rotation each, so predictions do not change.
    /// Factors are ordered and signed anew, the precisions of the weights are
    /// those that fit the turned weights. A rotation that the bound would not
    /// choose is no optimum of it: the record keeps the bound of the fit, and
    /// the journal says what was done.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for sparse weights or factors and factorised
    /// posteriors: turned, they would be neither, and sparse weights need no turning.
    /// [`crate::ErrorKind::Linalg`]; when a component's state is damaged.
    pub fn varimax(&self) -> Result<Self> {
        let refused = |view: &str, what: &str, other: &str| ErrorKind::Incompatible {
            view: view.to_owned(),
            what: what.to_owned(),
            with: format!(
                "varimax after the fit, which leaves neither zeros nor independent entries; take the \
                 factors as they are, or fit with {other}"
            ),
        };
        let (k, spec) = (self.k(), self.spec());
        let factorised = |s: &&ModelSpec| s.posterior == Posterior::Factorised;
        let factorised = spec.filter(factorised).map(|s| ModelSpec {
            posterior: Posterior::Full,
            ..s.clone()
        });
        // priors that allow no turning come before posteriors
        let asked = match &factorised {
            Some(full) => Composed::from(full.clone()),
            None => self.composed.clone(),
        };
        let posterior = ParameterUncertainty::Posterior;
        let parts = asked.parameters(self.groups(), self.empty_views()?, k, posterior)?;
        for (v, part) in self.views.iter().zip(&parts.views) {
            if part.weights.rotation_term(RotationSide::Weights).is_none() {
                let prior = spec.map(|_| v.choices.selection.called());
                let prior = prior.unwrap_or_else(|| "the prior of its weights".to_owned());
                return Err(refused(&v.name, &prior, "weights of the prior ard").into());
            }
        }
        if factorised.is_some() {
            return Err(refused("", "a factorised posterior", "the full one").into());
        }
        if (parts.factors.rotation_term(RotationSide::Factors)).is_none() {
            let prior = spec.map(|s| s.factor_prior.called());
            let prior = prior.unwrap_or_else(|| "the prior of the factors".to_owned());
            return Err(refused("", &prior, "another prior of the factors").into());
        }
        let options = VarimaxOptions {
            normalisation: KaiserNormalisation::Rows,
            ..VarimaxOptions::default()
        };
        let turned = polyview_linalg::varimax(self.stacked_weights()?.as_ref(), &options)?;
        let mut out = self.clone();
        let mut models = Vec::with_capacity(self.n_components());
        for state in &self.components {
            let mut model = self.load_model(state, k)?;
            model.factors.transform(turned.rotation.as_ref(), 0.0);
            let mut cx = Context {
                key: StreamKey::new(self.run_options().seed),
                sweep: self.record.sweeps,
                journal: &mut Journal::default(),
            };
            model.factors.learn(&mut cx)?;
            for view in &mut model.views {
                view.weights.transform(turned.rotation.as_ref(), 0.0);
                view.weights.learn(&mut cx)?;
            }
            models.push(model);
        }
        let (order, signs) = order(&models, k);
        out.sums = self.sums_turned(turned.rotation.as_ref(), &order, &signs)?;
        out.settled = self.settled_turned(turned.rotation.as_ref(), &order, &signs)?;
        for (state, model) in out.components.iter_mut().zip(&mut models) {
            model.select(&order, &signs)?;
            *state = saved_parameters(model);
        }
        share(&mut out.components);
        let note = format!(
            "factors turned by varimax after the fit (criterion {:.4}, {} sweeps{}); the bound is \
             that of the fit before",
            turned.criterion,
            turned.sweeps,
            if turned.converged {
                ""
            } else {
                ", not converged"
            }
        );
        let sweep = self.record.sweeps;
        let journal = &mut out.record.journal;
        journal.note(sweep, "varimax", Event::Note { note });
        Ok(out)
    }

    /// What views were settled on, for factors that are turned, reordered and signed so. The prior
    /// beside it is the joint fit's, which predictions do not read.
    fn settled_turned(
        &self,
        rotation: MatRef<'_, f64>,
        order: &[usize],
        signs: &[f64],
    ) -> Result<State> {
        let mut out = State::new();
        for (v, info) in self.views.iter().enumerate() {
            if !self.holds_settled(v) {
                continue;
            }
            let empty = assemble::empty_view(&info.name, &info.features, &info.levels)?;
            let (groups, k) = (assemble::several(self.groups()), self.k());
            let posterior = ParameterUncertainty::Posterior;
            let mut model = (self.composed).parameters(groups, vec![empty], k, posterior)?;
            model.load_views("", &self.settled.reader())?;
            for mut part in model.views {
                part.weights.transform(rotation, 0.0);
                part.weights.select(order, signs)?;
                part.give_up("", &mut out);
            }
        }
        out.drop_local();
        // what factors leave does not turn with them
        for (name, array) in self.settled.arrays() {
            let of = |v: &ViewInfo| name.starts_with(&features_of(&v.name));
            if self.views.iter().any(of) || self.is_of_mixture(name) {
                out.put(name, array.clone());
            }
        }
        Ok(out)
    }

    /// Posterior mean weights of all views on top of one another, ΣD × K.
    pub(super) fn stacked_weights(&self) -> Result<Mat<f64>> {
        let rows = (self.views.iter())
            .map(|v| Ok(self.weight_rows(&v.name)?.len()))
            .sum::<Result<usize>>()?;
        let mut out: Mat<f64> = Mat::zeros(rows, self.k());
        let share = 1.0 / self.n_components().max(1) as f64;
        for i in 0..self.n_components() {
            let component = self.component(i)?;
            let mut at = 0;
            for view in &component.views {
                let w = view.weights.mean();
                for j in 0..w.ncols() {
                    for d in 0..w.nrows() {
                        out[(at + d, j)] += share * w[(d, j)];
                    }
                }
                at += w.nrows();
            }
        }
        Ok(out)
    }

    /// The model of one component, without data.
    pub(super) fn load_model(&self, state: &State, k: usize) -> Result<Model> {
        let views = self.empty_views()?;
        let posterior = ParameterUncertainty::Posterior;
        let mut model = (self.composed).parameters(self.groups(), views, k, posterior)?;
        model.load("", &self.reader_of(state))?;
        Ok(model)
    }
}

/// Factors by the variance that they explain over all views, most first, and
/// the signs that make their largest mean weight positive.
fn order(models: &[Model], k: usize) -> (Vec<usize>, Vec<f64>) {
    let mut explained = vec![0.0; k];
    let mut peak = vec![0.0_f64; k];
    for m in 0..models.first().map_or(0, |m| m.views.len()) {
        let rows = models[0].views[m].weights.moments().explicit_rows();
        let mut mean: Mat<f64> = Mat::zeros(rows, k);
        for model in models {
            let z = model.factors.moments().mean();
            let w = model.views[m].weights.moments().mean();
            for j in 0..k {
                let spread = z.col(j).iter().map(|x| x * x).sum::<f64>() / z.nrows().max(1) as f64;
                let energy: f64 = w.col(j).iter().map(|x| x * x).sum();
                explained[j] += spread * energy / rows.max(1) as f64;
            }
            mean += w;
        }
        for j in 0..k {
            for x in mean.col_as_slice(j) {
                if x.abs() > peak[j].abs() {
                    peak[j] = *x;
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| explained[b].total_cmp(&explained[a]));
    let signs = order
        .iter()
        .map(|&j| if peak[j] < 0.0 { -1.0 } else { 1.0 })
        .collect();
    (order, signs)
}
