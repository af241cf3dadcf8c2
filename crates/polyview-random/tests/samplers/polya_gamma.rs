use std::f64::consts::PI;

use polyview_random::{PolyaGamma, pg_mean, pg_variance};
use statrs::function::gamma::ln_gamma;

use crate::support::{TabulatedCdf, assert_ks, assert_mean, assert_variance, draws, rng};

const TILTS: [f64; 9] = [0.0, 1e-8, 0.1, 0.5, 1.0, 2.5, -6.0, 20.0, 1e3];

fn sample(seed: u64, b: f64, c: f64, n: usize) -> Vec<f64> {
    let mut rng = rng(seed);
    let law = PolyaGamma::new(b, c).unwrap();
    draws(n, || law.sample(&mut rng))
}

/// `ln cosh(x)` for a real argument.
fn ln_cosh(x: f64) -> f64 {
    x.abs() + (-2.0 * x.abs()).exp().ln_1p() - std::f64::consts::LN_2
}

/// `E[exp(-t X)]` in closed form, without cancellation.
fn laplace(b: f64, c: f64, t: f64) -> f64 {
    let x = 0.5 * c.abs();
    let y = (x * x + 0.5 * t).sqrt();
    let fading = (-2.0 * x).exp().ln_1p() - (-2.0 * y).exp().ln_1p();
    (b * (fading - 0.5 * t / (x + y))).exp()
}

#[test]
fn moments_and_laplace_transform() {
    let mut seed = 1000;
    for b in [
        1e-3, 0.2, 0.5, 1.0, 1.7, 2.0, 3.0, 7.4, 16.0, 16.5, 60.0, 200.0, 1e5,
    ] {
        for c in TILTS {
            seed += 1;
            let n = 20_000;
            let x = sample(seed, b, c, n);
            let name = format!("PG({b}, {c})");
            let (mean, variance) = (pg_mean(b, c), pg_variance(b, c));
            assert!(x.iter().all(|&v| v > 0.0), "{name}");
            assert_mean(&name, &x, mean, variance.sqrt());
            // with tiny b the sample's own fourth moment is no guide to the error of its variance
            if b >= 0.2 {
                assert_variance(&name, &x, mean, variance);
            }
            for t in [0.3 / mean, 2.0 / mean, 20.0 / mean] {
                let e: Vec<f64> = x.iter().map(|v| (-t * v).exp()).collect();
                let first = laplace(b, c, t);
                let deviation = (laplace(b, c, 2.0 * t) - first * first).max(1e-24).sqrt();
                assert_mean(&format!("{name}, t = {t}"), &e, first, deviation);
            }
        }
    }
}

/// Density of `J = 4 PG(1, 2z)` from the series in `exp(-x)`, which the sampler never uses, and for
/// small arguments from the other one.
fn ln_density_of_one(x: f64, z: f64) -> f64 {
    let series = |term: &dyn Fn(f64) -> f64| -> f64 {
        (0..60)
            .map(|n| {
                if n % 2 == 0 {
                    term(f64::from(n))
                } else {
                    -term(f64::from(n))
                }
            })
            .sum()
    };
    let density = if x > 0.4 {
        series(&|n| PI * (n + 0.5) * (-(n + 0.5).powi(2) * PI * PI * x / 2.0).exp())
    } else {
        let power = (2.0 / (PI * x)).powf(1.5) * PI;
        series(&|n| power * (n + 0.5) * (-2.0 * (n + 0.5).powi(2) / x).exp())
    };
    density.max(1e-300).ln() - 0.5 * z * z * x
}

#[test]
fn one_follows_its_series_law() {
    for (i, c) in [0.0, 0.3, 1.0, 1.5, 1.6, 3.0, 10.0, 40.0]
        .into_iter()
        .enumerate()
    {
        let sample = sample(1200 + i as u64, 1.0, c, 200_000);
        let z = 0.5 * c;
        let table = TabulatedCdf::new((0.01f64).ln(), (25f64).ln(), |s| {
            ln_density_of_one(s.exp(), z) + s
        });
        assert_ks(&format!("PG(1, {c})"), sample, |x| table.at((4.0 * x).ln()));
    }
}

/// Density of `J` for a shape below one: the alternating series, and its leading exponential where
/// the series has lost its digits.
fn ln_density_below_one(x: f64, h: f64, z: f64) -> f64 {
    let tilt = -0.5 * z * z * x;
    if x > 4.0 {
        // the sum without its first Gamma variable has mean 2h/pi^2 under the tilt of that one
        let correction = 1.0 + (1.0 - h) * 2.0 * h / (PI * PI) / x;
        return h * (PI / 2.0).ln() + (h - 1.0) * x.ln() - ln_gamma(h) - PI * PI * x / 8.0
            + correction.ln()
            + tilt;
    }
    let mut weight = 1.0;
    let mut sum = 0.0;
    for n in 0..80 {
        let n = f64::from(n);
        sum += weight * (2.0 * n + h) / h * (-2.0 * n * (n + h) / x).exp();
        weight *= -(n + h) / (n + 1.0);
    }
    h * 2f64.ln() + h.ln() - 0.5 * (2.0 * PI * x.powi(3)).ln() - h * h / (2.0 * x) + sum.ln() + tilt
}

#[test]
fn fractions_follow_their_series_law() {
    let mut seed = 1220;
    for b in [0.02, 0.3, 0.5, 0.9] {
        for c in [0.0, 1.0, 8.0] {
            seed += 1;
            let sample = sample(seed, b, c, 80_000);
            let (low, high) = ((b * b / 120.0).ln(), (40f64).ln());
            let table =
                TabulatedCdf::new(low, high, |s| ln_density_below_one(s.exp(), b, 0.5 * c) + s);
            assert_ks(&format!("PG({b}, {c})"), sample, |x| {
                table.at((4.0 * x).ln())
            });
        }
    }
}

/// Complex numbers, as far as the characteristic function needs them.
#[derive(Clone, Copy)]
struct Complex(f64, f64);

impl Complex {
    fn sqrt(self) -> Self {
        let r = self.0.hypot(self.1);
        let re = f64::midpoint(r, self.0).sqrt();
        Self(re, self.1 / (2.0 * re))
    }

    /// `ln cosh` for a positive real part.
    fn ln_cosh(self) -> Self {
        let size = (-2.0 * self.0).exp();
        let (re, im) = (
            1.0 + size * (-2.0 * self.1).cos(),
            size * (-2.0 * self.1).sin(),
        );
        Self(
            self.0 + re.hypot(im).ln() - std::f64::consts::LN_2,
            self.1 + im.atan2(re),
        )
    }
}

/// Distribution function of PG(b, c), b >= 1, from its characteristic function (Gil-Pelaez), on a
/// grid of `mean + k sd`.
fn inverted_cdf(b: f64, c: f64) -> impl Fn(f64) -> f64 {
    let (mean, sd) = (pg_mean(b, c), pg_variance(b, c).sqrt());
    let (low, high) = ((mean - 6.0 * sd).max(0.0), mean + 12.0 * sd);
    // |phi| falls like exp(-b sqrt(t)/2) or like a Gaussian
    let top = (80.0 / b).powi(2).max(12.0 / sd);
    let nodes = 6000;
    let step = top / f64::from(nodes);
    let table: Vec<(f64, Complex)> = (0..nodes)
        .map(|i| {
            let t = step * (f64::from(i) + 0.5);
            let y = Complex(0.25 * c * c, -0.5 * t).sqrt().ln_cosh();
            let modulus = (b * (ln_cosh(0.5 * c) - y.0)).exp();
            (t, Complex(modulus / t, -b * y.1))
        })
        .filter(|(_, phi)| phi.0 > 1e-14)
        .collect();
    let cells = 300;
    let width = (high - low) / f64::from(cells);
    let values: Vec<f64> = (0..=cells)
        .map(|i| {
            let x = low + width * f64::from(i);
            let integral: f64 = table
                .iter()
                .map(|(t, phi)| phi.0 * (phi.1 - t * x).sin())
                .sum();
            (0.5 - integral * step / PI).clamp(0.0, 1.0)
        })
        .collect();
    move |x| {
        let place = ((x - low) / width).clamp(0.0, f64::from(cells) - 1e-9);
        let cell = place as usize;
        values[cell] + (values[cell + 1] - values[cell]) * (place - cell as f64)
    }
}

#[test]
fn larger_shapes_follow_the_inverted_characteristic_function() {
    let mut seed = 1240;
    for b in [1.0, 1.6, 2.0, 5.0, 12.5, 17.0, 40.0, 300.0] {
        for c in [0.0, 1.0, 4.0] {
            seed += 1;
            let sample = sample(seed, b, c, 80_000);
            assert_ks(&format!("PG({b}, {c})"), sample, inverted_cdf(b, c));
        }
    }
}

#[test]
fn sign_of_the_tilt_does_not_matter() {
    assert_eq!(sample(1300, 2.5, 1.5, 50), sample(1300, 2.5, -1.5, 50));
}

#[test]
fn extreme_parameters_stay_finite() {
    let mut rng = rng(1310);
    for b in [
        1e-300, 1e-100, 1e-10, 0.5, 1.0, 16.0, 1e3, 1e15, 1e100, 1e300,
    ] {
        for c in [0.0, 1e-300, 1e-10, 1.0, 50.0, 800.0, 1e8, 1e150] {
            let law = PolyaGamma::new(b, c).unwrap();
            for _ in 0..50 {
                let x = law.sample(&mut rng);
                assert!((0.0..f64::INFINITY).contains(&x), "PG({b}, {c}) gave {x}");
                if b >= 1e6 {
                    let gap = (x / law.mean() - 1.0).abs();
                    assert!(gap < 1e-14 + 20.0 / b.sqrt(), "PG({b}, {c}): {x}");
                }
            }
        }
    }
}

/// Mean and variance against 30-digit values.
#[test]
fn moment_functions() {
    for (c, mean, variance) in MOMENTS {
        for c in [c, -c] {
            assert!(
                (pg_mean(1.0, c) / mean - 1.0).abs() < 1e-15 * 4.0,
                "mean at {c}"
            );
            assert!(
                (pg_variance(1.0, c) / variance - 1.0).abs() < 1e-15 * 8.0,
                "variance at {c}"
            );
        }
        assert_eq!(pg_mean(3.0, c), 3.0 * pg_mean(1.0, c));
    }
    assert_eq!(pg_mean(2.0, 0.0), 0.5);
    assert!(pg_mean(1.0, f64::NAN).is_nan() && pg_variance(1.0, f64::NAN).is_nan());
}
/// Tilt, mean and variance at b = 1.
const MOMENTS: [(f64, f64, f64); 12] = [
    (1e-9, 0.25, 0.041666666666666664),
    (1e-3, 0.24999997916666875, 0.0416666583333346),
    (0.015, 0.24999531260546634, 0.04166479173069932),
    (0.0199, 0.24999175011837008, 0.04166336678168631),
    (0.0201, 0.24999158346503628, 0.04166330012311443),
    (0.5, 0.24491866240370913, 0.03965980080845856),
    (1.4999, 0.21172048874910523, 0.027810180602307968),
    (1.5001, 0.2117121461003948, 0.027807477534044722),
    (3.0, 0.1508580422741444, 0.011742375838136919),
    (30.0, 0.016666666666663547, 1.851851851841108e-05),
    (300.0, 0.0016666666666666668, 1.8518518518518518e-08),
    (1e6, 5e-07, 5e-19),
];
