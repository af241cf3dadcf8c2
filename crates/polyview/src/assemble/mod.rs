//! Assembles a model: from a data set and the choices of a specification to terms, row blocks and a
//! schedule.

mod checks;
mod factors;
mod features;
mod noise;
mod rows;
mod terms;

pub use checks::validate;
pub(crate) use checks::{
    cannot_settle, check_shape, counts_once, kernel_goes, never_settled, no_sampler, not_settled,
    priors_go, validate_all, view_goes,
};
pub use factors::most_factors;
pub(crate) use factors::{fit_factors, most_with_choices};
pub(crate) use features::not_on_features;
pub(crate) use noise::{has_prior_of_draws, vague};
pub(crate) use rows::{factor_block, weight_block};
pub(crate) use terms::gaussian_options;

use polyview_core::{
    Bias, Dataset, FeatureScaling, Groups, Identified, LevelPrior, Options, Rounding, Scaling,
    Schedule, View,
};
use polyview_core::{RowGroups, RowMoments, ViewTerm};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{MissingData, ParameterUncertainty};
use polyview_linalg::Mat;

use crate::compose::{Composer, ModelContext};
use crate::error::Result;
use crate::fit::{GroupMeans, least_below_zero};
use crate::spec::{Algorithm, InterceptPrior, Intercepts, ModelSpec, ViewChoices};
use terms::term;

/// A data set in working units, with the way back.
#[derive(Clone, Debug)]
pub struct WorkingData {
    /// Sample IDs.
    pub samples: Vec<String>,
    /// Views in working units.
    pub views: Vec<View>,
    /// How to undo it, one a view.
    pub scalings: Vec<Scaling>,
    /// What that takes from the last digits, one a view.
    pub rounding: Vec<Rounding>,
}

impl WorkingData {
    /// Learns the scaling of each view and applies it, in place.
    pub fn learn(data: Dataset, choices: &[ViewChoices]) -> Self {
        let (samples, views, _, _) = data.into_parts();
        let mut scalings = Vec::with_capacity(views.len());
        let mut rounding = Vec::with_capacity(views.len());
        let views = views
            .into_iter()
            .zip(choices)
            .map(|(v, c)| {
                let mut s = Scaling::learn(&v, c.centring, c.scaling);
                if let Some(least) = least_below_zero(&v, c) {
                    s.offset.fill(least);
                }
                let v = if c.scaling == FeatureScaling::None && s.offset.iter().all(|o| *o == 0.0) {
                    rounding.push(Rounding::default());
                    v
                } else {
                    rounding.push(Rounding::of(&s, &v));
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
            rounding,
        }
    }
}

/// One view's part around a data term: `columns` explicit and `implicit`
/// implicit predictor columns (which a view that selects features has not).
///
/// # Errors
/// [`polyview_core::DataError`] of a prior that is not known, or of its options.
pub(crate) fn view_part(
    spec: &ModelSpec,
    name: &str,
    term: Box<dyn ViewTerm>,
    implicit: usize,
    k: usize,
) -> Result<ViewPart> {
    let columns = term.shape().predictor_columns;
    // whatever their number, factors begin with the same variance of predictors: exponentials of large ones would lead away from the
    // data (spec/sites 1.6, docs/decisions/0103-the-first-steps.md)
    let variance = match spec.algorithm {
        Algorithm::Corrected => 1.0 / k.max(1) as f64,
        Algorithm::Faithful => 1.0,
    };
    let start = RowMoments::isotropic(Mat::zeros(columns, k), variance, implicit);
    let says_nothing = |d: &usize| term.identified(*d) == Identified::Nothing;
    let idle: Vec<usize> = (0..columns).filter(says_nothing).collect();
    let weights = weight_block(spec, name, start, &idle)?;
    let of_term = term.intercepts();
    let precision = spec.intercept_precision * of_term.precision;
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
        Some(_) => of_term.start_by_group,
        None => of_term.start,
    };
    if let (true, Some(start)) = (bias.is_present(), start) {
        let variance = bias.variance().to_vec();
        bias.set(start, variance);
    }
    if of_term.alike && spec.intercept_prior == InterceptPrior::Learnt {
        bias = bias.with_learnt_prior(LevelPrior::default());
    }
    Ok(ViewPart {
        name: name.to_owned(),
        term,
        weights,
        bias,
    })
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
    let mut part = view_part(spec, &name, term, 0, k)?;
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
        let gaussian = spec.view(view.name()).likelihood == "gaussian";
        let learnt = spec.algorithm == Algorithm::Corrected && gaussian;
        (known || learnt).then(|| {
            let (means, variances) = GroupMeans::new(view, &RowGroups::from(groups));
            let variance = variances.iter().sum::<f64>() / variances.len() as f64;
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

impl Composer for ModelSpec {
    /// `spec`, with every choice.
    fn describe(&self) -> (&'static str, Options) {
        ("spec", Options::of(self).unwrap_or_default())
    }
    fn views(&self, data: &[View]) -> Result<Vec<ViewChoices>> {
        Ok(data.iter().map(|v| self.view(v.name())).collect())
    }
    fn model(&self, views: Vec<View>, cx: ModelContext<'_>) -> Result<Model> {
        // parameters know nothing of missing cells
        let missing = match cx.start.nrows() {
            0 => MissingData::Marginal,
            _ => self.missing,
        };
        let k = cx.start.ncols();
        let parts: Vec<ViewPart> = views
            .into_iter()
            .map(|v| part(self, cx.groups, v, missing, cx.prediction, k))
            .collect::<Result<_>>()?;
        let factors = factor_block(self, cx.groups, cx.start, 0)?;
        let schedule = match self.algorithm {
            Algorithm::Corrected if factors.shares().is_some() => {
                Schedule::with_assignment(parts.len())
            }
            Algorithm::Corrected => Schedule::standard(parts.len()),
            Algorithm::Faithful => Schedule::by_node(parts.len()),
        };
        Ok(Model::new(factors, parts, schedule))
    }
    fn knows_groups(&self) -> bool {
        Self::knows_groups(self)
    }
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
