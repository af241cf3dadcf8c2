//! Multiview learning with features and similarities.

use super::removing_on_trial;
use crate::spec::ModelSpec;

/// Multiview learning with features and similarities (MLFS, Lian, Rai, Salazar and Carin 2015;
/// spec/mlfs): any mix of views of ordered levels (`ordinal`), numbers, `similarity` and labels (`categorical-probit`
/// is the paper's classifier), ARD on the weights of each view and factor, and a rotation of factors
/// and weights in each sweep.
///
/// It differs from the supplement in a few points: views have intercepts, levels have infinite
/// outer cut points and exact expectations (`ordinal-midpoint` is the paper's bound), weights of labels have
/// the prior of all others, and factors of new samples come from their similarities exactly
/// (`similarity{new-samples=two-stage}` has the paper's two stages).
///
/// ```
/// use polyview::models;
///
/// let spec = models::mlfs(10)
///     .with_likelihood("answers", "ordinal")
///     .with_likelihood("kernel", "similarity")
///     .with_likelihood("diagnosis", "categorical-probit");
/// assert_eq!(spec.view("brain").likelihood, "gaussian");
/// ```
pub fn mlfs(factors: usize) -> ModelSpec {
    ModelSpec {
        model: "mlfs".to_owned(),
        factors,
        vb: removing_on_trial(),
        ..ModelSpec::default()
    }
}
