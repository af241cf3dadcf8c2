//! Log probabilities of levels on a grid of predictors.
//!
//! All cells of one level between shared cut points have one function of the predictor, smooth at the scale of
//! the noise. It is worked out on a grid of step h = 1/32 and is between its points a
//! polynomial of degree five with the right values, slopes and curvatures at both ends, off by
//! less than 1e-11: expectations are then sums over nodes that cost a few products each
//! (spec/sites 1.3), and slopes are the exact derivatives of what is interpolated. What these sums are
//! as functions of mean and variance is looked up on a [`Sheet`] for all levels, whose patches are made of them.

use std::sync::OnceLock;

use polyview_special::{Dual, Expectation};

use super::climb::Profile;
use super::ends::{ByEnds, Ends};
use crate::scalar::{Expectations, Sheet};

/// Steps of the grid for each unit of the predictor.
const PER_UNIT: f64 = 32.0;
/// The grid goes this far on either side of zero.
const REACH: f64 = 12.0;
/// Intervals of the grid.
const COUNT: usize = (2.0 * REACH * PER_UNIT) as usize;

/// Where a predictor lies: its interval, and how far into it as a share; `None` beyond the grid.
fn place(eta: f64) -> Option<(usize, f64)> {
    let x = (eta + REACH) * PER_UNIT;
    // a number that is none is not in the grid
    if x >= 0.0 && x < COUNT as f64 {
        let i = x as usize;
        Some((i, x - i as f64))
    } else {
        None
    }
}

/// An empty sheet of the grid's extent.
pub(super) fn extent() -> Sheet {
    Sheet::new(1, REACH)
}

/// The levels between a set of cut points that features share: their tables, and what their
/// expectations are as functions of mean and variance.
#[derive(Debug)]
pub(super) struct LevelTables {
    levels: Vec<(Ends, OnceLock<LevelTable>)>,
    sheet: Sheet,
}

impl LevelTables {
    /// Nothing is worked out until it is asked for.
    pub(super) fn new(ends: impl Iterator<Item = Ends>) -> Self {
        let levels: Vec<_> = ends.map(|ends| (ends, OnceLock::new())).collect();
        Self {
            sheet: Sheet::new(levels.len(), REACH),
            levels,
        }
    }
    /// Place of a level (from 1) among them; cells that are missing have a 0.
    fn place_of(&self, level: f64) -> usize {
        (level.max(1.0) as usize).min(self.levels.len()) - 1
    }
    /// That of a level (from 1).
    pub(super) fn of(&self, level: f64) -> &LevelTable {
        self.at(self.place_of(level))
    }
    fn at(&self, place: usize) -> &LevelTable {
        let (ends, table) = &self.levels[place];
        table.get_or_init(|| LevelTable::new(*ends))
    }
    /// The expectations of many cells, looked up.
    pub(super) fn expectations(
        &self,
        levels: &[f64],
        (mean, variance): (&[f64], &[f64]),
        out: &mut Expectations<'_>,
    ) {
        let mut beyond = Vec::new();
        self.sheet.look_up(
            (mean, 0.0, variance),
            |i| self.place_of(levels[i]),
            |place, m, v| {
                let table = self.at(place);
                let mean_of = |i: usize| table.mean_of(m[i], v[i]);
                std::array::from_fn(mean_of)
            },
            out,
            |cell| beyond.push(cell),
        );
        for n in beyond {
            out.put(n, self.of(levels[n]).expectation(mean[n], variance[n]));
        }
    }
}

fn point(i: usize) -> f64 {
    i as f64 / PER_UNIT - REACH
}

/// $\ln p$ of a level as a function of the predictor.
#[derive(Debug)]
pub(super) struct LevelTable {
    ends: Ends,
    /// Coefficients of the powers of the share, interval after interval.
    intervals: Vec<[f64; 6]>,
}

impl LevelTable {
    pub(super) fn new(ends: Ends) -> Self {
        let h = 1.0 / PER_UNIT;
        let at = |i: usize| {
            let part = ends.at(point(i));
            [part.ln_mass, h * part.mean, h * h * (part.variance - 1.0)]
        };
        let mut left = at(0);
        let intervals = (0..COUNT)
            .map(|i| {
                let right = at(i + 1);
                let ([f, d, c], [g, e, b]) = (left, right);
                let rise = g - f - d - 0.5 * c;
                let (slope, curve) = (e - d - c, b - c);
                left = right;
                [
                    f,
                    d,
                    0.5 * c,
                    10.0 * rise - 4.0 * slope + 0.5 * curve,
                    -15.0 * rise + 7.0 * slope - curve,
                    6.0 * rise - 3.0 * slope + 0.5 * curve,
                ]
            })
            .collect();
        Self { ends, intervals }
    }
    /// $\ln p$.
    fn value(&self, eta: f64) -> f64 {
        let Some((i, t)) = place(eta) else {
            return self.ends.at(eta).ln_mass;
        };
        let [a, b, c, d, e, f] = self.intervals[i];
        a + t * (b + t * (c + t * (d + t * (e + t * f))))
    }
    /// $\ln p$ and its slope.
    pub(super) fn at(&self, eta: f64) -> (f64, f64) {
        let Some((i, t)) = place(eta) else {
            let part = self.ends.at(eta);
            return (part.ln_mass, part.mean);
        };
        let [a, b, c, d, e, f] = self.intervals[i];
        let value = a + t * (b + t * (c + t * (d + t * (e + t * f))));
        let slope = b + t * (2.0 * c + t * (3.0 * d + t * (4.0 * e + t * 5.0 * f)));
        (value, slope * PER_UNIT)
    }
}

impl LevelTable {
    /// The expectation of $\ln p$, by nodes.
    pub(super) fn expectation(&self, mean: f64, variance: f64) -> Expectation {
        Expectation::of(mean, variance, 1.0, |eta: Dual| {
            let (value, slope) = self.at(eta.value);
            Dual {
                value,
                slope: slope * eta.slope,
            }
        })
    }
    /// Its value alone, by the same nodes.
    fn mean_of(&self, mean: f64, variance: f64) -> f64 {
        Expectation::mean_of(mean, variance, 1.0, |eta| self.value(eta))
    }
}

/// Weights of predictors of one level, moved to the points of the grid: sums over these of
/// smooth functions are those over the predictors, to about 1e-10.
#[derive(Clone, Debug)]
pub(super) struct Deposits {
    /// One for each point of the grid.
    weights: Vec<f64>,
    /// Weights and predictors beyond the grid.
    beyond: Vec<(f64, f64)>,
}

impl Deposits {
    pub(super) fn new() -> Self {
        Self {
            weights: vec![0.0; COUNT + 1],
            beyond: Vec::new(),
        }
    }
    /// Adds a predictor with this weight: Lagrange's polynomials of the six points about it.
    pub(super) fn add(&mut self, weight: f64, eta: f64) {
        let Some((i, t)) = place(eta).filter(|(i, _)| (2..COUNT - 2).contains(i)) else {
            self.beyond.push((weight, eta));
            return;
        };
        // distances from the points -2, -1, 0, 1, 2, 3
        let [a, b, c, d, e, f] = [t + 2.0, t + 1.0, t, t - 1.0, t - 2.0, t - 3.0];
        let (ab, ef) = (a * b, e * f);
        let (cd, abc, def) = (c * d, ab * c, d * ef);
        let own = [
            -b * cd * ef / 120.0,
            a * cd * ef / 24.0,
            -ab * def / 12.0,
            abc * ef / 12.0,
            -abc * d * f / 24.0,
            abc * d * e / 120.0,
        ];
        for (w, own) in self.weights[i - 2..i + 4].iter_mut().zip(own) {
            *w += weight * own;
        }
    }
    /// Adds others.
    pub(super) fn merge(&mut self, other: &Self) {
        for (a, b) in self.weights.iter_mut().zip(&other.weights) {
            *a += b;
        }
        self.beyond.extend(&other.beyond);
    }
    /// Visits what is there.
    fn each(&self, mut visit: impl FnMut(f64, f64)) {
        for (i, w) in self.weights.iter().enumerate() {
            if *w != 0.0 {
                visit(*w, point(i));
            }
        }
        for &(w, eta) in &self.beyond {
            visit(w, eta);
        }
    }
    /// Adds what they say of cut points, the level being between these ends and the `level`-th
    /// from 1.
    pub(super) fn profile(&self, ends: Ends, level: usize, out: &mut Profile) {
        self.each(|w, eta| add(out, level, w, &ends.by_ends(eta)));
    }
}

/// Adds what one predictor of a level (from 1) says of cut points.
pub(super) fn add(out: &mut Profile, level: usize, w: f64, by: &ByEnds) {
    let points = out.slope.len();
    out.value += w * by.value;
    if level >= 2 {
        out.slope[level - 2] += w * by.lower;
        out.own[level - 2] += w * by.lower_lower;
    }
    if level <= points {
        out.slope[level - 1] += w * by.upper;
        out.own[level - 1] += w * by.upper_upper;
    }
    if level >= 2 && level <= points {
        out.beside[level - 2] += w * by.lower_upper;
    }
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal};

    use super::*;
    use crate::scalar::Scratch;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn tables_are_what_they_stand_for() {
        for (lower, upper) in [(-INF, -1.3), (-0.4, 0.7), (0.0, 0.02), (1.1, INF)] {
            let ends = Ends { lower, upper };
            let table = LevelTable::new(ends);
            for i in 0..4001 {
                let eta = -13.0 + 26.0 * f64::from(i) / 4000.0;
                let (value, slope) = table.at(eta);
                let part = ends.at(eta);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-10 * (1.0 + b.abs());
                assert!(
                    close(value, part.ln_mass),
                    "{eta}: {value} {}",
                    part.ln_mass
                );
                assert!(close(slope, part.mean), "{eta}: {slope} {}", part.mean);
            }
            assert!(table.at(f64::NAN).0.is_nan());
        }
    }

    #[test]
    fn what_is_looked_up_is_the_sum_over_the_nodes() {
        for (lower, upper) in [(-INF, -1.3), (-0.4, 0.7), (0.0, 0.02), (1.1, INF)] {
            let ends = Ends { lower, upper };
            let tables = LevelTables::new([ends, ends].into_iter());
            let table = tables.of(2.0);
            let mean: Vec<f64> = (0..500).map(|i| f64::from(i) * 0.05 - 12.5).collect();
            let variance: Vec<f64> = (0..500).map(|i| f64::from(i % 37) * 0.03).collect();
            let levels: Vec<f64> = (0..500).map(|i| f64::from(i % 3)).collect();
            let mut made = Scratch::new(500);
            tables.expectations(&levels, (&mean, &variance), &mut made.all());
            for i in 0..500 {
                let found = made.all().get(i);
                let e = table.expectation(mean[i], variance[i]);
                let close = |a: f64, b: f64, gap: f64| (a - b).abs() < gap * (1.0 + e.value.abs());
                assert!(close(found.value, e.value, 1e-9), "{found:?} {e:?}");
                assert!(close(found.slope, e.slope, 3e-8), "{found:?} {e:?}");
                assert!(
                    close(found.curvature, e.curvature, 1e-6),
                    "{i}: {found:?} {e:?}"
                );
            }
        }
    }

    #[test]
    fn deposits_say_of_cut_points_what_their_predictors_say() {
        let mut rng = StreamKey::new(3).rng();
        for (level, ends) in [
            (
                1,
                Ends {
                    lower: -INF,
                    upper: -0.8,
                },
            ),
            (
                2,
                Ends {
                    lower: -0.8,
                    upper: 0.9,
                },
            ),
            (
                3,
                Ends {
                    lower: 0.9,
                    upper: INF,
                },
            ),
        ] {
            let (mut deposits, mut exact) = (Deposits::new(), Profile::zero(2));
            for i in 0..500 {
                // some of them beyond the grid
                let far = if i % 50 == 0 { 9.0 } else { 2.0 };
                let eta = far * standard_normal(&mut rng);
                deposits.add(0.7, eta);
                add(&mut exact, level, 0.7, &ends.by_ends(eta));
            }
            let mut other = Deposits::new();
            other.merge(&deposits);
            let mut found = Profile::zero(2);
            other.profile(ends, level, &mut found);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + b.abs());
            assert!(
                close(found.value, exact.value),
                "{} {}",
                found.value,
                exact.value
            );
            for k in 0..2 {
                assert!(close(found.slope[k], exact.slope[k]));
                assert!(close(found.own[k], exact.own[k]));
            }
            assert!(close(found.beside[0], exact.beside[0]));
        }
    }
}
