//! From checks and comparisons of fits to the plain data of a report.

use polyview::{CheckedStatistic, Comparison as FitComparison, Fit, PredictiveCheck};

use crate::from_fit::engine;
use crate::{Check, CheckStatistic, ComparedView, Comparison, Report, Spreads};

impl Report {
    /// Adds posterior predictive checks.
    #[must_use]
    pub fn with_checks(mut self, checks: &[PredictiveCheck]) -> Self {
        let of = |c: &PredictiveCheck| Check {
            view: c.view.clone(),
            samples: c.samples,
            replicates: c.replicates,
            part: c.part.clone(),
            statistics: c.statistics.iter().map(statistic).collect(),
        };
        self.checks = checks.iter().map(of).collect();
        self
    }

    /// Adds what [`Fit::compare`] found of `fit` against `other`.
    #[must_use]
    pub fn with_comparison(mut self, fit: &Fit, other: &Fit, found: &FitComparison) -> Self {
        let [name, others] = names(fit, other);
        let views = found.views.iter().map(|v| ComparedView {
            view: v.view.clone(),
            mean: v.predictor.mean.clone(),
            sd: v.predictor.sd.clone(),
            other_mean: v.predictor.other_mean.clone(),
            other_sd: v.predictor.other_sd.clone(),
            correlation: v.correlation,
            predictor: spreads(v.predictor_spread),
            weights: spreads(v.weight_spread),
        });
        self.comparison = Some(Comparison {
            name,
            other: others,
            samples: found.samples,
            views: views.collect(),
            notes: found.notes.clone(),
        });
        self
    }
}

/// What the two fits are called: by their engines where these differ.
fn names(fit: &Fit, other: &Fit) -> [String; 2] {
    if engine(fit) == engine(other) {
        return ["this fit".to_owned(), "the other fit".to_owned()];
    }
    [engine(fit).to_owned(), engine(other).to_owned()]
}

fn spreads(s: polyview::Spreads) -> Spreads {
    Spreads {
        quantities: s.quantities,
        median: s.median,
        lower: s.lower,
        upper: s.upper,
    }
}

fn statistic(s: &CheckedStatistic) -> CheckStatistic {
    CheckStatistic {
        name: s.name.clone(),
        observed: s.observed.clone(),
        replicated: s.replicated.clone(),
        lower: s.lower.clone(),
        upper: s.upper.clone(),
        p: s.p.clone(),
        mean_observed: s.mean_observed,
        mean_replicated: s.replicated_mean(),
        mean_p: s.mean_p,
    }
}
