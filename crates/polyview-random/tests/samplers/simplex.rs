use polyview_random::{Beta, Categorical, Dirichlet, categorical_ln};
use proptest::prelude::*;
use statrs::function::beta::beta_reg;

use crate::support::{assert_ks, assert_mean, draws, rng};

#[test]
fn beta_follows_its_law() {
    for (seed, (a, b)) in [
        (0.1, 0.2),
        (0.5, 0.5),
        (1.0, 1.0),
        (0.3, 4.0),
        (2.0, 0.7),
        (3.0, 5.0),
        (900.0, 80.0),
    ]
    .into_iter()
    .enumerate()
    {
        let mut rng = rng(200 + seed as u64);
        let law = Beta::new(a, b).unwrap();
        let sample = draws(60_000, || law.sample(&mut rng));
        assert_ks("beta", sample, |x| {
            if x <= 0.0 {
                0.0
            } else {
                beta_reg(a, b, x.min(1.0))
            }
        });
        // the same law through the logarithms, both of them
        let sample = draws(60_000, || law.sample_ln(&mut rng).1);
        assert_ks("ln(1 - beta)", sample, |y| {
            if y <= 0.0 && y > f64::NEG_INFINITY {
                1.0 - beta_reg(a, b, -y.exp_m1())
            } else {
                1.0
            }
        });
    }
}

/// With both parameters tiny the log odds are a difference of exponentials: the nearer end is
/// chosen with odds b : a, and `-a ln X` is exponential when X is near zero.
#[test]
fn beta_with_tiny_parameters() {
    for (seed, scale) in [1e-6, 1e-14, 1e-250].into_iter().enumerate() {
        let (a, b) = (scale, 3.0 * scale);
        let mut rng = rng(210 + seed as u64);
        let law = Beta::new(a, b).unwrap();
        let pairs: Vec<_> = (0..40_000).map(|_| law.sample_ln(&mut rng)).collect();
        assert!(pairs.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        let near_one: Vec<f64> = pairs
            .iter()
            .map(|(x, y)| f64::from(u8::from(x > y)))
            .collect();
        assert_mean("share near one", &near_one, 0.25, (0.25f64 * 0.75).sqrt());
        let excess = pairs
            .iter()
            .filter(|(x, y)| x < y)
            .map(|(x, _)| -a * x)
            .collect();
        assert_ks("log of a tiny beta", excess, |e| -(-e).exp_m1());
    }
}

#[test]
fn beta_with_huge_parameters() {
    let mut rng = rng(215);
    for (a, b) in [
        (8e307, 1.4),
        (1.4, 8e307),
        (1e308, 1e308),
        (1e20, 1e20),
        (1e300, 1e-300),
    ] {
        let law = Beta::new(a, b).unwrap();
        for _ in 0..100 {
            let (ln_x, ln_y) = law.sample_ln(&mut rng);
            assert!(
                ln_x.is_finite() && ln_y.is_finite(),
                "Beta({a}, {b}): {ln_x}, {ln_y}"
            );
            let x = law.sample(&mut rng);
            assert!((x - a / a.max(b) / (1.0 + a.min(b) / a.max(b))).abs() < 1e-9);
        }
    }
}

proptest! {
    #[test]
    fn beta_logarithms_are_those_of_complements(
        a in -8.0..8.0f64, b in -8.0..8.0f64, seed in 0..1000u64,
    ) {
        let law = Beta::new(10f64.powf(a), 10f64.powf(b)).unwrap();
        let (ln_x, ln_y) = law.sample_ln(&mut rng(seed));
        prop_assert!(ln_x <= 0.0 && ln_y <= 0.0);
        prop_assert!((ln_x.exp() + ln_y.exp() - 1.0).abs() < 1e-12);
        let x = law.sample(&mut rng(seed));
        prop_assert!((x - ln_x.exp()).abs() < 1e-12);
    }
}

/// Each component of a Dirichlet is a Beta.
#[test]
fn dirichlet_has_beta_margins() {
    let alpha = [0.05, 1.0, 2.5, 0.4];
    let total: f64 = alpha.iter().sum();
    let law = Dirichlet::new(&alpha).unwrap();
    let mut rng = rng(220);
    let mut draw = [0.0; 4];
    let mut columns = vec![Vec::new(); 4];
    for _ in 0..40_000 {
        law.sample_into(&mut rng, &mut draw).unwrap();
        assert!((draw.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        for (column, value) in columns.iter_mut().zip(draw) {
            column.push(value);
        }
    }
    for (column, a) in columns.into_iter().zip(alpha) {
        assert_ks("dirichlet", column, |x| {
            if x <= 0.0 {
                0.0
            } else {
                beta_reg(a, total - a, x)
            }
        });
    }
}

#[test]
fn dirichlet_with_vanishing_concentration_picks_a_vertex() {
    let alpha = [1e-12, 2e-12, 5e-12];
    let law = Dirichlet::new(&alpha).unwrap();
    let mut rng = rng(221);
    let mut counts = [0.0; 3];
    let n = 20_000;
    for _ in 0..n {
        let mut draw = [0.0; 3];
        law.sample_ln_into(&mut rng, &mut draw).unwrap();
        assert!(draw.iter().all(|x| x.is_finite()));
        for (count, x) in counts.iter_mut().zip(draw) {
            *count += x.exp();
        }
    }
    for (count, share) in counts.into_iter().zip([0.125, 0.25, 0.625f64]) {
        let sd = (share * (1.0 - share) / f64::from(n)).sqrt();
        assert!((count / f64::from(n) - share).abs() < 5.0 * sd);
    }
}

#[test]
fn categorical_frequencies() {
    let weights = [0.1, 0.0, 0.55, 0.3, 0.05, 0.0];
    for shift in [0.0, -5000.0, 5000.0] {
        let ln_weights: Vec<f64> = weights.iter().map(|w: &f64| w.ln() + shift).collect();
        let law = Categorical::from_ln_weights(&ln_weights).unwrap();
        let mut rng = rng(230);
        let n = 50_000;
        let mut counts = [0usize; 6];
        for _ in 0..n {
            counts[law.sample(&mut rng)] += 1;
        }
        for (&count, &w) in counts.iter().zip(&weights) {
            let sd = (w * (1.0 - w) / f64::from(n)).sqrt();
            assert!((count as f64 / f64::from(n) - w).abs() <= 5.0 * sd);
        }
    }
}

proptest! {
    #[test]
    fn one_shot_and_prepared_categorical_agree(
        ln_weights in prop::collection::vec(
            prop_oneof![3 => -800.0..800.0f64, 1 => Just(f64::NEG_INFINITY)], 1..12),
        seed in 0..1000u64,
    ) {
        match Categorical::from_ln_weights(&ln_weights) {
            Ok(law) => {
                let (mut a, mut b) = (rng(seed), rng(seed));
                for _ in 0..20 {
                    let k = law.sample(&mut a);
                    prop_assert!(ln_weights[k] > f64::NEG_INFINITY);
                    prop_assert_eq!(k, categorical_ln(&mut b, &ln_weights).unwrap());
                }
            }
            Err(e) => prop_assert_eq!(Err(e), categorical_ln(&mut rng(seed), &ln_weights)),
        }
    }
}
