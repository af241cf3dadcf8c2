//! Which directions of data are more than noise.

use polyview_linalg::MatRef;

/// How many of the leading singular values of data with so many `rows` are larger than those of noise: independent columns that
/// have the squares that the directions before leave of each, and what these leave of each column. `v` are the right singular
/// vectors, `squares` the sums of squares of the columns; so many of the first directions as are `sure` are not asked.
pub(super) fn above_noise(
    values: &[f64],
    v: MatRef<'_, f64>,
    squares: &[f64],
    (rows, sure): (usize, usize),
) -> (usize, Vec<f64>) {
    let columns = squares.len();
    let mut left = squares.to_vec();
    for (r, s) in values.iter().enumerate() {
        if r + 1 >= rows.min(columns) {
            return (r, left);
        }
        let freedom = (rows - r) as f64;
        // so many directions have less than they had
        let share = (columns - r) as f64 / columns as f64;
        let variances: Vec<f64> = (left.iter())
            .map(|x| x.max(0.0) / (freedom * share))
            .collect();
        if r >= sure && s * s <= freedom * edge(&variances, freedom) {
            return (r, left);
        }
        for (d, x) in left.iter_mut().enumerate() {
            *x -= (s * v[(d, r)]).powi(2);
        }
    }
    (values.len(), left)
}

/// The largest eigenvalue of the sample covariance of independent columns with these variances over `samples` of them, as both
/// grow: the least value of $z(m) = -1/m + \frac1N\sum\_d \sigma\_d^2 / (1 + \sigma\_d^2 m)$ over
/// $-1/\max\_d\sigma\_d^2 < m < 0$ (Silverstein and Choi 1995, Theorems 4.1 and 4.2). Of equal variances it is
/// $\sigma^2(1 + \sqrt{D/N})^2$ (Marchenko and Pastur).
fn edge(variances: &[f64], samples: f64) -> f64 {
    let top = variances.iter().copied().fold(0.0, f64::max);
    if top <= 0.0 {
        return 0.0;
    }
    // m = -x / top; z is convex, its slope rises through zero
    let rises = |x: f64| {
        let of = |t: &f64| t / top * (t / (1.0 - x * t / top).powi(2));
        variances.iter().map(of).sum::<f64>() / samples > top / (x * x)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if rises(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let of = |t: &f64| t / (1.0 - low * t / top);
    top / low + variances.iter().map(of).sum::<f64>() / samples
}

#[cfg(test)]
mod tests {
    use polyview_linalg::{Mat, TruncatedSvdOptions, truncated_svd};

    use super::super::seeded as normal;
    use super::*;

    #[test]
    fn equal_variances_have_the_edge_of_marchenko_and_pastur() {
        for (columns, samples) in [(5, 400.0), (200, 100.0), (40, 40.0)] {
            let own = edge(&vec![2.5; columns], samples);
            let ratio = columns as f64 / samples;
            let closed = 2.5 * (1.0 + ratio.sqrt()).powi(2);
            assert!((own - closed).abs() < 1e-9 * closed, "{own} {closed}");
        }
        assert_eq!(edge(&[0.0, 0.0], 10.0), 0.0);
        // one column alone, far above the others: its own variance and what these add to it
        let own = edge(&[vec![1.0; 100], vec![1e6]].concat(), 1e9);
        assert!((own / 1e6 - 1.0).abs() < 1e-3, "{own}");
    }

    #[test]
    fn directions_beyond_noise_are_counted() {
        let (rows, columns) = (300, 60);
        for (seed, known) in [(1, 0), (2, 2), (3, 4), (4, 0), (5, 5)] {
            let z = normal(rows, known.max(1), seed);
            let w = normal(columns, known.max(1), seed + 100);
            let e = normal(rows, columns, seed + 200);
            // noise of its own in each column, by a factor of up to 100 in variance
            let sd = |d: usize| 0.3 + 2.7 * (d as f64 / columns as f64).powi(3);
            let shared =
                |n: usize, d: usize| (0..known).map(|j| z[(n, j)] * w[(d, j)]).sum::<f64>();
            let x = Mat::from_fn(rows, columns, |n, d| sd(d) * e[(n, d)] + shared(n, d));
            let options = TruncatedSvdOptions::new(20);
            let test = normal(columns, options.width().min(columns), seed + 300);
            let svd = truncated_svd(&x.as_ref(), &options, test.as_ref()).expect("a decomposition");
            let squares: Vec<f64> = (0..columns)
                .map(|d| x.col(d).iter().map(|x| x * x).sum())
                .collect();
            let ask = |sure: usize| {
                above_noise(&svd.singular_values, svd.v.as_ref(), &squares, (rows, sure))
            };
            let (found, left) = ask(0);
            assert_eq!(found, known, "seed {seed}");
            let own = (0..columns).map(|d| sd(d).powi(2)).sum::<f64>() * rows as f64;
            let share = left.iter().sum::<f64>() / own;
            assert!((0.8..1.1).contains(&share), "seed {seed}: {share}");
            // what is not asked counts
            assert!(ask(7).0 >= 7);
        }
    }
}
