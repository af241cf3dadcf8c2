//! Random models with views of every species.

use polyview_core::{Bias, DataError, GammaPrior, RowGroups, RowMoments, View, ViewTerm};
use polyview_infer::ViewPart;
use polyview_likelihoods::{
    BayesianSvm, Bernoulli, CategoricalProbit, CategoricalProbitOptions, Cells, Gaussian,
    GaussianOptions, GroupNoise, Grouped, LatentBernoulli, LatentBernoulliOptions, MissingData,
    NegativeBinomial, NoiseBy, PairPolicy, Probit, Rank, RankOptions,
};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_special::sigmoid;

use crate::categorical::{draw_codes, view_of_codes};
use crate::{Holes, normal, weights};

/// What a view holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Species {
    /// Real values.
    Real(NoiseBy),
    /// Labels, the bound on the predictor itself. Missing ones are left out.
    Labels,
    /// Labels of a support vector machine. Missing ones are left out.
    Svm,
    /// Labels by the signs of scores. Missing ones are left out.
    Probit,
    /// Labels on latent scores of learnt noise precisions.
    Latent(NoiseBy),
    /// Counts with a size a feature. Missing ones are left out.
    Counts,
    /// One class a sample. Holes are whole rows.
    Classes,
    /// Values of which only the order counts. Missing ones are left out; there
    /// are no intercepts.
    Ranks,
}

/// One view of a model of views of any species.
#[derive(Clone, Copy, Debug)]
pub struct MixedView {
    /// What it holds.
    pub species: Species,
    /// Features, or classes (two at least).
    pub columns: usize,
    /// Missing cells.
    pub holes: Holes,
    /// Treatment of missing cells.
    pub missing: MissingData,
    /// Prior precision of intercepts; none without.
    pub bias: Option<f64>,
    /// Whether columns have precisions of their own.
    pub relevance: bool,
}

impl MixedView {
    /// A view without holes, without relevances and with intercepts.
    pub fn new(species: Species, columns: usize) -> Self {
        Self {
            species,
            columns,
            holes: Holes::None,
            missing: MissingData::Marginal,
            bias: Some(1.0),
            relevance: false,
        }
    }
    /// Data of these factors.
    pub fn data(&self, name: &str, z: &Mat<f64>, seed: u64) -> View {
        let mut rng = StreamKey::new(seed).block(60).rng();
        let w = normal(self.columns, z.ncols(), &mut rng);
        let b: Vec<f64> = (0..self.columns)
            .map(|_| 0.5 * standard_normal(&mut rng))
            .collect();
        if self.species == Species::Classes {
            let share = match self.holes {
                Holes::None => 0.0,
                Holes::Rows(share) | Holes::Cells(share) => share,
            };
            return view_of_codes(name, &draw_codes(z, &w, &b, share, seed), self.columns);
        }
        let eta = z * w.transpose();
        let mut gone = vec![false; z.nrows()];
        if let Holes::Rows(share) = self.holes {
            for g in gone.iter_mut().skip(1) {
                *g = uniform_open01(&mut rng) < share;
            }
        }
        let values = Mat::from_fn(z.nrows(), self.columns, |n, d| {
            let eta = eta[(n, d)] + b[d];
            let x = match self.species {
                Species::Real(_) => eta + 0.7 * standard_normal(&mut rng),
                Species::Ranks => (eta + 0.7 * standard_normal(&mut rng)).exp(),
                // a geometric count: exact, and spread as counts are
                Species::Counts => {
                    let log = uniform_open01(&mut rng).ln() / sigmoid(eta).ln();
                    log.floor().clamp(0.0, 30.0)
                }
                _ => f64::from(u8::from(uniform_open01(&mut rng) < sigmoid(eta))),
            };
            // one cell stays, so that there are data
            let hidden = match self.holes {
                Holes::None => false,
                Holes::Rows(_) => gone[n],
                Holes::Cells(share) => (n, d) != (0, 0) && uniform_open01(&mut rng) < share,
            };
            if hidden { f64::NAN } else { x }
        });
        let names = (0..self.columns).map(|d| format!("f{d}")).collect();
        View::from_values(name, names, values).expect("finite values")
    }
    /// The data term; `rounds` of the updates of latent scores in a sweep.
    pub fn term(&self, view: &View, rounds: usize) -> Box<dyn ViewTerm> {
        let prior = GammaPrior::new(1.5, 0.7);
        let missing = self.missing;
        match self.species {
            Species::Real(noise) => {
                let options = GaussianOptions {
                    noise,
                    prior,
                    missing,
                    start: 1.0,
                };
                Box::new(Gaussian::new(view.clone(), options))
            }
            Species::Labels => {
                Box::new(Cells::new(view.clone(), Bernoulli::default()).expect("labels"))
            }
            Species::Svm => {
                Box::new(Cells::new(view.clone(), BayesianSvm::default()).expect("labels"))
            }
            Species::Probit => {
                Box::new(Cells::new(view.clone(), Probit::default()).expect("labels"))
            }
            Species::Counts => {
                Box::new(Cells::new(view.clone(), NegativeBinomial::default()).expect("counts"))
            }
            Species::Latent(noise) => {
                let options = LatentBernoulliOptions {
                    noise,
                    prior,
                    missing,
                    rounds,
                    ..LatentBernoulliOptions::default()
                };
                Box::new(LatentBernoulli::new(view.clone(), options).expect("labels"))
            }
            Species::Classes => {
                let options = CategoricalProbitOptions {
                    missing,
                    ..CategoricalProbitOptions::default()
                };
                Box::new(CategoricalProbit::new(view, options).expect("two classes"))
            }
            // all pairs: which ones does not depend on the samples' places
            Species::Ranks => {
                let options = RankOptions {
                    pairs: PairPolicy::All,
                    ..RankOptions::default()
                };
                Box::new(Rank::new(view, options, StreamKey::new(1)).expect("a rank view"))
            }
        }
    }
    /// The data term in groups of samples.
    pub fn grouped(
        &self,
        view: &View,
        groups: &RowGroups,
        noise: GroupNoise,
        rounds: usize,
    ) -> Box<dyn ViewTerm> {
        let name = |g: usize| format!("{} ({g})", view.name());
        let make = |v: View| Ok::<_, DataError>(self.term(&v, rounds));
        let groups = groups.clone();
        Box::new(Grouped::new(view, groups, noise, name, make).expect("one group a sample"))
    }
    /// The part of a model whose samples are in groups, as
    /// [`MixedView::part`]; `intercepts` of their own or not.
    pub fn grouped_part(
        &self,
        view: &View,
        groups: &RowGroups,
        (noise, intercepts): (GroupNoise, bool),
        rounds: usize,
        k: usize,
    ) -> ViewPart {
        let mut part = self.part(view, rounds, k);
        part.term = self.grouped(view, groups, noise, rounds);
        if let (Some(precision), true) = (self.bias, intercepts) {
            part.bias = Bias::by_group(self.columns, groups.clone(), precision);
        }
        part
    }
    /// The part of a model of K factors, weights at zero.
    pub fn part(&self, view: &View, rounds: usize, k: usize) -> ViewPart {
        let name = view.name().to_owned();
        let precision = self.bias.filter(|_| self.species != Species::Ranks);
        ViewPart {
            term: self.term(view, rounds),
            weights: weights(
                format!("weights/{name}"),
                GammaPrior::new(1.2, 0.9),
                self.relevance.then_some(GammaPrior::new(1.4, 1.1)),
                RowMoments::isotropic(Mat::zeros(self.columns, k), 1.0, 0),
            ),
            bias: precision.map_or_else(
                || Bias::absent(self.columns),
                |p| Bias::gaussian(self.columns, 0, p),
            ),
            name,
        }
    }
}
