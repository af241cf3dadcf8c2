//! Latent rows: means and covariances, or draws.

use polyview_core::{NumericError, State, StateReader};
use polyview_linalg::{
    Mat, PackedRows, SymPacked, packed_dot, packed_index, packed_len, packed_quad,
};

/// Latent rows $u\_j$ of samples.
#[derive(Clone, Debug)]
pub(super) struct LatentRows {
    /// K × rows: the numbers of a row lie side by side.
    mean: Mat<f64>,
    /// Covariances; zero for draws.
    cov: PackedRows,
    /// $\ln|\Sigma|$ of each; 0 for draws.
    log_det: Vec<f64>,
    drawn: bool,
}

impl LatentRows {
    /// Rows of these means, K × rows, whose entries are independent with this variance.
    pub(super) fn new(mean: Mat<f64>, variance: f64) -> Self {
        let (k, rows) = mean.shape();
        let mut cov = SymPacked::identity(k);
        cov.scale(variance);
        Self {
            cov: PackedRows::repeat(rows, &cov),
            log_det: vec![k as f64 * variance.ln(); rows],
            mean,
            drawn: false,
        }
    }
    pub(super) fn k(&self) -> usize {
        self.mean.nrows()
    }
    pub(super) fn len(&self) -> usize {
        self.mean.ncols()
    }
    pub(super) fn is_drawn(&self) -> bool {
        self.drawn
    }
    /// $\langle u\_j\rangle$.
    pub(super) fn mean(&self, row: usize) -> &[f64] {
        self.mean.col_as_slice(row)
    }
    /// $\Sigma\_j$, packed.
    pub(super) fn cov(&self, row: usize) -> &[f64] {
        self.cov.row(row)
    }
    pub(super) fn log_det(&self, row: usize) -> f64 {
        self.log_det[row]
    }
    /// Adds $\langle u\_j^\top u\_j\rangle$ to a packed triangle.
    pub(super) fn add_second(&self, row: usize, to: &mut [f64]) {
        add_outer(self.mean(row), to);
        if !self.drawn {
            for (t, s) in to.iter_mut().zip(self.cov.row(row)) {
                *t += s;
            }
        }
    }
    /// Sets a row to these moments.
    pub(super) fn set(&mut self, row: usize, mean: &[f64], cov: &SymPacked, log_det: f64) {
        self.mean.col_as_slice_mut(row).copy_from_slice(mean);
        self.cov.row_mut(row).copy_from_slice(cov.as_slice());
        self.log_det[row] = log_det;
        self.drawn = false;
    }
    /// Sets a row to a draw.
    pub(super) fn set_draw(&mut self, row: usize, value: &[f64]) {
        self.mean.col_as_slice_mut(row).copy_from_slice(value);
        self.cov.row_mut(row).fill(0.0);
        self.log_det[row] = 0.0;
        self.drawn = true;
    }
    /// Means of some product of two rows: mean and variance of $u\_iu\_j^\top$ for a row of
    /// moments `mean` and `cov` that is independent of row `row`.
    pub(super) fn product(&self, row: usize, mean: &[f64], cov: &[f64]) -> (f64, f64) {
        let own = self.mean(row);
        let dot = own.iter().zip(mean).map(|(a, b)| a * b).sum();
        let mut variance = packed_quad(cov, own);
        if !self.drawn {
            let of_row = self.cov.row(row);
            variance += packed_quad(of_row, mean) + packed_dot(of_row, cov, self.k());
        }
        (dot, variance)
    }
    /// A draw of each row from its moments, K × rows: `noise` gives standard normal numbers.
    pub(super) fn drawn(&self, mut noise: impl FnMut() -> f64) -> Mat<f64> {
        let k = self.k();
        let mut out = self.mean.clone();
        if self.drawn {
            return out;
        }
        for row in 0..self.len() {
            let lower = cholesky(self.cov(row), k);
            let e: Vec<f64> = (0..k).map(|_| noise()).collect();
            for (i, x) in out.col_as_slice_mut(row).iter_mut().enumerate() {
                *x += (0..=i)
                    .map(|j| lower[packed_index(i, j)] * e[j])
                    .sum::<f64>();
            }
        }
        out
    }
    pub(super) fn save(&self, prefix: &str, state: &mut State) {
        state.put_mat(&format!("{prefix}/rows/mean"), self.mean.as_ref());
        let drawn = [f64::from(u8::from(self.drawn))];
        state.put_vec(&format!("{prefix}/rows/drawn"), &drawn);
        if !self.drawn {
            state.put_mat(&format!("{prefix}/rows/covariance"), self.cov.as_mat());
            state.put_vec(&format!("{prefix}/rows/log-determinant"), &self.log_det);
        }
    }
    /// Rows of `k` numbers, as many as `rows`.
    pub(super) fn load(
        (rows, k): (usize, usize),
        prefix: &str,
        state: &StateReader<'_>,
    ) -> Result<Self, NumericError> {
        let fitting = |what: &str, height: usize| {
            let name = format!("{prefix}/rows/{what}");
            let m = state.mat(&name)?;
            if m.shape() == (height, rows) {
                Ok(m)
            } else {
                Err(NumericError::BadState { name })
            }
        };
        let mean = fitting("mean", k)?;
        let drawn = state.scalar(&format!("{prefix}/rows/drawn"))? != 0.0;
        let mut out = Self {
            mean,
            cov: PackedRows::zeros(rows, k),
            log_det: vec![0.0; rows],
            drawn,
        };
        if !drawn {
            let cov = fitting("covariance", packed_len(k))?;
            for row in 0..rows {
                let to = out.cov.row_mut(row);
                to.copy_from_slice(cov.col_as_slice(row));
            }
            out.log_det = state.vec_of(&format!("{prefix}/rows/log-determinant"), rows)?;
        }
        Ok(out)
    }
}

/// Adds $x^\top x$ to a packed triangle.
pub(super) fn add_outer(x: &[f64], to: &mut [f64]) {
    let mut cells = to.iter_mut();
    for (i, a) in x.iter().enumerate() {
        for (b, cell) in x[..=i].iter().zip(&mut cells) {
            *cell += a * b;
        }
    }
}

/// The lower factor of a covariance, packed; directions without variance have none.
fn cholesky(cov: &[f64], k: usize) -> Vec<f64> {
    let mut l = vec![0.0; packed_len(k)];
    for i in 0..k {
        for j in 0..=i {
            let known: f64 = (0..j)
                .map(|m| l[packed_index(i, m)] * l[packed_index(j, m)])
                .sum();
            let left = cov[packed_index(i, j)] - known;
            l[packed_index(i, j)] = if i == j {
                left.max(0.0).sqrt()
            } else if l[packed_index(j, j)] > 0.0 {
                left / l[packed_index(j, j)]
            } else {
                0.0
            };
        }
    }
    l
}
