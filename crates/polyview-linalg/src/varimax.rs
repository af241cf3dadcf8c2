//! Varimax: the orthogonal rotation that makes squared loadings as uneven as possible.

use crate::LinalgError;
use crate::error::all_finite;
use faer::{Mat, MatRef};

#[cfg(test)]
mod tests;

/// Whether rows weigh the same in the criterion or by their communality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KaiserNormalisation {
    /// Every row is divided by its norm first, so that all features weigh the same. Zero rows stay zero.
    #[default]
    Rows,
    /// Loadings are taken as they are: features with large loadings dominate.
    None,
}

/// Options of [`varimax`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarimaxOptions {
    /// Weighting of the rows.
    pub normalisation: KaiserNormalisation,
    /// Converged once no planar rotation of a sweep exceeds this angle, in radians.
    pub tolerance: f64,
    /// Most sweeps over all pairs of columns.
    pub max_sweeps: usize,
}

impl Default for VarimaxOptions {
    fn default() -> Self {
        Self {
            normalisation: KaiserNormalisation::Rows,
            tolerance: 1e-8,
            max_sweeps: 200,
        }
    }
}

/// Result of [`varimax`].
#[derive(Debug, Clone)]
pub struct Varimax {
    /// Orthogonal $K \times K$ rotation $R$, determinant 1: rotated loadings are $\Lambda R$.
    pub rotation: Mat<f64>,
    /// The criterion at `rotation`.
    pub criterion: f64,
    /// Sweeps over all pairs of columns.
    pub sweeps: usize,
    /// Whether the last sweep stayed below the tolerance.
    pub converged: bool,
}

/// Varimax rotation (Kaiser 1958) of `loadings`, $D \times K$.
///
/// Maximises $\sum\_k \left[\frac1D\sum\_d \lambda\_{dk}^4 - \left(\frac1D\sum\_d \lambda\_{dk}^2\right)^2\right]$ over
/// rotations of the columns. Cyclic planar rotations, each the exact maximum over its angle: the criterion never
/// falls, and neither zero rows nor collinear columns need special care, unlike with the iteration by singular value
/// decompositions, which can step past the maximum.
///
/// # Errors
/// [`LinalgError::NotFinite`].
pub fn varimax(
    loadings: MatRef<'_, f64>,
    options: &VarimaxOptions,
) -> Result<Varimax, LinalgError> {
    all_finite("varimax: loadings", loadings)?;
    let (d, k) = loadings.shape();
    let mut columns: Vec<Vec<f64>> = (0..k)
        .map(|j| loadings.col(j).iter().copied().collect())
        .collect();
    let scale = match options.normalisation {
        KaiserNormalisation::Rows => {
            normalise_rows(&mut columns, d);
            1.0
        }
        KaiserNormalisation::None => normalise_all(&mut columns),
    };
    let mut rotation: Vec<Vec<f64>> = (0..k)
        .map(|j| (0..k).map(|i| f64::from(u8::from(i == j))).collect())
        .collect();
    let mut sweeps = 0;
    let mut converged = k < 2 || d == 0;
    while !converged && sweeps < options.max_sweeps {
        sweeps += 1;
        let mut largest = 0.0_f64;
        for p in 0..k {
            for q in p + 1..k {
                let angle = best_angle(&columns[p], &columns[q]);
                largest = largest.max(angle.abs());
                if angle != 0.0 {
                    rotate(&mut columns, p, q, angle);
                    rotate(&mut rotation, p, q, angle);
                }
            }
        }
        converged = largest <= options.tolerance;
    }
    Ok(Varimax {
        rotation: Mat::from_fn(k, k, |i, j| rotation[j][i]),
        criterion: criterion(&columns) * scale.powi(4),
        sweeps,
        converged,
    })
}

fn normalise_rows(columns: &mut [Vec<f64>], d: usize) {
    // scaled by the largest entry, so that squares neither overflow nor vanish
    let mut largest = vec![0.0_f64; d];
    for column in columns.iter() {
        for (m, x) in largest.iter_mut().zip(column) {
            *m = m.max(x.abs());
        }
    }
    let mut norms = vec![0.0; d];
    for column in columns.iter() {
        for ((s, x), m) in norms.iter_mut().zip(column).zip(&largest) {
            if *m > 0.0 {
                *s += (x / m).powi(2);
            }
        }
    }
    for column in columns.iter_mut() {
        for ((x, s), m) in column.iter_mut().zip(&norms).zip(&largest) {
            if *m > 0.0 {
                *x = *x / m / s.sqrt();
            }
        }
    }
}

/// Divides by a power of two near the largest entry and returns it: fourth powers neither overflow nor vanish, and
/// no bit is lost.
fn normalise_all(columns: &mut [Vec<f64>]) -> f64 {
    let largest = columns
        .iter()
        .flatten()
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    let scale = largest.log2().floor().exp2();
    for x in columns.iter_mut().flatten() {
        *x /= scale;
    }
    scale
}

/// Angle in $[-\pi/4, \pi/4]$ at which the plane of two columns has its largest criterion.
fn best_angle(x: &[f64], y: &[f64]) -> f64 {
    let (mut a, mut b, mut c, mut e) = (0.0, 0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (u, v) = (x * x - y * y, 2.0 * x * y);
        a += u;
        b += v;
        c += u * u - v * v;
        e += u * v;
    }
    let count = x.len() as f64;
    let sine = 2.0 * (e - a * b / count);
    let cosine = c - (a * a - b * b) / count;
    if sine == 0.0 && cosine >= 0.0 {
        0.0
    } else {
        sine.atan2(cosine) / 4.0
    }
}

fn rotate(columns: &mut [Vec<f64>], p: usize, q: usize, angle: f64) {
    let (sine, cosine) = angle.sin_cos();
    let (head, tail) = columns.split_at_mut(q);
    for (x, y) in head[p].iter_mut().zip(&mut tail[0]) {
        (*x, *y) = (cosine * *x + sine * *y, cosine * *y - sine * *x);
    }
}

fn criterion(columns: &[Vec<f64>]) -> f64 {
    columns
        .iter()
        .map(|column| {
            let count = column.len().max(1) as f64;
            let (mut second, mut fourth) = (0.0, 0.0);
            for x in column {
                let square = x * x;
                second += square;
                fourth += square * square;
            }
            fourth / count - (second / count).powi(2)
        })
        .sum()
}
