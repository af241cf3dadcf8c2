use polyview_random::TruncatedNormal;
use proptest::prelude::*;

use crate::support::{TabulatedCdf, assert_ks, assert_mean, draws, rng};

const FAR: f64 = f64::INFINITY;

/// KS test of the standard normal on `[a, b]`, on the scale of the distance from the near end.
fn check(seed: u64, a: f64, b: f64) {
    let name = format!("N(0, 1) on [{a}, {b}]");
    let mut rng = rng(seed);
    let law = TruncatedNormal::new(0.0, 1.0, a, b).unwrap();
    let sample = draws(60_000, || law.sample(&mut rng));
    assert!(
        sample.iter().all(|x| (a..=b).contains(x)),
        "{name} left the interval"
    );
    let (near, sign) = if a.is_finite() && (a >= 0.0 || a.abs() < b.abs()) {
        (a, 1.0)
    } else if b.is_finite() {
        (b, -1.0)
    } else {
        (0.0, 1.0)
    };
    // with x = near + sign t, the log density is -(sign near t + t^2 / 2)
    let reach = |end: f64| {
        let limit =
            45.0 / (sign * near).max(3.0) + (-sign * near).max(0.0) + 7.0 / near.abs().max(1.0);
        ((end - near) * sign).clamp(-limit - 5.0, limit)
    };
    let (start, end) = if sign > 0.0 {
        (reach(a), reach(b))
    } else {
        (reach(b), reach(a))
    };
    let start = if near == 0.0 { start } else { start.max(0.0) };
    let table = TabulatedCdf::new(start, end, |t| -t * (sign * near + 0.5 * t));
    let excess = sample.iter().map(|x| (x - near) * sign).collect();
    assert_ks(&name, excess, |t| table.at(t));
}

#[test]
fn follows_its_law_around_the_mean() {
    check(600, -FAR, FAR);
    check(601, -1.0, 2.0);
    check(602, -0.3, 0.1);
    check(603, -1e-3, FAR);
    check(604, -FAR, 1e-3);
    check(605, -5.0, 0.01);
    check(606, -1.2, 1.3);
    check(607, -1.3, 1.25);
}

#[test]
fn follows_its_law_beside_the_mean() {
    for (i, a) in [0.0, 0.2, 1.0, 2.5, 6.0, 30.0, 1e3].into_iter().enumerate() {
        for (j, width) in [FAR, 3.0, 1.0, 0.2, 1e-2, 1e-5].into_iter().enumerate() {
            let seed = 610 + 10 * i as u64 + j as u64;
            check(seed, a, a + width);
            check(seed + 100, -a - width, -a);
        }
    }
}

/// Far out the excess is exponential with rate `alpha`; the table of `check` would need more digits
/// than the bounds have.
#[test]
fn far_tails_are_exponential() {
    for (seed, alpha) in [1e4, 1e6, 1e8, 1e20, 1e150].into_iter().enumerate() {
        let mut rng = rng(800 + seed as u64);
        for (lower, upper) in [(0.0, FAR), (-FAR, 0.0)] {
            let mean = if lower == 0.0 { -alpha } else { alpha };
            let law = TruncatedNormal::new(mean, 1.0, lower, upper).unwrap();
            let sample = draws(60_000, || law.sample(&mut rng).abs() * alpha);
            assert_ks("far tail", sample, |e| -(-e).exp_m1());
        }
        // and cut off at one mean excess: the truncated exponential
        let law = TruncatedNormal::new(-alpha, 1.0, 0.0, 2.0 / alpha).unwrap();
        let sample = draws(60_000, || law.sample(&mut rng) * alpha);
        assert_ks("cut tail", sample, |e| (-e).exp_m1() / (-2f64).exp_m1());
        let law = TruncatedNormal::new(-alpha, 1.0, 0.0, 0.5 / alpha).unwrap();
        let sample = draws(60_000, || law.sample(&mut rng) * alpha);
        assert_ks("cut tail", sample, |e| (-e).exp_m1() / (-0.5f64).exp_m1());
    }
}

#[test]
fn tiny_widths_are_uniform() {
    for (seed, (mean, lower)) in [(0.0, 0.3), (5.0, 5.0), (-3.0, 8.0)]
        .into_iter()
        .enumerate()
    {
        let mut rng = rng(820 + seed as u64);
        let upper = lower + 1e-9;
        let law = TruncatedNormal::new(mean, 1.0, lower, upper).unwrap();
        let sample = draws(60_000, || (law.sample(&mut rng) - lower) / (upper - lower));
        // the interval holds a few million doubles, so ties do not disturb the test
        assert_ks("tiny width", sample, |u| u.clamp(0.0, 1.0));
    }
    // two neighbouring doubles, and one
    let next = f64::from_bits(1f64.to_bits() + 1);
    let mut rng = rng(823);
    let law = TruncatedNormal::new(0.0, 1.0, 1.0, next).unwrap();
    let ups = draws(10_000, || f64::from(u8::from(law.sample(&mut rng) == next)));
    assert_mean("two doubles", &ups, 0.5, 0.5);
    // one of them beyond the range of doubles, in deviations
    for (mean, sd) in [
        (0.0, 1.0),
        (8.6e250, 5.4e-192),
        (-2e269, 5e-41),
        (7.0, 1e-300),
    ] {
        let law = TruncatedNormal::new(mean, sd, 7.0, 7.0).unwrap();
        assert_eq!(law.sample(&mut rng), 7.0);
        let law = TruncatedNormal::new(mean, sd, 7.0, FAR).unwrap();
        assert!(law.sample(&mut rng) >= 7.0);
    }
}

#[test]
fn mean_and_deviation_enter_as_they_should() {
    let mut rng = rng(830);
    // E = m + s phi(a)/(1 - Phi(a)), var = s^2 (1 + a h - h^2) with h the hazard
    for (mean, sd, lower) in [
        (10.0, 3.0, 11.0),
        (-4.0, 0.5, -2.0),
        (1e3, 1e-3, 1e3 - 5e-4),
    ] {
        let alpha: f64 = (lower - mean) / sd;
        let tail = 0.5 * libm::erfc(alpha / std::f64::consts::SQRT_2);
        let hazard = (-0.5 * alpha * alpha).exp() / (2.0 * std::f64::consts::PI).sqrt() / tail;
        let law = TruncatedNormal::new(mean, sd, lower, FAR).unwrap();
        let sample = draws(60_000, || law.sample(&mut rng));
        let deviation = sd * (1.0 + alpha * hazard - hazard * hazard).sqrt();
        assert_mean("one-sided", &sample, mean + sd * hazard, deviation);
    }
}

fn magnitude() -> impl Strategy<Value = f64> {
    (prop_oneof![Just(1.0), Just(-1.0)], -320.0..308.0f64).prop_map(|(s, e)| s * 10f64.powf(e))
}

fn bound() -> impl Strategy<Value = f64> {
    let special = prop_oneof![Just(FAR), Just(-FAR), Just(0.0)];
    prop_oneof![3 => special, 3 => -10.0..10.0f64, 4 => magnitude()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn never_leaves_the_interval(
        mean in prop_oneof![-10.0..10.0f64, magnitude()],
        sd in prop_oneof![0.1..10.0f64, (-300.0..300.0f64).prop_map(|e| 10f64.powf(e))],
        ends in (bound(), bound()),
        seed in 0..1000u64,
    ) {
        let (lower, upper) = if ends.0 <= ends.1 { ends } else { (ends.1, ends.0) };
        if let Ok(law) = TruncatedNormal::new(mean, sd, lower, upper) {
            let mut rng = rng(seed);
            for _ in 0..10 {
                let x = law.sample(&mut rng);
                prop_assert!(x >= lower && x <= upper, "{:?} gave {}", law, x);
                prop_assert!(x.is_finite());
            }
        } else {
            prop_assert!(lower == upper && lower.is_infinite());
        }
    }
}
