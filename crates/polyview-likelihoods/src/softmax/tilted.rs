//! The tilted bound of $\mathrm E\ln\sum\_ce^{\eta\_c}$ (spec/sites 3).

use polyview_linalg::packed_index;

/// Largest difference between the two sides of the equation that the optimum solves, and the one
/// from which a single step leads there: steps double the digits, and the bound is flat.
const STILL: f64 = 1e-14;
const NEAR: f64 = 1e-7;
/// Most steps, and halvings of one.
const STEPS: usize = 60;
const HALVINGS: usize = 40;

/// Lower triangular root of a symmetric matrix that is positive semidefinite, both packed, in
/// place. A direction without variance gets zeros.
pub(super) fn root(matrix: &mut [f64], order: usize) {
    for i in 0..order {
        let row_i = packed_index(i, 0);
        let scale = matrix[row_i + i];
        for j in 0..=i {
            let row_j = packed_index(j, 0);
            let dot: f64 = (0..j).map(|l| matrix[row_i + l] * matrix[row_j + l]).sum();
            let rest = matrix[row_i + j] - dot;
            matrix[row_i + j] = if i == j {
                // rounding is no variance
                if rest > 1e-14 * scale {
                    rest.sqrt()
                } else {
                    0.0
                }
            } else if matrix[row_j + j] > 0.0 {
                rest / matrix[row_j + j]
            } else {
                0.0
            };
        }
    }
}

/// $M^{-1}x$ from the root of $M$, which has no zeros on its diagonal; in place.
pub(super) fn solve(root: &[f64], x: &mut [f64]) {
    for i in 0..x.len() {
        let row = packed_index(i, 0);
        let dot: f64 = (0..i).map(|j| root[row + j] * x[j]).sum();
        x[i] = (x[i] - dot) / root[row + i];
    }
    for i in (0..x.len()).rev() {
        x[i] /= root[packed_index(i, i)];
        for j in 0..i {
            x[j] -= root[packed_index(i, j)] * x[i];
        }
    }
}

/// $Vx$ of a packed symmetric matrix, which is zero off its diagonal where that is said.
pub(super) fn times(v: &[f64], diagonal: bool, x: &[f64], out: &mut [f64]) {
    if diagonal {
        for (i, (o, x)) in out.iter_mut().zip(x).enumerate() {
            *o = v[packed_index(i, i)] * x;
        }
        return;
    }
    out.fill(0.0);
    for i in 0..x.len() {
        let row = packed_index(i, 0);
        for j in 0..i {
            out[i] += v[row + j] * x[j];
            out[j] += v[row + j] * x[i];
        }
        out[i] += v[row + i] * x[i];
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Softmax in place; returns $\ln\sum e^x$.
pub(super) fn softmax(x: &mut [f64]) -> f64 {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for x in x.iter_mut() {
        *x = (*x - top).exp();
        sum += *x;
    }
    for x in x.iter_mut() {
        *x /= sum;
    }
    top + sum.ln()
}

/// Where the bound
/// $B = \tfrac12a^\top Va + \ln\sum\_c\exp(m\_c + \tfrac12V\_{cc} - (Va)\_c)$ is smallest, with
/// room to look for it.
#[derive(Debug)]
pub(super) struct Tilted {
    /// $a$, which sums to one.
    pub(super) a: Vec<f64>,
    /// The softmax that $a$ is to equal, and its roots.
    s: Vec<f64>,
    q: Vec<f64>,
    /// $s - a$, the step, and a point that is tried.
    gap: Vec<f64>,
    step: Vec<f64>,
    next: Vec<f64>,
    spare: Vec<f64>,
    root: Vec<f64>,
    /// Whether the predictors have nothing in common.
    diagonal: bool,
}

impl Tilted {
    pub(super) fn new(classes: usize) -> Self {
        let zeros = || vec![0.0; classes];
        Self {
            a: zeros(),
            s: zeros(),
            q: zeros(),
            gap: zeros(),
            step: zeros(),
            next: zeros(),
            spare: zeros(),
            root: vec![0.0; polyview_linalg::packed_len(classes)],
            diagonal: false,
        }
    }
    /// $B$ at `next`; the softmax there goes to `s`.
    fn value(&mut self, m: &[f64], v: &[f64]) -> f64 {
        times(v, self.diagonal, &self.next, &mut self.spare);
        for c in 0..m.len() {
            self.s[c] = m[c] + 0.5 * v[packed_index(c, c)] - self.spare[c];
        }
        0.5 * dot(&self.next, &self.spare) + softmax(&mut self.s)
    }
    /// The least $B$ for predictors of the means `m` and the covariances `v`, packed, in nats;
    /// leaves $a$.
    pub(super) fn minimum(&mut self, m: &[f64], v: &[f64]) -> f64 {
        self.next.copy_from_slice(m);
        let known = softmax(&mut self.next);
        self.a.copy_from_slice(&self.next);
        if v.iter().all(|x| *x == 0.0) {
            return known;
        }
        self.diagonal = (1..m.len()).all(|i| {
            let row = packed_index(i, 0);
            v[row..row + i].iter().all(|x| *x == 0.0)
        });
        let mut bound = self.value(m, v);
        for _ in 0..STEPS {
            let mut off = 0.0f64;
            for c in 0..m.len() {
                self.gap[c] = self.s[c] - self.a[c];
                off = off.max(self.gap[c].abs());
            }
            // no number is no reason to go on
            if off.is_nan() || off <= STILL {
                break;
            }
            self.newton(v);
            if off <= NEAR {
                for (a, step) in self.a.iter_mut().zip(&self.step) {
                    *a += step;
                }
                break;
            }
            let mut rate = 1.0;
            let mut lower = false;
            for _ in 0..HALVINGS {
                for c in 0..m.len() {
                    self.next[c] = self.a[c] + rate * self.step[c];
                }
                let there = self.value(m, v);
                if there <= bound + 4.0 * f64::EPSILON * (1.0 + bound.abs()) {
                    bound = there;
                    lower = true;
                    break;
                }
                rate *= 0.5;
            }
            if !lower {
                break;
            }
            self.a.copy_from_slice(&self.next);
        }
        bound
    }
    /// $M^{-1}$ times `spare`, in place; `root` has the root of $M$, or its diagonal.
    fn divide(&mut self) {
        if !self.diagonal {
            return solve(&self.root, &mut self.spare);
        }
        for (i, x) in self.spare.iter_mut().enumerate() {
            *x /= self.root[packed_index(i, i)];
        }
    }
    /// $(I + (\mathrm{diag}\\,s - ss^\top)V)^{-1}(s - a)$: with $D = \mathrm{diag}\\,s$,
    /// $q = \sqrt s$ and $M = I + D^{1/2}VD^{1/2}$ it is
    /// $x + (q\circ t)\\,\frac{s^\top Vx}{q^\top t}$, $t = M^{-1}q$,
    /// $x = r - q\circ M^{-1}(q\circ Vr)$.
    fn newton(&mut self, v: &[f64]) {
        let classes = self.a.len();
        for (q, s) in self.q.iter_mut().zip(&self.s) {
            *q = s.sqrt();
        }
        for i in 0..classes {
            for j in if self.diagonal { i } else { 0 }..=i {
                let at = packed_index(i, j);
                self.root[at] = self.q[i] * v[at] * self.q[j] + f64::from(u8::from(i == j));
            }
        }
        if !self.diagonal {
            root(&mut self.root, classes);
        }
        times(v, self.diagonal, &self.gap, &mut self.spare);
        for (x, q) in self.spare.iter_mut().zip(&self.q) {
            *x *= q;
        }
        self.divide();
        for c in 0..classes {
            self.step[c] = self.gap[c] - self.q[c] * self.spare[c];
        }
        times(v, self.diagonal, &self.step, &mut self.spare);
        let along = dot(&self.s, &self.spare);
        self.spare.copy_from_slice(&self.q);
        self.divide();
        let rate = along / dot(&self.q, &self.spare);
        for c in 0..classes {
            self.step[c] += rate * self.q[c] * self.spare[c];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(rows: &[[f64; 3]; 3]) -> Vec<f64> {
        (0..3)
            .flat_map(|i| (0..=i).map(move |j| rows[i][j]))
            .collect()
    }

    #[test]
    fn vectors_of_the_tilted_bound() {
        // spec/sites 11
        let diagonal = |d: [f64; 3]| [[d[0], 0.0, 0.0], [0.0, d[1], 0.0], [0.0, 0.0, d[2]]];
        let cases = [
            (
                [0.5, -1.0, 0.2],
                [[1.0, 0.3, 0.0], [0.3, 0.5, -0.2], [0.0, -0.2, 2.0]],
                1.557770247951,
                [0.464707950424, 0.1186641755787, 0.4166278739973],
            ),
            (
                [0.5, -1.0, 0.2],
                diagonal([1.0, 0.5, 2.0]),
                1.564754060999,
                [0.4700621586022, 0.122912283091, 0.4070255583068],
            ),
            ([0.0; 3], diagonal([0.1; 3]), 1.131945622001, [1.0 / 3.0; 3]),
            (
                [20.0, 0.0, -5.0],
                [[4.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 4.0]],
                20.00000004216,
                [0.9999999578424, 4.139936503354e-8, 7.582558806601e-10],
            ),
        ];
        for (m, v, bound, a) in cases {
            let mut tilted = Tilted::new(3);
            let found = tilted.minimum(&m, &packed(&v));
            assert!((found - bound).abs() < 1e-11, "{found} {bound}");
            for (found, a) in tilted.a.iter().zip(a) {
                assert!((found - a).abs() < 1e-12, "{found} {a}");
            }
        }
    }

    #[test]
    fn far_off_and_vague_predictors_have_an_optimum() {
        for scale in [0.0, 1e-8, 1.0, 30.0, 400.0] {
            for spread in [0.0, 1e-10, 0.5, 40.0, 900.0] {
                let m = [0.3 * scale, -scale, 0.1, 0.9 * scale];
                // of rank one and a little
                let w = [1.0, -0.4, 0.2, 0.7];
                let v: Vec<f64> = (0..4)
                    .flat_map(|i| (0..=i).map(move |j| (i, j)))
                    .map(|(i, j)| spread * (w[i] * w[j] + if i == j { 0.05 } else { 0.0 }))
                    .collect();
                let mut tilted = Tilted::new(4);
                let bound = tilted.minimum(&m, &v);
                let sum: f64 = tilted.a.iter().sum();
                assert!((sum - 1.0).abs() < 1e-12);
                tilted.next.copy_from_slice(&tilted.a.clone());
                assert!((tilted.value(&m, &v) - bound).abs() <= 1e-9 * bound.abs());
                for (s, a) in tilted.s.iter().zip(&tilted.a) {
                    assert!((s - a).abs() < 1e-9, "{scale} {spread}: {s} {a}");
                }
                // never below the value at the means
                let mut at = m;
                assert!(bound >= softmax(&mut at) - 1e-9 * bound.abs());
            }
        }
    }

    #[test]
    fn two_classes_are_the_tilted_bound_of_their_difference() {
        // spec/sites 11, tilted Bernoulli: x = 1, F = m - bound
        for (m, v, a, f) in [
            (0.3, 0.5, 0.5663172975696, -0.6156209330385),
            (-2.0, 1.0, 0.1597901665929, -2.186870065335),
            (4.0, 4.0, 0.9128294308732, -0.1064036547864),
            (3.0, 100.0, 0.5288449206225, -11.73641548699),
        ] {
            let mut tilted = Tilted::new(2);
            let bound = tilted.minimum(&[m, 0.0], &[v, 0.0, 0.0]);
            assert!((tilted.a[0] - a).abs() < 1e-11, "{} {a}", tilted.a[0]);
            assert!((m - bound - f).abs() < 1e-10, "{} {f}", m - bound);
        }
    }
}
