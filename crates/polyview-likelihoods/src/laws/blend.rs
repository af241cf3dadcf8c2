//! Mixtures of counts: many draws of a posterior as few predictors (decision 0067).

use polyview_core::{CellCounts, Counted, Counting};
use polyview_special::{normal_quantile, sigmoid};

use super::grid::{Points, SIDE, at_nodes, interpolation};
use super::line::{Line, Predictors};

/// The law of a count of which parts speak, each with its share.
///
/// How likely it is that a count is at most x is a smooth function of the predictor, no steeper
/// than the law of the [`Threshold`] is wide. Therefore the predictors of all parts are put
/// on a grid, with the weights of the interpolation through the eight points about each, and the
/// logarithms of sizes on Chebyshev's points: to about 1e-7 of probability the same law, however
/// many parts there are. The variance that all parts have stays with the grid, whose normal laws are a
/// table ([`Smooth`](super::smooth::Smooth)).
#[derive(Clone, Debug)]
pub(crate) struct CountBlend {
    lines: Vec<Line>,
    /// Largest count that is possible.
    most: f64,
    /// Mean of the predictors, and the variance of the count's logarithm (of log-odds) about it.
    about: (f64, f64),
    /// Share of parts whose predictors are minus infinity. They have no lines, nor have those
    /// that nothing is known of.
    nothing: f64,
    /// Whether there is no law.
    unknown: bool,
}

/// A part: its share, the inverse of the size (0 of Poisson counts), mean and variance.
#[derive(Clone, Copy, Debug)]
struct Part {
    share: f64,
    inverse_size: f64,
    mean: f64,
    variance: f64,
}

/// Steps of the grid, in widths.
const STEP: f64 = 0.2;
/// Most points of a grid.
const MOST: usize = 1 << 14;
/// Normal laws wider than this, in widths, are integrated by equal steps of the threshold.
const WIDE: f64 = 0.25;
/// Sizes above which a negative binomial count is Poisson, to rounding.
const SHARP: f64 = 1e8;

/// The smallest width of the law of a threshold for predictors of this range.
fn width(trials: Option<f64>, inverse_size: f64, (low, high): (f64, f64)) -> f64 {
    let square = match trials {
        Some(n) => {
            let nearest = 0.0_f64.clamp(low, high);
            (2.0 + nearest.exp() + (-nearest).exp()) / n
        }
        None => (-high).exp() + inverse_size,
    };
    square.sqrt().min(1.0)
}

/// The size of this inverse.
fn of_inverse(inverse: f64) -> Counting {
    if inverse * SHARP > 1.0 {
        Counting::Size(inverse.recip())
    } else {
        Counting::Poisson
    }
}

impl CountBlend {
    /// The mixture; parts without a share do not count, and negative variances count as none.
    pub(crate) fn new(parts: &[(f64, Counted)]) -> Self {
        let mut all = Vec::with_capacity(parts.len());
        let mut trials = None;
        let (mut nothing, mut unknown) = (0.0, parts.is_empty());
        for &(share, part) in parts.iter().filter(|p| p.0 > 0.0) {
            let inverse_size = match part.counting {
                Counting::Poisson => 0.0,
                Counting::Size(r) => r.recip(),
                Counting::Trials(n) => {
                    trials = Some(n);
                    // nothing is known of how many there may be
                    unknown |= n.is_nan();
                    0.0
                }
            };
            let (mean, variance) = (part.mean, part.variance.max(0.0));
            unknown |= mean.is_nan() || part.variance.is_nan() || inverse_size.is_nan();
            if mean == f64::NEG_INFINITY && variance.is_finite() {
                nothing += share;
            } else if mean.is_finite() && variance.is_finite() {
                all.push(Part {
                    share,
                    inverse_size,
                    mean,
                    variance,
                });
            }
        }
        let mut out = Self {
            lines: Vec::new(),
            most: trials.unwrap_or(f64::INFINITY),
            about: (0.0, 1.0),
            nothing,
            unknown,
        };
        if !unknown && !all.is_empty() {
            out.put(&all, trials);
        }
        out
    }
    fn put(&mut self, parts: &[Part], trials: Option<f64>) {
        let whole: f64 = parts.iter().map(|p| p.share).sum();
        let over = |f: &dyn Fn(&Part) -> f64| -> f64 {
            parts.iter().map(|p| p.share * f(p)).sum::<f64>() / whole
        };
        let middle = over(&|p| p.mean);
        let spread = over(&|p| p.variance + (p.mean - middle).powi(2));
        let dispersion = over(&|p| p.inverse_size);
        let own = width(trials, dispersion, (middle, middle));
        self.about = (middle, spread + own * own);
        let ends = |f: &dyn Fn(&Part) -> f64| {
            let from = (f64::INFINITY, f64::NEG_INFINITY);
            (parts.iter().map(f)).fold(from, |(a, b), x| (a.min(x), b.max(x)))
        };
        let low = ends(&|p| p.mean - 3.0 * p.variance.sqrt()).0;
        let high = ends(&|p| p.mean + 3.0 * p.variance.sqrt()).1;
        let narrow = width(trials, ends(&|p| p.inverse_size).0, (low, high));
        if parts.len() > 1 && self.compress(parts, trials, (middle, narrow)) {
            return;
        }
        for p in parts {
            let counting = trials.map_or_else(|| of_inverse(p.inverse_size), Counting::Trials);
            let deviation = p.variance.sqrt();
            let own = width(
                trials,
                p.inverse_size,
                (p.mean - 3.0 * deviation, p.mean + 3.0 * deviation),
            );
            let mut push = |predictors| {
                self.lines.push(Line {
                    counting,
                    predictors,
                });
            };
            if deviation > WIDE * own {
                push(Predictors::Normal {
                    mean: p.mean,
                    deviation,
                    weight: p.share,
                });
            } else {
                at_nodes(p.mean, deviation, own, |eta, w| {
                    let weight = p.share * w;
                    push(Predictors::One { eta, weight });
                });
            }
        }
    }
    /// Puts the parts on a grid; whether that is worth it.
    fn compress(&mut self, parts: &[Part], trials: Option<f64>, at: (f64, f64)) -> bool {
        let (middle, narrow) = at;
        // sizes, by the logarithm of the variance of a logarithm
        let scale = |inverse_size: f64| (inverse_size + (-middle).exp()).ln();
        let sizes = parts.iter().map(|p| p.inverse_size);
        let from = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, largest) = sizes.fold(from, |(a, b), x| (a.min(x), b.max(x)));
        let points = if trials.is_some() || least == largest {
            Points::new(0.0, 0.0)
        } else {
            Points::new(scale(least), scale(largest))
        };
        let count = points.at.len();
        if count > 1 && 2 * count > parts.len() {
            return false;
        }
        // what all predictors have of variance stays with the grid where it is wide
        let shared = parts
            .iter()
            .map(|p| p.variance)
            .fold(f64::INFINITY, f64::min);
        let shared = if shared.sqrt() > WIDE * narrow {
            shared
        } else {
            0.0
        };
        let width = (narrow * narrow + shared).sqrt();
        let step = STEP * width;
        let reach = |p: &Part| 7.0 * (p.variance - shared).max(0.0).sqrt();
        let low = parts
            .iter()
            .map(|p| p.mean - reach(p))
            .fold(f64::INFINITY, f64::min);
        let high = (parts.iter().map(|p| p.mean + reach(p))).fold(f64::NEG_INFINITY, f64::max);
        let first = low - SIDE as f64 * step;
        let nodes = (high - first) / step + 2.0 * SIDE as f64;
        if nodes.is_nan() || nodes >= MOST as f64 {
            return false;
        }
        let nodes = nodes as usize + 1;
        let mut weights = vec![0.0; count * nodes];
        let mut of_size = vec![1.0; count];
        for p in parts {
            if count > 1 {
                points.weights(scale(p.inverse_size), &mut of_size);
            }
            let deviation = (p.variance - shared).max(0.0).sqrt();
            at_nodes(p.mean, deviation, width, |eta, w| {
                let place = (eta - first) / step;
                let before = place.floor();
                let each = interpolation(place - before);
                // `first` lies so many steps before all of them
                let start = before as usize + 1 - SIDE;
                for (of_size, line) in of_size.iter().zip(weights.chunks_exact_mut(nodes)) {
                    let w = p.share * w * of_size;
                    for (to, each) in line[start..start + 2 * SIDE].iter_mut().zip(each) {
                        *to += w * each;
                    }
                }
            });
        }
        let deviation = shared.sqrt();
        for (c, weights) in weights.chunks_exact(nodes).enumerate() {
            let counting = match trials {
                Some(n) => Counting::Trials(n),
                None if count == 1 => of_inverse(least),
                None => of_inverse(points.at[c].exp() - (-middle).exp()),
            };
            let predictors = Predictors::steps(first, step, weights, deviation);
            self.lines.push(Line {
                counting,
                predictors,
            });
        }
        true
    }
    /// Where the quantile would be if logarithms of counts (log-odds) were normal.
    fn guess(&self, p: f64) -> f64 {
        let eta = self.about.0 + normal_quantile(p) * self.about.1.sqrt();
        if self.most.is_finite() {
            self.most * sigmoid(eta)
        } else {
            eta.min(34.0).exp()
        }
    }
}

impl CellCounts for CountBlend {
    fn cdf(&self, x: f64) -> f64 {
        if x.is_nan() || self.unknown {
            return f64::NAN;
        }
        let x = x.floor();
        if x < 0.0 {
            return 0.0;
        }
        if x >= self.most {
            return 1.0;
        }
        let sum = (self.lines.iter()).fold(self.nothing, |sum, line| sum + line.cdf(x));
        sum.clamp(0.0, 1.0)
    }
    fn quantile(&self, p: f64) -> f64 {
        if self.unknown || p.is_nan() {
            return f64::NAN;
        }
        if self.lines.is_empty() {
            return if p <= self.nothing { 0.0 } else { self.most };
        }
        let wanted = normal_quantile(p);
        // cdf(low) < p <= cdf(high)
        let (mut low, mut high) = (-1.0, self.most);
        let (mut at_low, mut at_high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut x = self.guess(p).floor().clamp(0.0, self.most);
        // how far a step goes, in logarithms for each unit of the normal quantile
        let mut stride = self.about.1.sqrt();
        let mut halve = false;
        while high - low > 1.0 {
            if x >= 1e15 {
                return x;
            }
            let before = high - low;
            let reached = self.cdf(x);
            // normal quantiles of the distribution function are nearly straight in the logarithm
            let off = normal_quantile(reached.clamp(1e-300, 1.0 - 1e-16)) - wanted;
            if reached < p {
                (low, at_low) = (x, off);
            } else {
                (high, at_high) = (x, off);
            }
            let (a, b) = ((low + 0.5).ln(), (high + 0.5).ln());
            let next = if at_low.is_finite() && at_high.is_finite() {
                let line = a - (b - a) * at_low / (at_high - at_low);
                if halve || !line.is_finite() {
                    0.5 * (a + b)
                } else {
                    line
                }
            } else {
                // a bit beyond where it seems to be
                stride *= 1.5;
                let off = off.clamp(-8.0, 8.0);
                (x + 0.5).ln() - stride * (off + 0.1_f64.copysign(off))
            };
            halve = !halve && high - low > 0.5 * before;
            x = (next.exp() - 0.5).floor().max(low + 1.0);
            if high.is_finite() {
                x = x.min(high - 1.0);
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use polyview_random::{ChaCha8Rng, StreamKey, standard_normal};
    use polyview_special::{beta_i, gamma_q};

    use super::*;

    /// A distribution function by incomplete gamma and beta functions, over equal steps of the
    /// predictor.
    fn plain(part: &Counted, x: f64) -> f64 {
        let at = |eta: f64| match part.counting {
            Counting::Poisson => gamma_q(x + 1.0, eta.exp()),
            Counting::Size(r) => beta_i(sigmoid(r.ln() - eta), r, x + 1.0),
            Counting::Trials(n) => beta_i(sigmoid(-eta), n - x, x + 1.0),
        };
        if part.variance == 0.0 {
            return at(part.mean);
        }
        // a quarter of the narrower of the two laws
        let deviation = part.variance.sqrt();
        let width = match part.counting {
            Counting::Poisson => (x + 1.0).recip(),
            Counting::Size(r) => (x + 1.0).recip() + r.recip(),
            Counting::Trials(n) => (x + 1.0).recip() + (n - x).recip(),
        };
        let step = 0.25 * (width.sqrt() / deviation).min(1.0);
        let (mut sum, mut whole) = (0.0, 0.0);
        let count = (6.5 / step).ceil() as i32;
        for i in -count..=count {
            let u = f64::from(i) * step;
            let w = (-0.5 * u * u).exp();
            whole += w;
            sum += w * at(part.mean + u * deviation);
        }
        sum / whole
    }

    /// Draws of one cell: its predictors scatter, and what its count and their variances are.
    fn draws(
        count: usize,
        (middle, scatter): (f64, f64),
        mut of: impl FnMut(&mut ChaCha8Rng) -> (Counting, f64),
    ) -> Vec<(f64, Counted)> {
        let mut rng = StreamKey::new(3).rng();
        let mut draw = || {
            let mean = middle + scatter * standard_normal(&mut rng);
            let (counting, variance) = of(&mut rng);
            let part = Counted {
                counting,
                mean,
                variance,
            };
            ((count as f64).recip(), part)
        };
        (0..count).map(|_| draw()).collect()
    }

    fn cases() -> Vec<(String, Vec<(f64, Counted)>)> {
        let mut out = Vec::new();
        for mean in [0.2_f64, 3.0, 300.0] {
            for scatter in [0.05, 0.4] {
                for variance in [0.0, 0.003, 0.3] {
                    let eta = (mean.ln(), scatter);
                    let named = |what: &str| format!("{what} {mean} {scatter} {variance}");
                    out.push((
                        named("poisson"),
                        draws(40, eta, |_| (Counting::Poisson, variance)),
                    ));
                    let sizes = |middle: f64, spread: f64| {
                        draws(40, eta, move |rng| {
                            let size = middle * (spread * standard_normal(rng)).exp();
                            (Counting::Size(size), variance)
                        })
                    };
                    out.push((named("size 3"), sizes(3.0, 0.2)));
                    out.push((named("size .4"), sizes(0.4, 0.1)));
                    out.push((named("size 30"), sizes(30.0, 1.0)));
                    // as the noise of log-normal counts, whose draws differ
                    out.push((
                        named("noise"),
                        draws(40, eta, |rng| {
                            let own = 0.2 * (0.2 * standard_normal(rng)).exp();
                            (Counting::Poisson, variance + own)
                        }),
                    ));
                    let trials = 4.0 * mean.ceil();
                    out.push((
                        named("trials"),
                        draws(40, (-1.0, scatter), |_| {
                            (Counting::Trials(trials), variance)
                        }),
                    ));
                }
            }
        }
        out
    }

    /// Over draws, a mixture has the distribution function of its parts.
    #[test]
    fn mixtures_are_sums_of_their_parts() {
        let mut worst = (0.0, String::new());
        for (named, parts) in cases() {
            let blend = CountBlend::new(&parts);
            let mut x = 0.0;
            for p in [0.0, 0.025, 0.5, 0.975] {
                if p > 0.0 {
                    let at = blend.quantile(p);
                    assert!(at >= x, "{named} {p}");
                    assert!(blend.cdf(at) >= p && (at == 0.0 || blend.cdf(at - 1.0) < p));
                    x = at;
                }
                if x >= blend.most {
                    continue;
                }
                let expected: f64 = parts.iter().map(|(w, part)| w * plain(part, x)).sum();
                let off = (blend.cdf(x) - expected).abs();
                if off > worst.0 {
                    worst = (off, format!("{named} {x}"));
                }
            }
        }
        assert!(worst.0 < 1e-7, "{} {}", worst.0, worst.1);
    }

    /// Many draws are few predictors, whatever their number.
    #[test]
    fn draws_are_put_on_a_grid() {
        for mean in [3.0_f64, 300.0] {
            let parts = draws(600, (mean.ln(), 0.2), |_| (Counting::Size(3.0), 0.0));
            let blend = CountBlend::new(&parts);
            let [only] = blend.lines.as_slice() else {
                panic!("{:?}", blend.lines);
            };
            let few = matches!(&only.predictors, Predictors::Steps(grid) if grid.len() < 60);
            assert!(few, "{only:?}");
        }
    }

    /// What draws have of variance in common is about the points of a table, which each count is
    /// asked at instead of every point's own law.
    #[test]
    fn laws_of_draws_are_tables() {
        let parts = draws(600, (2.0, 0.5), |rng| {
            let size = 3.0 * (0.3 * standard_normal(rng)).exp();
            (Counting::Size(size), 0.3)
        });
        let blend = CountBlend::new(&parts);
        assert!((2..20).contains(&blend.lines.len()), "{:?}", blend.lines);
        for line in &blend.lines {
            let is_table = matches!(line.predictors, Predictors::Normals { .. });
            assert!(is_table, "{line:?}");
        }
        let below = |x: f64| {
            parts
                .iter()
                .map(|(w, part)| w * plain(part, x))
                .sum::<f64>()
        };
        for p in [0.025, 0.5, 0.975] {
            let searched = (0..500).map(f64::from).find(|x| below(*x) >= p);
            assert_eq!(Some(blend.quantile(p)), searched);
        }
    }
}
