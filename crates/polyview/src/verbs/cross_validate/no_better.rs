//! Whether models predict any better than means do, and what to try where they do not.

use polyview_core::Dataset;

use super::{
    CrossValidateModel, CrossValidateOptions, CrossValidateScore as Score,
    CrossValidateSummary as Summary,
};

/// The method that knows means alone.
const MEAN: &str = "mean";

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
    fn words(&self) -> String {
        let error = if self.error.is_nan() {
            String::new()
        } else {
            format!(" ± {:.2}", self.error)
        };
        format!("{} {:.2}{error}", self.score, self.by)
    }
}

/// What a method has over the means of a target whose rows these are. Where limits are all that is known of some cells, R² is of
/// the exact ones, which reach less far than all do: densities tell.
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
            .or_else(|| about(Score::Concordance, 0.5, "C-index over 0.5"));
    }
    about(Score::R2, 0.0, "R2")
        .or_else(|| {
            about(
                Score::DevianceExplained,
                0.0,
                "share of the deviance explained",
            )
        })
        .or_else(|| about(Score::Concordance, 0.5, "C-index over 0.5"))
        .or_else(|| less(Score::LogLoss, 1.0, "gain of log loss, nats"))
}

/// A warning for each target that a model predicts no better than means do, by one standard error.
pub(super) fn no_better(
    summary: &[Summary],
    models: &[CrossValidateModel],
    (data, options): (&Dataset, &CrossValidateOptions),
) -> Vec<String> {
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
            let beside = other.map_or_else(String::new, |method| format!(", and {method} does"));
            let hidden = if !options.targets.is_empty() {
                "see whether the other views say anything of it at all".to_owned()
            } else if options.share > 0.3 {
                format!(
                    "hide fewer cells (--hide 0.1): with {:.0} % of them hidden little is left to learn from",
                    100.0 * options.share
                )
            } else {
                "see whether its features have anything in common, or with other views".to_owned()
            };
            out.push(format!(
                "'{target}': {model} predicts it no better than means do ({}){beside}: {hidden}; try more factors (--factors), \
                 another likelihood or scaling of the views (--scaling normal-scores of bent or heavy-tailed numbers), and more samples",
                gain.words()
            ));
        }
    }
    out
}
