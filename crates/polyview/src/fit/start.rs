//! Where the factors of a fit start.

mod blocks;
mod grouped;

use std::borrow::Cow;

use polyview_core::{Groups, RowGroups, View};
use polyview_infer::start_factors;
use polyview_likelihoods::normal_scores;
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use crate::build::several;
use crate::error::Result;
use crate::faithful;
use crate::spec::{Algorithm, ModelSpec};

use blocks::{StartBlock, StartData};
pub(crate) use grouped::GroupMeans;

/// Factors to start from in a restart.
///
/// # Errors
/// [`crate::ErrorKind::Linalg`] from the decomposition.
pub(super) fn start(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: &[View],
    restart: usize,
) -> Result<Mat<f64>> {
    if spec.algorithm == Algorithm::Faithful {
        return faithful::start(spec, groups, views);
    }
    let views = start_views(spec, views)?;
    // levels that are the groups' own are nothing for factors to start from
    let groups = several(groups).map(RowGroups::from);
    let own = |v: &View| groups.as_ref().filter(|_| spec.group_intercepts(v.name()));
    let blocks: Vec<StartBlock> = views.iter().map(|v| StartBlock::new(v, own(v))).collect();
    let data = StartData::new(&blocks)?;
    let key = StreamKey::new(spec.seed).sweep(0);
    Ok(start_factors(
        spec.start,
        &data,
        spec.factors,
        key,
        restart,
    )?)
}

/// The views as a start sees them: classes become indicators, ranks normal
/// scores.
fn start_views<'a>(spec: &ModelSpec, views: &'a [View]) -> Result<Cow<'a, [View]>> {
    let ranks = |v: &View| spec.view(v.name()).likelihood.is_rank();
    if views.iter().all(|v| v.levels().is_empty() && !ranks(v)) {
        return Ok(Cow::Borrowed(views));
    }
    let seen = |v: &View| -> Result<View> {
        if ranks(v) {
            let scores = normal_scores(v);
            return Ok(View::from_values(v.name(), v.features().to_vec(), scores)?);
        }
        if v.levels().is_empty() {
            return Ok(v.clone());
        }
        let classes = v.classes();
        let values = Mat::from_fn(v.n_samples(), v.levels().len(), |n, c| match classes[n] {
            Some(class) => f64::from(u8::from(class == c)),
            None => f64::NAN,
        });
        Ok(View::from_values(v.name(), v.levels().to_vec(), values)?)
    };
    Ok(Cow::Owned(views.iter().map(seen).collect::<Result<_>>()?))
}
