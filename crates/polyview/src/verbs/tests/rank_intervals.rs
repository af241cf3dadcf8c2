//! Intervals of rank views hold as many values as they say.

use polyview_core::{Dataset, OrderStatistics, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_special::normal_quantile;

use crate::{Fit, models};

/// How data are made.
#[derive(Clone, Copy, Debug)]
struct Setting {
    samples: usize,
    features: usize,
    /// Standard deviation of the noise beside a signal of 1.
    noise: f64,
    hidden: f64,
    /// Factors asked for; three are there.
    factors: usize,
    /// Whether values are rounded to halves, so that many are equal.
    tied: bool,
}

const PLAIN: Setting = Setting {
    samples: 100,
    features: 40,
    noise: 0.5,
    hidden: 0.15,
    factors: 4,
    tied: false,
};

/// All values, and the same with holes; the last 60 samples are new.
fn tables(s: &Setting, seed: u64) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let n = s.samples + 60;
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(n, 3, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(s.features, 3, |_, _| standard_normal(&mut rng));
    let signal = &z * w.transpose();
    let mut whole = Mat::from_fn(n, s.features, |i, d| {
        let size = w.row(d).norm_l2();
        signal[(i, d)] / size + s.noise * standard_normal(&mut rng)
    });
    for d in 0..s.features {
        for x in whole.col_as_slice_mut(d) {
            *x = if s.tied { (2.0 * *x).round() } else { x.exp() };
        }
    }
    let holes = Mat::from_fn(n, s.features, |i, d| {
        if uniform_open01(&mut rng) < s.hidden {
            f64::NAN
        } else {
            whole[(i, d)]
        }
    });
    let v = Mat::from_fn(8, 3, |_, _| standard_normal(&mut rng));
    let real = Mat::from_fn(n, 8, |i, d| {
        (0..3).map(|k| z[(i, k)] * v[(d, k)]).sum::<f64>() + s.noise * standard_normal(&mut rng)
    });
    (whole, holes, real)
}

fn table(name: &str, from: usize, to: usize, values: &Mat<f64>) -> Table {
    Table {
        name: name.into(),
        samples: (from..to).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values: values.subrows(from, to - from).to_owned(),
    }
}

const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// Shares of hidden cells of training samples, and of all cells of new samples that are
/// predicted from another view, inside of the intervals of each level.
fn coverage(s: &Setting, likelihood: &'static str, seeds: std::ops::Range<u64>) -> [[f64; 4]; 2] {
    let (mut inside, mut all) = ([[0.0; 4]; 2], [0.0; 2]);
    for seed in seeds {
        let (whole, holes, real) = tables(s, seed);
        let n = s.samples;
        let data = Dataset::builder()
            .view(table("x", 0, n, &holes))
            .view(table("real", 0, n, &real))
            .build()
            .unwrap();
        let mut spec = models::rank(s.factors).with_likelihood("real", "gaussian");
        spec.defaults.likelihood = likelihood.into();
        let fit: Fit = crate::fit(data, spec).unwrap();
        let new = Dataset::builder()
            .view(table("real", n, n + 60, &real))
            .build()
            .unwrap();
        let predicted = fit.predict(&new, "x").unwrap();
        for (l, &level) in LEVELS.iter().enumerate() {
            let imputed = fit.impute("x", level).unwrap();
            let (lower, upper) = predicted.interval(level).unwrap();
            for d in 0..s.features {
                for i in 0..n {
                    if holes[(i, d)].is_nan() {
                        let x = whole[(i, d)];
                        inside[0][l] +=
                            f64::from(imputed.lower[(i, d)] <= x && x <= imputed.upper[(i, d)]);
                        all[0] += f64::from(l == 0);
                    }
                }
                for i in 0..60 {
                    let x = whole[(n + i, d)];
                    inside[1][l] += f64::from(lower[(i, d)] <= x && x <= upper[(i, d)]);
                    all[1] += f64::from(l == 0);
                }
            }
        }
    }
    for (of, all) in inside.iter_mut().zip(all) {
        for x in of {
            *x /= all;
        }
    }
    inside
}

/// At every level, within what chance leaves of some two thousand cells, values beyond all
/// training values (one in fifty for a hundred samples), and a part of the
/// factors that other views have (which makes intervals a little wide).
#[test]
fn intervals_hold_what_they_say_at_every_level() {
    const CHANCE: f64 = 0.025;
    const WIDE: f64 = 0.03;
    let settings = [
        PLAIN,
        Setting {
            samples: 300,
            ..PLAIN
        },
        Setting {
            features: 150,
            ..PLAIN
        },
        Setting {
            noise: 0.2,
            ..PLAIN
        },
        Setting {
            noise: 1.5,
            ..PLAIN
        },
        Setting {
            hidden: 0.5,
            ..PLAIN
        },
        Setting {
            tied: true,
            ..PLAIN
        },
    ];
    for likelihood in ["rank", "ordinary-rank"] {
        for s in settings {
            let [hidden, new] = coverage(&s, likelihood, 0..2);
            let beyond = 2.0 / (s.samples as f64 * (1.0 - s.hidden) + 1.0);
            for (l, level) in LEVELS.into_iter().enumerate() {
                let least = level * (1.0 - beyond) - CHANCE;
                // ends among equal values hold all of them
                let most = if s.tied { 1.0 } else { level + WIDE + CHANCE };
                assert!(
                    (least..most).contains(&hidden[l]),
                    "{likelihood} {s:?}: hidden {} at {level}",
                    hidden[l]
                );
                // from another view, whose noise the predictors have besides
                assert!(
                    new[l] > least - CHANCE,
                    "{likelihood} {s:?}: new {} at {level}",
                    new[l]
                );
            }
        }
    }
}

/// Where another view knows the factors, few ranks have little part in them: their noise is not
/// counted twice.
#[test]
fn intervals_beside_a_strong_view_are_no_wider() {
    let s = Setting {
        samples: 300,
        features: 12,
        ..PLAIN
    };
    let [hidden, _] = coverage(&s, "rank", 0..4);
    for (level, found) in LEVELS.into_iter().zip(hidden) {
        assert!((found - level).abs() < 0.03, "{level}: {found}");
    }
}

/// Mean and interval of a rank are of one law: the mean is the integral of its quantiles. It
/// lies outside of an interval where more than half of what that leaves out is needed to
/// get beyond it, and nowhere else; the median never does.
#[test]
fn a_mean_outside_of_its_interval_has_less_than_a_tail_beyond_it() {
    let mut outside = 0;
    for seed in 0..200 {
        let mut rng = StreamKey::new(seed).rng();
        let count = 2 + (seed as usize % 7);
        // levels whose distances grow, and ends as shares of samples make them
        let values = (0..count).map(|i| (i as f64 * (0.5 + (seed % 5) as f64)).exp());
        let mut ends: Vec<f64> = (1..count).map(|_| standard_normal(&mut rng)).collect();
        ends.sort_by(f64::total_cmp);
        let scale = OrderStatistics {
            values: values.collect(),
            ends,
        };
        let (m, sd) = (
            standard_normal(&mut rng),
            0.2 + standard_normal(&mut rng).abs(),
        );
        let (mean, _) = scale.moments(m, sd * sd);
        let quantile = |p: f64| scale.at(m + normal_quantile(p) * sd);
        let steps = 40_000;
        let at = |i: usize| quantile((i as f64 + 0.5) / steps as f64);
        let integral = (0..steps).map(at).sum::<f64>() / steps as f64;
        let size = scale.values[count - 1];
        assert!(
            (mean - integral).abs() < 1e-3 * size,
            "{seed}: {mean} {integral}"
        );
        for level in [0.5, 0.8, 0.9, 0.95] {
            let tail = 0.5 * (1.0 - level);
            let (lower, upper) = (quantile(tail), quantile(1.0 - tail));
            let median = quantile(0.5);
            assert!(lower <= median && median <= upper);
            let beyond = |is: &dyn Fn(f64) -> bool| {
                (0..steps).filter(|i| is(at(*i))).count() as f64 / steps as f64
            };
            let (above, below) = (beyond(&|x| x > mean), beyond(&|x| x < mean));
            let near = 2.0 / steps as f64;
            if mean > upper {
                assert!(above <= tail + near, "{seed} {level}: {above}");
            } else if mean < lower {
                assert!(below <= tail + near, "{seed} {level}: {below}");
            } else {
                continue;
            }
            outside += 1;
        }
    }
    assert!(outside > 0);
}
