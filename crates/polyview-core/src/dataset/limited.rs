//! Mean and spread of numbers of which some are known by limits alone (docs/decisions/0090-scales-of-limits.md).

use polyview_special::LimitedNormal;

/// Most steps of Newton's method.
const STEPS: usize = 100;
/// Rise of the log likelihood, nats for each number, below which it is at its top.
const AT_THE_TOP: f64 = 1e-12;

/// Log likelihood of all cells, with slopes and curvatures.
fn at(cells: &[(f64, f64)], place: (f64, f64)) -> LimitedNormal {
    let mut out = LimitedNormal::default();
    for cell in cells {
        let own = LimitedNormal::of(*cell, place);
        out.value += own.value;
        for (sum, x) in out.slope.iter_mut().zip(own.slope) {
            *sum += x;
        }
        for (sum, x) in out.curvature.iter_mut().zip(own.curvature) {
            *sum += x;
        }
    }
    out
}

/// The step of Newton's method; none where the likelihood is not curved downwards.
fn step(of: &LimitedNormal) -> Option<[f64; 2]> {
    let ([x, y], [a, b, c]) = (of.slope, of.curvature);
    let determinant = a * c - b * b;
    (a < 0.0 && determinant > 0.0)
        .then(|| [(b * y - c * x) / determinant, (b * x - a * y) / determinant])
}

/// Mean and standard deviation of the normal law under which cells that are known by lower and upper end (twice the number
/// where it is exact) are most likely. The log likelihood is concave in the mean over the standard deviation and one over this
/// (Olsen 1978), so that Newton's method finds its one top. `None` unless two exact numbers differ: without that no law is
/// the most likely one.
pub(super) fn most_likely(cells: &[(f64, f64)]) -> Option<(f64, f64)> {
    let exact = || cells.iter().filter(|c| c.0 == c.1).map(|c| c.0);
    let (least, most) = exact().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), x| {
        (l.min(x), m.max(x))
    });
    if least >= most {
        return None;
    }
    let count = exact().count() as f64;
    // in units in which exact numbers are standardised
    let shift = exact().map(|x| x / count).sum::<f64>();
    let unit = exact()
        .map(|x| ((x - shift) / (most - least)).powi(2))
        .sum::<f64>()
        / count;
    let unit = unit.sqrt() * (most - least);
    let of_unit = |x: f64| (x - shift) / unit;
    let cells: Vec<(f64, f64)> = cells.iter().map(|c| (of_unit(c.0), of_unit(c.1))).collect();
    let mut place = (0.0, 1.0);
    let mut here = at(&cells, place);
    for _ in 0..STEPS {
        let step = step(&here)?;
        let mut share = 1.0;
        let (next, there) = loop {
            let next = (place.0 + share * step[0], place.1 + share * step[1]);
            if next.1 > 0.0 {
                let there = at(&cells, next);
                if there.value >= here.value {
                    break (next, there);
                }
            }
            share *= 0.5;
            if share < f64::EPSILON {
                break (place, here);
            }
        };
        let rise = there.value - here.value;
        (place, here) = (next, there);
        if rise <= AT_THE_TOP * cells.len() as f64 {
            break;
        }
    }
    let (mean, sd) = (shift + unit * place.0 / place.1, unit / place.1);
    (mean.is_finite() && sd.is_finite() && sd > 0.0).then_some((mean, sd))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantiles(count: usize) -> Vec<f64> {
        (0..count)
            .map(|i| polyview_special::normal_quantile((i as f64 + 0.5) / count as f64))
            .collect()
    }

    #[test]
    fn exact_numbers_have_their_mean_and_standard_deviation() {
        let cells: Vec<(f64, f64)> = [3.0, 5.0, 10.0].map(|x| (x, x)).to_vec();
        let (mean, sd) = most_likely(&cells).unwrap();
        assert!((mean - 6.0).abs() < 1e-9, "{mean}");
        assert!((sd - (26.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{sd}");
    }

    /// Numbers of mean 7 and standard deviation 2 whose lower three quarters are "below a limit" (or upper, or grouped) are
    /// told as such; with limits for numbers the standard deviation would be less than half.
    #[test]
    fn limits_do_not_shrink_the_spread() {
        let all: Vec<f64> = quantiles(4000).iter().map(|z| 7.0 + 2.0 * z).collect();
        let limit = 7.0 + 2.0 * 0.6744897501960817;
        let below = |x: &f64| {
            if *x < limit {
                (f64::NEG_INFINITY, limit)
            } else {
                (*x, *x)
            }
        };
        let mirrored = |x: &f64| {
            if -*x > -limit {
                (-limit, f64::INFINITY)
            } else {
                (-*x, -*x)
            }
        };
        let grouped = |x: &f64| {
            if *x < limit {
                (x.floor(), x.floor() + 1.0)
            } else {
                (*x, *x)
            }
        };
        let close = |found: Option<(f64, f64)>, mean: f64| {
            let (m, sd) = found.unwrap();
            assert!(
                (m - mean).abs() < 0.02 && (sd - 2.0).abs() < 0.02,
                "{m} {sd}"
            );
        };
        close(most_likely(&all.iter().map(below).collect::<Vec<_>>()), 7.0);
        close(
            most_likely(&all.iter().map(mirrored).collect::<Vec<_>>()),
            -7.0,
        );
        close(
            most_likely(&all.iter().map(grouped).collect::<Vec<_>>()),
            7.0,
        );
    }

    #[test]
    fn nothing_is_most_likely_where_exact_numbers_do_not_differ() {
        let inf = f64::INFINITY;
        assert_eq!(most_likely(&[]), None);
        assert_eq!(most_likely(&[(2.0, inf), (2.0, inf)]), None);
        assert_eq!(most_likely(&[(2.0, 2.0), (2.0, 2.0), (-inf, 3.0)]), None);
    }

    /// Whatever the unit and the place of the numbers, and with all but two of them beyond limits.
    #[test]
    fn units_do_not_matter() {
        let inf = f64::INFINITY;
        let cells = [
            (1.0, 1.0),
            (2.0, 2.0),
            (-inf, 0.5),
            (-inf, 0.9),
            (-inf, 0.9),
            (1.5, inf),
        ];
        let (mean, sd) = most_likely(&cells).unwrap();
        for (unit, shift) in [(1e-150, 0.0), (1e120, 0.0), (3.0, 1e4)] {
            let moved = cells.map(|(a, b)| (unit * a + shift, unit * b + shift));
            let (m, s) = most_likely(&moved).unwrap();
            assert!(
                (m - (unit * mean + shift)).abs() < 1e-8 * (unit + shift),
                "{m}"
            );
            assert!((s / unit / sd - 1.0).abs() < 1e-8, "{s}");
        }
    }
}
