//! Where the factors of a fit start.

mod blocks;
mod grouped;

use std::borrow::Cow;

use polyview_core::{Groups, RowGroups, View};
use polyview_infer::start_factors;
use polyview_likelihoods::normal_scores;
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::ViewInfo;
use crate::assemble::several;
use crate::compose::Composed;
use crate::error::Result;
use crate::faithful;

use blocks::{StartBlock, StartData};
pub(crate) use grouped::GroupMeans;

/// Factors to start from in a restart, for views that are `infos`.
///
/// # Errors
/// [`crate::ErrorKind::Linalg`] from the decomposition.
pub(super) fn start(
    composed: &Composed,
    groups: Option<&Groups>,
    (infos, views): (&[ViewInfo], &[View]),
    restart: usize,
) -> Result<Mat<f64>> {
    let spec = composed.spec();
    if let Some(spec) = spec.filter(|_| composed.is_faithful()) {
        return faithful::start(spec, groups, views);
    }
    let views = start_views(infos, views)?;
    // levels that are the groups' own are nothing for factors to start from
    let groups = several(groups).map(RowGroups::from);
    let levels = |v: &View| spec.is_some_and(|s| s.group_intercepts(v.name()));
    let own = |v: &View| groups.as_ref().filter(|_| levels(v));
    let blocks: Vec<StartBlock> = views.iter().map(|v| StartBlock::new(v, own(v))).collect();
    let data = StartData::new(&blocks)?;
    let options = &composed.options;
    let key = StreamKey::new(options.seed).sweep(0);
    Ok(start_factors(
        options.start,
        &data,
        options.factors,
        key,
        restart,
    )?)
}

/// The views as a start sees them: classes become indicators, ranks normal
/// scores.
fn start_views<'a>(infos: &[ViewInfo], views: &'a [View]) -> Result<Cow<'a, [View]>> {
    let ranks = |info: &ViewInfo| info.choices.likelihood.is_rank();
    if !infos.iter().any(ranks) && views.iter().all(|v| v.levels().is_empty()) {
        return Ok(Cow::Borrowed(views));
    }
    let seen = |(v, info): (&View, &ViewInfo)| -> Result<View> {
        if ranks(info) {
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
    let all = views.iter().zip(infos).map(seen);
    Ok(Cow::Owned(all.collect::<Result<_>>()?))
}
