//! Where the factors of a fit start.

mod blocks;
mod grouped;

use std::borrow::Cow;

use polyview_core::{Groups, RowGroups, RowMoments, View};
use polyview_infer::{MoreFactors, more_factors, start_factors};
use polyview_likelihoods::normal_scores;
use polyview_linalg::{Holes, LinearOperator, Mat};
use polyview_random::StreamKey;

use super::ViewInfo;
use crate::assemble::{several, weight_block};
use crate::compose::Composed;
use crate::error::Result;
use crate::faithful;
use crate::spec::ModelSpec;

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
    let blocks = start_blocks(composed, groups, &views);
    let data = StartData::new(&blocks)?;
    let squares: Vec<f64> = blocks.iter().flat_map(StartBlock::squares).collect();
    let data = (&data, &squares[..]);
    let holes: Vec<Holes<'_>> = blocks.iter().map(StartBlock::holes).collect();
    let sparse = match spec {
        Some(spec) if choose_entries(spec, &views)? => Some(&holes[..]),
        _ => None,
    };
    let options = &composed.options;
    let key = StreamKey::new(options.seed).sweep(0);
    let Some(adjustment) = &composed.adjustment else {
        let (start, k) = (options.start, options.factors);
        return Ok(start_factors(start, data, sparse, k, key, restart)?);
    };
    // directions that covariates and offsets take are not for the factors
    let known = adjustment.training();
    let k = options.factors + known.len();
    let z = start_factors(options.start, data, sparse, k, key, restart)?;
    Ok(beside(&z, known, options.factors))
}

/// Factors beyond the `known` ones, `most` of them at most.
///
/// # Errors
/// As [`start`].
pub(super) fn more(
    composed: &Composed,
    groups: Option<&Groups>,
    (infos, views): (&[ViewInfo], &[View]),
    known: &RowMoments,
    most: usize,
) -> Result<MoreFactors> {
    let views = start_views(infos, views)?;
    let blocks = start_blocks(composed, groups, &views);
    let data = StartData::new(&blocks)?;
    let squares: Vec<f64> = blocks.iter().flat_map(StartBlock::squares).collect();
    // covariates and offsets are known as well, and known exactly
    let training = (composed.adjustment.as_ref()).map_or(&[][..], |a| a.training());
    let (own, k) = (known.mean(), known.k());
    let mean = Mat::from_fn(data.nrows(), k + training.len(), |n, j| {
        match j.checked_sub(k) {
            None => own[(n, j)],
            Some(j) => training[j][n],
        }
    });
    let spread = known.cov_sum(None);
    let covariances = Mat::from_fn(mean.ncols(), mean.ncols(), |i, j| {
        if i.max(j) < k { spread.get(i, j) } else { 0.0 }
    });
    let key = StreamKey::new(composed.options.seed).sweep(0);
    let known = (mean.as_ref(), covariances.as_ref());
    Ok(more_factors((&data, &squares), known, most, key)?)
}

/// Whether weights of some view choose which entries are zero.
///
/// # Errors
/// Those of priors and their options.
fn choose_entries(spec: &ModelSpec, views: &[View]) -> Result<bool> {
    for view in views {
        let none = RowMoments::point(Mat::zeros(0, spec.factors));
        if weight_block(spec, view.name(), none, &[])?
            .inclusion()
            .is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Variance of the data as a start sees them, mean over their features; of counts squared units of $\ln(1 + x)$.
///
/// # Errors
/// As [`start`].
pub(super) fn spread(
    composed: &Composed,
    groups: Option<&Groups>,
    (infos, views): (&[ViewInfo], &[View]),
) -> Result<f64> {
    let views = start_views(infos, views)?;
    let blocks = start_blocks(composed, groups, &views);
    let variances: Vec<f64> = blocks.iter().flat_map(StartBlock::variances).collect();
    Ok(variances.iter().sum::<f64>() / variances.len().max(1) as f64)
}

/// The views without what intercepts take.
fn start_blocks<'a>(
    composed: &Composed,
    groups: Option<&Groups>,
    views: &'a [View],
) -> Vec<StartBlock<'a>> {
    // levels that are the groups' own are nothing for factors to start from
    let groups = several(groups).map(RowGroups::from);
    let spec = composed.spec();
    let levels = |v: &View| spec.is_some_and(|s| s.group_intercepts(v.name()));
    let own = |v: &View| groups.as_ref().filter(|_| levels(v));
    views.iter().map(|v| StartBlock::new(v, own(v))).collect()
}

/// The columns of a start that are least like what is known of the samples, in their order: each
/// without what the constant and the known columns say of it, with its length as before.
fn beside(start: &Mat<f64>, known: &[Vec<f64>], k: usize) -> Mat<f64> {
    let rows = start.nrows();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let without = |x: &mut [f64], base: &[Vec<f64>]| {
        for b in base {
            let by = dot(x, b);
            for (x, b) in x.iter_mut().zip(b) {
                *x -= by * b;
            }
        }
    };
    let mut base: Vec<Vec<f64>> = Vec::new();
    for column in std::iter::once(&vec![1.0; rows]).chain(known) {
        let mut own = column.clone();
        without(&mut own, &base);
        let (left, all) = (dot(&own, &own), dot(column, column));
        // what others have said already is rounding
        if left > 1e-12 * all {
            for x in &mut own {
                *x /= left.sqrt();
            }
            base.push(own);
        }
    }
    let mut columns: Vec<(usize, f64, Vec<f64>)> = (0..start.ncols())
        .map(|j| {
            let column = start.col_as_slice(j);
            let mut own = column.to_vec();
            without(&mut own, &base);
            let (left, all) = (dot(&own, &own), dot(column, column));
            let longer = if left > 0.0 { (all / left).sqrt() } else { 1.0 };
            for x in &mut own {
                *x *= longer;
            }
            (j, if all > 0.0 { left / all } else { 0.0 }, own)
        })
        .collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    columns.truncate(k);
    columns.sort_by_key(|c| c.0);
    Mat::from_fn(rows, k, |n, j| columns[j].2[n])
}

/// The views as a start sees them: classes become indicators, ranks normal scores, and counts
/// $\ln(1 + x)$: factors move their logarithms, and
/// directions of the counts themselves would be those of a few large ones.
fn start_views<'a>(infos: &[ViewInfo], views: &'a [View]) -> Result<Cow<'a, [View]>> {
    let ranks = |info: &ViewInfo| info.choices.likelihood.is_rank();
    let counts = |info: &ViewInfo| {
        let of = &info.choices.likelihood;
        of.is_count() && !of.has_trials()
    };
    let positive = |info: &ViewInfo| info.choices.likelihood.is_positive();
    let as_they_are = |info: &ViewInfo| !ranks(info) && !counts(info) && !positive(info);
    if infos.iter().all(as_they_are) && views.iter().all(|v| v.levels().is_empty()) {
        return Ok(Cow::Borrowed(views));
    }
    let seen = |(v, info): (&View, &ViewInfo)| -> Result<View> {
        if ranks(info) {
            let scores = normal_scores(v);
            return Ok(View::from_values(v.name(), v.features().to_vec(), scores)?);
        }
        if counts(info) {
            return logarithms(v, |x| x.max(0.0).ln_1p());
        }
        if positive(info) {
            return logarithms(v, |x| if x > 0.0 { x.ln() } else { 0.0 });
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

/// Counts as $\ln(1 + x)$, or numbers above 0 as $\ln x$, stored as they are. What is no such datum is
/// refused later on, by name; missing cells are zeros, and stay.
fn logarithms(view: &View, ln: impl Fn(f64) -> f64) -> Result<View> {
    let Some(x) = view.sparse() else {
        let x = view.values();
        let (rows, columns) = x.shape();
        return Ok(view.with_values(Mat::from_fn(rows, columns, |n, d| ln(x[(n, d)])))?);
    };
    let Ok(entries) = x.entries().map(|_, _, x| ln(x)) else {
        return Ok(view.clone());
    };
    let (base, mask) = (x.base().to_vec(), view.mask().clone());
    let features = view.features().to_vec();
    Ok(View::from_sparse_parts(
        view.name(),
        features,
        entries,
        base,
        mask,
    )?)
}
