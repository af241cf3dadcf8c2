use polyview_random::Gig;
use statrs::function::gamma::gamma_lr;

use crate::support::{TabulatedCdf, assert_ks, assert_mean, draws, rng};

/// Distribution function of the logarithm of a GIG variable.
fn table(a: f64, b: f64, p: f64) -> TabulatedCdf {
    let mode = (p / (a * b).sqrt()).asinh() + 0.5 * (b / a).ln();
    TabulatedCdf::around(mode, |s| p * s - 0.5 * (a * s.exp() + b * (-s).exp()))
}

fn check(seed: u64, a: f64, b: f64, p: f64) {
    let mut rng = rng(seed);
    let law = Gig::new(a, b, p).unwrap();
    let sample = draws(40_000, || law.sample_ln(&mut rng));
    let table = table(a, b, p);
    assert_ks(&format!("ln GIG({a}, {b}, {p})"), sample, |s| table.at(s));
}

#[test]
fn follows_its_law_for_every_concentration_and_power() {
    let mut seed = 400;
    for omega in [1e-8, 1e-3, 0.1, 1.0, 5.0, 1e2, 1e5] {
        for p in [0.0, 1e-3, 0.3, 0.7, 1.0, 2.5, 40.0] {
            seed += 1;
            check(seed, omega, omega, if seed % 2 == 0 { p } else { -p });
        }
    }
}

#[test]
fn scale_enters_as_it_should() {
    check(460, 3.0, 1e-12, 0.0);
    check(461, 1e-6, 40.0, -0.8);
    check(462, 1e-6, 40.0, 0.8);
    check(463, 200.0, 1e-30, 0.25);
    check(464, 200.0, 1e-30, -0.25);
    check(465, 1e9, 1e9, 7.0);
}

#[test]
fn half_powers_are_inverse_gaussian() {
    let mut seed = 470;
    for (a, b) in [(1.0, 1.0), (1.0, 1e-12), (1e-6, 3.0), (1e4, 1e4)] {
        for p in [0.5, -0.5] {
            seed += 1;
            check(seed, a, b, p);
        }
    }
}

#[test]
fn limits_are_gamma_and_inverse_gamma() {
    for (seed, p) in [0.2, 0.5, 1.0, 6.0].into_iter().enumerate() {
        let mut rng = rng(480 + seed as u64);
        let law = Gig::new(3.0, 0.0, p).unwrap();
        let sample = draws(30_000, || law.sample(&mut rng));
        assert_ks("Gamma limit", sample, |x| gamma_lr(p, 1.5 * x));
        let law = Gig::new(0.0, 3.0, -p).unwrap();
        let sample = draws(30_000, || 1.0 / law.sample(&mut rng));
        assert_ks("inverse Gamma limit", sample, |x| gamma_lr(p, 1.5 * x));
    }
}

/// The general method close to the limits agrees with them, where it has not rounded to them.
#[test]
fn general_method_reaches_the_limits() {
    for (seed, p) in [0.3, 2.0].into_iter().enumerate() {
        let mut rng = rng(490 + seed as u64);
        for b in [1e-100, 1e-300] {
            let law = Gig::new(3.0, b, p).unwrap();
            let sample = draws(30_000, || law.sample(&mut rng));
            assert_ks("nearly Gamma", sample, |x| gamma_lr(p, 1.5 * x));
        }
    }
}

/// `E[X] = sqrt(b/a) K_{p+1}/K_p`, elementary at p = 3/2: `K_{5/2}/K_{3/2} = (w^2+3w+3)/(w(w+1))`.
#[test]
fn mean_at_three_halves() {
    for (seed, (a, b)) in [(1.0, 1.0), (0.2, 30.0), (50.0, 2.0)]
        .into_iter()
        .enumerate()
    {
        let w: f64 = f64::sqrt(a * b);
        let scale = f64::sqrt(b / a);
        let mean = scale * (w * w + 3.0 * w + 3.0) / (w * (w + 1.0));
        // E[X^2] = (b/a) K_{7/2}/K_{3/2} = (b/a) (1 + 5/w K_{5/2}/K_{3/2})
        let second = scale * scale * (1.0 + 5.0 / w * mean / scale);
        let mut rng = rng(500 + seed as u64);
        let law = Gig::new(a, b, 1.5).unwrap();
        let sample = draws(60_000, || law.sample(&mut rng));
        assert_mean("GIG mean", &sample, mean, (second - mean * mean).sqrt());
    }
}

#[test]
fn natural_and_log_scale_agree() {
    for p in [0.0, 0.5, -0.5, 1.7, -1.7] {
        let law = Gig::new(2.0, 0.3, p).unwrap();
        let (x, ln_x) = (law.sample(&mut rng(510)), law.sample_ln(&mut rng(510)));
        assert!((x.ln() - ln_x).abs() < 1e-12);
    }
}

#[test]
fn extreme_parameters_stay_finite() {
    let mut rng = rng(520);
    let ends = [1e-300, 1e-150, 1e-12, 1.0, 1e12, 1e150, 1e300];
    for a in ends {
        for b in ends {
            for p in [
                -1e10, -300.0, -0.5, -1e-200, 0.0, 1e-320, 1e-12, 0.5, 1.0, 80.0, 1e10,
            ] {
                let law = Gig::new(a, b, p).unwrap();
                for _ in 0..5 {
                    let x = law.sample_ln(&mut rng);
                    assert!(x.is_finite(), "ln GIG({a}, {b}, {p}) gave {x}");
                }
            }
        }
    }
    // subnormal coefficients
    for p in [0.0, 1e-300, 0.3, 2.0] {
        let law = Gig::new(1e-310, 1e-320, p).unwrap();
        for _ in 0..50 {
            assert!(law.sample_ln(&mut rng).is_finite(), "subnormal, p = {p}");
        }
    }
}
