//! Which groups the samples of a component belong to, and what the factors'
//! prior says of them.

use std::sync::Arc;

use polyview_core::{
    GammaPrior, NumericError, RowBlock, RowGroups, RowMoments, StateReader, Stateful,
};
use polyview_linalg::Mat;
use polyview_priors::{Fixed, FullRows, GroupArd, Mixture, MixtureRows, SpikeSlab, SpikeSlabRows};
use polyview_random::{StreamKey, fill_standard_normal, uniform_open01};

use super::Component;
use crate::build::sparse_options;
use crate::spec::{FactorPrior, ModelSpec};

/// Times that sparse factors of new samples are gone over.
const PASSES: usize = 20;

/// Scales of the factors' prior.
#[derive(Clone, Debug)]
pub(crate) enum FactorScales {
    /// None to learn.
    StandardNormal,
    /// Precisions by group.
    Ard(GroupArd),
    /// Precisions and inclusion probabilities by group.
    SpikeSlab(SpikeSlab),
    /// Components, and the probabilities with which the fit's samples belong to
    /// them, samples × components.
    Mixture(Mixture, Arc<Mat<f64>>),
}

impl FactorScales {
    /// Those of a saved block of factors.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    pub(super) fn load(
        spec: &ModelSpec,
        k: usize,
        state: &StateReader<'_>,
    ) -> Result<Self, NumericError> {
        let none = RowGroups::one(0);
        Ok(match spec.factor_prior {
            FactorPrior::StandardNormal => Self::StandardNormal,
            FactorPrior::Ard => {
                let mut prior = GroupArd::new(spec.weight_prior, none, k);
                prior.load("factors/prior", state)?;
                Self::Ard(prior)
            }
            FactorPrior::SpikeAndSlab => {
                let mut prior = SpikeSlab::by_group(sparse_options(spec), none, k);
                prior.load("factors/prior", state)?;
                Self::SpikeSlab(prior)
            }
            FactorPrior::Mixture => {
                let mut mixture = Mixture::new(spec.mixture, k);
                mixture.load("factors/prior", state)?;
                let shares = mixture.load_shares("factors", state)?;
                Self::Mixture(mixture, Arc::new(shares))
            }
        })
    }
    /// A block of other rows under the same prior, with covariances whatever
    /// the fit's, so that Gaussian factors are exact in one step.
    ///
    /// # Errors
    /// [`NumericError::Mismatch`] when the groups are others.
    pub(crate) fn block(
        &self,
        groups: RowGroups,
        moments: RowMoments,
    ) -> Result<Box<dyn RowBlock>, NumericError> {
        let other = || NumericError::Mismatch {
            block: "factors".into(),
            what: "the groups are not those of the model",
        };
        Ok(match self {
            Self::StandardNormal => {
                let prior = Fixed::standard_normal(moments.k());
                Box::new(FullRows::new("factors", prior, moments))
            }
            Self::Ard(prior) => {
                let prior = prior.for_rows(groups).ok_or_else(other)?;
                Box::new(FullRows::new("factors", prior, moments))
            }
            Self::SpikeSlab(prior) => {
                let prior = prior.for_rows(groups).ok_or_else(other)?;
                let rows = SpikeSlabRows::new("factors", prior, moments);
                Box::new(rows.with_passes(PASSES).taken_together())
            }
            Self::Mixture(mixture, _) => {
                Box::new(MixtureRows::under("factors", mixture.clone(), moments))
            }
        })
    }
    /// As [`FactorScales::block`], under the Gaussian prior of the same variances, where
    /// the fit's prior is not Gaussian and is swept column by column: factors of one sample
    /// are found together first, as columns that start alone take what belongs to others.
    pub(crate) fn gaussian(
        &self,
        groups: &RowGroups,
        moments: &RowMoments,
    ) -> Option<Box<dyn RowBlock>> {
        let Self::SpikeSlab(prior) = self else {
            return None;
        };
        let unit = GammaPrior::new(1.0, 1.0);
        let mut ard = GroupArd::new(unit, prior.groups().clone(), moments.k());
        for k in 0..moments.k() {
            for g in 0..groups.count() {
                let variance = self.variance(g, k).unwrap_or(1.0);
                let precision = variance.max(f64::MIN_POSITIVE).recip();
                ard.gammas_mut()
                    .set_value(g + groups.count() * k, precision);
            }
        }
        let ard = ard.for_rows(groups.clone())?;
        Some(Box::new(FullRows::new("factors", ard, moments.clone())))
    }
    /// Draws factors of these groups from their prior, given its expected
    /// scales; one stream of random numbers a column. With a mixture prior the
    /// components that they belong to come with them.
    pub(crate) fn draw(
        &self,
        groups: &RowGroups,
        k: usize,
        key: StreamKey,
    ) -> (RowMoments, Option<Arc<Mat<f64>>>) {
        if let Self::Mixture(mixture, _) = self {
            let (z, shares) = mixture.draw_rows(groups.rows(), key.chain(1));
            return (RowMoments::point(z), Some(Arc::new(shares)));
        }
        let mut z = Mat::zeros(groups.rows(), k);
        for j in 0..k {
            let mut rng = key.chunk(j as u32).rng();
            let column = z.col_as_slice_mut(j);
            fill_standard_normal(&mut rng, column);
            for (x, &g) in column.iter_mut().zip(groups.of_row()) {
                let g = g as usize;
                match self {
                    Self::StandardNormal | Self::Mixture(..) => {}
                    Self::Ard(prior) => *x /= prior.precisions()[(g, j)].sqrt(),
                    Self::SpikeSlab(prior) => {
                        let share = prior.betas().mean(g + groups.count() * j);
                        let included = uniform_open01(&mut rng) < share;
                        let sd = prior.precisions()[(g, j)].sqrt().recip();
                        *x *= if included { sd } else { 0.0 };
                    }
                }
            }
        }
        (RowMoments::point(z), None)
    }
    /// The probabilities with which the fit's samples belong to the components of
    /// a mixture prior, samples × components.
    pub(crate) fn shares(&self) -> Option<&Arc<Mat<f64>>> {
        match self {
            Self::Mixture(_, shares) => Some(shares),
            Self::StandardNormal | Self::Ard(_) | Self::SpikeSlab(_) => None,
        }
    }
    /// Expected prior variance of an entry; `None` where it is 1 for all.
    pub(crate) fn variance(&self, group: usize, k: usize) -> Option<f64> {
        match self {
            Self::StandardNormal => None,
            Self::Mixture(mixture, _) => Some(mixture.prior_variance(k)),
            Self::Ard(prior) => Some(1.0 / prior.precisions()[(group, k)]),
            Self::SpikeSlab(prior) => {
                let count = prior.groups().count();
                let share = prior.betas().mean(group + count * k);
                Some(share / prior.precisions()[(group, k)])
            }
        }
    }
}

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
        let mut out = self.mean_weights(view);
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
    fn mean_weights(&self, view: usize) -> Mat<f64> {
        let part = &self.views[view];
        let w = part.weights.mean();
        let FactorScales::Mixture(mixture, _) = &self.scales else {
            return w.to_owned();
        };
        let shape = part.term.shape();
        if shape.components.is_none() {
            return w.to_owned();
        }
        let columns = shape.predicted_columns();
        let mut out: Mat<f64> = Mat::zeros(columns, w.ncols());
        for (t, share) in mixture.weights().into_iter().enumerate() {
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
