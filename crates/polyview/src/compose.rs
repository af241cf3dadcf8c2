//! Composers: who puts the parts of a model together.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use polyview_core::{
    Centring, FeatureScaling, Groups, Options, ParameterUncertainty, RowMoments, Step, View,
};
use polyview_infer::Model;
use polyview_linalg::Mat;

use crate::adjust::Adjustment;
use crate::assemble::{self, several, without_samples};
use crate::drawn;
use crate::error::{ErrorKind, Result};
use crate::fit::stochastic_goes;
use crate::spec::{Algorithm, EngineKind, ModelSpec, RunOptions, ViewChoices};

/// Who puts the parts of a model together: what its data are, which data terms and blocks of
/// rows it has, where they start. Object safe.
///
/// A [`ModelSpec`] is one, made of choices. A type of one's own is another, for what
/// no specification says: weights under a prior that nobody else has, blocks of rows that know
/// the features by name. [`Fitting::composed`](crate::Fitting::composed) fits it with every engine, and all that
/// a [`Fit`](crate::Fit) can do is the same whoever composed it. How a fit goes about its work (the number of
/// factors to start with, engine, seed, restarts, tolerances) is no part of it, but [`RunOptions`].
///
/// A model file holds the name and the options of the composer
/// ([`Composer::describe`]); [`Registry::with_composer`](crate::Registry::with_composer) says how it is made of
/// them again.
pub trait Composer: Any + Send + Sync {
    /// Its name in files, in kebab case, and its options: all that it takes to make the
    /// same one again. Reports show them.
    fn describe(&self) -> (&'static str, Options);
    /// What is said of each view, in the order of `data`: the likelihood, whose
    /// [domain](polyview_core::Domain) is what verbs, readers and reports ask about the data, and how data become
    /// working units (centring and scaling; of anything but real numbers neither). The
    /// other choices say what the parts will be, to those who show them. Views of data that are
    /// read block by block have no samples here.
    ///
    /// # Errors
    /// For data that it does not take: other views than it knows, too few features.
    /// [`ErrorKind::Incompatible`] says so best.
    fn views(&self, data: &[View]) -> Result<Vec<ViewChoices>>;
    /// The model of these views in working units, where it starts: for each view in this order
    /// a [`ViewPart`](polyview_infer::ViewPart) of its name, factors that begin at
    /// [`ModelContext::start`], and the order of the steps.
    ///
    /// It has to go by the names of the views. There may be fewer of them than the data have: a
    /// verb that looks at one view asks for that alone, and the engine stochastic for the factors
    /// of a batch without any. Features that do not vary have been left out. There may be no samples:
    /// then the parts are there for their parameters alone, which are read from a
    /// file, and the number of factors is what is left of those that the fit started with.
    ///
    /// # Errors
    /// When data do not suit a term, and for a number of factors that it cannot have.
    fn model(&self, views: Vec<View>, cx: ModelContext<'_>) -> Result<Model>;
    /// Whether anything in the model differs between groups of samples. Where nothing does, it
    /// is not told of groups ([`ModelContext::groups`]), and new samples need none.
    fn knows_groups(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn Composer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, options) = self.describe();
        write!(f, "{name}{{{options}}}")
    }
}

/// What a model is made with, besides its views.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelContext<'a> {
    /// Means of the factors to start from, samples × K.
    pub start: Mat<f64>,
    /// Groups of the samples, where there are several and the composer
    /// [knows](Composer::knows_groups) them.
    pub groups: Option<&'a Groups>,
    /// How sure predictions of the terms take their parameters to be.
    pub prediction: ParameterUncertainty,
    /// Seed of whatever random numbers the parts start with: the same for each restart
    /// and chain, and when the model is read again.
    pub seed: u64,
}

impl ModelContext<'_> {
    /// Factors around [`ModelContext::start`], with a small variance.
    pub fn factors(&self) -> RowMoments {
        RowMoments::isotropic(self.start.clone(), 1e-2, 0)
    }
    /// Weights of so many predictor columns of which nothing is known yet: zeros, of
    /// variance 1.
    pub fn weights(&self, columns: usize) -> RowMoments {
        RowMoments::isotropic(Mat::zeros(columns, self.start.ncols()), 1.0, 0)
    }
}

/// A composer, and how its fit goes about its work.
#[derive(Clone, Debug)]
pub(crate) struct Composed {
    pub(crate) composer: Arc<dyn Composer>,
    pub(crate) options: RunOptions,
    /// What stands beside factors and weights.
    pub(crate) adjustment: Option<Arc<Adjustment>>,
    /// Whether its fit is one of those by which a choice of another is found.
    pub(crate) searches: bool,
}

impl From<ModelSpec> for Composed {
    fn from(spec: ModelSpec) -> Self {
        Self {
            options: spec.run_options(),
            composer: Arc::new(spec),
            adjustment: None,
            searches: false,
        }
    }
}

impl Composed {
    /// Of a specification the run options say the same as its own.
    pub(crate) fn new(composer: Arc<dyn Composer>, options: RunOptions) -> Self {
        let out = Self {
            composer,
            options,
            adjustment: None,
            searches: false,
        };
        match out.spec() {
            Some(spec) => spec.clone().with_run_options(out.options).into(),
            None => out,
        }
    }
    /// The same with another specification.
    pub(crate) fn with_spec(&self, spec: ModelSpec) -> Self {
        Self {
            adjustment: self.adjustment.clone(),
            searches: self.searches,
            ..spec.into()
        }
    }
    /// The specification, where that is the composer.
    pub(crate) fn spec(&self) -> Option<&ModelSpec> {
        let composer: &dyn Any = self.composer.as_ref();
        composer.downcast_ref()
    }
    /// Name of the model: of the preset, or of the composer.
    pub(crate) fn name(&self) -> &str {
        match self.spec() {
            Some(spec) => &spec.model,
            None => self.composer.describe().0,
        }
    }
    pub(crate) fn knows_groups(&self) -> bool {
        self.composer.knows_groups()
    }
    /// Whether steps are those of mofapy2.
    pub(crate) fn is_faithful(&self) -> bool {
        (self.spec()).is_some_and(|s| s.algorithm == Algorithm::Faithful)
    }
    /// The choices of each view, checked against the data, which may have no samples and stand
    /// for `samples`.
    ///
    /// # Errors
    /// What composer, species and engine refuse.
    pub(crate) fn views(
        &self,
        views: &[View],
        samples: usize,
        groups: Option<&Groups>,
    ) -> Result<Vec<ViewChoices>> {
        match self.spec() {
            Some(spec) => assemble::validate_all(spec, views, samples, groups)?,
            None => self.options.validate()?,
        }
        let mut choices = self.composer.views(views)?;
        if choices.len() != views.len() {
            let what = format!("{} views of {}", choices.len(), views.len());
            return Err(self.unfit(what).into());
        }
        if self.spec().is_none() {
            for (view, choices) in views.iter().zip(&mut choices) {
                choices.likelihood.check()?;
                if !choices.likelihood.is_real() {
                    choices.centring = Centring::None;
                    choices.scaling = FeatureScaling::None;
                }
                assemble::kernel_goes(view, choices, false)?;
                assemble::view_goes(view, choices, &self.options)?;
            }
        }
        stochastic_goes(self, views, &choices, samples, groups)?;
        Ok(choices)
    }
    /// The same fitted by variational Bayes.
    pub(crate) fn by_variational_bayes(&self) -> Self {
        let options = RunOptions {
            engine: EngineKind::Vb,
            ..self.options.clone()
        };
        Self {
            adjustment: self.adjustment.clone(),
            ..Self::new(Arc::clone(&self.composer), options)
        }
    }
    /// Whether all views count once, so that a bound is one on the evidence.
    pub(crate) fn counts_once(&self) -> bool {
        self.spec().is_none_or(|spec| {
            let own = spec.views.iter().map(|v| &v.choices);
            (own.chain([&spec.defaults])).all(|c| c.own_weight().is_none())
        })
    }
    /// Whether chains start at the optimum of variational Bayes.
    pub(crate) fn starts_at_optimum(&self) -> bool {
        self.options.is_polished()
    }
    /// The same with what these data say of choices that nobody has made, such as the number of
    /// levels, and with a remark that the data did: to be asked before any of them are left out.
    pub(crate) fn with_data(self, views: &[View]) -> Self {
        let Some(spec) = self.spec() else {
            return self;
        };
        let mut spec = spec.clone();
        for view in views {
            let choices = spec.view(view.name());
            let (likelihood, said) = choices.likelihood.clone().with_data(view);
            if said.is_empty() {
                continue;
            }
            for option in said {
                let place = likelihood.place_of(view.name(), &option);
                if !spec.from_data.contains(&place) {
                    spec.from_data.push(place);
                }
            }
            let choices = ViewChoices {
                likelihood,
                ..choices
            };
            spec = spec.with_view(view.name(), choices);
        }
        self.with_spec(spec)
    }
    /// The same with a number of factors to start with, and the choices of these views written
    /// out where a specification holds them: the file says all.
    pub(crate) fn written_out(mut self, views: &[View], factors: usize) -> Self {
        self.options.factors = factors;
        let Some(spec) = self.spec() else {
            return self;
        };
        let mut spec = spec.clone();
        spec.factors = factors;
        for view in views {
            let choices = spec.view(view.name());
            spec = spec.with_view(view.name(), choices);
        }
        self.with_spec(spec)
    }
    /// The model of these views, started at `start` (samples × K).
    ///
    /// # Errors
    /// Those of [`Composer::model`]; [`ErrorKind::Composed`] for parts that do not fit together.
    pub(crate) fn model(
        &self,
        groups: Option<&Groups>,
        views: Vec<View>,
        start: Mat<f64>,
    ) -> Result<Model> {
        let prediction = ParameterUncertainty::Posterior;
        self.put_together(groups, views, start, prediction)
    }
    /// A model that holds parameters only, of views without samples, for reading saved states
    /// into; its terms predict as `prediction` says.
    ///
    /// # Errors
    /// As [`Composed::model`].
    pub(crate) fn parameters(
        &self,
        groups: Option<&Groups>,
        views: Vec<View>,
        k: usize,
        prediction: ParameterUncertainty,
    ) -> Result<Model> {
        let groups = without_samples(groups);
        self.put_together(groups.as_ref(), views, Mat::zeros(0, k), prediction)
    }
    fn put_together(
        &self,
        groups: Option<&Groups>,
        views: Vec<View>,
        start: Mat<f64>,
        prediction: ParameterUncertainty,
    ) -> Result<Model> {
        let names: Vec<String> = views.iter().map(|v| v.name().to_owned()).collect();
        let (samples, k) = (start.nrows(), start.ncols());
        let cx = ModelContext {
            start,
            groups: several(groups).filter(|_| self.knows_groups()),
            prediction,
            seed: self.options.seed,
        };
        let mut model = self.composer.model(views, cx)?;
        drawn::can_be_drawn(self, &mut model)?;
        match misfit(&model, &names, samples, k) {
            Some(what) => Err(self.unfit(what).into()),
            None => Ok(match &self.adjustment {
                Some(adjustment) => adjustment.beside(model),
                None => model,
            }),
        }
    }
    fn unfit(&self, what: String) -> ErrorKind {
        ErrorKind::Composed {
            composer: self.composer.describe().0.to_owned(),
            what,
        }
    }
}

/// What does not fit in a model of these views, of `samples` × `k` factors.
fn misfit(model: &Model, names: &[String], samples: usize, k: usize) -> Option<String> {
    let called: Vec<&String> = model.views.iter().map(|v| &v.name).collect();
    if called != names.iter().collect::<Vec<_>>() {
        return Some(format!("views {called:?} instead of {names:?}"));
    }
    let shape = |what: &str, found: (usize, usize), wanted: (usize, usize)| {
        let text = |(a, b): (usize, usize)| format!("{a} x {b}");
        let differs = found != wanted;
        differs.then(|| format!("{what} of {} instead of {}", text(found), text(wanted)))
    };
    let rows = |m: &RowMoments| (m.rows(), m.k());
    let factors = shape("factors", rows(model.factors.moments()), (samples, k));
    let of_views = model.views.iter().find_map(|v| {
        let (term, name) = (v.term.shape(), &v.name);
        let columns = term.predictor_columns;
        let weights = rows(v.weights.moments());
        shape(&format!("weights of view '{name}'"), weights, (columns, k)).or_else(|| {
            let found = (term.samples, v.bias.columns());
            let what = format!("samples and intercepts of view '{name}'");
            shape(&what, found, (samples, columns))
        })
    });
    let step = |s: &&Step| s.view().is_some_and(|v| v >= names.len());
    let steps = || {
        let step = model.schedule.sweep.iter().find(step)?;
        Some(format!("a step {step:?} of {} views", names.len()))
    };
    factors.or(of_views).or_else(steps)
}
