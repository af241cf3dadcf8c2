//! The Gaussian data term as the engines see it.

use std::ops::Range;

use polyview_core::{
    Augmented, Block, Context, DataError, Domain, Equations, Gammas, Law, Link, Mask, Noise,
    NoiseScope, NormalEquations, NumericError, Of, Predictor, Stamp, State, StateReader, Stateful,
    Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::{Cache, Gaussian, GaussianOptions, MissingData, NoiseBy};
use crate::ParameterUncertainty;
use crate::laws::Matched;

impl ViewTerm for Gaussian {
    fn shape(&self) -> ViewShape {
        ViewShape::plain(self.values.nrows(), self.values.ncols())
    }
    fn mask(&self) -> Option<&Mask> {
        (self.missing == MissingData::Marginal).then_some(&self.mask)
    }
    fn domain(&self) -> Domain {
        Domain::Reals
    }
    /// That of the noise (spec/sshiba P4).
    fn link(&self, _group: Option<usize>, column: usize, _level: f64) -> Link {
        Link::of(self.noise_variance(column))
    }
    fn refresh(&mut self, p: &Predictor<'_>, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.impute_means(p);
        Ok(())
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let energy = if self.by_cells() {
            self.cells_energy(p)
        } else {
            self.dense_energy(p)
        };
        let l2p = (2.0 * std::f64::consts::PI).ln();
        let constants: f64 = (0..self.counts.len())
            .map(|d| 0.5 * self.counts[d] * (self.tau_ln(d) - l2p))
            .sum();
        let implicit = 0.5 * self.samples * self.implicit_columns as f64 * (self.tau_ln(0) - l2p);
        let likelihood = constants + implicit - 0.5 * energy + self.imputed_entropy();
        Terms::of_samples("likelihood", likelihood).with(
            "noise",
            Of::Parameters,
            self.noise.bound(),
        )
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let (mean, variance) = self.moments(p, block);
        Box::new(Matched::new(self.domain(), mean, variance))
    }
    /// One stream of random numbers a noise precision, one a column.
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        let mut noise = self.noise.clone();
        if !noise.is_draw() {
            for i in 0..noise.len() {
                let (shape, rate) = (noise.shape()[i], noise.rate()[i]);
                noise.draw(i, shape, rate, parameters.chunk(i as u32));
            }
        }
        let (rows, columns) = (p.factors.explicit_rows(), self.values.ncols());
        let mut out = Mat::zeros(rows, columns);
        for d in 0..columns {
            let at = if self.scope == NoiseBy::View { 0 } else { d };
            let sd = noise.mean()[at].sqrt().recip();
            let mut rng = data.chunk(d as u32).rng();
            for (n, x) in out.col_as_slice_mut(d).iter_mut().enumerate() {
                let noise = sd * standard_normal(&mut rng);
                *x = p.mean_cell(n, d) + noise;
            }
        }
        out
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        if view.n_features() != self.values.ncols() + self.implicit_columns {
            return Err(DataError::LengthMismatch {
                view: view.name().to_owned(),
                what: "features",
                expected: self.values.ncols() + self.implicit_columns,
                found: view.n_features(),
            });
        }
        let mut term = Self::new(
            view.clone(),
            GaussianOptions {
                noise: self.scope,
                prior: self.noise.prior(),
                ..GaussianOptions::default()
            },
        );
        term.set_noise(self.noise.clone());
        Ok(Box::new(term.with_prediction(self.prediction)))
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_noise(&self) -> Option<&dyn Noise> {
        Some(self)
    }
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        Some(self)
    }
}

impl Gaussian {
    /// Predictive means and variances of a block (spec/sshiba P4).
    pub(crate) fn moments(&self, p: &Predictor<'_>, block: &Block<'_>) -> (Mat<f64>, Mat<f64>) {
        let (samples, columns) = (block.samples.clone(), block.columns.clone());
        let mean = p.mean(samples.clone(), columns.clone());
        let mut variance = p.variance(samples, columns.clone());
        for (j, d) in columns.enumerate() {
            let noise = match self.prediction {
                ParameterUncertainty::Posterior => self.noise_variance(d),
                ParameterUncertainty::PlugIn => 1.0 / self.tau(d),
            };
            for n in 0..variance.nrows() {
                variance[(n, j)] += noise;
            }
        }
        (mean, variance)
    }
    /// $\mathrm{E}[1/\tau]$ of a column.
    fn noise_variance(&self, column: usize) -> f64 {
        let at = if self.scope == NoiseBy::View {
            0
        } else {
            column
        };
        self.noise.mean_inverse(at)
    }
}

impl Noise for Gaussian {
    fn scope(&self) -> NoiseScope {
        match self.scope {
            NoiseBy::View => NoiseScope::View,
            NoiseBy::Feature => NoiseScope::Column,
        }
    }
    fn precisions(&self) -> Option<&Gammas> {
        Some(&self.noise)
    }
    fn share(&mut self, noise: &Gammas) {
        self.set_noise(noise.clone());
    }
    fn sums(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        self.residual_sums(columns, p)
    }
    fn update(&mut self, columns: Range<usize>, p: &Predictor<'_>) -> Result<(), NumericError> {
        let posterior = self.noise_posterior(columns.clone(), p)?;
        let first = if self.scope == NoiseBy::View {
            0
        } else {
            columns.start
        };
        for (i, (a, b)) in posterior.into_iter().enumerate() {
            self.noise.set(first + i, a, b);
        }
        self.noise_stamp = Stamp::fresh();
        Ok(())
    }
}

impl Equations for Gaussian {
    fn weight_gram(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        if self.by_cells() {
            eq.own = true;
        } else {
            let (mut gram, _) = self.factor_sums(p);
            match self.scope {
                NoiseBy::View => gram.scale(self.noise.mean()[0]),
                NoiseBy::Feature => eq.scale = Some(self.noise.mean().to_vec()),
            }
            eq.gram = gram;
        }
        self.cache.partial = None;
        self.cache.filled = None;
        Ok(())
    }
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let columns = eq.rows();
        if !self.has_zx(p) {
            self.fill_zx(&columns, p);
            let start = self
                .cache
                .filled
                .as_ref()
                .map_or(columns.start, |f| f.start);
            self.cache.filled = Some(start..columns.end);
        }
        if self.by_cells() {
            self.cells_weights(p, eq);
        } else {
            self.dense_weights(p, eq);
        }
        Ok(())
    }
    fn bias_equations(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        if self.by_cells() {
            self.ensure_observed(&columns, p);
        }
        let w = p.weights.mean();
        let fit: Vec<f64> = if self.by_cells() {
            self.observed_fit(columns.clone(), p)
        } else {
            let shared = self.factor_sums(p).1;
            let mut fit = vec![0.0; columns.len()];
            for (k, z) in shared.iter().enumerate() {
                let w = w.col(k).subrows(columns.start, columns.len());
                for (fit, w) in fit.iter_mut().zip(w.iter()) {
                    *fit += z * w;
                }
            }
            fit
        };
        for ((i, d), fit) in columns.enumerate().zip(fit) {
            precision[i] = self.tau(d) * self.counts[d];
            rhs[i] = self.tau(d) * (self.sums[d] - fit);
        }
        self.noise.mean()[0] * self.samples
    }
    fn absorb(&mut self, columns: Range<usize>, p: &Predictor<'_>) {
        let (rows, k) = (self.values.nrows(), p.weights.k());
        let mut partial = match self.cache.partial.take() {
            Some(m) if columns.start > 0 => m,
            _ => match self.cache.xw.take() {
                // the old product's buffer serves again
                Some((_, mut m)) if m.ncols() == k => {
                    m.fill(0.0);
                    m
                }
                _ => Mat::zeros(rows, k),
            },
        };
        self.gather_cells();
        self.add_xw(&columns, p, &mut partial);
        self.cache.partial = Some(partial);
        if self.by_cells() && self.scope == NoiseBy::View {
            self.cells_keep_residuals(&columns, p);
        }
    }
    fn seal(&mut self, p: &Predictor<'_>) {
        if let Some(m) = self.cache.partial.take() {
            self.cache.xw = Some((self.xw_key(p), m));
        }
        if self.cache.filled.take().is_some() {
            self.mark_zx(p);
        }
        if self.by_cells() {
            self.cells_seal_columns();
        }
    }
    fn factor_gram(
        &mut self,
        view: usize,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        if self.by_cells() {
            self.cells_factor_gram(p);
        } else {
            self.dense_factor_gram(view, p, eq);
        }
        Ok(())
    }
    fn prepare_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        if self.by_cells() {
            self.cells_prepare(samples, p);
        }
    }
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        if self.by_cells() {
            self.cells_factors(p, eq);
        } else {
            self.dense_factors(p, eq);
        }
        Ok(())
    }
    fn absorb_samples(&mut self, samples: Range<usize>, p: &Predictor<'_>) {
        if self.by_cells() {
            self.cells_absorb(samples, p);
        }
    }
    fn seal_samples(&mut self, p: &Predictor<'_>) {
        if self.by_cells() {
            self.cells_seal(p);
        }
    }
}

impl Stateful for Gaussian {
    fn save(&self, prefix: &str, state: &mut State) {
        self.noise.save(&format!("{prefix}/noise"), state);
        self.imputed.save(prefix, &self.values, &self.mask, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let n = self.noise.len();
        self.noise.load(&format!("{prefix}/noise"), state)?;
        if self.noise.len() != n {
            return Err(NumericError::BadState {
                name: format!("{prefix}/noise"),
            });
        }
        if self.imputes() {
            let values = self.values.cells_mut(&self.mask);
            self.imputed.load(prefix, values, &self.mask, state)?;
            self.sum_columns(0..self.values.ncols());
        }
        self.noise_stamp = Stamp::fresh();
        self.data_stamp = Stamp::fresh();
        self.cache = Cache::default();
        Ok(())
    }
}
