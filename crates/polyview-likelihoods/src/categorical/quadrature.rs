//! Moments of scores under "class i has the largest score" (spec/sshiba U9).

use polyview_special::{GaussHermite, erfcx};

const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
const SQRT_HALF_PI: f64 = 1.253_314_137_315_500_3;
/// Beyond this $1 - \Phi(a)$ is below the rounding of 1.
const CERTAIN: f64 = 8.3;

/// $\Phi(a) = f e^{g}$ as (f, g), and $\phi(a)/\Phi(a)$.
#[inline]
fn normal_parts(a: f64) -> (f64, f64, f64) {
    if a < 0.0 {
        let e = erfcx(-a * std::f64::consts::FRAC_1_SQRT_2);
        return (0.5 * e, -0.5 * a * a, 1.0 / (SQRT_HALF_PI * e));
    }
    let density = FRAC_1_SQRT_2PI * (-0.5 * a * a).exp();
    if a > CERTAIN {
        return (1.0, 0.0, density);
    }
    let below = 1.0 - SQRT_HALF_PI * density * erfcx(a * std::f64::consts::FRAC_1_SQRT_2);
    (below, 0.0, density / below)
}

/// Logarithm of a product of $\Phi$s, with one logarithm for many factors.
#[derive(Clone, Copy)]
pub(super) struct LnProduct {
    factor: f64,
    ln: f64,
}

impl LnProduct {
    pub(super) fn one() -> Self {
        Self {
            factor: 1.0,
            ln: 0.0,
        }
    }
    /// Multiplies by $\Phi(a)$ and returns $\phi(a)/\Phi(a)$.
    #[inline]
    pub(super) fn times_cdf(&mut self, a: f64) -> f64 {
        let (factor, ln, ratio) = normal_parts(a);
        self.ln += ln;
        self.factor *= factor;
        if self.factor < 1e-200 {
            self.ln += self.factor.ln();
            self.factor = 1.0;
        }
        ratio
    }
    pub(super) fn ln(self) -> f64 {
        self.ln + self.factor.ln()
    }
}

/// Mode-centred Gauss–Hermite rule for
/// $\xi = \int \phi(u)\prod\_{j\ne i}\Phi(u+\delta\_j)\\,du$, $\delta\_j =
/// m\_i - m\_j$, in log space (spec/sshiba 2.3).
#[derive(Clone, Debug)]
pub(super) struct Rule {
    nodes: Vec<f64>,
    /// $\ln w\_g + x\_g^2/2$.
    ln_weights: Vec<f64>,
}

impl Rule {
    /// The rule for that many classes: with more of them the integrand has a
    /// steeper left flank. The error of $\ln\xi$ is largest where many scores
    /// are about equal; it stays below 1e-10 up to 10 000 classes.
    pub(super) fn for_classes(classes: usize) -> Self {
        let count = match classes {
            0..=4 => 32,
            5..=64 => 48,
            _ => 64,
        };
        // the counts are within the range of the constructor; a rule without
        // nodes would make ln ξ infinite, which `refresh` reports
        GaussHermite::normal(count).map_or_else(
            |_| Self {
                nodes: Vec::new(),
                ln_weights: Vec::new(),
            },
            |rule| Self {
                nodes: rule.nodes().to_vec(),
                ln_weights: rule
                    .nodes()
                    .iter()
                    .zip(rule.weights())
                    .map(|(x, w)| w.ln() + 0.5 * x * x)
                    .collect(),
            },
        )
    }

    /// U9 for one sample of class `class` with predictor `m`: returns
    /// $\ln\xi$ and writes $\langle x\rangle - m = \nabla\_m\ln\xi$ to `shift`.
    /// `ratios` is scratch.
    pub(super) fn moments(
        &self,
        m: &[f64],
        class: usize,
        shift: &mut [f64],
        ratios: &mut Vec<f64>,
    ) -> f64 {
        let (mode, curvature) = mode(m, class);
        let scale = curvature.sqrt().recip();
        let (classes, count) = (m.len(), self.nodes.len());
        ratios.clear();
        ratios.resize(classes * count, 0.0);
        let mut ln_f = vec![0.0; count];
        for g in 0..count {
            let u = mode + self.nodes[g] * scale;
            let top = u + m[class];
            let mut product = LnProduct::one();
            let row = &mut ratios[g * classes..(g + 1) * classes];
            for (j, r) in row.iter_mut().enumerate() {
                if j != class {
                    *r = product.times_cdf(top - m[j]);
                }
            }
            ln_f[g] = self.ln_weights[g] - 0.5 * u * u + product.ln();
        }
        let largest = ln_f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = ln_f.iter().map(|l| (l - largest).exp()).sum();
        shift.fill(0.0);
        for g in 0..count {
            let weight = (ln_f[g] - largest).exp() / total;
            if weight > 0.0 {
                for (s, r) in shift
                    .iter_mut()
                    .zip(&ratios[g * classes..(g + 1) * classes])
                {
                    *s -= weight * r;
                }
            }
        }
        // shift[class] is zero so far: the shifts sum to zero
        shift[class] = -shift.iter().sum::<f64>();
        largest + total.ln() + scale.ln()
    }
}

/// Mode and curvature of $-u^2/2 + \sum\_{j\ne i}\ln\Phi(u + \delta\_j)$.
///
/// Its slope is convex and decreasing and positive at $u = 0$, so Newton's
/// method climbs to the mode from there without ever passing it.
fn mode(m: &[f64], class: usize) -> (f64, f64) {
    let mut u = 0.0;
    let mut curvature = 1.0;
    for _ in 0..60 {
        let (mut slope, mut bend) = (-u, 1.0);
        for (j, mj) in m.iter().enumerate() {
            if j != class {
                let a = u + m[class] - mj;
                let (_, _, r) = normal_parts(a);
                slope += r;
                bend += r * (a + r);
            }
        }
        curvature = bend;
        let step = slope / bend;
        u += step;
        if step.abs() <= 1e-9 * (1.0 + u.abs()) {
            break;
        }
    }
    (u, curvature)
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal};
    use polyview_special::{ln_normal_cdf, ln_normal_pdf, log_sum_exp};

    use super::*;

    fn scores(classes: usize, scale: f64, seed: u64) -> Vec<f64> {
        let mut rng = StreamKey::new(seed).rng();
        (0..classes)
            .map(|_| scale * standard_normal(&mut rng))
            .collect()
    }
    fn ln_xi(m: &[f64], class: usize) -> f64 {
        let mut shift = vec![0.0; m.len()];
        Rule::for_classes(m.len()).moments(m, class, &mut shift, &mut Vec::new())
    }
    /// ln ξ on a dense grid, by the scalar functions.
    fn dense(m: &[f64], class: usize) -> f64 {
        let (centre, _) = mode(m, class);
        let step = 0.01;
        let terms: Vec<f64> = (-1000..=1400)
            .map(|g| {
                let u = centre + step * f64::from(g);
                let others = (0..m.len()).filter(|&j| j != class);
                ln_normal_pdf(u)
                    + others
                        .map(|j| ln_normal_cdf(u + m[class] - m[j]))
                        .sum::<f64>()
            })
            .collect();
        log_sum_exp(&terms) + step.ln()
    }

    #[test]
    fn quadrature_equals_a_dense_grid() {
        for classes in [2, 3, 7, 16, 60, 200] {
            for scale in [0.0, 1.0, 5.0, 30.0] {
                let m = scores(classes, scale, 1);
                for class in [0, classes - 1] {
                    let gap = (ln_xi(&m, class) - dense(&m, class)).abs();
                    let size = 1.0 + dense(&m, class).abs();
                    assert!(gap < 2e-11 * size, "{classes} x {scale}: {gap:e}");
                }
            }
        }
    }

    #[test]
    fn ten_thousand_classes() {
        let m = vec![0.0; 10_000];
        // by symmetry every class has probability 1/C
        assert!((ln_xi(&m, 17) + 1e4f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn shift_is_the_gradient() {
        for (classes, scale) in [(2, 1.0), (5, 3.0), (40, 1.0), (12, 20.0)] {
            let m = scores(classes, scale, 2);
            let mut shift = vec![0.0; classes];
            Rule::for_classes(classes).moments(&m, 1, &mut shift, &mut Vec::new());
            for j in 0..classes {
                let at = |by: f64| {
                    let mut moved = m.clone();
                    moved[j] += by;
                    ln_xi(&moved, 1)
                };
                let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
                assert!(
                    (slope - shift[j]).abs() < 1e-6 * (1.0 + slope.abs()),
                    "{classes} {j}: {slope} {}",
                    shift[j]
                );
            }
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_the_mixture_is_untruncated() {
        // spec/sshiba 9.3, 9.6.6, U12
        for (classes, scale) in [(2, 2.0), (9, 1.5), (30, 4.0), (16, 30.0)] {
            let m = scores(classes, scale, 3);
            let mut total = 0.0;
            let mut mixture = vec![0.0; classes];
            for class in 0..classes {
                let mut shift = vec![0.0; classes];
                let xi = Rule::for_classes(classes)
                    .moments(&m, class, &mut shift, &mut Vec::new())
                    .exp();
                total += xi;
                for (a, s) in mixture.iter_mut().zip(&shift) {
                    *a += xi * s;
                }
            }
            assert!((total - 1.0).abs() < 1e-11, "{classes}: {:e}", total - 1.0);
            assert!(mixture.iter().all(|x| x.abs() < 1e-10));
        }
    }

    #[test]
    fn vectors_of_the_thesis() {
        // spec/thesis 15.1 item 4
        let m = [0.3, -0.8, 1.2, 0.1];
        let mut shift = [0.0; 4];
        let ln = Rule::for_classes(4).moments(&m, 1, &mut shift, &mut Vec::new());
        assert!((ln.exp() - 0.032_541_1).abs() < 1e-7);
        for (j, x) in [-0.163_638, 1.007_641, 0.235_007, -0.279_010]
            .into_iter()
            .enumerate()
        {
            assert!((m[j] + shift[j] - x).abs() < 1e-6);
        }
        // the mixture over the classes is the untruncated distribution
        let (mut total, mut mixture) = (0.0, [0.0; 4]);
        for class in 0..4 {
            let ln = Rule::for_classes(4).moments(&m, class, &mut shift, &mut Vec::new());
            total += ln.exp();
            for (x, s) in mixture.iter_mut().zip(&shift) {
                *x += ln.exp() * s;
            }
        }
        assert!((total - 1.0).abs() < 1e-12);
        assert!(mixture.iter().all(|x| x.abs() < 1e-12), "{mixture:?}");
    }

    #[test]
    fn vector_of_features_and_similarities() {
        // spec/mlfs V2; as printed (E18) 1.427, -0.463, 0.613, 0.122
        let m = [0.3, -0.2, 1.1, 0.5];
        let mut shift = [0.0; 4];
        let ln = Rule::for_classes(4).moments(&m, 0, &mut shift, &mut Vec::new());
        assert!((ln + 1.7248).abs() < 5e-5, "{ln}");
        for (j, x) in [1.4652, -0.3579, 0.4587, 0.1339].into_iter().enumerate() {
            assert!(
                (m[j] + shift[j] - x).abs() < 5e-5,
                "{j}: {}",
                m[j] + shift[j]
            );
        }
    }

    #[test]
    fn two_classes_are_a_univariate_probit() {
        // x_0 - x_1 ~ N(m_0 - m_1, 2)
        for gap in [-40.0, -2.0, 0.0, 0.7, 6.0] {
            let ln = ln_xi(&[gap, 0.0], 0);
            let exact = ln_normal_cdf(gap / std::f64::consts::SQRT_2);
            assert!((ln - exact).abs() < 1e-12 * (1.0 + exact.abs()), "{gap}");
        }
    }
}
