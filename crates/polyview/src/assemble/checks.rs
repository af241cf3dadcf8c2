//! What cannot go together is refused before a model is built.

use polyview_core::{Dataset, FeatureScaling, Groups, MissingData, RowGroups, Setting, View, Way};
use polyview_likelihoods::{PairPolicy, RankOptions, RankUpdates};

use super::features::features_go;
use super::several;
use crate::adjust;
use crate::error::{Error, ErrorKind, Result};
use crate::faithful;
use crate::local;
use crate::spec::{
    Algorithm, EngineKind, Likelihood, ModelSpec, Named, Posterior, PriorKind, RunOptions,
    ViewChoices, ViewSpec,
};

/// Checks the choices against the data. More factors than the data carry
/// (`most_factors`) are no error: a fit starts with as many as they do, and says so.
///
/// # Errors
/// [`ErrorKind::Shape`], and what [`ModelSpec::validate`] finds.
pub fn validate(spec: &ModelSpec, data: &Dataset) -> Result<()> {
    validate_all(spec, data.views(), data.n_samples(), data.groups())
}

/// As [`validate`], of views that may have no samples and stand for `samples`.
///
/// # Errors
/// As [`validate`].
pub(crate) fn validate_all(
    spec: &ModelSpec,
    views: &[View],
    samples: usize,
    groups: Option<&Groups>,
) -> Result<()> {
    validate_views(spec, views, samples, groups)?;
    adjust::validate(spec, views)?;
    faithful::validate(spec, views)
}

fn validate_views(
    spec: &ModelSpec,
    views: &[View],
    samples: usize,
    groups: Option<&Groups>,
) -> Result<()> {
    spec.validate()?;
    let run = spec.run_options();
    for v in views {
        classes_go(v, &spec.view(v.name()).likelihood)?;
    }
    for v in views {
        let choices = spec.view(v.name());
        no_sampler(spec.engine, v.name(), &choices.likelihood)?;
        cannot_settle(&run, v.name(), &choices, faithful::refuses(spec))?;
        counts_once(&run, v.name(), &choices, faithful::refuses(spec))?;
        no_extremes(spec, v.name())?;
        beside_goes(v, &choices)?;
        choices.limits_go(v)?;
    }
    let names: Vec<&str> = views.iter().map(View::name).collect();
    priors_go(spec, &names)?;
    features_go(spec, &names, groups)?;
    for v in views.iter().filter(|v| v.sparse().is_some()) {
        sparse_form(spec, v)?;
    }
    for v in &spec.views {
        bent_numbers(spec, v)?;
    }
    let grouped = several(groups).is_some();
    local::validate(spec, (samples, grouped), views.iter().map(View::name))?;
    for v in views {
        kernel_goes(v, &spec.view(v.name()), spec.offsets.contains_key(v.name()))?;
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

/// Refuses what a view with a kernel cannot be: its columns are similarities of samples.
pub(crate) fn kernel_goes(view: &View, choices: &ViewChoices, has_offset: bool) -> Result<()> {
    let Some(kernel) = &choices.kernel else {
        return Ok(());
    };
    let (name, likelihood) = (view.name(), &choices.likelihood);
    let with = if *likelihood != "gaussian" {
        format!("the likelihood {likelihood}: similarities are real numbers; say gaussian")
    } else if choices.shape.is_some() {
        "the shape of an image: its columns are no pixels".to_owned()
    } else if has_offset {
        "an offset: similarities have none".to_owned()
    } else if choices.settles() {
        "settling: its features are not predicted".to_owned()
    } else if choices.local {
        "weights for each component (local)".to_owned()
    } else if view.ends().is_some() {
        "cells of which limits alone are known: a kernel needs their values".to_owned()
    } else {
        return Ok(());
    };
    Err(ErrorKind::Incompatible {
        view: name.to_owned(),
        what: format!("the kernel {kernel}"),
        with,
    }
    .into())
}

/// Refuses classes that the likelihood does not know, and numbers where it needs them.
fn classes_go(view: &View, likelihood: &Likelihood) -> Result<()> {
    let categorical = likelihood.has_classes();
    if categorical != view.levels().is_empty() {
        return Ok(());
    }
    Err(ErrorKind::Incompatible {
        view: view.name().to_owned(),
        what: format!("likelihood {likelihood}"),
        with: if categorical {
            "numbers: a categorical view is one column of class names".to_owned()
        } else {
            "class names: they need the likelihood categorical".to_owned()
        },
    }
    .into())
}

/// Refuses numbers of trials and other ends of cells that the likelihood would not look at, and
/// normal scores of numbers that are not known.
fn beside_goes(view: &View, choices: &ViewChoices) -> Result<()> {
    let likelihood = &choices.likelihood;
    let refuse = |what: String, with: &str| {
        Err(ErrorKind::Incompatible {
            view: view.name().to_owned(),
            what,
            with: with.to_owned(),
        }
        .into())
    };
    if view.trials().is_some() && !likelihood.has_trials() {
        return refuse(
            format!("likelihood {likelihood}"),
            "numbers of trials: they need the likelihood binomial",
        );
    }
    if view.ends().is_some() && !likelihood.is_censored() {
        return refuse(
            format!("likelihood {likelihood}"),
            "limits and intervals of numbers: they need the likelihood censored",
        );
    }
    if likelihood.is_censored() && choices.scaling == FeatureScaling::NormalScores {
        return refuse(
            "scaling = \"normal-scores\"".to_owned(),
            "numbers of which limits may be all that is known, which have no ranks; leave the scaling out, give the \
             other views alone normal scores (scaling = \"normal-scores\" under their names in [[model.views]] of a study \
             file), or take limits as numbers and fit the view as gaussian",
        );
    }
    Ok(())
}

/// What holds of a view whoever composed the model.
///
/// # Errors
/// [`ErrorKind::Incompatible`], [`ErrorKind::Shape`].
pub(crate) fn view_goes(view: &View, choices: &ViewChoices, run: &RunOptions) -> Result<()> {
    classes_go(view, &choices.likelihood)?;
    no_sampler(run.engine, view.name(), &choices.likelihood)?;
    cannot_settle(run, view.name(), choices, None)?;
    counts_once(run, view.name(), choices, None)?;
    beside_goes(view, choices)?;
    choices.limits_go(view)?;
    if view.sparse().is_some() {
        sparse_goes(view, choices)?;
    }
    check_shape(view.name(), choices, view.n_features())
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

/// The answer to whoever would make a dense array of a view that is stored sparse.
fn dense(view: &View, what: String, why: &str) -> Error {
    ErrorKind::Incompatible {
        view: view.name().to_owned(),
        what,
        with: format!(
            "data that are stored sparse, because it {why}; make the view dense, if it is small \
             enough (View::to_dense)"
        ),
    }
    .into()
}

/// Refuses what would make a dense array of a view that is stored sparse, whoever composed
/// the model.
fn sparse_goes(view: &View, choices: &ViewChoices) -> Result<()> {
    let likelihood = &choices.likelihood;
    if let Some(why) = likelihood.refuses(Way::Sparse) {
        return Err(dense(view, format!("likelihood {likelihood}"), &why));
    }
    if likelihood.is_real() && choices.scaling == FeatureScaling::NormalScores {
        return Err(dense(view, "scaling = \"normal-scores\"".to_owned(), DENSE));
    }
    Ok(())
}

/// As [`sparse_goes`], of the choices of a specification.
fn sparse_form(spec: &ModelSpec, view: &View) -> Result<()> {
    let choices = spec.view(view.name());
    let holes = || view.n_observed() < view.n_samples() * view.n_features();
    let dense = |what: &str| Err(dense(view, what.to_owned(), DENSE));
    if let (Some(chosen), true) = (faithful::refuses(spec), choices.likelihood.stays_sparse()) {
        return dense(chosen);
    }
    sparse_goes(view, &choices)?;
    if choices.likelihood.is_real() && spec.missing == MissingData::Impute && holes() {
        return dense("missing = \"impute\"");
    }
    Ok(())
}

/// Refuses a likelihood that the engine has no sampler for.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn no_sampler(engine: EngineKind, view: &str, likelihood: &Likelihood) -> Result<()> {
    if engine != EngineKind::Gibbs {
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

/// Refuses a view that counts more or less than once where steps know nothing of it.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn counts_once(
    run: &RunOptions,
    view: &str,
    choices: &ViewChoices,
    mofapy2: Option<&str>,
) -> Result<()> {
    let Some(weight) = choices.own_weight() else {
        return Ok(());
    };
    let with = match (run.engine, mofapy2) {
        (_, Some(chosen)) => chosen.to_owned(),
        (EngineKind::Gibbs, None) => format!(
            "Gibbs sampling, whose draws of noise and local variables are those of the likelihood itself and \
             not of its power; take {}",
            run.without_draws()
        ),
        (EngineKind::Stochastic, None) => format!(
            "the engine stochastic, whose batches count once; take {}",
            run.without_draws()
        ),
        (EngineKind::Vb, None) => return Ok(()),
    };
    Err(ErrorKind::Incompatible {
        view: view.to_owned(),
        what: format!("weight = {weight}"),
        with,
    }
    .into())
}

/// Why weights of a view cannot be settled, whatever the engine: the likelihood does not
/// allow it, or steps that are `mofapy2`'s.
pub(crate) fn never_settled(choices: &ViewChoices, mofapy2: Option<&str>) -> Option<String> {
    let likelihood = &choices.likelihood;
    let refused = likelihood.refuses(Way::Settling);
    let refused = refused.map(|why| format!("{}: it {why}", likelihood.name()));
    refused.or_else(|| mofapy2.map(str::to_owned))
}

/// Refuses to settle a view at the end of a fit that cannot.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn cannot_settle(
    run: &RunOptions,
    view: &str,
    choices: &ViewChoices,
    mofapy2: Option<&str>,
) -> Result<()> {
    let with = if !choices.settles() {
        None
    } else if run.engine != EngineKind::Vb {
        Some(format!(
            "this engine: it has no optimum given the factors; take {}",
            run.without_draws()
        ))
    } else {
        never_settled(choices, mofapy2)
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
