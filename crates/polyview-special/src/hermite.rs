//! Gauss–Hermite quadrature.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::double_double::DoubleDouble;
use crate::error::SpecialError;

/// Nodes and weights of a Gauss–Hermite rule, exact for polynomials of degree $2n-1$.
///
/// Both are accurate to the last digit or two, relative, for every node: the zeros of
/// $\mathrm{He}\_n$ are bracketed by Sturm counts and polished by Newton's method in
/// double-double arithmetic, which the weights need, because a relative error $\delta$ in an
/// outer node would change its weight by $4n\delta$. Building a rule costs $O(n^2)$; keep it.
///
/// ```
/// use polyview_special::GaussHermite;
/// // E[cos(u)], u standard normal.
/// let rule = GaussHermite::normal(20)?;
/// assert!((rule.integrate(f64::cos) - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), polyview_special::SpecialError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GaussHermite {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

impl GaussHermite {
    /// Largest number of nodes. (Beyond 370 nodes the outer weights are below the smallest
    /// `f64` and come out as zero.)
    pub const MAX_NODES: usize = 1024;

    /// Rule for the standard normal weight, $\int\phi(u)f(u)\\,du \approx \sum\_i w\_i f(u\_i)$;
    /// the weights sum to one ("probabilists'").
    ///
    /// # Errors
    /// [`SpecialError::NodeCount`] for no nodes or more than [`Self::MAX_NODES`].
    pub fn normal(nodes: usize) -> Result<Self, SpecialError> {
        Self::build(nodes, DoubleDouble::new(1.0), DoubleDouble::new(1.0))
    }

    /// Rule for the weight $e^{-x^2}$, $\int e^{-x^2}f(x)\\,dx \approx \sum\_i w\_i f(x\_i)$; the
    /// weights sum to $\sqrt\pi$ ("physicists'").
    ///
    /// # Errors
    /// As [`Self::normal`].
    pub fn physicists(nodes: usize) -> Result<Self, SpecialError> {
        // sqrt(1/2) and sqrt(pi), each with its rounding error.
        let half =
            DoubleDouble::new(FRAC_1_SQRT_2).add(DoubleDouble::new(-4.833_646_656_726_457e-17));
        let root_pi = DoubleDouble::new(1.772_453_850_905_516)
            .add(DoubleDouble::new(-7.666_586_499_825_799e-17));
        Self::build(nodes, half, root_pi)
    }

    /// Nodes, increasing, symmetric about zero.
    pub fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// Weights, in the order of the nodes.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// $\sum\_i w\_i f(x\_i)$, in the order of the nodes.
    pub fn integrate(&self, mut f: impl FnMut(f64) -> f64) -> f64 {
        self.nodes
            .iter()
            .zip(&self.weights)
            .map(|(&x, &w)| w * f(x))
            .sum()
    }

    fn build(n: usize, stretch: DoubleDouble, mass: DoubleDouble) -> Result<Self, SpecialError> {
        if n == 0 || n > Self::MAX_NODES {
            return Err(SpecialError::NodeCount {
                nodes: n,
                max: Self::MAX_NODES,
            });
        }
        let (mut nodes, mut weights) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n.div_ceil(2) {
            // The i-th largest zero; the middle one of an odd rule is zero itself.
            let mut x = DoubleDouble::new(0.0);
            if 2 * i + 1 < n {
                x = DoubleDouble::new(bracketed_zero(n, i));
                for _ in 0..3 {
                    let (value, below, _) = hermite(n, x);
                    let slope = below.mul(DoubleDouble::new(n as f64));
                    x = x.sub(value.div(slope));
                }
            }
            let weight = weight(n, x, mass);
            let node = x.mul(stretch).value();
            (nodes[i], weights[i]) = (-node, weight);
            (nodes[n - 1 - i], weights[n - 1 - i]) = (node, weight);
        }
        if n % 2 == 1 {
            nodes[n / 2] = 0.0; // not -0
        }
        Ok(Self { nodes, weights })
    }
}

/// Number of zeros of $\mathrm{He}\_n$ above `x`: sign changes in the sequence of the ratios
/// $\mathrm{He}\_{k+1}/\mathrm{He}\_k$.
fn zeros_above(n: usize, x: f64) -> usize {
    let mut ratio = x;
    let mut count = usize::from(ratio < 0.0);
    for k in 1..n {
        let divisor = if ratio == 0.0 {
            f64::MIN_POSITIVE
        } else {
            ratio
        };
        ratio = x - k as f64 / divisor;
        count += usize::from(ratio < 0.0);
    }
    count
}

/// The zero that has `index` zeros above it, to about eight digits.
fn bracketed_zero(n: usize, index: usize) -> f64 {
    let (mut low, mut high) = (0.0, 2.0 * (n as f64).sqrt());
    for _ in 0..32 {
        let middle = 0.5 * (low + high);
        if zeros_above(n, middle) > index {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

const SHRINK: i32 = 300;

/// $\mathrm{He}\_n(x)$ and $\mathrm{He}\_{n-1}(x)$ over $2^{300e}$, and $e$.
fn hermite(n: usize, x: DoubleDouble) -> (DoubleDouble, DoubleDouble, i32) {
    let (mut below, mut current) = (DoubleDouble::new(1.0), x);
    let mut exponent = 0;
    for k in 1..n {
        let next = x.mul(current).sub(below.mul(DoubleDouble::new(k as f64)));
        (below, current) = (current, next);
        if below.value().abs() > 1e100 || current.value().abs() > 1e100 {
            let factor = 2f64.powi(-SHRINK);
            (below, current) = (below.scale(factor), current.scale(factor));
            exponent += 1;
        }
    }
    (current, below, exponent)
}

/// $\text{mass}\cdot(n-1)!\\,/\\,(n\\,\mathrm{He}\_{n-1}(x)^2)$ at a zero of $\mathrm{He}\_n$.
fn weight(n: usize, x: DoubleDouble, mass: DoubleDouble) -> f64 {
    let (_, below, exponent) = hermite(n, x);
    let mut value = mass.div(below).div(below).div(DoubleDouble::new(n as f64));
    let mut shrinks = 2 * exponent;
    for k in 1..n {
        value = value.mul(DoubleDouble::new(k as f64));
        if value.value() > 1e100 && shrinks > 0 {
            value = value.scale(2f64.powi(-SHRINK));
            shrinks -= 1;
        }
    }
    for _ in 0..shrinks {
        value = value.scale(2f64.powi(-SHRINK));
    }
    value.value()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_nodes_and_too_many() {
        for n in [0, GaussHermite::MAX_NODES + 1, usize::MAX] {
            let error = SpecialError::NodeCount {
                nodes: n,
                max: GaussHermite::MAX_NODES,
            };
            assert_eq!(GaussHermite::normal(n), Err(error));
            assert_eq!(GaussHermite::physicists(n), Err(error));
        }
    }

    #[test]
    fn weights_sum_to_the_mass_and_nodes_increase() {
        for n in [1, 2, 3, 7, 30, 64, 100, 180, 371] {
            let normal = GaussHermite::normal(n).unwrap();
            let physicists = GaussHermite::physicists(n).unwrap();
            let root_pi = std::f64::consts::PI.sqrt();
            assert!((normal.integrate(|_| 1.0) - 1.0).abs() < 1e-14, "{n}");
            assert!(
                (physicists.integrate(|_| 1.0) / root_pi - 1.0).abs() < 1e-14,
                "{n}"
            );
            assert!(normal.nodes().windows(2).all(|w| w[0] < w[1]), "{n}");
            assert_eq!(normal.nodes().len(), n);
            for (x, y) in normal.nodes().iter().zip(normal.nodes().iter().rev()) {
                assert_eq!(*x, -*y);
            }
        }
    }

    #[test]
    fn exact_up_to_degree_two_n_minus_one() {
        for n in 1..=12usize {
            let rule = GaussHermite::normal(n).unwrap();
            let mut moment = 1.0; // E u^(2j) = (2j-1)!!
            for j in 1..n {
                moment *= (2 * j - 1) as f64;
                let sum = rule.integrate(|u| u.powi(2 * j as i32));
                assert!((sum / moment - 1.0).abs() < 1e-13, "{n} {j}");
            }
            // One degree more and the rule is wrong by n!.
            moment *= (2 * n - 1) as f64;
            let sum = rule.integrate(|u| u.powi(2 * n as i32));
            let factorial: f64 = (1..=n).map(|k| k as f64).product();
            assert!(((moment - sum) / factorial - 1.0).abs() < 1e-10, "{n}");
        }
    }
}
