use super::*;
use crate::cells::CellAugmentation;
use polyview_random::StreamKey;
use polyview_special::ln_gamma;

fn cell(value: f64) -> Cell {
    Cell {
        column: 0,
        value,
        trials: 1.0,
        end: f64::NAN,
    }
}

fn with(tau: f64) -> PoissonLogNormal {
    let mut law = PoissonLogNormal::default();
    law.set(vec![tau]);
    law
}

const PRECISIONS: [f64; 5] = [0.011, 0.3, 2.0, 40.0, 9e3];
const COUNTS: [f64; 6] = [0.0, 1.0, 3.0, 60.0, 4e4, 1e9];

/// Bound of a cell at η known and local number t.
fn bound(law: &PoissonLogNormal, y: f64, eta: f64, t: f64) -> f64 {
    let (site, offset) = law.evaluate(cell(y), t);
    let constant = offset + law.datum_offset(cell(y));
    site.linear * eta - 0.5 * site.precision * eta * eta + constant
}

#[test]
fn the_best_local_number_is_the_best() {
    for tau in PRECISIONS {
        let law = with(tau);
        for y in COUNTS {
            for eta in [-30.0, -4.0, 0.0, 1.3, 7.0, 25.0] {
                let t = law.optimise(cell(y), eta, f64::NAN);
                let at = |t: f64| bound(&law, y, eta, t);
                let close = 1e-11 * (1.0 + at(t).abs() + y * t.abs() + tau * eta * eta);
                for step in [1e-4, 0.01, 0.3, 2.0] {
                    for side in [-step, step] {
                        assert!(at(t + side) <= at(t) + close, "{tau} {y} {eta} {side}");
                    }
                }
                // and v is the best for that m: against any other normal law
                let rate = Rate::new(t, tau);
                let free = |m: f64, v: f64| {
                    let far = m - eta;
                    y * m - (m + 0.5 * v).exp() - 0.5 * tau * (far * far + v) + 0.5 * v.ln()
                };
                let own = free(rate.mean, rate.variance);
                for factor in [0.5, 0.9, 1.1, 2.0] {
                    for far in [-0.5, 0.0, 0.5] {
                        let m = rate.mean + far * rate.variance.sqrt();
                        assert!(free(m, factor * rate.variance) <= own + close);
                    }
                }
            }
        }
    }
}

#[test]
fn the_bound_is_below_the_law() {
    for tau in PRECISIONS {
        let law = with(tau);
        for y in COUNTS {
            for eta in [-3.0, 0.0, 2.0, 9.0] {
                let exact = law.log_density(cell(y), eta);
                let t = law.optimise(cell(y), eta, eta * eta);
                let close = 1e-11 * (1.0 + y * (1.0 + y).ln() + tau * eta * eta);
                for centre in [t, t - 0.4, t + 1.0] {
                    let found = bound(&law, y, eta, centre);
                    assert!(found <= exact + close, "{tau} {y} {eta}");
                }
                // a normal law is nearly that of the log rate of a large count
                if y > 1e3 && (eta - y.ln()).abs() < 5.0 {
                    assert!(exact - bound(&law, y, eta, t) < 1e-3 + close);
                }
            }
        }
    }
}

#[test]
fn the_law_sums_to_one_and_is_a_poisson_without_noise() {
    for (tau, eta, most) in [(0.8, 0.3, 4000), (5.0, 2.0, 400), (200.0, 3.0, 200)] {
        let law = with(tau);
        let mass: Vec<f64> = (0..most)
            .map(|y| law.log_density(cell(f64::from(y)), eta).exp())
            .collect();
        let sum: f64 = mass.iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "{tau}: {sum}");
        let moment = |power: i32| {
            let terms = mass.iter().enumerate();
            terms.map(|(y, p)| (y as f64).powi(power) * p).sum::<f64>()
        };
        let (mean, variance) = law.predict(0, eta, 0.0);
        assert!((moment(1) / mean - 1.0).abs() < 1e-3, "{tau}");
        if tau > 1.0 {
            assert!(((moment(2) - moment(1).powi(2)) / variance - 1.0).abs() < 1e-3);
        }
        let size = law.size(0).unwrap();
        assert!((mean + mean * mean / size - variance).abs() < 1e-9 * variance);
    }
    let (law, eta) = (with(1e9), 1.1_f64);
    for y in [0.0, 2.0, 9.0] {
        let poisson = y * eta - eta.exp() - ln_gamma(y + 1.0);
        assert!((law.log_density(cell(y), eta) - poisson).abs() < 1e-7);
    }
}

#[test]
fn drawn_log_rates_have_their_law() {
    let mut rng = StreamKey::new(3).rng();
    for (y, eta, tau) in [
        (0.0, 1.0, 0.5),
        (0.0, -4.0, 3.0),
        (3.0, 0.0, 1.0),
        (500.0, 2.0, 0.2),
        (1.0, 5.0, 40.0),
    ] {
        let law = with(tau);
        // moments of e^{yx - e^x} N(x; η, 1/τ) on a grid
        let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
        let top = law.log_density(cell(y), eta);
        for i in -200_000..200_000 {
            let x = f64::from(i) * 1e-4 + eta;
            let log = y * x - x.exp() - 0.5 * tau * (x - eta).powi(2) - ln_gamma(y + 1.0)
                + 0.5 * (tau / std::f64::consts::TAU).ln();
            let p = 1e-4 * (log - top).exp();
            mass += p;
            first += p * x;
            second += p * x * x;
        }
        assert!((mass - 1.0).abs() < 1e-8, "{y} {eta} {tau}: {mass}");
        let variance = second - first * first;
        let draws: Vec<f64> = (0..40_000)
            .map(|_| law.draw_local(cell(y), eta, &mut rng))
            .collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let spread = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - first).abs() < 4.5 * (variance / n).sqrt(), "{y}");
        assert!((spread / variance - 1.0).abs() < 0.05, "{y}: {spread}");
    }
    assert!(with(1.0).draw_local(cell(1.0), f64::NAN, &mut rng).is_nan());
}
