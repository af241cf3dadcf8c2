//! New samples taken into a fitted model (spec/mlfs 8).

mod rows;
pub(super) mod stream;

use std::collections::HashSet;
use std::sync::Arc;

use polyview_core::{Dataset, Event, State, Stateful, UnknownClass, Way};
use polyview_linalg::on_pool;
use serde::{Deserialize, Serialize};

use super::align::Aligned;
use crate::compose::Composed;
use crate::error::{Error, ErrorKind, Result};
use crate::fit::{Fit, ViewInfo, saved_parameters};
use crate::spec::{EngineKind, ModelSpec, Path, RunOptions, Settle};
use rows::longer;
use stream::Stream;

/// Where the journal tells of updates.
pub(crate) const UPDATE: &str = "update";

/// Choices of [`Fit::update`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct UpdateOptions {
    /// Number of new samples that are taken in together; 0 = all of them.
    pub batch: usize,
    /// Most passes over the new samples: the first takes them in batch by batch, each more finds
    /// their factors again under the weights of the one before. Passes end once weights rest.
    pub passes: usize,
    /// Largest relative change of a view's weights in a pass that counts as none.
    pub tolerance: f64,
    /// Forgetting rate, from 0 to below 1: after each new sample all that came before it count by
    /// this share less.
    pub forget: f64,
    /// Whether the samples of the fit are seen again in every pass after the first, as those of a
    /// fit of all samples are; needs their data in the model.
    pub refresh: bool,
}

impl Default for UpdateOptions {
    fn default() -> Self {
        Self {
            batch: 0,
            passes: 1,
            tolerance: 1e-5,
            forget: 0.0,
            refresh: false,
        }
    }
}

impl UpdateOptions {
    fn check(&self) -> Result<()> {
        let bad =
            |option: &'static str, value: String| Err(ErrorKind::Option { option, value }.into());
        if self.passes == 0 {
            return bad("passes", "0".to_owned());
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return bad("tolerance", self.tolerance.to_string());
        }
        if !(self.forget >= 0.0 && self.forget < 1.0) {
            return bad("forget", self.forget.to_string());
        }
        if self.refresh && self.forget > 0.0 {
            return Err(ErrorKind::Incompatible {
                view: String::new(),
                what: "forgetting the samples of the fit".to_owned(),
                with: "seeing them again (refresh)".to_owned(),
            }
            .into());
        }
        if self.refresh && self.passes == 1 {
            return Err(ErrorKind::Incompatible {
                view: String::new(),
                what: "seeing the samples of the fit again (refresh)".to_owned(),
                with: "a single pass, which sees the new ones alone; ask for more passes"
                    .to_owned(),
            }
            .into());
        }
        Ok(())
    }
}

/// A model with new samples.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The model of the old and the new samples, the old ones first.
    pub fit: Fit,
    /// Number of new samples.
    pub taken: usize,
    /// Passes over the new samples.
    pub passes: usize,
    /// Whether weights rested at the end; a single pass does not say.
    pub rested: bool,
    /// What was ignored or taken as missing, and what became of the old samples.
    pub notes: Vec<String>,
    /// What is likely to make the answer wrong, such as data far off those of training.
    pub warnings: Vec<String>,
}

impl Fit {
    /// Takes new samples into the model, without fitting it again (spec/mlfs 8): their local
    /// variables and factors are found under the present weights, their sums (second moments of the
    /// factors, products with the data) are added to those of all samples so far, and
    /// weights, intercepts, noise and scales follow from the sums, as in the engine
    /// stochastic. In one pass each new sample is seen once. The fit itself stays as it is.
    ///
    /// The sums of the samples so far are made of the data that the model holds, under its
    /// present weights; a model without its data has them beside it (a stochastic fit, or
    /// one that was updated or whose data were forgotten). Scales and centres of the features
    /// are those of the first fit, and so are features, classes and the number of factors. Factors
    /// do not turn: factor 1 stays factor 1.
    ///
    /// In the answer the factors of **all** samples are those under its weights where the model holds its data;
    /// else those of the old samples stay as they were, and a note says so. New data
    /// need not have all views: labels that nobody knows yet are missing. It has no bound: that of a fit is not one of more
    /// samples.
    ///
    /// With [`UpdateOptions::refresh`] and enough passes the answer is a fit of old and new samples
    /// together, gone on with from this one. Likelihoods whose `form` is `auto` (bernoulli, probit, binomial,
    /// negative-binomial) take the paper's bound in these steps, as under the engine stochastic, and not the expectation that a fit by
    /// variational Bayes takes: the answer is then that of a fit with `form = bound`, and weights of such a
    /// view are smaller; a note says so.
    ///
    /// ```
    /// use polyview::{UpdateOptions, models};
    /// use polyview_datasets::{BibfaOptions, simulate_bibfa};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let all = simulate_bibfa(&BibfaOptions::new(60, &[8, 6], 2, 1))?.data.dataset;
    /// let rows = |range: std::ops::Range<u32>| all.subset(&range.collect::<Vec<_>>());
    /// let fit = polyview::fit(rows(0..40), models::bibfa(3))?;
    /// let updated = fit.update(&rows(40..60), &UpdateOptions::default())?;
    /// assert_eq!(updated.taken, 20);
    /// assert_eq!(updated.fit.samples().len(), 60);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoUpdate`] for models whose sums cannot be added to: Gibbs draws, likelihoods whose
    /// parameters are learnt from all cells at once, groups with parameters of their own,
    /// covariates, priors of the factors that are learnt; and where neither data nor
    /// sums are at hand. [`ErrorKind::KnownSamples`], [`ErrorKind::NewFeatures`],
    /// [`ErrorKind::NothingNew`]; [`ErrorKind::Option`]; what [`Fit::project`] refuses.
    pub fn update(&self, data: &Dataset, options: &UpdateOptions) -> Result<Updated> {
        on_pool(|| self.updated(data, options))
    }

    /// Whether the model can take in new samples at all, before anybody reads any.
    ///
    /// # Errors
    /// [`ErrorKind::NoUpdate`], as of [`Fit::update`].
    pub fn can_update(&self) -> Result<()> {
        self.streaming(1).map(|_| ())
    }

    fn updated(&self, data: &Dataset, options: &UpdateOptions) -> Result<Updated> {
        options.check()?;
        let streaming = self.streaming(data.n_samples())?;
        self.are_new(data)?;
        let Aligned {
            samples,
            views,
            mut notes,
            mut warnings,
            ..
        } = Aligned::new(self, data, None, UnknownClass::Error)?;
        let (old, new) = (self.samples.len(), samples.len());
        if views.iter().flatten().all(|v| v.n_observed() == 0) {
            return Err(ErrorKind::NothingNew.into());
        }
        let (views, rounding) = self.with_rows(data, views, new)?;
        let first = if self.data.is_some() { old } else { 0 };
        let mut stream = Stream {
            run: self.stream(&streaming, views.clone())?,
            old: 0..first,
            new: first..first + new,
            options: *options,
        };
        let known = self.sums_so_far(&mut stream)?;
        let (passes, rested) = stream.take_in(&known)?;
        if options.passes > 1 && !rested {
            warnings.push(format!(
                "weights still moved after {passes} passes (more than {:e} of their size): the model may change where more are \
                 allowed",
                options.tolerance
            ));
        }
        let sums = stream.run.sums();
        let mut fit = self.clone();
        // what old samples count for is in the sums alone once they are not seen again
        let kept = self.data.is_none()
            || options.forget > 0.0
            || (self.sums.is_some() && !options.refresh);
        fit.sums = kept.then(|| {
            let mut state = State::new();
            sums.save("", &mut state);
            state
        });
        let mut parameters = State::new();
        for part in stream.run.into_views()? {
            part.give_up("", &mut parameters);
        }
        parameters.drop_local();
        let mut model = self.parameters_of(&parameters)?;
        fit.samples.extend(samples);
        fit.groups = self.with_groups(data, &mut notes);
        fit.metadata = (self.metadata.iter())
            .map(|column| longer(column, old, data, new))
            .collect();
        for (info, view) in fit.views.iter_mut().zip(&views) {
            if self.data.is_some() {
                info.observed = view.n_observed();
                info.unobserved = view.unobserved_features();
            } else {
                info.observed += view.n_observed();
            }
        }
        fit.components = vec![saved_parameters(&model)];
        let moments = self.factors_of(&fit, &views, &mut notes)?;
        model.factors.set_moments(moments);
        fit.components = vec![saved_parameters(&model)];
        if self.data.is_some() {
            (fit.data, fit.rounding) = (Some(views), rounding);
        }
        for (at, info) in self.views.iter().enumerate() {
            if self.shares_of(at)?.is_some() {
                let again = options.forget == 0.0 && fit.regress_again(at)?;
                let what = if again {
                    "shares are those of the samples before; its regression is made again with the new ones"
                } else {
                    "shares and regression are those of the samples before"
                };
                notes.push(format!(
                    "view '{}' is predicted by a mixture, whose {what}",
                    info.name
                ));
            }
        }
        for info in &self.views {
            if info.choices.likelihood.options().text("form").as_deref() == Some("auto") {
                notes.push(format!(
                    "view '{}' is {}: samples are taken in under its bound (form=bound), which is looser than the expectation that a fit \
                     takes, so that its weights may shrink; fit all samples together for the latter",
                    info.name, info.choices.likelihood
                ));
            }
        }
        fit.record.bound = None;
        let note = format!(
            "{new} new sample(s) taken in beside {old}, in {passes} pass(es){}; scales, centres and features are those of \
             the first fit, and the bound was that of the fit before",
            if options.forget > 0.0 {
                format!(", older ones forgotten at the rate {}", options.forget)
            } else {
                String::new()
            }
        );
        fit.record
            .journal
            .note(self.record.sweeps, UPDATE, Event::Note { note });
        Ok(Updated {
            fit,
            taken: new,
            passes,
            rested,
            notes,
            warnings,
        })
    }

    /// The model whose data terms are sums over samples.
    ///
    /// # Errors
    /// [`ErrorKind::NoUpdate`].
    pub(in crate::verbs) fn streaming(&self, new: usize) -> Result<Composed> {
        let refuse = |why: String| Err(Error::from(ErrorKind::NoUpdate { why }));
        if self.run_options().engine == EngineKind::Gibbs {
            return refuse("its posterior is made of draws, which have no sums".to_owned());
        }
        if self.spec().is_some_and(ModelSpec::adjusts) {
            return refuse(
                "it is adjusted for covariates or has offsets, which are not of sums".to_owned(),
            );
        }
        for (at, info) in self.views.iter().enumerate() {
            let likelihood = &info.choices.likelihood;
            if let Some(why) = likelihood.refuses(Way::Stochastic) {
                let why = why.split(": take ").next().unwrap_or_default();
                return refuse(format!("view '{}' is {likelihood}: {why}", info.name));
            }
            if self.holds_settled(at) {
                return refuse(format!(
                    "view '{}' was settled, and what it was settled on is not of sums",
                    info.name
                ));
            }
            let data = self.data.as_ref().map(|all| &all[at]);
            if data.is_some_and(|v| v.sparse().is_some()) {
                return refuse(format!("view '{}' is stored sparse", info.name));
            }
        }
        let composed = match self.spec() {
            Some(spec) => {
                let mut spec = ModelSpec {
                    engine: EngineKind::Stochastic,
                    restarts: 1,
                    path: Path::default(),
                    ..spec.clone()
                };
                // what stands beside the joint fit stays as it is
                let mixed = |v: &&ViewInfo| v.choices.settle.is_some_and(Settle::is_mixture);
                for info in self.views.iter().filter(mixed) {
                    spec = spec.with_settled(&info.name, Settle::Not);
                }
                self.composed.with_spec(spec)
            }
            None => Composed::new(
                Arc::clone(&self.composed.composer),
                RunOptions {
                    engine: EngineKind::Stochastic,
                    restarts: 1,
                    ..self.composed.options.clone()
                },
            ),
        };
        let goes = composed.views(
            &self.empty_views()?,
            self.samples.len() + new,
            self.groups(),
        );
        match goes {
            Ok(_) => Ok(composed),
            Err(e) => {
                // what to do about it is that of a fit
                let why = e.kind().to_string();
                let why = why.split("; take ").next().unwrap_or_default();
                refuse(format!(
                    "an update goes by batches, as the engine stochastic does, whatever engine the model is of: {why}"
                ))
            }
        }
    }

    /// Refuses samples that the model has, and features that it has not.
    fn are_new(&self, data: &Dataset) -> Result<()> {
        let known: HashSet<&String> = self.samples.iter().collect();
        let twice: Vec<&String> = data
            .samples()
            .iter()
            .filter(|s| known.contains(s))
            .collect();
        if let Some(first) = twice.first() {
            return Err(ErrorKind::KnownSamples {
                count: twice.len(),
                first: (*first).clone(),
            }
            .into());
        }
        for view in data.views() {
            let (_, info) = self.view(view.name())?;
            if !info.levels.is_empty() {
                continue;
            }
            let own: HashSet<&String> = (info.features_of_tables().iter())
                .chain(&info.left_out)
                .collect();
            let strange: Vec<&String> = (view.features().iter())
                .filter(|f| !own.contains(f))
                .collect();
            if let Some(first) = strange.first() {
                return Err(ErrorKind::NewFeatures {
                    view: info.name.clone(),
                    count: strange.len(),
                    first: (*first).clone(),
                }
                .into());
            }
        }
        Ok(())
    }
}
