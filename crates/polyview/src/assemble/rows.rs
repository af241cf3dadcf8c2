//! Blocks of rows: weights and factors with their priors.

use polyview_core::{DataError, Groups, PriorContext, RowBlock, RowGroups, RowMoments, RowsOf};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::several;
use crate::faithful;
use crate::spec::{Algorithm, ModelSpec, Named, PriorKind};

/// Chain of the random numbers that priors start with.
const START: u32 = 1 << 20;

/// The block of a prior's rows.
fn block<K: PriorKind>(
    spec: &ModelSpec,
    prior: &Named<K>,
    block: &str,
    start: RowMoments,
    rows: RowsOf<'_>,
) -> Result<Box<dyn RowBlock>, DataError> {
    let faithful = spec.algorithm == Algorithm::Faithful;
    let cx = PriorContext {
        block,
        rows,
        posterior: spec.posterior,
        key: StreamKey::new(spec.seed).chain(START),
        mofapy2: faithful.then_some(faithful::SWEEPS_BEFORE_SPARSITY),
    };
    prior.rows(&spec.shared_options()?, start, &cx)
}

/// The block of a view's weights. Where the prior has a cost by weight, the rows `idle`
/// have none.
///
/// # Errors
/// [`DataError`] of a prior that is not known, or of its options.
pub(crate) fn weight_block(
    spec: &ModelSpec,
    name: &str,
    start: RowMoments,
    idle: &[usize],
) -> Result<Box<dyn RowBlock>, DataError> {
    let choices = spec.view(name);
    let rows = RowsOf::Weights {
        domain: choices.likelihood.domain().unwrap_or_default(),
        components: choices.local.then(|| spec.components()),
        idle,
    };
    let called = format!("weights/{name}");
    block(spec, &choices.selection, &called, start, rows)
}

/// The factors' block, from starting means.
///
/// # Errors
/// As [`weight_block`].
pub(crate) fn factor_block(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    start: Mat<f64>,
    implicit: usize,
) -> Result<Box<dyn RowBlock>, DataError> {
    let rows = start.nrows();
    let variance = match spec.algorithm {
        Algorithm::Corrected => 1e-2,
        Algorithm::Faithful => 1.0,
    };
    let moments = RowMoments::isotropic(start, variance, implicit);
    let groups = several(groups).map_or_else(|| RowGroups::one(rows), RowGroups::from);
    let rows = RowsOf::Factors { groups: &groups };
    block(spec, &spec.factor_prior, "factors", moments, rows)
}
