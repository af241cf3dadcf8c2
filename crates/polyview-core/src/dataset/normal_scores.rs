//! Normal scores of the features of a real view, and the way back.

use polyview_special::{normal_cdf, normal_quantile};
use serde::{Deserialize, Serialize};

use super::View;

/// A map between the values of each feature and their normal scores: through the
/// training values, straight between them, and no further.
///
/// The score of a training value is $\Phi^{-1}(r/(N + 1))$ with its rank $r$ among
/// the $N$ observed values of its feature, the average rank of equal values
/// (spec/maxmargin-rank 7). Between two training values the map is linear both
/// ways, so that it is the quantile function of the training values on the way
/// back. Values beyond the smallest and largest have the scores of these, and
/// scores beyond those lead to them: nothing outside the range of the training
/// values is ever predicted, and no new value counts for more than the largest of
/// the training values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalScores {
    starts: Vec<usize>,
    values: Vec<f64>,
    scores: Vec<f64>,
    /// How many training values each is; nothing where an earlier file does not say it.
    counts: Vec<u32>,
}

impl NormalScores {
    /// Learns the map from the observed cells of a view.
    pub fn learn(view: &View) -> Self {
        let mut out = Self {
            starts: vec![0],
            values: Vec::new(),
            scores: Vec::new(),
            counts: Vec::new(),
        };
        for d in 0..view.n_features() {
            let mut own: Vec<f64> = (0..view.n_samples())
                .filter_map(|n| view.value(n, d))
                .map(|x| x + 0.0) // one zero
                .collect();
            own.sort_unstable_by(f64::total_cmp);
            let (all, mut below) = (own.len() as f64, 0.0);
            for run in own.chunk_by(|a, b| a == b) {
                let size = run.len() as f64;
                let rank = below + 0.5 * (size + 1.0);
                below += size;
                out.values.push(run[0]);
                out.counts.push(run.len() as u32);
                out.scores.push(normal_quantile(rank / (all + 1.0)));
            }
            out.starts.push(out.values.len());
        }
        out
    }

    /// Its parts, to be stored: where each feature starts among the values and the
    /// last ends, the distinct training values of each feature, ascending, and
    /// their scores.
    pub fn parts(&self) -> (&[usize], &[f64], &[f64]) {
        (&self.starts, &self.values, &self.scores)
    }

    /// How many training values are equal to each of the values of [`NormalScores::parts`];
    /// nothing where it is not known.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Put together again, with the [`counts`](NormalScores::counts) where they are known;
    /// `None` when the parts make no map.
    pub fn from_parts(
        starts: Vec<usize>,
        values: Vec<f64>,
        scores: Vec<f64>,
        counts: Option<Vec<u32>>,
    ) -> Option<Self> {
        if let Some(counts) = &counts
            && (counts.len() != values.len() || counts.contains(&0))
        {
            return None;
        }
        let out = Self {
            starts,
            values,
            scores,
            counts: counts.unwrap_or_default(),
        };
        let len = out.values.len();
        let whole = out.starts.first() == Some(&0)
            && out.starts.last() == Some(&len)
            && out.starts.windows(2).all(|w| w[0] <= w[1])
            && out.scores.len() == len
            && out.values.iter().chain(&out.scores).all(|x| x.is_finite());
        let ascends = |x: &[f64]| x.windows(2).all(|w| w[0] < w[1]);
        (whole
            && (0..out.starts.len() - 1).all(|d| {
                let (values, scores) = out.of(d);
                ascends(values) && ascends(scores)
            }))
        .then_some(out)
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.starts.len() - 1
    }

    /// Features with fewer than two different values.
    pub fn constant(&self) -> Vec<usize> {
        let few = |d: &usize| self.of(*d).0.len() < 2;
        (0..self.features()).filter(few).collect()
    }

    fn of(&self, feature: usize) -> (&[f64], &[f64]) {
        let own = self.starts[feature]..self.starts[feature + 1];
        (&self.values[own.clone()], &self.scores[own])
    }

    /// The score of a value; 0 for a feature without a training value.
    pub fn score(&self, feature: usize, value: f64) -> f64 {
        let (values, scores) = self.of(feature);
        between(values, scores, value)
    }

    /// The value at a score; 0 for a feature without a training value.
    pub fn value(&self, feature: usize, score: f64) -> f64 {
        let (values, scores) = self.of(feature);
        between(scores, values, score)
    }

    /// The value at the end of an interval of scores: as [`NormalScores::value`] between two
    /// values that were observed once each; a value that was observed several times is a level,
    /// and has the scores between the ranks of its neighbours for itself, so that an interval
    /// ends at a level that it holds.
    pub fn quantile(&self, feature: usize, score: f64) -> f64 {
        let (values, scores) = self.of(feature);
        let own = self.starts[feature]..self.starts[feature + 1];
        let Some(counts) = self.counts.get(own).filter(|c| !c.is_empty()) else {
            return self.value(feature, score);
        };
        if score.is_nan() {
            return score;
        }
        // between two scores: with half a rank around them each level ends where the next begins
        let count = |i: usize| f64::from(counts[i]);
        let all = 0.5 * (count(0) + 1.0) / normal_cdf(scores[0]);
        let at = match scores.partition_point(|s| *s <= score) {
            0 => 0,
            above if above == scores.len() => above - 1,
            above => {
                let end = normal_cdf(scores[above - 1]) * all + 0.5 * count(above - 1);
                above - usize::from(normal_cdf(score) * all < end)
            }
        };
        let next = if score < scores[at] {
            at.checked_sub(1)
        } else {
            Some(at + 1).filter(|n| *n < counts.len())
        };
        if counts[at] > 1 || next.is_some_and(|n| counts[n] > 1) {
            return values[at];
        }
        self.value(feature, score)
    }

    /// Mean and standard deviation of the values that scores $N($`mean`, `sd`$^2)$ lead
    /// to: an integral by steps of a quarter of `sd`, to 4.5 of them each way.
    /// `NaN` where one of the two is.
    pub fn moments(&self, feature: usize, mean: f64, sd: f64) -> (f64, f64) {
        let (values, scores) = self.of(feature);
        let at = |steps: i32| {
            let z = 0.25 * f64::from(steps);
            (between(scores, values, mean + sd * z), (-0.5 * z * z).exp())
        };
        let centre = at(0).0;
        let (mut total, mut first) = (0.0, 0.0);
        for (value, weight) in (-18..=18).map(at) {
            total += weight;
            // halves: the range of the largest numbers is no number
            first += weight * (0.5 * value - 0.5 * centre);
        }
        let away = first / total;
        let from_mean = |value: f64| 0.5 * value - 0.5 * centre - away;
        // in units of the largest, whose square may be no number
        let sizes = (-18..=18).map(|i| from_mean(at(i).0).abs());
        let unit = sizes.fold(f64::MIN_POSITIVE, f64::max);
        let mut second = 0.0;
        for (value, weight) in (-18..=18).map(at) {
            second += weight * (from_mean(value) / unit).powi(2);
        }
        (centre + 2.0 * away, 2.0 * unit * (second / total).sqrt())
    }

    /// Logarithm of how many scores a unit of the data takes around a score: a
    /// density of scores times this is one of values. Beyond the training values
    /// that of the nearest two; 0 for a constant feature.
    pub fn ln_slope(&self, feature: usize, score: f64) -> f64 {
        let (values, scores) = self.of(feature);
        if values.len() < 2 {
            return 0.0;
        }
        let at = scores
            .partition_point(|s| *s <= score)
            .clamp(1, scores.len() - 1);
        (scores[at] - scores[at - 1]).ln() - (values[at] - values[at - 1]).ln()
    }
}

/// The value that stands over `x`, from knots `from` to knots `to`, both
/// ascending.
fn between(from: &[f64], to: &[f64], x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let at = from.partition_point(|f| *f < x);
    match (to.get(at), at) {
        (None, _) => to.last().copied().unwrap_or(0.0),
        (Some(&t), 0) => t,
        (Some(&t), _) if from[at] == x => t,
        (Some(&high), at) => {
            let low = to[at - 1];
            // halves: the range of the largest numbers is no number
            let share = (0.5 * x - 0.5 * from[at - 1]) / (0.5 * from[at] - 0.5 * from[at - 1]);
            (low * (1.0 - share) + high * share).clamp(low, high)
        }
    }
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;

    fn map() -> NormalScores {
        let columns = [
            [3.0, 1.0, 1.0, 700.0, f64::NAN],
            [5.0; 5],
            [f64::NAN; 5],
            [-1e300, 1e300, 1.0, 2.0, f64::NAN],
        ];
        let values = Mat::from_fn(5, 4, |n, d| columns[d][n]);
        let names = (0..4).map(|d| format!("f{d}")).collect();
        NormalScores::learn(&View::from_values("x", names, values).expect("a view"))
    }

    #[test]
    fn scores_are_those_of_average_ranks_and_lead_back() {
        let m = map();
        for (x, rank) in [(1.0, 1.5), (3.0, 3.0), (700.0, 4.0)] {
            let z = normal_quantile(rank / 5.0);
            assert_eq!(m.score(0, x).to_bits(), z.to_bits());
            assert_eq!(m.value(0, z).to_bits(), f64::to_bits(x));
        }
        assert_eq!((m.score(1, 5.0), m.value(1, 2.0)), (0.0, 5.0));
        assert_eq!((m.score(2, 5.0), m.value(2, 2.0)), (0.0, 0.0));
        assert_eq!(m.constant(), [1, 2]);
        assert!(m.value(3, 0.0).is_finite() && m.score(3, 1e299).is_finite());
        assert!(m.score(0, f64::NAN).is_nan());
    }

    #[test]
    fn the_map_ascends_and_ends_with_the_training_values() {
        let m = map();
        let grid: Vec<f64> = (-400..=400).map(|i| f64::from(i) / 100.0).collect();
        for d in [0, 3] {
            let there: Vec<f64> = grid.iter().map(|z| m.value(d, *z)).collect();
            assert!(there.windows(2).all(|w| w[0] <= w[1]));
        }
        assert_eq!((m.value(0, -4.0), m.value(0, 4.0)), (1.0, 700.0));
        assert_eq!(m.score(0, 1e9), m.score(0, 700.0));
        assert_eq!(m.score(0, -1e9), m.score(0, 1.0));
        // straight between two training values, both ways
        let (a, b) = (m.score(0, 3.0), m.score(0, 700.0));
        assert!((m.score(0, 351.5) - 0.5 * (a + b)).abs() < 1e-14);
        assert!((m.value(0, 0.5 * (a + b)) - 351.5).abs() < 1e-10);
        let slope = (b - a) / 697.0;
        for z in [a + 0.01, b, b + 1.0] {
            assert!((m.ln_slope(0, z) - slope.ln()).abs() < 1e-12);
        }
    }

    /// Of values that are exponentials of their scores the log-normal law's, and of an uneven
    /// map those of many draws of its scores, evenly spread.
    #[test]
    fn moments_are_those_of_the_values() {
        let n = 4001;
        let bent = Mat::from_fn(n, 1, |i, _| {
            normal_quantile((i as f64 + 1.0) / (n as f64 + 1.0)).exp()
        });
        let view = View::from_values("x", vec!["f".into()], bent).expect("a view");
        let (mean, sd) = NormalScores::learn(&view).moments(0, 0.4, 0.5);
        let expected = (0.4_f64 + 0.125).exp();
        assert!(
            (mean - expected).abs() < 2e-3 * expected,
            "{mean} {expected}"
        );
        let of_law = expected * (0.25_f64.exp() - 1.0).sqrt();
        assert!((sd - of_law).abs() < 1e-2 * of_law, "{sd} {of_law}");
        let m = map();
        for (feature, mean, sd) in [(0, 0.2, 0.6), (0, -1.0, 0.1), (1, 0.3, 1.0)] {
            let draws: Vec<f64> = (0..100_000)
                .map(|i| {
                    m.value(
                        feature,
                        mean + sd * normal_quantile((f64::from(i) + 0.5) / 1e5),
                    )
                })
                .collect();
            let first = draws.iter().sum::<f64>() / 1e5;
            let second = draws.iter().map(|x| (x - first).powi(2)).sum::<f64>() / 1e5;
            let found = m.moments(feature, mean, sd);
            assert!(
                (found.0 - first).abs() < 0.01 * (1.0 + first.abs()),
                "{found:?} {first}"
            );
            assert!(
                (found.1 - second.sqrt()).abs() < 0.02 * (1.0 + second.sqrt()),
                "{found:?} {second}"
            );
        }
        assert!(m.moments(3, 0.0, 3.0).1.is_finite());
        assert!(m.moments(0, f64::NAN, 1.0).0.is_nan());
    }

    /// Of few levels the ends of intervals are levels, and hold what was asked for; of values
    /// that are all different they are straight between these.
    #[test]
    fn ends_of_intervals_are_levels_where_there_are_levels() {
        let sizes = [(-1.0, 30), (0.0, 90), (1.0, 60), (2.0, 20)];
        let column: Vec<f64> = (sizes.iter())
            .flat_map(|(x, n)| std::iter::repeat_n(*x, *n))
            .collect();
        let levels = Mat::from_fn(200, 2, |n, d| if d == 0 { column[n] } else { n as f64 });
        let names = vec!["levels".into(), "numbers".into()];
        let m = NormalScores::learn(&View::from_values("x", names, levels).expect("a view"));
        for p in [0.5, 0.8, 0.9, 0.99] {
            let ends = [0.5 * (1.0 - p), 0.5 * (1.0 + p)].map(normal_quantile);
            let [low, high] = ends.map(|z| m.quantile(0, z));
            assert!(low.fract() == 0.0 && high.fract() == 0.0, "{low} {high}");
            let held = column.iter().filter(|x| (low..=high).contains(x)).count();
            assert!(held as f64 >= p * 200.0, "{p}: {held}");
            for z in ends {
                assert_eq!(m.quantile(1, z).to_bits(), m.value(1, z).to_bits());
            }
        }
        // the shares of the levels, read from the law of the training values itself
        for (z, level) in [
            (-1.1, -1.0),
            (-0.9, 0.0),
            (0.2, 0.0),
            (0.3, 1.0),
            (1.4, 2.0),
        ] {
            assert_eq!(m.quantile(0, z), level, "{z}");
        }
        assert!(m.quantile(0, f64::NAN).is_nan());
        // an earlier file does not say how often
        let (starts, values, scores) = m.parts();
        let parts = (starts.to_vec(), values.to_vec(), scores.to_vec());
        let old = NormalScores::from_parts(parts.0, parts.1, parts.2, None).expect("a map");
        assert_eq!(old.quantile(0, 0.1), old.value(0, 0.1));
    }

    #[test]
    fn parts_make_the_map_again_or_nothing() {
        let m = map();
        let (starts, values, scores) = m.parts();
        let again = |s: &[usize], v: &[f64], z: &[f64]| {
            NormalScores::from_parts(
                s.to_vec(),
                v.to_vec(),
                z.to_vec(),
                Some(m.counts().to_vec()),
            )
        };
        assert_eq!(again(starts, values, scores), Some(m.clone()));
        assert_eq!(again(&starts[1..], values, scores), None);
        assert_eq!(again(&[], &[], &[]), None);
        assert_eq!(again(starts, &values[1..], scores), None);
        let mut turned = values.to_vec();
        turned.swap(0, 1);
        assert_eq!(again(starts, &turned, scores), None);
    }
}
