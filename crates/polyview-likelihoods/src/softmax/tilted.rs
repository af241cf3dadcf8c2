//! The tilted bound of $\mathrm E\ln\sum\_ce^{\eta\_c}$ (spec/sites 3).

use polyview_linalg::{packed_index, packed_len};

/// Largest difference between the two sides of the equation that the optimum solves, and the one
/// from which a single step leads there: steps double the digits, and the bound is flat.
pub(super) const STILL: f64 = 1e-14;
pub(super) const NEAR: f64 = 1e-7;
/// Most steps, and halvings of one.
pub(super) const STEPS: usize = 60;
pub(super) const HALVINGS: usize = 40;
/// What is left of a variance that counts as none, relative to it.
pub(super) const NO_VARIANCE: f64 = 1e-14;

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
                if rest > NO_VARIANCE * scale {
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

/// $Hx$ of a packed symmetric matrix.
pub(super) fn times(h: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for i in 0..x.len() {
        let row = packed_index(i, 0);
        for j in 0..i {
            out[i] += h[row + j] * x[j];
            out[j] += h[row + j] * x[i];
        }
        out[i] += h[row + i] * x[i];
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

/// Covariances of the predictors of a sample, $V = UU^\top + \mathrm{diag}\\,o$: U has a row for
/// each class and no more columns than there are factors, so that what is done with V costs no
/// more than classes times factors.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    /// U, class by class.
    shared: Vec<f64>,
    /// Columns of U.
    rank: usize,
    own: Vec<f64>,
}

impl Covariance {
    pub(super) fn none(classes: usize) -> Self {
        Self {
            shared: Vec::new(),
            rank: 0,
            own: vec![0.0; classes],
        }
    }
    /// Of weights (class by class) and the root of the covariance of the factors, packed, where
    /// these are not known exactly, and of what the variances of the predictors have beyond that.
    pub(super) fn of(weights: &[f64], factors: Option<&[f64]>, variances: &[f64]) -> Self {
        let classes = variances.len();
        let k = weights.len() / classes.max(1);
        let Some(factors) = factors else {
            let own = variances.iter().map(|v| v.max(0.0)).collect();
            return Self {
                own,
                ..Self::none(classes)
            };
        };
        let mut shared = vec![0.0; classes * k];
        for (to, w) in shared.chunks_mut(k.max(1)).zip(weights.chunks(k.max(1))) {
            for (b, to) in to.iter_mut().enumerate() {
                *to = (b..k).map(|a| w[a] * factors[packed_index(a, b)]).sum();
            }
        }
        let mut rank = k;
        if classes < k {
            // a root of their products is smaller
            let mut products = vec![0.0; packed_len(classes)];
            for c in 0..classes {
                for j in 0..=c {
                    products[packed_index(c, j)] =
                        dot(&shared[c * k..][..k], &shared[j * k..][..k]);
                }
            }
            root(&mut products, classes);
            shared = unpacked(&products, classes);
            rank = classes;
        }
        let own = (variances.iter().enumerate())
            .map(|(c, v)| (v - square(&shared[c * rank..][..rank])).max(0.0))
            .collect();
        Self { shared, rank, own }
    }
    fn row(&self, class: usize) -> &[f64] {
        &self.shared[class * self.rank..][..self.rank]
    }
    fn variance(&self, class: usize) -> f64 {
        square(self.row(class)) + self.own[class]
    }
    fn is_none(&self) -> bool {
        self.own.iter().chain(&self.shared).all(|x| *x == 0.0)
    }
    /// $Vx$; `along` gets $U^\top x$.
    fn times(&self, x: &[f64], along: &mut Vec<f64>, out: &mut [f64]) {
        along.clear();
        along.resize(self.rank, 0.0);
        for (c, x) in x.iter().enumerate() {
            add(x, self.row(c), along);
        }
        for (c, out) in out.iter_mut().enumerate() {
            *out = dot(self.row(c), along) + self.own[c] * x[c];
        }
    }
}

/// A lower triangle row by row, with zeros above.
fn unpacked(matrix: &[f64], order: usize) -> Vec<f64> {
    let mut out = vec![0.0; order * order];
    for i in 0..order {
        let row = packed_index(i, 0);
        out[i * order..][..=i].copy_from_slice(&matrix[row..=row + i]);
    }
    out
}

fn square(x: &[f64]) -> f64 {
    dot(x, x)
}

fn add(times: &f64, x: &[f64], to: &mut [f64]) {
    for (to, x) in to.iter_mut().zip(x) {
        *to += times * x;
    }
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
    /// Products with the columns of U.
    along: Vec<f64>,
    /// $e = 1 + s\circ o$, and the root of $I + U^\top\mathrm{diag}(s/e)U$, packed.
    weight: Vec<f64>,
    root: Vec<f64>,
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
            along: Vec::new(),
            weight: zeros(),
            root: Vec::new(),
        }
    }
    /// $B$ at `next`; the softmax there goes to `s`.
    fn value(&mut self, m: &[f64], v: &Covariance) -> f64 {
        v.times(&self.next, &mut self.along, &mut self.spare);
        for c in 0..m.len() {
            self.s[c] = m[c] + 0.5 * v.variance(c) - self.spare[c];
        }
        0.5 * dot(&self.next, &self.spare) + softmax(&mut self.s)
    }
    /// The least $B$ for predictors of the means `m` and the covariances `v`, in nats; leaves $a$.
    pub(super) fn minimum(&mut self, m: &[f64], v: &Covariance) -> f64 {
        self.next.copy_from_slice(m);
        let known = softmax(&mut self.next);
        self.a.copy_from_slice(&self.next);
        if v.is_none() {
            return known;
        }
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
    /// $M^{-1}$ times `spare`, in place: with $G = \mathrm{diag}(q)U$ and $e$ it is
    /// $e^{-1}\circ(y - G(I + G^\top(e^{-1}\circ G))^{-1}G^\top(e^{-1}\circ y))$.
    fn divide(&mut self, v: &Covariance) {
        for (x, e) in self.spare.iter_mut().zip(&self.weight) {
            *x /= e;
        }
        if v.rank == 0 {
            return;
        }
        self.along.clear();
        self.along.resize(v.rank, 0.0);
        for (c, x) in self.spare.iter().enumerate() {
            add(&(self.q[c] * x), v.row(c), &mut self.along);
        }
        solve(&self.root, &mut self.along);
        for (c, x) in self.spare.iter_mut().enumerate() {
            *x -= self.q[c] * dot(v.row(c), &self.along) / self.weight[c];
        }
    }
    /// $(I + (\mathrm{diag}\\,s - ss^\top)V)^{-1}(s - a)$: with $D = \mathrm{diag}\\,s$,
    /// $q = \sqrt s$ and $M = I + D^{1/2}VD^{1/2}$ it is
    /// $x + (q\circ t)\\,\frac{s^\top Vx}{q^\top t}$, $t = M^{-1}q$,
    /// $x = r - q\circ M^{-1}(q\circ Vr)$.
    fn newton(&mut self, v: &Covariance) {
        let (classes, rank) = (self.a.len(), v.rank);
        for c in 0..classes {
            self.q[c] = self.s[c].sqrt();
            self.weight[c] = 1.0 + self.s[c] * v.own[c];
        }
        self.root.clear();
        self.root.resize(packed_len(rank), 0.0);
        for c in 0..classes {
            let (row, times) = (v.row(c), self.s[c] / self.weight[c]);
            for a in 0..rank {
                let at = packed_index(a, 0);
                add(&(times * row[a]), &row[..=a], &mut self.root[at..=at + a]);
            }
        }
        for a in 0..rank {
            self.root[packed_index(a, a)] += 1.0;
        }
        root(&mut self.root, rank);
        v.times(&self.gap, &mut self.along, &mut self.spare);
        for (x, q) in self.spare.iter_mut().zip(&self.q) {
            *x *= q;
        }
        self.divide(v);
        for c in 0..classes {
            self.step[c] = self.gap[c] - self.q[c] * self.spare[c];
        }
        v.times(&self.step, &mut self.along, &mut self.spare);
        let along = dot(&self.s, &self.spare);
        self.spare.copy_from_slice(&self.q);
        self.divide(v);
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

    /// Of a packed matrix, with variances of the classes alone where it is a diagonal.
    fn covariance(v: &[f64], classes: usize) -> Covariance {
        let variances: Vec<f64> = (0..classes).map(|c| v[packed_index(c, c)]).collect();
        let apart = (0..classes).all(|i| (0..i).all(|j| v[packed_index(i, j)] == 0.0));
        if apart {
            return Covariance::of(&[], None, &variances);
        }
        let mut roots = v.to_vec();
        root(&mut roots, classes);
        Covariance {
            shared: unpacked(&roots, classes),
            rank: classes,
            own: vec![0.0; classes],
        }
    }

    /// Fewer factors than classes, as many and more: the covariances of the predictors, however
    /// they are taken apart, have one optimum.
    #[test]
    fn parts_of_covariances_are_the_whole() {
        for (classes, k) in [(7, 2), (4, 4), (3, 6)] {
            let at = |i: usize| ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
            let weights: Vec<f64> = (0..classes * k).map(|i| 1.5 * at(i)).collect();
            let mut s = vec![0.0; packed_len(k)];
            for a in 0..k {
                for b in 0..=a {
                    let along = |l: usize| at(a * 5 + l) * at(b * 5 + l);
                    s[packed_index(a, b)] =
                        (0..3).map(along).sum::<f64>() + f64::from(u8::from(a == b));
                }
            }
            let mut whole = vec![0.0; packed_len(classes)];
            for c in 0..classes {
                for j in 0..=c {
                    let mut out = vec![0.0; k];
                    times(&s, &weights[j * k..][..k], &mut out);
                    let own = if c == j { 0.1 + at(c).abs() } else { 0.0 };
                    whole[packed_index(c, j)] = own + dot(&weights[c * k..][..k], &out);
                }
            }
            let variances: Vec<f64> = (0..classes).map(|c| whole[packed_index(c, c)]).collect();
            root(&mut s, k);
            let parts = Covariance::of(&weights, Some(&s), &variances);
            assert_eq!(parts.rank, k.min(classes));
            let m: Vec<f64> = (0..classes).map(|c| at(3 * c + 1)).collect();
            let (mut one, mut other) = (Tilted::new(classes), Tilted::new(classes));
            let found = one.minimum(&m, &parts);
            let expected = other.minimum(&m, &covariance(&whole, classes));
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            for (a, b) in one.a.iter().zip(&other.a) {
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
        }
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
            let found = tilted.minimum(&m, &covariance(&packed(&v), 3));
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
                let v = covariance(&v, 4);
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
            let bound = tilted.minimum(&[m, 0.0], &covariance(&[v, 0.0, 0.0], 2));
            assert!((tilted.a[0] - a).abs() < 1e-11, "{} {a}", tilted.a[0]);
            assert!((m - bound - f).abs() < 1e-10, "{} {f}", m - bound);
        }
    }
}
