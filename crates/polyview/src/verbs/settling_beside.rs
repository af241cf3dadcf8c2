//! Views settled on factors and on what these leave of the features of other views.

use polyview_core::{RowBlock, RowMoments, View};
use polyview_infer::ViewPart;
use polyview_linalg::Mat;
use polyview_priors::{Fixed, FullRows};

use super::settle::{Watch, without_covariances};
use super::settling::{
    Given, SWEEPS, Sweeps, expected_spread, first_columns, less_noise, own_ridge, with,
};
use super::settling_features::{Directions, OnFeatures};
use crate::assemble::not_on_features;
use crate::error::{Error, Result};
use crate::fit::{Component, Fit};

/// What stands beside the factors of the training samples.
pub(super) struct Beside {
    pub(super) directions: Directions,
    /// What they are, samples × directions.
    pub(super) known: Mat<f64>,
    /// Precisions of the weights on factors and directions beside one another.
    relative: Vec<f64>,
}

/// Least share of a factor in what other views are: it counts as so much.
const LEAST_SHARE: f64 = 1e-6;
/// Most numbers of the covariances of uncertain factors with known columns beside them.
const COVARIANCES: usize = 1 << 27;
/// Variance of the weights that sweeps start from.
const START: f64 = 1e-2;

impl Fit {
    /// What stands beside the factors `factors` of the training samples, where view `target`
    /// is settled on features.
    pub(super) fn beside(
        &self,
        component: &Component,
        others: &[Option<View>],
        factors: &RowMoments,
        target: usize,
    ) -> Result<Beside> {
        let name = &self.views[target].name;
        if component.known().is_some() {
            return Err(not_on_features(name, "covariates or offsets"));
        }
        if component.groups.is_some() && self.looks_at_groups() {
            let with = "noise or intercepts by group of samples";
            return Err(not_on_features(name, with));
        }
        let (directions, explained) = Directions::learn(self, component, others, factors, name)?;
        let known = directions.of(component, others, factors);
        let of_factor = |s: f64| s.max(LEAST_SHARE).recip();
        let mut relative: Vec<f64> = explained.into_iter().map(of_factor).collect();
        relative.resize(factors.k() + directions.count(), 1.0);
        Ok(Beside {
            directions,
            known,
            relative,
        })
    }

    /// Brings a view to what predicts its data best given factors and what these leave of
    /// the features: as where it is settled on factors, with known columns beside these, and
    /// one precision for all weights of a predictor,
    /// $w\_{dk}\sim\mathcal N(0, s\_k^2/\alpha\_d)$, $v\_{dj}\sim\mathcal N(0, 1/\alpha\_d)$
    /// (spec/sites 5.1).
    pub(super) fn settle_beside(
        &self,
        component: &Component,
        (v, view, given): (usize, &View, Given),
        mut part: ViewPart,
        factors: &RowMoments,
        (beside, watch): (&Beside, Watch<'_>),
    ) -> Result<Sweeps> {
        let (k, count) = (factors.k(), beside.directions.count());
        let own = &component.views[v].term;
        let laws = given == Given::Laws;
        let widened = laws && own.widened(view, &with(&part, factors)).is_some();
        let noise = part.term.as_noise().and_then(|n| n.precisions());
        let has_noise = laws && noise.is_some() && part.term.domain().is_real();
        let means = without_covariances(factors).beside_known(beside.known.as_ref());
        let numbers = factors.rows() * (k + count) * (k + count + 1) / 2;
        let rows = if widened || has_noise || !laws || numbers > COVARIANCES {
            means
        } else {
            factors.beside_known(beside.known.as_ref())
        };
        let prior = Fixed::standard_normal(k + count);
        let mut rows: Box<dyn RowBlock> = Box::new(FullRows::new("factors", prior, rows));
        let before = part.weights.moments();
        let implicit = before.implicit_rows();
        let mut mean = Mat::zeros(before.explicit_rows(), k + count);
        mean.as_mut().subcols_mut(0, k).copy_from(before.mean());
        let ridge = own_ridge(before, k + count);
        let own_rows = Box::new(FullRows::new(
            format!("weights/{}", part.name),
            ridge.with_relative(beside.relative.clone()),
            RowMoments::isotropic(mean, START, implicit),
        ));
        let mut joint: Box<dyn RowBlock> = std::mem::replace(&mut part.weights, own_rows);
        let mut run = if widened {
            self.rounds_over((&mut rows, watch), (own.as_ref(), view), part, factors)?
        } else {
            self.sweeps_over(&mut rows, part, (SWEEPS, 0), watch)?
        };
        let all = run.part.weights.moments().clone();
        let rows = all.explicit_rows();
        run.features = Some(OnFeatures {
            directions: beside.directions.clone(),
            mean: Mat::from_fn(rows, count, |d, j| all.mean()[(d, k + j)]),
            variance: Mat::from_fn(rows, count, |d, j| all.variance(d, k + j)),
        });
        let mut weights = first_columns(&all, k).into_owned();
        weights.refresh_log_det("weights").map_err(Error::from)?;
        joint.set_moments(weights);
        run.part.weights = joint;
        if has_noise && !widened {
            let spread = expected_spread(&run.part, factors);
            less_noise(&mut run.part, view, &spread);
        }
        Ok(run)
    }
}
