//! Symmetric matrices kept as packed lower triangles.
//!
//! A symmetric $K \times K$ matrix is stored row by row as its lower triangle: entry $(i, j)$ with $j \le i$
//! lies at $i(i+1)/2 + j$. A triangle takes $P = K(K+1)/2$ numbers.

mod congruence;
mod gather;
mod rows;
mod sym;

#[cfg(test)]
mod tests;

pub use gather::{Gather, PackedLanes};
pub use rows::PackedRows;
pub use sym::SymPacked;

/// Length $K(K+1)/2$ of a packed triangle of order `k`.
pub const fn packed_len(k: usize) -> usize {
    k * (k + 1) / 2
}

/// Position of entry $(i, j)$, $j \le i$, in a packed triangle.
///
/// For $j > i$ the result is meaningless; [`SymPacked::get`] accepts either order.
pub const fn packed_index(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// $\mathrm{tr}(AB)$ of two symmetric matrices of order `k`, both packed.
///
/// # Panics
/// If either triangle is shorter than [`packed_len`]`(k)`.
pub fn packed_dot(a: &[f64], b: &[f64], k: usize) -> f64 {
    let length = packed_len(k);
    let (a, b) = (&a[..length], &b[..length]);
    let diagonal: f64 = (0..k)
        .map(|i| packed_index(i, i))
        .map(|at| a[at] * b[at])
        .sum();
    2.0 * dot(a, b) - diagonal
}

/// Quadratic form $x'Ax$ of a packed symmetric matrix, of the order of `x`.
///
/// # Panics
/// If the triangle is shorter than [`packed_len`]`(x.len())`.
pub fn packed_quad(a: &[f64], x: &[f64]) -> f64 {
    let mut total = 0.0;
    let mut rest = a;
    for (i, &xi) in x.iter().enumerate() {
        let (row, tail) = rest.split_at(i + 1);
        total += xi * (2.0 * dot(&row[..i], &x[..i]) + row[i] * xi);
        rest = tail;
    }
    total
}

/// Inner product with four running sums, so that the compiler may use vector registers.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let (a_lanes, a_rest) = a.as_chunks::<8>();
    let (b_lanes, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, y) in a_lanes.iter().zip(b_lanes) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    let halves = [
        sums[0] + sums[4],
        sums[1] + sums[5],
        sums[2] + sums[6],
        sums[3] + sums[7],
    ];
    (halves[0] + halves[2]) + (halves[1] + halves[3]) + rest
}
