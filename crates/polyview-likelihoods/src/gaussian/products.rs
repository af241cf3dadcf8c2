//! Products of data and model that are kept between calls: $XW$ and $Z^\top X$.

use std::ops::Range;

use polyview_core::{Mask, Predictor, Stamp, Values};
use polyview_linalg::{
    Accum, Mat, MatRef, ObservedCells, ScratchMat, cross_into, sparse_cross, sparse_times_into,
    times,
};

use super::{Gaussian, NoiseBy, XwKey, blocks};

impl Gaussian {
    /// What `cache.xw` belongs to.
    pub(super) fn xw_key(&self, p: &Predictor<'_>) -> XwKey {
        XwKey {
            weights: p.weights.stamp(),
            data: self.data_stamp,
            noise: (self.scope == NoiseBy::Feature).then_some(self.noise_stamp),
        }
    }
    /// Adds `X_cols · diag(t) W_cols` to `out`.
    pub(super) fn add_xw(&self, columns: &Range<usize>, p: &Predictor<'_>, out: &mut Mat<f64>) {
        let w = p.weights.mean().subrows(columns.start, columns.len());
        let weights = self.column_weights().map(|t| &t[columns.clone()]);
        if let Some(cells) = self.few_cells() {
            cells.times_into(columns.clone(), w, weights, out.as_mut());
            return;
        }
        let mut add = |w: MatRef<'_, f64>| match &self.values {
            Values::Dense(x) => {
                let x = x.as_ref().subcols(columns.start, columns.len());
                times(x, w, out.as_mut(), Accum::Add);
            }
            Values::Sparse(x) => {
                sparse_times_into(x.entries(), columns.clone(), w, out.as_mut());
            }
        };
        match weights {
            None => add(w),
            Some(t) => {
                let mut scaled = w.to_owned();
                for j in 0..scaled.ncols() {
                    for (w, t) in scaled.col_as_slice_mut(j).iter_mut().zip(t) {
                        *w *= t;
                    }
                }
                add(scaled.as_ref());
            }
        }
    }
    /// Makes sure that `cache.xw` fits the current weights.
    pub(super) fn ensure_xw(&mut self, p: &Predictor<'_>) {
        let key = self.xw_key(p);
        if !matches!(&self.cache.xw, Some((k, _)) if *k == key) {
            self.gather_cells();
            let mut out = Mat::zeros(self.values.nrows(), p.weights.k());
            for block in blocks(self.values.nrows(), self.values.ncols()) {
                self.add_xw(&block, p, &mut out);
            }
            self.cache.xw = Some((key, out));
        }
    }
    /// Whether `cache.zx` fits the current factors.
    pub(super) fn has_zx(&self, p: &Predictor<'_>) -> bool {
        matches!(&self.cache.zx, Some((z, x, _)) if *z == p.factors.stamp() && *x == self.data_stamp)
    }
    /// $Z^\top X$ of some columns, written to the cache.
    pub(super) fn fill_zx(&mut self, columns: &Range<usize>, p: &Predictor<'_>) {
        self.gather_cells();
        let z = p.factors.mean();
        let (k, d) = (p.factors.k(), self.values.ncols());
        let key = (p.factors.stamp(), self.data_stamp);
        let fits = matches!(&self.cache.zx, Some((z, x, m)) if (*z, *x) == key && m.nrows() == k);
        if !fits {
            // marked as valid only by the caller that fills every column
            self.cache.zx = Some((
                Stamp::fresh(),
                self.data_stamp,
                match self.cache.zx.take() {
                    Some((_, _, m)) if m.shape() == (k, d) => m,
                    _ => ScratchMat::zeros(k, d),
                },
            ));
        }
        let Some((stamp, of_data, mut zx)) = self.cache.zx.take() else {
            return;
        };
        let mut out = zx.as_mut().subcols_mut(columns.start, columns.len());
        match (&self.values, self.few_cells()) {
            (_, Some(cells)) => cells.cross_into(columns.clone(), z, out),
            (Values::Dense(x), None) => {
                let x = x.as_ref().subcols(columns.start, columns.len());
                cross_into(out, z, x, Accum::Replace);
            }
            (Values::Sparse(x), None) => {
                out.copy_from(&sparse_cross(z, x.entries(), columns.clone()));
            }
        }
        self.cache.zx = Some((stamp, of_data, zx));
    }
    /// Gathers the observed cells, where they are so few that products go over these alone.
    pub(super) fn gather_cells(&mut self) {
        if !self.few || self.few_cells().is_some() {
            return;
        }
        if let (Mask::Cells { by_feature, .. }, Values::Dense(x)) = (&self.mask, &self.values) {
            let cells = ObservedCells::new(by_feature, x.as_ref());
            self.cache.cells = Some((self.data_stamp, cells));
        }
    }
    /// The observed cells, where they were gathered.
    fn few_cells(&self) -> Option<&ObservedCells> {
        let of_data = self.cache.cells.as_ref();
        of_data.filter(|c| c.0 == self.data_stamp).map(|c| &c.1)
    }
    /// Makes sure that `cache.zx` fits the current factors.
    pub(super) fn ensure_zx(&mut self, p: &Predictor<'_>) {
        if !self.has_zx(p) {
            for block in blocks(self.values.nrows(), self.values.ncols()) {
                self.fill_zx(&block, p);
            }
            self.mark_zx(p);
        }
    }
    /// Makes sure that these columns of `cache.zx` fit the current factors.
    pub(super) fn ensure_zx_of(&mut self, columns: &Range<usize>, p: &Predictor<'_>) {
        let filled = matches!(&self.cache.filled, Some(f) if f.start <= columns.start && columns.end <= f.end);
        if !filled {
            self.ensure_zx(p);
        }
    }
    /// Marks `cache.zx` as that of the current factors: every column is filled.
    pub(super) fn mark_zx(&mut self, p: &Predictor<'_>) {
        if let Some((z, _, _)) = &mut self.cache.zx {
            *z = p.factors.stamp();
        }
    }
    /// A column of [`Self::zx`]: none before it was made.
    pub(super) fn zx_column(&self, column: usize) -> &[f64] {
        match &self.cache.zx {
            Some((_, _, m)) => m.col(column),
            None => &[],
        }
    }
    /// $Z^\top X$ as it was last made, K × features.
    pub(super) fn zx(&self) -> MatRef<'_, f64> {
        match &self.cache.zx {
            Some((_, _, m)) => m.as_ref(),
            None => MatRef::from_column_major_slice(&[], 0, 0),
        }
    }
}
