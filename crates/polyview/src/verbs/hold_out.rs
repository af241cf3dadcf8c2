//! Cells hidden at random.

use polyview_core::{Dataset, View};
use polyview_linalg::BitMask;
use polyview_random::{Rng, StreamKey, uniform_open01};

use crate::error::{ErrorKind, Result};

/// A data set with some cells hidden.
#[derive(Clone, Debug)]
pub struct HoldOut {
    /// The data that are left.
    pub data: Dataset,
    /// Hidden cells of each view.
    pub cells: Vec<usize>,
}

/// Hides about the share `share` of the observed cells of every feature, at
/// random; to fit on what is left and to score with
/// [`Fit::held_out_score`](crate::Fit::held_out_score).
///
/// Two observed values stay in every feature, and two in every sample of a
/// view (one less than there are features, where these are one or two), so a
/// feature or sample with no more than that keeps them all. No sample loses
/// its last value. The same seed hides the same cells. Of a symmetric table of the samples
/// ([`View::is_among`]) both cells of a pair are hidden: one would give the other away.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let full = polyview_datasets::nutrimouse();
/// let hidden = polyview::hold_out(&full, 0.1, 1)?;
/// let fit = polyview::fit(hidden.data, polyview::models::bibfa(4))?;
/// for score in fit.held_out_score(&full)? {
///     println!("{}: R2 {:.2}, coverage {:.2}", score.view, score.r2, score.coverage);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::Option`] unless 0 < `share` < 1; [`ErrorKind::NothingToHide`] when
/// the data are too small for a single cell to be hidden.
pub fn hold_out(data: &Dataset, share: f64, seed: u64) -> Result<HoldOut> {
    hold_out_in(data, share, seed, |_| true)
}

/// As [`hold_out`], in some of the views alone: cells of those whose kernel compares samples are
/// not predicted.
pub(crate) fn hold_out_in(
    data: &Dataset,
    share: f64,
    seed: u64,
    hides: impl Fn(&View) -> bool,
) -> Result<HoldOut> {
    let bad = || ErrorKind::Option {
        option: "share",
        value: share.to_string(),
    };
    if !(share > 0.0 && share < 1.0) {
        return Err(bad().into());
    }
    let mut left: Vec<usize> = (0..data.n_samples())
        .map(|n| {
            let of = |v: &View| v.mask().count_sample(n, v.n_features());
            data.views().iter().map(of).sum()
        })
        .collect();
    let mut out = HoldOut {
        data: data.clone(),
        cells: Vec::with_capacity(data.views().len()),
    };
    for (m, view) in data.views().iter().enumerate() {
        if !hides(view) {
            out.cells.push(0);
            continue;
        }
        let key = StreamKey::new(seed).block(m as u32);
        let (hidden, count) = if view.is_among(data.samples()) {
            choose_pairs(view, data.samples(), share, &mut left, key)
        } else {
            choose(view, share, &mut left, key)
        };
        if count > 0 {
            out.data = out.data.with_view(view.hiding(|n, d| hidden.get(n, d)))?;
        }
        out.cells.push(count);
    }
    if out.cells.iter().all(|&c| c == 0) {
        let features = data.views().iter().map(View::n_features).sum();
        return Err(ErrorKind::NothingToHide {
            samples: data.n_samples(),
            features,
        }
        .into());
    }
    Ok(out)
}

/// The cells of a view to hide, and how many; `left` counts the observed
/// cells of each sample in all views.
fn choose(view: &View, share: f64, left: &mut [usize], key: StreamKey) -> (BitMask, usize) {
    let (samples, features) = (view.n_samples(), view.n_features());
    let mut hidden = BitMask::empty(samples, features);
    let mut in_view: Vec<usize> = (0..samples)
        .map(|n| view.mask().count_sample(n, features))
        .collect();
    let floor = features.saturating_sub(1).min(2);
    let mut count = 0;
    for d in 0..features {
        let mut rng = key.chunk(d as u32).rng();
        let mut rows: Vec<usize> = (0..samples).filter(|&n| view.is_observed(n, d)).collect();
        // rounded at random, so that small features lose their share too
        let wanted = (share * rows.len() as f64 + uniform_open01(&mut rng)) as usize;
        let most = wanted.min(rows.len().saturating_sub(2));
        let mut taken = 0;
        for i in 0..rows.len() {
            if taken == most {
                break;
            }
            let j = i + below(rows.len() - i, &mut rng);
            rows.swap(i, j);
            let n = rows[i];
            if in_view[n] > floor && left[n] > 1 {
                hidden.set(n, d, true);
                in_view[n] -= 1;
                left[n] -= 1;
                taken += 1;
            }
        }
        count += taken;
    }
    (hidden, count)
}

/// As [`choose`] of a symmetric table of the samples: both cells of each pair.
fn choose_pairs(
    view: &View,
    samples: &[String],
    share: f64,
    left: &mut [usize],
    key: StreamKey,
) -> (BitMask, usize) {
    let (rows, features) = (view.n_samples(), view.n_features());
    let mut hidden = BitMask::empty(rows, features);
    let mut column: Vec<Option<usize>> = vec![None; rows];
    for (d, feature) in view.features().iter().enumerate() {
        if let Some(n) = samples.iter().position(|s| s == feature) {
            column[n] = Some(d);
        }
    }
    // the cells of a pair
    let cells = |n: usize, m: usize| {
        let there = column[m]
            .filter(|&d| view.is_observed(n, d))
            .map(|d| (n, d));
        let back = column[n]
            .filter(|&d| view.is_observed(m, d))
            .map(|d| (m, d));
        [there, back]
    };
    let seen = |n: usize, m: usize| n != m && cells(n, m).iter().any(Option::is_some);
    let mut pairs: Vec<usize> = (0..rows)
        .map(|n| (0..rows).filter(|&m| seen(n, m)).count())
        .collect();
    let mut count = 0;
    for m in 0..rows {
        let mut rng = key.chunk(m as u32).rng();
        let mut others: Vec<usize> = (m + 1..rows).filter(|&n| seen(n, m)).collect();
        let wanted = (share * others.len() as f64 + uniform_open01(&mut rng)) as usize;
        for i in 0..wanted.min(others.len()) {
            let j = i + below(others.len() - i, &mut rng);
            others.swap(i, j);
            let n = others[i];
            let own = cells(n, m);
            let lost = |of: usize| own.iter().flatten().filter(|c| c.0 == of).count();
            let keeps = |of: usize| pairs[of] > 2 && left[of] > lost(of);
            if keeps(n) && keeps(m) {
                for of in [n, m] {
                    pairs[of] -= 1;
                    left[of] -= lost(of);
                }
                for (n, d) in own.into_iter().flatten() {
                    hidden.set(n, d, true);
                    count += 1;
                }
            }
        }
    }
    (hidden, count)
}

/// A number below `n`, each as likely as any.
fn below<R: Rng>(n: usize, rng: &mut R) -> usize {
    ((uniform_open01(rng) * n as f64) as usize).min(n.saturating_sub(1))
}
