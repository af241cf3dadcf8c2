//! The maximisation itself.

use super::RotationTerm;
use super::exponential::Exponential;
use super::lbfgs::{Memory, Preconditioner};
use super::outcome::{Rotation, RotationError, RotationOptions, RotationOutcome};
use super::vector::{
    add_scaled, dot, multiply, multiply_transposed, norm_bound, set_identity, view, view_mut,
};

/// Longest step: a bound on the spectral norm of $tE$, so one step scales no direction by more than $e$.
const LONGEST_STEP: f64 = 1.0;
/// Norm of the first step when no curvature is known.
const FIRST_STEP: f64 = 0.1;
/// The preconditioner is refreshed after the iterates moved this far (Frobenius norm in relative coordinates).
const REFRESH_AFTER: f64 = 0.1;
/// Sufficient increase (Armijo).
const SUFFICIENT_INCREASE: f64 = 1e-4;
/// The slope must fall to this fraction (weak Wolfe).
const SLOPE_FRACTION: f64 = 0.9;
/// Trial steps in one line search.
const TRIALS: usize = 20;
/// Where a factor's scale is wrong by more than this (logarithm), scales are put right before anything is rotated, so
/// that the units of the factors do not matter.
const SCALING_FIRST: f64 = 1.0;
/// Largest condition number of $Q$ apart from units, $\max\_r \sum\_s |Q\_{rs} (Q^{-1})\_{sr}|$. The rotated second
/// moments lose its square in accuracy. Only bounds without a maximum lead there.
const WORST_CONDITION: f64 = 1e4;
/// Largest norm of $Q$ and of $Q^{-1}$, units included.
const LARGEST_NORM: f64 = 1e6;

/// Maximises $\mathcal L(Q)$, the sum of `terms`, over $K \times K$ matrices with positive determinant, from $Q = I$.
///
/// The result is never worse than the identity: where nothing gains more than rounding, the identity itself comes back.
/// The cost is that of `evaluations` times all terms, $O(MK^3)$ each; apart from what the terms do, nothing is allocated
/// after the start.
///
/// ```
/// use polyview_core::RotationSide;
/// use polyview_infer::rotation::{RotationOptions, RotationTerm, maximise};
/// use polyview_linalg::SymPacked;
/// use polyview_priors::{ColumnPenalty, ColumnRotation};
///
/// // One factor, too large by 3 in the factors and too small by 3 in the weights.
/// let moment = |x: f64| {
///     let mut s = SymPacked::zeros(1);
///     s.add_diag(&[x]);
///     s
/// };
/// let (normal, ard) = (ColumnPenalty::Fixed(vec![1.0]), ColumnPenalty::Gamma { shape: 10.001, rate: 1e-3 });
/// let terms: Vec<Box<dyn RotationTerm>> = vec![
///     Box::new(ColumnRotation::new(100, &moment(900.0), RotationSide::Factors, normal)),
///     Box::new(ColumnRotation::new(20, &moment(4.0), RotationSide::Weights, ard)),
/// ];
/// let found = maximise(&terms, 1, &RotationOptions::default())?;
/// assert!((found.q[(0, 0)] - 3.0).abs() < 0.01 && found.gain > 0.0);
/// # Ok::<(), polyview_infer::rotation::RotationError>(())
/// ```
///
/// # Errors
/// [`RotationError::NotFinite`] where a term has no finite value or gradient at the identity,
/// [`RotationError::Tolerance`].
///
/// # Panics
/// A term of another order than `k` may panic.
pub fn maximise(
    terms: &[Box<dyn RotationTerm + '_>],
    k: usize,
    options: &RotationOptions,
) -> Result<Rotation, RotationError> {
    if options.tolerance.is_nan() || options.tolerance < 0.0 {
        return Err(RotationError::Tolerance {
            value: options.tolerance,
        });
    }
    if k == 0 || terms.is_empty() {
        return Ok(Rotation::identity(k, 0, 0, RotationOutcome::Converged));
    }
    let mut search = Search::start(terms, k, options)?;
    let (iterations, outcome) = search.climb(options);
    Ok(search.finish(iterations, outcome))
}

/// A point of the search: $Q$ with everything known there.
struct Point {
    q: Vec<f64>,
    q_inverse: Vec<f64>,
    log_det: f64,
    /// Relative gradient $\nabla\_Q\mathcal L\\,Q^\top$.
    gradient: Vec<f64>,
    /// $\mathcal L(Q) - \mathcal L(I)$.
    gain: f64,
}

impl Point {
    fn identity(k: usize) -> Self {
        let mut q = vec![0.0; k * k];
        set_identity(&mut q, k);
        Self {
            q_inverse: q.clone(),
            q,
            log_det: 0.0,
            gradient: vec![0.0; k * k],
            gain: 0.0,
        }
    }
}

struct Search<'a, 't> {
    terms: &'a [Box<dyn RotationTerm + 't>],
    k: usize,
    /// Value of every term at the identity.
    start: Vec<f64>,
    /// Gains below this are rounding.
    noise: f64,
    evaluations: usize,
    here: Point,
    trial: Point,
    memory: Memory,
    preconditioner: Preconditioner,
    exponential: Exponential,
    direction: Vec<f64>,
    forward: Vec<f64>,
    backward: Vec<f64>,
    row_sums: Vec<f64>,
}

/// One end of a line-search bracket.
#[derive(Clone, Copy)]
struct End {
    t: f64,
    gain: f64,
    slope: f64,
}

/// What the direction does.
#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// Scales the factors one by one.
    Scale,
    /// Anything.
    Mix,
}

struct Line {
    /// The step length at which `trial` was left, if the bound rises there.
    accepted: Option<f64>,
    /// Whether a longer step was refused for the sake of the condition number.
    ill_conditioned: bool,
}

impl<'a, 't> Search<'a, 't> {
    fn start(
        terms: &'a [Box<dyn RotationTerm + 't>],
        k: usize,
        options: &RotationOptions,
    ) -> Result<Self, RotationError> {
        let mut here = Point::identity(k);
        let mut start = Vec::with_capacity(terms.len());
        for (index, term) in terms.iter().enumerate() {
            let value = term.evaluate(
                view(&here.q, k),
                view(&here.q_inverse, k),
                0.0,
                view_mut(&mut here.gradient, k),
            );
            if !value.is_finite() || here.gradient.iter().any(|x| !x.is_finite()) {
                return Err(RotationError::NotFinite { term: index });
            }
            start.push(value);
        }
        let noise = 8.0 * f64::EPSILON * start.iter().map(|x| x.abs()).sum::<f64>();
        let flat = || vec![0.0; k * k];
        Ok(Self {
            terms,
            k,
            start,
            noise,
            evaluations: 1,
            here,
            trial: Point::identity(k),
            memory: Memory::new(options.memory, k * k),
            preconditioner: Preconditioner::new(k),
            exponential: Exponential::new(k),
            direction: flat(),
            forward: flat(),
            backward: flat(),
            row_sums: vec![0.0; k],
        })
    }

    fn climb(&mut self, options: &RotationOptions) -> (usize, RotationOutcome) {
        let mut moved = f64::INFINITY;
        for iteration in 0..options.max_iterations {
            if moved > REFRESH_AFTER {
                let here = &self.here;
                self.preconditioner
                    .refresh(self.terms, &here.q, &here.q_inverse, &here.gradient);
                moved = 0.0;
            }
            let (aim, slope) = self.aim();
            let worthwhile = (options.tolerance * self.here.gain.max(1.0)).max(self.noise);
            if !slope.is_finite() {
                return (iteration, RotationOutcome::NoProgress);
            }
            if slope <= 2.0 * worthwhile {
                return (iteration, RotationOutcome::Converged);
            }
            let line = self.line_search(aim, slope);
            if let Some(t) = line.accepted {
                moved += t * dot(&self.direction, &self.direction).sqrt();
                if aim == Aim::Mix {
                    self.memory.push(
                        t,
                        &self.direction,
                        &self.here.gradient,
                        &self.trial.gradient,
                    );
                }
                std::mem::swap(&mut self.here, &mut self.trial);
            } else if !line.ill_conditioned && self.memory.is_empty() {
                return (iteration, RotationOutcome::NoProgress);
            } else {
                self.memory.clear();
                moved = f64::INFINITY;
            }
            if line.ill_conditioned {
                return (iteration + 1, RotationOutcome::IllConditioned);
            }
        }
        (options.max_iterations, RotationOutcome::IterationLimit)
    }

    /// Sets the direction; returns its kind and the slope along it.
    fn aim(&mut self) -> (Aim, f64) {
        let gradient = &self.here.gradient;
        if self.preconditioner.scaling(gradient, &mut self.direction) > SCALING_FIRST {
            let slope = dot(&self.direction, gradient);
            if slope > 0.0 {
                self.memory.clear();
                return (Aim::Scale, slope);
            }
        }
        self.memory
            .direction(gradient, &self.preconditioner, &mut self.direction);
        let mut slope = dot(&self.direction, gradient);
        let ascends = slope.is_finite() && slope > 0.0;
        if !ascends && !self.memory.is_empty() {
            self.memory.clear();
            self.memory
                .direction(gradient, &self.preconditioner, &mut self.direction);
            slope = dot(&self.direction, gradient);
        }
        (Aim::Mix, slope)
    }

    /// Moves `trial` along the direction until the bound has risen enough and the slope fallen enough.
    fn line_search(&mut self, aim: Aim, slope: f64) -> Line {
        let norm = self.exponential.set_direction(&self.direction);
        let longest = match aim {
            Aim::Scale => 1.0,
            Aim::Mix => LONGEST_STEP / norm,
        };
        let blind = !self.preconditioner.is_known() && self.memory.is_empty();
        let mut t = if blind {
            FIRST_STEP / norm
        } else {
            longest.min(1.0)
        };
        let start = End {
            t: 0.0,
            gain: self.here.gain,
            slope,
        };
        let mut low = start;
        let mut high: Option<End> = None;
        let mut ill_conditioned = false;
        for _ in 0..TRIALS {
            let trial = self.try_step(t);
            let enough = start.gain + SUFFICIENT_INCREASE * t * slope;
            let bounded = self.is_well_conditioned();
            ill_conditioned |= !bounded;
            if !(bounded && trial.gain >= enough && trial.slope.is_finite()) {
                high = Some(trial);
            } else if trial.slope > SLOPE_FRACTION * slope && t < longest && !ill_conditioned {
                low = trial;
            } else {
                return Line {
                    accepted: Some(t),
                    ill_conditioned,
                };
            }
            t = match high {
                Some(high) => between(low, high),
                None => (4.0 * t).min(longest),
            };
            if high.is_some_and(|high| high.t - low.t <= 1e-12 * high.t) {
                break;
            }
        }
        if low.t > 0.0 {
            self.try_step(low.t);
        }
        Line {
            accepted: (low.t > 0.0).then_some(low.t),
            ill_conditioned,
        }
    }

    /// Evaluates `trial` = $e^{tE}$ `here`.
    fn try_step(&mut self, t: f64) -> End {
        let k = self.k;
        self.exponential
            .step(t, &mut self.forward, &mut self.backward);
        multiply(&mut self.trial.q, &self.forward, &self.here.q, k);
        multiply(
            &mut self.trial.q_inverse,
            &self.here.q_inverse,
            &self.backward,
            k,
        );
        self.trial.log_det = self.here.log_det + t * super::vector::trace(&self.direction, k);
        self.evaluate_trial();
        End {
            t,
            gain: self.trial.gain,
            slope: dot(&self.direction, &self.trial.gradient),
        }
    }

    fn evaluate_trial(&mut self) {
        let (k, trial) = (self.k, &mut self.trial);
        let plain = &mut self.forward;
        plain.fill(0.0);
        trial.gain = 0.0;
        for (term, start) in self.terms.iter().zip(&self.start) {
            let value = term.evaluate(
                view(&trial.q, k),
                view(&trial.q_inverse, k),
                trial.log_det,
                view_mut(plain, k),
            );
            trial.gain += value - start;
        }
        multiply_transposed(&mut trial.gradient, plain, &trial.q, k);
        self.evaluations += 1;
    }

    fn is_well_conditioned(&mut self) -> bool {
        let k = self.k;
        let norm = norm_bound(&self.trial.q, k, &mut self.row_sums);
        let inverse_norm = norm_bound(&self.trial.q_inverse, k, &mut self.row_sums);
        let condition = (0..k)
            .map(|r| {
                (0..k)
                    .map(|s| (self.trial.q[s * k + r] * self.trial.q_inverse[r * k + s]).abs())
                    .sum::<f64>()
            })
            .fold(0.0, f64::max);
        norm <= LARGEST_NORM && inverse_norm <= LARGEST_NORM && condition <= WORST_CONDITION
    }

    /// Cleans the inverse of what rounding the product has gathered (one Newton step), and evaluates a last time there.
    fn finish(mut self, iterations: usize, outcome: RotationOutcome) -> Rotation {
        let k = self.k;
        std::mem::swap(&mut self.here, &mut self.trial);
        let trial = &mut self.trial;
        // X + X (I - Q X)
        multiply(&mut self.forward, &trial.q, &trial.q_inverse, k);
        self.forward.iter_mut().for_each(|x| *x = -*x);
        for r in 0..k {
            self.forward[r * k + r] += 1.0;
        }
        multiply(&mut self.backward, &trial.q_inverse, &self.forward, k);
        add_scaled(&mut trial.q_inverse, 1.0, &self.backward);
        if iterations > 0 {
            self.evaluate_trial();
        }
        let found = &self.trial;
        if found.gain.is_nan() || found.gain <= self.noise {
            return Rotation::identity(k, iterations, self.evaluations, outcome);
        }
        Rotation {
            q: view(&found.q, k).to_owned(),
            q_inverse: view(&found.q_inverse, k).to_owned(),
            log_abs_det: found.log_det,
            gain: found.gain,
            iterations,
            evaluations: self.evaluations,
            outcome,
        }
    }
}

/// A step length inside the bracket: the maximum of the cubic through both ends, kept away from them; the middle where
/// the upper end has no finite value.
fn between(low: End, high: End) -> f64 {
    let width = high.t - low.t;
    let middle = low.t + 0.5 * width;
    if !(high.gain.is_finite() && high.slope.is_finite()) {
        return middle;
    }
    let theta = 3.0 * (low.gain - high.gain) / width + low.slope + high.slope;
    let radicand = theta * theta - low.slope * high.slope;
    if !(radicand.is_finite() && radicand >= 0.0) {
        return middle;
    }
    let gamma = radicand.sqrt();
    // slope(x) along the bracket is a quadratic; its falling root is the maximum
    let cubic =
        low.t + width * (low.slope - theta + gamma) / (low.slope - high.slope + 2.0 * gamma);
    if cubic.is_finite() {
        cubic.clamp(low.t + 0.1 * width, high.t - 0.1 * width)
    } else {
        middle
    }
}
