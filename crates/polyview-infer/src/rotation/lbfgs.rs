//! Limited-memory BFGS directions, preconditioned in blocks of two entries.

use super::RotationTerm;
use super::vector::{add_scaled, dot, view, view_mut};

/// Smallest eigenvalue of a block relative to its own scale: the longest step that a nearly free rotation may ask for.
const FLOOR: f64 = 3e-3;
/// Largest change of a factor's log scale in one step, up or down.
const LARGEST_SCALING: f64 = 8.0;
/// The Newton step that leads to it, $\tfrac12(1 - e^{-16})$.
const LARGEST_NEWTON_STEP: f64 = 0.5 - 5.6e-8;
/// Pairs with less curvature than this (relative) are not remembered.
const LEAST_CURVATURE: f64 = 1e-10;

/// The inverse of the negative Hessian, roughly: one block for each pair of entries $(E\_{rs}, E\_{sr})$.
///
/// A block is $\begin{pmatrix} a & c \\\\ c & b \end{pmatrix}$ with $a = \mathtt{own}\_{rs}$, $b = \mathtt{own}\_{sr}$.
/// In units where $a = b = 1$, so that the units of the factors cancel, its eigenvectors are the symmetric and the
/// antisymmetric mixture and its eigenvalues $1 \pm c/\sqrt{ab}$. They are taken in absolute value, which leads away
/// from saddles, and not below [`FLOOR`].
pub(super) struct Preconditioner {
    k: usize,
    /// After a refresh: the curvature on the diagonal, the diagonals of the inverse blocks elsewhere.
    own: Vec<f64>,
    /// After a refresh: the other entry of the inverse blocks, above the diagonal.
    exchange: Vec<f64>,
    /// Whether the terms reported any curvature at all.
    known: bool,
}

impl Preconditioner {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            own: vec![0.0; k * k],
            exchange: vec![0.0; k * k],
            known: false,
        }
    }

    /// Asks the terms for their curvature at `q`. The relative gradient's diagonal turns the curvature of $I + E$ into
    /// that of $e^E = I + E + E^2/2 + \dots$.
    pub(super) fn refresh(
        &mut self,
        terms: &[Box<dyn RotationTerm + '_>],
        q: &[f64],
        q_inverse: &[f64],
        gradient: &[f64],
    ) {
        let k = self.k;
        self.own.fill(0.0);
        self.exchange.fill(0.0);
        for term in terms {
            term.curvature(
                view(q, k),
                view(q_inverse, k),
                view_mut(&mut self.own, k),
                view_mut(&mut self.exchange, k),
            );
        }
        self.known = self.own.iter().all(|x| x.is_finite())
            && self.exchange.iter().all(|x| x.is_finite())
            && self.own.iter().chain(&self.exchange).any(|&x| x != 0.0);
        if !self.known {
            return;
        }
        for s in 0..k {
            for r in 0..k {
                self.exchange[s * k + r] -= 0.5 * (gradient[r * k + r] + gradient[s * k + s]);
            }
        }
        let largest = self.own.iter().copied().fold(0.0, f64::max);
        // an entry without curvature of its own borrows from its exchange, or else from the others
        let positive = |own: f64, exchange: f64| {
            own.max(FLOOR * exchange.abs())
                .max(f64::EPSILON * largest)
                .max(f64::MIN_POSITIVE)
        };
        for s in 0..k {
            let at = s * k + s;
            let value = (self.own[at] + self.exchange[at]).abs();
            self.own[at] = positive(value.max(FLOOR * self.own[at].abs()), self.exchange[at]);
            for r in 0..s {
                let (rs, sr) = (s * k + r, r * k + s);
                let c = 0.5 * (self.exchange[rs] + self.exchange[sr]);
                let (wr, ws) = (
                    positive(self.own[rs], c).sqrt(),
                    positive(self.own[sr], c).sqrt(),
                );
                let c = c / wr / ws;
                let symmetric = 0.5 / (1.0 + c).abs().max(FLOOR);
                let antisymmetric = 0.5 / (1.0 - c).abs().max(FLOOR);
                self.own[rs] = (symmetric + antisymmetric) / wr / wr;
                self.own[sr] = (symmetric + antisymmetric) / ws / ws;
                self.exchange[rs] = (symmetric - antisymmetric) / wr / ws;
            }
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.known
    }

    /// Writes the diagonal direction that would give every factor its best scale by itself; returns its largest entry in
    /// absolute value (0 where no curvature is known).
    ///
    /// Newton's step $h$ in $x = \log q\_r$ is far too careful where a scale is wrong by orders of magnitude. Matching
    /// $-Nx - \tfrac12 v e^{-2x}$, the part of the factor prior, to slope and curvature instead gives
    /// $x = -\tfrac12\log(1 - 2h)$.
    pub(super) fn scaling(&self, gradient: &[f64], out: &mut [f64]) -> f64 {
        out.fill(0.0);
        let mut largest = 0.0_f64;
        if self.known {
            for at in (0..out.len()).step_by(self.k + 1) {
                let newton = (gradient[at] / self.own[at]).min(LARGEST_NEWTON_STEP);
                let x = -0.5 * (-2.0 * newton).ln_1p();
                out[at] = x.max(-LARGEST_SCALING);
                largest = largest.max(x.abs());
            }
        }
        largest
    }

    /// Replaces `x` by its product with the inverse blocks; does nothing where no curvature is known.
    pub(super) fn apply(&self, x: &mut [f64]) {
        if !self.known {
            return;
        }
        let k = self.k;
        for s in 0..k {
            x[s * k + s] /= self.own[s * k + s];
            for r in 0..s {
                let (rs, sr) = (s * k + r, r * k + s);
                let (u, v) = (x[rs], x[sr]);
                x[rs] = self.own[rs] * u + self.exchange[rs] * v;
                x[sr] = self.exchange[rs] * u + self.own[sr] * v;
            }
        }
    }
}

/// The last few steps and the changes of the gradient along them, in one allocation each.
pub(super) struct Memory {
    capacity: usize,
    length: usize,
    stored: usize,
    /// Where the next pair goes.
    next: usize,
    steps: Vec<f64>,
    changes: Vec<f64>,
    inner: Vec<f64>,
    alpha: Vec<f64>,
}

impl Memory {
    pub(super) fn new(capacity: usize, length: usize) -> Self {
        Self {
            capacity,
            length,
            stored: 0,
            next: 0,
            steps: vec![0.0; capacity * length],
            changes: vec![0.0; capacity * length],
            inner: vec![0.0; capacity],
            alpha: vec![0.0; capacity],
        }
    }

    pub(super) fn clear(&mut self) {
        self.stored = 0;
        self.next = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stored == 0
    }

    /// Remembers the step `t direction` over which the gradient went from `before` to `after`, if the function bends
    /// down along it.
    pub(super) fn push(&mut self, t: f64, direction: &[f64], before: &[f64], after: &[f64]) {
        if self.capacity == 0 {
            return;
        }
        let place = self.next * self.length..(self.next + 1) * self.length;
        let step = &mut self.steps[place.clone()];
        let change = &mut self.changes[place];
        for ((((s, y), d), b), a) in step
            .iter_mut()
            .zip(change.iter_mut())
            .zip(direction)
            .zip(before)
            .zip(after)
        {
            *s = t * d;
            *y = b - a;
        }
        let inner = dot(step, change);
        let scale = (dot(step, step) * dot(change, change)).sqrt();
        if inner.is_finite() && inner > LEAST_CURVATURE * scale {
            self.inner[self.next] = inner;
            self.next = (self.next + 1) % self.capacity;
            self.stored = (self.stored + 1).min(self.capacity);
        }
    }

    /// Places of the stored pairs, newest first.
    fn newest_first(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let (next, capacity) = (self.next, self.capacity);
        (0..self.stored).map(move |age| (next + capacity - 1 - age) % capacity)
    }

    /// The ascent direction for `gradient`: the two-loop recursion.
    pub(super) fn direction(
        &mut self,
        gradient: &[f64],
        preconditioner: &Preconditioner,
        out: &mut [f64],
    ) {
        let n = self.length;
        out.copy_from_slice(gradient);
        for i in self.newest_first() {
            let alpha = dot(&self.steps[i * n..(i + 1) * n], out) / self.inner[i];
            self.alpha[i] = alpha;
            add_scaled(out, -alpha, &self.changes[i * n..(i + 1) * n]);
        }
        preconditioner.apply(out);
        if !preconditioner.is_known()
            && let Some(i) = self.newest_first().next()
        {
            let change = &self.changes[i * n..(i + 1) * n];
            let scale = self.inner[i] / dot(change, change);
            for x in out.iter_mut() {
                *x *= scale;
            }
        }
        for i in self.newest_first().rev() {
            let beta = dot(&self.changes[i * n..(i + 1) * n], out) / self.inner[i];
            add_scaled(out, self.alpha[i] - beta, &self.steps[i * n..(i + 1) * n]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Memory, Preconditioner};

    /// On a quadratic, the remembered pairs give Newton's step in their span.
    #[test]
    fn two_pairs_solve_a_quadratic_of_two_variables() {
        // gradient of -(x^2 + 10 y^2) / 2 at (x, y); only the first two of four entries move
        let gradient = |x: f64, y: f64| [-x, -10.0 * y, 0.0, 0.0];
        let plain = Preconditioner::new(2);
        for capacity in [2, 5] {
            let mut memory = Memory::new(capacity, 4);
            let steps = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
            memory.push(0.5, &steps[0], &gradient(0.0, 0.0), &gradient(0.5, 0.0));
            memory.push(2.0, &steps[1], &gradient(0.5, 0.0), &gradient(0.5, 2.0));
            let mut direction = [0.0; 4];
            memory.direction(&gradient(3.0, -7.0), &plain, &mut direction);
            for (found, expected) in direction.iter().zip([-3.0, 7.0, 0.0, 0.0]) {
                assert!((found - expected).abs() < 1e-12, "{direction:?}");
            }
        }
    }

    #[test]
    fn only_the_newest_pairs_that_bend_down_are_kept() {
        let step = [1.0, 0.0, 0.0, 0.0];
        let mut memory = Memory::new(2, 4);
        // bends up; does not bend; is no number
        memory.push(1.0, &step, &[1.0, 0.0, 0.0, 0.0], &[2.0, 0.0, 0.0, 0.0]);
        memory.push(1.0, &step, &[1.0, 0.0, 0.0, 0.0], &[1.0, 0.0, 0.0, 0.0]);
        memory.push(
            1.0,
            &step,
            &[1.0, 0.0, 0.0, 0.0],
            &[f64::NAN, 0.0, 0.0, 0.0],
        );
        assert!(memory.is_empty());
        for i in 1..6 {
            let after = [1.0 - f64::from(i), 0.0, 0.0, 0.0];
            memory.push(1.0, &step, &[1.0, 0.0, 0.0, 0.0], &after);
        }
        assert_eq!(memory.newest_first().collect::<Vec<_>>(), [0, 1]);
        memory.clear();
        assert!(memory.is_empty());
        let mut none = Memory::new(0, 4);
        none.push(1.0, &step, &[1.0, 0.0, 0.0, 0.0], &[0.0; 4]);
        assert!(none.is_empty());
    }
}
