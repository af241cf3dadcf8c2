//! $e^{tE}$ and $e^{-tE}$ of one direction $E$ for several step lengths $t$.

use super::vector::{add_scaled, multiply, norm_bound, set_identity};

/// Up to this norm the series below is exact to rounding: its first neglected terms are $\theta^{10}/10!$.
const SERIES_NORM: f64 = 0.125;

/// The powers of a direction that every step length shares, and scratch.
pub(super) struct Exponential {
    k: usize,
    direction: Vec<f64>,
    /// $E^2$.
    square: Vec<f64>,
    /// $E^4$.
    fourth: Vec<f64>,
    norm: f64,
    even: Vec<f64>,
    odd: Vec<f64>,
    scratch: Vec<f64>,
    row_sums: Vec<f64>,
}

impl Exponential {
    pub(super) fn new(k: usize) -> Self {
        let flat = || vec![0.0; k * k];
        Self {
            k,
            direction: flat(),
            square: flat(),
            fourth: flat(),
            norm: 0.0,
            even: flat(),
            odd: flat(),
            scratch: flat(),
            row_sums: vec![0.0; k],
        }
    }

    /// Takes up a new direction; returns a bound on its spectral norm.
    pub(super) fn set_direction(&mut self, direction: &[f64]) -> f64 {
        let k = self.k;
        self.direction.copy_from_slice(direction);
        multiply(&mut self.square, direction, direction, k);
        multiply(&mut self.fourth, &self.square, &self.square, k);
        self.norm = norm_bound(direction, k, &mut self.row_sums);
        self.norm
    }

    /// `forward` $= e^{tE}$ and `backward` $= e^{-tE}$: their even and odd parts by Taylor series, then squaring.
    pub(super) fn step(&mut self, t: f64, forward: &mut [f64], backward: &mut [f64]) {
        let k = self.k;
        let mut halvings = 0;
        let mut h = t;
        while h.abs() * self.norm > SERIES_NORM {
            h *= 0.5;
            halvings += 1;
        }
        let h2 = h * h;
        let h4 = h2 * h2;
        // cosh: I + E^2/2! + E^4 (I/4! + E^2/6! + E^4/8!)
        set_identity(&mut self.scratch, k);
        self.scratch.iter_mut().for_each(|x| *x *= h4 / 24.0);
        add_scaled(&mut self.scratch, h4 * h2 / 720.0, &self.square);
        add_scaled(&mut self.scratch, h4 * h4 / 40320.0, &self.fourth);
        multiply(&mut self.even, &self.fourth, &self.scratch, k);
        add_scaled(&mut self.even, h2 / 2.0, &self.square);
        // sinh: E (I + E^2/3! + E^4 (I/5! + E^2/7! + E^4/9!))
        set_identity(&mut self.scratch, k);
        self.scratch.iter_mut().for_each(|x| *x *= h4 / 120.0);
        add_scaled(&mut self.scratch, h4 * h2 / 5040.0, &self.square);
        add_scaled(&mut self.scratch, h4 * h4 / 362880.0, &self.fourth);
        multiply(&mut self.odd, &self.fourth, &self.scratch, k);
        add_scaled(&mut self.odd, h2 / 6.0, &self.square);
        for r in 0..k {
            self.even[r * k + r] += 1.0;
            self.odd[r * k + r] += 1.0;
        }
        multiply(&mut self.scratch, &self.direction, &self.odd, k);
        for (((f, b), even), odd) in forward
            .iter_mut()
            .zip(backward.iter_mut())
            .zip(&self.even)
            .zip(&self.scratch)
        {
            *f = even + h * odd;
            *b = even - h * odd;
        }
        for _ in 0..halvings {
            multiply(&mut self.scratch, forward, forward, k);
            forward.copy_from_slice(&self.scratch);
            multiply(&mut self.scratch, backward, backward, k);
            backward.copy_from_slice(&self.scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exponential;
    use crate::rotation::vector::{multiply, trace};

    #[test]
    fn a_plane_rotation_and_a_scaling() {
        // E = [[0, -1], [1, 0]] turns by the angle t; E = diag(1, -2) scales.
        let (mut forward, mut backward) = (vec![0.0; 4], vec![0.0; 4]);
        for t in [0.0, 1e-9, 0.05, 0.3, 1.0, -2.5_f64] {
            let mut series = Exponential::new(2);
            series.set_direction(&[0.0, 1.0, -1.0, 0.0]);
            series.step(t, &mut forward, &mut backward);
            let expected = [t.cos(), t.sin(), -t.sin(), t.cos()];
            for (i, e) in expected.iter().enumerate() {
                assert!((forward[i] - e).abs() < 2e-14, "t {t}: {forward:?}");
                assert!((backward[i] - expected[[0, 2, 1, 3][i]]).abs() < 2e-14);
            }
            series.set_direction(&[1.0, 0.0, 0.0, -2.0]);
            series.step(t, &mut forward, &mut backward);
            for (i, e) in [(0, t.exp()), (3, (-2.0 * t).exp())] {
                assert!((forward[i] / e - 1.0).abs() < 1e-13, "t {t}: {forward:?}");
                assert!((backward[i] * e - 1.0).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn forward_times_backward_is_the_identity_for_a_full_direction() {
        for k in [1, 2, 5, 13] {
            let direction: Vec<f64> = (0..k * k)
                .map(|i| (i as f64 * 0.7 + 0.3).sin() / k as f64)
                .collect();
            let (mut forward, mut backward) = (vec![0.0; k * k], vec![0.0; k * k]);
            let mut series = Exponential::new(k);
            series.set_direction(&direction);
            series.step(1.3, &mut forward, &mut backward);
            let mut product = vec![0.0; k * k];
            multiply(&mut product, &forward, &backward, k);
            for (i, x) in product.iter().enumerate() {
                let expected = if i % (k + 1) == 0 { 1.0 } else { 0.0 };
                assert!((x - expected).abs() < 1e-13, "k {k}, entry {i}: {x}");
            }
            // det exp(tE) = exp(t tr E)
            let det = polyview_linalg::log_abs_det(super::super::vector::view(&forward, k));
            let det = det.expect("a finite square matrix");
            assert!((det - 1.3 * trace(&direction, k)).abs() < 1e-13);
        }
    }
}
