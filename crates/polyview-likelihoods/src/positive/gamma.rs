//! Skewed numbers whose spread is a share of their mean.

use polyview_core::{Domain, GammaPrior, Law, ParameterUncertainty};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, ln_gamma_draw};
use polyview_special::{Expectation, Real, digamma, gamma_q, ln_gamma, trigamma};

use crate::bernoulli::Bernoulli;
use crate::cells::{Cell, ColumnData};
use crate::laws::predicted;
use crate::scalar::{Expectations, MixedLaw, Rise, ScalarLikelihood, ScalarParameter};

/// What data are, for errors.
const NEEDS: &str = "a number above 0";

/// Beyond it an exponential is no number: such a step is refused.
const LARGEST_EXPONENT: f64 = 700.0;

/// Shapes are kept in this range: spreads of ten times the mean to a thousandth of it.
pub(super) const RANGE: (f64, f64) = (1e-2, 1e6);

/// Numbers above 0 with mean $e^\eta$ and variance $e^{2\eta}/a$, one shape a for each feature.
///
/// $F = a\ln a - \ln\Gamma(a) + (a - 1)\ln x - am - axe^{v/2 - m}$ (spec/sites 1.9). The shape has a
/// gamma prior; variational Bayes takes its most probable value on the log scale, the sampler draws it
/// by slices. As the mean is $e^\eta$ whatever a is, shapes and intercepts do not get into each other's
/// way.
///
/// ```
/// use polyview_likelihoods::{Cell, Gamma, ScalarLikelihood};
///
/// let cell = Cell { column: 0, value: 2.0, trials: 1.0, end: f64::NAN };
/// let e = Gamma::default().expectation(cell, 3.0, 0.3, 0.5);
/// assert!((e.value + 2.61839250044001).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gamma {
    /// Prior of the shapes.
    pub prior: GammaPrior,
    /// How sure predictions take the predictor to be.
    pub prediction: ParameterUncertainty,
    /// Shape of every feature, where it is known.
    known: Option<f64>,
}

impl Default for Gamma {
    fn default() -> Self {
        Self::new(GammaPrior::new(1.0, 0.01))
    }
}

impl Gamma {
    /// Numbers with that prior of the shapes.
    pub fn new(prior: GammaPrior) -> Self {
        Self {
            prior,
            prediction: ParameterUncertainty::Posterior,
            known: None,
        }
    }
    /// The same with predictions that take the predictor to be as sure as `prediction` says.
    pub fn with_prediction(mut self, prediction: ParameterUncertainty) -> Self {
        self.prediction = prediction;
        self
    }
    /// The same with a known shape of every feature, kept between .01 and $10^6$: nothing is learnt.
    pub fn with_shape(mut self, shape: f64) -> Self {
        self.known = Some(shape.clamp(RANGE.0, RANGE.1));
        self
    }
}

/// $a\ln a - \ln\Gamma(a)$.
fn constant(shape: f64) -> f64 {
    shape * shape.ln() - ln_gamma(shape)
}

/// The expectation of a cell, given $\ln x$ and [`constant`].
#[inline]
fn of_cell(constant: f64, shape: f64, ln: f64, (mean, variance): (f64, f64)) -> Expectation {
    let exponent = ln - mean + 0.5 * variance;
    let pull = shape * exponent.min(LARGEST_EXPONENT).exp();
    let value = constant + (shape - 1.0) * ln - shape * mean - pull;
    Expectation {
        value: if exponent > LARGEST_EXPONENT {
            f64::NEG_INFINITY
        } else {
            value
        },
        slope: pull - shape,
        curvature: pull,
    }
}

impl ScalarLikelihood for Gamma {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn domain(&self) -> Domain {
        Domain::Positive
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, shape: R) -> R {
        let (ln, x) = (cell.value.ln(), cell.value);
        let constant = shape * shape.ln() - shape.ln_gamma() - ln;
        constant + shape * (-eta + ln) - shape * (-eta).exp() * x
    }
    fn expectation(&self, cell: Cell, shape: f64, mean: f64, variance: f64) -> Expectation {
        of_cell(constant(shape), shape, cell.value.ln(), (mean, variance))
    }
    fn expectations(
        &self,
        data: ColumnData<'_>,
        shape: f64,
        (mean, variance): (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        let constant = constant(shape);
        for n in 0..out.len() {
            let of = of_cell(constant, shape, data.values[n].ln(), (mean[n], variance[n]));
            out.put(n, of);
        }
    }
    /// $\partial_aF = \ln a + 1 - \psi(a) + \ln x - m - xe^{v/2 - m}$.
    fn profile(&self, cells: &[Cell], shape: f64, (mean, variance): (&[f64], &[f64])) -> Rise {
        let constant = constant(shape);
        let own = shape.ln() + 1.0 - digamma(shape);
        let bend = shape.recip() - trigamma(shape);
        let (mut value, mut slope) = (0.0, 0.0);
        for (i, cell) in cells.iter().enumerate() {
            let ln = cell.value.ln();
            let of = of_cell(constant, shape, ln, (mean[i], variance[i]));
            value += of.value;
            slope += shape * (own + ln - mean[i]) - of.curvature;
        }
        Rise {
            value,
            slope,
            curvature: Some(slope + cells.len() as f64 * shape * shape * bend),
        }
    }
    fn parameter(&self) -> Option<ScalarParameter> {
        Some(ScalarParameter {
            name: "shape",
            prior: self.prior,
            range: self.known.map_or(RANGE, |known| (known, known)),
        })
    }
    /// The likeliest if all cells had one mean, as Minka (2002) starts, within 0.1 and 100.
    fn start_parameter(&self, cells: &[Cell]) -> f64 {
        let n = cells.len().max(1) as f64;
        let mean = cells.iter().map(|c| c.value / n).sum::<f64>();
        let ln = cells.iter().map(|c| c.value.ln()).sum::<f64>() / n;
        let gap = (mean.ln() - ln).max(1e-6);
        let start = (3.0 - gap + ((gap - 3.0).powi(2) + 24.0 * gap).sqrt()) / (12.0 * gap);
        if start.is_finite() {
            start.clamp(0.1, 100.0)
        } else {
            1.0
        }
    }
    /// The log of the mean; 0 of no cells.
    fn start_intercept(&self, cells: &[Cell], _shape: f64) -> f64 {
        let n = cells.len() as f64;
        let mean: f64 = cells.iter().map(|c| c.value / n).sum();
        if mean > 0.0 { mean.ln() } else { 0.0 }
    }
    fn intercept_precision(&self) -> f64 {
        Bernoulli::INTERCEPT_PRECISION
    }
    fn columns_are_alike(&self) -> bool {
        false
    }
    fn shape(&self, shape: f64) -> Option<f64> {
        Some(shape)
    }
    /// $1/a$: the variance over the squared mean.
    fn link_variance(&self, _column: usize, _level: f64, shape: f64) -> f64 {
        shape.recip()
    }
    fn moments(&self, _cell: Cell, eta: f64, shape: f64) -> (f64, f64) {
        (eta.exp(), (2.0 * eta).exp() / shape)
    }
    fn mixed_moments(
        &self,
        _cell: Cell,
        shape: f64,
        (mean, variance): (f64, f64),
    ) -> Option<(f64, f64)> {
        let first = (mean + 0.5 * variance).exp();
        let spread = variance.exp_m1() + variance.exp() / shape;
        Some((first, first * first * spread))
    }
    fn cdf(&self, cell: Cell, eta: f64, shape: f64) -> f64 {
        if cell.value <= 0.0 {
            return 0.0;
        }
        let at = shape * (cell.value.ln() - eta).exp();
        if at == f64::INFINITY {
            return 1.0;
        }
        1.0 - gamma_q(shape, at)
    }
    fn has_closed_forms(&self) -> bool {
        true
    }
    fn draw_datum(&self, _cell: Cell, eta: f64, shape: f64, rng: &mut ChaCha8Rng) -> f64 {
        let ln = ln_gamma_draw(rng, shape, shape).unwrap_or(f64::NAN) + eta;
        // what is too small for a number is the smallest there is
        ln.exp().max(f64::MIN_POSITIVE)
    }
    /// Mixed over the predictor's law (spec/sites 4).
    fn law(
        &self,
        first: usize,
        shapes: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        _exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        let variance = predicted(self.prediction, variance, |_| 0.0);
        Box::new(MixedLaw::new(self.clone(), first, shapes, (mean, variance)))
    }
}

#[cfg(test)]
mod tests {
    use polyview_core::Ask;
    use polyview_random::StreamKey;

    use super::*;

    fn cell(value: f64) -> Cell {
        Cell {
            column: 0,
            value,
            trials: 1.0,
            end: f64::NAN,
        }
    }

    /// spec/sites 11: x, a, m, v, F, g, H.
    #[test]
    fn vectors() {
        let vectors = [
            (
                (2.0, 3.0, 0.3, 0.5),
                (-2.61839250044001, 2.707376547004284, 5.707376547004284),
            ),
            (
                (0.05, 0.5, -2.0, 1.0),
                (1.274365254554736, -0.1954376509824132, 0.3045623490175868),
            ),
            (
                (100.0, 20.0, 4.0, 0.25),
                (-13.43568092974542, 21.50867574739948, 41.50867574739948),
            ),
            (
                (1e-3, 2.0, -6.0, 1e-8),
                (5.671681491117995, -1.193142408980242, 0.8068575910197582),
            ),
        ];
        for ((x, a, m, v), (f, g, h)) in vectors {
            let e = Gamma::default().expectation(cell(x), a, m, v);
            for (a, b) in [(e.value, f), (e.slope, g), (e.curvature, h)] {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
            }
        }
    }

    /// spec/sites 11: x, a, m, v, ln p(x), P(X <= x).
    #[test]
    fn laws() {
        let vectors = [
            (2.0, 3.0, 0.3, 0.5, -1.68885463246311, 0.722110452731447),
            (0.05, 0.5, -2.0, 1.0, 1.31570407000881, 0.480485230994845),
            (100.0, 20.0, 4.0, 0.25, -5.57897693480187, 0.874831546779151),
            (9.0, 3.0, 0.3, 0.5, -5.60484778209295, 0.989272369521185),
            (
                0.2,
                50.0,
                -1.0,
                0.04,
                -0.85606743246011,
                0.00776749821192977,
            ),
        ];
        for (x, a, m, v, ln, p) in vectors {
            let one = |x: f64| Mat::full(1, 1, x);
            let law = Gamma::default().law(0, vec![a], (one(m), one(v)), None);
            let ask = |ask: Ask, x: f64| {
                let mut out = [0.0];
                law.fill(ask, 0, &[x], &mut out);
                out[0]
            };
            assert!((ask(Ask::LnDensity, x) - ln).abs() < 1e-9, "{x}");
            assert!((ask(Ask::Cdf, x) - p).abs() < 1e-9, "{x}");
            let mut back = [0.0];
            law.quantile(0, &[p], &mut back);
            assert!((back[0] - x).abs() < 1e-6 * x, "{x} {}", back[0]);
            // nothing is not above 0
            for below in [0.0, -1.0] {
                assert_eq!(ask(Ask::Cdf, below), 0.0);
                assert_eq!(ask(Ask::LnDensity, below), f64::NEG_INFINITY);
            }
        }
    }

    /// A column at once is its cells, and slopes in the shape are those of differences.
    #[test]
    fn a_column_is_its_cells() {
        let values: Vec<f64> = (0..60).map(|n| (0.1 * f64::from(n) - 3.0).exp()).collect();
        let column = ColumnData {
            column: 0,
            values: &values,
            trials: None,
            ends: None,
        };
        let mean: Vec<f64> = (0..60).map(|n| 0.2 * f64::from(n % 17) - 2.0).collect();
        let variance: Vec<f64> = (0..60).map(|n| 0.02 * f64::from(n % 9)).collect();
        let (law, shape) = (Gamma::default(), 1.7);
        let mut made = crate::scalar::Scratch::new(60);
        law.expectations(column, shape, (&mean, &variance), made.all());
        for n in 0..60 {
            let (a, b) = (
                made.all().get(n),
                law.expectation(column.cell(n), shape, mean[n], variance[n]),
            );
            assert_eq!(a, b);
            // the closed form is that of the density
            let by_nodes = Expectation::of(mean[n], variance[n], 1.0, |eta| {
                law.ln_density(column.cell(n), eta, Real::constant(shape))
            });
            assert!((a.value - by_nodes.value).abs() < 1e-9 * (1.0 + b.value.abs()));
        }
        let cells: Vec<Cell> = (0..60).map(|n| column.cell(n)).collect();
        let at = |x: f64| law.profile(&cells, x, (&mean, &variance));
        let h: f64 = 1e-5;
        let (up, here, down) = (at(shape * h.exp()), at(shape), at(shape * (-h).exp()));
        let slope = (up.value - down.value) / (2.0 * h);
        assert!((here.slope - slope).abs() < 1e-5 * (1.0 + slope.abs()));
        let curvature = (up.slope - down.slope) / (2.0 * h);
        let own = here.curvature.expect("it is known");
        assert!((own - curvature).abs() < 1e-5 * (1.0 + curvature.abs()));
    }

    /// Draws have the moments, and the smallest shapes draw numbers above 0.
    #[test]
    fn draws() {
        let mut rng = StreamKey::new(5).rng();
        let (law, count) = (Gamma::default(), 20_000);
        let draws: Vec<f64> = (0..count)
            .map(|_| law.draw_datum(cell(1.0), 0.7, 2.5, &mut rng))
            .collect();
        let mean = draws.iter().sum::<f64>() / f64::from(count);
        let spread = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(count);
        let (m, v) = law.moments(cell(1.0), 0.7, 2.5);
        assert!((mean - m).abs() < 0.04 && (spread - v).abs() < 0.12);
        for _ in 0..2000 {
            let x = law.draw_datum(cell(1.0), -3.0, 0.01, &mut rng);
            assert!(law.admits(cell(x)), "{x}");
        }
    }

    /// By its density alone a law of numbers above 0 is the same.
    #[test]
    fn a_density_alone_is_enough() {
        #[derive(Clone, Debug)]
        struct Alone;
        impl ScalarLikelihood for Alone {
            fn needs(&self) -> &'static str {
                "numbers above 0"
            }
            fn domain(&self) -> Domain {
                Domain::Positive
            }
            fn ln_density<R: Real>(&self, cell: Cell, eta: R, shape: R) -> R {
                Gamma::default().ln_density(cell, eta, shape)
            }
        }
        assert!(!Alone.admits(cell(0.0)) && Alone.admits(cell(1e-9)));
        let (known, shape) = (Gamma::default(), 3.0);
        let (a, b) = (
            Alone.moments(cell(1.0), 0.4, shape),
            known.moments(cell(1.0), 0.4, shape),
        );
        let close = (a.0 - b.0).abs() < 1e-5 && (a.1 - b.1).abs() < 1e-5;
        assert!(close, "{a:?} {b:?}");
        assert!((Alone.link_variance(0, 0.4, shape) - 1.0 / 3.0).abs() < 1e-8);
        for x in [0.1, 1.0, 4.0] {
            let (a, b) = (
                Alone.cdf(cell(x), 0.4, shape),
                known.cdf(cell(x), 0.4, shape),
            );
            assert!((a - b).abs() < 2e-3, "{x}: {a} {b}");
        }
    }
}
