//! Classes by softmax (spec/sites 3).
//!
//! Each sample has one of C classes,
//! $p(t\mid\eta) = e^{\eta\_t}/\sum\_ce^{\eta\_c}$, $\eta\_c = w\_cz + b\_c$. The data are one
//! column of codes, the predictor has C columns.
//!
//! Variational Bayes has the tilted bound with the covariances of a sample's predictors,
//! $V = \bar WS\bar W^\top + \mathrm{diag}(\bar z^\top C\_c\bar z + \mathrm{tr}\\,C\_cS + s\_b)$:
//!
//! $$ F = m\_t - \min\_a\Big[\tfrac12a^\top Va + \ln\sum\_c\exp\big(m\_c + \tfrac12V\_{cc} -
//! (Va)\_c\big)\Big],\qquad g = e\_t - a,\qquad H = \mathrm{diag}(a) - aa^\top . $$
//!
//! Sites are tangents of $F$ ([`polyview_core::Tangents`]). Classes that share factors have
//! predictors in common, so that what one class's weights mean depends on the others': they are
//! updated one after the other.
//!
//! | file | about |
//! |---|---|
//! | `tilted` | the bound of one sample |
//! | `lanes` | the same of eight side by side |
//! | `density` | what its class says of its predictors |
//! | `sites` | sites of some samples |
//! | `equations` | what they say of weights, intercepts and factors |
//! | `probabilities` | probabilities of the classes where predictors are uncertain |

mod density;
mod equations;
mod lanes;
mod probabilities;
mod sites;
mod species;
mod tilted;

pub use species::SoftmaxSpecies;

use std::sync::Arc;

use polyview_core::{
    Augmented, Block, Context, DataError, Domain, Equations, Identified, Intercepts, Law, Link,
    NumericError, Objective, Predictor, Rounds, Stamp, State, StateReader, Stateful, Tangents,
    Terms, UnknownClass, View, ViewShape, ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, uniform_open01};

use crate::ParameterUncertainty;
use crate::laws::Classes;
use density::Spread;
use probabilities::points;
use sites::{Sites, products};
use tilted::root;

/// Prior precision of intercepts as a multiple of the model's: those of rare classes are far
/// from zero.
const OF_INTERCEPTS: f64 = 0.01;
/// Most classes: a sample has as many covariances as there are pairs of them.
const MOST_CLASSES: usize = 200;
/// Points, with their mirror images, of what factors leave open of the predictors.
const OF_SPREAD: usize = 32;
/// Samples that are added to each class where intercepts start.
const HALF: f64 = 0.5;

/// Data term of a view of classes by softmax; a sample without a class says nothing.
///
/// There are no local variables: sites are functions of the moments of factors, weights and
/// intercepts, and are made where they are wanted.
#[derive(Clone, Debug)]
pub struct Softmax {
    name: String,
    levels: Vec<String>,
    classes: Vec<Option<usize>>,
    prediction: ParameterUncertainty,
    /// What belongs to the law of the data.
    spread: Option<Spread>,
    /// Changes with the data.
    stamp: Stamp,
    /// The sites that were made last.
    last: Option<Arc<Sites>>,
    /// Whether tangents are kept for a whole sweep.
    held: bool,
    /// Those that are, and the intercepts at which they were made.
    kept: Option<(Arc<Sites>, Vec<f64>)>,
}

impl Softmax {
    /// The term of a view with class names ([`View::levels`]). Classes without
    /// a sample keep their place: the data push their probability down.
    ///
    /// # Errors
    /// [`DataError::NotCategorical`] without class names,
    /// [`DataError::OneClass`] when all observed samples are of one class,
    /// [`DataError::Composed`] for more classes than 200.
    pub fn new(view: &View, prediction: ParameterUncertainty) -> Result<Self, DataError> {
        let term = Self::of_classes(view, prediction)?;
        if term.levels.len() > MOST_CLASSES {
            return Err(DataError::Composed {
                why: format!(
                    "view '{}' has {} classes, and softmax keeps the covariance of every two for \
                     each sample, of {MOST_CLASSES} at most; take the likelihood categorical-probit",
                    term.name,
                    term.levels.len()
                ),
            });
        }
        let mut seen = term.classes.iter().flatten();
        if let Some(first) = seen.next()
            && (seen.all(|c| c == first) || term.levels.len() < 2)
        {
            return Err(DataError::OneClass {
                view: term.name,
                class: term.levels[*first].clone(),
            });
        }
        Ok(term)
    }
    fn of_classes(view: &View, prediction: ParameterUncertainty) -> Result<Self, DataError> {
        if view.levels().is_empty() {
            return Err(DataError::NotCategorical {
                view: view.name().to_owned(),
            });
        }
        Ok(Self {
            name: view.name().to_owned(),
            levels: view.levels().to_vec(),
            classes: view.classes(),
            prediction,
            spread: None,
            stamp: Stamp::fresh(),
            last: None,
            held: false,
            kept: None,
        })
    }
    /// The term of other data of the same classes.
    fn matched(&self, view: &View) -> Result<Self, DataError> {
        let matched = view.relevel(&self.levels, UnknownClass::Error)?;
        Self::of_classes(&matched.view, self.prediction)
    }
    /// Names of the classes by code.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }
    /// Class of each sample, `None` where missing.
    pub fn classes(&self) -> &[Option<usize>] {
        &self.classes
    }
    fn not_finite(&self) -> NumericError {
        NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what: "a site of a class",
        }
    }
    /// Data are others than before.
    fn changed(&mut self) {
        self.stamp = Stamp::fresh();
        self.last = None;
        self.kept = None;
    }
}

/// A class of these probabilities.
fn draw(probability: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let mut left = uniform_open01(rng);
    let reached = probability.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    reached.unwrap_or(probability.len() - 1)
}

impl ViewTerm for Softmax {
    fn shape(&self) -> ViewShape {
        ViewShape {
            samples: self.classes.len(),
            observed_columns: 1,
            predictor_columns: self.levels.len(),
            components: None,
        }
    }
    fn objective(&self) -> Objective {
        Objective::ApproximateBound
    }
    fn by_cells(&self) -> bool {
        true
    }
    /// Logarithms of the shares of the classes.
    fn intercepts(&self) -> Intercepts {
        let mut count = vec![HALF; self.levels.len()];
        for class in self.classes.iter().flatten() {
            count[*class] += 1.0;
        }
        let logs: Vec<f64> = count.iter().map(|n| n.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        Intercepts {
            start: Some(logs.iter().map(|x| x - mean).collect()),
            start_by_group: None,
            precision: OF_INTERCEPTS,
            alike: false,
        }
    }
    /// That of the Gumbel law, whose largest score is the class.
    fn link(&self, _group: Option<usize>, _column: usize, _level: f64) -> Link {
        Link::of(std::f64::consts::PI.powi(2) / 6.0)
    }
    fn domain(&self) -> Domain {
        Domain::CLASSES
    }
    /// A shift of all classes is none.
    fn identified(&self, _column: usize) -> Identified {
        Identified::BetweenColumns
    }
    fn refresh(&mut self, _p: &Predictor<'_>, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        Ok(())
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    /// $\sum F$; with factors and weights known exactly the log density.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let sites = self.sites(0..self.classes.len(), p);
        Terms::of_samples("likelihood", sites.values.iter().sum())
    }
    /// The law of the code, of the one column of the data.
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        Box::new(Classes::new(self.probabilities(p, block.samples.clone())))
    }
    /// One stream of random numbers.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let rows = p.factors.explicit_rows();
        let probability = self.probabilities(p, 0..rows);
        let mut rng = data.rng();
        Mat::from_fn(rows, 1, |n, _| {
            draw(probability.col_as_slice(n), &mut rng) as f64
        })
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        Ok(Box::new(self.matched(view)?))
    }
    fn widened(
        &self,
        view: &View,
        at: &Predictor<'_>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        let made = self.matched(view).map(|mut term| {
            let classes = self.levels.len();
            let left = at.spread_along(0..view.n_samples(), &products(at.weights.mean()));
            let mut roots = left.transpose().to_owned();
            for n in 0..roots.ncols() {
                root(roots.col_as_slice_mut(n), classes);
            }
            term.spread = Some(Spread {
                roots: Arc::new(roots),
                points: Arc::new(points(OF_SPREAD, classes)),
            });
            Box::new(term) as Box<dyn ViewTerm>
        });
        Some(made)
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
    fn as_tangents(&mut self) -> Option<&mut dyn Tangents> {
        Some(self)
    }
}

impl Rounds for Softmax {
    /// Sites follow the moments by themselves.
    fn refresh_locals(
        &mut self,
        _p: &Predictor<'_>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        Ok(())
    }
}

/// Rows are drawn around tangents, without local variables.
impl Augmented for Softmax {
    fn draw_locals(
        &mut self,
        _p: &Predictor<'_>,
        _cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        Ok(())
    }
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey) {
        let probability = self.probabilities(p, 0..self.classes.len());
        let mut rng = key.rng();
        for (n, class) in self.classes.iter_mut().enumerate() {
            if let Some(class) = class {
                *class = draw(probability.col_as_slice(n), &mut rng);
            }
        }
        self.changed();
    }
}

impl Stateful for Softmax {
    fn save(&self, _prefix: &str, _state: &mut State) {}
    fn load(&mut self, _prefix: &str, _state: &StateReader<'_>) -> Result<(), NumericError> {
        self.changed();
        Ok(())
    }
}
