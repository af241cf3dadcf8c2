//! Whether the chains of a Gibbs fit have met, by kind of quantity.

use polyview_infer::diagnostics::{Summary, quantiles};
use serde::{Deserialize, Serialize};

use super::FitRecord;

/// Posterior summary of one identified quantity over the chains: one that means
/// the same under every sign, order and rotation of the factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// What it is, such as `noise precision/genes` or `score/relapse (s3, yes)`.
    pub quantity: String,
    /// The kind of quantity, such as `score/relapse`; empty in models of before
    /// there were several of a kind.
    #[serde(default)]
    pub kind: String,
    /// Mean, spread, quantiles, R-hat, effective sizes.
    pub summary: Summary,
}

impl Diagnostic {
    /// The kind of quantity; where the model does not say, the quantity itself.
    pub fn kind(&self) -> &str {
        if self.kind.is_empty() {
            &self.quantity
        } else {
            &self.kind
        }
    }
}

/// How the chains mix in all quantities of one kind. `NaN` where no quantity of
/// the kind has such a number: it never changes, or the draws are too few.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// The kind, such as `predictor/genes`.
    pub kind: String,
    /// Quantities of this kind that are followed.
    pub quantities: usize,
    /// The one with the largest R-hat.
    pub worst: String,
    /// Largest R-hat.
    pub rhat: f64,
    /// Median R-hat.
    pub rhat_median: f64,
    /// Smallest effective sample size of the bulk.
    pub ess_bulk: f64,
    /// Median effective sample size of the bulk.
    pub ess_bulk_median: f64,
    /// Smallest effective sample size of the tails.
    pub ess_tail: f64,
}

impl FitRecord {
    /// The diagnostics by kind of quantity, in the order of their first ones;
    /// empty unless the fit is made of draws.
    pub fn convergence(&self) -> Vec<Convergence> {
        let mut kinds: Vec<&str> = Vec::new();
        for d in &self.diagnostics {
            if !kinds.contains(&d.kind()) {
                kinds.push(d.kind());
            }
        }
        kinds
            .into_iter()
            .map(|kind| {
                let of_kind = self.diagnostics.iter().filter(|d| d.kind() == kind);
                of(kind, &of_kind.collect::<Vec<_>>())
            })
            .collect()
    }
}

/// Effective sample size below which means and intervals of draws are rough.
const SMALLEST_SIZE: f64 = 100.0;

/// How well the chains of a fit have mixed, in its worst quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing {
    /// Largest R-hat, and its quantity; none where the draws are too few to tell.
    pub rhat: Option<(f64, String)>,
    /// Smallest effective sample size, of the bulk or of the tails, and its
    /// quantity; none where the draws are too few to tell.
    pub size: Option<(f64, String)>,
}

impl Mixing {
    /// R-hat above which chains have not met: what messages say and reports mark.
    pub const LARGEST_RHAT: f64 = 1.05;
    /// What is wrong with the draws: chains that have not met (R-hat above 1.05), or
    /// too small an effective size (below 100); none where they are sound.
    pub fn trouble(&self) -> Option<String> {
        let mut found = Vec::new();
        match &self.rhat {
            None => {
                found.push("the draws are too few to tell whether the chains have met".to_owned());
            }
            Some((rhat, of)) if *rhat > Self::LARGEST_RHAT => found.push(format!(
                "the chains have not met: R-hat {:.3} of '{of}' (at most {} where they have)",
                // no number that the limit would let pass
                (rhat * 1000.0).ceil() / 1000.0,
                Self::LARGEST_RHAT
            )),
            Some(_) => {}
        }
        if let Some((size, of)) = self.size.as_ref().filter(|s| s.0 < SMALLEST_SIZE) {
            found.push(format!(
                "an effective size of {size:.0} draws of '{of}' (below {SMALLEST_SIZE} means and intervals are rough)"
            ));
        }
        (!found.is_empty()).then(|| found.join("; "))
    }
}

impl FitRecord {
    /// The worst of the diagnostics; none unless the fit is made of draws.
    pub fn mixing(&self) -> Option<Mixing> {
        if self.diagnostics.is_empty() {
            return None;
        }
        let worst = |value: &dyn Fn(&Summary) -> f64, sign: f64| {
            let all = self.diagnostics.iter();
            all.map(|d| (value(&d.summary), &d.quantity))
                .filter(|(x, _)| !x.is_nan())
                .max_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)))
                .map(|(x, of)| (x, of.clone()))
        };
        Some(Mixing {
            rhat: worst(&|s| s.rhat, 1.0),
            size: worst(&|s| s.ess_bulk.min(s.ess_tail), -1.0),
        })
    }
}

fn of(kind: &str, all: &[&Diagnostic]) -> Convergence {
    let known = |value: fn(&Summary) -> f64| -> Vec<f64> {
        let values = all.iter().map(|d| value(&d.summary));
        values.filter(|x| !x.is_nan()).collect()
    };
    let least = |values: &[f64]| values.iter().copied().fold(f64::NAN, f64::min);
    // chains that stand still at different values have an infinite R-hat
    let median = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        match quantiles(&sorted, &[0.5]) {
            Ok(q) => q[0],
            Err(_) => sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN),
        }
    };
    let (rhat, bulk) = (known(|s| s.rhat), known(|s| s.ess_bulk));
    let worst = all
        .iter()
        .filter(|d| !d.summary.rhat.is_nan())
        .max_by(|a, b| a.summary.rhat.total_cmp(&b.summary.rhat))
        .or(all.first());
    Convergence {
        kind: kind.to_owned(),
        quantities: all.len(),
        worst: worst.map_or_else(String::new, |d| d.quantity.clone()),
        rhat: rhat.iter().copied().fold(f64::NAN, f64::max),
        rhat_median: median(&rhat),
        ess_bulk: least(&bulk),
        ess_bulk_median: median(&bulk),
        ess_tail: least(&known(|s| s.ess_tail)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(quantity: &str, kind: &str, rhat: f64, ess: f64) -> Diagnostic {
        let nan = f64::NAN;
        Diagnostic {
            quantity: quantity.into(),
            kind: kind.into(),
            summary: Summary {
                mean: nan,
                sd: nan,
                lower: nan,
                median: nan,
                upper: nan,
                rhat,
                ess_bulk: ess,
                ess_tail: 2.0 * ess,
                mcse: nan,
            },
        }
    }

    #[test]
    fn the_worst_and_the_median_of_a_kind_are_told() {
        let all = [
            diagnostic("a (1)", "a", 1.02, 90.0),
            diagnostic("a (2)", "a", f64::INFINITY, f64::NAN),
            diagnostic("a (3)", "a", 1.01, 30.0),
            diagnostic("a (4)", "a", f64::NAN, f64::NAN),
        ];
        let found = of("a", &all.iter().collect::<Vec<_>>());
        assert_eq!((found.quantities, found.worst.as_str()), (4, "a (2)"));
        assert_eq!((found.rhat, found.rhat_median), (f64::INFINITY, 1.02));
        assert_eq!((found.ess_bulk, found.ess_tail), (30.0, 60.0));
        assert_eq!(found.ess_bulk_median, 60.0);
        // a quantity of an older model is a kind of its own
        assert_eq!(diagnostic("b", "", 1.0, 1.0).kind(), "b");
    }

    /// What the command says of chains, and what reports mark: 1.05 is the limit itself.
    #[test]
    fn chains_have_met_up_to_the_limit_and_not_above_it() {
        let trouble = |rhat: f64| {
            let mixing = Mixing {
                rhat: Some((rhat, "noise precision/genes".into())),
                size: Some((400.0, "noise precision/genes".into())),
            };
            mixing.trouble()
        };
        for met in [1.0, 1.049_999, 1.05] {
            assert_eq!(trouble(met), None, "{met}");
        }
        // what is just above is not rounded to the limit
        for (apart, told) in [(1.050_001, "1.051"), (1.2, "1.200"), (f64::INFINITY, "inf")] {
            assert_eq!(
                trouble(apart).unwrap(),
                format!(
                    "the chains have not met: R-hat {told} of 'noise precision/genes' (at most 1.05 where they have)"
                )
            );
        }
    }
}
