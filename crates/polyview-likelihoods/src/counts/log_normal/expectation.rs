//! Poisson log-normal counts by expectation: log rates that follow their predictors (docs/decisions/0114-log-rates-follow-predictors.md).
//!
//! Of a predictor $\eta\sim N(m, \kappa)$ each value has a law of its log rate, $q(x\mid\eta) = N(a + s\eta, v)$, in place of one for all
//! of them. With $\lambda = e^t$ the expected rate,
//!
//! $$ v = \frac1{\lambda+\tau},\quad s = \tau v,\quad \mathrm E x = m + \frac{y-\lambda}\tau,\quad t = \mathrm E x + \tfrac12(v + s^2\kappa), $$
//!
//! the bound of the expected log density is
//!
//! $$ F = y\,\mathrm Ex - \lambda - \ln y! - \tfrac\tau2\lbrace(\mathrm Ex - m)^2 + v + (1-s)^2\kappa\rbrace + \tfrac12\ln\tau v + \tfrac12,\qquad
//! g = y - \lambda,\quad H = \frac{\lambda\tau}{\lambda+\tau} $$
//!
//! with its exact derivatives, by the envelope theorem: what a count says of its predictor is what a Poisson count says of its
//! log rate and the noise between both, one after the other.

use polyview_core::{Domain, Law};
use polyview_linalg::{Mat, MatRef};
use polyview_random::ChaCha8Rng;
use polyview_special::{Expectation, Real};

use super::columns::{expected, tilted};
use super::rates::ln_mass;
use super::{PoissonLogNormal, RANGE};
use crate::cells::{Cell, CellLikelihood, ColumnData, ColumnParameters};
use crate::counts::ln_factorial;
use crate::scalar::{Expectations, Rise, ScalarLikelihood, ScalarParameter, Scratch};

impl PoissonLogNormal {
    /// The same with these precisions, one for each feature.
    fn with_precisions(&self, precision: Vec<f64>) -> Self {
        Self {
            precision,
            ..self.clone()
        }
    }
}

impl ScalarLikelihood for PoissonLogNormal {
    fn needs(&self) -> &'static str {
        CellLikelihood::needs(self)
    }
    fn admits(&self, cell: Cell) -> bool {
        CellLikelihood::admits(self, cell)
    }
    fn domain(&self) -> Domain {
        Domain::COUNTS
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, tau: R) -> R {
        ln_mass(cell.value, eta, tau) - ln_factorial(cell.value)
    }
    fn expectation(&self, cell: Cell, tau: f64, mean: f64, variance: f64) -> Expectation {
        let mut made = Scratch::new(1);
        let data = ColumnData {
            column: cell.column,
            values: &[cell.value],
            trials: None,
            ends: None,
        };
        self.expectations(data, tau, (&[mean], &[variance]), made.all());
        made.all().get(0)
    }
    fn expectations(
        &self,
        data: ColumnData<'_>,
        tau: f64,
        (mean, variance): (&[f64], &[f64]),
        mut out: Expectations<'_>,
    ) {
        let y = &data.values[..mean.len()];
        expected(y, (mean, variance), tau, &mut out);
        for (value, y) in out.value.iter_mut().zip(y) {
            *value -= ln_factorial(*y);
        }
    }
    /// A further variance of the predictor is as good as noise.
    fn widened_expectations(
        &self,
        data: ColumnData<'_>,
        tau: f64,
        (mean, variance): (&[f64], &[f64]),
        spread: &[f64],
        out: &mut [Expectation],
    ) {
        for (n, out) in out.iter_mut().enumerate() {
            let wide = (tau.recip() + spread[n]).recip();
            *out = self.expectation(data.cell(n), wide, mean[n], variance[n]);
        }
    }
    fn profile(&self, cells: &[Cell], tau: f64, (mean, variance): (&[f64], &[f64])) -> Rise {
        let y: Vec<f64> = cells.iter().map(|c| c.value).collect();
        let mut local = vec![0.0; y.len()];
        tilted(&y, (mean, variance), tau, &mut local);
        profile_at(&y, (mean, variance), tau, &local)
    }
    fn parameter(&self) -> Option<ScalarParameter> {
        Some(ScalarParameter {
            name: ColumnParameters::name(self),
            prior: self.prior,
            range: RANGE,
        })
    }
    fn start_parameter(&self, cells: &[Cell]) -> f64 {
        ColumnParameters::start(self, cells)
    }
    fn start_intercept(&self, cells: &[Cell], _parameter: f64) -> f64 {
        CellLikelihood::start_intercept(self, cells)
    }
    fn intercept_precision(&self) -> f64 {
        CellLikelihood::intercept_precision(self)
    }
    fn size(&self, tau: f64) -> Option<f64> {
        Some(tau.recip().exp_m1().recip())
    }
    fn link_variance(&self, _column: usize, level: f64, tau: f64) -> f64 {
        CellLikelihood::link_variance(&self.with_precisions(vec![tau]), 0, level)
    }
    fn draw_datum(&self, cell: Cell, eta: f64, tau: f64, rng: &mut ChaCha8Rng) -> f64 {
        let of_column = Cell { column: 0, ..cell };
        CellLikelihood::draw_datum(&self.with_precisions(vec![tau]), of_column, eta, rng)
    }
    fn take_levels(&mut self, levels: &[(f64, f64)]) -> bool {
        CellLikelihood::take_levels(self, levels)
    }
    fn levels(&self) -> &[(f64, f64)] {
        CellLikelihood::levels(self)
    }
    fn law(
        &self,
        first: usize,
        precisions: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        let levels = (first..first + mean.ncols()).map(|d| self.level_of(d));
        let own = Self {
            levels: levels.collect(),
            ..self.with_precisions(precisions)
        };
        CellLikelihood::law(&own, 0, mean, variance, exposure)
    }
}

/// $\sum F$ of some counts at their best local numbers, with its derivatives in $\ln\tau$: the first by the envelope theorem, the second
/// with how t follows.
fn profile_at(y: &[f64], (mean, variance): (&[f64], &[f64]), tau: f64, local: &[f64]) -> Rise {
    let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
    for i in 0..y.len() {
        let (kappa, rate) = (variance[i], local[i].exp());
        let v = (rate + tau).recip();
        let (share, left) = (tau * v, rate * v);
        let log_rate = local[i] - 0.5 * (v + share * share * kappa);
        let far = log_rate - mean[i];
        let squares = far * far + v + kappa * left * left;
        value += y[i] * log_rate - rate - 0.5 * tau * squares + 0.5 * share.ln() + 0.5;
        value -= ln_factorial(y[i]);
        slope += 0.5 - 0.5 * tau * squares;
        let bent = kappa * share * share * left;
        let moves = -(far + 0.5 * share * v - bent) / (1.0 + rate / tau + 0.5 * left * v + bent);
        let of_rate = rate * moves;
        let nearer = -far - of_rate / tau;
        let narrower = -(of_rate + tau) * v * v;
        let follows = 2.0 * kappa * left * (of_rate * tau - rate * tau) * v * v;
        curvature -= 0.5 * tau * (squares + 2.0 * far * nearer + narrower + follows);
    }
    Rise {
        value,
        slope,
        curvature: Some(curvature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRECISIONS: [f64; 5] = [0.011, 0.3, 2.0, 40.0, 9e3];
    const COUNTS: [f64; 6] = [0.0, 1.0, 3.0, 60.0, 4e4, 1e7];

    fn cell(value: f64) -> Cell {
        Cell {
            column: 0,
            value,
            trials: 1.0,
            end: f64::NAN,
        }
    }

    /// F is below what it stands for and near it, and slopes are those of differences.
    #[test]
    fn the_bound_is_below_the_expectation_and_near_it() {
        let law = PoissonLogNormal::default();
        for tau in PRECISIONS {
            for y in COUNTS {
                for off in [-2.0, 0.0, 1.0] {
                    for variance in [0.0, 0.01, 0.3, 2.0] {
                        let mean = (y + 0.3).ln() + off;
                        let found = law.expectation(cell(y), tau, mean, variance);
                        let exact = Expectation::of(mean, variance, 1.0, |eta| {
                            law.ln_density(cell(y), eta, Real::constant(tau))
                        });
                        let size = 1.0 + exact.value.abs();
                        let gap = exact.value - found.value;
                        assert!(
                            gap > -1e-9 * size - 1e-13 * y,
                            "{tau} {y} {off} {variance}: {gap}"
                        );
                        // a normal law of log rates is not far from theirs
                        assert!(
                            gap < 0.5 + 0.05 * variance * size,
                            "{tau} {y} {off} {variance}: {gap}"
                        );
                        let at = |m: f64, v: f64| law.expectation(cell(y), tau, m, v).value;
                        let (h, k) = (1e-5, 1e-5 * variance);
                        let slope = (at(mean + h, variance) - at(mean - h, variance)) / (2.0 * h);
                        let close =
                            1e-5 * (1.0 + found.slope.abs()) + 1e-15 * (size + y * 20.0) / h;
                        assert!(
                            (found.slope - slope).abs() < close,
                            "{tau} {y} {off} {variance}"
                        );
                        if variance > 0.0 {
                            let bend = (at(mean, variance + k) - at(mean, variance - k)) / -k;
                            let close =
                                1e-5 * (1.0 + found.curvature) + 1e-15 * (size + y * 20.0) / k;
                            assert!(
                                (found.curvature - bend).abs() < close,
                                "{tau} {y} {off} {variance}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// spec/sites 11: m, v, F, g, H of the log density, noise inside.
    #[test]
    fn vectors_of_the_log_density() {
        let law = PoissonLogNormal::default();
        let vectors = [
            (
                7.0,
                2.0,
                [0.3, 1e-8, -4.538002417782, 2.331518334983, 1.378748844457],
            ),
            (
                7.0,
                2.0,
                [0.3, 0.5, -4.881434377974, 2.298938190276, 1.368704497107],
            ),
            (
                7.0,
                2.0,
                [-2.0, 1.0, -13.70433311072, 4.946939123721, 0.9336904096426],
            ),
            (
                7.0,
                2.0,
                [4.0, 4.0, -9.500334248042, -3.4966555901, 1.643134656673],
            ),
            (
                0.0,
                0.5,
                [0.3, 1e-8, -1.101678981643, -0.6130107827315, 0.250646347063],
            ),
            (
                0.0,
                0.5,
                [0.3, 0.5, -1.1640672302, -0.6257663200706, 0.2485040692219],
            ),
            (
                0.0,
                0.5,
                [
                    -2.0,
                    1.0,
                    -0.3030814781017,
                    -0.2119004741396,
                    0.1234223615587,
                ],
            ),
            (
                0.0,
                0.5,
                [4.0, 4.0, -6.189792824823, -1.856426940551, 0.3670630944392],
            ),
        ];
        for (y, tau, [m, v, f, g, h]) in vectors {
            let exact = Expectation::of(m, v, 1.0, |eta| {
                law.ln_density(cell(y), eta, Real::constant(tau))
            });
            for (found, want) in [(exact.value, f), (exact.slope, g), (exact.curvature, h)] {
                assert!(
                    (found - want).abs() < 1e-6 * (1.0 + want.abs()),
                    "{y} {m} {v}: {found} {want}"
                );
            }
            // the bound is near, and says nearly as much of the predictor
            let bound = law.expectation(cell(y), tau, m, v);
            assert!(
                bound.value < f && bound.value > f - 0.12,
                "{y} {m} {v}: {} {f}",
                bound.value
            );
            assert!(
                (bound.slope - g).abs() < 0.12 * (1.0 + g.abs()),
                "{} {g}",
                bound.slope
            );
        }
    }

    /// Never below the bound of log rates that do not follow.
    #[test]
    fn log_rates_that_follow_are_closer() {
        let law = PoissonLogNormal::default();
        for tau in PRECISIONS {
            let plain = law.with_precisions(vec![tau]);
            for y in COUNTS {
                for variance in [0.01, 0.3, 2.0] {
                    let mean = (y + 0.3).ln() - 0.4;
                    let local = plain.optimise(cell(y), mean, f64::NAN);
                    let (site, offset) = plain.evaluate(cell(y), local);
                    let square = mean * mean + variance;
                    let old = site.linear * mean - 0.5 * site.precision * square
                        + offset
                        + plain.datum_offset(cell(y));
                    let new = law.expectation(cell(y), tau, mean, variance).value;
                    assert!(
                        new >= old - 1e-9 * (1.0 + old.abs()),
                        "{tau} {y}: {new} {old}"
                    );
                    if y < 2.0 && tau == 40.0 && variance == 2.0 {
                        assert!(new > old + 10.0, "{new} {old}");
                    }
                }
            }
        }
    }

    #[test]
    fn steps_of_the_precision_have_the_slopes_of_differences() {
        let law = PoissonLogNormal::default();
        let cells: Vec<Cell> = (0..60).map(|n| cell(COUNTS[n % 4])).collect();
        let mean: Vec<f64> = (0..60)
            .map(|n| (COUNTS[n % 4] + 0.3).ln() + 0.1 * (n % 7) as f64)
            .collect();
        let variance: Vec<f64> = (0..60).map(|n| 0.1 * (n % 4) as f64).collect();
        for tau in PRECISIONS {
            let at = |tau: f64| law.profile(&cells, tau, (&mean, &variance));
            let h: f64 = 1e-5;
            let (up, here, down) = (at(tau * h.exp()), at(tau), at(tau * (-h).exp()));
            let slope = (up.value - down.value) / (2.0 * h);
            assert!(
                (here.slope - slope).abs() < 1e-5 * (1.0 + slope.abs() + tau),
                "{tau}: {} {slope}",
                here.slope
            );
            let bend = (up.slope - down.slope) / (2.0 * h);
            let found = here.curvature.unwrap();
            assert!(
                (found - bend).abs() < 1e-4 * (1.0 + bend.abs()),
                "{tau}: {found} {bend}"
            );
            let sum: f64 = (0..60)
                .map(|n| law.expectation(cells[n], tau, mean[n], variance[n]).value)
                .sum();
            assert!((here.value - sum).abs() < 1e-9 * (1.0 + sum.abs()));
        }
    }

    /// spec/sites 11: values of F, which the bound is below by little where noise is small.
    #[test]
    fn further_variances_are_noise() {
        let law = PoissonLogNormal::default();
        for y in COUNTS {
            let (values, mut out) = ([y], [Expectation::default()]);
            let data = ColumnData {
                column: 0,
                values: &values,
                trials: None,
                ends: None,
            };
            law.widened_expectations(data, 4.0, (&[1.0], &[0.2]), &[0.25], &mut out);
            let own = law.expectation(cell(y), 2.0, 1.0, 0.2);
            assert!((out[0].value - own.value).abs() < 1e-9 * (1.0 + own.value.abs()));
        }
    }
}
