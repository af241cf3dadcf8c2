//! The normalised hinge: a distribution function and its means.

use std::sync::LazyLock;

use polyview_special::{normal_cdf, normal_pdf, sigmoid};

/// Standard deviation of the predictor up to which its own density is integrated
/// over.
const NARROW: f64 = 0.25;

/// $\ln\{L(+1)/L(-1)\} = 2\max(0, 1 + \eta) - 2\max(0, 1 - \eta)$: $4\eta$ inside
/// the margin, $2\eta \pm 2$ outside.
pub(super) fn log_odds(score: f64) -> f64 {
    2.0 * (1.0 + score).max(0.0) - 2.0 * (1.0 - score).max(0.0)
}

/// The score with these log-odds.
pub(super) fn score_of(log_odds: f64) -> f64 {
    if log_odds.abs() <= 4.0 {
        0.25 * log_odds
    } else {
        0.5 * (log_odds - 2.0 * log_odds.signum())
    }
}

/// $\sigma$ of the log-odds.
pub(super) fn share(score: f64) -> f64 {
    sigmoid(log_odds(score))
}

/// Nodes above zero and weights for integrals over the law whose distribution
/// function is [`share`]: Simpson's rule on either side of the margin, where
/// its density jumps.
struct Rule {
    nodes: Vec<(f64, f64)>,
}

static RULE: LazyLock<Rule> = LazyLock::new(|| {
    let mut nodes = Vec::new();
    for (from, to, steps, slope) in [(0.0, 1.0, 20_u32, 4.0), (1.0, 12.0, 110, 2.0)] {
        let step = (to - from) / f64::from(steps);
        for i in 0..=steps {
            let t = from + step * f64::from(i);
            let simpson = match i {
                0 => 1.0,
                i if i == steps => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let odds = if slope > 3.0 { 4.0 * t } else { 2.0 * t + 2.0 };
            let density = slope * sigmoid(odds) * sigmoid(-odds);
            nodes.push((t, simpson * step / 3.0 * density));
        }
    }
    // the law is symmetric: half of its mass lies above zero
    let mass: f64 = nodes.iter().map(|n| n.1).sum();
    for n in &mut nodes {
        n.1 *= 0.5 / mass;
    }
    Rule { nodes }
});

/// $\mathrm{E}\\,$[`share`]$(\eta)$, $\eta\sim N(m, v)$, for $m \le 0$, with an
/// absolute error below 1e-6: where η varies less than the law itself as an
/// integral over η, piece by piece between the ends of the margin, where the slope
/// jumps; else as $\mathrm{E}\\,\Phi((m - t)/\sqrt v)$ over that law.
pub(super) fn lower_mean_share(mean: f64, variance: f64) -> f64 {
    let sd = variance.max(0.0).sqrt();
    if sd == 0.0 {
        return share(mean);
    }
    if sd <= NARROW {
        return by_pieces(mean, sd);
    }
    (RULE.nodes.iter())
        .map(|(t, w)| w * (normal_cdf((mean - t) / sd) + normal_cdf((mean + t) / sd)))
        .sum()
}

/// Simpson's rule over nine standard deviations to either side.
fn by_pieces(mean: f64, sd: f64) -> f64 {
    const REACH: f64 = 9.0;
    const STEPS: u32 = 96;
    let ends = [
        -REACH,
        ((-1.0 - mean) / sd).clamp(-REACH, REACH),
        ((1.0 - mean) / sd).clamp(-REACH, REACH),
        REACH,
    ];
    let mut sum = 0.0;
    for piece in ends.windows(2).filter(|p| p[1] > p[0]) {
        let step = (piece[1] - piece[0]) / f64::from(STEPS);
        for i in 0..=STEPS {
            let weight = match i {
                0 | STEPS => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let u = piece[0] + step * f64::from(i);
            sum += weight * step / 3.0 * normal_pdf(u) * share(mean + sd * u);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_odds_and_scores_are_inverse() {
        for i in -80..=80 {
            let score = f64::from(i) * 0.1;
            assert!((score_of(log_odds(score)) - score).abs() < 1e-14);
            let l = |y: f64| (-2.0 * (1.0 - y * score).max(0.0)).exp();
            assert!((share(score) - l(1.0) / (l(1.0) + l(-1.0))).abs() < 1e-14);
        }
    }

    #[test]
    fn it_is_the_integral() {
        let exact = |mean: f64, variance: f64| -> f64 {
            (-40_000..=40_000)
                .map(|i| f64::from(i) * 3e-4)
                .map(|u| 3e-4 * normal_pdf(u) * share(mean + variance.sqrt() * u))
                .sum()
        };
        for mean in [-9.0, -3.0, -1.2, -1.0, -0.8, -0.3, 0.0] {
            for variance in [0.0, 1e-4, 0.01, 0.06, 0.063, 0.1, 0.5, 2.0, 30.0, 1e4] {
                let found = lower_mean_share(mean, variance);
                let exact = if variance == 0.0 {
                    share(mean)
                } else {
                    exact(mean, variance)
                };
                assert!(
                    (found - exact).abs() < 1e-6,
                    "{mean} {variance}: {found} {exact}"
                );
            }
        }
    }
}
