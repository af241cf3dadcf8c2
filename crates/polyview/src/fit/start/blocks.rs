//! Views as a start sees them: centred, scaled and filled, without a copy.

use polyview_core::{Mask, RowGroups, View};
use polyview_linalg::{
    BitMask, BlockValues, FilledBlock, FilledColumns, Holes, LinalgError, LinearOperator, Mat,
    MatRef,
};

use super::grouped::GroupMeans;

/// What the start needs of a view: observed cells, means and a scale.
pub(super) struct StartBlock<'a> {
    view: &'a View,
    mask: Option<(BitMask, BitMask)>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// Sums of squares about the means, of each column.
    about: Vec<f64>,
    own: Option<GroupMeans>,
}

impl<'a> StartBlock<'a> {
    /// Means over the observed cells, of each group where `groups` have
    /// intercepts of their own, and one scale: the root of the mean variance
    /// about them, so that no view drowns the others.
    pub(super) fn new(view: &'a View, groups: Option<&RowGroups>) -> Self {
        let (rows, cols) = (view.n_samples(), view.n_features());
        let mask = match view.mask() {
            Mask::Complete => None,
            Mask::Rows(r) => Some((
                BitMask::from_fn(rows, cols, |n, _| r[n]),
                BitMask::from_fn(cols, rows, |_, n| r[n]),
            )),
            Mask::Cells {
                by_feature,
                by_sample,
            } => Some((by_feature.clone(), by_sample.clone())),
        };
        if let Some(groups) = groups {
            let (own, variances) = GroupMeans::new(view, groups);
            let variance = variances.iter().sum::<f64>() / cols as f64;
            let count = |d: usize| view.mask().count_feature(d, rows) as f64;
            let about = variances.iter().enumerate().map(|(d, v)| v * count(d));
            return Self {
                about: about.collect(),
                view,
                mask,
                mean: vec![0.0; cols],
                scale: vec![scale(variance); cols],
                own: Some(own),
            };
        }
        let (mut mean, mut about) = (Vec::with_capacity(cols), Vec::with_capacity(cols));
        let mut total = 0.0;
        for d in 0..cols {
            let n = view.mask().count_feature(d, rows).max(1) as f64;
            // of sparse values the entries alone: their base goes with the mean
            let (sum, squares) = match view.sparse() {
                Some(x) => sums(x.entries().column(d).1.iter()),
                None => sums(view.values().col(d).iter()),
            };
            mean.push(sum / n);
            let variance = squares / n - (sum / n).powi(2);
            about.push(n * variance);
            total += variance;
        }
        Self {
            view,
            mask,
            mean,
            scale: vec![scale(total / cols as f64); cols],
            about,
            own: None,
        }
    }

    /// Variance of each column about its means, over its observed cells; 0 of a column without any.
    pub(super) fn variances(&self) -> impl Iterator<Item = f64> {
        let (rows, mask) = (self.view.n_samples(), self.view.mask());
        let count = move |d: usize| mask.count_feature(d, rows).max(1) as f64;
        (self.about.iter().enumerate()).map(move |(d, about)| about.max(0.0) / count(d))
    }

    /// Sums of squares of the columns, as a start sees them.
    pub(super) fn squares(&self) -> impl Iterator<Item = f64> {
        let scaled = self.about.iter().zip(&self.scale);
        scaled.map(|(about, scale)| about.max(0.0) * scale * scale)
    }

    /// Where cells are missing.
    pub(super) fn holes(&self) -> Holes<'_> {
        Holes {
            columns: self.scale.len(),
            observed: self.mask.as_ref().map(|m| (&m.0, &m.1)),
        }
    }

    fn filled(&self) -> FilledBlock<'_> {
        // means of groups know which cells are observed, and zeros do not care
        let of_cells = self.mask.as_ref().filter(|_| self.own.is_none());
        FilledBlock {
            values: match self.view.sparse() {
                Some(x) => BlockValues::from(x.entries()),
                None => self.view.values().into(),
            },
            mask: of_cells.map(|m| &m.0),
            transposed: of_cells.map(|m| &m.1),
            mean: &self.mean,
            scale: &self.scale,
        }
    }
}

/// What brings a mean variance to 1.
fn scale(variance: f64) -> f64 {
    if variance > 0.0 {
        variance.sqrt().recip()
    } else {
        1.0
    }
}

/// Sum and sum of squares.
fn sums<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    values.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x))
}

/// The views side by side, samples × all features: $(x\_{nd} - \mu\_d) s\_d$ in
/// observed cells, with $\mu\_{g(n) d}$ where groups of samples have intercepts
/// of their own, and 0, the mean, in missing ones. Nothing of that size is
/// stored.
pub(super) struct StartData<'a> {
    columns: FilledColumns<'a>,
    blocks: &'a [StartBlock<'a>],
}

impl<'a> StartData<'a> {
    /// Puts the blocks side by side.
    ///
    /// # Errors
    /// [`LinalgError`] when the data are not finite.
    pub(super) fn new(blocks: &'a [StartBlock<'a>]) -> Result<Self, LinalgError> {
        let filled: Vec<FilledBlock<'_>> = blocks.iter().map(StartBlock::filled).collect();
        Ok(Self {
            columns: FilledColumns::new(&filled)?,
            blocks,
        })
    }

    /// Blocks with means by group, and their first columns.
    fn grouped(&self) -> impl Iterator<Item = (usize, &StartBlock<'a>, &GroupMeans)> {
        let mut next = 0;
        self.blocks.iter().filter_map(move |b| {
            let first = next;
            next += b.scale.len();
            Some((first, b, b.own.as_ref()?))
        })
    }
}

impl LinearOperator for StartData<'_> {
    fn nrows(&self) -> usize {
        self.columns.nrows()
    }

    fn ncols(&self) -> usize {
        self.columns.ncols()
    }

    fn apply(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = self.columns.apply(b);
        for (first, block, own) in self.grouped() {
            let scale = &block.scale;
            let part = b.subrows(first, scale.len());
            own.subtract_times(scale, part, out.as_mut());
        }
        out
    }

    fn apply_transpose(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = self.columns.apply_transpose(b);
        for (first, block, own) in self.grouped() {
            let scale = &block.scale;
            let part = out.as_mut().subrows_mut(first, scale.len());
            own.subtract_transpose_times(scale, b, part);
        }
        out
    }
}

#[cfg(test)]
mod tests;
