use polyview_random::{Gamma, MIN_SHAPE, gamma, ln_gamma_draw};
use statrs::distribution::ContinuousCDF;
use statrs::function::gamma::{digamma, gamma_lr};

use crate::support::{TabulatedCdf, assert_ks, assert_mean, assert_variance, draws, rng};

#[test]
fn gamma_follows_its_law() {
    for (seed, (shape, rate)) in [
        (0.2, 3.0),
        (0.5, 1.0),
        (1.0, 0.1),
        (1.5, 2.0),
        (2.5, 1e-3),
        (30.0, 4.0),
        (1e4, 1e4),
    ]
    .into_iter()
    .enumerate()
    {
        let mut rng = rng(100 + seed as u64);
        let law = Gamma::new(shape, rate).unwrap();
        let sample = draws(60_000, || law.sample(&mut rng));
        let name = format!("Ga({shape}, {rate})");
        assert_mean(&name, &sample, shape / rate, shape.sqrt() / rate);
        assert_variance(&name, &sample, shape / rate, shape / (rate * rate));
        assert_ks(&name, sample, |x| gamma_lr(shape, rate * x));
    }
}

/// The log of a Gamma variable has log density `s x - e^x` at rate one.
#[test]
fn log_gamma_follows_its_law_without_underflow() {
    for (seed, shape) in [1e-14, 1e-8, 1e-3, 0.3, 1.0, 7.0].into_iter().enumerate() {
        let mut rng = rng(110 + seed as u64);
        let law = Gamma::new(shape, 1.0).unwrap();
        let sample = draws(60_000, || law.sample_ln(&mut rng));
        assert!(sample.iter().all(|x| x.is_finite()));
        let name = format!("ln Ga({shape}, 1)");
        // shape times the log: its density is e^y times a step at zero as the shape vanishes
        let scaled: Vec<f64> = sample.iter().map(|x| x * shape).collect();
        let table = TabulatedCdf::new(-45.0, 60.0 * shape, |y| y - (y / shape).exp());
        assert_ks(&name, scaled, |y| table.at(y));
    }
}

#[test]
fn log_gamma_has_the_digamma_as_mean() {
    for (seed, (shape, rate)) in [(0.7, 5.0), (3.0, 1e-200), (1e-3, 1e-3)]
        .into_iter()
        .enumerate()
    {
        let mut rng = rng(120 + seed as u64);
        let sample = draws(60_000, || ln_gamma_draw(&mut rng, shape, rate).unwrap());
        let mean = digamma(shape) - f64::ln(rate);
        let h = 1e-4 * shape;
        let trigamma = (digamma(shape + h) - digamma(shape - h)) / (2.0 * h);
        assert_mean("ln Gamma", &sample, mean, trigamma.sqrt());
    }
}

/// The direct formula of the acceptance test is noise here; the series is not.
#[test]
fn huge_shapes_are_normal() {
    for (seed, shape) in [1e10, 1e16, 1e24, 1e300].into_iter().enumerate() {
        let mut rng = rng(130 + seed as u64);
        let law = Gamma::new(shape, 1.0).unwrap();
        // at 1e24 and beyond a double cannot hold the spread; the mean must still be right
        let sample = draws(40_000, || {
            (law.sample(&mut rng) / shape - 1.0) * shape.sqrt()
        });
        if shape < 1e20 {
            let normal = statrs::distribution::Normal::new(0.0, 1.0).unwrap();
            assert_ks("huge shape", sample, |x| normal.cdf(x));
        } else {
            assert!(sample.iter().all(|x| x.abs() < 6.0 + 4e-15 * shape.sqrt()));
        }
    }
}

#[test]
fn extreme_parameters_stay_finite() {
    let mut rng = rng(140);
    for shape in [MIN_SHAPE, 1e-100, 1e-14, 0.999_999, 1.0, 1e300] {
        for rate in [1e-300, 1.0, 1e300] {
            let law = Gamma::new(shape, rate).unwrap();
            for _ in 0..200 {
                assert!(
                    law.sample_ln(&mut rng).is_finite(),
                    "shape {shape}, rate {rate}"
                );
                assert!(law.sample(&mut rng) >= 0.0);
            }
        }
    }
}

/// A tiny rate makes up for an underflow on the way.
#[test]
fn natural_scale_does_not_underflow_before_dividing_by_the_rate() {
    let law = Gamma::new(0.01, 1e-250).unwrap();
    let (mut a, mut b) = (rng(141), rng(141));
    for _ in 0..2000 {
        let (x, ln_x) = (law.sample(&mut a), law.sample_ln(&mut b));
        if ln_x > -700.0 && ln_x < 700.0 {
            assert!((x.ln() - ln_x).abs() < 1e-10, "{x} {ln_x}");
        }
    }
}

#[test]
fn free_functions_equal_the_type() {
    let law = Gamma::new(2.5, 0.5).unwrap();
    assert_eq!(
        gamma(&mut rng(142), 2.5, 0.5).unwrap(),
        law.sample(&mut rng(142))
    );
    assert_eq!(
        ln_gamma_draw(&mut rng(142), 2.5, 0.5).unwrap(),
        law.sample_ln(&mut rng(142))
    );
}
