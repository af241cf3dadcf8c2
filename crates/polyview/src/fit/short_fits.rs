//! How well short fits predict other views from kernels.

use polyview_core::{Centring, Dataset, FeatureScaling, Scaling, View, by_name};
use polyview_kernels::KernelChoice;
use polyview_random::{StreamKey, uniform_open01};

use crate::compose::Composed;
use crate::spec::{EngineKind, ModelSpec, Settle, ViewChoices};
use crate::verbs::{
    CrossValidate, CrossValidateModel, CrossValidateOptions, CrossValidateScore, cross_validate,
};

/// Folds of the samples whose other views are hidden in turn.
const FOLDS: usize = 3;
/// Sweeps of each fit.
const SWEEPS: usize = 40;
/// Samples that are looked at, at most.
pub(crate) const SAMPLES: usize = 600;
/// With fewer samples there is nothing to tell kernels apart by.
pub(super) const FEWEST: usize = 15;
/// Streams of the draw of these.
pub(super) const DRAWN: u32 = 0x6b77_6964;

/// What reference points are compared by.
pub(super) struct Search {
    spec: ModelSpec,
    view: String,
    data: Dataset,
    targets: Vec<String>,
    /// Scores of the targets that are compared.
    scores: Vec<CrossValidateScore>,
    seed: u64,
}

impl Search {
    /// Why not, where they cannot be compared.
    pub(super) fn new(
        composed: &Composed,
        data: &Dataset,
        choices: &[ViewChoices],
        at: usize,
    ) -> std::result::Result<Self, String> {
        let Some(spec) = composed.spec() else {
            return Err("this model is put together by another composer".to_owned());
        };
        let views = || data.views().iter().zip(choices);
        let targets: Vec<String> = views()
            .filter(|(_, c)| c.kernel.is_none())
            .map(|(v, _)| v.name().to_owned())
            .collect();
        if targets.is_empty() {
            return Err("there is no other view to predict".to_owned());
        }
        let scores: Vec<CrossValidateScore> = views()
            .filter(|(_, c)| c.kernel.is_none())
            .map(|(_, c)| score_of(c))
            .collect();
        let seed = spec.seed;
        let whole = |n: &u32| {
            let has = |v: &View| v.mask().count_sample(*n as usize, v.n_features()) > 0;
            let of_kernels = views().filter(|(_, c)| c.kernel.is_some());
            let mut others = views().filter(|(_, c)| c.kernel.is_none());
            of_kernels.map(|(v, _)| v).all(has) && others.any(|(v, _)| has(v))
        };
        let samples: Vec<u32> = (0..data.n_samples() as u32).filter(whole).collect();
        if samples.len() < FEWEST {
            return Err(format!(
                "{} samples have this view and another one, too few to compare them by",
                samples.len()
            ));
        }
        let samples = some_of(
            samples,
            data.samples(),
            SAMPLES,
            StreamKey::new(seed).block(DRAWN),
        );
        let mut data = data.subset(&samples);
        // features count alike, in whichever units they are
        for (view, c) in data.clone().views().iter().zip(choices) {
            if c.kernel.is_none() && c.likelihood == "gaussian" && view.sparse().is_none() {
                let units = Scaling::learn(view, Centring::Feature, FeatureScaling::Feature);
                data = data
                    .with_view(units.apply(view.clone()))
                    .map_err(|e| e.to_string())?;
            }
        }
        let mut spec = spec.clone();
        for (view, c) in data.views().iter().zip(choices) {
            spec = spec.with_view(view.name(), c.clone());
        }
        spec.engine = EngineKind::Vb;
        spec.restarts = 1;
        spec.vb.max_sweeps = SWEEPS;
        for view in &mut spec.views {
            view.choices.settle = Some(Settle::Not);
            if let Some(kernel) = &mut view.choices.kernel {
                kernel.keep = None;
            }
        }
        Ok(Self {
            view: data.views()[at].name().to_owned(),
            spec,
            data,
            targets,
            scores,
            seed,
        })
    }
    /// What is lost where this share of the reference points is kept.
    ///
    /// # Errors
    /// Why samples cannot be held out, or what went wrong in a fit.
    pub(super) fn cut(&self, share: f64) -> std::result::Result<String, String> {
        let Some(kernel) = self.spec.view(&self.view).kernel else {
            return Err("there is no kernel".to_owned());
        };
        let of = |keep: Option<f64>| KernelChoice {
            references: self.fitting(kernel.references),
            keep,
            ..kernel
        };
        let models = [
            self.model("all".to_owned(), of(None)),
            self.model("kept".to_owned(), of(Some(share))),
        ];
        let found = self.compared(&models)?;
        let [all, kept] = ["all", "kept"].map(|name| self.mean(&found, name));
        Ok(format!(
            "short fits predict {} of {} samples held out in turn with a mean score of {kept:.3} by the kept ones, {all:.3} by all",
            self.targets.join(", "),
            self.data.n_samples()
        ))
    }
    /// A number of reference points that each fold has.
    fn fitting(&self, references: Option<usize>) -> Option<usize> {
        let samples = self.data.n_samples();
        references.filter(|r| *r < samples - samples.div_ceil(FOLDS))
    }
    fn model(&self, name: String, kernel: KernelChoice) -> CrossValidateModel {
        let spec = self.spec.clone().with_kernel(&self.view, kernel);
        CrossValidateModel::of_search(name, spec.into())
    }
    fn compared(
        &self,
        models: &[CrossValidateModel],
    ) -> std::result::Result<CrossValidate, String> {
        let options = CrossValidateOptions {
            targets: self.targets.clone(),
            folds: FOLDS,
            seed: self.seed,
            keep_together: self.spec.keep_together.clone(),
            baselines: false,
            two_steps: false,
            ..CrossValidateOptions::default()
        };
        let found = cross_validate(&self.data, models, &options, &|_| {});
        found.map_err(|e| e.to_string())
    }
    /// Mean score of a model over the targets: larger is better.
    fn mean(&self, found: &CrossValidate, model: &str) -> f64 {
        let of = |(target, score): (&String, &CrossValidateScore)| {
            let mut own = found.summary.iter();
            let own = own.find(|s| s.method == model && s.target == *target && s.score == *score);
            own.map(|s| if is_loss(*score) { -s.mean } else { s.mean })
        };
        let all: Vec<f64> = (self.targets.iter().zip(&self.scores))
            .filter_map(of)
            .collect();
        all.iter().sum::<f64>() / all.len() as f64
    }
}

/// What a view is scored by.
fn score_of(choices: &ViewChoices) -> CrossValidateScore {
    let domain = choices.likelihood.domain().unwrap_or_default();
    match domain {
        d if d.is_label() => CrossValidateScore::LogLoss,
        d if d.is_ordered() => CrossValidateScore::RankedProbability,
        d if d.has_deviance() => CrossValidateScore::DevianceExplained,
        _ => CrossValidateScore::R2,
    }
}

fn is_loss(score: CrossValidateScore) -> bool {
    matches!(
        score,
        CrossValidateScore::LogLoss | CrossValidateScore::RankedProbability
    )
}

/// No more than `most` of these samples, of those of these names, drawn without replacement whatever the order of the rows, in
/// their order.
pub(crate) fn some_of(
    mut samples: Vec<u32>,
    all: &[String],
    most: usize,
    key: StreamKey,
) -> Vec<u32> {
    if samples.len() > most {
        let names: Vec<String> = samples.iter().map(|n| all[*n as usize].clone()).collect();
        samples = (by_name(&names).into_iter()).map(|i| samples[i]).collect();
        let mut rng = key.rng();
        for i in 0..most {
            let left = samples.len() - i;
            let j = i + ((uniform_open01(&mut rng) * left as f64) as usize).min(left - 1);
            samples.swap(i, j);
        }
        samples.truncate(most);
        samples.sort_unstable();
    }
    samples
}
