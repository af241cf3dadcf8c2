//! Class probabilities of a prediction (spec/sshiba P7, P8).

use super::quadrature::LnProduct;

/// Below this logarithm a probability is zero in `f64`.
const LN_NOTHING: f64 = -750.0;
/// Deviations beyond which a normal density does not count.
const REACH: f64 = 9.0;
/// First and largest number of points of the rule.
const POINTS: (f64, f64) = (4096.0, 131_072.0);

/// P8 for all classes of one sample: independent scores $x\_j \sim N(y\_j,
/// s\_j^2)$, and `out[i]` the probability that $x\_i$ is the largest. With
/// $s = 1$ it is P7.
///
/// With $x = y\_i + s\_i u$ the integrals of P8 are
/// $P\_i = \int F(x)\\,\lambda\_i(x)\\,dx$, $F = \prod\_j\Phi((x-y\_j)/s\_j)$,
/// $\lambda\_i$ the derivative of $\ln\Phi((x-y\_i)/s\_i)$: one rule of equal
/// steps, which converges exponentially here, serves all classes at a cost of
/// C a point instead of C². Before normalisation they sum to
/// $\int dF = 1$, which checks the step: it is halved until they do.
pub(super) fn class_probabilities(y: &[f64], s: &[f64], out: &mut [f64]) {
    let ends = |sign: f64| y.iter().zip(s).map(move |(y, s)| y + sign * REACH * s);
    let high = ends(1.0).fold(f64::NEG_INFINITY, f64::max);
    let low = lowest(y, s, ends(-1.0).fold(f64::INFINITY, f64::min), high);
    let narrow = s.iter().copied().fold(f64::INFINITY, f64::min);
    // the steepest flank of F is that of a maximum of C normals
    let wish = 0.35 * narrow / (1.0 + 2.0 * (y.len() as f64).ln()).sqrt();
    let mut points = ((high - low) / wish).ceil().clamp(8.0, POINTS.0);
    loop {
        let step = (high - low) / points;
        out.fill(0.0);
        let mut rates = vec![0.0; y.len()];
        for g in 0..=points as usize {
            let x = low + step * g as f64;
            let mut product = LnProduct::one();
            for (r, (y, s)) in rates.iter_mut().zip(y.iter().zip(s)) {
                *r = product.times_cdf((x - y) / s) / s;
            }
            let weight = step * product.ln().exp();
            for (o, r) in out.iter_mut().zip(&rates) {
                *o += weight * r;
            }
        }
        let total: f64 = out.iter().sum();
        if (total - 1.0).abs() < 1e-9 || points >= POINTS.1 || !total.is_finite() {
            for o in out.iter_mut() {
                *o /= total;
            }
            return;
        }
        points = (2.0 * points).min(POINTS.1);
    }
}

/// Where the product of all $\Phi$ is next to nothing.
fn lowest(y: &[f64], s: &[f64], mut low: f64, mut high: f64) -> f64 {
    let ln_all = |x: f64| {
        let mut product = LnProduct::one();
        for (y, s) in y.iter().zip(s) {
            product.times_cdf((x - y) / s);
        }
        product.ln()
    };
    if ln_all(low) >= LN_NOTHING {
        return low;
    }
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if ln_all(middle) < LN_NOTHING {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal};
    use polyview_special::{GaussHermite, normal_cdf};

    use super::super::quadrature::Rule;
    use super::*;

    fn probabilities(y: &[f64], s: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; y.len()];
        class_probabilities(y, s, &mut out);
        out
    }

    #[test]
    fn plug_in_is_the_integral_of_the_update() {
        let mut rng = StreamKey::new(4).rng();
        for (classes, scale) in [(2, 1.0), (5, 3.0), (60, 1.0), (200, 2.0), (8, 12.0)] {
            let y: Vec<f64> = (0..classes)
                .map(|_| scale * standard_normal(&mut rng))
                .collect();
            let p = probabilities(&y, &vec![1.0; classes]);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            for class in 0..classes {
                let ln = Rule::for_classes(classes).moments(
                    &y,
                    class,
                    &mut vec![0.0; classes],
                    &mut Vec::new(),
                );
                assert!(
                    (p[class].ln() - ln).abs() < 1e-8 * (1.0 + ln.abs()),
                    "{classes} x {scale}: {} {ln}",
                    p[class].ln()
                );
            }
        }
    }

    #[test]
    fn spread_scores_equal_p8_as_printed() {
        let (y, s) = ([0.4, -0.3, 1.1, 0.2], [1.3, 2.5, 1.05, 4.0]);
        let rule = GaussHermite::normal(400).expect("a rule");
        let p = probabilities(&y, &s);
        for i in 0..4 {
            let exact = rule.integrate(|u| {
                (0..4)
                    .filter(|&j| j != i)
                    .map(|j| normal_cdf((s[i] * u + y[i] - y[j]) / s[j]))
                    .product()
            });
            assert!((p[i] - exact).abs() < 1e-9, "{} {exact}", p[i]);
        }
        assert!(p[1] > probabilities(&y, &[1.0; 4])[1]);
    }

    #[test]
    fn very_different_spreads() {
        // two classes have a closed form
        for (s0, s1) in [(1.0, 500.0), (300.0, 1.0), (1.0, 1.0)] {
            for gap in [-3.0, 0.0, 40.0] {
                let p = probabilities(&[gap, 0.0], &[s0, s1]);
                let exact = normal_cdf(gap / f64::hypot(s0, s1));
                assert!((p[0] - exact).abs() < 1e-9, "{s0} {s1} {gap}: {p:?}");
            }
        }
    }

    #[test]
    fn ten_thousand_classes() {
        let p = probabilities(&vec![0.3; 10_000], &vec![1.2; 10_000]);
        assert!(p.iter().all(|p| (p - 1e-4).abs() < 1e-15));
    }
}
