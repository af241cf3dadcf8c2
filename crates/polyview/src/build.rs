//! From data and choices to the parts of a model.

use polyview_core::{Bias, Dataset, FeatureScaling, Groups, Scaling, Schedule, View};
use polyview_core::{RowBlock, RowGroups, RowMoments, ScalePrior, ViewTerm};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{
    BayesianSvm, Bernoulli, Binomial, Categorical, CategoricalOptions, Cells, Gaussian,
    GaussianOptions, GroupNoise, Grouped, LatentBernoulli, LatentBernoulliOptions, MissingData,
    NegativeBinomial, OrdinaryRank, ParameterUncertainty, Poisson, PoissonLogNormal, Probit,
    PseudoData, rank_term,
};
use polyview_linalg::Mat;
use polyview_priors::{
    Ard, DiagonalRows, DoubleArd, Fixed, FullRows, GlobalScale, GroupArd, SpikeSlab,
    SpikeSlabOptions, SpikeSlabRows, ThreeParameterBeta, ThreeParameterBetaOptions,
};

use polyview_random::StreamKey;

use crate::error::{Error, ErrorKind, Result};
use crate::faithful;
use crate::fit::GroupMeans;
use crate::local;
use crate::spec::{
    Algorithm, EngineKind, FactorPrior, FeatureSelection, Intercepts, Likelihood, ModelSpec,
    Posterior, ShrinkageShapes, ViewChoices,
};

/// Random numbers of the pairs of rank views.
const RANK_PAIRS: u32 = 0x7061_6972;

/// A data set in working units, with the way back.
#[derive(Clone, Debug)]
pub struct WorkingData {
    /// Sample IDs.
    pub samples: Vec<String>,
    /// Views in working units.
    pub views: Vec<View>,
    /// How to undo it, one a view.
    pub scalings: Vec<Scaling>,
}

impl WorkingData {
    /// Learns the scaling of each view and applies it, in place.
    pub fn learn(data: Dataset, spec: &ModelSpec) -> Self {
        let (samples, views, _, _) = data.into_parts();
        let mut scalings = Vec::with_capacity(views.len());
        let views = views
            .into_iter()
            .map(|v| {
                let c = spec.view(v.name());
                let s = Scaling::learn(&v, c.centring, c.scaling);
                let v = if c.scaling == FeatureScaling::None && s.offset.iter().all(|o| *o == 0.0) {
                    v
                } else {
                    s.apply(v)
                };
                scalings.push(s);
                v
            })
            .collect();
        Self {
            samples,
            views,
            scalings,
        }
    }
}

/// Checks the choices against the data.
///
/// # Errors
/// [`ErrorKind::TooManyFactors`], [`ErrorKind::Shape`], and what [`ModelSpec::validate`] finds.
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
        no_sampler(spec, v.name(), likelihood)?;
        if v.trials().is_some() && likelihood != Likelihood::Binomial {
            return Err(ErrorKind::Incompatible {
                view: v.name().to_owned(),
                what: format!("likelihood {likelihood}"),
                with: "numbers of trials: they need the likelihood binomial".to_owned(),
            }
            .into());
        }
    }
    for v in views {
        let choices = spec.view(v.name());
        if choices.likelihood.has_classes() && choices.selection == FeatureSelection::Relevance {
            return Err(ErrorKind::Incompatible {
                view: v.name().to_owned(),
                what: "selection of features".to_owned(),
                with: "a categorical view, which has one feature".to_owned(),
            }
            .into());
        }
    }
    for v in views.iter().filter(|v| v.sparse().is_some()) {
        sparse_form(spec, v)?;
    }
    local::validate(spec, samples, views.iter().map(View::name))?;
    for v in views {
        check_shape(v.name(), &spec.view(v.name()), v.n_features())?;
    }
    let columns = |v: &View| v.n_features().max(v.levels().len());
    let features: usize = views.iter().map(columns).sum();
    let most = samples.min(features);
    if spec.factors > most {
        return Err(ErrorKind::TooManyFactors {
            factors: spec.factors,
            samples,
            features,
            most,
        }
        .into());
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

/// Refuses what would make a dense array of a view that is stored sparse.
fn sparse_form(spec: &ModelSpec, view: &View) -> Result<()> {
    let likelihood = spec.view(view.name()).likelihood;
    let refuse = |what: String| {
        Err(ErrorKind::Incompatible {
            view: view.name().to_owned(),
            what,
            with: "data that are stored sparse, because it keeps a number for every cell; make \
                   the view dense, if it is small enough (View::to_dense)"
                .to_owned(),
        }
        .into())
    };
    match likelihood {
        _ if !likelihood.stays_sparse() => refuse(format!("likelihood {likelihood}")),
        _ if spec.algorithm == Algorithm::Faithful => refuse("algorithm = \"faithful\"".to_owned()),
        Likelihood::Gaussian
            if spec.missing == MissingData::Impute
                && view.n_observed() < view.n_samples() * view.n_features() =>
        {
            refuse("missing = \"impute\"".to_owned())
        }
        _ => Ok(()),
    }
}

/// Refuses a likelihood that the engine has no sampler for.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn no_sampler(spec: &ModelSpec, view: &str, likelihood: Likelihood) -> Result<()> {
    if spec.engine == EngineKind::Gibbs && likelihood == Likelihood::Poisson {
        return Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: "likelihood poisson".to_owned(),
            with: "Gibbs sampling: its softplus rate has no exact sampler; take the likelihood \
                   negative-binomial, or variational Bayes (engine vb)"
                .to_owned(),
        }
        .into());
    }
    Ok(())
}

/// Why weights of the view cannot be settled, whatever the engine.
pub(crate) fn never_settled(spec: &ModelSpec, view: &str) -> Option<&'static str> {
    if spec.view(view).likelihood.is_rank() {
        Some("ranks: their weights belong to pairs of training samples")
    } else if spec.algorithm == Algorithm::Faithful {
        Some("algorithm = \"faithful\"")
    } else {
        None
    }
}

/// Refuses to settle a view at the end of a fit that cannot.
///
/// # Errors
/// [`ErrorKind::Incompatible`].
pub(crate) fn cannot_settle(spec: &ModelSpec, view: &str) -> Result<()> {
    let with = if spec.view(view).settle != Some(true) {
        None
    } else if spec.engine != EngineKind::Vb {
        Some("this engine: it has no optimum given the factors; take variational Bayes (engine vb)")
    } else {
        never_settled(spec, view)
    };
    match with {
        None => Ok(()),
        Some(with) => Err(not_settled(view, with)),
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

/// Options of a Gaussian view.
pub(crate) fn gaussian_options(
    spec: &ModelSpec,
    view: &str,
    missing: MissingData,
    start: f64,
) -> GaussianOptions {
    GaussianOptions {
        noise: spec.view(view).noise,
        prior: spec.noise_prior,
        missing,
        start,
    }
}

/// One view's part around a data term: `columns` explicit and `implicit`
/// implicit predictor columns (which a view that selects features has not).
pub(crate) fn view_part(
    spec: &ModelSpec,
    name: &str,
    term: Box<dyn ViewTerm>,
    implicit: usize,
    k: usize,
) -> ViewPart {
    let columns = term.shape().predictor_columns;
    let start = RowMoments::isotropic(Mat::zeros(columns, k), 1.0, implicit);
    let block = format!("weights/{name}");
    let weights = match spec.view(name).selection {
        FeatureSelection::None => gaussian_rows(spec, block, Ard::new(spec.weight_prior, k), start),
        FeatureSelection::Relevance => {
            let prior = DoubleArd::new(spec.weight_prior, spec.relevance_prior, columns, k);
            gaussian_rows(spec, block, prior, start)
        }
        FeatureSelection::Horseshoe => {
            let prior = ThreeParameterBeta::new(shrinkage(spec, name), columns, k);
            gaussian_rows(spec, block, prior, start)
        }
        FeatureSelection::SpikeAndSlab => {
            let prior = SpikeSlab::new(sparse_options(spec), columns, k);
            sparse_rows(spec, block, prior, start)
        }
    };
    let precision = spec.intercept_precision * term.intercept_precision();
    let own = term.groups().filter(|_| spec.group_intercepts(name));
    let mut bias = match (spec.intercepts, own) {
        _ if !term.has_intercepts() => Bias::absent(columns),
        (Intercepts::Learned, Some(groups)) => Bias::by_group(columns, groups.clone(), precision),
        (Intercepts::Learned, None) => Bias::gaussian(columns, implicit, precision),
        (Intercepts::GroupMeans, Some(groups)) => {
            let zeros = vec![0.0; columns * groups.count()];
            Bias::known_by_group(columns, groups.clone(), zeros)
        }
        (Intercepts::None | Intercepts::GroupMeans, _) => Bias::absent(columns),
    };
    let start = match bias.groups() {
        Some(_) => term.start_intercepts_by_group(),
        None => term.start_intercepts(),
    };
    if let (true, Some(start)) = (bias.is_present(), start) {
        let variance = bias.variance().to_vec();
        bias.set(start, variance);
    }
    ViewPart {
        name: name.to_owned(),
        term,
        weights,
        bias,
    }
}

/// Shapes and scopes of horseshoe weights: factors have global scales of their
/// own, classifiers of labels too; local ones share theirs (spec/maxmargin-rank
/// 2.4-2.6).
fn shrinkage(spec: &ModelSpec, view: &str) -> ThreeParameterBetaOptions {
    let ShrinkageShapes { r, s } = spec.shrinkage_prior;
    let choices = spec.view(view);
    let global = if choices.local {
        GlobalScale::All
    } else if choices.likelihood.is_label() {
        GlobalScale::Row
    } else {
        GlobalScale::Column
    };
    ThreeParameterBetaOptions { r, s, global }
}

/// Rows of single entries that are zero or not.
fn sparse_rows(
    spec: &ModelSpec,
    block: String,
    mut prior: SpikeSlab,
    start: RowMoments,
) -> Box<dyn RowBlock> {
    if spec.algorithm == Algorithm::Corrected {
        return Box::new(SpikeSlabRows::new(block, prior, start));
    }
    prior.hold_probabilities(faithful::SWEEPS_BEFORE_SPARSITY);
    Box::new(SpikeSlabRows::new(block, prior, start).with_spike_of_prior())
}

/// Gaussian rows with the covariances that the choices ask for.
fn gaussian_rows<P: ScalePrior + 'static>(
    spec: &ModelSpec,
    block: String,
    prior: P,
    start: RowMoments,
) -> Box<dyn RowBlock> {
    match spec.posterior {
        Posterior::Full => Box::new(FullRows::new(block, prior, start)),
        Posterior::Factorised => Box::new(DiagonalRows::new(block, prior, start)),
    }
}

/// Groups that make a difference: at least two.
pub(crate) fn several(groups: Option<&Groups>) -> Option<&Groups> {
    groups.filter(|g| g.names.len() > 1)
}

/// The groups of a model without samples.
pub(crate) fn without_samples(groups: Option<&Groups>) -> Option<Groups> {
    groups.map(|g| Groups {
        names: g.names.clone(),
        of_sample: Vec::new(),
    })
}

/// Hyperpriors of sparse rows.
pub(crate) fn sparse_options(spec: &ModelSpec) -> SpikeSlabOptions {
    SpikeSlabOptions {
        precision: Some(spec.weight_prior),
        inclusion: spec.inclusion_prior,
    }
}

/// The factors' block, from starting means.
pub(crate) fn factor_block(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    start: Mat<f64>,
    implicit: usize,
) -> Box<dyn RowBlock> {
    let (rows, k) = (start.nrows(), start.ncols());
    let variance = match spec.algorithm {
        Algorithm::Corrected => 1e-2,
        Algorithm::Faithful => 1.0,
    };
    let moments = RowMoments::isotropic(start, variance, implicit);
    let block = "factors".to_owned();
    let groups = several(groups).map_or_else(|| RowGroups::one(rows), RowGroups::from);
    match spec.factor_prior {
        FactorPrior::StandardNormal => {
            gaussian_rows(spec, block, Fixed::standard_normal(k), moments)
        }
        FactorPrior::Ard => {
            let prior = GroupArd::new(spec.weight_prior, groups, k);
            gaussian_rows(spec, block, prior, moments)
        }
        FactorPrior::SpikeAndSlab => {
            let prior = SpikeSlab::by_group(sparse_options(spec), groups, k);
            sparse_rows(spec, block, prior, moments)
        }
        FactorPrior::Mixture => local::factors(spec, block, moments),
    }
}

/// A view with its term, weights and intercepts where they start; its
/// predictions take the parameters to be as sure as `prediction` says.
///
/// # Errors
/// [`polyview_core::DataError`] when the data do not suit the likelihood.
pub(crate) fn part(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    view: View,
    missing: MissingData,
    prediction: ParameterUncertainty,
    k: usize,
) -> Result<ViewPart> {
    let name = view.name().to_owned();
    let levels = Levels::of(spec, groups, &view);
    let noise = levels.as_ref().map_or(1.0, |l| l.noise);
    let term = term(spec, groups, view, missing, prediction, noise)?;
    let mut part = view_part(spec, &name, term, 0, k);
    if let Some(levels) = levels {
        let variance = part.bias.variance().to_vec();
        part.bias.set(levels.intercepts, variance);
    }
    Ok(part)
}

/// Where a view of numbers whose groups have intercepts of their own starts.
struct Levels {
    /// Group after group: what mofapy2 takes for known, or what learnt ones start
    /// from.
    intercepts: Vec<f64>,
    /// Precision of the noise: of what learnt levels leave.
    noise: f64,
}

impl Levels {
    fn of(spec: &ModelSpec, groups: Option<&Groups>, view: &View) -> Option<Self> {
        let groups = several(groups).filter(|_| spec.group_intercepts(view.name()))?;
        let known = spec.intercepts == Intercepts::GroupMeans;
        let gaussian = spec.view(view.name()).likelihood == Likelihood::Gaussian;
        let learnt = spec.algorithm == Algorithm::Corrected && gaussian;
        (known || learnt).then(|| {
            let (means, variance) = GroupMeans::new(view, &RowGroups::from(groups));
            let noise = if known || variance <= 0.0 {
                1.0
            } else {
                variance.recip()
            };
            Self {
                intercepts: means.group_after_group(),
                noise,
            }
        })
    }
}

/// The data term of one view, in groups of samples where these have something
/// of their own, with a noise precision to start from.
fn term(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    view: View,
    missing: MissingData,
    prediction: ParameterUncertainty,
    start: f64,
) -> Result<Box<dyn ViewTerm>> {
    let name = view.name().to_owned();
    if let Some(kind) = faithful::pseudo_data(spec, &name) {
        return Ok(Box::new(PseudoData::new(view, kind)?));
    }
    // ranks have neither noise nor intercepts that a group could have
    let ranked = spec.view(&name).likelihood.is_rank();
    let own = (spec.groups.noise || spec.groups.intercepts) && !ranked;
    let Some(groups) = several(groups).filter(|_| own) else {
        return plain_term(spec, &name, view, missing, prediction, start);
    };
    let noise = if spec.groups.noise {
        GroupNoise::Own
    } else {
        GroupNoise::Shared
    };
    let called = |g: usize| format!("{name} ({})", groups.names[g]);
    let groups = RowGroups::from(groups);
    let make = |v: View| plain_term(spec, &name, v, missing, prediction, start);
    let term = Grouped::new(&view, groups, noise, called, make)?;
    Ok(Box::new(term))
}

/// The data term of samples without groups, with the choices of the view
/// `name` and a noise precision to start from.
fn plain_term(
    spec: &ModelSpec,
    name: &str,
    view: View,
    missing: MissingData,
    prediction: ParameterUncertainty,
    noise: f64,
) -> Result<Box<dyn ViewTerm>> {
    if spec.view(name).local {
        return local::term(spec, name, view, prediction);
    }
    Ok(match spec.view(name).likelihood {
        Likelihood::Gaussian => {
            let term = Gaussian::new(view, gaussian_options(spec, name, missing, noise));
            Box::new(term.with_prediction(prediction))
        }
        Likelihood::Bernoulli => Box::new(Cells::new(view, Bernoulli { prediction })?),
        Likelihood::Svm => Box::new(Cells::new(view, BayesianSvm { prediction })?),
        Likelihood::Probit => Box::new(Cells::new(view, Probit { prediction })?),
        Likelihood::Poisson => {
            let law = Poisson::default().with_prediction(prediction);
            Box::new(Cells::new(view, law)?)
        }
        Likelihood::NegativeBinomial => {
            let law = NegativeBinomial::default().with_prediction(prediction);
            Box::new(Cells::new(view, law)?)
        }
        Likelihood::PoissonLogNormal => {
            let law = PoissonLogNormal::default().with_prediction(prediction);
            Box::new(Cells::new(view, law)?)
        }
        Likelihood::Binomial => Box::new(Cells::new(view, Binomial { prediction })?),
        Likelihood::BernoulliLatent => {
            let options = LatentBernoulliOptions {
                prior: spec.noise_prior,
                missing,
                prediction,
                ..LatentBernoulliOptions::default()
            };
            Box::new(LatentBernoulli::new(view, options)?)
        }
        Likelihood::Rank => {
            let options = spec.view(name).ranks.unwrap_or_default();
            rank_term(&view, options, pair_key(spec, name))?
        }
        Likelihood::OrdinaryRank => {
            let options = spec.view(name).ranks.unwrap_or_default();
            Box::new(OrdinaryRank::new(&view, options.anchors)?)
        }
        Likelihood::Categorical => {
            let options = CategoricalOptions {
                missing,
                prediction,
            };
            Box::new(Categorical::new(&view, options)?)
        }
    })
}

/// Draws the pairs of a rank view: the same for every restart and chain, and
/// when a model is read again.
fn pair_key(spec: &ModelSpec, name: &str) -> StreamKey {
    // FNV-1a
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    StreamKey::new(spec.seed ^ hash).block(RANK_PAIRS)
}

/// The model of these views with `k` factors, started at `start` (samples ×
/// k). Takes the views.
///
/// # Errors
/// As [`part`].
pub(crate) fn model(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: Vec<View>,
    start: Mat<f64>,
    missing: MissingData,
) -> Result<Model> {
    let posterior = ParameterUncertainty::Posterior;
    predicting(spec, groups, views, start, missing, posterior)
}

/// As [`model`], with terms that predict as `prediction` says.
fn predicting(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: Vec<View>,
    start: Mat<f64>,
    missing: MissingData,
    prediction: ParameterUncertainty,
) -> Result<Model> {
    let k = start.ncols();
    let parts: Vec<ViewPart> = views
        .into_iter()
        .map(|v| part(spec, groups, v, missing, prediction, k))
        .collect::<Result<_>>()?;
    let schedule = match spec.algorithm {
        Algorithm::Corrected if spec.factor_prior == FactorPrior::Mixture => {
            Schedule::with_assignment(parts.len())
        }
        Algorithm::Corrected => Schedule::standard(parts.len()),
        Algorithm::Faithful => Schedule::by_node(parts.len()),
    };
    Ok(Model::new(
        factor_block(spec, groups, start, 0),
        parts,
        schedule,
    ))
}

/// A view of those features without a sample.
pub(crate) fn empty_view(name: &str, features: &[String], levels: &[String]) -> Result<View> {
    let view = View::from_values(name, features.to_vec(), Mat::zeros(0, features.len()))?;
    Ok(if levels.is_empty() {
        view
    } else {
        view.with_levels(levels.to_vec())?
    })
}

/// A model that holds parameters only, of views without samples: for reading
/// saved states into.
///
/// # Errors
/// As [`part`].
pub(crate) fn parameters(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: Vec<View>,
    k: usize,
) -> Result<Model> {
    parameters_as(spec, groups, views, k, ParameterUncertainty::Posterior)
}

/// As [`parameters`], with terms that predict as `prediction` says.
///
/// # Errors
/// As [`part`].
pub(crate) fn parameters_as(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: Vec<View>,
    k: usize,
    prediction: ParameterUncertainty,
) -> Result<Model> {
    let (start, marginal) = (Mat::zeros(0, k), MissingData::Marginal);
    let groups = without_samples(groups);
    predicting(spec, groups.as_ref(), views, start, marginal, prediction)
}
