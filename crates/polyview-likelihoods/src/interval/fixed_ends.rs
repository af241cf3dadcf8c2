//! Cut points between two fixed ends, under the law that is uniform in each cell (spec/mlfs 4.6).

use polyview_linalg::{Mat, SpdFactor, SymPacked};

/// What the cells of a view say of cut points: of each level their number and the sum of their
/// predictors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LevelSums {
    pub(super) counts: Vec<f64>,
    pub(super) predictors: Vec<f64>,
}

impl LevelSums {
    pub(super) fn zero(levels: usize) -> Self {
        Self {
            counts: vec![0.0; levels],
            predictors: vec![0.0; levels],
        }
    }
}

/// Cut points $g_0 \lt \dots \lt g_L$ of which the two ends stay.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FixedEnds {
    points: Vec<f64>,
}

impl FixedEnds {
    /// So many levels between $-L/2$ and $L/2$, equally wide (spec/mlfs 4.8).
    pub(super) fn new(levels: usize) -> Self {
        let half = 0.5 * levels as f64;
        Self {
            points: (0..=levels).map(|l| l as f64 - half).collect(),
        }
    }
    pub(super) fn levels(&self) -> usize {
        self.points.len() - 1
    }
    /// $g_0$ and $g_L$.
    pub(super) fn outer(&self) -> (f64, f64) {
        (self.points[0], self.points[self.levels()])
    }
    /// Those between the ends.
    pub(super) fn inner(&self) -> &[f64] {
        match self.levels() {
            0 => &[],
            levels => &self.points[1..levels],
        }
    }
    /// Replaces those between the ends; where there are no levels yet their number says how many
    /// there are. False where they are in no order.
    pub(super) fn set_inner(&mut self, inner: &[f64]) -> bool {
        let levels = inner.len() + 1;
        if self.levels() != 0 && self.levels() != levels {
            return false;
        }
        let mut new = Self::new(levels);
        new.points[1..levels].copy_from_slice(inner);
        let fits = new.points.windows(2).all(|p| p[0] < p[1]);
        if fits {
            *self = new;
        }
        fits
    }
    /// Width of a level, from 1.
    pub(super) fn width(&self, level: usize) -> f64 {
        self.points[level] - self.points[level - 1]
    }
    /// Middle of a level, from 1.
    pub(super) fn middle(&self, level: usize) -> f64 {
        0.5 * (self.points[level] + self.points[level - 1])
    }
    /// How much the width of a level counts: a level that no cell has counts as one, so that its
    /// width stays above zero.
    fn barrier(count: f64) -> f64 {
        count.max(1.0)
    }
    /// The prior of the widths of levels that no cell has, log density up to a constant.
    pub(super) fn log_prior(&self, counts: &[f64]) -> f64 {
        let empty = (1..=self.levels()).filter(|&l| counts[l - 1] == 0.0);
        empty.map(|l| self.width(l).ln()).sum()
    }
    /// $\tilde{\mathcal L}(g)$ of spec/mlfs 4.6 with that prior, nats.
    pub(super) fn objective(&self, sums: &LevelSums, gamma: f64) -> f64 {
        let of = |l: usize| {
            let (low, high) = (self.points[l - 1], self.points[l]);
            let (n, s) = (sums.counts[l - 1], sums.predictors[l - 1]);
            let square = high * high + low * low + high * low;
            Self::barrier(n) * (high - low).ln() - n * gamma / 6.0 * square
                + 0.5 * gamma * (high + low) * s
        };
        (1..=self.levels()).map(of).sum()
    }
    /// Its gradient in the inner cut points.
    pub(super) fn gradient(&self, sums: &LevelSums, gamma: f64) -> Vec<f64> {
        let g = &self.points;
        let of = |l: usize| {
            let (n, next) = (sums.counts[l - 1], sums.counts[l]);
            let both = sums.predictors[l - 1] + sums.predictors[l];
            Self::barrier(n) / self.width(l)
                - Self::barrier(next) / self.width(l + 1)
                - gamma / 6.0 * (n * (2.0 * g[l] + g[l - 1]) + next * (2.0 * g[l] + g[l + 1]))
                + 0.5 * gamma * both
        };
        (1..self.levels()).map(of).collect()
    }
    /// Minus its Hessian, tridiagonal: the diagonal, and what is beside it.
    pub(super) fn curvature(&self, sums: &LevelSums, gamma: f64) -> (Vec<f64>, Vec<f64>) {
        let square = |l: usize| Self::barrier(sums.counts[l - 1]) / self.width(l).powi(2);
        let own = |l: usize| {
            let both = sums.counts[l - 1] + sums.counts[l];
            square(l) + square(l + 1) + gamma / 3.0 * both
        };
        let beside = |l: usize| gamma / 6.0 * sums.counts[l - 1] - square(l);
        (
            (1..self.levels()).map(own).collect(),
            (2..self.levels()).map(beside).collect(),
        )
    }
    /// Newton's steps uphill, each halved until the order is kept and nothing falls.
    pub(super) fn ascend(&mut self, sums: &LevelSums, gamma: f64) {
        const STEPS: usize = 25;
        const HALVINGS: usize = 40;
        let inner = self.levels().saturating_sub(1);
        if inner == 0 {
            return;
        }
        for _ in 0..STEPS {
            let value = self.objective(sums, gamma);
            let slope = self.gradient(sums, gamma);
            let (own, beside) = self.curvature(sums, gamma);
            let curvature = SymPacked::from_lower(inner, |i, j| match i - j {
                0 => own[i],
                1 => beside[j],
                _ => 0.0,
            });
            let Ok((factor, _)) = SpdFactor::factor(&curvature) else {
                return;
            };
            let row = Mat::from_fn(1, inner, |_, l| slope[l]);
            let step = factor.solve_mat_right(row.as_ref());
            let mut length = 1.0;
            let mut moved = false;
            for _ in 0..HALVINGS {
                let mut new = self.clone();
                for l in 0..inner {
                    new.points[l + 1] += length * step[(0, l)];
                }
                let ordered = new.points.windows(2).all(|p| p[0] < p[1]);
                if ordered && new.objective(sums, gamma) > value {
                    *self = new;
                    moved = true;
                    break;
                }
                length *= 0.5;
            }
            if !moved {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums() -> LevelSums {
        LevelSums {
            counts: vec![7.0, 20.0, 0.0, 31.0, 4.0],
            predictors: vec![-9.0, -12.0, 0.0, 25.0, 8.0],
        }
    }

    fn moved() -> FixedEnds {
        let mut cuts = FixedEnds::new(5);
        assert!(cuts.set_inner(&[-1.9, -0.2, 0.1, 1.3]));
        cuts
    }

    /// Gradient and Hessian by differences (spec/mlfs 4.6).
    #[test]
    fn derivatives_are_those_of_differences() {
        let (sums, gamma, cuts, h) = (sums(), 1.7, moved(), 1e-5);
        let at = |l: usize, by: f64| {
            let mut inner = cuts.inner().to_vec();
            inner[l] += by;
            let mut other = cuts.clone();
            assert!(other.set_inner(&inner));
            other
        };
        let slope = cuts.gradient(&sums, gamma);
        let (own, beside) = cuts.curvature(&sums, gamma);
        for l in 0..4 {
            let value = |by: f64| at(l, by).objective(&sums, gamma);
            let found = (value(h) - value(-h)) / (2.0 * h);
            assert!((found - slope[l]).abs() < 1e-6 * (1.0 + slope[l].abs()));
            let (up, down) = (
                at(l, h).gradient(&sums, gamma),
                at(l, -h).gradient(&sums, gamma),
            );
            let second = |k: usize| (up[k] - down[k]) / (2.0 * h);
            let close = |found: f64, minus: f64| {
                assert!(
                    (found + minus).abs() < 1e-4 * (1.0 + minus.abs()),
                    "{found} {minus}"
                );
            };
            close(second(l), own[l]);
            for k in 0..4 {
                if k == l + 1 {
                    close(second(k), beside[l]);
                } else if k > l + 1 {
                    assert_eq!(second(k), 0.0);
                }
            }
        }
    }

    #[test]
    fn steps_lead_to_the_top_and_keep_the_order() {
        let (sums, gamma) = (sums(), 1.7);
        let mut cuts = moved();
        let before = cuts.objective(&sums, gamma);
        cuts.ascend(&sums, gamma);
        assert!(cuts.objective(&sums, gamma) > before);
        assert!(cuts.gradient(&sums, gamma).iter().all(|g| g.abs() < 1e-6));
        assert!((1..=5).all(|l| cuts.width(l) > 0.0));
        assert_eq!(cuts.outer(), (-2.5, 2.5));
        let mut none = FixedEnds::new(0);
        assert!(none.set_inner(cuts.inner()) && none == cuts);
        assert!(!cuts.set_inner(&[0.0]) && !cuts.set_inner(&[0.0, -0.1, 0.2, 0.3]));
    }
}
