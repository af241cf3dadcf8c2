//! Whether models predict any better than means do, and no worse than regressions, and what to try where they do not.

use polyview_core::{Dataset, View};

use super::baselines::MEAN;
use super::plan::two_steps;
use super::summary::summed_up;
use super::{
    CrossValidateModel, CrossValidateOptions, CrossValidateRow, CrossValidateScore as Score,
    CrossValidateSummary as Summary,
};
use crate::assemble::several;
use crate::spec::{EngineKind, ModelSpec, Settle};

/// By how much a method is better than means, and the standard error of that.
struct Gain {
    by: f64,
    error: f64,
    /// The score in words.
    score: &'static str,
}

impl Gain {
    /// Whether it is more than chance, by one standard error.
    fn is_one(&self) -> bool {
        // of a single fold nobody knows the error
        self.by > if self.error.is_nan() { 0.0 } else { self.error }
    }
    /// Whether it is more than chance, by two: of several methods one leads by one of them now and then.
    fn is_sure(&self) -> bool {
        self.is_one() && (self.error.is_nan() || self.by > 2.0 * self.error)
    }
    fn words(&self) -> String {
        // two digits of what is small
        let zeros = -self.by.abs().clamp(1e-5, 1.0).log10();
        let decimals = (zeros.ceil() as usize + 1).max(2);
        let error = if self.error.is_nan() {
            String::new()
        } else {
            format!(" ± {:.decimals$}", self.error)
        };
        format!("{} {:.decimals$}{error}", self.score, self.by)
    }
}

/// What a method has over the means of a target whose rows these are. Where limits are all that is known of some cells, R² is of
/// the exact ones, which reach less far than all do: densities tell. Of counts and numbers above 0 the deviance tells: squares
/// are those of the few largest.
fn gain(of_target: &[Summary], method: &str, limited: bool) -> Option<Gain> {
    let of = |method: &str, score: Score| {
        let mut rows = of_target.iter();
        rows.find(|s| s.method == method && s.score == score)
    };
    let about = |score: Score, chance: f64, words: &'static str| {
        of(method, score).map(|s| Gain {
            by: s.mean - chance,
            error: s.standard_error,
            score: words,
        })
    };
    // differences are from the first model: that of means is known of this alone
    let less = |score: Score, sign: f64, words: &'static str| {
        let own = of(method, score)?;
        let mean = of(MEAN, score).filter(|_| own.difference == 0.0)?;
        Some(Gain {
            by: sign * mean.difference,
            error: mean.difference_error,
            score: words,
        })
    };
    if limited {
        return less(Score::LogDensity, -1.0, "gain of log density, nats")
            .or_else(|| about(Score::Concordance, 0.5, "C-index over 0.5"))
            .or_else(|| less(Score::IntegratedBrier, 1.0, "gain of the Brier score"));
    }
    let deviance = "share of the deviance explained";
    about(Score::DevianceExplained, 0.0, deviance)
        .or_else(|| about(Score::R2, 0.0, "R2"))
        .or_else(|| about(Score::Concordance, 0.5, "C-index over 0.5"))
        .or_else(|| less(Score::IntegratedBrier, 1.0, "gain of the Brier score"))
        .or_else(|| less(Score::LogLoss, 1.0, "gain of log loss, nats"))
}

/// What was compared.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) data: &'a Dataset,
    pub(super) options: &'a CrossValidateOptions,
    pub(super) models: &'a [CrossValidateModel],
    /// Whether a model ended with fewer factors than it was offered in every fold: larger numbers change nothing.
    pub(super) spare: &'a [bool],
}

impl Setting<'_> {
    /// Whether a model may gain from more factors.
    fn takes_more(&self, model: &str) -> bool {
        let at = self.models.iter().position(|m| m.name() == model);
        !at.and_then(|m| self.spare.get(m))
            .is_some_and(|spare| *spare)
    }

    /// A warning for each target of which no score is defined.
    pub(super) fn unscored(&self, summary: &[Summary]) -> Vec<String> {
        let none = |target: &&String| !summary.iter().any(|s| s.target == **target);
        let told = |target: &String| {
            let view = self.data.view(target);
            let events = |v: &View| {
                let exact = |n: usize, d: usize| v.is_observed(n, d) && !v.is_censored(n, d);
                (0..v.n_features()).any(|d| (0..v.n_samples()).any(|n| exact(n, d)))
            };
            let why = if view.is_some_and(|v| v.ends().is_some() && !events(v)) {
                "no value is known exactly, and of times none is that of an event"
            } else {
                "what is known of it in single folds is too little, or the same for all samples"
            };
            format!("'{target}': no score is defined of it, and the table has no row: {why}")
        };
        self.options.targets.iter().filter(none).map(told).collect()
    }

    /// A warning for each target that a model predicts no better than means do, by one standard error.
    pub(super) fn no_better(&self, summary: &[Summary]) -> Vec<String> {
        let Self {
            data,
            options,
            models,
            ..
        } = *self;
        let mut out = Vec::new();
        for of_target in summary.chunk_by(|a, b| a.target == b.target) {
            let target = &of_target[0].target;
            let limited = data.view(target).is_some_and(|v| v.ends().is_some());
            for model in models.iter().map(CrossValidateModel::name) {
                let known = gain(of_target, model, limited).filter(|gain| !gain.by.is_nan());
                let Some(gain) = known.filter(|gain| !gain.is_one()) else {
                    continue;
                };
                let others = of_target.chunk_by(|a, b| a.method == b.method);
                let other = others.map(|rows| rows[0].method.as_str()).find(|method| {
                    let own = |m: &CrossValidateModel| m.name() == *method;
                    *method != MEAN
                        && !models.iter().any(own)
                        && self::gain(of_target, method, limited).is_some_and(|gain| gain.is_one())
                });
                let beside =
                    other.map_or_else(String::new, |method| format!(", and {method} does"));
                let hidden = if !options.targets.is_empty() {
                    "see whether the other views say anything of it at all".to_owned()
                } else if options.share > 0.3 {
                    format!(
                        "hide fewer cells (--hide 0.1): with {:.0} % of them hidden little is left to learn from",
                        100.0 * options.share
                    )
                } else {
                    "see whether its features have anything in common, or with other views"
                        .to_owned()
                };
                let more = if self.takes_more(model) {
                    "more factors (--factors), "
                } else {
                    ""
                };
                out.push(format!(
                "'{target}': {model} predicts it no better than means do ({}){beside}: {hidden}; try {more}\
                 another likelihood or scaling of the views (--scaling normal-scores of bent or heavy-tailed numbers), and more samples",
                gain.words()
            ));
            }
        }
        out
    }
}

/// Less than that of the values in intervals of probability 0.9 is far from right.
const COVERED: f64 = 0.85;

/// A warning for each target of counts whose variance follows from their mean and whose laws are too narrow: too few values are
/// in their intervals, or means say more of a value.
pub(super) fn too_narrow(summary: &[Summary], models: &[CrossValidateModel]) -> Vec<String> {
    let mut out = Vec::new();
    for of_target in summary.chunk_by(|a, b| a.target == b.target) {
        let target = &of_target[0].target;
        for model in models {
            let choices = model.composed.spec().map(|spec| spec.view(target));
            let instead = choices
                .as_ref()
                .and_then(|own| own.likelihood.for_more_variance());
            let of = |method: &str, score: Score| {
                let mut rows = of_target.iter();
                let row = rows.find(|s| s.method == method && s.score == score);
                row.map(|s| s.mean)
            };
            let Some(instead) = instead else {
                continue;
            };
            let covered = of(model.name(), Score::Coverage).filter(|c| *c < COVERED);
            let densities = of(model.name(), Score::LogDensity).zip(of(MEAN, Score::LogDensity));
            let lower = densities.filter(|(own, mean)| own < mean);
            let found: Vec<String> = [
                covered.map(|c| {
                    format!(
                        "{:.0} % of the counts are in their 90 % intervals",
                        100.0 * c
                    )
                }),
                lower.map(|(own, mean)| {
                    format!("log density {own:.2}, where that of means is {mean:.2}")
                }),
            ]
            .into_iter()
            .flatten()
            .collect();
            if !found.is_empty() {
                out.push(format!(
                    "'{target}': the laws of {} are too narrow ({}): the counts vary more than their likelihood lets them; take the \
                     likelihood {instead}",
                    model.name(),
                    found.join("; ")
                ));
            }
        }
    }
    out
}

/// A lead of R², in words.
const R2_BY: &str = "R2 by";

/// By how much a method is better than the model from which differences are, by the score that tells most of the target
/// whose rows these are ([`gain`]); nothing is told of one that lacks it.
fn lead(of_target: &[Summary], method: &str, limited: bool) -> Option<Gain> {
    let deviance = "share of the deviance explained by";
    let (density, concordance) = (
        (Score::LogDensity, 1.0, "log density by"),
        (Score::Concordance, 1.0, "C-index by"),
    );
    let scores = if limited {
        vec![density, concordance]
    } else if of_target
        .iter()
        .any(|s| s.score == Score::DevianceExplained)
    {
        vec![(Score::DevianceExplained, 1.0, deviance)]
    } else {
        vec![
            (Score::R2, 1.0, R2_BY),
            concordance,
            (Score::LogLoss, -1.0, "log loss by"),
            (Score::RankedProbability, -1.0, "RPS by"),
        ]
    };
    scores.into_iter().find_map(|(score, sign, words)| {
        let mut rows = of_target.iter();
        let own = rows.find(|s| s.method == method && s.score == score)?;
        (!own.difference.is_nan()).then_some(Gain {
            by: sign * own.difference,
            error: own.difference_error,
            score: words,
        })
    })
}

/// How much larger the squared errors of `model` are than those of `method`, in words that follow others, where they are larger
/// by half: near 1 an R² tells little of that.
fn larger_errors(of_target: &[Summary], model: &str, method: &str) -> Option<String> {
    let left = |method: &str| {
        let mut rows = of_target.iter();
        let row = rows.find(|s| s.method == method && s.score == Score::R2)?;
        Some(1.0 - row.mean)
    };
    let times = left(model)? / left(method)?;
    (times.is_finite() && times >= 1.5)
        .then(|| format!(", squared errors {times:.1} times as large"))
}

/// Whether a fit of a target could be mixed with a regression, and is not.
fn could_mix(spec: &ModelSpec, target: &str, data: &Dataset) -> bool {
    let choices = spec.view(target);
    // no regression stands beside a fit that is adjusted or has something of its own for groups
    let alone = spec.adjusts() || several(data.groups()).is_some() && spec.knows_groups();
    !choices.settle.is_some_and(Settle::is_mixture)
        && spec.engine == EngineKind::Vb
        && choices.likelihood.has_plain_regression()
        && !alone
        && (spec.clone().with_settled(target, Settle::Mixture))
            .validate()
            .is_ok()
}

impl Setting<'_> {
    /// A warning that regressions on the features of the other views predict targets better than models do, or a thresholded
    /// decomposition hidden cells, by more than two standard errors of the difference, with what to try: once for all of them.
    pub(super) fn beaten(&self, rows: &[CrossValidateRow]) -> Option<String> {
        let Self {
            data,
            options,
            models,
            ..
        } = *self;
        let mut more = false;
        let hidden = options.targets.is_empty();
        let (mut found, mut mixable) = (Vec::new(), Vec::new());
        for model in models {
            let summary = summed_up(rows, model.name(), options.folds);
            for of_target in summary.chunk_by(|a, b| a.target == b.target) {
                let target = &of_target[0].target;
                let limited = data.view(target).is_some_and(|v| v.ends().is_some());
                let methods = of_target.chunk_by(|a, b| a.method == b.method);
                let beside = methods
                    .map(|rows| rows[0].method.as_str())
                    .filter(|method| {
                        let of = |m: &CrossValidateModel| {
                            m.name() == *method || two_steps(m.name()) == *method
                        };
                        *method != MEAN && !models.iter().any(of)
                    });
                let better = beside.filter_map(|m| Some((m, lead(of_target, m, limited)?)));
                let better = better.filter(|(_, lead)| lead.is_sure());
                let best = better.max_by(|(_, a), (_, b)| a.by.total_cmp(&b.by));
                let Some((method, lead)) = best else {
                    continue;
                };
                more |= self.takes_more(model.name());
                found.push(format!(
                    "'{target}': {method} predicts it better than {} ({}{})",
                    model.name(),
                    lead.words(),
                    (larger_errors(of_target, model.name(), method)
                        .filter(|_| lead.score == R2_BY))
                    .unwrap_or_default()
                ));
                let spec = model.composed.spec().filter(|_| !hidden);
                if spec.is_some_and(|spec| could_mix(spec, target, data))
                    && !mixable.contains(target)
                {
                    mixable.push(target.clone());
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let mix: Vec<String> = mixable
            .iter()
            .map(|t| format!("--settle {t}=mixture"))
            .collect();
        let mut ways = Vec::new();
        if !mix.is_empty() {
            ways.push(format!(
                "mix the fit with such a regression ({})",
                mix.join(" ")
            ));
        }
        if more {
            ways.push(
                "try more factors (--factors; 'polyview choose-k' finds how many)".to_owned(),
            );
        }
        if ways.is_empty() {
            ways.push(
                "the fit kept fewer factors than it was offered, so that more of them would change nothing; try another model or likelihood"
                    .to_owned(),
            );
        }
        Some(format!("{}: {}", found.join("; "), ways.join(", or ")))
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use polyview_core::Dataset;

    use super::*;
    use crate::models;

    /// R² of five folds, each `spread` off the mean by turns.
    fn rows(method: &str, mean: f64, spread: f64) -> Vec<CrossValidateRow> {
        let of = |fold: usize| CrossValidateRow {
            repeat: 1,
            fold: fold + 1,
            target: "lipid".to_owned(),
            method: method.to_owned(),
            score: Score::R2,
            value: mean + spread * (fold as f64 - 2.0),
            cells: 100,
        };
        (0..5).map(of).collect()
    }

    #[test]
    fn decompositions_that_beat_a_model_on_hidden_cells_are_said() {
        let data: Dataset = polyview_datasets::nutrimouse();
        let model = CrossValidateModel::new("mofa", models::mofa(3));
        let rows = [
            rows("mofa", 0.9982, 1e-5),
            rows("mean", 0.0, 0.0),
            rows("softly thresholded SVD", 0.9998, 1e-5),
        ];
        let options = CrossValidateOptions::default();
        let setting = |spare: &'static [bool]| Setting {
            data: &data,
            options: &options,
            models: from_ref(&model),
            spare,
        };
        let said = |rows: &[CrossValidateRow]| setting(&[false]).beaten(rows);
        assert_eq!(
            said(&rows.concat()).unwrap(),
            "'lipid': softly thresholded SVD predicts it better than mofa (R2 by 0.0016 ± 0.0000, squared errors 9.0 times as \
             large): try more factors (--factors; 'polyview choose-k' finds how many)"
        );
        assert_eq!(said(&rows[..2].concat()), None);
        // factors that went would go again
        let text = setting(&[true]).beaten(&rows.concat()).unwrap();
        assert!(
            !text.contains("--factors") && text.ends_with("another model or likelihood"),
            "{text}"
        );
        let poor = [rows_of_mean("mofa"), rows_of_mean("mean")].concat();
        let summary = summed_up(&poor, "mofa", 5);
        for (spare, more) in [(&[true][..], false), (&[false], true)] {
            let text = &setting(spare).no_better(&summary)[0];
            assert_eq!(text.contains("more factors"), more, "{text}");
        }
    }

    fn rows_of_mean(method: &str) -> Vec<CrossValidateRow> {
        rows(method, 0.0, 0.0)
    }

    /// R² of numbers above 0 is that of the few largest, and of limits that of the exact cells.
    #[test]
    fn deviances_and_densities_decide_where_squares_do_not() {
        let data: Dataset = polyview_datasets::nutrimouse();
        let model = CrossValidateModel::new("mofa", models::mofa(3));
        let options = CrossValidateOptions::default();
        let with = |score: Score, method: &str, mean: f64| {
            let of = move |row| CrossValidateRow { score, ..row };
            rows(method, mean, 1e-3).into_iter().map(of)
        };
        let of = |other: Score, own: f64, mean: f64| -> Vec<CrossValidateRow> {
            [
                rows("mofa", -0.2, 1e-3),
                with(other, "mofa", own).collect(),
                rows("mean", 0.0, 0.0),
                with(other, "mean", mean).collect(),
                rows("softly thresholded SVD", 0.1, 1e-3),
            ]
            .concat()
        };
        let rows = of(Score::DevianceExplained, 0.59, 0.0);
        let summary = summed_up(&rows, "mofa", options.folds);
        let setting = Setting {
            data: &data,
            options: &options,
            models: from_ref(&model),
            spare: &[false],
        };
        assert!(setting.no_better(&summary).is_empty());
        assert_eq!(setting.beaten(&rows), None);
        let found = gain(&summary, "mofa", false).unwrap();
        assert_eq!(found.words(), "share of the deviance explained 0.59 ± 0.00");
        // limits
        let rows = of(Score::LogDensity, -0.8, -1.2);
        let summary = summed_up(&rows, "mofa", options.folds);
        assert!(gain(&summary, "mofa", true).unwrap().is_one());
        assert!(lead(&summary, "softly thresholded SVD", true).is_none());
        // of plain numbers R² decides
        assert!(!gain(&summary, "mofa", false).unwrap().is_one());
        assert!(
            lead(&summary, "softly thresholded SVD", false)
                .unwrap()
                .is_one()
        );
    }

    #[test]
    fn regressions_that_beat_a_model_are_said_once_with_what_to_try() {
        let data: Dataset = polyview_datasets::nutrimouse();
        let options = CrossValidateOptions {
            targets: vec!["lipid".to_owned()],
            ..CrossValidateOptions::default()
        };
        let said = |regression: (f64, f64), spec: &ModelSpec| {
            let models = ["bibfa", "other"].map(|m| CrossValidateModel::new(m, spec.clone()));
            let rows = [
                rows("bibfa", 0.5, 0.1),
                rows("other", 0.8, 0.1),
                rows("mean", 0.9, 0.1),
                rows("bibfa, two steps", 0.9, 0.1),
                rows("ridge regression", regression.0, regression.1),
            ];
            let setting = Setting {
                data: &data,
                options: &options,
                models: &models,
                spare: &[false; 2],
            };
            setting.beaten(&rows.concat())
        };
        let spec = models::bibfa(3);
        let text = said((0.6, 0.1), &spec).unwrap();
        assert_eq!(
            text,
            "'lipid': ridge regression predicts it better than bibfa (R2 by 0.10 ± 0.00): mix the fit with such a regression \
             (--settle lipid=mixture), or try more factors (--factors; 'polyview choose-k' finds how many)"
        );
        // a fit that is mixed already, and one that cannot be
        let mixed = spec.clone().with_settled("lipid", Settle::Mixture);
        let adjusted = ModelSpec {
            covariates: vec!["age".to_owned()],
            ..spec.clone()
        };
        for spec in [mixed, adjusted] {
            let text = said((0.6, 0.1), &spec).unwrap();
            assert!(text.contains(": try more factors"), "{text}");
        }
        // by no more than two standard errors of the difference, of .07 and .14 each, of folds that differ
        for spread in [0.2, 0.3] {
            assert_eq!(said((0.6, spread), &spec), None);
        }
        assert_eq!(said((0.4, 0.1), &spec), None);
        let both = said((0.9, 0.1), &spec).unwrap();
        assert!(
            both.contains("than bibfa") && both.contains("than other"),
            "{both}"
        );
        assert_eq!(both.matches("--settle").count(), 1, "{both}");
    }
}
