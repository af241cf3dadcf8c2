//! Noise precisions of numbers between ends (spec/sites 2): steps that never lower the bound,
//! and draws.

use polyview_random::ChaCha8Rng;
use polyview_special::Expectation;

use super::Censored;
use super::censored::{Known, ln_normal};
use super::ends::Ends;
use crate::cells::{Cell, ColumnCells, ColumnParameters, LearnedParameters};
use crate::counts::{Scale, moments};

/// Precisions are kept in this range.
const RANGE: (f64, f64) = (1e-6, 1e8);
/// Those to start from are kept in this one.
const START: (f64, f64) = (0.1, 100.0);

/// $\tau\,\partial\_\tau\ln p = (1 - M\_2)/2$ of ends and a predictor in standard deviations of the noise.
pub(super) fn slope(ends: Ends, eta: f64) -> f64 {
    let part = ends.at(eta);
    0.5 * (1.0 - part.variance - part.mean * part.mean)
}

/// $\sum F$ of some cells and its derivative in $\ln\tau$, given means and variances of their
/// predictors.
pub(super) fn expected(
    cells: &[Cell],
    noise: f64,
    (mean, variance): (&[f64], &[f64]),
) -> (f64, f64) {
    let (mut value, mut of_ln) = (0.0, 0.0);
    for (i, cell) in cells.iter().enumerate() {
        let (m, v) = (mean[i], variance[i]);
        match Known::of(*cell, noise) {
            Known::Number(x) => {
                let square = (x - m).powi(2) + v;
                value += ln_normal(noise, square);
                of_ln += 0.5 - 0.5 * noise * square;
            }
            Known::Between(ends) => {
                Expectation::at_nodes(noise.sqrt() * m, noise * v, 1.0, |w, eta| {
                    let part = ends.at(eta);
                    value += w * part.ln_mass;
                    of_ln += 0.5 * w * (1.0 - part.variance - part.mean * part.mean);
                });
            }
        }
    }
    (value, of_ln)
}

impl Censored {
    /// What is common to the precisions of all features.
    pub(super) fn scale(&self) -> Scale {
        Scale {
            prior: self.prior,
            range: RANGE,
        }
    }
    /// The bound of a column at its best local numbers and its derivative in $\ln\tau$: a cell of two ends is at
    /// its mean, less $\tau v/2$.
    fn bound(cells: ColumnCells<'_>, noise: f64) -> (f64, f64) {
        let (mut value, mut of_ln) = (0.0, 0.0);
        for ((cell, &m), &square) in cells.cells.iter().zip(cells.mean).zip(cells.square) {
            match Known::of(*cell, noise) {
                Known::Number(x) => {
                    let square = x * x - 2.0 * x * m + square;
                    value += ln_normal(noise, square);
                    of_ln += 0.5 - 0.5 * noise * square;
                }
                Known::Between(ends) => {
                    let eta = noise.sqrt() * m;
                    let lost = 0.5 * noise * (square - m * m);
                    value += ends.at(eta).ln_mass - lost;
                    of_ln += slope(ends, eta) - lost;
                }
            }
        }
        (value, of_ln)
    }
}

impl ColumnParameters for Censored {
    fn values(&self) -> &[f64] {
        &self.noise
    }
    fn set(&mut self, values: Vec<f64>) {
        self.noise = values;
    }
    /// The inverse variance of the values, limits among them.
    fn start(&self, data: &[Cell]) -> f64 {
        let (_, spread) = moments(data);
        if spread > 0.0 {
            spread.recip().clamp(START.0, START.1)
        } else {
            1.0
        }
    }
    fn name(&self) -> &'static str {
        "noise"
    }
    fn of_noise(&self, variance: f64) -> Option<f64> {
        Some(variance.recip().clamp(RANGE.0, RANGE.1))
    }
    fn learned(&self) -> Option<&dyn LearnedParameters> {
        Some(self)
    }
}

impl LearnedParameters for Censored {
    /// A step in $\ln\tau$, halved until the bound does not fall.
    fn update(&self, column: usize, cells: ColumnCells<'_>) -> f64 {
        let profile = |noise: f64| Self::bound(cells, noise);
        self.scale().ascend(self.noise_of(column), profile)
    }
    /// Slice sampling on $\ln\tau$.
    fn draw(&self, column: usize, cells: ColumnCells<'_>, rng: &mut ChaCha8Rng) -> f64 {
        let ln = |noise: f64| -> f64 {
            (cells.cells.iter().zip(cells.mean))
                .map(|(cell, eta)| Known::of(*cell, noise).ln_density(*eta, noise))
                .sum()
        };
        self.scale().slice(self.noise_of(column), ln, rng)
    }
    fn draw_prior(&self, rng: &mut ChaCha8Rng) -> f64 {
        self.scale().draw_prior(rng)
    }
    /// Density of $\ln\tau$.
    fn log_prior(&self, noise: f64) -> f64 {
        self.scale().log_prior(noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScalarLikelihood;
    use crate::cells::CellLikelihood;
    use polyview_special::{Dual, Real};

    const INF: f64 = f64::INFINITY;

    fn cells() -> Vec<Cell> {
        let known = [
            (0.4, f64::NAN),
            (0.7, INF),
            (-0.3, -INF),
            (-0.5, 1.5),
            (2.0, 1.0),
        ];
        let cell = |(value, end): (f64, f64)| Cell {
            column: 0,
            value,
            trials: 1.0,
            end,
        };
        known.map(cell).into()
    }

    /// spec/sites 11: intervals [-.5, 1.5] of precision 1 and [1, ∞) of precision 4.
    #[test]
    fn vectors_of_the_specification() {
        let of = |value: f64, end: f64, noise: f64, m: f64, v: f64| {
            let cell = Cell {
                value,
                end,
                ..cells()[0]
            };
            let e = Censored::default().expectation(cell, noise, m, v);
            [e.value, e.slope, e.curvature]
        };
        let close = |a: [f64; 3], b: [f64; 3]| {
            for (a, b) in a.into_iter().zip(b) {
                assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} {b}");
            }
        };
        let expected = [-0.5760079492605, 0.1456802118732, 0.729272280704];
        close(of(-0.5, 1.5, 1.0, 0.3, 0.5), expected);
        close(of(1.5, -0.5, 1.0, 0.3, 0.5), expected);
        close(
            of(1.0, INF, 4.0, -2.0, 1.0),
            [-22.68118108429, 12.35364181844, 3.868921446925],
        );
        close(
            of(1.0, INF, 4.0, 4.0, 4.0),
            [-0.3060419998706, 0.3550094879443, 0.361429472468],
        );
    }

    /// Slopes in the logarithm of the precision are those of differences, of both forms and of
    /// the density.
    #[test]
    fn slopes_in_the_noise() {
        let cells = cells();
        let mean = [0.3, -0.2, 0.9, 1.1, -0.4];
        let variance = [0.2, 0.5, 0.1, 0.3, 0.6];
        let square: Vec<f64> = mean.iter().zip(variance).map(|(m, v)| m * m + v).collect();
        let seen = ColumnCells {
            cells: &cells,
            mean: &mean,
            square: &square,
        };
        let (tau, h) = (2.3_f64, 1e-5_f64);
        let differ = |of: &dyn Fn(f64) -> (f64, f64)| {
            let slope = (of(tau * h.exp()).0 - of(tau * (-h).exp()).0) / (2.0 * h);
            assert!((of(tau).1 - slope).abs() < 1e-8, "{} {slope}", of(tau).1);
        };
        differ(&|t| Censored::bound(seen, t));
        differ(&|t| expected(&cells, t, (&mean, &variance)));
        let law = Censored::default();
        for (cell, eta) in cells.iter().zip(mean) {
            differ(&|t| {
                let eta = Dual::constant(eta);
                let at = law.ln_density(*cell, eta, Dual::variable(t));
                (at.value, t * at.slope)
            });
        }
        let values: f64 = (cells.iter().zip(mean).zip(variance))
            .map(|((c, m), v)| law.expectation(*c, tau, m, v).value)
            .sum();
        assert!((expected(&cells, tau, (&mean, &variance)).0 - values).abs() < 1e-12);
    }

    /// The bound of a cell is its log density, less half the precision of the noise for each
    /// unit of variance.
    #[test]
    fn the_bound_of_a_cell() {
        let mut law = Censored::default();
        law.set(vec![2.3]);
        for cell in cells() {
            for i in -20..=20 {
                let (mean, variance) = (f64::from(i) * 0.3, 0.7);
                let bound_at = |zeta: f64| {
                    let (site, constant) = law.evaluate(cell, zeta);
                    site.linear * mean - 0.5 * site.precision * (mean * mean + variance) + constant
                };
                let exact = Known::of(cell, 2.3).ln_density(mean, 2.3) - 0.5 * 2.3 * variance;
                assert!((bound_at(mean) - exact).abs() < 1e-10 * (1.0 + exact.abs()));
                for other in [mean - 1.0, mean + 0.01] {
                    assert!(bound_at(other) <= exact + 1e-10 * (1.0 + exact.abs()));
                }
            }
        }
    }
}
