//! What stands beside the weights in the predictors of a view.

use polyview_core::{Gammas, RowGroups};
use polyview_linalg::Mat;

use super::{ComponentView, Fit};
use crate::error::Result;

/// Intercepts of a view and the noise about its predictors, in **working** units (see
/// [`ViewInfo::scaling`](super::ViewInfo::scaling)).
#[derive(Clone, Debug)]
pub struct InterceptEstimates {
    /// Posterior means, rows of the weights × groups that have intercepts of their own (else one
    /// column). Of a view with an offset those that go with the offset itself, as it was given, and not less its mean over
    /// the training samples (spec/sites 9).
    pub mean: Mat<f64>,
    /// Standard deviations of the noise, rows of the weights × groups that have noise of their own
    /// (else one column): roots of the mean of $1/\tau$ over Gibbs draws, of $1/\mathrm{E}[\tau]$
    /// of each posterior; of limits and times (censored, survival), whose precisions are points, roots of the
    /// mean of $1/\tau$. `None` of likelihoods without noise to learn.
    pub noise: Option<Mat<f64>>,
    /// Cut points between ordered levels, rows of the weights × (levels − 1), in the unit of the predictors, of each group that
    /// has its own (else one table); means over Gibbs draws. Empty of likelihoods without such levels.
    pub cut_points: Vec<Mat<f64>>,
    /// Sizes of counts, rows of the weights × groups (one column where there are none): of a negative binomial that
    /// of its law, whose variance is $\mu + \mu^2/r$, of Poisson log-normal counts that of the negative binomial of the same variance,
    /// $1/(e^{1/\tau} - 1)$; means over Gibbs draws. `None` of other likelihoods.
    pub sizes: Option<Mat<f64>>,
    /// Shapes a of numbers above 0 (gamma), whose variance is $\mu^2/a$, rows of the weights × groups (one column where there
    /// are none); means over Gibbs draws. `None` of other likelihoods.
    pub shapes: Option<Mat<f64>>,
}

impl Fit {
    /// Whether groups of samples have intercepts of their own in any view: then shares of variance are about each
    /// feature's mean in its group ([`Fit::explain`]).
    pub fn has_group_intercepts(&self) -> bool {
        let by_group = |v: &ComponentView| v.bias.groups().is_some();
        let component = self.component(0);
        component.is_ok_and(|c| c.views.iter().any(by_group))
    }

    /// Intercepts of a view and the noise about its predictors: with factors and weights what
    /// fitted values are made of (of fits that were adjusted, with [`Fit::coefficients`] too).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`](crate::ErrorKind); when a component's state is damaged.
    pub fn intercepts(&self, view: &str) -> Result<InterceptEstimates> {
        let (at, _) = self.view(view)?;
        let count = self.n_components().max(1) as f64;
        let mut mean: Option<Mat<f64>> = None;
        let mut variance: Option<Mat<f64>> = None;
        let mut cut_points: Vec<Mat<f64>> = Vec::new();
        let mut sizes: Option<Mat<f64>> = None;
        let mut shapes: Option<Mat<f64>> = None;
        self.each_part(at, |part| {
            let bias = &part.bias;
            let (rows, groups) = (bias.columns(), bias.per_column());
            let sum = mean.get_or_insert_with(|| Mat::zeros(rows, groups));
            for g in 0..groups {
                for d in 0..rows {
                    sum[(d, g)] += bias.mean()[bias.place(g, d)] / count;
                }
            }
            let groups = part.term.groups().map_or(1, RowGroups::count);
            for (g, d) in (0..groups).flat_map(|g| (0..rows).map(move |d| (g, d))) {
                let Some(own) = part.term.cut_points((groups > 1).then_some(g), d) else {
                    break;
                };
                if cut_points.len() <= g {
                    cut_points.push(Mat::zeros(rows, own.len()));
                }
                for (l, point) in own.iter().enumerate() {
                    cut_points[g][(d, l)] += point / count;
                }
            }
            if let Some(own) = part.term.as_sizes() {
                let groups = part.term.groups().map_or(1, RowGroups::count);
                let sum = sizes.get_or_insert_with(|| Mat::zeros(rows, groups));
                for (g, d) in (0..groups).flat_map(|g| (0..rows).map(move |d| (g, d))) {
                    sum[(d, g)] += own.size(g, d) / count;
                }
            }
            let groups = part.term.groups().map_or(1, RowGroups::count);
            for (g, d) in (0..groups).flat_map(|g| (0..rows).map(move |d| (g, d))) {
                let Some(own) = part.term.law_shape(Some(g), d) else {
                    break;
                };
                shapes.get_or_insert_with(|| Mat::zeros(rows, groups))[(d, g)] += own / count;
            }
            let Some(noise) = part.term.as_noise() else {
                // precisions of its own, one for each column
                if part.term.domain().is_censored() {
                    let sum = variance.get_or_insert_with(|| Mat::zeros(rows, 1));
                    for d in 0..rows {
                        sum[(d, 0)] += part.term.link(None, d, 0.0).variance / count;
                    }
                }
                return Ok(());
            };
            let groups = match noise.precisions() {
                Some(_) => 1,
                None => part.term.groups().map_or(1, RowGroups::count),
            };
            let sum = variance.get_or_insert_with(|| Mat::zeros(rows, groups));
            for g in 0..groups {
                let Some(precisions) = noise.of_group(g).map(Gammas::mean) else {
                    continue;
                };
                for d in 0..rows {
                    // one for each row, or one in all
                    let tau = precisions[if precisions.len() == rows { d } else { 0 }];
                    sum[(d, g)] += 1.0 / (tau * count);
                }
            }
            Ok(())
        })?;
        let mut mean = mean.unwrap_or_else(|| Mat::zeros(0, 1));
        // predictors have the offset less its mean, in working units
        let adjustment = self.composed.adjustment.as_deref();
        if let Some(reference) = adjustment.and_then(|a| a.reference(view)) {
            let scale = &self.views[at].scaling.scale;
            for g in 0..mean.ncols() {
                for (d, b) in mean.col_as_slice_mut(g).iter_mut().enumerate() {
                    *b -= reference / scale.get(d).copied().unwrap_or(1.0);
                }
            }
        }
        Ok(InterceptEstimates {
            mean,
            cut_points,
            sizes,
            shapes,
            noise: variance.map(|v| Mat::from_fn(v.nrows(), v.ncols(), |d, g| v[(d, g)].sqrt())),
        })
    }
}
