//! What a start takes missing cells to be (docs/decisions/0105-starts-are-completed-and-unmixed.md).

use polyview_linalg::{
    Completed, Holes, LinalgError, LinearOperator, Mat, MatRef, TruncatedSvd, TruncatedSvdOptions,
    cross, truncated_svd,
};

use super::noise::above_noise;

/// Most times that missing cells are filled in, and of data of so many cells, where each time takes as long as some ten sweeps.
const TIMES: usize = 30;
const LARGE: usize = 1_000_000;
const TIMES_OF_LARGE: usize = 12;

/// Cells are at rest where the squares of their last change, and those that they may be wrong by, are this share of those of noise along one
/// direction.
const STILL: f64 = 0.5;

/// What the squares of missing cells may be wrong by is less by this factor each time.
const SURER: f64 = 0.5;

/// What stands in missing cells, $l\_n^\top r\_d$.
struct Filling {
    /// Rank × samples.
    left: Mat<f64>,
    /// Rank × features.
    right: Mat<f64>,
}

impl Filling {
    /// The leading directions of a decomposition, so many, about the means; each has squares that are `wrong`, and
    /// is as much shorter.
    fn new(svd: &TruncatedSvd, count: usize, wrong: f64, means: &[f64]) -> Self {
        let size = |j: usize| {
            let s = svd.singular_values[j];
            (s - wrong / s).max(0.0)
        };
        Self {
            left: Mat::from_fn(count + 1, svd.u.nrows(), |j, n| {
                if j < count {
                    size(j) * svd.u[(n, j)]
                } else {
                    1.0
                }
            }),
            right: Mat::from_fn(count + 1, means.len(), |j, d| {
                if j < count { svd.v[(d, j)] } else { means[d] }
            }),
        }
    }
    /// $\sum\_{nd}a\_{nd}b\_{nd}$ over all cells.
    fn product(&self, other: &Self) -> f64 {
        let left = cross(self.left.transpose(), other.left.transpose());
        let right = cross(self.right.transpose(), other.right.transpose());
        let rank = left.nrows();
        let of = |j: usize| (0..rank).map(|i| left[(i, j)] * right[(i, j)]).sum::<f64>();
        (0..left.ncols()).map(of).sum()
    }
    /// Squares of the difference, over all cells.
    fn change(&self, before: &Self) -> f64 {
        let own = self.product(self) + before.product(before);
        (own - 2.0 * self.product(before)).max(0.0)
    }
}

/// The decomposition of data whose missing cells are what their leading directions say, by turns: those that are more than noise, and more than what
/// missing cells may still be wrong by, as soft imputation has it (Mazumder, Hastie and Tibshirani 2010). Sums of `squares` of the columns become those of the completed data.
///
/// # Errors
/// [`LinalgError`] of a decomposition.
pub(super) fn completed(
    (data, holes): (&impl LinearOperator, &[Holes<'_>]),
    squares: &mut [f64],
    mut svd: TruncatedSvd,
    (options, test): (&TruncatedSvdOptions, MatRef<'_, f64>),
) -> Result<TruncatedSvd, LinalgError> {
    let (rows, columns) = (data.nrows(), data.ncols());
    let missing: usize = holes.iter().map(|h| h.count(rows)).sum();
    if missing == 0 {
        return Ok(svd);
    }
    let again = TruncatedSvdOptions {
        power_iterations: 1,
        ..*options
    };
    let observed = squares.to_vec();
    // squares that missing cells may be wrong by
    let mut open = observed.iter().sum::<f64>() * missing as f64 / (rows * columns) as f64;
    let mut held = 1;
    let mut means = vec![0.0; columns];
    let mut last: Option<Filling> = None;
    let times = if rows * columns < LARGE {
        TIMES
    } else {
        TIMES_OF_LARGE
    };
    for _ in 0..times {
        let values = &svd.singular_values;
        let clear = values.iter().take_while(|s| **s * **s > open).count();
        let asked = clear.max(held).min(values.len());
        // those before the last one that was held are more than noise still
        let sure = held.saturating_sub(1);
        let (found, left) = above_noise(&values[..asked], svd.v.as_ref(), squares, (rows, sure));
        if found == 0 {
            break;
        }
        held = found;
        let left: f64 = left.iter().map(|x| x.max(0.0)).sum();
        let noise = left / (rows.min(columns) - found).max(1) as f64;
        let filling = Filling::new(&svd, found, noise + open, &means);
        let change = |last: &Filling| filling.change(last);
        let change = last.as_ref().map_or(f64::INFINITY, change);
        if open.max(change) <= STILL * noise {
            break;
        }
        open *= SURER;
        let factors = (&filling.left, &filling.right);
        let whole = Completed::new(data, holes, factors)?;
        for ((own, seen), added) in squares.iter_mut().zip(&observed).zip(whole.added_squares()) {
            *own = seen + added;
        }
        let start = Mat::from_fn(columns, test.ncols(), |d, j| {
            let known = j < svd.v.ncols();
            if known { svd.v[(d, j)] } else { test[(d, j)] }
        });
        svd = truncated_svd(&whole, &again, start.as_ref())?;
        means = whole.means().to_vec();
        last = Some(filling);
    }
    Ok(svd)
}

#[cfg(test)]
mod tests {
    use polyview_linalg::BitMask;
    use polyview_random::{StreamKey, uniform_open01};

    use super::super::seeded as normal;
    use super::*;

    /// Share of the squares of `z`, about its means, that is not in the span of the columns of `u`, which are orthonormal.
    fn outside(z: &Mat<f64>, u: &Mat<f64>) -> f64 {
        let mut about = z.clone();
        for j in 0..z.ncols() {
            let own = about.col_as_slice_mut(j);
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            for x in own {
                *x -= mean;
            }
        }
        let inside = cross(u.as_ref(), about.as_ref()).squared_norm_l2();
        1.0 - inside / about.squared_norm_l2()
    }

    /// Directions of data of three factors and little noise, of which cells are missing one by one or half the samples lack half the features: the
    /// completed data have three, which are those of the factors, where those of the data with zeros in them are not.
    #[test]
    fn missing_cells_are_completed_by_what_the_others_say() {
        let (n, d, k, sd) = (90, 40, 3, 0.01);
        for (seed, share) in [(1, 0.1), (2, 0.3), (3, -1.0)] {
            let (z, w, e) = (
                normal(n, k, seed),
                normal(d, k, seed + 50),
                normal(n, d, seed + 90),
            );
            let mut rng = StreamKey::new(seed).rng();
            let cells: Vec<bool> = (0..n * d)
                .map(|_| uniform_open01(&mut rng) > share)
                .collect();
            let seen = |n: usize, d: usize| {
                if share < 0.0 {
                    n.is_multiple_of(2) || d < 20
                } else {
                    cells[n * 40 + d]
                }
            };
            let mask = BitMask::from_fn(n, d, seen);
            let turned = mask.transposed();
            let mut x = &z * w.transpose() + &e * sd;
            let mut squares = vec![0.0; d];
            for (j, squares) in squares.iter_mut().enumerate() {
                let own = x.col_as_slice_mut(j);
                let mean =
                    mask.ones_in_col(j).map(|i| own[i]).sum::<f64>() / mask.count_col(j) as f64;
                for (i, x) in own.iter_mut().enumerate() {
                    *x = if seen(i, j) { *x - mean } else { 0.0 };
                    *squares += *x * *x;
                }
            }
            let holes = [Holes {
                columns: d,
                observed: Some((&mask, &turned)),
            }];
            let options = TruncatedSvdOptions::new(10);
            let test = normal(d, options.width(), seed + 7);
            let plain = truncated_svd(&x.as_ref(), &options, test.as_ref()).expect("finite");
            let data = (&x.as_ref(), &holes[..]);
            let how = (&options, test.as_ref());
            let whole = completed(data, &mut squares, plain.clone(), how).expect("finite");
            let lost = |svd: &TruncatedSvd| outside(&z, &svd.u.subcols(0, k).to_owned());
            let (own, before) = (lost(&whole), lost(&plain));
            // where there are blocks, data of more factors are near as well
            let most = if share < 0.0 { 0.01 } else { 1e-5 };
            let told = format!("seed {seed}: {own:e} {before:e}");
            assert!(own < most && before > 10.0 * own, "{told}");
            let values = &whole.singular_values;
            let (found, _) = above_noise(values, whole.v.as_ref(), &squares, (n, 0));
            assert!(found == k || share < 0.0, "seed {seed}: {values:?}");
        }
    }

    #[test]
    fn data_without_holes_are_left_as_they_are() {
        let x = normal(20, 8, 1);
        let options = TruncatedSvdOptions::new(3);
        let test = normal(8, 8, 2);
        let plain = truncated_svd(&x.as_ref(), &options, test.as_ref()).expect("finite");
        let holes = [Holes {
            columns: 8,
            observed: None,
        }];
        let mut squares = vec![1.0; 8];
        let how = (&options, test.as_ref());
        let own = completed((&x.as_ref(), &holes), &mut squares, plain.clone(), how);
        let own = own.expect("finite");
        assert_eq!((own.u, squares), (plain.u, vec![1.0; 8]));
    }
}
