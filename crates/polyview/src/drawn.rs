//! What Gibbs sampling cannot draw.

use polyview_core::{Groups, LikelihoodSpecies, ParameterUncertainty, PriorSpecies, RowRole};
use polyview_infer::{Model, ViewPart};

use crate::assemble::empty_view;
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::fit::ViewInfo;
use crate::registry::Registry;
use crate::spec::{EngineKind, ModelSpec};

/// Refuses to sample rows that are drawn one by one where a likelihood is drawn around tangents,
/// which rows that are drawn at once alone know.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn can_be_drawn(composed: &Composed, model: &mut Model) -> Result<()> {
    if composed.options.engine != EngineKind::Gibbs {
        return Ok(());
    }
    let factors_at_once = model.factors.draws_at_once();
    let refused = |part: &mut ViewPart| {
        let at_once = factors_at_once && part.weights.draws_at_once();
        part.term.as_tangents().is_some() && !at_once
    };
    let Some(at) = model.views.iter_mut().position(refused) else {
        return Ok(());
    };
    let view = model.views[at].name.clone();
    let spec = composed.spec();
    let choices = spec.map(|spec| spec.view(&view));
    let what = choices.as_ref().map_or_else(
        || "its likelihood".to_owned(),
        |choices| format!("likelihood {}", choices.likelihood),
    );
    let (rows, instead) = if factors_at_once {
        let own = choices.map(|choices| choices.selection.called());
        let rows = own.unwrap_or_else(|| "these weights".to_owned());
        (rows, "Gaussian weights (--weights ard)")
    } else {
        let own = spec.map(|spec| spec.factor_prior.called());
        let rows = own.unwrap_or_else(|| "these factors".to_owned());
        (
            rows,
            "standard normal factors (--factor-prior standard-normal)",
        )
    };
    Err(ErrorKind::Incompatible {
        view,
        what,
        with: format!(
            "Gibbs sampling of {rows}, which are drawn one by one; take {instead}, or {}",
            composed.options.without_draws()
        ),
    }
    .into())
}

/// The same of a model that is not made yet.
///
/// # Errors
/// As [`can_be_drawn`]; what cannot be put together.
pub(crate) fn can_be_drawn_of(
    composed: &Composed,
    groups: Option<&Groups>,
    infos: &[ViewInfo],
) -> Result<()> {
    let empty = |info: &ViewInfo| empty_view(&info.name, &info.features, &info.levels);
    let views = infos.iter().map(empty).collect::<Result<_>>()?;
    let (k, posterior) = (composed.options.factors, ParameterUncertainty::Posterior);
    composed.parameters(groups, views, k, posterior).map(drop)
}

impl Registry {
    /// The priors beside which Gibbs sampling cannot draw a likelihood with its default options,
    /// and why, in words that follow "cannot be combined with".
    ///
    /// ```
    /// use polyview::Registry;
    ///
    /// let registry = Registry::standard();
    /// let beside = |name: &str| -> Vec<String> {
    ///     let likelihood = registry.likelihood(name).expect("a likelihood");
    ///     let priors = registry.not_drawn_beside(likelihood.as_ref()).into_iter();
    ///     priors.map(|(role, prior, _)| prior.called(role)).collect()
    /// };
    /// assert_eq!(beside("poisson"), ["spike-and-slab weights", "spike-and-slab factors"]);
    /// assert!(beside("gaussian").is_empty());
    /// ```
    pub fn not_drawn_beside(
        &self,
        likelihood: &dyn LikelihoodSpecies,
    ) -> Vec<(RowRole, &dyn PriorSpecies, String)> {
        let mut out = Vec::new();
        for role in [RowRole::Weights, RowRole::Factors] {
            for prior in self.priors(role) {
                if let Some(why) = self.not_drawn(likelihood, role, prior) {
                    out.push((role, prior, why));
                }
            }
        }
        out
    }
    /// Why a view of that likelihood cannot be drawn beside that prior, by trying it.
    fn not_drawn(
        &self,
        likelihood: &dyn LikelihoodSpecies,
        role: RowRole,
        prior: &dyn PriorSpecies,
    ) -> Option<String> {
        let mut spec = ModelSpec {
            factors: 1,
            engine: EngineKind::Gibbs,
            ..ModelSpec::default()
        };
        spec.defaults.likelihood = likelihood.name().into();
        match role {
            RowRole::Weights => spec.defaults.selection = prior.name().into(),
            RowRole::Factors => spec.factor_prior = prior.name().into(),
        }
        spec.resolve(self).ok()?;
        let classes = likelihood.domain().has_classes();
        let levels = if classes { &["a", "b", "c"][..] } else { &[] };
        let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
        let view = empty_view("view", &["feature".to_owned()], &levels).ok()?;
        let composed = Composed::from(spec);
        let posterior = ParameterUncertainty::Posterior;
        let error = composed.parameters(None, vec![view], 1, posterior).err()?;
        match error.kind() {
            ErrorKind::Incompatible { with, .. } => Some(with.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked by trying does not fail for another reason.
    #[test]
    fn likelihoods_are_drawn_but_for_sparse_rows() {
        let registry = Registry::standard();
        let mut found = Vec::new();
        for likelihood in registry.likelihoods() {
            let beside = registry.not_drawn_beside(likelihood);
            for (role, prior, why) in &beside {
                assert_eq!(prior.name(), "spike-and-slab");
                assert!(why.starts_with(&format!("Gibbs sampling of {}", prior.called(*role))));
            }
            if !beside.is_empty() {
                assert_eq!(beside.len(), 2, "{}", likelihood.name());
                found.push(likelihood.name());
            }
        }
        assert_eq!(found, ["categorical", "poisson", "gamma"]);
    }
}
