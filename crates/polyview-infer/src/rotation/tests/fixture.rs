//! A small Bayesian multi-view factor model with plain mean-field updates, slow and obvious: what the rotation is for.

use super::species::{ArdRotation, NormalFactorsRotation};
use crate::rotation::test_noise::Noise;
use crate::rotation::{Rotation, RotationTerm};
use polyview_linalg::{Mat, inverse, log_abs_det};

struct View {
    data: Mat<f64>,
    weights: Mat<f64>,
    weight_cov: Mat<f64>,
    ard_rate: Vec<f64>,
    noise_rate: f64,
}

/// $X\_m = Z W\_m' + $ noise, standard normal $Z$, ARD on the columns of $W\_m$, gamma noise precisions.
pub struct Model {
    factors: Mat<f64>,
    factor_cov: Mat<f64>,
    views: Vec<View>,
}

const PRIOR: f64 = 1e-3;

impl Model {
    /// `true_factors` factors, each active in some views, fitted with `factors`, from a random start.
    pub fn new(samples: usize, features: &[usize], true_factors: usize, factors: usize) -> Self {
        let mut noise = Noise::new(1 + samples as u64);
        let scores = noise.matrix(samples, true_factors);
        let views = features
            .iter()
            .enumerate()
            .map(|(m, &columns)| {
                let mut loadings = noise.matrix(columns, true_factors);
                for r in 0..true_factors {
                    // the binary digits of r + 1 say where factor r lives
                    if (r + 1) >> m & 1 == 0 {
                        loadings.col_mut(r).fill(0.0);
                    }
                }
                let data = &scores * loadings.transpose() + noise.matrix(samples, columns);
                View {
                    data,
                    weights: Mat::zeros(columns, factors),
                    weight_cov: Mat::identity(factors, factors),
                    ard_rate: vec![PRIOR + 0.5 * columns as f64; factors],
                    noise_rate: PRIOR + 0.5 * (samples * columns) as f64,
                }
            })
            .collect();
        Self {
            factors: noise.matrix(samples, factors),
            factor_cov: Mat::from_fn(factors, factors, |r, s| if r == s { 0.01 } else { 0.0 }),
            views,
        }
    }

    pub fn k(&self) -> usize {
        self.factors.ncols()
    }

    fn factor_moment(&self) -> Mat<f64> {
        let n = self.factors.nrows() as f64;
        self.factors.transpose() * &self.factors
            + polyview_linalg::faer::Scale(n) * &self.factor_cov
    }

    /// Weights, then ARD, then noise, then factors.
    pub fn sweep(&mut self) {
        let (n, k) = self.factors.shape();
        let moment = self.factor_moment();
        for view in &mut self.views {
            let tau = view.noise_shape(n) / view.noise_rate;
            let shape = view.ard_shape();
            let precision = Mat::from_fn(k, k, |r, s| {
                tau * moment[(r, s)]
                    + if r == s {
                        shape / view.ard_rate[r]
                    } else {
                        0.0
                    }
            });
            view.weight_cov = inverse(precision.as_ref()).unwrap();
            view.weights = view.data.transpose() * &self.factors * &view.weight_cov;
            view.weights *= polyview_linalg::faer::Scale(tau);
            view.update_ard();
            view.noise_rate = PRIOR + 0.5 * view.squared_error(&self.factors, &moment);
        }
        let mut precision = Mat::<f64>::identity(k, k);
        let mut right = Mat::<f64>::zeros(n, k);
        for view in &self.views {
            let tau = polyview_linalg::faer::Scale(view.noise_shape(n) / view.noise_rate);
            precision += tau * view.moment();
            right += tau * (&view.data * &view.weights);
        }
        self.factor_cov = inverse(precision.as_ref()).unwrap();
        self.factors = right * &self.factor_cov;
    }

    pub fn terms(&self) -> Vec<Box<dyn RotationTerm>> {
        let mut terms: Vec<Box<dyn RotationTerm>> = vec![Box::new(NormalFactorsRotation {
            samples: self.factors.nrows() as f64,
            second_moment: self.factor_moment(),
        })];
        for view in &self.views {
            terms.push(Box::new(ArdRotation {
                shape: PRIOR,
                rate: PRIOR,
                rows: view.data.ncols() as f64,
                second_moment: view.moment(),
            }));
        }
        terms
    }

    pub fn rotate(&mut self, by: &Rotation) {
        self.factors = &self.factors * &by.q_inverse;
        self.factor_cov = by.q_inverse.transpose() * &self.factor_cov * &by.q_inverse;
        for view in &mut self.views {
            view.weights = &view.weights * by.q.transpose();
            view.weight_cov = &by.q * &view.weight_cov * by.q.transpose();
            view.update_ard();
        }
    }

    /// The evidence lower bound but for constants, written out term by term from the current posteriors.
    pub fn bound(&self) -> f64 {
        let (n, k) = self.factors.shape();
        let moment = self.factor_moment();
        let trace: f64 = (0..k).map(|r| moment[(r, r)]).sum();
        let mut total =
            0.5 * n as f64 * log_abs_det(self.factor_cov.as_ref()).unwrap() - 0.5 * trace;
        for view in &self.views {
            let columns = view.data.ncols() as f64;
            total += 0.5 * columns * log_abs_det(view.weight_cov.as_ref()).unwrap();
            let weight_moment = view.moment();
            let shape = view.ard_shape();
            for (r, rate) in view.ard_rate.iter().enumerate() {
                // E log p(w | alpha) + E log p(alpha) + H(alpha), digammas cancelling
                let (mean, log) = (shape / rate, -rate.ln());
                total += 0.5 * columns * log - 0.5 * mean * weight_moment[(r, r)];
                total += (PRIOR - 1.0) * log - PRIOR * mean;
                total += -rate.ln() + (1.0 - shape) * 0.0;
            }
            let shape = view.noise_shape(n);
            let (mean, log) = (shape / view.noise_rate, -view.noise_rate.ln());
            total += 0.5 * n as f64 * columns * log;
            total -= 0.5 * mean * view.squared_error(&self.factors, &moment);
            total += (PRIOR - 1.0) * log - PRIOR * mean - view.noise_rate.ln();
        }
        total
    }
}

impl View {
    fn ard_shape(&self) -> f64 {
        PRIOR + 0.5 * self.data.ncols() as f64
    }

    fn noise_shape(&self, samples: usize) -> f64 {
        PRIOR + 0.5 * (samples * self.data.ncols()) as f64
    }

    fn moment(&self) -> Mat<f64> {
        let columns = polyview_linalg::faer::Scale(self.data.ncols() as f64);
        self.weights.transpose() * &self.weights + columns * &self.weight_cov
    }

    fn update_ard(&mut self) {
        let moment = self.moment();
        for (r, rate) in self.ard_rate.iter_mut().enumerate() {
            *rate = PRIOR + 0.5 * moment[(r, r)];
        }
    }

    fn squared_error(&self, factors: &Mat<f64>, factor_moment: &Mat<f64>) -> f64 {
        let fitted = factors * self.weights.transpose();
        let moment = self.moment();
        let mut sum = 0.0;
        for j in 0..self.data.ncols() {
            for i in 0..self.data.nrows() {
                let x = self.data[(i, j)];
                sum += x * x - 2.0 * x * fitted[(i, j)];
            }
        }
        for s in 0..moment.ncols() {
            for r in 0..moment.nrows() {
                sum += moment[(r, s)] * factor_moment[(r, s)];
            }
        }
        sum
    }
}
