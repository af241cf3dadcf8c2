use polyview_random::InverseGaussian;

use crate::support::{TabulatedCdf, assert_ks, assert_mean, assert_variance, draws, rng};

/// Mean and shape, from nearly constant to nearly Lévy.
const CASES: [(f64, f64); 8] = [
    (1.0, 1.0),
    (0.3, 5.0),
    (1e-6, 1.0),
    (20.0, 1.0),
    (1e3, 1.0),
    (1e8, 1.0),
    (1e12, 1e-3),
    (2.0, 1e4),
];

#[test]
fn follows_its_law() {
    for (seed, (mean, shape)) in CASES.into_iter().enumerate() {
        let mut rng = rng(300 + seed as u64);
        let law = InverseGaussian::new(mean, shape).unwrap();
        let sample = draws(60_000, || law.sample(&mut rng).ln());
        // density of the logarithm, with its own scale of variation around its own mode
        let ln_density = |s: f64| {
            let gap = (s.exp() - mean) / mean;
            -0.5 * s - 0.5 * shape * gap * gap / s.exp()
        };
        let r = mean / shape;
        let mode = (mean / (0.5 * r + (1.0 + 0.25 * r * r).sqrt())).ln();
        let table = TabulatedCdf::around(mode, ln_density);
        assert_ks(&format!("IG({mean}, {shape})"), sample, |s| table.at(s));
    }
}

#[test]
fn moments() {
    for (seed, (mean, shape)) in [(1.0, 2.0), (0.01, 1.0), (3.0, 50.0)]
        .into_iter()
        .enumerate()
    {
        let mut rng = rng(310 + seed as u64);
        let law = InverseGaussian::new(mean, shape).unwrap();
        let sample = draws(100_000, || law.sample(&mut rng));
        let variance = mean * mean * mean / shape;
        assert_mean("IG", &sample, mean, variance.sqrt());
        assert_variance("IG", &sample, mean, variance);
        // E[1/X] = 1/mean + 1/shape
        let inverse: Vec<f64> = sample.iter().map(|x| 1.0 / x).collect();
        let sd = (1.0 / (mean * shape) + 2.0 / (shape * shape)).sqrt();
        assert_mean("1/IG", &inverse, 1.0 / mean + 1.0 / shape, sd);
    }
}

/// An infinite mean is the Lévy law, whose reciprocal is `N^2 / shape`.
#[test]
fn infinite_mean_is_the_levy_law() {
    for (seed, mean) in [f64::INFINITY, f64::MAX, 1e60].into_iter().enumerate() {
        let mut rng = rng(320 + seed as u64);
        let law = InverseGaussian::new(mean, 0.7).unwrap();
        let sample = draws(60_000, || (0.7 / law.sample(&mut rng)).sqrt());
        assert_ks("Levy", sample, |x| libm::erf(x / std::f64::consts::SQRT_2));
    }
}

#[test]
fn extreme_parameters_stay_positive() {
    let mut rng = rng(330);
    for mean in [1e-300, 1e-12, 1.0, 1e8, 1e300, f64::INFINITY] {
        for shape in [1e-280, 1e-12, 1.0, 1e12, 1e280] {
            let law = InverseGaussian::new(mean, shape).unwrap();
            for _ in 0..300 {
                let x = law.sample(&mut rng);
                assert!(x > 0.0 && x < f64::INFINITY, "IG({mean}, {shape}) gave {x}");
            }
        }
    }
}
