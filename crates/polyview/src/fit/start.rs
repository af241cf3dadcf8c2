//! Where the factors of a fit start.

use std::borrow::Cow;

use polyview_core::{Groups, Mask, View};
use polyview_infer::start_factors;
use polyview_likelihoods::normal_scores;
use polyview_linalg::{BitMask, FilledBlock, Mat};
use polyview_random::StreamKey;

use crate::error::Result;
use crate::faithful;
use crate::spec::{Algorithm, ModelSpec};

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
    let blocks = StartBlocks::new(&views);
    let key = StreamKey::new(spec.seed).sweep(0);
    Ok(start_factors(
        spec.start,
        &blocks.blocks(&views),
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

/// What the start needs of each view: observed cells, means and scales.
struct StartBlocks {
    masks: Vec<Option<(BitMask, BitMask)>>,
    means: Vec<Vec<f64>>,
    scales: Vec<Vec<f64>>,
}

impl StartBlocks {
    /// Means over the observed cells, and one scale a view: the root of the
    /// mean variance, so that no view drowns the others.
    fn new(views: &[View]) -> Self {
        let mut out = Self {
            masks: Vec::new(),
            means: Vec::new(),
            scales: Vec::new(),
        };
        for v in views {
            let (rows, cols) = (v.n_samples(), v.n_features());
            out.masks.push(match v.mask() {
                Mask::Complete => None,
                Mask::Rows(r) => Some((
                    BitMask::from_fn(rows, cols, |n, _| r[n]),
                    BitMask::from_fn(cols, rows, |_, n| r[n]),
                )),
                Mask::Cells {
                    by_feature,
                    by_sample,
                } => Some((by_feature.clone(), by_sample.clone())),
            });
            let (mut means, mut total) = (Vec::with_capacity(cols), 0.0);
            for d in 0..cols {
                let n = v.mask().count_feature(d, rows).max(1) as f64;
                // of sparse values the entries alone: their base goes with the mean
                let (sum, squares) = match v.sparse() {
                    Some(x) => sums(x.entries().column(d).1.iter()),
                    None => sums(v.values().col(d).iter()),
                };
                means.push(sum / n);
                total += squares / n - (sum / n).powi(2);
            }
            let scale = if total > 0.0 {
                (total / cols as f64).sqrt().recip()
            } else {
                1.0
            };
            out.means.push(means);
            out.scales.push(vec![scale; cols]);
        }
        out
    }
    /// The blocks themselves.
    fn blocks<'a>(&'a self, views: &'a [View]) -> Vec<FilledBlock<'a>> {
        views
            .iter()
            .enumerate()
            .map(|(i, v)| FilledBlock {
                values: match v.sparse() {
                    Some(x) => x.entries().into(),
                    None => v.values().into(),
                },
                mask: self.masks[i].as_ref().map(|m| &m.0),
                transposed: self.masks[i].as_ref().map(|m| &m.1),
                mean: &self.means[i],
                scale: &self.scales[i],
            })
            .collect()
    }
}

/// Sum and sum of squares.
fn sums<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    values.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x))
}
