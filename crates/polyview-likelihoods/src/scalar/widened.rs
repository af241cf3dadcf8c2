//! Log densities of data whose predictors are uncertain by a known variance (spec/sites 5).

use polyview_special::{Dual, Expectation, Real};

use super::{ScalarLikelihood, logistic};
use crate::cells::Cell;

/// Nodes of the normal law of the widened density's predictor, that of weights and intercepts
/// alone, with their weights (Gauss and Hermite, five).
const OUTER: [(f64, f64); 5] = [
    (-2.856_970_013_872_806, 0.011_257_411_327_720_7),
    (-1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (2.856_970_013_872_806, 0.011_257_411_327_720_7),
];

/// What is negligible beside the peak of an integrand, nats.
const NEGLIGIBLE: f64 = -36.0;
/// Most nodes on either side of a peak.
const MOST: usize = 4000;
/// A spread that changes no density.
const NO_SPREAD: f64 = 1e-12;

/// $\mathrm E\,M$ with its derivatives by the node form (spec/sites 1.3) under
/// $N(\text{mean}, \text{variance})$, of a function that is given with its slope.
pub(super) fn outer(
    mean: f64,
    variance: f64,
    mut function: impl FnMut(f64) -> (f64, f64),
) -> Expectation {
    let s = variance.max(Expectation::LEAST_VARIANCE).sqrt();
    let mut out = Expectation::default();
    for (u, w) in OUTER {
        let (value, slope) = function(mean + s * u);
        out.value += w * value;
        out.slope += w * slope;
        out.curvature -= w * u * slope;
    }
    out.curvature /= s;
    out
}

/// Where $\ln p(x\mid\eta) - (\eta - m)^2/2v$ is largest, and $-\partial^2\ln p$ there: by
/// halved steps of Newton's.
pub(super) fn peak<L: ScalarLikelihood>(
    likelihood: &L,
    cell: Cell,
    theta: f64,
    (m, v): (f64, f64),
) -> (f64, f64) {
    const STEPS: usize = 60;
    let h = 1e-4 / likelihood.sharpness(theta).max(1e-12);
    let slope =
        |eta: f64| (likelihood.ln_density(cell, Dual::variable(eta), Dual::constant(theta))).slope;
    let ln = |eta: f64| likelihood.ln_density(cell, eta, theta) - 0.5 * (eta - m).powi(2) / v;
    let curvature = |eta: f64| (slope(eta - h) - slope(eta + h)) / (2.0 * h);
    let mut eta = m;
    let mut here = ln(eta);
    for _ in 0..STEPS {
        let c = curvature(eta).max(0.0) + v.recip();
        let mut step = (slope(eta) - (eta - m) / v) / c;
        while ln(eta + step) < here && step.abs() > 1e-12 * (1.0 + eta.abs()) {
            step *= 0.5;
        }
        if !step.is_finite() || step.abs() <= 1e-9 * (1.0 + eta.abs()) {
            break;
        }
        eta += step;
        here = ln(eta);
    }
    (eta, curvature(eta))
}

/// The density of a cell on equal steps about the peak of what it is mixed to (spec/sites 4.3).
pub(super) struct Grid {
    /// Predictors and $\ln p(x\mid\eta)$ there.
    nodes: Vec<(f64, f64)>,
    step: f64,
    spread: f64,
}

impl Grid {
    /// Fine and wide enough for all means between `m` less and plus `reach`.
    pub(super) fn new<L: ScalarLikelihood>(
        likelihood: &L,
        cell: Cell,
        theta: f64,
        (m, spread): (f64, f64),
        reach: f64,
    ) -> Self {
        let (peak, curvature) = peak(likelihood, cell, theta, (m, spread));
        let width = (curvature.max(0.0) + spread.recip()).sqrt().recip();
        let step = 0.35 * width.min(3.0 / likelihood.sharpness(theta));
        let at = |eta: f64| (eta, likelihood.ln_density(cell, eta, theta));
        // beyond the means that are asked for the farther one counts
        let ends = [m - reach, m, m + reach];
        let part = |(eta, ln): (f64, f64)| ends.map(|m| ln - 0.5 * (eta - m).powi(2) / spread);
        let mut nodes = vec![at(peak)];
        let top = part(nodes[0]);
        for direction in [-step, step] {
            let mut top = top;
            for i in 1..MOST {
                let node = at(peak + i as f64 * direction);
                let here = part(node);
                nodes.push(node);
                let mut done = true;
                for (top, here) in top.iter_mut().zip(here) {
                    *top = top.max(here);
                    done &= here.is_nan() || here - *top <= NEGLIGIBLE;
                }
                if done {
                    break;
                }
            }
        }
        Self {
            nodes,
            step,
            spread,
        }
    }
    /// $\ln\int p(x\mid\eta)N(\eta; m, \kappa)\,d\eta$ and its derivative in $m$, both exact of the sum
    /// over the nodes.
    pub(super) fn mixed(&self, m: f64) -> (f64, f64) {
        let ln = |(eta, ln): (f64, f64)| ln - 0.5 * (eta - m).powi(2) / self.spread;
        let top = (self.nodes.iter()).fold(f64::NEG_INFINITY, |top, n| top.max(ln(*n)));
        let (mut sum, mut pull) = (0.0, 0.0);
        for node in &self.nodes {
            let part = (ln(*node) - top).exp();
            sum += part;
            pull += part * (node.0 - m);
        }
        let normal = 0.5 * (2.0 * std::f64::consts::PI * self.spread).ln();
        (
            top + (sum * self.step).ln() - normal,
            pull / (sum * self.spread),
        )
    }
}

/// $\mathrm E\,M(\eta, \kappa)$ of a cell under $N(\text{mean}, \text{variance})$ with its derivatives,
/// $M = \ln\mathrm E\_{N(\xi; \eta, \kappa)}p(x\mid\xi)$, from the log density alone.
pub(super) fn expectation<L: ScalarLikelihood>(
    likelihood: &L,
    cell: Cell,
    theta: f64,
    (mean, variance): (f64, f64),
    spread: f64,
) -> Expectation {
    if spread < NO_SPREAD {
        return likelihood.expectation(cell, theta, mean, variance);
    }
    let reach = OUTER[4].0 * variance.max(0.0).sqrt();
    let grid = Grid::new(likelihood, cell, theta, (mean, spread), reach);
    outer(mean, variance, |m| grid.mixed(m))
}

/// $\ln\mathrm E\_{N(\xi; \eta, \kappa)}\sigma(\xi)$ and its derivative in $\eta$.
pub(super) fn ln_logistic(eta: f64, spread: f64) -> (f64, f64) {
    if let Some((value, slope)) = logistic::widened(eta, spread) {
        return (value.ln(), slope / value);
    }
    // both ends of the logistic function as they are where they are all that is seen
    let (mut sum, mut slope) = (0.0, 0.0);
    Expectation::at_nodes(eta, spread, 1.0, |w, x| {
        let t = (-x.abs()).exp();
        let likely = 1.0 / (1.0 + t);
        sum += w * if x >= 0.0 { likely } else { t * likely };
        slope += w * t * likely * likely;
    });
    if sum > f64::MIN_POSITIVE {
        (sum.ln(), slope / sum)
    } else {
        // e^x alone is left
        (eta + 0.5 * spread, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bernoulli, NegativeBinomial, Probit};

    fn cell(value: f64) -> Cell {
        Cell {
            column: 0,
            value,
            trials: 1.0,
            end: f64::NAN,
        }
    }

    /// Against sums of many steps.
    fn by_steps<L: ScalarLikelihood>(l: &L, x: f64, theta: f64, m: f64, spread: f64) -> f64 {
        let (steps, reach) = (40_000, 12.0);
        let h = 2.0 * reach / f64::from(steps);
        let sum: f64 = (0..=steps)
            .map(|i| {
                let u = f64::from(i) * h - reach;
                h * (l.ln_density(cell(x), m + spread.sqrt() * u, theta) - 0.5 * u * u).exp()
            })
            .sum();
        sum.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
    }

    fn check<L: ScalarLikelihood>(l: &L, theta: f64, data: &[f64]) {
        for &x in data {
            for (m, v, spread) in [(0.4, 0.02, 0.5), (-1.0, 0.3, 2.0), (2.5, 1e-4, 6.0)] {
                let exact = by_steps(l, x, theta, m, spread);
                let none = expectation(l, cell(x), theta, (m, 0.0), spread);
                assert!(
                    (none.value - exact).abs() < 1e-5 * (1.0 + exact.abs()),
                    "{x} {m}"
                );
                // what the row's equations take is what the objective does
                let at = |m: f64, v: f64| {
                    let mut out = [Expectation::default()];
                    let data = crate::cells::ColumnData {
                        column: 0,
                        values: &[x],
                        trials: None,
                        ends: None,
                    };
                    l.widened_expectations(data, theta, (&[m], &[v]), &[spread], &mut out);
                    out[0]
                };
                let (e, h) = (at(m, v), 1e-4 * v.min(0.1));
                assert!((at(m, 0.0).value - exact).abs() < 1e-5 * (1.0 + exact.abs()));
                let d = 1e-4;
                let slope = (at(m + d, v).value - at(m - d, v).value) / (2.0 * d);
                assert!(
                    (e.slope - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                    "{x} {m}"
                );
                let by_v = (at(m, v + h).value - at(m, v - h).value) / (2.0 * h);
                assert!((e.curvature + 2.0 * by_v).abs() < 1e-5, "{x} {m} {v}");
                assert!(e.curvature >= -1e-9);
            }
        }
    }

    #[test]
    fn widened_densities_and_their_slopes() {
        check(&Bernoulli::default(), 1.0, &[0.0, 1.0]);
        check(&Probit::default(), 1.0, &[0.0, 1.0]);
        check(&NegativeBinomial::default(), 2.0, &[0.0, 5.0, 60.0]);
    }

    /// Where the closed form ends and the nodes begin.
    #[test]
    fn logistic_is_one_function() {
        for spread in [1e-12_f64, 0.3, 4.0, 30.0] {
            for i in 0..400 {
                let eta = -40.0 + 0.15 * f64::from(i);
                let exact = by_steps(&Bernoulli::default(), 1.0, 1.0, eta, spread.max(1e-9));
                let (value, slope) = ln_logistic(eta, spread);
                let gap = (value - exact).abs();
                assert!(gap < 5e-5, "{eta} {spread}: {value} {exact}");
                assert!(
                    (-1e-9..1.0 + 1e-4).contains(&slope),
                    "{eta} {spread}: {slope}"
                );
            }
        }
    }

    #[test]
    fn logistic_far_out() {
        for eta in [-900.0, -50.0, 50.0] {
            let (value, slope) = ln_logistic(eta, 0.3);
            let exact = if eta < 0.0 { eta + 0.15 } else { 0.0 };
            assert!((value - exact).abs() < 1e-9 && (slope - f64::from(eta < 0.0)).abs() < 1e-9);
        }
    }
}
