//! A datum from its log density alone: by sums over what it may be.

use polyview_core::Domain;
use polyview_random::{ChaCha8Rng, uniform_open01};
use polyview_special::{Dual, Expectation, Real};

use super::ScalarLikelihood;
use crate::cells::Cell;

/// Largest count that sums go to.
const MOST: usize = 2_000_000;
/// A sum over counts ends where terms are smaller than this share of the largest one, once they add up to
/// 1 but for `LEFT`: between two modes they are small as well.
const TAIL: f64 = 1e-17;
const LEFT: f64 = 1e-6;
/// So many terms so small in a row end it whatever they add up to.
const SMALL: usize = 100_000;
/// Grid of real numbers, $x = c + s\sinh t$: steps in t, and how far they go.
const STEP: f64 = 0.05;
const REACH: f64 = 24.0;

/// Whether a likelihood of that domain can know a datum.
pub(super) fn admits(domain: Domain, cell: Cell) -> bool {
    let x = cell.value;
    match domain {
        Domain::Binary => x == 0.0 || x == 1.0,
        Domain::Positive => x.is_finite() && x > 0.0,
        _ if domain.is_count() => {
            let most = if domain.has_trials() {
                cell.trials
            } else {
                f64::INFINITY
            };
            x.is_finite() && x >= 0.0 && x.fract() == 0.0 && x <= most
        }
        _ => x.is_finite(),
    }
}

/// What a datum may be with the probabilities of it: they add up to 1.
pub(super) struct Table {
    values: Vec<f64>,
    shares: Vec<f64>,
    /// Whether values stand for what lies between them, too.
    real: bool,
}

impl Table {
    fn of<L: ScalarLikelihood>(likelihood: &L, cell: Cell, eta: f64, parameter: f64) -> Self {
        let at =
            |value: f64| -> f64 { likelihood.ln_density(Cell { value, ..cell }, eta, parameter) };
        let domain = likelihood.domain();
        let (values, logs, real): (Vec<f64>, Vec<f64>, bool) = match domain {
            Domain::Binary => (vec![0.0, 1.0], vec![at(0.0), at(1.0)], false),
            _ if domain.is_count() => {
                let most = if domain.has_trials() {
                    cell.trials.max(0.0) as usize
                } else {
                    MOST
                };
                let (mut values, mut logs) = (Vec::new(), Vec::new());
                let (mut largest, mut sum, mut small) = (f64::NEG_INFINITY, 0.0, 0);
                for i in 0..=most {
                    let l = at(i as f64);
                    values.push(i as f64);
                    logs.push(l);
                    largest = largest.max(l);
                    sum += l.exp();
                    small = if l < largest + TAIL.ln() {
                        small + 1
                    } else {
                        0
                    };
                    if small > 0 && (sum > 1.0 - LEFT || small > SMALL) {
                        break;
                    }
                }
                (values, logs, false)
            }
            _ => {
                let scale = spread(likelihood, cell, eta, parameter);
                let (values, logs) = grid(domain, eta, scale)
                    .map(|(x, l)| (x, at(x) + l))
                    .unzip();
                (values, logs, true)
            }
        };
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares = logs.iter().map(|l| (l - largest).exp()).collect();
        Self::normalised(values, shares, real)
    }
    fn normalised(values: Vec<f64>, mut shares: Vec<f64>, real: bool) -> Self {
        let total: f64 = shares.iter().sum();
        for s in &mut shares {
            *s /= total;
        }
        Self {
            values,
            shares,
            real,
        }
    }
    /// Of a real datum whose predictor is normal with this mean and variance.
    pub(super) fn mixed<L: ScalarLikelihood>(
        likelihood: &L,
        cell: Cell,
        parameter: f64,
        (mean, variance): (f64, f64),
    ) -> Self {
        let own = spread(likelihood, cell, mean, parameter);
        let sharpness = likelihood.sharpness(parameter);
        let (values, shares) = grid(likelihood.domain(), mean, (own * own + variance).sqrt())
            .map(|(x, l)| {
                let at = Cell { value: x, ..cell };
                let density = Expectation::mean_of(mean, variance, sharpness, |eta| {
                    likelihood.ln_density(at, eta, parameter).exp()
                });
                (x, density * l.exp())
            })
            .unzip();
        Self::normalised(values, shares, true)
    }
    pub(super) fn moments(&self) -> (f64, f64) {
        // what has no share may be too large to be squared
        let pairs = || (self.values.iter().zip(&self.shares)).filter(|(_, p)| **p > 0.0);
        let mean: f64 = pairs().map(|(x, p)| x * p).sum();
        (mean, pairs().map(|(x, p)| (x - mean).powi(2) * p).sum())
    }
    /// The distribution function, with half of the cell that a real number lies in.
    pub(super) fn cdf(&self, x: f64) -> f64 {
        if x.is_nan() {
            return f64::NAN;
        }
        let below = self.values.partition_point(|v| *v <= x);
        let sum: f64 = self.shares[..below].iter().sum();
        if !self.real || below == 0 || below == self.values.len() {
            return sum;
        }
        // cells of the grid are centred at its points
        let (a, b) = (self.values[below - 1], self.values[below]);
        let part = (x - a) / (b - a);
        sum + (part - 0.5)
            * if part < 0.5 {
                self.shares[below - 1]
            } else {
                self.shares[below]
            }
    }
    /// The value where the distribution function reaches `p`.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        let mut sum = 0.0;
        for (i, share) in self.shares.iter().enumerate() {
            if sum + share >= p || i + 1 == self.shares.len() {
                if !self.real {
                    return self.values[i];
                }
                let part = ((p - sum) / share).clamp(0.0, 1.0) - 0.5;
                let j = if part < 0.0 {
                    i.saturating_sub(1)
                } else {
                    (i + 1).min(self.values.len() - 1)
                };
                return self.values[i] + part.abs() * (self.values[j] - self.values[i]);
            }
            sum += share;
        }
        f64::NAN
    }
}

/// A grid of real numbers $u = c + s\sinh t$ with $\ln\cosh t$: fine near the centre, and far
/// enough out for heavy tails. Of positive data they are logarithms: $e^u$, with $u$ more for its
/// slope, where it is a number above 0.
fn grid(domain: Domain, centre: f64, scale: f64) -> impl Iterator<Item = (f64, f64)> {
    let steps = (REACH / STEP) as i32;
    let positive = domain.is_positive();
    let point = move |i: i32| {
        let t = f64::from(i) * STEP;
        let (u, slope) = (centre + scale * t.sinh(), t.cosh().ln());
        if positive {
            (u.exp(), slope + u)
        } else {
            (u, slope)
        }
    };
    let is_datum = move |x: f64| !positive || x.is_normal();
    (-steps..=steps)
        .map(point)
        .filter(move |(x, _)| is_datum(*x))
}

/// How far a real datum spreads about its predictor, near which its density is largest; of a
/// positive datum its logarithm.
fn spread<L: ScalarLikelihood>(likelihood: &L, cell: Cell, eta: f64, parameter: f64) -> f64 {
    let value = if likelihood.domain().is_positive() {
        eta.exp()
    } else {
        eta
    };
    let at = Cell { value, ..cell };
    let slope = |e: f64| -> f64 {
        let theta = Real::constant(parameter);
        likelihood.ln_density(at, Dual::variable(e), theta).slope
    };
    let h = 1e-4 / likelihood.sharpness(parameter).max(1e-12);
    let curvature = (slope(eta - h) - slope(eta + h)) / (2.0 * h);
    if curvature.is_finite() && curvature > 0.0 {
        curvature.sqrt().recip()
    } else {
        likelihood.sharpness(parameter).recip()
    }
}

pub(super) fn moments<L: ScalarLikelihood>(
    likelihood: &L,
    cell: Cell,
    eta: f64,
    parameter: f64,
) -> (f64, f64) {
    Table::of(likelihood, cell, eta, parameter).moments()
}

pub(super) fn cdf<L: ScalarLikelihood>(
    likelihood: &L,
    cell: Cell,
    eta: f64,
    parameter: f64,
) -> f64 {
    Table::of(likelihood, cell, eta, parameter).cdf(cell.value)
}

pub(super) fn draw<L: ScalarLikelihood>(
    likelihood: &L,
    cell: Cell,
    eta: f64,
    parameter: f64,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let u = uniform_open01(rng);
    Table::of(likelihood, cell, eta, parameter).quantile(u)
}

/// One over the expected squared slope of the log density.
pub(super) fn inverse_information<L: ScalarLikelihood>(
    likelihood: &L,
    column: usize,
    level: f64,
    parameter: f64,
) -> f64 {
    let cell = Cell {
        column,
        value: 0.0,
        trials: 1.0,
        end: f64::NAN,
    };
    let table = Table::of(likelihood, cell, level, parameter);
    let theta = Real::constant(parameter);
    let information: f64 = (table.values.iter().zip(&table.shares))
        .filter(|(_, p)| **p > 0.0)
        .map(|(value, p)| {
            let cell = Cell {
                value: *value,
                ..cell
            };
            let at = likelihood.ln_density(cell, Dual::variable(level), theta);
            p * at.slope * at.slope
        })
        .sum();
    information.recip()
}

/// The predictor under which the cells are most likely, with a weak pull towards 0: halved
/// steps of Newton's.
pub(super) fn best_predictor<L: ScalarLikelihood>(
    likelihood: &L,
    cells: &[Cell],
    parameter: f64,
) -> f64 {
    /// Precision of the pull, so that cells that are all alike keep it finite.
    const PULL: f64 = 0.1;
    const STEPS: usize = 60;
    if cells.is_empty() {
        return 0.0;
    }
    let variance = 0.1 / likelihood.sharpness(parameter).powi(2);
    let at = |m: f64| {
        let (mut value, mut slope, mut curvature) = (-0.5 * PULL * m * m, -PULL * m, PULL);
        for cell in cells {
            let e = likelihood.expectation(*cell, parameter, m, variance);
            value += e.value;
            slope += e.slope;
            curvature += e.curvature.max(0.0);
        }
        (value, slope, curvature)
    };
    let mut m = 0.0;
    let mut here = at(m);
    for _ in 0..STEPS {
        let mut step = here.1 / here.2;
        let mut next = at(m + step);
        // what is no number has not risen
        let rose = |next: f64| next >= here.0;
        while !rose(next.0) && step.abs() > 1e-9 * (1.0 + m.abs()) {
            step *= 0.5;
            next = at(m + step);
        }
        if !rose(next.0) || step.abs() <= 1e-6 * (1.0 + m.abs()) {
            break;
        }
        m += step;
        here = next;
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Poisson;
    impl ScalarLikelihood for Poisson {
        fn needs(&self) -> &'static str {
            "counts"
        }
        fn domain(&self) -> Domain {
            Domain::COUNTS
        }
        fn ln_density<R: Real>(&self, cell: Cell, eta: R, _parameter: R) -> R {
            eta * cell.value - eta.exp() - polyview_special::ln_gamma(cell.value + 1.0)
        }
    }

    /// Counts of which some are zero whatever the rate, `odds` to 1.
    #[derive(Clone, Debug)]
    struct ZeroInflated;
    impl ScalarLikelihood for ZeroInflated {
        fn needs(&self) -> &'static str {
            "counts"
        }
        fn domain(&self) -> Domain {
            Domain::COUNTS
        }
        fn ln_density<R: Real>(&self, cell: Cell, eta: R, odds: R) -> R {
            let (rate, x) = (eta.exp(), cell.value);
            let counted = if x == 0.0 {
                (odds + (-rate).exp()).ln()
            } else {
                eta * x - rate - polyview_special::ln_gamma(x + 1.0)
            };
            counted - odds.ln_1p()
        }
    }

    /// Between zeros and counts about a large rate there is next to nothing, and the sum goes on.
    #[test]
    fn counts_with_two_modes_have_the_moments_of_both() {
        let odds = 0.25;
        for rate in [0.5, 10.0, 60.0, 3000.0] {
            let (mean, variance) = ZeroInflated.moments(cell(0.0), f64::ln(rate), odds);
            let zeros = odds / (1.0 + odds);
            assert!((mean / (rate * (1.0 - zeros)) - 1.0).abs() < 1e-9, "{mean}");
            let exact = (rate + zeros * rate * rate) * (1.0 - zeros);
            assert!((variance / exact - 1.0).abs() < 1e-9, "{variance}");
        }
        let below = ZeroInflated.cdf(cell(20.0), 60f64.ln(), odds);
        assert!((below - 0.2).abs() < 1e-8, "{below}");
    }

    #[derive(Clone, Debug)]
    struct Laplace;
    impl ScalarLikelihood for Laplace {
        fn needs(&self) -> &'static str {
            "numbers"
        }
        fn domain(&self) -> Domain {
            Domain::Reals
        }
        fn ln_density<R: Real>(&self, cell: Cell, eta: R, scale: R) -> R {
            // rounded at the top
            let u = (eta - cell.value) / scale;
            -(u.square() + 1e-4).sqrt() - scale.ln() - 2f64.ln()
        }
        fn sharpness(&self, scale: f64) -> f64 {
            10.0 / scale
        }
    }

    fn cell(value: f64) -> Cell {
        Cell {
            column: 0,
            value,
            trials: 1.0,
            end: f64::NAN,
        }
    }

    #[test]
    fn moments_and_distribution_come_from_the_density() {
        let (mean, variance) = Poisson.moments(cell(0.0), 3f64.ln(), 1.0);
        assert!((mean - 3.0).abs() < 1e-12 && (variance - 3.0).abs() < 1e-11);
        let p = Poisson.cdf(cell(1.0), 3f64.ln(), 1.0);
        assert!((p - 4.0 * (-3.0f64).exp()).abs() < 1e-12);
        assert!((Poisson.link_variance(0, 3f64.ln(), 1.0) - 1.0 / 3.0).abs() < 1e-10);
        let start = Poisson.start_intercept(&[cell(2.0), cell(4.0), cell(3.0)], 1.0);
        assert!((start - 3f64.ln()).abs() < 0.1, "{start}");
        let (mean, variance) = Laplace.moments(cell(0.0), 5.0, 0.5);
        assert!(
            (mean - 5.0).abs() < 1e-6 && (variance - 0.5).abs() < 1e-3,
            "{variance}"
        );
        let p = Laplace.cdf(cell(5.5), 5.0, 0.5);
        assert!((p - (1.0 - 0.5 * (-1.0f64).exp())).abs() < 1e-3, "{p}");
    }

    #[test]
    fn draws_have_the_distribution() {
        let mut rng = polyview_random::StreamKey::new(3).rng();
        let draws: Vec<f64> = (0..4000)
            .map(|_| Laplace.draw_datum(cell(0.0), 5.0, 0.5, &mut rng))
            .collect();
        let below = draws.iter().filter(|x| **x < 5.5).count() as f64 / 4000.0;
        assert!((below - (1.0 - 0.5 * (-1.0f64).exp())).abs() < 0.02);
    }
}
