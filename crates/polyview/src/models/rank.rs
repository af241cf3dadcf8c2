//! The max-margin rank-likelihood discriminative factor model and its kin.

use polyview_core::{Centring, FeatureScaling};
use polyview_infer::VbOptions;

use crate::spec::{Likelihood, ModelSpec, ViewChoices};

/// The max-margin rank-likelihood discriminative factor model (Yuan et al.
/// 2015; spec/maxmargin-rank): data enter through the order of each feature's
/// values alone, loadings and classifiers have horseshoe priors.
///
/// Labels are views with the likelihood `svm` or
/// `probit`; a mixture of local classifiers is
/// the prior of factors `mixture` and `local` in their choices ([`Table1`] has the
/// combinations of the paper). Any other view can stand beside them.
///
/// ```
/// use polyview::{Likelihood, models};
///
/// let spec = models::rank(20).with_likelihood("ill", "svm");
/// assert_eq!(spec.view("genes").likelihood, "rank");
/// ```
pub fn rank(factors: usize) -> ModelSpec {
    discriminative("rank", factors, "rank".into())
}

fn discriminative(model: &str, factors: usize, data: Likelihood) -> ModelSpec {
    ModelSpec {
        model: model.to_owned(),
        factors,
        defaults: ViewChoices {
            likelihood: data,
            selection: "horseshoe".into(),
            centring: Centring::Feature,
            scaling: FeatureScaling::Feature,
            ..ViewChoices::default()
        },
        vb: VbOptions {
            // the bound goes on rising long after predictions rest; but at 3e-4 factors on their way out
            // are still there (nutrimouse, 10 to begin with, four of five seeds: 5 of them, and 4 at 1e-5
            // and 1e-6 at a bound 165 nats higher)
            tolerance: 1e-5,
            movement: 1e-2,
            relaxation: 1.6,
            // longer steps do as much, and no sweep is taken back
            momentum: false,
            ..VbOptions::default()
        },
        ..ModelSpec::default()
    }
}

/// The seven models of the paper's Table 1: how data enter, one classifier or a
/// mixture of local ones, and how labels arise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table1 {
    /// Gaussian data, linear, probit.
    GaussianLinearProbit,
    /// Gaussian data, linear, support vector machine.
    GaussianLinearSvm,
    /// Ordinary rank likelihood, linear, probit.
    OrdinaryRankLinearProbit,
    /// Ordinary rank likelihood, linear, support vector machine.
    OrdinaryRankLinearSvm,
    /// Max-margin ranks, linear, support vector machine.
    RankLinearSvm,
    /// Gaussian data, mixture, support vector machine.
    GaussianMixtureSvm,
    /// Max-margin ranks, mixture, support vector machine.
    RankMixtureSvm,
}

impl Table1 {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::GaussianLinearProbit,
        Self::GaussianLinearSvm,
        Self::OrdinaryRankLinearProbit,
        Self::OrdinaryRankLinearSvm,
        Self::RankLinearSvm,
        Self::GaussianMixtureSvm,
        Self::RankMixtureSvm,
    ];
    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::GaussianLinearProbit => "G-L-Probit",
            Self::GaussianLinearSvm => "G-L-BSVM",
            Self::OrdinaryRankLinearProbit => "OR-L-Probit",
            Self::OrdinaryRankLinearSvm => "OR-L-BSVM",
            Self::RankLinearSvm => "R-L-BSVM",
            Self::GaussianMixtureSvm => "G-NL-BSVM",
            Self::RankMixtureSvm => "R-NL-BSVM",
        }
    }
    /// Its choices, for the label views of these names.
    pub fn spec(self, factors: usize, labels: &[&str]) -> ModelSpec {
        let (data, label, mixture) = match self {
            Self::GaussianLinearProbit => ("gaussian", "probit", false),
            Self::GaussianLinearSvm => ("gaussian", "svm", false),
            Self::OrdinaryRankLinearProbit => ("ordinary-rank", "probit", false),
            Self::OrdinaryRankLinearSvm => ("ordinary-rank", "svm", false),
            Self::RankLinearSvm => ("rank", "svm", false),
            Self::GaussianMixtureSvm => ("gaussian", "svm", true),
            Self::RankMixtureSvm => ("rank", "svm", true),
        };
        let mut spec = discriminative("rank", factors, data.into());
        if mixture {
            spec.factor_prior = "mixture".into();
        }
        for name in labels {
            let choices = ViewChoices {
                likelihood: label.into(),
                local: mixture,
                ..spec.defaults.clone()
            };
            spec = spec.with_view(name, choices);
        }
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_go_less_than_twice_as_far_as_the_optimum() {
        let mut spec = rank(3);
        assert!(spec.vb.relaxation > 1.0 && spec.validate().is_ok());
        for rate in [0.0, 2.0, f64::NAN] {
            spec.vb.relaxation = rate;
            assert!(spec.validate().is_err(), "{rate}");
        }
    }

    #[test]
    fn seven_specs_of_one_builder() {
        let names: Vec<&str> = Table1::ALL.iter().map(|m| m.name()).collect();
        assert_eq!(names[4], "R-L-BSVM");
        for model in Table1::ALL {
            let spec = model.spec(4, &["y"]);
            assert!(spec.validate().is_ok(), "{}", model.name());
            assert_eq!(spec.view("y").local, model.name().contains("-NL-"));
            assert!(spec.view("y").likelihood.is_label());
        }
    }
}
