//! Elliptical slices (Murray, Adams and MacKay 2010) of several rows side by side.

use std::f64::consts::TAU;

use polyview_random::{ChaCha8Rng, uniform_open01};

/// Trials after which a row stays: a bracket of angles that is halved so often is empty.
const TRIALS: usize = 200;

/// By how much the covariance of the reference is wider than that of the tangents: twice in up to
/// two dimensions (spec/sites 8). Beyond, a factor of two would put all of the ellipse but a small arc
/// out of reach, since a point is $K(f - 1)/2$ nats further out than the present one; that stays at one nat.
pub(super) fn width(k: usize) -> f64 {
    1.0 + 2.0 / k.max(2) as f64
}

/// The row's place on its ellipse about the centre $c$ of the reference $R$, which goes through the
/// present row $w$ and a draw $c + e$ from $R$: $c + (w - c)\cos\theta + e\sin\theta$.
pub(super) struct Ellipse {
    rng: ChaCha8Rng,
    angle: f64,
    bracket: (f64, f64),
    /// What $\ln\pi - \ln R$ has to be above.
    slice: f64,
    done: bool,
}

/// Exponents of the normal density with the precision of the tangents, at $w - c$, at $e$ and at their sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exponents {
    pub(super) here: f64,
    pub(super) there: f64,
    pub(super) both: f64,
}

impl Exponents {
    /// At the point of this angle.
    fn at(&self, angle: f64) -> f64 {
        let (s, c) = angle.sin_cos();
        let cross = self.both - self.here - self.there;
        c * c * self.here + s * s * self.there + s * c * cross
    }
}

impl Ellipse {
    /// Of a row whose random numbers are these.
    fn new(mut rng: ChaCha8Rng, excess: f64) -> Self {
        let slice = excess + uniform_open01(&mut rng).ln();
        let angle = TAU * uniform_open01(&mut rng);
        Self {
            rng,
            angle,
            bracket: (angle - TAU, angle),
            slice,
            done: false,
        }
    }
    /// Takes the trial, or shrinks the bracket towards the present row and makes another.
    fn tried(&mut self, excess: f64) {
        // what is no number is not accepted
        if excess > self.slice {
            self.done = true;
            return;
        }
        if self.angle < 0.0 {
            self.bracket.0 = self.angle;
        } else {
            self.bracket.1 = self.angle;
        }
        let (low, high) = self.bracket;
        self.angle = low + (high - low) * uniform_open01(&mut self.rng);
    }
}

/// New angles of rows: `density` is the log density of each at such angles (0 is where it is), up to a
/// constant, in nats; `exponents` are those of the reference before it is widened by `width`.
///
/// # Errors
/// Those of `density`.
pub(super) fn angles<E>(
    rngs: Vec<ChaCha8Rng>,
    exponents: &[Exponents],
    width: f64,
    mut density: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Vec<f64>, E> {
    let mut excess = |angles: &[f64]| -> Result<Vec<f64>, E> {
        let density = density(angles)?.into_iter().zip(exponents).zip(angles);
        Ok(density.map(|((p, e), a)| p - e.at(*a) / width).collect())
    };
    let here = excess(&vec![0.0; rngs.len()])?;
    let mut rows: Vec<Ellipse> = (rngs.into_iter().zip(here))
        .map(|(rng, excess)| Ellipse::new(rng, excess))
        .collect();
    for _ in 0..TRIALS {
        let angles: Vec<f64> = rows.iter().map(|r| r.angle).collect();
        let tried = excess(&angles)?;
        for (row, excess) in rows.iter_mut().zip(tried).filter(|(r, _)| !r.done) {
            row.tried(excess);
        }
        if rows.iter().all(|r| r.done) {
            break;
        }
    }
    Ok((rows.into_iter())
        .map(|r| if r.done { r.angle } else { 0.0 })
        .collect())
}

#[cfg(test)]
mod tests {
    use polyview_random::{StreamKey, standard_normal};

    use super::*;

    /// Log density of a Poisson rate's logarithm under a normal prior, up to a constant.
    fn density(x: f64, count: f64) -> f64 {
        count * x - x.exp() - 0.5 * x * x / 4.0
    }

    /// Mean and variance on a grid.
    fn moments(count: f64) -> (f64, f64) {
        let grid: Vec<f64> = (0..40_000)
            .map(|i| -12.0 + 24.0 * f64::from(i) / 40_000.0)
            .collect();
        let weights: Vec<f64> = grid.iter().map(|x| density(*x, count).exp()).collect();
        let all: f64 = weights.iter().sum();
        let of = |f: &dyn Fn(f64) -> f64| -> f64 {
            let terms = grid.iter().zip(&weights).map(|(x, w)| w * f(*x));
            terms.sum::<f64>() / all
        };
        let mean = of(&|x| x);
        (mean, of(&|x| (x - mean).powi(2)))
    }

    #[test]
    fn slices_leave_a_skew_density_alone() {
        const ROWS: usize = 200;
        for count in [0.0, 1.0, 7.0] {
            let mut mode = 0.0_f64;
            for _ in 0..200 {
                mode -= (mode.exp() + 0.25 * mode - count) / (mode.exp() + 0.25);
            }
            let precision = mode.exp() + 0.25;
            let exponent = |step: f64| -0.5 * precision * step * step;
            let mut rows = vec![mode; ROWS];
            let (mut sum, mut squares, mut draws) = (0.0, 0.0, 0.0);
            for sweep in 0..1000 {
                let key = StreamKey::new(3).sweep(sweep);
                let mut noise = key.block(1).rng();
                let steps: Vec<(f64, f64)> = rows
                    .iter()
                    .map(|x| {
                        let sd = (width(1) / precision).sqrt();
                        (x - mode, sd * standard_normal(&mut noise))
                    })
                    .collect();
                let exponents: Vec<Exponents> = steps
                    .iter()
                    .map(|(a, b)| Exponents {
                        here: exponent(*a),
                        there: exponent(*b),
                        both: exponent(a + b),
                    })
                    .collect();
                let place = |angles: &[f64]| -> Vec<f64> {
                    let places = steps.iter().zip(angles);
                    places
                        .map(|((a, b), t)| mode + a * t.cos() + b * t.sin())
                        .collect()
                };
                let rngs = (0..ROWS).map(|i| key.chunk(i as u32).rng()).collect();
                let angles = angles(rngs, &exponents, width(1), |angles| {
                    let densities = place(angles).into_iter().map(|x| density(x, count));
                    Ok::<Vec<f64>, ()>(densities.collect())
                })
                .expect("densities");
                rows = place(&angles);
                if sweep >= 20 {
                    sum += rows.iter().sum::<f64>();
                    squares += rows.iter().map(|x| x * x).sum::<f64>();
                    draws += ROWS as f64;
                }
            }
            let mean = sum / draws;
            let variance = squares / draws - mean * mean;
            let (right, spread) = moments(count);
            // some 60 000 independent draws
            assert!(
                (mean - right).abs() < 0.02 * spread.sqrt(),
                "{count}: {mean} {right}"
            );
            assert!(
                (variance / spread - 1.0).abs() < 0.03,
                "{count}: {variance} {spread}"
            );
        }
    }
}
