//! Features of samples as columns of a linear model, with what is missing filled in from their factors.

use polyview_core::View;
use polyview_kernels::Kernel;
use polyview_linalg::Mat;

use super::cross_validate::columns;
use super::holes::{Cells, Holes, is_told};
use crate::error::Result;
use crate::fit::Fit;

/// Whether factors say what is missing of a view, in the unit of its columns.
pub(super) fn is_filled(fit: &Fit, view: usize) -> bool {
    is_told(fit.domain(view)) && fit.views()[view].kernel.is_none()
}

impl Fit {
    /// How many features the kernel of a view compares, where it compares any.
    pub(super) fn features_behind(&self, view: usize) -> Option<usize> {
        let map = self.views().get(view)?.kernel.as_ref()?;
        (map.kernel() != Kernel::Precomputed).then(|| map.features().len())
    }
}

/// The columns of some views, samples × columns, also of views that are not there; `NaN` where a cell is missing, or at what its
/// law expects of it given all that is known of the sample ([`Filled::at_means`]).
pub(super) struct Filled<'a> {
    /// Of each view of the fit its columns, where it was asked for; then, where any of these has a kernel, of each the features behind it.
    pub(super) of_view: Vec<Option<Mat<f64>>>,
    /// What is missing of them, if anything.
    pub(super) holes: Option<Holes<'a>>,
    pub(super) samples: usize,
}

impl<'a> Filled<'a> {
    /// Those of the views `of` of so many samples, of which `views` are known.
    ///
    /// # Errors
    /// What [`Fit::project`] says; numerical errors.
    pub(super) fn new(
        fit: &'a Fit,
        of: &[usize],
        views: &[Option<View>],
        samples: usize,
    ) -> Result<Self> {
        let mut of_view: Vec<Option<Mat<f64>>> = vec![None; fit.views().len()];
        for &v in of {
            let own = views.get(v).and_then(Option::as_ref);
            let nothing = || Mat::full(samples, fit.views()[v].columns().len(), f64::NAN);
            of_view[v] = Some(own.map_or_else(nothing, |view| columns(view, fit.domain(v))));
        }
        if of.iter().any(|&v| fit.features_behind(v).is_some()) {
            of_view.resize(2 * fit.views().len(), None);
        }
        for &v in of {
            let Some(features) = fit.features_behind(v) else {
                continue;
            };
            of_view[fit.views().len() + v] = match views.get(v).and_then(Option::as_ref) {
                // files of before these were kept have none of the training samples
                Some(view) => view.behind().map(|own| own.as_ref().clone()),
                None => Some(Mat::full(samples, features, f64::NAN)),
            };
        }
        let told: Vec<usize> = of.iter().copied().filter(|v| is_filled(fit, *v)).collect();
        let lacks = |n: &usize| {
            let mut own = told.iter().filter_map(|v| of_view[*v].as_ref());
            own.any(|x| (0..x.ncols()).any(|d| x[(*n, d)].is_nan()))
        };
        let rows: Vec<usize> = (0..samples).filter(lacks).collect();
        let columns: Vec<Option<&Mat<f64>>> = (of_view.iter().enumerate())
            .map(|(v, own)| own.as_ref().filter(|_| told.contains(&v)))
            .collect();
        let holes = Holes::new(fit, &columns, views, rows)?;
        Ok(Self {
            of_view,
            holes,
            samples,
        })
    }
    /// The same with what is missing at its mean over the points, where that is told.
    pub(super) fn at_means(mut self) -> Self {
        let Some(holes) = &self.holes else {
            return self;
        };
        let mut sums: Vec<Option<Mat<f64>>> = vec![None; self.of_view.len()];
        for point in 0..holes.points() {
            for (v, Cells { mean, .. }) in holes.at(point) {
                match &mut sums[v] {
                    Some(sum) => *sum += mean,
                    none => *none = Some(mean),
                }
            }
        }
        let count = holes.points() as f64;
        for (own, sum) in self.of_view.iter_mut().zip(&sums) {
            let (Some(own), Some(sum)) = (own, sum) else {
                continue;
            };
            for d in 0..own.ncols() {
                let own = own.col_as_slice_mut(d);
                for (&n, sum) in holes.rows.iter().zip(sum.col_as_slice(d)) {
                    if own[n].is_nan() {
                        own[n] = sum / count;
                    }
                }
            }
        }
        self
    }
    /// The columns of each view at one of the points of the samples with holes, these × columns.
    pub(super) fn at(&self, holes: &Holes<'_>, point: usize) -> Vec<Option<Cells>> {
        let whole = |x: &Mat<f64>| Cells {
            mean: holes.mine(x),
            variance: None,
        };
        let mut out: Vec<Option<Cells>> = vec![];
        out.resize_with(self.of_view.len(), || None);
        for (v, cells) in holes.at(point) {
            out[v] = Some(cells);
        }
        for (out, own) in out.iter_mut().zip(&self.of_view) {
            if out.is_none() {
                *out = own.as_ref().map(whole);
            }
        }
        out
    }
    /// The columns of a view.
    pub(super) fn of(&self, view: usize) -> Option<&Mat<f64>> {
        self.of_view.get(view)?.as_ref()
    }
}
