//! Which groups the samples of a component belong to, and what the factors'
//! prior says of them.

use polyview_core::{NumericError, RowBlock, RowGroups, RowMoments, StateReader, Stateful};
use polyview_priors::{Fixed, FullRows, GroupArd, SpikeSlab, SpikeSlabRows};
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
                Box::new(SpikeSlabRows::new("factors", prior, moments).with_passes(PASSES))
            }
        })
    }
    /// Draws factors of these groups from their prior, given its expected
    /// scales; one stream of random numbers a column.
    pub(crate) fn draw(&self, groups: &RowGroups, k: usize, key: StreamKey) -> RowMoments {
        let mut z = polyview_linalg::Mat::zeros(groups.rows(), k);
        for j in 0..k {
            let mut rng = key.chunk(j as u32).rng();
            let column = z.col_as_slice_mut(j);
            fill_standard_normal(&mut rng, column);
            for (x, &g) in column.iter_mut().zip(groups.of_row()) {
                let g = g as usize;
                match self {
                    Self::StandardNormal => {}
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
        RowMoments::point(z)
    }
    /// Expected prior variance of an entry; `None` where it is 1 for all.
    pub(crate) fn variance(&self, group: usize, k: usize) -> Option<f64> {
        match self {
            Self::StandardNormal => None,
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
    /// Says which groups the samples belong to that terms and intercepts are to
    /// speak of.
    pub(crate) fn place(&mut self, groups: &RowGroups) {
        for view in &mut self.views {
            view.term.place(groups);
            view.bias.set_groups(groups);
        }
        self.groups = Some(groups.clone());
    }
}
