//! Where the components start: k-means on the rows.

use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, StreamKey, uniform_open01};

/// Tries with other seeds on all columns, and on each column alone.
const TRIES: u32 = 8;
const TRIES_OF_COLUMN: u32 = 2;
/// Most rounds of a try.
const ROUNDS: usize = 50;
/// What of each row's probability goes to its own cluster; the rest is shared
/// by all components.
const OWN: f64 = 0.9;
/// Least share of a column's variance within clusters that counts: where there are as many clusters as
/// rows, all are alike.
const LEAST_WITHIN: f64 = 1e-3;

/// Starting probabilities, rows × `components`: clusters by k-means, the
/// largest first, as the sticks expect them. Of several tries on all columns and on each alone
/// the one is kept that normal clusters with common variances of the columns make likeliest: clusters that lie apart in one
/// column of many are not what makes squared distances least in all.
pub(super) fn shares(rows: MatRef<'_, f64>, components: usize, key: StreamKey) -> Mat<f64> {
    let n = rows.nrows();
    if components <= 1 || n == 0 {
        return Mat::from_fn(n, components.max(1), |_, _| 1.0);
    }
    let alone = (0..rows.ncols()).flat_map(|j| (0..TRIES_OF_COLUMN).map(move |_| j..j + 1));
    let columns = (0..TRIES).map(|_| 0..rows.ncols()).chain(alone);
    let (mut best, mut highest) = (vec![0; n], f64::NEG_INFINITY);
    for (i, columns) in columns.enumerate() {
        let part = rows.subcols(columns.start, columns.len());
        let of_row = cluster(part, components, &mut key.chunk(i as u32).rng());
        let found = likelihood(rows, &of_row, components);
        if found > highest {
            (best, highest) = (of_row, found);
        }
    }
    let mut sizes = vec![0usize; components];
    for &t in &best {
        sizes[t] += 1;
    }
    let mut order: Vec<usize> = (0..components).collect();
    order.sort_by_key(|&t| std::cmp::Reverse(sizes[t]));
    let mut place = vec![0; components];
    for (to, &from) in order.iter().enumerate() {
        place[from] = to;
    }
    let rest = (1.0 - OWN) / components as f64;
    let mut out = Mat::from_fn(n, components, |_, _| rest);
    for (r, &t) in best.iter().enumerate() {
        out[(r, place[t])] += OWN;
    }
    out
}

/// Log likelihood of rows in these clusters, up to a constant: normal ones, each with the share of the rows that it
/// has, at their maximum with one variance for each column. Columns that do not vary say nothing.
fn likelihood(rows: MatRef<'_, f64>, of_row: &[usize], components: usize) -> f64 {
    let n = of_row.len() as f64;
    let mut sizes = vec![0.0; components];
    for &t in of_row {
        sizes[t] += 1.0;
    }
    let mixed: f64 = sizes
        .iter()
        .map(|&s| if s > 0.0 { s * (s / n).ln() } else { 0.0 })
        .sum();
    let left = |j: usize| {
        let (mut sums, mut squares) = (vec![0.0; components], 0.0);
        for (r, &t) in of_row.iter().enumerate() {
            sums[t] += rows[(r, j)];
            squares += rows[(r, j)].powi(2);
        }
        let total = squares - sums.iter().sum::<f64>().powi(2) / n;
        let explained = (sums.iter().zip(&sizes)).filter(|(_, s)| **s > 0.0);
        let within = squares - explained.map(|(x, s)| x * x / s).sum::<f64>();
        // below that of rounding a column is known as well as any
        let share = (within / total).max(LEAST_WITHIN);
        if total > 0.0 { share.ln() } else { 0.0 }
    };
    mixed - 0.5 * n * (0..rows.ncols()).map(left).sum::<f64>()
}

fn distance(rows: MatRef<'_, f64>, r: usize, centre: &[f64]) -> f64 {
    centre
        .iter()
        .enumerate()
        .map(|(j, c)| (rows[(r, j)] - c).powi(2))
        .sum()
}

fn row(rows: MatRef<'_, f64>, r: usize) -> Vec<f64> {
    (0..rows.ncols()).map(|j| rows[(r, j)]).collect()
}

/// The cluster of each row. First
/// centres are drawn with probabilities proportional to the squared distance
/// from those that there are.
fn cluster(rows: MatRef<'_, f64>, components: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let n = rows.nrows();
    let first = ((uniform_open01(rng) * n as f64) as usize).min(n - 1);
    let mut centres = vec![row(rows, first)];
    let mut nearest: Vec<f64> = (0..n).map(|r| distance(rows, r, &centres[0])).collect();
    while centres.len() < components {
        let mut left = uniform_open01(rng) * nearest.iter().sum::<f64>();
        let mut next = n - 1;
        for (r, d) in nearest.iter().enumerate() {
            left -= d;
            if left <= 0.0 {
                next = r;
                break;
            }
        }
        let centre = row(rows, next);
        for (r, d) in nearest.iter_mut().enumerate() {
            *d = d.min(distance(rows, r, &centre));
        }
        centres.push(centre);
    }
    let mut of_row = vec![usize::MAX; n];
    for _ in 0..ROUNDS {
        let mut moved = false;
        for (r, own) in of_row.iter_mut().enumerate() {
            let (mut best, mut least) = (0, f64::INFINITY);
            for (t, centre) in centres.iter().enumerate() {
                let d = distance(rows, r, centre);
                if d < least {
                    (best, least) = (t, d);
                }
            }
            moved |= *own != best;
            *own = best;
        }
        if !moved {
            break;
        }
        for (t, centre) in centres.iter_mut().enumerate() {
            let members: Vec<usize> = (0..n).filter(|&r| of_row[r] == t).collect();
            if members.is_empty() {
                continue;
            }
            for (j, c) in centre.iter_mut().enumerate() {
                *c = members.iter().map(|&r| rows[(r, j)]).sum::<f64>() / members.len() as f64;
            }
        }
    }
    of_row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_far_apart_are_found_the_largest_first() {
        let centres = [(6.0, 0.0), (-6.0, 1.0), (0.0, 7.0)];
        let of = |r: usize| if r < 5 { 0 } else { 1 + usize::from(r >= 14) };
        let rows = Mat::from_fn(40, 2, |r, j| {
            let (x, y) = centres[of(r)];
            let wiggle = ((r * 7 + j * 3) % 11) as f64 / 11.0;
            wiggle + if j == 0 { x } else { y }
        });
        let shares = shares(rows.as_ref(), 3, StreamKey::new(4));
        for r in 0..40 {
            // 26, 9 and 5 rows
            let own = 2 - of(r);
            assert!((shares[(r, own)] - (OWN + (1.0 - OWN) / 3.0)).abs() < 1e-15);
            let total: f64 = (0..3).map(|t| shares[(r, t)]).sum();
            assert!((total - 1.0).abs() < 1e-15);
        }
    }

    /// Two clusters in one of ten columns that are as wide: in all of them, squared distances are least elsewhere.
    #[test]
    fn clusters_apart_in_one_column_of_many_are_found() {
        let second = |r: usize| r.is_multiple_of(3);
        for seed in 0..20 {
            let mut rng = StreamKey::new(seed).rng();
            let mut noise = Mat::<f64>::zeros(200, 10);
            for j in 0..10 {
                polyview_random::fill_standard_normal(&mut rng, noise.col_as_slice_mut(j));
            }
            let rows = Mat::from_fn(200, 10, |r, j| match j {
                4 => 0.3 * noise[(r, j)] + if second(r) { 1.4 } else { -0.7 },
                _ => noise[(r, j)],
            });
            let shares = shares(rows.as_ref(), 2, StreamKey::new(seed));
            let right = (0..200).filter(|&r| (shares[(r, 1)] > 0.5) == second(r));
            let right = right.count();
            assert!(right >= 195, "{seed}: {right}");
        }
    }

    #[test]
    fn more_components_than_rows_leave_some_empty() {
        let rows = Mat::from_fn(2, 1, |r, _| r as f64);
        let shares = shares(rows.as_ref(), 5, StreamKey::new(1));
        assert_eq!(shares.shape(), (2, 5));
        assert!(shares[(0, 0)] > 0.9 || shares[(1, 0)] > 0.9);
        let same = Mat::zeros(3, 2);
        assert_eq!(
            super::shares(same.as_ref(), 2, StreamKey::new(1))[(0, 0)],
            0.95
        );
    }
}
