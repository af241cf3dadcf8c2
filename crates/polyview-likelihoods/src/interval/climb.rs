//! Steps of cut points uphill (spec/sites 2).
//!
//! The log probability of a cell is concave in its two ends together, so that what all cells
//! say is concave in the gaps between cut points, and so is the log prior: Newton's steps,
//! halved until nothing falls.

use polyview_linalg::{Mat, SpdFactor, SymPacked};

/// A function of cut points with its derivatives: each cell depends on two that are
/// neighbours.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) value: f64,
    /// One for each cut point.
    pub(super) slope: Vec<f64>,
    /// $\partial^2/\partial\theta_k^2$.
    pub(super) own: Vec<f64>,
    /// $\partial^2/\partial\theta_k\partial\theta_{k+1}$.
    pub(super) beside: Vec<f64>,
}

impl Profile {
    /// Zero, of so many cut points.
    pub(super) fn zero(points: usize) -> Self {
        Self {
            value: 0.0,
            slope: vec![0.0; points],
            own: vec![0.0; points],
            beside: vec![0.0; points.saturating_sub(1)],
        }
    }
    /// Adds another.
    pub(super) fn add(&mut self, other: &Self) {
        let sum = |to: &mut Vec<f64>, of: &[f64]| {
            for (t, o) in to.iter_mut().zip(of) {
                *t += o;
            }
        };
        self.value += other.value;
        sum(&mut self.slope, &other.slope);
        sum(&mut self.own, &other.own);
        sum(&mut self.beside, &other.beside);
    }
}

/// The cut points with these gaps between them: they add up to zero, since where they lie is
/// the intercepts' to say.
pub(super) fn points_of(gaps: &[f64]) -> Vec<f64> {
    let mut at = 0.0;
    let mut out = vec![0.0];
    for gap in gaps {
        at += gap;
        out.push(at);
    }
    let centre = out.iter().sum::<f64>() / out.len() as f64;
    for point in &mut out {
        *point -= centre;
    }
    out
}

/// By how much cut point k moves with gap j.
fn moves(points: usize, k: usize, j: usize) -> f64 {
    let above = (points - 1 - j) as f64 / points as f64;
    f64::from(u8::from(k > j)) - above
}

/// Gaps at which `profile` (of their cut points) and $\sum(a\ln\delta - b\delta)$ together are
/// not lower: one of Newton's steps, halved as often as it takes.
pub(super) fn ascend(
    gaps: &[f64],
    (shape, rate): (f64, f64),
    profile: impl Fn(&[f64]) -> Profile,
) -> Vec<f64> {
    const HALVINGS: usize = 30;
    /// A gap loses no more than this share of itself in a step.
    const LOSS: f64 = 0.8;
    let count = gaps.len();
    let prior = |gaps: &[f64]| -> f64 { gaps.iter().map(|d| shape * d.ln() - rate * d).sum() };
    let here = profile(&points_of(gaps));
    let points = here.slope.len();
    let jacobian = Mat::from_fn(points, count, |k, j| moves(points, k, j));
    let mut slope: Vec<f64> = gaps.iter().map(|d| shape / d - rate).collect();
    for (j, slope) in slope.iter_mut().enumerate() {
        for k in 0..points {
            *slope += jacobian[(k, j)] * here.slope[k];
        }
    }
    let mut bent = Mat::zeros(points, count);
    for j in 0..count {
        for k in 0..points {
            let mut sum = here.own[k] * jacobian[(k, j)];
            if k > 0 {
                sum += here.beside[k - 1] * jacobian[(k - 1, j)];
            }
            if k + 1 < points {
                sum += here.beside[k] * jacobian[(k + 1, j)];
            }
            bent[(k, j)] = -sum;
        }
    }
    let mut curvature = jacobian.transpose() * &bent;
    for j in 0..count {
        curvature[(j, j)] += shape / (gaps[j] * gaps[j]);
    }
    let Ok((factor, _)) = SpdFactor::factor(&SymPacked::from_mat(curvature.as_ref())) else {
        return gaps.to_vec();
    };
    let row = Mat::from_fn(1, count, |_, j| slope[j]);
    let step = factor.solve_mat_right(row.as_ref());
    let step: Vec<f64> = (0..count).map(|j| step[(0, j)]).collect();
    let loss = gaps.iter().zip(&step).map(|(d, s)| -s / d);
    let most = loss.fold(LOSS, f64::max);
    let mut length = LOSS / most;
    let value = here.value + prior(gaps);
    for _ in 0..HALVINGS {
        let new: Vec<f64> = (gaps.iter().zip(&step))
            .map(|(d, s)| d + length * s)
            .collect();
        if profile(&points_of(&new)).value + prior(&new) >= value {
            return new;
        }
        length *= 0.5;
    }
    gaps.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_points_add_up_to_zero_and_move_with_their_gaps() {
        let gaps = [0.5, 2.0, 1.0];
        let points = points_of(&gaps);
        assert!(points.iter().sum::<f64>().abs() < 1e-15);
        assert!((points[2] - points[1] - 2.0).abs() < 1e-15);
        assert_eq!(points_of(&[]), [0.0]);
        let h = 1e-6;
        for j in 0..3 {
            let mut other = gaps;
            other[j] += h;
            for (k, moved) in points_of(&other).iter().enumerate() {
                assert!(((moved - points[k]) / h - moves(4, k, j)).abs() < 1e-8);
            }
        }
    }

    /// The largest value of a concave function is found, and its neighbourhood never left
    /// downwards.
    #[test]
    fn steps_lead_up_to_the_summit() {
        let target = points_of(&[0.3, 1.7]);
        let profile = |points: &[f64]| {
            let mut out = Profile::zero(points.len());
            for (k, p) in points.iter().enumerate() {
                let off = p - target[k];
                out.value -= 50.0 * off * off;
                out.slope[k] = -100.0 * off;
                out.own[k] = -100.0;
            }
            out
        };
        let mut gaps = vec![2.0, 0.1];
        let value = |gaps: &[f64]| {
            let prior: f64 = gaps.iter().map(|d| 2.0 * d.ln() - 2.0 * d).sum();
            profile(&points_of(gaps)).value + prior
        };
        let mut last = value(&gaps);
        for _ in 0..30 {
            gaps = ascend(&gaps, (2.0, 2.0), profile);
            let next = value(&gaps);
            assert!(next >= last);
            last = next;
        }
        for j in 0..2 {
            for h in [-1e-4, 1e-4] {
                let mut other = gaps.clone();
                other[j] += h;
                assert!(value(&other) <= last);
            }
        }
    }
}
