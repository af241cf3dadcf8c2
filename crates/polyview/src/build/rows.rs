//! Blocks of rows: weights and factors with their priors.

use polyview_core::{Groups, RowBlock, RowGroups, RowMoments, ScalePrior};
use polyview_linalg::Mat;
use polyview_priors::{
    DiagonalRows, Fixed, FullRows, GlobalScale, GroupArd, SpikeSlab, SpikeSlabOptions,
    SpikeSlabRows, ThreeParameterBetaOptions,
};

use super::several;
use crate::faithful;
use crate::local;
use crate::spec::{Algorithm, FactorPrior, ModelSpec, Posterior, ShrinkageShapes};

/// Shapes and scopes of horseshoe weights: factors have global scales of their
/// own, classifiers of labels too; local ones share theirs (spec/maxmargin-rank
/// 2.4-2.6).
pub(super) fn shrinkage(spec: &ModelSpec, view: &str) -> ThreeParameterBetaOptions {
    let ShrinkageShapes { r, s } = spec.shrinkage_prior;
    let choices = spec.view(view);
    let global = if choices.local {
        GlobalScale::All
    } else if choices.likelihood.is_label() {
        GlobalScale::Row
    } else {
        GlobalScale::Column
    };
    ThreeParameterBetaOptions { r, s, global }
}

/// Rows of single entries that are zero or not.
pub(super) fn sparse_rows(
    spec: &ModelSpec,
    block: String,
    mut prior: SpikeSlab,
    start: RowMoments,
) -> Box<dyn RowBlock> {
    if spec.algorithm == Algorithm::Corrected {
        return Box::new(SpikeSlabRows::new(block, prior, start));
    }
    prior.hold_probabilities(faithful::SWEEPS_BEFORE_SPARSITY);
    Box::new(SpikeSlabRows::new(block, prior, start).with_spike_of_prior())
}

/// Gaussian rows with the covariances that the choices ask for.
pub(super) fn gaussian_rows<P: ScalePrior>(
    spec: &ModelSpec,
    block: String,
    prior: P,
    start: RowMoments,
) -> Box<dyn RowBlock> {
    match spec.posterior {
        Posterior::Full => Box::new(FullRows::new(block, prior, start)),
        Posterior::Factorised => Box::new(DiagonalRows::new(block, prior, start)),
    }
}

/// Hyperpriors of sparse rows.
pub(super) fn sparse_options(spec: &ModelSpec) -> SpikeSlabOptions {
    SpikeSlabOptions {
        precision: Some(spec.weight_prior),
        inclusion: spec.inclusion_prior,
    }
}

/// The factors' block, from starting means.
pub(crate) fn factor_block(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    start: Mat<f64>,
    implicit: usize,
) -> Box<dyn RowBlock> {
    let (rows, k) = (start.nrows(), start.ncols());
    let variance = match spec.algorithm {
        Algorithm::Corrected => 1e-2,
        Algorithm::Faithful => 1.0,
    };
    let moments = RowMoments::isotropic(start, variance, implicit);
    let block = "factors".to_owned();
    let groups = several(groups).map_or_else(|| RowGroups::one(rows), RowGroups::from);
    match spec.factor_prior {
        FactorPrior::StandardNormal => {
            gaussian_rows(spec, block, Fixed::standard_normal(k), moments)
        }
        FactorPrior::Ard => {
            let prior = GroupArd::new(spec.weight_prior, groups, k);
            gaussian_rows(spec, block, prior, moments)
        }
        FactorPrior::SpikeAndSlab => {
            let prior = SpikeSlab::by_group(sparse_options(spec), groups, k);
            sparse_rows(spec, block, prior, moments)
        }
        FactorPrior::Mixture => local::factors(spec, block, moments),
    }
}
