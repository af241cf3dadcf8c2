//! What a posterior says of every view.

use std::ops::Range;

use polyview_core::{Domain, RowGroups, RowMoments};
use polyview_linalg::Mat;

use super::deviance::Expected;
use crate::fit::{Component, ComponentView};

/// Posterior means of one component.
pub(super) struct Draw {
    /// Factors and what is known beside them, samples × columns.
    pub factors: Mat<f64>,
    /// Weights of each view and what stands beside them, features × columns.
    pub weights: Vec<Mat<f64>>,
}

/// One component as data see it, its factors known.
pub(super) struct Seen {
    /// Factors of the samples.
    pub factors: RowMoments,
    /// Factors of the samples of training, where the samples are others.
    pub training: Option<RowMoments>,
    /// Parts of the views.
    pub views: Vec<ComponentView>,
}

/// What a posterior says of every view.
#[derive(Default)]
pub(super) struct Posterior {
    /// Its components.
    pub draws: Vec<Draw>,
    /// What the data of each view are.
    pub kinds: Vec<Domain>,
    /// Draws of the views whose components have weights of their own, by view: each factor
    /// once for each component, in the samples that belong there, side by side.
    pub local: Vec<Vec<Draw>>,
    /// Whether each view's intercepts are by group of samples.
    pub by_group: Vec<bool>,
    /// Whether each view has intercepts.
    pub has_intercepts: Vec<bool>,
    /// Known factors and the views' parts, one a component, where there are
    /// labels, counts or similarities.
    pub components: Vec<Seen>,
    /// What link and noise add, by component and view.
    links: Vec<Vec<Link>>,
}

impl Posterior {
    /// Adds a component, with factors of its own or of other samples, those of its own then
    /// beside them; the samples belong to the components of a mixture by `shares`.
    pub(super) fn push(
        &mut self,
        (factors, training): (Mat<f64>, Option<Mat<f64>>),
        component: Component,
        shares: Option<&Mat<f64>>,
    ) {
        self.local.resize_with(component.views.len(), Vec::new);
        for (m, local) in self.local.iter_mut().enumerate() {
            let components = component.views[m].term.shape().components;
            if let (Some(_), Some(shares)) = (components, shares) {
                local.push(Draw {
                    factors: by_component(&factors, shares),
                    weights: vec![component.local_weights(m, shares.ncols())],
                });
            }
        }
        let weights = (0..component.views.len())
            .map(|m| component.linear_seen(m))
            .collect();
        let parts = component.views;
        self.kinds = parts.iter().map(|v| v.term.domain()).collect();
        self.by_group = parts.iter().map(|v| v.bias.groups().is_some()).collect();
        let has_intercepts = |v: &ComponentView| v.bias.is_present() || v.bias.groups().is_some();
        self.has_intercepts = parts.iter().map(has_intercepts).collect();
        self.links.push(parts.iter().map(Link::of).collect());
        self.draws.push(Draw { factors, weights });
        if self.kinds.iter().any(|k| !k.is_real())
            && let Some(draw) = self.draws.last()
        {
            self.components.push(Seen {
                factors: RowMoments::point(draw.factors.clone()),
                training: training.map(RowMoments::point),
                views: parts,
            });
        }
    }

    /// Number of columns of a view's predictor, those of one set of weights.
    pub(super) fn columns(&self, at: usize) -> usize {
        let of = self.links.first().and_then(|c| c[at].variance.first());
        of.map_or(0, Vec::len)
    }
    /// What some columns of labels or counts are expected to be.
    pub(super) fn expected(&self, at: usize, columns: &Range<usize>) -> Expected {
        let samples = self.draws.first().map_or(0, |d| d.factors.nrows());
        let mut out = Expected::new(samples, columns);
        for component in &self.components {
            out.add(&component.factors, &component.views[at]);
        }
        out
    }

    /// Variance that link and noise add to the cells of a column of a view, those
    /// of the samples `rows`, on average over the components.
    pub(super) fn link_variance(&self, at: usize, column: usize, rows: &[usize]) -> f64 {
        let sum: f64 = self.links.iter().map(|c| c[at].over(column, rows)).sum();
        sum / self.links.len().max(1) as f64
    }
}

/// Factors times the probabilities of the components, component after component.
fn by_component(factors: &Mat<f64>, shares: &Mat<f64>) -> Mat<f64> {
    let k = factors.ncols();
    Mat::from_fn(factors.nrows(), k * shares.ncols(), |n, j| {
        factors[(n, j % k)] * shares[(n, j / k)]
    })
}

/// Variance that link and noise add to the cells of a view.
struct Link {
    /// By group, by column.
    variance: Vec<Vec<f64>>,
    /// Group of each sample; none where all are alike.
    of_row: Vec<u32>,
}

impl Link {
    fn of(v: &ComponentView) -> Self {
        let groups = v.bias.groups().or_else(|| v.term.groups());
        let of_group = |g: usize| {
            (0..v.term.shape().predicted_columns())
                .map(|d| v.term.link_at(&v.bias, g, d).variance)
                .collect()
        };
        Self {
            variance: (0..groups.map_or(1, RowGroups::count))
                .map(of_group)
                .collect(),
            of_row: groups.map_or_else(Vec::new, |g| g.of_row().to_vec()),
        }
    }

    /// The sum over some samples.
    fn over(&self, column: usize, rows: &[usize]) -> f64 {
        let mut cells = vec![0.0; self.variance.len()];
        for &n in rows {
            cells[self.of_row.get(n).map_or(0, |g| *g as usize)] += 1.0;
        }
        let of_group = |(cells, v): (&f64, &Vec<f64>)| cells * v[column];
        cells.iter().zip(&self.variance).map(of_group).sum()
    }
}
