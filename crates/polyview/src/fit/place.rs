//! Which groups and components the samples of a component of the posterior belong to.

use std::sync::Arc;

use polyview_core::{Domain, RowGroups};
use polyview_infer::ViewPart;
use polyview_linalg::{Mat, MatRef};

use super::Component;

impl Component {
    /// Says which components of the factors' prior the samples belong to that
    /// terms are to speak of.
    pub(crate) fn share(&mut self, shares: &Arc<Mat<f64>>) {
        for view in &mut self.views {
            if let Some(components) = view.term.as_by_component() {
                components.take_shares(shares);
            }
        }
    }
    /// Mean weights of a view in the units that features can be added up in
    /// ([`Link::scale`](polyview_core::Link::scale)); of one with
    /// weights by component the mean over the components, by their expected weights.
    pub(crate) fn linear_weights(&self, view: usize) -> Mat<f64> {
        self.in_units(view, self.views[view].weights.mean())
    }
    /// As [`Component::linear_weights`], with what stands beside the weights.
    pub(crate) fn linear_seen(&self, view: usize) -> Mat<f64> {
        self.in_units(view, self.views[view].seen().mean())
    }
    fn in_units(&self, view: usize, weights: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = self.of_components(view, weights);
        let scales: Vec<f64> = (0..out.nrows())
            .map(|d| self.views[view].term.link(None, d, 0.0).scale)
            .collect();
        for j in 0..out.ncols() {
            for (w, scale) in out.col_as_slice_mut(j).iter_mut().zip(&scales) {
                *w *= scale;
            }
        }
        out
    }
    /// Mean weights of a view, and what stands beside them, with weights of its own for each of so many
    /// components of the factors' prior, features × (factors of the first component, of the second, ...), in
    /// the units of [`Component::linear_weights`].
    pub(crate) fn local_weights(&self, view: usize, components: usize) -> Mat<f64> {
        let part = &self.views[view];
        let (w, columns) = (part.seen().mean(), part.term.shape().predicted_columns());
        let scales: Vec<f64> = (0..columns)
            .map(|d| part.term.link(None, d, 0.0).scale)
            .collect();
        let k = w.ncols();
        Mat::from_fn(columns, k * components, |d, j| {
            scales[d] * w[(j / k * columns + d, j % k)]
        })
    }
    fn of_components(&self, view: usize, w: MatRef<'_, f64>) -> Mat<f64> {
        let part = &self.views[view];
        let Some(mixture) = self.factors.mixture() else {
            return w.to_owned();
        };
        let shape = part.term.shape();
        if shape.components.is_none() {
            return w.to_owned();
        }
        let columns = shape.predicted_columns();
        let mut out: Mat<f64> = Mat::zeros(columns, w.ncols());
        for (t, share) in mixture.weights.into_iter().enumerate() {
            out += w.subrows(t * columns, columns) * polyview_linalg::faer::Scale(share);
        }
        out
    }
    /// Says which groups the samples belong to that terms and intercepts are to
    /// speak of.
    pub(crate) fn place(&mut self, groups: &RowGroups) {
        for view in &mut self.views {
            if let Some(by_group) = view.term.as_by_group() {
                by_group.place(groups);
            }
            view.bias.set_groups(groups);
        }
        self.groups = Some(groups.clone());
    }
}

/// Gives groups without a cell of a column the level of the others.
pub(super) fn borrow_levels(views: &mut [ViewPart]) {
    for view in views {
        // under a link levels differ by some units, whatever the data; numbers have units
        // of their own
        let most = match view.term.domain() {
            Domain::Reals => f64::INFINITY,
            _ => 1.0,
        };
        view.bias.borrow_levels(most);
    }
}
