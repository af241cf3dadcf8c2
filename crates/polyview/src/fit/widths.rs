//! The width of a kernel, by how well other views are predicted from it.

use polyview_core::{Centring, Dataset, Event, FeatureScaling, Journal, Scaling, View};
use polyview_kernels::{Family, KernelChoice, Width, learn_view};
use polyview_random::{StreamKey, uniform_open01};

use super::kernels::table;
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::spec::{EngineKind, ModelSpec, Settle, ViewChoices};
use crate::verbs::{
    CrossValidate, CrossValidateModel, CrossValidateOptions, CrossValidateScore, cross_validate,
};

/// Widths that are tried first, as multiples of the median distance of samples.
const COARSE: [f64; 5] = [0.5, 1.0, 2.0, 4.0, 8.0];
/// How many further ones are tried where the best is the last.
const FURTHER: usize = 3;
/// Then those beside the best one.
const FINE: f64 = std::f64::consts::SQRT_2;
/// Folds of the samples whose other views are hidden in turn.
const FOLDS: usize = 3;
/// Sweeps of each fit.
const SWEEPS: usize = 40;
/// Samples that are looked at, at most.
const SAMPLES: usize = 600;
/// With fewer samples there is nothing to tell widths apart by.
const FEWEST: usize = 15;
/// Streams of the draw of these.
const DRAWN: u32 = 0x6b77_6964;

/// The kernel with its width as a number.
fn of_width(kernel: KernelChoice, width: f64) -> KernelChoice {
    let width = Width::Is(width);
    let family = match kernel.family {
        Family::Rbf { .. } => Family::Rbf { width },
        Family::Matern { nu, .. } => Family::Matern { nu, width },
        other => other,
    };
    KernelChoice { family, ..kernel }
}

/// Finds the width of every kernel that leaves it to the data, one view after the other: that at
/// which short fits to some of the samples predict the other views of the rest best from the
/// views with kernels. The choices of the views get the widths that were found.
///
/// # Errors
/// [`ErrorKind::Kernel`].
pub(super) fn find(
    composed: &Composed,
    data: &Dataset,
    choices: &mut [ViewChoices],
    journal: &mut Journal,
) -> Result<()> {
    let names: Vec<String> = data.views().iter().map(|v| v.name().to_owned()).collect();
    let is_auto = |c: &ViewChoices| {
        let width = c.kernel.and_then(|k| k.family.width());
        width == Some(Width::Auto)
    };
    let open: Vec<usize> = (0..names.len()).filter(|&v| is_auto(&choices[v])).collect();
    // until it is found, that of every view is the median
    let mut medians = vec![1.0; names.len()];
    for &v in &open {
        if let Some(kernel) = choices[v].kernel {
            let table = table(&data.views()[v], data.samples());
            let seed = composed.options.seed;
            let learnt = learn_view(&table, &kernel, seed).map_err(|source| ErrorKind::Kernel {
                view: names[v].clone(),
                source,
            })?;
            medians[v] = learnt.median.unwrap_or(1.0);
            choices[v].kernel = Some(of_width(kernel, medians[v]));
        }
    }
    for &v in &open {
        let Some(kernel) = choices[v].kernel else {
            continue;
        };
        let found = Search::new(composed, data, choices, v).and_then(|search| {
            let tried = search.widths(kernel, medians[v])?;
            let best = best_of(&tried);
            if best.1 == f64::NEG_INFINITY {
                return Err("the fits have no score on held-out samples".to_owned());
            }
            choices[v].kernel = Some(of_width(kernel, best.0 * medians[v]));
            Ok(said(&search, &tried, best))
        });
        let note = found
            .unwrap_or_else(|why| format!("the width is the median distance of samples: {why}"));
        journal.note(0, format!("data/{}", names[v]), Event::Data { note });
    }
    Ok(())
}

/// A multiple of the median distance and its score.
type Tried = (f64, f64);

/// The best of all; of equal ones the widest.
fn best_of(tried: &[Tried]) -> Tried {
    let better = |a: Tried, b: &Tried| if b.1 >= a.1 { *b } else { a };
    tried.iter().fold((1.0, f64::NEG_INFINITY), better)
}

fn said(search: &Search, tried: &[Tried], best: Tried) -> String {
    let all = tried
        .iter()
        .map(|(times, score)| format!("{times:.3} {score:.3}"));
    let all: Vec<String> = all.collect();
    format!(
        "the width is {:.3} times the median distance of samples, at which short fits predict {} best in {} samples held out in turn \
         ({}: {})",
        best.0,
        search.targets.join(", "),
        search.data.n_samples(),
        search.measure(),
        all.join(", ")
    )
}

/// What widths are compared by.
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
    /// Why not, where widths cannot be compared.
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
                "{} samples have this view and another one, too few to compare widths by",
                samples.len()
            ));
        }
        let samples = some_of(samples, StreamKey::new(seed).block(DRAWN));
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
    /// What the scores are, in words.
    fn measure(&self) -> &'static str {
        if self.scores.iter().all(|s| *s == CrossValidateScore::R2) {
            "multiple and R2"
        } else {
            "multiple and mean score"
        }
    }
    /// The widths and how well they do.
    ///
    /// # Errors
    /// Why samples cannot be held out, or what went wrong in a fit.
    fn widths(&self, kernel: KernelChoice, median: f64) -> std::result::Result<Vec<Tried>, String> {
        let mut tried = self.scored(kernel, median, &COARSE)?;
        // where the best one is the last, further ones are tried
        for _ in 0..FURTHER {
            let (best, _) = best_of(&tried);
            let (first, last) = (tried[0].0, tried[tried.len() - 1].0);
            let next = if best <= first {
                first / 2.0
            } else if best >= last {
                2.0 * last
            } else {
                break;
            };
            tried.extend(self.scored(kernel, median, &[next])?);
            tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let (best, _) = best_of(&tried);
        tried.extend(self.scored(kernel, median, &[best / FINE, best * FINE])?);
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(tried)
    }
    fn scored(
        &self,
        kernel: KernelChoice,
        median: f64,
        multiples: &[f64],
    ) -> std::result::Result<Vec<Tried>, String> {
        let references = self.fitting(kernel.references);
        let of = |times: &f64| {
            let kernel = KernelChoice {
                references,
                keep: None,
                ..of_width(kernel, times * median)
            };
            self.model(times.to_string(), kernel)
        };
        let models: Vec<CrossValidateModel> = multiples.iter().map(of).collect();
        let found = self.compared(&models)?;
        let score = |times: &f64| (*times, self.mean(&found, &times.to_string()));
        Ok(multiples.iter().map(score).collect())
    }
    /// What is lost where this share of the reference points is kept.
    ///
    /// # Errors
    /// As [`Search::widths`].
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
        d if d.is_count() => CrossValidateScore::DevianceExplained,
        _ => CrossValidateScore::R2,
    }
}

fn is_loss(score: CrossValidateScore) -> bool {
    matches!(
        score,
        CrossValidateScore::LogLoss | CrossValidateScore::RankedProbability
    )
}

/// No more than [`SAMPLES`] of these, drawn without replacement, in their order.
fn some_of(mut samples: Vec<u32>, key: StreamKey) -> Vec<u32> {
    if samples.len() > SAMPLES {
        let mut rng = key.rng();
        for i in 0..SAMPLES {
            let left = samples.len() - i;
            let j = i + ((uniform_open01(&mut rng) * left as f64) as usize).min(left - 1);
            samples.swap(i, j);
        }
        samples.truncate(SAMPLES);
        samples.sort_unstable();
    }
    samples
}
