//! What cannot go together is refused before a model is built.

use polyview_core::{
    Dataset, Event, FeatureScaling, Groups, Journal, MissingData, RowGroups, Setting, View, Way,
};
use polyview_likelihoods::{PairPolicy, RankOptions, RankUpdates};

use super::several;
use crate::error::{Error, ErrorKind, Result};
use crate::faithful;
use crate::local;
use crate::spec::{
    Algorithm, EngineKind, Likelihood, ModelSpec, Named, Posterior, PriorKind, ViewChoices,
    ViewSpec,
};

/// Most factors that data carry: as many as they have samples, or features and
/// classes of all views together where these are fewer.
pub fn most_factors(data: &Dataset) -> usize {
    most(data.views(), data.n_samples())
}

fn features(views: &[View]) -> usize {
    let columns = |v: &View| v.n_features().max(v.levels().len());
    views.iter().map(columns).sum()
}

fn most(views: &[View], samples: usize) -> usize {
    samples.min(features(views))
}

/// Lowers the number of factors to the largest that views of `samples` samples carry,
/// with a warning in the journal where it was larger.
pub(crate) fn fit_factors(
    spec: &mut ModelSpec,
    views: &[View],
    samples: usize,
    journal: &mut Journal,
) {
    let most = most(views, samples);
    if spec.factors > most && most > 0 {
        let note = format!(
            "{} factors were asked for, but {samples} samples of {} features carry at most {most}: \
             the fit starts with {most}",
            spec.factors,
            features(views)
        );
        journal.note(0, "factors", Event::Warning { note });
        spec.factors = most;
    }
}

/// Checks the choices against the data. More factors than the data carry
/// ([`most_factors`]) are no error: a fit starts with as many as they do, and says so.
///
/// # Errors
/// [`ErrorKind::Shape`], and what [`ModelSpec::validate`] finds.
pub fn validate(spec: &ModelSpec, data: &Dataset) -> Result<()> {
    validate_views(spec, data.views(), data.n_samples(), data.groups())?;
    faithful::validate(spec, data)
}

/// As [`validate`], of views that may have no samples and stand for `samples`.
///
/// # Errors
/// As [`validate`].
pub(crate) fn validate_views(
    spec: &ModelSpec,
    views: &[View],
    samples: usize,
    groups: Option<&Groups>,
) -> Result<()> {
    spec.validate()?;
    for v in views {
        let categorical = spec.view(v.name()).likelihood.has_classes();
        if categorical == v.levels().is_empty() {
            return Err(ErrorKind::Incompatible {
                view: v.name().to_owned(),
                what: format!("likelihood {}", spec.view(v.name()).likelihood),
                with: if categorical {
                    "numbers: a categorical view is one column of class names".to_owned()
                } else {
                    "class names: they need the likelihood categorical".to_owned()
                },
            }
            .into());
        }
    }
    for v in views {
        let likelihood = spec.view(v.name()).likelihood;
        no_sampler(spec, v.name(), &likelihood)?;
        cannot_settle(spec, v.name())?;
        no_extremes(spec, v.name())?;
        if v.trials().is_some() && !likelihood.has_trials() {
            return Err(ErrorKind::Incompatible {
                view: v.name().to_owned(),
                what: format!("likelihood {likelihood}"),
                with: "numbers of trials: they need the likelihood binomial".to_owned(),
            }
            .into());
        }
    }
    let names: Vec<&str> = views.iter().map(View::name).collect();
    priors_go(spec, &names)?;
    for v in views.iter().filter(|v| v.sparse().is_some()) {
        sparse_form(spec, v)?;
    }
    for v in &spec.views {
        bent_numbers(spec, v)?;
    }
    local::validate(spec, samples, views.iter().map(View::name))?;
    for v in views {
        check_shape(v.name(), &spec.view(v.name()), v.n_features())?;
    }
    if let (Some(groups), true) = (several(groups), spec.groups.noise || spec.groups.intercepts) {
        let sizes = RowGroups::from(groups);
        if let Some(g) = sizes.sizes().iter().position(|n| *n == 1.0) {
            return Err(ErrorKind::SmallGroup {
                group: groups.names[g].clone(),
            }
            .into());
        }
    }
    for v in &spec.views {
        if !views.iter().any(|w| w.name() == v.name) {
            return Err(ErrorKind::UnknownView {
                view: v.name.clone(),
                known: views.iter().map(|v| v.name().to_owned()).collect(),
            }
            .into());
        }
    }
    Ok(())
}

/// Refuses a prior that cannot go with one of these settings.
fn prior_goes<K: PriorKind>(view: &str, prior: &Named<K>, settings: &[Setting]) -> Result<()> {
    match settings.iter().find_map(|s| prior.refuses(*s)) {
        None => Ok(()),
        Some(with) => Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: prior.called(),
            with: with.to_owned(),
        }
        .into()),
    }
}

/// Refuses priors of the factors and of the weights that cannot go with other choices.
/// What mofapy2 does not know of weights is refused with everything else that it does not
/// know ([`faithful::validate`]).
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn priors_go(spec: &ModelSpec, views: &[&str]) -> Result<()> {
    let mut all = Vec::new();
    if spec.posterior == Posterior::Factorised {
        all.push(Setting::Factorised);
    }
    for view in views {
        let choices = spec.view(view);
        let mut own = all.clone();
        if choices.likelihood.has_classes() {
            own.push(Setting::Classes);
        }
        prior_goes(view, &choices.selection, &own)?;
    }
    if spec.algorithm == Algorithm::Faithful {
        all.push(Setting::Mofapy2);
    }
    prior_goes("", &spec.factor_prior, &all)
}

/// Refuses normal scores of anything but numbers, where they were asked for of
/// that very view.
fn bent_numbers(spec: &ModelSpec, view: &ViewSpec) -> Result<()> {
    let bent = |choices: &ViewChoices| choices.scaling == FeatureScaling::NormalScores;
    let likelihood = &view.choices.likelihood;
    if likelihood.is_real() || !bent(&view.choices) || bent(&spec.defaults) {
        return Ok(());
    }
    let with = if likelihood.is_rank() {
        "likelihood rank, which looks at the order of values anyway; leave the scaling out, or \
         choose the likelihood gaussian"
            .to_owned()
    } else {
        format!(
            "likelihood {likelihood}, whose data are not scaled; leave the scaling out, or choose \
             the likelihood gaussian"
        )
    };
    Err(ErrorKind::Incompatible {
        view: view.name.clone(),
        what: "scaling = \"normal-scores\"".to_owned(),
        with,
    }
    .into())
}

/// Why most choices refuse sparse data.
const DENSE: &str = "keeps a number for every cell";

/// Refuses what would make a dense array of a view that is stored sparse.
fn sparse_form(spec: &ModelSpec, view: &View) -> Result<()> {
    let likelihood = spec.view(view.name()).likelihood;
    let refuse = |what: String, why: &str| {
        Err(ErrorKind::Incompatible {
            view: view.name().to_owned(),
            what,
            with: format!(
                "data that are stored sparse, because it {why}; make the view dense, if it is \
                 small enough (View::to_dense)"
            ),
        }
        .into())
    };
    let real = likelihood.is_real();
    let holes = || view.n_observed() < view.n_samples() * view.n_features();
    if let Some(why) = likelihood.refuses(Way::Sparse) {
        refuse(format!("likelihood {likelihood}"), &why)
    } else if spec.algorithm == Algorithm::Faithful {
        refuse(faithful::chosen(spec).to_owned(), DENSE)
    } else if real && spec.view(view.name()).scaling == FeatureScaling::NormalScores {
        refuse("scaling = \"normal-scores\"".to_owned(), DENSE)
    } else if real && spec.missing == MissingData::Impute && holes() {
        refuse("missing = \"impute\"".to_owned(), DENSE)
    } else {
        Ok(())
    }
}

/// Refuses a likelihood that the engine has no sampler for.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn no_sampler(spec: &ModelSpec, view: &str, likelihood: &Likelihood) -> Result<()> {
    if spec.engine != EngineKind::Gibbs {
        return Ok(());
    }
    match likelihood.refuses(Way::Gibbs) {
        None => Ok(()),
        Some(why) => Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: format!("likelihood {likelihood}"),
            with: format!("Gibbs sampling: {why}"),
        }
        .into()),
    }
}

/// Why weights of the view cannot be settled, whatever the engine.
pub(crate) fn never_settled(spec: &ModelSpec, view: &str) -> Option<String> {
    let faithful = spec.algorithm == Algorithm::Faithful;
    (spec.view(view).likelihood.refuses(Way::Settling))
        .or_else(|| faithful.then(|| faithful::chosen(spec).to_owned()))
}

/// Refuses to settle a view at the end of a fit that cannot.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn cannot_settle(spec: &ModelSpec, view: &str) -> Result<()> {
    let with = if spec.view(view).settle != Some(true) {
        None
    } else if spec.engine != EngineKind::Vb {
        Some(
            "this engine: it has no optimum given the factors; take variational Bayes (engine vb)"
                .to_owned(),
        )
    } else {
        never_settled(spec, view)
    };
    match with {
        None => Ok(()),
        Some(with) => Err(not_settled(view, &with)),
    }
}

/// The answer to whoever wants to settle a view that cannot be.
pub(crate) fn not_settled(view: &str, with: &str) -> Error {
    ErrorKind::Incompatible {
        view: view.to_owned(),
        what: "settling it".to_owned(),
        with: with.to_owned(),
    }
    .into()
}

/// Checks that an image has the features of a view for pixels.
///
/// # Errors
/// [`ErrorKind::Shape`].
pub(crate) fn check_shape(view: &str, choices: &ViewChoices, features: usize) -> Result<()> {
    match choices.shape {
        Some(shape) if shape[0].checked_mul(shape[1]) != Some(features) => Err(ErrorKind::Shape {
            view: view.to_owned(),
            shape,
            features,
        }
        .into()),
        _ => Ok(()),
    }
}

/// Refuses extreme partners with exact steps. A pair that is chosen because it breaks
/// the order most pulls both of its ends, and another one the next time, until no loading
/// is left; held fixed while a sample moves, as in the paper, neighbours do no such harm.
fn no_extremes(spec: &ModelSpec, view: &str) -> Result<()> {
    let choices = spec.view(view);
    let ranks: RankOptions = match choices.likelihood.read_options() {
        Ok(ranks) if choices.likelihood == "rank" => ranks,
        _ => return Ok(()),
    };
    if ranks.pairs != PairPolicy::Extreme || ranks.updates != RankUpdates::Coherent {
        return Ok(());
    }
    Err(ErrorKind::Incompatible {
        view: view.to_owned(),
        what: "pairs = \"extreme\"".to_owned(),
        with:
            "updates = \"coherent\", under which all loadings vanish: take pairs = \"random\", or \
               updates = \"frozen\" with the engine gibbs"
                .to_owned(),
    }
    .into())
}
