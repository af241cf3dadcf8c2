//! Updates of latent rows and of the precision of similarities (spec/mlfs 4.3, 4.4).

use polyview_core::{NumericError, Predictor, compensated};
use polyview_linalg::{LinalgError, Mat, SpdFactor, SymPacked, packed_dot, packed_len};
use rayon::prelude::*;

use super::Similarity;
use super::rows::add_outer;

/// What is said of a latent row: its precision, factored, and its mean.
pub(super) struct Conditional {
    pub(super) factor: SpdFactor,
    pub(super) mean: Mat<f64>,
}

/// Precision $\gamma I + \tau S$ and right-hand side $h$ make a row.
pub(super) fn solve(precision: &SymPacked, rhs: &[f64]) -> Result<Conditional, LinalgError> {
    let (factor, _) = SpdFactor::factor(precision)?;
    let h = Mat::from_fn(1, rhs.len(), |_, l| rhs[l]);
    let mean = factor.solve_mat_right(h.as_ref());
    Ok(Conditional { factor, mean })
}

impl Similarity {
    /// Replaces the rows that have a similarity, one after the other, each given the present
    /// ones of the others: `take` has the last word.
    pub(super) fn replace_rows(
        &mut self,
        p: &Predictor<'_>,
        mut take: impl FnMut(&mut Self, usize, &Conditional),
    ) -> Result<(), NumericError> {
        let (samples, k) = (self.data.samples(), self.rows.k());
        let eta = p.mean(0..samples, 0..k);
        let (gamma, tau) = self.precisions();
        for i in 0..samples {
            if !self.active[i] {
                continue;
            }
            let mut second = vec![0.0; packed_len(k)];
            let mut rhs: Vec<f64> = (0..k).map(|l| gamma * eta[(i, l)]).collect();
            for (j, x) in self.data.of(i) {
                self.rows.add_second(j, &mut second);
                for (h, u) in rhs.iter_mut().zip(self.rows.mean(j)) {
                    *h += tau * x * u;
                }
            }
            let mut precision = SymPacked::zeros(k);
            for (to, s) in precision.as_mut_slice().iter_mut().zip(&second) {
                *to = tau * s;
            }
            precision.add_diag(&vec![gamma; k]);
            let found = solve(&precision, &rhs).map_err(|source| NumericError::Linalg {
                block: format!("likelihood/{}", self.name),
                source,
            })?;
            if (0..k).any(|l| !found.mean[(0, l)].is_finite()) {
                return Err(self.not_finite("a latent row"));
            }
            take(self, i, &found);
        }
        self.rows_changed();
        self.measure();
        Ok(())
    }
    /// The optimum of each row given the others.
    pub(super) fn update_rows(&mut self, p: &Predictor<'_>) -> Result<(), NumericError> {
        self.replace_rows(p, |term, i, found| {
            let mean: Vec<f64> = (0..found.mean.ncols())
                .map(|l| found.mean[(0, l)])
                .collect();
            let cov = found.factor.inverse();
            term.rows.set(i, &mean, &cov, -found.factor.log_det());
        })
    }
    /// Hands the layer the means of the rows and their variances.
    pub(super) fn rows_changed(&mut self) {
        let (samples, k) = (self.data.samples(), self.rows.k());
        let (rows, active) = (&self.rows, &self.active);
        self.layer.write_scores(|values| {
            for l in 0..k {
                let to = values.col_as_slice_mut(l);
                for n in (0..samples).filter(|&n| active[n]) {
                    to[n] = rows.mean(n)[l];
                }
            }
        });
        let variance = |l: usize| {
            let at = polyview_linalg::packed_index(l, l);
            let seen = (0..samples).filter(|&n| active[n]);
            compensated(seen.map(|n| rows.cov(n)[at]))
        };
        let variances = (0..k).map(variance).collect();
        self.layer.scores_changed(variances);
    }
    /// $\sum\_{i<j}\langle(x\_{ij} - u\_iu\_j^\top)^2\rangle$ over the observed pairs: squares of
    /// what the means leave, and the variance of the products, all of them positive.
    pub(super) fn measure(&mut self) {
        let (samples, k) = (self.data.samples(), self.rows.k());
        let rows = &self.rows;
        let data = &self.data;
        let parts: Vec<f64> = (0..samples)
            .into_par_iter()
            .map(|i| {
                let own = rows.mean(i);
                let (mut off, mut outer) = (0.0, vec![0.0; packed_len(k)]);
                let mut cov = vec![0.0; packed_len(k)];
                for (j, x) in data.of(i).take_while(|(j, _)| *j < i) {
                    let mean = rows.mean(j);
                    let dot: f64 = own.iter().zip(mean).map(|(a, b)| a * b).sum();
                    off += (x - dot) * (x - dot);
                    if !rows.is_drawn() {
                        add_outer(mean, &mut outer);
                        for (c, s) in cov.iter_mut().zip(rows.cov(j)) {
                            *c += s;
                        }
                    }
                }
                if rows.is_drawn() {
                    return off;
                }
                // u_i' S u_i + tr(S_i (S + sum u_j u_j')), S the sum of covariances
                off += polyview_linalg::packed_quad(&cov, own);
                off += packed_dot(rows.cov(i), &cov, k) + packed_dot(rows.cov(i), &outer, k);
                off
            })
            .collect();
        self.residual = compensated(parts);
    }
    /// The optimum of the precision of similarities.
    pub(super) fn update_tau(&mut self) {
        let (a, b) = self.tau_posterior();
        self.tau.set(0, a, b);
    }
    /// Shape and rate of the precision of similarities.
    pub(super) fn tau_posterior(&self) -> (f64, f64) {
        self.tau.posterior(0.5 * self.pairs(), 0.5 * self.residual)
    }
}
