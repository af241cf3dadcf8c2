//! Many points as few: nodes of normal laws, and the weights of interpolations.

use std::f64::consts::PI;
use std::sync::LazyLock;

use polyview_special::GaussHermite;

/// Points to each side of a place that its interpolation takes.
pub(super) const SIDE: usize = 4;

/// Rules of a few nodes, with the deviations (in widths) up to which each is good to 1e-7.
static RULES: LazyLock<Vec<(f64, GaussHermite)>> = LazyLock::new(|| {
    let rules = [(1e-4, 1), (0.1, 3), (0.3, 5), (0.6, 9)];
    let made = |(to, n)| Some((to, GaussHermite::normal(n).ok()?));
    rules.into_iter().filter_map(made).collect()
});

/// Calls `at` with the nodes of a normal law and their weights, for functions no steeper than a
/// distribution function of this width.
pub(super) fn at_nodes(mean: f64, deviation: f64, width: f64, mut at: impl FnMut(f64, f64)) {
    let scale = deviation / width;
    if let Some((_, rule)) = RULES.iter().find(|(to, _)| scale <= *to) {
        for (u, w) in rule.nodes().iter().zip(rule.weights()) {
            at(mean + deviation * u, *w);
        }
        return;
    }
    let step = 0.5 / (1.0 + scale * scale).sqrt();
    let count = (6.5 / step).ceil();
    let height = step / (2.0 * PI).sqrt();
    for i in 0..=(2.0 * count) as usize {
        let u = (i as f64 - count) * step;
        at(mean + deviation * u, height * (-0.5 * u * u).exp());
    }
}

/// Weights of the polynomial through [`SIDE`] points before and after a place, which lies so far
/// (0 to 1) behind the last one before it.
pub(super) fn interpolation(place: f64) -> [f64; 2 * SIDE] {
    // 1/∏(i − j) of the eight points
    const SCALES: [f64; 8] = [
        -1.0 / 5040.0,
        1.0 / 720.0,
        -1.0 / 240.0,
        1.0 / 144.0,
        -1.0 / 144.0,
        1.0 / 240.0,
        -1.0 / 720.0,
        1.0 / 5040.0,
    ];
    let mut out = SCALES;
    let mut product = 1.0;
    for (i, o) in out.iter_mut().enumerate() {
        *o *= product;
        product *= place + (SIDE as f64 - 1.0) - i as f64;
    }
    product = 1.0;
    for (i, o) in out.iter_mut().enumerate().rev() {
        *o *= product;
        product *= place + (SIDE as f64 - 1.0) - i as f64;
    }
    out
}

/// Chebyshev's points between the ends of something, and the weights of the polynomial through them.
pub(super) struct Points {
    pub(super) at: Vec<f64>,
    barycentric: Vec<f64>,
}

impl Points {
    /// Those between `low` and `high`.
    pub(super) fn new(low: f64, high: f64) -> Self {
        // one point for a single value, else as many as the functions of sizes need
        let count = if high - low < 1e-9 {
            1
        } else {
            5 + (3.0 * (high - low)).ceil() as usize
        };
        let angle = |c: usize| PI * (c as f64 + 0.5) / count as f64;
        let sign = |c: usize| if c.is_multiple_of(2) { 1.0 } else { -1.0 };
        Self {
            at: (0..count)
                .map(|c| 0.5 * (low + high) + 0.5 * (high - low) * angle(c).cos())
                .collect(),
            barycentric: (0..count).map(|c| sign(c) * angle(c).sin()).collect(),
        }
    }
    /// The weights of the points in what the polynomial has at `x`.
    pub(super) fn weights(&self, x: f64, out: &mut [f64]) {
        if let Some(same) = self.at.iter().position(|at| *at == x) {
            out.fill(0.0);
            out[same] = 1.0;
            return;
        }
        if let [only] = out {
            *only = 1.0;
            return;
        }
        let mut sum = 0.0;
        for ((o, at), w) in out.iter_mut().zip(&self.at).zip(&self.barycentric) {
            *o = w / (x - at);
            sum += *o;
        }
        for o in out {
            *o /= sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interpolation through eight points leaves polynomials alone.
    #[test]
    fn interpolation_has_the_weights_of_a_polynomial() {
        for place in [0.0, 0.3, 0.99] {
            for power in 0..8 {
                let each = interpolation(place).into_iter().enumerate();
                let sum: f64 = each.map(|(i, w)| w * (i as f64 - 3.0).powi(power)).sum();
                assert!(
                    (sum - place.powi(power)).abs() < 1e-11,
                    "{place} {power}: {sum}"
                );
            }
        }
    }
}
