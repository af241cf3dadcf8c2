//! Where the components start: k-means on the rows.

use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, StreamKey, uniform_open01};

/// Tries with other seeds; the one with the least sum of squares is kept.
const TRIES: u32 = 8;
/// Most rounds of a try.
const ROUNDS: usize = 50;
/// What of each row's probability goes to its own cluster; the rest is shared
/// by all components.
const OWN: f64 = 0.9;

/// Starting probabilities, rows × `components`: clusters by k-means, the
/// largest first, as the sticks expect them.
pub(super) fn shares(rows: MatRef<'_, f64>, components: usize, key: StreamKey) -> Mat<f64> {
    let n = rows.nrows();
    if components <= 1 || n == 0 {
        return Mat::from_fn(n, components.max(1), |_, _| 1.0);
    }
    let tries = (0..TRIES).map(|i| cluster(rows, components, &mut key.chunk(i).rng()));
    let (mut best, mut least) = (vec![0; n], f64::INFINITY);
    for (of_row, squares) in tries {
        if squares < least {
            (best, least) = (of_row, squares);
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

/// The cluster of each row and the sum of squares about the centres. First
/// centres are drawn with probabilities proportional to the squared distance
/// from those that there are.
fn cluster(rows: MatRef<'_, f64>, components: usize, rng: &mut ChaCha8Rng) -> (Vec<usize>, f64) {
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
    let mut squares = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut moved = false;
        squares = 0.0;
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
            squares += least;
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
    (of_row, squares)
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
