//! Linear combinations of short columns: the inner step of coordinate sweeps.

use crate::simd::{self, Kernel, mul_add};

/// Rows that are summed in registers.
const LANES: usize = 16;

struct Combine<'a> {
    columns: &'a [f64],
    weights: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Combine<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let rows = self.out.len();
        let (wide, rest) = self.out.as_chunks_mut::<LANES>();
        let full = wide.len() * LANES;
        for (c, out) in wide.iter_mut().enumerate() {
            let mut sum = [0.0; LANES];
            for (column, w) in self.columns.chunks_exact(rows).zip(self.weights) {
                let from = &column[c * LANES..(c + 1) * LANES];
                for (s, x) in sum.iter_mut().zip(from) {
                    *s = mul_add::<FUSED>(*w, *x, *s);
                }
            }
            *out = sum;
        }
        for (i, out) in rest.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (column, w) in self.columns.chunks_exact(rows).zip(self.weights) {
                sum = mul_add::<FUSED>(*w, column[full + i], sum);
            }
            *out = sum;
        }
    }
}

/// $\sum\_j w\_j c\_j$ of columns that lie one after the other in `columns`, each as long as
/// `out`. The bits of an entry do not depend on its place in the column.
///
/// ```
/// let mut out = [0.0; 2];
/// polyview_linalg::combine_columns(&[1.0, 2.0, 3.0, 4.0], &[10.0, -1.0], &mut out);
/// assert_eq!(out, [7.0, 16.0]);
/// ```
///
/// # Panics
/// If `columns` does not hold one column for each weight.
pub fn combine_columns(columns: &[f64], weights: &[f64], out: &mut [f64]) {
    assert_eq!(
        columns.len(),
        weights.len() * out.len(),
        "one column for each weight"
    );
    if !out.is_empty() {
        simd::dispatch(Combine {
            columns,
            weights,
            out,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sums_whatever_their_place() {
        for rows in [0, 1, 2, 15, 16, 17, 40] {
            for k in [0, 1, 3, 20] {
                let columns: Vec<f64> = (0..rows * k)
                    .map(|i| ((i * 37 + 5) % 101) as f64 / 7.0 - 6.0)
                    .collect();
                let weights: Vec<f64> = (0..k).map(|j| 0.3 * j as f64 - 1.1).collect();
                let mut out = vec![f64::NAN; rows];
                combine_columns(&columns, &weights, &mut out);
                for r in 0..rows {
                    let own: Vec<f64> = (0..k).map(|j| columns[j * rows + r]).collect();
                    let plain: f64 = own.iter().zip(&weights).map(|(x, w)| x * w).sum();
                    assert!((out[r] - plain).abs() < 1e-12 * (1.0 + plain.abs()));
                    let mut alone = [0.0];
                    combine_columns(&own, &weights, &mut alone);
                    assert_eq!(alone[0].to_bits(), out[r].to_bits(), "{rows} {k} {r}");
                }
            }
        }
    }

    #[test]
    fn the_portable_version_agrees() {
        let columns: Vec<f64> = (0..60).map(f64::from).collect();
        let (mut a, mut b) = ([0.0; 20], [0.0; 20]);
        let weights = [0.5, -2.0, 1.0];
        combine_columns(&columns, &weights, &mut a);
        simd::portable(Combine {
            columns: &columns,
            weights: &weights,
            out: &mut b,
        });
        assert_eq!(a, b);
    }
}
