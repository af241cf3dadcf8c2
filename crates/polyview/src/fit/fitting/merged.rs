//! Factors of different views that are one, as the samples that the views share say (docs/decisions/0111-factors-of-different-views-are-merged.md).

use polyview_core::{Mask, NumericError, State, View};
use polyview_linalg::{LinalgError, Mat, MatRef, thin_svd, times_small};

use crate::error::{Error, Result};

/// Share of a view's predictors from which on a factor acts there.
const ACTS: f64 = 0.01;
/// A factor that explains less of another view than so many times its share of its own has no part in that one.
const NO_PART: f64 = 0.1;
/// Fewest samples that two views have to share.
const FEWEST: usize = 4;
/// Least correlation of two directions that may be one.
const ALIKE: f64 = 0.5;

/// A factor, and where it comes from.
#[derive(Clone)]
struct Column {
    /// Of each sample, with mean square 1 in those of which its views were observed.
    values: Vec<f64>,
    /// Views in which it acts.
    acts: Vec<bool>,
    /// Views from which it stays away.
    away: Vec<bool>,
}

/// Starting factors, samples × fewer than K, in which factors of different views that go together in the samples these share are one; none
/// where there are no such.
///
/// Of two views of which each has samples that the other lacks, factors $A$ act in the first and not in the second, $B$ the other way. In the model
/// factors are independent, so that $\langle Z\_A\rangle^\top\langle Z\_B\rangle/n$ over the n shared samples, of factors with mean square 1, is about zero; large
/// singular values are directions of $A$ and of $B$ that are the same. `state` is a fit to these `views`.
///
/// # Errors
/// From arrays that are not there, and on numbers that are not finite.
pub(super) fn merged_start(views: &[View], state: &State) -> Result<Option<Mat<f64>>> {
    let seen: Vec<Vec<bool>> = views.iter().map(observed).collect();
    let overlap = |u: usize, v: usize| {
        let both = |n: &usize| seen[u][*n] && seen[v][*n];
        let shared: Vec<usize> = (0..seen[u].len()).filter(both).collect();
        let alone = |a: usize, b: usize| (0..seen[a].len()).any(|n| seen[a][n] && !seen[b][n]);
        (shared.len() >= FEWEST && alone(u, v) && alone(v, u)).then_some(shared)
    };
    let pairs = (0..views.len()).flat_map(|u| (u + 1..views.len()).map(move |v| (u, v)));
    let pairs: Vec<_> = pairs
        .filter_map(|(u, v)| Some((u, v, overlap(u, v)?)))
        .collect();
    if pairs.is_empty() {
        return Ok(None);
    }
    let Some(mut columns) = columns_of(views, &seen, state)? else {
        return Ok(None);
    };
    let before = columns.len();
    for (u, v, shared) in &pairs {
        columns = merged(columns, (*u, *v), &seen, shared)?;
    }
    let samples = seen.first().map_or(0, Vec::len);
    let start = Mat::from_fn(samples, columns.len(), |n, j| columns[j].values[n]);
    Ok((columns.len() < before).then_some(start))
}

/// The samples of which a view has anything.
fn observed(view: &View) -> Vec<bool> {
    let (samples, features) = (view.n_samples(), view.n_features());
    match view.mask() {
        Mask::Complete => vec![true; samples],
        Mask::Rows(rows) => rows.clone(),
        mask @ Mask::Cells { .. } => (0..samples)
            .map(|n| mask.count_sample(n, features) > 0)
            .collect(),
    }
}

/// The factors of a fit. None where factors are not all that weights are of (covariates beside them), or are not written as they are.
fn columns_of(views: &[View], seen: &[Vec<bool>], state: &State) -> Result<Option<Vec<Column>>> {
    let reader = state.reader();
    if !reader.has("factors/mean") {
        return Ok(None);
    }
    let z = reader.mat("factors/mean")?;
    let (samples, k) = z.shape();
    if seen.iter().any(|seen| seen.len() != samples) {
        return Ok(None);
    }
    let mut shares = Vec::with_capacity(views.len());
    for (view, seen) in views.iter().zip(seen) {
        let name = format!("views/{}/weights/mean", view.name());
        if !reader.has(&name) {
            return Ok(None);
        }
        let w = reader.mat(&name)?;
        if w.ncols() != k {
            return Ok(None);
        }
        let energy = |j: usize| {
            let own = (0..samples).filter(|n| seen[*n]);
            own.map(|n| z[(n, j)].powi(2)).sum::<f64>() * w.col(j).squared_norm_l2()
        };
        let own: Vec<f64> = (0..k).map(energy).collect();
        let all = own.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        shares.push(own.into_iter().map(|x| x / all).collect::<Vec<f64>>());
    }
    let column = |j: usize| {
        let most = shares.iter().map(|s| s[j]).fold(0.0, f64::max);
        let mut own = Column {
            values: z.col_as_slice(j).to_vec(),
            acts: shares.iter().map(|s| s[j] >= ACTS).collect(),
            away: shares.iter().map(|s| s[j] <= NO_PART * most).collect(),
        };
        to_mean_square_one(&mut own.values, |n| {
            seen.iter()
                .zip(&own.acts)
                .any(|(seen, acts)| *acts && seen[n])
        });
        own
    };
    Ok(Some((0..k).map(column).collect()))
}

/// The factors, of which directions of two views are one that are the same in the samples `shared` by these.
fn merged(
    columns: Vec<Column>,
    (u, v): (usize, usize),
    seen: &[Vec<bool>],
    shared: &[usize],
) -> Result<Vec<Column>> {
    let only = |c: &Column, here: usize, there: usize| c.acts[here] && c.away[there];
    let (mut a, mut b, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for column in &columns {
        if only(column, u, v) {
            a.push(column);
        } else if only(column, v, u) {
            b.push(column);
        } else {
            rest.push(column.clone());
        }
    }
    if a.is_empty() || b.is_empty() {
        return Ok(columns);
    }
    let n = shared.len() as f64;
    let by_chance = ((a.len() as f64).sqrt() + (b.len() as f64).sqrt()) / n.sqrt();
    let least = by_chance.max(ALIKE);
    let product = Mat::from_fn(a.len(), b.len(), |i, j| {
        let each = shared.iter().map(|n| a[i].values[*n] * b[j].values[*n]);
        each.sum::<f64>() / n
    });
    let numeric = |_| {
        Error::from(NumericError::NotFinite {
            block: "factors".into(),
            what: "a product of factors",
        })
    };
    let svd = thin_svd(product.as_ref()).map_err(numeric)?;
    let same = svd.singular_values.iter().filter(|s| **s >= least).count();
    if same == 0 {
        return Ok(columns);
    }
    let mut left = turned(&a, svd.u.as_ref().subcols(0, same)).map_err(numeric)?;
    let mut right = turned(&b, svd.v.as_ref().subcols(0, same)).map_err(numeric)?;
    let others = (left.split_off(same), right.split_off(same));
    let one = |(left, right): (Column, Column)| {
        let both = left.values.iter().zip(&right.values).enumerate();
        let mut values: Vec<f64> = both
            .map(|(n, (left, right))| match (seen[u][n], seen[v][n]) {
                (true, false) => *left,
                (false, true) => *right,
                _ => 0.5 * (left + right),
            })
            .collect();
        to_mean_square_one(&mut values, |n| seen[u][n] || seen[v][n]);
        let views = left.acts.iter().zip(&right.acts);
        let from = left.away.iter().zip(&right.away).enumerate();
        Column {
            values,
            acts: views.map(|(a, b)| a | b).collect(),
            away: from.map(|(w, (a, b))| w != u && w != v && a & b).collect(),
        }
    };
    let mut out: Vec<Column> = left.into_iter().zip(right).map(one).collect();
    out.extend(others.0);
    out.extend(others.1);
    out.extend(rest);
    Ok(out)
}

/// Columns turned to a basis of which these directions are the first, which act where any of them did.
fn turned(
    own: &[&Column],
    first: MatRef<'_, f64>,
) -> std::result::Result<Vec<Column>, LinalgError> {
    let samples = own.first().map_or(0, |c| c.values.len());
    let z = Mat::from_fn(samples, own.len(), |n, j| own[j].values[n]);
    let z = times_small(z.as_ref(), basis(first)?.as_ref());
    let views = 0..own.first().map_or(0, |c| c.acts.len());
    let acts: Vec<bool> = (views.clone())
        .map(|w| own.iter().any(|c| c.acts[w]))
        .collect();
    let away: Vec<bool> = views.map(|w| own.iter().all(|c| c.away[w])).collect();
    let column = |j: usize| Column {
        values: z.col_as_slice(j).to_vec(),
        acts: acts.clone(),
        away: away.clone(),
    };
    Ok((0..own.len()).map(column).collect())
}

/// Divides a column by its root mean square over some samples.
fn to_mean_square_one(column: &mut [f64], counts: impl Fn(usize) -> bool) {
    let own: Vec<f64> = (column.iter().enumerate())
        .filter(|(n, _)| counts(*n))
        .map(|(_, x)| x * x)
        .collect();
    let size = (own.iter().sum::<f64>() / own.len().max(1) as f64).sqrt();
    if size > 0.0 {
        for x in column {
            *x /= size;
        }
    }
}

/// An orthonormal basis of which these orthonormal columns are the first.
fn basis(first: MatRef<'_, f64>) -> std::result::Result<Mat<f64>, LinalgError> {
    let (n, m) = first.shape();
    let others = Mat::from_fn(n, n, |i, j| {
        let within: f64 = (0..m).map(|l| first[(i, l)] * first[(j, l)]).sum();
        f64::from(u8::from(i == j)) - within
    });
    let svd = thin_svd(others.as_ref())?;
    Ok(Mat::from_fn(n, n, |i, j| {
        if j < m {
            first[(i, j)]
        } else {
            svd.u[(i, j - m)]
        }
    }))
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, Table};
    use polyview_random::{StreamKey, standard_normal};

    use super::*;
    use crate::{Fit, Fitting, ModelSpec, models};

    /// Samples `rows` of 180, of which the first view has 40 features and the second 20, of three common factors, or of three each.
    fn tables(rows: [std::ops::Range<usize>; 2], common: bool) -> Dataset {
        let normal = |n: usize, d: usize, stream: u64| {
            let mut rng = StreamKey::new(stream).rng();
            Mat::from_fn(n, d, |_, _| standard_normal(&mut rng))
        };
        let mut builder = Dataset::builder();
        for (v, rows) in rows.into_iter().enumerate() {
            let own = v as u64;
            let z = normal(180, 3, if common { 1 } else { 10 + own });
            let d = 40 - 20 * v;
            let x = &z * normal(3, d, 20 + own) + normal(180, d, 30 + own);
            builder = builder.view(Table {
                name: ["a", "b"][v].to_owned(),
                samples: rows.clone().map(|n| format!("s{n}")).collect(),
                features: (0..d).map(|j| format!("f{j}")).collect(),
                levels: Vec::new(),
                values: x.subrows(rows.start, rows.len()).to_owned(),
            });
        }
        builder.join(polyview_core::Join::Union).build().unwrap()
    }

    fn ended(mut fitting: Fitting) -> Fit {
        while !fitting.step().unwrap().done {}
        fitting.finish().unwrap()
    }

    fn fit(data: &Dataset, spec: &ModelSpec) -> Fit {
        ended(Fitting::new(data.clone(), spec.clone()).unwrap())
    }

    /// Two views that share 25 of 180 samples: the three factors of both are found, where each view had some of its own; a fit that goes on
    /// from a checkpoint within the run from merged factors ends as one that was not interrupted.
    #[test]
    fn factors_of_views_that_share_few_samples_are_one() {
        let data = tables([0..100, 75..180], true);
        assert_eq!(fit(&data, &models::mofa(10)).k(), 3);
        let spec = models::bibfa(10);
        let found = fit(&data, &spec);
        assert_eq!(found.k(), 3);
        let bounds = &found.record().restart_bounds;
        assert!(bounds.len() > 1, "{bounds:?}");
        let best = bounds.iter().copied().max_by(f64::total_cmp);
        assert_eq!(found.record().bound, best);
        let told = |text: String| text.contains("were taken for one") && text.contains("higher");
        let entries = &found.record().journal.entries;
        assert!(entries.iter().any(|e| told(e.to_string())));
        let mut first = Fitting::new(data.clone(), spec.clone()).unwrap();
        while first.step().unwrap().restart < 2 {}
        first.step().unwrap();
        let mut second = Fitting::new(data, spec).unwrap();
        second.resume(&first.checkpoint().unwrap()).unwrap();
        assert_eq!(&ended(second).record().restart_bounds, bounds);
    }

    /// Factors that have nothing to do with each other stay apart, and where every sample of a view is in the other nothing is tried.
    #[test]
    fn factors_of_their_own_stay_apart() {
        let spec = models::bibfa(10);
        let apart = fit(&tables([0..100, 75..180], false), &spec);
        assert_eq!(apart.k(), 6);
        let bounds = &apart.record().restart_bounds;
        assert_eq!(apart.record().bound, Some(bounds[0]));
        let nested = fit(&tables([0..180, 75..180], true), &spec);
        assert_eq!((nested.k(), nested.record().restart_bounds.len()), (3, 1));
    }

    #[test]
    fn a_basis_begins_with_what_it_is_given() {
        let first = Mat::from_fn(3, 1, |i, _| [0.6, 0.0, 0.8][i]);
        let all = basis(first.as_ref()).unwrap();
        let square = all.transpose() * &all;
        for i in 0..3 {
            assert_eq!(all[(i, 0)], first[(i, 0)]);
            for j in 0..3 {
                assert!((square[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
