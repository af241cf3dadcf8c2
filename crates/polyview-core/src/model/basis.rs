//! Covariances with common vectors, $V\\,\mathrm{diag}(\rho\_r)\\,V^\top$
//! (spec/sshiba 2.6).

use polyview_linalg::{LinalgError, Mat, MatRef, SpdFactor, SymPacked, gram, packed_index};

/// $\sum\_r\ln|V\\,\mathrm{diag}(\rho\_r)\\,V^\top|$ for K × J vectors.
///
/// For J > K the columns N of an orthonormal basis of V's null space give
/// $|VRV^\top| = |VV^\top|\\,|R|\\,|N^\top R^{-1}N|$, a determinant of order
/// J − K instead of K.
pub(super) fn log_det(
    vectors: MatRef<'_, f64>,
    scales: MatRef<'_, f64>,
) -> Result<f64, LinalgError> {
    let (k, all, rows) = (vectors.nrows(), vectors.ncols(), scales.nrows());
    let logs: f64 = (0..all)
        .map(|j| (0..rows).map(|r| scales[(r, j)].ln()).sum::<f64>())
        .sum();
    if all == k {
        return Ok(2.0 * rows as f64 * polyview_linalg::log_abs_det(vectors)? + logs);
    }
    // rows of unit length: they differ by the roots of the prior precisions
    let norms: Vec<f64> = (0..k)
        .map(|i| {
            (0..all)
                .map(|j| vectors[(i, j)].powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .collect();
    let unit = Mat::from_fn(k, all, |i, j| vectors[(i, j)] / norms[i]);
    let (factor, _) = SpdFactor::factor(&gram(unit.transpose()))?;
    let log_v = factor.log_det() + 2.0 * norms.iter().map(|n| n.ln()).sum::<f64>();
    let (_, eigenvectors) = polyview_linalg::sym_eigen(gram(unit.as_ref()).to_mat().as_ref())?;
    let order = all - k;
    let null = eigenvectors.as_ref().subcols(0, order);
    let mut rest = 0.0;
    let mut inner = SymPacked::zeros(order);
    for r in 0..rows {
        let cell = inner.as_mut_slice();
        for a in 0..order {
            for b in 0..=a {
                cell[packed_index(a, b)] = (0..all)
                    .map(|j| null[(j, a)] * null[(j, b)] / scales[(r, j)])
                    .sum();
            }
        }
        rest += SpdFactor::factor(&inner)?.0.log_det();
    }
    Ok(rows as f64 * log_v + logs + rest)
}

/// Packed $V\\,\mathrm{diag}(\rho)\\,V^\top$.
pub(super) fn covariance(vectors: MatRef<'_, f64>, scale: impl Fn(usize) -> f64, out: &mut [f64]) {
    let k = vectors.nrows();
    out.fill(0.0);
    for j in 0..vectors.ncols() {
        let s = scale(j);
        let mut p = 0;
        for a in 0..k {
            let va = s * vectors[(a, j)];
            for b in 0..=a {
                out[p] += va * vectors[(b, j)];
                p += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::moments::{RowCov, RowMoments};

    const ALL: usize = 5;

    fn moments() -> RowMoments {
        let vectors = Mat::from_fn(ALL, ALL, |i, j| {
            // prior precisions that differ by many orders
            10_f64.powi(-(i as i32))
                * (f64::from(u8::from(i == j)) + 0.1 * ((i * 3 + j * 7) % 5) as f64)
        });
        let scales = Mat::from_fn(7, ALL, |r, j| 0.2 + ((r * 5 + j * 3) % 11) as f64);
        let mean = Mat::from_fn(7, ALL, |r, j| (r * j) as f64 / 3.0 - 1.0);
        RowMoments::new(mean, RowCov::Basis { vectors, scales }, 0.0, 0)
    }

    /// The same rows with dense covariances.
    fn dense(m: &RowMoments) -> RowMoments {
        let mut rows = polyview_linalg::PackedRows::zeros(m.explicit_rows(), m.k());
        for r in 0..m.explicit_rows() {
            rows.row_mut(r).copy_from_slice(m.row_cov(r).as_slice());
        }
        RowMoments::new(m.mean().to_owned(), RowCov::PerRow(rows), 0.0, 0)
    }

    #[test]
    fn dropped_columns_leave_what_dense_rows_would() {
        for keep in [vec![0, 1, 2, 3, 4], vec![3, 0, 2, 4], vec![4, 1], vec![2]] {
            let signs: Vec<f64> = keep
                .iter()
                .map(|k| if k % 2 == 0 { 1.0 } else { -1.0 })
                .collect();
            let mut basis = moments();
            let mut full = dense(&basis);
            basis.select(&keep, &signs);
            full.select(&keep, &signs);
            assert!(matches!(basis.cov(), RowCov::Basis { .. }));
            basis.refresh_log_det("rows").expect("definite");
            full.refresh_log_det("rows").expect("definite");
            let close = |a: f64, b: f64| {
                assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{keep:?}: {a} {b}");
            };
            close(basis.log_det(), full.log_det());
            let weights: Vec<f64> = (0..keep.len()).map(|k| 0.5 + k as f64).collect();
            let t: Vec<f64> = (0..7).map(|r| 1.0 + r as f64).collect();
            for (a, b) in basis
                .row_squares(&weights)
                .into_iter()
                .zip(full.row_squares(&weights))
            {
                close(a, b);
            }
            for (a, b) in basis
                .column_squares(Some(&t))
                .into_iter()
                .zip(full.column_squares(Some(&t)))
            {
                close(a, b);
            }
            let c = full.second_moment(None);
            for (a, b) in basis
                .row_energies(0..7, &c)
                .into_iter()
                .zip(full.row_energies(0..7, &c))
            {
                close(a, b);
            }
            for r in 0..7 {
                for k in 0..keep.len() {
                    close(basis.variance(r, k), full.variance(r, k));
                }
            }
        }
    }
}
