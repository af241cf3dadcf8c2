//! Categorical views by multinomial probit.
//!
//! Each sample has one of C classes, the one whose latent score is the
//! largest: $x\_n \sim N(z\_n W^\top + b, I\_C)$, $t\_n = \arg\max\_c x\_{nc}$
//! (spec/sshiba G12, 1.5). The data are one column of codes, the predictor has
//! C columns.
//!
//! | symbol | field |
//! |---|---|
//! | $\langle x\rangle$ | `layer`: a Gaussian layer of precision 1 over the scores |
//! | $t$ | `classes` |
//! | $\ln\xi\_n + \tfrac12\lvert m\_n - \langle x\_n\rangle\rvert^2$ | `offsets` |
//!
//! The bound L9 at the scores' current parameters $m\_n$ is
//! $\sum\_n \mathtt{offset}\_n - \tfrac12\sum\_{nc}\langle(\langle
//! x\_{nc}\rangle - \eta\_{nc})^2\rangle$: completing the square leaves one
//! number a sample of $m\_n$, and the layer has the rest.
//!
//! A missing class is integrated out (`[M]`: the row is left out) or has a
//! mean-field factor (`[I]`, U12: $\langle x\_n\rangle = m\_n$).

mod gibbs;
mod probabilities;
mod quadrature;
mod scores;
mod species;

pub use species::CategoricalProbitSpecies;
pub(crate) use species::is_few;

use polyview_core::{
    Augmented, Block, Context, DataError, Domain, Equations, Identified, Law, Link, Mask,
    NumericError, Predictor, Rounds, State, StateReader, Stateful, Terms, UnknownClass, View,
    ViewShape, ViewTerm,
};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{StreamKey, uniform_open01};

use crate::MissingData;
use crate::ParameterUncertainty;
use crate::gaussian::Gaussian;
use crate::laws::Classes;
use quadrature::Rule;

/// Choices of a categorical view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CategoricalProbitOptions {
    /// Treatment of missing classes.
    pub missing: MissingData,
    /// How class probabilities are predicted: P8, correlations between scores
    /// ignored, or P7.
    pub prediction: ParameterUncertainty,
}

/// Data term of a categorical view.
#[derive(Clone, Debug)]
pub struct CategoricalProbit {
    name: String,
    levels: Vec<String>,
    classes: Vec<Option<usize>>,
    options: CategoricalProbitOptions,
    layer: Gaussian,
    /// One a sample, nats; zero where the class is missing.
    offsets: Vec<f64>,
    /// Whether the scores are draws.
    drawn: bool,
    rule: Rule,
}

impl CategoricalProbit {
    /// The term of a view with class names ([`View::levels`]). Classes without
    /// a sample keep their place: the data push their probability down.
    ///
    /// # Errors
    /// [`DataError::NotCategorical`] without class names,
    /// [`DataError::OneClass`] when all observed samples are of one class.
    pub fn new(view: &View, options: CategoricalProbitOptions) -> Result<Self, DataError> {
        let term = Self::of_classes(view, options)?;
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
    /// Scores start at U9 with $m\_n = 0$: the class in front by the same
    /// distance for every sample.
    fn of_classes(view: &View, options: CategoricalProbitOptions) -> Result<Self, DataError> {
        let levels = view.levels().to_vec();
        if levels.is_empty() {
            return Err(DataError::NotCategorical {
                view: view.name().to_owned(),
            });
        }
        let classes = view.classes();
        let rule = Rule::for_classes(levels.len());
        let mut shift = vec![0.0; levels.len()];
        let zero = vec![0.0; levels.len()];
        let ln_xi = rule.moments(&zero, 0, &mut shift, &mut Vec::new());
        let (front, others) = (shift[0], shift.last().copied().unwrap_or(0.0));
        let offset = ln_xi + 0.5 * shift.iter().map(|s| s * s).sum::<f64>();
        let left_out = match options.missing {
            MissingData::Marginal => f64::NAN,
            MissingData::Impute => 0.0,
        };
        let values = Mat::from_fn(classes.len(), levels.len(), |n, c| match classes[n] {
            Some(class) if class == c => front,
            Some(_) => others,
            None => left_out,
        });
        Ok(Self {
            name: view.name().to_owned(),
            offsets: classes.iter().map(|c| c.map_or(0.0, |_| offset)).collect(),
            layer: Gaussian::latent(view.name(), values)?,
            levels,
            classes,
            options,
            drawn: false,
            rule,
        })
    }

    /// Names of the classes by code.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }
    /// Class of each sample, `None` where missing.
    pub fn classes(&self) -> &[Option<usize>] {
        &self.classes
    }
    /// Scores (means, or draws), samples × classes; zero for rows left out.
    /// The working data of a start.
    pub fn scores(&self) -> MatRef<'_, f64> {
        self.layer.scores()
    }
    /// How class probabilities are predicted.
    pub fn options(&self) -> CategoricalProbitOptions {
        self.options
    }
    fn not_finite(&self) -> NumericError {
        NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what: "a class score",
        }
    }
}

impl ViewTerm for CategoricalProbit {
    fn shape(&self) -> ViewShape {
        ViewShape {
            samples: self.classes.len(),
            observed_columns: 1,
            predictor_columns: self.levels.len(),
            components: None,
        }
    }
    fn mask(&self) -> Option<&Mask> {
        Some(Gaussian::mask(&self.layer))
    }
    fn domain(&self) -> Domain {
        Domain::CLASSES
    }
    /// That of the scores, 1.
    fn link(&self, _group: Option<usize>, _column: usize, _level: f64) -> Link {
        Link::of(1.0)
    }
    /// A shift of all classes is none.
    fn identified(&self, _column: usize) -> Identified {
        Identified::BetweenColumns
    }
    fn refresh(&mut self, p: &Predictor<'_>, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.refresh_scores(p)
    }
    fn equations(&mut self) -> &mut dyn Equations {
        &mut self.layer
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let energy = self.layer.energy(p);
        let offsets = polyview_core::compensated(self.offsets.iter().copied());
        Terms::of_samples("likelihood", offsets - 0.5 * energy)
    }
    /// The law of the code, of the one column of the data.
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        Box::new(Classes::new(
            self.predict_probabilities(p, block.samples.clone()),
        ))
    }
    /// One stream of random numbers; the scores' noise is integrated out.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let (rows, classes) = (p.factors.explicit_rows(), self.levels.len());
        let probability = self.predict_probabilities(p, 0..rows);
        let mut rng = data.rng();
        Mat::from_fn(rows, 1, |n, _| {
            let mut left = uniform_open01(&mut rng);
            let mut class = 0;
            while class + 1 < classes && left >= probability[(class, n)] {
                left -= probability[(class, n)];
                class += 1;
            }
            class as f64
        })
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        let matched = view.relevel(&self.levels, UnknownClass::Error)?;
        let options = CategoricalProbitOptions {
            missing: MissingData::Marginal,
            ..self.options
        };
        Ok(Box::new(Self::of_classes(&matched.view, options)?))
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
}

impl Rounds for CategoricalProbit {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
}

impl Stateful for CategoricalProbit {
    fn save(&self, prefix: &str, state: &mut State) {
        state.local(|state| {
            state.put_mat(&format!("{prefix}/local/scores"), self.layer.scores());
            state.put_vec(&format!("{prefix}/local/offsets"), &self.offsets);
            let drawn = [f64::from(u8::from(self.drawn))];
            state.put_vec(&format!("{prefix}/local/drawn"), &drawn);
        });
    }
    /// The scores belong to samples, so a term without samples (one that holds
    /// parameters only) takes none.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        if self.classes.is_empty() {
            return Ok(());
        }
        let name = format!("{prefix}/local/scores");
        let scores = state.mat(&name)?;
        if scores.shape() != (self.classes.len(), self.levels.len()) {
            return Err(NumericError::BadState { name });
        }
        self.offsets = state.vec_of(&format!("{prefix}/local/offsets"), self.classes.len())?;
        self.drawn = state.scalar(&format!("{prefix}/local/drawn"))? != 0.0;
        self.layer.write_scores(|values| values.copy_from(&scores));
        self.layer.scores_written();
        Ok(())
    }
}
