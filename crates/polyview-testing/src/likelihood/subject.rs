//! What is tested: a species and data that suit it.

use std::fmt;

use polyview_core::{
    Bias, Context, Domain, GammaPrior, Journal, LevelPrior, LikelihoodSpecies, MissingData,
    NoiseBy, NumericError, Options, ParameterUncertainty, Predictor, RowGroups, RowMoments, State,
    Stateful, TermContext, View, ViewTerm, Way,
};
use polyview_infer::{Audit, Model, PruneRule, VbOptions, VbRun, ViewPart};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, poisson, standard_normal, uniform_open01};

use super::{Finding, LikelihoodCheck};
use crate::{assemble, normal, weights};

/// Samples, features and classes of the data that a species simulates.
const SAMPLES: usize = 16;
const FEATURES: usize = 3;
const CLASSES: usize = 3;
/// Number of factors of models.
pub(super) const K: usize = 2;
/// Trials of each cell, where there are any.
const TRIALS: f64 = 9.0;

/// The data that a test was made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataCase {
    /// All cells observed.
    Complete,
    /// Single cells missing, left out.
    Cells,
    /// Whole samples missing, left out.
    Samples,
    /// Single cells missing, imputed.
    Imputed,
    /// All cells observed, samples in two groups.
    Groups,
}

impl DataCase {
    /// Those without groups.
    pub(super) const PLAIN: [Self; 4] = [Self::Complete, Self::Cells, Self::Samples, Self::Imputed];
    /// Whether a cell is missing.
    fn hides(self, sample: usize, feature: usize) -> bool {
        match self {
            Self::Complete | Self::Groups => false,
            Self::Cells | Self::Imputed => (sample * 3 + feature * 5) % 4 == 3,
            Self::Samples => sample % 5 == 2,
        }
    }
}

impl fmt::Display for DataCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "complete data",
            Self::Cells => "data with missing cells",
            Self::Samples => "data with missing samples",
            Self::Imputed => "data with imputed cells",
            Self::Groups => "data in two groups of samples",
        })
    }
}

/// A species with its options and complete data.
pub(super) struct Subject<'a> {
    pub species: &'a dyn LikelihoodSpecies,
    options: Options,
    /// Complete data.
    pub view: View,
    /// Other data for the same cells.
    pub other: View,
    pub draws: u64,
    pub key: StreamKey,
}

impl<'a> Subject<'a> {
    pub fn new(check: &LikelihoodCheck<'a>) -> Result<Self, Finding> {
        let species = check.species;
        let options = check.options.over(&species.defaults());
        let options = options.map_err(Finding::Options)?;
        let key = StreamKey::new(check.seed);
        let made_up = match &check.data {
            Some(view) => view.clone(),
            None => made_up(species.domain(), key)?,
        };
        let mut out = Self {
            species,
            options,
            view: made_up.clone(),
            other: made_up,
            draws: check.draws,
            key,
        };
        out.other = out.simulated(2)?;
        if check.data.is_none() {
            out.view = out.simulated(1)?;
        }
        Ok(out)
    }
    /// Number of predictor columns.
    pub fn predictor_columns(&self) -> usize {
        let latent = self.species.latent_dimensions(&self.options);
        latent.unwrap_or_else(|| {
            if self.species.domain().has_classes() {
                self.view.levels().len()
            } else {
                self.view.n_features()
            }
        })
    }
    /// Some samples of a view of the data; in a table of similarities they are the features, too.
    pub fn part(&self, view: &View, rows: &[u32]) -> View {
        let part = view.subset(view.name(), rows);
        if !self.species.domain().is_similarity() {
            return part;
        }
        let names = rows.iter().map(|&n| view.features()[n as usize].clone());
        let source: Vec<Option<usize>> = rows.iter().map(|&n| Some(n as usize)).collect();
        let square = part.matched(view.name(), names.collect(), &source);
        square.unwrap_or(part)
    }
    /// What the species says that data of its own are.
    fn simulated(&self, seed: u32) -> Result<View, Finding> {
        if self.species.domain().is_similarity() {
            // new samples, which it simulates, are no table of themselves
            return made_up(self.species.domain(), self.key.block(40 + seed));
        }
        let case = DataCase::Complete;
        let term = self.term(&self.view, case)?;
        let shape = term.shape();
        let at = self.key.block(40 + seed);
        let point = Point::new(shape.samples, shape.predictor_columns, at);
        let values = term.simulate(&point.predictor(), at.block(50), at.block(51 + seed));
        (self.view.with_values(values)).map_err(|source| Finding::Term { case, source })
    }
    /// The data of a case.
    pub fn data(&self, case: DataCase) -> View {
        self.view.hiding(|n, d| case.hides(n, d))
    }
    /// Groups of samples.
    pub fn groups(&self, count: usize) -> RowGroups {
        let of_row = (0..self.view.n_samples()).map(|n| (n % count) as u32);
        RowGroups::new(of_row.collect(), count)
            .unwrap_or_else(|_| RowGroups::one(self.view.n_samples()))
    }
    pub fn refusal(&self, way: Way) -> Option<String> {
        self.species.refuses(way, &self.options)
    }
    pub fn context(&self, case: DataCase) -> TermContext {
        TermContext {
            missing: if case == DataCase::Imputed {
                MissingData::Impute
            } else {
                MissingData::Marginal
            },
            prediction: ParameterUncertainty::Posterior,
            noise: NoiseBy::Feature,
            noise_prior: GammaPrior::new(4.0, 3.0),
            start_noise: 1.0,
            components: None,
            tangents: false,
            key: self.key.block(30),
        }
    }
    /// The term of these data, as in that case.
    pub fn term(&self, view: &View, case: DataCase) -> Result<Box<dyn ViewTerm>, Finding> {
        self.term_with(view, &self.context(case))
            .map_err(|source| Finding::Term { case, source })
    }
    pub fn term_with(
        &self,
        view: &View,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, polyview_core::DataError> {
        self.species.term(view.clone(), &self.options, cx)
    }
    /// The term of a case.
    pub fn term_of(&self, case: DataCase) -> Result<Box<dyn ViewTerm>, Finding> {
        self.term(&self.data(case), case)
    }
    /// A model of that term, which starts from noise.
    pub fn model(&self, term: Box<dyn ViewTerm>, groups: Option<RowGroups>) -> Model {
        let shape = term.shape();
        let columns = shape.predictor_columns;
        let intercepts = term.intercepts();
        let mut bias = if !term.has_intercepts() {
            Bias::absent(columns)
        } else if let Some(groups) = groups {
            Bias::by_group(columns, groups, 0.5)
        } else {
            let mut bias = Bias::gaussian(columns, 0, 0.5);
            if let Some(start) = intercepts.start {
                bias.set(start, vec![0.1; columns]);
            }
            bias
        };
        if intercepts.alike {
            // no vaguer than the data of these tests can bear
            bias = bias.with_learnt_prior(LevelPrior {
                precision: 2.0,
                spread: GammaPrior::new(6.0, 4.0),
            });
        }
        let name = self.view.name().to_owned();
        let part = ViewPart {
            weights: weights(
                format!("weights/{name}"),
                GammaPrior::new(5.0, 4.0),
                None,
                RowMoments::isotropic(Mat::zeros(columns, K), 1.0, 0),
            ),
            name,
            term,
            bias,
        };
        let start = normal(shape.samples, K, &mut self.key.block(31).rng());
        assemble(vec![part], start)
    }
    /// A run of variational Bayes that watches the bound.
    pub fn fitted(&self, model: Model, sweeps: usize) -> Result<VbRun, NumericError> {
        let options = VbOptions {
            max_sweeps: sweeps + 1,
            tolerance: 1e-300,
            audit: Audit::Blocks,
            prune: PruneRule::never(),
            ..VbOptions::default()
        };
        let mut run = VbRun::new(model, options, self.key.block(32), Journal::default());
        for _ in 0..sweeps {
            run.sweep()?;
        }
        Ok(run)
    }
}

/// A numerical error as a finding.
pub(super) fn numeric(
    case: DataCase,
    what: &'static str,
) -> impl Fn(NumericError) -> Finding + Copy {
    move |source| match source {
        NumericError::BoundFell { .. } => Finding::BoundFell { case, source },
        _ => Finding::Numeric { case, what, source },
    }
}

/// The first array in which two states differ, to the bit.
pub(super) fn difference(a: &State, b: &State) -> Option<String> {
    let bits = |s: &State, name: &String| {
        let array = s.arrays().get(name)?;
        let values: Vec<u64> = array.values.iter().map(|x| x.to_bits()).collect();
        Some((array.shape.clone(), values, array.role))
    };
    let mut names = a.arrays().keys().chain(b.arrays().keys());
    names.find(|n| bits(a, n) != bits(b, n)).cloned()
}

/// What a part writes.
pub(super) fn saved(part: &(impl Stateful + ?Sized)) -> State {
    let mut state = State::new();
    part.save("", &mut state);
    state
}

/// Factors, weights and intercepts that are known numbers.
pub(super) struct Point {
    factors: RowMoments,
    weights: RowMoments,
    bias: Bias,
}

impl Point {
    pub fn new(samples: usize, columns: usize, key: StreamKey) -> Self {
        let mut rng = key.block(60).rng();
        let factors = RowMoments::point(normal(samples, K, &mut rng));
        let mut w = normal(columns, K, &mut rng);
        for d in 0..columns {
            for k in 0..K {
                w[(d, k)] *= 0.6;
            }
        }
        let mut bias = Bias::gaussian(columns, 0, 1.0);
        let mean = (0..columns).map(|_| 0.3 * standard_normal(&mut rng));
        bias.set(mean.collect(), vec![0.0; columns]);
        Self {
            factors,
            weights: RowMoments::point(w),
            bias,
        }
    }
    pub fn predictor(&self) -> Predictor<'_> {
        Predictor {
            factors: &self.factors,
            weights: &self.weights,
            bias: &self.bias,
        }
    }
}

/// Brings local variables of a term up to date.
pub(super) fn refresh(term: &mut dyn ViewTerm, p: &Predictor<'_>) -> Result<(), NumericError> {
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(1),
        sweep: 1,
        journal: &mut journal,
    };
    term.refresh(p, &mut cx)
}

/// Data of a domain that any term of it takes.
fn made_up(domain: Domain, key: StreamKey) -> Result<View, Finding> {
    let mut rng = key.block(20).rng();
    let columns = if domain.has_classes() {
        1
    } else if domain.is_similarity() {
        SAMPLES
    } else {
        FEATURES
    };
    let rows = normal(SAMPLES, K, &mut key.block(21).rng());
    let noise = normal(SAMPLES, SAMPLES, &mut key.block(22).rng());
    let values = Mat::from_fn(SAMPLES, columns, |n, d| {
        if domain.is_similarity() {
            let product: f64 = (0..K).map(|k| rows[(n, k)] * rows[(d, k)]).sum();
            product + 0.3 * noise[(n.min(d), n.max(d))]
        } else if domain.has_classes() {
            ((n + d) % CLASSES) as f64
        } else if domain.is_ordered() {
            ((n + d) % CLASSES) as f64 + 1.0
        } else if domain.is_count() {
            poisson(&mut rng, 3.0).map_or(0.0, |x| x.min(TRIALS))
        } else if domain.is_positive() {
            standard_normal(&mut rng).exp()
        } else if domain.is_label() {
            f64::from(u8::from(uniform_open01(&mut rng) < 0.5))
        } else {
            standard_normal(&mut rng)
        }
    });
    let names = (0..columns).map(|d| format!("f{d}")).collect();
    let view = View::from_values("view", names, values).and_then(|view| {
        if domain.has_classes() {
            view.with_levels((0..CLASSES).map(|c| format!("class {c}")).collect())
        } else if domain.is_censored() {
            // numbers, limits on either side and intervals
            let end = |n: usize, d: usize| match (n + d) % 4 {
                0 => f64::INFINITY,
                1 => f64::NEG_INFINITY,
                2 => view.values()[(n, d)] + 0.8,
                _ => f64::NAN,
            };
            let ends = Mat::from_fn(SAMPLES, columns, end);
            view.with_ends(ends)
        } else if domain.has_trials() {
            view.with_trials(Mat::full(SAMPLES, columns, TRIALS))
        } else {
            Ok(view)
        }
    });
    view.map_err(|source| Finding::Term {
        case: DataCase::Complete,
        source,
    })
}
