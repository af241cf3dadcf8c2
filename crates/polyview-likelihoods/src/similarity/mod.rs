//! Similarity views: how alike samples are, pair by pair (spec/mlfs 2, 4.3, 4.4).
//!
//! Each sample has a latent row of its own, which follows its factors, and the similarity of
//! two samples is the product of their rows:
//!
//! $$ u\_i \sim N(z\_iW^\top + b,\ \gamma^{-1}I\_K),\qquad
//! x\_{ij} \sim N(u\_iu\_j^\top,\ \tau^{-1})\quad(i < j) $$
//!
//! The two cells of a pair are one datum, cells of a sample with itself are none, and any may be
//! missing. Predictor columns are the K latent dimensions, and not the columns of the data.
//!
//! | symbol | field |
//! |---|---|
//! | $x$ | `data` |
//! | $\langle u\_i\rangle$, $\Sigma\_i$ | `rows` |
//! | $\gamma$, and what the rows say of factors and weights | `layer`, a Gaussian one |
//! | $\tau$ | `tau` |
//!
//! With $S\_i = \sum\_j\langle u\_j^\top u\_j\rangle$ over the samples that i was compared with the
//! rows are updated one after the other (spec/mlfs 4.3),
//!
//! $$ \Sigma\_i = (\langle\gamma\rangle I + \langle\tau\rangle S\_i)^{-1},\qquad
//! \langle u\_i\rangle = \Big(\langle\gamma\rangle\langle\eta\_i\rangle +
//! \langle\tau\rangle\sum\_jx\_{ij}\langle u\_j\rangle\Big)\Sigma\_i, $$
//!
//! and draws take the place of moments in a Gibbs sampler (spec/mlfs 6).
//!
//! **New samples** are known by their similarities to samples of training alone. Given the rows of
//! those everything is normal, so that their own are integrated out exactly (spec/mlfs 7):
//! [`NewSamples`], which has the paper's two stages as well.

mod gibbs;
mod law;
mod new;
mod new_term;
mod pairs;
mod rows;
mod species;
mod start;
#[cfg(test)]
mod tests;
mod update;

pub use new::NewSamples;
pub use species::SimilaritySpecies;

use polyview_core::{
    Augmented, Block, Context, DataError, Domain, Equations, GammaPrior, Gammas, Intercepts, Law,
    Link, Mask, Noise, NumericError, Of, Predictor, State, StateReader, Stateful, Terms, View,
    ViewShape, ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use crate::gaussian::{Gaussian, GaussianOptions};
use crate::{MissingData, NoiseBy, ParameterUncertainty};
use law::Uncertain;
use new_term::Arrivals;
use pairs::Similarities;
use rows::LatentRows;

/// What the data of a view must be.
pub(crate) const NEEDS: &str = "a symmetric table of the samples, any cell empty";

/// Choices of a [`Similarity`] view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarityOptions {
    /// Number of latent dimensions K.
    pub dimensions: usize,
    /// Prior of the precisions of latent rows and of similarities, per squared unit of these.
    pub prior: GammaPrior,
    /// How factors of new samples are found.
    pub new_samples: NewSamples,
    /// How sure predictions take the precisions to be.
    pub prediction: ParameterUncertainty,
}

impl Default for SimilarityOptions {
    fn default() -> Self {
        Self {
            dimensions: 10,
            prior: GammaPrior::new(1e-6, 1e-6),
            new_samples: NewSamples::default(),
            prediction: ParameterUncertainty::Posterior,
        }
    }
}

/// Data term of a similarity view.
#[derive(Clone, Debug)]
pub struct Similarity {
    name: String,
    options: SimilarityOptions,
    data: Similarities,
    /// Latent rows of the samples of training.
    rows: LatentRows,
    /// Which of them have a similarity.
    active: Vec<bool>,
    /// A Gaussian layer whose data are the means of the rows.
    layer: Gaussian,
    tau: Gammas,
    /// What the pairs are off, squared: [`Similarity::measure`].
    residual: f64,
}

/// The one number of all cells of a view with more than those of a single pair, which tell nothing
/// of others; none where they vary.
fn only_value(view: &View) -> Option<f64> {
    let mut cells = (0..view.n_features())
        .flat_map(|m| (0..view.n_samples()).filter_map(move |n| view.value(n, m)));
    let first = cells.next()?;
    let mut more = 0;
    for x in cells {
        more += 1;
        if x != first {
            return None;
        }
    }
    (more > 1).then_some(first)
}

impl Similarity {
    /// The term of a symmetric view, whose features are its samples, or of one without samples,
    /// which holds parameters.
    ///
    /// # Errors
    /// [`DataError::NotSquare`], [`DataError::Asymmetric`],
    /// [`DataError::TooManyDimensions`], [`DataError::NegativeDefinite`]; [`DataError::PairsAlike`]
    /// where latent rows of any size would explain one number ever better;
    /// [`DataError::NothingObserved`] when every similarity of a view with samples is missing.
    pub fn new(view: &View, options: SimilarityOptions) -> Result<Self, DataError> {
        let (samples, k) = (view.n_samples(), options.dimensions);
        let (data, rows) = if samples == 0 {
            let rows = LatentRows::new(Mat::zeros(k, view.n_features()), 1.0);
            (Similarities::new(view), rows)
        } else {
            let data = Similarities::new(&view.symmetric()?);
            if data.total() == 0 {
                return Err(DataError::NothingObserved {
                    view: view.name().to_owned(),
                });
            }
            if let Some(value) = only_value(view) {
                return Err(DataError::PairsAlike {
                    view: view.name().to_owned(),
                    value,
                });
            }
            let start = start::rows(view.name(), &data, k)?;
            let size: f64 = (0..samples).map(|n| square(start.col_as_slice(n))).sum();
            let variance = 1e-2 * size / (samples * k) as f64;
            (data, LatentRows::new(start, variance))
        };
        let active: Vec<bool> = (0..samples).map(|n| data.count(n) > 0).collect();
        let values = Mat::from_fn(samples, k, |n, l| {
            if active[n] { rows.mean(n)[l] } else { f64::NAN }
        });
        let names = (1..=k).map(|l| l.to_string()).collect();
        let layer = View::from_values(view.name(), names, values)?;
        let spread = about_mean(&rows, &active);
        let layer = Gaussian::new(
            layer,
            GaussianOptions {
                noise: NoiseBy::View,
                prior: options.prior,
                missing: MissingData::Marginal,
                start: if spread > 0.0 { spread.recip() } else { 1.0 },
            },
        );
        let mut out = Self {
            name: view.name().to_owned(),
            options,
            data,
            rows,
            active,
            layer: layer.with_prediction(options.prediction),
            tau: Gammas::new(options.prior, 1, 1.0),
            residual: 0.0,
        };
        if samples > 0 {
            out.rows_changed();
            out.measure();
            out.update_tau();
        }
        Ok(out)
    }
    /// Means of the latent rows, samples × dimensions.
    pub fn latent(&self) -> Mat<f64> {
        Mat::from_fn(self.rows.len(), self.rows.k(), |n, l| self.rows.mean(n)[l])
    }
    /// Precision of the similarities.
    pub fn pair_noise(&self) -> &Gammas {
        &self.tau
    }
    /// Number of observed pairs.
    fn pairs(&self) -> f64 {
        0.5 * self.data.total() as f64
    }
    /// $\langle\gamma\rangle$ and $\langle\tau\rangle$.
    fn precisions(&self) -> (f64, f64) {
        (self.layer.precision_of(0), self.tau.mean()[0])
    }
    /// What latent rows and similarities vary by beside what is known of them:
    /// $\mathrm E[1/\gamma]$ and $\mathrm E[1/\tau]$.
    fn noise(&self) -> (f64, f64) {
        let (gamma, tau) = self.precisions();
        match self.options.prediction {
            ParameterUncertainty::Posterior => {
                (self.layer.noise().mean_inverse(0), self.tau.mean_inverse(0))
            }
            ParameterUncertainty::PlugIn => (1.0 / gamma, 1.0 / tau),
        }
    }
    fn not_finite(&self, what: &'static str) -> NumericError {
        NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what,
        }
    }
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// Mean square of the entries of some rows about the means of their dimensions.
fn about_mean(rows: &LatentRows, active: &[bool]) -> f64 {
    let seen: Vec<usize> = (0..active.len()).filter(|&n| active[n]).collect();
    let count = seen.len().max(1) as f64;
    let k = rows.k();
    let mean = |l: usize| seen.iter().map(|&n| rows.mean(n)[l]).sum::<f64>() / count;
    let of = |l: usize| {
        let mean = mean(l);
        let off = |&n: &usize| (rows.mean(n)[l] - mean).powi(2);
        seen.iter().map(off).sum::<f64>()
    };
    (0..k).map(of).sum::<f64>() / (count * k as f64)
}

impl ViewTerm for Similarity {
    fn shape(&self) -> ViewShape {
        ViewShape {
            samples: self.data.samples(),
            observed_columns: self.rows.len(),
            predictor_columns: self.rows.k(),
            components: None,
        }
    }
    fn mask(&self) -> Option<&Mask> {
        ViewTerm::mask(&self.layer)
    }
    /// The means of the latent dimensions.
    fn intercepts(&self) -> Intercepts {
        let seen: Vec<usize> = (0..self.active.len()).filter(|&n| self.active[n]).collect();
        let count = seen.len().max(1) as f64;
        let mean = |l: usize| seen.iter().map(|&n| self.rows.mean(n)[l]).sum::<f64>() / count;
        Intercepts {
            start: Some((0..self.rows.k()).map(mean).collect()),
            ..Intercepts::default()
        }
    }
    fn domain(&self) -> Domain {
        Domain::Similarities
    }
    /// That of the latent rows about their predictor.
    fn link(&self, _group: Option<usize>, _column: usize, _level: f64) -> Link {
        Link::of(self.noise().0)
    }
    /// Latent rows one after the other, then the precision of the similarities. Before there are
    /// weights the rows stay where they start: they would shrink towards nothing.
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if cx.sweep == 1 && p.has_no_weights() {
            return Ok(());
        }
        self.update_rows(p)?;
        self.update_tau();
        Ok(())
    }
    fn equations(&mut self) -> &mut dyn Equations {
        &mut self.layer
    }
    /// Of similarities, latent rows and their entropy, and of both precisions (spec/mlfs 5); with
    /// draws the log density.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let of_layer = self.layer.bound(p);
        let l2p = (2.0 * std::f64::consts::PI).ln();
        let mut likelihood = 0.5 * self.pairs() * (self.tau.mean_ln()[0] - l2p)
            - 0.5 * self.tau.mean()[0] * self.residual;
        if !self.rows.is_drawn() {
            let of = |n: usize| self.rows.log_det(n) + self.rows.k() as f64 * (1.0 + l2p);
            let seen = (0..self.active.len()).filter(|&n| self.active[n]);
            likelihood += 0.5 * polyview_core::compensated(seen.map(of));
        }
        let mut noise = self.tau.bound();
        for term in of_layer.0 {
            match term.of {
                Of::Samples => likelihood += term.value,
                Of::Parameters => noise += term.value,
            }
        }
        Terms::of_samples("likelihood", likelihood).with("noise", Of::Parameters, noise)
    }
    /// Of samples that are seen through their factors alone; with their own similarities see
    /// [`ViewTerm::laws_need_data`].
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let (own, between) = self.noise();
        let rows = Uncertain::of_predictor(p, block.samples.clone(), own);
        Box::new(law::of_rows(&rows, &self.rows, between, &block.columns))
    }
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        self.simulated(p, parameters, data)
    }
    /// New samples, known by their similarities to the samples of training: also those of
    /// training themselves, each as if it were new.
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        crate::cells::check_features(view, self.rows.len())?;
        Ok(Box::new(Arrivals::new(view, self)))
    }
    /// Similarities of one sample hang together by its latent row.
    fn laws_need_data(&self) -> bool {
        true
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    /// The precision of the latent rows.
    fn as_noise(&self) -> Option<&dyn Noise> {
        Some(&self.layer)
    }
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        Some(&mut self.layer)
    }
}

impl Stateful for Similarity {
    fn save(&self, prefix: &str, state: &mut State) {
        self.layer.save(prefix, state);
        self.tau.save(&format!("{prefix}/pair-noise"), state);
        self.rows.save(prefix, state);
    }
    /// The rows are parameters: new samples are compared with them.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.layer.load(prefix, state)?;
        let at = format!("{prefix}/pair-noise");
        self.tau.load(&at, state)?;
        if self.tau.len() != 1 {
            return Err(NumericError::BadState { name: at });
        }
        self.rows = LatentRows::load((self.rows.len(), self.rows.k()), prefix, state)?;
        if self.data.samples() > 0 {
            self.rows_changed();
            self.measure();
        }
        Ok(())
    }
}
