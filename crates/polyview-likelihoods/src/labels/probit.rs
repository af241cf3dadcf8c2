//! The probit model.

use polyview_core::{DataError, Domain, View, ViewTerm};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, TruncatedNormal, uniform_open01};
use polyview_special::{inverse_mills, ln_normal_cdf, normal_cdf};

use super::sign;
use crate::bernoulli::{Bernoulli, NEEDS, is_binary, mean_of_cells, remark, smoothed_share};
use crate::cells::{Cell, CellAugmentation, CellLikelihood, Site};
use crate::{Expected, ParameterUncertainty};

/// Zeros and ones with $p(x = 1) = \Phi(\eta)$: a score $f \sim N(\eta, 1)$ of
/// which the sign is seen (spec/maxmargin-rank section 8).
///
/// With $y = 2x - 1$ and the local number $\zeta = \langle\eta\rangle$, the
/// score's mean is $\langle f\rangle = \zeta + y\\,\phi(\zeta)/\Phi(y\zeta)$, and
/// $\omega = 1$, $h = \langle f\rangle$. At the optimum the bound of a cell is
/// $\ln\Phi(y\langle\eta\rangle) - \tfrac12\mathrm{Var}(\eta)$, with $q(f)$ free
/// of approximations. The Gibbs sampler draws scores from truncated normals and
/// is exact (Albert and Chib 1993).
///
/// ```
/// use polyview_core::{View, ViewTerm};
/// use polyview_likelihoods::{Cells, Probit};
/// use polyview_linalg::Mat;
///
/// # fn main() -> Result<(), polyview_core::DataError> {
/// let labels = Mat::from_fn(4, 1, |n, _| if n < 2 { 1.0 } else { 0.0 });
/// let view = View::from_values("smoker", vec!["ever".into()], labels)?;
/// let term = Cells::new(view, Probit::default())?;
/// assert_eq!(term.intercepts().start, Some(vec![0.0])); // as many ones as zeros
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probit {
    /// How probabilities are predicted.
    pub prediction: ParameterUncertainty,
}

impl Probit {
    /// $\langle f\rangle$.
    fn score(cell: Cell, zeta: f64) -> f64 {
        let y = sign(cell.value);
        zeta + y * inverse_mills(y * zeta)
    }
}

impl CellLikelihood for Probit {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        is_binary(cell.value)
    }
    fn start(&self, _cell: Cell) -> f64 {
        0.0
    }
    fn optimise(&self, _cell: Cell, mean: f64, _square: f64) -> f64 {
        mean
    }
    fn site(&self, cell: Cell, zeta: f64) -> Site {
        Site {
            precision: 1.0,
            linear: Self::score(cell, zeta),
        }
    }
    /// $\ln\Phi(y\zeta) - \langle f\rangle\zeta + \tfrac12\zeta^2$.
    fn offset(&self, cell: Cell, zeta: f64) -> f64 {
        self.evaluate(cell, zeta).1
    }
    fn evaluate(&self, cell: Cell, zeta: f64) -> (Site, f64) {
        let site = CellLikelihood::site(self, cell, zeta);
        let constant = ln_normal_cdf(sign(cell.value) * zeta) + zeta * (0.5 * zeta - site.linear);
        (site, constant)
    }
    /// The normal quantile of the share of ones, half a cell added to each
    /// side.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        polyview_special::normal_quantile(smoothed_share(cells))
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        let (mean, count) = mean_of_cells(cells);
        remark(mean, count)
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn link_variance(&self, _column: usize, _level: f64) -> f64 {
        1.0
    }
    fn draw_datum(&self, _cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        f64::from(u8::from(uniform_open01(rng) < normal_cdf(eta)))
    }
    /// $\Phi(m/\sqrt{1 + v})$, exact.
    fn predict(&self, _column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let scale = match self.prediction {
            ParameterUncertainty::Posterior => (1.0 + variance.max(0.0)).sqrt(),
            ParameterUncertainty::PlugIn => 1.0,
        };
        let (one, zero) = (normal_cdf(mean / scale), normal_cdf(-mean / scale));
        (one, one * zero)
    }
    fn widened(
        &self,
        view: &View,
        spread: Mat<f64>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        Some(Expected::behind(view, *self, Vec::new(), spread))
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

/// The local number is the score.
impl CellAugmentation for Probit {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let (lower, upper) = if cell.value == 1.0 {
            (0.0, f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, 0.0)
        };
        TruncatedNormal::new(eta, 1.0, lower, upper).map_or(f64::NAN, |t| t.sample(rng))
    }
    fn site(&self, _cell: Cell, score: f64) -> Site {
        Site {
            precision: 1.0,
            linear: score,
        }
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        ln_normal_cdf(sign(cell.value) * eta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_a_cell_is_exact_but_for_the_variance() {
        let likelihood = Probit::default();
        for value in [0.0, 1.0] {
            let cell = Cell {
                column: 0,
                value,
                trials: 1.0,
                end: f64::NAN,
            };
            for i in -60..=60 {
                let (mean, variance) = (f64::from(i) * 0.5, 0.7);
                let zeta = likelihood.optimise(cell, mean, mean * mean + variance);
                let bound_at = |zeta: f64| {
                    let (site, constant) = likelihood.evaluate(cell, zeta);
                    site.linear * mean - 0.5 * site.precision * (mean * mean + variance) + constant
                };
                let exact = ln_normal_cdf(sign(value) * mean) - 0.5 * variance;
                let found = bound_at(zeta);
                assert!((found - exact).abs() < 1e-11 * (1.0 + mean * mean));
                // no other local number is better
                for other in [zeta - 1.0, zeta - 0.01, zeta + 0.01, zeta + 1.0] {
                    assert!(bound_at(other) <= found + 1e-11 * (1.0 + mean * mean));
                }
            }
        }
    }

    #[test]
    fn predictions_are_means_over_the_predictor() {
        let exact = |mean: f64, variance: f64| -> f64 {
            (-12_000..=12_000)
                .map(|i| f64::from(i) * 1e-3)
                .map(|u| {
                    1e-3 * polyview_special::normal_pdf(u) * normal_cdf(mean + variance.sqrt() * u)
                })
                .sum()
        };
        for (mean, variance) in [(0.4, 0.3), (-2.0, 4.0), (1.0, 50.0)] {
            let (p, v) = Probit::default().predict(0, mean, variance);
            assert!((p - exact(mean, variance)).abs() < 1e-9);
            assert!((v - p * (1.0 - p)).abs() < 1e-12);
        }
        let plug_in = Probit {
            prediction: ParameterUncertainty::PlugIn,
        };
        assert_eq!(plug_in.predict(0, 0.4, 9.0).0, normal_cdf(0.4));
    }
}
