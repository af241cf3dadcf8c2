//! One packed symmetric matrix.

use super::{dot, packed_dot, packed_index, packed_len, packed_quad};
use faer::{Mat, MatRef};

/// A symmetric $K \times K$ matrix, stored as its packed lower triangle.
///
/// ```
/// use polyview_linalg::SymPacked;
///
/// let mut a = SymPacked::identity(2);
/// a.add_outer(2.0, &[1.0, 3.0]);
/// assert_eq!(a.as_slice(), &[3.0, 6.0, 19.0]);
/// assert_eq!(a.get(0, 1), 6.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SymPacked {
    k: usize,
    data: Vec<f64>,
}

impl SymPacked {
    /// The zero matrix of order `k`.
    pub fn zeros(k: usize) -> Self {
        Self {
            k,
            data: vec![0.0; packed_len(k)],
        }
    }

    /// The identity of order `k`.
    pub fn identity(k: usize) -> Self {
        let mut out = Self::zeros(k);
        out.add_diag(&vec![1.0; k]);
        out
    }

    /// The matrix whose lower triangle is that of `matrix`; the upper triangle is not read.
    ///
    /// # Panics
    /// If `matrix` is not square.
    pub fn from_mat(matrix: MatRef<'_, f64>) -> Self {
        assert_eq!(
            matrix.nrows(),
            matrix.ncols(),
            "a symmetric matrix is square"
        );
        Self::from_lower(matrix.nrows(), |i, j| matrix[(i, j)])
    }

    /// The matrix with entries `f(i, j)`, asked for $j \le i$ only.
    pub fn from_lower(k: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(packed_len(k));
        for i in 0..k {
            data.extend((0..=i).map(|j| f(i, j)));
        }
        Self { k, data }
    }

    /// The matrix whose packed triangle is `data`; `None` where the length is not $k(k+1)/2$.
    pub fn from_packed(k: usize, data: Vec<f64>) -> Option<Self> {
        (data.len() == packed_len(k)).then_some(Self { k, data })
    }

    /// The full matrix, both triangles filled.
    pub fn to_mat(&self) -> Mat<f64> {
        Mat::from_fn(self.k, self.k, |i, j| self.get(i, j))
    }

    /// Order $K$.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Entry $(i, j)$, in either order.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.data[packed_index(i.max(j), i.min(j))]
    }

    /// The packed triangle.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// The packed triangle, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// `self += alpha * other`.
    ///
    /// # Panics
    /// If the orders differ.
    pub fn add_scaled(&mut self, alpha: f64, other: &Self) {
        assert_eq!(self.k, other.k, "orders of symmetric matrices");
        for (x, y) in self.data.iter_mut().zip(&other.data) {
            *x += alpha * y;
        }
    }

    /// `self *= alpha`.
    pub fn scale(&mut self, alpha: f64) {
        for x in &mut self.data {
            *x *= alpha;
        }
    }

    /// Adds `diag` to the diagonal.
    ///
    /// # Panics
    /// If `diag` has not length $K$.
    pub fn add_diag(&mut self, diag: &[f64]) {
        assert_eq!(self.k, diag.len(), "length of the diagonal");
        for (i, d) in diag.iter().enumerate() {
            self.data[packed_index(i, i)] += d;
        }
    }

    /// `self += alpha * x x'`.
    ///
    /// # Panics
    /// If `x` has not length $K$.
    pub fn add_outer(&mut self, alpha: f64, x: &[f64]) {
        assert_eq!(self.k, x.len(), "length of the vector");
        let mut rest = self.data.as_mut_slice();
        for (i, xi) in x.iter().enumerate() {
            let (row, tail) = rest.split_at_mut(i + 1);
            let scaled = alpha * xi;
            for (entry, xj) in row.iter_mut().zip(x) {
                *entry += scaled * xj;
            }
            rest = tail;
        }
    }

    /// $\mathrm{tr}(AB)$, the inner product of two symmetric matrices.
    ///
    /// # Panics
    /// If the orders differ.
    pub fn dot(&self, other: &Self) -> f64 {
        assert_eq!(self.k, other.k, "orders of symmetric matrices");
        packed_dot(&self.data, &other.data, self.k)
    }

    /// The diagonal.
    pub fn diag(&self) -> Vec<f64> {
        (0..self.k).map(|i| self.data[packed_index(i, i)]).collect()
    }

    /// $\mathrm{tr}(A)$.
    pub fn trace(&self) -> f64 {
        (0..self.k).map(|i| self.data[packed_index(i, i)]).sum()
    }

    /// Quadratic form $x'Ax$.
    ///
    /// # Panics
    /// If `x` has not length $K$.
    pub fn quad(&self, x: &[f64]) -> f64 {
        assert_eq!(self.k, x.len(), "length of the vector");
        packed_quad(&self.data, x)
    }

    /// Product $Ax$.
    ///
    /// # Panics
    /// If `x` has not length $K$.
    pub fn times_vec(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(self.k, x.len(), "length of the vector");
        let mut out = vec![0.0; self.k];
        for i in 0..self.k {
            let row = &self.data[packed_index(i, 0)..=packed_index(i, i)];
            out[i] += dot(row, &x[..=i]);
            for j in 0..i {
                out[j] += row[j] * x[i];
            }
        }
        out
    }
}
