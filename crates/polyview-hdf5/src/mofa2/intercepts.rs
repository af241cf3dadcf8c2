//! Intercepts of binary and count views. MOFA2 takes the means of its
//! pseudo-data away and does not save them, so they are estimated again.

use polyview_linalg::Mat;

/// Prior precision of an intercept on the scale of the link.
const PRECISION: f64 = 0.01;
/// Where an intercept may be.
const WIDEST: f64 = 60.0;

/// The intercept of one feature with the largest posterior density, `offset`
/// being what factors and weights say of its cells: the root of a decreasing
/// function, by bisection.
///
/// * Binary: $\sum(x - \sigma(\eta + b)) = \beta b$.
/// * Counts with rate $\lambda = \ln(1 + e^{\eta + b})$: $\sum(x / \lambda -
///   1)\,\sigma(\eta + b) = \beta b$.
pub(super) fn intercept(likelihood: &str, cells: &[(f64, f64)]) -> f64 {
    let slope = |b: f64| -> f64 {
        let sum: f64 = cells
            .iter()
            .map(|&(x, offset)| {
                let t = offset + b;
                if likelihood == "poisson" {
                    x * logistic_over_softplus(t) - logistic(t)
                } else {
                    x - logistic(t)
                }
            })
            .sum();
        sum - PRECISION * b
    };
    let (mut low, mut high) = (-WIDEST, WIDEST);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// $\eta = z w^\top$ of one feature, one value a sample.
pub(super) fn predictor(factors: &Mat<f64>, weights: &Mat<f64>, feature: usize) -> Vec<f64> {
    let mut out = vec![0.0; factors.nrows()];
    for k in 0..factors.ncols() {
        let w = weights[(feature, k)];
        for (sum, z) in out.iter_mut().zip(factors.col_as_slice(k)) {
            *sum += w * z;
        }
    }
    out
}

fn logistic(t: f64) -> f64 {
    if t >= 0.0 {
        1.0 / (1.0 + (-t).exp())
    } else {
        t.exp() / (1.0 + t.exp())
    }
}

/// $\sigma(t) / \ln(1 + e^t)$, which goes to 1 on the left.
fn logistic_over_softplus(t: f64) -> f64 {
    if t < -30.0 {
        1.0
    } else {
        logistic(t) / (t.max(0.0) + (-t.abs()).exp().ln_1p())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_mode() {
        let cells: Vec<(f64, f64)> = (0..40)
            .map(|i| (f64::from(i % 3 == 0), f64::from(i) * 0.05 - 1.0))
            .collect();
        for likelihood in ["bernoulli", "poisson"] {
            let b = intercept(likelihood, &cells);
            let density = |b: f64| -> f64 {
                let sum: f64 = cells
                    .iter()
                    .map(|&(x, o)| {
                        let softplus = (1.0 + (o + b).exp()).ln();
                        if likelihood == "poisson" {
                            x * softplus.ln() - softplus
                        } else {
                            x * (o + b) - softplus
                        }
                    })
                    .sum();
                sum - 0.5 * PRECISION * b * b
            };
            assert!(b.abs() < 5.0);
            assert!(density(b) > density(b + 1e-3) && density(b) > density(b - 1e-3));
        }
        // nothing but zeros: far away, not infinite
        let b = intercept("bernoulli", &[(0.0, 0.0); 20]);
        assert!((-10.0..-3.0).contains(&b), "{b}");
    }
}
