//! Identities that tie the functions to each other, and the vectors of the specifications.

#![allow(clippy::unwrap_used)]

use approx::assert_relative_eq;
use polyview_special::*;
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;

/// Section 12, V2 of the max-margin rank specification: horseshoe scales by quadrature, six
/// decimals. GIG(2 eta, a^2, r - 1/2).
#[test]
fn gig_vectors_of_the_specification() {
    for (r, eta, square, mean, inverse, ln_z) in [
        (0.5, 1.3, 0.4, 0.557802, 3.625715, -0.200155),
        (2.0, 3.0, 0.1, 0.556351, 3.381050, -1.969724),
    ] {
        let g = gig_moments(2.0 * eta, square, r - 0.5).unwrap();
        assert!((g.mean - mean).abs() < 5e-7, "{g:?}");
        assert!((g.mean_inverse - inverse).abs() < 5e-7, "{g:?}");
        assert!((g.ln_normaliser - ln_z).abs() < 5e-7, "{g:?}");
    }
}

/// Section 3 of the same: the augmentation variable of a hinge is GIG(1, u^2, 1/2) with
/// E = 1 + |u| and E of the inverse 1/|u|.
#[test]
fn hinge_augmentation_has_its_closed_moments() {
    for u in [1e-6, 0.03, 1.0, 17.0, 1e5] {
        let g = gig_moments(1.0, u * u, 0.5).unwrap();
        assert_relative_eq!(g.mean, 1.0 + u, max_relative = 1e-14);
        assert_relative_eq!(g.mean_inverse, 1.0 / u, max_relative = 1e-14);
        // ln Z = ln sqrt(2 pi) - u
        assert_relative_eq!(
            g.ln_normaliser,
            0.918_938_533_204_672_8 - u,
            max_relative = 1e-13,
            epsilon = 1e-15
        );
    }
}

/// Exact values of E ln sigma(x) quoted in the multi-omics specification, by quadrature.
#[test]
fn expected_log_sigmoid_of_the_specification() {
    let rule = GaussHermite::normal(64).unwrap();
    for (mean, sd, exact) in [
        (0.0, 1.0, -0.8061),
        (1.5, 0.7, -0.2382),
        (3.0, 1.0, -0.0750),
    ] {
        let value = rule.integrate(|u| log_sigmoid(mean + sd * u));
        assert!((value - exact).abs() < 5e-5, "{value} {exact}");
        // The Jaakkola bound lies below it and touches at one point.
        let square = mean * mean + sd * sd;
        let xi: f64 = square.sqrt();
        let bound = log_sigmoid(xi) + 0.5 * (mean - xi) - jaakkola_lambda(xi) * (square - xi * xi);
        assert!(bound < value && bound > value - 0.06);
    }
}

/// A cell of the multi-level specification: unit cell at zero, -0.9599.
#[test]
fn ordinal_cell_of_the_specification() {
    assert!((ln_interval_probability(-0.5, 0.5) + 0.9599).abs() < 5e-5);
    assert!((ln_interval_probability(-3.0, -2.0) + 3.844).abs() < 5e-4);
    assert!((ln_interval_probability(-6.0, 0.0) + 0.693).abs() < 5e-4);
}

#[test]
fn divergence_is_cross_entropy_minus_entropy() {
    for (a, b, a0, b0) in [
        (3.0, 2.0, 1.5, 0.7),
        (0.2, 5.0, 2.0, 2.0),
        (25.0, 3.0, 11.0, 1.0),
    ] {
        // -E_q ln p = -a0 ln b0 + ln Gamma(a0) - (a0 - 1) E ln x + b0 E x
        let cross = -a0 * f64::ln(b0) + ln_gamma(a0) - (a0 - 1.0) * gamma::mean_log(a, b)
            + b0 * gamma::mean(a, b);
        assert_relative_eq!(
            gamma::kl(a, b, a0, b0),
            cross - gamma::entropy(a, b),
            max_relative = 1e-12
        );
    }
}

#[test]
fn tiny_and_equal_shapes_of_vague_priors() {
    // The posterior of a switched-off factor is its prior.
    assert_eq!(gamma::kl(1e-14, 1e-14, 1e-14, 1e-14), 0.0);
    // Only the rate differs: a (ln r - 1 + 1/r).
    let exact = 1e-14 * (2f64.ln() - 0.5);
    assert_relative_eq!(
        gamma::kl(1e-14, 2e-14, 1e-14, 1e-14),
        exact,
        max_relative = 1e-14
    );
    // A small step away costs half the Fisher information times its square, 1/(2 a^2) here.
    let step = gamma::kl(1e-14 * (1.0 + 1e-6), 1e-14, 1e-14, 1e-14 / (1.0 + 1e-6));
    assert_relative_eq!(step, 0.5e-12, max_relative = 1e-5);
}

#[test]
fn far_locations_keep_the_distance_from_the_edge() {
    // Ten thousand million standard deviations below the interval: nearly exponential.
    let m = truncated_normal_moments(-1e10, 1.0, 5.0, INF).unwrap();
    assert_relative_eq!(m.mean - 5.0, 1e-10, max_relative = 1e-5);
    assert_relative_eq!(m.variance, 1e-20, max_relative = 1e-9);
    let m = truncated_normal_moments(1e10, 1.0, -INF, 5.0).unwrap();
    assert_relative_eq!(5.0 - m.mean, 1e-10, max_relative = 1e-5);
    // A width far below the spacing of alpha and beta.
    let (low, high) = (1e3, 1e3 + 1e-12);
    let m = truncated_normal_moments(0.0, 1e-3, low, high).unwrap();
    assert_relative_eq!(m.variance, (high - low).powi(2) / 12.0, max_relative = 1e-3);
    assert!(m.mean >= low && m.mean <= high);
}

#[test]
fn impossible_truncations_are_errors() {
    let empty = |a: f64, b: f64| {
        matches!(
            truncated_normal_moments(0.0, 1.0, a, b),
            Err(SpecialError::EmptyInterval { .. })
        )
    };
    assert!(empty(1.0, 1.0) && empty(2.0, 1.0) && empty(INF, INF) && empty(-INF, -INF));
    assert!(empty(f64::NAN, 1.0) && empty(0.0, f64::NAN));
    let illegal = |m: f64, s: f64| {
        matches!(
            truncated_normal_moments(m, s, 0.0, 1.0),
            Err(SpecialError::IllegalNormal { .. })
        )
    };
    assert!(illegal(0.0, 0.0) && illegal(0.0, -1.0) && illegal(0.0, INF) && illegal(f64::NAN, 1.0));
    assert!(illegal(INF, 1.0) && illegal(0.0, f64::NAN));
}

#[test]
fn extreme_truncations_stay_inside_and_finite() {
    let ends = [
        -INF, -1e308, -1e160, -1e20, -40.0, -1.0, 0.0, 5e-324, 1e-8, 3.0, 1e3, 1e155, INF,
    ];
    for mean in [-1e300, -3.0, 0.0, 1e10] {
        for sd in [1e-300, 1e-3, 1.0, 1e200] {
            for (i, &lower) in ends.iter().enumerate() {
                for &upper in &ends[i + 1..] {
                    let m = truncated_normal_moments(mean, sd, lower, upper).unwrap();
                    let case = (mean, sd, lower, upper, m);
                    assert!(
                        m.mean >= lower && m.mean <= upper && m.mean.is_finite(),
                        "{case:?}"
                    );
                    assert!(m.variance >= 0.0, "{case:?}");
                    assert!(m.variance <= sd * sd * (1.0 + 1e-12), "{case:?}");
                    assert!(m.ln_mass <= 0.0, "{case:?}");
                }
            }
        }
    }
}

#[test]
fn uniform_expansion_continues_the_recurrence() {
    // Orders below 50 use the recurrence, above it the expansion; both obey
    // r(v) = 2v/x + 1/r(v-1), across the switch too.
    for v in [49.3f64, 49.9, 50.0, 50.6, 51.5] {
        for x in [1e-8, 0.3, 5.0, 47.0, 900.0, 1e6] {
            let raised = 2.0 * v / x + 1.0 / bessel_k_ratio(v - 1.0, x);
            assert_relative_eq!(bessel_k_ratio(v, x), raised, max_relative = 2e-15);
            let step = ln_bessel_k_scaled(v, x) - ln_bessel_k_scaled(v - 1.0, x);
            let scale = ln_bessel_k_scaled(v, x).abs().max(1.0);
            assert!((step - bessel_k_ratio(v - 1.0, x).ln()).abs() < 1e-15 * scale.max(50.0));
        }
    }
}

#[test]
fn half_orders_have_their_closed_forms() {
    for x in [1e-12, 1e-3, 0.5, 1.9, 2.0, 2.1, 30.0, 1e4] {
        let half = 0.5 * (std::f64::consts::PI / (2.0 * x)).ln();
        assert_relative_eq!(
            ln_bessel_k_scaled(0.5, x),
            half,
            max_relative = 1e-14,
            epsilon = 1e-15
        );
        let three = half + (1.0 / x).ln_1p();
        assert_relative_eq!(
            ln_bessel_k_scaled(1.5, x),
            three,
            max_relative = 1e-14,
            epsilon = 1e-15
        );
        let five = half + (3.0 / x + 3.0 / (x * x)).ln_1p();
        assert_relative_eq!(
            ln_bessel_k_scaled(2.5, x),
            five,
            max_relative = 1e-14,
            epsilon = 1e-15
        );
        assert_relative_eq!(bessel_k_ratio(0.5, x), 1.0 + 1.0 / x, max_relative = 1e-15);
    }
}

proptest! {
    // Failures are reported with their input; no regression files beside the tests.
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn digamma_and_trigamma_recur(x in 1e-6..1e6f64) {
        let up = digamma(x) + 1.0 / x;
        prop_assert!((digamma(x + 1.0) - up).abs() <= 1e-14 * (1.0 / x).max(digamma(x).abs()).max(1.0));
        let down = trigamma(x) - 1.0 / (x * x);
        prop_assert!((trigamma(x + 1.0) - down).abs() <= 1e-14 * trigamma(x));
    }

    #[test]
    fn digamma_is_the_slope_of_ln_gamma(x in 0.1..50.0f64) {
        let h = 1e-4 * x;
        let slope = (8.0 * (ln_gamma(x + h) - ln_gamma(x - h))
            - (ln_gamma(x + 2.0 * h) - ln_gamma(x - 2.0 * h))) / (12.0 * h);
        prop_assert!((slope - digamma(x)).abs() < 1e-9 * (1.0 + digamma(x).abs() + 1.0 / x));
    }

    #[test]
    fn beta_recurs(a in 1e-8..1e8f64, b in 1e-8..1e8f64) {
        // B(a, b) = B(a+1, b) + B(a, b+1)
        let sum = log_sum_exp(&[ln_beta(a + 1.0, b), ln_beta(a, b + 1.0)]);
        prop_assert!((ln_beta(a, b) - sum).abs() <= 1e-7 + 1e-13 * sum.abs());
        prop_assert_eq!(ln_beta(a, b), ln_beta(b, a));
    }

    #[test]
    fn logistic_relations(x in -800.0..800.0f64) {
        prop_assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() <= 3e-16);
        prop_assert!((softplus(x) - softplus(-x) - x).abs() <= 2e-16 * x.abs().max(1.0));
        prop_assert!((log_sigmoid(x).exp() - sigmoid(x)).abs() <= 1e-13 * sigmoid(x));
        prop_assert_eq!(jaakkola_lambda(x), jaakkola_lambda(-x));
        // The Jaakkola-Jordan bound at any other point is a bound.
        let xi = 0.3 * x + 1.0;
        let bound = log_sigmoid(xi) + 0.5 * (x - xi) - jaakkola_lambda(xi) * (x * x - xi * xi);
        prop_assert!(bound <= log_sigmoid(x) + 1e-10 * (1.0 + x.abs()));
    }

    #[test]
    fn erfcx_is_erfc_scaled(x in -5.0..5.0f64) {
        prop_assert!((erfcx(x) * (-x * x).exp() / erfc(x) - 1.0).abs() < 1e-14);
        prop_assert!((erf(x) + erfc(x) - 1.0).abs() < 3e-16);
    }

    #[test]
    fn normal_tails_mirror(x in -37.0..37.0f64) {
        prop_assert!((normal_cdf(x) + normal_cdf(-x) - 1.0).abs() < 3e-16);
        let upper = ln_normal_cdf(x.abs());
        let complement = log1mexp(ln_normal_cdf(-x.abs()));
        // The log of the tail is good to eps times itself, which exp multiplies.
        prop_assert!((upper - complement).abs() <= 1e-15 * upper.abs() * (1.0 + x * x));
        prop_assert!((mills_ratio(-x) * inverse_mills(x) - 1.0).abs() < 2e-15);
    }

    #[test]
    fn quantile_inverts_the_distribution_function(ln_p in -700.0..-1e-3f64) {
        let p = ln_p.exp();
        let x = normal_quantile(p);
        // The condition number of ln Phi at x is about x^2 below and grows above.
        let slope = inverse_mills(x) * x.abs().max(1e-3);
        // Where x is small, Phi itself is good to a few units in the last place of 1.
        let rounding = 4e-16 * (1.0 + p.ln().abs());
        prop_assert!((ln_normal_cdf(x) - p.ln()).abs() <= 1e-15 * slope + rounding);
    }

    #[test]
    fn parts_of_an_interval_make_the_whole(
        start in -30.0..30.0f64, first in 1e-8..6.0f64, second in 1e-8..6.0f64, open in 0..4u8,
    ) {
        // Mass adds; means and variances follow the laws of total expectation and variance.
        let middle = start + first;
        let lower = if open & 1 == 1 { -INF } else { start };
        let upper = if open & 2 == 2 { INF } else { middle + second };
        let part = |a, b| truncated_normal_moments(0.0, 1.0, a, b).unwrap();
        let (left, right, whole) = (part(lower, middle), part(middle, upper), part(lower, upper));
        let sum = log_sum_exp(&[left.ln_mass, right.ln_mass]);
        prop_assert!((sum - whole.ln_mass).abs() <= 1e-14 * whole.ln_mass.abs().max(1.0));
        let weight = (left.ln_mass - sum).exp();
        let other = (right.ln_mass - sum).exp();
        // Distances from the common end, so that far tails keep their digits.
        let (l, r, w) = (left.mean - middle, right.mean - middle, whole.mean - middle);
        let mean = weight * l + other * r;
        let ulp = 1e-15 * middle.abs();
        let extent = weight * l.abs() + other * r.abs();
        prop_assert!((mean - w).abs() <= 1e-12 * extent + 4.0 * ulp, "{} {}", mean, w);
        let variance = weight * left.variance + other * right.variance
            + weight * other * (l - r).powi(2);
        let slack = 1e-11 * whole.variance + 8.0 * ulp * extent;
        prop_assert!((variance - whole.variance).abs() <= slack, "{} {:?}", variance, whole);
    }

    #[test]
    fn truncated_moments_lie_in_their_bounds(
        mean in -1e3..1e3f64, ln_sd in -7.0..7.0f64, lower in -1e3..1e3f64, ln_width in -18.0..7.0f64,
    ) {
        let (sd, upper) = (ln_sd.exp(), lower + ln_width.exp());
        prop_assume!(upper > lower);
        let m = truncated_normal_moments(mean, sd, lower, upper).unwrap();
        prop_assert!(m.mean >= lower && m.mean <= upper);
        prop_assert!(m.variance > 0.0);
        prop_assert!(m.variance <= (sd * sd).min((upper - lower).powi(2) / 12.0) * (1.0 + 1e-12));
        // Mirrored and shifted it is the same variable.
        let mirrored = truncated_normal_moments(-mean, sd, -upper, -lower).unwrap();
        prop_assert_eq!(mirrored.variance, m.variance);
        prop_assert_eq!(mirrored.mean, -m.mean);
    }

    #[test]
    fn bessel_recurs_and_is_even(order in -70.0..70.0f64, ln_x in -27.0..10.0f64) {
        let x = ln_x.exp();
        let ratio = bessel_k_ratio(order, x);
        let raised = 2.0 * order / x + 1.0 / bessel_k_ratio(order - 1.0, x);
        // The sum cancels for negative orders.
        let size = (2.0 * order / x).abs().max(ratio);
        prop_assert!((ratio - raised).abs() <= 1e-13 * size, "{} {}", ratio, raised);
        prop_assert_eq!(ln_bessel_k(order, x), ln_bessel_k(-order, x));
        let step = ln_bessel_k_scaled(order + 1.0, x) - ln_bessel_k_scaled(order, x);
        let scale = ln_bessel_k_scaled(order.abs() + 1.0, x).abs().max(1.0);
        prop_assert!((step - ratio.ln()).abs() <= 3e-14 * scale);
    }

    #[test]
    fn gig_moments_obey_jensen_and_the_recurrence(
        ln_a in -20.0..10.0f64, ln_b in -25.0..7.0f64, p in -30.0..30.0f64,
    ) {
        let (a, b) = (ln_a.exp(), ln_b.exp());
        let g = gig_moments(a, b, p).unwrap();
        prop_assert!(g.mean * g.mean_inverse >= 1.0 - 1e-13);
        // Integration by parts: a E[x] - b E[1/x] = 2p.
        let (left, right) = (a * g.mean, b * g.mean_inverse);
        prop_assert!((left - right - 2.0 * p).abs() <= 1e-13 * left.max(right).max(p.abs()));
    }

    #[test]
    fn divergence_is_positive_and_scale_free(
        ln_a in -30.0..12.0f64, ln_r in -3.0..3.0f64, ln_a0 in -30.0..12.0f64, ln_s in -10.0..10.0f64,
    ) {
        let (a, b, a0, b0) = (ln_a.exp(), ln_r.exp(), ln_a0.exp(), 1.7);
        let kl = gamma::kl(a, b, a0, b0);
        prop_assert!(kl >= 0.0);
        let s = ln_s.exp(); // a change of unit
        let scaled = gamma::kl(a, b * s, a0, b0 * s);
        prop_assert!((scaled - kl).abs() <= 1e-9 * kl.max(1e-9 * a0));
    }
}
