//! Variational posteriors of log rates, a column at a time in vector instructions.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, decay, dispatch, ln, ln_1p};

use super::rates::Rate;
use crate::scalar::Expectations;

/// Cells whose steps are counted together.
const TILE: usize = 16;

/// The best local numbers of some cells of one precision: roots t of
/// $t + (e^t - y)/\tau - \eta - 1/2(e^t + \tau)$, which increases, each by as many of Newton's steps as
/// it takes, whatever its neighbours need.
pub(super) fn best(y: &[f64], mean: &[f64], tau: f64, out: &mut [f64]) {
    tilted(y, (mean, &[]), tau, out);
}

/// As [`best`] of predictors of these variances κ, which log rates follow: roots of the same less
/// $\tfrac12\kappa\tau^2/(e^t + \tau)^2$. No variances are zero.
pub(super) fn tilted(y: &[f64], (mean, variance): (&[f64], &[f64]), tau: f64, out: &mut [f64]) {
    dispatch(Roots::<true> {
        y,
        mean,
        variance,
        tau,
        out,
    });
}

/// As [`tilted`], beginning with what is there: local numbers of a precision nearby.
pub(super) fn better(y: &[f64], (mean, variance): (&[f64], &[f64]), tau: f64, out: &mut [f64]) {
    dispatch(Roots::<false> {
        y,
        mean,
        variance,
        tau,
        out,
    });
}

/// For each of some cells with those local numbers the posterior's mean and variance, and the bound
/// without what depends on the predictor ([`Rate`]).
pub(super) fn rates(y: &[f64], local: &[f64], tau: f64) -> Rates {
    let mut out = Rates {
        mean: vec![0.0; y.len()],
        variance: vec![0.0; y.len()],
        offset: vec![0.0; y.len()],
    };
    dispatch(Evaluation {
        y,
        local,
        tau,
        out: &mut out,
    });
    out
}

/// See [`rates`].
pub(super) struct Rates {
    pub(super) mean: Vec<f64>,
    pub(super) variance: Vec<f64>,
    pub(super) offset: Vec<f64>,
}

/// $e^x$.
#[inline(always)]
fn exp<const FUSED: bool>(x: f64) -> f64 {
    let below = decay::<FUSED>(x.abs()).value;
    let above = 1.0 / below;
    if x > 0.0 { above } else { below }
}

/// Whether they begin anew.
struct Roots<'a, const ANEW: bool> {
    y: &'a [f64],
    mean: &'a [f64],
    variance: &'a [f64],
    tau: f64,
    out: &'a mut [f64],
}

impl<const ANEW: bool> Kernel for Roots<'_, ANEW> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let tau = self.tau;
        let (of_tau, over) = (ln::<FUSED>(tau), 1.0 / tau);
        let tiles = self.y.chunks(TILE).zip(self.mean.chunks(TILE));
        let mut variances = self.variance.chunks(TILE);
        for ((some_y, some_mean), out) in tiles.zip(self.out.chunks_mut(TILE)) {
            let (mut y, mut mean, mut spread) = ([0.0; TILE], [0.0; TILE], [0.0; TILE]);
            if let Some(some) = variances.next() {
                for (to, v) in spread.iter_mut().zip(some) {
                    *to = 0.5 * v * tau * tau;
                }
            }
            y[..some_y.len()].copy_from_slice(some_y);
            mean[..some_mean.len()].copy_from_slice(some_mean);
            let mut t = [0.0; TILE];
            let mut moves = [true; TILE];
            if ANEW {
                for i in 0..TILE {
                    t[i] = start::<FUSED>(y[i], mean[i], over, of_tau);
                }
            } else {
                t[..out.len()].copy_from_slice(out);
            }
            for _ in 0..50 {
                for i in 0..TILE {
                    let step = newton::<FUSED>(t[i], y[i], (mean[i], spread[i]), tau, over);
                    let size = step.abs();
                    let kept = if moves[i] { step.clamp(-3.0, 3.0) } else { 0.0 };
                    t[i] -= kept;
                    // quadratic convergence: what is left is the square of this
                    moves[i] &= (1e-8..f64::INFINITY).contains(&size);
                }
                if !moves.contains(&true) {
                    break;
                }
            }
            let count = out.len();
            out.copy_from_slice(&t[..count]);
        }
    }
}

/// Where steps start: $s + e^s = c$ without the correction, $t = s + \ln\tau$.
#[inline(always)]
fn start<const FUSED: bool>(y: f64, eta: f64, over: f64, ln_tau: f64) -> f64 {
    let c = eta + y * over - ln_tau;
    let large = ln::<FUSED>(c - ln::<FUSED>(c));
    let small = c.min(0.0) - ln_1p::<FUSED>(decay::<FUSED>(c.abs()).value);
    ln_tau + if c > 1.0 { large } else { small }
}

/// A step from the right, where the function is convex: numerator and denominator times
/// $(e^t + \tau)^2$, or that to the third, so that one division is enough; `spread` is $\tfrac12\kappa\tau^2$.
#[inline(always)]
fn newton<const FUSED: bool>(
    t: f64,
    y: f64,
    (eta, spread): (f64, f64),
    tau: f64,
    over: f64,
) -> f64 {
    let rate = exp::<FUSED>(t);
    let sum = rate + tau;
    let square = sum * sum;
    let value = (t - eta - (y - rate) * over) * square - 0.5 * sum - spread;
    let slope = (1.0 + rate * over) * square + 0.5 * rate;
    value * sum / (slope * sum + 2.0 * spread * rate)
}

struct Evaluation<'a> {
    y: &'a [f64],
    local: &'a [f64],
    tau: f64,
    out: &'a mut Rates,
}

impl Kernel for Evaluation<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let cells = self.y.iter().zip(self.local);
        let Rates {
            mean,
            variance,
            offset,
        } = self.out;
        let out = mean.iter_mut().zip(variance).zip(offset);
        for ((y, local), ((mean, variance), offset)) in cells.zip(out) {
            let q = Rate::of(exp::<FUSED>(*local), *local, self.tau);
            let ln_share = ln::<FUSED>(q.variance * self.tau);
            (*mean, *variance) = (q.mean, q.variance);
            *offset = q.offset_with(*y, self.tau, ln_share);
        }
    }
}

/// What predictors of these means and variances expect of the bound of their cells (`expectation`), without $\ln y!$, at the local
/// numbers that are best for them.
pub(super) fn expected(
    y: &[f64],
    (mean, variance): (&[f64], &[f64]),
    tau: f64,
    out: &mut Expectations<'_>,
) {
    // where values will be, there are local numbers first
    tilted(y, (mean, variance), tau, out.value);
    dispatch(Expected {
        y,
        mean,
        variance,
        tau,
        out: out.part(0..y.len()),
    });
}

struct Expected<'a> {
    y: &'a [f64],
    mean: &'a [f64],
    variance: &'a [f64],
    tau: f64,
    out: Expectations<'a>,
}

impl Kernel for Expected<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let tau = self.tau;
        let Expectations {
            value,
            slope,
            curvature,
        } = self.out;
        let cells = self.y.iter().zip(self.mean).zip(self.variance);
        let out = value.iter_mut().zip(slope).zip(curvature);
        for (((y, mean), spread), ((value, slope), curvature)) in cells.zip(out) {
            let rate = exp::<FUSED>(*value);
            let own = 1.0 / (rate + tau);
            let (share, left) = (tau * own, rate * own);
            // not by y - rate, of which large counts leave nothing but rounding
            let log_rate = *value - 0.5 * (own + share * share * spread);
            let far = log_rate - mean;
            let squares = far * far + own + spread * left * left;
            let logs = 0.5 * ln::<FUSED>(share);
            *value = y * log_rate - rate - 0.5 * tau * squares + logs + 0.5;
            *slope = tau * far;
            *curvature = rate * share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_roots_of_its_cells_whatever_their_neighbours() {
        for tau in [0.011, 0.3, 2.0, 40.0, 9e3] {
            let y: Vec<f64> = (0..77)
                .map(|i| [0.0, 1.0, 3.0, 60.0, 4e4, 1e9][i % 6])
                .collect();
            let mean: Vec<f64> = (0..77).map(|i| i as f64 * 0.7 - 30.0).collect();
            let mut all = vec![0.0; 77];
            best(&y, &mean, tau, &mut all);
            for i in 0..77 {
                let exact = super::super::rates::best(y[i], mean[i], tau);
                let mut one = [0.0];
                best(&y[i..=i], &mean[i..=i], tau, &mut one);
                assert_eq!(one[0].to_bits(), all[i].to_bits());
                // from nearby, too
                best(&y[i..=i], &mean[i..=i], 1.3 * tau, &mut one);
                better(&y[i..=i], (&mean[i..=i], &[]), tau, &mut one);
                assert!(
                    (one[0] - all[i]).abs() < 1e-12 * (1.0 + all[i].abs()),
                    "{tau} {i}"
                );
                // as near as the function's own rounding lets it be
                let slope = 1.0 + exact.exp() / tau;
                let size = 1.0 + exact.abs() + mean[i].abs() + (y[i] + exact.exp()) / tau;
                assert!(
                    (all[i] - exact).abs() < 1e-14 * size / slope + 1e-15 * exact.abs(),
                    "{tau} {i}"
                );
            }
            let made = rates(&y, &all, tau);
            for i in 0..77 {
                let q = Rate::new(all[i], tau);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-13 * (1.0 + b.abs());
                assert!(close(made.mean[i], q.mean) && close(made.variance[i], q.variance));
                let size = 1.0 + (y[i] * q.mean).abs() + all[i].exp() + tau * q.mean * q.mean;
                assert!((made.offset[i] - q.offset(y[i], tau)).abs() < 1e-13 * size);
            }
        }
        let mut none = [0.0];
        best(&[1.0], &[f64::NAN], 1.0, &mut none);
        assert!(none[0].is_nan());
    }
}
