//! MLFS's own form of ordered levels (spec/mlfs 3, 4.6).

use std::ops::Range;

use polyview_core::{
    Block, Context, DataError, Domain, Equations, Event, GammaPrior, Intercepts, Law, Link, Mask,
    Noise, NumericError, Of, Predictor, State, StateReader, Stateful, Terms, View, ViewShape,
    ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};
use rayon::prelude::*;

use super::fixed_ends::{FixedEnds, LevelSums};
use super::law::Levels;
use super::ordinal::NEEDS;
use crate::gaussian::{Gaussian, GaussianOptions};
use crate::{MissingData, NoiseBy, ParameterUncertainty};

/// Ordered levels between cut points whose outer two are fixed and finite, as MLFS has them: a
/// normal variable of precision γ about the predictor lies in the cell of the level, and its
/// posterior is taken to be **uniform** there. To the rest of the model a datum is then the
/// midpoint of its cell, a number with noise of precision γ, which has the width of the cell for
/// an uncertainty of its own:
///
/// $$ \ln\Delta + \tfrac12\langle\ln\gamma\rangle - \tfrac12\ln2\pi -
/// \tfrac12\langle\gamma\rangle\big(\langle(t - \eta)^2\rangle + \tfrac1{12}\Delta^2\big) $$
///
/// with the width Δ and the midpoint t of the cell: a lower bound of the log probability, tight
/// where $\sqrt\gamma\Delta$ is small. γ is learnt, and so are the inner cut points.
/// [`Ordinal`](crate::Ordinal) is the form to use: this one is there to compare with the paper.
#[derive(Clone, Debug)]
pub struct MidpointOrdinal {
    name: String,
    features: Vec<String>,
    /// Levels from 1, 0 where missing.
    levels: Mat<f64>,
    mask: Mask,
    cuts: FixedEnds,
    /// The midpoints as data of a Gaussian view.
    layer: Gaussian,
    /// Number of cells of each level.
    counts: Vec<f64>,
    prediction: ParameterUncertainty,
}

/// Columns whose predictors are made together.
const COLUMNS: usize = 64;

impl MidpointOrdinal {
    /// The term of a view of so many levels, 0 where a file will say how many they are; the prior
    /// is that of γ, and predictions take parameters to be as sure as that.
    ///
    /// # Errors
    /// [`DataError::OutOfDomain`] for what is no level, [`DataError::NothingObserved`] when every
    /// cell of a view with samples is missing.
    pub fn new(
        view: &View,
        levels: usize,
        prior: GammaPrior,
        prediction: ParameterUncertainty,
    ) -> Result<Self, DataError> {
        if view.n_samples() > 0 && view.n_observed() == 0 {
            return Err(DataError::NothingObserved {
                view: view.name().to_owned(),
            });
        }
        let layer = GaussianOptions {
            noise: NoiseBy::View,
            prior,
            missing: MissingData::Marginal,
            start: 1.0,
        };
        Self::bind(view, FixedEnds::new(levels), layer, prediction)
    }
    fn bind(
        view: &View,
        cuts: FixedEnds,
        layer: GaussianOptions,
        prediction: ParameterUncertainty,
    ) -> Result<Self, DataError> {
        let most = cuts.levels() as f64;
        crate::cells::check_domain(view, NEEDS, |_, _, x| {
            x.fract() == 0.0 && x >= 1.0 && x <= most
        })?;
        let view = view.with_values(view.values().to_owned())?;
        let layer = Gaussian::new(view.clone(), layer).with_prediction(prediction);
        let (name, features, levels, mask) = view.into_parts();
        let mut out = Self {
            name,
            features,
            levels: levels.as_ref().clone(),
            mask,
            counts: vec![0.0; cuts.levels()],
            cuts,
            layer,
            prediction,
        };
        for d in 0..out.levels.ncols() {
            for n in 0..out.levels.nrows() {
                if let Some(level) = out.level(n, d) {
                    out.counts[level - 1] += 1.0;
                }
            }
        }
        out.place();
        Ok(out)
    }
    /// The cut points between the fixed ends.
    pub fn cut_points(&self) -> &[f64] {
        self.cuts.inner()
    }
    /// $\langle\gamma\rangle$.
    pub fn precision(&self) -> f64 {
        self.layer.precision_of(0)
    }
    fn level(&self, sample: usize, column: usize) -> Option<usize> {
        let seen = self.mask.is_observed(sample, column);
        seen.then(|| self.levels[(sample, column)] as usize)
    }
    /// Hands the layer the midpoints of all cells, and what their widths add to its noise.
    fn place(&mut self) {
        let (rows, columns) = self.levels.shape();
        let mut variances = vec![0.0; columns];
        let middles = Mat::from_fn(rows, columns, |n, d| {
            self.level(n, d)
                .map_or(0.0, |level| self.cuts.middle(level))
        });
        for (d, variance) in variances.iter_mut().enumerate() {
            let of = |n| self.level(n, d);
            let widths = (0..rows).filter_map(of).map(|l| self.cuts.width(l));
            *variance = widths.map(|w| w * w / 12.0).sum();
        }
        self.layer.write_scores(|values| values.copy_from(&middles));
        self.layer.scores_changed(variances);
    }
    /// What the cells say of cut points.
    fn sums(&self, p: &Predictor<'_>) -> LevelSums {
        let (rows, columns) = self.levels.shape();
        let starts: Vec<usize> = (0..columns).step_by(COLUMNS).collect();
        let parts: Vec<LevelSums> = starts
            .into_par_iter()
            .map(|start| {
                let block = start..(start + COLUMNS).min(columns);
                let eta = p.mean(0..rows, block.clone());
                let mut out = LevelSums::zero(self.cuts.levels());
                for (j, d) in block.enumerate() {
                    for n in 0..rows {
                        if let Some(level) = self.level(n, d) {
                            out.predictors[level - 1] += eta[(n, j)];
                        }
                    }
                }
                out
            })
            .collect();
        let mut all = LevelSums {
            counts: self.counts.clone(),
            predictors: vec![0.0; self.cuts.levels()],
        };
        for part in parts {
            for (a, b) in all.predictors.iter_mut().zip(part.predictors) {
                *a += b;
            }
        }
        all
    }
    fn levels_of(&self, p: &Predictor<'_>, samples: Range<usize>, columns: Range<usize>) -> Levels {
        let mean = p.mean(samples.clone(), columns.clone());
        let variance = p.variance(samples, columns.clone());
        let points = vec![self.cuts.inner().to_vec(); columns.len()];
        let law = (self.cuts.outer(), self.noise_variance());
        Levels::between(points, law, mean, &variance, self.prediction)
    }
    fn noise_variance(&self) -> f64 {
        match self.prediction {
            ParameterUncertainty::Posterior => self.layer.noise().mean_inverse(0),
            ParameterUncertainty::PlugIn => 1.0 / self.precision(),
        }
    }
}

impl ViewTerm for MidpointOrdinal {
    fn shape(&self) -> ViewShape {
        self.layer.shape()
    }
    fn mask(&self) -> Option<&Mask> {
        ViewTerm::mask(&self.layer)
    }
    /// The means of the midpoints.
    fn intercepts(&self) -> Intercepts {
        let (rows, columns) = self.levels.shape();
        let mean = |d: usize| {
            let middles = (0..rows).filter_map(|n| Some(self.cuts.middle(self.level(n, d)?)));
            let (sum, count) = middles.fold((0.0, 0.0), |(s, c), t| (s + t, c + 1.0));
            if count > 0.0 { sum / count } else { 0.0 }
        };
        Intercepts {
            start: Some((0..columns).map(mean).collect()),
            ..Intercepts::default()
        }
    }
    fn domain(&self) -> Domain {
        Domain::LEVELS
    }
    fn link(&self, _group: Option<usize>, _column: usize, _level: f64) -> Link {
        Link::of(self.noise_variance())
    }
    /// The cut points (spec/mlfs 4.6).
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        if cx.sweep == 1 {
            for d in 0..self.levels.ncols() {
                let mut seen = (0..self.levels.nrows()).filter_map(|n| self.level(n, d));
                let first = seen.next();
                if first.is_some() && seen.all(|level| Some(level) == first) {
                    let note = format!(
                        "feature '{}' has one and the same level everywhere: it says little",
                        self.features[d]
                    );
                    let block = format!("likelihood/{}", self.name);
                    cx.journal.note(cx.sweep, block, Event::Data { note });
                }
            }
        }
        let sums = self.sums(p);
        let gamma = self.precision();
        self.cuts.ascend(&sums, gamma);
        self.place();
        if self.cuts.inner().iter().all(|g| g.is_finite()) {
            return Ok(());
        }
        Err(NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what: "a cut point",
        })
    }
    fn equations(&mut self) -> &mut dyn Equations {
        &mut self.layer
    }
    /// The layer's, with the logarithms of the widths.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let mut terms = self.layer.bound(p);
        let of = |l: usize| self.counts[l - 1] * self.cuts.width(l).ln();
        let widths: f64 = (1..=self.cuts.levels())
            .filter(|l| self.counts[l - 1] > 0.0)
            .map(of)
            .sum();
        for term in &mut terms.0 {
            if term.of == Of::Samples {
                term.value += widths;
            }
        }
        let prior = self.cuts.log_prior(&self.counts);
        terms.with("cut-points", Of::Parameters, prior)
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        Box::new(self.levels_of(p, block.samples.clone(), block.columns.clone()))
    }
    /// One stream of random numbers a column.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let (rows, columns) = (p.factors.explicit_rows(), self.levels.ncols());
        let mut out = Mat::zeros(rows, columns);
        for d in 0..columns {
            let law = self.levels_of(p, 0..rows, d..d + 1);
            let mut rng = data.chunk(d as u32).rng();
            for n in 0..rows {
                // the quantile of a uniform number
                out[(n, d)] = law.level_at(n, 0, uniform_open01(&mut rng));
            }
        }
        out
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        crate::cells::check_features(view, self.levels.ncols())?;
        let options = GaussianOptions {
            noise: NoiseBy::View,
            prior: self.layer.noise().prior(),
            missing: MissingData::Marginal,
            start: 1.0,
        };
        let mut term = Self::bind(view, self.cuts.clone(), options, self.prediction)?;
        term.layer.set_noise(self.layer.noise().clone());
        Ok(Box::new(term))
    }
    /// Those between the ends, which are −L/2 and L/2.
    fn cut_points(&self, _group: Option<usize>, _column: usize) -> Option<Vec<f64>> {
        Some(self.cuts.inner().to_vec())
    }
    /// γ.
    fn as_noise(&self) -> Option<&dyn Noise> {
        Some(&self.layer)
    }
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        Some(&mut self.layer)
    }
}

impl Stateful for MidpointOrdinal {
    fn save(&self, prefix: &str, state: &mut State) {
        self.layer.save(prefix, state);
        state.put_vec(&format!("{prefix}/cut-points"), self.cuts.inner());
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.layer.load(prefix, state)?;
        let name = format!("{prefix}/cut-points");
        let inner = state.vec(&name)?;
        if !self.cuts.set_inner(&inner) {
            return Err(NumericError::BadState { name });
        }
        self.counts.resize(self.cuts.levels(), 0.0);
        self.place();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use polyview_core::{Bias, RowMoments};
    use polyview_special::ln_interval_probability;

    use super::*;

    /// spec/mlfs 3, V1: exact log probabilities of cells, and their bounds.
    #[test]
    fn vectors_of_cells() {
        let cells = [
            (-0.5, 0.5, 0.0, -0.9599, -0.9606),
            (-1.0, 0.0, 2.0, -3.844, -4.086),
            (-3.0, 3.0, 3.0, -0.693, -5.127),
        ];
        for (low, high, mu, exact, bound) in cells {
            assert!((ln_interval_probability(low - mu, high - mu) - exact).abs() < 5e-4);
            let (t, width): (f64, f64) = (0.5 * (low + high), high - low);
            let l2p = (2.0 * std::f64::consts::PI).ln();
            let own = width.ln() - 0.5 * l2p - 0.5 * ((t - mu).powi(2) + width * width / 12.0);
            assert!((own - bound).abs() < 5e-4, "{own}");
        }
        // the cell from -1 to 1 at .2, precision 2: what is right, and what is printed (E4)
        let at = |root: f64| ln_interval_probability(-1.2 * root, 0.8 * root);
        assert!((at(2f64.sqrt()) + 0.191).abs() < 5e-4);
        assert!((at(0.5f64.sqrt()) + 0.661).abs() < 1e-3);
    }

    /// The term's bound of one cell at a known predictor is the formula of spec/mlfs 3.
    #[test]
    fn the_bound_of_a_cell_is_that_of_the_uniform_law() {
        let value = Mat::full(1, 1, 2.0);
        let view = View::from_values("v", vec!["q".into()], value).expect("a view");
        let prior = GammaPrior::new(3.0, 2.0);
        let posterior = ParameterUncertainty::Posterior;
        let mut term = MidpointOrdinal::new(&view, 4, prior, posterior).expect("a term");
        let mut noise = term.layer.noise().clone();
        noise.set_value(0, 1.3);
        term.layer.set_noise(noise);
        let factors = RowMoments::point(Mat::full(1, 1, 0.7));
        let weights = RowMoments::point(Mat::full(1, 1, 1.5));
        let bias = Bias::absent(1);
        let p = Predictor {
            factors: &factors,
            weights: &weights,
            bias: &bias,
        };
        let found = term.bound(&p).0;
        let found = found.iter().find(|t| t.name == "likelihood").expect("it");
        // the cell from -1 to 0
        let (g, below, mu, gamma) = (0.0_f64, -1.0, 1.05, 1.3_f64);
        let s = (g * g + g * below + below * below) / 3.0;
        let expected = (g - below).ln() + 0.5 * gamma.ln()
            - 0.5 * (2.0 * std::f64::consts::PI).ln()
            - 0.5 * gamma * (mu * mu - mu * (g + below) + s);
        assert!((found.value - expected).abs() < 1e-12);
        let root = gamma.sqrt();
        assert!(found.value < ln_interval_probability(root * (below - mu), root * (g - mu)));
    }
}
