//! The Bayesian support vector machine.

use polyview_core::{Domain, Objective};
use polyview_random::{ChaCha8Rng, InverseGaussian, uniform_open01};

use super::pseudo::{lower_mean_share, score_of, share};
use super::sign;
use crate::ParameterUncertainty;
use crate::bernoulli::{Bernoulli, NEEDS, is_binary, mean_of_cells, remark, smoothed_share};
use crate::cells::{Cell, CellAugmentation, CellLikelihood, Site};

/// Smallest local number: a cell's precision is at most its inverse.
const SMALLEST: f64 = 1e-8;

/// Zeros and ones under the hinge loss of a support vector machine: with $y =
/// 2x - 1$ and $v = 1 - y\eta$ the pseudo-likelihood is $L = e^{-2\max(0, v)}$
/// (Polson and Scott 2011; spec/maxmargin-rank 2.3), a mixture of normals in v
/// over a local number $\lambda$.
///
/// Variational Bayes (5.1 and erratum E10) keeps $\sqrt{\langle v^2\rangle}$ as
/// local number:
///
/// $$\omega = \langle\lambda^{-1}\rangle = \langle v^2\rangle^{-1/2},\qquad h = y(1 +
/// \omega),$$
///
/// and the bound of a cell is $-\langle v\rangle - \sqrt{\langle v^2\rangle} \le
/// -2\langle\max(0, v)\rangle$. Gibbs draws $\lambda^{-1}\sim\mathrm{IG}(1/|v|, 1)$
/// (4.3), with $1/|v|$ at most 1e8.
///
/// **What probabilities are.** L is no density of the data: it does not sum to
/// one over the two classes. Predicted, and drawn, is the pseudo-probability
/// $L(+1)/\\{L(+1) + L(-1)\\}$, meant over the posterior of η (or at its mean,
/// [`ParameterUncertainty::PlugIn`]). It ranks samples as the score η does where
/// these are equally certain, but nothing in the model calibrates it. The score
/// itself is the linear predictor.
///
/// ```
/// use polyview_core::{Objective, View, ViewTerm};
/// use polyview_likelihoods::{BayesianSvm, Cells};
/// use polyview_linalg::Mat;
///
/// # fn main() -> Result<(), polyview_core::DataError> {
/// let labels = Mat::from_fn(4, 1, |n, _| if n < 2 { 1.0 } else { 0.0 });
/// let view = View::from_values("smoker", vec!["ever".into()], labels)?;
/// let term = Cells::new(view, BayesianSvm::default())?;
/// assert_eq!(term.objective(), Objective::PseudoLikelihood);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BayesianSvm {
    /// How pseudo-probabilities are predicted.
    pub prediction: ParameterUncertainty,
}

impl BayesianSvm {
    /// Variance of the law whose distribution function is the
    /// pseudo-probability: a logistic law of scale ¼ inside the margin, ½
    /// outside, $4\int\_0^\infty t\\,\\{1 - F(t)\\}\\,dt$.
    pub const LINK_VARIANCE: f64 = 0.237_441_023_001_323_36;
}

/// $h = y(1 + \omega)$.
fn site(cell: Cell, precision: f64) -> Site {
    Site {
        precision,
        linear: sign(cell.value) * (1.0 + precision),
    }
}

impl CellLikelihood for BayesianSvm {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        is_binary(cell.value)
    }
    fn objective(&self) -> Objective {
        Objective::PseudoLikelihood
    }
    fn start(&self, _cell: Cell) -> f64 {
        1.0
    }
    /// $\sqrt{\langle v^2\rangle}$.
    fn optimise(&self, cell: Cell, mean: f64, square: f64) -> f64 {
        let square = 1.0 - 2.0 * sign(cell.value) * mean + square;
        square.max(0.0).sqrt().max(SMALLEST)
    }
    fn site(&self, cell: Cell, local: f64) -> Site {
        site(cell, 1.0 / local)
    }
    /// $-1 - \tfrac12(\omega + 1/\omega)$.
    fn offset(&self, _cell: Cell, local: f64) -> f64 {
        -1.0 - 0.5 * (local + 1.0 / local)
    }
    /// The score whose pseudo-probability is the share of ones, half a cell
    /// added to each side. (The hinge itself puts a constant score at the
    /// margin of the larger class, however much larger.)
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        let p = smoothed_share(cells);
        score_of((p / (1.0 - p)).ln())
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        let (mean, count) = mean_of_cells(cells);
        remark(mean, count)
    }
    fn columns_are_alike(&self) -> bool {
        false
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn domain(&self) -> Domain {
        Domain::Binary
    }
    fn link_variance(&self, _column: usize, _level: f64) -> f64 {
        Self::LINK_VARIANCE
    }
    /// By the pseudo-probability.
    fn draw_datum(&self, _cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        f64::from(u8::from(uniform_open01(rng) < share(eta)))
    }
    fn predict(&self, _column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let lower = match self.prediction {
            ParameterUncertainty::Posterior => lower_mean_share(-mean.abs(), variance),
            ParameterUncertainty::PlugIn => share(-mean.abs()),
        };
        let one = if mean > 0.0 { 1.0 - lower } else { lower };
        (one, lower * (1.0 - lower))
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

/// The local number is $\lambda^{-1}$.
impl CellAugmentation for BayesianSvm {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let v = (1.0 - sign(cell.value) * eta).abs();
        // NaN is not to become a mean
        let mean = if v < SMALLEST {
            1.0 / SMALLEST
        } else {
            1.0 / v
        };
        InverseGaussian::new(mean, 1.0).map_or(f64::NAN, |d| d.sample(rng))
    }
    fn site(&self, cell: Cell, precision: f64) -> Site {
        site(cell, precision)
    }
    /// $\ln L$.
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        -2.0 * (1.0 - sign(cell.value) * eta).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use polyview_special::normal_pdf;

    use super::*;

    const CELLS: [Cell; 2] = [
        Cell {
            column: 0,
            value: 1.0,
            trials: 1.0,
            end: f64::NAN,
        },
        Cell {
            column: 0,
            value: 0.0,
            trials: 1.0,
            end: f64::NAN,
        },
    ];

    fn bound(cell: Cell, (mean, square): (f64, f64), local: f64) -> f64 {
        let l = BayesianSvm::default();
        let site = CellLikelihood::site(&l, cell, local);
        site.linear * mean - 0.5 * site.precision * square + l.offset(cell, local)
    }

    /// spec/maxmargin-rank V1.
    #[test]
    fn the_bound_is_that_of_the_specification() {
        for (m, s, expected, exact) in [
            (0.5, 0.3, -1.0831, -1.0119),
            (-1.0, 0.7, -0.2207, -0.0482),
            (0.0, 1.0, -1.0, -0.7979),
        ] {
            for cell in CELLS {
                // v = 1 - y eta has this mean and standard deviation
                let mean = sign(cell.value) * (1.0 - m);
                let square = mean * mean + s * s;
                let local = BayesianSvm::default().optimise(cell, mean, square);
                let found = bound(cell, (mean, square), local);
                assert!((found - expected).abs() < 5e-5, "{m} {s}: {found}");
                for by in [0.5, 0.99, 1.01, 2.0] {
                    assert!(bound(cell, (mean, square), by * local) < found);
                }
                let loss: f64 = (-9000..=9000)
                    .map(|i| f64::from(i) * 1e-3)
                    .map(|u| {
                        let eta = mean + s * u;
                        1e-3 * normal_pdf(u)
                            * CellAugmentation::log_density(&BayesianSvm::default(), cell, eta)
                    })
                    .sum();
                assert!((loss - exact).abs() < 5e-5);
                assert!(found < loss);
            }
        }
    }

    #[test]
    fn known_predictors_touch_the_hinge_and_the_margin_is_no_pole() {
        for cell in CELLS {
            for i in -40..=40 {
                let eta = f64::from(i) * 0.1;
                let local = BayesianSvm::default().optimise(cell, eta, eta * eta);
                let found = bound(cell, (eta, eta * eta), local);
                let exact = BayesianSvm::default().log_density(cell, eta);
                assert!((found - exact).abs() < 1e-7, "{eta}: {found} {exact}");
            }
        }
    }

    /// spec/maxmargin-rank V1: $\mathrm{E}\lambda^{-1} = 1/|v|$.
    #[test]
    fn augmentations_have_their_mean() {
        let mut rng = polyview_random::StreamKey::new(5).rng();
        let draws = 40_000;
        for (eta, expected) in [(0.0, 1.0_f64), (3.0, 0.5), (-4.0, 0.2)] {
            let mean: f64 = (0..draws)
                .map(|_| BayesianSvm::default().draw_local(CELLS[0], eta, &mut rng))
                .sum::<f64>()
                / f64::from(draws);
            // the variance of IG(mu, 1) is mu^3
            let error = (expected.powi(3) / f64::from(draws)).sqrt();
            assert!((mean - expected).abs() < 4.5 * error, "{eta}: {mean}");
        }
        assert!(
            BayesianSvm::default()
                .draw_local(CELLS[0], f64::NAN, &mut rng)
                .is_nan()
        );
        assert!(
            BayesianSvm::default()
                .draw_local(CELLS[0], 1.0, &mut rng)
                .is_finite()
        );
    }

    #[test]
    fn the_link_variance_is_that_of_its_law() {
        let step = 1e-4;
        let found: f64 = (0..200_000)
            .map(|i| (f64::from(i) + 0.5) * step)
            .map(|t| 4.0 * step * t * share(-t))
            .sum();
        assert!((found - BayesianSvm::LINK_VARIANCE).abs() < 1e-7, "{found}");
    }

    #[test]
    fn a_start_has_the_share_of_ones() {
        for (ones, zeros) in [(3, 1), (50, 50), (1, 2000), (0, 9)] {
            let cells: Vec<Cell> = (0..ones)
                .map(|_| CELLS[0])
                .chain((0..zeros).map(|_| CELLS[1]))
                .collect();
            let start = BayesianSvm::default().start_intercept(&cells);
            let p = (f64::from(ones) + 0.5) / (f64::from(ones + zeros) + 1.0);
            assert!((share(start) - p).abs() < 1e-12);
        }
    }
}
