//! Hiding cells.

use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, uniform_open01};

use super::error::{SimulationError, within};
use super::{Quantity, stream};

/// How much of the data is hidden, in three ways, one after the other. All
/// shares lie in [0, 1); zero hides nothing.
///
/// A cell that is the last of its sample (over all views) or of its feature is
/// never hidden, so high shares may be reached only nearly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Missing {
    /// Share of the samples that lose a view as a whole, view by view. No
    /// sample loses its last view.
    pub rows: f64,
    /// Share of the cells of each view in one hidden rectangle: neighbouring
    /// samples by neighbouring features, in the proportions of the view.
    pub block: f64,
    /// Share of the cells hidden one by one at random.
    pub cells: f64,
}

impl Missing {
    pub(super) fn check(&self, views: usize) -> Result<(), SimulationError> {
        for (what, value) in [
            ("share of missing rows", self.rows),
            ("share of the missing block", self.block),
            ("share of missing cells", self.cells),
        ] {
            within(what, value, "in [0, 1)", (0.0..1.0).contains(&value))?;
        }
        if self.rows > 0.0 && views < 2 {
            Err(SimulationError::RowsOfOneView)
        } else {
            Ok(())
        }
    }

    /// Puts `NaN` into the hidden cells.
    pub(super) fn hide(&self, views: &mut [Mat<f64>], seed: u64) {
        let mut left = Left::count(views);
        for m in 0..views.len() {
            let mut rng = stream(seed, Quantity::Missing, m);
            self.hide_rows(views, m, &mut left, &mut rng);
            self.hide_block(&mut views[m], m, &mut left, &mut rng);
            self.hide_cells(&mut views[m], m, &mut left, &mut rng);
        }
    }

    fn hide_rows(&self, views: &mut [Mat<f64>], m: usize, left: &mut Left, rng: &mut ChaCha8Rng) {
        let (samples, features) = (views[m].nrows(), views[m].ncols());
        let wanted = (self.rows * samples as f64).round() as usize;
        let mut order: Vec<usize> = (0..samples).collect();
        let mut hidden = 0;
        for i in 0..samples {
            if hidden == wanted {
                return;
            }
            order.swap(i, i + below(samples - i, rng));
            let n = order[i];
            let elsewhere = left.of_sample[n] > features;
            // so far whole rows are hidden in this view: its features stand alike
            let spared = left.of_feature[m][0] > 1;
            if elsewhere && spared {
                for d in 0..features {
                    left.hide(&mut views[m], m, n, d);
                }
                hidden += 1;
            }
        }
    }

    fn hide_block(&self, view: &mut Mat<f64>, m: usize, left: &mut Left, rng: &mut ChaCha8Rng) {
        let side = self.block.sqrt();
        let (samples, features) = (view.nrows(), view.ncols());
        let height = (side * samples as f64).round() as usize;
        let width = (side * features as f64).round() as usize;
        let (top, first) = (
            below(samples - height + 1, rng),
            below(features - width + 1, rng),
        );
        for d in first..first + width {
            for n in top..top + height {
                left.hide(view, m, n, d);
            }
        }
    }

    fn hide_cells(&self, view: &mut Mat<f64>, m: usize, left: &mut Left, rng: &mut ChaCha8Rng) {
        if self.cells == 0.0 {
            return;
        }
        for d in 0..view.ncols() {
            for n in 0..view.nrows() {
                if uniform_open01(rng) < self.cells {
                    left.hide(view, m, n, d);
                }
            }
        }
    }
}

/// Observed cells that are left.
struct Left {
    of_sample: Vec<usize>,
    of_feature: Vec<Vec<usize>>,
}

impl Left {
    fn count(views: &[Mat<f64>]) -> Self {
        let samples = views.first().map_or(0, Mat::nrows);
        let features: usize = views.iter().map(Mat::ncols).sum();
        Self {
            of_sample: vec![features; samples],
            of_feature: views.iter().map(|v| vec![samples; v.ncols()]).collect(),
        }
    }

    /// Hides a cell unless it is hidden or the last of its sample or feature.
    fn hide(&mut self, view: &mut Mat<f64>, m: usize, n: usize, d: usize) {
        let (of_sample, of_feature) = (&mut self.of_sample[n], &mut self.of_feature[m][d]);
        if !view[(n, d)].is_nan() && *of_sample > 1 && *of_feature > 1 {
            view[(n, d)] = f64::NAN;
            *of_sample -= 1;
            *of_feature -= 1;
        }
    }
}

/// A whole number below `bound`, which is positive.
pub(super) fn below(bound: usize, rng: &mut ChaCha8Rng) -> usize {
    ((uniform_open01(rng) * bound as f64) as usize).min(bound - 1)
}
