//! Limited-memory quasi-Newton minimisation of a smooth convex function.

use std::collections::VecDeque;

/// Steps that are remembered.
const MEMORY: usize = 10;
/// Most steps.
const STEPS: usize = 500;

/// As [`minimise`] in the coordinates $x\_i\sqrt{h\_i}$, of which the slopes are compared with `tolerance`: where `curvature`, h, is
/// nearly that of the function, and no two coordinates bend it together, a few steps are enough.
pub(crate) fn minimise_along(
    mut start: Vec<f64>,
    curvature: &[f64],
    tolerance: f64,
    function: impl Fn(&[f64]) -> (f64, Vec<f64>),
) -> Vec<f64> {
    let units: Vec<f64> = curvature.iter().map(|h| h.sqrt()).collect();
    let divided = |of: &[f64]| -> Vec<f64> { of.iter().zip(&units).map(|(x, u)| x / u).collect() };
    for (x, u) in start.iter_mut().zip(&units) {
        *x *= u;
    }
    let found = minimise(start, tolerance, |z| {
        let (value, slope) = function(&divided(z));
        (value, divided(&slope))
    });
    divided(&found)
}

/// Minimises a function that gives value and slope at a point (L-BFGS, Liu and Nocedal 1989, with steps that are halved
/// until they descend), until no entry of the slope is above `tolerance` in size.
pub(crate) fn minimise(
    mut x: Vec<f64>,
    tolerance: f64,
    function: impl Fn(&[f64]) -> (f64, Vec<f64>),
) -> Vec<f64> {
    let (mut value, mut slope) = function(&x);
    let mut memory: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::new();
    for _ in 0..STEPS {
        if slope.iter().all(|g| g.abs() <= tolerance) {
            break;
        }
        let mut direction = direction(&slope, &memory);
        let mut along = dot(&direction, &slope);
        if along >= 0.0 {
            // rounding alone can do this
            memory.clear();
            direction = slope.iter().map(|g| -g).collect();
            along = -dot(&slope, &slope);
        }
        let mut length = if memory.is_empty() {
            1.0 / dot(&slope, &slope).sqrt().max(1.0)
        } else {
            1.0
        };
        let (next, next_value, next_slope) = loop {
            let next: Vec<f64> = (x.iter().zip(&direction))
                .map(|(x, d)| x + length * d)
                .collect();
            let (v, g) = function(&next);
            if v <= value + 1e-4 * length * along || length < 1e-12 {
                break (next, v, g);
            }
            length *= 0.5;
        };
        if next_value >= value {
            // no step descends any more: the answer to rounding
            break;
        }
        let step: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
        let bend: Vec<f64> = next_slope.iter().zip(&slope).map(|(a, b)| a - b).collect();
        let curvature = dot(&step, &bend);
        if curvature > 1e-12 * dot(&bend, &bend).sqrt() * dot(&step, &step).sqrt() {
            if memory.len() == MEMORY {
                memory.pop_front();
            }
            memory.push_back((step, bend, curvature));
        }
        (x, value, slope) = (next, next_value, next_slope);
    }
    x
}

/// Minus the remembered inverse curvature times the slope.
fn direction(slope: &[f64], memory: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut q: Vec<f64> = slope.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for (step, bend, curvature) in memory.iter().rev() {
        let share = dot(step, &q) / curvature;
        add(&mut q, -share, bend);
        shares.push(share);
    }
    if let Some((_, bend, curvature)) = memory.back() {
        let scale = curvature / dot(bend, bend);
        for x in &mut q {
            *x *= scale;
        }
    }
    for ((step, bend, curvature), share) in memory.iter().zip(shares.into_iter().rev()) {
        let back = dot(bend, &q) / curvature;
        add(&mut q, share - back, step);
    }
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], times: f64, what: &[f64]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += times * what;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_valley_is_followed_to_its_end() {
        // strictly convex, curvatures from 1 to 1e4, and a quartic
        let at = minimise(vec![3.0; 6], 1e-8, |x| {
            let (mut value, mut slope) = (0.0, vec![0.0; 6]);
            for i in 0..6 {
                let (c, r) = (10f64.powf(i as f64 * 0.8), x[i] - i as f64);
                value += 0.5 * c * r * r + 0.25 * r.powi(4);
                slope[i] = c * r + r.powi(3);
            }
            (value, slope)
        });
        for (i, x) in at.iter().enumerate() {
            assert!((x - i as f64).abs() < 1e-7, "{i}: {x}");
        }
    }
}
