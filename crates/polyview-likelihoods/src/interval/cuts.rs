//! Cut points between ordered levels.

use std::sync::Arc;

use polyview_core::GammaPrior;
use polyview_random::StreamKey;
use polyview_special::{Expectation, normal_quantile};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::climb::{Profile, ascend, points_of};
use super::ends::Ends;
use super::table::{self, Deposits, LevelTables};
use crate::cells::{Cell, SeenColumn, ViewParameters};
use crate::counts::Scale;
use crate::scalar::Cast;

/// What shares one set of cut points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutPointsBy {
    /// All features of the view: levels mean the same in each of them.
    #[default]
    View,
    /// Each feature has its own.
    Feature,
}

/// Gaps are kept within these.
const RANGE: (f64, f64) = (1e-6, 1e3);

/// Cut points $\theta_1 \lt \dots \lt \theta_{L-1}$ between L levels, units of the noise: level
/// k is seen where the noisy predictor lies between $\theta_{k-1}$ and $\theta_k$, with
/// $\theta_0 = -\infty$ and $\theta_L = \infty$ (spec/sites 2).
///
/// They add up to zero, as where they lie is what intercepts say; what is learnt are the
/// $L - 2$ gaps between them, each with a gamma prior.
#[derive(Clone, Debug)]
pub struct CutPoints {
    /// L; 0 where it will be read from a file.
    levels: usize,
    by: CutPointsBy,
    prior: GammaPrior,
    /// Set after set, $L - 2$ each.
    gaps: Vec<f64>,
    /// Set after set, $L - 1$ each; made of the gaps.
    points: Vec<f64>,
    sets: usize,
    /// Of cut points that features share.
    tables: Option<Arc<LevelTables>>,
}

impl CutPoints {
    /// Between so many levels, two at least; 0 where the file says how many they are. The
    /// prior is that of the gaps, units of the noise.
    pub fn new(levels: usize, by: CutPointsBy, prior: GammaPrior) -> Self {
        let mut out = Self {
            levels,
            by,
            prior,
            gaps: Vec::new(),
            points: Vec::new(),
            sets: 1,
            tables: None,
        };
        out.place();
        out
    }
    /// Number of levels; 0 before a file has said it.
    pub fn levels(&self) -> usize {
        self.levels
    }
    /// The cut points of a feature, in order; before the first data they are 1 apart.
    pub fn of(&self, column: usize) -> &[f64] {
        let count = self.levels.saturating_sub(1);
        let set = match self.by {
            CutPointsBy::View => 0,
            CutPointsBy::Feature => column.min(self.sets - 1),
        };
        &self.points[set * count..(set + 1) * count]
    }
    /// Where the noisy predictor of a feature is, at level `level` (from 1).
    pub(super) fn ends(&self, column: usize, level: f64) -> Ends {
        within(self.of(column), level)
    }
    /// The log probabilities of levels as functions of the predictor, where all features share the cut
    /// points.
    pub(super) fn tables(&self) -> Option<&LevelTables> {
        self.tables.as_deref()
    }
    /// Number of gaps of a set.
    fn per_set(&self) -> usize {
        self.levels.saturating_sub(2)
    }
    /// Gaps become cut points.
    fn place(&mut self) {
        let count = self.per_set();
        self.points.clear();
        self.tables = None;
        if self.levels < 2 {
            return;
        }
        for set in 0..self.sets {
            let gaps = self.gaps.get(set * count..(set + 1) * count);
            let points = gaps.map_or_else(|| points_of(&vec![1.0; count]), points_of);
            self.points.extend(points);
        }
        if self.by == CutPointsBy::View {
            let ends = (1..=self.levels).map(|k| within(&self.points, k as f64));
            self.tables = Some(Arc::new(LevelTables::new(ends)));
        }
    }
    fn scale(&self) -> Scale {
        Scale {
            prior: self.prior,
            range: RANGE,
        }
    }
    /// Which features a set is of.
    fn columns_of(&self, set: usize, columns: usize) -> std::ops::Range<usize> {
        match self.by {
            CutPointsBy::View => 0..columns,
            CutPointsBy::Feature => set..set + 1,
        }
    }
    /// New gaps of each set, made of its features and its old gaps.
    fn change(
        &mut self,
        seen: &[SeenColumn],
        of: impl Fn(usize, &[SeenColumn], &[f64]) -> Vec<f64> + Sync,
    ) {
        let count = self.per_set();
        if count == 0 {
            return;
        }
        let one = |set: usize| {
            let own = &seen[self.columns_of(set, seen.len())];
            of(set, own, &self.gaps[set * count..(set + 1) * count])
        };
        let new: Vec<Vec<f64>> = (0..self.sets).into_par_iter().map(one).collect();
        self.gaps = new.concat();
        self.place();
    }
}

/// The ends of a level (from 1) among cut points.
fn within(points: &[f64], level: f64) -> Ends {
    // admitted data are whole numbers from 1 to L; cells that are missing have a 0
    let k = (level.max(1.0) as usize).min(points.len() + 1);
    Ends {
        lower: k.checked_sub(2).map_or(f64::NEG_INFINITY, |i| points[i]),
        upper: points.get(k - 1).copied().unwrap_or(f64::INFINITY),
    }
}

/// Visits the nodes of a predictor's law; the predictor alone where it is known.
fn nodes(mean: f64, variance: f64, mut visit: impl FnMut(f64, f64)) {
    if variance > 0.0 {
        Expectation::at_nodes(mean, variance, 1.0, visit);
    } else {
        visit(1.0, mean);
    }
}

/// What the cells of a feature say of cut points.
fn profile_of(column: &SeenColumn, points: &[f64]) -> Profile {
    let mut out = Profile::zero(points.len());
    for (i, cell) in column.cells.iter().enumerate() {
        let ends = within(points, cell.value);
        let k = cell.value as usize;
        nodes(column.mean[i], column.variance[i], |w, eta| {
            table::add(&mut out, k, w, &ends.by_ends(eta));
        });
    }
    out
}

/// The predictors of many cells, level by level, on the grid of tables: first cells on the points of
/// their patches, then the nodes of these on the grid.
fn deposits(columns: &[SeenColumn], levels: usize) -> Vec<Deposits> {
    /// Columns that are added up together.
    const TOGETHER: usize = 16;
    let sheet = table::extent();
    let start = || -> Vec<(Cast, Deposits)> {
        (0..levels)
            .map(|_| (Cast::default(), Deposits::new()))
            .collect()
    };
    let of = |columns: &[SeenColumn]| {
        let mut out = start();
        for column in columns {
            for (i, cell) in column.cells.iter().enumerate() {
                let (cast, far) = &mut out[(cell.value as usize).clamp(1, levels) - 1];
                let (m, v) = (column.mean[i], column.variance[i]);
                if !cast.add(&sheet, m, v) {
                    nodes(m, v, |w, eta| far.add(w, eta));
                }
            }
        }
        out
    };
    let parts: Vec<Vec<(Cast, Deposits)>> = columns.par_chunks(TOGETHER).map(of).collect();
    let mut all = start();
    for part in &parts {
        for ((cast, far), (own, deposits)) in part.iter().zip(&mut all) {
            own.merge(cast);
            deposits.merge(far);
        }
    }
    let spread = |(cast, mut deposits): (Cast, Deposits)| {
        cast.each(&sheet, |weight, m, v| {
            nodes(m, v, |w, eta| deposits.add(weight * w, eta));
        });
        deposits
    };
    all.into_par_iter().map(spread).collect()
}

/// Number of cells of columns.
fn count(columns: &[SeenColumn]) -> usize {
    columns.iter().map(|c| c.cells.len()).sum()
}

/// $\sum\ln p$ of known predictors.
fn ln_density(columns: &[SeenColumn], points: &[f64]) -> f64 {
    let of = |column: &SeenColumn| -> f64 {
        let cells = column.cells.iter().zip(&column.mean);
        cells
            .map(|(cell, eta)| {
                let Ends { lower, upper } = within(points, cell.value);
                polyview_special::ln_interval_probability(lower - eta, upper - eta)
            })
            .sum()
    };
    each(columns, of).iter().sum()
}

/// Cells of columns that are worth several threads, and a grid.
const MANY: usize = 4096;

/// Something of each column, in order.
fn each<T: Send>(columns: &[SeenColumn], of: impl Fn(&SeenColumn) -> T + Sync) -> Vec<T> {
    if count(columns) < MANY {
        columns.iter().map(of).collect()
    } else {
        columns.par_iter().map(&of).collect()
    }
}

/// Normal quantiles of the shares of data of level k or less, half a datum added to each level.
pub(super) fn quantiles(cells: &[Cell], levels: usize) -> Vec<f64> {
    let mut counts = vec![0.5; levels];
    for cell in cells {
        counts[(cell.value as usize).clamp(1, levels) - 1] += 1.0;
    }
    let total: f64 = counts.iter().sum();
    let mut below = 0.0;
    let shares = counts[..levels.saturating_sub(1)].iter().map(|count| {
        below += count;
        normal_quantile(below / total)
    });
    shares.collect()
}

impl ViewParameters for CutPoints {
    fn cut_points(&self, column: usize) -> Option<&[f64]> {
        Some(self.of(column))
    }
    fn take_cut_points(&mut self, points: &[Vec<f64>]) -> bool {
        let levels = self.levels.max(1);
        let fit = |own: &Vec<f64>| own.len() + 1 == levels && own.windows(2).all(|w| w[0] < w[1]);
        if points.is_empty() || !points.iter().all(fit) {
            return false;
        }
        let gaps = |own: &Vec<f64>| -> Vec<f64> { own.windows(2).map(|w| w[1] - w[0]).collect() };
        self.by = CutPointsBy::Feature;
        self.set(points.iter().flat_map(gaps).collect(), points.len())
    }
    fn name(&self) -> &'static str {
        "gaps"
    }
    fn values(&self) -> &[f64] {
        &self.gaps
    }
    fn set(&mut self, values: Vec<f64>, columns: usize) -> bool {
        let sets = match self.by {
            CutPointsBy::View => 1,
            CutPointsBy::Feature => columns.max(1),
        };
        if self.levels == 0 && values.len().is_multiple_of(sets) {
            self.levels = values.len() / sets + 2;
        }
        let fits = values.len() == sets * self.per_set() && values.iter().all(|d| *d > 0.0);
        if fits {
            (self.gaps, self.sets) = (values, sets);
            self.place();
        }
        fits
    }
    /// At the quantiles of the levels' shares, on average over the features of a set.
    fn start(&mut self, cells: &[Vec<Cell>]) {
        /// Levels that nobody has seen are no closer than this.
        const LEAST: f64 = 0.05;
        self.sets = match self.by {
            CutPointsBy::View => 1,
            CutPointsBy::Feature => cells.len().max(1),
        };
        let mut gaps = Vec::with_capacity(self.sets * self.per_set());
        for set in 0..self.sets {
            let columns = self.columns_of(set, cells.len());
            let all: Vec<Vec<f64>> = (cells[columns].iter())
                .filter(|cells| !cells.is_empty())
                .map(|cells| quantiles(cells, self.levels))
                .collect();
            let mean = |j: usize| {
                let sum: f64 = all.iter().map(|q| q[j + 1] - q[j]).sum();
                sum / all.len() as f64
            };
            gaps.extend((0..self.per_set()).map(|j| {
                if all.is_empty() {
                    1.0
                } else {
                    mean(j).max(LEAST)
                }
            }));
        }
        self.gaps = gaps;
        self.place();
    }
    fn update(&mut self, seen: &[SeenColumn]) {
        let GammaPrior { shape, rate } = self.prior;
        let levels = self.levels;
        self.change(seen, |_, own, gaps| {
            if count(own) >= MANY {
                // each try of cut points then costs a pass over the grid
                let all = deposits(own, levels);
                return ascend(gaps, (shape, rate), |points| {
                    let mut sum = Profile::zero(points.len());
                    for (k, of_level) in (1..).zip(&all) {
                        of_level.profile(within(points, k as f64), k, &mut sum);
                    }
                    sum
                });
            }
            ascend(gaps, (shape, rate), |points| {
                let of_columns = each(own, |c| profile_of(c, points));
                let mut sum = Profile::zero(points.len());
                for profile in &of_columns {
                    sum.add(profile);
                }
                sum
            })
        });
    }
    /// Gap after gap, by slices.
    fn draw(&mut self, seen: &[SeenColumn], key: StreamKey) {
        let scale = self.scale();
        self.change(seen, |set, own, gaps| {
            let (mut gaps, mut rng) = (gaps.to_vec(), stream(key, set).rng());
            for j in 0..gaps.len() {
                let old = gaps[j];
                let others = gaps.clone();
                let ln = |gap: f64| {
                    let mut gaps = others.clone();
                    gaps[j] = gap;
                    ln_density(own, &points_of(&gaps))
                };
                gaps[j] = scale.slice(old, ln, &mut rng);
            }
            gaps
        });
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let (scale, count) = (self.scale(), self.per_set());
        let mut gaps = Vec::with_capacity(self.sets * count);
        for set in 0..self.sets {
            let mut rng = stream(key, set).rng();
            gaps.extend((0..count).map(|_| scale.draw_prior(&mut rng)));
        }
        self.gaps = gaps;
        self.place();
    }
    fn log_prior(&self) -> f64 {
        self.gaps.iter().map(|d| self.scale().log_prior(*d)).sum()
    }
}

fn stream(key: StreamKey, set: usize) -> StreamKey {
    // the upper half of the chunks: the lower belongs to the cells
    key.chunk((1 << 31) | set as u32)
}
